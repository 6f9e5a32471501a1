// BatchNorm (Ioffe and Szegedy, ICML 2015), alone and followed by relu.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "base/determinism.h"
#include "operator/nn/nn_common.h"
#include "operator/nn/norm_kernels.h"
#include "operator/param.h"
#include "operator/recompute.h"

namespace mxnet {
namespace nn {

struct BatchNormParam : public dmlc::Parameter<BatchNormParam> {
  double eps;
  float momentum;
  bool fix_gamma, use_global_stats, output_mean_var, cudnn_off;
  int axis;
  dmlc::optional<float> min_calib_range, max_calib_range;
  DMLC_DECLARE_PARAMETER(BatchNormParam) {
    DMLC_DECLARE_FIELD(eps).set_default(1e-3f).describe("Added to the variance.");
    DMLC_DECLARE_FIELD(momentum).set_default(0.9f).describe("Part of the old value that a moving average keeps.");
    DMLC_DECLARE_FIELD(fix_gamma).set_default(true).describe("Take gamma as 1, with gradient 0.");
    DMLC_DECLARE_FIELD(use_global_stats).set_default(false).describe("Use the moving averages in training too.");
    DMLC_DECLARE_FIELD(output_mean_var).set_default(false).describe("Also return the mean and 1 / sqrt(variance + eps).");
    DMLC_DECLARE_FIELD(axis).set_default(1).describe("Dimension of the channels.");
    DMLC_DECLARE_FIELD(cudnn_off).set_default(false).describe("Do not use cuDNN for this layer.");
    DMLC_DECLARE_FIELD(min_calib_range).set_default(dmlc::optional<float>()).describe("Least output seen in calibration, for quantization.");
    DMLC_DECLARE_FIELD(max_calib_range).set_default(dmlc::optional<float>()).describe("Greatest output seen in calibration, for quantization.");
  }
};
MXNET_REGISTER_PARAM(BatchNormParam);

namespace {

enum { kData, kGamma, kBeta, kMovingMean, kMovingVar };

// Memory as (outer, channels, inner); inner == 1 is the channels-last case, which goes by rows.
struct View {
  int64_t outer, channels, inner;
  View(const BatchNormParam& p, const TBlob& b) {
    const int nd = b.shape.ndim(), axis = p.axis < 0 ? p.axis + nd : p.axis;
    channels = b.shape[axis];
    if (b.layout == Layout::kChannelsLast && axis == 1) {
      outer = b.shape[0] * b.shape.Prod(2, nd);
      inner = 1;
    } else {
      outer = b.shape.Prod(0, axis);
      inner = b.shape.Prod(axis + 1, nd);
    }
  }
  int64_t count() const { return outer * inner; }
};

int64_t RowGrain(int64_t width) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width)); }

// Calls by_plane(channel) in parallel (channels first), or by_rows(begin, end, first, second) with per-thread sums that are added up in order.
template <typename Plane, typename Rows>
void Sums(const View& v, double* first, double* second, Plane&& by_plane, Rows&& by_rows) {
  std::fill(first, first + v.channels, 0.0);
  std::fill(second, second + v.channels, 0.0);
  if (v.inner > 1) {
    ParallelFor(v.channels, RowGrain(v.outer * v.inner), [&](int64_t b, int64_t e) { for (int64_t c = b; c < e; ++c) by_plane(c); });
    return;
  }
  const int64_t parts = FixedParts(v.outer / RowGrain(v.channels));
  if (parts == 1) return by_rows(0, v.outer, first, second);
  std::vector<double> partial(parts * 2 * v.channels, 0.0);
  ParallelFor(parts, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      by_rows(v.outer * i / parts, v.outer * (i + 1) / parts, &partial[2 * i * v.channels], &partial[(2 * i + 1) * v.channels]);
  });
  for (int64_t i = 0; i < parts; ++i)
    for (int64_t c = 0; c < v.channels; ++c) {
      first[c] += partial[2 * i * v.channels + c];
      second[c] += partial[(2 * i + 1) * v.channels + c];
    }
}

// A rough mean from the first elements: sums of squares around it lose no digits.
template <typename T>
void RoughMean(const View& v, const T* x, double* shift) {
  for (int64_t c = 0; c < v.channels; ++c) {
    const int64_t n = std::min<int64_t>(v.inner > 1 ? v.inner : v.outer, 16);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(v.inner > 1 ? x[c * v.inner + i] : x[i * v.channels + c]);
    shift[c] = n ? sum / static_cast<double>(n) : 0.0;
  }
}

template <typename T>
void BatchMoments(const View& v, int dtype, const T* x, double* mean, double* var) {
  std::vector<double> shift(v.channels);
  RoughMean(v, x, shift.data());
  Sums(v, mean, var,
       [&](int64_t c) {
         for (int64_t o = 0; o < v.outer; ++o)
           MXNET_CPU_CALL(NormMoments)(dtype, x + (o * v.channels + c) * v.inner, v.inner, shift[c], &mean[c], &var[c]);
       },
       [&](int64_t b, int64_t e, double* sum, double* squares) {
         MXNET_CPU_CALL(NormMomentsColumns)(dtype, x + b * v.channels, e - b, v.channels, shift.data(), sum, squares);
       });
  const double n = static_cast<double>(std::max<int64_t>(1, v.count()));
  for (int64_t c = 0; c < v.channels; ++c) {
    mean[c] /= n;
    const double off = mean[c] - static_cast<double>(static_cast<T>(shift[c]));
    var[c] = std::max(0.0, var[c] / n - off * off);
  }
}

// `x` in the memory order of `like`: itself or a copy.
template <typename T>
const T* InOrderOf(KernelArgs& a, const TBlob& b, const TBlob& like) {
  if (b.layout == like.layout || b.shape.ndim() < 3) return b.data<T>();
  const int64_t n = b.shape[0], c = b.shape[1], s = b.shape.Prod(2, b.shape.ndim());
  T* copy = Scratch<T>(a, b.Size());
  const T* from = b.data<T>();
  const int64_t rows = b.layout == Layout::kPlain ? c : s, columns = b.layout == Layout::kPlain ? s : c;
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) copy[(k * columns + j) * rows + i] = from[(k * rows + i) * columns + j];
  return copy;
}

// out = x scale + shift = gamma (x - mean) inv_std + beta
template <typename T>
struct Coefficients {
  std::vector<T> scale, shift;
  Coefficients(const BatchNormParam& p, const T* gamma, const T* beta, const std::vector<double>& mean, const std::vector<double>& inv_std)
      : scale(mean.size()), shift(mean.size()) {
    for (size_t c = 0; c < mean.size(); ++c) {
      const double s = (p.fix_gamma ? 1.0 : static_cast<double>(gamma[c])) * inv_std[c];
      scale[c] = static_cast<T>(s);
      shift[c] = static_cast<T>(static_cast<double>(beta[c]) - s * mean[c]);
    }
  }
};

template <bool kRelu, typename T>
void Scale(KernelArgs& a, const View& v, const T* x, const std::vector<double>& mean, const std::vector<double>& inv_std) {
  const int dtype = a.in[0].dtype;
  const Coefficients<T> k(a.param<BatchNormParam>(), a.in[kGamma].data<T>(), a.in[kBeta].data<T>(), mean, inv_std);
  T* y = a.out[0].data<T>();
  if (v.inner > 1) {
    ParallelFor(v.outer * v.channels, RowGrain(v.inner), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        const int64_t c = i % v.channels;
        MXNET_CPU_CALL(NormScale)(dtype, x + i * v.inner, y + i * v.inner, v.inner, k.scale[c], k.shift[c], kRelu);
      }
    });
  } else {
    ParallelFor(v.outer, RowGrain(v.channels), [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(NormScaleColumns)(dtype, x + b * v.channels, y + b * v.channels, e - b, v.channels, k.scale.data(), k.shift.data(), kRelu);
    });
  }
}

template <bool kRelu>
void Forward(KernelArgs& args) {
  if (args.in[0].Size() == 0) return;
  const auto& p = args.param<BatchNormParam>();
  const bool batch = args.is_train && !p.use_global_stats;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const View v(p, a.out[0]);
    const int dtype = a.in[0].dtype;
    const T* x = InOrderOf<T>(a, a.in[0], a.out[0]);
    T *moving_mean = a.in[kMovingMean].data<T>(), *moving_var = a.in[kMovingVar].data<T>();
    std::vector<double> mean(v.channels), var(v.channels);
    if (batch) {
      BatchMoments(v, dtype, x, mean.data(), var.data());
      const double keep = p.momentum;
      for (int64_t c = 0; c < v.channels; ++c) {
        moving_mean[c] = static_cast<T>(keep * static_cast<double>(moving_mean[c]) + (1 - keep) * mean[c]);
        moving_var[c] = static_cast<T>(keep * static_cast<double>(moving_var[c]) + (1 - keep) * var[c]);
      }
    } else {
      for (int64_t c = 0; c < v.channels; ++c) mean[c] = static_cast<double>(moving_mean[c]), var[c] = static_cast<double>(moving_var[c]);
    }
    std::vector<double> inv_std(v.channels);
    for (int64_t c = 0; c < v.channels; ++c) {
      inv_std[c] = 1.0 / std::sqrt(var[c] + p.eps);
      // what is kept for the backward pass is what is used here: recomputing gives the same bits
      if (Wanted(a, 1)) mean[c] = static_cast<double>(a.out[1].data<T>()[c] = static_cast<T>(mean[c]));
      if (Wanted(a, 2)) inv_std[c] = static_cast<double>(a.out[2].data<T>()[c] = static_cast<T>(inv_std[c]));
    }
    if (Wanted(a, 0)) Scale<kRelu>(a, v, x, mean, inv_std);
  });
}

// data, gamma, beta, mean, inv_std -> output: as it was in the forward pass, and nothing else happens
template <bool kRelu>
void Again(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.in[0].Size() == 0) return;
  const auto& p = args.param<BatchNormParam>();
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const View v(p, a.out[0]);
    std::vector<double> mean(v.channels), inv_std(v.channels);
    for (int64_t c = 0; c < v.channels; ++c) {
      mean[c] = static_cast<double>(a.in[3].data<T>()[c]);
      inv_std[c] = static_cast<double>(a.in[4].data<T>()[c]);
    }
    Scale<kRelu>(a, v, InOrderOf<T>(a, a.in[0], a.out[0]), mean, inv_std);
  });
}

// ograd, data, gamma, moving_mean, moving_var, mean, inv_std, [beta with relu] -> data_grad, gamma_grad, beta_grad
// The relu's mask is computed again from the data, with the coefficients of the forward pass: cheaper than reading the output from memory.
template <bool kRelu>
void Backward(KernelArgs& args) {
  const auto& p = args.param<BatchNormParam>();
  if (args.in[1].Size() == 0) {
    for (int i = 0; i < 3; ++i) if (Wanted(args, i) && args.out[i].Size()) std::memset(args.out[i].dptr, 0, args.out[i].Bytes());
    return;
  }
  const bool batch = args.is_train && !p.use_global_stats;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const View v(p, a.out[0]);
    const int dtype = a.in[1].dtype;
    const T *og = InOrderOf<T>(a, a.in[0], a.out[0]), *x = InOrderOf<T>(a, a.in[1], a.out[0]);
    std::vector<double> mean(v.channels), inv_std(v.channels), sum(v.channels), product(v.channels);
    for (int64_t c = 0; c < v.channels; ++c) {
      mean[c] = static_cast<double>(batch ? a.in[5].data<T>()[c] : a.in[3].data<T>()[c]);
      inv_std[c] = batch ? static_cast<double>(a.in[6].data<T>()[c]) : 1.0 / std::sqrt(static_cast<double>(a.in[4].data<T>()[c]) + p.eps);
      if (!batch) inv_std[c] = static_cast<double>(static_cast<T>(inv_std[c]));   // as the forward pass used it
    }
    std::unique_ptr<Coefficients<T>> k;
    if (kRelu) k = std::make_unique<Coefficients<T>>(p, a.in[2].data<T>(), a.in[7].data<T>(), mean, inv_std);
    const NormMaskColumns columns{kRelu ? k->scale.data() : nullptr, kRelu ? k->shift.data() : nullptr};
    const auto mask_of = [&](int64_t c) { return NormMask{static_cast<double>(k->scale[c]), static_cast<double>(k->shift[c])}; };
    const bool sums_wanted = batch || Wanted(a, 1) || Wanted(a, 2);
    if (sums_wanted)
      Sums(v, sum.data(), product.data(),
           [&](int64_t c) {
             const NormMask mask = kRelu ? mask_of(c) : NormMask();
             for (int64_t o = 0; o < v.outer; ++o) {
               const int64_t at = (o * v.channels + c) * v.inner;
               MXNET_CPU_CALL(NormGradientSums)(dtype, og + at, x + at, v.inner, mean[c], &sum[c], &product[c], kRelu ? &mask : nullptr);
             }
           },
           [&](int64_t b, int64_t e, double* s, double* q) {
             MXNET_CPU_CALL(NormGradientSumsColumns)(dtype, og + b * v.channels, x + b * v.channels, e - b, v.channels, mean.data(), s, q,
                                                     kRelu ? &columns : nullptr);
           });
    for (int64_t c = 0; c < v.channels; ++c) {
      if (Wanted(a, 1)) a.out[1].data<T>()[c] = p.fix_gamma ? T(0) : static_cast<T>(product[c] * inv_std[c]);
      if (Wanted(a, 2)) a.out[2].data<T>()[c] = static_cast<T>(sum[c]);
    }
    if (!Wanted(a, 0)) return;
    // dx = gamma inv_std (g - mean(g) - (x - mean) inv_std^2 mean(g (x - mean)))
    std::vector<T> ka(v.channels), kb(v.channels), kc(v.channels);
    const double n = static_cast<double>(v.count());
    for (int64_t c = 0; c < v.channels; ++c) {
      const double s = (p.fix_gamma ? 1.0 : static_cast<double>(a.in[2].data<T>()[c])) * inv_std[c];
      const double slope = batch ? -s * inv_std[c] * inv_std[c] * product[c] / n : 0.0;
      ka[c] = static_cast<T>(s);
      kb[c] = static_cast<T>(slope);
      kc[c] = static_cast<T>(batch ? -s * sum[c] / n - slope * mean[c] : 0.0);
    }
    T* dx = a.out[0].data<T>();
    if (v.inner > 1) {
      ParallelFor(v.outer * v.channels, RowGrain(v.inner), [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) {
          const int64_t c = i % v.channels;
          const NormMask mask = kRelu ? mask_of(c) : NormMask();
          MXNET_CPU_CALL(NormGradient)(dtype, og + i * v.inner, x + i * v.inner, dx + i * v.inner, v.inner, ka[c], kb[c], kc[c], kRelu ? &mask : nullptr);
        }
      });
    } else {
      ParallelFor(v.outer, RowGrain(v.channels), [&](int64_t b, int64_t e) {
        MXNET_CPU_CALL(NormGradientColumns)(dtype, og + b * v.channels, x + b * v.channels, dx + b * v.channels, e - b, v.channels, ka.data(), kb.data(), kc.data(),
                                            kRelu ? &columns : nullptr);
      });
    }
  }, 1);
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<BatchNormParam>();
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  const int axis = CheckAxis(attrs, p.axis, data.ndim());
  Shape channel{data[axis]};
  static const char* kNames[] = {"data", "gamma", "beta", "moving_mean", "moving_var"};
  for (int i = 1; i < 5; ++i) {
    AssignShape(attrs, kNames[i], &(*in)[i], channel);
    channel = (*in)[i];
  }
  for (int i = 1; i < 5; ++i) (*in)[i] = channel;
  if (data[axis] < 0) (*in)[0][axis] = (*out)[0][axis] = channel[0];
  AssignShape(attrs, "mean", &(*out)[1], channel);
  AssignShape(attrs, "var", &(*out)[2], channel);
  return data.known();
}

// Parameters of half-precision data are float32.
bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  const int data = (*in)[0];
  if (data == kDTypeUnknown) return false;
  MXNET_CHECK_KIND(IsFloating(data), Type) << Named(attrs) << "data is " << DTypeName(data) << "; accepted are float32, float64, float16, bfloat16";
  const int param = IsHalf(data) ? static_cast<int>(kFloat32) : data;
  static const char* kNames[] = {"data", "gamma", "beta", "moving_mean", "moving_var"};
  for (int i = 1; i < 5; ++i) AssignType(attrs, kNames[i], &(*in)[i], param);
  AssignType(attrs, "mean", &(*out)[1], param);
  AssignType(attrs, "var", &(*out)[2], param);
  return true;
}

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "data_grad", &(*out)[0], (*in)[1]);
  AssignShape(attrs, "gamma_grad", &(*out)[1], (*in)[2]);
  AssignShape(attrs, "beta_grad", &(*out)[2], (*in)[2]);
  return (*out)[0].known() && (*out)[1].known();
}
bool BackwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "data_grad", &(*out)[0], (*in)[1]);
  AssignType(attrs, "gamma_grad", &(*out)[1], (*in)[2]);
  AssignType(attrs, "beta_grad", &(*out)[2], (*in)[2]);
  return (*out)[0] != kDTypeUnknown && (*out)[1] != kDTypeUnknown;
}

template <bool kRelu>
std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> inputs = {ograds[0], node->inputs[kData], node->inputs[kGamma], node->inputs[kMovingMean], node->inputs[kMovingVar],
                                   NodeEntry{node, 1, 0}, NodeEntry{node, 2, 0}};
  if (kRelu) inputs.push_back(node->inputs[kBeta]);
  NodePtr back = MakeNodeLike(kRelu ? "_backward_BatchNormWithReLU" : "_backward_BatchNorm", *node, inputs);
  return {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}, NodeEntry{back, 2, 0}, NodeEntry(), NodeEntry()};
}

const char kText[] =
    "data is normalized over all dimensions except `axis` to mean 0 and variance 1, then multiplied by gamma and shifted by beta.\n\n"
    "In training the batch's mean and (biased) variance are used, and the auxiliary states follow them:\n"
    "moving = momentum * moving + (1 - momentum) * batch. Otherwise, and with use_global_stats, moving_mean and moving_var are used.\n"
    "gamma, beta and the states have shape (channels,), and dtype float32 when data is float16 or bfloat16. With output_mean_var also the mean and\n"
    "1 / sqrt(variance + eps) are returned.";

bool AgainShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  return (*out)[0].known();
}
bool AgainType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  return (*out)[0] != kDTypeUnknown;
}

template <bool kRelu>
void Register(const char* name, const char* backward, const char* again, const std::string& text) {
  Op::Register(name).describe(text)
      .set_param<BatchNormParam>()
      .set_inputs({"data", "gamma", "beta", "moving_mean", "moving_var"})
      .set_mutate_inputs({kMovingMean, kMovingVar})
      .set_outputs({"output", "mean", "var"}, nullptr, [](const Attrs& a) { return a.get<BatchNormParam>().output_mean_var ? 3 : 1; })
      .set_infer_shape(ForwardShape).set_infer_type(ForwardType)
      .set_dtypes({kFloat32, kFloat64, kFloat16, kBfloat16})
      .set_layout(LayoutRule::kChannelsLast)
      .set_depends_on_training()
      .set_gradient(Gradient<kRelu>)
      .set_kernel(DeviceType::kCPU, Forward<kRelu>);
  Op::Register(again).describe(std::string("The output of ") + name + " from the mean and 1 / sqrt(variance + eps) that it gave; the moving averages stay.")
      .set_param<BatchNormParam>()
      .set_inputs({"data", "gamma", "beta", "mean", "inv_std"})
      .set_infer_shape(AgainShape).set_infer_type(AgainType)
      .set_layout(LayoutRule::kChannelsLast)
      .set_kernel(DeviceType::kCPU, Again<kRelu>);
  SetRecomputeRule(name, {again, 3, {1, 2}});
  std::vector<std::string> inputs = {"ograd", "data", "gamma", "moving_mean", "moving_var", "mean", "inv_std"};
  if (kRelu) inputs.push_back("beta");
  Op::Register(backward).describe(std::string("Gradients of ") + name + " with respect to data, gamma and beta.")
      .set_param<BatchNormParam>()
      .set_inputs(inputs)
      .set_outputs({"data_grad", "gamma_grad", "beta_grad"})
      .set_infer_shape(BackwardShape).set_infer_type(BackwardType)
      .set_inplace({{0, 0}, {1, 0}})
      .set_layout(LayoutRule::kChannelsLast)
      .set_depends_on_training()
      .set_kernel(DeviceType::kCPU, Backward<kRelu>);
}

[[maybe_unused]] const bool registered = [] {
  Register<false>("BatchNorm", "_backward_BatchNorm", "_backward_BatchNorm_again", kText);
  Op::Register("BatchNorm").set_dear().alias("_npx_batch_norm");
  Register<true>("_contrib_BatchNormWithReLU", "_backward_BatchNormWithReLU", "_backward_BatchNormWithReLU_again",
                 std::string("BatchNorm followed by relu, in one pass.\n\n") + kText);
  Op::Register("_contrib_BatchNormWithReLU").set_dear().alias("_npx_batch_norm_with_relu");
  return true;
}();

}  // namespace
}  // namespace nn
}  // namespace mxnet
