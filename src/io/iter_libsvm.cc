// LibSVMIter.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/prefetcher.h"
#include "io/register_iter.h"
#include "io/row_batches.h"
#include "io/text_lines.h"

namespace mxnet {
namespace {

struct LibSVMIterParam : public Parameter<LibSVMIterParam> {
  std::string data_libsvm, label_libsvm;
  Shape data_shape, label_shape;
  int num_parts, part_index;
  MXNET_DECLARE_PARAM(LibSVMIterParam) {
    MXNET_FIELD(data_libsvm)
        .describe(
            "File with an instance in each line: a label, and pairs of a feature's number, from 0, "
            "and its value, as 3:0.5. Also several files with semicolons between them, or a folder.");
    MXNET_FIELD(data_shape).describe("Shape of an instance: the number of features.");
    MXNET_FIELD(label_libsvm)
        .set_default("NULL")
        .describe("File whose features are the labels; without it they begin the lines of data_libsvm.");
    MXNET_FIELD(label_shape).set_default(Shape({1})).describe("Shape of a label: the number of features in label_libsvm.");
    MXNET_FIELD(num_parts).set_default(1).describe("Into how many parts of equal size the file is divided, for as many workers.");
    MXNET_FIELD(part_index).set_default(0).describe("Which of the parts this one reads, from 0.");
  }
};
MXNET_REGISTER_PARAM(LibSVMIterParam);

class LibSVMFile {
 public:
  LibSVMFile(const std::string& uri, const LibSVMIterParam& param, int64_t features) : features_(features) {
    std::string path = uri;
    for (const auto& option : TakeUriOptions(&path)) {
      if (option.first == "indexing_mode") {
        MXNET_CHECK_KIND(option.second == "0" || option.second == "1", Value)
            << "[LibSVMIter] indexing_mode=" << option.second << " in " << uri << "; accepted: 0 and 1, the number of the first feature";
        first_ = option.second == "1";
      } else {
        MXNET_CHECK_KIND(option.first == "format" && option.second == "libsvm", Value)
            << "[LibSVMIter] " << option.first << "=" << option.second << " in " << uri << "; accepted: format=libsvm and indexing_mode";
      }
    }
    lines_ = std::make_unique<TextLines>("LibSVMIter", path, param.part_index, param.num_parts);
  }

  /* False at the end. The row is Features in ascending order; of several values for one feature the
   * last one counts. */
  bool Read(float* label, std::vector<char>* row) {
    const std::string* line = NextLine();
    if (line == nullptr) return false;
    const char* at = line->data();
    const char* const end = at + std::min(line->find('#'), line->size());
    const char* begin = at;
    bool good = ReadNumber(&at, end, label);
    if (good && at != end && *at == ':') {  // a weight, which is left out
      ++at;
      float weight;
      good = ReadNumber(&at, end, &weight);
    }
    Check(good, begin, end, "a label");
    found_.clear();
    bool ascending = true;
    while (SkipBlanks(&at, end)) {
      begin = at;
      const bool query = end - at > 4 && std::memcmp(at, "qid:", 4) == 0;
      if (query) at += 4;
      int64_t index;
      float value = 1;
      good = ReadNumber(&at, end, &index);
      if (good && !query && at != end && *at == ':') {
        ++at;
        good = ReadNumber(&at, end, &value);
      }
      Check(good && (at == end || IsBlank(*at)), begin, end, "pairs as 3:0.5, with spaces between them");
      if (query) continue;
      MXNET_CHECK_KIND(index >= first_ && index - first_ < features_, Value)
          << "[LibSVMIter] " << lines_->Place() << ": feature " << index << "; accepted: " << first_ << " to " << features_ - 1 + first_;
      ascending = ascending && (found_.empty() || found_.back().column < index - first_);
      found_.push_back({index - first_, value});
    }
    if (!ascending) Sort();
    row->resize(found_.size() * sizeof(Feature));
    if (!found_.empty()) std::memcpy(row->data(), found_.data(), row->size());
    return true;
  }

  TextLines& lines() { return *lines_; }

 private:
  /* Lines that are no comments. */
  const std::string* NextLine() {
    while (const std::string* line = lines_->Next()) {
      const char* at = line->data();
      if (SkipBlanks(&at, line->data() + std::min(line->find('#'), line->size()))) return line;
    }
    return nullptr;
  }

  void Sort() {
    std::stable_sort(found_.begin(), found_.end(), [](const Feature& a, const Feature& b) { return a.column < b.column; });
    size_t kept = 0;
    for (size_t i = 0; i < found_.size(); ++i) {
      if (kept > 0 && found_[kept - 1].column == found_[i].column) --kept;
      found_[kept++] = found_[i];
    }
    found_.resize(kept);
  }

  static bool SkipBlanks(const char** at, const char* end) {
    while (*at != end && IsBlank(**at)) ++*at;
    return *at != end;
  }

  void Check(bool good, const char* begin, const char* end, const char* accepted) const {
    MXNET_CHECK_KIND(good, Value) << "[LibSVMIter] " << lines_->Place() << ": could not convert '" << Shown(begin, end)
                                  << "'; accepted: " << accepted;
  }

  const int64_t features_;
  int64_t first_ = 0;
  std::unique_ptr<TextLines> lines_;
  std::vector<Feature> found_;  // of the line
};

class LibSVMRows : public RowSource {
 public:
  explicit LibSVMRows(const LibSVMIterParam& param) : data_(param.data_libsvm, param, param.data_shape[0]) {
    if (param.label_libsvm != "NULL") labels_ = std::make_unique<LibSVMFile>(param.label_libsvm, param, param.label_shape.Size());
  }

  void Restart() override {
    data_.lines().Restart();
    if (labels_) labels_->lines().Restart();
  }

  bool Read(std::vector<std::vector<char>>* row) override {
    float label;
    if (!data_.Read(&label, &(*row)[0])) return false;
    if (labels_) {
      float unused;
      MXNET_CHECK_KIND(labels_->Read(&unused, &(*row)[1]), Value)
          << "[LibSVMIter] data_libsvm and label_libsvm have different numbers of lines: there is no label for " << data_.lines().Place();
    } else {
      const char* bytes = reinterpret_cast<const char*>(&label);
      (*row)[1].assign(bytes, bytes + sizeof(label));
    }
    return true;
  }

 private:
  LibSVMFile data_;
  std::unique_ptr<LibSVMFile> labels_;
};

std::unique_ptr<DataIter> MakeLibSVMIter(const IterArguments& given) {
  LibSVMIterParam param;
  BatchParam batch;
  PrefetchParam prefetch;
  ReadParams("LibSVMIter", given, &param, &batch, &prefetch);
  MXNET_CHECK_KIND(!prefetch.dtype.has_value() || prefetch.dtype.value() == kFloat32, Value)
      << "[LibSVMIter] dtype=" << DTypeName(prefetch.dtype.value()) << "; accepted: float32";
  MXNET_CHECK_KIND(param.data_shape.ndim() == 1 && param.data_shape[0] > 0, Value)
      << "[LibSVMIter] data_shape=" << param.data_shape.str() << "; accepted: one number, that of the features";
  const bool own = param.label_libsvm == "NULL";
  bool known = param.label_shape.ndim() == 1 && param.label_shape[0] > 0;
  MXNET_CHECK_KIND(known && (!own || param.label_shape[0] == 1), Value)
      << "[LibSVMIter] label_shape=" << param.label_shape.str()
      << (own ? "; accepted: (1,), or a label_libsvm too" : "; accepted: one number");
  auto rows = std::make_unique<LibSVMRows>(param);
  const Shape label = own ? Shape(std::vector<int64_t>()) : param.label_shape;
  const std::vector<RowPart> parts = {{param.data_shape, kFloat32, true}, {label, kFloat32, !own}};
  auto batches =
      std::make_unique<RowBatches>("LibSVMIter", std::move(rows), parts, batch.batch_size, batch.round_batch, prefetch.context());
  return Prefetched("LibSVMIter", std::move(batches), prefetch.prefetch_buffer);
}

MXNET_REGISTER_DATA_ITER(LibSVMIter)
    .describe(
        "Batches of the rows of LibSVM files, csr arrays, which are read as they are needed. Features "
        "that a row does not name are 0. What follows # in a line is a comment.")
    .set_param<LibSVMIterParam, BatchParam, PrefetchParam>()
    .set_make(MakeLibSVMIter);

}  // namespace
}  // namespace mxnet
