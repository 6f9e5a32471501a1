// Subgraph backends, and the passes of the plan compiler, which do what backends were for; parts of
// graphs.
#include <map>

#include "c_api/c_api_symbol.h"
#include "executor/passes/core/passes.h"
#include "graph/rewrite.h"
#include "mxnet/c_api.h"
#include "mxnet/ndarray.h"

using namespace mxnet;

namespace {

// What 1.9.1 fuses for these names, the plan compiler fuses in every graph: the symbol need not
// change.
const char* const kBackends[] = {"MKLDNN", "MKLDNN_QUANTIZE", "ONEDNN", "ONEDNN_QUANTIZE"};

void CheckBackend(const char* backend) {
  const std::string name = Text(backend, "the backend");
  std::string accepted;
  for (const char* b : kBackends) {
    if (name == b) return;
    accepted += (accepted.empty() ? "" : ", ") + std::string(b);
  }
  MXNET_THROW(Value) << "[optimize_for] there is no backend '" << name << "'; accepted: " << accepted
                     << " (docs/passes.md: what is fused without a backend)";
}

}  // namespace

int MXGenBackendSubgraph(SymbolHandle sym_handle, const char* backend, SymbolHandle* ret_sym_handle) {
  API_BEGIN(ret_sym_handle);
  CheckBackend(backend);
  *ret_sym_handle = new Symbol(AsSymbol(sym_handle)->Copy());
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
  CheckBackend(backend_name);
  const Symbol& symbol = *AsSymbol(sym_handle);
  if (!skip_infer) {  // contradicting shapes are found here, as they would be by a partitioner
    std::map<std::string, Shape> shapes;
    auto arrays = [&](const std::vector<std::string>& names, mx_uint count, NDArrayHandle* handles) {
      Need(count, handles, "arrays");
      for (mx_uint i = 0; i < count && i < names.size(); ++i)
        if (handles[i]) shapes[names[i]] = static_cast<NDArray*>(handles[i])->shape();
    };
    arrays(symbol.ListInputNames(Symbol::kReadOnlyArgs), args_len, in_args_handle);
    arrays(symbol.ListInputNames(Symbol::kAuxStates), aux_len, in_aux_handle);
    NeedTexts(num_input_shapes, input_shape_names, "inputs' names");
    Need(num_input_shapes, input_shape_idx, "positions of shapes");
    Need(num_input_shapes > 0 ? input_shape_idx[num_input_shapes] : 0, input_shape_data, "dimensions");
    for (uint32_t i = 0; i < num_input_shapes; ++i) {
      MXNET_CHECK_KIND(input_shape_idx[i] <= input_shape_idx[i + 1], Value)
          << "[optimize_for] shape " << i << " has dimensions " << input_shape_idx[i] << " to " << input_shape_idx[i + 1] << " of the list";
      std::vector<int64_t> dims(input_shape_data + input_shape_idx[i], input_shape_data + input_shape_idx[i + 1]);
      shapes[input_shape_names[i]] = Shape(dims);
    }
    IndexedGraph g(symbol.outputs);
    ShapeVector inferred(g.num_entries());
    for (uint32_t id : g.input_nodes) {
      auto known = shapes.find(g.nodes[id].source->name);
      if (known != shapes.end()) inferred[g.eid(id, 0)] = known->second;
    }
    InferShapes(g, &inferred);
  }
  *ret_sym_handle = new Symbol(symbol.Copy());
  *new_args_cnt = *new_aux_cnt = 0;
  *new_args_handle = *new_aux_handle = nullptr;
  *new_arg_names_handle = *new_aux_names_handle = nullptr;
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
