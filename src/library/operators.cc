// Records of the operators that users' libraries bring.
#include <algorithm>
#include <cstdlib>

#include "base/device/device_interface.h"
#include "library/library.h"
#include "library/texts.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "operator/record/async_call.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace library {
namespace {

struct LoadedOp {
  std::shared_ptr<const Library> library;
  size_t index;
  MXExtOp facts;
  const MXExtLibrary& table() const { return *library->table; }
  bool Has(const char* what, bool on_gpu) const { return facts.has(index, what, on_gpu ? "gpu" : "cpu") != 0; }
  bool HasOnAny(const char* what) const { return Has(what, false) || Has(what, true); }
  bool stateful() const { return HasOnAny("state"); }
  [[noreturn]] void Fail(const std::string& what) const {
    MXNET_THROW(Generic) << "[" << facts.name << "] " << what << " failed" << Why(*library);
  }
};
using LoadedOpPtr = std::shared_ptr<const LoadedOp>;

/* One use of an operator. */
struct LoadedParam {
  LoadedOpPtr op;
  AttrDict dict;
  int num_in = 0, num_out = 0;
  std::vector<int> mutated;
  std::shared_ptr<const Symbol> subgraph;  // of an operator that stands for one
  mutable std::shared_ptr<OpState> state;  // of an eager call
};

const LoadedParam& ParamOf(const Attrs& a) {
  MXNET_CHECK_KIND(a.param != nullptr, Value) << "[" << a.op->name << "] has no parameters of the forward operator";
  return a.get<LoadedParam>();
}

// ---- parameters

void ReadSubgraph(LoadedParam* p, const std::string& json) {
  auto graph = std::make_shared<Symbol>(SymbolFromJSON(json));
  const IndexedGraph g(graph->outputs);
  p->num_in = static_cast<int>(g.input_nodes.size());
  p->num_out = static_cast<int>(g.outputs.size());
  for (int i = 0; i < p->num_in; ++i)
    if (g.is_mutable_input[i]) p->mutated.push_back(i);
  p->subgraph = std::move(graph);
}

void ReadMutated(LoadedParam* p) {
  const LoadedOp& op = *p->op;
  const Texts texts(p->dict);
  if (!op.table().mutate_inputs(op.index, texts.get(), &p->mutated,
                                [](void* to, int value) { static_cast<std::vector<int>*>(to)->push_back(value); }))
    op.Fail("mutateInputs");
  std::sort(p->mutated.begin(), p->mutated.end());
  p->mutated.erase(std::unique(p->mutated.begin(), p->mutated.end()), p->mutated.end());
  for (int i : p->mutated)
    MXNET_CHECK_KIND(i >= 0 && i < p->num_in, Value)
        << "[" << op.facts.name << "] mutateInputs gave the input " << i << "; accepted: 0 to " << p->num_in - 1;
}

void CheckDense(const LoadedParam& p) {
  const LoadedOp& op = *p.op;
  std::vector<int> in(p.num_in, 0), out(p.num_out, -1);
  const Texts texts(p.dict);
  if (!op.table().infer_storage(op.index, texts.get(), in.data(), in.size(), out.data(), out.size())) op.Fail("inferSType");
  for (const auto* list : {&in, &out})
    for (int storage : *list)
      MXNET_CHECK_KIND(storage <= 0, Value) << "[" << op.facts.name << "] inferSType gave the storage type " << storage
                                            << "; accepted: 0, dense arrays";
}

std::shared_ptr<const void> Parse(const LoadedOpPtr& op, const AttrDict& dict) {
  auto p = std::make_shared<LoadedParam>();
  p->op = op;
  p->dict = dict;
  const auto graph = dict.find("subgraph_sym_json");
  if (op->facts.is_subgraph && graph != dict.end()) {
    ReadSubgraph(p.get(), graph->second);
    if (op->facts.has_mutate_inputs) ReadMutated(p.get());
    return p;
  }
  MXNET_CHECK_KIND(op->Has("parse", false), Value)
      << "[" << op->facts.name << "] stands for a part of a graph; accepted: subgraph_sym_json, which a partitioner gives it";
  const Texts texts(p->dict);
  if (!op->table().parse(op->index, texts.get(), &p->num_in, &p->num_out)) op->Fail("parseAttrs");
  const auto extra = dict.find("__ext_extra_inputs__");
  if (extra != dict.end()) p->num_in += std::atoi(extra->second.c_str());
  MXNET_CHECK_KIND(p->num_in >= 0 && p->num_in <= 4096 && p->num_out > 0 && p->num_out <= 4096, Value)
      << "[" << op->facts.name << "] parseAttrs gave " << p->num_in << " inputs and " << p->num_out
      << " outputs; accepted: 0 to 4096, 1 to 4096";
  if (op->facts.has_mutate_inputs) ReadMutated(p.get());
  if (op->facts.infers_storage) CheckDense(*p);
  return p;
}

std::vector<std::string> ListInputs(const Attrs& a) {
  const LoadedParam& p = ParamOf(a);
  if (p.subgraph) return p.subgraph->ListInputNames(Symbol::kAll);
  if (p.num_in == 1) return {"data"};
  std::vector<std::string> names;
  for (int i = 0; i < p.num_in; ++i) names.push_back("data" + std::to_string(i));
  return names;
}

// ---- inference

bool AllKnown(const ShapeVector& shapes) {
  return std::all_of(shapes.begin(), shapes.end(), [](const Shape& s) { return s.known(); });
}
bool AllKnown(const std::vector<int>& dtypes) { return std::count(dtypes.begin(), dtypes.end(), int{kDTypeUnknown}) == 0; }

/* What the part of a graph says for itself. */
template <typename T>
void InferSubgraph(const LoadedParam& p, GraphInference how, T TensorType::*part, std::vector<T>* in, std::vector<T>* out) {
  const IndexedGraph g(p.subgraph->outputs);
  TensorTypes entries(g.num_entries());
  for (size_t i = 0; i < g.input_nodes.size(); ++i) entries[g.eid(g.input_nodes[i], 0)].*part = (*in)[i];
  how.switches.in_graph = true;
  InferEntries(g, &entries, how);
  for (size_t i = 0; i < g.input_nodes.size(); ++i) (*in)[i] = entries[g.eid(g.input_nodes[i], 0)].*part;
  for (size_t i = 0; i < g.outputs.size(); ++i) (*out)[i] = entries[g.eid(g.outputs[i])].*part;
}

bool InferShape(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  const LoadedParam& p = ParamOf(attrs);
  const LoadedOp& op = *p.op;
  if (!op.facts.infers_shape) {
    if (p.subgraph) {
      GraphInference how;
      how.dtypes = false;
      how.switches = switches;
      InferSubgraph(p, how, &TensorType::shape, in, out);
    } else if (p.num_in > 0) {
      for (Shape& s : *out) AssignShape(attrs, "the result", &s, (*in)[0]);
    }
    return AllKnown(*in) && AllKnown(*out);
  }
  const bool complete = AllKnown(*in);
  if (!complete && std::none_of(in->begin(), in->end(), [](const Shape& s) { return s.known(); })) return false;
  ShapeLists lists;
  for (const auto* list : {in, out})
    for (const Shape& s : *list) lists.Add(s);
  struct Found {
    ShapeVector in, out;
  } found{ShapeVector(in->size()), ShapeVector(out->size())};
  const auto put = [](void* to, int of_output, size_t i, const uint32_t* dims, size_t ndim) {
    ShapeVector& shapes = of_output ? static_cast<Found*>(to)->out : static_cast<Found*>(to)->in;
    if (i < shapes.size() && ndim > 0) shapes[i] = Shape(std::vector<int64_t>(dims, dims + ndim));
  };
  const Texts texts(p.dict);
  if (!op.table().infer_shape(op.index, texts.get(), in->size(), out->size(), lists.ndims.data(), lists.dims.data(), &found, put)) {
    const std::string why = Why(*op.library);
    if (!complete) return false;  // it may need the others
    MXNET_THROW(Value) << "[" << op.facts.name << "] inferShape failed" << why;
  }
  const std::vector<std::string> names = ListInputs(attrs);
  for (size_t i = 0; i < in->size(); ++i)
    if (found.in[i].known()) AssignShape(attrs, names[i].c_str(), &(*in)[i], found.in[i]);
  for (size_t i = 0; i < out->size(); ++i)
    if (found.out[i].known()) AssignShape(attrs, "the result", &(*out)[i], found.out[i]);
  return AllKnown(*in) && AllKnown(*out);
}

bool InferType(const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
  const LoadedParam& p = ParamOf(attrs);
  const LoadedOp& op = *p.op;
  if (!op.facts.infers_type) {
    if (!p.subgraph) return SameType(attrs, in, out);
    GraphInference how;
    how.shapes = false;
    how.switches = switches;
    InferSubgraph(p, how, &TensorType::dtype, in, out);
    return AllKnown(*in) && AllKnown(*out);
  }
  const bool complete = AllKnown(*in);
  if (!complete && std::count(in->begin(), in->end(), int{kDTypeUnknown}) == static_cast<int>(in->size())) return false;
  std::vector<int> ins = *in, outs = *out;
  const Texts texts(p.dict);
  if (!op.table().infer_type(op.index, texts.get(), ins.data(), ins.size(), outs.data(), outs.size())) {
    const std::string why = Why(*op.library);
    if (!complete) return false;
    MXNET_THROW(Value) << "[" << op.facts.name << "] inferType failed" << why;
  }
  const std::vector<std::string> names = ListInputs(attrs);
  const auto assign = [&](const char* name, int* into, int value) {
    MXNET_CHECK_KIND(value >= kDTypeUnknown && (value < kNumDTypes || value == 100), Type)
        << "[" << op.facts.name << "] inferType gave the dtype number " << value << "; accepted: 0 to " << kNumDTypes - 1;
    if (value != kDTypeUnknown && value != 100) AssignType(attrs, name, into, value);  // 100: kUNSET
  };
  for (size_t i = 0; i < ins.size(); ++i) assign(names[i].c_str(), &(*in)[i], ins[i]);
  for (size_t i = 0; i < outs.size(); ++i) assign("the result", &(*out)[i], outs[i]);
  return AllKnown(*in) && AllKnown(*out);
}

/* Gradients are like the inputs, which follow the gradients of the results. */
bool InferGradShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const LoadedParam& p = ParamOf(attrs);
  for (int i = 0; i < p.num_in; ++i) AssignShape(attrs, "gradient", &(*out)[i], (*in)[p.num_out + i]);
  return AllKnown(*out);
}
bool InferGradType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const LoadedParam& p = ParamOf(attrs);
  for (int i = 0; i < p.num_in; ++i) AssignType(attrs, "gradient", &(*out)[i], (*in)[p.num_out + i]);
  return AllKnown(*out);
}

// ---- computing

/* Memory and random numbers of one call. */
struct CallResources {
  const KernelArgs* args;
  RandomState* random;
  std::vector<NDArray> blocks;

  void* Block(size_t bytes, Context ctx) {
    blocks.emplace_back(Shape{static_cast<int64_t>(std::max<size_t>(bytes, 1))}, ctx, kUint8);
    return blocks.back().data().dptr<void>();
  }
  static void* AllocCpu(void* self, size_t bytes) { return static_cast<CallResources*>(self)->TryBlock(bytes, Context::CPU()); }
  static void* AllocGpu(void* self, size_t bytes) {
    const Context ctx = static_cast<CallResources*>(self)->args->run.ctx;
    return ctx.is_gpu() ? static_cast<CallResources*>(self)->TryBlock(bytes, ctx) : nullptr;
  }
  /* No exception may pass through a library. */
  void* TryBlock(size_t bytes, Context ctx) noexcept {
    try {
      return Block(bytes, ctx);
    } catch (const std::exception&) {
      return nullptr;
    }
  }
  static uint64_t Draw(void* self) {
    RandomState* random = static_cast<CallResources*>(self)->random;
    uint64_t z = random->seed() * 0x9e3779b97f4a7c15ull + random->Take(1) + 1;  // SplitMix64 (Steele et al., OOPSLA 2014)
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
};

void Compute(const LoadedParam& p, void* state, RandomState* random, const KernelArgs& a, bool backward) {
  const LoadedOp& op = *p.op;
  const bool on_gpu = a.run.ctx.is_gpu();
  CallResources resources{&a, random, {}};
  std::vector<MXExtTensor> in, out;
  for (int i = 0; i < a.in.size(); ++i) in.push_back(TensorOf(a.in[i], a.in_versions.empty() ? 0 : a.in_versions[i]));
  for (int i = 0; i < a.out.size(); ++i) {
    out.push_back(TensorOf(a.out[i], 0));
    const size_t bytes = a.out[i].Bytes();
    if (!out.back().data && bytes > 0) out.back().data = resources.Block(bytes, a.run.ctx);  // a result that nobody reads
  }
  const MXExtResource offered = {&resources, CallResources::AllocCpu, CallResources::AllocGpu, a.run.stream, CallResources::Draw};
  const Texts texts(p.dict);
  if (!op.table().compute(op.index, state, backward, on_gpu ? "gpu" : "cpu", texts.get(), in.data(), in.size(), out.data(), out.size(),
                          &offered))
    op.Fail(backward ? "backward" : "forward");
  // Blocks go back to a pool that knows nothing of the stream's work.
  if (on_gpu && !resources.blocks.empty() && GpuInterface().streams) GpuInterface().streams->synchronize(a.run.stream);
}

void SetKernels(Op* record, const LoadedOpPtr& op, bool backward) {
  record->set_uses_random();
  const char* what = backward ? "backward" : "forward";
  for (const bool on_gpu : {false, true}) {
    Kernel kernel = [backward](KernelArgs& a) { Compute(ParamOf(*a.attrs), nullptr, a.random, a, backward); };
    if (!op->Has(what, on_gpu))
      kernel = [name = std::string(op->facts.name), what, on_gpu](KernelArgs&) {
        MXNET_THROW(Value) << "[" << name << "] the library has no " << what << " for " << (on_gpu ? "GPUs" : "the CPU")
                           << "; accepted: contexts of " << (on_gpu ? "the CPU" : "GPUs");
      };
    record->set_kernel(on_gpu ? DeviceType::kGPU : DeviceType::kCPU, std::move(kernel));
  }
}

// ---- operators with a state

struct LoadedState : OpState {
  LoadedParam param;  // without a state of its own
  void* object = nullptr;
  RandomState random;
  ~LoadedState() override {
    if (object) param.op->table().delete_state(object);
  }
};

/* A seed that follows mx.random.seed. */
uint64_t FreshSeed(Context ctx) {
  Imperative::RandomResource* random = Imperative::Random(ctx.execution());
  uint64_t seed = 0;
  Engine::Get()->PushSync([&](RunContext) { seed = random->state.seed() ^ (random->state.Take(1) << 20); }, ctx.execution(), {},
                          {random->var}, FnProperty::kNormal, 0, "random seed");
  Engine::Get()->WaitForVar(random->var);
  return seed;
}

std::shared_ptr<OpState> MakeState(const Attrs& attrs, Context ctx, const TensorTypes& in) {
  const LoadedParam& p = ParamOf(attrs);
  const LoadedOp& op = *p.op;
  const char* device = ctx.is_gpu() ? "gpu" : "cpu";
  MXNET_CHECK_KIND(op.Has("state", ctx.is_gpu()), Value)
      << "[" << op.facts.name << "] on " << ctx << "; accepted: contexts that setCreateOpState was given a function for";
  auto state = std::make_shared<LoadedState>();
  state->param = p;
  state->param.state = nullptr;
  ShapeLists lists;
  std::vector<int> types;
  for (const TensorType& t : in) lists.Add(t.shape), types.push_back(t.dtype);
  const Texts texts(p.dict);
  if (!op.table().create_state(op.index, texts.get(), device, ctx.dev_id, in.size(), lists.ndims.data(), lists.dims.data(), types.data(),
                               &state->object))
    op.Fail("createOpState");
  state->random.Seed(FreshSeed(ctx));
  return state;
}

template <bool kBackward>
void Start(const KernelArgs& args, const std::shared_ptr<OpState>& held, OnComplete done) {
  std::exception_ptr error;
  try {
    auto& state = static_cast<LoadedState&>(*held);
    Compute(state.param, state.object, &state.random, args, kBackward);
    if (args.run.ctx.is_gpu() && GpuInterface().streams) GpuInterface().streams->synchronize(args.run.stream);
  } catch (...) {
    error = std::current_exception();
  }
  done(error);
}

AttrsPtr ForCall(const AttrsPtr& attrs) {
  if (!attrs->param) return attrs;
  auto param = std::make_shared<LoadedParam>(attrs->get<LoadedParam>());
  param->state = nullptr;
  auto copy = std::make_shared<Attrs>(*attrs);
  copy->param = std::move(param);
  return copy;
}

std::shared_ptr<OpState>* StateSlot(const Attrs& attrs) { return &ParamOf(attrs).state; }

// ---- records

std::vector<NodeEntry> LoadedGradient(const std::string& backward, const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const LoadedParam& p = ParamOf(*node->attrs);
  std::vector<NodeEntry> inputs(ograds.begin(), ograds.begin() + p.num_out);
  inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
  for (int i = 0; i < p.num_out; ++i) inputs.push_back({node, static_cast<uint32_t>(i), 0});
  const NodePtr back = MakeNodeLike(backward, *node, std::move(inputs));
  std::vector<NodeEntry> grads(node->inputs.size());
  for (int i = 0; i < p.num_in; ++i)
    if (!std::count(p.mutated.begin(), p.mutated.end(), i)) grads[i] = {back, static_cast<uint32_t>(i), 0};
  return grads;
}

std::unique_ptr<Op> NewRecord(const std::string& name, const LoadedOpPtr& op) {
  auto record = std::make_unique<Op>();
  record->name = name;
  record->parse = [op](const AttrDict& dict) { return Parse(op, dict); };
  record->set_dtypes(dtypes::kAll).set_expensive_to_recompute();  // the library checks its own
  return record;
}

std::unique_ptr<Op> ForwardRecord(const LoadedOpPtr& op) {
  auto record = NewRecord(op->facts.name, op);
  record->description = std::string("An operator of the library ") + op->library->path + ".";
  record->params = {{"**attrs", "string", "Any other argument reaches the library as a text."}};
  record
      ->set_variadic(
          "data", [](const Attrs& a) { return ParamOf(a).num_in; }, "")
      .set_list_inputs(ListInputs)
      .set_num_outputs([](const Attrs& a) { return ParamOf(a).num_out; })
      .set_mutate_inputs([](const Attrs& a) { return ParamOf(a).mutated; })
      .set_infer_shape(InferShape)
      .set_infer_type(InferType);
  if (op->stateful())
    record->set_stateful().set_runs(RunBy::kAsync).set_trait(AsyncCall{Start<false>, MakeState, ForCall, StateSlot});
  else
    SetKernels(record.get(), op, false);
  return record;
}

std::unique_ptr<Op> BackwardRecord(const LoadedOpPtr& op, const std::string& name) {
  auto record = NewRecord(name, op);
  record->description = std::string("Gradient of ") + op->facts.name + ".";
  record
      ->set_variadic(
          "data", [](const Attrs& a) { return ParamOf(a).num_in + 2 * ParamOf(a).num_out; }, "")
      .set_num_outputs([](const Attrs& a) { return ParamOf(a).num_in; })
      .set_mutate_inputs([](const Attrs& a) {
        std::vector<int> mutated = ParamOf(a).mutated;
        for (int& i : mutated) i += ParamOf(a).num_out;
        return mutated;
      })
      .set_infer_shape(InferGradShape)
      .set_infer_type(InferGradType);
  if (op->stateful())
    record->set_stateful().set_runs(RunBy::kAsync).set_trait(AsyncCall{Start<true>, nullptr, nullptr, StateSlot});
  else
    SetKernels(record.get(), op, true);
  return record;
}

}  // namespace

void MakeRecords(const std::shared_ptr<const Library>& library, size_t index, std::vector<std::unique_ptr<Op>>* records) {
  auto op = std::make_shared<LoadedOp>();
  op->library = library;
  op->index = index;
  library->table->op(index, &op->facts);
  const char* name = op->facts.name;
  MXNET_CHECK(name[0] != '\0') << "[library] " << library->path << " registers an operator without a name";
  MXNET_CHECK(op->HasOnAny("forward") || op->stateful())
      << "[library] the operator " << name << " has neither setForward nor setCreateOpState; accepted: one of them";
  MXNET_CHECK(op->facts.is_subgraph || op->Has("parse", false)) << "[library] the operator " << name << " has no setParseAttrs";
  std::unique_ptr<Op> forward = ForwardRecord(op);
  if (op->stateful() || op->HasOnAny("backward")) {
    const std::string backward = std::string("_backward_") + name;
    forward->set_gradient(
        [backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) { return LoadedGradient(backward, node, ograds); });
    records->push_back(std::move(forward));
    records->push_back(BackwardRecord(op, backward));
  } else {
    records->push_back(std::move(forward));
  }
}

}  // namespace library
}  // namespace mxnet
