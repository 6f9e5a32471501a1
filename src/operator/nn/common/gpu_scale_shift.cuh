// The weight and the bias of a convolution or a dense layer with a scale and a shift folded in,
// each behind the one before: of the data's side, of a norm, of the result's side.
#include "rtc/loop.cuh"

namespace kernels {

// Items: the elements of the weight, then those of the bias. fixed: gamma is 1.
template <typename I, typename Weight, typename Bias, typename Gamma, typename Beta, typename Mean, typename Var, typename NewWeight,
          bool has_bias, bool has_norm, bool fixed>
struct fold_scale_shift {
  struct Args {
    const Weight* weight;
    const Bias* bias;
    const Gamma* gamma;
    const Beta* beta;
    const Mean* mean;
    const Var* var;
    NewWeight* new_weight;
    float* new_bias;
    long long size, row;  // elements of the weight, and of one filter
    double eps, pre_scale, pre_shift, post_scale, post_shift;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long at = i, f = at < a.size ? at / a.row : at - a.size;
    double scale = a.pre_scale, shift = a.pre_shift;
    if constexpr (has_norm) {
      double gamma = 1.0;
      if constexpr (!fixed) gamma = mx::Load<double>(a.gamma, f);
      const double s = gamma / ::sqrt(mx::Load<double>(a.var, f) + a.eps);
      scale *= s;
      shift = (shift - mx::Load<double>(a.mean, f)) * s + mx::Load<double>(a.beta, f);
    }
    scale *= a.post_scale;
    shift = shift * a.post_scale + a.post_shift;
    if (at < a.size) {
      mx::Store(a.new_weight, at, static_cast<float>(mx::Load<double>(a.weight, at) * scale));
    } else {
      double bias = shift;
      if constexpr (has_bias) bias = mx::Load<double>(a.bias, f) * scale + shift;
      a.new_bias[f] = static_cast<float>(bias);
    }
  }
};
}  // namespace kernels
