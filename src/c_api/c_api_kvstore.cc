// Key-value stores through C.
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/foreign_env.h"
#include "base/logging.h"
#include "c_api/c_api_common.h"
#include "mxnet/c_api_process.h"
#include "mxnet/kvstore.h"

using namespace mxnet;  // NOLINT

namespace {

/* What a handle stands for. */
struct Handle {
  std::shared_ptr<KVStore> store;
  std::mutex mutex;              // of `warned`
  std::set<std::string> warned;  // keys whose row_sparse arrays a pull has left out

  bool WarnsOf(const KVKey& key) {
    std::lock_guard<std::mutex> lock(mutex);
    return warned.insert(key.str()).second;
  }
};

Handle* AsHandle(KVStoreHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[c_api] got a null KVStore handle";
  return static_cast<Handle*>(h);
}
/* An updater may free the handle while the store works. */
std::shared_ptr<KVStore> AsStore(KVStoreHandle h) { return AsHandle(h)->store; }

template <typename K>
KVStore::Keys AsKeys(const K* keys, uint32_t n) {
  KVStore::Keys all;
  Need(n, keys, "keys");
  all.reserve(n);
  for (uint32_t i = 0; i < n; ++i) {
    if constexpr (!std::is_same<K, int>::value)
      MXNET_CHECK_KIND(keys[i] != nullptr, Value) << "[kvstore] key " << i << " is a null pointer";
    all.emplace_back(keys[i]);
  }
  return all;
}

/* As in 1.9.1: a pull of row_sparse arrays is most often a mistake for one of rows. A store says so
 * once of each key. */
void LeaveOutSparse(Handle* handle, KVStore::Keys* keys, std::vector<NDArray*>* arrays) {
  const size_t before = keys->size();
  size_t warned = 0;
  KVStore::Keys kept;
  std::vector<NDArray*> kept_arrays;
  for (size_t i = 0; i < before; ++i) {
    if ((*arrays)[i] && (*arrays)[i]->is_sparse()) {
      warned += handle->WarnsOf((*keys)[i]);
      continue;
    }
    kept.push_back((*keys)[i]);
    kept_arrays.push_back((*arrays)[i]);
  }
  if (warned)
    LogWarning("[kvstore] pull of " + std::to_string(warned) +
               " row_sparse arrays, which it leaves as they are; row_sparse_pull (Module.prepare) pulls rows of them, and "
               "ignore_sparse=False all of them");
  *keys = std::move(kept);
  *arrays = std::move(kept_arrays);
}

}  // namespace

int MXKVStoreCreate(const char* type, KVStoreHandle* out) {
  API_BEGIN(out);
  auto made = std::make_unique<Handle>();
  made->store = KVStore::Create(Text(type, "the type"));
  *out = made.release();
  API_END();
}

int MXKVStoreFree(KVStoreHandle handle) {
  API_BEGIN();
  delete static_cast<Handle*>(handle);
  API_END();
}

int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char** keys, const char** vals) {
  API_BEGIN();
  std::vector<std::pair<std::string, std::string>> params;
  NeedTexts(num_params, keys, "parameters' names");
  NeedTexts(num_params, vals, "parameters' values");
  for (uint32_t i = 0; i < num_params; ++i) params.emplace_back(keys[i], vals[i]);
  AsStore(handle)->SetGradientCompression(params);
  API_END();
}

// Each function for keys that are numbers has a twin (Ex) for keys that are names.
#define MXNET_KV_KEYS(NAME, EX, K, CALL)                                                                    \
  int MXKVStore##NAME##EX(KVStoreHandle handle, uint32_t num, K* keys, NDArrayHandle* vals, int priority) { \
    API_BEGIN();                                                                                            \
    AsStore(handle)->CALL(AsKeys(keys, num), AsNDArrays(vals, num), priority);                              \
    API_END();                                                                                              \
  }
#define MXNET_KV_TWO(NAME, EX, K)                                                                                                         \
  int MXKVStore##NAME##EX(KVStoreHandle handle, mx_uint vnum, K* vkeys, mx_uint onum, K* okeys, NDArrayHandle* vals, NDArrayHandle* outs, \
                          int priority) {                                                                                                 \
    API_BEGIN();                                                                                                                          \
    AsStore(handle)->NAME(AsKeys(vkeys, vnum), AsNDArrays(vals, vnum), AsKeys(okeys, onum), AsNDArrays(outs, onum), priority);            \
    API_END();                                                                                                                            \
  }
#define MXNET_KV_ALL(EX, K)                                                                                                             \
  int MXKVStoreInit##EX(KVStoreHandle handle, uint32_t num, K* keys, NDArrayHandle* vals) {                                             \
    API_BEGIN();                                                                                                                        \
    AsStore(handle)->Init(AsKeys(keys, num), AsNDArrays(vals, num));                                                                    \
    API_END();                                                                                                                          \
  }                                                                                                                                     \
  MXNET_KV_KEYS(Push, EX, K, Push)                                                                                                      \
  MXNET_KV_TWO(PushPull, EX, K)                                                                                                         \
  MXNET_KV_TWO(Broadcast, EX, K)                                                                                                        \
  int MXKVStorePull##EX(KVStoreHandle handle, uint32_t num, K* keys, NDArrayHandle* vals, int priority) {                               \
    return MXKVStorePullWithSparse##EX(handle, num, keys, vals, priority, true);                                                        \
  }                                                                                                                                     \
  int MXKVStorePullWithSparse##EX(KVStoreHandle handle, uint32_t num, K* keys, NDArrayHandle* vals, int priority, bool ignore_sparse) { \
    API_BEGIN();                                                                                                                        \
    KVStore::Keys all = AsKeys(keys, num);                                                                                              \
    std::vector<NDArray*> arrays = AsNDArrays(vals, num);                                                                               \
    if (ignore_sparse) LeaveOutSparse(AsHandle(handle), &all, &arrays);                                                                 \
    if (!all.empty() || num == 0) AsStore(handle)->Pull(all, arrays, priority);                                                         \
    API_END();                                                                                                                          \
  }                                                                                                                                     \
  int MXKVStorePullRowSparse##EX(KVStoreHandle handle, uint32_t num, K* keys, NDArrayHandle* vals, const NDArrayHandle* row_ids,        \
                                 int priority) {                                                                                        \
    API_BEGIN();                                                                                                                        \
    AsStore(handle)->PullRowSparse(AsKeys(keys, num), AsNDArrays(vals, num), AsNDArrays(const_cast<NDArrayHandle*>(row_ids), num),      \
                                   priority);                                                                                           \
    API_END();                                                                                                                          \
  }

MXNET_KV_ALL(, const int)
MXNET_KV_ALL(Ex, const char*)

int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater, void* updater_handle) {
  return MXKVStoreSetUpdaterEx(handle, updater, nullptr, updater_handle);
}

/* The handles that a callback gets belong to it (MXNDArrayFree). */
int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater, MXKVStoreStrUpdater str_updater, void* updater_handle) {
  API_BEGIN();
  if (!updater && !str_updater) {
    AsStore(handle)->SetUpdater(nullptr);
  } else {
    AsStore(handle)->SetUpdater([=](const KVKey& key, const NDArray& pushed, NDArray* stored) {
      MXNET_CHECK_KIND(key.named ? str_updater != nullptr : updater != nullptr, Value)
          << "[kvstore] the updater takes " << (key.named ? "numbers" : "names") << " as keys; got " << key.str()
          << " (MXKVStoreSetUpdaterEx takes both kinds)";
      NDArray* recv = new NDArray(pushed);
      NDArray* local = new NDArray(*stored);
      if (key.named) {
        str_updater(key.name.c_str(), recv, local, updater_handle);
      } else {
        updater(key.number, recv, local, updater_handle);
      }
    });
  }
  API_END();
}

int MXKVStoreGetType(KVStoreHandle handle, const char** type) {
  API_BEGIN(type);
  *type = AsStore(handle)->type().c_str();
  API_END();
}

int MXKVStoreGetRank(KVStoreHandle handle, int* ret) {
  API_BEGIN(ret);
  *ret = AsStore(handle)->transport()->rank();
  API_END();
}

int MXKVStoreGetGroupSize(KVStoreHandle handle, int* ret) {
  API_BEGIN(ret);
  *ret = AsStore(handle)->transport()->size();
  API_END();
}

namespace {

// What a launcher has told the process; a worker when nothing.
bool HasRole(const char* role) { return ForeignText("DMLC_ROLE") == role; }

}  // namespace

int MXKVStoreIsWorkerNode(int* ret) {
  API_BEGIN_UNSEEN(ret);
  *ret = !HasRole("server") && !HasRole("scheduler");
  API_END();
}
int MXKVStoreIsServerNode(int* ret) {
  API_BEGIN_UNSEEN(ret);
  *ret = HasRole("server");
  API_END();
}
int MXKVStoreIsSchedulerNode(int* ret) {
  API_BEGIN_UNSEEN(ret);
  *ret = HasRole("scheduler");
  API_END();
}

int MXKVStoreBarrier(KVStoreHandle handle) {
  API_BEGIN();
  AsStore(handle)->transport()->Barrier();
  API_END();
}

int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char* cmd_body) {
  API_BEGIN();
  AsStore(handle)->transport()->SendCommand(cmd_id, cmd_body ? cmd_body : "");
  API_END();
}

int MXKVStoreGetNumDeadNode(KVStoreHandle handle, const int node_id, int* number, const int timeout_sec) {
  API_BEGIN(number);
  *number = AsStore(handle)->transport()->NumDeadNodes(node_id, timeout_sec);
  API_END();
}

int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, const int barrier_before_exit) {
  API_BEGIN();
  AsStore(handle)->transport()->SetBarrierBeforeExit(barrier_before_exit != 0);
  API_END();
}

int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller, void* controller_handle) {
  API_BEGIN();
  KVStore::Controller serve;
  if (controller) serve = [=](int id, const std::string& body) { controller(id, body.c_str(), controller_handle); };
  AsStore(handle)->RunServer(serve);
  API_END();
}

int MXKVStoreGetNumServers(KVStoreHandle handle, int* servers) {
  API_BEGIN(servers);
  *servers = AsStore(handle)->transport()->servers();
  API_END();
}

int MXKVStoreSetSplitsValues(KVStoreHandle handle, int split) {
  API_BEGIN();
  AsStore(handle)->transport()->SetSplitsValues(split != 0);
  API_END();
}

int MXKVStoreFollowInterrupts() {
  API_BEGIN();
  FollowInterrupts();
  API_END();
}

int MXKVStoreReportServerError(KVStoreHandle handle, const char* text) {
  API_BEGIN();
  AsStore(handle)->ReportServerError(Text(text, "the error's text"));
  API_END();
}

int MXKVStoreGetServerPart(KVStoreHandle handle, int64_t* part, int64_t* begin) {
  API_BEGIN(part, begin);
  const KVStore::ServerPart place = AsStore(handle)->UpdatedPart();
  *part = place.number;
  *begin = place.begin;
  API_END();
}

int MXKVStoreSetServerReply(KVStoreHandle handle, const char* text) {
  API_BEGIN();
  AsStore(handle)->SetServerReply(Text(text, "the reply"));
  API_END();
}

int MXKVStoreAskServers(KVStoreHandle handle, int cmd_id, const char* cmd_body, mx_uint* out_size, const char*** out_replies) {
  API_BEGIN(out_size, out_replies);
  ApiStore& store = ApiStore::Get();
  store.strings = AsStore(handle)->transport()->SendCommand(cmd_id, cmd_body ? cmd_body : "");
  *out_size = static_cast<mx_uint>(store.strings.size());
  *out_replies = store.Point();
  API_END();
}
