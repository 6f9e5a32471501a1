#include "mxnet/base.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <ostream>

#include "base/dtype.h"

namespace mxnet {

namespace {

struct DTypeRow {
  DType number;
  const char* name;
  size_t size;
};
#define MXNET_DTYPE_ROW(number, name, T, acc) {number, name, sizeof(T)},
constexpr DTypeRow kDTypes[] = {MXNET_DTYPE_ROWS(MXNET_DTYPE_ROW)};
#undef MXNET_DTYPE_ROW

constexpr bool InOrder() {
  int next = 0;
  for (const DTypeRow& row : kDTypes)
    if (row.number != next++) return false;
  return next == kNumDTypes;
}
static_assert(InOrder(), "MXNET_DTYPE_ROWS has one row for each number of DType, in their order");

struct DeviceRow {
  DeviceType type;
  const char* name;
};
constexpr DeviceRow kDevices[] = {
    {DeviceType::kCPU, "cpu"}, {DeviceType::kGPU, "gpu"}, {DeviceType::kCPUPinned, "cpu_pinned"}, {DeviceType::kCPUShared, "cpu_shared"}};

void CheckRank(int ndim) {
  MXNET_CHECK_KIND(ndim >= -1, Value) << "[shape] rank " << ndim << "; accepted: 0 or more, -1 for an unknown rank";
}

}  // namespace

size_t DTypeSize(int dtype) { return dtype >= 0 && dtype < kNumDTypes ? kDTypes[dtype].size : 0; }

const char* DTypeName(int dtype) { return dtype >= 0 && dtype < kNumDTypes ? kDTypes[dtype].name : "unknown"; }

int DTypeFromName(const std::string& name) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (name == kDTypes[i].name) return i;
  std::string accepted;
  for (const DTypeRow& row : kDTypes) accepted += (accepted.empty() ? "" : ", ") + std::string(row.name);
  MXNET_THROW(Type) << "[dtype] '" << name << "'; accepted: " << accepted;
}

const char* StorageTypeName(StorageType storage) {
  switch (storage) {
    case StorageType::kUndefined: return "undefined";
    case StorageType::kDense: return "default";
    case StorageType::kRowSparse: return "row_sparse";
    case StorageType::kCSR: return "csr";
  }
  return "unknown";
}

StorageType StorageTypeFromName(const std::string& name) {
  for (StorageType storage : {StorageType::kDense, StorageType::kRowSparse, StorageType::kCSR})
    if (name == StorageTypeName(storage)) return storage;
  MXNET_THROW(Value) << "[stype] '" << name << "'; accepted: default, row_sparse, csr";
}

void ThrowDType(int dtype, const char* op, const char* accepted) {
  MXNET_THROW(NotImplementedForDType) << "[" << op << "] dtype " << DTypeName(dtype) << " (" << dtype << "); accepted: " << accepted;
}

Context Context::Make(int dev_type, int dev_id) {
  for (const DeviceRow& row : kDevices) {
    if (static_cast<int>(row.type) != dev_type) continue;
    MXNET_CHECK_KIND(dev_id >= 0, Value) << "[context] device number " << dev_id << "; accepted: 0 or more";
    return {row.type, dev_id};
  }
  MXNET_THROW(Value) << "[context] device type " << dev_type << "; accepted: 1 (cpu), 2 (gpu), 3 (cpu_pinned), 5 (cpu_shared)";
}

Context Context::FromString(const std::string& s) {
  const size_t open = s.find('(');
  const std::string name = s.substr(0, open);
  for (const DeviceRow& row : kDevices) {
    if (name != row.name) continue;
    if (open == std::string::npos) return {row.type, 0};
    const std::string digits = s.back() == ')' ? s.substr(open + 1, s.size() - open - 2) : "";
    const bool number =
        !digits.empty() && digits.size() <= 9 && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (number) return {row.type, std::stoi(digits)};
  }
  MXNET_THROW(Value) << "[context] '" << s << "'; accepted: cpu, gpu, cpu_pinned or cpu_shared, with a device number as in gpu(0)";
}

std::string Context::str() const {
  for (const DeviceRow& row : kDevices)
    if (row.type == dev_type) return std::string(row.name) + "(" + std::to_string(dev_id) + ")";
  return "unknown(" + std::to_string(dev_id) + ")";
}

void Shape::AssignSlow(const int64_t* dims, int ndim) {
  CheckRank(ndim);
  if (ndim <= kInlineDims) {
    int64_t copy[kInlineDims] = {0, 0, 0, 0, 0, 0};  // `dims` may lie in the block that is freed next
    for (int i = 0; i < ndim; ++i) copy[i] = dims[i];
    Release();
    std::copy_n(copy, kInlineDims, inline_);
  } else {
    std::unique_ptr<int64_t[]> block(new int64_t[ndim]);
    std::copy_n(dims, ndim, block.get());
    Release();
    heap_ = block.release();
  }
  ndim_ = ndim;
}

void Shape::ResizeSlow(int ndim, int64_t fill) {
  CheckRank(ndim);
  int64_t* block = ndim > kInlineDims ? new int64_t[ndim] : nullptr;
  Release();
  heap_ = block;
  ndim_ = ndim;
  if (ndim > 0) std::fill_n(this->dims(), ndim, fill);
}

// Comes here for unknown dimensions and when the running product left int64; the latter is fine if
// a dimension is 0.
int64_t Shape::SizeSlow(int begin, int end) const {
  MXNET_CHECK_KIND(known(), Value) << "[shape] " << str() << " has no size; accepted: a shape whose rank and dimensions are all known";
  for (int i = begin; i < end; ++i)
    if ((*this)[i] == 0) return 0;
  MXNET_THROW(Value) << "[shape] " << str() << " has more than " << INT64_MAX << " elements; accepted: up to that many";
}

std::string Shape::str() const {
  if (ndim_ < 0) return "None";
  std::string out = "(";
  for (int i = 0; i < ndim_; ++i) {
    if (i) out += ",";
    out += std::to_string((*this)[i]);
  }
  if (ndim_ == 1) out += ",";
  return out + ")";
}

std::ostream& operator<<(std::ostream& os, const Shape& s) { return os << s.str(); }
std::ostream& operator<<(std::ostream& os, const Context& c) { return os << c.str(); }

bool MergeShape(Shape* into, const Shape& from) {
  if (!from.ndim_known()) return true;
  if (!into->ndim_known()) {
    *into = from;
    return true;
  }
  if (into->ndim() != from.ndim()) return false;
  for (int i = 0; i < from.ndim(); ++i) {
    if (from[i] < 0) continue;
    if ((*into)[i] >= 0 && (*into)[i] != from[i]) return false;
    (*into)[i] = from[i];
  }
  return true;
}

bool MergeDType(int* into, int from) {
  if (from == kDTypeUnknown) return true;
  if (*into != kDTypeUnknown && *into != from) return false;
  *into = from;
  return true;
}

}  // namespace mxnet
