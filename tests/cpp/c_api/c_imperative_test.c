/* Arrays, operators by name, autograd, containers, the kvstore, settings and errors, from plain
 * C. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "c_check.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_env.h"
#include "mxnet/c_api_op.h"
#include "mxnet/c_api_storage.h"

static NDArrayHandle Array(uint32_t rows, uint32_t columns, const float* values) {
  NDArrayHandle a;
  const uint32_t shape[] = {rows, columns};
  OK(MXNDArrayCreateEx(shape, 2, 1, 0, 0, 0, &a));
  if (values) OK(MXNDArraySyncCopyFromCPU(a, values, (size_t)rows * columns));
  return a;
}

static float At(NDArrayHandle a, int i) {
  float values[64];
  int ndim;
  const int* shape;
  size_t size = 1;
  OK(MXNDArrayGetShapeEx(a, &ndim, &shape));
  for (int k = 0; k < ndim; ++k) size *= (size_t)shape[k];
  OK(MXNDArraySyncCopyToCPU(a, values, size));
  return values[i];
}

/* -1 on failure, as the C ABI; else *out is the first output, which the caller frees. */
static int Call(const char* name, int num_in, NDArrayHandle* in, int num_params, const char** keys, const char** values,
                NDArrayHandle* out) {
  OpHandle op;
  NDArrayHandle* outputs = NULL;
  int num_out = 0;
  if (NNGetOpHandle(name, &op) != 0) return -1;
  if (MXImperativeInvoke(op, num_in, in, &num_out, &outputs, num_params, keys, values) != 0) return -1;
  *out = outputs[0];
  return 0;
}

static void Operators(void) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  NDArrayHandle a = Array(2, 3, numbers), in[] = {a, a}, out, into = Array(2, 3, NULL), *given = &into, row, flat;
  const char *keys[] = {"axis", "keepdims"}, *values[] = {"1", "True"};
  OK(Call("elemwise_add", 2, in, 0, NULL, NULL, &out));
  CHECK(At(out, 5) == 12);
  OK(MXNDArrayFree(out));
  OK(Call("sum", 1, in, 2, keys, values, &out));
  int ndim;
  const int* shape;
  OK(MXNDArrayGetShapeEx(out, &ndim, &shape));
  CHECK(ndim == 2 && shape[0] == 2 && shape[1] == 1);
  CHECK(At(out, 0) == 6 && At(out, 1) == 15);
  OK(MXNDArrayFree(out));

  OpHandle op;
  int one = 1;
  OK(NNGetOpHandle("square", &op));
  OK(MXImperativeInvoke(op, 1, in, &one, &given, 0, NULL, NULL)); /* into an array of the caller */
  CHECK(At(into, 3) == 16);

  OK(MXNDArrayAt(into, 1, &row));
  OK(MXNDArrayReshape(into, 1, (int[]){-1}, &flat));
  CHECK(At(row, 0) == 16 && At(flat, 4) == 25);
  OK(MXNDArraySyncCopyFromCPU(row, numbers, 3));
  CHECK(At(flat, 3) == 1); /* views share memory */
  OK(MXNDArrayFree(row));
  OK(MXNDArrayFree(flat));
  OK(MXNDArrayReshape(into, 2, (int[]){1, 2}, &flat)); /* fewer elements: the first ones */
  OK(MXNDArrayGetShapeEx(flat, &ndim, &shape));
  CHECK(ndim == 2 && shape[0] == 1 && shape[1] == 2 && At(flat, 1) == At(into, 1));
  OK(MXNDArrayFree(flat));
  CHECK(MXNDArrayReshape(into, 2, (int[]){7, 2}, &flat) == -1); /* never more */

  uint32_t count;
  const char** names;
  const int* dtypes;
  int found = 0;
  OK(MXListAllOpNames(&count, &names));
  for (uint32_t i = 0; i < count; ++i) found += !strcmp(names[i], "Convolution") || !strcmp(names[i], "elemwise_add");
  CHECK(found == 2);
  const uint32_t* bytes;
  OK(MXListDTypes(&count, &names, &bytes));
  CHECK(count == 13 && !strcmp(names[0], "float32") && bytes[0] == 4 && !strcmp(names[12], "bfloat16") && bytes[12] == 2);
  OK(MXOpListDTypes(op, &count, &dtypes));
  found = 0;
  for (uint32_t i = 0; i < count; ++i) found += dtypes[i] == 0;
  CHECK(found == 1);

  const int whole[] = {3, 5}, mixed[] = {6, 0};
  int meeting;
  bool flag;
  OK(MXOpPromoteDTypes(2, whole, 0, &meeting));
  CHECK(meeting == 8); /* uint8 and int8: int16 */
  OK(MXOpPromoteDTypes(2, whole, 2, &meeting));
  CHECK(meeting == 1); /* a fraction beside integers: float64 */
  OK(MXOpPromoteDTypes(2, mixed, 0, &meeting));
  CHECK(meeting == 0);
  OK(MXSetIsNumpyDefaultDtype(true, &flag));
  OK(MXOpPromoteDTypes(2, mixed, 0, &meeting));
  CHECK(meeting == 1);
  OK(MXSetIsNumpyDefaultDtype(flag, &flag));
  CHECK(MXOpPromoteDTypes(0, whole, 0, &meeting) == -1 && MXOpPromoteDTypes(1, (int[]){77}, 0, &meeting) == -1);
  CHECK(MXNDArraySetDeferredComputeAttributes(1, (const char*[]){"lr"}, (const char*[]){"1"}) == -1);
  OK(MXNDArraySetDeferredComputeAttributes(0, NULL, NULL));
  CHECK(MXOpPromoteDTypes(2, whole, 3, &meeting) == -1 && MXOpPromoteDTypes(2, NULL, 0, &meeting) == -1);
  OK(MXNDArrayFree(into));
  OK(MXNDArrayFree(a));
}

static void Autograd(void) {
  const float numbers[] = {1, -2, 3};
  NDArrayHandle x = Array(1, 3, numbers), grad = Array(1, 3, NULL), y, again;
  uint32_t write = 1;
  int before, after;
  OK(MXAutogradMarkVariables(1, &x, &write, &grad));
  OK(MXAutogradSetIsRecording(1, &before));
  OK(MXAutogradSetIsTraining(1, &after));
  CHECK(before == 0 && after == 0);
  OK(Call("square", 1, &x, 0, NULL, NULL, &y));
  OK(MXAutogradSetIsRecording(0, &before));
  CHECK(before == 1);
  OK(MXAutogradSetIsTraining(0, &after));
  OK(MXAutogradBackward(1, &y, NULL, 0));
  CHECK(At(grad, 0) == 2 && At(grad, 1) == -4 && At(grad, 2) == 6);
  OK(MXNDArrayGetGrad(x, &again));
  CHECK(At(again, 2) == 6);
  FAILS(MXAutogradBackward(1, &y, NULL, 0), "["); /* its record is used up */
  OK(MXNDArrayFree(again));
  OK(MXNDArrayFree(y));
  OK(MXNDArrayFree(grad));
  OK(MXNDArrayFree(x));
}

static void Containers(void) {
  const float numbers[] = {1, 2};
  char path[64];
  snprintf(path, sizeof path, "/tmp/c_imperative_test.%d.params", (int)getpid());
  NDArrayHandle a = Array(1, 2, numbers), *loaded, raw;
  const char *key = "weight", **names, *bytes;
  uint32_t count, name_count;
  size_t size;
  OK(MXNDArraySave(path, 1, &a, &key));
  OK(MXNDArrayLoad(path, &count, &loaded, &name_count, &names));
  CHECK(count == 1 && name_count == 1 && !strcmp(names[0], "weight"));
  CHECK(At(loaded[0], 1) == 2);
  OK(MXNDArrayFree(loaded[0]));
  CHECK(truncate(path, 40) == 0);
  FAILS(MXNDArrayLoad(path, &count, &loaded, &name_count, &names), "at byte");
  remove(path);
  FAILS(MXNDArrayLoad(path, &count, &loaded, &name_count, &names), path);
  OK(MXNDArraySaveRawBytes(a, &size, &bytes));
  OK(MXNDArrayLoadFromRawBytes(bytes, size, &raw));
  CHECK(At(raw, 0) == 1);
  OK(MXNDArrayFree(raw));
  OK(MXNDArrayFree(a));
}

static void KVStore(void) {
  const float numbers[] = {1, 2};
  KVStoreHandle store;
  NDArrayHandle a = Array(1, 2, numbers), both[] = {a, a}, out = Array(1, 2, NULL);
  const int key = 3, keys[] = {3, 3};
  OK(MXKVStoreCreate("local", &store));
  OK(MXKVStoreInit(store, 1, &key, &a));
  OK(MXKVStorePush(store, 2, keys, both, 0)); /* values of one key are summed */
  OK(MXKVStorePull(store, 1, &key, &out, 0));
  CHECK(At(out, 0) == 2 && At(out, 1) == 4);
  FAILS(MXKVStorePull(store, 1, (int[]){99}, &out, 0), "99");
  OK(MXKVStoreFree(store));
  FAILS(MXKVStoreCreate("dist_nothing", &store), "dist_nothing");
  OK(MXNDArrayFree(out));
  OK(MXNDArrayFree(a));
}

static void Settings(void) {
  const char* text;
  uint64_t stats[7];
  int version;
  OK(MXGetVersion(&version));
  CHECK(version == 11000);
  OK(MXSetEnv("MXNET_CPU_PARALLEL_SIZE", "123"));
  OK(MXGetEnv("MXNET_CPU_PARALLEL_SIZE", &text));
  CHECK(!strcmp(text, "123"));
  OK(MXSetEnv("MXNET_CPU_PARALLEL_SIZE", ""));
  FAILS(MXSetEnv("MXNET_CPU_PARALLEL_SIZE", "many"), "many");
  FAILS(MXGetEnv("MXNET_CPU_PARALEL_SIZE", &text), "MXNET_CPU_PARALLEL_SIZE");
  OK(MXStorageStats(1, 0, stats));
  FAILS(MXStorageStats(77, 0, stats), "77");
}

static void Errors(void) {
  const float numbers[] = {0, 99};
  NDArrayHandle a = Array(1, 2, numbers), b = Array(2, 2, (const float[]){1, 2, 3, 4}), mixed[] = {a, b}, taken, out;
  const char *key = "mode", *value = "raise", *bad = "sideways";
  FAILS(Call("elemwise_add", 2, mixed, 0, NULL, NULL, &out), "elemwise_add");
  FAILS(Call("elemwise_add", 1, mixed, 0, NULL, NULL, &out), "2");
  FAILS(Call("elemwise_ad", 2, mixed, 0, NULL, NULL, &out), "elemwise_add");
  FAILS(MXNDArrayAt(a, 5, &out), "5");
  FAILS(MXNDArraySyncCopyFromCPU(a, numbers, 7), "copy");
  FAILS(MXNDArrayWaitToRead(NULL), "null");
  NDArrayHandle take[] = {b, a};
  FAILS(Call("take", 2, take, 1, &key, &bad, &out), "sideways");
  OK(Call("take", 2, take, 1, &key, &value, &taken)); /* only the kernel sees the index */
  FAILS(MXNDArrayWaitToRead(taken), "99");
  CHECK(MXGetLastErrorKind() == 3);
  OK(MXNDArrayFree(taken));
  OK(MXNDArrayFree(b));
  OK(MXNDArrayFree(a));
}

/* The last error belongs to the thread. */
static void* Thread(void* argument) {
  char name[32];
  NDArrayHandle none = NULL;
  for (int i = 0; i < 100; ++i) {
    snprintf(name, sizeof name, "NoSuch%d_%d", *(int*)argument, i);
    FAILS(Call(name, 0, &none, 0, NULL, NULL, &none), name);
  }
  return NULL;
}

static void Threads(void) {
  pthread_t threads[4];
  int numbers[4];
  for (int i = 0; i < 4; ++i) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, Thread, &numbers[i]) != 0) exit(1);
  }
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

int main(void) {
  OK(MXCheckEnv());
  Operators();
  Autograd();
  Containers();
  KVStore();
  Settings();
  Errors();
  Threads();
  OK(MXNDArrayWaitAll());
  OK(MXNotifyShutdown());
  if (failures == 0) printf("all passed\n");
  return failures != 0;
}
