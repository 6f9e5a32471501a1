// A model in parts, for calls whose shapes come once (Parts).
#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "mxnet/env.h"
#include "mxnet/op.h"
#include "onnx/stage.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr size_t kFewestNodes = 32;        // of a model that is worth cutting
constexpr size_t kNodesOfPart = 4;         // on average, at least
constexpr size_t kRecentCalls = 4;         // a shape among so many, or a quarter of the plans that are kept, gets a plan of the whole model
constexpr size_t kMostShared = 64;         // programs of parts, by what they compute
constexpr size_t kMostOfQuick = 2048;      // nodes of a graph that may run node by node,
constexpr size_t kMostOfCut = 8;           // of a model whose stages are plans, and nodes that run on arrays anyway,
constexpr size_t kMostPreparing = 256;     // and of one whose kernels prepare for each shape (PreparesForShape)
constexpr double kNsOfPlan = 300000;       // about what a new plan costs,
constexpr double kNsOfPlanNode = 8000;     // and each node of it,
constexpr double kNsOfRoundNode = 4000;    // less where plans of a body may serve many rounds
constexpr int kMostTimed = 6;              // runs of a plan, behind the first
constexpr int kBeforeRehearsal = 5;        // calls with the same shapes: they tell how long a plan runs
constexpr double kNsOfRehearsed = 800000;  // the longest: what longer ones leave in memory is more than what they save
constexpr size_t kMostGivenBack = 1 << 20;  // bytes of weights that would be read from the file again
constexpr int64_t kMostOfConstant = 64;     // elements of constants in parts that are shared; others are weights that kernels pack

/* What nobody reads any more gives its memory back. */
void Drop(const Pending& pending, Env* env) {
  for (auto it = env->begin(); it != env->end();)
    it = std::binary_search(pending.needed.begin(), pending.needed.end(), it->first) ? std::next(it) : env->erase(it);
}

/* Everything that a plan of the graph depends on, but for types and names; empty: nodes hold graphs
 * of their own. */
std::string TextOf(const Symbol& symbol) {
  std::string text;
  std::unordered_map<const Node*, int> number;
  bool plain = true;
  const auto put = [&](const NodeEntry& e) { text += std::to_string(number.at(e.node.get())) + '.' + std::to_string(e.index) + ' '; };
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    number.emplace(n.get(), static_cast<int>(number.size()));
    plain = plain && n->attrs->subgraphs.empty() && n->control_deps.empty();
    text += n->is_variable() ? "?" : n->op()->name;
    text += '(';
    for (const NodeEntry& e : n->inputs) put(e);
    for (const auto& kv : n->attrs->dict) text += std::to_string(kv.second.size()) + kv.first + '=' + kv.second + ';';
    text += ')';
  });
  for (const NodeEntry& e : symbol.outputs) put(e);
  return plain ? text : std::string();
}

bool IsFloat16(const Value& v) { return v.kind == Value::kTensor && v.dtype() == kFloat16; }

/* Which part each node belongs to: parts of nodes that change and of others alternate, and a node
 * stands in the first one that it can. */
class Levels {
 public:
  void Add(const NodeProto* node, bool changes) {
    size_t level = changes ? 1 : 0;
    for (const std::string& name : node->inputs) {
      const auto it = level_.find(name);
      if (it != level_.end()) level = std::max(level, it->second);
    }
    if (Changes(level) != changes) ++level;
    for (const std::string& name : node->outputs) level_[name] = level;
    if (nodes_.size() <= level) nodes_.resize(level + 1);
    nodes_[level].push_back(node);
  }
  static bool Changes(size_t level) { return level % 2 == 1; }
  /* Do most nodes change, so that parts would spare little? */
  bool MostChange() const {
    size_t all = 0, changing = 0;
    for (size_t level = 0; level < nodes_.size(); ++level) {
      all += nodes_[level].size();
      changing += Changes(level) ? nodes_[level].size() : 0;
    }
    return 4 * changing > 3 * all;
  }
  const std::vector<std::vector<const NodeProto*>>& nodes() const { return nodes_; }
  bool Has(const std::string& name) const { return level_.count(name) > 0; }

 private:
  std::unordered_map<std::string, size_t> level_;  // of what nodes give
  std::vector<std::vector<const NodeProto*>> nodes_;
};

}  // namespace

std::shared_ptr<CachedOp> Runner::OpFor(const Stage& stage, const AttrDict& flags, bool shared) {
  std::string key;
  const bool small = std::all_of(stage.operands.begin(), stage.operands.end(),
                                 [](const Stage::Operand& o) { return !o.name.empty() || o.constant.shape().Size() <= kMostOfConstant; });
  if (shared && small) key = TextOf(stage.symbol);
  if (key.empty()) return CachedOp::Create(stage.symbol, flags, session_->arenas());
  for (const auto& kv : flags) key += kv.first + '=' + kv.second + ';';
  if (same_.size() >= kMostShared && !same_.count(key)) same_.clear();
  std::shared_ptr<CachedOp>& op = same_[key];
  if (!op) op = CachedOp::Create(stage.symbol, flags, session_->arenas());
  return op;
}

std::unique_ptr<PartsDraft> StageBuilder::DraftParts() {
  if (!runner_->grows_ || session_->precision() != kFloat32 || pending_->nodes.size() < kFewestNodes || !stage_->op || stage_->rest ||
      !stage_->host.empty() || 4 * anew_.size() > 3 * pending_->nodes.size())
    return nullptr;
  auto draft = std::make_unique<PartsDraft>();
  for (const auto& given : env_) {
    if ((given.second.kind != Value::kTensor && given.second.kind != Value::kNone) || IsFloat16(given.second)) return nullptr;
    draft->given.insert(given.first);
  }
  for (const auto& d : stage_->demanded) draft->demanded.insert(d.first);
  draft->values = std::move(values_);
  draft->anew = std::move(anew_);
  return draft;
}

std::shared_ptr<Parts> Runner::MakeParts(const PartsDraft& draft) const {
  const auto& nodes = root_.nodes;
  std::set<std::string> results;
  for (const ValueInfo& v : graph_->outputs) results.insert(v.name);
  auto known = std::make_shared<Env>();
  const auto is_constant = [&](const std::string& name) { return name.empty() || session_->ConstantNamed(name) || known->count(name); };
  Levels levels;
  std::set<std::string> fixed = draft.demanded;
  for (const NodeProto* n : nodes) {
    if (ControlOf(*n) || IsIf(*n) || n->of_stage || !n->captured.empty()) return nullptr;
    bool constant = std::all_of(n->inputs.begin(), n->inputs.end(), is_constant);
    for (const std::string& name : n->inputs)
      if (!is_constant(name) && !draft.given.count(name) && !levels.Has(name)) return nullptr;
    for (const std::string& name : n->outputs) {
      const auto it = draft.values.find(name);
      if (name.empty()) continue;
      if (it == draft.values.end() || it->second.kind != Value::kTensor || IsFloat16(it->second)) return nullptr;
      if (it->second.known() && IsSmall(it->second)) fixed.insert(name);
      constant = constant && it->second.known() && !results.count(name);
    }
    if (constant)
      for (const std::string& name : n->outputs) known->emplace(name, draft.values.at(name));
    else
      levels.Add(n, draft.anew.count(n) > 0);
  }
  if (levels.MostChange()) return nullptr;
  auto parts = std::make_shared<Parts>();
  std::unordered_set<std::string_view> after(results.begin(), results.end());
  for (size_t level = levels.nodes().size(); level-- > 0;) {
    if (levels.nodes()[level].empty()) continue;
    parts->list.emplace_front();
    Parts::Part& part = parts->list.front();
    part.changes = Levels::Changes(level);
    part.pending.nodes = levels.nodes()[level];
    part.pending.is_part = true;
    part.pending.known = known;
    std::unordered_set<std::string_view> own;
    for (const NodeProto* n : part.pending.nodes) own.insert(n->outputs.begin(), n->outputs.end());
    for (const std::string_view name : own)
      if (after.count(name)) part.pending.after.emplace_back(name);
    for (const NodeProto* n : part.pending.nodes)
      for (const std::string& name : n->inputs)
        if (!is_constant(name) && !own.count(name)) part.pending.needed.push_back(name);
    std::sort(part.pending.after.begin(), part.pending.after.end());
    std::sort(part.pending.needed.begin(), part.pending.needed.end());
    part.pending.needed.erase(std::unique(part.pending.needed.begin(), part.pending.needed.end()), part.pending.needed.end());
    for (const std::string& name : part.pending.needed) {
      if (after.insert(name).second) part.last.push_back(name);
      if (fixed.count(name)) part.pending.fixed.insert(name);
    }
  }
  return parts->list.size() * kNodesOfPart <= nodes.size() ? parts : nullptr;
}

/* What the first runs took tells better than estimates what a model is worth. The very first one
 * packs weights. */
void Runner::InvokeTimed(const Stage& stage, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out) const {
  const int run = stage.timed.load(std::memory_order_relaxed);
  if (run > kMostTimed || !grows_ || session_->options().ctx.is_gpu() || mxnet::Env::Get().enforce_determinism)
    return stage.op->Invoke(in, out);
  const auto begin = std::chrono::steady_clock::now();
  stage.op->Invoke(in, out);
  for (const NDArray* a : out) a->WaitToRead();
  const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - begin;
  stage.timed.store(run + 1, std::memory_order_relaxed);
  if (run > 0 && ns.count() < stage.fastest_ns.load(std::memory_order_relaxed))
    stage.fastest_ns.store(ns.count(), std::memory_order_relaxed);
}

/* Does the graph take so little time for inputs of these sizes that making a plan would be most of
 * a call? REQUIRES: a plan. */
bool Runner::IsQuick(const Env& env) const {
  const Stage& made = *root_.stages.front();
  if (session_->options().ctx.is_gpu() || session_->precision() != kFloat32) return false;
  const bool cut = !made.op || made.rest || !made.host.empty();
  if (IsModel() && cut && root_.nodes.size() > kMostOfCut) return false;
  const auto runs_graphs = [](const NodeProto* n) { return ControlOf(*n) || IsIf(*n) || n->of_stage; };
  if (!once_ && (root_.nodes.size() > kMostOfQuick || std::any_of(root_.nodes.begin(), root_.nodes.end(), runs_graphs))) return false;
  double ns = 0;
  bool prepares = false;
  for (const Stage* stage = &made; stage;) {
    // What a plan took with all prepared says little of a call by itself.
    prepares = prepares || stage->prepares;
    if (prepares && root_.nodes.size() > kMostPreparing) return false;
    const double measured = prepares ? std::numeric_limits<double>::infinity() : stage->fastest_ns.load(std::memory_order_relaxed);
    if (stage->op) ns += std::min(stage->op->Stats().forward_ns, measured);
    stage = stage->rest && !stage->rest->stages.empty() ? stage->rest->stages.front().get() : nullptr;
  }
  const double nodes = static_cast<double>(root_.nodes.size());
  const double plan = (grows_ ? kNsOfPlan : 0) + (grows_ && !prepares ? kNsOfPlanNode : kNsOfRoundNode) * nodes;
  return ns * ElementsOf(env) / std::max(1.0, made.elements) <= plan;
}

/* How this call is to be run. */
Runner::Way Runner::WayFor(const std::string& types, const Env& env, const std::map<std::string, NDArray>& into) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!recent_.empty() && recent_.front() == types) return {nullptr, nullptr, ToRehearse(env)};
  const bool again = std::find(recent_.begin(), recent_.end(), types) != recent_.end();
  recent_.push_front(types);
  if (recent_.size() > std::max(kRecentCalls, KeptPlans(root_) / 4)) recent_.pop_back();
  if (again || !grows_ || root_.stages.empty()) return {};
  for (const auto& stage : root_.stages)
    if (stage->types == types) return {};
  if (draft_) {
    parts_ = MakeParts(*draft_);
    draft_.reset();
  }
  if (!parts_) return {nullptr, OnceFor(env), nullptr};
  for (const auto& result : into)  // a part would write what a later one reads
    for (const auto& given : env)
      if (given.second.array.chunk() == result.second.chunk()) return {};
  return {parts_, nullptr, nullptr};
}

/* Null: a plan is to be made. */
std::shared_ptr<const NodeByNode> Runner::OnceFor(const Env& env) {
  if (!IsQuick(env)) return nullptr;
  if (met_once_ > 0 && root_.nodes.size() >= kFewestNodes && root_.stages.size() == 1)
    return nullptr;  // parts may be better: two plans tell
  std::shared_ptr<const NodeByNode> once = Once(met_once_ > 0);
  met_once_ += once != nullptr;
  return once;
}

/*
 * One of the first calls of a model whose sizes are free runs node by node, too: what a new shape
 * would wait for is there then (tables of the steps and their recipes, forms of small weights, code
 * in the processor's caches). Null: there is nothing to rehearse, or it was done.
 */
std::shared_ptr<const NodeByNode> Runner::ToRehearse(const Env& env) {
  if (same_again_ >= kBeforeRehearsal || !grows_ || !IsModel() || root_.stages.empty() || ++same_again_ < kBeforeRehearsal) return nullptr;
  const auto is_free = [](const ValueInfo& v) {
    return !v.has_shape || std::any_of(v.dims.begin(), v.dims.end(), [](const Dimension& d) { return d.size < 0; });
  };
  if (std::none_of(session_->inputs().begin(), session_->inputs().end(), is_free) || !IsQuick(env)) return nullptr;
  bool draws = false;  // random numbers, which are the caller's
  DFSVisit(root_.stages.front()->symbol.outputs, [&](const NodePtr& n) { draws = draws || (!n->is_variable() && n->op()->uses_random); });
  if (draws) return nullptr;
  const std::shared_ptr<const NodeByNode> once = Once(true);
  return root_.stages.front()->fastest_ns.load(std::memory_order_relaxed) > kNsOfRehearsed ? nullptr : once;
}

void Runner::Rehearse(const NodeByNode& once, Env env) {
  try {
    RunOnce(once, &env);
  } catch (const Error&) {  // plans do without it
    LeaveOnce();
  }
}

/* From now on new shapes get plans. */
void Runner::LeaveOnce() {
  std::lock_guard<std::mutex> lock(mutex_);
  never_once_ = true;
  once_.reset();
}

void Runner::RunOnce(const NodeByNode& once, Env* env) {
  once.Run(env);
  if (once.read_again() > kMostGivenBack) LeaveOnce();
}

/* `recipes`: many calls may want them. REQUIRES: a plan, and a graph that is quick. */
std::shared_ptr<const NodeByNode> Runner::Once(bool recipes) {
  if (never_once_) return nullptr;
  if (!once_ || (recipes && !once_->recipes()))
    once_ = std::make_shared<NodeByNode>(session_, root_.nodes, form_ ? made_by_nodes_ : graph_->outputs, converted_, recipes);
  return once_->given_back() <= kMostGivenBack ? once_ : nullptr;
}

/* Is the result a constant, or did a plan know it beforehand? A caller must not get that array. */
bool Runner::IsKept(const std::string& name, const Stages& stages) const {
  for (const auto& stage : stages)
    for (const auto& result : stage->results)
      if (result.second.output < 0 && result.first == name) return true;
  return session_->ConstantNamed(name) != nullptr;
}

/* A body's nodes; the plan that did it, if one did all. */
std::shared_ptr<Stage> Runner::RunNodes(Env* env) {
  const std::string types = TypesOf(root_, *env);
  if (const auto once = OnceForRound(types, *env)) {
    RunOnce(*once, env);
    return nullptr;
  }
  Stages stages;
  RunFrom(&root_, types, {}, env, &stages);
  return stages.size() == 1 ? stages[0] : nullptr;
}

// Elements of a sequence that nodes read are inputs of a plan, each with its shape. In a Loop that
// reads or fills one, nearly every round would have a plan of its own. Elements that are taken in
// steps may have ever new shapes, too; those that come again get a plan.
std::shared_ptr<const NodeByNode> Runner::OnceForRound(const std::string& types, const Env& env) {
  constexpr size_t kMostMet = 1024;
  const bool sequences = std::any_of(root_.needed.begin(), root_.needed.end(), [&](const std::string& name) {
    const auto it = env.find(name);
    return it != env.end() && it->second.kind == Value::kSequence;
  });
  if (!sequences && !form_->has_steps()) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (root_.stages.empty()) return nullptr;
  if (!sequences) {
    if (met_.size() > kMostMet) met_.clear();
    if (!met_.insert(types).second) return nullptr;
    if (std::any_of(root_.stages.begin(), root_.stages.end(), [&](const auto& s) { return s->types == types; })) return nullptr;
  }
  return IsQuick(env) ? Once(true) : nullptr;
}

/* Runs a stage and those that follow it. Was its plan not there? */
bool Runner::RunFrom(Pending* pending, const std::string& types, const std::map<std::string, NDArray>& into, Env* env, Stages* stages) {
  bool made = false, more = false;
  stages->push_back(Find(pending, *env, types, &made));
  while (true) {
    Execute(*stages->back(), into, env);
    Pending* const rest = stages->back()->rest.get();
    if (!rest) return made;
    if (!rest->is_part) Drop(*rest, env);
    stages->push_back(Find(rest, *env, TypesOf(*rest, *env), &more));
  }
}

void Runner::RunParts(Parts* parts, const std::map<std::string, NDArray>& into, Env* env, Stages* stages) {
  bool stale = false;  // another dimension than before has changed
  for (Parts::Part& part : parts->list) {
    const bool made = RunFrom(&part.pending, TypesOf(part.pending, *env), into, env, stages);
    for (const std::string& name : part.last) env->erase(name);
    stale = stale || (made && !part.changes);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (stale && parts->complete && parts_.get() == parts) parts_.reset();
  parts->complete = true;
}

}  // namespace onnx
}  // namespace mxnet
