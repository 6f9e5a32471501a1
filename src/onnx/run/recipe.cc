#include "onnx/run/recipe.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "base/round_up.h"
#include "base/threads/borrowed_team.h"
#include "executor/plan/plan_constants.h"
#include "imperative/kernel_call.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"
#include "ndarray/run.h"
#include "onnx/run/session.h"
#include "onnx/run/stage.h"
#include "operator/matrix/axes.h"
#include "operator/record/call_cost.h"
#include "operator/record/check.h"
#include "operator/record/draws_in_training.h"
#include "operator/record/swapped_form.h"
#include "operator/record/traits.h"
#include "operator/record/writes_in_training.h"
#include "operator/shared/kept_forms.h"

namespace mxnet {
namespace onnx {
namespace {

/* Records what converters look at. */
class Looking {
 public:
  Looking() { detail::looked_at = &seen_; }
  ~Looking() { detail::looked_at = nullptr; }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;
  const std::vector<detail::Look>& seen() const { return seen_; }

 private:
  std::vector<detail::Look> seen_;
};

// Elements of all operands and results of a call that is short, whatever the operator does, and of
// one whose record counts no operations for each of them.
constexpr int64_t kSurelyShort = 1024, kShortPasses = 65536;

// Nobody goes on until a call is over: handing it to threads that sleep pays later than elsewhere.
constexpr double kNsOfShort = 4 * kInlineNanoseconds;

constexpr size_t kLeastWithRoom = 2 << 20, kStepsOfRoom = 8;

/* Large results get up to an eighth of room, as smaller ones do by the pool: the cache of a decoder
 * is larger in each call, and a block of its size would be new memory each time. */
NDArray NewResult(const Shape& shape, int dtype) {
  const size_t bytes = static_cast<size_t>(shape.Size()) * DTypeSize(dtype);
  if (bytes < kLeastWithRoom) return NDArray(shape, Context::CPU(), dtype);
  size_t step = kLeastWithRoom / kStepsOfRoom;
  while (2 * kStepsOfRoom * step <= bytes) step *= 2;
  return NDArray(Shape{static_cast<int64_t>(RoundUp(bytes, step))}, Context::CPU(), kUint8).Window(0, shape, dtype);
}

/* Can it be called without the engine and the tape? */
bool IsPlainCall(const Attrs& attrs) {
  const Op& op = *attrs.op;
  const bool writes = op.mutate_inputs && !op.trait<WritesInTraining>();  // such calls do not train
  return attrs.subgraphs.empty() && op.RunsBy(attrs) == RunBy::kKernel && !DrawsInInference(op) && !writes &&
         op.KernelFor(DeviceType::kCPU);
}

}  // namespace

/* One try, with the contents of some inputs. */
class Recipe::Writer {
 public:
  Writer(const Session& session, const NodeProto& node, const std::vector<Value>& inputs, const std::vector<char>& constant)
      : node_(node), inputs_(inputs), builder_(session.options().ctx, const_cast<Session&>(session).folded(), false, session.widens()) {
    recipe_->inputs_.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      Input& in = recipe_->inputs_[i];
      in.given = inputs[i].kind != Value::kNone;
      in.constant = in.given && constant[i];
      in.ndim = inputs[i].ndim(), in.dtype = inputs[i].dtype();
    }
  }

  /* Null: the node has none, or the converter wants to `read` more. */
  std::unique_ptr<const Recipe> Write(const Rule& rule, std::set<int>* read) {
    Traces traces;
    Looking looking;
    std::vector<Value> given;
    for (size_t i = 0; i < inputs_.size(); ++i) given.push_back(Given(i, read->count(static_cast<int>(i)) > 0));
    Call call(node_, node_.opset, rule.argument, given, &builder_);
    builder_.Trace(&traces);
    try {
      Apply(rule, &call);
    } catch (const NeedsValue& needs) {
      if (needs.bound || !AskFor(needs.inputs, read)) read->clear();
      return nullptr;
    }
    read->clear();
    for (const Value& v : call.outputs())
      if (v.kind == Value::kTensor && !v.known()) Need(*v.entry.node);
    if (traces.looked_back || !PutCalls(traces) || !PutResults(call.outputs())) return nullptr;
    for (const detail::Look& look : looking.seen()) PutLook(look);
    return std::move(recipe_);
  }

 private:
  Value Given(size_t i, bool read) {
    Input& in = recipe_->inputs_[i];
    variables_.push_back(nullptr);
    if (!in.given || in.constant) return inputs_[i];
    if (read) {
      Seen* const seen = SeenOf(i);
      seen->shape = true;
      seen->contents = inputs_[i].array.Copy(Context::CPU());
      seen->contents.WaitToRead();
      return Value(seen->contents);
    }
    Value v = builder_.Input(node_.inputs[i], inputs_[i].type);
    variables_.back() = v.entry.node.get();
    places_[v.entry] = static_cast<int>(i);
    held_.push_back(v.entry.node);
    return v;
  }
  void PutLook(const detail::Look& look) {
    const auto variable = std::find(variables_.begin(), variables_.end(), look.node);
    if (variable == variables_.end()) {
      // The shape of what was computed on the way follows from those of its operands. There may be
      // ever so many ways to it.
      if (!looked_.insert(look.node).second) return;
      for (const NodeEntry& e : look.node->inputs) PutLook({e.node.get(), detail::Look::kShape});
      return;
    }
    if (look.axis == detail::Look::kEmpty) return;  // none is
    Seen* const seen = SeenOf(static_cast<size_t>(variable - variables_.begin()));
    if (look.axis == detail::Look::kShape)
      seen->shape = true;
    else if (std::find(seen->axes.begin(), seen->axes.end(), look.axis) == seen->axes.end())
      seen->axes.push_back(look.axis);
  }
  Seen* SeenOf(size_t i) {
    auto& seen = recipe_->inputs_[i].seen;
    if (!seen) {
      seen = std::make_unique<Seen>();
      seen->was = inputs_[i].type.shape;
    }
    return seen.get();
  }

  /* Contents that an earlier plan knew, and that are few. */
  bool AskFor(const std::vector<int>& wanted, std::set<int>* read) const {
    bool more = false;
    for (const int i : wanted) {
      const Value& v = inputs_[static_cast<size_t>(i)];
      if (v.kind != Value::kTensor || !v.known() || !IsSmall(v)) return false;
      more = read->insert(i).second || more;
    }
    return more;
  }

  /* Converters make more than they use. */
  void Need(const Node& node) {
    if (!needed_.insert(&node).second || node.is_variable()) return;
    const Node* const turned = Turned(node);
    for (const NodeEntry& e : node.inputs) Need(turned && e.node.get() == turned ? *turned->inputs[0].node : *e.node);
  }
  int Constant(const NDArray& array) {
    array.WaitToRead();
    recipe_->constants_.push_back(array);
    return ~static_cast<int>(recipe_->constants_.size() - 1);
  }
  int DTypeAt(int place) const {
    if (place < 0) return recipe_->constants_[static_cast<size_t>(~place)].dtype();
    const size_t at = static_cast<size_t>(place), inputs = inputs_.size();
    return at < inputs ? recipe_->inputs_[at].dtype : dtypes_[at - inputs];
  }
  /* What a product reads transposed, where its operator has another form for that; else null. */
  const Node* Turned(const Node& product) const {
    if (!product.op()->trait<SwappedForm>() || product.inputs.size() != 2) return nullptr;
    const auto left = places_.find(product.inputs[0]);
    const Node* const right = product.inputs[1].node.get();
    if (left == places_.end() || left->second < 0 || static_cast<size_t>(left->second) >= inputs_.size()) return nullptr;
    const int ndim = recipe_->inputs_[static_cast<size_t>(left->second)].ndim;
    const std::vector<int> axes = right->is_variable() ? std::vector<int>() : PermutationOf(*right, ndim);
    return static_cast<int>(axes.size()) == ndim && SwapsLastTwo(axes) ? right : nullptr;
  }
  /* False: it cannot be called so. */
  bool PutCall(const NodePtr& n) {
    const Node* const turned = Turned(*n);
    const AttrsPtr attrs = turned ? n->op()->trait<SwappedForm>()->attrs() : n->attrs;
    if (!IsPlainCall(*attrs)) return false;
    OpCall call{attrs, attrs->op->KernelFor(DeviceType::kCPU), {}, {}, false, 0, false};
    std::vector<int> of;
    TensorTypes types;
    for (const NodeEntry& e : n->inputs) {
      const auto at = places_.find(turned && e.node.get() == turned ? turned->inputs[0] : e);
      if (at == places_.end()) return false;
      const int place = at->second, dtype = DTypeAt(place);
      if (place < 0 && of.size() < 32 && AsksFor(*attrs, static_cast<int>(of.size()), dtype)) call.asks |= 1u << of.size();
      call.in.push_back(place);
      of.push_back(dtype);
      types.emplace_back(Shape(), dtype);
    }
    CheckDType(*attrs, types, {});
    if (const auto* kept = attrs->op->trait<KeepsForms>()) {
      call.keeps = true;
      for (size_t i = 0; i < call.in.size(); ++i) call.keeps = call.keeps && (call.in[i] < 0 || i >= 32 || !(kept->inputs >> i & 1));
    }
    call.dtypes.assign(static_cast<size_t>(n->num_outputs()), kDTypeUnknown);
    if (!InferCall(*attrs, InferSwitches::OfThread(true), &of, &call.dtypes)) return false;
    call.moves = OnlyMoves(*attrs->op) && of.size() == 1 && call.dtypes.size() == 1 && of[0] == call.dtypes[0];
    for (size_t o = 0; o < call.dtypes.size(); ++o) {
      places_[{n.get(), static_cast<uint32_t>(o)}] = static_cast<int>(inputs_.size() + dtypes_.size());
      dtypes_.push_back(call.dtypes[o]);
    }
    recipe_->num_results_ = dtypes_.size();
    recipe_->calls_.push_back(std::move(call));
    return true;
  }
  bool PutCalls(const Traces& traces) {
    for (const auto& c : traces.constants)
      if (needed_.count(c.first.node.get()) && !places_.count(c.first))
        places_[c.first] = Constant(builder_.constants().at(c.first.node.get()));
    return std::all_of(traces.nodes.begin(), traces.nodes.end(), [&](const NodePtr& n) { return !needed_.count(n.get()) || PutCall(n); });
  }
  bool PutResults(const std::vector<Value>& results) {
    for (const Value& v : results) {
      if (v.kind != Value::kTensor && v.kind != Value::kNone) return false;
      const auto at = v.kind == Value::kNone || v.known() ? places_.end() : places_.find(v.entry);
      if (v.kind == Value::kTensor && !v.known() && at == places_.end()) return false;
      const int place = v.kind == Value::kNone ? kNothing : v.known() ? Constant(v.array) : at->second;
      for (const int other : recipe_->results_) recipe_->moves_results_ = recipe_->moves_results_ && other != place;
      recipe_->results_.push_back(place);
    }
    return true;
  }

  const NodeProto& node_;
  const std::vector<Value>& inputs_;
  GraphBuilder builder_;
  std::unique_ptr<Recipe> recipe_ = std::make_unique<Recipe>();
  std::map<EntryKey, int> places_;
  std::vector<int> dtypes_;  // of what calls give
  std::vector<const Node*> variables_;
  std::vector<NodePtr> held_;
  std::set<const Node*> needed_;
  std::set<const Node*> looked_;  // whose operands' shapes are in `seen`
};

std::unique_ptr<const Recipe> Recipe::Write(const Session& session, const NodeProto& node, const Rule& rule,
                                            const std::vector<Value>& inputs, const std::vector<char>& constant) {
  if (session.options().ctx.is_gpu()) return nullptr;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& v = inputs[i];
    if (v.kind != Value::kTensor && v.kind != Value::kNone) return nullptr;
    if (v.kind == Value::kTensor && !constant[i] && v.type.shape.Size() == 0) return nullptr;
  }
  std::set<int> read;
  try {
    do {
      if (auto recipe = Writer(session, node, inputs, constant).Write(rule, &read)) return recipe;
    } while (!read.empty());
  } catch (const Error&) {  // the converter will say so when it is asked
  }
  return nullptr;
}

bool Recipe::Fits(Span<const Value* const> inputs) const {
  for (int i = 0; i < inputs.size(); ++i) {
    const Input& in = inputs_[static_cast<size_t>(i)];
    if (in.constant) continue;
    const Value& v = *inputs[i];
    if (v.kind != (in.given ? Value::kTensor : Value::kNone)) return false;
    if (!in.given) continue;
    const Shape& shape = v.type.shape;
    if (v.dtype() != in.dtype || shape.ndim() != in.ndim || shape.Size() == 0) return false;
    if (!in.seen) continue;
    const Seen& seen = *in.seen;
    if (seen.shape && shape != seen.was) return false;
    for (const int axis : seen.axes)
      if (shape[axis] != seen.was[axis]) return false;
    if (!seen.contents.is_none() &&
        std::memcmp(v.array.data().dptr<void>(), seen.contents.data().dptr<void>(), seen.contents.data().Bytes()) != 0)
      return false;
  }
  return true;
}

void Recipe::Follow(Span<const Value* const> inputs, Span<Value* const> outputs, Scratch* scratch) const {
  std::vector<NDArray>& made = scratch->made;
  std::vector<const NDArray*>& arrays = scratch->arrays;
  made.clear();
  made.resize(num_results_);
  arrays.clear();
  for (const Value* v : inputs) arrays.push_back(&v->array);
  for (const NDArray& a : made) arrays.push_back(&a);
  NDArray* results = made.data();
  for (const OpCall& call : calls_) {
    Run(call, results, scratch);
    results += call.dtypes.size();
  }
  for (int i = 0; i < outputs.size() && i < static_cast<int>(results_.size()); ++i) {
    const int place = results_[static_cast<size_t>(i)], own = place - inputs.size();
    if (!outputs[i]) continue;
    if (place == kNothing)
      *outputs[i] = Value();
    else if (own >= 0 && moves_results_)
      *outputs[i] = Value(std::move(made[static_cast<size_t>(own)]));
    else
      *outputs[i] = Value(At(place, *scratch));
  }
  made.clear();
}

void Recipe::Run(const OpCall& call, NDArray* results, Scratch* s) const {
  const Attrs& attrs = *call.attrs;
  const size_t num_results = call.dtypes.size();
  s->in_shapes.clear();
  for (const int place : call.in) s->in_shapes.push_back(At(place, *s).shape());
  s->out_shapes.assign(num_results, Shape());
  const bool known = InferCall(attrs, InferSwitches::OfThread(true), &s->in_shapes, &s->out_shapes);
  MXNET_CHECK_KIND(known, Value) << "[" << attrs.op->name << "] output shape cannot be told from the inputs";
  if (call.moves && call.in[0] >= 0) {
    results[0] = At(call.in[0], *s).Reshape(s->out_shapes[0]);
    return;
  }
  int64_t elements = 0;
  s->in.clear();
  s->out.clear();
  AskedWeights weights(&s->states);
  for (size_t i = 0; i < call.in.size(); ++i) {
    const NDArray& a = At(call.in[i], *s);
    s->in.emplace_back();
    if (i >= 32 || !(call.asks >> i & 1) || !weights.Take(a, &s->in.back())) s->in.back() = a.blob();
    elements += s->in.back().Size();
  }
  for (size_t o = 0; o < num_results; ++o) {
    results[o] = NewResult(s->out_shapes[o], call.dtypes[o]);
    s->out.push_back(results[o].data());
    elements += s->out.back().Size();
  }
  const bool asks = !weights.empty() || call.keeps;
  const int64_t surely = attrs.op->flops ? kSurelyShort : kShortPasses;
  const bool is_short = elements <= surely || CostOf(attrs, s->in, s->out).NsInCache() <= kNsOfShort;
  std::optional<BorrowedTeam> team;  // a long one that asks has its own, since the engine has no call for it
  if (is_short || !asks) team.emplace();
  if (!is_short && !asks && team->refused()) {
    team.reset();
    return Push(call, results, *s);
  }
  if (asks) {
    s->versions.clear();
    for (const int place : call.in) s->versions.push_back(At(place, *s).version());
    return CallKernelWithWeights(*call.kernel, attrs, s->in, s->versions, s->out, &weights, s->states.Next(attrs.op));
  }
  s->req.assign(num_results, OpReq::kWrite);
  RunContext run;
  run.ctx = Context::CPU();
  CallKernel(*call.kernel, attrs, s->in, s->req, s->out, run, false, nullptr);
}

/* By the engine, which has threads for it. */
void Recipe::Push(const OpCall& call, NDArray* results, const Scratch& s) const {
  std::vector<NDArray> operands;
  std::vector<NDArray*> in, out;
  for (const int place : call.in) operands.push_back(At(place, s));
  for (NDArray& a : operands) in.push_back(&a);
  for (size_t o = 0; o < call.dtypes.size(); ++o) out.push_back(&results[o]);
  const ImperativeScope scope = ImperativeScope::Mode(false, false);
  const Context cpu = Context::CPU();
  Imperative::Invoke(call.attrs, in, out, &cpu);
  for (NDArray* a : out) a->WaitToRead();
}

}  // namespace onnx
}  // namespace mxnet
