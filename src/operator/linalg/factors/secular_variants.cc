#include <algorithm>
#include <cmath>

#include "base/row_vectors.h"
#include "operator/linalg/factors/secular.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using linalg::kSecularStep;
using linalg::SecularEquation;
using linalg::SecularRoot;
using V = Wide<double>::type;
static_assert(Wide<double>::kCount == kSecularStep, "one vector a step");

// The equation's left side, its derivative and the sum of absolute values at origin + x.
struct Sums {
  double value, slope, size;
};
Sums SumsAt(const SecularEquation& e, double origin, double x) {
  V value = {}, slope = {}, size = {};
  for (int64_t i = 0; i < e.count; i += kSecularStep) {
    const V weight = At(e.weights + i), ratio = weight / ((At(e.poles + i) - origin) - x), term = weight * ratio;
    value += term;
    size += term < 0 ? -term : term;
    slope += ratio * ratio;
  }
  const double first = 1 / e.rho;
  return {first + Total<double>(value), Total<double>(slope), first + Total<double>(size)};
}

double Square(double x) { return x * x; }

// One zero of c x^2 - a x + b: the smaller one where a > 0, and none of its digits cancel.
double Zero(double a, double b, double c, bool last) {
  const double root = std::sqrt(std::abs(a * a - 4 * b * c));
  if (last) return a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
  return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

// Between two ends that close in on the root.
class Search {
 public:
  Search(const SecularEquation& e, int64_t j) : e_(e), last_(j + 1 == e.count), left_(last_ ? j - 1 : j) { last_ ? StartLast() : Start(); }

  SecularRoot Find() {
    constexpr int most = 200;  // by halves alone 64-bit numbers need fewer, from any two ends
    for (int step = 0; step < most; ++step) {
      const Sums s = SumsAt(e_, origin_, x_);
      if (!(std::abs(s.value) > e_.tolerance * s.size)) break;
      (s.value < 0 ? low_ : high_) = x_;
      double next = step % 8 == 7 ? (low_ + high_) / 2 : x_ + Step(s);
      if (!(next > low_ && next < high_)) next = (low_ + high_) / 2;
      if (!(next > low_ && next < high_)) break;  // neighbours
      x_ = next;
    }
    return {origin_, x_};
  }

 private:
  void Start() {
    const double gap = e_.poles[left_ + 1] - e_.poles[left_], half = gap / 2;
    const double first = Square(e_.weights[left_]), second = Square(e_.weights[left_ + 1]);
    const double middle = SumsAt(e_, e_.poles[left_], half).value, rest = middle + (first - second) / half;
    at_left_ = middle >= 0;
    origin_ = e_.poles[at_left_ ? left_ : left_ + 1];
    low_ = at_left_ ? 0 : -half;
    high_ = at_left_ ? half : 0;
    // The two poles beside the root as they are, the others as in the middle.
    x_ = at_left_ ? Zero(rest * gap + first + second, first * gap, rest, false)
                  : Zero(first + second - rest * gap, -second * gap, rest, false);
    if (!(x_ > low_ && x_ < high_)) x_ = (low_ + high_) / 2;
  }

  void StartLast() {
    double squares = 0;
    for (int64_t i = 0; i < e_.count; ++i) squares += Square(e_.weights[i]);
    at_left_ = false;
    origin_ = e_.poles[left_ + 1];
    low_ = 0;
    high_ = e_.rho * squares;
    x_ = e_.rho * Square(e_.weights[left_ + 1]);  // without the other poles; the root lies above
    if (!(x_ > low_ && x_ < high_)) x_ = high_ / 2;
    high_ *= 1 + 1e-12;
  }

  // Two poles, of which the near one keeps its weight, and a number, with this value and slope (Li,
  // Solving secular equations stably and efficiently, LAPACK Working Note 89, 1993).
  double Step(const Sums& s) const {
    const double first = (e_.poles[left_] - origin_) - x_, second = (e_.poles[left_ + 1] - origin_) - x_;
    const double near = at_left_ ? first : second, far = at_left_ ? second : first;
    const double c = s.value - far * s.slope - (near - far) * Square(e_.weights[at_left_ ? left_ : left_ + 1] / near);
    const double step = Zero((first + second) * s.value - first * second * s.slope, first * second * s.value, c, last_);
    return step * s.value < 0 ? step : -s.value / s.slope;
  }

  const SecularEquation& e_;
  const bool last_;
  const int64_t left_;  // of the two poles that count most
  bool at_left_;        // the origin is the left one
  double origin_, x_, low_, high_;
};

template <typename T>
void Vectors(int64_t begin, int64_t end, int64_t count, const double* poles, const double* weights, const SecularRoot* roots, T* out,
             int64_t pitch) {
  for (int64_t j = begin; j < end; ++j) {
    const SecularRoot root = roots[j];
    T* row = out + j * pitch;
    V squares = {};
    for (int64_t i = 0; i < count; i += kSecularStep) {
      const V x = At(weights + i) / ((At(poles + i) - root.pole) - root.beside);
      squares += x * x;
      for (int64_t k = 0; k < kSecularStep; ++k) row[i + k] = static_cast<T>(x[k]);
    }
    const T scale = static_cast<T>(1 / std::sqrt(Total<double>(squares)));
    for (int64_t i = 0; i < count; ++i) row[i] *= scale;
  }
}

}  // namespace

void SecularRoots(int64_t begin, int64_t end, const SecularEquation& e, SecularRoot* roots) {
  for (int64_t j = begin; j < end; ++j)
    roots[j] = e.count == 1 ? SecularRoot{e.poles[0], e.rho * Square(e.weights[0])} : Search(e, j).Find();
}

// The product over all roots of the distances to pole i, by that of its distances to the other
// poles (Loewner): each root is divided by the pole that it lies next to, off pole i.
void SecularWeights(int64_t begin, int64_t end, const SecularEquation& e, const SecularRoot* roots, double* weights) {
  for (int64_t first = begin; first < end; first += kSecularStep) {
    const V poles = At(e.poles + first);
    const SecularRoot last = roots[e.count - 1];
    V product = last.beside - (poles - last.pole);
    for (int64_t j = 0; j + 1 < e.count; ++j) {
      const V to_root = (poles - roots[j].pole) - roots[j].beside;
      V to_pole = poles - e.poles[j < first ? j : j + 1];
      if (j >= first && j < first + kSecularStep)
        for (int64_t k = j - first + 1; k < kSecularStep; ++k) to_pole[k] = poles[k] - e.poles[j];
      product *= to_root / to_pole;
    }
    for (int64_t k = 0; k < kSecularStep; ++k) {
      const int64_t i = first + k;
      weights[i] = i < e.count ? std::copysign(std::sqrt(product[k]), e.weights[i]) : 0;
    }
  }
}

void SecularVectors(bool wide, int64_t begin, int64_t end, int64_t count, const double* poles, const double* weights,
                    const SecularRoot* roots, void* out, int64_t pitch) {
  wide ? Vectors(begin, end, count, poles, weights, roots, static_cast<double*>(out), pitch)
       : Vectors(begin, end, count, poles, weights, roots, static_cast<float*>(out), pitch);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
