/*
 * Runs a loop of the table over whole tensors: broadcasting, mixed dtypes, OpReq, threads. The one
 * place with stride logic.
 */
#ifndef MXNET_OPERATOR_POINTWISE_EXECUTE_H_
#define MXNET_OPERATOR_POINTWISE_EXECUTE_H_

#include "mxnet/kernel_args.h"
#include "operator/pointwise/gpu_functions.h"
#include "operator/pointwise/loops/convert.h"
#include "operator/pointwise/loops/loops.h"

namespace mxnet {
namespace pointwise {

/* A tensor, or (ptr == null) the number `scalar`. Does not own: the TBlob must outlive it. */
struct Operand {
  const void* ptr = nullptr;
  int dtype = kFloat32;
  const Shape* shape = nullptr;
  double scalar = 0;
  Operand() = default;
  Operand(TBlob&&) = delete;
  Operand(const TBlob& b) : ptr(b.dptr), dtype(b.dtype), shape(&b.shape) {}  // NOLINT: implicit on purpose
  explicit Operand(double s) : scalar(s) {}
};

/* Do elements of tensors of equal size lie in one order? Channels last is an order of a tensor's
 * own dimensions: one of fewer has others. */
inline bool SameOrder(const TBlob& in, const TBlob& out) {
  return out.shape.ndim() < 3 || (in.layout == out.layout && (in.layout == Layout::kPlain || in.shape.ndim() == out.shape.ndim()));
}

/*
 * out (=, +=) loop(in...), every operand broadcast to out's shape. `masks`: bit m is set when the
 * loop can take the scalar mask m. `params`: p, q, r for rows with parameters, else null. Tensors
 * whose data pointer is null have no elements. REQUIRES: shapes broadcast to out.shape; out is one
 * of the operands element for element or apart from them.
 */
void Execute(Loop loop, int compute, const Operand* in, int count, unsigned masks, const double* params, const TBlob& out, OpReq req);

/* The same by name of the function, where `run` says: on the CPU with its loop, on a GPU with a
 * generated kernel. Kernels of both devices call this. */
void Execute(const RunContext& run, const Function& function, int compute, const Operand* in, int count, unsigned masks,
             const double* params, const TBlob& out, OpReq req);

constexpr unsigned kUnaryMasks = 1u << 0, kBinaryMasks = 1u << 0 | 1u << 1 | 1u << 2, kGradientMasks = 1u << 0 | 1u << 2 | 1u << 4;

/* The type to compute in for operands of this dtype; `exact`: the row has integer loops. */
inline int ComputeFor(int dtype, bool exact) {
  switch (dtype) {
    case kFloat32:
    case kFloat16:
    case kBfloat16: return kF32;
    case kFloat64: return kF64;
    case kInt64:
    case kUint32: return exact ? kI64 : kF64;
    case kUint64: return exact ? kU64 : kF64;
    default: return exact ? kI32 : kF64;
  }
}

/* out (=, +=) convert(in); shapes are equal. */
void ExecuteCast(const RunContext& run, const TBlob& in, const TBlob& out, OpReq req);

/* A number as an integer compute type holds it: cut off and clamped to its range, NaN is 0. kU64
 * takes the bits of negative numbers. */
int64_t IntegerNumber(int compute, double v);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_EXECUTE_H_
