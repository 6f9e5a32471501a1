#include "operator/nn/attention/attention_twice.h"

#include <string>

#include "operator/control/written_out.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace nn {
namespace {

using written::Add;
using written::Less;
using written::Number;
using written::Op2;
using written::Places;
using written::Reshape;
using written::Slice;
using written::Times;
using written::Transpose;

constexpr double kNever = 1e30;  // what is taken from a score that does not count

NodeEntry Float(const NodeEntry& x) { return MakeOp("Cast", {x}, {{"dtype", "float32"}}); }
NodeEntry Product(const NodeEntry& a, const NodeEntry& b, bool turned = false) {
  return MakeOp("batch_dot", {a, b}, {{"transpose_b", turned ? "1" : "0"}});
}

/* Array `part` of `parts` that are interleaved by head, as (batch x heads, length, width). */
NodeEntry Heads(const AttentionParam& p, const NodeEntry& x, int parts, int part) {
  const std::string heads = std::to_string(p.heads);
  if (p.layout == AttentionLayout::kSeparate)
    return Reshape(Transpose(Reshape(x, ("(0, 0, " + heads + ", -1)").c_str()), "(0, 2, 1, 3)"), "(-3, 0, 0)");
  const NodeEntry all = Reshape(x, ("(0, 0, " + heads + ", " + std::to_string(parts) + ", -1)").c_str());
  return Reshape(Transpose(Reshape(Slice(all, 3, part, part + 1), "(0, 0, 0, -1)"), "(1, 2, 0, 3)"), "(-3, 0, 0)");
}

NodeEntry Joined(const AttentionParam& p, const NodeEntry& heads) {
  const NodeEntry apart = Reshape(heads, ("(-4, -1, " + std::to_string(p.heads) + ", 0, 0)").c_str());
  return Reshape(Transpose(apart, p.layout == AttentionLayout::kSeparate ? "(0, 2, 1, 3)" : "(2, 0, 1, 3)"), "(0, 0, -3)");
}

/* What is added to the scores, and what the weights are multiplied by; either may be null. */
struct Masks {
  NodeEntry added, counts;
  void Count(const NodeEntry& yes) {
    const NodeEntry more = Number("_mul_scalar", Number("_minus_scalar", yes, 1), kNever);
    added = added ? Add(added, more) : more;
    counts = counts ? Times(counts, yes) : yes;
  }
};

/* The mask's dtype is not known here: one half, cast to it, is 1 where it is boolean. */
void AddMask(const NodeEntry& mask, const NodeEntry& key, Masks* masks) {
  const NodeEntry half = Number("_plus_scalar", Number("_mul_scalar", Places(key, 1, "(1, 1, -1)"), 0), 0.5);
  const NodeEntry one = MakeOp("max", {Float(graph_ops::CastGradient(half, mask))}, {{"axis", "2"}, {"keepdims", "1"}});
  const NodeEntry values = Float(mask), boolean = Op2("broadcast_like", Number("_equal_scalar", one, 1), values);
  masks->added = written::Where(boolean, MakeOp("zeros_like", {values}), values);
  masks->Count(written::Where(boolean, values, MakeOp("ones_like", {values})));
}

/* 0 or the reciprocal of what is kept, as the same draws decide in the operator: it looks up the
 * rows of a unit matrix with weights that are all alike. */
NodeEntry Kept(const AttentionParam& p, const NodeEntry& query, const NodeEntry& key, const NodeEntry& draws) {
  const NodeEntry unit = Op2("broadcast_equal", Places(key, 1, "(1, -1, 1)"), Places(key, 1, "(1, 1, -1)"));
  const NodeEntry none = Number("_mul_scalar", Slice(Slice(key, 1, 0, 1), 2, 0, 1), 0);
  AttentionParam drop;
  drop.scale = 0, drop.dropout = p.dropout;
  const NodePtr looked_up = MakeAttention(drop, {query, key, Add(none, unit), draws}, "");
  const NodeEntry columns = MakeOp("sum", {unit}, {{"axis", "(1, 2)"}, {"keepdims", "1"}});
  return MakeOp("BlockGrad", {Times(NodeEntry{looked_up, 0, 0}, columns)});
}

}  // namespace

NodeEntry WriteOutAttention(const AttentionParam& p, const std::vector<NodeEntry>& inputs) {
  const bool self = p.layout == AttentionLayout::kSelf, separate = p.layout == AttentionLayout::kSeparate;
  auto in = [&](int i) { return Float(inputs[static_cast<size_t>(i)]); };
  const int others = self ? 3 : 2;  // parts of the array with the keys and values
  const NodeEntry query = Heads(p, in(0), self ? 3 : 1, 0), key = Heads(p, in(self ? 0 : 1), others, others - 2),
                  value = separate ? Heads(p, in(2), 1, 0) : Heads(p, in(self ? 0 : 1), others, others - 1);
  Masks masks;
  if (p.mask) AddMask(inputs[static_cast<size_t>(p.Arrays())], key, &masks);
  if (p.length) masks.Count(Op2("broadcast_lesser", Places(key, 1, "(1, 1, -1)"), Reshape(in(p.LengthAt()), "(0, 0, 1)")));
  NodeEntry scores = Number("_mul_scalar", Product(query, key, true), p.scale);
  if (masks.added) scores = Add(scores, masks.added);
  NodeEntry weights = MakeOp("softmax", {scores}, {{"axis", "-1"}});
  if (masks.counts) weights = Times(weights, masks.counts);
  if (p.dropout > 0) weights = Times(weights, Kept(p, query, key, inputs[static_cast<size_t>(p.DrawsAt())]));
  return graph_ops::CastGradient(Joined(p, Product(weights, value)), inputs[0]);
}

}  // namespace nn
}  // namespace mxnet
