// Bilinear samples of images (batch, channels, height, width) at points of grids (batch, 2,
// points), and the grids.
#include "rtc/loop.cuh"

namespace kernels {

// The pixels around a point; places are looked at only where `in` says that they lie inside.
template <typename A>
struct Around {
  long long at;  // of the upper left one
  A right, low;
  bool in[4];
  __device__ __forceinline__ Around(A x, A y, long long height, long long width) {
    const A at_x = (x + A(1)) * (static_cast<A>(width - 1) / A(2)), at_y = (y + A(1)) * (static_cast<A>(height - 1) / A(2));
    const A left = ::floor(at_x), top = ::floor(at_y);
    right = at_x - left;
    low = at_y - top;
    const long long column = Whole(left), row = Whole(top);
    const bool c0 = column >= 0 && column < width, c1 = column >= -1 && column < width - 1;
    const bool r0 = row >= 0 && row < height, r1 = row >= -1 && row < height - 1;
    in[0] = c0 && r0, in[1] = c1 && r0, in[2] = c0 && r1, in[3] = c1 && r1;
    at = c0 || c1 ? r0 || r1 ? row * width + column : 0 : 0;
  }
  static __device__ __forceinline__ long long Whole(A floor) {
    const A least = floor > A(-2) ? floor : A(-2);
    return static_cast<long long>(least < A(1e15) ? least : A(1e15));
  }
  template <typename X>
  __device__ __forceinline__ void Pixels(const X* plane, long long width, A* v) const {
    v[0] = in[0] ? mx::Load<A>(plane, at) : A(0);
    v[1] = in[1] ? mx::Load<A>(plane, at + 1) : A(0);
    v[2] = in[2] ? mx::Load<A>(plane, at + width) : A(0);
    v[3] = in[3] ? mx::Load<A>(plane, at + width + 1) : A(0);
  }
};

template <typename X, typename G, typename S>
struct SampleArgs {
  S* images;  // or their gradient
  G* grid;
  X* out;
  G* dgrid;
  long long channels, height, width, points;
  long long count;
};

template <typename I, typename X, typename G>
struct sample {
  typedef typename mx::Real<X>::Type A;
  typedef SampleArgs<X, G, X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I plane = i / static_cast<I>(a.points);
    const long long p = i - plane * static_cast<I>(a.points), n = plane / static_cast<I>(a.channels);
    const G* grid = a.grid + 2 * n * a.points + p;
    const Around<A> around(mx::Load<A>(grid, 0), mx::Load<A>(grid, a.points), a.height, a.width);
    A v[4];
    around.Pixels(a.images + plane * a.height * a.width, a.width, v);
    const A upper = v[0] * (A(1) - around.right) + v[1] * around.right, lower = v[2] * (A(1) - around.right) + v[3] * around.right;
    mx::Store(a.out, i, upper * (A(1) - around.low) + lower * around.low);
  }
};

template <typename A, typename S, bool atomic>
__device__ __forceinline__ void Spread(const Around<A>& around, S* plane, long long width, A g) {
  const A weights[4] = {(A(1) - around.right) * (A(1) - around.low), around.right * (A(1) - around.low), (A(1) - around.right) * around.low,
                        around.right * around.low};
  const long long places[4] = {0, 1, width, width + 1};
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (around.in[k]) {
      if constexpr (atomic)
        atomicAdd(plane + around.at + places[k], static_cast<S>(g * weights[k]));
      else
        plane[around.at + places[k]] += static_cast<S>(g * weights[k]);
    }
}

template <typename I, typename X, typename G, typename S>
struct sample_to_data {
  typedef typename mx::Real<X>::Type A;
  typedef SampleArgs<X, G, S> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I plane = i / static_cast<I>(a.points);
    const long long p = i - plane * static_cast<I>(a.points), n = plane / static_cast<I>(a.channels);
    const G* grid = a.grid + 2 * n * a.points + p;
    const Around<A> around(mx::Load<A>(grid, 0), mx::Load<A>(grid, a.points), a.height, a.width);
    Spread<A, S, true>(around, a.images + plane * a.height * a.width, a.width, mx::Load<A>(a.out, i));
  }
};
// One thread for each plane: slow, but its sums have one order.
template <typename I, typename X, typename G, typename S>
struct sample_to_data_in_order {
  typedef typename mx::Real<X>::Type A;
  typedef SampleArgs<X, G, S> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long plane) {
    const G* grid = a.grid + 2 * (plane / a.channels) * a.points;
    for (long long p = 0; p < a.points; ++p) {
      const Around<A> around(mx::Load<A>(grid, p), mx::Load<A>(grid, a.points + p), a.height, a.width);
      Spread<A, S, false>(around, a.images + plane * a.height * a.width, a.width, mx::Load<A>(a.out, plane * a.points + p));
    }
  }
};

template <typename I, typename X, typename G>
struct sample_to_points {
  typedef typename mx::Real<X>::Type A;
  typedef SampleArgs<X, G, X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I n = i / static_cast<I>(a.points);
    const long long p = i - n * static_cast<I>(a.points), at = 2 * n * a.points + p;
    const Around<A> around(mx::Load<A>(a.grid, at), mx::Load<A>(a.grid, at + a.points), a.height, a.width);
    A dx = A(0), dy = A(0);
    for (long long c = 0; c < a.channels; ++c) {
      const long long plane = n * a.channels + c;
      A v[4];
      around.Pixels(a.images + plane * a.height * a.width, a.width, v);
      const A g = mx::Load<A>(a.out, plane * a.points + p);
      dx += g * ((v[1] - v[0]) * (A(1) - around.low) + (v[3] - v[2]) * around.low);
      dy += g * ((v[2] - v[0]) * (A(1) - around.right) + (v[3] - v[1]) * around.right);
    }
    mx::Store(a.dgrid, at, dx * (static_cast<A>(a.width - 1) / A(2)));
    mx::Store(a.dgrid, at + a.points, dy * (static_cast<A>(a.height - 1) / A(2)));
  }
};

// ---- grids

// Place i of n from -1 to 1; 0 if there is but one.
template <typename A>
__device__ __forceinline__ A RegularPlace(long long i, long long n) {
  return n > 1 ? static_cast<A>(-1 + 2.0 * static_cast<double>(i) / static_cast<double>(n - 1)) : A(0);
}

template <typename X, typename G>
struct GridArgs {
  X* theta;
  G* grid;
  long long rows, columns;
  long long count;
};
template <typename I, typename X, typename G>
struct affine_grid {
  typedef typename mx::Real<G>::Type A;
  typedef GridArgs<X, G> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = i / static_cast<I>(a.columns);
    const long long column = i - r * static_cast<I>(a.columns), n = r / static_cast<I>(a.rows), row = r - n * a.rows;
    const A u = RegularPlace<A>(column, a.columns), v = RegularPlace<A>(row, a.rows);
    const X* t = a.theta + 6 * n;
    const long long points = a.rows * a.columns, at = 2 * n * points + row * a.columns + column;
    mx::Store(a.grid, at, mx::Load<A>(t, 0) * u + mx::Load<A>(t, 1) * v + mx::Load<A>(t, 2));
    mx::Store(a.grid, at + points, mx::Load<A>(t, 3) * u + mx::Load<A>(t, 4) * v + mx::Load<A>(t, 5));
  }
};
// Row 2 n + k: what the x (k = 0) or y of image n gives to its row of the matrix.
template <typename X, typename G>
struct affine_grid_back {
  typedef GridArgs<X, G> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    const long long points = a.rows * a.columns;
    double sums[3] = {0, 0, 0};
    for (long long p = threadIdx.x; p < points; p += 256) {
      const double g = mx::Load<double>(a.grid, row * points + p);
      sums[0] += g * RegularPlace<double>(p % a.columns, a.columns);
      sums[1] += g * RegularPlace<double>(p / a.columns, a.rows);
      sums[2] += g;
    }
    for (int k = 0; k < 3; ++k) {
      const double sum = mx::BlockSum(sums[k], shared);
      if (threadIdx.x == 0) mx::Store(a.theta, row * 3 + k, sum);
      __syncthreads();
    }
  }
};
// `theta` is the flow, or what comes back to the grid.
template <typename I, typename X, bool back>
struct warp_grid {
  typedef typename mx::Real<X>::Type A;
  typedef GridArgs<X, X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = i / static_cast<I>(a.columns);
    const long long column = i - r * static_cast<I>(a.columns), plane = r / static_cast<I>(a.rows), row = r - plane * a.rows;
    const long long n = plane % 2 ? a.rows : a.columns;
    const A step = n > 1 ? static_cast<A>(2.0 / static_cast<double>(n - 1)) : A(0);
    const A place = back ? A(0) : static_cast<A>(plane % 2 ? row : column), least = !back && n > 1 ? A(-1) : A(0);
    mx::Store(a.grid, i, (mx::Load<A>(a.theta, i) + place) * step + least);
  }
};
}  // namespace kernels
