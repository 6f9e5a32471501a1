/* Symbols, executors, cached operators and the predict API, from plain C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_check.h"
#include "mxnet/c_api.h"
#include "mxnet/c_predict_api.h"

static SymbolHandle Net(void) {
  SymbolHandle x, fc, out;
  OpHandle op;
  const char *keys[] = {"num_hidden"}, *values[] = {"2"}, *in[] = {"data"};
  OK(MXSymbolCreateVariable("x", &x));
  OK(NNGetOpHandle("FullyConnected", &op));
  OK(MXSymbolCreateAtomicSymbol(op, 1, keys, values, &fc));
  OK(MXSymbolCompose(fc, "fc", 1, in, &x));
  OK(NNGetOpHandle("negative", &op));
  OK(MXSymbolCreateAtomicSymbol(op, 0, NULL, NULL, &out));
  OK(MXSymbolCompose(out, "minus", 1, NULL, &fc));
  OK(MXSymbolFree(x));
  OK(MXSymbolFree(fc));
  return out;
}

static NDArrayHandle Array(uint32_t rows, uint32_t columns, float value) {
  const uint32_t shape[2] = {rows, columns};
  float data[64];
  NDArrayHandle a;
  uint32_t i, n = columns ? rows * columns : rows;
  for (i = 0; i < n; ++i) data[i] = value;
  OK(MXNDArrayCreateEx(shape, columns ? 2 : 1, 1, 0, 0, 0, &a));
  OK(MXNDArraySyncCopyFromCPU(a, data, n));
  return a;
}

static void TestSymbol(SymbolHandle net) {
  uint32_t n;
  const char **names, *text;
  int success;
  SymbolHandle again;
  OK(MXSymbolListArguments(net, &n, &names));
  CHECK(n == 3 && !strcmp(names[0], "x") && !strcmp(names[1], "fc_weight") && !strcmp(names[2], "fc_bias"));
  OK(MXSymbolListOutputs(net, &n, &names));
  CHECK(n == 1 && !strcmp(names[0], "minus_output"));
  OK(MXSymbolGetName(net, &text, &success));
  CHECK(success && !strcmp(text, "minus"));
  OK(MXSymbolSetAttr(net, "lr_mult", "2"));
  OK(MXSymbolGetAttr(net, "__lr_mult__", &text, &success));
  CHECK(success && !strcmp(text, "2"));
  OK(MXSymbolSaveToJSON(net, &text));
  OK(MXSymbolCreateFromJSON(text, &again));
  OK(MXSymbolFree(again));
  FAILS(MXSymbolCreateFromJSON("{", &again), "malformed JSON at byte");
  FAILS(MXSymbolCreateFromFile("/no/such/file", &again), "cannot open");
  FAILS(MXSymbolCreateVariable(NULL, &again), "null");
  FAILS(MXSymbolListArguments(NULL, &n, &names), "null symbol handle");
}

static void TestInference(SymbolHandle net) {
  const char* keys[] = {"x"};
  const uint32_t ptr[] = {0, 2}, unknown_batch[] = {0, 3};
  const int known[] = {4, 3};
  uint32_t in, out, aux;
  const int *in_ndim, *out_ndim, *aux_ndim, **in_data, **out_data, **aux_data;
  const uint32_t *in_n, *out_n, *aux_n, **in_d, **out_d, **aux_d;
  int complete;
  OK(MXSymbolInferShapeEx(net, 1, keys, ptr, known, &in, &in_ndim, &in_data, &out, &out_ndim, &out_data, &aux, &aux_ndim, &aux_data,
                          &complete));
  CHECK(complete && in == 3 && in_ndim[1] == 2 && in_data[1][0] == 2 && in_data[1][1] == 3 && out == 1 && out_data[0][0] == 4 &&
        out_data[0][1] == 2 && aux == 0);
  OK(MXSymbolInferShape(net, 1, keys, ptr, unknown_batch, &in, &in_n, &in_d, &out, &out_n, &out_d, &aux, &aux_n, &aux_d, &complete));
  CHECK(!complete && out_n[0] == 2 && out_d[0][0] == 0 && out_d[0][1] == 2); /* 0: unknown */
}

static int seen = 0;
static void Watch(const char* name, NDArrayHandle array, void* handle) {
  CHECK(*(int*)handle == 7 && name[0]);
  ++seen;
  OK(MXNDArrayFree(array));
}

static void TestExecutor(SymbolHandle net) {
  NDArrayHandle args[3], grads[3], *outputs, head;
  uint32_t req[3] = {1, 1, 0}, n;
  float values[8];
  int i, mark = 7;
  ExecutorHandle exec;
  const char* text;
  uint64_t stats[7];
  args[0] = Array(4, 3, 1), args[1] = Array(2, 3, 2), args[2] = Array(2, 0, 5);
  grads[0] = Array(4, 3, 0), grads[1] = Array(2, 3, 0), grads[2] = NULL;
  OK(MXExecutorBindEX(net, 1, 0, 0, NULL, NULL, NULL, 3, args, grads, req, 0, NULL, NULL, &exec));
  OK(MXExecutorForward(exec, 1));
  OK(MXExecutorOutputs(exec, &n, &outputs));
  CHECK(n == 1);
  OK(MXNDArraySyncCopyToCPU(outputs[0], values, 8));
  for (i = 0; i < 8; ++i) CHECK(values[i] == -11);
  OK(MXNDArrayFree(outputs[0]));
  FAILS(MXExecutorBackward(exec, 0, NULL), "head gradient");
  head = Array(4, 2, 1);
  OK(MXExecutorBackwardEx(exec, 1, &head, 1));
  OK(MXNDArraySyncCopyToCPU(grads[1], values, 6));
  for (i = 0; i < 6; ++i) CHECK(values[i] == -4);
  OK(MXExecutorPrint(exec, &text));
  CHECK(strstr(text, "FullyConnected") && strstr(text, "Total"));
  OK(MXExecutorGetPlanStats(exec, stats));
  CHECK(stats[3] >= 3);
  OK(MXExecutorSetMonitorCallbackEX(exec, Watch, &mark, true));
  OK(MXExecutorForward(exec, 0));
  CHECK(seen == 9); /* three inputs, each also as the variable that it is, and a result; one of each */
  OK(MXExecutorFree(exec));
  for (i = 0; i < 3; ++i) OK(MXNDArrayFree(args[i]));
  for (i = 0; i < 2; ++i) OK(MXNDArrayFree(grads[i]));
  OK(MXNDArrayFree(head));
}

static void TestCachedOp(SymbolHandle net) {
  const char *keys[] = {"static_alloc"}, *values[] = {"true"};
  CachedOpHandle op;
  NDArrayHandle in[3], *out = NULL;
  int n = 0, i;
  float result[4];
  in[0] = Array(2, 3, 1), in[1] = Array(2, 3, 2), in[2] = Array(2, 0, 5);
  OK(MXCreateCachedOpEx(net, 1, keys, values, &op));
  OK(MXInvokeCachedOp(op, 3, in, &n, &out));
  CHECK(n == 1);
  OK(MXNDArraySyncCopyToCPU(out[0], result, 4));
  for (i = 0; i < 4; ++i) CHECK(result[i] == -11);
  OK(MXNDArrayFree(out[0]));
  out = NULL;
  FAILS(MXInvokeCachedOp(op, 2, in, &n, &out), "got 2 inputs");
  OK(MXFreeCachedOp(op));
  for (i = 0; i < 3; ++i) OK(MXNDArrayFree(in[i]));
}

static char* ReadFile(const char* path, long* size) {
  FILE* f = fopen(path, "rb");
  char* data;
  if (!f) exit(1);
  fseek(f, 0, SEEK_END);
  *size = ftell(f);
  rewind(f);
  data = (char*)malloc((size_t)*size + 1);
  if (fread(data, 1, (size_t)*size, f) != (size_t)*size) exit(1);
  data[*size] = 0;
  fclose(f);
  return data;
}

static void TestPredictor(SymbolHandle net) {
  char path[] = "/tmp/mxnet_predict_test.params";
  const char *names[] = {"arg:fc_weight", "arg:fc_bias"}, *inputs[] = {"x"}, *json_text, *partial[] = {"fc"}, *key;
  NDArrayHandle params[2];
  const uint32_t ptr[] = {0, 2}, shape[] = {2, 3}, wide[] = {4, 3}, *dims;
  uint32_t *out_shape, ndim, length;
  PredictorHandle predictor, other, many[3];
  NDListHandle list;
  const float* values;
  float x[12], y[8];
  long size;
  int i, left, steps = 0, dtype;
  char *bytes, *json;
  params[0] = Array(2, 3, 2), params[1] = Array(2, 0, 5);
  OK(MXNDArraySave(path, 2, params, names));
  bytes = ReadFile(path, &size);
  OK(MXSymbolSaveToJSON(net, &json_text));
  json = (char*)malloc(strlen(json_text) + 1);
  strcpy(json, json_text);
  for (i = 0; i < 12; ++i) x[i] = 1;

  OK(MXPredCreate(json, bytes, (int)size, 1, 0, 1, inputs, ptr, shape, &predictor));
  OK(MXPredGetOutputShape(predictor, 0, &out_shape, &ndim));
  CHECK(ndim == 2 && out_shape[0] == 2 && out_shape[1] == 2);
  OK(MXPredGetOutputType(predictor, 0, &dtype));
  CHECK(dtype == 0);
  OK(MXPredSetInput(predictor, "x", x, 6));
  OK(MXPredForward(predictor));
  OK(MXPredGetOutput(predictor, 0, y, 4));
  for (i = 0; i < 4; ++i) CHECK(y[i] == -11);
  FAILS(MXPredSetInput(predictor, "y", x, 6), "no input y");
  FAILS(MXPredSetInput(predictor, "x", x, 5), "5 elements");
  FAILS(MXPredGetOutput(predictor, 0, y, 3), "3 elements");
  FAILS(MXPredGetOutput(predictor, 1, y, 4), "output 1 of 1");
  for (i = 0; i < 6; ++i) x[i] = 2;
  OK(MXPredSetInput(predictor, "x", x, 6));
  do OK(MXPredPartialForward(predictor, steps++, &left));
  while (left > 0);
  CHECK(steps == 2);
  OK(MXPredGetOutput(predictor, 0, y, 4));
  CHECK(y[0] == -17);

  OK(MXPredReshape(1, inputs, ptr, wide, predictor, &other));
  OK(MXPredSetInput(other, "x", x, 12));
  OK(MXPredForward(other));
  OK(MXPredGetOutput(other, 0, y, 8));
  CHECK(y[0] == -17 && y[7] == -11);
  OK(MXPredFree(other));
  OK(MXPredFree(predictor));

  OK(MXPredCreatePartialOut(json, bytes, (int)size, 1, 0, 1, inputs, ptr, shape, 1, partial, &predictor));
  OK(MXPredSetInput(predictor, "x", x, 6));
  OK(MXPredForward(predictor));
  OK(MXPredGetOutput(predictor, 0, y, 4));
  CHECK(y[0] == 17);
  OK(MXPredFree(predictor));

  OK(MXPredCreateMultiThread(json, bytes, (int)size, 1, 0, 1, inputs, ptr, shape, 3, many));
  for (i = 0; i < 3; ++i) {
    int k;
    for (k = 0; k < 6; ++k) x[k] = (float)i;
    OK(MXPredSetInput(many[i], "x", x, 6));
    OK(MXPredForward(many[i]));
  }
  for (i = 0; i < 3; ++i) {
    OK(MXPredGetOutput(many[i], 0, y, 4));
    CHECK(y[3] == -(float)(6 * i + 5));
    OK(MXPredFree(many[i]));
  }
  FAILS(MXPredCreate(json, bytes, (int)size - 3, 1, 0, 1, inputs, ptr, shape, &predictor), "");
  FAILS(MXPredCreate(json, bytes, (int)size, 1, 0, 1, partial, ptr, shape, &predictor), "neither the inputs nor the parameters have x");
  FAILS(MXPredCreate("{}", bytes, (int)size, 1, 0, 1, inputs, ptr, shape, &predictor), "nodes");

  OK(MXNDListCreate(bytes, (int)size, &list, &length));
  CHECK(length == 2);
  OK(MXNDListGet(list, 0, &key, &values, &dims, &ndim));
  CHECK(!strcmp(key, "arg:fc_weight") && ndim == 2 && dims[0] == 2 && dims[1] == 3 && values[5] == 2);
  FAILS(MXNDListGet(list, 2, &key, &values, &dims, &ndim), "element 2 of 2");
  OK(MXNDListFree(list));
  OK(MXNDArrayFree(params[0]));
  OK(MXNDArrayFree(params[1]));
  free(bytes);
  free(json);
  remove(path);
}

int main(void) {
  SymbolHandle net = Net();
  TestSymbol(net);
  TestInference(net);
  TestExecutor(net);
  TestCachedOp(net);
  TestPredictor(net);
  OK(MXSymbolFree(net));
  OK(MXNotifyShutdown());
  if (failures == 0) printf("passed\n");
  return failures != 0;
}
