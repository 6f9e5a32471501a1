// Padding of volumes (planes, depth, height, width).
#include "rtc/loop.cuh"

namespace kernels {

enum PadMode { kConstant, kEdge, kReflect };  // as PadParam::mode

// A dimension: its size, that of the padded array, and the places before it.
struct PadDim {
  long long small, large, before;
};

// The element that place s of a dimension shows, or -1.
template <int mode>
__device__ __forceinline__ long long PadSource(long long s, long long size) {
  static_assert(mode == kConstant || mode == kEdge || mode == kReflect, "a mode of padding");
  if (s >= 0 && s < size) return s;
  if constexpr (mode == kEdge) return s < 0 ? 0 : size - 1;
  if constexpr (mode == kReflect) return s < 0 ? -s : 2 * (size - 1) - s;
  return -1;
}
template <typename I, typename X, int mode>
struct pad {
  struct Args {
    X *small, *large;
    PadDim d, h, w;
    double value;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i;
    const I w = rest % static_cast<I>(a.w.large);
    rest /= static_cast<I>(a.w.large);
    const I h = rest % static_cast<I>(a.h.large);
    rest /= static_cast<I>(a.h.large);
    const I d = rest % static_cast<I>(a.d.large);
    rest /= static_cast<I>(a.d.large);
    const long long x = PadSource<mode>(static_cast<long long>(w) - a.w.before, a.w.small),
                    y = PadSource<mode>(static_cast<long long>(h) - a.h.before, a.h.small),
                    z = PadSource<mode>(static_cast<long long>(d) - a.d.before, a.d.small);
    if (x >= 0 && y >= 0 && z >= 0)
      a.large[i] = a.small[((rest * a.d.small + z) * a.h.small + y) * a.w.small + x];
    else
      mx::StoreNumber(a.large, i, a.value);
  }
};

// The places that show element s along one dimension: Count of them, number c is Place, or -1.
template <int mode>
struct PadPlaces {
  static __device__ __forceinline__ long long Count(long long s, const PadDim& dim) {
    if constexpr (mode == kEdge) return 1 + (s == 0 ? dim.before : 0) + (s == dim.small - 1 ? dim.large - dim.before - dim.small : 0);
    return mode == kConstant ? 1 : 3;
  }
  static __device__ __forceinline__ long long Place(long long c, long long s, const PadDim& dim) {
    if constexpr (mode == kEdge) return (s == 0 ? 0 : s + dim.before) + c;
    if constexpr (mode == kReflect) {
      if (c == 0) return s + dim.before;
      const long long at = c == 1 ? dim.before - s : dim.before + 2 * (dim.small - 1) - s;
      return (c == 1 ? s > 0 && at >= 0 : s < dim.small - 1 && at < dim.large) ? at : -1;
    }
    return s + dim.before;
  }
  // f(place)
  template <typename F>
  static __device__ __forceinline__ void Each(long long s, const PadDim& dim, F f) {
    for (long long c = 0; c < Count(s, dim); ++c) {
      const long long place = Place(c, s, dim);
      if (place >= 0) f(place);
    }
  }
};
template <typename I, typename X, int mode>
struct pad_backward {
  typedef typename mx::Choose<mx::IsReal<X>::value, typename mx::Real<X>::Type, long long>::Type A;
  struct Args {
    X *small, *large;
    PadDim d, h, w;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    I rest = i;
    const long long w = rest % static_cast<I>(a.w.small);
    rest /= static_cast<I>(a.w.small);
    const long long h = rest % static_cast<I>(a.h.small);
    rest /= static_cast<I>(a.h.small);
    const long long d = rest % static_cast<I>(a.d.small);
    rest /= static_cast<I>(a.d.small);
    A sum = A(0);
    typedef PadPlaces<mode> Places;
    Places::Each(d, a.d, [&](long long z) {
      Places::Each(h, a.h, [&](long long y) {
        Places::Each(w, a.w, [&](long long x) { sum += mx::Load<A>(a.large, ((rest * a.d.large + z) * a.h.large + y) * a.w.large + x); });
      });
    });
    mx::Store(a.small, i, sum);
  }
};
}  // namespace kernels
