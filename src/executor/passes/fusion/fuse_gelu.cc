// x * Phi(x) written out, 0.5 x (1 + erf(x / sqrt(2))), becomes LeakyReLU(act_type="gelu"), which a
// dense layer can take in. (The approximation with tanh is another function; fuse_pointwise makes
// one operator of it.)
#include <cmath>

#include "executor/passes/core/pattern.h"
#include "mxnet/ndarray.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

/* 1 / sqrt(2), also as files in 16-bit types have it or its reciprocal. */
bool IsRootOfHalf(double number) {
  const double exact = std::sqrt(0.5);
  if (std::abs(number - exact) < 1e-6) return true;
  for (const int dtype : {kFloat16, kBfloat16}) {
    const auto rounded = [dtype](double value) {
      uint16_t bits;
      double back;
      ConvertElements(&value, kFloat64, &bits, dtype, 1);
      ConvertElements(&bits, dtype, &back, kFloat64, 1);
      return back;
    };
    if (std::abs(number - rounded(exact)) < 1e-6 || std::abs(number - 1 / rounded(1 / exact)) < 1e-6) return true;
  }
  return false;
}

}  // namespace

int FuseGelu(PassGraph* g, PassContext* context) {
  using namespace pattern;
  if (!Has(*g, Role::kErf)) return 0;
  const GraphView view(*g, context->info(*g));
  const Number inner;
  const Pattern x = Any(), gelu = 0.5 * x * (1 + Erf(x * inner).Once()).Once();
  Match match;
  std::map<const Node*, NodeEntry> found;  // what it is gelu of
  VisitForward(*g, [&](const NodePtr& n) {
    const NodeEntry out{n, 0, 0};
    if (n->is_variable() || !IsFloating(view.dtype(out))) return;
    if (!Matches(gelu, out, view, &match) || !IsRootOfHalf(match[inner])) return;
    if (view.shape(match[x]) == view.shape(out)) found.emplace(n.get(), match[x]);
  });
  Replace(g, found, [](const NodeEntry& of, const Renew& renew, const std::string& name) { return MakeGelu(renew(of), name); });
  return static_cast<int>(found.size());
}

}  // namespace mxnet
