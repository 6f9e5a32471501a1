/*
 * Products of matrices. A known second factor makes a dense layer (FullyConnected), whose
 * weights are transposed while the graph is made; the rest are batch_dot, dot and, for
 * integers, matmul.
 */
#include <algorithm>
#include <cctype>

#include "onnx/builder.h"
#include "onnx/convert/make.h"
#include "onnx/rewrite/repeats.h"

namespace mxnet {
namespace onnx {

namespace {

void CheckProduct(const Call& c, const Value& a, const Value& b) {
  SameDTypes(c, {a, b});
  const bool vectors = a.ndim() >= 1 && b.ndim() >= 1;
  if (vectors && c.ForAnyShape()) return;  // the operator says so
  const int64_t left = vectors ? a.dim(a.ndim() - 1) : -1, right = vectors ? b.dim(std::max(b.ndim() - 2, 0)) : -2;
  if (left != right)
    c.Refuse("shapes " + a.shape().str() + " and " + b.shape().str() + "; accepted: the last size of A is the last but one of B");
}

void MatMul(Call& c) {
  const Value &a = c.in(0), &b = c.in(1);
  CheckProduct(c, a, b);
  if (!IsFloating(a.dtype()) || a.empty() || b.empty()) return c.Out(c.Op("_npi_matmul", {a, b}));
  if (b.ndim() == 2 && a.ndim() >= 2 && c.IsWeight(1) && !c.IsWeight(0)) return c.Out(Dense(c, a, c.Transpose(b, {1, 0})));
  if (a.ndim() == 2 && b.ndim() == 2) return c.Out(c.Op("dot", {a, b}));
  if (c.ForAnyShape()) return c.Out(c.Op("_npi_matmul", {a, b}));
  if (SameStacks(a, b)) return c.Out(c.Op("batch_dot", {a, b}));
  if (a.ndim() > 2 && b.ndim() == 2) {  // one matrix for all: rows of the first are one dimension
    std::vector<int64_t> dims = DimsOf(a.shape());
    dims.back() = b.shape()[1];
    const int64_t k = b.shape()[0];
    return c.Out(c.Reshape(c.Op("dot", {c.Reshape(a, Shape{a.size() / k, k}), b}), Shape(dims)));
  }
  c.Out(c.Op("_npi_matmul", {a, b}));
}

Value Scaled(const Call& c, const Value& x, double factor) {
  if (factor == 1) return x;
  if (IsFloating(x.dtype())) return WithNumber(c, "_npi_multiply_scalar", x, factor);
  return c.Cast(WithNumber(c, "_npi_multiply_scalar", c.Cast(x, kFloat64), factor), x.dtype());
}

/* May C stand as one number for each of n columns? */
bool IsBias(const Value& bias, int64_t n) {
  if (bias.size() == 1) return bias.ndim() <= 2;
  return (bias.ndim() == 1 && bias.shape()[0] == n) || (bias.ndim() == 2 && bias.shape()[0] == 1 && bias.shape()[1] == n);
}

void Gemm(Call& c) {
  const double alpha = c.Attr("alpha", 1.0f), beta = c.Attr("beta", 1.0f);
  const bool ta = c.Attr("transA", static_cast<int64_t>(0)) != 0, tb = c.Attr("transB", static_cast<int64_t>(0)) != 0;
  if (c.opset < 7) c.Attr("broadcast", static_cast<int64_t>(0));
  Value a = c.in(0), b = c.in(1);
  if (a.ndim() != 2 || b.ndim() != 2)
    c.Refuse("A and B have shapes " + a.shape().str() + " and " + b.shape().str() + "; accepted: two dimensions each");
  const int64_t k = a.dim(ta ? 0 : 1), n = b.dim(tb ? 0 : 1);
  if (b.dim(tb ? 1 : 0) != k)
    c.Refuse("A has shape " + a.shape().str() + " and B " + b.shape().str() + ", with transA=" + Text(ta) + " and transB=" + Text(tb));
  SameDTypes(c, {a, b});
  Value bias;
  if (c.has(2) && beta != 0) {
    SameDTypes(c, {a, c.in(2)});
    bias = Scaled(c, c.in(2), beta);
    if (!IsBias(bias, n)) {
      const Shape whole{a.dim(ta ? 1 : 0), n};
      if (BroadcastOf(c, bias.shape(), whole) != whole)
        c.Refuse("C has shape " + bias.shape().str() + "; accepted: what broadcasts to " + whole.str());
    }
  }
  const bool floats = IsFloating(a.dtype());
  if (floats && (b.known() || tb) && !a.empty() && !b.empty()) {
    const Value weight = Scaled(c, tb ? b : c.Transpose(b, {1, 0}), b.known() ? alpha : 1);
    const Value left = ta ? c.Transpose(a, {1, 0}) : a;
    const bool inside = bias.kind != Value::kNone && IsBias(bias, n) && (b.known() || alpha == 1);
    const Value row = inside ? c.BroadcastTo(c.Reshape(bias, Shape{bias.size()}), Shape{n}) : Value();
    Value product = Dense(c, left, weight, row);
    if (!b.known()) product = Scaled(c, product, alpha);
    return c.Out(inside || bias.kind == Value::kNone ? product : c.Op("_npi_add", {product, bias}));
  }
  Value product;
  if (floats) {
    product = c.Op("dot", {a, b}, {{"transpose_a", Text(ta)}, {"transpose_b", Text(tb)}});
  } else {
    product = c.Op("_npi_matmul", {ta ? c.Transpose(a, {1, 0}) : a, tb ? c.Transpose(b, {1, 0}) : b});
  }
  product = Scaled(c, product, alpha);
  c.Out(bias.kind == Value::kNone ? product : c.Op("_npi_add", {product, bias}));
}

void Einsum(Call& c) {
  std::string equation = c.Attr("equation", ""), letters;
  for (char ch : equation)
    if (!std::isspace(static_cast<unsigned char>(ch))) letters += ch;
  SameDTypes(c, c.inputs());
  c.Out(c.Op("_npi_einsum", c.inputs(), {{"num_args", Text(c.num_inputs())}, {"subscripts", letters}}));
}

void Det(Call& c) {
  const Value& x = c.in(0);
  if (x.ndim() < 2 || x.shape()[x.ndim() - 1] != x.shape()[x.ndim() - 2])
    c.Refuse("the input has shape " + x.shape().str() + "; accepted: square matrices");
  const int wide = x.dtype() == kFloat64 ? kFloat64 : kFloat32;
  c.Out(c.Cast(c.Op("_npi_det", {c.Cast(x, wide)}), x.dtype()));
}

/* Distances between rows, by which skl2onnx writes neighbours and Gaussian processes: from products
 * of rows, as in onnxruntime. */
void Distances(Call& c) {
  const Value &a = c.in(0), &b = c.in(1);
  const std::string metric = c.Attr("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") c.Refuse("metric=" + metric + "; accepted: sqeuclidean, euclidean");
  SameDTypes(c, {a, b});
  if (a.ndim() != 2 || b.ndim() != 2 || a.shape()[1] != b.shape()[1] || !IsFloating(a.dtype()))
    c.Refuse("data have shapes " + a.shape().str() + " and " + b.shape().str() + "; accepted: floats of shapes (m, k) and (n, k)");
  if (a.shape()[0] == 0 || b.shape()[0] == 0 || a.shape()[1] == 0) return c.Out(c.Filled(Shape{a.shape()[0], b.shape()[0]}, a.dtype(), 0));
  const auto squares = [&](const Value& x, const Shape& shape) {
    return c.Reshape(c.Op("_npi_sum", {c.Op("_npi_square", {x})}, {{"axis", "(1,)"}}), shape);
  };
  const Value products = Dense(c, a, b);
  Value y = c.Op("_npi_add", {WithNumber(c, "_npi_multiply_scalar", products, -2), squares(a, Shape{a.shape()[0], 1})});
  y = WithNumber(c, "_npi_maximum_scalar", c.Op("_npi_add", {y, squares(b, Shape{1, b.shape()[0]})}), 0);
  c.Out(metric == "euclidean" ? c.Op("_npi_sqrt", {y}) : y);
}

// ---- with a second factor that an Expand and a Reshape repeat (repeats.h)

/* The rows of heads that share a matrix are rows of one product. */
Value ProductOnce(const Call& c, const Value& a, const Value& apart, const Repeats& r, bool across) {
  const Shape &s = a.shape(), &b = apart.shape();
  const Value rows = c.Reshape(a, Shape{s[0], r.groups, r.times * s[2], s[3]}), once = c.Reshape(apart, Shape{b[0], b[1], b[3], b[4]});
  return c.Reshape(MatMul(c, rows, once, across), Shape{s[0], s[1], s[2], across ? b[3] : b[4]});
}

Value ResultOf(const Call& c, const char* op, const Value& x, const Value& y) {
  const Rule* const rule = FindRule("", op, kNewest);
  Call inner(c.node, kNewest, rule->argument, {x, y}, c.builder());
  rule->convert(inner);
  return inner.outputs()[0];
}

void RepeatedMatMul(Call& c) {  // a, apart, sizes of the Expand, sizes of the Reshape
  const Value &a = c.in(0), &apart = c.in(1);
  const std::vector<int64_t> expand = c.Ints(2), reshape = c.Ints(3);
  const bool across = c.Attr("transB", static_cast<int64_t>(0)) != 0, zero_is_size = c.Attr("allowzero", static_cast<int64_t>(0)) != 0;
  Repeats r;
  if (c.builder()->on_arrays() && RepeatsHeads(a, apart, expand, reshape, zero_is_size, across, &r))
    return c.Out(ProductOnce(c, a, apart, r, across));
  const Value b = ResultOf(c, "Reshape", ResultOf(c, "Expand", apart, c.in(2)), c.in(3));
  c.Out(across ? MatMul(c, a, b, true) : ResultOf(c, "MatMul", a, b));
}

}  // namespace

const Rules& MatrixRules() {
  static const Rules rules = {
      {"", "MatMul", 1, kNewest, MatMul, nullptr},
      {"", "Gemm", 1, kNewest, Gemm, nullptr},
      {"", "Einsum", 12, kNewest, Einsum, nullptr},
      {"", "Det", 11, kNewest, Det, nullptr},
      {kRepeatsDomain, "MatMul", 1, 1, RepeatedMatMul, nullptr},
      {"com.microsoft", "CDist", 1, kNewest, Distances, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
