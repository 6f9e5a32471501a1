// Values computed from positions. A thread has 16 bytes of neighbours.
#include "rtc/prelude.cuh"

namespace kernels {

// Values of position i from three numbers and two counts.
struct FillValue {
  static __device__ __forceinline__ double At(long long, double p, double, double, long long, long long) { return p; }
};
template <bool repeats>
struct FillRange {
  static __device__ __forceinline__ double At(long long i, double p, double q, double, long long, long long n) {
    return p + static_cast<double>(repeats ? i / n : i) * q;
  }
};
struct FillEye {
  static __device__ __forceinline__ double At(long long i, double, double, double, long long m, long long n) {
    return i % n == i / n + m ? 1.0 : 0.0;
  }
};
struct FillPowers {
  static __device__ __forceinline__ double At(long long i, double p, double q, double r, long long, long long) {
    return pow(r, p + static_cast<double>(i) * q);
  }
};
struct FillCycle {
  static __device__ __forceinline__ double At(long long i, double, double, double, long long m, long long n) {
    return static_cast<double>(i / n % m);
  }
};
struct FillTriangle {
  static __device__ __forceinline__ double At(long long i, double, double, double, long long m, long long n) {
    return i % n - i / n <= m ? 1.0 : 0.0;
  }
};
struct FillWindow {
  static __device__ __forceinline__ double At(long long i, double p, double q, double r, long long, long long n) {
    const double x = static_cast<double>(i) * (6.283185307179586476925286766559 / static_cast<double>(n));
    return p - q * cos(x) + r * cos(2 * x);
  }
};

template <typename Out, typename Values>
struct fill {
  static constexpr int kWidth = 16 / sizeof(Out);
  typedef mx::Pack<Out, kWidth> Pack;
  struct Args {
    Out* out;
    long long total;
    double p, q, r;
    long long m, n, wide;
  };
  static __device__ __forceinline__ void Run(const Args& a) {
    const double p = a.p, q = a.q, r = a.r;
    const long long m = a.m, n = a.n;
#pragma unroll 1
    for (long long first = mx::ThreadIndex() * kWidth; first < a.total; first += mx::ThreadCount() * kWidth) {
      Pack pack;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) pack.v[k] = mx::Narrow<Out, double>::Store(Values::At(first + k, p, q, r, m, n));
      if (a.wide != 0 && first + kWidth <= a.total) {
        *reinterpret_cast<Pack*>(a.out + first) = pack;
      } else {
#pragma unroll
        for (int k = 0; k < kWidth; ++k)
          if (first + k < a.total) a.out[first + k] = pack.v[k];
      }
    }
  }
};
}  // namespace kernels
