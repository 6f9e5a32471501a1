/*
 * What the kernels of this folder share. CPU kernels compute in float or double; half types are
 * widened to float before and narrowed after the kernel (RunReal), so their sums are always
 * accumulated in float.
 */
#ifndef MXNET_OPERATOR_NN_COMMON_NN_COMMON_H_
#define MXNET_OPERATOR_NN_COMMON_NN_COMMON_H_

#include <memory>
#include <string>
#include <vector>

#include "base/threads/omp.h"
#include "mxnet/kernel_args.h"
#include "operator/nn/common/late_floats.h"

namespace mxnet {
namespace nn {

/* Workspace memory until the kernel returns. */
template <typename T>
T* Workspace(KernelArgs& args, int64_t count) {
  return static_cast<T*>(args.workspace(static_cast<size_t>(count > 0 ? count : 1) * sizeof(T)));
}

/* Float copies of half inputs and outputs; they replace the blobs of a KernelArgs while a kernel
 * runs. */
class Widened {
 public:
  /* `args` gets blobs of float32; weights whose reader asks for them are widened when it does.
   * REQUIRES: lives as long as `args` is used. */
  explicit Widened(KernelArgs* args);
  /* Writes outputs, and inputs that the operator changes, back in their own dtype. */
  void Narrow();

 private:
  KernelArgs* args_;
  Span<const TBlob> in_, out_;
  std::vector<TBlob> wide_in_, wide_out_;
  LateFloats late_;
};

[[noreturn]] void ThrowReal(const Attrs* attrs, int dtype);

/* f(args, T{}) with T = float or double, in which the dtype of input `which` is computed; half
 * arrays stay as they are. Throws for a dtype that is not floating. */
template <typename F>
void RunStored(KernelArgs& args, F&& f, int which = 0) {
  const int dtype = args.in[which].dtype;
  if (dtype == kFloat32 || IsHalf(dtype)) return f(args, float{});
  if (dtype == kFloat64) return f(args, double{});
  ThrowReal(args.attrs, dtype);
}

/* RunStored, but half inputs and outputs arrive as float32. */
template <typename F>
void RunReal(KernelArgs& args, F&& f, int which = 0) {
  bool half = false;
  for (const TBlob& b : args.in) half |= IsHalf(b.dtype);
  for (const TBlob& b : args.out) half |= IsHalf(b.dtype);
  if (__builtin_expect(!half, 1)) return RunStored(args, f, which);
  KernelArgs wide = args;
  Widened w(&wide);
  RunStored(wide, f, which);
  w.Narrow();
}

/* The elements of `blob` as T: its own memory when it has that dtype, else a converted workspace
 * copy. */
const float* AsFloat(KernelArgs& args, const TBlob& blob);
const double* AsDouble(KernelArgs& args, const TBlob& blob);
const int64_t* AsInt64(KernelArgs& args, const TBlob& blob);
template <typename T>
const T* As(KernelArgs& args, const TBlob& blob);
template <>
inline const float* As<float>(KernelArgs& args, const TBlob& blob) {
  return AsFloat(args, blob);
}
template <>
inline const double* As<double>(KernelArgs& args, const TBlob& blob) {
  return AsDouble(args, blob);
}

/* Output i is to be computed. */
inline bool Wanted(const KernelArgs& args, int i) { return i < args.req.size() && args.req[i] != OpReq::kNull && args.out[i].dptr; }

/* Axis from the user: negative counts from the end. Throws Error(kValue). */
int CheckAxis(const Attrs& attrs, int axis, int ndim);

/* "[operator] ", the beginning of a message. */
std::string Named(const Attrs& attrs);

/* Gradient of an operator that is linear in its inputs 0 and 1 and in a bias 2: y = f(x, w) + b.
 * Its backward node (og, x, w) is bilinear too. */
std::vector<NodeEntry> BilinearSecondGradient(const char* forward_op, const NodePtr& node, const std::vector<NodeEntry>& ograds);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_NN_COMMON_H_
