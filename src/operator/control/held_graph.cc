#include "operator/control/held_graph.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "operator/nodes/graph_operators.h"
#include "operator/record/recompute.h"
#include "operator/record/traits.h"
#include "rtc/loop.h"

namespace mxnet {
namespace control {
namespace {

/* Does running it again, from the same inputs, give the same and change nothing? */
bool CanRepeat(const Node& n) {
  if (n.is_variable()) return true;
  const uint32_t impurity = ImpurityOf(*n.attrs) & ~uint32_t{kKeepsState | kShapesFromValues};
  if (impurity & kRunsProgram) return false;  // it may keep for its gradient what it computed
  if (!(impurity & kHoldsGraphs)) return impurity == 0;
  for (const auto& graph : n.attrs->subgraphs)
    for (const NodePtr& inner : ReadSubgraph(*graph).nodes)
      if (!CanRepeat(*inner)) return false;
  return true;
}

/* The results of a node that cannot be repeated and are therefore kept: all but those that its
 * recomputation gives. */
std::vector<NodeEntry> KeptOf(const NodePtr& n) {
  std::vector<NodeEntry> kept;
  for (int o = FindRecomputeRule(*n->op()) ? 1 : 0; o < n->num_outputs(); ++o) kept.push_back({n, static_cast<uint32_t>(o), 0});
  return kept;
}

struct PairHash {
  size_t operator()(const std::pair<const Node*, uint32_t>& p) const { return std::hash<const Node*>()(p.first) * 31 + p.second; }
};

/* Gradients as the backward pass computes them: what was kept is read from variables. */
class Renewal {
 public:
  Renewal(const HeldGraph& graph, const std::vector<NodePtr>& kept) {
    for (const NodePtr& n : graph.parts.nodes) forward_.insert(n.get());
    for (size_t k = 0; k < kept.size(); ++k) {
      const NodeEntry& e = graph.parts.outputs[graph.num_results + k];
      kept_[{e.node.get(), e.index}] = kept[k];
    }
  }
  void Nodes(const std::vector<NodeEntry>& heads) {
    for (const NodePtr& n : ReadSubgraph(*OfSubgraphs().make(heads)).nodes) Renew(n);
  }
  NodeEntry operator()(const NodeEntry& e) const {
    auto k = kept_.find({e.node.get(), e.index});
    if (k != kept_.end()) return {k->second, 0, 0};
    auto r = renewed_.find(e.node.get());
    return r == renewed_.end() ? e : NodeEntry{r->second, e.index, e.version};
  }

 private:
  void Renew(const NodePtr& n) {
    if (n->is_variable()) return;
    const RecomputeRule* rule = forward_.count(n.get()) && !CanRepeat(*n) ? FindRecomputeRule(*n->op()) : nullptr;
    auto copy = std::make_shared<Node>();
    copy->name = n->name;
    copy->attrs = n->attrs;
    const size_t count = rule && rule->inputs >= 0 ? static_cast<size_t>(rule->inputs) : n->inputs.size();
    bool changed = rule != nullptr;
    for (size_t i = 0; i < count; ++i) {
      copy->inputs.push_back((*this)(n->inputs[i]));
      changed = changed || copy->inputs[i].node != n->inputs[i].node;
    }
    if (!changed) return;
    if (rule) {
      auto attrs = std::make_shared<Attrs>(*n->attrs);
      attrs->op = Op::Get(rule->op);
      copy->attrs = std::move(attrs);
      for (int o : rule->reads) copy->inputs.push_back((*this)({n, static_cast<uint32_t>(o), 0}));
    }
    renewed_[n.get()] = std::move(copy);
  }

  std::unordered_set<const Node*> forward_;
  std::unordered_map<std::pair<const Node*, uint32_t>, NodePtr, PairHash> kept_;
  std::unordered_map<const Node*, NodePtr> renewed_;
};

void CallOnBytes(const KernelArgs& args, const AttrsPtr& attrs, const TBlob* in, const TBlob& out) {
  const OpReq write = OpReq::kWrite;
  KernelArgs call;
  call.attrs = attrs.get();
  if (in) call.in = Span<const TBlob>(in, 1);
  call.out = Span<const TBlob>(&out, 1);
  call.req = Span<const OpReq>(&write, 1);
  call.run = args.run;
  call.workspace = args.workspace;
  (*attrs->op->KernelFor(args.run.ctx.dev_type))(call);
}

TBlob Bytes(const KernelArgs& args, void* at, size_t bytes) {
  TBlob blob;
  blob.dptr = at;
  blob.shape = Shape{static_cast<int64_t>(bytes)};
  blob.dtype = kUint8;
  blob.ctx = args.run.ctx;
  return blob;
}

}  // namespace

HeldGraph Hold(std::shared_ptr<Symbol> graph) {
  HeldGraph held;
  held.graph = std::move(graph);
  Subgraph given = ReadSubgraph(*held.graph);
  held.num_results = static_cast<int>(given.outputs.size());
  std::vector<NodeEntry> outputs = given.outputs;
  for (const NodePtr& n : given.nodes) {
    if (CanRepeat(*n)) continue;
    const std::vector<NodeEntry> kept = KeptOf(n);
    outputs.insert(outputs.end(), kept.begin(), kept.end());
  }
  held.whole = OfSubgraphs().make(std::move(outputs));
  held.parts = ReadSubgraph(*held.whole);
  std::unordered_set<const Node*> written;
  for (const NodePtr& n : held.parts.nodes)
    if (!n->is_variable())
      for (int i : n->op()->MutateInputs(*n->attrs))
        if (i < n->num_inputs()) written.insert(n->inputs[i].node.get());
  for (const NodePtr& v : held.parts.inputs) held.mutated.push_back(written.count(v.get()) != 0);
  if (held.parts.outputs.size() == 1 && written.empty()) {
    const NodePtr from = Original(held.parts.outputs[0]).node;
    const auto& inputs = held.parts.inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), from);
    if (at != inputs.end()) held.copied = static_cast<int>(at - inputs.begin());
  }
  return held;
}

NodeEntry Original(NodeEntry e) {
  while (!e.node->is_variable() && IsResultOf(e, Role::kCopy)) e = NodeEntry(e.node->inputs[0]);
  return e;
}

HeldGradient Differentiate(const HeldGraph& graph, const std::vector<char>& present) {
  HeldGradient made;
  std::vector<NodeEntry> ys, xs, heads;
  for (size_t o = 0; o < graph.parts.outputs.size(); ++o) {
    made.heads.push_back(MakeVariable("_ograd" + std::to_string(o)));
    if (!present[o]) continue;
    ys.push_back(graph.parts.outputs[o]);
    heads.push_back({made.heads[o], 0, 0});
  }
  for (const NodePtr& v : graph.parts.inputs) xs.push_back({v, 0, 0});
  for (int k = 0; k < graph.num_kept(); ++k) made.kept.push_back(MakeVariable("_kept" + std::to_string(k)));
  made.grads.resize(xs.size());
  if (ys.empty()) return made;
  made.grads = OfSubgraphs().gradient(ys, xs, heads);
  Renewal renew(graph, made.kept);
  std::vector<NodeEntry> found;
  for (const NodeEntry& g : made.grads)
    if (g) found.push_back(g);
  renew.Nodes(found);
  for (NodeEntry& g : made.grads)
    if (g) g = renew(g);
  return made;
}

std::shared_ptr<GraphRun> Programs::Take(const HeldGraph& graph, const Request& r) {
  constexpr size_t kMost = 16;  // programs: inputs of ever new shapes must not fill the memory
  std::string key;
  auto put = [&key](const void* p, size_t n) { key.append(static_cast<const char*>(p), n); };
  const int head[] = {static_cast<int>(r.ctx.dev_type), r.ctx.dev_id, r.is_train, r.switches.float64_default, r.switches.numpy_shapes};
  put(head, sizeof head);
  for (const TensorType& t : r.inputs) {
    const int about[] = {t.dtype, t.shape.ndim(), static_cast<int>(t.storage)};
    put(about, sizeof about);
    put(t.shape.dims(), sizeof(int64_t) * t.shape.ndim());
  }
  put(r.req.data(), r.req.size() * sizeof(OpReq));
  std::shared_ptr<Compiled> compiled;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto known = compiled_.find(key);
    if (known != compiled_.end()) {
      compiled = known->second;
    } else {
      if (compiled_.size() >= kMost) compiled_.clear();
      compiled = std::make_shared<Compiled>();
      SubgraphRequest request;
      std::vector<NodeEntry> outputs;
      for (size_t o = 0; o < r.req.size(); ++o) {
        if (r.req[o] == OpReq::kNull) continue;
        compiled->about.outputs.push_back(static_cast<int>(o));
        outputs.push_back(graph.parts.outputs[o]);
        request.req.push_back(r.req[o]);
      }
      request.graph = OfSubgraphs().make(std::move(outputs));
      std::unordered_map<const Node*, int> at;
      for (int i = 0; i < graph.num_inputs(); ++i) at[graph.parts.inputs[i].get()] = i;
      for (const NodePtr& v : ReadSubgraph(*request.graph).inputs) {
        compiled->about.inputs.push_back(at.at(v.get()));
        request.inputs.push_back(r.inputs[at.at(v.get())]);
      }
      request.ctx = r.ctx;
      request.is_train = r.is_train;
      request.switches = r.switches;
      compiled->program = CompileSubgraph(request);
      compiled_[key] = compiled;
    }
  }
  auto run = std::make_unique<GraphRun>();
  run->inputs = compiled->about.inputs;
  run->outputs = compiled->about.outputs;
  {
    std::lock_guard<std::mutex> lock(compiled->mutex);
    if (!compiled->idle.empty()) {
      run->run = std::move(compiled->idle.back());
      compiled->idle.pop_back();
    }
  }
  if (!run->run) run->run = compiled->program->NewRun();
  return std::shared_ptr<GraphRun>(run.release(), [compiled](GraphRun* used) {
    constexpr size_t kMostIdle = 4;
    std::lock_guard<std::mutex> lock(compiled->mutex);
    if (compiled->idle.size() < kMostIdle) compiled->idle.push_back(std::move(used->run));
    delete used;
  });
}

std::vector<char> ChangedInputs(const KernelArgs& args) {
  std::vector<char> changed(args.in.size(), 1);
  if (!args.state || !*args.state || args.in_versions.size() != args.in.size()) return changed;
  std::vector<uint64_t>& before = static_cast<KeptRuns&>(**args.state).versions;
  for (size_t i = 0; i < before.size(); ++i) changed[i] = before[i] != args.in_versions[static_cast<int>(i)];
  before.assign(args.in_versions.begin(), args.in_versions.end());
  return changed;
}

void NoteChanges(const KernelArgs& args, const std::vector<char>& changed, size_t runs) {
  if (!args.state || !*args.state) return;
  auto& stale = static_cast<KeptRuns&>(**args.state).stale;
  stale.resize(runs, std::vector<char>(changed.size(), 1));
  for (auto& of_run : stale)
    for (size_t i = 0; i < changed.size(); ++i) of_run[i] |= changed[i];
}

std::vector<char> ChangedSince(const KernelArgs& args, size_t which) {
  if (!args.state || !*args.state) return std::vector<char>(args.in.size(), 1);
  auto& stale = static_cast<KeptRuns&>(**args.state).stale[which];
  std::vector<char> changed(stale.size(), 0);
  changed.swap(stale);
  return changed;
}

void CopyBytes(const KernelArgs& args, const void* from, void* to, size_t bytes) {
  if (bytes == 0 || from == to) return;
  if (!args.run.ctx.is_gpu()) {
    std::memcpy(to, from, bytes);
    return;
  }
  const TBlob in = Bytes(args, const_cast<void*>(from), bytes);
  CallOnBytes(args, graph_ops::Copy(), &in, Bytes(args, to, bytes));
}

void ZeroBytes(const KernelArgs& args, void* at, size_t bytes) {
  if (bytes == 0) return;
  if (!args.run.ctx.is_gpu()) {
    std::memset(at, 0, bytes);
    return;
  }
  CallOnBytes(args, graph_ops::Zeros(), nullptr, Bytes(args, at, bytes));
}

void ReadNumber(const KernelArgs& args, const void* at, void* to, size_t bytes) {
  if (args.run.ctx.is_gpu())
    rtc::ReadBack(args.run, at, to, bytes);
  else
    std::memcpy(to, at, bytes);
}

bool ReadTruth(const KernelArgs& args, const void* at, int dtype) {
  unsigned char bytes[8] = {};
  const size_t size = DTypeSize(dtype);
  ReadNumber(args, at, bytes, size);
  if (IsFloating(dtype)) bytes[size - 1] &= 0x7f;  // -0 is zero
  return std::any_of(bytes, bytes + size, [](unsigned char b) { return b != 0; });
}

void WriteInt64(const KernelArgs& args, int64_t value, void* at) {
  if (!args.run.ctx.is_gpu()) {
    std::memcpy(at, &value, sizeof value);
    return;
  }
  const AttrsPtr attrs = MakeAttrs(Op::Get("_full"), {{"shape", "(1,)"}, {"value", std::to_string(value)}, {"dtype", "int64"}});
  TBlob out = Bytes(args, at, 1);
  out.dtype = kInt64;
  CallOnBytes(args, attrs, nullptr, out);
}

bool IsZeros(const NodeEntry& e) { return e && !e.node->is_variable() && e.node->op() == Op::Get("zeros_like"); }

std::vector<NodeEntry> BackwardNode::Make(const NodePtr& node, const std::vector<NodeEntry>& ograds) const {
  std::vector<NodeEntry> grads(node->inputs.size());
  if (!attrs) return grads;
  auto back = std::make_shared<Node>();
  back->attrs = attrs;
  const KeepsCallStates* keeps = node->op()->trait<KeepsCallStates>();
  if (const auto calls = keeps ? keeps->of(*node->attrs) : nullptr) back->attrs = attrs->op->trait<KeepsCallStates>()->with(*attrs, calls);
  back->name = node->name.empty() ? "" : node->name + "_backward";
  for (const Ref& ref : inputs) back->inputs.push_back(ref.Of(node, ograds));
  for (size_t i = 0; i < grads.size(); ++i)
    if (gives[i] >= 0) grads[i] = {back, static_cast<uint32_t>(gives[i]), 0};
  return grads;
}

}  // namespace control
}  // namespace mxnet
