// Sequences of different lengths. See gpu_sequence.h.
#include "rtc/loop.cuh"

namespace kernels {

template <typename X>
struct SequenceArgs {
  const X* in;
  X* out;
  const long long* lengths;
  long long steps, batch, inner, step_stride, batch_stride;
  // The length of sequence b, which is at least `low`.
  __device__ __forceinline__ long long Length(long long b, long long low) const {
    const long long length = lengths ? lengths[b] : steps;
    return length < low ? low : length > steps ? steps : length;
  }
};
// Step t of sequence b, element k, from the number of an element.
template <typename I>
struct SequencePlace {
  I k;
  long long t, b;
  template <typename Args>
  __device__ __forceinline__ SequencePlace(const Args& a, I i) {
    const I piece = i / static_cast<I>(a.inner);
    k = i - piece * static_cast<I>(a.inner);
    const I rows = static_cast<I>(a.batch_stride == 1 ? a.batch : a.steps), first = piece / rows, second = piece - first * rows;
    t = a.batch_stride == 1 ? first : second;
    b = a.batch_stride == 1 ? second : first;
  }
};

template <typename I, typename X>
struct sequence_mask {
  struct Args : SequenceArgs<X> {
    double value;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const SequencePlace<I> at(a, i);
    if (at.t < a.Length(at.b, 0))
      a.out[i] = a.in[i];
    else
      mx::StoreNumber(a.out, i, a.value);
  }
};

enum SequenceMove { kLast, kLastBack, kReverse };  // as gpu_sequence.h

template <typename I, typename Unit, int move>
struct sequence_move {
  struct Args : SequenceArgs<Unit> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    static_assert(move == kReverse || move == kLast || move == kLastBack, "a SequenceMove");
    if constexpr (move == kLast) {
      const I b = i / static_cast<I>(a.inner), k = i - b * static_cast<I>(a.inner);
      a.out[i] = a.in[(b * a.batch_stride + (a.Length(b, 1) - 1) * a.step_stride) * a.inner + k];
    } else {
      const SequencePlace<I> at(a, i);
      const long long length = a.Length(at.b, move == kLastBack ? 1 : 0);
      if constexpr (move == kLastBack)
        a.out[i] = at.t == length - 1 ? a.in[at.b * a.inner + at.k] : Unit(0);
      else
        a.out[i] = a.in[(at.b * a.batch_stride + (at.t < length ? length - 1 - at.t : at.t) * a.step_stride) * a.inner + at.k];
    }
  }
};
}  // namespace kernels
