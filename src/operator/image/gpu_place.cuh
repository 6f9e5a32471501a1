// Flips by chance, and borders.
#include "operator/random/philox.cuh"
#include "rtc/loop.cuh"

namespace kernels {

// The element of an image that shows at place i of its mirror image.
__device__ __forceinline__ long long Mirrored(long long i, long long height, long long width, long long channels, long long rows) {
  const long long c = i % channels, x = i / channels % width, y = i / channels / width;
  return rows ? ((height - 1 - y) * width + x) * channels + c : (y * width + width - 1 - x) * channels + c;
}

template <typename I, typename T>
struct random_flip {
  struct Args {
    const T* from;
    T* to;
    int* flipped;
    long long height, width, channels, rows;
    double p;
    mx::Draws draws;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const bool flip = mx::ToFloat(mx::Draw(a.draws.Seed(), a.draws.First()).w[0]) < static_cast<float>(a.p);
    if (i == 0 && a.flipped) *a.flipped = flip;
    if (a.to) a.to[i] = a.from[flip ? Mirrored(i, a.height, a.width, a.channels, a.rows) : i];
  }
};

template <typename I, typename T>
struct flip_back {
  struct Args {
    const T* from;
    T* to;
    const int* flipped;
    long long height, width, channels, rows;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    a.to[i] = a.from[*a.flipped ? Mirrored(i, a.height, a.width, a.channels, a.rows) : i];
  }
};

enum BorderType { kConstant, kReplicate, kReflect, kWrap, kReflect101 };

// The place from 0 to n - 1 that place i shows; -1: the value.
__device__ __forceinline__ long long Shown(long long i, long long n, long long type) {
  if (i >= 0 && i < n) return i;
  if (type == kConstant) return -1;
  if (type == kReplicate) return i < 0 ? 0 : n - 1;
  if (type == kWrap) return (i % n + n) % n;
  if (n == 1) return 0;
  const long long edge = type == kReflect101 ? 1 : 0, period = 2 * (n - edge), at = (i % period + period) % period;
  return at < n ? at : period - 1 + edge - at;
}

template <typename I, typename T>
struct border {
  struct Args {
    const T* from;
    T* to;
    long long height, width, channels, wide, top, left, type;
    double values[4];
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long c = i % a.channels;
    const long long x = Shown(i / a.channels % a.wide - a.left, a.width, a.type);
    const long long y = Shown(i / a.channels / a.wide - a.top, a.height, a.type);
    if (x >= 0 && y >= 0)
      a.to[i] = a.from[(y * a.width + x) * a.channels + c];
    else
      mx::StoreNumber(a.to, i, c < 4 ? a.values[c] : 0.0);
  }
};

}  // namespace kernels
