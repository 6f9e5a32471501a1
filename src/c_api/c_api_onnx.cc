// ONNX models over the C ABI.
#include "mxnet/c_api_onnx.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <sstream>
#include <unordered_map>

#include "c_api/c_api_common.h"
#include "c_api/c_api_symbol.h"
#include "graph/json.h"
#include "onnx/control/inner.h"
#include "onnx/file/reader.h"
#include "onnx/run/session.h"

using namespace mxnet;        // NOLINT
using namespace mxnet::onnx;  // NOLINT

namespace {

Session* AsSession(OnnxModelHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[onnx] got a null model handle";
  return static_cast<Session*>(h);
}

onnx::Value* AsValue(OnnxValueHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[onnx] got a null value handle";
  return static_cast<onnx::Value*>(h);
}

SessionOptions OptionsFor(int dev_type, int dev_id) {
  SessionOptions options;
  options.ctx = Context::Make(dev_type, dev_id);
  return options;
}

/* Names of columns: of scores, of which ZipMap makes dictionaries elsewhere, or of an input that is
 * a map for the caller (DictVectorizer). By the name of the value; null: it has none. */
using Labels = std::unordered_map<std::string, const Attribute*>;
Labels LabelsIn(const GraphProto& graph) {
  Labels labels;
  for (const NodeProto& n : graph.nodes) {
    if (n.op == "DictVectorizer" && !n.inputs.empty()) labels.emplace(n.inputs[0], VocabularyOf(n));
    if (n.op != "ZipMap" || n.outputs.empty()) continue;
    const Attribute* const names = n.Find("classlabels_strings");
    labels.emplace(n.outputs[0], names && !names->strings.empty() ? names : n.Find("classlabels_int64s"));
  }
  return labels;
}

void PutLabels(const Attribute& labels, std::ostringstream* out) {
  *out << "\"labels\": [";
  for (size_t i = 0; i < labels.strings.size(); ++i) *out << (i ? ", " : "") << QuoteJson(labels.strings[i]);
  for (size_t i = 0; i < labels.ints.size(); ++i) *out << (i ? ", " : "") << labels.ints[i];
  *out << "], ";
}

void PutInfo(const ValueInfo& v, bool is_input, const Attribute* labels, std::ostringstream* out) {
  static const char* const kinds[] = {"tensor", "sequence", "optional", "map"};
  const auto kind = is_input && labels ? ValueInfo::kMap : v.kind;
  *out << "{\"name\": " << QuoteJson(v.name) << ", \"kind\": \"" << kinds[kind] << "\", \"dtype\": ";
  if (v.dtype == kStringType)
    *out << "\"string\"";
  else if (v.dtype >= 0)
    *out << '"' << DTypeName(v.dtype) << '"';
  else
    *out << "null";
  if (v.small) *out << ", \"stored\": \"" << v.small->name << '"';
  *out << ", ";
  if (labels) PutLabels(*labels, out);
  *out << "\"shape\": ";
  if (!v.has_shape) {
    *out << "null}";
    return;
  }
  *out << '[';
  for (size_t i = 0; i < v.dims.size(); ++i) {
    const Dimension& d = v.dims[i];
    *out << (i ? ", " : "");
    if (d.size >= 0)
      *out << d.size;
    else if (d.name.empty())
      *out << "null";
    else
      *out << QuoteJson(d.name);
  }
  *out << "]}";
}

void PutInfos(const char* key, bool are_inputs, const std::vector<ValueInfo>& list, const Labels& labels, std::ostringstream* out) {
  *out << '"' << key << "\": [";
  for (size_t i = 0; i < list.size(); ++i) {
    *out << (i ? ", " : "");
    const auto found = labels.find(list[i].name);
    PutInfo(list[i], are_inputs, found == labels.end() ? nullptr : found->second, out);
  }
  *out << "], ";
}

void CountOps(const GraphProto& graph, std::map<std::string, int>* counts) {
  for (const NodeProto& n : graph.nodes) {
    ++(*counts)[n.domain.empty() ? n.op : n.domain + "." + n.op];
    for (const Attribute& a : n.attributes)
      if (a.graph) CountOps(*a.graph, counts);
  }
}

template <typename Map, typename Put>
void PutMap(const char* key, const Map& map, Put put, std::ostringstream* out) {
  *out << '"' << key << "\": {";
  bool first = true;
  for (const auto& kv : map) {
    *out << (first ? "" : ", ") << QuoteJson(kv.first) << ": ";
    put(kv.second);
    first = false;
  }
  *out << '}';
}

std::string DescribeModel(const Session& s) {
  const Model& m = s.model();
  std::ostringstream out;
  out << "{\"path\": " << QuoteJson(m.path) << ", \"ir_version\": " << m.ir_version << ", \"producer\": " << QuoteJson(m.producer)
      << ", \"producer_version\": " << QuoteJson(m.producer_version) << ", \"domain\": " << QuoteJson(m.domain)
      << ", \"version\": " << m.version << ", \"description\": " << QuoteJson(m.description) << ", \"graph\": " << QuoteJson(m.graph.name)
      << ", \"graph_description\": " << QuoteJson(m.graph.description) << ", \"file_bytes\": " << m.file_bytes
      << ", \"weight_bytes\": " << m.weight_bytes << ", ";
  const Labels labels = LabelsIn(m.graph);
  PutInfos("inputs", true, s.inputs(), labels, &out);
  PutInfos("with_defaults", true, s.with_defaults(), labels, &out);
  PutInfos("outputs", false, s.outputs(), labels, &out);
  PutMap(
      "opsets", m.opsets, [&](int64_t v) { out << v; }, &out);
  out << ", ";
  PutMap(
      "metadata", m.metadata, [&](const std::string& v) { out << QuoteJson(v); }, &out);
  out << ", ";
  std::map<std::string, int> counts;
  CountOps(m.graph, &counts);
  PutMap(
      "operators", counts, [&](int v) { out << v; }, &out);
  out << '}';
  return out.str();
}

void ListInfos(const std::vector<ValueInfo>& infos, int* count, const char*** names, const int** dtypes) {
  ApiStore& store = ApiStore::Get();
  store.strings.clear();
  store.ints.clear();
  for (const ValueInfo& v : infos) {
    store.strings.push_back(v.name);
    store.ints.push_back(v.dtype == kStringType ? static_cast<int>(kDTypeUnknown) : v.dtype);
  }
  *count = static_cast<int>(infos.size());
  *names = store.Point();
  *dtypes = store.ints.data();
}

}  // namespace

int MXOnnxModelCreate(const char* path, int dev_type, int dev_id, OnnxModelHandle* out) {
  API_BEGIN(out);
  *out = new Session(ReadModel(std::string(Text(path, "the path"))), OptionsFor(dev_type, dev_id));
  API_END();
}

int MXOnnxModelCreateFromBuffer(const void* bytes, size_t size, const char* folder, int dev_type, int dev_id, OnnxModelHandle* out) {
  API_BEGIN(out);
  Need(static_cast<int64_t>(size), static_cast<const char*>(bytes), "bytes of a model");
  auto copy = std::make_shared<std::string>(static_cast<const char*>(bytes), size);
  const std::shared_ptr<const void> owner(copy, copy->data());
  *out = new Session(ReadModel(owner, size, folder ? folder : ""), OptionsFor(dev_type, dev_id));
  API_END();
}

int MXOnnxModelSetPrecision(OnnxModelHandle handle, int dtype, int* used) {
  API_BEGIN(used);
  *used = AsSession(handle)->SetPrecision(dtype);
  API_END();
}

int MXOnnxModelFree(OnnxModelHandle handle) {
  API_BEGIN();
  delete static_cast<Session*>(handle);
  API_END();
}

int MXOnnxModelDescribe(OnnxModelHandle handle, const char** out_json) {
  API_BEGIN(out_json);
  *out_json = GiveText(DescribeModel(*AsSession(handle)));
  API_END();
}

int MXOnnxModelListInputs(OnnxModelHandle handle, int* count, const char*** names, const int** dtypes) {
  API_BEGIN(count, names, dtypes);
  ListInfos(AsSession(handle)->inputs(), count, names, dtypes);
  API_END();
}

int MXOnnxModelListOutputs(OnnxModelHandle handle, int* count, const char*** names, const int** dtypes) {
  API_BEGIN(count, names, dtypes);
  ListInfos(AsSession(handle)->outputs(), count, names, dtypes);
  API_END();
}

int MXOnnxModelExplain(OnnxModelHandle handle, const char** out_text) {
  API_BEGIN(out_text);
  *out_text = GiveText(AsSession(handle)->Explain());
  API_END();
}

int MXOnnxModelExplainPlans(OnnxModelHandle handle, int runs, const char** out_json) {
  API_BEGIN(out_json);
  *out_json = GiveText(AsSession(handle)->ExplainPlans(runs));
  API_END();
}

/* Memory that somebody else owns. */
static void AddBorrowed(const onnx::Value& v, std::vector<const Chunk*>* chunks) {
  if (v.kind == onnx::Value::kTensor && !v.array.is_none() && v.array.chunk()->external_deleter) chunks->push_back(v.array.chunk());
}

/* Copies what lies in one of these. */
static void OwnMemory(const std::vector<const Chunk*>& borrowed, onnx::Value* v) {
  const auto lies_there = [&](const onnx::Value& each) {
    return each.kind == onnx::Value::kTensor && !each.array.is_none() &&
           std::find(borrowed.begin(), borrowed.end(), each.array.chunk()) != borrowed.end();
  };
  if (borrowed.empty()) return;
  if (lies_there(*v)) *v = onnx::Value(v->array.Copy(v->array.ctx()));
  if (v->kind != onnx::Value::kSequence || std::none_of(v->elements->begin(), v->elements->end(), lies_there)) return;
  auto elements = std::make_shared<std::vector<onnx::Value>>(*v->elements);
  for (onnx::Value& element : *elements) OwnMemory(borrowed, &element);
  v->elements = std::move(elements);
}

int MXOnnxModelRun(OnnxModelHandle handle, int num_inputs, const char** names, OnnxValueHandle* inputs, int* num_outputs,
                   OnnxValueHandle** outputs) {
  return MXOnnxModelRunInto(handle, num_inputs, names, inputs, 0, nullptr, nullptr, num_outputs, outputs);
}

int MXOnnxModelRunInto(OnnxModelHandle handle, int num_inputs, const char** names, OnnxValueHandle* inputs, int num_given,
                       const char** given_names, NDArrayHandle* given, int* num_outputs, OnnxValueHandle** outputs) {
  API_BEGIN(num_outputs, outputs);
  NeedTexts(num_inputs, names, "names of inputs");
  Need(num_inputs, inputs, "values of inputs");
  NeedTexts(num_given, given_names, "names of outputs");
  Need(num_given, given, "arrays of outputs");
  Env env;
  for (int i = 0; i < num_inputs; ++i) env.insert_or_assign(names[i], *AsValue(inputs[i]));
  std::map<std::string, NDArray> into;
  for (int i = 0; i < num_given; ++i) into[given_names[i]] = *AsNDArray(given[i]);
  std::vector<onnx::Value> results = AsSession(handle)->Run(std::move(env), into);
  std::vector<const Chunk*> borrowed;
  for (int i = 0; i < num_inputs; ++i) AddBorrowed(*AsValue(inputs[i]), &borrowed);
  for (const auto& kv : into) borrowed.erase(std::remove(borrowed.begin(), borrowed.end(), kv.second.chunk()), borrowed.end());
  for (onnx::Value& v : results) OwnMemory(borrowed, &v);
  ApiStore& store = ApiStore::Get();
  store.handles.clear();
  for (onnx::Value& v : results) store.handles.push_back(new onnx::Value(std::move(v)));
  *num_outputs = static_cast<int>(store.handles.size());
  *outputs = store.handles.data();
  API_END();
}

/* The symbol and the parameters, which live in the thread's store. */
static void ConvertModel(OnnxModelHandle handle, int num_inputs, const char** names, const int* ndims, const int64_t* dims,
                         const int* dtypes, int num_given, const char** given_names, OnnxValueHandle* given, Learns learns,
                         SymbolHandle* symbol, int* num_params, const char*** param_names, NDArrayHandle** params) {
  Session* session = AsSession(handle);
  NeedTexts(num_inputs, names, "names of inputs");
  Need(num_inputs, ndims, "numbers of dimensions");
  Need(num_inputs, dtypes, "dtypes");
  std::map<std::string, TensorType> types;
  for (int i = 0, at = 0; i < num_inputs; at += ndims[i++]) {
    MXNET_CHECK_KIND(ndims[i] >= 0 && ndims[i] <= 64, Value)
        << "[onnx] input " << names[i] << " of " << ndims[i] << " dimensions; accepted: 0 to 64";
    Need(ndims[i], dims, "dimensions");
    TensorType type(Shape(dims + at, ndims[i]), dtypes[i], StorageType::kDense);
    for (const ValueInfo& v : session->inputs())
      if (type.dtype < 0 && v.name == names[i]) type.dtype = v.dtype;
    MXNET_CHECK_KIND(type.dtype != kStringType, Value)
        << "[onnx] input " << names[i] << " takes strings, which no graph of this library has; accepted: inputs of numbers, and "
        << "contents (values=), which are fixed";
    MXNET_CHECK_KIND(type.known() && DTypeSize(type.dtype) > 0, Value)
        << "[onnx] input " << names[i] << " of shape " << type.shape << " and dtype number " << type.dtype
        << "; accepted: sizes from 0, a dtype";
    types[names[i]] = type;
  }
  NeedTexts(num_given, given_names, "names of inputs with contents");
  Need(num_given, given, "contents of inputs");
  Env contents;
  for (int i = 0; i < num_given; ++i) contents[given_names[i]] = *AsValue(given[i]);
  ConvertedGraph graph = session->Convert(types, contents, learns);
  ApiStore& store = ApiStore::Get();
  store.strings.clear();
  store.handles.clear();
  for (auto& p : graph.params) {
    store.strings.push_back(p.first);
    store.handles.push_back(new NDArray(p.second));
  }
  *num_params = static_cast<int>(graph.params.size());
  *param_names = store.Point();
  *params = store.handles.data();
  *symbol = new Symbol(std::move(graph.symbol));
}

int MXOnnxModelConvert(OnnxModelHandle handle, int num_inputs, const char** names, const int* ndims, const int64_t* dims, const int* dtypes,
                       SymbolHandle* symbol, int* num_params, const char*** param_names, NDArrayHandle** params) {
  return MXOnnxModelConvertFor(handle, num_inputs, names, ndims, dims, dtypes, 0, nullptr, nullptr, symbol, num_params, param_names,
                               params);
}

int MXOnnxModelConvertFor(OnnxModelHandle handle, int num_inputs, const char** names, const int* ndims, const int64_t* dims,
                          const int* dtypes, int num_given, const char** given_names, OnnxValueHandle* given, SymbolHandle* symbol,
                          int* num_params, const char*** param_names, NDArrayHandle** params) {
  API_BEGIN(symbol, num_params, param_names, params);
  ConvertModel(handle, num_inputs, names, ndims, dims, dtypes, num_given, given_names, given, Learns::kNothing, symbol, num_params,
               param_names, params);
  API_END();
}

int MXOnnxModelConvertToLearn(OnnxModelHandle handle, int num_inputs, const char** names, const int* ndims, const int64_t* dims,
                              const int* dtypes, int num_given, const char** given_names, OnnxValueHandle* given, int with_operators,
                              SymbolHandle* symbol, int* num_params, const char*** param_names, NDArrayHandle** params) {
  API_BEGIN(symbol, num_params, param_names, params);
  ConvertModel(handle, num_inputs, names, ndims, dims, dtypes, num_given, given_names, given,
               with_operators ? Learns::kOperators : Learns::kWeights, symbol, num_params, param_names, params);
  API_END();
}

int MXOnnxModelForTraining(OnnxModelHandle handle, OnnxModelHandle* out, int* num_weights, const char*** names, NDArrayHandle** weights) {
  API_BEGIN(out, num_weights, names, weights);
  std::unique_ptr<Session> made = AsSession(handle)->ForTraining();
  ApiStore& store = ApiStore::Get();
  store.strings.clear();
  store.handles.clear();
  for (const ValueInfo& v : made->with_defaults()) {
    const onnx::Value* const weight = made->ConstantNamed(v.name);
    if (!weight || weight->kind != onnx::Value::kTensor || !IsFloating(weight->dtype())) continue;
    store.strings.push_back(v.name);
    store.handles.push_back(new NDArray(weight->array));
  }
  *num_weights = static_cast<int>(store.handles.size());
  *names = store.Point();
  *weights = store.handles.data();
  *out = made.release();
  API_END();
}

int MXOnnxModelInner(OnnxModelHandle handle, const char* attribute, const char* node, OnnxModelHandle* out) {
  API_BEGIN(out);
  MXNET_CHECK_KIND(attribute != nullptr, Value) << "[onnx] the name of a graph is null; accepted: the name of a node's attribute";
  const Session* const session = AsSession(handle);
  *out = new Session(InnerModel(session->model(), attribute, node ? node : ""), session->options());
  API_END();
}

int MXOnnxModelRunRecorded(OnnxModelHandle handle, int num_inputs, const char** names, NDArrayHandle* inputs, int* num_outputs,
                           NDArrayHandle** outputs) {
  API_BEGIN(num_outputs, outputs);
  NeedTexts(num_inputs, names, "names of inputs");
  Need(num_inputs, inputs, "inputs");
  MXNET_CHECK_KIND(AsSession(handle)->options().learns, Value)
      << "[onnx] a model of MXOnnxModelCreate, whose calls are not recorded; accepted: one of MXOnnxModelForTraining";
  Env env;
  for (int i = 0; i < num_inputs; ++i) env.insert_or_assign(names[i], onnx::Value(*Computed(inputs[i])));
  ApiStore& store = ApiStore::Get();
  std::vector<NDArray> results = AsSession(handle)->RunRecorded(std::move(env));
  store.handles.clear();
  for (NDArray& a : results) store.handles.push_back(new NDArray(std::move(a)));
  *num_outputs = static_cast<int>(store.handles.size());
  *outputs = store.handles.data();
  API_END();
}

int MXOnnxListOps(int* count, const char*** out) {
  API_BEGIN(count, out);
  ApiStore& store = ApiStore::Get();
  store.strings.clear();
  for (const Rule* r : AllRules())
    store.strings.push_back(std::string(*r->domain ? r->domain : "ai.onnx") + " " + r->op + " " + std::to_string(r->from) + " " +
                            std::to_string(r->to == kNewest ? -1 : r->to));
  *count = static_cast<int>(store.strings.size());
  *out = store.Point();
  API_END();
}

// ---- values

int MXOnnxValueCreateTensor(NDArrayHandle array, OnnxValueHandle* out) {
  API_BEGIN(out);
  NDArray* a = Computed(array);
  MXNET_CHECK_KIND(!a->is_none() && !a->is_sparse(), Value) << "[onnx] a sparse array, or one without a shape; accepted: a dense array";
  *out = new onnx::Value(a->Detach());
  API_END();
}

/* The shape of a tensor that so many bytes make. */
static Shape ShapeOfBytes(int dtype, int ndim, const int64_t* dims, const void* bytes, size_t size) {
  MXNET_CHECK_KIND(ndim >= 0 && ndim <= 64 && DTypeSize(dtype) > 0, Value)
      << "[onnx] a tensor of " << ndim << " dimensions and dtype number " << dtype;
  Need(ndim, dims, "dimensions");
  const Shape shape(dims, ndim);
  Need(static_cast<int64_t>(size), static_cast<const char*>(bytes), "bytes");
  MXNET_CHECK_KIND(shape.known() && static_cast<size_t>(shape.Size()) == size / DTypeSize(dtype) && size % DTypeSize(dtype) == 0, Value)
      << "[onnx] " << size << " bytes for a tensor of shape " << shape << " and dtype " << DTypeName(dtype);
  return shape;
}

int MXOnnxValueCreateFromBytes(int dtype, int ndim, const int64_t* dims, const void* bytes, size_t size, OnnxValueHandle* out) {
  API_BEGIN(out);
  NDArray array(ShapeOfBytes(dtype, ndim, dims, bytes, size), Context::CPU(), dtype);
  if (size > 0) array.CopyBytesFrom(bytes, size);
  *out = new onnx::Value(std::move(array));
  API_END();
}

int MXOnnxValueCreateOnBytes(int dtype, int ndim, const int64_t* dims, const void* bytes, size_t size, OnnxValueHandle* out) {
  API_BEGIN(out);
  TBlob blob;
  blob.shape = ShapeOfBytes(dtype, ndim, dims, bytes, size);
  blob.dtype = dtype;
  blob.ctx = Context::CPU();
  blob.dptr = const_cast<void*>(bytes);  // calls only read it
  MXNET_CHECK_KIND(reinterpret_cast<uintptr_t>(bytes) % DTypeSize(dtype) == 0, Value)
      << "[onnx] bytes at " << bytes << "; accepted: where elements of " << DTypeName(dtype) << " may lie";
  *out = new onnx::Value(NDArray(blob, {}));
  API_END();
}

int MXOnnxValueFinish(OnnxValueHandle value) {
  API_BEGIN(value);
  const onnx::Value* v = AsValue(value);
  if (v->kind == onnx::Value::kTensor && !v->array.is_none()) v->array.WaitToWrite();
  API_END();
}

int MXOnnxValueGetShape(OnnxValueHandle value, int* ndim, const int64_t** dims) {
  API_BEGIN(ndim, dims);
  const onnx::Value* v = AsValue(value);
  MXNET_CHECK_KIND(v->kind == onnx::Value::kTensor || v->kind == onnx::Value::kStrings, Value)
      << "[onnx] a sequence, or nothing, has no shape";
  *ndim = v->ndim();
  *dims = v->shape().dims();
  API_END();
}

int MXOnnxValueCopyFloats(OnnxValueHandle value, float* out, size_t count) {
  API_BEGIN();
  const onnx::Value* v = AsValue(value);
  MXNET_CHECK_KIND(v->kind == onnx::Value::kTensor && v->known(), Value) << "[onnx] the value is no tensor of numbers";
  MXNET_CHECK_KIND(static_cast<size_t>(v->size()) == count, Value)
      << "[onnx] room for " << count << " numbers of a tensor of shape " << v->shape();
  Need(static_cast<int64_t>(count), out, "numbers");
  if (v->dtype() == kFloat32) {
    if (count > 0) v->array.CopyBytesTo(out, count * sizeof(float));
  } else if (count > 0) {
    std::vector<char> raw(count * DTypeSize(v->dtype()));
    v->array.CopyBytesTo(raw.data(), raw.size());
    ConvertElements(raw.data(), v->dtype(), out, kFloat32, static_cast<int64_t>(count));
  }
  API_END();
}

int MXOnnxValueCreateStrings(int ndim, const int64_t* dims, int64_t count, const char** texts, OnnxValueHandle* out) {
  API_BEGIN(out);
  MXNET_CHECK_KIND(ndim >= 0 && ndim <= 64, Value) << "[onnx] strings of " << ndim << " dimensions; accepted: 0 to 64";
  Need(ndim, dims, "dimensions");
  NeedTexts(count, texts, "strings");
  auto v = std::make_unique<onnx::Value>();
  v->kind = onnx::Value::kStrings;
  v->type = TensorType(Shape(dims, ndim), kStringType);
  MXNET_CHECK_KIND(v->shape().known() && v->shape().Size() == count, Value) << "[onnx] " << count << " strings of shape " << v->shape();
  v->strings = std::make_shared<std::vector<std::string>>(texts, texts + count);
  *out = v.release();
  API_END();
}

int MXOnnxValueCreateSequence(int count, OnnxValueHandle* elements, OnnxValueHandle* out) {
  API_BEGIN(out);
  Need(count, elements, "elements");
  auto list = std::make_shared<std::vector<onnx::Value>>();
  for (int i = 0; i < count; ++i) list->push_back(*AsValue(elements[i]));
  auto v = std::make_unique<onnx::Value>();
  v->kind = onnx::Value::kSequence;
  v->elements = list;
  *out = v.release();
  API_END();
}

int MXOnnxValueFree(OnnxValueHandle value) {
  API_BEGIN();
  delete static_cast<onnx::Value*>(value);
  API_END();
}

int MXOnnxValueGetKind(OnnxValueHandle value, int* kind) {
  API_BEGIN(kind);
  *kind = AsValue(value)->kind;
  API_END();
}

int MXOnnxValueGetTensor(OnnxValueHandle value, NDArrayHandle* out) {
  API_BEGIN(out);
  const onnx::Value* v = AsValue(value);
  MXNET_CHECK_KIND(v->kind == onnx::Value::kTensor && v->known(), Value) << "[onnx] the value is no tensor of numbers";
  *out = new NDArray(v->array);
  API_END();
}

int MXOnnxValueGetStrings(OnnxValueHandle value, int* ndim, const int64_t** dims, int64_t* count, const char*** texts) {
  API_BEGIN(ndim, dims, count, texts);
  const onnx::Value* v = AsValue(value);
  MXNET_CHECK_KIND(v->kind == onnx::Value::kStrings, Value) << "[onnx] the value has no strings";
  ApiStore& store = ApiStore::Get();
  store.pointers.clear();
  for (const std::string& s : *v->strings) store.pointers.push_back(s.c_str());
  *ndim = v->ndim();
  *dims = v->shape().dims();
  *count = static_cast<int64_t>(v->strings->size());
  *texts = store.pointers.data();
  API_END();
}

int MXOnnxValueGetElements(OnnxValueHandle value, int* count, OnnxValueHandle** elements) {
  API_BEGIN(count, elements);
  const onnx::Value* v = AsValue(value);
  MXNET_CHECK_KIND(v->kind == onnx::Value::kSequence, Value) << "[onnx] the value is no sequence";
  ApiStore& store = ApiStore::Get();
  store.handles.clear();
  for (const onnx::Value& e : *v->elements) store.handles.push_back(new onnx::Value(e));
  *count = static_cast<int>(store.handles.size());
  *elements = store.handles.data();
  API_END();
}
