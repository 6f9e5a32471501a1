#include "operator/record/numpy_types.h"

#include <algorithm>

#include "mxnet/op.h"

namespace mxnet {
namespace numpy {
namespace {

bool IsUnsigned(int dtype) { return dtype == kUint8 || dtype == kUint16 || dtype == kUint32 || dtype == kUint64; }

// The signed integer of that many bytes; float64 where there is none.
int SignedOf(size_t bytes) { return bytes == 2 ? int{kInt16} : bytes == 4 ? int{kInt32} : bytes == 8 ? int{kInt64} : int{kFloat64}; }

int PromoteIntegers(int a, int b) {
  if (IsUnsigned(a) == IsUnsigned(b)) return DTypeSize(a) >= DTypeSize(b) ? a : b;
  if (IsUnsigned(a)) std::swap(a, b);
  return DTypeSize(a) > DTypeSize(b) ? a : SignedOf(2 * DTypeSize(b));  // a: with a sign
}

int PromoteFloats(int a, int b) {
  if (a == b) return a;
  if (DTypeSize(a) == DTypeSize(b)) return kFloat32;  // float16 with bfloat16
  return DTypeSize(a) > DTypeSize(b) ? a : b;
}

// The float that holds the values of an integer type as NumPy sees it.
int FloatFor(int integer, int beside) {
  switch (DTypeSize(integer)) {
    case 1: return beside;
    case 2: return PromoteFloats(beside, kFloat32);
    default: return kFloat64;
  }
}

int PromoteAs(int a, int b, bool exactly) {
  if (a == b) return a;
  if (a == kDTypeUnknown || b == kDTypeUnknown) return kDTypeUnknown;
  if (a == kBool) return b;
  if (b == kBool) return a;
  if (IsFloating(a) && IsFloating(b)) return PromoteFloats(a, b);
  if (!IsFloating(a) && !IsFloating(b)) return PromoteIntegers(a, b);
  if (IsFloating(b)) std::swap(a, b);
  return exactly ? FloatFor(b, a) : a;
}

}  // namespace

bool& DefaultIsFloat64() {
  static thread_local bool flag = false;
  return flag;
}

int Promote(int a, int b, const InferSwitches& switches) { return PromoteAs(a, b, switches.float64_default); }
int PromoteExactly(int a, int b) { return PromoteAs(a, b, true); }

int PromoteAll(const std::vector<int>& dtypes, const InferSwitches& switches) {
  int floats = kBool, integers = kBool;  // bool is neutral: it takes the dtype that it meets
  for (int dtype : dtypes) {
    if (dtype == kDTypeUnknown) return kDTypeUnknown;
    int& kind = IsFloating(dtype) ? floats : integers;
    kind = Promote(kind, dtype, switches);
  }
  if (dtypes.empty()) return kDTypeUnknown;
  if (floats == kBool) return integers;
  // Each integer with the floats: int16 and uint16 fit float32 together, their common integer does
  // not.
  int result = floats;
  for (int dtype : dtypes) result = Promote(result, dtype, switches);
  return result;
}

int PromoteNumber(int dtype, bool is_int) {
  if (dtype == kDTypeUnknown || IsFloating(dtype)) return dtype;
  if (!is_int) return kFloat64;
  return dtype == kBool ? int{kInt64} : dtype;
}

int FloatResult(int dtype, const InferSwitches& switches) {
  if (dtype == kDTypeUnknown || IsFloating(dtype)) return dtype;
  if (DTypeSize(dtype) == 1) return kFloat16;
  return DTypeSize(dtype) > 2 && switches.float64_default ? kFloat64 : kFloat32;
}

int Quotient(int dtype, const InferSwitches& switches) {
  if (dtype == kDTypeUnknown || IsFloating(dtype)) return dtype;
  return switches.float64_default ? kFloat64 : kFloat32;
}

bool GradientType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const bool mixed = std::any_of(in->begin(), in->end(), [](int t) { return t != kDTypeUnknown && !IsFloating(t); });
  if (!mixed) return SameType(attrs, in, out);
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  return std::find(in->begin(), in->end(), int{kDTypeUnknown}) == in->end();
}

}  // namespace numpy
}  // namespace mxnet
