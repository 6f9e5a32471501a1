/* Functions that no other test calls: other names of functions, those of NNVM among them, and
 * variants with fewer arguments. From plain C, also against an installed prefix. */
#define _XOPEN_SOURCE 700
#include <unistd.h>

#include "c_check.h"
#include "mxnet/c_api_storage.h"
#include "mxnet/c_predict_api.h"
#include "nnvm/c_api.h" /* as programs of 1.9.1 may do, instead of mxnet/c_api.h */

static const uint32_t kShape[] = {2, 3};
static const float kValues[] = {1, 2, 3, 4, 5, 6};

static NDArrayHandle Array(const float* values) {
  NDArrayHandle a;
  OK(MXNDArrayCreate(kShape, 2, 1, 0, 0, &a));
  if (values) OK(MXNDArraySyncCopyFromCPU(a, values, 6));
  return a;
}

static float At(NDArrayHandle a, int i) {
  float values[6];
  OK(MXNDArraySyncCopyToCPU(a, values, 6));
  return values[i];
}

/* square(x), named "y". */
static SymbolHandle Square(void) {
  SymbolHandle x, y;
  OpHandle op;
  OK(NNGetOpHandle("square", &op));
  OK(NNSymbolCreateVariable("x", &x));
  OK(NNSymbolCreateAtomicSymbol(op, 0, NULL, NULL, &y));
  OK(NNSymbolCompose(y, "y", 1, NULL, &x));
  OK(NNSymbolFree(x));
  return y;
}

static void Arrays(void) {
  NDArrayHandle a = Array(kValues), b = Array(NULL), c;
  NDArrayHandle* loaded;
  uint32_t ndim, count, names;
  const uint32_t* shape;
  const int64_t* wide;
  int storage, dimensions;
  const char** keys;
  char file[] = "/tmp/c_names_XXXXXX";
  void* tensor;
  OK(MXNDArrayGetShape(a, &ndim, &shape));
  CHECK(ndim == 2 && shape[0] == 2 && shape[1] == 3);
  OK(MXNDArrayGetShape64(a, &dimensions, &wide));
  CHECK(dimensions == 2 && wide[1] == 3);
  OK(MXNDArrayGetStorageType(a, &storage));
  CHECK(storage == 0);
  OK(MXNDArraySyncCopyFromNDArray(b, a, -1));
  CHECK(At(b, 5) == 6);
  CHECK(close(mkstemp(file)) == 0);
  keys = (const char*[]){"arg:a"};
  OK(MXNDArrayLegacySave(file, 1, &a, keys));
  OK(MXNDArrayLoad(file, &count, &loaded, &names, &keys));
  CHECK(count == 1 && names == 1 && !strcmp(keys[0], "arg:a") && At(loaded[0], 4) == 5);
  OK(MXNDArrayFree(loaded[0]));
  unlink(file);
  OK(MXNDArrayToDLPack(a, &tensor));
  OK(MXNDArrayFromDLPack(tensor, &c));
  OK(MXNDArraySyncCopyFromCPU(c, (const float[]){9, 9, 9, 9, 9, 9}, 6));
  CHECK(At(a, 0) == 9);
  OK(MXNDArrayToDLPack(a, &tensor));
  OK(MXNDArrayCallDLPackDeleter(tensor));
  CHECK(At(a, 1) == 9);
  OK(MXNDArrayFree(c));
  OK(MXNDArrayFree(b));
  OK(MXNDArrayFree(a));
}

static void SharedMemory(void) {
  NDArrayHandle a, b;
  int process, number;
  OK(MXNDArrayCreateEx(kShape, 2, 5, 0, 0, 0, &a));
  OK(MXNDArraySyncCopyFromCPU(a, kValues, 6));
  OK(MXNDArrayGetSharedMemHandle(a, &process, &number));
  OK(MXNDArrayCreateFromSharedMem(process, number, kShape, 2, 0, &b));
  CHECK(At(b, 2) == 3);
  OK(MXNDArraySyncCopyFromCPU(b, (const float[]){7, 7, 7, 7, 7, 7}, 6));
  CHECK(At(a, 2) == 7);
  OK(MXNDArrayFree(a));
  OK(MXNDArrayFree(b));
}

static void Gradients(void) {
  NDArrayHandle x = Array(kValues), gradient = Array(NULL), result, *out = NULL;
  uint32_t request = 1;
  int count = 0, before;
  const int* kinds;
  uint64_t figures[7];
  SymbolHandle y = Square(), graph;
  CachedOpHandle op;
  OK(MXCreateCachedOp(y, &op));
  OK(MXAutogradMarkVariables(1, &x, &request, &gradient));
  OK(MXAutogradSetIsRecording(1, &before));
  OK(MXInvokeCachedOpEx(op, 1, &x, &count, &out, &kinds));
  CHECK(count == 1 && kinds[0] == 0 && At(out[0], 2) == 9);
  result = out[0];
  OK(MXAutogradComputeGradient(1, &result));
  OK(MXAutogradSetIsRecording(0, &before));
  CHECK(before == 1 && At(gradient, 2) == 6);
  count = 0;
  out = NULL;
  OK(MXInvokeCachedOp(op, 1, &x, &count, &out));
  OK(MXNDArrayFree(out[0]));
  OK(MXCachedOpGetPlanStats(op, figures));
  CHECK(figures[3] >= 1);
  OK(MXCachedOpGetOptimizedSymbol(op, &graph));
  OK(NNSymbolGetNumOutputs(graph, &request));
  CHECK(request == 1);
  OK(NNSymbolFree(graph));
  OK(MXNDArrayFree(result));
  OK(NNSymbolFree(y));
  OK(MXFreeCachedOp(op));
  OK(MXNDArrayFree(gradient));
  OK(MXNDArrayFree(x));
}

static void Operators(void) {
  nn_uint all, unique, arguments;
  const char **names, **texts, **types, *name, *description, *result;
  OpHandle *ops, square;
  OK(NNListAllOpNames(&all, &names));
  OK(NNListUniqueOps(&unique, &ops));
  CHECK(all > 300 && unique > 200 && unique <= all);
  OK(NNGetOpHandle("square", &square));
  OK(NNGetOpInfo(square, &name, &description, &arguments, &names, &types, &texts, &result));
  CHECK(!strcmp(name, "square") && arguments == 1 && !strcmp(names[0], "data") && *description);
  OK(MXSymbolGetAtomicSymbolName(square, &name));
  CHECK(!strcmp(name, "square"));
}

static void Symbols(void) {
  SymbolHandle y = Square(), copy, both, part, list[2], *inputs;
  nn_uint count;
  int success, number;
  const char **names, *text, *keys[] = {"__lr_mult__"}, *values[] = {"2"};
  OK(NNSymbolCopy(y, &copy));
  OK(NNSymbolSetAttrs(copy, 1, keys, values));
  OK(NNSymbolGetAttr(copy, "__lr_mult__", &text, &success));
  CHECK(success && !strcmp(text, "2"));
  OK(NNSymbolGetAttr(y, "__lr_mult__", &text, &success));
  CHECK(!success);
  OK(NNSymbolListAttrs(copy, 1, &count, &names));
  CHECK(count >= 1);
  OK(NNAddControlDeps(copy, y));
  list[0] = y;
  list[1] = copy;
  OK(NNSymbolCreateGroup(2, list, &both));
  OK(NNSymbolGetNumOutputs(both, &count));
  CHECK(count == 2);
  OK(NNSymbolListOutputNames(both, &count, &names));
  CHECK(count == 2 && !strcmp(names[0], "y_output"));
  OK(NNSymbolGetOutput(both, 1, &part));
  OK(NNSymbolGetNumOutputs(part, &count));
  CHECK(count == 1);
  OK(NNSymbolFree(part));
  OK(NNSymbolGetInternals(y, &part));
  OK(NNSymbolListOutputNames(part, &count, &names));
  CHECK(count == 2 && !strcmp(names[0], "x"));
  OK(NNSymbolFree(part));
  OK(NNSymbolGetChildren(y, &part));
  OK(NNSymbolListOutputNames(part, &count, &names));
  CHECK(count == 1 && !strcmp(names[0], "x"));
  OK(NNSymbolFree(part));
  OK(NNSymbolListInputVariables(y, 0, &count, &inputs));
  CHECK(count == 1);
  OK(NNSymbolFree(inputs[0]));
  OK(NNSymbolListInputNames(y, 2, &count, &names));
  CHECK(count == 0);
  OK(MXSymbolGetInputSymbols(y, &inputs, &number));
  CHECK(number == 1);
  OK(NNSymbolFree(inputs[0]));
  OK(NNSymbolPrint(y, &text));
  CHECK(strstr(text, "square") != NULL);
  OK(NNSymbolFree(both));
  OK(NNSymbolFree(copy));
  OK(NNSymbolFree(y));
}

static void Inference(void) {
  SymbolHandle y = Square();
  const char* keys[] = {"x"};
  const uint32_t begin[] = {0, 2}, open[] = {2, 0};
  const int64_t begin64[] = {0, 2}, shape64[] = {2, 3}, open64[] = {2, -1};
  const int with_open[] = {2, -1};
  uint32_t in, out, aux;
  size_t in64, out64, aux64;
  const uint32_t *n_in, *n_out, *n_aux, **d_in, **d_out, **d_aux;
  const int *s_in, *s_out, *s_aux, **e_in, **e_out, **e_aux;
  const int64_t **w_in, **w_out, **w_aux;
  int complete;
  OK(MXSymbolInferShapePartial(y, 1, keys, begin, open, &in, &n_in, &d_in, &out, &n_out, &d_out, &aux, &n_aux, &d_aux, &complete));
  CHECK(complete && out == 1 && n_out[0] == 2 && d_out[0][0] == 2 && d_out[0][1] == 0);
  OK(MXSymbolInferShapePartialEx(y, 1, keys, begin, with_open, &in, &s_in, &e_in, &out, &s_out, &e_out, &aux, &s_aux, &e_aux, &complete));
  CHECK(complete && out == 1 && e_out[0][0] == 2 && e_out[0][1] == 0);
  OK(MXSymbolInferShape64(y, 1, keys, begin64, shape64, &in64, &s_in, &w_in, &out64, &s_out, &w_out, &aux64, &s_aux, &w_aux, &complete));
  CHECK(complete && out64 == 1 && s_out[0] == 2 && w_out[0][1] == 3);
  OK(MXSymbolInferShapePartial64(y, 1, keys, begin64, open64, &in64, &s_in, &w_in, &out64, &s_out, &w_out, &aux64, &s_aux, &w_aux,
                                 &complete));
  CHECK(complete && w_out[0][1] == 0);
  OK(NNSymbolFree(y));
}

static int seen;
static void Watch(const char* name, NDArrayHandle array, void* handle) {
  *(int*)handle += !strcmp(name, "y_output") && At(array, 1) == 4;
  OK(MXNDArrayFree(array));
}

static void Executors(void) {
  SymbolHandle y = Square();
  NDArrayHandle x = Array(kValues), none = NULL, *outputs, *args, *gradients, *states, *shared;
  ExecutorHandle executor, bound, larger;
  const char *keys[] = {"x"}, *types[] = {"null"}, **names;
  const uint32_t begin[] = {0, 2}, shape[] = {4, 3}, *dimensions;
  const int signed_shape[] = {2, 3};
  uint32_t request = 0, count, arguments, auxiliary;
  int length = -1;
  OK(MXExecutorBindX(y, 1, 0, 0, NULL, NULL, NULL, 1, &x, &none, &request, 0, NULL, &executor));
  OK(MXExecutorSetMonitorCallback(executor, Watch, &seen));
  OK(MXExecutorForward(executor, 0));
  OK(MXExecutorOutputs(executor, &count, &outputs));
  CHECK(count == 1 && At(outputs[0], 5) == 36);
  OK(MXNDArrayFree(outputs[0]));
  CHECK(seen == 1);
  OK(MXExecutorFree(executor));
  OK(MXExecutorSimpleBind(y, 1, 0, 0, NULL, NULL, NULL, 1, NULL, types, 1, keys, kShape, begin, 0, NULL, NULL, 0, NULL, NULL, 0, NULL,
                          &length, NULL, NULL, &names, &shared, &arguments, &args, &gradients, &auxiliary, &states, NULL, &bound));
  CHECK(arguments == 1 && auxiliary == 0);
  OK(MXNDArraySyncCopyFromCPU(args[0], kValues, 6));
  OK(MXNDArrayFree(args[0]));
  OK(MXExecutorForward(bound, 0));
  OK(MXExecutorOutputs(bound, &count, &outputs));
  CHECK(At(outputs[0], 3) == 16);
  OK(MXNDArrayFree(outputs[0]));
  OK(MXExecutorReshape(0, 1, 1, 0, 0, NULL, NULL, NULL, 1, keys, shape, begin, &arguments, &args, &gradients, &auxiliary, &states, bound,
                       &larger));
  OK(MXNDArrayGetShape(args[0], &count, &dimensions));
  CHECK(count == 2 && dimensions[0] == 4);
  OK(MXNDArrayFree(args[0]));
  OK(MXExecutorFree(larger));
  OK(MXExecutorFree(bound));
  OK(MXExecutorSimpleBindEx(y, 1, 0, 0, NULL, NULL, NULL, 1, NULL, types, 1, keys, signed_shape, begin, 0, NULL, NULL, 0, NULL, NULL, 0,
                            NULL, &length, NULL, NULL, &names, &shared, &arguments, &args, &gradients, &auxiliary, &states, NULL, &bound));
  CHECK(arguments == 1);
  OK(MXNDArrayFree(args[0]));
  OK(MXExecutorFree(bound));
  OK(MXListPlanPasses(&count, &names));
  CHECK(count >= 2 && count % 2 == 0 && *names[0] && *names[1]);
  OK(MXNDArrayFree(x));
  OK(NNSymbolFree(y));
}

static void Stores(void) {
  KVStoreHandle store;
  NDArrayHandle a = Array(kValues), out = Array(NULL);
  const char* keys[] = {"k"};
  OK(MXKVStoreCreate("local", &store));
  OK(MXKVStoreBroadcastEx(store, 1, keys, 1, keys, &a, &out, 0));
  CHECK(At(out, 3) == 4);
  OK(MXNDArraySyncCopyFromCPU(a, (const float[]){5, 5, 5, 5, 5, 5}, 6));
  OK(MXKVStorePushPullEx(store, 1, keys, 1, keys, &a, &out, 0));
  CHECK(At(out, 0) == 5);
  OK(MXNDArraySyncCopyFromCPU(out, kValues, 6));
  OK(MXKVStorePullWithSparseEx(store, 1, keys, &out, 0, true));
  CHECK(At(out, 1) == 5);
  OK(MXKVStoreFree(store));
  OK(MXNDArrayFree(out));
  OK(MXNDArrayFree(a));
}

static void Profile(void) {
  char file[] = "/tmp/c_names_trace_XXXXXX";
  const char *keys[] = {"filename", "profile_all", "aggregate_stats"}, *values[] = {file, "1", "1"}, *text;
  NDArrayHandle a = Array(kValues);
  SymbolHandle y = Square();
  CachedOpHandle op;
  NDArrayHandle* out = NULL;
  int count = 0, state;
  CHECK(close(mkstemp(file)) == 0);
  OK(MXSetProfilerConfig(3, keys, values));
  OK(MXSetProfilerState(1));
  OK(MXGetProfilerState(&state));
  CHECK(state == 1);
  OK(MXProfilePause(1));
  OK(MXProfilePause(0));
  OK(MXCreateCachedOp(y, &op));
  OK(MXInvokeCachedOp(op, 1, &a, &count, &out));
  CHECK(At(out[0], 1) == 4);
  OK(MXNDArrayFree(out[0]));
  OK(MXSetProfilerState(0));
  OK(MXAggregateProfileStatsPrint(&text, 1));
  CHECK(strstr(text, "square") != NULL);
  OK(MXDumpProfile(1));
  CHECK(access(file, R_OK) == 0);
  unlink(file);
  OK(MXFreeCachedOp(op));
  OK(NNSymbolFree(y));
  OK(MXNDArrayFree(a));
}

static void Predictors(void) {
  SymbolHandle y = Square();
  PredictorHandle predictor;
  const char *json, *keys[] = {"x"};
  const uint32_t begin[] = {0, 2};
  const int wide = 1;
  double in[6] = {1, 2, 3, 4, 5, 6}, out[6];
  int dtype;
  OK(MXSymbolSaveToJSON(y, &json));
  OK(MXPredCreateEx(json, NULL, 0, 1, 0, 1, keys, begin, kShape, 1, keys, &wide, &predictor));
  OK(MXPredSetInput(predictor, "x", (const float*)(const void*)in, 6));
  OK(MXPredForward(predictor));
  OK(MXPredGetOutputType(predictor, 0, &dtype));
  OK(MXPredGetOutput(predictor, 0, (float*)(void*)out, 6));
  CHECK(dtype == 1 && out[4] == 25);
  OK(MXPredFree(predictor));
  OK(MXPredCreate(json, NULL, 0, 1, 0, 1, keys, begin, kShape, &predictor));
  seen = 0;
  OK(MXPredSetMonitorCallback(predictor, Watch, &seen, false));
  OK(MXPredSetInput(predictor, "x", kValues, 6));
  OK(MXPredForward(predictor));
  CHECK(seen == 1);
  OK(MXPredFree(predictor));
  OK(NNSymbolFree(y));
}

static void Switches(void) {
  bool before, now;
  OK(MXSetIsNumpyDefaultDtype(true, &before));
  OK(MXIsNumpyDefaultDtype(&now));
  CHECK(!before && now);
  OK(MXSetIsNumpyDefaultDtype(false, &before));
  CHECK(before);
}

/* A sampler hands out the one array of its batch. */
static void Items(void) {
  DataIterCreator* creators;
  DataIterHandle sampler;
  NDArrayHandle* arrays;
  uint32_t count, i, arguments;
  const char *name = "", *text, **names, **types, **texts, *keys[] = {"length", "batch_size"}, *values[] = {"6", "2"};
  int there, outputs;
  OK(MXListDataIters(&count, &creators));
  for (i = 0; i < count; ++i) {
    OK(MXDataIterGetIterInfo(creators[i], &name, &text, &arguments, &names, &types, &texts));
    if (!strcmp(name, "SequentialSampler")) break;
  }
  CHECK(i < count);
  if (i == count) return;
  OK(MXDataIterCreateIter(creators[i], 2, keys, values, &sampler));
  OK(MXDataIterNext(sampler, &there));
  CHECK(there);
  OK(MXDataIterGetItems(sampler, &outputs, &arrays));
  CHECK(outputs == 1);
  OK(MXNDArrayFree(arrays[0]));
  OK(MXDataIterFree(sampler));
}

/* operator(inputs), of the parameter `key`. */
static SymbolHandle Layer(const char* name, const char* key, const char* value, uint32_t count, SymbolHandle* inputs, const char* as) {
  SymbolHandle y;
  OpHandle op;
  OK(NNGetOpHandle(name, &op));
  OK(NNSymbolCreateAtomicSymbol(op, 1, &key, &value, &y));
  OK(NNSymbolCompose(y, as, count, NULL, inputs));
  return y;
}

static bool HasArgument(SymbolHandle symbol, const char* wanted) {
  uint32_t count, i;
  const char** names;
  OK(MXSymbolListArguments(symbol, &count, &names));
  for (i = 0; i < count; ++i)
    if (!strcmp(names[i], wanted)) return true;
  return false;
}

/* 2 (x w^T + b): in 8-bit integers, and as a layer with other parameters. */
static void Quantization(void) {
  const char *names[] = {"x", "w", "b"}, *offline[] = {"w", "b"}, **found;
  const uint32_t starts[] = {0, 2, 4, 5};
  const int64_t dims[] = {2, 3, 4, 3, 4};
  const float low = -1, high = 2;
  const int cpu = 1;
  uint32_t count = 0, outputs;
  SymbolHandle inputs[3], dense, twice, integers, calibrated, merged, folded, made;
  for (int i = 0; i < 3; ++i) OK(NNSymbolCreateVariable(names[i], &inputs[i]));
  dense = Layer("FullyConnected", "num_hidden", "4", 3, inputs, "f");
  twice = Layer("_mul_scalar", "scalar", "2", 1, &dense, "twice");
  OK(MXQuantizeSymbol(twice, &integers, &cpu, 0, NULL, 0, NULL, 2, offline, "int8", true, "full", "tensor-wise", &count, &found));
  CHECK(count >= 1 && !strcmp(found[0], "x"));
  CHECK(HasArgument(integers, "w_quantize") && HasArgument(integers, "b_quantize_max") && !HasArgument(integers, "w"));
  OK(MXSetCalibTableToQuantizedSymbol(integers, 1, names, &low, &high, &calibrated));
  FAILS(MXSetCalibTableToQuantizedSymbol(integers, 1, names, &high, &low, &merged), "the least first");
  OK(MXQuantizeSymbolEx(twice, &merged, 0, NULL, 0, NULL, 2, offline, "auto", true, "smart", &count, &found));
  CHECK(HasArgument(merged, "w_quantize"));
  FAILS(MXQuantizeSymbolEx(twice, &folded, 0, NULL, 0, NULL, 2, offline, "int4", true, "smart", &count, &found), "accepted: int8");
  OK(MXSymbolFoldParameters(twice, 3, names, dims, starts, 0, NULL, &folded, &made, &count, &found));
  CHECK(count == 2 && !strcmp(found[0], "w") && !strcmp(found[1], "b"));
  OK(MXSymbolGetNumOutputs(made, &outputs));
  CHECK(outputs == 2 && HasArgument(folded, "x"));
  SymbolHandle all[] = {inputs[0], inputs[1], inputs[2], dense, twice, integers, calibrated, merged, folded, made};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) OK(NNSymbolFree(all[i]));
}

/* What reads what, and what each node was given. */
static void Nodes(void) {
  const char *names[] = {"x", "g", "b", "m", "v"}, **found, **operators, **outputs, **attrs;
  const int* kinds;
  const uint32_t *input_ptr, *inputs, *output_ptr, *attr_ptr, *graph_ptr, *heads;
  uint32_t count, num_heads;
  SymbolHandle variables[5], norm, twice, *graphs;
  for (int i = 0; i < 5; ++i) OK(NNSymbolCreateVariable(names[i], &variables[i]));
  norm = Layer("BatchNorm", "eps", "0.1", 5, variables, "n");
  OK(MXSymbolGetOutput(norm, 0, &twice));
  OK(NNSymbolFree(norm));
  norm = twice;
  OK(MXSymbolSetAttr(norm, "lr_mult", "2"));
  twice = Layer("_mul_scalar", "scalar", "2", 1, &norm, "twice");
  OK(MXSymbolGetNodes(twice, &count, &found, &operators, &kinds, &input_ptr, &inputs, &output_ptr, &outputs, &attr_ptr, &attrs, &graph_ptr,
                      &graphs, &num_heads, &heads));
  CHECK(count == 7 && num_heads == 1 && heads[0] == 6 && heads[1] == 0 && graph_ptr[7] == 0);
  CHECK(!strcmp(found[0], "x") && !strcmp(operators[0], "null") && kinds[0] == kMXNodeArgument && input_ptr[1] == 0);
  CHECK(!strcmp(found[3], "m") && kinds[3] == kMXNodeAuxiliaryState && kinds[4] == kMXNodeAuxiliaryState);
  CHECK(!strcmp(operators[5], "BatchNorm") && kinds[5] == kMXNodeOperator && input_ptr[6] - input_ptr[5] == 5);
  CHECK(inputs[0] == 0 && inputs[8] == 4 && input_ptr[7] == 6 && inputs[10] == 5 && inputs[11] == 0);
  CHECK(output_ptr[5] == 5 && output_ptr[6] == 8 && !strcmp(outputs[5], "n_output") && !strcmp(outputs[8], "twice_output"));
  attrs += 2 * attr_ptr[5];
  CHECK(attr_ptr[1] == 0 && attr_ptr[6] - attr_ptr[5] == 2 && attr_ptr[7] - attr_ptr[6] == 1);
  CHECK(!strcmp(attrs[0], "__lr_mult__") && !strcmp(attrs[1], "2") && !strcmp(attrs[2], "eps") && !strcmp(attrs[3], "0.1"));
  FAILS(MXSymbolGetNodes(NULL, &count, &found, &operators, &kinds, &input_ptr, &inputs, &output_ptr, &outputs, &attr_ptr, &attrs,
                         &graph_ptr, &graphs, &num_heads, &heads),
        "null symbol handle");
  for (int i = 0; i < 5; ++i) OK(NNSymbolFree(variables[i]));
  OK(NNSymbolFree(norm));
  OK(NNSymbolFree(twice));
}

int main(void) {
  Arrays();
  SharedMemory();
  Gradients();
  Operators();
  Symbols();
  Inference();
  Executors();
  Stores();
  Profile();
  Predictors();
  Switches();
  Items();
  Quantization();
  Nodes();
  OK(MXNDArrayWaitAll());
  printf("%d failures\n", failures);
  return failures != 0;
}
