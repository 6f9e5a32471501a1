/*
 * Native datasets and functions that make batches of their items: what MXDataset* and
 * MXBatchifyFunction* create by name, as MXDataIter* does iterators (data_iter.h). Parameters name
 * other objects by their handles, written as numbers.
 *
 * THREADS   A dataset and a function may be used by several threads at a time.
 */
#ifndef MXNET_IO_DATASET_H_
#define MXNET_IO_DATASET_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/threads/fork_guard.h"
#include "io/data_iter.h"
#include "mxnet/error.h"
#include "mxnet/op.h"

namespace mxnet {

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual uint64_t Size() const = 0;
  /* The parts of an item. REQUIRES: index < Size(). Throws Error. */
  virtual std::vector<NDArray> Item(uint64_t index) const = 0;
};

class BatchifyFunction {
 public:
  virtual ~BatchifyFunction() = default;
  /* `items` are not empty and have equally many parts. A result for each part. Throws Error. */
  virtual std::vector<NDArray> Make(const std::vector<std::vector<NDArray>>& items) const = 0;
};

/* A kind of T, as IterRecord is of iterators. */
template <typename T>
struct CreatorRecord {
  std::string name, description;
  std::vector<ParamInfo> params;
  std::function<std::shared_ptr<T>(const IterArguments&)> make;  // throws Error

  static std::vector<const CreatorRecord*>& All() {
    static auto* all = new std::vector<const CreatorRecord*>;  // outlives every static object; sorted by name
    return *all;
  }
  static CreatorRecord& Register(const std::string& name) {
    auto* record = new CreatorRecord;
    record->name = name;
    auto& all = All();
    all.insert(std::find_if(all.begin(), all.end(), [&](const CreatorRecord* other) { return other->name > name; }), record);
    return *record;
  }
  CreatorRecord& describe(const std::string& text) {
    description = text;
    return *this;
  }
  template <typename... P>
  CreatorRecord& set_param();  // register_iter.h
  CreatorRecord& set_make(std::function<std::shared_ptr<T>(const IterArguments&)> fn) {
    make = std::move(fn);
    return *this;
  }
};
using DatasetRecord = CreatorRecord<Dataset>;
using BatchifyRecord = CreatorRecord<BatchifyFunction>;

/* The objects that a program has handles of, so that a wrong number is an error. An object that
 * another one uses outlives its handle. */
template <typename T>
class Handles {
 public:
  static void Add(void* handle, std::shared_ptr<T> object) {
    Table& table = Get();
    std::lock_guard<ForkMutex> hold(table.mutex);
    table.objects[handle] = std::move(object);
  }
  static void Remove(void* handle) {
    Table& table = Get();
    std::shared_ptr<T> last;  // goes without the lock
    std::lock_guard<ForkMutex> hold(table.mutex);
    const auto found = table.objects.find(handle);
    if (found == table.objects.end()) return;
    last = std::move(found->second);
    table.objects.erase(found);
  }
  /* `what` begins the message. Throws Error(kValue). */
  static std::shared_ptr<T> Find(const void* handle, const std::string& what) {
    Table& table = Get();
    std::shared_ptr<T> object;
    {
      std::lock_guard<ForkMutex> hold(table.mutex);
      const auto found = table.objects.find(const_cast<void*>(handle));
      if (found != table.objects.end()) object = found->second;
    }
    MXNET_CHECK_KIND(object, Value) << what << ": " << handle << " is no handle of this kind; accepted: one that was created and not freed";
    return object;
  }
  static std::shared_ptr<T> Find(int64_t number, const std::string& what) { return Find(reinterpret_cast<const void*>(number), what); }

 private:
  struct Table {
    ForkMutex mutex{ForkLevel::kCaller};
    std::unordered_map<void*, std::shared_ptr<T>> objects;
  };
  static Table& Get() {
    static auto* table = new Table;
    return *table;
  }
};

/* What calls the graph that a handle of a CachedOp names, and how many results it has. Set by the
 * module that knows them. */
struct GraphCall {
  std::function<std::vector<NDArray>(const std::vector<NDArray>&)> call;
  size_t results = 0;
};
extern GraphCall (*MakeGraphCall)(int64_t cached_op);

}  // namespace mxnet

#define MXNET_REGISTER_DATASET(name)                                                                  \
  static ::mxnet::DatasetRecord& MXNET_REG_CONCAT(mxnet_dataset_reg_, __COUNTER__) [[maybe_unused]] = \
      ::mxnet::DatasetRecord::Register(#name)
#define MXNET_REGISTER_BATCHIFY(name)                                                                   \
  static ::mxnet::BatchifyRecord& MXNET_REG_CONCAT(mxnet_batchify_reg_, __COUNTER__) [[maybe_unused]] = \
      ::mxnet::BatchifyRecord::Register(#name)

#endif  // MXNET_IO_DATASET_H_
