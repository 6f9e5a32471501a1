// Custom: an operator that the program brings along, and its gradient.
#include "operator/custom/custom.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "base/threads/fork_guard.h"
#include "engine/waiting_work.h"
#include "mxnet/engine.h"
#include "mxnet/op.h"
#include "ndarray/sparse_copy.h"
#include "operator/custom/worker_threads.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/async_call.h"
#include "operator/record/dtypes.h"
#include "operator/record/infers_storage.h"
#include "operator/record/traits_graph.h"
#include "profiler/called_for.h"

namespace mxnet {
namespace custom {
namespace {

/*
 * How long the last call of forward took, and of backward: who waits for a long one does not run
 * it, nor one that is not known yet. Some calls are long only on another thread, which has to wait
 * for the interpreter: now and then one that is not very long is tried where it is waited for.
 */
struct Durations {
  static constexpr int64_t kLong = 250000, kVeryLong = 5000000;  // ns
  static constexpr uint32_t kBetweenTries = 16;
  std::atomic<int64_t> ns[2] = {kVeryLong, kVeryLong};
  std::atomic<uint32_t> long_ones[2] = {0, 0};

  bool MayRunInWait(bool backward) {
    const int64_t last = ns[backward].load(std::memory_order_relaxed);
    if (last < kLong) return true;
    return last < kVeryLong && long_ones[backward].fetch_add(1, std::memory_order_relaxed) % kBetweenTries == kBetweenTries - 1;
  }
};

struct Registered {
  Creator creator;
  std::shared_ptr<Durations> durations;
};

ForkMutex* const g_mutex = new ForkMutex(ForkLevel::kOperator);
std::map<std::string, Registered>* const g_creators = new std::map<std::string, Registered>;  // guarded by g_mutex

struct CustomParam {
  std::shared_ptr<const Prop> prop;
  std::shared_ptr<Durations> durations;
  mutable std::shared_ptr<OpState> state;  // of an eager call
};

struct CustomState : OpState {
  std::shared_ptr<const Prop> prop;
  std::shared_ptr<Durations> durations;
  std::shared_ptr<Operator> op;
};

const Prop& PropOf(const Attrs& a) {
  MXNET_CHECK_KIND(a.param != nullptr, Value) << "[" << a.op->name << "] has no op_type; accepted: the name of a registered operator";
  return *a.get<CustomParam>().prop;
}

std::shared_ptr<const void> ParseArguments(const std::string& op_type, const AttrDict& dict) {
  AttrDict arguments;
  for (const auto& kv : dict)
    if (kv.first != "op_type" && kv.first.compare(0, 2, "__") != 0) arguments.insert(kv);
  Registered registered;
  {
    std::lock_guard<ForkMutex> hold(*g_mutex);
    auto found = g_creators->find(op_type);
    if (found != g_creators->end()) registered = found->second;
  }
  MXNET_CHECK(registered.creator) << "[Custom] Cannot find custom operator " << op_type
                                  << "; accepted: the name of an operator that mx.operator.register has made known";
  auto param = std::make_shared<CustomParam>();
  param->prop = registered.creator(op_type, arguments);
  param->durations = registered.durations;
  return param;
}

std::shared_ptr<const void> Parse(const AttrDict& dict) {
  auto type = dict.find("op_type");
  MXNET_CHECK_KIND(type != dict.end() && !type->second.empty(), Value)
      << "[Custom] op_type is missing; accepted: the name of an operator that mx.operator.register has made known";
  return ParseArguments(type->second, dict);
}

/* The names of operators that the older Python classes make are those of their records. */
std::shared_ptr<const void> ParseOlder(const std::string& name, const AttrDict& dict) {
  MXNET_CHECK_KIND(dict.count("info"), Value) << "[" << name << "] info is missing; accepted: what get_symbol of a Python operator gives";
  return ParseArguments(name, dict);
}

int NumInputs(const Attrs& a) { return PropOf(a).num_in() + PropOf(a).num_aux(); }

std::vector<std::string> ListInputs(const Attrs& a) {
  std::vector<std::string> names = PropOf(a).arguments;
  names.insert(names.end(), PropOf(a).states.begin(), PropOf(a).states.end());
  return names;
}

std::vector<int> AuxAt(const Attrs& a, int first) {
  std::vector<int> at;
  for (int i = 0; i < PropOf(a).num_aux(); ++i) at.push_back(first + i);
  return at;
}

// ---- inference ---------------------------------------------------------------------------------

/* Values of inputs (arguments, then auxiliary states) and outputs, as a Prop has them. */
template <typename T>
std::vector<T> Arranged(const Prop& p, const std::vector<T>& in, const std::vector<T>& out) {
  std::vector<T> all(in.begin(), in.begin() + p.num_in());
  all.insert(all.end(), out.begin(), out.end());
  all.insert(all.end(), in.begin() + p.num_in(), in.end());
  return all;
}

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Prop& p = PropOf(attrs);
  const auto known = [](const ShapeVector& list, int count) {
    return static_cast<int>(std::count_if(list.begin(), list.begin() + count, [](const Shape& s) { return s.known(); }));
  };
  const int given = known(*in, p.num_in());
  if (given == 0 && p.num_in() > 0) return false;
  ShapeVector all = Arranged(p, *in, *out);
  for (int i = p.num_in(); i < static_cast<int>(all.size()); ++i) all[i] = Shape();
  try {
    p.InferShape(&all);
  } catch (const Error&) {
    if (given < p.num_in()) return false;  // it may need the others
    throw;
  }
  const std::vector<std::string> names = ListInputs(attrs);
  for (int i = 0; i < p.num_in(); ++i)
    if (all[i].known()) AssignShape(attrs, names[i].c_str(), &(*in)[i], all[i]);
  for (int i = 0; i < p.num_out(); ++i)
    if (all[p.num_in() + i].known()) AssignShape(attrs, p.outputs[i].c_str(), &(*out)[i], all[p.num_in() + i]);
  for (int i = 0; i < p.num_aux(); ++i) {
    const Shape& s = all[p.num_in() + p.num_out() + i];
    if (s.known()) AssignShape(attrs, p.states[i].c_str(), &(*in)[p.num_in() + i], s);
  }
  return known(*in, static_cast<int>(in->size())) == static_cast<int>(in->size()) &&
         known(*out, static_cast<int>(out->size())) == static_cast<int>(out->size());
}

bool InferType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const Prop& p = PropOf(attrs);
  if (p.num_in() > 0 && std::count(in->begin(), in->begin() + p.num_in(), int{kDTypeUnknown}) == p.num_in()) return false;
  std::vector<int> all = Arranged(p, *in, *out);
  std::fill(all.begin() + p.num_in(), all.end(), int{kDTypeUnknown});
  const bool partly = std::count(all.begin(), all.begin() + p.num_in(), int{kDTypeUnknown}) > 0;
  try {
    p.InferType(&all);
  } catch (const Error&) {
    if (partly) return false;
    throw;
  }
  const std::vector<std::string> names = ListInputs(attrs);
  const auto assign = [&](const char* name, int* into, int value) {
    if (value != kDTypeUnknown) AssignType(attrs, name, into, value);
  };
  for (int i = 0; i < p.num_in(); ++i) assign(names[i].c_str(), &(*in)[i], all[i]);
  for (int i = 0; i < p.num_out(); ++i) assign(p.outputs[i].c_str(), &(*out)[i], all[p.num_in() + i]);
  for (int i = 0; i < p.num_aux(); ++i) assign(p.states[i].c_str(), &(*in)[p.num_in() + i], all[p.num_in() + p.num_out() + i]);
  return std::count(in->begin(), in->end(), int{kDTypeUnknown}) == 0 && std::count(out->begin(), out->end(), int{kDTypeUnknown}) == 0;
}

/* Gradients are like the arguments: those that backward reads, and behind them and the auxiliary
 * states the others, for their shapes and dtypes. */
bool Reads(const Prop& p, int argument) {
  return std::find(p.dependencies.begin(), p.dependencies.end(), p.num_out() + argument) != p.dependencies.end();
}
int ShapeOnlyFrom(const Attrs& attrs) { return static_cast<int>(PropOf(attrs).dependencies.size()) + PropOf(attrs).num_aux(); }
int NumGradInputs(const Attrs& attrs) {
  const Prop& p = PropOf(attrs);
  int others = 0;
  for (int i = 0; i < p.num_in(); ++i) others += Reads(p, i) ? 0 : 1;
  return ShapeOnlyFrom(attrs) + others;
}

template <typename T, typename Assign>
void AssignGradients(const Prop& p, const std::vector<T>& in, std::vector<T>* out, const Assign& assign) {
  size_t rest = p.dependencies.size() + p.states.size();
  for (int i = 0; i < p.num_in(); ++i) {
    const auto read = std::find(p.dependencies.begin(), p.dependencies.end(), p.num_out() + i);
    assign(&(*out)[i], in[read != p.dependencies.end() ? static_cast<size_t>(read - p.dependencies.begin()) : rest++]);
  }
}

bool InferGradShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignGradients(PropOf(attrs), *in, out, [&](Shape* into, const Shape& shape) { AssignShape(attrs, "gradient", into, shape); });
  return std::all_of(out->begin(), out->end(), [](const Shape& s) { return s.known(); });
}

bool InferGradType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignGradients(PropOf(attrs), *in, out, [&](int* into, int type) { AssignType(attrs, "gradient", into, type); });
  return std::count(out->begin(), out->end(), int{kDTypeUnknown}) == 0;
}

constexpr int kUndefinedStorage = static_cast<int>(StorageType::kUndefined), kDenseStorage = static_cast<int>(StorageType::kDense);

/* What inference said of a result; nothing means dense. */
StorageType StorageOf(const Prop& p, int storage, const char* function) {
  MXNET_CHECK_KIND(storage >= kUndefinedStorage && storage <= static_cast<int>(StorageType::kCSR), Value)
      << "[Custom] " << function << " of operator " << p.op_type << " gave storage type number " << storage << "; accepted: 0, 1, 2";
  return storage == kUndefinedStorage ? StorageType::kDense : static_cast<StorageType>(storage);
}

bool InferStorage(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  const Prop& p = PropOf(attrs);
  if (!p.TakesSparse()) return false;
  std::vector<int> given;
  for (StorageType s : in) given.push_back(static_cast<int>(s));
  std::vector<int> all = Arranged(p, given, std::vector<int>(out->size(), kUndefinedStorage));
  p.InferStorage(&all);
  for (int i = 0; i < p.num_in(); ++i)
    MXNET_CHECK_KIND(all[i] == given[i], Value)
        << "[Custom] infer_storage_type of operator " << p.op_type << " gave storage type "
        << StorageTypeName(StorageOf(p, all[i], "infer_storage_type")) << " for argument " << p.arguments[i] << ", which is "
        << StorageTypeName(in[i]) << "; accepted: the storage type that it is given";
  for (int i = 0; i < p.num_out(); ++i) (*out)[i] = StorageOf(p, all[p.num_in() + i], "infer_storage_type");
  return true;
}

/* `in`: of a gradient's node. What it does not read is dense. */
bool InferGradStorage(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  const Prop& p = PropOf(attrs);
  if (!p.TakesSparse()) return false;
  std::vector<int> read(static_cast<size_t>(2 * p.num_out() + p.num_in()), kDenseStorage), all, tags;
  for (size_t i = 0; i < p.dependencies.size(); ++i) read[static_cast<size_t>(p.dependencies[i])] = static_cast<int>(in[i]);
  AssignGradients(p, in, out, [&](StorageType* grad, StorageType argument) {
    read[static_cast<size_t>(p.num_out() + (grad - out->data()))] = static_cast<int>(argument);
  });
  const auto add = [&](int storage, int tag) { all.push_back(storage), tags.push_back(tag); };
  for (int i = 0; i < static_cast<int>(read.size()); ++i)
    add(read[static_cast<size_t>(i)], i < p.num_out() ? kOutputGrad : i < p.num_out() + p.num_in() ? kInput : kOutput);
  const size_t first = all.size();
  for (StorageType s : *out) add(static_cast<int>(s), kInputGrad);
  for (int i = 0; i < p.num_aux(); ++i) add(static_cast<int>(in[p.dependencies.size() + static_cast<size_t>(i)]), kAux);
  p.InferBackwardStorage(&all, tags);
  for (size_t i = 0; i < out->size(); ++i) (*out)[i] = StorageOf(p, all[first + i], "infer_storage_type_backward");
  return true;
}

// ---- state -------------------------------------------------------------------------------------

AttrsPtr ForCall(const AttrsPtr& attrs) {
  auto param = std::make_shared<CustomParam>();
  if (attrs->param) {
    param->prop = attrs->get<CustomParam>().prop;
    param->durations = attrs->get<CustomParam>().durations;
  }
  auto copy = std::make_shared<Attrs>(*attrs);
  if (param->prop) copy->param = std::move(param);
  return copy;
}

std::shared_ptr<OpState>* StateSlot(const Attrs& attrs) {
  PropOf(attrs);
  return &attrs.get<CustomParam>().state;
}

std::shared_ptr<OpState> MakeState(const Attrs& attrs, Context ctx, const TensorTypes& in) {
  ShapeVector shapes;
  std::vector<int> types;
  for (const TensorType& t : in) shapes.push_back(t.shape), types.push_back(t.dtype);
  auto state = std::make_shared<CustomState>();
  state->prop = attrs.get<CustomParam>().prop;
  state->durations = attrs.get<CustomParam>().durations;
  state->op = state->prop->Create(ctx, shapes, types);
  return state;
}

// ---- calls -------------------------------------------------------------------------------------

/* An array on the same memory, with a variable of its own: the engine holds the operation's while
 * it runs. */
NDArray ArrayOn(const TBlob& blob) {
  if (blob.dptr == nullptr && blob.Size() > 0) return NDArray(blob.shape, blob.ctx, blob.dtype);  // a result that nobody reads
  return NDArray(blob, nullptr);
}

/* Memory of its own for an array that somebody has kept: the operation's is about to become
 * another's. */
void Separate(NDArray* array) {
  Chunk* chunk = array->chunk();
  if (!chunk->external_deleter || chunk->refs.load() == 1) return;
  NDArray copy(array->shape(), array->ctx(), array->dtype());
  CopyFromTo(*array, copy);
  copy.WaitToRead();
  std::swap(chunk->handle, copy.chunk()->handle);
  std::swap(chunk->external_deleter, copy.chunk()->external_deleter);
}

/* The parts go back to the operation's arrays; of an array that somebody has kept, copies. */
void GiveBack(const LentParts& lent, NDArray* array) {
  SparseParts* const parts = array->sparse();
  if (array->chunk()->refs.load() == 1) {
    if (lent.writes) return parts->Swap(lent.owner);
    parts->values.memory = StorageHandle();
    for (SparsePart& part : parts->index) part.memory = StorageHandle();
    return;
  }
  NDArray copy = NDArray::Make(array->type(), array->ctx());
  CopyFromTo(*array, copy);
  copy.WaitToRead();
  if (lent.writes) return copy.sparse()->Swap(lent.owner);
  parts->Swap(copy.sparse());
  copy.sparse()->values.memory = StorageHandle();
  for (SparsePart& part : copy.sparse()->index) part.memory = StorageHandle();
}

std::exception_ptr RunCall(Call* call, const CustomState& state) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::exception_ptr error;
  const auto keep_first = [&error](const auto& f) {
    try {
      f();
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  };
  keep_first([&] {
    const profiler::CalledForScope called_for(state.prop->op_type, call->backward);
    state.op->Run(*call);
  });
  for (NDArray& a : call->arrays)
    if (!a.is_none()) keep_first([&a] { a.WaitToWrite(); });
  for (NDArray& a : call->arrays)
    if (!a.is_none()) keep_first([&a] { Separate(&a); });
  for (const LentParts& lent : call->lent) keep_first([&] { GiveBack(lent, &call->arrays[lent.at]); });
  const int64_t took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  state.durations->ns[call->backward].store(took, std::memory_order_relaxed);
  return error;
}

void Submit(std::shared_ptr<Call> call, const std::shared_ptr<OpState>& state, OnComplete done) {
  Job job;
  if (static_cast<const CustomState&>(*state).durations->MayRunInWait(call->backward)) {
    const engine::Started started = engine::StartedHere();
    job.operation = started.operation;
    job.by_program = started.by_program;
  }
  job.run = [call = std::move(call), state = state, done]() mutable {
    const std::exception_ptr error = RunCall(call.get(), static_cast<const CustomState&>(*state));
    call = nullptr;  // what they hold goes before anybody learns that it is done
    state = nullptr;
    done(error);
  };
  MXNET_CHECK(custom::Submit(std::move(job))) << "[Custom] operator " << static_cast<const CustomState&>(*state).prop->op_type
                                              << " was called after the program's end had begun (MXNotifyShutdown)";
}

void Add(Call* call, int tag, NDArray array) {
  call->arrays.push_back(std::move(array));
  call->tags.push_back(tag);
}

/* The same of an operation's array. */
void AddBlob(Call* call, int tag, const TBlob& blob, bool writes) {
  if (!blob.sparse) return Add(call, tag, ArrayOn(blob));
  SparseParts* const owner = blob.sparse;
  NDArray array = NDArray::Make(TensorType(blob.shape, blob.dtype, owner->storage), blob.ctx);
  SparseParts* const parts = array.sparse();
  if (writes) {
    parts->Swap(owner);
  } else {
    parts->Free();
    parts->values = owner->values;
    for (int i = 0; i < owner->num_index(); ++i) parts->index[i] = owner->index[i];
    parts->state = owner->state.load();
  }
  std::copy(std::begin(owner->shown_as), std::end(owner->shown_as), parts->shown_as);
  call->lent.push_back({call->arrays.size(), owner, writes});
  Add(call, tag, std::move(array));
}

void StartForward(const KernelArgs& args, const std::shared_ptr<OpState>& state, OnComplete done) {
  const Prop& p = *static_cast<const CustomState&>(*state).prop;
  auto call = std::make_shared<Call>();
  call->is_train = args.is_train;
  call->reqs.assign(args.req.begin(), args.req.end());
  for (int i = 0; i < p.num_in(); ++i) AddBlob(call.get(), kInput, args.in[i], false);
  for (int i = 0; i < p.num_out(); ++i) AddBlob(call.get(), kOutput, args.out[i], true);
  for (int i = 0; i < p.num_aux(); ++i) Add(call.get(), kAux, ArrayOn(args.in[p.num_in() + i]));
  Submit(std::move(call), state, done);
}

void StartBackward(const KernelArgs& args, const std::shared_ptr<OpState>& state, OnComplete done) {
  const Prop& p = *static_cast<const CustomState&>(*state).prop;
  auto call = std::make_shared<Call>();
  call->backward = true;
  call->is_train = args.is_train;
  call->reqs.assign(args.req.begin(), args.req.end());
  std::vector<const TBlob*> read(2 * p.num_out() + p.num_in());
  int next = 0;
  for (int d : p.dependencies) read[d] = &args.in[next++];
  for (int i = 0; i < static_cast<int>(read.size()); ++i) {
    const int tag = i < p.num_out() ? kOutputGrad : i < p.num_out() + p.num_in() ? kInput : kOutput;
    read[i] ? AddBlob(call.get(), tag, *read[i], false) : Add(call.get(), tag, NDArray());
  }
  for (int i = 0; i < p.num_in(); ++i) AddBlob(call.get(), kInputGrad, args.out[i], true);
  for (int i = 0; i < p.num_aux(); ++i) Add(call.get(), kAux, ArrayOn(args.in[next + i]));
  Submit(std::move(call), state, done);
}

std::vector<NodeEntry> CustomGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const Prop& p = PropOf(*node->attrs);
  std::vector<NodeEntry> inputs;
  for (int d : p.dependencies) {
    if (d < p.num_out())
      inputs.push_back(ograds[d]);
    else if (d < p.num_out() + p.num_in())
      inputs.push_back(node->inputs[d - p.num_out()]);
    else
      inputs.push_back({node, static_cast<uint32_t>(d - p.num_out() - p.num_in()), 0});
  }
  for (int i = 0; i < p.num_aux(); ++i) inputs.push_back(node->inputs[p.num_in() + i]);
  std::vector<NodeEntry> grads(node->inputs.size());
  for (int i = 0; i < p.num_in(); ++i)
    if (!Reads(p, i)) inputs.push_back(node->inputs[i]);
  const NodePtr back = MakeNodeLike("_backward_Custom", *node, std::move(inputs));
  for (int i = 0; i < p.num_in(); ++i) grads[i] = {back, static_cast<uint32_t>(i), 0};
  return grads;
}

Op& SetCustom(Op& op) {
  op.makes_sparse = true;
  return op.set_variadic("data", NumInputs, "")
      .set_dtypes(dtypes::kAll)
      .set_list_inputs(ListInputs)
      .set_num_outputs([](const Attrs& a) { return PropOf(a).num_out(); })
      .set_list_outputs([](const Attrs& a) { return PropOf(a).outputs; })
      .set_mutate_inputs([](const Attrs& a) { return AuxAt(a, PropOf(a).num_in()); })
      .set_infer_shape(InferShape)
      .set_infer_type(InferType)
      .set_gradient(CustomGradient)
      .set_stateful()
      .set_supports_add()
      .set_expensive_to_recompute()
      .set_trait(HonoursNullOutputs{})
      .set_runs(RunBy::kAsync)
      .set_trait(InfersStorage{InferStorage})
      .set_trait(AsyncCall{StartForward, MakeState, ForCall, StateSlot});
}

[[maybe_unused]] const bool registered = [] {
  Op& custom = SetCustom(Op::Register("Custom"))
                   .alias("_npi_Custom")
                   .describe(
                       "Runs an operator that the program has registered: a class of mx.operator.CustomOp, described by one of "
                       "mx.operator.CustomOpProp.\n\n"
                       "The arrays are its arguments, then its auxiliary states. All other keyword arguments reach the describing class as "
                       "texts. Shapes, dtypes and the number of results are what it says. Forward and backward run on threads of their "
                       "own (MXNET_CUSTOM_OP_NUM_THREADS at once), may call any operator and may wait for results. What they raise is "
                       "raised for whoever waits for the result.");
  custom.params = {{"op_type", "string", "Name under which mx.operator.register has made the operator known."}};
  custom.parse = Parse;
  Op& native = SetCustom(Op::Register("_Native")).describe("Runs an mx.operator.NumpyOp; made by its get_symbol, not by users.");
  native.params = {{"info", "ptr, required", "Number of the operator in this process."},
                   {"need_top_grad", "boolean, optional, default=1", "Whether backward reads the gradients of the results."}};
  native.parse = [](const AttrDict& dict) { return ParseOlder("_Native", dict); };
  Op& ndarray = SetCustom(Op::Register("_NDArray")).describe("Runs an mx.operator.NDArrayOp; made by its get_symbol, not by users.");
  ndarray.params = {{"info", "ptr, required", "Number of the operator in this process."}};
  ndarray.parse = [](const AttrDict& dict) { return ParseOlder("_NDArray", dict); };
  return true;
}();

MXNET_REGISTER_OP(_backward_Custom)
    .describe("The gradient of Custom: calls backward of the operator that has computed the results.")
    .set_variadic("data", NumGradInputs, "")
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(ShapeOnlyFrom)
    .set_num_outputs([](const Attrs& a) { return PropOf(a).num_in(); })
    .set_mutate_inputs([](const Attrs& a) { return AuxAt(a, static_cast<int>(PropOf(a).dependencies.size())); })
    .set_infer_shape(InferGradShape)
    .set_infer_type(InferGradType)
    .set_stateful()
    .set_supports_add()
    .set_runs(RunBy::kAsync)
    .set_trait(InfersStorage{InferGradStorage})
    .set_trait(AsyncCall{StartBackward, nullptr, nullptr, StateSlot});

}  // namespace

void Register(const std::string& op_type, Creator creator) {
  std::lock_guard<ForkMutex> hold(*g_mutex);
  (*g_creators)[op_type] = {std::move(creator), std::make_shared<Durations>()};
}

}  // namespace custom
}  // namespace mxnet
