// Operators by name, eager invocation, autograd, deferred compute and the engine's knobs
// over the C ABI.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "base/threads/fork_guard.h"
#include "c_api/c_api_common.h"
#include "engine/call_site.h"
#include "engine/waiting_work.h"
#include "imperative/tape.h"
#include "mxnet/c_api_op.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "mxnet/graph.h"
#include "mxnet/imperative.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"
#include "operator/custom/worker_threads.h"
#include "operator/record/check.h"
#include "operator/record/numpy_types.h"
#include "operator/record/registry.h"
#include "operator/runtime/holds_graphs.h"

using namespace mxnet;  // NOLINT

namespace {

const Op* AsOp(void* h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[c_api] got a null operator handle";
  return static_cast<const Op*>(h);
}

/* Programs keep pointers to these arrays, so none is freed when a library has added operators. */
struct OpLists {
  std::vector<std::string> names = Op::ListNames();
  std::vector<const char*> name_ptrs;
  std::vector<const Op*> ops = Op::ListUnique();
};

OpLists& CurrentOpLists() {
  static auto* mutex = new ForkMutex(ForkLevel::kCaller);
  static auto* all = new std::vector<std::unique_ptr<OpLists>>;
  std::lock_guard<ForkMutex> lock(*mutex);
  if (all->empty() || all->back()->names.size() != CountOperatorNames()) {
    all->push_back(std::make_unique<OpLists>());
    for (const std::string& name : all->back()->names) all->back()->name_ptrs.push_back(name.c_str());
  }
  return *all->back();
}

/* Signature texts live as long as the record. Inputs come first, as the reference has them. */
struct OpText {
  std::vector<std::string> names, types, descriptions;
  std::vector<const char*> name_ptrs, type_ptrs, description_ptrs;
};

const OpText& TextOf(const Op* op) {
  static auto* mutex = new ForkMutex(ForkLevel::kCaller);
  static auto& texts = *new std::map<const Op*, std::unique_ptr<OpText>>;  // never deleted: programs ask at exit, too
  std::lock_guard<ForkMutex> lock(*mutex);
  auto& slot = texts[op];
  if (!slot) {
    slot.reset(new OpText());
    if (const auto* graphs = op->trait<HoldsGraphs>()) {
      for (const auto& n : graphs->names) {
        slot->names.push_back(n);
        slot->types.push_back("Symbol");
        slot->descriptions.push_back("graph that the node holds");
      }
    }
    // the last one is a list, also where its names depend on the parameters (multi_sgd_update:
    // num_weights counts groups, not inputs)
    const bool list = !op->key_var_num_args.empty() || (op->input_names.size() == 1 && op->list_inputs);
    for (const auto& n : op->input_names) {
      slot->names.push_back(n);
      slot->types.push_back(list && n == op->input_names.back() ? "NDArray-or-Symbol[]" : "NDArray-or-Symbol");
      slot->descriptions.push_back(list && n == op->input_names.back() ? "list of inputs" : "input");
    }
    for (const auto& p : op->params) {
      slot->names.push_back(p.name);
      slot->types.push_back(p.type);
      slot->descriptions.push_back(p.description);
    }
    for (const auto& s : slot->names) slot->name_ptrs.push_back(s.c_str());
    for (const auto& s : slot->types) slot->type_ptrs.push_back(s.c_str());
    for (const auto& s : slot->descriptions) slot->description_ptrs.push_back(s.c_str());
  }
  return *slot;
}

}  // namespace

int MXListAllOpNames(uint32_t* out_size, const char*** out_array) {
  API_BEGIN(out_size, out_array);
  OpLists& lists = CurrentOpLists();
  *out_size = static_cast<uint32_t>(lists.name_ptrs.size());
  *out_array = lists.name_ptrs.data();
  API_END();
}

int NNListAllOpNames(nn_uint* out_size, const char*** out_array) { return MXListAllOpNames(out_size, out_array); }

int NNGetOpHandle(const char* op_name, OpHandle* op_out) {
  API_BEGIN(op_out);
  *op_out = const_cast<Op*>(Op::Get(Text(op_name, "an operator's name")));
  API_END();
}

int MXSymbolListAtomicSymbolCreators(uint32_t* out_size, AtomicSymbolCreator** out_array) {
  API_BEGIN(out_size, out_array);
  OpLists& lists = CurrentOpLists();
  *out_size = static_cast<uint32_t>(lists.ops.size());
  *out_array = reinterpret_cast<AtomicSymbolCreator*>(const_cast<Op**>(lists.ops.data()));
  API_END();
}

int NNListUniqueOps(nn_uint* out_size, OpHandle** out_array) { return MXSymbolListAtomicSymbolCreators(out_size, out_array); }

int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char** name) {
  API_BEGIN(name);
  *name = AsOp(creator)->name.c_str();
  API_END();
}

int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char** name, const char** description, uint32_t* num_args,
                                const char*** arg_names, const char*** arg_type_infos, const char*** arg_descriptions,
                                const char** key_var_num_args, const char** return_type) {
  API_BEGIN(name, description, num_args, arg_names, arg_type_infos, arg_descriptions, key_var_num_args);
  const Op* op = AsOp(creator);
  const OpText& text = TextOf(op);
  *name = op->name.c_str();
  *description = op->description.c_str();
  *num_args = static_cast<uint32_t>(text.names.size());
  *arg_names = const_cast<const char**>(text.name_ptrs.data());
  *arg_type_infos = const_cast<const char**>(text.type_ptrs.data());
  *arg_descriptions = const_cast<const char**>(text.description_ptrs.data());
  *key_var_num_args = op->key_var_num_args.c_str();
  if (return_type) *return_type = "";
  API_END();
}

int NNGetOpInfo(OpHandle op, const char** real_name, const char** description, nn_uint* num_doc_args, const char*** arg_names,
                const char*** arg_type_infos, const char*** arg_descriptions, const char** return_type) {
  const char* key = nullptr;
  return MXSymbolGetAtomicSymbolInfo(op, real_name, description, num_doc_args, arg_names, arg_type_infos, arg_descriptions, &key,
                                     return_type);
}

int MXListDTypes(uint32_t* out_size, const char*** out_names, const uint32_t** out_bytes) {
  API_BEGIN(out_size, out_names, out_bytes);
  struct Lists {
    const char* names[kNumDTypes];
    uint32_t bytes[kNumDTypes];
    Lists() {
      for (int d = 0; d < kNumDTypes; ++d) names[d] = DTypeName(d), bytes[d] = static_cast<uint32_t>(DTypeSize(d));
    }
  };
  static Lists lists;
  *out_size = kNumDTypes;
  *out_names = lists.names;
  *out_bytes = lists.bytes;
  API_END();
}

int MXOpListDTypes(void* op, uint32_t* out_size, const int** out_dtypes) {
  API_BEGIN(out_size, out_dtypes);
  const std::vector<int>& dtypes = AsOp(op)->dtypes;
  *out_size = static_cast<uint32_t>(dtypes.size());
  *out_dtypes = dtypes.data();
  API_END();
}

int MXOpPromoteDTypes(uint32_t num, const int* dtypes, int number, int* out) {
  API_BEGIN(out);
  Need(num, dtypes, "dtypes");
  MXNET_CHECK_KIND(num > 0, Value) << "[promote] got no dtypes; accepted: one or more";
  MXNET_CHECK_KIND(number >= 0 && number <= 2, Value) << "[promote] number " << number << "; accepted: 0 none, 1 an integer, 2 a fraction";
  for (uint32_t i = 0; i < num; ++i)
    MXNET_CHECK_KIND(dtypes[i] >= 0 && dtypes[i] < kNumDTypes, Type)
        << "[promote] dtype number " << dtypes[i] << "; accepted: 0 to " << kNumDTypes - 1;
  const int meeting = numpy::PromoteAll({dtypes, dtypes + num}, InferSwitches::OfThread());
  *out = number == 0 ? meeting : numpy::PromoteNumber(meeting, number == 1);
  API_END();
}

int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                         int num_params, const char** param_keys, const char** param_vals, const int** out_stypes) {
  API_BEGIN(num_outputs, outputs);
  const Op* op = AsOp(creator);
  NeedTexts(num_params, param_keys, "parameter names");
  NeedTexts(num_params, param_vals, "parameter values");
  // Variadic operators may be called without their count, as the reference allows.
  AttrsPtr attrs;
  if (!op->key_var_num_args.empty() &&
      std::none_of(param_keys, param_keys + num_params, [op](const char* k) { return op->key_var_num_args == k; })) {
    std::vector<const char*> keys(param_keys, param_keys + num_params), values(param_vals, param_vals + num_params);
    const std::string count = std::to_string(num_inputs);
    keys.push_back(op->key_var_num_args.c_str());
    values.push_back(count.c_str());
    attrs = Imperative::GetAttrs(op, num_params + 1, keys.data(), values.data());
  } else {
    attrs = Imperative::GetAttrs(op, num_params, param_keys, param_vals);
  }
  CheckPublic(*attrs);
  const int total = op->NumOutputs(*attrs), visible = op->NumVisibleOutputs(*attrs);
  std::vector<NDArray*> in = AsNDArrays(inputs, num_inputs);
  std::vector<std::unique_ptr<NDArray>> fresh;
  std::vector<NDArray*> out;
  const bool given = *outputs != nullptr;
  const size_t read = static_cast<size_t>(given ? *num_outputs : visible);
  if (given) {
    MXNET_CHECK_KIND(*num_outputs == visible || *num_outputs == total, Value)
        << "[" << op->name << "] got " << *num_outputs << " arrays in `out`; accepted: " << visible;
    for (int i = 0; i < *num_outputs; ++i) out.push_back(AsNDArray((*outputs)[i]));
  }
  while (static_cast<int>(out.size()) < total) {
    fresh.emplace_back(new NDArray());
    out.push_back(fresh.back().get());
  }
  Imperative::Invoke(attrs, in, out, nullptr, read);
  ApiStore& store = ApiStore::Get();
  if (!given) {
    store.handles.clear();
    for (int i = 0; i < visible; ++i) store.handles.push_back(fresh[i].release());
    *outputs = store.handles.data();
    *num_outputs = visible;
  }
  if (out_stypes) {
    store.stypes.clear();
    for (const NDArray* a : out) store.stypes.push_back(static_cast<int>(a->storage_type()));
    *out_stypes = store.stypes.data();
  }
  API_END();
}

int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                       int num_params, const char** param_keys, const char** param_vals) {
  return MXImperativeInvokeEx(creator, num_inputs, inputs, num_outputs, outputs, num_params, param_keys, param_vals, nullptr);
}

// ---- autograd

int MXAutogradSetIsRecording(int is_recording, int* prev) {
  API_BEGIN_UNSEEN(prev);
  *prev = Imperative::State().recording;
  Imperative::State().recording = is_recording != 0;
  API_END();
}

int MXAutogradSetIsTraining(int is_training, int* prev) {
  API_BEGIN_UNSEEN(prev);
  *prev = Imperative::State().training;
  Imperative::State().training = is_training != 0;
  API_END();
}

int MXAutogradIsRecording(bool* curr) {
  API_BEGIN_UNSEEN(curr);
  *curr = Imperative::State().recording;
  API_END();
}

int MXAutogradIsTraining(bool* curr) {
  API_BEGIN_UNSEEN(curr);
  *curr = Imperative::State().training;
  API_END();
}

int MXIsNumpyShape(int* curr) {
  API_BEGIN_UNSEEN(curr);
  *curr = NumpyShapesOfAll() ? 2 : NumpyShapes();
  API_END();
}

int MXSetIsNumpyShape(int is_np_shape, int* prev) {
  API_BEGIN_UNSEEN(prev);
  *prev = NumpyShapes();
  if (is_np_shape == 2) {
    SetNumpyShapesOfAll(true);
  } else {
    SetNumpyShapes(is_np_shape != 0);
    if (is_np_shape == 0) SetNumpyShapesOfAll(false);
  }
  API_END();
}

int MXIsNumpyDefaultDtype(bool* curr) {
  API_BEGIN_UNSEEN(curr);
  *curr = numpy::DefaultIsFloat64();
  API_END();
}

int MXSetIsNumpyDefaultDtype(bool dtype_flag, bool* prev) {
  API_BEGIN_UNSEEN(prev);
  *prev = numpy::DefaultIsFloat64();
  numpy::DefaultIsFloat64() = dtype_flag;
  API_END();
}

namespace {

std::vector<OpReq> GradRequests(uint32_t num_var, const uint32_t* reqs_array) {
  std::vector<OpReq> req;
  Need(num_var, reqs_array, "gradient requests");
  for (uint32_t i = 0; i < num_var; ++i) {
    MXNET_CHECK_KIND(reqs_array[i] <= 3, Value)
        << "[autograd] grad_req number " << reqs_array[i] << "; accepted: 0 null, 1 write, 2 in place, 3 add";
    req.push_back(static_cast<OpReq>(reqs_array[i] == 2 ? 1 : reqs_array[i]));
  }
  return req;
}

}  // namespace

int MXAutogradMarkVariables(uint32_t num_var, NDArrayHandle* var_handles, uint32_t* reqs_array, NDArrayHandle* grad_handles) {
  API_BEGIN();
  const std::vector<OpReq> req = GradRequests(num_var, reqs_array);
  Imperative::MarkVariables(AsNDArrays(var_handles, num_var), req, AsNDArrays(grad_handles, num_var));
  API_END();
}

int MXAutogradMarkResults(uint32_t num_var, NDArrayHandle* var_handles, uint32_t* reqs_array, NDArrayHandle* grad_handles) {
  API_BEGIN();
  const std::vector<OpReq> req = GradRequests(num_var, reqs_array);
  Imperative::MarkResults(AsNDArrays(var_handles, num_var), req, AsNDArrays(grad_handles, num_var));
  API_END();
}

int MXAutogradDropGrads(uint32_t num_var, NDArrayHandle* var_handles) {
  API_BEGIN();
  Imperative::DropGrads(AsNDArrays(var_handles, num_var));
  API_END();
}

int MXAutogradBackwardEx(uint32_t num_output, NDArrayHandle* output_handles, NDArrayHandle* ograd_handles, uint32_t num_variables,
                         NDArrayHandle* var_handles, int retain_graph, int create_graph, int is_train, NDArrayHandle** grad_handles,
                         int** grad_stypes) {
  API_BEGIN();
  std::vector<NDArray*> ograds;
  for (uint32_t i = 0; ograd_handles && i < num_output; ++i) ograds.push_back(static_cast<NDArray*>(ograd_handles[i]));
  std::vector<NDArray*> variables;
  if (num_variables) variables = AsNDArrays(var_handles, num_variables);
  std::vector<NDArray> grads =
      Imperative::Backward(AsNDArrays(output_handles, num_output), ograds, variables, retain_graph != 0, create_graph != 0, is_train != 0);
  if (grad_handles) {
    ApiStore& store = ApiStore::Get();
    store.handles.clear();
    store.stypes.clear();
    for (auto& g : grads) {
      store.handles.push_back(new NDArray(g));
      store.stypes.push_back(static_cast<int>(g.storage_type()));
    }
    *grad_handles = store.handles.data();
    if (grad_stypes) *grad_stypes = store.stypes.data();
  }
  API_END();
}

int MXAutogradBackward(uint32_t num_output, NDArrayHandle* output_handles, NDArrayHandle* ograd_handles, int retain_graph) {
  return MXAutogradBackwardEx(num_output, output_handles, ograd_handles, 0, nullptr, retain_graph, false, true, nullptr, nullptr);
}

int MXAutogradComputeGradient(uint32_t num_output, NDArrayHandle* output_handles) {
  return MXAutogradBackward(num_output, output_handles, nullptr, 0);
}

int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle* out) {
  API_BEGIN(out);
  auto s = std::make_unique<Symbol>();
  s->outputs.push_back(Imperative::GetSymbolEntry(*AsNDArray(handle)));
  *out = s.release();
  API_END();
}

int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle* out) {
  API_BEGIN(out);
  NDArray g = Imperative::Grad(*AsNDArray(handle));
  *out = g.is_none() ? nullptr : new NDArray(g);
  API_END();
}

int MXNDArrayGetGradState(NDArrayHandle handle, int* out) {
  API_BEGIN(out);
  *out = Imperative::HasFreshGrad(*AsNDArray(handle));
  API_END();
}

int MXNDArrayIsRecorded(NDArrayHandle handle, int* out) {
  API_BEGIN(out);
  *out = Imperative::State().recording && Imperative::HasHistory(*AsNDArray(handle));
  API_END();
}

int MXNDArraySetGradState(NDArrayHandle handle, int state) {
  API_BEGIN();
  Imperative::SetFreshGrad(*AsNDArray(handle), state != 0);
  API_END();
}

// ---- deferred compute (tracing of 2.0-style forward functions)

int MXNDArrayIsDeferredCompute(int* curr) {
  API_BEGIN_UNSEEN(curr);
  *curr = Imperative::State().deferred_compute;
  API_END();
}

int MXNDArraySetIsDeferredCompute(int enabled, int* prev) {
  API_BEGIN_UNSEEN(prev);
  *prev = Imperative::State().deferred_compute;
  Imperative::State().deferred_compute = enabled != 0;
  API_END();
}

int MXNDArraySetDeferredComputeVariable(NDArrayHandle* arrays, SymbolHandle* variables, int num) {
  API_BEGIN();
  Need(num, arrays, "arrays");
  Need(num, variables, "variables");
  for (int i = 0; i < num; ++i) {
    const Symbol* s = static_cast<Symbol*>(variables[i]);
    MXNET_CHECK_KIND(s && s->outputs.size() == 1, Value) << "[deferred compute] symbol " << i << " has not one output";
    StandFor(AsNDArray(arrays[i]), s->outputs[0]);
  }
  API_END();
}

int MXNDArraySetDeferredComputeAttributes(uint32_t num, const char** keys, const char** values) {
  API_BEGIN();
  NeedTexts(static_cast<int>(num), keys, "attribute names");
  NeedTexts(static_cast<int>(num), values, "attribute values");
  AttrDict attributes;
  for (uint32_t i = 0; i < num; ++i) {
    const std::string key = keys[i];
    MXNET_CHECK_KIND(key.compare(0, 2, "__") == 0, Value) << "[deferred compute] attribute " << key << "; accepted: hidden ones, __name__";
    attributes[key] = values[i];
  }
  DeferredAttributes() = std::move(attributes);
  API_END();
}

int MXNDArrayGetDeferredComputeSymbol(NDArrayHandle* output_handles, int num_outputs, SymbolHandle* out) {
  API_BEGIN(out);
  auto s = std::make_unique<Symbol>();
  for (const NDArray* a : AsNDArrays(output_handles, num_outputs)) s->outputs.push_back(DeferredEntry(*a));
  *out = s.release();
  API_END();
}

int MXNDArrayTakeDeferredComputeConstants(int* out_size, NDArrayHandle** out_arrays, const char*** out_names) {
  API_BEGIN(out_size, out_arrays, out_names);
  ApiStore& store = ApiStore::Get();
  store.handles.clear();
  store.strings.clear();
  for (auto& c : TakeDeferredConstants()) {
    store.strings.push_back(c.first);
    store.handles.push_back(new NDArray(std::move(c.second)));
  }
  *out_size = static_cast<int>(store.handles.size());
  *out_arrays = store.handles.data();
  *out_names = store.Point();
  API_END();
}

int MXNDArrayShapeIsValue(NDArrayHandle handle, int* out) {
  API_BEGIN_UNSEEN(out);
  const NDArray* a = static_cast<const NDArray*>(handle);
  *out = a && ShapeIsValue(*a);
  API_END();
}

int MXNDArrayClearDeferredCompute(NDArrayHandle* arrays, int num) {
  API_BEGIN();
  for (NDArray* a : AsNDArrays(arrays, num)) ForgetDeferred(a);
  API_END();
}

// ---- the engine

int MXEngineSetBulkSize(int bulk_size, int* prev_bulk_size) {
  API_BEGIN(prev_bulk_size);
  *prev_bulk_size = Engine::Get()->SetBulkSize(bulk_size);
  API_END();
}

int MXEngineWaitBeforeFork() {
  API_BEGIN();
  engine::WaitBeforeFork(Engine::Get());
  API_END();
}

int MXEngineMarkCallSite(const char* site) {
  API_BEGIN();
  engine::MarkCallSite(site);
  API_END();
}

int MXNotifyShutdown() {
  API_BEGIN();
  Engine::Get()->NotifyShutdown();
  custom::Close();
  API_END();
}

int MXGetVersion(int* out) {
  API_BEGIN_UNSEEN(out);
  *out = MXNET_VERSION;
  API_END();
}

int MXEngineStats(uint64_t* out) {
  API_BEGIN(out);
  const EngineStats s = Engine::Get()->stats();
  out[0] = s.pushed;
  out[1] = s.inlined;
  out[2] = s.bulked;
  out[3] = s.bulks;
  API_END();
}
