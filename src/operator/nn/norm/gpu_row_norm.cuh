// Norms of rows: layer, group and instance norm. A row is register-resident where it fits; else a
// block goes over it, or its channels or groups count as units that have one parameter each.
#include "operator/nn/common/gpu_channels.cuh"
#include "operator/nn/common/gpu_rows.cuh"

namespace kernels {

// RowNorm::Parameter of gpu_norm.h: an element of gamma and beta for each element of a row, for
// each channel, for each group.
enum RowParameter { kElement, kChannel, kGroup };

// ---- register-resident rows

struct RegisterParameters {
  long long groups, per_group, spanm, spanh;
};

// gamma or beta of pack k of a row: neighbours, or those of the elements' channels, or (one) one
// parameter for the whole pack.
template <int parameter, bool one, int width, typename T, typename P>
__device__ __forceinline__ void LoadParameters(const RegisterParameters& by, const P* from, long long slice, int k, T (&to)[width]) {
  if constexpr (parameter == kElement) {
    mx::LoadPack<width>(from, k * width, to);
  } else {
    const long long group = slice % by.groups;
    long long p = group;
    if constexpr (one && parameter == kChannel) p = group * by.per_group + mx::Divide(k * width, by.spanm, by.spanh);
#pragma unroll
    for (int j = 0; j < width; ++j) {
      if constexpr (!one) p = group * by.per_group + mx::Divide(k * width + j, by.spanm, by.spanh);
      to[j] = mx::Load<T>(from, p);
    }
  }
}

// The row's elements around their mean, and its moments.
template <typename T, typename Row>
struct RowMoments {
  T v[Row::kElements];
  T n, mean, deviation, inv;
  template <typename X>
  __device__ __forceinline__ RowMoments(const Row& row, const X* x, long long length, double eps) {
    T sum = T(0), squares = T(0);
    row.EachElement([&](int e) { v[e] = T(0); });
    row.EachPack([&](int e0, int, long long at) { mx::LoadPack<Row::kWidth>(x, at, v + e0); });
    row.EachElement([&](int e) { sum += v[e]; });
    n = static_cast<T>(length);
    mean = row.OfRow(sum, mx::Added()) / n;
    row.EachPack([&](int e0, int, long long) {
#pragma unroll
      for (int j = 0; j < Row::kWidth; ++j) {
        v[e0 + j] -= mean;
        squares += v[e0 + j] * v[e0 + j];
      }
    });
    deviation = ::sqrt(row.OfRow(squares, mx::Added()) / n + static_cast<T>(eps));
    inv = T(1) / deviation;
  }
};

template <typename X, typename P, int parameter, bool one, int lanes, int packs, int width>
struct layer_norm {
  typedef typename mx::Real<X>::Type T;
  typedef mx::RegisterRow<T, lanes, packs, width> Row;
  struct Args {
    const X* x;
    const P *gamma, *beta;
    X *y, *mean, *deviation;
    long long outer, length;
    double eps;
    RegisterParameters by;
  };
  static __device__ __forceinline__ void Run(const Args& a) {
    mx::EachRegisterRow<Row, T>(a, [&](const Row& row) { OneRow(a, row); });
  }
  static __device__ __forceinline__ void OneRow(const Args& a, const Row& row) {
    RowMoments<T, Row> m(row, a.x, a.length, a.eps);
    if (row.mine && row.lane == 0 && a.mean) mx::Store(a.mean, row.slice, m.mean);
    if (row.mine && row.lane == 0 && a.deviation) mx::Store(a.deviation, row.slice, m.deviation);
    if (!a.y) return;
    row.EachPack([&](int e0, int k, long long at) {
      T gamma[width], beta[width];
      LoadParameters<parameter, one>(a.by, a.gamma, row.slice, k, gamma);
      LoadParameters<parameter, one>(a.by, a.beta, row.slice, k, beta);
#pragma unroll
      for (int j = 0; j < width; ++j) m.v[e0 + j] = m.v[e0 + j] * m.inv * gamma[j] + beta[j];
      mx::StorePack<width>(a.y, at, m.v + e0);
    });
  }
};

template <typename X, typename P, int parameter, bool one, int lanes, int packs, int width>
struct layer_norm_backward {
  typedef typename mx::Real<X>::Type T;
  typedef mx::RegisterRow<T, lanes, packs, width> Row;
  struct Args {
    const X *g, *x;
    const P* gamma;
    X* dx;
    T* moments;  // mean and 1 / deviation of each row
    long long outer, length;
    double eps;
    RegisterParameters by;
  };
  static __device__ __forceinline__ void Run(const Args& a) {
    mx::EachRegisterRow<Row, T>(a, [&](const Row& row) { OneRow(a, row); });
  }
  static __device__ __forceinline__ void OneRow(const Args& a, const Row& row) {
    RowMoments<T, Row> m(row, a.x, a.length, a.eps);
    if (row.mine && row.lane == 0 && a.moments) {
      a.moments[2 * row.slice] = m.mean;
      a.moments[2 * row.slice + 1] = m.inv;
    }
    if (!a.dx) return;
    T g[Row::kElements], total = T(0), product = T(0);
    row.EachElement([&](int e) { g[e] = T(0); });
    row.EachPack([&](int e0, int k, long long at) {
      T gamma[width];
      LoadParameters<parameter, one>(a.by, a.gamma, row.slice, k, gamma);
      mx::LoadPack<width>(a.g, at, g + e0);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        const int e = e0 + j;
        g[e] *= gamma[j];
        m.v[e] *= m.inv;
        total += g[e];
        product += g[e] * m.v[e];
      }
    });
    total = row.OfRow(total, mx::Added()) / m.n;
    product = row.OfRow(product, mx::Added()) / m.n;
    row.EachPack([&](int e0, int, long long at) {
#pragma unroll
      for (int j = 0; j < width; ++j) g[e0 + j] = m.inv * (g[e0 + j] - total - m.v[e0 + j] * product);
      mx::StorePack<width>(a.dx, at, g + e0);
    });
  }
};

// ---- a block for each row, with a parameter for each element

// Moments of row `row` of (outer, n, inner) along the middle, for all threads.
template <typename A>
struct BlockMoments {
  long long base;
  A mean, deviation, inv;
  template <typename X>
  __device__ __forceinline__ BlockMoments(const X* x, long long row, long long n, long long inner, double eps, A* shared) {
    base = row / inner * n * inner + row % inner;
    A sum = A(0), squares = A(0);
    for (long long j = threadIdx.x; j < n; j += 256) sum += mx::Load<A>(x, base + j * inner);
    mean = mx::BlockSum(sum, shared) / static_cast<A>(n);
    for (long long j = threadIdx.x; j < n; j += 256) {
      const A d = mx::Load<A>(x, base + j * inner) - mean;
      squares += d * d;
    }
    deviation = ::sqrt(mx::BlockSum(squares, shared) / static_cast<A>(n) + static_cast<A>(eps));
    inv = A(1) / deviation;
  }
};

template <typename X, typename P>
struct row_norm {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X* x;
    const P *gamma, *beta;
    X *y, *mean, *deviation;
    long long n, inner;
    double eps;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ A shared[256];
    const BlockMoments<A> m(a.x, row, a.n, a.inner, a.eps, shared);
    if (threadIdx.x == 0 && a.mean) mx::Store(a.mean, row, m.mean);
    if (threadIdx.x == 0 && a.deviation) mx::Store(a.deviation, row, m.deviation);
    if (!a.y) return;
    for (long long j = threadIdx.x; j < a.n; j += 256) {
      const long long at = m.base + j * a.inner;
      mx::Store(a.y, at, (mx::Load<A>(a.x, at) - m.mean) * m.inv * mx::Load<A>(a.gamma, j) + mx::Load<A>(a.beta, j));
    }
  }
};

template <typename X, typename P>
struct row_norm_backward {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X *g, *x;
    const P* gamma;
    X* dx;
    A* moments;  // mean and 1 / deviation of each row
    long long n, inner;
    double eps;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ A shared[256];
    const BlockMoments<A> m(a.x, row, a.n, a.inner, a.eps, shared);
    if (threadIdx.x == 0 && a.moments) {
      a.moments[2 * row] = m.mean;
      a.moments[2 * row + 1] = m.inv;
    }
    if (!a.dx) return;
    A total = A(0), product = A(0);
    for (long long j = threadIdx.x; j < a.n; j += 256) {
      const long long at = m.base + j * a.inner;
      const A g = mx::Load<A>(a.g, at) * mx::Load<A>(a.gamma, j);
      total += g;
      product += g * (mx::Load<A>(a.x, at) - m.mean) * m.inv;
    }
    total = mx::BlockSum(total, shared) / static_cast<A>(a.n);
    product = mx::BlockSum(product, shared) / static_cast<A>(a.n);
    for (long long j = threadIdx.x; j < a.n; j += 256) {
      const long long at = m.base + j * a.inner;
      const A g = mx::Load<A>(a.g, at) * mx::Load<A>(a.gamma, j), scaled = (mx::Load<A>(a.x, at) - m.mean) * m.inv;
      mx::Store(a.dx, at, m.inv * (g - total - scaled * product));
    }
  }
};

// The gradients of gamma and beta, from (gradient, data) and the moments M of each row.
template <typename X, typename P, typename M, int parameter>
struct RowNormParameters : ChannelSumsOf<X, 2> {
  typedef typename mx::Real<X>::Type A;
  struct Own {
    const M* moments;
    P *dgamma, *dbeta;
    long long groups, per_group;
  };
  template <typename Args>
  static __device__ __forceinline__ void Element(const Args& a, const NoChannel&, const X (&v)[2], ChannelPlace at, bool, A* first,
                                                 A* second) {
    const long long row = parameter == kElement   ? at.o * a.inner + at.q
                          : parameter == kChannel ? at.o * a.own.groups + at.c / a.own.per_group
                                                  : at.o * a.own.groups + at.c;
    const A up = As<A>(v[0]);
    *first += up;
    *second += up * (As<A>(v[1]) - a.own.moments[2 * row]) * a.own.moments[2 * row + 1];
  }
  template <typename Args>
  static __device__ __forceinline__ void Finish(const Args& a, long long c, double first, double second) {
    if (a.own.dgamma) mx::Store(a.own.dgamma, c, second);
    if (a.own.dbeta) mx::Store(a.own.dbeta, c, first);
  }
};

// ---- units: sums over a row as over a channel, and coefficients for each unit

// Mean and 1 / deviation of each row, in A; the layer's own results where they are wanted.
template <typename X>
struct RowMomentsOfChannels : ChannelSumsOf<X, 1> {
  typedef typename mx::Real<X>::Type A;
  struct Own {
    A* moments;
    X *mean, *deviation;
    double eps;
  };
  struct Channel {
    A origin;
  };
  template <typename Args>
  static __device__ __forceinline__ Channel ChannelOf(const Args& a, long long c) {
    return {mx::Load<A>(a.array[0], c * a.inner)};
  }
  template <typename Args>
  static __device__ __forceinline__ void Element(const Args&, const Channel& k, const X (&v)[1], ChannelPlace, bool, A* first, A* second) {
    const A d = As<A>(v[0]) - k.origin;
    *first += d;
    *second += d * d;
  }
  template <typename Args>
  static __device__ __forceinline__ void Finish(const Args& a, long long c, double first, double second) {
    const double n = static_cast<double>(a.inner), off = first / n, mean = mx::Load<double>(a.array[0], c * a.inner) + off,
                 square = second / n - off * off;
    const double deviation = ::sqrt((square > 0 || square != square ? square : 0.0) + a.own.eps);
    a.own.moments[2 * c] = static_cast<A>(mean);
    a.own.moments[2 * c + 1] = static_cast<A>(1 / deviation);
    if (a.own.mean) mx::Store(a.own.mean, c, mean);
    if (a.own.deviation) mx::Store(a.own.deviation, c, deviation);
  }
};

// Over each row, of gamma g and of gamma g times the scaled data, divided by its length.
template <typename X, typename P, bool channel, bool large>
struct RowNormSums : ChannelSumsOf<X, 2> {
  typedef typename mx::Real<X>::Type A;
  struct Own {
    const P* gamma;
    const A* moments;
    A* sums;
    long long groups, per_group;
    mx::Divisor span;
  };
  struct Channel {
    A mean, inv, gamma;
    long long group;
  };
  template <typename Args>
  static __device__ __forceinline__ Channel ChannelOf(const Args& a, long long c) {
    Channel k;
    k.mean = a.own.moments[2 * c];
    k.inv = a.own.moments[2 * c + 1];
    k.group = c % a.own.groups;
    k.gamma = A(0);
    if constexpr (!channel) k.gamma = mx::Load<A>(a.own.gamma, k.group);
    return k;
  }
  template <typename Args>
  static __device__ __forceinline__ void Element(const Args& a, const Channel& k, const X (&v)[2], ChannelPlace at, bool, A* first,
                                                 A* second) {
    typedef typename mx::Choose<large, long long, unsigned>::Type J;
    A gamma = k.gamma;
    if constexpr (channel) gamma = mx::Load<A>(a.own.gamma, k.group * a.own.per_group + mx::Over(static_cast<J>(at.q), a.own.span));
    const A up = As<A>(v[0]) * gamma;
    *first += up;
    *second += up * (As<A>(v[1]) - k.mean) * k.inv;
  }
  template <typename Args>
  static __device__ __forceinline__ void Finish(const Args& a, long long c, double first, double second) {
    a.own.sums[2 * c] = static_cast<A>(first / static_cast<double>(a.inner));
    a.own.sums[2 * c + 1] = static_cast<A>(second / static_cast<double>(a.inner));
  }
};

// The row and the parameter of unit i, with `each` units in a row.
struct Unit {
  long long row, p;
  __device__ __forceinline__ Unit(long long i, long long each, long long groups) {
    row = i / each;
    p = row % groups * each + (i - row * each);
  }
};

template <typename I, typename X, typename P>
struct row_norm_coefficients {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const P *gamma, *beta;
    const A* moments;
    A* coef;
    long long each, groups;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Unit unit(static_cast<long long>(i), a.each, a.groups);
    const A scale = mx::Load<A>(a.gamma, unit.p) * a.moments[2 * unit.row + 1];
    a.coef[i] = scale;
    a.coef[a.count + i] = mx::Load<A>(a.beta, unit.p) - scale * a.moments[2 * unit.row];
  }
};
template <typename X>
struct RowNormScale : ChannelMapOf<X, 1, 2, 1> {
  typedef typename mx::Real<X>::Type A;
  static __device__ __forceinline__ void Element(const A (&k)[2], const X (&v)[1], bool*, A (&r)[1]) { r[0] = As<A>(v[0]) * k[0] + k[1]; }
};

template <typename I, typename X, typename P>
struct row_norm_gradient_coefficients {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const P* gamma;
    const A *moments, *sums;
    A* coef;
    long long each, groups;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Unit unit(static_cast<long long>(i), a.each, a.groups);
    const A inv = a.moments[2 * unit.row + 1];
    a.coef[i] = mx::Load<A>(a.gamma, unit.p) * inv;
    a.coef[a.count + i] = inv * inv * a.sums[2 * unit.row + 1];
    a.coef[2 * static_cast<long long>(a.count) + i] = inv * a.sums[2 * unit.row];
    a.coef[3 * static_cast<long long>(a.count) + i] = a.moments[2 * unit.row];
  }
};
template <typename X>
struct RowNormGradient : ChannelMapOf<X, 2, 4, 1> {  // scale, product, total, mean
  typedef typename mx::Real<X>::Type A;
  static __device__ __forceinline__ void Element(const A (&k)[4], const X (&v)[2], bool*, A (&r)[1]) {
    r[0] = As<A>(v[0]) * k[0] - k[2] - (As<A>(v[1]) - k[3]) * k[1];
  }
};

// ---- local response normalisation: y = x * norm ^ -beta

template <typename X, typename Norm>
struct LrnArgs {
  const X *g, *x;
  Norm* norm;  // knorm + alpha * the sum of squares over neighbouring channels
  X* out;
  long long channels, inner, half;
  double knorm, alpha, beta;
  long long count;
};
// f(at) for the elements of i's neighbouring channels.
template <typename I, typename Args, typename F>
__device__ __forceinline__ void EachNeighbour(const Args& a, I i, F f) {
  const long long c = i / static_cast<I>(a.inner) % static_cast<I>(a.channels), low = c < a.half ? -c : -a.half,
                  high = c + a.half < a.channels ? a.half : a.channels - 1 - c;
  for (long long k = low; k <= high; ++k) f(i + k * a.inner);
}
template <typename I, typename X, typename Norm>
struct lrn_norm {
  typedef typename mx::Real<X>::Type A;
  typedef LrnArgs<X, Norm> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    A sum = A(0);
    EachNeighbour(a, i, [&](long long at) {
      const A v = mx::Load<A>(a.x, at);
      sum += v * v;
    });
    a.norm[i] = static_cast<A>(a.knorm) + static_cast<A>(a.alpha) * sum;
  }
};
template <typename I, typename X, typename Norm>
struct lrn {
  typedef typename mx::Real<X>::Type A;
  typedef LrnArgs<X, Norm> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    mx::Store(a.out, i, mx::Load<A>(a.x, i) * ::pow(a.norm[i], -static_cast<A>(a.beta)));
  }
};
template <typename I, typename X, typename Norm>
struct lrn_backward {
  typedef typename mx::Real<X>::Type A;
  typedef LrnArgs<X, Norm> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    A sum = A(0);
    EachNeighbour(a, i, [&](long long at) {
      sum += mx::Load<A>(a.g, at) * mx::Load<A>(a.x, at) * ::pow(a.norm[at], -static_cast<A>(a.beta) - A(1));
    });
    mx::Store(a.out, i,
              mx::Load<A>(a.g, i) * ::pow(a.norm[i], -static_cast<A>(a.beta)) -
                  A(2) * static_cast<A>(a.alpha) * static_cast<A>(a.beta) * mx::Load<A>(a.x, i) * sum);
  }
};
}  // namespace kernels
