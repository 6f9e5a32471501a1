// NumPy's products of two arrays, dot, matmul, tensordot and kron: contractions (contract.h) with
// the labels that each of them means. So are their gradients and the gradients of those.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "operator/linalg/contract.h"
#include "operator/linalg/matmul.h"
#include "operator/matrix/axes.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/record/swapped_form.h"

namespace mxnet {
namespace linalg {
namespace {

struct TensordotParam : public Parameter<TensordotParam> {
  Shape a_axes_summed, b_axes_summed;
  MXNET_DECLARE_PARAM(TensordotParam) {
    MXNET_FIELD(a_axes_summed).describe("The dimensions of a that are summed over; negative ones count from the end.");
    MXNET_FIELD(b_axes_summed).describe("The dimension of b that belongs to each of them.");
  }
};

struct TensordotIntParam : public Parameter<TensordotIntParam> {
  int axes;
  MXNET_DECLARE_PARAM(TensordotIntParam) {
    MXNET_FIELD(axes).describe("How many of the last dimensions of a and of the first ones of b are summed over.");
  }
};
MXNET_REGISTER_PARAM(TensordotParam);
MXNET_REGISTER_PARAM(TensordotIntParam);

// The labels of the dimensions of a, b and the result.
struct Indices {
  std::vector<int> a, b, out;
  std::vector<int64_t> sizes;  // of each label
  Shape result;                // its elements are those of an array whose dimensions `out` labels
  int New(int64_t size) {
    sizes.push_back(size);
    return static_cast<int>(sizes.size()) - 1;
  }
  void Finish() {
    result = Shape(static_cast<int>(out.size()), 0);
    for (size_t i = 0; i < out.size(); ++i) result[static_cast<int>(i)] = sizes[out[i]];
  }
};
using IndicesFn = Indices (*)(const Attrs&, const Shape&, const Shape&);

std::string Both(const Attrs& attrs, const Shape& a, const Shape& b) {
  return "[" + attrs.op->name + "] a has shape " + a.str() + ", b has shape " + b.str() + "; ";
}

// The pairs of dimensions are summed over, all others stay in order.
Indices Summed(const Attrs& attrs, const Shape& a, const Shape& b, const std::vector<std::pair<int, int>>& pairs) {
  Indices x;
  x.a.assign(static_cast<size_t>(a.ndim()), -1);
  x.b.assign(static_cast<size_t>(b.ndim()), -1);
  for (const auto& [i, j] : pairs) {
    MXNET_CHECK_KIND(a[i] == b[j], Value) << Both(attrs, a, b) << "dimension " << i << " of a and dimension " << j
                                          << " of b are summed over and must be equal";
    x.a[i] = x.b[j] = x.New(a[i]);
  }
  for (int i = 0; i < a.ndim(); ++i)
    if (x.a[i] < 0) x.out.push_back(x.a[i] = x.New(a[i]));
  for (int i = 0; i < b.ndim(); ++i)
    if (x.b[i] < 0) x.out.push_back(x.b[i] = x.New(b[i]));
  x.Finish();
  return x;
}

Indices DotIndices(const Attrs& attrs, const Shape& a, const Shape& b) {
  if (a.ndim() == 0 || b.ndim() == 0) return Summed(attrs, a, b, {});
  return Summed(attrs, a, b, {{a.ndim() - 1, std::max(0, b.ndim() - 2)}});
}

Indices MatmulIndices(const Attrs& attrs, const Shape& a, const Shape& b) {
  const int an = a.ndim(), bn = b.ndim();
  MXNET_CHECK_KIND(an > 0 && bn > 0, Value) << Both(attrs, a, b) << "both need at least 1 dimension";
  const int k = std::max(0, bn - 2);
  MXNET_CHECK_KIND(a[an - 1] == b[k], Value) << Both(attrs, a, b) << "the last dimension of a and dimension " << k
                                             << " of b are summed over and must be equal";
  Indices x;
  x.a.resize(static_cast<size_t>(an));
  x.b.resize(static_cast<size_t>(bn));
  const int batch = std::max(std::max(an, bn) - 2, 0);
  for (int i = 0; i < batch; ++i) {
    const int p = i - (batch - (an - 2)), q = i - (batch - (bn - 2));
    const int64_t sa = p < 0 || an < 2 ? 1 : a[p], sb = q < 0 || bn < 2 ? 1 : b[q];
    MXNET_CHECK_KIND(sa == sb || sa == 1 || sb == 1, Value)
        << Both(attrs, a, b) << "the dimensions before the last two cannot be broadcast to one another";
    const int label = x.New(sa == 1 ? sb : sa);
    x.out.push_back(label);
    if (p >= 0 && an >= 2) x.a[p] = label;
    if (q >= 0 && bn >= 2) x.b[q] = label;
  }
  x.a[an - 1] = x.b[k] = x.New(a[an - 1]);
  if (an > 1) x.out.push_back(x.a[an - 2] = x.New(a[an - 2]));
  if (bn > 1) x.out.push_back(x.b[bn - 1] = x.New(b[bn - 1]));
  x.Finish();
  return x;
}

// The matrices of b are read transposed.
Indices SwappedMatmulIndices(const Attrs& attrs, const Shape& a, const Shape& b) {
  const int bn = b.ndim();
  MXNET_CHECK_KIND(a.ndim() > 1 && bn > 1, Value) << Both(attrs, a, b) << "both need at least 2 dimensions";
  Shape swapped = b;
  std::swap(swapped[bn - 2], swapped[bn - 1]);
  Indices x = MatmulIndices(attrs, a, swapped);
  std::swap(x.b[bn - 2], x.b[bn - 1]);
  return x;
}

Indices TensordotIndices(const Attrs& attrs, const Shape& a, const Shape& b) {
  const auto& p = attrs.get<TensordotParam>();
  const Shape &i = p.a_axes_summed, &j = p.b_axes_summed;
  MXNET_CHECK_KIND(i.ndim() == j.ndim(), Value)
      << "[" << attrs.op->name << "] a_axes_summed is " << i << ", b_axes_summed is " << j << "; accepted: as many dimensions of a as of b";
  std::vector<std::pair<int, int>> pairs;
  for (int k = 0; k < i.ndim(); ++k) {
    pairs.emplace_back(CheckedAxis(attrs, i[k], a.ndim(), "a_axes_summed"), CheckedAxis(attrs, j[k], b.ndim(), "b_axes_summed"));
    for (int before = 0; before < k; ++before)
      MXNET_CHECK_KIND(pairs[before].first != pairs[k].first && pairs[before].second != pairs[k].second, Value)
          << "[" << attrs.op->name << "] a_axes_summed is " << i << ", b_axes_summed is " << j << "; a dimension cannot occur twice";
  }
  return Summed(attrs, a, b, pairs);
}

Indices TensordotIntIndices(const Attrs& attrs, const Shape& a, const Shape& b) {
  const int axes = attrs.get<TensordotIntParam>().axes;
  MXNET_CHECK_KIND(axes >= 0 && axes <= std::min(a.ndim(), b.ndim()), Value)
      << Both(attrs, a, b) << "axes is " << axes << "; accepted: 0 to " << std::min(a.ndim(), b.ndim());
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < axes; ++i) pairs.emplace_back(a.ndim() - axes + i, i);
  return Summed(attrs, a, b, pairs);
}

// Each dimension of the result is one of a with the same one of b inside it.
Indices KronIndices(const Attrs& attrs, const Shape& a, const Shape& b) {
  Indices x;
  const int n = std::max(a.ndim(), b.ndim());
  Shape result(n, 1);
  for (int i = 0; i < n; ++i) {
    const int p = i - (n - a.ndim()), q = i - (n - b.ndim());
    if (p >= 0) x.out.push_back(x.New(a[p])), x.a.push_back(x.out.back());
    if (q >= 0) x.out.push_back(x.New(b[q])), x.b.push_back(x.out.back());
    MXNET_CHECK_KIND(!__builtin_mul_overflow(p >= 0 ? a[p] : 1, q >= 0 ? b[q] : 1, &result[i]), Value)
        << Both(attrs, a, b) << "the result is too large";
  }
  x.Finish();
  x.result = result;
  return x;
}

Labelled LabelResult(const TBlob& blob, const Indices& x) {
  TBlob seen = blob;
  seen.shape = Shape(static_cast<int>(x.out.size()), 0);
  for (size_t i = 0; i < x.out.size(); ++i) seen.shape[static_cast<int>(i)] = x.sizes[x.out[i]];
  return Label(seen, x.out);
}

// Of two arrays whose numbers of dimensions are known: the sizes that are summed over are equal, so
// one follows from the other. So parameters of shape (0, k) in blocks get theirs.
void FillSummedSize(const Attrs& attrs, ShapeVector* in) {
  const Shape &a = (*in)[0], &b = (*in)[1];
  if (!a.ndim_known() || !b.ndim_known() || a.ndim() == 0 || b.ndim() == 0) return;
  const int of_a = a.ndim() - 1, of_b = std::max(b.ndim() - 2, 0);
  const auto fill = [&](int input, int axis, int64_t size) {
    if ((*in)[input][axis] >= 0 || size < 0) return;
    std::vector<int64_t> sizes((*in)[input].begin(), (*in)[input].end());
    sizes[static_cast<size_t>(axis)] = size;
    AssignShape(attrs, input ? "b" : "a", &(*in)[input], Shape(sizes));
  };
  const int64_t size_a = a[of_a], size_b = b[of_b];
  fill(1, of_b, size_a);
  fill(0, of_a, size_b);
}

/* What most products are: as many matrices of a as of b, or one b for all of a. No labels are
 * needed for these, which take longer than a small product. */
template <IndicesFn kIndices>
bool IsPlain(const Shape& a, const Shape& b, MatmulSize* size) {
  constexpr bool swapped = kIndices == SwappedMatmulIndices;
  if (!swapped && kIndices != DotIndices && kIndices != MatmulIndices) return false;
  const int an = a.ndim(), bn = b.ndim();
  if (an == 0 || bn == 0 || (swapped && an < 2)) return false;
  if (bn <= 2) {
    if (bn < 2 && swapped) return false;
    *size = {1, a.Prod(0, an - 1), bn == 1 ? 1 : b[swapped ? 0 : 1], a[an - 1]};
    return a[an - 1] == b[swapped ? 1 : 0];
  }
  if (kIndices == DotIndices || an != bn || !std::equal(a.begin(), a.end() - 2, b.begin())) return false;
  *size = {a.Prod(0, an - 2), a[an - 2], b[swapped ? bn - 2 : bn - 1], a[an - 1]};
  return a[an - 1] == b[swapped ? bn - 1 : bn - 2];
}

template <IndicesFn kIndices>
bool ProductShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (kIndices == DotIndices) FillSummedSize(attrs, in);
  const Shape &a = (*in)[0], &b = (*in)[1];
  if (!a.known() || !b.known()) return false;
  MatmulSize size;
  if (b.ndim() > 1 && IsPlain<kIndices>(a, b, &size)) {
    Shape result = a;
    result[a.ndim() - 1] = size.n;
    AssignShape(attrs, "the result", &(*out)[0], result);
    return true;
  }
  AssignShape(attrs, "the result", &(*out)[0], kIndices(attrs, (*in)[0], (*in)[1]).result);
  return true;
}

template <IndicesFn kIndices>
void ProductKernel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  constexpr bool swapped = kIndices == SwappedMatmulIndices;
  MatmulSize size;
  if (IsFloating(args.out[0].dtype) && IsPlain<kIndices>(args.in[0].shape, args.in[1].shape, &size))
    return Matmul(args.run, args.out[0].dtype, false, swapped, size, args.in[0].dptr, args.in[1].dptr, args.out[0].dptr, args.workspace);
  const Indices x = kIndices(*args.attrs, args.in[0].shape, args.in[1].shape);
  Contract(args, x.sizes, {Label(args.in[0], x.a), Label(args.in[1], x.b)}, LabelResult(args.out[0], x), args.out[0]);
}

// [ograd, a, b] -> gradients of a and b
template <IndicesFn kIndices>
void ProductBackward(KernelArgs& args) {
  const Indices x = kIndices(*args.attrs, args.in[1].shape, args.in[2].shape);
  for (int i : {0, 1}) {
    if (args.req[i] == OpReq::kNull) continue;
    const TBlob& other = args.in[2 - i];
    Contract(args, x.sizes, {LabelResult(args.in[0], x), Label(other, i ? x.a : x.b)}, Label(args.out[i], i ? x.b : x.a), args.out[i]);
  }
}

template <IndicesFn kIndices, int times>
double ProductFlops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob>) {
  double n = 2.0 * times;
  MatmulSize size;
  if (IsPlain<kIndices>(in[times - 1].shape, in[times].shape, &size))
    return n * static_cast<double>(size.batch * size.m) * static_cast<double>(size.n * size.k);
  const Indices x = kIndices(attrs, in[times - 1].shape, in[times].shape);
  for (int64_t s : x.sizes) n *= static_cast<double>(s);
  return n;
}

template <typename P>
void SetParam(Op& op) {
  op.set_param<P>();
}
struct NoParam;
template <>
void SetParam<NoParam>(Op&) {}

template <IndicesFn kIndices, typename P = NoParam>
Op& Product(const std::string& name, const std::string& text) {
  const std::string backward = "_backward" + name;
  Op& back = Op::Register(backward);
  SetParam<P>(back);
  // With u, w the gradients that reach those of a and b: the product is linear in either input.
  back.describe("Gradients of " + name + ".")
      .set_inputs({"ograd", "a", "b"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"a_grad", "b_grad"})
      .set_infer_shape(LikeInputsShape(1))
      .set_flops(ProductFlops<kIndices, 2>)
      .set_gradient([name, backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const auto& in = node->inputs;
        const NodeEntry left{MakeNodeLike(name, *node, {ograds[0], in[2]}), 0, 0},
            right{MakeNodeLike(name, *node, {in[1], ograds[1]}), 0, 0};
        const NodePtr both = MakeNodeLike(backward, *node, {in[0], ograds[0], ograds[1]});
        return std::vector<NodeEntry>{MakeOp("elemwise_add", {left, right}), NodeEntry{both, 0, 0}, NodeEntry{both, 1, 0}};
      })
      .set_kernel(ProductBackward<kIndices>);
  Op& op = Op::Register(name);
  SetParam<P>(op);
  return op.describe(text)
      .set_inputs({"a", "b"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(ProductShape<kIndices>)
      .set_flops(ProductFlops<kIndices, 1>)
      .set_expensive_to_recompute()
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const NodePtr both = MakeNodeLike(backward, *node, {ograds[0], node->inputs[0], node->inputs[1]});
        return std::vector<NodeEntry>{NodeEntry{both, 0, 0}, NodeEntry{both, 1, 0}};
      })
      .set_kernel(ProductKernel<kIndices>);
}

constexpr const char* kAnyType = " Any dtype; both arrays have the same one. Integers wrap around; of bools the sum is \"or\".";

[[maybe_unused]] const bool registered = [] {
  Product<DotIndices>("_np_dot", std::string("The product of matrices, or the sum over the last dimension of a and the last but one of b "
                                             "(the only one of a vector). An array () multiplies.") +
                                     kAnyType)
      .alias("_npi_dot");
  Product<MatmulIndices>("_npi_matmul",
                         std::string("Products of the matrices in the last two dimensions. The dimensions before them are broadcast; a "
                                     "vector is a row of a and a column of b, and its dimension is left out of the result.") +
                             kAnyType)
      .set_precision(Precision::kLow)
      .set_trait(SwappedForm{[] { return MakeAttrs(Op::Get("_matmul_transposed"), {}); }});
  Product<SwappedMatmulIndices>("_matmul_transposed", std::string("Products of the matrices in the last two dimensions of a with those of "
                                                                  "b, transposed. The dimensions before them are broadcast.") +
                                                          kAnyType)
      .set_precision(Precision::kLow);
  Product<TensordotIndices, TensordotParam>("_npi_tensordot",
                                            std::string("The sum of products over pairs of dimensions. The result has the "
                                                        "other dimensions of a, then those of b.") +
                                                kAnyType);
  Product<TensordotIntIndices, TensordotIntParam>(
      "_npi_tensordot_int_axes", std::string("The sum of products over the last dimensions of a and the first ones of b.") + kAnyType);
  Product<KronIndices>("_npi_kron", std::string("Kronecker's product: a copy of b, times each element of a, at its place. The array with "
                                                "fewer dimensions gets ones in front.") +
                                        kAnyType);
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
