#include "rtc/prelude.h"

#include "mxnet/base.h"
#include "mxnet/error.h"

namespace mxnet {
namespace rtc {

const char* StorageName(int dtype) {
  switch (dtype) {
    case kFloat32: return "float";
    case kFloat64: return "double";
    case kFloat16: return "mx::half";
    case kBfloat16: return "mx::bfloat";
    case kUint8: return "unsigned char";
    case kInt8: return "signed char";
    case kInt16: return "short";
    case kUint16: return "unsigned short";
    case kInt32: return "int";
    case kUint32: return "unsigned";
    case kInt64: return "long long";
    case kUint64: return "unsigned long long";
    case kBool: return "mx::boolean";
    default: MXNET_THROW(Type) << "[rtc] no storage type for dtype " << dtype; return "";
  }
}

FastDivisor::FastDivisor(int64_t d) : divisor(d) {
  shift = 0;
  while ((int64_t{1} << shift) < d) ++shift;
  multiplier =
      static_cast<int64_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - static_cast<uint64_t>(d))) / static_cast<uint64_t>(d) + 1);
}

}  // namespace rtc
}  // namespace mxnet
