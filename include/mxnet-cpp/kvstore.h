/*
 * The key-value store of this process: values that devices and workers share. There is one, made
 * when it is first used, of the type that SetType said.
 */
#ifndef MXNET_CPP_KVSTORE_H_
#define MXNET_CPP_KVSTORE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet-cpp/optimizer.h"
#include "mxnet/c_api_process.h"

namespace mxnet {
namespace cpp {

class KVStore {
 public:
  /* "local" or "device" and so on; before the first use. */
  static void SetType(const std::string& type) {
    KVStore& store = Instance();
    if (store.handle_ != nullptr) MXKVStoreFree(store.handle_);
    store.handle_ = nullptr;
    front_end::Check(MXKVStoreCreate(type.c_str(), &store.handle_));
  }
  /* First values of keys. */
  static void Init(int key, const NDArray& val) { Init(std::vector<int>(1, key), std::vector<NDArray>(1, val)); }
  static void Init(const std::string& key, const NDArray& val) { Init(std::vector<std::string>(1, key), std::vector<NDArray>(1, val)); }
  static void Init(const std::vector<int>& keys, const std::vector<NDArray>& vals) {
    CheckCounts("Init", keys.size(), vals.size());
    front_end::Check(MXKVStoreInit(Handle(), Count(keys), keys.data(), front_end::HandlesOf(vals).data()));
  }
  static void Init(const std::vector<std::string>& keys, const std::vector<NDArray>& vals) {
    CheckCounts("Init", keys.size(), vals.size());
    front_end::Check(MXKVStoreInitEx(Handle(), Count(keys), Texts(keys).data(), front_end::HandlesOf(vals).data()));
  }
  /* Sums the values of equal keys, and hands the sum to the optimizer, or stores it. */
  static void Push(int key, const NDArray& val, int priority = 0) {
    Push(std::vector<int>(1, key), std::vector<NDArray>(1, val), priority);
  }
  static void Push(const std::string& key, const NDArray& val, int priority = 0) {
    Push(std::vector<std::string>(1, key), std::vector<NDArray>(1, val), priority);
  }
  static void Push(const std::vector<int>& keys, const std::vector<NDArray>& vals, int priority = 0) {
    CheckCounts("Push", keys.size(), vals.size());
    front_end::Check(MXKVStorePush(Handle(), Count(keys), keys.data(), front_end::HandlesOf(vals).data(), priority));
  }
  static void Push(const std::vector<std::string>& keys, const std::vector<NDArray>& vals, int priority = 0) {
    CheckCounts("Push", keys.size(), vals.size());
    front_end::Check(MXKVStorePushEx(Handle(), Count(keys), Texts(keys).data(), front_end::HandlesOf(vals).data(), priority));
  }
  /* Copies what is stored into the arrays. */
  static void Pull(int key, NDArray* out, int priority = 0) {
    NDArrayHandle handle = out->GetHandle();
    front_end::Check(MXKVStorePull(Handle(), 1, &key, &handle, priority));
  }
  static void Pull(const std::string& key, NDArray* out, int priority = 0) {
    NDArrayHandle handle = out->GetHandle();
    const char* text = key.c_str();
    front_end::Check(MXKVStorePullEx(Handle(), 1, &text, &handle, priority));
  }
  static void Pull(const std::vector<int>& keys, std::vector<NDArray>* outs, int priority = 0) {
    CheckCounts("Pull", keys.size(), outs->size());
    front_end::Check(MXKVStorePull(Handle(), Count(keys), keys.data(), front_end::HandlesOf(*outs).data(), priority));
  }
  static void Pull(const std::vector<std::string>& keys, std::vector<NDArray>* outs, int priority = 0) {
    CheckCounts("Pull", keys.size(), outs->size());
    front_end::Check(MXKVStorePullEx(Handle(), Count(keys), Texts(keys).data(), front_end::HandlesOf(*outs).data(), priority));
  }
  /* What a push does from now on. local: in this process, even where the store has servers. Keys
   * must be numbers. */
  static void SetOptimizer(std::unique_ptr<Optimizer> optimizer, bool local = false) {
    KVStore& store = Instance();
    if (!local && GetType().compare(0, 4, "dist") == 0) {
      front_end::Check(MXKVStoreSendCommmandToServers(Handle(), 0, optimizer->Serialize().c_str()));
      return;
    }
    store.optimizer_ = std::move(optimizer);
    front_end::Check(MXKVStoreSetUpdater(Handle(), &Updater, store.optimizer_.get()));
  }
  /* Serves the workers of a store that has servers, until they are done. In a server's process. */
  static void RunServer() {
    MXNET_CPP_NEED(GetRole() != "worker") << "[KVStore::RunServer] this process is a worker; accepted: DMLC_ROLE=server";
    front_end::Check(MXKVStoreRunServer(Handle(), &Controller, nullptr));
  }
  static std::string GetType() {
    const char* type = nullptr;
    front_end::Check(MXKVStoreGetType(Handle(), &type));
    return type;
  }
  /* Number of this worker, and how many there are. */
  static int GetRank() {
    int rank = 0;
    front_end::Check(MXKVStoreGetRank(Handle(), &rank));
    return rank;
  }
  static int GetNumWorkers() {
    int size = 0;
    front_end::Check(MXKVStoreGetGroupSize(Handle(), &size));
    return size;
  }
  /* Returns when all workers have called it. */
  static void Barrier() { front_end::Check(MXKVStoreBarrier(Handle())); }
  /* "worker", "server" or "scheduler": what the environment (DMLC_ROLE) makes of this process. */
  static std::string GetRole() {
    int is = 0;
    front_end::Check(MXKVStoreIsServerNode(&is));
    if (is != 0) return "server";
    front_end::Check(MXKVStoreIsSchedulerNode(&is));
    return is != 0 ? "scheduler" : "worker";
  }

 private:
  KVStore() : handle_(nullptr) {}
  KVStore(const KVStore&) = delete;
  KVStore& operator=(const KVStore&) = delete;
  /* Not freed: at the end of a program the library may be gone first. */
  static KVStore& Instance() {
    static KVStore* store = new KVStore();
    return *store;
  }
  static KVStoreHandle Handle() {
    if (Instance().handle_ == nullptr) SetType("local");
    return Instance().handle_;
  }
  static void Updater(int key, NDArrayHandle recv, NDArrayHandle local, void* optimizer) {
    const NDArray pushed(recv), stored(local);
    static_cast<Optimizer*>(optimizer)->Update(key, stored, pushed);
  }
  /* What SetOptimizer sends. */
  static void Controller(int head, const char* body, void*) {
    if (head == 0) SetOptimizer(std::unique_ptr<Optimizer>(OptimizerRegistry::FromText(body)), true);
  }
  static void CheckCounts(const char* what, size_t keys, size_t values) {
    MXNET_CPP_NEED(keys == values) << "[KVStore::" << what << "] got " << keys << " keys and " << values
                                   << " arrays; accepted: equally many";
  }
  template <typename Key>
  static mx_uint Count(const std::vector<Key>& keys) {
    return static_cast<mx_uint>(keys.size());
  }
  static std::vector<const char*> Texts(const std::vector<std::string>& keys) {
    std::vector<const char*> texts;
    for (const std::string& key : keys) texts.push_back(key.c_str());
    return texts;
  }

  KVStoreHandle handle_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_KVSTORE_H_
