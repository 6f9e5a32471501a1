#include "kvstore/dist/sharding.h"

#include <algorithm>

#include "base/round_up.h"

namespace mxnet {
namespace kvstore {
namespace {

constexpr int64_t kAlign = 64;

/* The finalizer of SplitMix64: every bit of the result depends on every bit of `x`. */
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

int64_t KeyHash(const KVKey& key) {
  uint64_t h = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : (key.named ? "s" : "i") + key.str()) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  h = Mix(h);
  return static_cast<int64_t>(h ? h : 1);
}

std::vector<Part> Shard(int64_t key_hash, int64_t size, const ShardingOptions& options) {
  const int64_t servers = std::max(1, options.servers);
  const int64_t first = static_cast<int64_t>(Mix(static_cast<uint64_t>(key_hash)) % static_cast<uint64_t>(servers));
  int64_t each = std::max<int64_t>(size, 1);
  int64_t server = first;
  if (options.slice > 0) {
    each = RoundUp(options.slice, kAlign);
  } else if (size >= options.split_from && servers > 1) {
    each = RoundUp((size + servers - 1) / servers, kAlign);
    server = 0;
  }
  std::vector<Part> parts;
  for (int64_t begin = 0; begin < size || parts.empty(); begin += each) {
    parts.push_back({static_cast<int>(server), begin, std::min(each, size - begin)});
    server = (server + 1) % servers;
  }
  return parts;
}

}  // namespace kvstore
}  // namespace mxnet
