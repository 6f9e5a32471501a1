// Bilinear samples of one image (channels, h, w) at places that are moved by offsets, and their
// gradients. Columns are (channels, taps, positions).
#include "rtc/loop.cuh"

namespace kernels {

template <typename X, typename G>
struct DeformArgs {
  const X *data, *offset, *mask;
  G* columns;
  long long channels, h, w, groups, oh, ow;
  long long kernel[2], stride[2], dilate[2], pad[2];
  long long nearest;
};

// The place of element `tap` of the window in one group, and its four pixels.
template <typename X>
struct Sample {
  typedef typename mx::Real<X>::Type A;
  A y, x, factor;
  bool in;
  template <typename Args>
  __device__ __forceinline__ Sample(const Args& a, long long group, long long tap, long long position) {
    const long long positions = a.oh * a.ow, k = group * a.kernel[0] * a.kernel[1] + tap;
    y = static_cast<A>(position / a.ow * a.stride[0] - a.pad[0]) + static_cast<A>(tap / a.kernel[1] * a.dilate[0]) +
        mx::Load<A>(a.offset, 2 * k * positions + position);
    x = static_cast<A>(position % a.ow * a.stride[1] - a.pad[1]) + static_cast<A>(tap % a.kernel[1] * a.dilate[1]) +
        mx::Load<A>(a.offset, (2 * k + 1) * positions + position);
    factor = a.mask ? mx::Load<A>(a.mask, k * positions + position) : A(1);
    const bool behind = a.nearest ? y >= A(0) && x >= A(0) : y > A(-1) && x > A(-1);
    in = behind && y < static_cast<A>(a.h) && x < static_cast<A>(a.w);
  }
  // What pixel (row, column) counts along one axis; `slope`: the derivative by the place.
  static __device__ __forceinline__ A Axis(A at, long long pixel, long long size, bool nearest, A* slope) {
    *slope = A(0);
    if (nearest && at >= static_cast<A>(size - 1)) return pixel == size - 1 ? A(1) : A(0);
    const long long low = static_cast<long long>(::floor(at));
    if (pixel < 0 || pixel >= size || (pixel != low && pixel != low + 1)) return A(0);
    const A part = at - static_cast<A>(low);
    *slope = pixel == low ? A(-1) : A(1);
    return pixel == low ? A(1) - part : part;
  }
  // The value, and its derivatives by the place.
  template <typename Args>
  __device__ __forceinline__ A Value(const Args& a, long long channel, A* down, A* right) const {
    A sum = A(0);
    *down = *right = A(0);
    if (!in) return sum;
    const long long y0 = static_cast<long long>(::floor(y)), x0 = static_cast<long long>(::floor(x));
    for (long long i = 0; i < 2; ++i)
      for (long long j = 0; j < 2; ++j) {
        A dy, dx;
        const A wy = Axis(y, y0 + i, a.h, a.nearest != 0, &dy), wx = Axis(x, x0 + j, a.w, a.nearest != 0, &dx);
        if (y0 + i < 0 || y0 + i >= a.h || x0 + j < 0 || x0 + j >= a.w) continue;
        const A pixel = mx::Load<A>(a.data, (channel * a.h + y0 + i) * a.w + x0 + j);
        sum += wy * wx * pixel, *down += dy * wx * pixel, *right += wy * dx * pixel;
      }
    return sum;
  }
};

template <typename I, typename X, typename G>
struct deform_columns {
  typedef typename mx::Real<X>::Type A;
  struct Args : DeformArgs<X, G> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I positions = static_cast<I>(a.oh * a.ow), taps = static_cast<I>(a.kernel[0] * a.kernel[1]);
    const long long position = i % positions, row = i / positions, channel = row / taps;
    const Sample<X> s(a, channel / (a.channels / a.groups), row % taps, position);
    A down, right;
    mx::Store(a.columns, i, s.Value(a, channel, &down, &right) * s.factor);
  }
};

// By offset and mask, from the columns' gradients.
template <typename I, typename X, typename G>
struct deform_place_grads {
  typedef typename mx::Real<X>::Type A;
  struct Args : DeformArgs<X, G> {
    X *offset_grad, *mask_grad;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long positions = a.oh * a.ow, taps = a.kernel[0] * a.kernel[1], own = a.channels / a.groups;
    const long long position = i % positions, k = i / positions, group = k / taps, tap = k % taps;
    const Sample<X> s(a, group, tap, position);
    A down = A(0), right = A(0), factor = A(0);
    for (long long channel = group * own; s.in && channel < (group + 1) * own; ++channel) {
      A dy, dx;
      const A v = s.Value(a, channel, &dy, &dx), g = mx::Load<A>(a.columns, (channel * taps + tap) * positions + position);
      factor += v * g, down += dy * s.factor * g, right += dx * s.factor * g;
    }
    if (a.offset_grad) {
      mx::Store(a.offset_grad, 2 * k * positions + position, down);
      mx::Store(a.offset_grad, (2 * k + 1) * positions + position, right);
    }
    if (a.mask_grad) mx::Store(a.mask_grad, k * positions + position, factor);
  }
};

// Each pixel looks for the samples that read it: threads of one group look at the same at a time.
template <typename I, typename X, typename G>
struct deform_pixel_grads {
  typedef typename mx::Real<X>::Type A;
  struct Args : DeformArgs<X, G> {
    X* data_grad;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long positions = a.oh * a.ow, taps = a.kernel[0] * a.kernel[1];
    const long long column = i % a.w, row = i / a.w % a.h, channel = i / (a.w * a.h), group = channel / (a.channels / a.groups);
    A sum = A(0);
    for (long long tap = 0; tap < taps; ++tap)
      for (long long position = 0; position < positions; ++position) {
        const Sample<X> s(a, group, tap, position);
        A slope;
        if (!s.in || !(::fabs(s.y - static_cast<A>(row)) < A(1)) || !(::fabs(s.x - static_cast<A>(column)) < A(1))) continue;
        const A weight = Sample<X>::Axis(s.y, row, a.h, a.nearest != 0, &slope) * Sample<X>::Axis(s.x, column, a.w, a.nearest != 0, &slope);
        sum += weight * s.factor * mx::Load<A>(a.columns, (channel * taps + tap) * positions + position);
      }
    mx::Store(a.data_grad, i, sum);
  }
};
}  // namespace kernels
