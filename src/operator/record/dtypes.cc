#include "operator/record/dtypes.h"

namespace mxnet {
namespace dtypes {
namespace {

constexpr DType kOrder[kNumDTypes] = {kFloat32, kFloat64, kFloat16, kBfloat16, kUint8,  kInt8,  kInt32,
                                      kInt64,   kBool,    kInt16,   kUint16,   kUint32, kUint64};

constexpr bool OrderHas(DType dtype) {
  for (DType d : kOrder)
    if (d == dtype) return true;
  return false;
}
constexpr bool OrderHasAll() {
  for (int d = 0; d < kNumDTypes; ++d)
    if (!OrderHas(static_cast<DType>(d)) || !kAll.Has(d)) return false;
  return true;
}
static_assert(OrderHasAll(), "kOrder and kAll have every dtype of base.h");

}  // namespace

Set::operator std::vector<int>() const {
  std::vector<int> members;
  for (DType dtype : kOrder)
    if (Has(dtype)) members.push_back(dtype);
  return members;
}

std::string List(const std::vector<int>& dtypes) {
  std::string names;
  for (int dtype : dtypes) names += (names.empty() ? "" : ", ") + std::string(DTypeName(dtype));
  return names;
}

}  // namespace dtypes
}  // namespace mxnet
