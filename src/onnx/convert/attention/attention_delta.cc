// Gated delta networks and their convolution over requests of several lengths, whose tokens lie
// behind each other: com.microsoft's GatedDeltaNet and VarlenCausalConvWithState.
#include <algorithm>
#include <cmath>

#include "onnx/convert/attention/attention.h"
#include "onnx/convert/attention/attention_linear.h"
#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

namespace {

constexpr int64_t kMostKept = 8;  // steps of each request that a state can be replayed from

int64_t ReadKept(const Call& c, int counts) {
  const int64_t kept = c.Attr("state_update_capacity", int64_t{0});
  if (kept < 0 || kept > kMostKept) c.Refuse("attribute state_update_capacity is " + Text(kept) + "; accepted are 0 to " + Text(kMostKept));
  if ((kept > 0) != c.has(counts))
    c.Refuse("attribute state_update_capacity is " + Text(kept) + ", and capture_count is " + (c.has(counts) ? "given" : "not given") +
             "; accepted: both, or neither");
  return kept;
}

/* Where each request begins and the last one ends, in a known input. */
std::vector<int64_t> BoundsOf(const Call& c, int input, const char* name, int64_t tokens) {
  const std::vector<int64_t> bounds = c.Ints(input);
  if (bounds.size() < 2 || bounds.front() != 0 || bounds.back() != tokens || !std::is_sorted(bounds.begin(), bounds.end()))
    c.Refuse(std::string(name) + " is " + Text(bounds) + "; accepted: numbers that do not fall, from 0 to the " + Text(tokens) + " tokens");
  return bounds;
}

/* Rows of x that a mask does not name are 0. */
Value Only(const Call& c, const Value& mask, const Value& x) { return Where(c, mask, x, c.Scalar(0, x.dtype())); }

/* Numbers of the axes from `axis` on, for each of `rows`. */
Value Flat(const Call& c, const Value& x, int64_t rows) { return c.Reshape(x, Shape{rows, rows > 0 ? x.size() / rows : 0}); }

/* One node GatedDeltaNet. Its arrays have all tokens as rows. */
class DeltaNet {
 public:
  explicit DeltaNet(Call& call) : c(call) {
    const int rule = OneOf(c, "update_rule", c.Attr("update_rule", "gated_delta"), {"linear", "gated", "delta", "gated_delta"});
    decays_ = rule % 2 == 1, corrects_ = rule >= 2;
    if (c.has(4) != decays_ || c.has(5) != corrects_) c.Refuse("decay or beta do not suit attribute update_rule");
    if (c.has(6)) CheckRank(c, 6, 4, 4);
    if (c.has(1) != c.has(2)) c.Refuse("key and value are not both given; accepted: both, or queries, keys and values in query");
    if (c.has(1))
      ReadApart();
    else
      ReadPacked();
    if (query_heads_ < 1 || keys_ < 1 || values_ < 1 || heads_ < query_heads_ || heads_ % query_heads_)
      c.Refuse("there are " + Text(query_heads_) + " heads of queries and keys of size " + Text(keys_) + ", and " + Text(heads_) +
               " of values of size " + Text(values_) + "; accepted: as many heads of values, or a multiple");
    ReadRequests();
    const Shape state{requests(), heads_, values_, keys_};
    if (c.has(6) && c.in(6).shape() != state) c.Refuse("initial_state has shape " + Text(c.in(6).shape()) + "; expected is " + Text(state));
    state_ =
        c.has(6) ? c.Transpose(c.Cast(c.in(6), kFloat32), {0, 1, 3, 2}) : c.Filled(Shape{requests(), heads_, keys_, values_}, kFloat32, 0);
    if (c.Attr("qk_l2_norm", int64_t{0}) != 0) query_ = Unit(query_), key_ = Unit(key_);
    if (decays_) decay_ = Decay();
    if (corrects_) beta_ = Beta();
    kept_ = ReadKept(c, 9);
    if (kept_ > 0 && c.in(9).size() != requests())
      c.Refuse("capture_count has shape " + Text(c.in(9).shape()) + " for " + Text(requests()) + " requests");
    for (const char* name : {"chunk_size", "gate_activation", "gate_lower_bound", "beta_activation"}) c.Ignore(name);
    const double scale = c.Attr("scale", 0.0f);
    scale_ = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(keys_));
  }

  void Give() {
    const bool even = std::all_of(lengths_.begin(), lengths_.end(), [&](int64_t n) { return n == lengths_[0]; });
    if (!even && tokens_ > LinearSteps::kMostSteps)
      c.Refuse("requests of different lengths have " + Text(tokens_) + " tokens; accepted are up to " + Text(LinearSteps::kMostSteps));
    int64_t begin = 0;
    for (int64_t r = 0; r < requests(); r += even ? requests() : 1) {
      const int64_t together = even ? requests() : 1, length = lengths_[static_cast<size_t>(r)];
      Run(r, together, begin, length);
      begin += together * length;
    }
    Shape shape(c.in(0).ndim() + (c.has(1) ? 0 : 1), 1);
    for (int i = 0; i + 2 < shape.ndim(); ++i) shape[i] = c.in(0).shape()[i];
    shape[shape.ndim() - 2] = heads_, shape[shape.ndim() - 1] = values_;
    c.Out(0, c.Cast(c.Reshape(Join(c, results_, 0), shape), c.in(0).dtype()));
    if (c.wants(1)) c.Out(1, c.Transpose(Join(c, states_, 0), {0, 1, 3, 2}));
    if (kept_ > 0) c.Out(2, Kept());
  }

 private:
  int64_t requests() const { return static_cast<int64_t>(lengths_.size()); }
  Value Rows(const Value& x, int64_t heads, int64_t size) const { return c.Cast(c.Reshape(x, Shape{tokens_, heads, size}), kFloat32); }

  void ReadApart() {
    CheckRank(c, 0, 3, 4);
    const Shape q = c.in(0).shape(), k = c.in(1).shape(), v = c.in(2).shape();
    const int at = q.ndim() - 2;
    bool fits = k == q && v.ndim() == q.ndim();
    for (int i = 0; fits && i < at; ++i) fits = v[i] == q[i];
    if (!fits) c.Refuse("query, key and value have shapes " + Text(q) + ", " + Text(k) + " and " + Text(v));
    tokens_ = q.Prod(0, at), query_heads_ = q[at], keys_ = q[at + 1], heads_ = v[at], values_ = v[at + 1];
    query_ = Rows(c.in(0), query_heads_, keys_), key_ = Rows(c.in(1), query_heads_, keys_), value_ = Rows(c.in(2), heads_, values_);
  }

  /* Queries, keys and values side by side: the state says how many they are. */
  void ReadPacked() {
    CheckRank(c, 0, 2, 3);
    if (!c.has(6)) c.Refuse("initial_state is not given; accepted without it: query, key and value apart");
    const Shape x = c.in(0).shape(), state = c.in(6).shape();
    const int64_t width = x[x.ndim() - 1];
    heads_ = state[1], values_ = state[2], keys_ = state[3], tokens_ = x.Prod(0, x.ndim() - 1);
    const int64_t both = width - heads_ * values_;
    if (keys_ < 1 || both < 1 || both % (2 * keys_))
      c.Refuse("query has shape " + Text(x) + ", initial_state " + Text(state) + "; accepted: queries, keys and values side by side");
    query_heads_ = both / (2 * keys_);
    const auto part = [&](int64_t from, int64_t to) { return SliceAxis(c, c.in(0), x.ndim() - 1, from, to); };
    query_ = Rows(part(0, both / 2), query_heads_, keys_), key_ = Rows(part(both / 2, both), query_heads_, keys_);
    value_ = Rows(part(both, width), heads_, values_);
  }

  void ReadRequests() {
    const bool apart = c.in(0).ndim() == (c.has(1) ? 4 : 3);  // requests have an axis of their own
    if (!c.has(3)) {
      if (!apart && !c.has(6)) c.Refuse("neither cu_seqlens nor initial_state says how many requests there are");
      const int64_t count = apart ? c.in(0).shape()[0] : c.in(6).shape()[0];
      if (count < 1 || tokens_ % count) c.Refuse(Text(tokens_) + " tokens of " + Text(count) + " requests; accepted: as many of each");
      lengths_.assign(static_cast<size_t>(count), tokens_ / count);
      return;
    }
    if (apart) c.Refuse("query has shape " + Text(c.in(0).shape()) + "; accepted with cu_seqlens: all tokens along one axis");
    const std::vector<int64_t> bounds = BoundsOf(c, 3, "cu_seqlens", tokens_);
    for (size_t i = 0; i + 1 < bounds.size(); ++i) lengths_.push_back(bounds[i + 1] - bounds[i]);
  }

  Value Unit(const Value& x) const { return Mul(c, x, c.Op("rsqrt", {AddNumber(c, Sum(c, Mul(c, x, x), {2}, true), 1e-12)})); }

  /* A number for each head of values, or for each element of its keys: (tokens, heads, ...). */
  Value OfHeads(int input) const {
    const Value& x = c.in(input);
    const int64_t each = tokens_ * heads_ > 0 ? x.size() / (tokens_ * heads_) : 1;
    if (x.size() != tokens_ * heads_ * each || (each != 1 && each != keys_))
      c.Refuse("input " + Text(input) + " has shape " + Text(x.shape()) + " for " + Text(tokens_) + " tokens of " + Text(heads_) +
               " heads");
    return Rows(x, heads_, each);
  }

  Value Decay() const {
    const int gate = OneOf(c, "gate_activation", c.Attr("gate_activation", "none"), {"none", "softplus", "qwen", "sigmoid", "kda"});
    const double bound = c.Attr("gate_lower_bound", -5.0f);
    const Value x = OfHeads(4);
    if (gate == 0) return x;
    if (!c.has(7) || !c.has(8)) c.Refuse("a_log or dt_bias is not given; accepted with gate_activation: both");
    const int64_t each = c.in(8).size() / heads_;
    if (c.in(7).size() != heads_ || c.in(8).size() != heads_ * each || (each != 1 && each != x.shape()[2]))
      c.Refuse("a_log has shape " + Text(c.in(7).shape()) + ", dt_bias " + Text(c.in(8).shape()) + " for " + Text(heads_) + " heads");
    const Value rate = Unary(c, "exp", c.Reshape(c.in(7), Shape{heads_, 1}));
    const Value biased = Add(c, x, c.Reshape(c.in(8), Shape{heads_, each}));
    if (gate >= 3) return MulNumber(c, Sigmoid(c, Mul(c, biased, rate)), bound);
    return MulNumber(c, Mul(c, c.Op("Activation", {biased}, {{"act_type", "softrelu"}}), rate), -1);
  }

  Value Beta() const {
    const bool soft = OneOf(c, "beta_activation", c.Attr("beta_activation", "none"), {"none", "sigmoid"}) == 1;
    const Value x = OfHeads(5);
    if (x.shape()[2] != 1) c.Refuse("beta has shape " + Text(c.in(5).shape()) + "; expected is one number for each head");
    return soft ? Sigmoid(c, x) : x;
  }

  /* (count, heads, length, ...) of the tokens from `begin` on. */
  Value Stretch(const Value& x, int64_t begin, int64_t count, int64_t length) const {
    if (x.kind == Value::kNone) return x;
    const Value rows = SliceAxis(c, x, 0, begin, begin + count * length);
    const Value shared = x.shape()[1] == heads_ ? rows : c.Op("repeat", {rows}, {{"repeats", Text(heads_ / x.shape()[1])}, {"axis", "1"}});
    return c.Transpose(c.Reshape(shared, Shape{count, length, heads_, x.shape()[2]}), {0, 2, 1, 3});
  }

  /* `count` requests of one length, from number `first` on. */
  void Run(int64_t first, int64_t count, int64_t begin, int64_t length) {
    const Value state = SliceAxis(c, state_, 0, first, first + count);
    if (length == 0) return RunNothing(state, count);
    const auto part = [&](const Value& x) { return Stretch(x, begin, count, length); };
    LinearSteps s{c,          count,        heads_,       heads_,      length, keys_, values_, scale_, part(query_),
                  part(key_), part(value_), part(decay_), part(beta_), state,  {}};
    std::vector<Value> added;
    const Value y = s.All([&](int64_t t) {
      if (t < kept_) added.push_back(c.Reshape(s.added, Shape{count, 1, heads_ * values_}));
    });
    results_.push_back(c.Reshape(y, Shape{count * length, heads_ * values_}));
    states_.push_back(s.state);
    if (kept_ > 0) Keep(first, count, begin, length, Join(c, added, 1));
  }

  void RunNothing(const Value& state, int64_t count) {
    results_.push_back(c.Filled(Shape{0, heads_ * values_}, kFloat32, 0));
    states_.push_back(state);
    if (kept_ > 0) updates_.push_back(c.Filled(Shape{count, kept_ * UpdateWidth()}, kFloat32, 0));
  }

  // ---- what the state can be replayed from

  int64_t DecayWidth() const { return heads_ * (decays_ ? decay_.shape()[2] : 1); }
  int64_t UpdateWidth() const { return DecayWidth() + query_heads_ * keys_ + heads_ * values_; }

  /* All decays of the first steps, then all keys, then all that was added; zeros behind the count
   * that is asked for. */
  void Keep(int64_t first, int64_t count, int64_t begin, int64_t length, const Value& added) {
    const int64_t steps = std::min(kept_, length);
    const auto first_steps = [&](const Value& x) {
      const Value rows = SliceAxis(c, x, 0, begin, begin + count * length);
      return SliceAxis(c, c.Reshape(rows, Shape{count, length, x.shape()[1] * x.shape()[2]}), 1, 0, steps);
    };
    const Value counts = c.Reshape(SliceAxis(c, c.Cast(c.in(9), kInt64), 0, first, first + count), Shape{count, 1, 1});
    const Value wanted = Binary(c, "less", c.Reshape(CountUp(c, steps), Shape{1, steps, 1}), counts);
    const Value decays = decays_ ? Unary(c, "exp", first_steps(decay_)) : c.Filled(Shape{count, steps, heads_}, kFloat32, 1);
    std::vector<Value> parts;
    for (const Value& x : {decays, first_steps(key_), added})
      parts.push_back(Flat(c, Pad(c, Only(c, wanted, x), {0, 0, 0}, {0, kept_ - steps, 0}, 0), count));
    updates_.push_back(Concat(c, parts, 1));
  }

  Value Kept() const {
    const Value all = Join(c, updates_, 0);
    if (!c.has(10)) return all;
    return Only(c, BinaryNumber(c, "not_equal", c.Reshape(c.in(10), Shape{1, 1}), 0), all);
  }

  Call& c;
  bool decays_ = false, corrects_ = false;
  int64_t tokens_ = 0, query_heads_ = 0, heads_ = 0, keys_ = 0, values_ = 0, kept_ = 0;
  double scale_ = 1;
  std::vector<int64_t> lengths_;  // of requests
  Value query_, key_, value_, decay_, beta_;
  Value state_;  // (requests, heads, keys, values)
  std::vector<Value> results_, states_, updates_;
};

}  // namespace

void ConvertGatedDeltaNet(Call& c) { DeltaNet(c).Give(); }

namespace {

/* Tokens of requests that lie behind each other, and what each request has before its first one.
 * Bounds are looked at where they are known; no row that is read lies outside of any array. */
struct Packed {
  Packed(const Call& call, const Value& data, const Value& state, const Value& bounds) : c(call) {
    tokens = data.shape()[0], requests = state.shape()[0], before = state.shape()[2];
    const Value wide = c.Cast(bounds, kInt64);
    starts = SliceAxis(c, wide, 0, 0, requests), ends = SliceAxis(c, wide, 0, 1, requests + 1);
    const Value earlier = c.Reshape(c.Transpose(state, {0, 2, 1}), Shape{requests * before, data.shape()[1]});
    table = before > 0 ? Concat(c, {earlier, data}, 0) : data;
  }
  /* Rows of the table: at places of a request that begins at `start`, below 0: before it. */
  Value At(const Value& request, const Value& start, const Value& place) const {
    const Value inside = AddNumber(c, Add(c, start, place), static_cast<double>(requests * before));
    if (before == 0) return Take(c, table, inside, 0);
    const Value outside = AddNumber(c, Add(c, MulNumber(c, request, static_cast<double>(before)), place), static_cast<double>(before));
    return Take(c, table, Where(c, BinaryNumber(c, "greater_equal", place, 0), inside, outside), 0);
  }

  const Call& c;
  int64_t tokens, requests, before;
  Value starts, ends, table;
};

void CheckVarlen(const Call& c, int64_t step) {
  CheckRank(c, 0, 2, 2);
  CheckRank(c, 1, 3, 3);
  CheckRank(c, 2, 1, 1);
  CheckRank(c, 4, 3, 3);
  CheckSmall(c, "dilation", {step}, 1);
  for (int i : {6, 7})
    if (c.has(i))
      c.Refuse("input " + Text(i) + " is given; accepted are weights that are the same for all tokens, as in onnxruntime on CPUs");
  const Shape &x = c.in(0).shape(), &w = c.in(1).shape(), &state = c.in(4).shape();
  const int64_t before = (w[2] - 1) * step;
  if (w[0] != x[1] || w[1] != 1 || w[2] < 1 || before > kMostListed || state != Shape{c.in(2).size() - 1, x[1], before} || state[0] < 1)
    c.Refuse("data has shape " + Text(x) + ", the weight " + Text(w) + ", cumulative_sequence_length " + Text(c.in(2).shape()) +
             ", initial_state " + Text(state) + ", dilation is " + Text(step));
  if (c.has(3) && c.in(3).shape() != Shape{x[1]}) c.Refuse("bias has shape " + Text(c.in(3).shape()) + " for " + Text(x[1]) + " channels");
  if (c.in(2).known()) BoundsOf(c, 2, "cumulative_sequence_length", x[0]);
}

/* The last `before` places of each request, in the layout of states. */
Value LastState(const Packed& p, const Value& request, const Value& start, const Value& length, int64_t channels) {
  const Call& c = p.c;
  if (p.before == 0) return c.Filled(Shape{p.requests, channels, 0}, p.table.dtype(), 0);
  const Value place = AddNumber(c, Add(c, length, c.Reshape(CountUp(c, p.before), Shape{1, p.before})), static_cast<double>(-p.before));
  return c.Transpose(p.At(request, start, place), {0, 2, 1});
}

}  // namespace

/* data (tokens, channels), weight, bounds of the requests, bias, states, counts -> data, states,
 * and the first tokens of each request. */
void ConvertVarlenCausalConv(Call& c) {
  const int64_t step = c.Attr("dilation", int64_t{1});
  const int act = OneOf(c, "activation", c.Attr("activation", "none"), {"none", "silu", "swish"});
  for (const char* name : {"delta_offset", "group_size"}) c.Ignore(name);  // of inputs that are refused
  CheckVarlen(c, step);
  const int64_t kept = ReadKept(c, 5), tokens = c.in(0).shape()[0], channels = c.in(0).shape()[1], size = c.in(1).shape()[2];
  const Packed p(c, c.in(0), c.in(4), c.in(2));
  const Value token = CountUp(c, tokens);
  // of each token: its request, and its place there
  const Value passed = Binary(c, "greater_equal", c.Reshape(token, Shape{tokens, 1}), c.Reshape(p.ends, Shape{1, p.requests}));
  const Value request = BinaryNumber(c, "minimum", Sum(c, c.Cast(passed, kInt64), {1}, false), static_cast<double>(p.requests - 1));
  const Value start = Take(c, p.starts, request, 0), place = Sub(c, token, start);
  Value y;
  for (int64_t tap = 0; tap < size; ++tap) {
    const Value rows = p.At(request, start, AddNumber(c, place, static_cast<double>((tap - size + 1) * step)));
    const Value part = Mul(c, rows, c.Reshape(SliceAxis(c, c.in(1), 2, tap, tap + 1), Shape{channels}));
    y = tap == 0 ? part : Add(c, y, part);
  }
  if (c.has(3)) y = Add(c, y, c.in(3));
  c.Out(0, act ? Silu(c, y) : y);
  const Value each = c.Reshape(CountUp(c, p.requests), Shape{p.requests, 1}), from = c.Reshape(p.starts, Shape{p.requests, 1});
  const Value length = c.Reshape(Sub(c, p.ends, p.starts), Shape{p.requests, 1});
  if (c.wants(1)) c.Out(1, LastState(p, each, from, length, channels));
  if (kept == 0 || !c.wants(2)) return;
  const Value first = c.Reshape(CountUp(c, kept), Shape{1, kept});
  const Value counts = c.Reshape(c.Cast(c.in(5), kInt64), Shape{p.requests, 1});
  const Value wanted = Binary(c, "less", first, Binary(c, "minimum", counts, length));
  c.Out(2, Only(c, c.Reshape(wanted, Shape{p.requests, kept, 1}), p.At(each, from, c.BroadcastTo(first, Shape{p.requests, kept}))));
}

}  // namespace onnx
}  // namespace mxnet
