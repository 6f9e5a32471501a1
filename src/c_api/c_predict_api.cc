// The C predict API: a symbol and its parameters behind one handle.
#include "mxnet/c_predict_api.h"

#include <memory>
#include <sstream>

#include "c_api/c_api_symbol.h"
#include "executor/explain.h"
#include "executor/predictor.h"

using namespace mxnet;  // NOLINT

namespace {

struct Handle {
  std::unique_ptr<Predictor> predictor;
  std::vector<std::vector<uint32_t>> out_shapes;  // as handed out
  explicit Handle(std::unique_ptr<Predictor> p) : predictor(std::move(p)) {
    for (const auto& o : predictor->executor()->Outputs()) {
      out_shapes.emplace_back();
      for (int64_t d : o.shape()) out_shapes.back().push_back(static_cast<uint32_t>(d));
    }
  }
};

struct ArrayList {
  std::vector<std::string> keys;
  std::vector<std::vector<float>> values;
  std::vector<std::vector<uint32_t>> shapes;
};

Handle* AsHandle(PredictorHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[predictor] got a null handle";
  return static_cast<Handle*>(h);
}
Predictor* AsPredictor(PredictorHandle h) { return AsHandle(h)->predictor.get(); }

Predictor::Shapes InputShapes(uint32_t n, const char** keys, const uint32_t* indptr, const uint32_t* data) {
  Predictor::Shapes shapes;
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

/* What `make` gives. An error names an operator deep in the graph: the shapes that the caller gave
 * stand behind it. */
template <typename F>
std::unique_ptr<Predictor> MakeFor(const Predictor::Shapes& shapes, F make) {
  try {
    return make();
  } catch (const Error& error) {
    std::ostringstream given;
    for (const auto& kv : shapes) given << (given.tellp() ? ", " : "") << kv.first << ' ' << kv.second;
    throw Error(error.kind(), std::string(error.what()) + "; the shapes of inputs that were given: " + given.str());
  }
}

struct Parameters {
  const void* bytes = nullptr;
  int size = 0;
  const char* file = nullptr;  // set: in its place
};

std::unique_ptr<Handle> Make(const char* json, const Parameters& parameters, int dev_type, int dev_id, uint32_t num_inputs,
                             const char** keys, const uint32_t* indptr, const uint32_t* data, uint32_t num_dtypes, const char** dtype_names,
                             const int* dtypes, uint32_t num_outputs, const char** output_keys) {
  Predictor::Request request;
  request.symbol = SymbolFromJSON(Text(json, "the symbol's JSON"));
  request.outputs = Names(num_outputs, output_keys, "outputs' names");
  request.ctx = Context::Make(dev_type, dev_id);
  request.shapes = InputShapes(num_inputs, keys, indptr, data);
  NeedTexts(num_dtypes, dtype_names, "names of dtypes");
  Need(num_dtypes, dtypes, "dtypes");
  for (uint32_t i = 0; i < num_dtypes; ++i) request.dtypes[dtype_names[i]] = dtypes[i];
  const int size = parameters.size;
  MXNET_CHECK_KIND(size >= 0 && (parameters.bytes || size == 0), Value) << "[predictor] got " << size << " bytes of parameters";
  if (parameters.file)
    request.params = ParametersInFile(parameters.file);
  else
    request.params = ParametersOfBytes(parameters.bytes, static_cast<size_t>(size));
  return std::make_unique<Handle>(MakeFor(request.shapes, [&] { return std::make_unique<Predictor>(request); }));
}

// Each computes on the thread that calls MXPredForward.
void MakeForThreads(const char* json, const Parameters& parameters, int dev_type, int dev_id, uint32_t num_inputs, const char** keys,
                    const uint32_t* indptr, const uint32_t* data, int num_threads, PredictorHandle* out) {
  MXNET_CHECK_KIND(num_threads >= 1 && num_threads <= 4096, Value) << "[predictor] " << num_threads << " threads; accepted: 1 to 4096";
  std::vector<std::unique_ptr<Handle>> made;
  made.push_back(Make(json, parameters, dev_type, dev_id, num_inputs, keys, indptr, data, 0, nullptr, nullptr, 0, nullptr));
  for (int i = 1; i < num_threads; ++i) made.push_back(std::make_unique<Handle>(made[0]->predictor->ForThread()));
  for (int i = 0; i < num_threads; ++i) out[i] = made[static_cast<size_t>(i)].release();
}

}  // namespace

int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                   const uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                   const uint32_t* input_shape_data, const uint32_t num_provided_arg_dtypes, const char** provided_arg_dtype_names,
                   const int* provided_arg_dtypes, PredictorHandle* out) {
  API_BEGIN(out);
  *out = Make(symbol_json_str, {param_bytes, param_size}, dev_type, dev_id, num_input_nodes, input_keys, input_shape_indptr,
              input_shape_data, num_provided_arg_dtypes, provided_arg_dtype_names, provided_arg_dtypes, 0, nullptr)
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
  *out = Make(symbol_json_str, {param_bytes, param_size}, dev_type, dev_id, num_input_nodes, input_keys, input_shape_indptr,
              input_shape_data, 0, nullptr, nullptr, num_output_nodes, output_keys)
             .release();
  API_END();
}

int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type, int dev_id,
                            uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr,
                            const uint32_t* input_shape_data, int num_threads, PredictorHandle* out) {
  API_BEGIN(out);
  MakeForThreads(symbol_json_str, {param_bytes, param_size}, dev_type, dev_id, num_input_nodes, input_keys, input_shape_indptr,
                 input_shape_data, num_threads, out);
  API_END();
}

int MXPredCreateFromFile(const char* symbol_json_str, const char* param_file, int dev_type, int dev_id, uint32_t num_input_nodes,
                         const char** input_keys, const uint32_t* input_shape_indptr, const uint32_t* input_shape_data, int num_threads,
                         PredictorHandle* out) {
  API_BEGIN(out);
  MakeForThreads(symbol_json_str, {nullptr, 0, Text(param_file, "the file of parameters")}, dev_type, dev_id, num_input_nodes, input_keys,
                 input_shape_indptr, input_shape_data, num_threads, out);
  API_END();
}

int MXPredParameterTypes(const char* param_file, uint32_t* num, const char*** names, const int** dtypes) {
  API_BEGIN(num, names, dtypes);
  const auto params = ParametersInFile(Text(param_file, "the file of parameters"));
  ApiStore& store = ApiStore::Get();
  store.strings.clear();
  store.ints.clear();
  for (const auto& kv : *params) {
    store.strings.push_back(kv.first);
    store.ints.push_back(kv.second.dtype());
  }
  *num = static_cast<uint32_t>(store.strings.size());
  *names = store.Point();
  *dtypes = store.ints.data();
  API_END();
}

int MXPredReshape(uint32_t num_input_nodes, const char** input_keys, const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                  PredictorHandle handle, PredictorHandle* out) {
  API_BEGIN(out);
  const auto shapes = InputShapes(num_input_nodes, input_keys, input_shape_indptr, input_shape_data);
  Predictor* predictor = AsPredictor(handle);
  *out = new Handle(MakeFor(shapes, [&] { return predictor->WithShapes(shapes); }));
  API_END();
}

int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data, uint32_t* shape_ndim) {
  API_BEGIN(shape_data, shape_ndim);
  Handle* h = AsHandle(handle);
  h->predictor->Output(index);
  *shape_data = h->out_shapes[index].data();
  *shape_ndim = static_cast<uint32_t>(h->out_shapes[index].size());
  API_END();
}

int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype) {
  API_BEGIN(out_dtype);
  *out_dtype = AsPredictor(handle)->Output(out_index).dtype();
  API_END();
}

// `size` counts elements of the input's own dtype, whatever the pointer's type says.
int MXPredSetInput(PredictorHandle handle, const char* key, const float* data, uint32_t size) {
  API_BEGIN();
  NDArray input = AsPredictor(handle)->InputToWrite(Text(key, "an input's name"));
  MXNET_CHECK_KIND(input.shape().Size() == static_cast<int64_t>(size), Value)
      << "[predictor] got " << size << " elements for input " << key << " of shape " << input.shape();
  Need(size, data, "elements");
  input.CopyBytesFrom(data, static_cast<size_t>(size) * DTypeSize(input.dtype()));
  API_END();
}

int MXPredForward(PredictorHandle handle) {
  API_BEGIN();
  const std::shared_ptr<Executor> executor = AsPredictor(handle)->executor();  // a monitor may free the handle
  executor->Forward(false);
  API_END();
}

int MXPredPartialForward(PredictorHandle handle, int step, int* step_left) {
  API_BEGIN(step_left);
  const std::shared_ptr<Executor> executor = AsPredictor(handle)->executor();
  *step_left = executor->PartialForward(false, step);
  API_END();
}

int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size) {
  API_BEGIN();
  const NDArray& o = AsPredictor(handle)->Output(index);
  MXNET_CHECK_KIND(o.shape().Size() == static_cast<int64_t>(size), Value)
      << "[predictor] room for " << size << " elements of output " << index << " of shape " << o.shape();
  Need(size, data, "elements");
  o.CopyBytesTo(data, static_cast<size_t>(size) * DTypeSize(o.dtype()));
  API_END();
}

int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback, void* callback_handle, bool monitor_all) {
  API_BEGIN();
  Executor::MonitorFn fn;
  if (callback)
    fn = [callback, callback_handle](const char* name, const char*, const NDArray& array) {
      callback(name, new NDArray(array), callback_handle);
    };
  AsPredictor(handle)->executor()->SetMonitor(std::move(fn), monitor_all);
  API_END();
}

int MXPredExplain(PredictorHandle handle, int runs, const char** out_json) {
  API_BEGIN(out_json);
  *out_json = GiveText(ExplainExecutor(*AsPredictor(handle)->executor(), runs));
  API_END();
}

int MXPredFree(PredictorHandle handle) {
  API_BEGIN();
  delete static_cast<Handle*>(handle);
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
    a.CopyBytesTo(raw.data(), raw.size());
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
