#include "base/cache_sets.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace mxnet {
namespace {

struct Cache {
  int64_t way = 4096, ways = 8;  // bytes; lines of a set. As where the system does not tell
};

// Asked when the library is loaded: in a virtual machine each question takes tens of microseconds.
Cache FirstLevel() {
  Cache c;
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL1_DCACHE_ASSOC)
  const int64_t size = sysconf(_SC_LEVEL1_DCACHE_SIZE), ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
  if (size > 0 && ways > 0 && size / ways >= kCacheLine) c.way = size / ways, c.ways = ways;
#endif
  return c;
}

const Cache first_level = FirstLevel();

}  // namespace

bool RowsCollide(int64_t distance, int rows) {
  const int64_t places = first_level.way / std::gcd(distance, first_level.way);  // where rows can begin within a way
  const int64_t in_a_set = (rows + places - 1) / places;
  return in_a_set > first_level.ways * 3 / 4;  // the rest is for what is read beside them
}

}  // namespace mxnet
