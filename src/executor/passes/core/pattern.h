/*
 * Patterns: formulas that passes look for. A pattern reads like the formula it matches:
 *
 *   const Axis axis;
 *   const Pattern x = Any(), exponentials = Exp(x - Reduce(Role::kMax, x, axis));
 *   const Pattern softmax = exponentials / Sum(exponentials, axis);
 *
 *   const GraphView view(graph, info);
 *   Match match;
 *   if (Matches(softmax, entry, view, &match)) { ... match[x], match[axis] ... }
 *
 * Patterns are values. They ask for roles (src/operator/record/traits.h), so that one pattern
 * matches operators of `nd`, NumPy's (_npi_*) and the compiler's own alike. What they mean:
 *   - Any() used twice is the same entry twice. Any other pattern used twice may be matched by two
 *     nodes that compute the same.
 *   - Sums and products commute. A product is seen flat, with all numbers in it as one:
 *     0.5 * x * (1 + Erf(x)) also matches (x / 2) * (Erf(x) + 1). An inner product that others read
 *     too is one factor.
 *   - a / b also matches a * reciprocal(b); Power(x, -0.5) also matches rsqrt(x) and 1 / sqrt(x).
 *   - An explicit broadcast is not seen where the operator that reads it broadcasts anyway.
 *   - A reduction goes over one axis, which stays with size 1 (by keepdims or by a reshape).
 *   - The first way that fits counts: a later failure does not make an inner pattern try another.
 *   - Shapes and dtypes are not looked at otherwise. A pass compares those of the result with those
 *     of what it captured.
 *
 * How a pass is written. A pass is a function int(PassGraph*, PassContext*) that returns how many
 * nodes it changed (0: nothing). It stands in the list PlanPasses() (pipeline.cc) with its name,
 * when it is wanted, and whether it is early. Early passes see the forward graph before the
 * gradient is made from it, so that the gradient is that of the operator that they put in. Nodes
 * are shared with the user's symbol and never changed; Replace puts new ones in their place. New
 * nodes come from src/operator/nodes/make_nodes.h, so that no pass names an operator. This is a
 * whole one:
 *
 *   int FuseGelu(PassGraph* g, PassContext* context) {
 *     if (!Has(*g, Role::kErf)) return 0;  // this is cheap, inference of shapes is not
 *     const GraphView view(*g, context->info(*g));
 *     const Pattern x = Any(), gelu = 0.5 * x * (1 + Erf(x * std::sqrt(0.5)).Once()).Once();
 *     Match match;
 *     std::map<const Node*, NodeEntry> found;
 *     VisitForward(*g, [&](const NodePtr& n) {
 *       if (n->is_variable() || !Matches(gelu, {n, 0, 0}, view, &match)) return;
 *       if (view.shape(match[x]) == view.shape({n, 0, 0})) found.emplace(n.get(), match[x]);
 *     });
 *     Replace(g, found, [](const NodeEntry& of, const Renew& renew, const std::string& name) {
 *       return MakeGelu(renew(of), name);
 *     });
 *     return static_cast<int>(found.size());
 *   }
 *
 * What a pattern needs of an operator stands in the operator's record: its role, and views of its
 * parameters. `MXNET_PLAN_LOG_PASSES=fuse_gelu` prints the graph before and after the pass;
 * `MXNET_PLAN_PASSES_OFF=fuse_gelu` leaves it out, which is how tests compare results.
 */
#ifndef MXNET_EXECUTOR_PASSES_CORE_PATTERN_H_
#define MXNET_EXECUTOR_PASSES_CORE_PATTERN_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/passes/core/passes.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace pattern {

/* What patterns look at: a graph, shapes and dtypes, and who reads what. Holds references. */
class GraphView {
 public:
  GraphView(const PassGraph& graph, const GraphInfo& info);
  const Shape& shape(const NodeEntry& e) const { return info_.shape(e); }
  int dtype(const NodeEntry& e) const { return info_.dtype(e); }
  /* How often an entry is read for more than its shape, by nodes and as an output of the graph. */
  int Readers(const NodeEntry& e) const { return readers_[info_.g.eid(info_.g.id.at(e.node.get()), e.index)]; }

 private:
  const GraphInfo& info_;
  std::vector<int> readers_;
};

inline bool Same(const NodeEntry& a, const NodeEntry& b) { return a.node == b.node && a.index == b.index && a.version == b.version; }

/* A number in a formula: a given one, within a tolerance of 1e-6, or any, to be asked for later. */
class Number {
 public:
  Number() : slot_(std::make_shared<Slot>()) {}
  Number(double expected) : slot_(std::make_shared<Slot>(Slot{false, expected})) {}  // NOLINT: formulas hold plain numbers

 private:
  struct Slot {
    bool any = true;
    double expected = 1;
  };
  std::shared_ptr<const Slot> slot_;
  friend class Match;
  friend class Matcher;
  friend class Pattern;
};

/* The axis of reductions; used twice, it is the same one. */
class Axis {
 public:
  Axis() : slot_(std::make_shared<char>()) {}

 private:
  std::shared_ptr<const char> slot_;
  friend class Match;
  friend class Matcher;
};

class Pattern {
 public:
  /* The same, if nobody else reads it. */
  Pattern Once() const;
  /* The same, if `holds` does. */
  Pattern If(std::function<bool(const NodeEntry&)> holds) const;

 private:
  struct Term;
  explicit Pattern(std::shared_ptr<const Term> term) : term_(std::move(term)) {}
  static Pattern Make(Term term);
  static Pattern Product(const Number& number, const std::vector<Pattern>& factors);
  std::shared_ptr<const Term> term_;

  friend class Match;
  friend class Matcher;
  friend Pattern Any();
  friend Pattern Apply(Role role, std::vector<Pattern> operands);
  friend Pattern Power(const Pattern& base, double exponent);
  friend Pattern Reduce(Role role, const Pattern& of, const Axis& axis, bool any_gradient);
  friend Pattern Through(std::function<NodeEntry(const NodeEntry&)> before, const Pattern& inner);
  friend Pattern operator+(const Pattern& a, const Number& b);
  friend Pattern operator*(const Pattern& a, const Pattern& b);
  friend Pattern operator*(const Pattern& a, const Number& b);
  friend Pattern operator/(const Pattern& a, const Pattern& b);
  friend Pattern operator|(const Pattern& a, const Pattern& b);
};

Pattern Any();
/* The first result of an operator with this role, on these first inputs. */
Pattern Apply(Role role, std::vector<Pattern> operands);
/* base^exponent, made by any number of operators that raise to powers. */
Pattern Power(const Pattern& base, double exponent);
/* `any_gradient`: it may be cut off from the gradient on its way. */
Pattern Reduce(Role role, const Pattern& of, const Axis& axis, bool any_gradient = false);
/* `inner` behind everything that `before` looks through: it gives the entry that lies before one,
 * or an empty one. */
Pattern Through(std::function<NodeEntry(const NodeEntry&)> before, const Pattern& inner);
/* `inner` behind any number of stop-gradients. */
Pattern Detached(const Pattern& inner);

inline Pattern Exp(const Pattern& x) { return Apply(Role::kExp, {x}); }
inline Pattern Log(const Pattern& x) { return Apply(Role::kLog, {x}); }
inline Pattern Erf(const Pattern& x) { return Apply(Role::kErf, {x}); }
inline Pattern Sqrt(const Pattern& x) { return Power(x, 0.5); }
inline Pattern Square(const Pattern& x) { return Power(x, 2); }
inline Pattern Sum(const Pattern& x, const Axis& axis) { return Reduce(Role::kSum, x, axis); }
inline Pattern Mean(const Pattern& x, const Axis& axis) { return Reduce(Role::kMean, x, axis); }

inline Pattern operator+(const Pattern& a, const Pattern& b) { return Apply(Role::kAdd, {a, b}); }
inline Pattern operator-(const Pattern& a, const Pattern& b) { return Apply(Role::kSubtract, {a, b}); }
Pattern operator*(const Pattern& a, const Pattern& b);
Pattern operator/(const Pattern& a, const Pattern& b);
Pattern operator+(const Pattern& a, const Number& b);
Pattern operator*(const Pattern& a, const Number& b);
inline Pattern operator+(const Number& a, const Pattern& b) { return b + a; }
inline Pattern operator*(const Number& a, const Pattern& b) { return b * a; }
/* The first of both that fits. */
Pattern operator|(const Pattern& a, const Pattern& b);

/* What a pattern's parts were matched with. */
class Match {
 public:
  /* Empty when the part was not needed. */
  NodeEntry operator[](const Pattern& part) const;
  /* REQUIRES: it was needed. */
  double operator[](const Number& number) const { return Find(number.slot_.get())->number; }
  int operator[](const Axis& axis) const { return static_cast<int>(Find(axis.slot_.get())->number); }

 private:
  struct Bound {
    const void* what;
    NodeEntry entry;
    double number;
  };
  const Bound* Find(const void* what) const;
  std::vector<Bound> bound_;
  friend class Matcher;
};

bool Matches(const Pattern& pattern, const NodeEntry& e, const GraphView& view, Match* match);

/*
 * Puts make(found, renew, name) in the place of each node found, and what a node of `gone` is given
 * in the place of that node. Found ones know the graph as it was; `renew` gives what became of an
 * entry.
 */
using Renew = std::function<NodeEntry(const NodeEntry&)>;
template <typename Found, typename Make>
void Replace(PassGraph* g, const std::map<const Node*, Found>& found, const Make& make, const std::set<const Node*>& gone = {}) {
  if (found.empty() && gone.empty()) return;
  std::unordered_map<const Node*, NodePtr> made;
  const Renew renew = [&made](const NodeEntry& e) { return NodeEntry{made.at(e.node.get()), e.index, e.version}; };
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    auto it = found.find(original.get());
    return made[original.get()] = it != found.end() ? make(it->second, renew, n->name) : gone.count(original.get()) ? n->inputs[0].node : n;
  });
}

}  // namespace pattern
}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_CORE_PATTERN_H_
