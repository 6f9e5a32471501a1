// Copies between strided arrays, transposes through shared memory, sums of broadcast dimensions.
#include "rtc/loop.cuh"

namespace kernels {

struct alignas(16) Wide {  // the widest access there is
  unsigned long long v[2];
};

// A dimension: its size with the divisor (see mx::Divide), and the steps of source and destination.
struct CopyDim {
  long long d, m, h, from, to;
};
// Addresses of position `rest` along the dimensions; I: unsigned below 2^31 elements.
template <typename I, int n>
__device__ __forceinline__ void AddPlace(const CopyDim* dims, I rest, long long* from, long long* to) {
#pragma unroll
  for (int d = n - 1; d >= 0; --d) {
    I at = rest;
    if (d > 0) {
      I q;
      if constexpr (sizeof(I) == 8)
        q = rest / dims[d].d;
      else
        q = mx::Divide(rest, dims[d].m, dims[d].h);
      at = rest - q * static_cast<I>(dims[d].d);
      rest = q;
    }
    *from += static_cast<long long>(at) * dims[d].from;
    *to += static_cast<long long>(at) * dims[d].to;
  }
}

// Elements of type U along merged dimensions.
template <typename U, int ndim, bool large>
struct copy_strided {
  typedef typename mx::Choose<large, long long, unsigned>::Type I;
  static constexpr int kUnroll = 4;  // elements that a thread has in flight
  struct Args {
    const U* src;
    U* dst;
    long long total;
    CopyDim dims[ndim];
  };
  static __device__ __forceinline__ void Run(const Args& a) {
#pragma unroll 1
    for (long long base = static_cast<long long>(blockIdx.x) * 256 * kUnroll + threadIdx.x; base < a.total;
         base += static_cast<long long>(gridDim.x) * 256 * kUnroll) {
      U v[kUnroll];
      long long place[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const long long i = base + u * 256;
        if (i < a.total) {
          long long from = 0, to = 0;
          AddPlace<I, ndim>(a.dims, static_cast<I>(i), &from, &to);
          v[u] = a.src[from];
          place[u] = to;
        }
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        if (base + u * 256 < a.total) a.dst[place[u]] = v[u];
    }
  }
};

/*
 * A transpose: the source lies without gaps along one dimension (nx), the destination along another
 * (ny). Square tiles go through shared memory, so that both sides are accessed in whole stretches;
 * a row of a tile is one element longer than it is used, or more, so that its columns lie in
 * different banks. `pack` elements of type U are one access of type Packed.
 */
template <typename U, typename Packed, int pack, int outer>
struct copy_tiles {
  static constexpr int kSide = 32 * pack, kRow = kSide + (sizeof(U) == 1 ? 4 : pack == 2 && sizeof(U) == 2 ? 2 : 1);
  struct Sizes {
    const U* src;
    U* dst;
    long long tiles, nx, ny, sy, tx;
    mx::Divisor across, down;
  };
  struct Args : Sizes {
    CopyDim dims[outer];
  };
  static __device__ __forceinline__ void Run(const Args& a) {
#pragma unroll 1
    for (long long k = blockIdx.x; k < a.tiles; k += gridDim.x) {
      const unsigned tile = static_cast<unsigned>(k), row = mx::Over(tile, a.across), rest = mx::Over(row, a.down);
      const long long x0 = static_cast<long long>(tile - row * static_cast<unsigned>(a.across.d)) * kSide,
                      y0 = static_cast<long long>(row - rest * static_cast<unsigned>(a.down.d)) * kSide;
      long long from = y0 * a.sy + x0, to = x0 * a.tx + y0;
      AddPlace<unsigned, outer>(a.dims, rest, &from, &to);
      CopyTile(a, x0, y0, from, to);
    }
  }
  static __device__ __forceinline__ void CopyTile(const Sizes& a, long long x0, long long y0, long long from, long long to) {
    __shared__ U tile[kSide][kRow];
    const int lane = threadIdx.x % 32 * pack, line = threadIdx.x / 32;
    const int right = a.nx - x0 < kSide ? static_cast<int>(a.nx - x0) : kSide,
              below = a.ny - y0 < kSide ? static_cast<int>(a.ny - y0) : kSide;
    Packed v[kSide / 8];
    const U* source = a.src + from + line * a.sy + lane;
#pragma unroll
    for (int r = 0; r < kSide / 8; ++r, source += 8 * a.sy)
      if (line + 8 * r < below && lane < right) v[r] = *reinterpret_cast<const Packed*>(source);
#pragma unroll
    for (int r = 0; r < kSide / 8; ++r)
#pragma unroll
      for (int j = 0; j < pack; ++j) tile[line + 8 * r][lane + j] = static_cast<U>(v[r] >> (8 * sizeof(U) * j));
    __syncthreads();
    U* result = a.dst + to + line * a.tx + lane;
#pragma unroll
    for (int r = 0; r < kSide / 8; ++r, result += 8 * a.tx)
      if (line + 8 * r < right && lane < below) {
        Packed w = 0;
#pragma unroll
        for (int j = 0; j < pack; ++j) w |= static_cast<Packed>(tile[lane + j][line + 8 * r]) << (8 * sizeof(U) * j);
        *reinterpret_cast<Packed*>(result) = w;
      }
    __syncthreads();
  }
};

// ---- sums

struct SumDim {
  long long d, from, to;
};
// The terms of each destination element, along the `summed` last of the dimensions.
template <typename X, int kept, int summed>
struct AddStridedArgs {
  typedef typename mx::Choose<mx::IsReal<X>::value, double, long long>::Type A;
  const X* src;
  X* dst;
  long long terms;
  SumDim dims[kept + summed];
  long long count;
  // The sum of every `step`th term from `first` on, for destination element i; its address in *to.
  template <typename N>
  __device__ __forceinline__ A Sum(N i, long long first, long long step, long long* to) const {
    long long from = 0;
    N rest = i;
#pragma unroll
    for (int d = kept - 1; d >= 0; --d) {
      const N at = rest % static_cast<N>(dims[d].d);
      rest /= static_cast<N>(dims[d].d);
      from += at * dims[d].from;
      *to += at * dims[d].to;
    }
    A sum = A(0);
    for (long long t = first; t < terms; t += step) {
      long long where = from;
      N term = t;
#pragma unroll
      for (int d = kept + summed - 1; d >= kept; --d) {
        where += term % static_cast<N>(dims[d].d) * dims[d].from;
        term /= static_cast<N>(dims[d].d);
      }
      sum += mx::Load<A>(src, where);
    }
    return sum;
  }
};
template <typename I, typename X, int kept, int summed>
struct add_strided {
  typedef AddStridedArgs<X, kept, summed> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long to = 0;
    const typename Args::A sum = a.Sum(i, 0, 1, &to);
    mx::Store(a.dst, to, mx::Load<typename Args::A>(a.dst, to) + sum);
  }
};
template <typename X, int kept, int summed>
struct add_strided_rows {
  typedef AddStridedArgs<X, kept, summed> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ typename Args::A shared[256];
    long long to = 0;
    const typename Args::A sum = mx::BlockSum(a.Sum(row, threadIdx.x, 256, &to), shared);
    if (threadIdx.x == 0) mx::Store(a.dst, to, mx::Load<typename Args::A>(a.dst, to) + sum);
  }
};

// ---- zeros

template <typename U>
struct zero {
  struct Args {
    U* dst;
    long long total;
  };
  static __device__ __forceinline__ void Run(const Args& a) {
#pragma unroll 1
    for (long long i = mx::ThreadIndex(); i < a.total; i += mx::ThreadCount()) a.dst[i] = U();
  }
};
}  // namespace kernels
