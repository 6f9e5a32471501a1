/* What a thread has used lately, found without a lock. */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_RECENT_H_
#define MXNET_OPERATOR_GPU_LIBRARY_RECENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace mxnet {
namespace gpu_library {

/* Make it thread_local. A key has one place, where the last one that came stays: it may push out
 * another. Values of other generations count as missing. */
template <typename Value, size_t kPlaces = 256>
class Recent {
 public:
  Value* Find(const std::string& key, uint64_t generation) {
    if (!places_) return nullptr;
    Place& place = PlaceOf(key);
    return place.generation == generation && place.key == key ? &place.value : nullptr;
  }
  Value* Put(std::string key, uint64_t generation, Value value) {
    if (!places_) places_.reset(new Place[kPlaces]);
    Place& place = PlaceOf(key);
    place = {std::move(key), generation, std::move(value)};
    return &place.value;
  }

 private:
  struct Place {
    std::string key;  // never empty where there is a value
    uint64_t generation = 0;
    Value value;
  };
  Place& PlaceOf(const std::string& key) { return places_[std::hash<std::string>()(key) % kPlaces]; }
  std::unique_ptr<Place[]> places_;
};

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_RECENT_H_
