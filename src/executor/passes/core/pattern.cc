#include "executor/passes/core/pattern.h"

#include <algorithm>
#include <cmath>

namespace mxnet {
namespace pattern {

struct Pattern::Term {
  enum Kind { kAny, kIf, kApply, kProduct, kShift, kPower, kQuotient, kReduce, kThrough, kEither } kind = kAny;
  std::vector<Pattern> operands = {};
  Role role = Role::kNone;
  Number number = Number(1);  // of a product, of a sum
  double exponent = 1;
  Axis axis = {};
  bool any_gradient = false, once = false;
  std::function<NodeEntry(const NodeEntry&)> before = nullptr;
  std::function<bool(const NodeEntry&)> holds = nullptr;
};

GraphView::GraphView(const PassGraph& graph, const GraphInfo& info) : info_(info), readers_(info.g.num_entries(), 0) {
  const IndexedGraph& g = info.g;
  const auto count = [&](const NodeEntry& e) { ++readers_[g.eid(g.id.at(e.node.get()), e.index)]; };
  for (const auto& node : g.nodes)
    for (size_t i = 0; i < node.source->inputs.size(); ++i)
      if (!node.source->attrs->ReadsOnlyShape(static_cast<int>(i))) count(node.source->inputs[i]);
  for (const auto& e : graph.outputs) count(e);
}

// ---- making patterns

Pattern Pattern::Make(Term term) { return Pattern(std::make_shared<const Term>(std::move(term))); }

Pattern Pattern::Once() const {
  Term term{Term::kIf, {*this}};
  term.once = true;
  return Make(std::move(term));
}

Pattern Pattern::If(std::function<bool(const NodeEntry&)> holds) const {
  Term term{Term::kIf, {*this}};
  term.holds = std::move(holds);
  return Make(std::move(term));
}

/* Flat: factors that are products themselves lend their factors and their number. */
Pattern Pattern::Product(const Number& number, const std::vector<Pattern>& factors) {
  Term term{Term::kProduct};
  term.number = number;
  for (const Pattern& factor : factors) {
    if (factor.term_->kind != Term::kProduct) {
      term.operands.push_back(factor);
      continue;
    }
    const auto &ours = *term.number.slot_, &theirs = *factor.term_->number.slot_;
    term.number = ours.any ? term.number : theirs.any ? factor.term_->number : Number(ours.expected * theirs.expected);
    term.operands.insert(term.operands.end(), factor.term_->operands.begin(), factor.term_->operands.end());
  }
  return Make(std::move(term));
}

Pattern Any() { return Pattern::Make({}); }
Pattern Apply(Role role, std::vector<Pattern> operands) { return Pattern::Make({Pattern::Term::kApply, std::move(operands), role}); }

Pattern Power(const Pattern& base, double exponent) {
  Pattern::Term term{Pattern::Term::kPower, {base}};
  term.exponent = exponent;
  return Pattern::Make(std::move(term));
}

Pattern Reduce(Role role, const Pattern& of, const Axis& axis, bool any_gradient) {
  Pattern::Term term{Pattern::Term::kReduce, {of}, role};
  term.axis = axis, term.any_gradient = any_gradient;
  return Pattern::Make(std::move(term));
}

Pattern Through(std::function<NodeEntry(const NodeEntry&)> before, const Pattern& inner) {
  Pattern::Term term{Pattern::Term::kThrough, {inner}};
  term.before = std::move(before);
  return Pattern::Make(std::move(term));
}

Pattern Detached(const Pattern& inner) {
  return Through([](const NodeEntry& e) { return IsResultOf(e, Role::kStopGradient) ? e.node->inputs[0] : NodeEntry(); }, inner);
}

Pattern operator*(const Pattern& a, const Pattern& b) { return Pattern::Product(1, {a, b}); }
Pattern operator*(const Pattern& a, const Number& b) { return Pattern::Product(b, {a}); }
Pattern operator|(const Pattern& a, const Pattern& b) { return Pattern::Make({Pattern::Term::kEither, {a, b}}); }

Pattern operator+(const Pattern& a, const Number& b) {
  Pattern::Term term{Pattern::Term::kShift, {a}};
  term.number = b;
  return Pattern::Make(std::move(term));
}

/* The third operand is 1 / b, as what a may be multiplied by. */
Pattern operator/(const Pattern& a, const Pattern& b) {
  const bool power = b.term_->kind == Pattern::Term::kPower;
  return Pattern::Make({Pattern::Term::kQuotient, {a, b, power ? Power(b.term_->operands[0], -b.term_->exponent) : Power(b, -1)}});
}

// ---- matching

class Matcher {
 public:
  Matcher(const GraphView& view, const NodeEntry& root, Match* match) : view_(view), root_(root), bound_(match->bound_) { bound_.clear(); }

  bool Fits(const Pattern& pattern, const NodeEntry& e) {
    const Term& term = *pattern.term_;
    if (term.kind == Term::kAny) {
      const Match::Bound* before = Find(&term);
      if (before) return Same(before->entry, e);
    } else {
      const size_t mark = bound_.size();
      if (!FitsTerm(term, e)) {
        bound_.resize(mark);
        return false;
      }
    }
    bound_.push_back({&term, e, 0});
    return true;
  }

 private:
  using Term = Pattern::Term;

  bool FitsTerm(const Term& term, const NodeEntry& e) {
    switch (term.kind) {
      case Term::kAny: return true;
      case Term::kIf: return (!term.once || view_.Readers(e) == 1) && (!term.holds || term.holds(e)) && Fits(term.operands[0], e);
      case Term::kApply: return FitsRole(term, e);
      case Term::kProduct: return FitsProduct(term, e);
      case Term::kShift: return FitsShift(term, e);
      case Term::kPower: return FitsPower(term, e);
      case Term::kQuotient: return FitsQuotient(term, e);
      case Term::kReduce: return FitsReduction(term, e);
      case Term::kEither: return Fits(term.operands[0], e) || Fits(term.operands[1], e);
      case Term::kThrough: break;
    }
    NodeEntry inner = e;
    for (NodeEntry before = term.before(inner); before; before = term.before(inner)) inner = before;
    return Fits(term.operands[0], inner);
  }

  const Match::Bound* Find(const void* what) const {
    for (const auto& each : bound_)
      if (each.what == what) return &each;
    return nullptr;
  }

  bool Bind(const Number& number, double value) {
    const auto& slot = *number.slot_;
    const Match::Bound* before = Find(&slot);
    const double expected = before ? before->number : slot.any ? value : slot.expected;
    if (!(std::abs(value - expected) < 1e-6)) return false;
    if (!before) bound_.push_back({&slot, NodeEntry(), value});
    return true;
  }

  /* What the operator of a binary node reads: without a broadcast that it would do itself. */
  bool FitsOperand(const Pattern& pattern, const Node& node, int input) {
    const NodeEntry &e = node.inputs[input], &other = node.inputs[1 - input];
    if (Fits(pattern, e)) return true;
    return IsResultOf(e, Role::kBroadcast) && view_.shape(e) == view_.shape(other) && Fits(pattern, e.node->inputs[0]);
  }
  bool FitsOperands(const Pattern& a, const Pattern& b, const Node& node, bool swapped) {
    const size_t mark = bound_.size();
    if (FitsOperand(a, node, swapped) && FitsOperand(b, node, !swapped)) return true;
    bound_.resize(mark);
    return false;
  }

  bool FitsRole(const Term& term, const NodeEntry& e) {
    if (!IsResultOf(e, term.role) || e.node->inputs.size() < term.operands.size()) return false;
    const bool binary = term.role >= Role::kAdd && term.role <= Role::kPower;
    if (binary) {
      const bool commutes = term.role != Role::kSubtract && term.role != Role::kDivide && term.role != Role::kPower;
      return FitsOperands(term.operands[0], term.operands[1], *e.node, false) ||
             (commutes && FitsOperands(term.operands[0], term.operands[1], *e.node, true));
    }
    for (size_t i = 0; i < term.operands.size(); ++i)
      if (!Fits(term.operands[i], e.node->inputs[i])) return false;
    return true;
  }

  static constexpr size_t kMaxFactors = 4;
  struct Factors {
    double number = 1;
    size_t count = 0, wanted = 0;
    NodeEntry entries[kMaxFactors];
  };
  /* Takes an entry apart, as long as no more factors come out than are wanted. */
  void TakeApart(NodeEntry e, Factors* factors) {
    while (e.index == 0 && (Same(e, root_) || view_.Readers(e) == 1)) {
      const auto affine = AffineOf(*e.node);
      if (affine && affine->shift == 0 && affine->scale != 0) {
        factors->number *= affine->scale;
        e = e.node->inputs[0];
      } else if (factors->count + 2 <= factors->wanted && RoleOf(*e.node) == Role::kMultiply) {
        --factors->wanted;  // one is kept for the second input
        TakeApart(e.node->inputs[0], factors);
        ++factors->wanted;
        e = e.node->inputs[1];
      } else {
        break;
      }
    }
    factors->entries[factors->count++] = e;
  }

  bool FitsProduct(const Term& term, const NodeEntry& e) {
    Factors factors;
    factors.wanted = term.operands.size();
    TakeApart(e, &factors);
    if (factors.count != factors.wanted || !Bind(term.number, factors.number)) return false;
    size_t order[kMaxFactors] = {0, 1, 2, 3};
    const size_t mark = bound_.size();
    do {
      size_t i = 0;
      while (i < factors.count && Fits(term.operands[i], factors.entries[order[i]])) ++i;
      if (i == factors.count) return true;
      bound_.resize(mark);
    } while (std::next_permutation(order, order + factors.count));
    return false;
  }

  bool FitsShift(const Term& term, const NodeEntry& e) {
    const auto affine = e.index == 0 ? AffineOf(*e.node) : std::nullopt;
    return affine && affine->scale == 1 && Bind(term.number, affine->shift) && Fits(term.operands[0], e.node->inputs[0]);
  }

  bool FitsPower(const Term& term, const NodeEntry& e) {
    double exponent = 1;
    NodeEntry base = e;
    while (base.index == 0) {
      if (RoleOf(*base.node) == Role::kMultiply && exponent * 2 == term.exponent)  // x * x
        return Fits(term.operands[0], base.node->inputs[0]) && Fits(term.operands[0], base.node->inputs[1]);
      const auto raised = ExponentOf(*base.node);
      if (!raised) return false;
      exponent *= *raised;
      base = base.node->inputs[0];
      if (exponent == term.exponent && Fits(term.operands[0], base)) return true;
    }
    return false;
  }

  bool FitsQuotient(const Term& term, const NodeEntry& e) {
    if (e.index != 0) return false;
    const Role role = RoleOf(*e.node);
    if (role == Role::kDivide) return FitsOperands(term.operands[0], term.operands[1], *e.node, false);
    return role == Role::kMultiply && (FitsOperands(term.operands[0], term.operands[2], *e.node, false) ||
                                       FitsOperands(term.operands[0], term.operands[2], *e.node, true));
  }

  bool FitsReduction(const Term& term, const NodeEntry& e) {
    const auto detached = [&](NodeEntry inner) {
      while (term.any_gradient && IsResultOf(inner, Role::kStopGradient)) inner = inner.node->inputs[0];
      return inner;
    };
    const NodeEntry kept = detached(e);
    const NodeEntry reduction = detached(IsResultOf(kept, Role::kReshape) ? kept.node->inputs[0] : kept);
    if (!IsResultOf(reduction, term.role)) return false;
    const NodeEntry& of = reduction.node->inputs[0];
    Shape expected = view_.shape(of);
    const auto view = ReductionOf(*reduction.node, expected.ndim());
    if (!view || view->initial) return false;
    const int axis = OneAxis(view->reduced, expected);
    if (axis < 0) return false;
    const Match::Bound* before = Find(term.axis.slot_.get());
    if (before && before->number != axis) return false;
    if (!before) bound_.push_back({term.axis.slot_.get(), NodeEntry(), static_cast<double>(axis)});
    expected[axis] = 1;
    return view_.shape(kept) == expected && view_.dtype(kept) == view_.dtype(of) &&
           (Fits(term.operands[0], of) || Fits(term.operands[0], detached(of)));
  }
  /* The axis that a reduction goes over, apart from others of size 1; -1: there are several. */
  static int OneAxis(const std::vector<char>& reduced, const Shape& shape) {
    int axis = -1, count = 0;
    for (int size_one = 0; size_one < 2 && count == 0; ++size_one)
      for (int d = 0; d < shape.ndim(); ++d)
        if (reduced[d] && (shape[d] == 1) == (size_one == 1)) axis = d, ++count;
    return count == 1 ? axis : -1;
  }

  const GraphView& view_;
  const NodeEntry root_;
  std::vector<Match::Bound>& bound_;
};

const Match::Bound* Match::Find(const void* what) const {
  const auto it = std::find_if(bound_.begin(), bound_.end(), [what](const Bound& b) { return b.what == what; });
  return it == bound_.end() ? nullptr : &*it;
}

NodeEntry Match::operator[](const Pattern& part) const {
  const Bound* bound = Find(part.term_.get());
  return bound ? bound->entry : NodeEntry();
}

bool Matches(const Pattern& pattern, const NodeEntry& e, const GraphView& view, Match* match) {
  return Matcher(view, e, match).Fits(pattern, e);
}

}  // namespace pattern
}  // namespace mxnet
