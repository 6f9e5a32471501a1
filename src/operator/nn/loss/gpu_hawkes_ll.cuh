// Log-likelihood of marked Hawkes processes: one thread for each sample; see hawkes_ll.cc.
#include "rtc/loop.cuh"

namespace kernels {

template <typename X>
struct HawkesArgs {
  const X *lda, *alpha, *beta, *state, *lags;
  const int* marks;
  const X *lengths, *max_time, *og;
  X *ll, *result;  // result: the state, or the gradient of lda
  double *parts, *scratch;
  long long num_marks, events;
  long long count;
};

// visit(mark, time since its last event, whether it is an event) for all events, and for all marks
// at the end.
template <typename X, typename F>
__device__ __forceinline__ void Pass(const HawkesArgs<X>& a, long long n, double* last, F visit) {
  for (long long k = 0; k < a.num_marks; ++k) last[k] = 0;
  const double given = mx::Load<double>(a.lengths, n), most = static_cast<double>(a.events);
  const long long length = given > 0 ? static_cast<long long>(given < most ? given : most) : 0;
  double time = 0;
  for (long long i = n * a.events; i < n * a.events + length; ++i) {
    time += mx::Load<double>(a.lags, i);
    const long long k = a.marks[i];
    if (k < 0 || k >= a.num_marks) continue;
    visit(k, time - last[k], true);
    last[k] = time;
  }
  for (long long k = 0; k < a.num_marks; ++k) visit(k, mx::Load<double>(a.max_time, n) - last[k], false);
}

template <typename I, typename X>
struct hawkes_ll {
  typedef HawkesArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long n) {
    double *last = a.scratch + 2 * n * a.num_marks, *state = last + a.num_marks, ll = 0;
    for (long long k = 0; k < a.num_marks; ++k) state[k] = mx::Load<double>(a.state, n * a.num_marks + k);
    Pass(a, n, last, [&](long long k, double lag, bool event) {
      const double background = mx::Load<double>(a.lda, n * a.num_marks + k), alpha = mx::Load<double>(a.alpha, k);
      const double beta = mx::Load<double>(a.beta, k), left = state[k] * ::exp(-beta * lag);
      if (event) ll += ::log(background + alpha * beta * left);
      ll -= background * lag + alpha * (state[k] - left);
      state[k] = left + (event ? 1 : 0);
    });
    if (a.ll) mx::Store(a.ll, n, ll);
    if (a.result)
      for (long long k = 0; k < a.num_marks; ++k) mx::Store(a.result, n * a.num_marks + k, state[k]);
  }
};

template <typename I, typename X>
struct hawkes_ll_back {
  typedef HawkesArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long n) {
    double *last = a.scratch + 4 * n * a.num_marks, *state = last + a.num_marks, *slope = state + a.num_marks;
    double *by_lda = slope + a.num_marks, *by_alpha = a.parts + 2 * n * a.num_marks, *by_beta = by_alpha + a.num_marks;
    for (long long k = 0; k < a.num_marks; ++k) {
      state[k] = mx::Load<double>(a.state, n * a.num_marks + k);
      slope[k] = by_lda[k] = by_alpha[k] = by_beta[k] = 0;
    }
    Pass(a, n, last, [&](long long k, double lag, bool event) {
      const double alpha = mx::Load<double>(a.alpha, k), beta = mx::Load<double>(a.beta, k), decay = ::exp(-beta * lag);
      const double left = state[k] * decay, left_slope = (slope[k] - lag * state[k]) * decay;
      by_lda[k] -= lag;
      by_alpha[k] -= state[k] - left;
      by_beta[k] -= alpha * (slope[k] - left_slope);
      if (event) {
        const double intensity = mx::Load<double>(a.lda, n * a.num_marks + k) + alpha * beta * left;
        by_lda[k] += 1 / intensity;
        by_alpha[k] += beta * left / intensity;
        by_beta[k] += alpha * (left + beta * left_slope) / intensity;
      }
      state[k] = left + (event ? 1 : 0);
      slope[k] = left_slope;
    });
    if (a.result)
      for (long long k = 0; k < a.num_marks; ++k) mx::Store(a.result, n * a.num_marks + k, mx::Load<double>(a.og, n) * by_lda[k]);
  }
};

// The samples' parts, added in order.
template <typename I, typename X>
struct hawkes_ll_sums {
  struct Args {
    const X* og;
    const double* parts;
    X *by_alpha, *by_beta;
    long long batch, num_marks;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long k) {
    double alpha = 0, beta = 0;
    for (long long n = 0; n < a.batch; ++n) {
      const double g = mx::Load<double>(a.og, n);
      alpha += g * a.parts[2 * n * a.num_marks + k];
      beta += g * a.parts[(2 * n + 1) * a.num_marks + k];
    }
    if (a.by_alpha) mx::Store(a.by_alpha, k, alpha);
    if (a.by_beta) mx::Store(a.by_beta, k, beta);
  }
};
}  // namespace kernels
