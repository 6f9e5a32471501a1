/* What libraries chose, by problem: a fixed number of entries, the longest unused one goes
 * first. */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_BOUNDED_CACHE_H_
#define MXNET_OPERATOR_GPU_LIBRARY_BOUNDED_CACHE_H_

#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/threads/fork_guard.h"

namespace mxnet {
namespace gpu_library {

/* The bytes of numbers, as a key. Equal keys mean equal numbers in equal order. */
class Key {
 public:
  Key() { bytes_.reserve(384); }  // none is longer
  Key& Add(int64_t v) {
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/* Safe from several threads. Make it as the library is loaded, and leak it: workers use it until
 * the very end. */
template <typename Value>
class BoundedCache {
 public:
  explicit BoundedCache(size_t capacity) : mutex_(ForkLevel::kOperator), capacity_(capacity) {}

  bool Find(const std::string& key, Value* value) {
    std::lock_guard<ForkMutex> lock(mutex_);
    auto it = places_.find(key);
    if (it == places_.end()) return false;
    order_.splice(order_.begin(), order_, it->second);
    *value = it->second->second;
    return true;
  }
  /* Two threads that met the same problem may both put it; the first stays. */
  void Put(const std::string& key, Value value) {
    std::lock_guard<ForkMutex> lock(mutex_);
    if (places_.count(key)) return;
    order_.emplace_front(key, std::move(value));
    places_[key] = order_.begin();
    if (order_.size() <= capacity_) return;
    places_.erase(order_.back().first);
    order_.pop_back();
  }
  void Clear() {
    std::lock_guard<ForkMutex> lock(mutex_);
    places_.clear();
    order_.clear();
  }
  size_t size() {
    std::lock_guard<ForkMutex> lock(mutex_);
    return order_.size();
  }

 private:
  using Order = std::list<std::pair<std::string, Value>>;
  ForkMutex mutex_;
  const size_t capacity_;
  Order order_;
  std::unordered_map<std::string, typename Order::iterator> places_;
};

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_BOUNDED_CACHE_H_
