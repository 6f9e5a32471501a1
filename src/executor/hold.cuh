// Keeps a stream busy.
#include "rtc/loop.cuh"

namespace kernels {

template <typename I>
struct hold {
  struct Args {
    long long cycles;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long) {
    const long long start = clock64();
    while (clock64() - start < a.cycles) {
    }
  }
};
}  // namespace kernels
