// Discrete Fourier transforms of rows of pairs (real part, imaginary part).
#include "rtc/loop.cuh"

namespace kernels {

template <typename A>
struct Number {
  A re, im;
};
template <typename A>
__device__ __forceinline__ Number<A> Times(Number<A> a, Number<A> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// exp(-2 pi i k / n)
template <typename A>
__device__ __forceinline__ Number<A> Turn(long long k, long long n) {
  const double angle = -6.283185307179586477 * static_cast<double>(k) / static_cast<double>(n);
  return {static_cast<A>(::cos(angle)), static_cast<A>(::sin(angle))};
}
// exp(-pi i k^2 / n)
template <typename A>
__device__ __forceinline__ Number<A> Chirp(long long k, long long n) {
  const unsigned long long square = static_cast<unsigned long long>(k) * static_cast<unsigned long long>(k);
  return Turn<A>(static_cast<long long>(square % static_cast<unsigned long long>(2 * n)), 2 * n);
}

template <typename A>
struct StageArgs {
  const A* x;
  A* y;
  long long n, step;
  long long count;
};
// Item: transform of length r at (row, p, q); see fft_plan.h.
template <typename I, typename A, int r>
struct fft_stage {
  typedef StageArgs<A> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long each = a.n / r, row = i / static_cast<I>(each), at = i - row * each, p = at / a.step, q = at - p * a.step;
    const A* x = a.x + 2 * (row * a.n + q + a.step * p);
    A* y = a.y + 2 * (row * a.n + q + a.step * r * p);
    Number<A> in[r];
    for (int k = 0; k < r; ++k) in[k] = {x[2 * k * each], x[2 * k * each + 1]};
    Number<A> small[r];
    for (int k = 0; k < r; ++k) small[k] = Turn<A>(k, r);
    for (int j = 0; j < r; ++j) {
      Number<A> sum = in[0];
      for (int k = 1; k < r; ++k) {
        const Number<A> t = Times(in[k], small[j * k % r]);
        sum.re += t.re, sum.im += t.im;
      }
      sum = Times(sum, Turn<A>(j * p * a.step, a.n));
      y[2 * j * a.step] = sum.re, y[2 * j * a.step + 1] = sum.im;
    }
  }
};

template <typename X, typename Y>
struct MoveArgs {
  const X* from;
  Y* to;
  long long n, size;
  long long count;
};
// Real rows, or pairs with their parts swapped; behind the n elements are zeros.
template <typename I, typename X, typename A, bool inverse, bool chirp>
struct fft_load {
  typedef MoveArgs<X, A> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / static_cast<I>(a.size), k = i - row * a.size;
    Number<A> v = {A(0), A(0)};
    if (k < a.n) {
      const long long at = row * a.n + k;
      if constexpr (inverse)
        v = {mx::Load<A>(a.from, 2 * at + 1), mx::Load<A>(a.from, 2 * at)};
      else
        v = {mx::Load<A>(a.from, at), A(0)};
      if constexpr (chirp) v = Times(v, Chirp<A>(k, a.n));
    }
    a.to[2 * static_cast<long long>(i)] = v.re, a.to[2 * static_cast<long long>(i) + 1] = v.im;
  }
};
// Pairs, or the real parts of swapped ones.
template <typename I, typename A, typename Y, bool inverse, bool chirp>
struct fft_store {
  typedef MoveArgs<A, Y> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / static_cast<I>(a.n), k = i - row * a.n, at = 2 * (row * a.size + k);
    Number<A> v = {a.from[at], a.from[at + 1]};
    if constexpr (chirp) {  // what stands there went through a transform with its parts swapped
      const A scale = A(1) / static_cast<A>(a.size);
      v = Times(Number<A>{v.im * scale, v.re * scale}, Chirp<A>(k, a.n));
    }
    if constexpr (inverse) {
      mx::Store(a.to, i, v.im);
    } else {
      mx::Store(a.to, 2 * static_cast<long long>(i), v.re);
      mx::Store(a.to, 2 * static_cast<long long>(i) + 1, v.im);
    }
  }
};

template <typename A>
struct ChirpArgs {
  A* to;
  long long n;
  long long count;
};
template <typename I, typename A>
struct fft_chirp {
  typedef ChirpArgs<A> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long back = a.count - i, k = i < a.n ? i : back < a.n ? back : -1;
    const Number<A> v = k < 0 ? Number<A>{A(0), A(0)} : Chirp<A>(k, a.n);
    a.to[2 * i] = v.re, a.to[2 * i + 1] = -v.im;
  }
};
template <typename A>
struct MultiplyArgs {
  A* x;
  const A* filter;
  long long size;
  long long count;
};
// x times the filter, with the parts swapped.
template <typename I, typename A>
struct fft_multiply {
  typedef MultiplyArgs<A> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long k = i % a.size;
    const Number<A> v = Times(Number<A>{a.x[2 * i], a.x[2 * i + 1]}, Number<A>{a.filter[2 * k], a.filter[2 * k + 1]});
    a.x[2 * i] = v.im, a.x[2 * i + 1] = v.re;
  }
};
}  // namespace kernels
