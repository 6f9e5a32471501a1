// Pooling of planes (batch * channels) or of images whose channels lie last. Two- and
// one-dimensional images count as volumes with sizes of 1.
#include "rtc/loop.cuh"

namespace kernels {

enum PoolType { kPoolMax, kPoolAvg, kPoolSum, kPoolLp };  // as pooling.h

struct PoolArgs {
  long long channels, in[3], out[3], kernel[3], stride[3], pad[3], include;
  mx::Divisor packs, size[3];  // packs of channels, and the sizes of the side whose elements are the items
};

template <typename A>
__device__ __forceinline__ A Power(A v, int p) {
  v = v < A(0) ? -v : v;
  A r = A(1);
  for (int k = 0; k < p; ++k) r *= v;
  return r;
}

/*
 * narrow: positions fit into 32 bits. last: channels lie last, and an item has `width` of them.
 * small: windows are known here, so that all their elements can be in flight; others are arguments.
 */
template <bool narrow, bool last, int width, bool small, int k0, int k1, int k2, int s0, int s1, int s2, int p0, int p1, int p2>
struct PoolShape {
  typedef typename mx::Choose<narrow, int, long long>::Type P;
  static constexpr int kWidth = width, kElements = k0 * k1 * k2;  // of a small window
  static constexpr bool kSmall = small;
  static constexpr int kKernel[3] = {k0, k1, k2}, kStride[3] = {s0, s1, s2};
  static __device__ __forceinline__ P Kernel(const PoolArgs& a, int d) {
    return small ? P(d == 0 ? k0 : d == 1 ? k1 : k2) : P(a.kernel[d]);
  }
  static __device__ __forceinline__ P Stride(const PoolArgs& a, int d) {
    return small ? P(d == 0 ? s0 : d == 1 ? s1 : s2) : P(a.stride[d]);
  }
  static __device__ __forceinline__ P Pad(const PoolArgs& a, int d) { return small ? P(d == 0 ? p0 : d == 1 ? p1 : p2) : P(a.pad[d]); }

  // Channel c, plane and position q of an item; its elements begin at item * width.
  template <typename I>
  struct Place {
    I plane, c;
    P q[3];
    __device__ __forceinline__ Place(const PoolArgs& a, I i) {
      I rest = i, above;
      c = 0;
      if constexpr (last) {
        above = mx::Over(rest, a.packs);
        c = (rest - above * static_cast<I>(a.packs.d)) * width;
        rest = above;
      }
#pragma unroll
      for (int d = 2; d >= 0; --d) {
        above = mx::Over(rest, a.size[d]);
        q[d] = rest - above * static_cast<I>(a.size[d].d);
        rest = above;
      }
      plane = rest;
    }
    // The address of position (x, y, z) of this item's plane, in an image of these sizes.
    __device__ __forceinline__ P At(const PoolArgs& a, const long long (&sizes)[3], P x, P y, P z) const {
      const P at = ((P(plane) * P(sizes[0]) + x) * P(sizes[1]) + y) * P(sizes[2]) + z;
      return last ? at * P(a.channels) + P(c) : at;
    }
  };

  // The window of output position o, within the image.
  struct Window {
    P begin[3], end[3], divisor;
    __device__ __forceinline__ Window(const PoolArgs& a, P o0, P o1, P o2) {
      const P o[3] = {o0, o1, o2};
      P padded = 1, real = 1;
#pragma unroll
      for (int d = 0; d < 3; ++d) {
        const P in = P(a.in[d]), start = o[d] * Stride(a, d) - Pad(a, d);
        P stop = start + Kernel(a, d);
        if (stop > in + Pad(a, d)) stop = in + Pad(a, d);
        begin[d] = start > 0 ? start : 0;
        end[d] = stop < in ? stop : in;
        if (end[d] < begin[d]) end[d] = begin[d];
        padded *= stop - start;
        real *= end[d] - begin[d];
      }
      divisor = a.include != 0 ? padded : real;
      if (divisor < 1) divisor = 1;
    }
    // f(x, y, z) for its positions.
    template <typename F>
    __device__ __forceinline__ void Each(F f) const {
      for (P x = begin[0]; x < end[0]; ++x)
        for (P y = begin[1]; y < end[1]; ++y)
          for (P z = begin[2]; z < end[2]; ++z) f(x, y, z);
    }
  };

  // f(n, e) for the elements e of a small window that are in the image, n being their place in it.
  template <typename A, typename X, typename I, typename F>
  static __device__ __forceinline__ void EachOfSmallWindow(const PoolArgs& a, const X* x, const Place<I>& at, F f) {
    const P b0 = at.q[0] * s0 - p0, b1 = at.q[1] * s1 - p1, b2 = at.q[2] * s2 - p2;
    const X* const window = x + at.At(a, a.in, b0, b1, b2);
#pragma unroll
    for (int n = 0; n < kElements; ++n) {
      const P n0 = n / (k1 * k2), n1 = n / k2 % k1, n2 = n % k2, px = b0 + n0, py = b1 + n1, pz = b2 + n2;
      if (px >= 0 && px < P(a.in[0]) && py >= 0 && py < P(a.in[1]) && pz >= 0 && pz < P(a.in[2])) {
        A e[width];
        mx::LoadPack<width>(window, ((n0 * P(a.in[1]) + n1) * P(a.in[2]) + n2) * (last ? P(a.channels) : P(1)), e);
        f(n, e);
      }
    }
  }
};

// Floating types in their arithmetic; maxima of integers in int.
template <typename X, int type>
struct PoolValue {
  typedef typename mx::Choose<mx::IsReal<X>::value || type != kPoolMax, typename mx::Real<X>::Type, int>::Type Type;
  static __device__ __forceinline__ Type Least() {
    if constexpr (type != kPoolMax)
      return Type(0);
    else if constexpr (mx::IsReal<X>::value)
      return -static_cast<Type>(__int_as_float(0x7f800000));
    else
      return X(-1) < X(0) ? Type(-128) : Type(0);
  }
};

#define MX_EACH(j) for (int j = 0; j < Shape::kWidth; ++j)  // behind #pragma unroll

template <typename I, typename X, int type, int p, typename Shape>
struct pool {
  typedef typename Shape::P P;
  typedef typename PoolValue<X, type>::Type A;
  struct Args {
    const X* x;
    X* y;
    PoolArgs pool;
    long long count;
  };
  static __device__ __forceinline__ void Take(A (&v)[Shape::kWidth], const A (&e)[Shape::kWidth]) {
#pragma unroll
    MX_EACH(j) {
      if constexpr (type == kPoolMax)
        v[j] = e[j] > v[j] ? e[j] : v[j];
      else
        v[j] += type == kPoolLp ? Power(e[j], p) : e[j];
    }
  }
  static __device__ __forceinline__ void Item(const Args& args, I i, long long item) {
    const PoolArgs& a = args.pool;
    const typename Shape::template Place<I> at(a, i);
    const typename Shape::Window w(a, at.q[0], at.q[1], at.q[2]);
    A v[Shape::kWidth];
#pragma unroll
    MX_EACH(j) v[j] = PoolValue<X, type>::Least();
    if constexpr (Shape::kSmall) {
      Shape::template EachOfSmallWindow<A>(a, args.x, at, [&](int, const A(&e)[Shape::kWidth]) { Take(v, e); });
    } else {
      w.Each([&](P x, P y, P z) {
        A e[Shape::kWidth];
        mx::LoadPack<Shape::kWidth>(args.x, at.At(a, a.in, x, y, z), e);
        Take(v, e);
      });
    }
#pragma unroll
    MX_EACH(j) {
      if constexpr (type == kPoolAvg) v[j] /= static_cast<A>(w.divisor);
      if constexpr (type == kPoolLp) v[j] = p == 1 ? v[j] : p == 2 ? ::sqrt(v[j]) : ::pow(v[j], A(1) / static_cast<A>(p));
    }
    mx::StorePack<Shape::kWidth>(args.y, item * Shape::kWidth, v);
  }
};

// Each element gathers from the windows that see it: from the first whose end is behind it to the
// last that begins at it.
template <typename I, typename X, int type, int p, typename Shape>
struct pool_backward {
  typedef typename Shape::P P;
  typedef typename mx::Real<X>::Type A;
  typedef typename Shape::template Place<I> Place;
  struct Args {
    const X *og, *x, *y;
    X* dx;
    PoolArgs pool;
    long long count;
  };
  // Whether no element of the window before this one has its value.
  static __device__ __forceinline__ bool IsFirst(const Args& args, const Place& at, const typename Shape::Window& w, A value, int j) {
    const PoolArgs& a = args.pool;
    const P q0 = at.q[0], q1 = at.q[1], q2 = at.q[2];
    bool first = true;
    for (P v0 = w.begin[0]; first && v0 <= q0; ++v0)
      for (P v1 = w.begin[1]; first && v1 < w.end[1] && (v0 < q0 || v1 <= q1); ++v1)
        for (P v2 = w.begin[2]; first && v2 < w.end[2] && (v0 < q0 || v1 < q1 || v2 < q2); ++v2)
          first = mx::Load<A>(args.x, at.At(a, a.in, v0, v1, v2) + j) != value;
    return first;
  }
  static __device__ __forceinline__ void Item(const Args& args, I i, long long item) {
    const PoolArgs& a = args.pool;
    const Place at(a, i);
    P from[3], to[3];
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const P q = at.q[d] + Shape::Pad(a, d);
      from[d] = q < Shape::Kernel(a, d) ? 0 : (q - Shape::Kernel(a, d)) / Shape::Stride(a, d) + 1;
      to[d] = q / Shape::Stride(a, d);
    }
    constexpr bool reads = type == kPoolMax || type == kPoolLp;
    A sum[Shape::kWidth], x[Shape::kWidth];
#pragma unroll
    MX_EACH(j) sum[j] = A(0);
    if constexpr (reads) mx::LoadPack<Shape::kWidth>(args.x, item * Shape::kWidth, x);
    for (P u0 = from[0]; u0 <= to[0] && u0 < P(a.out[0]); ++u0)
      for (P u1 = from[1]; u1 <= to[1] && u1 < P(a.out[1]); ++u1)
        for (P u2 = from[2]; u2 <= to[2] && u2 < P(a.out[2]); ++u2) {
          const P out = at.At(a, a.out, u0, u1, u2);
          A g[Shape::kWidth], result[Shape::kWidth];
          mx::LoadPack<Shape::kWidth>(args.og, out, g);
          if constexpr (reads) mx::LoadPack<Shape::kWidth>(args.y, out, result);
          A divisor = A(1);
          if constexpr (type == kPoolAvg) divisor = static_cast<A>(typename Shape::Window(a, u0, u1, u2).divisor);
#pragma unroll
          MX_EACH(j) {
            if constexpr (type == kPoolAvg) {
              sum[j] += g[j] / divisor;
            } else if constexpr (type == kPoolSum) {
              sum[j] += g[j];
            } else if constexpr (type == kPoolLp) {
              if (result[j] != A(0)) {
                const A ratio = Power(x[j] / result[j], p - 1);
                sum[j] += x[j] < A(0) ? -(g[j] * ratio) : g[j] * ratio;
              }
            } else if (result[j] == x[j]) {  // only the first element that holds the maximum
              if (IsFirst(args, at, typename Shape::Window(a, u0, u1, u2), x[j], j)) sum[j] += g[j];
            }
          }
        }
    mx::StorePack<Shape::kWidth>(args.dx, item * Shape::kWidth, sum);
  }
};

// The gradient of a mean or sum over whole planes, which every element of the plane gets. An item
// is four elements.
template <typename I, typename X, bool last, bool large>
struct pool_spread {
  typedef typename mx::Real<X>::Type A;
  typedef typename mx::Choose<large, long long, unsigned>::Type J;
  struct Args {
    const X* og;
    X* dx;
    long long n;
    double share;
    mx::Divisor image, channels;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long item) {
    const long long first = 4 * item;
    const int left = a.n - first < 4 ? static_cast<int>(a.n - first) : 4;
    A v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const J at = static_cast<J>(first + (k < left ? k : 0)), image = mx::Over(at, a.image);
      J from = image;
      if constexpr (last) from = image * static_cast<J>(a.channels.d) + (at - mx::Over(at, a.channels) * static_cast<J>(a.channels.d));
      v[k] = mx::Load<A>(a.og, from) * static_cast<A>(a.share);
    }
    mx::StoreFour(a.dx, first, left, v);
  }
};

// Maxima of small windows: first a byte for each window, the place of the first element that holds
// its maximum, then each element asks the windows that see it.
template <typename I, typename X, typename Shape>
struct pool_places {
  typedef typename mx::Real<X>::Type A;
  typedef mx::Pack<unsigned char, Shape::kWidth> Places;
  struct Args {
    const X *x, *y;
    unsigned char* places;
    PoolArgs pool;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& args, I i, long long item) {
    const PoolArgs& a = args.pool;
    const typename Shape::template Place<I> at(a, i);
    A top[Shape::kWidth];
    mx::LoadPack<Shape::kWidth>(args.y, item * Shape::kWidth, top);
    int place[Shape::kWidth];
#pragma unroll
    MX_EACH(j) place[j] = 255;
    Shape::template EachOfSmallWindow<A>(a, args.x, at, [&](int n, const A(&e)[Shape::kWidth]) {
#pragma unroll
      MX_EACH(j) {
        const int first = place[j] == 255 ? n : place[j];
        place[j] = e[j] == top[j] ? first : place[j];  // selections, no branches
      }
    });
    Places found;
#pragma unroll
    MX_EACH(j) found.v[j] = static_cast<unsigned char>(place[j]);
    *reinterpret_cast<Places*>(args.places + item * Shape::kWidth) = found;
  }
};
template <typename I, typename X, typename Shape>
struct pool_backward_max {
  typedef typename Shape::P P;
  typedef typename mx::Real<X>::Type A;
  typedef mx::Pack<unsigned char, Shape::kWidth> Places;
  struct Args {
    const X* og;
    const unsigned char* places;
    X* dx;
    PoolArgs pool;
    long long count;
  };
  // Windows that see an element along dimension d, at most.
  static __device__ constexpr int Seen(int d) { return (Shape::kKernel[d] + Shape::kStride[d] - 1) / Shape::kStride[d]; }
  static __device__ __forceinline__ void Item(const Args& args, I i, long long item) {
    const PoolArgs& a = args.pool;
    const typename Shape::template Place<I> at(a, i);
    A sum[Shape::kWidth];
#pragma unroll
    MX_EACH(j) sum[j] = A(0);
    constexpr int kSeen1 = Seen(1), kSeen2 = Seen(2);
    P last[3];  // window that sees this element, along each dimension
#pragma unroll
    for (int d = 0; d < 3; ++d) last[d] = (at.q[d] + Shape::Pad(a, d)) / Shape::Stride(a, d);
#pragma unroll
    for (int m = 0; m < Seen(0) * kSeen1 * kSeen2; ++m) {
      const P u0 = last[0] - m / (kSeen1 * kSeen2), u1 = last[1] - m / kSeen2 % kSeen1, u2 = last[2] - m % kSeen2;
      const P n0 = at.q[0] + Shape::Pad(a, 0) - u0 * Shape::Stride(a, 0), n1 = at.q[1] + Shape::Pad(a, 1) - u1 * Shape::Stride(a, 1),
              n2 = at.q[2] + Shape::Pad(a, 2) - u2 * Shape::Stride(a, 2);
      if (u0 >= 0 && u0 < P(a.out[0]) && n0 < Shape::Kernel(a, 0) && u1 >= 0 && u1 < P(a.out[1]) && n1 < Shape::Kernel(a, 1) && u2 >= 0 &&
          u2 < P(a.out[2]) && n2 < Shape::Kernel(a, 2)) {
        const P out = at.At(a, a.out, u0, u1, u2);
        const Places found = *reinterpret_cast<const Places*>(args.places + out);
        A g[Shape::kWidth];
        mx::LoadPack<Shape::kWidth>(args.og, out, g);
        const int own = static_cast<int>((n0 * Shape::Kernel(a, 1) + n1) * Shape::Kernel(a, 2) + n2);
#pragma unroll
        MX_EACH(j) if (found.v[j] == own) sum[j] += g[j];
      }
    }
    mx::StorePack<Shape::kWidth>(args.dx, item * Shape::kWidth, sum);
  }
};

// max and lp: pool_backward transposed, from u (shaped as x) to out (shaped as y).
template <typename I, typename X, int type, int p, typename Shape>
struct pool_gather {
  typedef typename Shape::P P;
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X *u, *x, *y;
    X* out;
    PoolArgs pool;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& args, I i, long long item) {
    const PoolArgs& a = args.pool;
    const typename Shape::template Place<I> at(a, i);
    const typename Shape::Window w(a, at.q[0], at.q[1], at.q[2]);
    A top[Shape::kWidth], sum[Shape::kWidth];
    mx::LoadPack<Shape::kWidth>(args.y, item * Shape::kWidth, top);
    bool open[Shape::kWidth];
#pragma unroll
    MX_EACH(j) sum[j] = A(0), open[j] = top[j] != A(0) || type == kPoolMax;
    w.Each([&](P x, P y, P z) {
      const P from = at.At(a, a.in, x, y, z);
      A e[Shape::kWidth], g[Shape::kWidth];
      mx::LoadPack<Shape::kWidth>(args.x, from, e);
      mx::LoadPack<Shape::kWidth>(args.u, from, g);
#pragma unroll
      MX_EACH(j) {
        if constexpr (type == kPoolMax) {
          if (open[j] && e[j] == top[j]) sum[j] = g[j], open[j] = false;
        } else if (open[j]) {
          const A slope = Power(e[j] / top[j], p - 1);
          sum[j] += e[j] < A(0) ? -(g[j] * slope) : g[j] * slope;
        }
      }
    });
    mx::StorePack<Shape::kWidth>(args.out, item * Shape::kWidth, sum);
  }
};
#undef MX_EACH
}  // namespace kernels
