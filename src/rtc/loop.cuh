// The two shapes that most kernels have: a loop over items, one thread each, and a loop over rows,
// one block each. A kernel is a struct with the launch's arguments, whose last member is the number
// of items or rows, and a function for one item (Item) or row (Row). See rtc/loop.h.
#include "rtc/block.cuh"

namespace mx {
// Divisor d of a launch as three members of Args; see AddDivisor of rtc/loop.h. i / d is a
// multiplication where i is unsigned.
struct Divisor {
  int64 d, m, h;
};
__device__ __forceinline__ unsigned Over(unsigned i, const Divisor& by) { return Divide(i, by.m, by.h); }
__device__ __forceinline__ int64 Over(int64 i, const Divisor& by) { return i / by.d; }

// Item i of `item`, in the type that positions are computed in. Most threads come by once.
template <typename Kernel, typename I>
__device__ __forceinline__ void EachItem(const typename Kernel::Args& a) {
#pragma unroll 1
  for (int64 item = ThreadIndex(); item < a.count; item += ThreadCount()) Kernel::Item(a, static_cast<I>(item), item);
}
// All threads of a block see the same row.
template <typename Kernel>
__device__ __forceinline__ void EachRow(const typename Kernel::Args& a) {
#pragma unroll 1
  for (int64 row = blockIdx.x; row < a.count; row += gridDim.x) {
    Kernel::Row(a, row);
    __syncthreads();
  }
}
}  // namespace mx
