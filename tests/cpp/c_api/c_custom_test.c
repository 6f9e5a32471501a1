/* A custom operator from plain C: y = 3 x, dx = 3 dy, through MXCustomOpRegister. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "c_check.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_custom.h"
#include "mxnet/c_api_op.h"

typedef int (*Callback)(void);
#define CALLBACK(function) ((Callback)(void (*)(void))(function))

static int live = 0; /* describing objects and operators */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void Count(int by) {
  pthread_mutex_lock(&mutex);
  live += by;
  pthread_mutex_unlock(&mutex);
}

static int Live(void) {
  pthread_mutex_lock(&mutex);
  const int now = live;
  pthread_mutex_unlock(&mutex);
  return now;
}

static int Delete(void* state) {
  Count(-1);
  free(state);
  return 1;
}

static int Times3(void* from, void* to, int req) {
  float values[4];
  if (req == 0) return 1;
  if (MXNDArraySyncCopyToCPU(from, values, 4) != 0) return 0;
  for (int i = 0; i < 4; ++i) values[i] *= 3;
  return MXNDArraySyncCopyFromCPU(to, values, 4) == 0;
}

static void* Tagged(int size, void** arrays, const int* tags, int tag) {
  for (int i = 0; i < size; ++i)
    if (tags[i] == tag) return arrays[i];
  return NULL;
}

static int Compute(int size, void** arrays, const int* tags, int from, int to, int req) {
  const int ok = Times3(Tagged(size, arrays, tags, from), Tagged(size, arrays, tags, to), req);
  for (int i = 0; i < size; ++i) MXNDArrayFree(arrays[i]);
  return ok;
}

static int Forward(int size, void** arrays, int* tags, const int* reqs, const int is_train, void* state) {
  CHECK(is_train == 0 || is_train == 1);
  CHECK(*(int*)state == 42);
  return Compute(size, arrays, tags, 0, 1, reqs[0]);
}

static int Backward(int size, void** arrays, int* tags, const int* reqs, const int is_train, void* state) {
  (void)is_train;
  (void)state;
  return Compute(size, arrays, tags, 3, 2, reqs[0]);
}

static int Fail(int size, void** arrays, int* tags, const int* reqs, const int is_train, void* state) {
  (void)tags, (void)reqs, (void)is_train, (void)state;
  for (int i = 0; i < size; ++i) MXNDArrayFree(arrays[i]);
  NNAPISetLastError("no luck");
  return 0;
}

static int Arguments(char*** names, void* state) {
  static char* list[] = {"data", NULL};
  (void)state;
  *names = list;
  return 1;
}
static int Outputs(char*** names, void* state) {
  static char* list[] = {"output", NULL};
  (void)state;
  *names = list;
  return 1;
}
static int States(char*** names, void* state) {
  static char* list[] = {NULL};
  (void)state;
  *names = list;
  return 1;
}
static int InferShape(int num, int* ndims, int** shapes, void* state) {
  (void)state;
  CHECK(num == 2);
  ndims[1] = ndims[0];
  shapes[1] = shapes[0];
  return 1;
}

static int Create(const char* ctx, int num, unsigned** shapes, const int* ndims, const int* dtypes, struct MXCallbackList* ret,
                  void* state) {
  static Callback good[] = {CALLBACK(Delete), CALLBACK(Forward), CALLBACK(Backward)};
  static Callback bad[] = {CALLBACK(Delete), CALLBACK(Fail), CALLBACK(Fail)};
  static __thread void* contexts[3]; /* read before this thread comes back */
  int* number = malloc(sizeof(int));
  CHECK(strcmp(ctx, "cpu(0)") == 0);
  CHECK(num == 1 && ndims[0] == 1 && shapes[0][0] == 4 && dtypes[0] == 0);
  *number = 42;
  contexts[0] = contexts[1] = contexts[2] = number;
  ret->num_callbacks = 3;
  ret->callbacks = *(int*)state ? bad : good;
  ret->contexts = contexts;
  Count(1);
  return 1;
}

static int Describe(const char* op_type, const int num, const char** keys, const char** values, struct MXCallbackList* ret) {
  static Callback callbacks[] = {CALLBACK(Delete), CALLBACK(Arguments), CALLBACK(Outputs), CALLBACK(States), CALLBACK(InferShape), NULL,
                                 CALLBACK(Create)};
  static __thread void* contexts[7];
  int* fails = malloc(sizeof(int));
  CHECK(strcmp(op_type, "triple") == 0);
  *fails = num == 1 && strcmp(keys[0], "fails") == 0 && strcmp(values[0], "1") == 0;
  for (int i = 0; i < 7; ++i) contexts[i] = fails;
  ret->num_callbacks = 7;
  ret->callbacks = callbacks;
  ret->contexts = contexts;
  Count(1);
  return 1;
}

static NDArrayHandle Array(float first) {
  const uint32_t shape[] = {4};
  const float values[] = {first, first + 1, first + 2, first + 3};
  NDArrayHandle a;
  OK(MXNDArrayCreateEx(shape, 1, 1, 0, 0, 0, &a));
  OK(MXNDArraySyncCopyFromCPU(a, values, 4));
  return a;
}

static NDArrayHandle Custom(NDArrayHandle x, const char* fails) {
  const char* keys[] = {"op_type", "fails"};
  const char* values[] = {"triple", fails};
  NDArrayHandle* outputs = NULL;
  int num_out = 0;
  OpHandle op;
  OK(NNGetOpHandle("Custom", &op));
  OK(MXImperativeInvoke(op, 1, &x, &num_out, &outputs, fails ? 2 : 1, keys, values));
  CHECK(num_out == 1);
  return outputs[0];
}

static void* ManyCalls(void* unused) {
  (void)unused;
  for (int i = 0; i < 20; ++i) {
    float got[4];
    NDArrayHandle x = Array((float)i), y = Custom(x, NULL);
    OK(MXNDArraySyncCopyToCPU(y, got, 4));
    CHECK(got[3] == 3 * (float)(i + 3));
    OK(MXNDArrayFree(x));
    OK(MXNDArrayFree(y));
  }
  return NULL;
}

int main(void) {
  float got[4];
  uint32_t req = 1;
  int before;
  NDArrayHandle x, y, dx;
  pthread_t threads[8];
  FAILS(MXCustomOpRegister("triple", NULL), "null");
  FAILS(MXCustomOpRegister(NULL, Describe), "null");
  OK(MXCustomOpRegister("triple", Describe));
  x = Array(1);
  dx = Array(0);
  OK(MXAutogradMarkVariables(1, &x, &req, &dx));
  OK(MXAutogradSetIsRecording(1, &before));
  y = Custom(x, NULL);
  OK(MXAutogradSetIsRecording(0, &before));
  OK(MXAutogradBackward(1, &y, NULL, 0));
  OK(MXNDArraySyncCopyToCPU(y, got, 4));
  CHECK(got[0] == 3 && got[3] == 12);
  OK(MXNDArraySyncCopyToCPU(dx, got, 4));
  CHECK(got[0] == 3 && got[3] == 3);
  OK(MXNDArrayFree(y));
  y = Custom(x, "1");
  FAILS(MXNDArraySyncCopyToCPU(y, got, 4), "no luck");
  OK(MXNDArrayFree(y));
  for (int i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, ManyCalls, NULL);
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  OK(MXNDArrayFree(x));
  OK(MXNDArrayFree(dx));
  for (int i = 0; i < 5000 && Live() > 0; ++i) usleep(1000); /* they are given back on threads of the library */
  CHECK(Live() == 0);
  OK(MXNotifyShutdown());
  return failures;
}
