// The C predict API: a symbol and its parameters behind one handle.
#include "mxnet/c_predict_api.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/logging.h"
#include "c_api/c_api_symbol.h"
#include "mxnet/executor.h"

using namespace mxnet;  // NOLINT

namespace {

struct Predictor {
  Symbol symbol;
  Context ctx;
  std::map<std::string, Shape> input_shapes;
  std::map<std::string, int> input_dtypes;
  std::shared_ptr<Executor> executor;
  std::map<std::string, NDArray> by_name;         // arguments
  std::set<std::string> zeros;                    // arguments that neither caller nor parameters gave (labels)
  std::vector<std::vector<uint32_t>> out_shapes;  // as handed out
};

constexpr uint64_t kMissingMultiple = 16;

struct ArrayList {
  std::vector<std::string> keys;
  std::vector<std::vector<float>> values;
  std::vector<std::vector<uint32_t>> shapes;
};

Predictor* AsPredictor(PredictorHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[predictor] got a null handle";
  return static_cast<Predictor*>(h);
}

std::map<std::string, Shape> InputShapes(uint32_t n, const char** keys, const uint32_t* indptr, const uint32_t* data) {
  std::map<std::string, Shape> shapes;
  NeedTexts(n, keys, "inputs' names");
  Need(n, indptr, "positions of shapes");
  Need(n > 0 ? indptr[n] : 0, data, "dimensions");
  for (uint32_t i = 0; i < n; ++i) {
    MXNET_CHECK_KIND(indptr[i] <= indptr[i + 1] && indptr[i + 1] - indptr[i] <= 64, Value)
        << "[predictor] shape " << i << " has dimensions " << indptr[i] << " to " << indptr[i + 1];
    Shape s(static_cast<int>(indptr[i + 1] - indptr[i]));
    int64_t size = 8;  // bytes, of the widest dtype
    for (int k = 0; k < s.ndim(); ++k) {
      s[k] = data[indptr[i] + k];
      MXNET_CHECK_KIND(s[k] == 0 || !__builtin_mul_overflow(size, s[k], &size), Value)
          << "[predictor] the shape of input " << keys[i] << " has more elements than 64 bits count";
    }
    shapes[keys[i]] = s;
  }
  return shapes;
}

// Parameter files name arrays "arg:NAME" and "aux:NAME".
std::map<std::string, NDArray> Parameters(const void* bytes, int size) {
  MXNET_CHECK_KIND(size >= 0 && (bytes || size == 0), Value) << "[predictor] got " << size << " bytes of parameters";
  std::map<std::string, NDArray> params;
  if (size == 0) return params;
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  LoadNDArrays(bytes, static_cast<size_t>(size), &arrays, &names);
  for (size_t i = 0; i < names.size(); ++i) {
    if (arrays[i].is_none()) continue;  // as if it were not there
    const bool prefixed = names[i].compare(0, 4, "arg:") == 0 || names[i].compare(0, 4, "aux:") == 0;
    params[prefixed ? names[i].substr(4) : names[i]] = arrays[i];
  }
  return params;
}

Symbol ChooseOutputs(const Symbol& symbol, uint32_t n, const char** keys) {
  if (n == 0) return symbol;
  const Symbol internals = symbol.GetInternals();
  const std::vector<std::string> names = internals.ListOutputNames();
  std::vector<Symbol> chosen;
  for (const std::string& key : Names(n, keys, "outputs' names")) {
    size_t at = 0;
    while (at < names.size() && names[at] != key && names[at] != key + "_output") ++at;
    MXNET_CHECK_KIND(at < names.size(), Value) << "[predictor] the graph has no node " << key;
    chosen.push_back(internals[at]);
  }
  return Symbol::Group(chosen);
}

/* Only what trains reads a label: by its name, as 1.x has it, or because every operator that takes
 * it does so as one. */
bool IsLabel(const Symbol& symbol, const Node* variable) {
  const std::string& name = variable->name;
  if (name.size() >= 5 && name.compare(name.size() - 5, 5, "label") == 0) return true;
  bool used = false, only = true;
  DFSVisit(symbol.outputs, [&](const NodePtr& n) {
    if (n->is_variable()) return;
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      if (n->inputs[i].node.get() != variable) continue;
      const std::vector<std::string> inputs = n->op()->ListInputs(*n->attrs);
      used = true;
      only = only && i < inputs.size() && inputs[i] == "label";
    }
  });
  return used && only;
}

/* A file for another network, or a part of one, must not pass as a trained one. `whole`: the graph
 * that the file belongs to. */
void CheckParameters(const Predictor& p, const Symbol& whole, const std::map<std::string, NDArray>& params) {
  std::string missing, extra;
  for (const auto& n : p.symbol.ListInputs(Symbol::kAll))
    if (!p.input_shapes.count(n->name) && !params.count(n->name) && !IsLabel(p.symbol, n.get()))
      missing += (missing.empty() ? "" : ", ") + n->name;
  MXNET_CHECK_KIND(missing.empty(), Value) << "[predictor] neither the inputs nor the parameters have " << missing
                                           << "; accepted without: labels alone";
  const std::vector<std::string> known = whole.ListInputNames(Symbol::kAll);
  const std::set<std::string> names(known.begin(), known.end());
  for (const auto& kv : params)
    if (!names.count(kv.first)) extra += (extra.empty() ? "" : ", ") + kv.first;
  if (!extra.empty()) LogWarning("[predictor] the parameters have " + extra + ", which the graph does not use");
}

/* Binds `p`; parameters that it shares with `params` keep their memory when context and dtype
 * allow. `same`: a predictor whose plan it uses. */
void Bind(Predictor* p, const std::map<std::string, NDArray>& params, const Predictor* same = nullptr) {
  const IndexedGraph g(p->symbol.outputs);
  ShapeVector shapes(g.num_entries());
  std::vector<int> dtypes(g.num_entries(), kDTypeUnknown);
  for (uint32_t id : g.input_nodes) {
    const std::string& name = g.nodes[id].source->name;
    const uint32_t e = g.eid(id, 0);
    auto s = p->input_shapes.find(name);
    auto t = p->input_dtypes.find(name);
    auto v = params.find(name);
    if (s != p->input_shapes.end())
      shapes[e] = s->second;
    else if (v != params.end())
      shapes[e] = v->second.shape();
    if (t != p->input_dtypes.end())
      dtypes[e] = t->second;
    else if (v != params.end())
      dtypes[e] = v->second.dtype();
  }
  MXNET_CHECK_KIND(InferShapes(g, &shapes), Value)
      << "[predictor] the given input shapes and parameters do not determine all shapes; give the shape of every input";
  MXNET_CHECK_KIND(InferTypes(g, &dtypes, kFloat32), Value) << "[predictor] the given dtypes and parameters do not determine all dtypes";
  // What neither caller nor parameters gave is a label, or forgotten. It starts at zero, but must
  // not be far larger than all that was given.
  uint64_t given = 1 << 20, missing = 0;
  for (const auto& kv : p->input_shapes) given += static_cast<uint64_t>(kv.second.Size()) * 8;
  for (const auto& kv : params)
    given += kv.second.is_none() ? 0 : static_cast<uint64_t>(kv.second.shape().Size()) * DTypeSize(kv.second.dtype());
  auto arrays = [&](Symbol::ListOption option) {
    std::vector<NDArray> list;
    for (const auto& n : p->symbol.ListInputs(option)) {
      const uint32_t e = g.eid(g.id.at(n.get()), 0);
      auto v = params.find(n->name);
      const bool is_input = p->input_shapes.count(n->name) != 0;
      if (!is_input && v != params.end() && v->second.ctx() == p->ctx && v->second.dtype() == dtypes[e]) {
        list.push_back(v->second);
      } else {
        if (!is_input && v == params.end()) {
          uint64_t bytes = DTypeSize(dtypes[e]);
          for (int64_t d : shapes[e])
            if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(d), &bytes)) bytes = UINT64_MAX / 2;
          missing = std::min(missing + bytes, UINT64_MAX / 2);
          MXNET_CHECK_KIND(missing <= kMissingMultiple * given, Value)
              << "[predictor] the parameters lack " << n->name << " of shape " << shapes[e]
              << "; accepted: missing arrays (labels) of at most " << kMissingMultiple << " times what was given";
        }
        NDArray a(shapes[e], p->ctx, dtypes[e]);
        if (v != params.end() && v->second.shape() == shapes[e]) {
          CopyFromTo(v->second, a);
        } else {
          // inputs and labels that the parameter file does not hold start at zero
          if (!is_input) p->zeros.insert(n->name);
          const std::vector<char> zeros(static_cast<size_t>(shapes[e].Size()) * DTypeSize(dtypes[e]), 0);
          if (!zeros.empty()) a.SyncCopyFromCPU(zeros.data(), zeros.size());
        }
        list.push_back(a);
      }
      if (option == Symbol::kReadOnlyArgs) p->by_name[n->name] = list.back();
    }
    return list;
  };
  const std::vector<NDArray> args = arrays(Symbol::kReadOnlyArgs), aux = arrays(Symbol::kAuxStates);
  p->executor = same ? same->executor->SharePlan(args, aux) : Executor::Bind(p->symbol, p->ctx, {}, args, {}, {}, aux);
  for (const auto& o : p->executor->Outputs()) {
    p->out_shapes.emplace_back();
    for (int64_t d : o.shape()) p->out_shapes.back().push_back(static_cast<uint32_t>(d));
  }
}

std::map<std::string, NDArray> BoundParameters(const Predictor& p) {
  std::map<std::string, NDArray> params;
  const auto arg_names = p.executor->ArgNames(), aux_names = p.executor->AuxNames();
  for (size_t i = 0; i < arg_names.size(); ++i)
    if (!p.input_shapes.count(arg_names[i]) && !p.zeros.count(arg_names[i])) params[arg_names[i]] = p.executor->args[i];
  for (size_t i = 0; i < aux_names.size(); ++i) params[aux_names[i]] = p.executor->aux[i];
  return params;
}

/* Without the shapes of what `symbol` does not have. */
std::map<std::string, Shape> KnownShapes(const Symbol& symbol, std::map<std::string, Shape> shapes) {
  const auto known = symbol.ListInputNames(Symbol::kAll);
  for (auto kv = shapes.begin(); kv != shapes.end();) {
    const bool has = std::find(known.begin(), known.end(), kv->first) != known.end();
    if (!has) LogWarning("[predictor] the graph has no input " + kv->first + "; its shape is ignored");
    kv = has ? std::next(kv) : shapes.erase(kv);
  }
  return shapes;
}

std::unique_ptr<Predictor> Make(const char* json, const void* param_bytes, int param_size, int dev_type, int dev_id, uint32_t num_inputs,
                                const char** keys, const uint32_t* indptr, const uint32_t* data, uint32_t num_dtypes,
                                const char** dtype_names, const int* dtypes, uint32_t num_outputs, const char** output_keys) {
  auto p = std::make_unique<Predictor>();
  const Symbol whole = SymbolFromJSON(Text(json, "the symbol's JSON"));
  p->symbol = ChooseOutputs(whole, num_outputs, output_keys);
  p->ctx = Context::Make(dev_type, dev_id);
  p->input_shapes = KnownShapes(p->symbol, InputShapes(num_inputs, keys, indptr, data));
  NeedTexts(num_dtypes, dtype_names, "names of dtypes");
  Need(num_dtypes, dtypes, "dtypes");
  for (uint32_t i = 0; i < num_dtypes; ++i) p->input_dtypes[dtype_names[i]] = dtypes[i];
  const std::map<std::string, NDArray> params = Parameters(param_bytes, param_size);
  CheckParameters(*p, whole, params);
  Bind(p.get(), params);
  return p;
}

const NDArray& Output(Predictor* p, uint32_t index) {
  const auto& outputs = p->executor->Outputs();
  MXNET_CHECK_KIND(index < outputs.size(), Index) << "[predictor] output " << index << " of " << outputs.size();
  return outputs[index];
}

}  // namespace

int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                   const uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                   const uint32_t* input_shape_data, const uint32_t num_provided_arg_dtypes, const char** provided_arg_dtype_names,
                   const int* provided_arg_dtypes, PredictorHandle* out) {
  API_BEGIN(out);
  *out = Make(symbol_json_str, param_bytes, param_size, dev_type, dev_id, num_input_nodes, input_keys, input_shape_indptr, input_shape_data,
              num_provided_arg_dtypes, provided_arg_dtype_names, provided_arg_dtypes, 0, nullptr)
             .release();
  API_END();
}

int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id, uint32_t num_input_nodes,
                 const char** input_keys, const uint32_t* input_shape_indptr, const uint32_t* input_shape_data, PredictorHandle* out) {
  return MXPredCreateEx(symbol_json_str, param_bytes, param_size, dev_type, dev_id, num_input_nodes, input_keys, input_shape_indptr,
                        input_shape_data, 0, nullptr, nullptr, out);
}

int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                           uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                           const uint32_t* input_shape_data, uint32_t num_output_nodes, const char** output_keys, PredictorHandle* out) {
  API_BEGIN(out);
  *out = Make(symbol_json_str, param_bytes, param_size, dev_type, dev_id, num_input_nodes, input_keys, input_shape_indptr, input_shape_data,
              0, nullptr, nullptr, num_output_nodes, output_keys)
             .release();
  API_END();
}

// One predictor per thread; parameters and the compiled plan are shared, inputs, outputs and
// intermediate memory are not. Each computes on the thread that calls MXPredForward. A graph whose
// shapes depend on values has no plan to share.
int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                            uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                            const uint32_t* input_shape_data, int num_threads, PredictorHandle* out) {
  API_BEGIN(out);
  MXNET_CHECK_KIND(num_threads >= 1 && num_threads <= 4096, Value) << "[predictor] " << num_threads << " threads; accepted: 1 to 4096";
  std::vector<std::unique_ptr<Predictor>> made;
  made.push_back(Make(symbol_json_str, param_bytes, param_size, dev_type, dev_id, num_input_nodes, input_keys, input_shape_indptr,
                      input_shape_data, 0, nullptr, nullptr, 0, nullptr));
  const auto params = BoundParameters(*made[0]);
  for (int i = 1; i < num_threads; ++i) {
    auto p = std::make_unique<Predictor>();
    p->symbol = made[0]->symbol;
    p->ctx = made[0]->ctx;
    p->input_shapes = made[0]->input_shapes;
    Bind(p.get(), params, made[0]->executor->Outputs().empty() || made[0]->executor->Outputs()[0].is_none() ? nullptr : made[0].get());
    made.push_back(std::move(p));
  }
  for (int i = 0; i < num_threads; ++i) out[i] = made[i].release();
  API_END();
}

int MXPredReshape(uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                  PredictorHandle handle, PredictorHandle* out) {
  API_BEGIN(out);
  const Predictor* old = AsPredictor(handle);
  auto p = std::make_unique<Predictor>();
  p->symbol = old->symbol;
  p->ctx = old->ctx;
  p->input_dtypes = old->input_dtypes;
  p->input_shapes = old->input_shapes;
  const auto params = BoundParameters(*old);
  for (const auto& kv : KnownShapes(p->symbol, InputShapes(num_input_nodes, input_keys, input_shape_indptr, input_shape_data))) {
    const auto v = params.find(kv.first);
    if (v == params.end())
      p->input_shapes[kv.first] = kv.second;
    else
      MXNET_CHECK_KIND(v->second.shape() == kv.second, Value)
          << "[predictor] shape " << kv.second << " for the parameter " << kv.first << "; accepted: its own, " << v->second.shape();
  }
  Bind(p.get(), params);
  *out = p.release();
  API_END();
}

int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data, uint32_t* shape_ndim) {
  API_BEGIN(shape_data, shape_ndim);
  Predictor* p = AsPredictor(handle);
  Output(p, index);
  *shape_data = p->out_shapes[index].data();
  *shape_ndim = static_cast<uint32_t>(p->out_shapes[index].size());
  API_END();
}

int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype) {
  API_BEGIN(out_dtype);
  *out_dtype = Output(AsPredictor(handle), out_index).dtype();
  API_END();
}

// `size` counts elements of the input's own dtype, whatever the pointer's type says.
int MXPredSetInput(PredictorHandle handle, const char* key, const float* data, uint32_t size) {
  API_BEGIN();
  Predictor* p = AsPredictor(handle);
  auto it = p->by_name.find(Text(key, "an input's name"));
  MXNET_CHECK_KIND(it != p->by_name.end(), Value) << "[predictor] the graph has no input " << key;
  MXNET_CHECK_KIND(it->second.shape().Size() == static_cast<int64_t>(size), Value)
      << "[predictor] got " << size << " elements for input " << key << " of shape " << it->second.shape();
  Need(size, data, "elements");
  it->second.SyncCopyFromCPU(data, static_cast<size_t>(size) * DTypeSize(it->second.dtype()));
  API_END();
}

int MXPredForward(PredictorHandle handle) {
  API_BEGIN();
  AsPredictor(handle)->executor->Forward(false);
  API_END();
}

int MXPredPartialForward(PredictorHandle handle, int step, int* step_left) {
  API_BEGIN(step_left);
  *step_left = AsPredictor(handle)->executor->PartialForward(false, step);
  API_END();
}

int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size) {
  API_BEGIN();
  const NDArray& o = Output(AsPredictor(handle), index);
  MXNET_CHECK_KIND(o.shape().Size() == static_cast<int64_t>(size), Value)
      << "[predictor] room for " << size << " elements of output " << index << " of shape " << o.shape();
  Need(size, data, "elements");
  o.SyncCopyToCPU(data, static_cast<size_t>(size) * DTypeSize(o.dtype()));
  API_END();
}

int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback, void* callback_handle, bool monitor_all) {
  API_BEGIN();
  Executor::MonitorFn fn;
  if (callback)
    fn = [callback, callback_handle](const char* name, const char*, const NDArray& array) {
      callback(name, new NDArray(array), callback_handle);
    };
  AsPredictor(handle)->executor->SetMonitor(std::move(fn), monitor_all);
  API_END();
}

int MXPredFree(PredictorHandle handle) {
  API_BEGIN();
  delete static_cast<Predictor*>(handle);
  API_END();
}

// ---- lists of arrays

int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out, uint32_t* out_length) {
  API_BEGIN(out, out_length);
  MXNET_CHECK_KIND(nd_file_bytes && nd_file_size >= 0, Value) << "[NDList] got " << nd_file_size << " bytes";
  std::vector<NDArray> arrays;
  auto list = std::make_unique<ArrayList>();
  LoadNDArrays(nd_file_bytes, static_cast<size_t>(nd_file_size), &arrays, &list->keys);
  list->keys.resize(arrays.size());
  for (const auto& a : arrays) {
    const int64_t count = a.is_none() ? 0 : a.shape().Size();
    list->values.emplace_back(static_cast<size_t>(count));
    list->shapes.emplace_back();
    if (a.is_none()) continue;
    for (int64_t d : a.shape()) list->shapes.back().push_back(static_cast<uint32_t>(d));
    std::vector<char> raw(static_cast<size_t>(count) * DTypeSize(a.dtype()));
    if (count == 0) continue;
    a.SyncCopyToCPU(raw.data(), raw.size());
    ConvertElements(raw.data(), a.dtype(), list->values.back().data(), kFloat32, count);
  }
  *out_length = static_cast<uint32_t>(arrays.size());
  *out = list.release();
  API_END();
}

int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key, const float** out_data, const uint32_t** out_shape,
                uint32_t* out_ndim) {
  API_BEGIN(out_key, out_data, out_shape, out_ndim);
  MXNET_CHECK_KIND(handle != nullptr, Value) << "[NDList] got a null handle";
  const auto* list = static_cast<ArrayList*>(handle);
  MXNET_CHECK_KIND(index < list->values.size(), Index) << "[NDList] element " << index << " of " << list->values.size();
  *out_key = list->keys[index].c_str();
  *out_data = list->values[index].data();
  *out_shape = list->shapes[index].data();
  *out_ndim = static_cast<uint32_t>(list->shapes[index].size());
  API_END();
}

int MXNDListFree(NDListHandle handle) {
  API_BEGIN();
  delete static_cast<ArrayList*>(handle);
  API_END();
}
