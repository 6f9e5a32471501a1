// MNISTIter.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "base/new_file.h"
#include "io/prefetcher.h"
#include "io/register_iter.h"
#include "io/shuffle.h"

namespace mxnet {
namespace {

struct MNISTParam : public Parameter<MNISTParam> {
  std::string image, label;
  int batch_size, seed, num_parts, part_index;
  bool shuffle, flat, silent;
  MXNET_DECLARE_PARAM(MNISTParam) {
    MXNET_FIELD(image).set_default("./train-images-idx3-ubyte").describe("File of the images, in IDX format.");
    MXNET_FIELD(label).set_default("./train-labels-idx1-ubyte").describe("File of the digits, in IDX format.");
    MXNET_FIELD(batch_size).set_default(128).set_lower_bound(1).describe("Instances in a batch.");
    MXNET_FIELD(shuffle).set_default(true).describe("Mix the instances once, by `seed`.");
    MXNET_FIELD(flat).set_default(false).describe("Images as vectors, in place of one channel with height and width.");
    MXNET_FIELD(seed).set_default(0).describe("Where the random numbers of `shuffle` begin.");
    MXNET_FIELD(silent).set_default(false).describe("Do not tell what was loaded.");
    MXNET_FIELD(num_parts).set_default(1).describe("Into how many parts the instances are divided, for as many workers.");
    MXNET_FIELD(part_index).set_default(0).describe("Which of the parts this one reads, from 0.");
  }
};
MXNET_REGISTER_PARAM(MNISTParam);

struct IdxFile {
  std::vector<uint32_t> dims;
  std::vector<uint8_t> bytes;
};

struct Close {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

/* A file of unsigned bytes in `ndim` dimensions. */
IdxFile ReadIdx(const std::string& path, size_t ndim) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(LocalPath(path).c_str(), "rb"));
  MXNET_CHECK_KIND(file, IO) << "[MNISTIter] cannot open " << path << ": " << std::strerror(errno);
  struct stat info;
  MXNET_CHECK_KIND(fstat(fileno(file.get()), &info) == 0 && S_ISREG(info.st_mode), IO) << "[MNISTIter] " << path << " is no regular file";
  std::vector<uint8_t> head(4 * (ndim + 1));
  const size_t got = std::fread(head.data(), 1, head.size(), file.get());
  MXNET_CHECK_KIND(got == head.size(), Value) << "[MNISTIter] " << path << ": " << got << " bytes; accepted: a header, which has "
                                              << head.size();
  auto word = [&](size_t i) {
    return static_cast<uint32_t>(head[4 * i]) << 24 | head[4 * i + 1] << 16 | head[4 * i + 2] << 8 | head[4 * i + 3];
  };
  const uint32_t magic = 0x800 + static_cast<uint32_t>(ndim);
  MXNET_CHECK_KIND(word(0) == magic, Value) << "[MNISTIter] " << path << " begins with 0x" << std::hex << word(0) << "; accepted: 0x"
                                            << magic;
  IdxFile idx;
  const uint64_t rest = static_cast<uint64_t>(info.st_size) - head.size();
  uint64_t size = 1;
  bool fits = true;
  for (size_t i = 1; i <= ndim; ++i) {
    idx.dims.push_back(word(i));
    fits = fits && !__builtin_mul_overflow(size, word(i), &size);
  }
  MXNET_CHECK_KIND(fits && size <= rest, Value) << "[MNISTIter] " << path << " has " << rest << " bytes of data; accepted: as many as the "
                                                << "header says, " << (fits ? std::to_string(size) : "more than 2^64");
  idx.bytes.resize(size);
  MXNET_CHECK_KIND(std::fread(idx.bytes.data(), 1, size, file.get()) == size, IO)
      << "[MNISTIter] cannot read " << path << ": " << std::strerror(errno);
  return idx;
}

class MNISTIter : public DataIter {
 public:
  MNISTIter(const MNISTParam& param, int dtype, Context context)
      : param_(param), dtype_(dtype), context_(context), images_(ReadIdx(param.image, 3)) {
    MXNET_CHECK_KIND(param.num_parts > 0 && param.part_index >= 0 && param.part_index < param.num_parts, Value)
        << "[MNISTIter] part_index=" << param.part_index << ", num_parts=" << param.num_parts << "; accepted: 0 <= part_index < num_parts";
    labels_ = ReadIdx(param.label, 1);
    const int64_t count = images_.dims[0];
    MXNET_CHECK_KIND(labels_.dims[0] == count, Value) << "[MNISTIter] " << param.image << " has " << count << " images, and " << param.label
                                                      << " " << labels_.dims[0] << " labels; accepted: the same number";
    const int64_t begin = count * param.part_index / param.num_parts, end = count * (param.part_index + 1) / param.num_parts;
    order_.resize(end - begin);
    std::iota(order_.begin(), order_.end(), static_cast<uint64_t>(begin));
    if (param.shuffle) {
      std::mt19937 random(static_cast<uint32_t>(param.seed));
      Shuffle(&order_, &random);
    }
    const int64_t rows = images_.dims[1], columns = images_.dims[2];
    shape_ = param.flat ? Shape({param.batch_size, rows * columns}) : Shape({param.batch_size, 1, rows, columns});
    if (!param.silent)
      LogInfo("MNISTIter: load " + std::to_string(end - begin) + " images, shuffle=" + std::to_string(param.shuffle) +
              ", shape=" + shape_.str());
  }

  void BeforeFirst() override { next_ = 0; }
  int64_t LengthHint() const override { return static_cast<int64_t>(order_.size()) / param_.batch_size; }
  const DataBatch& Value() const override { return value_; }

  bool Next() override {
    const size_t batch = static_cast<size_t>(param_.batch_size);
    if (order_.size() - next_ < batch) return false;
    const size_t pixels = static_cast<size_t>(images_.dims[1]) * images_.dims[2];
    std::vector<float> data(batch * pixels), label(batch);
    value_.index.assign(order_.begin() + next_, order_.begin() + next_ + batch);
    for (size_t i = 0; i < batch; ++i) {
      const uint64_t which = value_.index[i];
      for (size_t p = 0; p < pixels; ++p) data[i * pixels + p] = images_.bytes[which * pixels + p] * (1.0f / 256);
      label[i] = labels_.bytes[which];
    }
    next_ += batch;
    value_.arrays = {NDArray(shape_, context_, dtype_), NDArray(Shape({param_.batch_size}), context_, kFloat32)};
    if (dtype_ == kFloat32) {
      value_.arrays[0].CopyBytesFrom(data.data(), data.size() * sizeof(float));
    } else {
      std::vector<char> converted(data.size() * DTypeSize(dtype_));
      ConvertElements(data.data(), kFloat32, converted.data(), dtype_, static_cast<int64_t>(data.size()));
      value_.arrays[0].CopyBytesFrom(converted.data(), converted.size());
    }
    value_.arrays[1].CopyBytesFrom(label.data(), label.size() * sizeof(float));
    return true;
  }

 private:
  const MNISTParam param_;
  const int dtype_;
  const Context context_;
  const IdxFile images_;
  IdxFile labels_;
  Shape shape_;
  std::vector<uint64_t> order_;
  size_t next_ = 0;
  DataBatch value_;
};

std::unique_ptr<DataIter> MakeMNISTIter(const IterArguments& given) {
  MNISTParam param;
  PrefetchParam prefetch;
  ReadParams("MNISTIter", given, &param, &prefetch);
  const int dtype = prefetch.dtype.has_value() ? prefetch.dtype.value() : kFloat32;
  MXNET_CHECK_KIND(dtype == kFloat32 || dtype == kFloat64 || dtype == kFloat16 || dtype == kBfloat16, Value)
      << "[MNISTIter] dtype=" << DTypeName(dtype) << "; accepted: floating types, as the values are below 1";
  return Prefetched("MNISTIter", std::make_unique<MNISTIter>(param, dtype, prefetch.context()), prefetch.prefetch_buffer);
}

MXNET_REGISTER_DATA_ITER(MNISTIter)
    .describe(
        "Batches of the MNIST files: images with values from 0 to 255/256, and their digits. "
        "Instances that do not fill a batch are left out.")
    .set_param<MNISTParam, PrefetchParam>()
    .set_make(MakeMNISTIter);

}  // namespace
}  // namespace mxnet
