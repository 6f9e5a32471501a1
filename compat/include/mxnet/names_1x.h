/*
 * Names that programs get with mxnet/base.h in MXNet 1.x, for extensions such as Horovod's that
 * are compiled against the library: TShape, real_t, the masks of devices, numbers of dtypes, and
 * what dmlc-core's headers declare. An installed package or prefix has this header, which
 * mxnet/base.h includes where it is found.
 */
#ifndef MXNET_NAMES_1X_H_
#define MXNET_NAMES_1X_H_

#include <cstdint>
#include <cstdio>

#include "dmlc/base.h"
#include "dmlc/logging.h"
#include "dmlc/parameter.h"
#include "mxnet/base.h"
#include "mxnet/c_api.h"

namespace mshadow {

typedef float real_t;
typedef float default_real_t;
typedef int64_t index_t;

struct cpu {
  static constexpr bool kDevCPU = true;
  static constexpr int kDevMask = 1 << 0;
};
struct gpu {
  static constexpr bool kDevCPU = false;
  static constexpr int kDevMask = 1 << 1;
};

/* As in mxnet::DType, and under the names of this namespace. */
enum TypeFlag {
  kFloat32 = ::mxnet::kFloat32,
  kFloat64 = ::mxnet::kFloat64,
  kFloat16 = ::mxnet::kFloat16,
  kUint8 = ::mxnet::kUint8,
  kInt32 = ::mxnet::kInt32,
  kInt8 = ::mxnet::kInt8,
  kInt64 = ::mxnet::kInt64,
  kBool = ::mxnet::kBool,
  kInt16 = ::mxnet::kInt16,
  kUint16 = ::mxnet::kUint16,
  kUint32 = ::mxnet::kUint32,
  kUint64 = ::mxnet::kUint64,
  kBfloat16 = ::mxnet::kBfloat16
};

/* Floats of 16 bits where they lie: the bits of one. ConvertElements makes other floats of them. */
namespace half {
struct half_t {
  uint16_t half_;
};
}  // namespace half
namespace bfloat {
struct bf16_t {
  uint16_t bf16_;
};
}  // namespace bfloat

}  // namespace mshadow

namespace mxnet {

typedef Shape TShape;
typedef mshadow::cpu cpu;
typedef mshadow::gpu gpu;
typedef mshadow::default_real_t real_t;
typedef mshadow::index_t index_t;

/* The address in the place of the array, as 1.x has it. */
template <typename Array>
inline void CopyFromTo(const Array& src, const Array* dst, int priority = 0) {
  CopyFromTo(src, *dst, priority);
}

namespace names_1x {
/* array = op(array, other), by the C interface; `scalar` is text for a parameter of that name. */
inline void Change(NDArray* array, const char* op, const NDArray* other, const char* scalar) {
  OpHandle handle = nullptr;
  void *inputs[2] = {array, const_cast<NDArray*>(other)}, *output = array;
  void** outputs = &output;
  int num_outputs = 1;
  const char* name = "scalar";
  CHECK_EQ(NNGetOpHandle(op, &handle), 0) << NNGetLastError();
  CHECK_EQ(MXImperativeInvoke(handle, other ? 2 : 1, inputs, &num_outputs, &outputs, scalar ? 1 : 0, &name, &scalar), 0)
      << MXGetLastError();
}
inline void Change(NDArray* array, const char* op, real_t scalar) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(scalar));
  Change(array, op, nullptr, text);
}
}  // namespace names_1x

/* In place, pushed as any operator. */
#define MXNET_NAMES_1X_CHANGE(sign, name)                           \
  inline NDArray& operator sign(NDArray& array, real_t scalar) {    \
    names_1x::Change(&array, "_" name "_scalar", scalar);           \
    return array;                                                   \
  }                                                                 \
  inline NDArray& operator sign(NDArray& array, const NDArray& o) { \
    names_1x::Change(&array, "broadcast_" name, &o, nullptr);       \
    return array;                                                   \
  }
MXNET_NAMES_1X_CHANGE(+=, "plus")
MXNET_NAMES_1X_CHANGE(-=, "minus")
MXNET_NAMES_1X_CHANGE(*=, "mul")
MXNET_NAMES_1X_CHANGE(/=, "div")
#undef MXNET_NAMES_1X_CHANGE

}  // namespace mxnet

#endif  // MXNET_NAMES_1X_H_
