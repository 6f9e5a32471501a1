/* Callbacks that throw where nobody can catch, and that free or change what called them. */
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "mxnet/c_api.h"
#include "mxnet/c_predict_api.h"

namespace {

void Ok(int code) { ASSERT_EQ(code, 0) << MXGetLastError(); }

NDArrayHandle Array() {
  const uint32_t shape[] = {3};
  const float values[] = {1, 2, 3};
  NDArrayHandle made = nullptr;
  Ok(MXNDArrayCreate(shape, 1, 1, 0, 0, &made));
  Ok(MXNDArraySyncCopyFromCPU(made, values, 3));
  return made;
}

/* exp(-x) */
SymbolHandle Network() {
  SymbolHandle x = nullptr;
  Ok(MXSymbolCreateVariable("x", &x));
  for (const char* name : {"negative", "exp"}) {
    OpHandle op = nullptr;
    SymbolHandle next = nullptr;
    Ok(NNGetOpHandle(name, &op));
    Ok(MXSymbolCreateAtomicSymbol(op, 0, nullptr, nullptr, &next));
    Ok(MXSymbolCompose(next, name, 1, nullptr, &x));
    Ok(MXSymbolFree(x));
    x = next;
  }
  return x;
}

[[noreturn]] void Throw() { throw std::runtime_error("freeing fails"); }

TEST(Callbacks, WhatFreesDataOfTheEngineMayThrow) {
  const int context[] = {1, 0};
  NDArrayHandle y = Array();
  int ran = 0;
  Ok(MXEnginePushSyncND([](void*, void* p) { ++*static_cast<int*>(p); }, &ran, [](void*) { Throw(); }, context, nullptr, 0, &y, 1));
  Ok(MXNDArrayWaitAll());
  EXPECT_EQ(ran, 1);
  Ok(MXNDArrayFree(y));
}

int Fails(void*) { Throw(); }
int (*AsCallback(CustomFunctionDelFunc f))() { return reinterpret_cast<int (*)()>(reinterpret_cast<void (*)()>(f)); }
int (*AsCallback(CustomFunctionBwdFunc f))() { return reinterpret_cast<int (*)()>(reinterpret_cast<void (*)()>(f)); }

TEST(Callbacks, WhatFreesAFunctionMayThrow) {
  std::array<int (*)(), 2> callbacks = {AsCallback(CustomFunctionBwdFunc([](int n, int m, void** arrays, const int*, const int, void*) {
                                          for (int i = 0; i < n + m; ++i) MXNDArrayFree(arrays[i]);
                                          return 1;
                                        })),
                                        AsCallback(CustomFunctionDelFunc(Fails))};
  std::array<void*, 2> contexts = {nullptr, nullptr};
  MXCallbackList list = {2, callbacks.data(), contexts.data()};
  NDArrayHandle x = Array(), y = Array(), grad = Array();
  uint32_t write = 1;
  int before = 0;
  Ok(MXAutogradMarkVariables(1, &x, &write, &grad));
  Ok(MXAutogradSetIsRecording(1, &before));
  Ok(MXCustomFunctionRecord(1, &x, 1, &y, &list));
  Ok(MXAutogradSetIsRecording(before, &before));
  Ok(MXAutogradBackward(1, &y, nullptr, 0));
  for (NDArrayHandle a : {x, y, grad}) Ok(MXNDArrayFree(a));
  Ok(MXNDArrayWaitAll());
}

// ---- of an executor, a predictor and a store

struct Watched {
  ExecutorHandle executor = nullptr;
  PredictorHandle predictor = nullptr;
  KVStoreHandle store = nullptr;
  bool free = false;
  int calls = 0;
};

ExecutorHandle Bound(NDArrayHandle* x, NDArrayHandle* grad) {
  SymbolHandle net = Network();
  uint32_t write = 1;
  ExecutorHandle made = nullptr;
  Ok(MXExecutorBind(net, 1, 0, 1, x, grad, &write, 0, nullptr, &made));
  Ok(MXSymbolFree(net));
  return made;
}

void OfExecutor(const char*, NDArrayHandle array, void* context) {
  auto* w = static_cast<Watched*>(context);
  Ok(MXNDArrayFree(array));
  if (w->calls++ == 0) Ok(w->free ? MXExecutorFree(w->executor) : MXExecutorSetMonitorCallback(w->executor, nullptr, nullptr));
}

TEST(Callbacks, AMonitorMayTakeItselfAway) {
  NDArrayHandle x = Array(), grad = Array();
  Watched w;
  w.executor = Bound(&x, &grad);
  Ok(MXExecutorSetMonitorCallback(w.executor, OfExecutor, &w));
  Ok(MXExecutorForward(w.executor, 1));
  EXPECT_EQ(w.calls, 1);
  Ok(MXExecutorForward(w.executor, 1));
  EXPECT_EQ(w.calls, 1);
  Ok(MXExecutorFree(w.executor));
  for (NDArrayHandle a : {x, grad}) Ok(MXNDArrayFree(a));
}

TEST(Callbacks, AMonitorMayFreeItsExecutor) {
  NDArrayHandle x = Array(), grad = Array();
  Watched w;
  w.free = true;
  w.executor = Bound(&x, &grad);
  Ok(MXExecutorSetMonitorCallback(w.executor, OfExecutor, &w));
  Ok(MXExecutorForward(w.executor, 1));
  EXPECT_EQ(w.calls, 2);  // the call under way goes to its end
  for (NDArrayHandle a : {x, grad}) Ok(MXNDArrayFree(a));
}

TEST(Callbacks, AMonitorMayFreeItsPredictor) {
  for (const bool free : {false, true}) {
    SymbolHandle net = Network();
    const char* json = nullptr;
    Ok(MXSymbolSaveToJSON(net, &json));
    const char* name = "x";
    const uint32_t ends[] = {0, 1}, shape[] = {3};
    Watched w;
    w.free = free;
    Ok(MXPredCreate(json, nullptr, 0, 1, 0, 1, &name, ends, shape, &w.predictor));
    Ok(MXPredSetMonitorCallback(
        w.predictor,
        [](const char*, NDArrayHandle array, void* context) {
          auto* watched = static_cast<Watched*>(context);
          Ok(MXNDArrayFree(array));
          if (watched->calls++ == 0)
            Ok(watched->free ? MXPredFree(watched->predictor) : MXPredSetMonitorCallback(watched->predictor, nullptr, nullptr, false));
        },
        &w, false));
    Ok(MXPredForward(w.predictor));
    EXPECT_EQ(w.calls, free ? 2 : 1);
    if (!free) Ok(MXPredFree(w.predictor));
    Ok(MXSymbolFree(net));
  }
}

TEST(Callbacks, AnUpdaterMayFreeItsStore) {
  for (const bool free : {false, true}) {
    NDArrayHandle x = Array();
    const int keys[] = {3, 4};
    NDArrayHandle values[] = {x, x};
    Watched w;
    w.free = free;
    Ok(MXKVStoreCreate("local", &w.store));
    Ok(MXKVStoreInit(w.store, 2, keys, values));
    Ok(MXKVStoreSetUpdater(
        w.store,
        [](int, NDArrayHandle pushed, NDArrayHandle stored, void* context) {
          auto* watched = static_cast<Watched*>(context);
          for (NDArrayHandle a : {pushed, stored}) Ok(MXNDArrayFree(a));
          if (watched->calls++ == 0)
            Ok(watched->free ? MXKVStoreFree(watched->store) : MXKVStoreSetUpdater(watched->store, nullptr, nullptr));
        },
        &w));
    Ok(MXKVStorePush(w.store, 2, keys, values, 0));
    EXPECT_EQ(w.calls, 2);  // the push under way goes to its end
    if (!free) Ok(MXKVStoreFree(w.store));
    Ok(MXNDArrayFree(x));
  }
}

TEST(Callbacks, AHookMayFreeItsCachedOperator) {
  static CachedOpHandle op = nullptr;
  SymbolHandle net = Network();
  Ok(MXCreateCachedOp(net, &op));
  Ok(MXCachedOpRegisterOpHook(
      op,
      [](const char*, const char*, NDArrayHandle array) {
        Ok(MXNDArrayFree(array));
        if (op) Ok(MXFreeCachedOp(op));
        op = nullptr;
      },
      false));
  NDArrayHandle x = Array();
  NDArrayHandle* outputs = nullptr;
  int count = 0;
  Ok(MXInvokeCachedOp(op, 1, &x, &count, &outputs));
  ASSERT_EQ(count, 1);
  Ok(MXNDArrayFree(outputs[0]));
  for (NDArrayHandle a : {x}) Ok(MXNDArrayFree(a));
  Ok(MXSymbolFree(net));
}

// ---- without requests

TEST(SimpleBind, NobodyHasAGradientWithoutRequests) {
  SymbolHandle net = Network();
  const char* name = "x";
  const int shape[] = {3};
  const uint32_t ends[] = {0, 1};
  int no_buffer = -1;
  uint32_t args = 0, states = 0;
  NDArrayHandle *arrays = nullptr, *grads = nullptr, *aux = nullptr;
  ExecutorHandle made = nullptr;
  Ok(MXExecutorSimpleBindEx(net, 1, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 1, &name, shape, ends, 0, nullptr, nullptr, 0,
                            nullptr, nullptr, 0, nullptr, &no_buffer, nullptr, nullptr, nullptr, nullptr, &args, &arrays, &grads, &states,
                            &aux, nullptr, &made));
  ASSERT_EQ(args, 1U);
  EXPECT_EQ(grads[0], nullptr);
  Ok(MXNDArrayFree(arrays[0]));
  Ok(MXExecutorFree(made));
  Ok(MXSymbolFree(net));
}

}  // namespace
