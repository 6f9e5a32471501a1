// Correlations of patches; positions are those of the padded images.
#include "rtc/loop.cuh"

namespace kernels {

template <typename X>
struct CorrelateArgs {
  X *first, *second, *out, *grad;
  long long channels, height, width, rows, columns, kernel, most, stride1, stride2, pad, radius;
  double scale;
  long long count;
};

template <typename A, typename X>
__device__ __forceinline__ A Pixel(const X* plane, long long y, long long x, long long height, long long width) {
  return y >= 0 && y < height && x >= 0 && x < width ? mx::Load<A>(plane, y * width + x) : A(0);
}

template <typename I, typename X, bool multiply>
struct correlate {
  typedef typename mx::Real<X>::Type A;
  typedef CorrelateArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i;
    const long long x = (rest % static_cast<I>(a.columns)) * a.stride1 + a.most - a.pad;
    rest /= static_cast<I>(a.columns);
    const long long y = (rest % static_cast<I>(a.rows)) * a.stride1 + a.most - a.pad;
    rest /= static_cast<I>(a.rows);
    const long long side = 2 * a.radius + 1;
    const long long right = (static_cast<long long>(rest) % side - a.radius) * a.stride2;
    const long long down = (static_cast<long long>(rest) / side % side - a.radius) * a.stride2,
                    n = static_cast<long long>(rest) / side / side;
    A sum = A(0);
    for (long long c = 0; c < a.channels; ++c) {
      const long long plane = (n * a.channels + c) * a.height * a.width;
      for (long long v = y; v < y + a.kernel; ++v)
        for (long long u = x; u < x + a.kernel; ++u) {
          const A one = Pixel<A>(a.first + plane, v, u, a.height, a.width);
          const A other = Pixel<A>(a.second + plane, v + down, u + right, a.height, a.width);
          if constexpr (multiply)
            sum += one * other;
          else
            sum += ::fabs(one - other);
        }
    }
    mx::Store(a.out, i, sum * static_cast<A>(a.scale));
  }
};

// Patches that a pixel is part of, in one direction.
__device__ __forceinline__ void Patches(long long at, long long kernel, long long stride, long long count, long long* begin,
                                        long long* end) {
  *begin = at < kernel ? 0 : (at - kernel) / stride + 1;
  *end = at < 0 ? 0 : (at / stride + 1 < count ? at / stride + 1 : count);
}

// `of`: the gradient of the first or second image.
template <typename I, typename X, bool multiply, int of>
struct correlate_back {
  typedef typename mx::Real<X>::Type A;
  typedef CorrelateArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i;
    const long long x = rest % static_cast<I>(a.width);
    rest /= static_cast<I>(a.width);
    const long long y = rest % static_cast<I>(a.height);
    rest /= static_cast<I>(a.height);
    const long long plane = static_cast<long long>(rest) * a.height * a.width, n = static_cast<long long>(rest) / a.channels;
    const long long side = 2 * a.radius + 1;
    A sum = A(0);
    for (long long k = 0; k < side * side; ++k) {
      const long long down = (k / side - a.radius) * a.stride2, right = (k % side - a.radius) * a.stride2;
      const long long v = of ? y - down : y, u = of ? x - right : x;  // in the first image
      long long r0, r1, c0, c1;
      Patches(v + a.pad - a.most, a.kernel, a.stride1, a.rows, &r0, &r1);
      Patches(u + a.pad - a.most, a.kernel, a.stride1, a.columns, &c0, &c1);
      if (r0 >= r1 || c0 >= c1) continue;
      A g = A(0);
      for (long long r = r0; r < r1; ++r)
        for (long long c = c0; c < c1; ++c) g += mx::Load<A>(a.out, ((n * side * side + k) * a.rows + r) * a.columns + c);
      const A one = Pixel<A>(a.first + plane, v, u, a.height, a.width);
      const A other = Pixel<A>(a.second + plane, v + down, u + right, a.height, a.width);
      if constexpr (multiply) {
        sum += g * (of ? one : other);
      } else {
        sum += (one >= other) == (of == 0) ? g : -g;
      }
    }
    mx::Store(a.grad, i, sum * static_cast<A>(a.scale));
  }
};
}  // namespace kernels
