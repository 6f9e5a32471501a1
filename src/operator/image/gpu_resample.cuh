// Resampling as in resample_cpu.cc: one thread for each element of the result. The box that is
// resampled lies in the device's memory, because some operators draw it.
#include "operator/random/philox.cuh"
#include "rtc/loop.cuh"

namespace kernels {

enum Method { kNearest, kLinear, kCubic, kArea, kLanczos, kLinearExact };

struct Box {
  long long y, x, height, width;
};

// A box of the image, fixed or drawn.
template <typename I>
struct choose_box {
  struct Args {
    Box* box;
    long long kind;  // 0: the given one, 1: at a drawn place, 2: of drawn area and ratio
    Box given;
    long long height, width;  // of the image
    double x_low, x_high, y_low, y_high, area_low, area_high, ratio_low, ratio_high;
    long long trials;
    mx::Draws draws;
    long long count;
  };
  static __device__ __forceinline__ double Between(double low, double high, unsigned word) {
    return low + (high - low) * static_cast<double>(mx::ToFloat(word));
  }
  static __device__ __forceinline__ long long Place(double low, double high, long long room, unsigned word) {
    const long long at = static_cast<long long>(Between(low, high, word) * static_cast<double>(room));
    return at < 0 ? 0 : at > room ? room : at;
  }
  static __device__ __forceinline__ Box Placed(const Args& a, long long height, long long width, unsigned word_x, unsigned word_y) {
    return Box{Place(a.y_low, a.y_high, a.height - height, word_y), Place(a.x_low, a.x_high, a.width - width, word_x), height, width};
  }
  static __device__ __forceinline__ void Item(const Args& a, I, long long) {
    *a.box = a.given;
    if (a.kind == 0) return;
    if (a.kind == 1) {
      const mx::Philox draw = mx::Draw(a.draws.Seed(), a.draws.First());
      *a.box = Placed(a, a.given.height, a.given.width, draw.w[0], draw.w[1]);
      return;
    }
    for (long long trial = 0; trial < a.trials; ++trial) {
      const mx::Philox draw = mx::Draw(a.draws.Seed(), a.draws.First() + static_cast<mx::uint64>(trial));
      const double area = Between(a.area_low, a.area_high, draw.w[0]) * static_cast<double>(a.height * a.width);
      const double ratio = ::exp(Between(::log(a.ratio_low), ::log(a.ratio_high), draw.w[1]));
      const long long width = static_cast<long long>(::floor(::sqrt(area * ratio) + 0.5));
      const long long height = static_cast<long long>(::floor(::sqrt(area / ratio) + 0.5));
      if (width < 1 || height < 1 || width > a.width || height > a.height) continue;
      *a.box = Placed(a, height, width, draw.w[2], draw.w[3]);
      return;
    }
  }
};

struct Side {
  long long from, to;
  double inverse, scale;
  __device__ __forceinline__ Side(long long f, long long t)
      : from(f), to(t), inverse(static_cast<double>(t) / static_cast<double>(f)), scale(1. / inverse) {}
  __device__ __forceinline__ long long Whole() const { return static_cast<long long>(::rint(scale)); }
  __device__ __forceinline__ bool IsWhole() const { return ::fabs(scale - ::rint(scale)) < 2.220446049250313e-16; }
};

__device__ __forceinline__ long long Clip(long long i, long long n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

// The weights of up to eight taps around place d; returns the first of them, before clipping.
__device__ __forceinline__ long long Weights(const Side& s, int method, bool area, bool columns, long long d, float* w, int* taps) {
  float f;
  long long at;
  if (area) {
    at = static_cast<long long>(::floor(static_cast<double>(d) * s.scale));
    f = static_cast<float>(static_cast<double>(d + 1) - static_cast<double>(at + 1) * s.inverse);
    f = f <= 0 ? 0.f : f - ::floor(f);
  } else {
    f = static_cast<float>((static_cast<double>(d) + 0.5) * s.scale - 0.5);
    at = static_cast<long long>(::floor(f));
    f -= static_cast<float>(at);
  }
  if (method == kCubic) {
    const float a = -0.75f;
    w[0] = ((a * (f + 1) - 5 * a) * (f + 1) + 8 * a) * (f + 1) - 4 * a;
    w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
    w[2] = ((a + 2) * (1 - f) - (a + 3)) * (1 - f) * (1 - f) + 1;
    w[3] = 1.f - w[0] - w[1] - w[2];
    *taps = 4;
    return at - 1;
  }
  if (method == kLanczos) {
    *taps = 8;
    float sum = 0;
    for (int i = 0; i < 8; ++i) {
      const double y = -(f + 3 - i) * 0.7853981633974483, z = y * 4;
      w[i] = f < 1.1920928955078125e-07f ? (i == 3 ? 1.f : 0.f) : static_cast<float>(::sin(y) * ::sin(z) / (y * y));
      sum += w[i];
    }
    for (int i = 0; i < 8; ++i) w[i] /= sum;
    return at - 3;
  }
  if (columns && at < 0) at = 0, f = 0;
  if (columns && at >= s.from - 1) at = s.from - 1, f = 0;
  w[0] = 1.f - f;
  w[1] = f;
  *taps = 2;
  return at;
}

__device__ __forceinline__ int Fixed(float w) { return static_cast<int>(::rint(w * 2048.f)); }
__device__ __forceinline__ unsigned char Byte(int v) { return static_cast<unsigned char>(v < 0 ? 0 : v > 255 ? 255 : v); }

// What pixel d of the result covers: source pixels first to last, the outer ones in part.
struct Cover {
  long long first, last;
  double begin, end, width;
  bool before, behind;
  __device__ __forceinline__ Cover(const Side& s, long long d) {
    begin = static_cast<double>(d) * s.scale, end = begin + s.scale;
    width = s.scale < static_cast<double>(s.from) - begin ? s.scale : static_cast<double>(s.from) - begin;
    first = static_cast<long long>(::ceil(begin)), last = static_cast<long long>(::floor(end));
    if (last > s.from - 1) last = s.from - 1;
    if (first > last) first = last;
    before = static_cast<double>(first) - begin > 1e-3, behind = end - static_cast<double>(last) > 1e-3;
  }
  __device__ __forceinline__ float Weight(long long at) const {
    if (at < first) return static_cast<float>((static_cast<double>(first) - begin) / width);
    if (at < last) return static_cast<float>(1.0 / width);
    const double rest = end - static_cast<double>(last) < 1. ? end - static_cast<double>(last) : 1.;
    return static_cast<float>((rest < width ? rest : width) / width);
  }
  __device__ __forceinline__ long long Begin() const { return before ? first - 1 : first; }
  __device__ __forceinline__ long long End() const { return behind ? last + 1 : last; }
};

template <typename I, typename T>
struct resample {
  struct Args {
    const T* from;
    T* to;
    const Box* box;
    long long source_height, source_width, channels, height, width, method;
    long long count;
  };
  typedef typename mx::Choose<mx::IsReal<T>::value, T, float>::Type W;  // of bytes: float
  static constexpr bool kBytes = !mx::IsReal<T>::value;

  struct View {
    const T* p;
    long long row, channels;
    __device__ __forceinline__ T At(long long y, long long x) const { return p[y * row + x * channels]; }
  };
  static __device__ __forceinline__ T Rounded(W v) {
    if constexpr (kBytes)
      return Byte(static_cast<int>(::rint(v)));
    else
      return v;
  }
  static __device__ __forceinline__ T Blocks(const View& v, const Side& sy, const Side& sx, long long y, long long x) {
    const long long down = sy.Whole(), across = sx.Whole();
    const bool quarter = kBytes && down == 2 && across == 2 && v.channels != 2 && v.channels < 5;
    W sum = 0;
    for (long long j = 0; j < down; ++j)
      for (long long i = 0; i < across; ++i) sum += static_cast<W>(v.At(y * down + j, x * across + i));
    if (quarter) return static_cast<T>((static_cast<int>(sum) + 2) >> 2);
    return Rounded(sum * static_cast<W>(1.f / static_cast<float>(down * across)));
  }
  static __device__ __forceinline__ T Covered(const View& v, const Side& sy, const Side& sx, long long y, long long x) {
    const Cover rows(sy, y), columns(sx, x);
    W sum = 0;
    for (long long j = rows.Begin(); j < rows.End(); ++j) {
      W line = 0;
      for (long long i = columns.Begin(); i < columns.End(); ++i) line += static_cast<W>(v.At(j, i)) * static_cast<W>(columns.Weight(i));
      sum += static_cast<W>(rows.Weight(j)) * line;
    }
    return Rounded(sum);
  }
  static __device__ __forceinline__ T Exact(const View& v, const Side& sy, const Side& sx, long long y, long long x) {
    long long at[2];
    int part[2];
    for (int k = 0; k < 2; ++k) {
      const Side& s = k ? sx : sy;
      const double f = (static_cast<double>(k ? x : y) + 0.5) * s.scale - 0.5;
      const long long i = static_cast<long long>(::floor(f));
      part[k] = i < 0 || i >= s.from - 1 ? 0 : static_cast<int>(::rint((f - static_cast<double>(i)) * 256));
      at[k] = Clip(i, s.from);
    }
    const long long y1 = Clip(at[0] + 1, sy.from), x1 = Clip(at[1] + 1, sx.from);
    const int upper = static_cast<int>(v.At(at[0], at[1])) * (256 - part[1]) + static_cast<int>(v.At(at[0], x1)) * part[1];
    const int lower = static_cast<int>(v.At(y1, at[1])) * (256 - part[1]) + static_cast<int>(v.At(y1, x1)) * part[1];
    return static_cast<T>((upper * (256 - part[0]) + lower * part[0] + (1 << 15)) >> 16);
  }
  // `vector`: bicubic rows of bytes are mixed in float
  static __device__ __forceinline__ T Separable(const View& v, const Side& sy, const Side& sx, int method, long long y, long long x,
                                                bool vector) {
    float wy[8], wx[8];
    int taps;
    const long long top = Weights(sy, method, method == kArea, false, y, wy, &taps);
    const long long left = Weights(sx, method, method == kArea, true, x, wx, &taps);
    if constexpr (kBytes) {
      int sum = 0;
      float mixed = 0;
      for (int j = 0; j < taps; ++j) {
        int line = 0;
        for (int i = 0; i < taps; ++i) line += static_cast<int>(v.At(Clip(top + j, sy.from), Clip(left + i, sx.from))) * Fixed(wx[i]);
        const int w = Fixed(wy[j]);
        if (taps == 2) {
          sum += (w * (line >> 4)) >> 16;
        } else if (vector && method == kCubic) {
          mixed += static_cast<float>(line) * (static_cast<float>(w) * (1.f / (2048.f * 2048.f)));
        } else {
          sum += line * w;
        }
      }
      if (taps == 2) return static_cast<T>((sum + 2) >> 2);
      return vector && method == kCubic ? Byte(static_cast<int>(::rint(mixed))) : Byte((sum + (1 << 21)) >> 22);
    } else {
      T sum = 0;
      for (int j = 0; j < taps; ++j) {
        T line = 0;
        for (int i = 0; i < taps; ++i) line += v.At(Clip(top + j, sy.from), Clip(left + i, sx.from)) * static_cast<T>(wx[i]);
        sum += line * static_cast<T>(wy[j]);
      }
      return sum;
    }
  }
  static __device__ __forceinline__ T Element(const Args& a, const Box& b, const View& v, long long y, long long x, bool vector) {
    if (b.height == a.height && b.width == a.width) return v.At(y, x);
    const Side sy(b.height, a.height), sx(b.width, a.width);
    int method = static_cast<int>(a.method);
    if (method == kNearest)
      return v.At(Clip(static_cast<long long>(::floor(static_cast<double>(y) * sy.scale)), b.height),
                  Clip(static_cast<long long>(::floor(static_cast<double>(x) * sx.scale)), b.width));
    if (method == kLinearExact) {
      if constexpr (kBytes) return Exact(v, sy, sx, y, x);
      method = kLinear;
    }
    const bool blocks = sy.IsWhole() && sx.IsWhole();
    if (method == kLinear && blocks && sy.Whole() == 2 && sx.Whole() == 2) method = kArea;
    if (method == kArea && sy.scale >= 1 && sx.scale >= 1) return blocks ? Blocks(v, sy, sx, y, x) : Covered(v, sy, sx, y, x);
    return Separable(v, sy, sx, method, y, x, vector);
  }
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const Box b = *a.box;
    const long long c = i % a.channels, x = i / a.channels % a.width, y = i / a.channels / a.width % a.height;
    const long long image = i / a.channels / a.width / a.height, row = a.source_width * a.channels;
    const View v{a.from + (image * a.source_height + b.y) * row + b.x * a.channels + c, row, a.channels};
    a.to[i] = Element(a, b, v, y, x, x * a.channels + c < a.width * a.channels / 8 * 8);
  }
};

}  // namespace kernels
