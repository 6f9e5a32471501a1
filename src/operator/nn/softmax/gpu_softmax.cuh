// Softmax and log-softmax of slices (outer, length, inner) along the middle, and their gradients.
#include "operator/nn/common/gpu_rows.cuh"
#include "rtc/prelude.cuh"

namespace kernels {

template <typename T>
__device__ __forceinline__ T Lowest() {
  return -static_cast<T>(__int_as_float(0x7f800000));
}
// Exponentials in T, for results that are stored as S.
template <typename S, typename T>
__device__ __forceinline__ T Exp(T x) {
  if constexpr (mx::IsReal<S>::value && sizeof(S) == 2)
    return mx::ShortExp(x);
  else
    return ::exp(x);
}

// A product in which 0 counts more than NaN: a row that is NaN, since a mask hides all of it, has
// no gradient where none comes in.
template <typename T>
__device__ __forceinline__ T Reached(T gradient, T y) {
  return gradient == T(0) ? T(0) : gradient * y;
}

template <typename X, typename Y, typename Length>
struct SoftmaxArgs {
  const X* x;
  Y* y;
  const Length* lengths;    // of each slice
  const mx::boolean* mask;  // elements that count
  long long outer, length, inner;
  double scale;
};
template <typename Og, typename Y, typename Dx>
struct SoftmaxBackwardArgs {
  const Og* g;
  const Y* y;
  Dx* dx;
  const mx::boolean* mask;
  long long outer, length, inner;
  double scale;
};

// ---- register-resident rows

template <typename T, typename X, typename Y, typename Length, bool log, bool has_mask, bool has_lengths, int lanes, int packs, int width>
struct softmax_rows {
  typedef SoftmaxArgs<X, Y, Length> Args;
  typedef mx::RegisterRow<T, lanes, packs, width> Row;
  static __device__ __forceinline__ void Run(const Args& a) {
    mx::EachRegisterRow<Row, T>(a, [&](const Row& row) { OneRow(a, row); });
  }
  static __device__ __forceinline__ void OneRow(const Args& a, const Row& row) {
    constexpr bool chosen = has_mask || has_lengths;  // not every element of a row counts; what is behind its end is -inf and adds nothing
    T v[Row::kElements];
    const T scale = static_cast<T>(a.scale);
    unsigned counts = 0;  // bits of the elements that count
    row.EachElement([&](int e) { v[e] = Lowest<T>(); });
    long long count = 0;
    if constexpr (has_lengths) count = row.mine ? mx::Load<long long>(a.lengths, row.slice) : 0;
    row.EachPack([&](int e0, int k, long long at) {
      mx::LoadPack<width>(a.x, at, v + e0);
      T m[width];
      if constexpr (has_mask) mx::LoadPack<width>(a.mask, at, m);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        const int e = e0 + j;
        if constexpr (chosen) {
          const bool yes = has_mask ? m[j] != T(0) : k * width + j < count;
          v[e] = yes ? v[e] * scale : Lowest<T>();
          counts |= static_cast<unsigned>(yes) << e;
        } else {
          v[e] *= scale;
        }
      }
    });
    T top = Lowest<T>(), sum = T(0);
    row.EachElement([&](int e) { top = mx::Larger()(top, v[e]); });
    top = row.OfRow(top, mx::Larger());
    top = top > Lowest<T>() ? top : T(0);
    row.EachElement([&](int e) {
      if (chosen && !(counts >> e & 1u)) return;
      if constexpr (log) {
        sum += Exp<Y>(v[e] - top);
      } else {
        v[e] = Exp<Y>(v[e] - top);
        sum += v[e];
      }
    });
    sum = row.OfRow(sum, mx::Added());
    const T shift = log ? top + ::log(sum) : T(1) / sum;  // or the factor
    row.EachPack([&](int e0, int, long long at) {
#pragma unroll
      for (int j = 0; j < width; ++j) {
        const int e = e0 + j;
        const T result = log ? v[e] - shift : v[e] * shift;
        v[e] = !chosen || (counts >> e & 1u) ? result : has_mask && log ? Lowest<T>() : T(0);
      }
      mx::StorePack<width>(a.y, at, v + e0);
    });
  }
};

template <typename T, typename Og, typename Y, typename Dx, bool log, bool has_mask, int lanes, int packs, int width>
struct softmax_backward_rows {
  typedef SoftmaxBackwardArgs<Og, Y, Dx> Args;
  typedef mx::RegisterRow<T, lanes, packs, width> Row;
  static __device__ __forceinline__ void Run(const Args& a) {
    mx::EachRegisterRow<Row, T>(a, [&](const Row& row) { OneRow(a, row); });
  }
  static __device__ __forceinline__ void OneRow(const Args& a, const Row& row) {
    T g[Row::kElements], y[Row::kElements], sum = T(0);
    row.EachElement([&](int e) { g[e] = y[e] = T(0); });
    row.EachPack([&](int e0, int, long long at) {
      mx::LoadPack<width>(a.g, at, g + e0);
      mx::LoadPack<width>(a.y, at, y + e0);
      if constexpr (has_mask) {
        T m[width];
        mx::LoadPack<width>(a.mask, at, m);
#pragma unroll
        for (int j = 0; j < width; ++j)
          if (m[j] == T(0)) g[e0 + j] = T(0);
      }
    });
    row.EachElement([&](int e) { sum += log ? g[e] : Reached(g[e], y[e]); });
    sum = row.OfRow(sum, mx::Added());
    const T scale = static_cast<T>(a.scale);
    row.EachPack([&](int e0, int, long long at) {
#pragma unroll
      for (int j = 0; j < width; ++j) {
        const int e = e0 + j;
        if constexpr (log)
          g[e] = scale * (g[e] - Exp<Dx>(y[e]) * sum);
        else
          g[e] = scale * Reached(g[e] - sum, y[e]);
      }
      mx::StorePack<width>(a.dx, at, g + e0);
    });
  }
};

// ---- slices of any length: `lanes` threads share one. columns: elements lie behind the axis, and
// neighbouring threads take neighbouring slices.

template <int lanes, bool columns>
struct Slices {
  static constexpr int kRows = 256 / lanes;
  // f(slice, its first element, whether there is one, this thread's lane, its place in shared
  // memory)
  template <typename Args, typename F>
  static __device__ __forceinline__ void Each(const Args& a, F f) {
    const unsigned row = columns ? threadIdx.x % kRows : threadIdx.x / lanes, lane = columns ? threadIdx.x / kRows : threadIdx.x % lanes;
    const long long slices = a.outer * a.inner;
#pragma unroll 1
    for (long long block = blockIdx.x; block * kRows < slices; block += gridDim.x) {
      const long long slice = block * kRows + row;
      const bool mine = slice < slices;
      f(slice, mine ? slice / a.inner * a.length * a.inner + slice % a.inner : 0, mine, lane, row * lanes);
    }
  }
  // Merge() of acc over the lanes; `place` is that of lane 0.
  template <typename Acc, typename Merge>
  static __device__ __forceinline__ Acc MergeLanes(Acc acc, unsigned lane, unsigned place, Acc* shared, Merge merge) {
    shared[place + lane] = acc;
    __syncthreads();
#pragma unroll
    for (int half = lanes / 2; half > 0; half /= 2) {
      if (lane < half) shared[place + lane] = merge(shared[place + lane], shared[place + lane + half]);
      __syncthreads();
    }
    acc = shared[place];
    __syncthreads();
    return acc;
  }
};

// The running maximum and the sum of exponentials relative to it; -inf: nothing yet.
template <typename T>
struct TopAndSum {
  T top, sum;
  // One exponential. A NaN must reach the sum, although comparisons ignore it.
  __device__ __forceinline__ void Take(T v) {
    if (v > top) {
      sum = sum * ::exp(top - v) + T(1);
      top = v;
    } else {
      sum += ::exp(v - (top > Lowest<T>() ? top : T(0)));
    }
  }
};
struct MergeTopAndSum {
  template <typename T>
  __device__ __forceinline__ TopAndSum<T> operator()(TopAndSum<T> p, TopAndSum<T> q) const {
    TopAndSum<T> c;
    c.top = p.top > q.top ? p.top : q.top;
    const T base = c.top > Lowest<T>() ? c.top : T(0);
    c.sum = p.sum * ::exp(p.top - base) + q.sum * ::exp(q.top - base);
    return c;
  }
};

template <typename T, typename X, typename Y, typename Length, bool log, bool has_mask, bool has_lengths, int lanes, bool columns>
struct softmax {
  typedef SoftmaxArgs<X, Y, Length> Args;
  static __device__ __forceinline__ void Run(const Args& a) {
    typedef Slices<lanes, columns> Threads;
    __shared__ TopAndSum<T> shared[256];
    Threads::Each(a, [&](long long slice, long long base, bool mine, unsigned lane, unsigned place) {
      TopAndSum<T> acc;
      acc.top = Lowest<T>();
      acc.sum = T(0);
      long long count = a.length;
      if constexpr (has_lengths) count = mine ? mx::Load<long long>(a.lengths, slice) : 0;
      const T scale = static_cast<T>(a.scale);
      for (long long i = lane; mine && i < a.length && i < count; i += lanes) {
        if constexpr (has_mask)
          if (a.mask[base + i * a.inner].bits == 0) continue;
        acc.Take(mx::Load<T>(a.x, base + i * a.inner) * scale);
      }
      acc = Threads::MergeLanes(acc, lane, place, shared, MergeTopAndSum());
      const T top = acc.top > Lowest<T>() ? acc.top : T(0);
      const T shift = log ? top + ::log(acc.sum) : T(1) / acc.sum;  // or the factor
      for (long long i = lane; mine && i < a.length; i += lanes) {
        const long long at = base + i * a.inner;
        const T v = mx::Load<T>(a.x, at) * scale;
        bool counts = i < count;
        if constexpr (has_mask) counts = a.mask[at].bits != 0;
        mx::Store(a.y, at, counts ? (log ? v - shift : ::exp(v - top) * shift) : has_mask && log ? Lowest<T>() : T(0));
      }
    });
  }
};

template <typename T, typename Og, typename Y, typename Dx, bool log, bool has_mask, int lanes, bool columns>
struct softmax_backward {
  typedef SoftmaxBackwardArgs<Og, Y, Dx> Args;
  // Gradients of what does not count do not count either.
  static __device__ __forceinline__ T Gradient(const Args& a, long long at) {
    if constexpr (has_mask)
      return a.mask[at].bits != 0 ? mx::Load<T>(a.g, at) : T(0);
    else
      return mx::Load<T>(a.g, at);
  }
  static __device__ __forceinline__ void Run(const Args& a) {
    typedef Slices<lanes, columns> Threads;
    __shared__ T shared[256];
    Threads::Each(a, [&](long long, long long base, bool mine, unsigned lane, unsigned place) {
      T acc = T(0);
      for (long long i = lane; mine && i < a.length; i += lanes) {
        const long long at = base + i * a.inner;
        acc += log ? Gradient(a, at) : Reached(Gradient(a, at), mx::Load<T>(a.y, at));
      }
      acc = Threads::MergeLanes(acc, lane, place, shared, mx::Added());
      const T scale = static_cast<T>(a.scale);
      for (long long i = lane; mine && i < a.length; i += lanes) {
        const long long at = base + i * a.inner;
        const T g = Gradient(a, at), y = mx::Load<T>(a.y, at);
        mx::Store(a.dx, at, scale * (log ? g - ::exp(y) * acc : Reached(g - acc, y)));
      }
    });
  }
};
}  // namespace kernels
