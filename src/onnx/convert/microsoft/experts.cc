// Mixtures of experts, and weights in numbers of 4 bits that a table gives.
#include <algorithm>
#include <functional>
#include <limits>

#include "onnx/builder.h"
#include "onnx/convert/quantized/quantized.h"

namespace mxnet {
namespace onnx {

namespace {

struct Gate {
  double alpha = 1, beta = 0, limit = std::numeric_limits<double>::infinity();
  int64_t fusion = 0;  // of swiglu: whether both halves are one product, 1: by turns, 2: one behind the other
  int kind = 0;        // relu, gelu, silu, identity, swiglu
};

Gate ReadGate(const Call& c) {
  Gate g;
  g.kind = OneOf(c, "activation_type", c.Attr("activation_type", "relu"), {"relu", "gelu", "silu", "identity", "swiglu"});
  g.alpha = c.Attr("activation_alpha", 1.0f), g.beta = c.Attr("activation_beta", 0.0f);
  g.limit = c.Attr("swiglu_limit", std::numeric_limits<float>::infinity());
  g.fusion = c.Attr("swiglu_fusion", int64_t{0});
  if (g.fusion < 0 || g.fusion > 2) c.Refuse("attribute swiglu_fusion is " + Text(g.fusion) + "; accepted are 0 to 2");
  for (const char* name : {"use_sparse_mixer", "swiglu_limit_after_activation"})
    if (c.Attr(name, int64_t{0}) != 0) c.Refuse("attribute " + std::string(name) + " is not 0; accepted is 0");
  return g;
}

/* The k best experts of each token, and their shares: (tokens * k,) and (tokens, k, 1). */
struct Routes {
  Value experts, shares;
  int64_t count = 0, k = 0;  // experts there are, and of each token
};

int64_t ExpertsOfToken(const Call& c, int64_t experts) {
  const int64_t k = c.Attr("k", int64_t{1});
  if (k < 1 || k > experts) c.Refuse("attribute k is " + Text(k) + " for " + Text(experts) + " experts");
  return k;
}

/* `weights`: shares of all experts; none: they follow from the router's scores. `of_chosen`: by a
 * softmax of these alone. */
Routes Route(const Call& c, const Value& router, const Value& weights, bool of_chosen) {
  Routes routes;
  const int64_t tokens = router.shape()[0];
  routes.count = router.shape()[1];
  const int64_t k = routes.k = ExpertsOfToken(c, routes.count);
  const bool normalize = c.Attr("normalize_routing_weights", int64_t{0}) != 0;
  const std::vector<Value> best = c.Ops("topk", {router}, {{"axis", "-1"}, {"k", Text(k)}, {"ret_typ", "both"}, {"dtype", "int32"}});
  const auto soft = [&](const Value& x) { return c.Op("softmax", {x}, {{"axis", "-1"}}); };
  Value shares;
  if (weights.kind == Value::kNone && (of_chosen || normalize)) {
    shares = soft(best[0]);
  } else {
    const Value all = weights.kind == Value::kNone ? soft(router) : weights;
    shares = c.Op("_index_axes", {all, c.Reshape(CountUp(c, tokens), Shape{tokens, 1}), c.Cast(best[1], kInt64)},
                  {{"num_args", "3"}, {"axis", "0"}});
    if (normalize) shares = Div(c, shares, Sum(c, shares, {1}, true));
  }
  routes.experts = c.Reshape(best[1], Shape{tokens * k});
  routes.shares = c.Reshape(shares, Shape{tokens, k, 1});
  return routes;
}

/* The first product (and the third one, which may be none) with its activation. */
Value Activate(const Call& c, const Gate& g, const Value& first, const Value& third) {
  const bool fused = g.kind == 4 && third.kind == Value::kNone;
  Value gate = first, line = third;
  if (fused) {
    const int64_t rows = first.shape()[0], size = first.shape()[1] / 2;
    if (g.fusion == 0 || first.shape()[1] % 2) c.Refuse("swiglu needs swiglu_fusion 1 or 2, or weights fc3");
    const Value pairs = c.Reshape(first, g.fusion == 1 ? Shape{rows, size, 2} : Shape{rows, 2, size});
    const int axis = g.fusion == 1 ? 2 : 1;
    gate = c.Reshape(SliceAxis(c, pairs, axis, 0, 1), Shape{rows, size});
    line = c.Reshape(SliceAxis(c, pairs, axis, 1, 2), Shape{rows, size});
  }
  Value y;
  switch (g.kind) {
    case 0: y = c.Op("relu", {gate}); break;
    case 1: y = c.Op("LeakyReLU", {gate}, {{"act_type", "gelu"}}); break;
    case 2: y = Silu(c, gate); break;
    case 3: y = gate; break;
    default: {
      const bool bounded = g.limit < std::numeric_limits<double>::infinity();
      if (bounded) gate = BinaryNumber(c, "minimum", gate, g.limit), line = Clip(c, line, -g.limit, g.limit);
      y = Mul(c, gate, Sigmoid(c, g.alpha == 1 ? gate : MulNumber(c, gate, g.alpha)));
      if (g.beta != 0) line = AddNumber(c, line, g.beta);
    }
  }
  return line.kind == Value::kNone ? y : Mul(c, y, line);
}

/* Data as (tokens, numbers), as many tokens as there are shares for. */
Value Tokens(const Call& c, const Value& shares) {
  const Value& x = c.in(0);
  const int64_t size = x.shape()[x.ndim() - 1], tokens = x.shape().Prod(0, x.ndim() - 1);
  if (size < 1 || tokens < 1 || shares.shape()[0] != tokens)
    c.Refuse("data has shape " + Text(x.shape()) + ", router_probs " + Text(c.in(1).shape()));
  return c.Reshape(x, Shape{tokens, size});
}

/* What the chosen experts give, by their shares. `layer`: product 1, 2 or 3 of the experts with
 * rows of data, as many of them for each row as are left; none where there is no third one. */
void Mix(Call& c, const Routes& routes, const std::function<Value(int, const Value&)>& layer) {
  const Value& x = c.in(0);
  CheckRank(c, 0, 2, 3);
  const Gate gate = ReadGate(c);
  const Value data = Tokens(c, routes.shares);
  const Value made = layer(2, Activate(c, gate, layer(1, data), layer(3, data)));
  c.Out(
      c.Reshape(Sum(c, Mul(c, c.Reshape(made, Shape{data.shape()[0], routes.k, data.shape()[1]}), routes.shares), {1}, false), x.shape()));
}

/* Shares of all experts in each token, (tokens, experts): 0 for those that are not among the k
 * best. */
Value SharesOfAll(const Call& c, const Value& router) {
  const int64_t k = ExpertsOfToken(c, router.shape()[1]);
  const bool normalize = c.Attr("normalize_routing_weights", int64_t{0}) != 0;
  const Value chosen = c.Op("topk", {router}, {{"axis", "-1"}, {"k", Text(k)}, {"ret_typ", "mask"}, {"dtype", DTypeName(router.dtype())}});
  const auto soft = [&](const Value& x) { return c.Op("softmax", {x}, {{"axis", "-1"}}); };
  const Value other = c.Scalar(-std::numeric_limits<double>::infinity(), router.dtype());
  if (normalize) return soft(Where(c, BinaryNumber(c, "not_equal", chosen, 0), router, other));
  return Mul(c, chosen, soft(router));
}

/* What all experts give, by their shares. `layer`: product 1, 2 or 3 of an expert with data; none
 * where there is no third one. All compute all tokens: _expert_dense has no kernel for GPUs. */
void MixAll(Call& c, const std::function<Value(int, int64_t, const Value&)>& layer) {
  const Value& x = c.in(0);
  CheckRank(c, 0, 2, 3);
  const Gate gate = ReadGate(c);
  const Value shares = SharesOfAll(c, c.in(1));
  const int64_t experts = shares.shape()[1];
  const Value data = Tokens(c, shares);
  Value sum;
  for (int64_t e = 0; e < experts; ++e) {
    const Value made = layer(2, e, Activate(c, gate, layer(1, e, data), layer(3, e, data)));
    const Value part = Mul(c, made, SliceAxis(c, shares, 1, e, e + 1));
    sum = e == 0 ? part : Add(c, sum, part);
  }
  c.Out(c.Reshape(sum, x.shape()));
}

/* Of one expert, without the first dimension. */
Value OfExpert(const Call& c, const Value& all, int64_t e) {
  return c.Reshape(SliceAxis(c, all, 0, e, e + 1), Shape(all.shape().dims() + 1, all.ndim() - 1));
}

/* Rows of data by the experts that are chosen for each; weights are floats. */
Value ExpertDense(const Call& c, const Value& x, const Routes& routes, const Value& weight, const Value& bias) {
  return c.Op("_expert_dense", {x, routes.experts, weight, bias}, {{"no_bias", Text(bias.kind == Value::kNone)}});
}

}  // namespace

void ConvertMoE(Call& c) {  // data, router, then weights and bias of three products
  CheckRank(c, 1, 2, 2);
  if (c.builder()->ctx().is_gpu()) {
    return MixAll(c, [&](int product, int64_t e, const Value& x) {
      const int at = 2 * product;
      if (!c.has(at)) return Value();
      return Dense(c, x, OfExpert(c, c.in(at), e), c.has(at + 1) ? OfExpert(c, c.in(at + 1), e) : Value());
    });
  }
  const Routes routes = Route(c, c.in(1), Value(), false);
  Mix(c, routes, [&](int product, const Value& x) {
    const int at = 2 * product;
    if (!c.has(at)) return Value();
    const Value &weight = c.in(at), bias = OptionalInput(c, at + 1);
    if (weight.ndim() != 3 || weight.shape()[0] != routes.count)
      c.Refuse("input " + Text(at) + " has shape " + Text(weight.shape()) + " for " + Text(routes.count) + " experts");
    return ExpertDense(c, x, routes, weight, bias);
  });
}

namespace {

/* Packed weights of one product of all experts: (experts, n, k) numbers. */
struct PackedExperts {
  int at, zeros;  // inputs
  int64_t experts, n, k, bits, block;
  int64_t rows;  // whose zero points are packed together

  int64_t blocks() const { return k / block; }
  bool has_zeros(const Call& c) const { return c.has(zeros); }
  Value Zeros(const Call& c) const { return UnpackedNumbers(c, c.in(zeros), bits, rows, experts * n * blocks() / rows); }
};

/* For training: the weights in floats, as parameters; none: the file does not have them whole. */
Value LearnedExperts(const Call& c, const PackedExperts& p) {
  const Value& packed = c.in(p.at);
  if (!c.ForTraining() || !c.IsWeight(p.at) || !c.builder()->Learns(packed) || !c.in(p.at + 1).known() ||
      (p.has_zeros(c) && !c.in(p.zeros).known()))
    return Value();
  const Value zero = p.has_zeros(c) ? p.Zeros(c) : Value();
  const std::vector<float> floats = FloatsOfBlocks(packed.array, p.bits, p.block, Shape{p.experts * p.n, p.k}, c.in(p.at + 1), zero);
  const Value made = c.Tensor(Shape{p.experts, p.n, p.k}, kFloat32, floats.data());
  return LearnedInstead(c, c.Cast(made, c.in(0).dtype()), {packed});
}

}  // namespace

/* data, router, then weights, scales and bias of three products, zero points of them, shares */
void ConvertQMoE(Call& c) {
  CheckRank(c, 1, 2, 2);
  const int64_t bits = c.Attr("expert_weight_bits", int64_t{4}), given = c.Attr("block_size", int64_t{0});
  const bool in_integers = c.Attr("accuracy_level", int64_t{0}) == 4;
  OneOf(c, "quant_type", c.Attr("quant_type", "int"), {"int"});
  if (c.Attr("weights_prepacked", int64_t{0}) > 0) c.Refuse("attribute weights_prepacked is not 0; accepted is 0");
  for (const char* name : {"fc1_expert_weight_bits", "fc2_expert_weight_bits", "fc3_expert_weight_bits"})
    if (c.Attr(name, bits) != bits)
      c.Refuse("attribute " + std::string(name) + " is not " + Text(bits) + "; accepted is expert_weight_bits");
  if (bits != 2 && bits != 4 && bits != 8) c.Refuse("attribute expert_weight_bits is " + Text(bits) + "; accepted are 2, 4 and 8");
  const Routes routes = Route(c, c.in(1), OptionalInput(c, 14), true);
  const int64_t experts = routes.count;
  Mix(c, routes, [&](int product, const Value& x) {
    const int at = 3 * product - 1, zeros = 10 + product;
    if (!c.has(at)) return Value();
    const Value &packed = c.in(at), scale = c.Cast(c.in(at + 1), kFloat32);
    const int64_t n = packed.ndim() > 1 ? packed.shape()[1] : 0, k = x.shape()[1], block = given > 0 ? given : k, blocks = k / block;
    const bool fits = packed.shape()[0] == experts && n >= 1 && blocks * block == k && packed.size() * 8 == experts * n * k * bits;
    if (!fits || scale.size() != experts * n * blocks)
      c.Refuse("weights have shape " + Text(packed.shape()) + ", scales " + Text(scale.shape()) + " for " + Text(k) + " numbers");
    // with one scale for each row, an expert's zero points are packed together
    const PackedExperts form{at, zeros, experts, n, k, bits, block, given > 0 ? experts * n : experts};
    const Value learned = LearnedExperts(c, form);
    if (learned.kind != Value::kNone) return ExpertDense(c, x, routes, learned, OptionalInput(c, at + 2));
    const Shape each{experts, n, blocks};
    std::vector<Value> operands = {c.Cast(x, kFloat32), routes.experts, c.Reshape(packed, Shape{experts, n, blocks, block * bits / 8}),
                                   c.Reshape(scale, each)};
    if (c.has(zeros)) operands.push_back(Mul(c, operands[3], c.Cast(c.Reshape(form.Zeros(c), each), kFloat32)));
    if (c.has(at + 2)) operands.push_back(c.Cast(c.in(at + 2), kFloat32));
    return c.Cast(c.Op("_expert_block_dense", operands,
                       {{"bits", Text(bits)},
                        {"no_bias", Text(!c.has(at + 2))},
                        {"with_shift", Text(c.has(zeros))},
                        {"in_integers", Text(in_integers)}}),
                  x.dtype());
  });
}

namespace {

/* Best of each last dimension, as 1 and 0 elsewhere. */
Value BestOf(const Call& c, const Value& x, int64_t k) {
  const Value mask = c.Op("topk", {x}, {{"axis", "-1"}, {"k", Text(k)}, {"ret_typ", "mask"}, {"dtype", DTypeName(x.dtype())}});
  return BinaryNumber(c, "not_equal", mask, 0);
}

/* Of scores (tokens, experts): whether an expert is one of the k best of the groups whose best
 * experts have the largest sums. */
Value BestInGroups(const Call& c, const Value& scores, int64_t k) {
  const int64_t tokens = scores.shape()[0], experts = scores.shape()[1];
  const int64_t groups = c.Attr("n_group", int64_t{1}), active = c.Attr("topk_group", int64_t{1}),
                summed = c.Attr("group_topk", int64_t{2});
  if (groups < 1 || experts % groups || active < 1 || active > groups || summed < 1)
    c.Refuse("attributes n_group, topk_group and group_topk are " + Text(groups) + ", " + Text(active) + " and " + Text(summed) + " for " +
             Text(experts) + " experts");
  if (active == groups) return BestOf(c, scores, k);
  const int64_t size = experts / groups;
  const Value grouped = c.Reshape(scores, Shape{tokens, groups, size});
  const Value best = c.Op("topk", {grouped}, {{"axis", "-1"}, {"k", Text(std::min(summed, size))}, {"ret_typ", "value"}});
  const Value shown = c.Reshape(BestOf(c, Sum(c, best, {2}, false), active), Shape{tokens, groups, 1});
  const Value none = c.Scalar(-std::numeric_limits<double>::infinity(), scores.dtype());
  const Value left = c.Reshape(Where(c, shown, grouped, none), Shape{tokens, experts});
  // those of other groups are among the k best where the groups have fewer
  return Binary(c, "logical_and", BestOf(c, left, k), Binary(c, "greater", left, none));
}

}  // namespace

/* Scores (..., experts), or data and the weight that makes scores of it, and a bias that has its
 * say in the choice of experts alone. */
void ConvertMoEGroupRouter(Call& c) {
  const bool projects = c.has(2), all = c.wants(1) || c.wants(2);
  const Value& x = c.in(0);
  CheckRank(c, 0, projects ? 2 : 1, projects ? 2 : 32);
  if (all == c.wants(0) || (projects && !all)) c.Refuse("accepted are output 0, or outputs 1 and 2, which may have projection_weight");
  if (projects && (c.in(2).ndim() != 2 || c.in(2).shape()[1] != x.shape()[1]))
    c.Refuse("data has shape " + Text(x.shape()) + ", projection_weight " + Text(c.in(2).shape()));
  const Value floats = c.Cast(x, kFloat32);
  const Value scores = projects ? Dense(c, floats, c.Cast(c.in(2), kFloat32)) : floats;
  const int64_t experts = scores.shape()[scores.ndim() - 1], tokens = scores.shape().Prod(0, scores.ndim() - 1);
  const int64_t k = c.Attr("top_k", int64_t{0});
  if (k < 1 || k > experts) c.Refuse("attribute top_k is " + Text(k) + " for " + Text(experts) + " experts");
  if (c.in(1).shape() != Shape{experts}) c.Refuse("expert_bias has shape " + Text(c.in(1).shape()) + " for " + Text(experts) + " experts");
  const Value shares = Sigmoid(c, c.Reshape(scores, Shape{tokens, experts}));
  const Value biased = Add(c, shares, c.in(1));
  if (c.wants(1)) c.Out(1, biased);
  if (c.wants(2)) c.Out(2, shares);
  if (all) {  // whoever reads them chooses
    if (c.Attr("n_group", int64_t{1}) != 1 || c.Attr("topk_group", int64_t{1}) != 1)
      c.Refuse("attributes n_group and topk_group are not 1; accepted are 1 with outputs 1 and 2");
    for (const char* name : {"group_topk", "router_sentinel"}) c.Ignore(name);
    return;
  }
  const Value chosen = BestInGroups(c, biased, k);
  const Value other = c.Scalar(c.Attr("router_sentinel", -10000.0f), kFloat32);
  const Value least = BinaryNumber(c, "maximum", shares, 1e-20);  // so that its logarithm is a number
  c.Out(0, c.Cast(Where(c, chosen, Unary(c, "log", least), other), x.dtype()));
}

/* gate and up, or both in one, the one behind the other. */
void ConvertSwiGLU(Call& c) {
  const Value& x = c.in(0);
  CheckRank(c, 0, 1, 32);
  const int64_t size = x.shape()[x.ndim() - 1];
  if (c.has(1) ? c.in(1).shape() != x.shape() : size % 2 != 0)
    c.Refuse("gate has shape " + Text(x.shape()) +
             (c.has(1) ? ", up " + Text(c.in(1).shape()) : "; accepted without up: an even last size"));
  const auto half = [&](int64_t i) { return c.Cast(SliceAxis(c, x, x.ndim() - 1, i * size / 2, (i + 1) * size / 2), kFloat32); };
  Value gate = c.has(1) ? c.Cast(x, kFloat32) : half(0), up = c.has(1) ? c.Cast(c.in(1), kFloat32) : half(1);
  const double limit = c.Attr("limit", 0.0f), alpha = c.Attr("activation_alpha", 1.0f), beta = c.Attr("activation_beta", 0.0f);
  if (limit > 0) gate = BinaryNumber(c, "minimum", gate, limit), up = Clip(c, up, -limit, limit);
  Value y = Mul(c, gate, Sigmoid(c, alpha == 1 ? gate : MulNumber(c, gate, alpha)));
  if (c.Attr("round_activation", int64_t{0}) != 0) y = c.Cast(c.Cast(y, x.dtype()), kFloat32);
  c.Out(c.Cast(Mul(c, y, beta == 0 ? up : AddNumber(c, up, beta)), x.dtype()));
}

namespace {

// What the 16 numbers of bitsandbytes' types stand for.
constexpr double kFp4[] = {0,    0.0052083333,  0.66666667,  1,  0.33333333,  0.5,  0.16666667,  0.25,
                           -0.0, -0.0052083333, -0.66666667, -1, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr double kNf4[] = {-1.0,
                           -0.6961928009986877,
                           -0.5250730514526367,
                           -0.39491748809814453,
                           -0.28444138169288635,
                           -0.18477343022823334,
                           -0.09105003625154495,
                           0.0,
                           0.07958029955625534,
                           0.16093020141124725,
                           0.24611230194568634,
                           0.33791524171829224,
                           0.44070982933044434,
                           0.5626170039176941,
                           0.7229568362236023,
                           1.0};

}  // namespace

void ConvertMatMulBnb4(Call& c) {  // A, B (two numbers in a byte, the high one first), the largest value of each block
  const Value& a = c.in(0);
  const int64_t k = c.Attr("K", int64_t{0}), n = c.Attr("N", int64_t{0}), block = c.Attr("block_size", int64_t{0});
  const int64_t type = c.Attr("quant_type", int64_t{0});
  const bool across = c.Attr("transB", int64_t{1}) != 0;
  c.Ignore("training_mode");
  CheckSmall(c, "K, N, block_size", {k, n, block}, 1);
  if (type != 0 && type != 1) c.Refuse("attribute quant_type is " + Text(type) + "; accepted are 0 and 1");
  const int64_t count = n * k, blocks = (count + block - 1) / block;
  if (c.in(1).size() != (count + 1) / 2 || c.in(2).size() != blocks || a.ndim() < 1 || a.shape()[a.ndim() - 1] != (across ? k : n))
    c.Refuse("data has shape " + Text(a.shape()) + ", the weight " + Text(c.in(1).shape()) + ", the largest values " +
             Text(c.in(2).shape()));
  std::vector<double> table(type == 1 ? kNf4 : kFp4, (type == 1 ? kNf4 : kFp4) + 16), pairs;
  for (double high : table)
    for (double low : table) pairs.push_back(high), pairs.push_back(low);
  const Value numbers = Take(c, FloatsLike(c, pairs, {256, 2}, kFloat32), c.Reshape(c.in(1), Shape{c.in(1).size()}), 0);
  Value flat = c.Reshape(numbers, Shape{2 * c.in(1).size()});
  flat = blocks * block >= flat.size() ? Pad(c, flat, {0}, {blocks * block - flat.size()}, 0) : SliceAxis(c, flat, 0, 0, blocks * block);
  const Value scaled = Mul(c, c.Reshape(flat, Shape{blocks, block}), c.Cast(c.Reshape(c.in(2), Shape{blocks, 1}), kFloat32));
  const Value rows = c.Reshape(SliceAxis(c, c.Reshape(scaled, Shape{blocks * block}), 0, 0, count), Shape{n, k});
  const Value weight = c.Cast(across ? rows : c.Transpose(rows, {1, 0}), a.dtype());
  c.Out(Dense(c, a, weight));
}

}  // namespace onnx
}  // namespace mxnet
