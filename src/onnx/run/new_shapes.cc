// How calls are run whose shapes are new, and when a plan is worth making.
#include <algorithm>
#include <chrono>
#include <limits>

#include "base/threads/borrowed_team.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "mxnet/op.h"
#include "onnx/run/stage.h"
#include "operator/record/draws_in_training.h"
#include "storage/purge_thread.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr size_t kRecentCalls = 4;          // a shape among so many, or a quarter of the plans that are kept, gets a plan
constexpr size_t kMostOfQuick = 16384;      // nodes of a graph that may run node by node,
constexpr size_t kMostOfCut = 8;            // of a model whose stages are plans, and nodes that run on arrays anyway,
constexpr size_t kMostPreparing = 256;      // and of one whose kernels prepare for each shape (PreparesForShape)
constexpr double kNsOfPlan = 300000;        // about what a new plan costs,
constexpr double kNsOfPlanNode = 8000;      // and each node of it,
constexpr double kNsOfRoundNode = 4000;     // less where plans of a body may serve many rounds
constexpr int kMostTimed = 6;               // runs of a plan, behind the first
constexpr int kBeforeRehearsal = 5;         // calls with the same shapes: they tell how long a plan runs
constexpr double kSmaller = 8;              // times: what comes may be that much smaller than what stayed
constexpr double kNsOfRehearsed = 2000000;  // the longest: what longer ones leave in memory is more than what they save
constexpr double kRehearseAgain = 300;      // times as long as a rehearsal calls take before the next one,
constexpr double kNsOfAgain = 200000;       // the longest that is done more than twice: nobody should wait for a longer one
constexpr double kNever = 1e9;
constexpr int kSoonAgain = 50;              // and calls before the second, since the first one writes recipes
constexpr size_t kMostGivenBack = 1 << 20;  // bytes of weights that a run may read from the file, to keep forms of its own,
constexpr size_t kPartGivenBack = 16;       // or this part of all
constexpr double kUnplanned = 0.3;          // how much longer nodes one by one run than a plan, by itself, until they have told,
constexpr double kUnprepared = 1;           // and where kernels prepare for each shape
constexpr int kTellAgain = 8;               // calls
constexpr int kMostOnce = 16;               // calls with the same shapes that run node by node, whatever they lose

/* A thread of the engine that ran something once has a team of threads from then on, and threads of
 * two teams sleep between loops (borrowed_team.h). Where one call after another runs on its caller,
 * as while a cache grows, the caller's team is to be the only one. */
void AskForTeam() {
  constexpr unsigned kAsks = 32;  // several threads may call, and one gets it
  static thread_local unsigned asked = 0;
  if (OpenTeams() <= (HasTeam() ? 1 : 0) || asked++ % kAsks != 1) return;
  Engine::Get()->PushSync([](RunContext) { GiveBackOwnTeam(); }, Context::CPU(), {}, {}, FnProperty::kNormal, 0, "give back threads");
}

/* What nobody reads any more gives its memory back. */
void Drop(const Pending& pending, Env* env) {
  for (auto it = env->begin(); it != env->end();)
    it = std::binary_search(pending.needed.begin(), pending.needed.end(), it->first) ? std::next(it) : env->erase(it);
}

}  // namespace

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

/* What the plan that was used last takes by itself, of those that were timed if some were.
 * REQUIRES: a plan. */
Runner::Planned Runner::OfPlans() const {
  for (const auto& stage : root_.stages) {
    const Planned planned = OfPlan(*stage);
    if (planned.measured) return planned;
  }
  return OfPlan(*root_.stages.front());
}

Runner::Planned Runner::OfPlan(const Stage& first) {
  Planned planned;
  planned.elements = std::max(1.0, first.elements);
  for (const Stage* stage = &first; stage;) {
    const double measured = stage->fastest_ns.load(std::memory_order_relaxed);
    // What a plan took with all prepared says little of a call by itself.
    planned.prepares = planned.prepares || stage->prepares;
    planned.measured = planned.measured && !planned.prepares && (!stage->op || measured < kNotTimed);
    if (stage->op) planned.ns += planned.measured ? measured : stage->op->Stats().forward_ns;
    stage = stage->rest && !stage->rest->stages.empty() ? stage->rest->stages.front().get() : nullptr;
  }
  return planned;
}

/* What is lost where a call runs node by node, in nanoseconds. */
double Runner::LostOnce(const Planned& planned, double elements) const {
  if (!planned.prepares && grows_) {
    const double by_plan = times_.Planned(elements), once = times_.Once(elements);
    if (once < CallTimes::kUnknown)
      return by_plan < CallTimes::kUnknown ? std::max(0.0, once - by_plan) : once * kUnplanned / (1 + kUnplanned);
    if (by_plan < CallTimes::kUnknown) return by_plan * kUnplanned;
  }
  return planned.ns / planned.elements * elements * (planned.prepares || !grows_ ? kUnprepared : kUnplanned);
}

/* Do so many calls node by node lose less time for inputs of so many elements than making a plan
 * takes? They round otherwise than a plan, so that the calls before would show in the bits of a
 * result. REQUIRES: a plan. */
bool Runner::IsQuick(double elements, int calls) const {
  if (mxnet::Env::Get().enforce_determinism) return false;
  const Stage& made = *root_.stages.front();
  if (session_->options().ctx.is_gpu() || session_->precision() != kFloat32) return false;
  const bool cut = !made.op || made.rest || !made.host.empty();
  if (IsModel() && cut && root_.nodes.size() > kMostOfCut) return false;
  const auto runs_graphs = [](const NodeProto* n) { return ControlOf(*n) || IsIf(*n) || n->of_stage; };
  if (!once_ && (root_.nodes.size() > kMostOfQuick || std::any_of(root_.nodes.begin(), root_.nodes.end(), runs_graphs))) return false;
  const Planned planned = OfPlans();
  if (planned.prepares && root_.nodes.size() > kMostPreparing) return false;
  const double nodes = static_cast<double>(root_.nodes.size());
  double making = (grows_ ? kNsOfPlan : 0) + (grows_ && !planned.prepares ? kNsOfPlanNode : kNsOfRoundNode) * nodes;
  if (times_.Made() < CallTimes::kUnknown) making = times_.Made();
  return calls * LostOnce(planned, elements) <= making;
}

/* How this call is to be run. Nodes one by one take what the file has for weights. */
Runner::Way Runner::WayFor(const std::string& types, const Env& env) {
  if (session_->options().learns || session_->Replaces(env)) return {};
  std::lock_guard<std::mutex> lock(mutex_);
  if (recent_.empty() || recent_.front().types != types) {
    const auto found = std::find_if(recent_.begin(), recent_.end(), [&](const Recent& r) { return r.types == types; });
    const Recent recent = found == recent_.end() ? Recent{types} : *found;
    if (found != recent_.end()) recent_.erase(found);
    recent_.push_front(recent);
    if (recent_.size() > std::max(kRecentCalls, KeptPlans(root_) / 4)) recent_.pop_back();
  } else if (recent_.front().planned) {
    return {nullptr, ToRehearse(env)};
  }
  Recent& recent = recent_.front();
  const auto has_plan = [&] {
    return std::any_of(root_.stages.begin(), root_.stages.end(), [&](const auto& stage) { return stage->types == types; });
  };
  recent.planned = recent.planned || !grows_ || root_.stages.empty() || has_plan();
  if (recent.planned) return {};
  const std::shared_ptr<const NodeByNode> once = OnceFor(env, recent.once);
  recent.planned = !once;
  ++recent.once;
  return {once, nullptr};
}

/* Null: a plan is to be made, since `before` calls node by node and this one lose more than that
 * takes: nobody knows how often the shape will come again, so no more than twice the least is spent
 * on it. Times say so where others computed on these cores, too, while calls ran node by node; so
 * one in some calls tells again. */
std::shared_ptr<const NodeByNode> Runner::OnceFor(const Env& env, int before) {
  const double elements = ElementsOf(env);
  const bool tells_again = before == 0 && once_ && times_.Once(elements) < CallTimes::kUnknown && ++known_once_ % kTellAgain == 0;
  if (before >= kMostOnce || (!IsQuick(elements, before + 1) && !tells_again)) return nullptr;
  const std::shared_ptr<const NodeByNode> once = Once(met_once_);
  met_once_ = true;
  return once;
}

/*
 * One of the first calls of a model whose sizes are free runs node by node, too: what a new shape
 * would wait for is there then (tables of the steps and their recipes, forms of small weights, code
 * in the processor's caches). The thread that gives memory back is started for any of them. Null:
 * there is nothing to rehearse, or it was done a moment ago.
 *
 * It is done twice, and where it takes little time now and then, in one of 300 parts of the time:
 * what is not used for some tenths of a second leaves the caches, and the host of a virtual machine
 * may take its pages out of the tables that lead there. A tiny model is computed in a tenth of the
 * time that its code takes to come back.
 */
std::shared_ptr<const NodeByNode> Runner::ToRehearse(const Env& env) {
  if (rehearse_every_ > 0) {
    if (++since_rehearsal_ < rehearse_every_) return nullptr;
    since_rehearsal_ = 0;
    return IsQuick(ElementsOf(env)) ? Once(true) : nullptr;
  }
  if (same_again_ >= kBeforeRehearsal || !grows_ || !IsModel() || root_.stages.empty() || ++same_again_ < kBeforeRehearsal) return nullptr;
  const auto is_free = [](const ValueInfo& v) {
    return !v.has_shape || std::any_of(v.dims.begin(), v.dims.end(), [](const Dimension& d) { return d.size < 0; });
  };
  if (std::none_of(session_->inputs().begin(), session_->inputs().end(), is_free)) return nullptr;
  if (!session_->options().ctx.is_gpu()) storage::PurgeThread::Wake();  // memory of this shape is the first that it looks after
  if (!IsQuick(ElementsOf(env) / kSmaller)) return nullptr;
  bool draws = false;  // random numbers, which are the caller's
  DFSVisit(root_.stages.front()->symbol.outputs,
           [&](const NodePtr& n) { draws = draws || (!n->is_variable() && DrawsInInference(*n->op())); });
  if (draws) return nullptr;
  const std::shared_ptr<const NodeByNode> once = Once(true);
  return root_.stages.front()->fastest_ns.load(std::memory_order_relaxed) > kNsOfRehearsed ? nullptr : once;
}

void Runner::Rehearse(const NodeByNode& once, Env env) {
  double ns = 0;
  try {
    ns = RunOnce(once, &env);
  } catch (const Error&) {  // plans do without it
    LeaveOnce();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (++rehearsals_ == 1) {
    rehearse_every_ = kSoonAgain;
    return;
  }
  rehearsal_ns_ = std::min(rehearsal_ns_, ns);  // others computed on these cores, too
  const double planned = root_.stages.front()->fastest_ns.load(std::memory_order_relaxed);
  const double rests = kRehearseAgain * std::max(1.0, rehearsal_ns_ / planned);
  rehearse_every_ = static_cast<int>(rehearsal_ns_ > kNsOfAgain ? kNever : std::min(rests, kNever));
}

/* From now on new shapes get plans. */
void Runner::LeaveOnce() {
  std::lock_guard<std::mutex> lock(mutex_);
  never_once_ = true;
  once_.reset();
}

/* Returns nanoseconds. */
double Runner::RunOnce(const NodeByNode& once, Env* env) {
  const bool tells = grows_ && once.recipes();
  const double elements = ElementsOf(*env);
  if (!session_->options().ctx.is_gpu()) AskForTeam();
  const auto begin = std::chrono::steady_clock::now();
  once.Run(env);
  const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - begin;
  if (once.read_again() > once.weight_bytes() + kMostGivenBack) LeaveOnce();  // it reads them again and again
  if (!tells) return ns.count();
  std::lock_guard<std::mutex> lock(mutex_);
  times_.PutOnce(elements, ns.count());
  return ns.count();
}

/* `recipes`: many calls may want them. What plans have made of weights is read then, instead of the
 * weights. REQUIRES: a plan, and a graph that is quick. */
std::shared_ptr<const NodeByNode> Runner::Once(bool recipes) {
  if (never_once_) return nullptr;
  const auto make = [&](bool with) {
    once_ = std::make_shared<NodeByNode>(session_, root_.nodes, form_ ? made_by_nodes_ : graph_->outputs, converted_, with);
  };
  if (!once_ || (recipes && !once_->recipes())) make(recipes);
  const auto reads_too_much = [&] { return once_->given_back() > std::max(kMostGivenBack, once_->weight_bytes() / kPartGivenBack); };
  if (!once_->recipes() && reads_too_much()) make(true);
  return reads_too_much() ? nullptr : once_;
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
  if ((!sequences && !form_->has_steps()) || session_->options().learns || session_->Replaces(env)) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (root_.stages.empty()) return nullptr;
  if (!sequences) {
    if (met_.size() > kMostMet) met_.clear();
    if (!met_.insert(types).second) return nullptr;
    if (std::any_of(root_.stages.begin(), root_.stages.end(), [&](const auto& s) { return s->types == types; })) return nullptr;
  }
  return IsQuick(ElementsOf(env)) ? Once(true) : nullptr;
}

/* By plans. Runs that are timed wait for what they give (InvokeTimed). */
void Runner::RunPlanned(const std::string& types, const std::map<std::string, NDArray>& into, Env* env, Stages* stages) {
  const double elements = ElementsOf(*env);
  const auto begin = std::chrono::steady_clock::now();
  RunFrom(&root_, types, into, env, stages);
  const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - begin;
  double made = 0;
  for (const auto& stage : *stages) {
    const int timed = stage->timed.load(std::memory_order_relaxed);
    if (stage->op && (timed == 0 || timed > kMostTimed)) return;
    if (timed == 1) made += stage->build_ns + stage->op->Stats().compile_ns;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (made > 0) times_.PutMade(made);
  times_.PutPlanned(elements, std::max(0.0, ns.count() - made));
}

/* Runs a stage and those that follow it. */
void Runner::RunFrom(Pending* pending, const std::string& types, const std::map<std::string, NDArray>& into, Env* env, Stages* stages) {
  stages->push_back(Find(pending, *env, types));
  while (true) {
    Execute(*stages->back(), into, env);
    Pending* const rest = stages->back()->rest.get();
    if (!rest) return;
    Drop(*rest, env);
    stages->push_back(Find(rest, *env, TypesOf(*rest, *env)));
  }
}

}  // namespace onnx
}  // namespace mxnet
