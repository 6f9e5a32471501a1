#include "ndarray/outside.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/mix.h"

namespace mxnet {
namespace {

// In Chunk::number, which otherwise has neither. kOutside: others may write; below is how many they
// are. kForGood beside it: one of them does not say until when. kEnded without it: all have ended,
// and below is a number of that moment.
constexpr uint64_t kOutside = uint64_t{1} << 63, kForGood = uint64_t{1} << 62, kEnded = kForGood;

uint64_t NextEnd() {
  static std::atomic<uint64_t> last{0};
  return Mix(0, ++last) >> 2 | kEnded;
}

template <typename Change>
void Update(Chunk* chunk, const Change& change) {
  uint64_t seen = chunk->number.load(std::memory_order_relaxed);
  while (!chunk->number.compare_exchange_weak(seen, change(seen), std::memory_order_relaxed)) {
  }
}

/* Eight sums side by side, for memory is read faster than products follow one another. */
uint64_t HashOf(const void* at, size_t bytes) {
  constexpr int kSums = 8;
  uint64_t sums[kSums] = {};
  const char* from = static_cast<const char*>(at);
  size_t i = 0;
  for (; i + sizeof sums <= bytes; i += sizeof sums) {
    uint64_t words[kSums];
    std::memcpy(words, from + i, sizeof words);
    for (int k = 0; k < kSums; ++k) sums[k] = (sums[k] ^ words[k]) * 0x9e3779b97f4a7c15u + (sums[k] >> 31);
  }
  uint64_t hash = bytes;
  for (uint64_t s : sums) hash = Mix(hash, s);
  for (; i < bytes; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, from + i, std::min(sizeof word, bytes - i));
    hash = Mix(hash, word);
  }
  return hash;
}

}  // namespace

void BeginOutside(const NDArray& array) {
  Update(array.chunk(), [](uint64_t n) { return n & kOutside ? n + 1 : kOutside | 1; });
}

void EndOutside(const NDArray& array) {
  const uint64_t end = NextEnd();
  Update(array.chunk(), [end](uint64_t n) { return n & kForGood || (n & ~kOutside) > 1 ? n - 1 : end; });
}

void GiveAddress(const NDArray& array) {
  Update(array.chunk(), [](uint64_t n) { return n & kOutside ? n | kForGood : kOutside | kForGood; });
}

bool WrittenOutside(const Chunk& chunk) {
  return (chunk.external_deleter && !chunk.stored) || chunk.ctx.dev_type == DeviceType::kCPUShared ||
         (chunk.number.load(std::memory_order_relaxed) & kOutside);
}

uint64_t ContentsVersion(const NDArray& array, const void* at) {
  const uint64_t version = array.version(), number = array.chunk()->number.load(std::memory_order_relaxed);
  if (!WrittenOutside(*array.chunk())) return number & kEnded ? Mix(number, version) : version;
  static std::atomic<uint64_t> last{0};
  const uint64_t more = array.ctx().is_gpu() ? ++last : HashOf(at, array.type().Bytes());
  return Mix(Mix(0, version), more);
}

}  // namespace mxnet
