// Sums up to each element of lines (outer, length, inner) along the middle.
#include "rtc/loop.cuh"

namespace kernels {

template <typename In, typename Out>
struct ScanArgs {
  typedef typename mx::Choose<mx::IsReal<Out>::value, double, long long>::Type A;
  const In* in;
  Out* out;
  long long length, inner, reverse, exclusive, tiles;
  A* parts;  // sums before each tile, or null
  long long count;
  // Where element `s` of line (o, q) lies in the order of summing, s < length.
  __device__ __forceinline__ long long At(long long o, long long s, long long q) const {
    return (o * length + (reverse != 0 ? length - 1 - s : s)) * inner + q;
  }
};

// A thread for each line: whole memory accesses along neighbouring lines.
template <typename I, typename In, typename Out>
struct scan_lines {
  typedef ScanArgs<In, Out> Args;
  typedef typename Args::A A;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long o = i / static_cast<I>(a.inner), q = i % static_cast<I>(a.inner);
    A sum = A(0);
    for (long long s = 0; s < a.length; ++s) {
      const long long at = a.At(o, s, q);
      const A v = mx::Load<A>(a.in, at), before = sum;
      sum += v;
      mx::Store(a.out, at, a.exclusive != 0 ? before : sum);
    }
  }
};

// Tiles of 256 threads with kPerThread neighbours each.
template <typename In, typename Out>
struct ScanTile {
  typedef ScanArgs<In, Out> Args;
  typedef typename Args::A A;
  static constexpr int kPerThread = 8;
  long long first, begin, step;  // position of the thread's first element; its address, and from one to the next
  A v[kPerThread], mine;
  __device__ __forceinline__ ScanTile(const Args& a, long long row) {
    const long long line = row / a.tiles, tile = row % a.tiles, o = line / a.inner, q = line % a.inner;
    first = tile * (256 * kPerThread) + threadIdx.x * kPerThread;
    begin = a.At(o, first, q);
    step = a.reverse != 0 ? -a.inner : a.inner;
    mine = A(0);
    for (int j = 0; j < kPerThread; ++j) {
      v[j] = A(0);
      if (first + j < a.length) v[j] = mx::Load<A>(a.in, begin + j * step);
      mine += v[j];
    }
  }
};
// The sum of each tile.
template <typename In, typename Out>
struct scan_parts {
  typedef ScanArgs<In, Out> Args;
  typedef typename Args::A A;
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ A shared[256];
    const ScanTile<In, Out> tile(a, row);
    const A total = mx::BlockSum(tile.mine, shared);
    if (threadIdx.x == 0) a.parts[row] = total;
  }
};
// Each tile from the sum before it.
template <typename In, typename Out, bool has_parts>
struct scan_tiles {
  typedef ScanArgs<In, Out> Args;
  typedef typename Args::A A;
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ A shared[256];
    const ScanTile<In, Out> tile(a, row);
    A total;
    A sum = mx::BlockScan(tile.mine, shared, &total);
    if constexpr (has_parts) sum += a.parts[row];
    for (int j = 0; j < tile.kPerThread; ++j) {
      const A before = sum;
      sum += tile.v[j];
      if (tile.first + j < a.length) mx::Store(a.out, tile.begin + j * tile.step, a.exclusive != 0 ? before : sum);
    }
  }
};
}  // namespace kernels
