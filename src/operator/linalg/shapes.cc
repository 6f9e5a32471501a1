#include "operator/linalg/shapes.h"

#include <algorithm>

#include "mxnet/op.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace linalg {
namespace {

const char* const kPartNames[] = {"lower", "upper", "mirror", "fold", "symmetric"};

}  // namespace

void NeedMatrices(const Attrs& attrs, const char* what, const Shape& s) {
  MXNET_CHECK_KIND(!s.ndim_known() || s.ndim() >= 2, Value)
      << "[" << attrs.op->name << "] " << what << " has shape " << s << "; matrices with at least 2 dimensions are accepted";
}

void NeedSquare(const Attrs& attrs, const char* what, const Shape& s) {
  NeedMatrices(attrs, what, s);
  if (!s.ndim_known()) return;
  const int64_t rows = s[s.ndim() - 2], columns = s[s.ndim() - 1];
  MXNET_CHECK_KIND(rows < 0 || columns < 0 || rows == columns, Value)
      << "[" << attrs.op->name << "] " << what << " has shape " << s
      << "; square matrices are accepted, the last two dimensions must be equal";
}

bool SquareShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "A", &(*in)[0], (*out)[0]);
  NeedSquare(attrs, "A", (*in)[0]);
  return (*in)[0].known();
}

Shape Leading(const Shape& s, int drop, const std::vector<int64_t>& more) {
  std::vector<int64_t> dims;
  for (int i = 0; i < s.ndim() - drop; ++i) dims.push_back(s[i]);
  dims.insert(dims.end(), more.begin(), more.end());
  return Shape(dims);
}

Shape NumberShape(const Shape& s, bool numpy) {
  if (s.ndim() == 2 && !numpy) return Shape({1});
  return Leading(s, 2, {});
}

void Unify(const Attrs& attrs, const char* a_name, Shape* a, int i, const char* b_name, Shape* b, int j) {
  int64_t &x = (*a)[i], &y = (*b)[j];
  if (x < 0) x = y;
  if (y < 0) y = x;
  MXNET_CHECK_KIND(x == y, Value) << "[" << attrs.op->name << "] " << a_name << " has shape " << *a << ", " << b_name << " has shape " << *b
                                  << "; dimension " << i << " of " << a_name << " and dimension " << j << " of " << b_name
                                  << " must be equal";
}

bool SameRank(const Attrs& attrs, const std::vector<std::pair<const char*, Shape*>>& shapes, int least) {
  const std::pair<const char*, Shape*>* known = nullptr;
  for (const auto& s : shapes)
    if (s.second->ndim_known()) {
      if (!known) known = &s;
      MXNET_CHECK_KIND(s.second->ndim() >= least, Value)
          << "[" << attrs.op->name << "] " << s.first << " has shape " << *s.second << "; at least " << least << " dimensions are needed";
      MXNET_CHECK_KIND(s.second->ndim() == known->second->ndim(), Value)
          << "[" << attrs.op->name << "] " << known->first << " has shape " << *known->second << ", " << s.first << " has shape "
          << *s.second << "; they need the same number of dimensions";
    }
  if (!known) return false;
  for (const auto& s : shapes)
    if (!s.second->ndim_known()) *s.second = Shape(std::vector<int64_t>(known->second->ndim(), Shape::kUnknownDim));
  return true;
}

bool LikeLastShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the gradient", &(*out)[0], in->back());
  for (const Shape& s : *in)
    if (!s.known()) return false;
  return true;
}

NodeEntry PartOf(const NodeEntry& x, Part part) {
  return MakeOp("_backward_linalg_part", {x}, {{"part", kPartNames[static_cast<int>(part)]}});
}

NodeEntry Product(const NodeEntry& a, bool ta, const NodeEntry& b, bool tb, double alpha) {
  return MakeOp("_linalg_gemm2", {a, b}, {{"transpose_a", ta ? "1" : "0"}, {"transpose_b", tb ? "1" : "0"}, {"alpha", ExactText(alpha)}});
}

NodeEntry ProductPlus(const NodeEntry& a, bool ta, const NodeEntry& b, bool tb, const NodeEntry& c, double alpha) {
  return MakeOp("_linalg_gemm", {a, b, c}, {{"transpose_a", ta ? "1" : "0"}, {"transpose_b", tb ? "1" : "0"}, {"alpha", ExactText(alpha)}});
}

NodeEntry Solution(const NodeEntry& l, const NodeEntry& x, bool transpose, bool right, double alpha, bool lower) {
  return MakeOp(
      "_linalg_trsm", {l, x},
      {{"transpose", transpose ? "1" : "0"}, {"rightside", right ? "1" : "0"}, {"lower", lower ? "1" : "0"}, {"alpha", ExactText(alpha)}});
}

NodeEntry Scaled(const NodeEntry& numbers, const NodeEntry& matrices) { return MakeOp("_backward_linalg_scale", {numbers, matrices}); }

NodeEntry InnerProducts(const NodeEntry& numbers_like, const NodeEntry& a, const NodeEntry& b) {
  return MakeOp("_backward_linalg_inner", {a, b, numbers_like});
}

}  // namespace linalg
}  // namespace mxnet
