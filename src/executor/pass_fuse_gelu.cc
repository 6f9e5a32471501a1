// x * Phi(x) written out, 0.5 x (1 + erf(x / sqrt(2))), becomes LeakyReLU(act_type="gelu"), which a dense layer can take in.
// (The approximation with tanh is another function; fuse_pointwise makes one operator of it.)
#include <cmath>
#include <cstdlib>
#include <map>

#include "executor/passes.h"

namespace mxnet {
namespace {

using Key = std::pair<const Node*, uint32_t>;
Key KeyOf(const NodeEntry& e) { return {e.node.get(), e.index}; }

bool IsOne(const NodeEntry& e, std::initializer_list<const char*> ops) {
  if (e.node->is_variable() || e.index != 0) return false;
  for (const char* op : ops)
    if (e.node->op()->name == op) return true;
  return false;
}

double Number(const Node& n) {
  auto it = n.attrs->dict.find("scalar");
  return it == n.attrs->dict.end() ? 1 : std::strtod(it->second.c_str(), nullptr);
}

class Matcher {
 public:
  Matcher(const GraphInfo& info, std::map<Key, int> users) : info_(info), users_(std::move(users)) {}

  /* The x of which `out` is gelu; empty when it is not. */
  NodeEntry Gelu(const NodeEntry& out) {
    double factor = 1;
    std::vector<NodeEntry> factors;
    Product(out, &factor, &factors, true);
    if (factors.size() != 2 || !Near(factor, 0.5)) return NodeEntry();
    for (int i = 0; i < 2; ++i) {
      const NodeEntry &sum = factors[i], &x = factors[1 - i];
      if (!IsOne(sum, {"_plus_scalar", "_npi_add_scalar"}) || users_[KeyOf(sum)] != 1 || !Near(Number(*sum.node), 1)) continue;
      const NodeEntry& erf = sum.node->inputs[0];
      if (!IsOne(erf, {"erf"}) || users_[KeyOf(erf)] != 1) continue;
      double inner = 1;
      std::vector<NodeEntry> of;
      Product(erf.node->inputs[0], &inner, &of, false);
      if (of.size() == 1 && KeyOf(of[0]) == KeyOf(x) && Near(inner, std::sqrt(0.5)) && info_.shape(x) == info_.shape(out)) return x;
    }
    return NodeEntry();
  }

 private:
  static bool Near(double a, double b) { return std::abs(a - b) < 1e-6; }
  // Splits e into a number and the entries that it is the product of. What others read too is not split.
  void Product(const NodeEntry& e, double* factor, std::vector<NodeEntry>* factors, bool root) {
    const bool open = root || users_[KeyOf(e)] == 1;
    if (open && IsOne(e, {"_mul_scalar", "_npi_multiply_scalar"})) {
      *factor *= Number(*e.node);
      return Product(e.node->inputs[0], factor, factors, false);
    }
    if (open && IsOne(e, {"_div_scalar", "_npi_true_divide_scalar"})) {
      *factor /= Number(*e.node);
      return Product(e.node->inputs[0], factor, factors, false);
    }
    if (open && IsOne(e, {"elemwise_mul", "broadcast_mul", "_npi_multiply"}) && info_.shape(e.node->inputs[0]) == info_.shape(e.node->inputs[1]) && factors->size() < 4) {
      Product(e.node->inputs[0], factor, factors, false);
      return Product(e.node->inputs[1], factor, factors, false);
    }
    factors->push_back(e);
  }

  const GraphInfo& info_;
  std::map<Key, int> users_;
};

}  // namespace

int FuseGelu(PassGraph* g, PassContext* context) {
  bool any = false;
  std::map<Key, int> users;
  DFSVisit(g->outputs, [&](const NodePtr& n) {
    any = any || (!n->is_variable() && n->op()->name == "erf");
    for (const auto& e : n->inputs) ++users[KeyOf(e)];
  });
  if (!any) return 0;
  for (const auto& e : g->outputs) ++users[KeyOf(e)];
  const GraphInfo& info = context->info(*g);
  Matcher matcher(info, std::move(users));
  std::map<const Node*, NodePtr> made;
  int fused = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    made[original.get()] = n;
    const NodeEntry out{original, 0, 0};
    if (!IsOne(out, {"elemwise_mul", "broadcast_mul", "_npi_multiply", "_mul_scalar", "_npi_multiply_scalar", "_div_scalar", "_npi_true_divide_scalar"}) || !IsFloating(info.dtype(out))) return n;
    const NodeEntry x = matcher.Gelu(out);
    if (!x) return n;
    ++fused;
    return made[original.get()] = MakeNode("LeakyReLU", {{made.at(x.node.get()), x.index, x.version}}, {{"act_type", "gelu"}}, n->name);
  });
  return fused;
}

}  // namespace mxnet
