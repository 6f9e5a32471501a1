/* The predict API from several threads: predictors of one plan, and predictors made and freed side
 * by side. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "c_check.h"
#include "mxnet/c_api.h"
#include "mxnet/c_predict_api.h"

enum { kThreads = 4, kCalls = 50, kFeatures = 20, kHidden = 30, kClasses = 5 };

static char *json, *bytes;
static long size;
static const char* inputs[] = {"x"};
static const uint32_t pointers[] = {0, 2}, shape[] = {3, kFeatures};
static float want[kThreads][3 * kClasses];

typedef struct {
  PredictorHandle predictor;
  int number, wrong;
} Job;

static SymbolHandle Dense(SymbolHandle in, const char* units, const char* name) {
  const char *keys[] = {"num_hidden"}, *arg[] = {"data"};
  const char* values[1];
  OpHandle op;
  SymbolHandle s;
  values[0] = units;
  OK(NNGetOpHandle("FullyConnected", &op));
  OK(MXSymbolCreateAtomicSymbol(op, 1, keys, values, &s));
  OK(MXSymbolCompose(s, name, 1, arg, &in));
  return s;
}

static SymbolHandle Tanh(SymbolHandle in) {
  OpHandle op;
  SymbolHandle s;
  OK(NNGetOpHandle("tanh", &op));
  OK(MXSymbolCreateAtomicSymbol(op, 0, NULL, NULL, &s));
  OK(MXSymbolCompose(s, "tanh", 1, NULL, &in));
  return s;
}

static NDArrayHandle Weights(uint32_t rows, uint32_t columns) {
  const uint32_t dims[2] = {rows, columns};
  float data[kHidden * kFeatures + kHidden];
  uint32_t i, n = columns ? rows * columns : rows;
  NDArrayHandle a;
  for (i = 0; i < n; ++i) data[i] = (float)((int)(i * 37 % 19) - 9) / 20.0f;
  OK(MXNDArrayCreateEx(dims, columns ? 2 : 1, 1, 0, 0, 0, &a));
  OK(MXNDArraySyncCopyFromCPU(a, data, n));
  return a;
}

static void Fill(float* x, int number) {
  int i;
  for (i = 0; i < 3 * kFeatures; ++i) x[i] = (float)((i * (number + 3)) % 17) / 17.0f;
}

static void Predict(PredictorHandle predictor, int number, float* y) {
  float x[3 * kFeatures];
  Fill(x, number);
  OK(MXPredSetInput(predictor, "x", x, 3 * kFeatures));
  OK(MXPredForward(predictor));
  OK(MXPredGetOutput(predictor, 0, y, 3 * kClasses));
}

static int Differs(const float* y, int number) {
  int i;
  for (i = 0; i < 3 * kClasses; ++i)
    if (!(fabsf(y[i] - want[number][i]) <= 1e-6f)) return 1;
  return 0;
}

static void* UseOne(void* arg) {
  Job* job = (Job*)arg;
  float y[3 * kClasses];
  int i;
  for (i = 0; i < kCalls; ++i) {
    Predict(job->predictor, job->number, y);
    job->wrong += Differs(y, job->number);
  }
  return NULL;
}

static void* MakeAndUse(void* arg) {
  Job* job = (Job*)arg;
  const uint32_t other[] = {7, kFeatures};
  float y[3 * kClasses];
  int i;
  for (i = 0; i < kCalls / 10; ++i) {
    PredictorHandle predictor, larger;
    uint32_t *dims, ndim;
    OK(MXPredCreate(json, bytes, (int)size, 1, 0, 1, inputs, pointers, shape, &predictor));
    Predict(predictor, job->number, y);
    job->wrong += Differs(y, job->number);
    OK(MXPredReshape(1, inputs, pointers, other, predictor, &larger));
    OK(MXPredForward(larger));
    OK(MXPredGetOutputShape(larger, 0, &dims, &ndim));
    job->wrong += ndim != 2 || dims[0] != 7 || dims[1] != kClasses;
    OK(MXPredFree(larger));
    OK(MXPredFree(predictor));
    /* errors are kept by thread */
    if (MXPredCreate("{", bytes, (int)size, 1, 0, 1, inputs, pointers, shape, &predictor) != -1 || !strstr(MXGetLastError(), "JSON"))
      ++job->wrong;
  }
  return NULL;
}

static int Run(void* (*fn)(void*), PredictorHandle* predictors) {
  pthread_t threads[kThreads];
  Job jobs[kThreads];
  int t, wrong = 0;
  for (t = 0; t < kThreads; ++t) {
    jobs[t].predictor = predictors ? predictors[t] : NULL;
    jobs[t].number = t;
    jobs[t].wrong = 0;
    if (pthread_create(&threads[t], NULL, fn, &jobs[t]) != 0) exit(1);
  }
  for (t = 0; t < kThreads; ++t) {
    pthread_join(threads[t], NULL);
    wrong += jobs[t].wrong;
  }
  return wrong;
}

int main(void) {
  SymbolHandle x, hidden, active, out;
  NDArrayHandle params[4];
  const char* names[] = {"arg:hidden_weight", "arg:hidden_bias", "arg:out_weight", "arg:out_bias"};
  const char* text;
  char path[] = "/tmp/c_predict_threads_XXXXXX";
  PredictorHandle many[kThreads], one;
  FILE* f;
  int t, fd, wrong = 0;

  OK(MXSymbolCreateVariable("x", &x));
  hidden = Dense(x, "30", "hidden");
  active = Tanh(hidden);
  out = Dense(active, "5", "out");
  OK(MXSymbolSaveToJSON(out, &text));
  json = malloc(strlen(text) + 1);
  strcpy(json, text);
  OK(MXSymbolFree(x));
  OK(MXSymbolFree(hidden));
  OK(MXSymbolFree(active));
  OK(MXSymbolFree(out));
  params[0] = Weights(kHidden, kFeatures);
  params[1] = Weights(kHidden, 0);
  params[2] = Weights(kClasses, kHidden);
  params[3] = Weights(kClasses, 0);
  fd = mkstemp(path);
  if (fd < 0) return 1;
  close(fd);
  OK(MXNDArraySave(path, 4, params, names));
  for (t = 0; t < 4; ++t) OK(MXNDArrayFree(params[t]));
  f = fopen(path, "rb"); /* saving has put another file in its place */
  if (!f) return 1;
  fseek(f, 0, SEEK_END);
  size = ftell(f);
  rewind(f);
  bytes = malloc((size_t)size);
  if (fread(bytes, 1, (size_t)size, f) != (size_t)size) return 1;
  fclose(f);
  remove(path);

  OK(MXPredCreate(json, bytes, (int)size, 1, 0, 1, inputs, pointers, shape, &one));
  for (t = 0; t < kThreads; ++t) Predict(one, t, want[t]);
  OK(MXPredFree(one));
  if (!Differs(want[0], 1)) return printf("different inputs give one result\n"), 1;

  OK(MXPredCreateMultiThread(json, bytes, (int)size, 1, 0, 1, inputs, pointers, shape, kThreads, many));
  wrong += Run(UseOne, many);
  OK(MXPredFree(many[0])); /* the first one made has no special part */
  many[0] = many[1];
  for (t = 1; t < kThreads; ++t) {
    float y[3 * kClasses];
    Predict(many[t], t, y);
    wrong += Differs(y, t);
    OK(MXPredFree(many[t]));
  }
  wrong += Run(MakeAndUse, NULL);
  free(bytes);
  free(json);
  printf(wrong ? "%d wrong results\n" : "all results right\n", wrong);
  return wrong != 0;
}
