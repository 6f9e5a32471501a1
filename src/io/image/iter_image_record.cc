// ImageRecordIter and its relatives.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "base/threads/shared_cores.h"
#include "io/image/augment.h"
#include "io/image/iter_params.h"
#include "io/register_iter.h"

namespace mxnet {
namespace image {
MXNET_REGISTER_PARAM(ImageRecParserParam);
MXNET_REGISTER_PARAM(ImageRecordParam);
MXNET_REGISTER_PARAM(DefaultAugmentParam);
MXNET_REGISTER_PARAM(ImageNormalizeParam);
MXNET_REGISTER_PARAM(ImageDecodeParam);

namespace {

struct Params {
  ImageRecParserParam parser;
  ImageRecordParam record;
  BatchParam batch;
  PrefetchParam prefetch;
  DefaultAugmentParam augment;
  ImageNormalizeParam normalize;
  ImageDecodeParam decode;
};

class ImageRows : public RowMaker {
 public:
  ImageRows(const std::string& function, const Params& p, int dtype)
      : function_(function),
        seed_(static_cast<uint64_t>(p.parser.seed_aug.has_value() ? p.parser.seed_aug.value() : 0)),
        channels_(static_cast<int>(p.parser.data_shape[0])),
        label_width_(p.parser.label_width),
        dtype_(dtype),
        channels_last_(p.decode.layout == ImageDecodeParam::kChannelsLast),
        augmenter_(function, OptionsOf(p)),
        normalize_(p.normalize) {
    if (!p.parser.path_imglist.empty()) list_ = std::make_unique<LabelList>(function, p.parser.path_imglist, label_width_);
    const Shape& s = p.parser.data_shape;
    arrays_ = {{channels_last_ ? Shape({s[1], s[2], s[0]}) : s, dtype},
               {label_width_ == 1 ? Shape(std::vector<int64_t>()) : Shape({label_width_}), kFloat32}};
    const float mean[4] = {p.normalize.mean_r, p.normalize.mean_g, p.normalize.mean_b, p.normalize.mean_a};
    const float deviation[4] = {p.normalize.std_r, p.normalize.std_g, p.normalize.std_b, p.normalize.std_a};
    for (int c = 0; c < 4; ++c)
      MXNET_CHECK_KIND(deviation[c] != 0, Value) << "[" << function << "] std_"
                                                 << "rgba"[c] << "=0; accepted: another number";
    for (int c = 0; c < 4; ++c) how_.mean[c] = mean[c], how_.factor[c] = p.normalize.scale / deviation[c];
  }

  /* Instead of mean_r and so on. */
  void SetMean(std::vector<float> mean) { mean_ = std::move(mean); }

  const std::vector<RowArray>& arrays() const override { return arrays_; }

  bool Make(const Record& record, Workspace* workspace, char* const* to, uint64_t* index) const override {
    const ImageRecord image = ParseImageRecord(function_, record);
    *index = image.id;
    WriteLabel(record, image, reinterpret_cast<float*>(to[1]));
    Draws draws(seed_, kDrawAugment, record.epoch, record.position);
    Canvas* canvas = &workspace->canvas;
    if (!augmenter_.Run(image.file, image.file_size, channels_, &draws, canvas, &workspace->text)) return false;
    Draws more(seed_, kDrawNormalize, record.epoch, record.position);
    const bool turned = more.Chance(0.5);
    Normalization how = how_;
    if (!mean_.empty()) how.mean_image = mean_.data();
    if (normalize_.max_random_contrast > 0)
      how.contrast = static_cast<float>(1 + more.Uniform(-normalize_.max_random_contrast, normalize_.max_random_contrast));
    if (normalize_.max_random_illumination > 0)
      how.illumination = static_cast<float>(more.Uniform(-normalize_.max_random_illumination, normalize_.max_random_illumination));
    WriteElements(canvas->current(), how, normalize_.mirror || (normalize_.rand_mirror && turned), channels_last_, dtype_, to[0]);
    return true;
  }

 private:
  static AugmentOptions OptionsOf(const Params& p) {
    const DefaultAugmentParam& a = p.augment;
    AugmentOptions o;
    o.height = p.parser.data_shape[1], o.width = p.parser.data_shape[2];
    o.resize = a.resize, o.rand_crop = a.rand_crop, o.random_resized_crop = a.random_resized_crop;
    o.max_rotate_angle = a.max_rotate_angle, o.rotate = a.rotate, o.max_shear_ratio = a.max_shear_ratio;
    const double most = static_cast<double>(a.max_aspect_ratio);
    o.min_ratio = a.min_aspect_ratio.has_value() ? static_cast<double>(a.min_aspect_ratio.value()) : 1 - most;
    o.max_ratio = a.min_aspect_ratio.has_value() ? most : 1 + most;
    o.min_crop_size = a.min_crop_size, o.max_crop_size = a.max_crop_size;
    o.min_scale = a.min_random_scale, o.max_scale = a.max_random_scale;
    o.min_area = a.min_random_area, o.max_area = a.max_random_area;
    o.min_img_size = a.min_img_size, o.max_img_size = a.max_img_size;
    o.brightness = a.brightness, o.contrast = a.contrast, o.saturation = a.saturation, o.pca_noise = a.pca_noise;
    o.random_h = a.random_h, o.random_s = a.random_s, o.random_l = a.random_l;
    o.fill = a.fill_value, o.inter_method = a.inter_method, o.pad = a.pad;
    o.scaled_decode = p.decode.scaled_decode;
    return o;
  }

  void WriteLabel(const Record& record, const ImageRecord& image, float* to) const {
    const size_t width = static_cast<size_t>(label_width_);
    if (list_) {
      std::memcpy(to, list_->Find(image.id).data(), width * sizeof(float));
      return;
    }
    MXNET_CHECK_KIND(image.label_count == width, Value)
        << "[" << function_ << "] " << record.Place() << ": " << image.label_count << " labels and label_width=" << width
        << "; accepted: as many labels as label_width says, or path_imglist";
    std::memcpy(to, image.labels, width * sizeof(float));
  }

  const std::string function_;
  const uint64_t seed_;
  const int channels_, label_width_, dtype_;
  const bool channels_last_;
  const Augmenter augmenter_;
  const ImageNormalizeParam normalize_;
  std::unique_ptr<LabelList> list_;
  std::vector<RowArray> arrays_;
  Normalization how_;
  std::vector<float> mean_;
};

RecordOptions RecordsOf(const std::string& function, const Params& p) {
  RecordOptions o;
  o.function = function, o.path_imgrec = p.parser.path_imgrec, o.path_imgidx = p.parser.path_imgidx;
  o.num_parts = p.parser.num_parts, o.part_index = p.parser.part_index;
  o.shuffle = p.record.shuffle, o.seed = p.record.seed;
  o.shuffle_chunk_size = p.parser.shuffle_chunk_size, o.shuffle_chunk_seed = p.parser.shuffle_chunk_seed;
  return o;
}

BatchOptions BatchesOf(const std::string& function, const Params& p) {
  BatchOptions o;
  o.function = function, o.batch_size = p.batch.batch_size, o.round_batch = p.batch.round_batch;
  o.prefetch = p.prefetch.prefetch_buffer;
  o.context = p.prefetch.context(p.parser.device_id);
  o.threads = std::min(p.parser.preprocess_threads, static_cast<int>(std::ceil(UsableProcessors())));
  return o;
}

/* The mean of all images of an epoch, as `rows` make them. */
std::vector<float> MeanOf(const std::string& function, const Params& p, std::unique_ptr<RowMaker> rows) {
  const size_t size = static_cast<size_t>(p.parser.data_shape.Size());
  BatchOptions options = BatchesOf(function, p);
  options.round_batch = false;
  const auto batches = MakeImageBatches(options, OpenRecords(RecordsOf(function, p)), std::move(rows));
  std::vector<double> sum(size);
  uint64_t count = 0;
  while (batches->Next()) {
    const DataBatch& batch = batches->Value();
    const auto* x = batch.arrays[0].data().data<float>();
    const uint64_t filled = p.batch.batch_size - static_cast<uint64_t>(batch.pad);
    for (uint64_t i = 0; i < filled; ++i)
      for (size_t k = 0; k < size; ++k) sum[k] += static_cast<double>(x[i * size + k]);
    count += filled;
  }
  MXNET_CHECK_KIND(count > 0, IO) << "[" << function << "] there are no images to make " << p.normalize.mean_img << " from";
  std::vector<float> mean(size);
  for (size_t k = 0; k < size; ++k) mean[k] = static_cast<float>(sum[k] / static_cast<double>(count));
  return mean;
}

/* Reads mean_img, or makes it. */
std::vector<float> MeanImage(const std::string& function, const Params& p) {
  const std::string& path = p.normalize.mean_img;
  const Shape& shape = p.parser.data_shape;
  std::vector<float> mean(static_cast<size_t>(shape.Size()));
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    std::vector<NDArray> arrays;
    std::vector<std::string> names;
    LoadNDArrays(path, &arrays, &names);
    MXNET_CHECK_KIND(!arrays.empty() && arrays[0].shape() == shape && arrays[0].dtype() == kFloat32, Value)
        << "[" << function << "] mean_img '" << path << "' holds "
        << (arrays.empty() ? "nothing" : arrays[0].shape().str() + " of " + DTypeName(arrays[0].dtype())) << "; accepted: an array of "
        << shape.str() << ", the data_shape, of float32";
    arrays[0].CopyBytesTo(mean.data(), mean.size() * sizeof(float));
    return mean;
  }
  const bool tell = p.normalize.verbose;
  if (tell) LogInfo("[" + function + "] cannot find " + path + ": it is made from all images, which takes some time");
  Params planes = p;
  planes.decode.layout = ImageDecodeParam::kChannelsFirst;
  mean = MeanOf(function, p, std::make_unique<ImageRows>(function, planes, kFloat32));
  NDArray array(shape, Context::CPU(), kFloat32);
  array.CopyBytesFrom(mean.data(), mean.size() * sizeof(float));
  SaveNDArrays(path, {array}, {"mean_img"});
  if (tell) LogInfo("[" + function + "] the mean image is saved in " + path);
  return mean;
}

void CheckShape(const std::string& function, const Shape& s) {
  const bool good = s.ndim() == 3 && (s[0] == 1 || s[0] == 3 || s[0] == 4) && s[1] > 0 && s[2] > 0 && s[1] < 65536 && s[2] < 65536;
  MXNET_CHECK_KIND(good, Value) << "[" << function << "] data_shape=" << s.str()
                                << "; accepted: (channels, height, width) with 1, 3 or 4 channels and sides of 1 to 65535";
}

std::unique_ptr<DataIter> Make(const std::string& function, int dtype, const IterArguments& given) {
  Params p;
  ReadParams(function, given, &p.parser, &p.record, &p.batch, &p.prefetch, &p.augment, &p.normalize, &p.decode);
  if (dtype < 0) {
    dtype = p.prefetch.dtype.has_value() ? p.prefetch.dtype.value() : kFloat32;
    MXNET_CHECK_KIND(dtype == kFloat32 || dtype == kUint8 || dtype == kInt8, Value)
        << "[" << function << "] dtype=" << DTypeName(dtype) << "; accepted: float32, uint8 and int8";
  }
  CheckShape(function, p.parser.data_shape);
  MXNET_CHECK_KIND(!p.parser.path_imgrec.empty(), Value) << "[" << function << "] path_imgrec is missing; accepted: a RecordIO file";
  MXNET_CHECK_KIND(p.parser.aug_seq.empty() || p.parser.aug_seq == "aug_default", Value)
      << "[" << function << "] aug_seq='" << p.parser.aug_seq << "'; accepted: aug_default";
  BatchOptions options = BatchesOf(function, p);
  MXNET_CHECK_KIND(options.batch_size > 0, Value) << "[" << function << "] batch_size=0; accepted: 1 or more";
  auto rows = std::make_unique<ImageRows>(function, p, dtype);
  auto records = OpenRecords(RecordsOf(function, p));
  if (!p.normalize.mean_img.empty() && dtype == kFloat32) rows->SetMean(MeanImage(function, p));
  if (p.parser.verbose)
    LogInfo("[" + function + "] " + p.parser.path_imgrec + ": images are decoded by " + std::to_string(options.threads) + " thread(s)");
  return MakeImageBatches(options, std::move(records), std::move(rows));
}

constexpr const char* kText =
    "Batches of images from RecordIO files, as tools/im2rec makes them. Threads decode and augment "
    "images while others are computed with. Data are (batch, channels, height, width), or what `layout` says, red first. "
    "Equal seeds give equal batches for any number of threads.";

// 1.9.1 lists the means and so on for iterators of floats only. The others take them as well.
#define MXNET_IMAGE_RECORD_ITER(name, dtype, text, ...)                                                                  \
  MXNET_REGISTER_DATA_ITER(name)                                                                                         \
      .describe(std::string(kText) + (text))                                                                             \
      .set_param<ImageRecParserParam, ImageRecordParam, BatchParam, PrefetchParam, DefaultAugmentParam, ##__VA_ARGS__>() \
      .set_param<ImageDecodeParam>()                                                                                     \
      .set_make([](const IterArguments& given) { return Make(#name, dtype, given); })

MXNET_IMAGE_RECORD_ITER(ImageRecordIter, -1, "", ImageNormalizeParam);
MXNET_IMAGE_RECORD_ITER(ImageRecordIter_v1, kFloat32, " The same as ImageRecordIter.", ImageNormalizeParam);
MXNET_IMAGE_RECORD_ITER(ImageRecordUInt8Iter, kUint8, " Data are uint8; `mirror` and `rand_mirror` are taken as well.");
MXNET_IMAGE_RECORD_ITER(ImageRecordUInt8Iter_v1, kUint8, " The same as ImageRecordUInt8Iter.");
MXNET_IMAGE_RECORD_ITER(ImageRecordInt8Iter, kInt8,
                        " Data are int8: less the rounded mean_r, mean_g and mean_b, limited to -128 to 127. `mirror` and `rand_mirror` "
                        "are taken as well.");

}  // namespace
}  // namespace image
}  // namespace mxnet
