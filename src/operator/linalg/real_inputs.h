/* Inputs of NumPy's linear algebra: any numbers; float32 stays, integers, bools and mixtures are
 * computed in float64. */
#ifndef MXNET_OPERATOR_LINALG_REAL_INPUTS_H_
#define MXNET_OPERATOR_LINALG_REAL_INPUTS_H_

#include <vector>

#include "mxnet/op.h"
#include "operator/pointwise/execute.h"

namespace mxnet {
namespace linalg {

/* kFloat32, kFloat64, or kDTypeUnknown. Throws for 16-bit floats. */
int RealOf(const Attrs& attrs, const std::vector<int>& in);
/* All outputs have that dtype. */
bool RealType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out);
/* What records of this kind share: all but shapes, results, gradient and kernel. */
Op& RealRecord(const std::string& name, std::vector<std::string> inputs);

/* f(args) with inputs that all have the dtype RealOf says. One of which only the shape is needed
 * has no memory. */
template <typename F>
void AsReal(KernelArgs& args, F&& f) {
  std::vector<int> types;
  for (const TBlob& b : args.in) types.push_back(b.dtype);
  const int real = RealOf(*args.attrs, types);
  std::vector<TBlob> in(args.in.begin(), args.in.end());
  for (TBlob& b : in) {
    if (b.dtype == real) continue;
    const TBlob from = b;
    b.dtype = real;
    if (from.dptr == nullptr) continue;
    b.dptr = args.workspace(std::max<size_t>(b.Bytes(), 1));
    if (b.Size() != 0) pointwise::ExecuteCast(args.run, from, b, OpReq::kWrite);
  }
  KernelArgs call = args;
  call.in = Span<const TBlob>(in.data(), static_cast<int>(in.size()));
  f(call);
}

/* Memory of output i, also where nobody wants it. */
inline void* OutputMemory(KernelArgs& args, int i) {
  return args.req[i] != OpReq::kNull ? args.out[i].dptr : args.workspace(std::max<size_t>(args.out[i].Bytes(), 1));
}

/* `gradient` in the dtype of `like`, which it is the gradient of. */
NodeEntry InTypeOf(const NodeEntry& gradient, const NodeEntry& like);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_REAL_INPUTS_H_
