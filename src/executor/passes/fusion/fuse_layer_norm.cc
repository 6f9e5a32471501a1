// Layer normalization (Ba et al., arXiv 1607.06450) written out, (x - mean(x)) / sqrt(mean((x -
// mean(x))^2) + eps) over the last dimension, and gamma and beta behind it, becomes LayerNorm: one
// pass over the data forward and one backward, before the gradient is made.
#include "executor/passes/fusion/fuse_layer_norm.h"

#include <cstdio>
#include <map>

namespace mxnet {
namespace {

using Key = std::pair<const Node*, uint32_t>;
Key KeyOf(const NodeEntry& e) { return {e.node.get(), e.index}; }

struct Norm {
  NodeEntry x, gamma, beta;  // of the graph before the pass; empty: 1, 0
  double eps = 0;
};

class Matcher {
 public:
  explicit Matcher(const GraphInfo& info) : info_(info) {}

  /* Is `out` normalized without gamma and beta? */
  bool Normalized(const NodeEntry& out, Norm* norm) const {
    const bool divides = IsResultOf(out, {"broadcast_div", "_npi_true_divide"}),
               multiplies = IsResultOf(out, {"broadcast_mul", "_npi_multiply"});
    if (!divides && !multiplies) return false;
    for (int i = 0; i < (multiplies ? 2 : 1); ++i) {
      const NodeEntry &centred = out.node->inputs[i], &scale = out.node->inputs[1 - i];
      NodeEntry x, variance;
      if (!Centred(centred, &x)) continue;
      if (divides ? !IsResultOf(scale, {"sqrt", "_npi_sqrt"})
                  : !IsResultOf(scale, {"rsqrt"}) &&
                        !(IsResultOf(scale, {"_power_scalar", "_npi_power_scalar"}) && NumberOf(*scale.node, "scalar", 0) == -0.5))
        continue;
      const NodeEntry& sum = scale.node->inputs[0];
      if (!IsResultOf(sum, {"_plus_scalar", "_npi_add_scalar"}) || !(NumberOf(*sum.node, "scalar", 0) > 0)) continue;
      NodeEntry squares, again;
      if (!Mean(sum.node->inputs[0], &squares) || !Square(squares, &again) || KeyOf(again) != KeyOf(x)) continue;
      norm->x = x;
      norm->eps = NumberOf(*sum.node, "scalar", 0);
      return true;
    }
    return false;
  }

  /* The other input of a product or sum that has one number for each element of the last
   * dimension. */
  bool PerElement(const NodeEntry& e, const NodeEntry& x) const {
    const Shape &shape = info_.shape(e), &data = info_.shape(x);
    return shape.ndim() == 1 && shape[0] == data[data.ndim() - 1] && info_.dtype(e) == info_.dtype(x);
  }

 private:
  // Over the last dimension, which stays with size 1; that the other sizes stay too says that
  // nothing else was averaged.
  bool Mean(const NodeEntry& e, NodeEntry* of) const {
    if (!IsResultOf(e, {"mean", "_npi_mean"})) return false;
    *of = e.node->inputs[0];
    Shape expected = info_.shape(*of);
    if (expected.ndim() < 1 || expected[expected.ndim() - 1] < 2) return false;
    expected[expected.ndim() - 1] = 1;
    return info_.shape(e) == expected && info_.dtype(e) == info_.dtype(*of);
  }
  bool Centred(const NodeEntry& e, NodeEntry* x) const {
    if (!IsResultOf(e, {"broadcast_sub", "_npi_subtract"})) return false;
    NodeEntry of;
    *x = e.node->inputs[0];
    return Mean(e.node->inputs[1], &of) && KeyOf(of) == KeyOf(*x);
  }
  bool Square(const NodeEntry& e, NodeEntry* x) const {
    if (IsResultOf(e, {"square", "_npi_square"})) return Centred(e.node->inputs[0], x);
    if (IsResultOf(e, {"_power_scalar", "_npi_power_scalar"})) return NumberOf(*e.node, "scalar", 0) == 2 && Centred(e.node->inputs[0], x);
    NodeEntry other;
    return IsResultOf(e, {"elemwise_mul", "broadcast_mul", "_npi_multiply"}) && Centred(e.node->inputs[0], x) &&
           Centred(e.node->inputs[1], &other) && KeyOf(other) == KeyOf(*x);
  }

  const GraphInfo& info_;
};

}  // namespace

int FuseLayerNorm(PassGraph* g, PassContext* context) {
  if (!context->inference() && RecomputeNamed(g->outputs, context->request)) return 0;
  bool any = false;
  DFSVisit(g->outputs, [&](const NodePtr& n) { any = any || IsResultOf({n, 0, 0}, {"mean", "_npi_mean"}); });
  if (!any) return 0;
  EntryUsers users = CountUsers(*g);
  const GraphInfo& info = context->info(*g);
  const Matcher matcher(info);
  std::map<const Node*, NodePtr> made;
  std::map<const Node*, Norm> norms;
  int fused = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    made[original.get()] = n;
    const NodeEntry out{original, 0, 0};
    Norm norm;
    if (!IsResultOf(out, {"broadcast_div", "_npi_true_divide", "broadcast_mul", "_npi_multiply", "broadcast_add", "_npi_add"})) return n;
    if (info.dtype(out) != kFloat32 && info.dtype(out) != kFloat64) return n;
    bool found = matcher.Normalized(out, &norm);
    if (found) ++fused;
    for (int i = 0; i < 2 && !found; ++i) {
      const NodeEntry &inner = original->inputs[i], &other = original->inputs[1 - i];
      auto it = norms.find(inner.node.get());
      if (it == norms.end() || users[KeyOf(inner)] != 1 || !matcher.PerElement(other, it->second.x)) continue;
      norm = it->second;
      const bool product = IsResultOf(out, {"broadcast_mul", "_npi_multiply"}), sum = IsResultOf(out, {"broadcast_add", "_npi_add"});
      if (product && !norm.gamma && !norm.beta)
        norm.gamma = other, found = true;
      else if (sum && !norm.beta)
        norm.beta = other, found = true;
    }
    if (!found || info.shape(out) != info.shape(norm.x)) return n;
    norms[original.get()] = norm;
    const Shape& data = info.shape(norm.x);
    const auto renewed = [&](const NodeEntry& e) { return NodeEntry{made.at(e.node.get()), e.index, e.version}; };
    const auto vector = [&](const char* op, const char* name) {
      return NodeEntry{
          MakeNode(op, {}, {{"shape", "(" + std::to_string(data[data.ndim() - 1]) + ",)"}, {"dtype", DTypeName(info.dtype(out))}},
                   n->name + name),
          0, 0};
    };
    char eps[40];
    std::snprintf(eps, sizeof eps, "%.17g", norm.eps);
    return made[original.get()] = MakeNode("LayerNorm",
                                           {renewed(norm.x), norm.gamma ? renewed(norm.gamma) : vector("_ones", "_gamma"),
                                            norm.beta ? renewed(norm.beta) : vector("_zeros", "_beta")},
                                           {{"axis", "-1"}, {"eps", eps}}, n->name);
  });
  return fused;
}

}  // namespace mxnet
