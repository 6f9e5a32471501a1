// The matrix is cut into parts of few rows; two neighbours with their eigenvectors become one by a
// secular equation (Cuppen, A divide and conquer method for the symmetric tridiagonal eigenproblem,
// Numerische Mathematik 36, 1981; deflation and the products of blocks as Rutter, A serial
// implementation of Cuppen's divide and conquer algorithm, 1994). Numbers of the matrix are double,
// eigenvectors T.
#include "operator/linalg/factors/divide.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/round_up.h"
#include "operator/linalg/factors/row_kernels.h"
#include "operator/linalg/factors/secular.h"
#include "operator/linalg/factors/small.h"
#include "operator/shared/blas_threads.h"
#include "operator/shared/gemm.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace linalg {
namespace {

constexpr int64_t kLeaf = 32;  // rows of a part that is not cut

// Which columns of an eigenvector are not 0: those of the part's first half, all, the second
// half's. The order of the vectors in matrix products is this one.
enum Columns : uint8_t { kFirst, kBoth, kSecond };

/*
 * All parts together. Part [begin, end) has its eigenvalues in `d`, its vectors as these rows and
 * columns of `from`, and the rows in ascending order in `order`.
 */
template <typename T>
struct Parts {
  explicit Parts(int64_t n)
      : n(n),
        pitch(RowPitch(n)),
        d(n),
        e(n),
        z(n),
        kinds(n),
        order(n),
        first(n * pitch),
        second(n * pitch),
        from(first.get()),
        to(second.get()) {}
  void Swap() { std::swap(from, to); }

  const int64_t n, pitch;
  const HostScratch<double> d, e, z;
  const HostScratch<Columns> kinds;
  const HostScratch<int64_t> order;
  const HostScratch<T> first, second;
  T *from, *to;
};

template <typename T>
int64_t SolveLeaf(const Parts<T>& p, int64_t begin, int64_t end) {
  const int64_t n = end - begin, pitch = RoundUp(n, kSecularStep);
  alignas(64) T rows[kLeaf * kLeaf];
  double e[kLeaf];
  std::copy_n(p.e.get() + begin, n, e);
  const int64_t failed = MXNET_CPU_CALL(SmallTridiagonal)(sizeof(T) == 8, p.d.get() + begin, e, rows, n, pitch);
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(rows + i * pitch, n, p.from + (begin + i) * p.pitch + begin);
    p.order[begin + i] = begin + i;
  }
  std::sort(p.order.get() + begin, p.order.get() + end, [&](int64_t a, int64_t b) { return p.d[a] < p.d[b]; });
  return failed ? begin + failed : 0;
}

// Two neighbours, `middle` the first row of the second.
template <typename T>
class Merge {
 public:
  Merge(const Parts<T>& p, int64_t begin, int64_t middle, int64_t end)
      : p_(p), begin_(begin), middle_(middle), end_(end), n_(end - begin), rho_(2 * std::abs(p.e[middle - 1])), order_(n_), values_(n_) {}

  void Run() {
    Describe();
    Deflate();
    const HostScratch<SecularRoot> roots(kept_);
    if (kept_ > 0) FindVectors(roots.get());
    for (int64_t j = 0; j < kept_; ++j) values_[j] = roots[j].pole + roots[j].beside;
    CopyDropped();
    std::copy_n(values_.get(), n_, p_.d.get() + begin_);
    Sort();
  }

 private:
  bool IsLess(int64_t a, int64_t b) const { return p_.d[a] < p_.d[b]; }
  T* Row(int64_t row) const { return p_.from + row * p_.pitch; }

  // The vector beside rho, and the order of all rows.
  void Describe() {
    const double half = std::sqrt(0.5), sign = std::copysign(half, p_.e[middle_ - 1]);
    for (int64_t r = begin_; r < end_; ++r) {
      const bool first = r < middle_;
      p_.z[r] = first ? half * static_cast<double>(Row(r)[middle_ - 1]) : sign * static_cast<double>(Row(r)[middle_]);
      p_.kinds[r] = first ? kFirst : kSecond;
    }
    const int64_t* rows = p_.order.get();
    std::merge(rows + begin_, rows + middle_, rows + middle_, rows + end_, order_.get(),
               [&](int64_t a, int64_t b) { return IsLess(a, b); });
  }

  // What has no weight is an eigenvector already; of two that have nearly one eigenvalue one gets
  // the weight of both. Kept rows come first in order_, dropped ones last.
  void Deflate() {
    double size = rho_;
    for (int64_t r = begin_; r < end_; ++r) size = std::max(size, std::abs(p_.d[r]));
    const double least = 4 * size * static_cast<double>(std::numeric_limits<T>::epsilon());
    const HostScratch<int64_t> dropped(n_);
    int64_t drops = 0, before = -1;
    kept_ = 0;
    for (int64_t i = 0; i < n_; ++i) {
      const int64_t row = order_[i];
      if (rho_ * std::abs(p_.z[row]) <= least) {
        dropped[drops++] = row;
        continue;
      }
      if (before >= 0 && Unite(before, row, least))
        dropped[drops++] = before;
      else if (before >= 0)
        order_[kept_++] = before;
      before = row;
    }
    if (before >= 0) order_[kept_++] = before;
    std::sort(dropped.get(), dropped.get() + drops, [&](int64_t a, int64_t b) { return IsLess(a, b); });
    std::copy_n(dropped.get(), drops, order_.get() + kept_);
  }

  // Turns two rows so that `a` has no weight, if what that leaves beside the diagonal is little.
  bool Unite(int64_t a, int64_t b, double least) {
    double &za = p_.z[a], &zb = p_.z[b], &da = p_.d[a], &db = p_.d[b];
    const double length = std::hypot(za, zb), c = zb / length, s = za / length;
    if (std::abs((db - da) * c * s) > least) return false;
    za = 0, zb = length;
    const double first = da * c * c + db * s * s;
    db = da * s * s + db * c * c;
    da = first;
    Columns &of_a = p_.kinds[a], &of_b = p_.kinds[b];
    if (of_a != of_b) Widen(a), Widen(b);
    const int64_t from = of_a == kSecond ? middle_ : begin_, to = of_a == kFirst ? middle_ : end_;
    T *x = Row(a), *y = Row(b);
    const T cosine = static_cast<T>(c), sine = static_cast<T>(s);
    for (int64_t k = from; k < to; ++k) {
      const T u = x[k], v = y[k];
      x[k] = cosine * u - sine * v;
      y[k] = sine * u + cosine * v;
    }
    return true;
  }

  void Widen(int64_t row) {
    ClearRest(row, Row(row));
    p_.kinds[row] = kBoth;
  }
  void ClearRest(int64_t row, T* to) const {
    if (p_.kinds[row] == kFirst) std::fill(to + middle_, to + end_, T(0));
    if (p_.kinds[row] == kSecond) std::fill(to + begin_, to + middle_, T(0));
  }

  void FindVectors(SecularRoot* roots) {
    const int64_t padded = RoundUp(kept_, kSecularStep);
    const HostScratch<double> poles(padded), weights(padded), new_weights(padded);
    for (int64_t i = 0; i < padded; ++i) {
      poles[i] = i < kept_ ? p_.d[order_[i]] : kNoPole;
      weights[i] = i < kept_ ? p_.z[order_[i]] : 0;
    }
    const double tolerance = sizeof(T) == 8 ? 8 * std::numeric_limits<double>::epsilon() : 1e-9;
    const SecularEquation equation{kept_, poles.get(), weights.get(), rho_, tolerance};
    const int threads = OmpThreadsForFlops(30 * static_cast<double>(kept_ * kept_));
    ParallelForThreads(threads, kept_, [&](int64_t begin, int64_t end) { MXNET_CPU_CALL(SecularRoots)(begin, end, equation, roots); });
    ParallelForThreads(threads, padded / kSecularStep, [&](int64_t begin, int64_t end) {
      MXNET_CPU_CALL(SecularWeights)(begin * kSecularStep, end * kSecularStep, equation, roots, new_weights.get());
    });
    Multiply(poles.get(), new_weights.get(), roots);
  }

  // The vectors of the equation times those of the two parts, half by half.
  void Multiply(const double* poles, const double* weights, const SecularRoot* roots) {
    const int64_t left = middle_ - begin_, right = end_ - middle_, padded = RoundUp(kept_, kSecularStep), pitch = RowPitch(kept_);
    int64_t counts[3] = {};
    for (int64_t i = 0; i < kept_; ++i) ++counts[p_.kinds[order_[i]]];
    const int64_t in_left = counts[kFirst] + counts[kBoth], in_right = counts[kBoth] + counts[kSecond];
    const HostScratch<T> first(in_left * left), second(in_right * right), vectors(kept_ * pitch);
    const HostScratch<double> poles_here(padded), weights_here(padded);  // in the order of the products
    std::fill(poles_here.get() + kept_, poles_here.get() + padded, kNoPole);
    std::fill(weights_here.get() + kept_, weights_here.get() + padded, 0.0);
    int64_t place[3] = {0, counts[kFirst], in_left};
    for (int64_t i = 0; i < kept_; ++i) {
      const Columns kind = p_.kinds[order_[i]];
      const int64_t at = place[kind]++;
      poles_here[at] = poles[i];
      weights_here[at] = weights[i];
      const T* row = Row(order_[i]);
      if (kind != kSecond) std::copy(row + begin_, row + middle_, first.get() + at * left);
      if (kind != kFirst) std::copy(row + middle_, row + end_, second.get() + (at - counts[kFirst]) * right);
    }
    const double flops = 2 * static_cast<double>(kept_) * static_cast<double>(in_left * left + in_right * right);
    ShareLines(kept_, flops, [&](int64_t begin, int64_t end) {
      MXNET_CPU_CALL(SecularVectors)(sizeof(T) == 8, begin, end, kept_, poles_here.get(), weights_here.get(), roots, vectors.get(), pitch);
      const T* from = vectors.get() + begin * pitch;
      T* to = p_.to + (begin_ + begin) * p_.pitch;
      Gemm(false, false, end - begin, left, in_left, T(1), from, pitch, first.get(), left, T(0), to + begin_, p_.pitch);
      Gemm(false, false, end - begin, right, in_right, T(1), from + counts[kFirst], pitch, second.get(), right, T(0), to + middle_,
           p_.pitch);
    });
  }

  void CopyDropped() {
    for (int64_t j = kept_; j < n_; ++j) {
      const int64_t row = order_[j];
      T* to = p_.to + (begin_ + j) * p_.pitch;
      std::copy(Row(row) + begin_, Row(row) + end_, to + begin_);
      ClearRest(row, to);
      values_[j] = p_.d[row];
    }
  }

  // Kept rows ascend, and dropped ones.
  void Sort() {
    for (int64_t j = 0; j < n_; ++j) order_[j] = begin_ + j;
    const int64_t* rows = order_.get();
    std::merge(rows, rows + kept_, rows + kept_, rows + n_, p_.order.get() + begin_, [&](int64_t a, int64_t b) { return IsLess(a, b); });
  }

  const Parts<T>& p_;
  const int64_t begin_, middle_, end_, n_;
  const double rho_;
  const HostScratch<int64_t> order_;
  const HostScratch<double> values_;
  int64_t kept_ = 0;
};

// f(part) for all parts, on several threads where there is work for them.
template <typename F>
void ForParts(int64_t parts, double flops, const F& f) {
  const int threads = OmpThreadsForFlops(flops);
  ParallelForThreads(parts < threads ? 1 : threads, parts, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

template <typename T>
int64_t Solve(Parts<T>* all) {
  const Parts<T>& p = *all;
  int64_t parts = 1;
  while (parts * kLeaf < p.n) parts *= 2;
  auto border = [&](int64_t i, int64_t of) { return i * p.n / of; };
  for (int64_t i = 1; i < parts; ++i) {
    const int64_t row = border(i, parts);
    p.d[row - 1] -= std::abs(p.e[row - 1]);
    p.d[row] -= std::abs(p.e[row - 1]);
  }
  const HostScratch<int64_t> failed(parts);
  const double rows = static_cast<double>(p.n);
  ForParts(parts, 20 * rows * kLeaf * kLeaf, [&](int64_t i) { failed[i] = SolveLeaf(p, border(i, parts), border(i + 1, parts)); });
  for (int64_t i = 0; i < parts; ++i)
    if (failed[i]) return failed[i];
  for (int64_t left = parts / 2; left >= 1; left /= 2) {
    const double of_each = rows / static_cast<double>(left);
    ForParts(left, of_each * of_each * rows,
             [&](int64_t i) { Merge<T>(p, border(2 * i, 2 * left), border(2 * i + 1, 2 * left), border(i + 1, left)).Run(); });
    all->Swap();
  }
  return 0;
}

}  // namespace

template <typename T>
int64_t DivideAndConquer(int64_t n, T* diagonal, T* beside, T* vectors) {
  SettleBlasThreads();
  const OneBlasThread alone;
  Parts<T> p(n);
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(static_cast<double>(diagonal[i])));
  for (int64_t i = 0; i + 1 < n; ++i) largest = std::max(largest, std::abs(static_cast<double>(beside[i])));
  const int exponent = largest == 0 ? 0 : std::ilogb(largest);
  for (int64_t i = 0; i < n; ++i) {
    p.d[i] = std::ldexp(static_cast<double>(diagonal[i]), -exponent);
    p.e[i] = i + 1 < n ? std::ldexp(static_cast<double>(beside[i]), -exponent) : 0;
  }
  const int64_t failed = Solve(&p);
  if (failed) return failed;
  for (int64_t i = 0; i < n; ++i) {
    diagonal[i] = static_cast<T>(std::ldexp(p.d[p.order[i]], exponent));
    std::copy_n(p.from + p.order[i] * p.pitch, n, vectors + i * n);
  }
  return 0;
}

template int64_t DivideAndConquer(int64_t, float*, float*, float*);
template int64_t DivideAndConquer(int64_t, double*, double*, double*);

}  // namespace linalg
}  // namespace mxnet
