// Register-resident rows: the threads of a row hold its elements in registers while they compute on
// them. See gpu_rows.h.
#include "rtc/prelude.cuh"

namespace mx {
struct Larger {
  template <typename T>
  __device__ __forceinline__ T operator()(T p, T q) const {
    return q > p ? q : p;
  }
};
struct Added {
  template <typename T>
  __device__ __forceinline__ T operator()(T p, T q) const {
    return p + q;
  }
};

// `lanes` threads of a block for a row, each with `packs` accesses of `width` elements. In T.
template <typename T, int lanes, int packs, int width>
struct RegisterRow {
  static constexpr int kThreads = lanes > 256 ? lanes : 256, kLanes = lanes, kRows = kThreads / lanes, kWidth = width,
                       kElements = packs * width;
  long long slice, base;  // the row, its first element
  int lane, accesses;     // the row's accesses
  bool mine;              // false behind the last row
  T* shared;

  // merge() of v over the threads of the row, for all of them.
  template <typename F>
  __device__ __forceinline__ T OfRow(T v, F merge) const {
#pragma unroll
    for (int step = (lanes < 32 ? lanes : 32) / 2; step > 0; step /= 2) v = merge(v, __shfl_xor_sync(0xffffffffu, v, step));
    if constexpr (lanes > 32) {
      const int warp = threadIdx.x / 32, first = warp - warp % (lanes / 32);
      __syncthreads();
      if (threadIdx.x % 32 == 0) shared[warp] = v;
      __syncthreads();
      v = shared[first];
#pragma unroll
      for (int w = 1; w < lanes / 32; ++w) v = merge(v, shared[first + w]);
    }
    return v;
  }
  // f(e, k, at): access k of the row, whose elements begin at `at` in memory and at e in registers.
  template <typename F>
  __device__ __forceinline__ void EachPack(F f) const {
#pragma unroll
    for (int r = 0; r < packs; ++r) {
      const int k = lane + r * lanes;
      if (mine && k < accesses) f(r * width, k, base + k * width);
    }
  }
  // f(e) for the elements that the thread holds.
  template <typename F>
  static __device__ __forceinline__ void EachElement(F f) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) f(e);
  }
};

// f(row) for the block's rows; a.outer rows of a.length elements.
template <typename Row, typename T, typename Args, typename F>
__device__ __forceinline__ void EachRegisterRow(const Args& a, F f) {
  __shared__ T shared[Row::kThreads / 32];
  Row row;
  row.lane = threadIdx.x % Row::kLanes;
  row.accesses = static_cast<int>(a.length / Row::kWidth);
  row.shared = shared;
#pragma unroll 1
  for (long long block = blockIdx.x; block * Row::kRows < a.outer; block += gridDim.x) {
    row.slice = block * Row::kRows + threadIdx.x / Row::kLanes;
    row.base = row.slice * a.length;
    row.mine = row.slice < a.outer;
    f(row);
  }
}
}  // namespace mx
