// Executors and cached operators over the C ABI.
#include <memory>

#include "c_api/c_api_symbol.h"
#include "executor/explain.h"
#include "mxnet/c_api_plan.h"
#include "mxnet/executor.h"
#include "mxnet/numpy_shapes.h"

using namespace mxnet;  // NOLINT

namespace {

using ExecutorPtr = std::shared_ptr<Executor>;
using CachedOpPtr = std::shared_ptr<CachedOp>;

/* Take a copy where the program's callbacks may run: one may free the handle. */
const ExecutorPtr& AsExecutor(ExecutorHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[c_api] got a null executor handle";
  return *static_cast<ExecutorPtr*>(h);
}

const CachedOpPtr& AsCachedOp(CachedOpHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[c_api] got a null cached operator handle";
  return *static_cast<CachedOpPtr*>(h);
}

OpReq ToReq(uint32_t req) {
  MXNET_CHECK_KIND(req <= 3, Value) << "[bind] grad_req number " << req << "; accepted: 0 (null), 1 (write), 3 (add)";
  return req == 2 ? OpReq::kWrite : static_cast<OpReq>(req);
}

OpReq ToReq(const std::string& req) {
  if (req == "null") return OpReq::kNull;
  if (req == "write") return OpReq::kWrite;
  if (req == "add") return OpReq::kAdd;
  MXNET_THROW(Value) << "[bind] grad_req '" << req << "'; accepted: write, add, null";
  return OpReq::kNull;
}

std::map<std::string, Context> Groups(uint32_t n, const char** keys, const int* dev_types, const int* dev_ids) {
  std::map<std::string, Context> groups;
  NeedTexts(n, keys, "names of context groups");
  Need(n, dev_types, "device types");
  Need(n, dev_ids, "device numbers");
  for (uint32_t i = 0; i < n; ++i) groups[keys[i]] = Context::Make(dev_types[i], dev_ids[i]);
  return groups;
}

// Arrays of a handle list; null handles are none arrays.
std::vector<NDArray> Arrays(uint32_t n, NDArrayHandle* handles) {
  std::vector<NDArray> arrays(n);
  for (uint32_t i = 0; i < n && handles; ++i)
    if (handles[i]) arrays[i] = *static_cast<NDArray*>(handles[i]);
  return arrays;
}

NDArrayHandle* GiveArrays(const std::vector<NDArray>& arrays, std::vector<void*>* store) {
  store->clear();
  for (const auto& a : arrays) store->push_back(a.is_none() ? nullptr : new NDArray(a));
  return store->data();
}

/* What simple_bind and reshape hand out: three lists of handles. */
struct BoundStore {
  std::vector<void*> args, grads, aux, buffers;
  std::vector<std::string> names;
  std::vector<const char*> name_pointers;
  static BoundStore& Get() { return PerThread<BoundStore>(); }
};

void GiveBound(const Executor& e, uint32_t* num_in_args, NDArrayHandle** in_args, NDArrayHandle** arg_grads, uint32_t* num_aux,
               NDArrayHandle** aux_states) {
  BoundStore& store = BoundStore::Get();
  *num_in_args = static_cast<uint32_t>(e.args.size());
  *in_args = GiveArrays(e.args, &store.args);
  *arg_grads = GiveArrays(e.arg_grads, &store.grads);
  *num_aux = static_cast<uint32_t>(e.aux.size());
  *aux_states = GiveArrays(e.aux, &store.aux);
}

// In the 1.x convention a dimension of 0 is unknown, unless shapes are NumPy's; simple_bind and
// reshape need every given dimension or infer it.
template <typename Int>
std::map<std::string, Shape> Shapes(uint32_t n, const char** names, const Int* data, const uint32_t* idx) {
  std::map<std::string, Shape> shapes;
  const bool np = NumpyShapes();
  NeedTexts(n, names, "names of shapes");
  Need(n, idx, "positions of shapes");
  Need(n > 0 ? idx[n] : 0, data, "dimensions");
  for (uint32_t i = 0; i < n; ++i) {
    MXNET_CHECK_KIND(idx[i] <= idx[i + 1] && idx[i + 1] - idx[i] <= 64, Value)
        << "[bind] shape " << i << " has dimensions " << idx[i] << " to " << idx[i + 1] << " of the list";
    Shape s(static_cast<int>(idx[i + 1] - idx[i]));
    for (int k = 0; k < s.ndim(); ++k) {
      const int64_t d = static_cast<int64_t>(data[idx[i] + k]);
      s[k] = d == 0 && !np ? Shape::kUnknownDim : d;
    }
    if (s.ndim() > 0 || np) shapes[names[i]] = s;
  }
  return shapes;
}

std::map<std::string, TensorType> Types(const std::map<std::string, Shape>& shapes, uint32_t num_dtypes, const char** dtype_names,
                                        const int* dtypes) {
  std::map<std::string, TensorType> types;
  for (const auto& kv : shapes) types[kv.first].shape = kv.second;
  NeedTexts(num_dtypes, dtype_names, "names of dtypes");
  Need(num_dtypes, dtypes, "dtypes");
  for (uint32_t i = 0; i < num_dtypes; ++i) types[dtype_names[i]].dtype = dtypes[i];
  return types;
}

template <typename Int>
int DoSimpleBind(const char* function, SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_g2c, const char** g2c_keys,
                 const int* g2c_types, const int* g2c_ids, uint32_t grad_req_len, const char** grad_req_names, const char** grad_req_types,
                 uint32_t num_shapes, const char** shape_names, const Int* shape_data, const uint32_t* shape_idx, uint32_t num_dtypes,
                 const char** dtype_names, const int* dtypes, uint32_t num_stypes, const char** stype_names, const int* stypes,
                 uint32_t num_shared, const char** shared_names, int* buffer_len, const char** buffer_names, NDArrayHandle* buffer_handles,
                 const char*** new_buffer_names, NDArrayHandle** new_buffer_handles, uint32_t* num_in_args, NDArrayHandle** in_args,
                 NDArrayHandle** arg_grads, uint32_t* num_aux, NDArrayHandle** aux_states, ExecutorHandle shared, ExecutorHandle* out) {
  API_BEGIN_AS(function, num_in_args, in_args, arg_grads, num_aux, aux_states, out);
  SimpleBindRequest r;
  r.symbol = *AsSymbol(symbol_handle);
  r.ctx = Context::Make(dev_type, dev_id);
  r.group2ctx = Groups(num_g2c, g2c_keys, g2c_types, g2c_ids);
  const std::vector<std::string> args = r.symbol.ListInputNames(Symbol::kReadOnlyArgs);
  NeedTexts(grad_req_len, grad_req_types, "grad_reqs");
  if (grad_req_names) {  // by name; arguments that are not mentioned get no gradient
    std::map<std::string, OpReq> by_name;
    NeedTexts(grad_req_len, grad_req_names, "names of grad_reqs");
    for (uint32_t i = 0; i < grad_req_len; ++i) by_name[grad_req_names[i]] = ToReq(std::string(grad_req_types[i]));
    for (const auto& a : args) r.grad_req.push_back(by_name.count(a) ? by_name[a] : OpReq::kNull);
  } else if (grad_req_len == 0) {  // one for all; without any, nobody wants gradients
    r.grad_req.assign(args.size(), grad_req_types ? ToReq(std::string(Text(grad_req_types[0], "the grad_req"))) : OpReq::kNull);
  } else {
    MXNET_CHECK_KIND(grad_req_len == args.size(), Value)
        << "[simple_bind] got " << grad_req_len << " grad_reqs; the symbol has " << args.size() << " arguments";
    for (uint32_t i = 0; i < grad_req_len; ++i) r.grad_req.push_back(ToReq(std::string(grad_req_types[i])));
  }
  r.types = Types(Shapes(num_shapes, shape_names, shape_data, shape_idx), num_dtypes, dtype_names, dtypes);
  NeedTexts(num_stypes, stype_names, "names of storage types");
  Need(num_stypes, stypes, "storage types");
  for (uint32_t i = 0; i < num_stypes; ++i) {
    MXNET_CHECK_KIND(stypes[i] >= -1 && stypes[i] <= 2, Value) << "[simple_bind] argument " << stype_names[i] << " has storage type "
                                                               << stypes[i] << "; accepted: 0 (default), 1 (row_sparse), 2 (csr)";
    r.types[stype_names[i]].storage = static_cast<StorageType>(stypes[i]);
  }
  NeedTexts(num_shared, shared_names, "names of shared arguments");
  for (uint32_t i = 0; i < num_shared; ++i) r.shared_arg_names.push_back(shared_names[i]);
  std::map<std::string, NDArray> buffer;
  if (buffer_len && *buffer_len >= 0) {
    CheckOutputs(function, "updated_shared_buffer_name_list, updated_shared_buffer_handle_list", {new_buffer_names, new_buffer_handles});
    NeedTexts(*buffer_len, buffer_names, "names of shared buffers");
    Need(*buffer_len, buffer_handles, "shared buffers");
    for (int i = 0; i < *buffer_len; ++i) buffer[buffer_names[i]] = *AsNDArray(buffer_handles[i]);
    r.shared_buffer = &buffer;
  }
  if (shared) r.shared = AsExecutor(shared);
  auto made = std::make_unique<ExecutorPtr>(SimpleBind(r));
  if (r.shared_buffer) {
    BoundStore& store = BoundStore::Get();
    store.names.clear();
    std::vector<NDArray> arrays;
    for (const auto& kv : buffer) {
      store.names.push_back(kv.first);
      arrays.push_back(kv.second);
    }
    store.name_pointers.clear();
    for (const auto& n : store.names) store.name_pointers.push_back(n.c_str());
    *new_buffer_handles = GiveArrays(arrays, &store.buffers);
    *new_buffer_names = store.name_pointers.data();
    *buffer_len = static_cast<int>(arrays.size());
  }
  GiveBound(**made, num_in_args, in_args, arg_grads, num_aux, aux_states);
  *out = made.release();
  API_END();
}

template <typename Int>
int DoReshape(const char* function, int partial_shaping, int allow_up_sizing, uint32_t num_shapes, const char** shape_names,
              const Int* shape_data, const uint32_t* shape_idx, uint32_t* num_in_args, NDArrayHandle** in_args, NDArrayHandle** arg_grads,
              uint32_t* num_aux, NDArrayHandle** aux_states, ExecutorHandle shared, ExecutorHandle* out) {
  API_BEGIN_AS(function, num_in_args, in_args, arg_grads, num_aux, aux_states, out);
  auto made = std::make_unique<ExecutorPtr>(
      AsExecutor(shared)->Reshape(Shapes(num_shapes, shape_names, shape_data, shape_idx), partial_shaping != 0, allow_up_sizing != 0));
  GiveBound(**made, num_in_args, in_args, arg_grads, num_aux, aux_states);
  *out = made.release();
  API_END();
}

void GiveStats(const PlanStats& s, uint64_t* out) {
  const uint64_t values[] = {s.arena_bytes,
                             s.unshared_bytes,
                             s.lower_bound_bytes,
                             static_cast<uint64_t>(s.num_nodes),
                             static_cast<uint64_t>(s.num_bulks),
                             static_cast<uint64_t>(s.num_inplace),
                             static_cast<uint64_t>(s.num_removed)};
  std::copy(std::begin(values), std::end(values), out);
}

}  // namespace

// ---- executors

int MXExecutorFree(ExecutorHandle handle) {
  API_BEGIN();
  delete static_cast<ExecutorPtr*>(handle);
  API_END();
}

int MXExecutorPrint(ExecutorHandle handle, const char** out_str) {
  API_BEGIN(out_str);
  *out_str = GiveText(AsExecutor(handle)->DebugStr());
  API_END();
}

int MXExecutorForward(ExecutorHandle handle, int is_train) {
  API_BEGIN();
  const ExecutorPtr executor = AsExecutor(handle);
  executor->Forward(is_train != 0);
  API_END();
}

int MXExecutorBackwardEx(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads, int is_train) {
  API_BEGIN();
  const ExecutorPtr executor = AsExecutor(handle);
  executor->Backward(Arrays(len, head_grads), is_train != 0);
  API_END();
}

int MXExecutorBackward(ExecutorHandle handle, uint32_t len, NDArrayHandle* head_grads) {
  return MXExecutorBackwardEx(handle, len, head_grads, 1);
}

int MXExecutorOutputs(ExecutorHandle handle, uint32_t* out_size, NDArrayHandle** out) {
  API_BEGIN(out_size, out);
  const auto& outputs = AsExecutor(handle)->Outputs();
  ApiStore& store = ApiStore::Get();
  store.handles.clear();
  for (const auto& o : outputs) store.handles.push_back(new NDArray(o));
  *out = store.handles.data();
  *out_size = static_cast<uint32_t>(outputs.size());
  API_END();
}

int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys, const char** map_keys,
                     const int* map_dev_types, const int* map_dev_ids, uint32_t len, NDArrayHandle* in_args, NDArrayHandle* arg_grad_store,
                     uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states, ExecutorHandle shared_exec,
                     ExecutorHandle* out) {
  API_BEGIN(out);
  std::vector<OpReq> req;
  Need(len, grad_req_type, "gradient requests");
  for (uint32_t i = 0; i < len; ++i) req.push_back(ToReq(grad_req_type[i]));
  *out = new ExecutorPtr(Executor::Bind(*AsSymbol(symbol_handle), Context::Make(dev_type, dev_id),
                                        Groups(num_map_keys, map_keys, map_dev_types, map_dev_ids), Arrays(len, in_args),
                                        Arrays(len, arg_grad_store), req, Arrays(aux_states_len, aux_states),
                                        shared_exec ? AsExecutor(shared_exec) : nullptr));
  API_END();
}

int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t num_map_keys, const char** map_keys,
                    const int* map_dev_types, const int* map_dev_ids, uint32_t len, NDArrayHandle* in_args, NDArrayHandle* arg_grad_store,
                    uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states, ExecutorHandle* out) {
  return MXExecutorBindEX(symbol_handle, dev_type, dev_id, num_map_keys, map_keys, map_dev_types, map_dev_ids, len, in_args, arg_grad_store,
                          grad_req_type, aux_states_len, aux_states, nullptr, out);
}

int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, uint32_t len, NDArrayHandle* in_args,
                   NDArrayHandle* arg_grad_store, uint32_t* grad_req_type, uint32_t aux_states_len, NDArrayHandle* aux_states,
                   ExecutorHandle* out) {
  return MXExecutorBindX(symbol_handle, dev_type, dev_id, 0, nullptr, nullptr, nullptr, len, in_args, arg_grad_store, grad_req_type,
                         aux_states_len, aux_states, out);
}

#define MXNET_SIMPLE_BIND(name, Int)                                                                                                      \
  int name(SymbolHandle symbol_handle, int dev_type, int dev_id, const uint32_t num_g2c_keys, const char** g2c_keys,                      \
           const int* g2c_dev_types, const int* g2c_dev_ids, const uint32_t provided_grad_req_list_len,                                   \
           const char** provided_grad_req_names, const char** provided_grad_req_types, const uint32_t num_provided_arg_shapes,            \
           const char** provided_arg_shape_names, const Int* provided_arg_shape_data, const uint32_t* provided_arg_shape_idx,             \
           const uint32_t num_provided_arg_dtypes, const char** provided_arg_dtype_names, const int* provided_arg_dtypes,                 \
           const uint32_t num_provided_arg_stypes, const char** provided_arg_stype_names, const int* provided_arg_stypes,                 \
           const uint32_t num_shared_arg_names, const char** shared_arg_name_list, int* shared_buffer_len,                                \
           const char** shared_buffer_name_list, NDArrayHandle* shared_buffer_handle_list, const char*** updated_shared_buffer_name_list, \
           NDArrayHandle** updated_shared_buffer_handle_list, uint32_t* num_in_args, NDArrayHandle** in_args, NDArrayHandle** arg_grads,  \
           uint32_t* num_aux_states, NDArrayHandle** aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle* out) {                \
    return DoSimpleBind(#name, symbol_handle, dev_type, dev_id, num_g2c_keys, g2c_keys, g2c_dev_types, g2c_dev_ids,                       \
                        provided_grad_req_list_len, provided_grad_req_names, provided_grad_req_types, num_provided_arg_shapes,            \
                        provided_arg_shape_names, provided_arg_shape_data, provided_arg_shape_idx, num_provided_arg_dtypes,               \
                        provided_arg_dtype_names, provided_arg_dtypes, num_provided_arg_stypes, provided_arg_stype_names,                 \
                        provided_arg_stypes, num_shared_arg_names, shared_arg_name_list, shared_buffer_len, shared_buffer_name_list,      \
                        shared_buffer_handle_list, updated_shared_buffer_name_list, updated_shared_buffer_handle_list, num_in_args,       \
                        in_args, arg_grads, num_aux_states, aux_states, shared_exec_handle, out);                                         \
  }
MXNET_SIMPLE_BIND(MXExecutorSimpleBind, uint32_t)
MXNET_SIMPLE_BIND(MXExecutorSimpleBindEx, int)
MXNET_SIMPLE_BIND(MXExecutorSimpleBindEx64, int64_t)

#define MXNET_RESHAPE(name, Int)                                                                                                          \
  int name(int partial_shaping, int allow_up_sizing, int, int, uint32_t, const char**, const int*, const int*,                            \
           const uint32_t num_provided_arg_shapes, const char** provided_arg_shape_names, const Int* provided_arg_shape_data,             \
           const uint32_t* provided_arg_shape_idx, uint32_t* num_in_args, NDArrayHandle** in_args, NDArrayHandle** arg_grads,             \
           uint32_t* num_aux_states, NDArrayHandle** aux_states, ExecutorHandle shared_exec, ExecutorHandle* out) {                       \
    return DoReshape(#name, partial_shaping, allow_up_sizing, num_provided_arg_shapes, provided_arg_shape_names, provided_arg_shape_data, \
                     provided_arg_shape_idx, num_in_args, in_args, arg_grads, num_aux_states, aux_states, shared_exec, out);              \
  }
MXNET_RESHAPE(MXExecutorReshape, uint32_t)
MXNET_RESHAPE(MXExecutorReshapeEx, int)

int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(AsExecutor(handle)->OptimizedSymbol());
  API_END();
}

// The callback owns the array handle that it gets.
int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle, ExecutorMonitorCallback callback, void* callback_handle, bool monitor_all) {
  API_BEGIN();
  Executor::MonitorFn fn;
  if (callback)
    fn = [callback, callback_handle](const char* name, const char*, const NDArray& array) {
      callback(name, new NDArray(array), callback_handle);
    };
  AsExecutor(handle)->SetMonitor(std::move(fn), monitor_all);
  API_END();
}

int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback, void* callback_handle) {
  return MXExecutorSetMonitorCallbackEX(handle, callback, callback_handle, false);
}

int MXExecutorGetPlanStats(ExecutorHandle handle, uint64_t* out_values) {
  API_BEGIN(out_values);
  GiveStats(AsExecutor(handle)->Stats(), out_values);
  API_END();
}

int MXSymbolPlanMemory(SymbolHandle symbol, int dev_type, int dev_id, uint32_t num_shapes, const char** shape_names,
                       const int64_t* shape_data, const uint32_t* shape_idx, uint32_t num_dtypes, const char** dtype_names,
                       const int* dtypes, uint32_t num_grads, const char** grad_names, uint64_t budget, SymbolHandle* out_symbol,
                       uint64_t* out_bytes, double* out_costs, uint32_t* out_num_names, const char*** out_names) {
  API_BEGIN(out_symbol, out_bytes, out_costs, out_num_names, out_names);
  const auto types = Types(Shapes(num_shapes, shape_names, shape_data, shape_idx), num_dtypes, dtype_names, dtypes);
  const std::vector<std::string> wanted = Names(num_grads, grad_names, "names of arguments");
  MemoryAdvice advice = AdviseMemory(*AsSymbol(symbol), Context::Make(dev_type, dev_id), types, wanted, static_cast<size_t>(budget));
  const uint64_t bytes[] = {advice.arena_bytes, advice.lower_bound_bytes, advice.kept_bytes};
  std::copy(std::begin(bytes), std::end(bytes), out_bytes);
  const double costs[] = {advice.step_ns, advice.step_flops, advice.extra_ns, advice.extra_flops};
  std::copy(std::begin(costs), std::end(costs), out_costs);
  BoundStore& store = BoundStore::Get();
  store.names = std::move(advice.recomputed);
  store.name_pointers.clear();
  for (const auto& n : store.names) store.name_pointers.push_back(n.c_str());
  *out_num_names = static_cast<uint32_t>(store.names.size());
  *out_names = store.name_pointers.data();
  *out_symbol = new Symbol(std::move(advice.symbol));
  API_END();
}

int MXExecutorExplain(ExecutorHandle handle, int runs, const char** out_json) {
  API_BEGIN(out_json);
  *out_json = GiveText(ExplainExecutor(*AsExecutor(handle), runs));
  API_END();
}

// ---- cached operators

int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char** keys, const char** vals, CachedOpHandle* out, bool thread_safe) {
  API_BEGIN(out);
  std::map<std::string, std::string> flags;
  NeedTexts(num_flags, keys, "names of flags");
  NeedTexts(num_flags, vals, "values of flags");
  for (int i = 0; i < num_flags; ++i) flags[keys[i]] = vals[i];
  if (thread_safe) flags["thread_safe"] = "1";
  *out = new CachedOpPtr(CachedOp::Create(*AsSymbol(handle), flags));
  API_END();
}

int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char** keys, const char** vals, CachedOpHandle* out) {
  return MXCreateCachedOpEX(handle, num_flags, keys, vals, out, false);
}

int MXCreateCachedOp(SymbolHandle handle, CachedOpHandle* out) { return MXCreateCachedOpEX(handle, 0, nullptr, nullptr, out, false); }

int MXFreeCachedOp(CachedOpHandle handle) {
  API_BEGIN();
  delete static_cast<CachedOpPtr*>(handle);
  API_END();
}

int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs,
                       const int** out_stypes) {
  API_BEGIN(num_outputs, outputs);
  const CachedOpPtr op = AsCachedOp(handle);
  const std::vector<NDArray*> in = AsNDArrays(inputs, num_inputs);
  const int count = static_cast<int>(op->symbol().outputs.size());
  ApiStore& store = ApiStore::Get();
  std::vector<NDArray*> out;
  std::vector<std::unique_ptr<NDArray>> fresh;
  const bool given = *outputs != nullptr;
  if (given) {
    MXNET_CHECK_KIND(*num_outputs == count, Value) << "[CachedOp] got " << *num_outputs << " output arrays; the graph has " << count;
    out = AsNDArrays(*outputs, count);
  } else {
    for (int i = 0; i < count; ++i) {
      fresh.emplace_back(new NDArray());
      out.push_back(fresh.back().get());
    }
  }
  op->Invoke(in, out);
  if (!given) {
    store.handles.clear();
    for (auto& f : fresh) store.handles.push_back(f.release());
    *outputs = store.handles.data();
    *num_outputs = count;
  }
  if (out_stypes) {
    store.stypes.clear();
    for (const NDArray* o : out) store.stypes.push_back(static_cast<int>(o->storage_type()));
    *out_stypes = store.stypes.data();
  }
  API_END();
}

int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int* num_outputs, NDArrayHandle** outputs) {
  return MXInvokeCachedOpEx(handle, num_inputs, inputs, num_outputs, outputs, nullptr);
}

int MXCachedOpRegisterOpHook(CachedOpHandle handle, CachedOpMonitorCallback callback, bool monitor_all) {
  API_BEGIN();
  Executor::MonitorFn fn;
  if (callback) fn = [callback](const char* name, const char* op, const NDArray& array) { callback(name, op, new NDArray(array)); };
  AsCachedOp(handle)->SetMonitor(std::move(fn), monitor_all);
  API_END();
}

int MXCachedOpGetOptimizedSymbol(CachedOpHandle handle, SymbolHandle* out) {
  API_BEGIN(out);
  *out = new Symbol(AsCachedOp(handle)->OptimizedSymbol());
  API_END();
}

int MXCachedOpGetPlanStats(CachedOpHandle handle, uint64_t* out_values) {
  API_BEGIN(out_values);
  GiveStats(AsCachedOp(handle)->Stats(), out_values);
  API_END();
}

int MXCachedOpExplain(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int runs, const char** out_json) {
  API_BEGIN(out_json);
  Need(num_inputs, inputs, "inputs");
  std::vector<NDArray> in(static_cast<size_t>(num_inputs));
  for (size_t i = 0; i < in.size(); ++i)
    if (inputs[i]) in[i] = *static_cast<const NDArray*>(inputs[i]);
  *out_json = GiveText(ExplainCachedOp(*AsCachedOp(handle), in, runs));
  API_END();
}
