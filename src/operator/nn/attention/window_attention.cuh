// Attention within a sliding window (window_attention_cpu.cc): one thread for each number of the
// result.
#include "rtc/loop.cuh"

namespace kernels {

struct WindowSizes {
  long long steps, heads, size, width, w;
};

// Rows are (batch, step, head); neighbours are multiples of `heads` rows away.
template <typename N>
__device__ __forceinline__ long long NeighbourStep(const WindowSizes& s, const N* dilation, long long row, long long j, bool back,
                                                   long long* step) {
  const long long head = row % s.heads;
  *step = row / s.heads % s.steps;
  long long d = mx::Load<long long>(dilation, head);
  d = d < -s.steps ? -s.steps : d > s.steps ? s.steps : d;
  return *step + (j - s.w) * (back ? -d : d);
}

template <typename I, typename T, typename N>
struct window_score {
  typedef typename mx::Real<T>::Type A;
  struct Args {
    T* out;
    const T* query;
    const T* key;
    const N* dilation;
    WindowSizes s;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / a.s.width, j = i - row * a.s.width;
    long long step;
    const long long other = NeighbourStep(a.s, a.dilation, row, j, false, &step);
    A sum = A(0);
    if (other >= 0 && other < a.s.steps) {
      const long long q = row * a.s.size, k = (row + (other - step) * a.s.heads) * a.s.size;
      for (long long c = 0; c < a.s.size; ++c) sum += mx::Load<A>(a.query, q + c) * mx::Load<A>(a.key, k + c);
    }
    mx::Store(a.out, i, sum);
  }
};

template <typename I, typename T, typename N, bool transposed>
struct WindowSum {
  typedef typename mx::Real<T>::Type A;
  struct Args {
    T* out;
    const T* score;
    const T* value;
    const N* dilation;
    WindowSizes s;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long row = i / a.s.size, c = i - row * a.s.size;
    A sum = A(0);
    for (long long j = 0; j < a.s.width; ++j) {
      long long step;
      const long long other = NeighbourStep(a.s, a.dilation, row, j, transposed, &step);
      if (other < 0 || other >= a.s.steps) continue;
      const long long its = row + (other - step) * a.s.heads;
      sum += mx::Load<A>(a.score, (transposed ? its : row) * a.s.width + j) * mx::Load<A>(a.value, its * a.s.size + c);
    }
    mx::Store(a.out, i, sum);
  }
};
template <typename I, typename T, typename N>
struct window_context : WindowSum<I, T, N, false> {};
template <typename I, typename T, typename N>
struct window_context_transposed : WindowSum<I, T, N, true> {};

template <typename I, typename T, typename N, typename V>
struct window_mask {
  struct Args {
    T* out;
    const T* score;
    const N* dilation;
    const V* valid;
    WindowSizes s;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    typedef typename mx::Real<T>::Type A;
    const long long row = i / a.s.width, j = i - row * a.s.width;
    long long step;
    const long long other = NeighbourStep(a.s, a.dilation, row, j, false, &step);
    const double limit = mx::Load<double>(a.valid, row / (a.s.steps * a.s.heads));
    const bool inside = other >= 0 && other < a.s.steps && double(step) < limit && double(other) < limit;
    mx::Store(a.out, i, inside ? A(1) : A(0));
  }
};

}  // namespace kernels
