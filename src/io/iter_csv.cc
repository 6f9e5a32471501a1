// CSVIter.
#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/prefetcher.h"
#include "io/register_iter.h"
#include "io/row_batches.h"
#include "io/text_lines.h"

namespace mxnet {
namespace {

struct CSVIterParam : public Parameter<CSVIterParam> {
  std::string data_csv, label_csv;
  Shape data_shape, label_shape;
  MXNET_DECLARE_PARAM(CSVIterParam) {
    MXNET_FIELD(data_csv).describe(
        "File with an instance in each line: numbers with commas between them. Also several files "
        "with semicolons between them, or a folder.");
    MXNET_FIELD(data_shape).describe("Shape of an instance.");
    MXNET_FIELD(label_csv).set_default("NULL").describe("File with the labels; without it they are zeros.");
    MXNET_FIELD(label_shape).set_default(Shape({1})).describe("Shape of a label.");
  }
};

MXNET_REGISTER_PARAM(CSVIterParam);

/* The numbers of a line, as T. An empty field counts for nothing, as one behind a trailing
 * comma. */
template <typename T>
void ReadFields(const TextLines& lines, const std::string& line, int64_t count, int64_t left_out, std::vector<char>* row) {
  row->clear();
  row->reserve((line.size() / 2 + 1) * sizeof(T));
  for (size_t at = 0, column = 0; at < line.size(); ++column) {
    const size_t comma = std::min(line.find(',', at), line.size());
    const char *begin = line.data() + at, *end = line.data() + comma;
    at = comma + 1;
    while (begin != end && IsBlank(*begin)) ++begin;
    while (begin != end && IsBlank(end[-1])) --end;
    if (begin == end || static_cast<int64_t>(column) == left_out) continue;
    T value;
    const char* stop = begin;
    MXNET_CHECK_KIND(ReadNumber(&stop, end, &value) && stop == end, Value)
        << "[" << lines.function() << "] " << lines.Place() << ": could not convert '" << Shown(begin, end)
        << "'; accepted: " << (std::is_integral<T>::value ? "integers that the dtype holds" : "numbers");
    const char* bytes = reinterpret_cast<const char*>(&value);
    row->insert(row->end(), bytes, bytes + sizeof(T));
  }
  const int64_t found = static_cast<int64_t>(row->size() / sizeof(T));
  MXNET_CHECK_KIND(found == count, Value) << "[" << lines.function() << "] " << lines.Place() << ": " << found
                                          << " numbers; accepted: " << count << ", as many as the shape has elements";
}

class CSVRows : public RowSource {
 public:
  CSVRows(const CSVIterParam& param, int dtype) : dtype_(dtype) {
    Add(param.data_csv, param.data_shape);
    if (param.label_csv != "NULL") Add(param.label_csv, param.label_shape);
  }

  void Restart() override {
    for (Source& source : sources_) source.lines->Restart();
  }

  bool Read(std::vector<std::vector<char>>* row) override {
    const std::string* data = sources_[0].lines->Next();
    if (data == nullptr) return false;
    Convert(sources_[0], *data, &(*row)[0]);
    if (sources_.size() == 1) {
      (*row)[1].assign(DTypeSize(dtype_), 0);
      return true;
    }
    const std::string* label = sources_[1].lines->Next();
    MXNET_CHECK_KIND(label != nullptr, Value) << "[CSVIter] data_csv and label_csv have different numbers of lines: there is no label for "
                                              << sources_[0].lines->Place();
    Convert(sources_[1], *label, &(*row)[1]);
    return true;
  }

 private:
  struct Source {
    std::unique_ptr<TextLines> lines;
    int64_t count;
    int64_t left_out = -1;  // a column
  };

  void Add(const std::string& uri, const Shape& shape) {
    Source source;
    source.count = shape.Size();
    std::string path = uri;
    for (const auto& option : TakeUriOptions(&path)) {
      const char* at = option.second.data();
      const char* const end = at + option.second.size();
      const bool column = option.first == "label_column" && ReadNumber(&at, end, &source.left_out) && at == end;
      MXNET_CHECK_KIND(column || (option.first == "format" && option.second == "csv"), Value)
          << "[CSVIter] " << option.first << "=" << option.second << " in " << uri
          << "; accepted: format=csv, and label_column, the number of a column to leave out";
    }
    source.lines = std::make_unique<TextLines>("CSVIter", path);
    sources_.push_back(std::move(source));
  }

  void Convert(const Source& source, const std::string& line, std::vector<char>* row) const {
    if (dtype_ == kFloat32) {
      ReadFields<float>(*source.lines, line, source.count, source.left_out, row);
    } else if (dtype_ == kInt32) {
      ReadFields<int32_t>(*source.lines, line, source.count, source.left_out, row);
    } else {
      ReadFields<int64_t>(*source.lines, line, source.count, source.left_out, row);
    }
  }

  const int dtype_;
  std::vector<Source> sources_;
};

void CheckShape(const char* name, const Shape& shape) {
  bool known = shape.ndim() >= 0;
  for (int i = 0; i < shape.ndim(); ++i) known = known && shape[i] > 0;
  MXNET_CHECK_KIND(known, Value) << "[CSVIter] " << name << "=" << shape.str() << "; accepted: sizes of at least 1";
}

std::unique_ptr<DataIter> MakeCSVIter(const IterArguments& given) {
  CSVIterParam csv;
  BatchParam batch;
  PrefetchParam prefetch;
  ReadParams("CSVIter", given, &csv, &batch, &prefetch);
  const int dtype = prefetch.dtype.has_value() ? prefetch.dtype.value() : kFloat32;
  MXNET_CHECK_KIND(dtype == kFloat32 || dtype == kInt32 || dtype == kInt64, Value)
      << "[CSVIter] dtype=" << DTypeName(dtype) << "; accepted: float32, int32 and int64";
  CheckShape("data_shape", csv.data_shape);
  CheckShape("label_shape", csv.label_shape);
  // Single labels are a vector.
  const bool scalar = csv.label_csv == "NULL" || csv.label_shape == Shape({1});
  const Shape label = scalar ? Shape(std::vector<int64_t>()) : csv.label_shape;
  auto rows = std::make_unique<RowBatches>("CSVIter", std::make_unique<CSVRows>(csv, dtype),
                                           std::vector<RowPart>{{csv.data_shape, dtype}, {label, dtype}}, batch.batch_size,
                                           batch.round_batch, prefetch.context());
  return Prefetched("CSVIter", std::move(rows), prefetch.prefetch_buffer);
}

MXNET_REGISTER_DATA_ITER(CSVIter)
    .describe(
        "Batches of the rows of CSV files, which are read as they are needed. Empty lines are left "
        "out.")
    .set_param<CSVIterParam, BatchParam, PrefetchParam>()
    .set_make(MakeCSVIter);

}  // namespace
}  // namespace mxnet
