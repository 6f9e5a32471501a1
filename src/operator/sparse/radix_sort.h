/* Sorting by some bits of a number, in time in proportion to how many there are. */
#ifndef MXNET_OPERATOR_SPARSE_RADIX_SORT_H_
#define MXNET_OPERATOR_SPARSE_RADIX_SORT_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace mxnet {
namespace sparse {

inline int BitsOf(int64_t numbers) {  // that [0, numbers) takes
  int bits = 1;
  while (bits < 63 && (int64_t{1} << bits) < numbers) ++bits;
  return bits;
}

/* By `bits` bits from first_bit on, above which all are 0; equal ones keep their order. Returns
 * where they are sorted, one of the two arrays. REQUIRES: bits > 0. */
inline uint64_t* RadixSort(uint64_t* keys, uint64_t* other, int64_t n, int first_bit, int bits) {
  constexpr int kMostBits = 12;
  const auto digit_of = [bits](int passes) { return (bits + passes - 1) / passes; };
  // a pass touches each key twice, and each counter
  const auto cost = [&](int passes) { return passes * (2 * n + (int64_t{3} << digit_of(passes)) / 2); };
  int passes = (bits + kMostBits - 1) / kMostBits;
  while (passes < bits && cost(passes + 1) < cost(passes)) ++passes;
  const int digit = digit_of(passes);
  std::vector<int64_t> begin(size_t{1} << digit);
  const uint64_t mask = (uint64_t{1} << digit) - 1;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = first_bit + pass * digit;
    std::fill(begin.begin(), begin.end(), 0);
    for (int64_t i = 0; i < n; ++i) ++begin[keys[i] >> shift & mask];
    int64_t before = 0;
    for (int64_t& b : begin) {
      const int64_t count = b;
      b = before;
      before += count;
    }
    for (int64_t i = 0; i < n; ++i) other[begin[keys[i] >> shift & mask]++] = keys[i];
    std::swap(keys, other);
  }
  return keys;
}

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_RADIX_SORT_H_
