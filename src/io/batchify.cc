// Functions that make one batch of items.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/register_iter.h"
#include "operator/record/tuple_field.h"

namespace mxnet {
namespace {

/* A row-major box of values. */
struct Block {
  Shape shape;
  int dtype;
  std::vector<char> bytes;
};

Block Values(const NDArray& array, int dtype) {
  Block block{array.shape(), dtype, std::vector<char>(static_cast<size_t>(array.shape().Size()) * DTypeSize(array.dtype()))};
  if (!block.bytes.empty()) array.CopyBytesTo(block.bytes.data(), block.bytes.size());
  if (array.dtype() != dtype) {
    std::vector<char> converted(static_cast<size_t>(array.shape().Size()) * DTypeSize(dtype));
    ConvertElements(block.bytes.data(), array.dtype(), converted.data(), dtype, array.shape().Size());
    block.bytes = std::move(converted);
  }
  return block;
}

/* Copies `block` into a larger box whose innermost dimensions begin at `axis`. */
void Place(const Block& block, int axis, const char** from, const Shape& into, char* to) {
  const size_t item = DTypeSize(block.dtype);
  if (axis == block.shape.ndim()) {
    std::memcpy(to, *from, item);
    *from += item;
    return;
  }
  size_t step = item;
  for (int i = axis + 1; i < into.ndim(); ++i) step *= static_cast<size_t>(into[i]);
  if (axis + 1 == block.shape.ndim()) {
    const size_t row = static_cast<size_t>(block.shape[axis]) * item;
    std::memcpy(to, *from, row);
    *from += row;
    return;
  }
  for (int64_t i = 0; i < block.shape[axis]; ++i) Place(block, axis + 1, from, into, to + i * step);
}

NDArray Batch(const Shape& shape, size_t count, int dtype, bool shared, const std::vector<char>& bytes) {
  std::vector<int64_t> dims = {static_cast<int64_t>(count)};
  for (int i = 0; i < shape.ndim(); ++i) dims.push_back(shape[i]);
  NDArray batch(Shape(dims), shared ? Context::CPUShared() : Context::CPU(), dtype);
  if (!bytes.empty()) batch.CopyBytesFrom(bytes.data(), bytes.size());
  return batch;
}

std::vector<NDArray> Column(const std::vector<std::vector<NDArray>>& items, size_t part) {
  std::vector<NDArray> column;
  for (const auto& item : items) column.push_back(item[part]);
  return column;
}

struct StackParam : public Parameter<StackParam> {
  int use_shared_mem;
  MXNET_DECLARE_PARAM(StackParam) {
    MXNET_FIELD(use_shared_mem).set_default(0).describe("Whether batches are in memory that other processes can map.");
  }
};
MXNET_REGISTER_PARAM(StackParam);

class StackBatchify : public BatchifyFunction {
 public:
  explicit StackBatchify(const StackParam& param) : param_(param) {}

  std::vector<NDArray> Make(const std::vector<std::vector<NDArray>>& items) const override {
    std::vector<NDArray> result;
    for (size_t part = 0; part < items[0].size(); ++part) {
      const NDArray& first = items[0][part];
      std::vector<char> bytes;
      for (const NDArray& array : Column(items, part)) {
        MXNET_CHECK_KIND(array.shape() == first.shape(), Value) << "[StackBatchify] arrays of shapes " << first.shape().str() << " and "
                                                                << array.shape().str() << "; accepted: one shape, or PadBatchify";
        const Block block = Values(array, first.dtype());
        bytes.insert(bytes.end(), block.bytes.begin(), block.bytes.end());
      }
      result.push_back(Batch(first.shape(), items.size(), first.dtype(), param_.use_shared_mem != 0, bytes));
    }
    return result;
  }

 private:
  const StackParam param_;
};

MXNET_REGISTER_BATCHIFY(StackBatchify)
    .describe("Stacks arrays of one shape along a new first axis.")
    .set_param<StackParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<BatchifyFunction> {
      StackParam param;
      ReadParams("StackBatchify", given, &param);
      return std::make_shared<StackBatchify>(param);
    });

struct PadParam : public Parameter<PadParam> {
  int use_shared_mem, dtype, round_to;
  double pad_val;
  MXNET_DECLARE_PARAM(PadParam) {
    MXNET_FIELD(use_shared_mem).set_default(0).describe("Whether batches are in memory that other processes can map.");
    MXNET_FIELD(pad_val).set_default(0).describe("What fills arrays up.");
    MXNET_FIELD(dtype).set_default(-1).describe("Number of the batch's dtype; -1: that of the first array.");
    MXNET_FIELD(round_to).set_default(-1).describe("Sizes become multiples of it; -1: the largest size.");
  }
};
MXNET_REGISTER_PARAM(PadParam);

class PadBatchify : public BatchifyFunction {
 public:
  explicit PadBatchify(const PadParam& param) : param_(param) {
    MXNET_CHECK_KIND(param.round_to == -1 || param.round_to > 0, Value)
        << "[PadBatchify] round_to=" << param.round_to << "; accepted: -1, and 1 or more";
    MXNET_CHECK_KIND(param.dtype == -1 || DTypeSize(param.dtype) > 0, Value)
        << "[PadBatchify] dtype=" << param.dtype << "; accepted: -1, and numbers of dtypes";
  }

  std::vector<NDArray> Make(const std::vector<std::vector<NDArray>>& items) const override {
    std::vector<NDArray> result;
    for (size_t part = 0; part < items[0].size(); ++part) result.push_back(Padded(Column(items, part)));
    return result;
  }

 private:
  NDArray Padded(const std::vector<NDArray>& arrays) const {
    const int dtype = param_.dtype == -1 ? arrays[0].dtype() : param_.dtype;
    Shape largest = arrays[0].shape();
    for (const NDArray& array : arrays) {
      MXNET_CHECK_KIND(array.shape().ndim() == largest.ndim(), Value)
          << "[PadBatchify] arrays of " << largest.ndim() << " and " << array.shape().ndim() << " dimensions; accepted: the same number";
      for (int i = 0; i < largest.ndim(); ++i) largest[i] = std::max(largest[i], array.shape()[i]);
    }
    for (int i = 0; param_.round_to > 0 && i < largest.ndim(); ++i)
      largest[i] = (largest[i] + param_.round_to - 1) / param_.round_to * param_.round_to;
    std::vector<char> fill(DTypeSize(dtype));
    ConvertElements(&param_.pad_val, kFloat64, fill.data(), dtype, 1);
    const size_t size = static_cast<size_t>(largest.Size()) * fill.size();
    std::vector<char> bytes(size * arrays.size());
    for (size_t at = 0; at < bytes.size(); at += fill.size()) std::memcpy(bytes.data() + at, fill.data(), fill.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      const Block block = Values(arrays[i], dtype);
      const char* from = block.bytes.data();
      if (!block.bytes.empty()) Place(block, 0, &from, largest, bytes.data() + i * size);
    }
    return Batch(largest, arrays.size(), dtype, param_.use_shared_mem != 0, bytes);
  }

  const PadParam param_;
};

MXNET_REGISTER_BATCHIFY(PadBatchify)
    .describe("Stacks arrays along a new first axis, the smaller ones filled up at the end of each axis.")
    .set_param<PadParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<BatchifyFunction> {
      PadParam param;
      ReadParams("PadBatchify", given, &param);
      return std::make_shared<PadBatchify>(param);
    });

struct GroupBatchifyParam : public Parameter<GroupBatchifyParam> {
  Tuple<int64_t> functions;
  MXNET_DECLARE_PARAM(GroupBatchifyParam) { MXNET_FIELD(functions).describe("Handle of a function for each part of an item."); }
};
MXNET_REGISTER_PARAM(GroupBatchifyParam);

class GroupBatchify : public BatchifyFunction {
 public:
  explicit GroupBatchify(std::vector<std::shared_ptr<BatchifyFunction>> functions) : functions_(std::move(functions)) {}

  std::vector<NDArray> Make(const std::vector<std::vector<NDArray>>& items) const override {
    MXNET_CHECK_KIND(items[0].size() == functions_.size(), Value)
        << "[GroupBatchify] items of " << items[0].size() << " parts; accepted: " << functions_.size() << ", one for each function";
    std::vector<NDArray> result;
    for (size_t part = 0; part < functions_.size(); ++part) {
      std::vector<std::vector<NDArray>> column;
      for (const auto& item : items) column.push_back({item[part]});
      for (NDArray& array : functions_[part]->Make(column)) result.push_back(std::move(array));
    }
    return result;
  }

 private:
  const std::vector<std::shared_ptr<BatchifyFunction>> functions_;
};

MXNET_REGISTER_BATCHIFY(GroupBatchify)
    .describe("A function of its own for each part of an item.")
    .set_param<GroupBatchifyParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<BatchifyFunction> {
      GroupBatchifyParam param;
      ReadParams("GroupBatchify", given, &param);
      std::vector<std::shared_ptr<BatchifyFunction>> functions;
      for (int64_t number : param.functions.values)
        functions.push_back(Handles<BatchifyFunction>::Find(number, "[GroupBatchify] functions"));
      return std::make_shared<GroupBatchify>(std::move(functions));
    });

}  // namespace
}  // namespace mxnet
