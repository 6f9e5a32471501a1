// Changes of colour, as in colour_cpu.cc: one thread for each pixel. Amounts are drawn by each
// thread, from the same counters.
#include "operator/random/philox.cuh"
#include "rtc/loop.cuh"

namespace kernels {

enum Kind { kBrightness, kContrast, kSaturation, kHue, kNothing };

template <typename T>
struct Pixel {
  typedef typename mx::Real<T>::Type A;
  static __device__ __forceinline__ void Store(T* to, long long i, A v) {
    if constexpr (mx::IsReal<T>::value)
      mx::Store(to, i, v);
    else
      to[i] = static_cast<T>(v < A(9.2e18) && v > A(-9.2e18) ? static_cast<long long>(v) : 0);
  }
};
template <>
struct Pixel<unsigned char> {
  static __device__ __forceinline__ void Store(unsigned char* to, long long i, float v) {
    v = v > 0.0f ? v : 0.0f;  // NaN is 0
    to[i] = static_cast<unsigned char>(static_cast<int>(v < 255.0f ? v : 255.0f));
  }
};

template <typename A>
__device__ __forceinline__ void TurnHue(A* rgb, A degrees) {
  const A r = rgb[0] / A(255), g = rgb[1] / A(255), b = rgb[2] / A(255);
  const A high = r > g ? (r > b ? r : b) : (g > b ? g : b), low = r < g ? (r < b ? r : b) : (g < b ? g : b), range = high - low;
  const A light = (high + low) * A(0.5);
  if (!(range > A(1.1920928955078125e-07f))) {
    rgb[0] = rgb[1] = rgb[2] = light * A(255);
    return;
  }
  const A saturation = light < A(0.5) ? range / (high + low) : range / (A(2) - high - low), unit = A(60) / range;
  A hue = high == r ? (g - b) * unit : high == g ? (b - r) * unit + A(120) : (r - g) * unit + A(240);
  if (hue < 0) hue += A(360);
  hue = (hue + degrees) * (A(6) / A(360));
  if (!(::fabs(hue) < A(1e6))) hue = 0;
  if (hue < 0 || hue >= 12) hue -= ::floor(hue / A(6)) * A(6);
  if (hue >= 6) hue -= A(6);
  const A upper = light <= A(0.5) ? light * (A(1) + saturation) : light + saturation - light * saturation;
  const A lower = A(2) * light - upper;
  int sector = static_cast<int>(hue);
  if (sector > 5) sector = 5;
  const A part = hue - A(sector), down = lower + (upper - lower) * (A(1) - part), up = lower + (upper - lower) * part;
  rgb[0] = (sector == 0 || sector == 5 ? upper : sector == 1 ? down : sector == 4 ? up : lower) * A(255);
  rgb[1] = (sector == 1 || sector == 2 ? upper : sector == 0 ? up : sector == 3 ? down : lower) * A(255);
  rgb[2] = (sector == 3 || sector == 4 ? upper : sector == 2 ? up : sector == 5 ? down : lower) * A(255);
}

// One change of an image. kind >= 0: that one, by an amount from low to high. kind < 0: step `step`
// of four in an order that is drawn, by amounts around 1 (around 0 for hues).
template <typename T>
struct ChangeArgs {
  const T* from;
  T* to;
  double* mean;  // of the gray, for the contrast
  long long pixels, channels, kind, step;
  double low, high, brightness, contrast, saturation, hue;
  mx::Draws draws;
  long long count;
};

template <typename T>
__device__ __forceinline__ int KindOf(const ChangeArgs<T>& a, float* amount) {
  const mx::Philox draw = mx::Draw(a.draws.Seed(), a.draws.First());
  if (a.kind >= 0) {
    const float low = static_cast<float>(a.low), high = static_cast<float>(a.high);
    *amount = low + (high - low) * mx::ToFloat(draw.w[0]);
    return static_cast<int>(a.kind);
  }
  const mx::Philox order = mx::Draw(a.draws.Seed(), a.draws.First() + 1);
  int kinds[4] = {kBrightness, kContrast, kSaturation, kHue};
  for (int i = 3; i > 0; --i) {
    const int j = static_cast<int>(order.w[i] % static_cast<unsigned>(i + 1)), kept = kinds[i];
    kinds[i] = kinds[j];
    kinds[j] = kept;
  }
  const int kind = kinds[a.step];
  const double wide = kind == kBrightness ? a.brightness : kind == kContrast ? a.contrast : kind == kSaturation ? a.saturation : a.hue;
  const float spread = static_cast<float>(wide);
  if (spread == 0.0f) return kNothing;
  *amount = (kind == kHue ? 0.0f : 1.0f) + (-spread + (spread + spread) * mx::ToFloat(draw.w[kind]));
  return kind;
}

// Mean brightness of the image, by one block.
template <typename T>
struct mean_gray {
  typedef typename mx::Real<T>::Type A;
  typedef ChangeArgs<T> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long) {
    __shared__ double shared[256];
    float amount = 0;
    if (KindOf(a, &amount) != kContrast) return;
    double sum = 0;
    for (long long i = threadIdx.x; i < a.pixels; i += 256) {
      if (a.channels == 1) {
        sum += static_cast<double>(mx::Load<A>(a.from, i));
      } else {
        const A r = mx::Load<A>(a.from, 3 * i), g = mx::Load<A>(a.from, 3 * i + 1), b = mx::Load<A>(a.from, 3 * i + 2);
        sum += static_cast<double>(r * A(0.299f) + g * A(0.587f) + b * A(0.114f));
      }
    }
    sum = mx::BlockSum(sum, shared);
    if (threadIdx.x == 0) *a.mean = sum / static_cast<double>(a.pixels);
  }
};

template <typename I, typename T>
struct recolour {
  typedef typename mx::Real<T>::Type A;
  typedef ChangeArgs<T> Args;
  static __device__ __forceinline__ void Item(const Args& a, I, long long pixel) {
    float amount = 1;
    const int kind = KindOf(a, &amount);
    const long long at = pixel * a.channels;
    const bool scale = kind == kBrightness || kind == kContrast;
    if (kind == kNothing || (a.channels == 1 && !scale)) {
      for (long long c = 0; c < a.channels; ++c) a.to[at + c] = a.from[at + c];
      return;
    }
    const A by = static_cast<A>(amount);
    if (scale) {
      const A add = kind == kContrast ? static_cast<A>(static_cast<float>(static_cast<double>(1 - amount) * *a.mean)) : A(0);
      for (long long c = 0; c < a.channels; ++c) Pixel<T>::Store(a.to, at + c, mx::Load<A>(a.from, at + c) * by + add);
      return;
    }
    A x[3] = {mx::Load<A>(a.from, at), mx::Load<A>(a.from, at + 1), mx::Load<A>(a.from, at + 2)};
    if (kind == kHue) {
      TurnHue(x, by * A(360));
    } else {
      const A gray = x[2] * A(0.114f) * static_cast<A>(1 - amount);
      for (int c = 0; c < 3; ++c) x[c] = gray + x[c] * by;
    }
    for (int c = 0; c < 3; ++c) Pixel<T>::Store(a.to, at + c, x[c]);
  }
};

// Adds the principal components of colours times alpha, or times amounts that are drawn if
// deviation >= 0.
template <typename I, typename T>
struct light {
  typedef typename mx::Real<T>::Type A;
  struct Args {
    const T* from;
    T* to;
    long long channels;
    double alpha[3], components[9], deviation, drawn;
    mx::Draws draws;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long pixel) {
    const long long at = pixel * a.channels;
    if (a.channels == 1) {
      a.to[at] = a.from[at];
      return;
    }
    float alpha[4] = {static_cast<float>(a.alpha[0]), static_cast<float>(a.alpha[1]), static_cast<float>(a.alpha[2]), 0};
    if (a.drawn > 0) {
      const mx::Philox draw = mx::Draw(a.draws.Seed(), a.draws.First());
      for (int i = 0; i < 4; i += 2) {
        const double u = 1.0 - static_cast<double>(mx::ToFloat(draw.w[i])), v = static_cast<double>(mx::ToFloat(draw.w[i + 1]));
        const double radius = ::sqrt(-2 * ::log(u)) * a.deviation, angle = 6.283185307179586 * v;
        alpha[i] = static_cast<float>(radius * ::cos(angle));
        alpha[i + 1] = static_cast<float>(radius * ::sin(angle));
      }
    }
    for (int c = 0; c < 3; ++c) {
      float sum = 0;
      for (int i = 0; i < 3; ++i) sum += static_cast<float>(a.components[3 * c + i]) * alpha[i];
      Pixel<T>::Store(a.to, at + c, mx::Load<A>(a.from, at + c) + static_cast<A>(sum));
    }
  }
};

}  // namespace kernels
