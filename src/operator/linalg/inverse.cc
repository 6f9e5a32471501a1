// Inverses and determinants.
#include "mxnet/op.h"
#include "operator/linalg/dense.h"
#include "operator/linalg/shapes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/runtime/parameters_in_files.h"

namespace mxnet {
namespace linalg {
namespace {

Op& Record(const std::string& name) {
  return Op::Register(name).set_inputs({"A"}).set_dtypes(dtypes::kReals).set_precision(Precision::kFull).set_expensive_to_recompute();
}

std::function<double(const Attrs&, Span<const TBlob>, Span<const TBlob>)> Cubes(double factor, int input) {
  return [factor, input](const Attrs&, Span<const TBlob> in, Span<const TBlob>) {
    const Shape& s = in[input].shape;
    return factor * static_cast<double>(s.Size()) * static_cast<double>(s[s.ndim() - 2]);
  };
}

void InverseKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Matrices a(args.in[0].shape);
  Inverse(args, a.count, a.rows, args.in[0].dptr, args.out[0].dptr);
}

// -b^T g b^T
std::vector<NodeEntry> InverseGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry b = Output(node, 0);
  return {Product(Product(b, true, ograds[0], false, -1), false, b, true)};
}

template <bool numpy>
bool DeterminantShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& a = (*in)[0];
  NeedSquare(attrs, "A", a);
  if (!a.ndim_known()) return false;
  for (Shape& s : *out) AssignShape(attrs, "the result", &s, NumberShape(a, numpy));
  return a.known();
}

void DeterminantKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Matrices a(args.in[0].shape);
  Determinants(args, a.count, a.rows, args.in[0].dptr, nullptr, args.out[0].dptr);
}

void LogDeterminantKernel(KernelArgs& args) {
  void* parts[2];
  for (int i = 0; i < 2; ++i)
    parts[i] = args.req[i] != OpReq::kNull ? args.out[i].dptr : args.workspace(std::max<size_t>(args.out[i].Bytes(), 1));
  const Matrices a(args.in[0].shape);
  Determinants(args, a.count, a.rows, args.in[0].dptr, parts[0], parts[1]);
}

template <bool logarithm>
void DeterminantBackward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Matrices a(args.in[1].shape);
  DeterminantGradients(args, logarithm, a.count, a.rows, args.in[1].dptr, args.in[0].dptr, args.out[0].dptr);
}

// Inverses, transposed, of the matrices that are not singular; 0 for the others.
NodeEntry InverseOrZero(const NodeEntry& like, const NodeEntry& a) {
  return MakeOp("_backward_linalg_slogdet", {MakeOp("ones_like", {like}), a});
}
// -w u^T w: how the transposed inverses w change with A, seen from u
NodeEntry ThroughInverse(const NodeEntry& w, const NodeEntry& u) { return Product(Product(w, false, u, true, -1), false, w, false); }

// The result is g * w, w the transposed inverse.
std::vector<NodeEntry> LogDeterminantSecond(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &g = node->inputs[0], &a = node->inputs[1], &u = ograds[0], w = InverseOrZero(g, a);
  return {InnerProducts(g, u, w), Scaled(g, ThroughInverse(w, u))};
}

// The result is g * c, c = det * w the cofactors, whose derivative along u is
// <u, c> w - det * w u^T w.
std::vector<NodeEntry> DeterminantSecond(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &g = node->inputs[0], &a = node->inputs[1], &u = ograds[0], w = InverseOrZero(g, a);
  const NodeEntry c = MakeOp("_backward_linalg_det", {MakeOp("ones_like", {g}), a}), along = InnerProducts(g, u, c);
  const NodeEntry det = MakeOp("reshape_like", {MakeOp("_linalg_det", {a}), g});
  const NodeEntry sum = MakeOp("elemwise_add", {Scaled(along, w), Scaled(det, ThroughInverse(w, u))});
  return {along, Scaled(g, sum)};
}

template <bool numpy>
void RegisterDeterminants(const std::string& det, const std::string& slogdet) {
  Record(det)
      .describe(
          "Determinants of square matrices.\n\n"
          "A has shape (..., n, n), the result (...)" +
          std::string(numpy ? "" : ", or (1,) for a single matrix") +
          ". The gradient is the matrix of cofactors, also of a singular matrix; there, second derivatives are 0. float32 and float64.")
      .set_outputs({"output0"})
      .set_infer_shape(DeterminantShape<numpy>)
      .set_flops(Cubes(2.0 / 3, 0))
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{MakeOp("_backward_linalg_det", {ograds[0], node->inputs[0]})};
      })
      .set_kernel(DeterminantKernel);
  Record(slogdet)
      .describe(
          "Signs of determinants of square matrices, and the logarithms of their absolute values.\n\n"
          "A has shape (..., n, n), both results (...)" +
          std::string(numpy ? "" : ", or (1,) for a single matrix") +
          ". A singular matrix has sign 0, logarithm minus infinity and gradient 0. The sign has gradient 0. float32 and float64.")
      .set_outputs({"output0", "output1"})
      .set_infer_shape(DeterminantShape<numpy>)
      .set_flops(Cubes(2.0 / 3, 0))
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{MakeOp("_backward_linalg_slogdet", {ograds[1], node->inputs[0]})};
      })
      .set_kernel(LogDeterminantKernel);
}

[[maybe_unused]] const bool registered = [] {
  Record("_linalg_inverse")
      .alias("linalg_inverse")
      .alias("_npi_inv")
      .describe(
          "Inverses of square matrices.\n\n"
          "A has shape (..., n, n) and so has the result. A singular matrix is an error. float32 and float64.")
      .set_infer_shape(SquareShape)
      .set_flops(Cubes(2, 0))
      .set_gradient(InverseGradient)
      .set_kernel(InverseKernel);
  RegisterDeterminants<false>("_linalg_det", "_linalg_slogdet");
  RegisterDeterminants<true>("_npi_det", "_npi_slogdet");
  // Files of 2.0 call both by the older names.
  Op::Register("_linalg_det").alias("linalg_det").set_trait(ParametersInFiles{{}, {}, nullptr, [](bool numpy, AttrDict*) {
                                                                                return numpy ? "_npi_det" : nullptr;
                                                                              }});
  Op::Register("_linalg_slogdet").alias("linalg_slogdet").set_trait(ParametersInFiles{{}, {}, nullptr, [](bool numpy, AttrDict*) {
                                                                                        return numpy ? "_npi_slogdet" : nullptr;
                                                                                      }});
  for (bool logarithm : {false, true})
    Op::Register(logarithm ? "_backward_linalg_slogdet" : "_backward_linalg_det")
        .describe("Numbers times matrices of cofactors, or times transposed inverses, for gradients.")
        .set_inputs({"ograd", "A"})
        .set_dtypes(dtypes::kReals)
        .set_infer_shape(LikeLastShape)
        .set_flops(Cubes(3, 1))
        .set_gradient(logarithm ? LogDeterminantSecond : DeterminantSecond)
        .set_kernel(logarithm ? DeterminantBackward<true> : DeterminantBackward<false>);
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
