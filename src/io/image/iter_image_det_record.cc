// ImageDetRecordIter: images with boxes from RecordIO files.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "io/image/det_augment.h"
#include "io/image/iter_det_params.h"
#include "io/image/iter_params.h"
#include "io/register_iter.h"

namespace mxnet {
namespace image {
MXNET_REGISTER_PARAM(ImageDetRecParserParam);
MXNET_REGISTER_PARAM(DetAugmentParam);
MXNET_REGISTER_PARAM(ImageDetNormalizeParam);

namespace {

constexpr size_t kSizes = 4;          // numbers of a row before the label: channels, height, width, how many
constexpr size_t kFewestNumbers = 7;  // of a label: two of the header and the five of one object

struct Params {
  ImageDetRecParserParam parser;
  ImageRecordParam record;
  BatchParam batch;
  PrefetchParam prefetch;
  DetAugmentParam augment;
  ImageDetNormalizeParam normalize;
};

// `given` for each of `count` samplers.
double Of(const std::string& function, const char* name, const Tuple<float>& given, int i, int count) {
  const int size = given.size();
  MXNET_CHECK_KIND(size == 1 || size == count, Value)
      << "[" << function << "] " << name << " has " << size << " numbers; accepted: 1, or num_crop_sampler, which is " << count;
  return static_cast<double>(given[size == 1 ? 0 : i]);
}

DetOptions OptionsOf(const std::string& function, const Params& p) {
  const DetAugmentParam& a = p.augment;
  DetOptions o;
  o.height = p.parser.data_shape[1], o.width = p.parser.data_shape[2], o.resize = a.resize;
  o.crop_probability = static_cast<double>(a.rand_crop_prob), o.pad_probability = static_cast<double>(a.rand_pad_prob);
  o.max_pad_scale = static_cast<double>(a.max_pad_scale), o.mirror_probability = static_cast<double>(a.rand_mirror_prob);
  o.emit_by_overlap = a.crop_emit_mode == DetAugmentParam::kOverlap, o.emit_overlap = static_cast<double>(a.emit_overlap_thresh);
  o.hue = a.max_random_hue, o.hue_probability = static_cast<double>(a.random_hue_prob);
  o.saturation = a.max_random_saturation, o.saturation_probability = static_cast<double>(a.random_saturation_prob);
  o.illumination = a.max_random_illumination, o.illumination_probability = static_cast<double>(a.random_illumination_prob);
  o.contrast = static_cast<double>(a.max_random_contrast), o.contrast_probability = static_cast<double>(a.random_contrast_prob);
  o.fill = a.fill_value, o.inter_method = a.inter_method, o.mode = static_cast<DetOptions::Mode>(a.resize_mode);
  const int count = a.num_crop_sampler;
  const int trials = a.max_crop_trials.ndim();
  MXNET_CHECK_KIND(trials == 1 || trials == count, Value)
      << "[" << function << "] max_crop_trials has " << trials << " numbers; accepted: 1, or num_crop_sampler, which is " << count;
  for (int i = 0; i < count; ++i) {
    CropSampler s;
    auto range = [&](const char* low, const Tuple<float>& least, const char* high, const Tuple<float>& most) {
      return Range{Of(function, low, least, i, count), Of(function, high, most, i, count)};
    };
#define MXNET_DET_RANGE(what) range("min_crop_" #what, a.min_crop_##what, "max_crop_" #what, a.max_crop_##what)
    s.scale = MXNET_DET_RANGE(scales), s.ratio = MXNET_DET_RANGE(aspect_ratios), s.overlap = MXNET_DET_RANGE(overlaps);
    s.sample_coverage = MXNET_DET_RANGE(sample_coverages), s.object_coverage = MXNET_DET_RANGE(object_coverages);
#undef MXNET_DET_RANGE
    s.trials = a.max_crop_trials[trials == 1 ? 0 : i];
    o.samplers.push_back(s);
  }
  return o;
}

RecordOptions RecordsOf(const std::string& function, const Params& p) {
  RecordOptions o;
  o.function = function, o.path_imgrec = p.parser.path_imgrec;
  o.num_parts = p.parser.num_parts, o.part_index = p.parser.part_index;
  o.shuffle = p.record.shuffle, o.seed = p.record.seed;
  o.shuffle_chunk_size = p.parser.shuffle_chunk_size, o.shuffle_chunk_seed = p.parser.shuffle_chunk_seed;
  return o;
}

class DetRows : public RowMaker {
 public:
  DetRows(const std::string& function, const Params& p)
      : function_(function),
        seed_(static_cast<uint64_t>(p.normalize.seed)),
        channels_(static_cast<int>(p.parser.data_shape[0])),
        label_width_(p.parser.label_width),
        pad_value_(p.parser.label_pad_value),
        augmenter_(function, OptionsOf(function, p)) {
    if (!p.parser.path_imglist.empty()) list_ = std::make_unique<LabelList>(function, p.parser.path_imglist, label_width_);
    const float mean[4] = {p.normalize.mean_r, p.normalize.mean_g, p.normalize.mean_b, p.normalize.mean_a};
    const float deviation[4] = {p.normalize.std_r, p.normalize.std_g, p.normalize.std_b, p.normalize.std_a};
    for (int c = 0; c < 4; ++c) how_.mean[c] = mean[c], how_.factor[c] = p.normalize.scale / (deviation[c] > 0 ? deviation[c] : 1.f);
    SetLabelRoom(p, WidestLabel(p));
  }

  const std::vector<RowArray>& arrays() const override { return arrays_; }
  /* Instead of mean_r and so on. */
  void SetMean(std::vector<float> mean) { mean_ = std::move(mean); }

  bool Make(const Record& record, Workspace* workspace, char* const* to, uint64_t* index) const override {
    const ImageRecord image = ParseImageRecord(function_, record);
    *index = image.id;
    DetLabel label;
    label.numbers = &workspace->numbers;
    ReadLabel(record, image, &label);
    Draws draws(seed_, kDrawAugment, record.epoch, record.position);
    int64_t height, width;
    if (!augmenter_.Run(image, channels_, &draws, &workspace->canvas, &label, &height, &width, &workspace->text)) return false;
    auto* row = reinterpret_cast<float*>(to[1]);
    std::fill(row, row + room_ + kSizes, pad_value_);
    const size_t count = std::min(label.numbers->size(), room_);
    row[0] = static_cast<float>(channels_), row[1] = static_cast<float>(height), row[2] = static_cast<float>(width);
    row[3] = static_cast<float>(count);
    std::copy_n(label.numbers->data(), count, row + kSizes);
    Normalization how = how_;
    if (!mean_.empty()) how.mean_image = mean_.data();
    WriteElements(workspace->canvas.current(), how, false, false, kFloat32, to[0]);
    return true;
  }

 private:
  // The numbers of an image, as they are packed.
  void ReadLabel(const Record& record, const ImageRecord& image, DetLabel* label) const {
    std::vector<float>* numbers = label->numbers;
    if (list_) {
      *numbers = list_->Find(image.id);
    } else {
      MXNET_CHECK_KIND(label_width_ <= 0 || image.label_count == static_cast<size_t>(label_width_), Value)
          << "[" << function_ << "] " << record.Place() << ": " << image.label_count << " labels and label_width=" << label_width_
          << "; accepted: as many labels as label_width says, -1, or path_imglist";
      numbers->resize(image.label_count);
      std::memcpy(numbers->data(), image.labels, image.label_count * sizeof(float));
    }
    const size_t size = numbers->size();
    const bool enough = size >= kFewestNumbers;
    const float header = enough ? (*numbers)[0] : 0, width = enough ? (*numbers)[1] : 0;
    const bool sound = enough && header >= 2 && header <= static_cast<float>(size) && width >= 5 && width <= static_cast<float>(size);
    label->header = sound ? static_cast<size_t>(header) : 0, label->width = sound ? static_cast<size_t>(width) : 1;
    MXNET_CHECK_KIND(sound && label->header <= size && (size - label->header) % label->width == 0, Value)
        << "[" << function_ << "] " << record.Place() << ": a label of " << size << " numbers, " << header << " of them for the header and "
        << width << " for an object; accepted: " << kFewestNumbers
        << " numbers or more, which begin with the widths of the header (2 or more) and of an object (5 or more)";
  }

  size_t WidestLabel(const Params& p) const {
    if (list_) return list_->width();
    RecordOptions options = RecordsOf(function_, p);
    options.shuffle = false, options.shuffle_chunk_size = 0;
    const auto records = OpenRecords(options);
    size_t widest = 0;
    Record record;
    while (records->Read(&record)) widest = std::max(widest, ParseImageRecord(function_, record).label_count);
    return widest;
  }

  void SetLabelRoom(const Params& p, size_t widest) {
    const int given = p.parser.label_pad_width;
    MXNET_CHECK_KIND(given <= 0 || static_cast<size_t>(given) >= widest, Value)
        << "[" << function_ << "] label_pad_width: " << given << " smaller than estimated width " << widest << "; accepted: " << widest
        << " or more, and 0 for this width";
    room_ = given > 0 ? static_cast<size_t>(given) : widest;
    arrays_ = {{p.parser.data_shape, kFloat32}, {Shape({static_cast<int64_t>(room_ + kSizes)}), kFloat32}};
    if (p.parser.verbose)
      LogInfo("[" + function_ + "] labels have up to " + std::to_string(widest) + " numbers, and room for " + std::to_string(room_));
  }

  const std::string function_;
  const uint64_t seed_;
  const int channels_, label_width_;
  const float pad_value_;
  const DetAugmenter augmenter_;
  std::unique_ptr<LabelList> list_;
  std::vector<RowArray> arrays_;
  size_t room_ = 0;
  Normalization how_;
  std::vector<float> mean_;
};

std::vector<float> MeanImage(const std::string& function, const Params& p) {
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  LoadNDArrays(p.normalize.mean_img, &arrays, &names);
  const Shape& shape = p.parser.data_shape;
  MXNET_CHECK_KIND(!arrays.empty() && arrays[0].shape() == shape && arrays[0].dtype() == kFloat32, Value)
      << "[" << function << "] mean_img '" << p.normalize.mean_img << "'; accepted: an array of " << shape.str()
      << ", the data_shape, of float32";
  std::vector<float> mean(static_cast<size_t>(shape.Size()));
  arrays[0].CopyBytesTo(mean.data(), mean.size() * sizeof(float));
  return mean;
}

std::unique_ptr<DataIter> Make(const IterArguments& given) {
  const std::string function = "ImageDetRecordIter";
  Params p;
  ReadParams(function, given, &p.parser, &p.record, &p.batch, &p.prefetch, &p.augment, &p.normalize);
  const Shape& s = p.parser.data_shape;
  const bool good = s.ndim() == 3 && (s[0] == 1 || s[0] == 3 || s[0] == 4) && s[1] > 0 && s[2] > 0 && s[1] < 65536 && s[2] < 65536;
  MXNET_CHECK_KIND(good, Value) << "[" << function << "] data_shape=" << s.str()
                                << "; accepted: (channels, height, width) with 1, 3 or 4 channels and sides of 1 to 65535";
  MXNET_CHECK_KIND(p.parser.aug_seq.empty() || p.parser.aug_seq == "det_aug_default", Value)
      << "[" << function << "] aug_seq='" << p.parser.aug_seq << "'; accepted: det_aug_default";
  MXNET_CHECK_KIND(!p.prefetch.dtype.has_value() || p.prefetch.dtype.value() == kFloat32, Value)
      << "[" << function << "] dtype=" << DTypeName(p.prefetch.dtype.value()) << "; accepted: float32";
  BatchOptions options;
  options.function = function, options.batch_size = p.batch.batch_size, options.round_batch = p.batch.round_batch;
  options.context = p.prefetch.context(), options.prefetch = p.prefetch.prefetch_buffer, options.threads = p.parser.preprocess_threads;
  MXNET_CHECK_KIND(options.batch_size > 0, Value) << "[" << function << "] batch_size=0; accepted: 1 or more";
  auto rows = std::make_unique<DetRows>(function, p);
  if (!p.normalize.mean_img.empty()) rows->SetMean(MeanImage(function, p));
  return MakeImageBatches(options, OpenRecords(RecordsOf(function, p)), std::move(rows));
}

MXNET_REGISTER_DATA_ITER(ImageDetRecordIter)
    .describe(
        "Batches of images with boxes from RecordIO files. Data are (batch, channels, height, width) of float32, red first. A "
        "label is (batch, 4 + label_pad_width): channels, height and width of the image inside of the data, how many numbers "
        "follow, the header, the objects, and label_pad_value. The header begins with its own width and the width of an object. "
        "An object is its class, left, top, right and bottom as parts of the image's sides, and whatever else belongs to it. "
        "Equal seeds give equal batches for any number of threads.")
    .set_param<ImageDetRecParserParam, ImageRecordParam, BatchParam, PrefetchParam, DetAugmentParam, ImageDetNormalizeParam>()
    .set_make([](const IterArguments& given) { return Make(given); });

}  // namespace
}  // namespace image
}  // namespace mxnet
