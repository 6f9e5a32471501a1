#include "kvstore/dist/sharding.h"

#include <algorithm>
#include <numeric>

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

/* What parts of about `each` elements are multiples of. */
int64_t UnitOf(int64_t each, const ShardingOptions& options) {
  if (options.whole_rows) return std::max<int64_t>(options.row, 1);
  if (options.row <= 0 || options.row > each) return kAlign;
  const int64_t both = options.row / std::gcd(options.row, kAlign) * kAlign;
  return RoundUp(each, both) - each <= each / 8 ? both : kAlign;
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
  if (options.slice > 0 && !options.whole_rows) {
    each = RoundUp(options.slice, UnitOf(options.slice, options));
  } else if (size >= options.split_from && servers > 1) {
    each = (size + servers - 1) / servers;
    each = RoundUp(each, UnitOf(each, options));
    server = 0;
  }
  std::vector<Part> parts;
  for (int64_t begin = 0; begin < size || parts.empty(); begin += each) {
    parts.push_back({static_cast<int>(server), begin, std::min(each, size - begin)});
    server = (server + 1) % servers;
  }
  return parts;
}

bool AreRows(const std::vector<Part>& parts, int64_t row) {
  return std::all_of(parts.begin(), parts.end(),
                     [row](const Part& p) { return row > 0 ? p.begin % row == 0 && p.count % row == 0 : p.count == 0; });
}

}  // namespace kvstore
}  // namespace mxnet
