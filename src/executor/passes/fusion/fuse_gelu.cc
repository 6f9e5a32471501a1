// x * Phi(x) written out, 0.5 x (1 + erf(x / sqrt(2))), becomes LeakyReLU(act_type="gelu"), which a
// dense layer can take in. (The approximation with tanh is another function; fuse_pointwise makes
// one operator of it.)
#include <cmath>
#include <map>

#include "executor/passes/core/passes.h"

namespace mxnet {
namespace {

using Key = std::pair<const Node*, uint32_t>;
Key KeyOf(const NodeEntry& e) { return {e.node.get(), e.index}; }

class Matcher {
 public:
  Matcher(const GraphInfo& info, EntryUsers users) : info_(info), users_(std::move(users)) {}

  /* The x of which `out` is gelu; empty when it is not. */
  NodeEntry Gelu(const NodeEntry& out) {
    double factor = 1;
    std::vector<NodeEntry> factors;
    Product(out, &factor, &factors, true);
    if (factors.size() != 2 || !Near(factor, 0.5)) return NodeEntry();
    for (int i = 0; i < 2; ++i) {
      const NodeEntry &sum = factors[i], &x = factors[1 - i];
      if (!IsResultOf(sum, {"_plus_scalar", "_npi_add_scalar"}) || users_[KeyOf(sum)] != 1 || !Near(NumberOf(*sum.node, "scalar", 1), 1))
        continue;
      const NodeEntry& erf = sum.node->inputs[0];
      if (!IsResultOf(erf, {"erf"}) || users_[KeyOf(erf)] != 1) continue;
      double inner = 1;
      std::vector<NodeEntry> of;
      Product(erf.node->inputs[0], &inner, &of, false);
      if (of.size() == 1 && KeyOf(of[0]) == KeyOf(x) && Near(inner, std::sqrt(0.5)) && info_.shape(x) == info_.shape(out)) return x;
    }
    return NodeEntry();
  }

 private:
  static bool Near(double a, double b) { return std::abs(a - b) < 1e-6; }
  // Splits e into a number and the entries that it is the product of. What others read too is not
  // split.
  void Product(const NodeEntry& e, double* factor, std::vector<NodeEntry>* factors, bool root) {
    const bool open = root || users_[KeyOf(e)] == 1;
    if (open && IsResultOf(e, {"_mul_scalar", "_npi_multiply_scalar"})) {
      *factor *= NumberOf(*e.node, "scalar", 1);
      return Product(e.node->inputs[0], factor, factors, false);
    }
    if (open && IsResultOf(e, {"_div_scalar", "_npi_true_divide_scalar"})) {
      *factor /= NumberOf(*e.node, "scalar", 1);
      return Product(e.node->inputs[0], factor, factors, false);
    }
    if (open && IsResultOf(e, {"elemwise_mul", "broadcast_mul", "_npi_multiply"}) &&
        info_.shape(e.node->inputs[0]) == info_.shape(e.node->inputs[1]) && factors->size() < 4) {
      Product(e.node->inputs[0], factor, factors, false);
      return Product(e.node->inputs[1], factor, factors, false);
    }
    factors->push_back(e);
  }

  const GraphInfo& info_;
  EntryUsers users_;
};

}  // namespace

int FuseGelu(PassGraph* g, PassContext* context) {
  bool any = false;
  DFSVisit(g->outputs, [&](const NodePtr& n) { any = any || (!n->is_variable() && n->op()->name == "erf"); });
  if (!any) return 0;
  const GraphInfo& info = context->info(*g);
  Matcher matcher(info, CountUsers(*g));
  std::map<const Node*, NodePtr> made;
  int fused = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    made[original.get()] = n;
    const NodeEntry out{original, 0, 0};
    if (!IsResultOf(out, {"elemwise_mul", "broadcast_mul", "_npi_multiply", "_mul_scalar", "_npi_multiply_scalar", "_div_scalar",
                          "_npi_true_divide_scalar"}) ||
        !IsFloating(info.dtype(out)))
      return n;
    const NodeEntry x = matcher.Gelu(out);
    if (!x) return n;
    ++fused;
    return made[original.get()] = MakeNode("LeakyReLU", {{made.at(x.node.get()), x.index, x.version}}, {{"act_type", "gelu"}}, n->name);
  });
  return fused;
}

}  // namespace mxnet
