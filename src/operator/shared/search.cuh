// Searches in ascending numbers.
#include "rtc/prelude.cuh"

namespace mx {

// The first of the numbers from `low` on that is not below `wanted`, or `high`. Numbers in any
// order give some place in between.
__device__ __forceinline__ long long FirstNotBelow(const long long* numbers, long long low, long long high, long long wanted) {
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (numbers[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
}  // namespace mx
