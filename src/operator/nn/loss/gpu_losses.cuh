// Losses and their gradients.
#include "rtc/loop.cuh"

namespace kernels {

// How many labels are not `ignore`.
template <typename I, typename Label>
struct count_labels {
  struct Args {
    const Label* label;
    unsigned long long* valid;
    double ignore;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    if (mx::Load<double>(a.label, i) != a.ignore) atomicAdd(a.valid, 1ull);
  }
};

// narrow: labels in float, where that holds every class; conversions to double would take longest.
template <typename I, typename Label, typename Y, typename Og, bool narrow, bool probabilities, bool use_ignore, bool has_og>
struct softmax_output_backward {
  typedef typename mx::Real<Y>::Type A;
  typedef typename mx::Choose<narrow, float, double>::Type L;
  struct Args {
    const Label* label;
    const Y* y;
    const Og* og;
    Y* dx;
    const long long* valid;
    mx::Divisor classes, inner;
    double scale, ignore, on, off;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    A scale = static_cast<A>(a.scale);
    if (a.valid) scale = static_cast<A>(a.scale / static_cast<double>(*a.valid > 0 ? *a.valid : 1));
    if constexpr (has_og) scale *= mx::Load<A>(a.og, i);
    if constexpr (probabilities) {
      mx::Store(a.dx, i, (mx::Load<A>(a.y, i) - mx::Load<A>(a.label, i)) * scale);
    } else {
      const I r = mx::Over(i, a.inner), o = mx::Over(r, a.classes), c = r - o * static_cast<I>(a.classes.d);
      const L label = mx::Load<L>(a.label, o * a.inner.d + (i - r * static_cast<I>(a.inner.d)));
      const A target = static_cast<A>(static_cast<L>(c) == ::trunc(label) ? a.on : a.off);
      const bool ignored = use_ignore && label == static_cast<L>(a.ignore);
      mx::Store(a.dx, i, ignored ? A(0) : (mx::Load<A>(a.y, i) - target) * scale);
    }
  }
};

// -log(max(softmax(data)[label], least)) of each row.
template <typename Data, typename Label>
struct cross_entropy {
  typedef typename mx::Real<Data>::Type A;
  struct Args {
    const Data* data;
    const Label* label;
    double* losses;
    long long classes;
    double least;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ A shared[256];
    const long long base = row * a.classes;
    A top = -static_cast<A>(__int_as_float(0x7f800000)), sum = A(0);
    for (long long j = threadIdx.x; j < a.classes; j += 256) {
      const A v = mx::Load<A>(a.data, base + j);
      if (v > top || v != v) top = v;
    }
    top = mx::BlockMax(top, shared);
    for (long long j = threadIdx.x; j < a.classes; j += 256) sum += ::exp(mx::Load<A>(a.data, base + j) - top);
    sum = mx::BlockSum(sum, shared);
    if (threadIdx.x == 0) {
      const double label = mx::Load<double>(a.label, row);
      double p = 0.0;
      if (label > -1 && label < static_cast<double>(a.classes))
        p = static_cast<double>(::exp(mx::Load<A>(a.data, base + static_cast<long long>(label)) - top) / sum);
      a.losses[row] = -::log(p > a.least || p != p ? p : a.least);
    }
  }
};

// The gradient of data from softmax(data), which dx holds.
template <typename I, typename Og, typename Label, typename Dx>
struct cross_entropy_backward {
  typedef typename mx::Real<Dx>::Type A;
  struct Args {
    const Og* og;
    const Label* label;
    Dx* dx;
    long long classes;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.classes);
    const double label = mx::Load<double>(a.label, row);
    const bool hit = label > -1 && label < static_cast<double>(a.classes) &&
                     static_cast<long long>(label) == static_cast<long long>(i - row * static_cast<I>(a.classes));
    mx::Store(a.dx, i, (mx::Load<A>(a.dx, i) - (hit ? A(1) : A(0))) * mx::Load<A>(a.og, 0));
  }
};

template <typename I, typename Label, typename Y, bool sign>
struct regression_backward {
  typedef typename mx::Real<Y>::Type A;
  struct Args {
    const Label* label;
    const Y* y;
    Y* dx;
    double scale;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    A d = mx::Load<A>(a.y, i) - mx::Load<A>(a.label, i);
    if constexpr (sign) d = d > A(0) ? A(1) : A(-1);
    mx::Store(a.dx, i, static_cast<A>(a.scale) * d);
  }
};

// linear: the hinge itself, else its square.
template <typename I, typename Label, typename X, bool linear>
struct svm_backward {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const Label* label;
    const X* x;
    X* dx;
    long long classes;
    double margin, weight;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.classes), c = i - row * static_cast<I>(a.classes);
    const A side = static_cast<double>(c) == ::trunc(mx::Load<double>(a.label, row)) ? A(1) : A(-1),
            apart = static_cast<A>(a.margin) - side * mx::Load<A>(a.x, i), loss = apart > A(0) ? apart : A(0);
    const A slope = linear ? (loss > A(0) ? A(1) : A(0)) : A(2) * loss;
    mx::Store(a.dx, i, -side * static_cast<A>(a.weight) * slope);
  }
};

// MakeLoss: how many elements are above the threshold, and the gradient divided by that.
template <typename I, typename In>
struct count_above {
  struct Args {
    const In* in;
    unsigned long long* valid;
    double threshold;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    if (mx::Load<double>(a.in, i) > a.threshold) atomicAdd(a.valid, 1ull);
  }
};
template <typename I, typename Out, bool add>
struct fill_divided {
  struct Args {
    Out* out;
    const long long* valid;
    double scale;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const double v = a.scale / static_cast<double>(*a.valid > 0 ? *a.valid : 1);
    mx::Store(a.out, i, add ? mx::Load<double>(a.out, i) + v : v);
  }
};
}  // namespace kernels
