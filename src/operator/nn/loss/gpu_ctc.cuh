// Connectionist temporal classification, as ctc_loss.cc: the variables of the states at each step
// in logarithms, in rows of `most` states. A block for each sequence.
#include "rtc/loop.cuh"

namespace kernels {

// Lengths of sequences and labels; a wrong label goes to `finding`, the first one as the largest
// number.
template <typename I>
struct ctc_labels {
  struct Args {
    const long long *label, *data_lengths, *label_lengths;
    long long *lengths, *counts;
    unsigned long long* finding;
    long long steps, width, classes, blank, padding;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long steps = a.data_lengths ? a.data_lengths[i] : a.steps, n = 0;
    a.lengths[i] = steps < 0 ? 0 : steps > a.steps ? a.steps : steps;
    for (; n < a.width; ++n) {
      const long long at = static_cast<long long>(i) * a.width + n, l = a.label[at];
      if (a.label_lengths ? n >= a.label_lengths[i] : l == a.padding) break;
      if (l < 0 || l >= a.classes || l == a.blank) {
        atomicMax(a.finding, static_cast<unsigned long long>(a.count * a.width - at));
        break;
      }
    }
    a.counts[i] = n;
  }
};

__device__ __forceinline__ double Nothing() { return -static_cast<double>(__int_as_float(0x7f800000)); }
__device__ __forceinline__ double LogAdd(double p, double q) {
  const double high = p < q ? q : p, low = p < q ? p : q;
  return low == Nothing() ? high : high + ::log1p(::exp(low - high));
}

template <typename Og, typename Out>
struct CtcArgs {
  const double* logp;
  const long long *label, *lengths, *counts;
  const Og* ograd;
  Out* out;
  double* workspace;
  long long steps, batch, classes, width, most, blank;
  long long count;
};

// The forward variables of one sequence, and the logarithm of its probability.
template <typename Args>
struct CtcSequence {
  const Args& a;
  long long row, steps, labels, states, stride;
  const long long* label;
  const double* logp;
  double* alpha;
  __device__ __forceinline__ CtcSequence(const Args& args, long long r) : a(args), row(r) {
    steps = a.lengths[row], labels = a.counts[row], states = 2 * labels + 1, stride = a.batch * a.classes;
    label = a.label + row * a.width;
    logp = a.logp + row * a.classes;
    alpha = a.workspace + row * (a.steps + 2) * a.most;
  }
  __device__ __forceinline__ double Forward() const {
    if (steps <= 0) return Nothing();
    for (long long t = 0; t < steps; ++t) {
      const double* before = alpha + (t - 1) * a.most;
      for (long long s = threadIdx.x; s < states; s += 256) {
        const long long symbol = s % 2 ? label[s / 2] : a.blank;
        double v = Nothing();
        if (t == 0) {
          if (s < 2) v = 0;
        } else {
          v = before[s];
          if (s >= 1) v = LogAdd(v, before[s - 1]);
          if (s % 2 && s >= 3 && label[s / 2] != label[s / 2 - 1]) v = LogAdd(v, before[s - 2]);
        }
        alpha[t * a.most + s] = v + logp[t * stride + symbol];
      }
      __syncthreads();
    }
    const double* end = alpha + (steps - 1) * a.most;
    return states > 1 ? LogAdd(end[states - 1], end[states - 2]) : end[0];
  }
  // The backward variables of step t in `next` from those of step t + 1 in `beta`; they exclude the
  // step's own probability.
  __device__ __forceinline__ void Backward(long long t, const double* beta, double* next) const {
    const double* p = logp + (t + 1) * stride;
    for (long long s = threadIdx.x; s < states; s += 256) {
      double v = s + 2 >= states ? 0.0 : Nothing();
      if (t < steps - 1) {
        v = beta[s] + p[s % 2 ? label[s / 2] : a.blank];
        if (s + 1 < states) v = LogAdd(v, beta[s + 1] + p[(s + 1) % 2 ? label[(s + 1) / 2] : a.blank]);
        if (s % 2 && s + 2 < states && label[s / 2 + 1] != label[s / 2]) v = LogAdd(v, beta[s + 2] + p[label[s / 2 + 1]]);
      }
      next[s] = v;
    }
  }
  // The gradient of step t.
  __device__ __forceinline__ void Gradient(long long t, const double* beta, double total, double scale, double* shared) const {
    const double* here = alpha + t * a.most;
    const long long to = (t * a.batch + row) * a.classes;
    double blank = 0;
    for (long long s = 2 * static_cast<long long>(threadIdx.x); s < states; s += 512) blank += ::exp(here[s] + beta[s] - total);
    blank = mx::BlockSum(blank, shared);
    for (long long k = threadIdx.x; k < a.classes; k += 256)
      mx::Store(a.out, to + k, scale * (::exp(logp[t * stride + k]) - (k == a.blank ? blank : 0.0)));
    __syncthreads();
    for (long long j = threadIdx.x; j < labels; j += 256) {  // the first of equal labels speaks for all
      bool first = true;
      for (long long m = 0; first && m < j; ++m) first = label[m] != label[j];
      if (!first) continue;
      double occupied = 0;
      for (long long m = j; m < labels; ++m)
        if (label[m] == label[j]) occupied += ::exp(here[2 * m + 1] + beta[2 * m + 1] - total);
      mx::Store(a.out, to + label[j], scale * (::exp(logp[t * stride + label[j]]) - occupied));
    }
    __syncthreads();
  }
};

template <typename Og, typename Out>
struct ctc {
  typedef CtcArgs<Og, Out> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    const double total = CtcSequence<Args>(a, row).Forward();
    if (threadIdx.x == 0) mx::Store(a.out, row, total == Nothing() ? 0.0 : -total);
  }
};

template <typename Og, typename Out>
struct ctc_backward {
  typedef CtcArgs<Og, Out> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    const CtcSequence<Args> s(a, row);
    const double total = s.Forward(), scale = mx::Load<double>(a.ograd, row);
    for (long long t = total == Nothing() ? 0 : s.steps; t < a.steps; ++t)
      for (long long k = threadIdx.x; k < a.classes; k += 256) mx::Store(a.out, (t * a.batch + row) * a.classes + k, 0.0);
    if (total == Nothing()) return;
    double *beta = s.alpha + a.steps * a.most, *next = beta + a.most;
    for (long long t = s.steps - 1; t >= 0; --t) {
      s.Backward(t, beta, next);
      __syncthreads();
      double* const kept = beta;
      beta = next;
      next = kept;
      s.Gradient(t, beta, total, scale, shared);
    }
  }
};
}  // namespace kernels
