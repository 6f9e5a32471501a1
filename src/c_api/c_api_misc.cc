/*
 * Functions of the caller's own on the engine. `ctx_handle` points to a mxnet::Context,
 * `prop_handle` to a FnProperty or is null, variable lists are arrays of mxnet::Var*. An
 * asynchronous function gets the address of a mxnet::OnComplete that it must copy before it
 * returns.
 */
#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "base/threads/fork_guard.h"
#include "c_api/c_api_common.h"
#include "c_api/callbacks.h"
#include "mxnet/engine.h"

using namespace mxnet;  // NOLINT

namespace {

/* Operation names must outlive the engine. */
const char* Interned(const char* name) {
  static auto* mutex = new ForkMutex(ForkLevel::kCaller);
  static std::set<std::string>* names = new std::set<std::string>();
  if (!name) return nullptr;
  std::lock_guard<ForkMutex> hold(*mutex);
  return names->insert(name).first->c_str();
}

struct Push {
  Context ctx;
  FnProperty prop;
  std::vector<Var*> reads, writes;
  std::shared_ptr<void> param;  // its deleter runs after the function, also when that is skipped

  Push(void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle, EngineFnPropertyHandle prop_handle, int num_reads,
       int num_writes)
      : param(func_param, [deleter](void* p) {
          if (deleter) Freeing("engine", [&] { deleter(p); });
        }) {
    MXNET_CHECK_KIND(ctx_handle != nullptr, Value) << "[engine] the context handle is null";
    MXNET_CHECK_KIND(num_reads >= 0 && num_writes >= 0, Value)
        << "[engine] got " << num_reads << " and " << num_writes << " variables; accepted: 0 or more";
    ctx = *static_cast<const Context*>(ctx_handle);
    ctx = Context::Make(static_cast<int>(ctx.dev_type), ctx.dev_id);
    prop = prop_handle ? *static_cast<const FnProperty*>(prop_handle) : FnProperty::kNormal;
  }
  static void Add(std::vector<Var*>* list, Var* v) {
    MXNET_CHECK_KIND(v != nullptr, Value) << "[engine] a variable is null";
    list->push_back(v);
  }
  void Variables(EngineVarHandle r, int num_reads, EngineVarHandle w, int num_writes) {
    Need(num_reads, r, "variables to read");
    Need(num_writes, w, "variables to write");
    for (int i = 0; i < num_reads; ++i) Add(&reads, static_cast<Var**>(r)[i]);
    for (int i = 0; i < num_writes; ++i) Add(&writes, static_cast<Var**>(w)[i]);
    CheckApart();
  }
  void Arrays(NDArrayHandle* r, int num_reads, NDArrayHandle* w, int num_writes) {
    Need(num_reads, r, "arrays to read");
    Need(num_writes, w, "arrays to write");
    for (int i = 0; i < num_reads; ++i) Add(&reads, WithMemory(r[i])->var());
    for (int i = 0; i < num_writes; ++i) Add(&writes, WithMemory(w[i])->var());
    CheckApart();
  }
  void CheckApart() const {
    for (Var* r : reads)
      MXNET_CHECK_KIND(std::find(writes.begin(), writes.end(), r) == writes.end(), Value)
          << "[engine] a variable was pushed both as read and as written; accepted: each variable once";
  }
  void Async(EngineAsyncFunc f, int priority, const char* name, bool wait) {
    MXNET_CHECK_KIND(f != nullptr, Value) << "[engine] the function is null";
    Engine::Get()->PushAsync([f, p = std::move(param)](RunContext run, OnComplete done) { f(&run, &done, p.get()); }, ctx, std::move(reads),
                             std::move(writes), prop, priority, Interned(name), wait);
  }
  void Sync(EngineSyncFunc f, int priority, const char* name) {
    MXNET_CHECK_KIND(f != nullptr, Value) << "[engine] the function is null";
    Engine::Get()->PushSync([f, p = std::move(param)](RunContext run) { f(&run, p.get()); }, ctx, std::move(reads), std::move(writes), prop,
                            priority, Interned(name));
  }
};

}  // namespace

int MXEnginePushAsync(EngineAsyncFunc async_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                      EngineVarHandle const_vars_handle, int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                      EngineFnPropertyHandle prop_handle, int priority, const char* opr_name, bool wait) {
  API_BEGIN();
  Push push(func_param, deleter, ctx_handle, prop_handle, num_const_vars, num_mutable_vars);
  push.Variables(const_vars_handle, num_const_vars, mutable_vars_handle, num_mutable_vars);
  push.Async(async_func, priority, opr_name, wait);
  API_END();
}

int MXEnginePushSync(EngineSyncFunc sync_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                     EngineVarHandle const_vars_handle, int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                     EngineFnPropertyHandle prop_handle, int priority, const char* opr_name) {
  API_BEGIN();
  Push push(func_param, deleter, ctx_handle, prop_handle, num_const_vars, num_mutable_vars);
  push.Variables(const_vars_handle, num_const_vars, mutable_vars_handle, num_mutable_vars);
  push.Sync(sync_func, priority, opr_name);
  API_END();
}

int MXEnginePushAsyncND(EngineAsyncFunc async_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                        NDArrayHandle* const_nds_handle, int num_const_nds, NDArrayHandle* mutable_nds_handle, int num_mutable_nds,
                        EngineFnPropertyHandle prop_handle, int priority, const char* opr_name, bool wait) {
  API_BEGIN();
  Push push(func_param, deleter, ctx_handle, prop_handle, num_const_nds, num_mutable_nds);
  push.Arrays(const_nds_handle, num_const_nds, mutable_nds_handle, num_mutable_nds);
  push.Async(async_func, priority, opr_name, wait);
  API_END();
}

int MXEnginePushSyncND(EngineSyncFunc sync_func, void* func_param, EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                       NDArrayHandle* const_nds_handle, int num_const_nds, NDArrayHandle* mutable_nds_handle, int num_mutable_nds,
                       EngineFnPropertyHandle prop_handle, int priority, const char* opr_name) {
  API_BEGIN();
  Push push(func_param, deleter, ctx_handle, prop_handle, num_const_nds, num_mutable_nds);
  push.Arrays(const_nds_handle, num_const_nds, mutable_nds_handle, num_mutable_nds);
  push.Sync(sync_func, priority, opr_name);
  API_END();
}
