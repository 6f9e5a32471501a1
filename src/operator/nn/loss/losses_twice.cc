#include "operator/nn/loss/losses_twice.h"

#include "operator/control/make_foreach.h"
#include "operator/control/written_out.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace nn {
namespace {

using control::Entries;
using written::Add;
using written::Concat;
using written::Less;
using written::Number;
using written::Op2;
using written::Places;
using written::Reshape;
using written::Slice;
using written::Times;
using written::Transpose;
using written::Where;

NodeEntry Double(const NodeEntry& x) { return MakeOp("Cast", {x}, {{"dtype", "float64"}}); }
NodeEntry Op1(const char* op, const NodeEntry& x) { return MakeOp(op, {x}); }
NodeEntry Sum(const NodeEntry& x, const char* axis, bool keep = false) {
  return MakeOp("sum", {x}, {{"axis", axis}, {"keepdims", keep ? "1" : "0"}});
}
NodeEntry Like(const NodeEntry& x, const NodeEntry& shape) { return Op2("broadcast_like", x, shape); }

// ---- CTC: the forward variables as logarithms

constexpr double kNever = -1e100;  // the logarithm of 0, without infinities in derivatives

NodeEntry LogSum(const NodeEntry& a, const NodeEntry& b, const NodeEntry& c) {
  const NodeEntry top = Op1("BlockGrad", Op2("_maximum", Op2("_maximum", a, b), c));
  auto part = [&](const NodeEntry& x) { return Op1("exp", Less(x, top)); };
  return Add(top, Op1("log", Add(Add(part(a), part(b)), part(c))));
}

/* x of the states `by` before; never where there is none. */
NodeEntry Shifted(const NodeEntry& x, int by) {
  const NodeEntry first = Number("_plus_scalar", Number("_mul_scalar", Slice(x, 1, 0, 1), 0), kNever);
  Entries parts(by, first);
  parts.push_back(x);
  return Slice(Concat(parts, 1), 1, 0, -by);
}

/* What the labels say: the symbols of the states (batch, states), how many labels count (batch,
 * 1). */
struct CtcStates {
  NodeEntry symbols, count, skips;  // skips: 1 where a state follows the one two before it
};
CtcStates StatesOf(const CtcWrittenOut& how, const NodeEntry& data, const NodeEntry& label, const NodeEntry& lengths) {
  CtcStates s;
  NodeEntry live;
  const NodeEntry batch = Places(label, 0, "(-1, 1)"), none = Number("_mul_scalar", batch, 0);  // (batch, 1)
  if (lengths) {
    live = Op2("broadcast_lesser", Add(Places(label, 1, "(1, -1)"), none), Reshape(lengths, "(-1, 1)"));
  } else {
    const NodeEntry padding = Number("_equal_scalar", label, how.blank_first ? 0 : -1);
    live = Number("_equal_scalar", MakeOp("cumsum", {padding}, {{"axis", "1"}}), 0);
  }
  s.count = Sum(live, "1", true);
  NodeEntry blank = none;
  if (!how.blank_first) blank = Add(blank, MakeOp("max", {Places(data, 2, "(1, -1)")}, {{"axis", "1"}, {"keepdims", "1"}}));
  const NodeEntry blanks = Like(blank, label), named = Where(live, label, blanks);
  const NodeEntry pairs = MakeOp("stack", {blanks, named}, {{"num_args", "2"}, {"axis", "2"}});
  s.symbols = Concat({Reshape(pairs, "(0, -3)"), blank}, 1);
  const NodeEntry before = Slice(Concat({blank, blank, s.symbols}, 1), 1, 0, -2);
  s.skips = Times(Op2("broadcast_not_equal", s.symbols, before), Op2("broadcast_not_equal", s.symbols, blank));
  return s;
}

}  // namespace

NodeEntry WriteOutCtc(const CtcWrittenOut& how, const std::vector<NodeEntry>& inputs) {
  size_t next = 2;
  const NodeEntry data = Double(inputs[0]), label = Double(inputs[1]);
  const NodeEntry steps = how.data_lengths ? Double(inputs[next++]) : NodeEntry();
  const NodeEntry labels = how.label_lengths ? Double(inputs[next]) : NodeEntry();
  const CtcStates s = StatesOf(how, data, label, labels);
  const NodeEntry logarithms = MakeOp("log_softmax", {data}, {{"axis", "-1"}});
  const NodeEntry batch = Like(Places(label, 0, "(-1, 1)"), s.symbols);
  const NodeEntry at = MakeOp("stack", {batch, s.symbols}, {{"num_args", "2"}, {"axis", "0"}});
  Entries slices = {Transpose(Op2("gather_nd", Transpose(logarithms, "(1, 2, 0)"), at), "(2, 0, 1)")};  // (steps, batch, states)
  if (steps) slices.push_back(Reshape(Op2("broadcast_lesser", Places(data, 0, "(-1, 1)"), Reshape(steps, "(1, -1)")), "(0, 0, 1)"));
  const NodeEntry place = Like(Places(s.symbols, 1, "(1, -1)"), s.symbols),
                  never = Number("_plus_scalar", Number("_mul_scalar", place, 0), kNever);
  const NodeEntry begin = Where(Number("_equal_scalar", place, 0), Number("_mul_scalar", place, 0), never);
  const Entries ran =
      control::MakeForeach(slices, {begin}, {s.skips, never}, [](const Entries& now, const Entries& before, const Entries& same) {
        const NodeEntry& a = before[0];
        NodeEntry after = Add(LogSum(a, Shifted(a, 1), Where(same[0], Shifted(a, 2), same[1])), now[0]);
        if (now.size() > 1) after = Where(Like(now[1], a), after, a);
        return Entries{after};
      });
  const NodeEntry end = Number("_mul_scalar", s.count, 2);  // the last state
  const NodeEntry last = Add(Op2("broadcast_equal", place, end), Op2("broadcast_equal", place, Number("_minus_scalar", end, 1)));
  const NodeEntry ends = Where(last, ran[0], never);
  const NodeEntry top = Op1("BlockGrad", MakeOp("max", {ends}, {{"axis", "1"}, {"keepdims", "1"}}));
  const NodeEntry total = Add(Op1("log", Sum(Op1("exp", Less(ends, top)), "1", true)), top);
  const NodeEntry loss = Where(Number("_greater_scalar", total, kNever / 2), Op1("negative", total), Number("_mul_scalar", s.count, 0));
  return graph_ops::CastGradient(Reshape(loss, "(-1)"), inputs[0]);
}

NodeEntry WriteOutHawkes(const std::vector<NodeEntry>& inputs) {
  enum { kLda, kAlpha, kBeta, kState, kLags, kMarks, kValidLength, kMaxTime };
  std::vector<NodeEntry> in;
  for (const NodeEntry& e : inputs) in.push_back(Double(e));
  const NodeEntry alpha = Reshape(in[kAlpha], "(1, -1)"), beta = Reshape(in[kBeta], "(1, -1)");
  const NodeEntry within = Op2("broadcast_lesser", Places(in[kLags], 1, "(-1, 1)"), Reshape(in[kValidLength], "(1, -1)"));
  auto column = [](const NodeEntry& x) { return Reshape(Transpose(x, "(1, 0)"), "(0, 0, 1)"); };  // (events, batch, 1)
  const NodeEntry zero = Number("_mul_scalar", Slice(in[kState], 1, 0, 1), 0);                    // (batch, 1)
  // states: those of the marks, when each was last seen, the time, the likelihood
  const Entries states = {in[kState], Number("_mul_scalar", in[kState], 0), zero, zero};
  const Entries data = {column(in[kLags]), column(in[kMarks]), Reshape(within, "(0, 0, 1)")};
  auto decayed = [](const NodeEntry& state, const NodeEntry& b, const NodeEntry& lag) {
    return Times(state, Op1("exp", Op1("negative", Times(b, lag))));
  };
  // What no event adds up to: of `lag` from a mark's last event on.
  auto silence = [](const NodeEntry& lda, const NodeEntry& a, const NodeEntry& lag, const NodeEntry& state, const NodeEntry& left) {
    return Add(Times(lda, lag), Times(a, Less(state, left)));
  };
  const Entries ran =
      control::MakeForeach(data, states, {in[kLda], alpha, beta}, [&](const Entries& now, const Entries& before, const Entries& same) {
        const NodeEntry &lda = same[0], &a = same[1], &b = same[2], &state = before[0], &seen = before[1];
        const NodeEntry is = Times(Op2("broadcast_equal", Places(lda, 1, "(1, -1)"), now[1]), now[2]);  // (batch, marks)
        const NodeEntry time = Add(before[2], now[0]), lag = Times(is, Less(time, seen)), left = decayed(state, b, lag);
        const NodeEntry intensity = Add(lda, Times(Times(a, b), left));
        const NodeEntry logarithm = Op1("log", Where(is, intensity, Op1("ones_like", intensity)));
        const NodeEntry more = Times(is, Less(logarithm, silence(lda, a, lag, state, left)));
        return Entries{Add(left, is), Where(is, Like(time, seen), seen), time, Add(before[3], Sum(more, "1", true))};
      });
  const NodeEntry lag = Less(Reshape(in[kMaxTime], "(-1, 1)"), ran[1]), left = decayed(ran[0], beta, lag);
  const NodeEntry rest = Sum(silence(in[kLda], alpha, lag, ran[0], left), "1", true);
  return graph_ops::CastGradient(Reshape(Less(ran[3], rest), "(-1)"), inputs[kLda]);
}

}  // namespace nn
}  // namespace mxnet
