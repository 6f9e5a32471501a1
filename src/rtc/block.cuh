// Sums, maxima and prefix sums of a block of 256 threads. Within a warp by shuffles (every lane
// ends with the same bits), between the eight warps through shared memory: two barriers, and an
// order that never changes.
#include "rtc/prelude.cuh"

namespace mx {
// for all threads of the block: the sum or the largest of v over them; a NaN is larger than
// everything
template <typename A>
__device__ __forceinline__ A BlockSum(A v, A* shared) {
  for (int lane = 16; lane > 0; lane /= 2) v += __shfl_xor_sync(0xffffffffu, v, lane);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  v = shared[0];
  for (int warp = 1; warp < 8; ++warp) v += shared[warp];
  return v;
}
template <typename A>
__device__ __forceinline__ A Larger(A v, A other) {
  return other > v || other != other ? other : v;
}
template <typename A>
__device__ __forceinline__ A BlockMax(A v, A* shared) {
  for (int lane = 16; lane > 0; lane /= 2) v = Larger(v, __shfl_xor_sync(0xffffffffu, v, lane));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  v = shared[0];
  for (int warp = 1; warp < 8; ++warp) v = Larger(v, shared[warp]);
  return v;
}
// sum of v over the threads before this one; *total: over all
template <typename A>
__device__ __forceinline__ A BlockScan(A v, A* shared, A* total) {
  A sum = v;  // up to this lane of the warp
  for (unsigned step = 1; step < 32; step *= 2) {
    const A before = __shfl_up_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 >= step) sum += before;
  }
  const A up = __shfl_up_sync(0xffffffffu, sum, 1);
  A before = threadIdx.x % 32 > 0 ? up : A(0);
  __syncthreads();
  if (threadIdx.x % 32 == 31) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  A all = A(0);
  for (unsigned warp = 0; warp < 8; ++warp) {
    if (warp == threadIdx.x / 32) before += all;
    all += shared[warp];
  }
  *total = all;
  return before;
}
}  // namespace mx
