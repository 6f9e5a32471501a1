/* A discrete Fourier transform of one length, on the CPU. */
#ifndef MXNET_OPERATOR_SPECTRAL_FFT_PLAN_H_
#define MXNET_OPERATOR_SPECTRAL_FFT_PLAN_H_

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace mxnet {
namespace spectral {

template <typename T>
struct Complex {
  T re, im;
};
template <typename T>
inline Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T>
inline Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T>
inline Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* exp(-2 pi i k / n) for k < n. */
template <typename T>
class Turns {
 public:
  explicit Turns(int64_t n) : values_(static_cast<size_t>(n)) {
    for (int64_t k = 0; k < n; ++k) {
      const double angle = -6.283185307179586477 * static_cast<double>(k) / static_cast<double>(n);
      values_[k] = {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
    }
  }
  Complex<T> At(int64_t k) const { return values_[k]; }

 private:
  std::vector<Complex<T>> values_;
};

constexpr int64_t kLargestRadix = 13;

/* Radices whose product is n, 4 as often as possible; empty if n has larger prime factors. */
inline std::vector<int64_t> Radices(int64_t n) {
  std::vector<int64_t> found;
  for (int64_t r : {4, 2, 3, 5, 7, 11, 13})
    for (; n > 1 && n % r == 0; n /= r) found.push_back(r);
  if (n > 1) found.clear();
  return found;
}
inline bool NeedsChirp(int64_t n) { return n > 1 && Radices(n).empty(); }
/* A power of two that holds the convolution of n elements with a chirp. */
inline int64_t ChirpSize(int64_t n) {
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  return size;
}

template <typename T>
class FftPlan {
 public:
  explicit FftPlan(int64_t n) : n_(n), radices_(Radices(n)), turns_(NeedsChirp(n) ? 0 : n) {
    if (!NeedsChirp(n)) return;
    inner_ = std::make_unique<FftPlan>(ChirpSize(n));
    const int64_t size = inner_->n_;
    chirp_.resize(static_cast<size_t>(n));
    for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), ++k) {  // k * k, of which turns do not count
      const double angle = -3.141592653589793238 * static_cast<double>(square) / static_cast<double>(n);
      chirp_[k] = {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
    }
    std::vector<Complex<T>> work(static_cast<size_t>(inner_->memory()), Complex<T>{0, 0});
    for (int64_t k = 0; k < n; ++k) work[k] = work[(size - k) % size] = {chirp_[k].re, -chirp_[k].im};
    const Complex<T>* z = inner_->Run(work.data());
    filter_.assign(z, z + size);
  }
  int64_t size() const { return n_; }
  /* Elements that Run needs; the first n of them are the input. */
  int64_t memory() const { return inner_ ? inner_->memory() : 2 * n_; }

  /* Where in `work` the transform of work[0..n) is. */
  const Complex<T>* Run(Complex<T>* work) const {
    if (inner_) return RunChirp(work);
    Complex<T>*x = work, *y = work + n_;
    int64_t step = 1;
    for (const int64_t r : radices_) {
      Stage(r, n_ / step / r, step, x, y);
      step *= r;
      std::swap(x, y);
    }
    return x;
  }

 private:
  using C = Complex<T>;

  // Transforms of length r of elements that lie m * step apart, turned for the stages to come.
  void Stage(int64_t r, int64_t m, int64_t step, const C* x, C* y) const {
    for (int64_t p = 0; p < m; ++p) {
      const C* from = x + step * p;
      C* to = y + step * r * p;
      switch (r) {
        case 2: Two(turns_.At(p * step), m * step, step, from, to); break;
        case 4: Four(turns_.At(p * step), turns_.At(2 * p * step), turns_.At(3 * p * step), m * step, step, from, to); break;
        default: Any(r, p, m * step, step, from, to);
      }
    }
  }
  static void Two(C w, int64_t apart, int64_t step, const C* from, C* to) {
#pragma GCC ivdep
    for (int64_t q = 0; q < step; ++q) {
      const C a = from[q], b = from[q + apart];
      to[q] = a + b;
      to[q + step] = (a - b) * w;
    }
  }
  static void Four(C w1, C w2, C w3, int64_t apart, int64_t step, const C* from, C* to) {
#pragma GCC ivdep
    for (int64_t q = 0; q < step; ++q) {
      const C a = from[q], b = from[q + apart], c = from[q + 2 * apart], d = from[q + 3 * apart];
      const C s = a + c, t = a - c, u = b + d, v = b - d;
      const C turned{v.im, -v.re};  // -i v
      to[q] = s + u;
      to[q + step] = (t + turned) * w1;
      to[q + 2 * step] = (s - u) * w2;
      to[q + 3 * step] = (t - turned) * w3;
    }
  }
  void Any(int64_t r, int64_t p, int64_t apart, int64_t step, const C* from, C* to) const {
    C small[kLargestRadix], large[kLargestRadix], a[kLargestRadix];
    for (int64_t j = 0; j < r; ++j) small[j] = turns_.At(j * (n_ / r)), large[j] = turns_.At(j * p * step);
    for (int64_t q = 0; q < step; ++q) {
      for (int64_t i = 0; i < r; ++i) a[i] = from[q + i * apart];
      for (int64_t j = 0; j < r; ++j) {
        C sum = a[0];
        for (int64_t i = 1, at = j; i < r; ++i, at = at + j >= r ? at + j - r : at + j) sum = sum + a[i] * small[at];
        to[q + j * step] = sum * large[j];
      }
    }
  }

  const C* RunChirp(C* work) const {
    const int64_t size = inner_->n_;
    for (int64_t k = 0; k < n_; ++k) work[k] = work[k] * chirp_[k];
    for (int64_t k = n_; k < size; ++k) work[k] = {0, 0};
    const C* z = inner_->Run(work);
    for (int64_t k = 0; k < size; ++k) {  // the inverse: a transform with the parts swapped
      const C product = z[k] * filter_[k];
      work[k] = {product.im, product.re};
    }
    z = inner_->Run(work);
    const T scale = T(1) / static_cast<T>(size);
    for (int64_t k = 0; k < n_; ++k) work[k] = C{z[k].im * scale, z[k].re * scale} * chirp_[k];
    return work;
  }

  int64_t n_;
  std::vector<int64_t> radices_;
  Turns<T> turns_;
  std::unique_ptr<FftPlan> inner_;  // of the convolution
  std::vector<C> chirp_, filter_;
};

}  // namespace spectral
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPECTRAL_FFT_PLAN_H_
