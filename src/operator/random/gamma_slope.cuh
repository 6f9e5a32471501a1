// How draws of the gamma distribution move with its shape, for each element.
#include "rtc/loop.cuh"
#include "rtc/std_math.cuh"

#define MX_DEVICE __device__
#include "operator/random/density_formulas.cuh"
#include "operator/random/gamma_slope_formula.cuh"
#undef MX_DEVICE

namespace kernels {

template <typename I, typename A, typename T>
struct gamma_slope {
  struct Args {
    const A* shape;
    const T* draw;
    T* out;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& g, I i, long long) {
    mx::Store(g.out, i, GammaSlope(mx::Load<double>(g.shape, i), mx::Load<double>(g.draw, i)));
  }
};

}  // namespace kernels
