// Subgraph backends, and the passes of the plan compiler, which do what backends were for; parts of
// graphs.
#include <map>
#include <mutex>
#include <set>

#include "base/threads/fork_guard.h"
#include "c_api/c_api_symbol.h"
#include "executor/passes/core/passes.h"
#include "graph/rewrite.h"
#include "library/library.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_test.h"
#include "mxnet/ndarray.h"

using namespace mxnet;

namespace {

// What 1.9.1 fuses for these names, the plan compiler fuses in every graph: the symbol need not
// change.
const char* const kBackends[] = {"MKLDNN", "MKLDNN_QUANTIZE", "ONEDNN", "ONEDNN_QUANTIZE"};

// The test backends of 1.9.1: parts of a graph that are made of operators which a caller names.
const char* const kTestBackends[] = {"default", "default_v2"};

/* The operators of test backends: of executors, and of calls for a backend. */
struct TestOperators {
  ForkMutex mutex{ForkLevel::kCaller};
  std::map<std::string, std::set<std::string>> of_executors, of_calls;
  static TestOperators* Get() {
    static TestOperators* operators = new TestOperators;
    return operators;
  }
};

std::set<std::string> OperatorNames(mx_uint count, const char** names) {
  NeedTexts(count, names, "operators' names");
  return std::set<std::string>(names, names + count);
}

bool IsTestBackend(const std::string& name) {
  for (const char* b : kTestBackends)
    if (name == b) return true;
  return false;
}

/* Of a name that is no library's. */
void CheckBackend(const std::string& name) {
  std::string accepted;
  if (IsTestBackend(name)) {
    TestOperators* operators = TestOperators::Get();
    std::lock_guard<ForkMutex> hold(operators->mutex);
    MXNET_CHECK(operators->of_calls.count(name)) << "[optimize_for] nobody has said which operators the test backend '" << name
                                                 << "' takes; accepted: after MXSetSubgraphPropertyOpNamesV2";
    return;
  }
  for (const char* b : kBackends) {
    if (name == b) return;
    accepted += (accepted.empty() ? "" : ", ") + std::string(b);
  }
  for (const std::string& b : library::Backends()) accepted += ", " + b;
  MXNET_THROW(Value) << "[optimize_for] there is no backend '" << name << "'; accepted: " << accepted
                     << ", and those of libraries for mx.library.load (docs/passes.md: what is fused without a backend)";
}

/* The parameters that are known, by name. */
std::map<std::string, NDArray> Given(const std::vector<std::string>& names, mx_uint count, NDArrayHandle* handles) {
  std::map<std::string, NDArray> arrays;
  Need(count, handles, "arrays");
  for (mx_uint i = 0; i < count && i < names.size(); ++i)
    if (handles[i]) arrays[names[i]] = *WithMemory(handles[i]);
  return arrays;
}

/* Contradicting shapes are found here, as they would be by a partitioner. */
void CheckShapes(const library::Request& request) {
  IndexedGraph g(request.symbol.outputs);
  ShapeVector inferred(g.num_entries());
  for (uint32_t id : g.input_nodes) {
    const std::string& name = g.nodes[id].source->name;
    for (const auto* arrays : {&request.given.args, &request.given.aux}) {
      const auto array = arrays->find(name);
      if (array != arrays->end()) inferred[g.eid(id, 0)] = array->second.shape();
    }
    const auto known = request.shapes.find(name);
    if (known != request.shapes.end()) inferred[g.eid(id, 0)] = known->second;
  }
  InferShapes(g, &inferred);
}

/* New parameters: the caller owns the handles. */
void GiveArrays(const std::map<std::string, NDArray>& arrays, std::vector<void*>* handles, std::vector<std::string>* names) {
  for (const auto& kv : arrays) {
    handles->push_back(new NDArray(kv.second));
    names->push_back(kv.first);
  }
}

}  // namespace

int MXGenBackendSubgraph(SymbolHandle sym_handle, const char* backend, SymbolHandle* ret_sym_handle) {
  API_BEGIN(ret_sym_handle);
  const std::string name = Text(backend, "the backend");
  library::Request request;
  request.symbol = *AsSymbol(sym_handle);
  if (library::Knows(name)) {
    library::Rewritten rewritten = library::Rewrite(name, request);
    MXNET_CHECK_KIND(rewritten.made.args.empty() && rewritten.made.aux.empty(), Value)
        << "[optimize_for] the backend " << name << " makes new parameters; accepted: optimize_for, which gives them back";
    *ret_sym_handle = new Symbol(std::move(rewritten.symbol));
  } else {
    CheckBackend(name);
    *ret_sym_handle = new Symbol(request.symbol.Copy());
  }
  API_END();
}

int MXOptimizeForBackend(SymbolHandle sym_handle, const char* backend_name, const int dev_type, SymbolHandle* ret_sym_handle,
                         const mx_uint args_len, NDArrayHandle* in_args_handle, const mx_uint aux_len, NDArrayHandle* in_aux_handle,
                         const mx_uint num_options, const char** keys, const char** vals, const uint32_t num_input_shapes,
                         const char** input_shape_names, const int64_t* input_shape_data, const uint32_t* input_shape_idx,
                         const uint32_t num_input_dtypes, const char** input_dtype_names, const int* input_dtypes,
                         const uint32_t num_input_stypes, const char** input_stype_names, const int* input_stypes, bool skip_infer,
                         int* new_args_cnt, NDArrayHandle** new_args_handle, char*** new_arg_names_handle, int* new_aux_cnt,
                         NDArrayHandle** new_aux_handle, char*** new_aux_names_handle) {
  API_BEGIN(ret_sym_handle, new_args_cnt, new_args_handle, new_arg_names_handle, new_aux_cnt, new_aux_handle, new_aux_names_handle);
  const std::string name = Text(backend_name, "the backend");
  library::Request request;
  request.symbol = *AsSymbol(sym_handle);
  request.given.args = Given(request.symbol.ListInputNames(Symbol::kReadOnlyArgs), args_len, in_args_handle);
  request.given.aux = Given(request.symbol.ListInputNames(Symbol::kAuxStates), aux_len, in_aux_handle);
  request.shapes = GivenShapes("optimize_for", num_input_shapes, input_shape_names, input_shape_data, input_shape_idx);
  NeedTexts(num_input_dtypes, input_dtype_names, "inputs' names");
  Need(num_input_dtypes, input_dtypes, "dtypes");
  for (uint32_t i = 0; i < num_input_dtypes; ++i) {
    MXNET_CHECK_KIND(input_dtypes[i] >= kDTypeUnknown && input_dtypes[i] < kNumDTypes, Type)
        << "[optimize_for] the dtype number " << input_dtypes[i] << " of " << input_dtype_names[i];
    request.dtypes[input_dtype_names[i]] = input_dtypes[i];
  }
  request.infer = !skip_infer;
  NeedTexts(num_options, keys, "options' names");
  NeedTexts(num_options, vals, "options' values");
  for (mx_uint i = 0; i < num_options; ++i) request.options[keys[i]] = vals[i];
  library::Rewritten rewritten;
  if (library::Knows(name)) {
    rewritten = library::Rewrite(name, request);
  } else {
    CheckBackend(name);
    if (request.infer) CheckShapes(request);
    rewritten.symbol = request.symbol.Copy();
  }
  ApiStore& store = ApiStore::Get();
  store.handles.clear();
  store.strings.clear();
  GiveArrays(rewritten.made.args, &store.handles, &store.strings);
  GiveArrays(rewritten.made.aux, &store.handles, &store.strings);
  const size_t args = rewritten.made.args.size(), aux = rewritten.made.aux.size();
  const char** names = store.Point();
  *new_args_cnt = static_cast<int>(args);
  *new_aux_cnt = static_cast<int>(aux);
  *new_args_handle = args ? store.handles.data() : nullptr;
  *new_aux_handle = aux ? store.handles.data() + args : nullptr;
  *new_arg_names_handle = args ? const_cast<char**>(names) : nullptr;
  *new_aux_names_handle = aux ? const_cast<char**>(names + args) : nullptr;
  *ret_sym_handle = new Symbol(std::move(rewritten.symbol));
  API_END();
}

int MXBuildSubgraphByOpNames(SymbolHandle sym_handle, const char* prop_name, const mx_uint num_ops, const char** op_names,
                             SymbolHandle* ret_sym_handle) {
  API_BEGIN(ret_sym_handle);
  const std::string name = Text(prop_name, "the backend");
  OperatorNames(num_ops, op_names);
  if (!IsTestBackend(name)) CheckBackend(name);
  *ret_sym_handle = new Symbol(AsSymbol(sym_handle)->Copy());
  API_END();
}

int MXSetSubgraphPropertyOpNames(const char* prop_name, const mx_uint num_ops, const char** op_names) {
  API_BEGIN();
  TestOperators* operators = TestOperators::Get();
  std::lock_guard<ForkMutex> hold(operators->mutex);
  operators->of_executors[Text(prop_name, "the backend")] = OperatorNames(num_ops, op_names);
  API_END();
}

int MXSetSubgraphPropertyOpNamesV2(const char* prop_name, const mx_uint num_ops, const char** op_names) {
  API_BEGIN();
  TestOperators* operators = TestOperators::Get();
  std::lock_guard<ForkMutex> hold(operators->mutex);
  operators->of_calls[Text(prop_name, "the backend")] = OperatorNames(num_ops, op_names);
  API_END();
}

int MXRemoveSubgraphPropertyOpNames(const char* prop_name) {
  API_BEGIN();
  TestOperators* operators = TestOperators::Get();
  std::lock_guard<ForkMutex> hold(operators->mutex);
  operators->of_executors.erase(Text(prop_name, "the backend"));
  API_END();
}

int MXRemoveSubgraphPropertyOpNamesV2(const char* prop_name) {
  API_BEGIN();
  TestOperators* operators = TestOperators::Get();
  std::lock_guard<ForkMutex> hold(operators->mutex);
  operators->of_calls.erase(Text(prop_name, "the backend"));
  API_END();
}

int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle** inputs, int* input_size) {
  API_BEGIN(inputs, input_size);
  std::vector<Symbol> outside;
  Symbol cut = CutSubgraph(*AsSymbol(sym), &outside);
  ApiStore& store = ApiStore::Get();
  store.handles.clear();
  for (Symbol& s : outside) store.handles.push_back(new Symbol(std::move(s)));  // the caller frees each
  *AsSymbol(sym) = std::move(cut);
  *inputs = store.handles.data();
  *input_size = static_cast<int>(store.handles.size());
  API_END();
}

int MXListPlanPasses(uint32_t* out_size, const char*** out_texts) {
  API_BEGIN(out_size, out_texts);
  std::vector<std::string> texts;
  for (const Pass& p : PlanPasses()) {
    texts.push_back(p.name);
    texts.push_back(p.help);
  }
  GiveStrings(std::move(texts), out_size, out_texts);
  API_END();
}
