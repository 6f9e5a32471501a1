/* What BatchNorm alone, with relu, and with a sum and relu behind it share. */
#ifndef MXNET_OPERATOR_NN_NORM_BATCH_NORM_H_
#define MXNET_OPERATOR_NN_NORM_BATCH_NORM_H_

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/threads/determinism.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/norm/norm_data.h"
#include "operator/nn/norm/norm_kernels.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

struct BatchNormParam : public Parameter<BatchNormParam> {
  double eps;
  float momentum;
  bool fix_gamma, use_global_stats, output_mean_var, cudnn_off;
  int axis;
  std::optional<float> min_calib_range, max_calib_range;
  MXNET_DECLARE_PARAM(BatchNormParam) {
    MXNET_FIELD(eps).set_default(1e-3f).describe("Added to the variance.");
    MXNET_FIELD(momentum).set_default(0.9f).describe("Part of the old value that a moving average keeps.");
    MXNET_FIELD(fix_gamma).set_default(true).describe("Take gamma as 1, with gradient 0.");
    MXNET_FIELD(use_global_stats).set_default(false).describe("Use the moving averages in training too.");
    MXNET_FIELD(output_mean_var).set_default(false).describe("Also return the mean and 1 / sqrt(variance + eps).");
    MXNET_FIELD(axis).set_default(1).describe("Dimension of the channels.");
    MXNET_FIELD(cudnn_off).set_default(false).describe("Do not use cuDNN for this layer.");
    MXNET_FIELD(min_calib_range).set_default(std::optional<float>()).describe("Least output seen in calibration, for quantization.");
    MXNET_FIELD(max_calib_range).set_default(std::optional<float>()).describe("Greatest output seen in calibration, for quantization.");
  }
};

/* Of gamma, which is input 1. */
inline CountsAsOnes FixedGamma() {
  return {[](const Attrs& a) { return a.get<BatchNormParam>().fix_gamma ? 1 : -1; }};
}
/* Memory as (outer, channels, inner); inner == 1 is the channels-last case, which goes by rows. */
struct NormView {
  int64_t outer, channels, inner;
  NormView(const BatchNormParam& p, const TBlob& b) {
    const int nd = b.shape.ndim(), axis = p.axis < 0 ? p.axis + nd : p.axis;
    channels = b.shape[axis];
    if (b.layout == Layout::kChannelsLast && axis > 0) {
      outer = b.shape[0] * b.shape.Prod(2, axis == 1 ? nd : axis);
      inner = axis == 1 ? 1 : b.shape.Prod(axis + 1, nd) * b.shape[1];
    } else {
      outer = b.shape.Prod(0, axis);
      inner = b.shape.Prod(axis + 1, nd);
    }
  }
  NormView(int64_t rows, int64_t columns) : outer(rows), channels(columns), inner(1) {}
  int64_t count() const { return outer * inner; }
  /* How many columns of a row belong to one channel where the planes of channels are so small that
   * a loop for each costs more than what it does: then all go by rows. Else 1. */
  int64_t Together() const { return inner > 1 && inner <= kNormShortRow && outer >= 8 ? inner : 1; }
  NormView ByRows() const { return Together() > 1 ? NormView(outer, channels * inner) : *this; }
};

/* Each number `times` times. */
template <typename T>
std::vector<T> Repeated(const std::vector<T>& numbers, int64_t times) {
  std::vector<T> all;
  all.reserve(numbers.size() * static_cast<size_t>(times));
  for (const T& number : numbers) all.insert(all.end(), static_cast<size_t>(times), number);
  return all;
}
/* The sums of `times` neighbours each. */
inline void Fold(const std::vector<double>& all, int64_t times, double* sums) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % static_cast<size_t>(times) == 0) *sums++ = 0;
    sums[-1] += all[i];
  }
}

inline int64_t RowGrain(int64_t width) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width)); }

// Calls by_plane(channel) in parallel (channels first), or by_rows(begin, end, first, second) with
// per-thread sums that are added up in order.
template <typename Plane, typename Rows>
void Sums(const NormView& v, double* first, double* second, Plane&& by_plane, Rows&& by_rows) {
  std::fill(first, first + v.channels, 0.0);
  std::fill(second, second + v.channels, 0.0);
  if (v.inner > 1) {
    ParallelFor(v.channels, RowGrain(v.outer * v.inner), [&](int64_t b, int64_t e) {
      for (int64_t c = b; c < e; ++c) by_plane(c);
    });
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

// A rough mean from the first elements: sums around it, and of squares, lose no digits.
inline void RoughMean(const NormView& v, NormData x, double* shift) {
  for (int64_t c = 0; c < v.channels; ++c) {
    const int64_t n = std::min<int64_t>(v.inner > 1 ? v.inner : v.outer, 16);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[v.inner > 1 ? c * v.inner + i : i * v.channels + c];
    shift[c] = n && std::isfinite(sum) ? sum / static_cast<double>(n) : 0.0;
  }
}

template <typename T>
void BatchMoments(const NormView& v, NormData x, double* mean, double* var) {
  std::vector<double> shift(v.channels);
  RoughMean(v, x, shift.data());
  const int64_t together = v.Together();
  const NormView w = v.ByRows();
  const std::vector<double> shifts = Repeated(shift, together);
  std::vector<double> sums(w.channels), squares(w.channels);
  Sums(
      w, sums.data(), squares.data(),
      [&](int64_t c) {
        for (int64_t o = 0; o < w.outer; ++o) Moments(x + (o * w.channels + c) * w.inner, w.inner, shift[c], &sums[c], &squares[c]);
      },
      [&](int64_t b, int64_t e, double* s, double* q) { MomentsColumns(x + b * w.channels, e - b, w.channels, shifts.data(), s, q); });
  Fold(sums, together, mean);
  Fold(squares, together, var);
  const double n = static_cast<double>(std::max<int64_t>(1, v.count()));
  for (int64_t c = 0; c < v.channels; ++c) {
    const double off = mean[c] / n;
    mean[c] = off + static_cast<double>(static_cast<T>(shift[c]));
    var[c] = std::max(var[c] / n - off * off, 0.0);  // NaN stays
  }
}

// `x` in the memory order of `like`: itself or a copy.
inline NormData InOrderOf(KernelArgs& a, const TBlob& b, const TBlob& like) {
  if (b.layout == like.layout || b.shape.ndim() < 3) return NormData(b);
  const int64_t n = b.shape[0], c = b.shape[1], s = b.shape.Prod(2, b.shape.ndim());
  const int64_t rows = b.layout == Layout::kPlain ? c : s, columns = b.layout == Layout::kPlain ? s : c;
  const NormData copy(Workspace<char>(a, static_cast<int64_t>(b.Bytes())), b.dtype);
  const auto transpose = [&](const auto* from, auto* to) {
    for (int64_t k = 0; k < n; ++k)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) to[(k * columns + j) * rows + i] = from[(k * rows + i) * columns + j];
  };
  switch (copy.item()) {
    case 2: transpose(b.data<uint16_t>(), reinterpret_cast<uint16_t*>(copy.at)); break;
    case 4: transpose(b.data<uint32_t>(), reinterpret_cast<uint32_t*>(copy.at)); break;
    default: transpose(b.data<uint64_t>(), reinterpret_cast<uint64_t*>(copy.at));
  }
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

inline int NormAxis(const Attrs& a) { return a.get<BatchNormParam>().axis; }

/* The batch norms' inputs are data, gamma, beta, [addend], moving_mean, moving_var; their results
 * output, mean, inv_std, [mask]. */
struct NormStatistics {
  std::vector<double> mean, inv_std;
};

inline bool UsesBatch(const KernelArgs& a) { return a.is_train && !a.param<BatchNormParam>().use_global_stats; }

/* Of the forward pass: moves the moving averages (inputs `moving` and the next), gives outputs 1
 * and 2. */
template <typename T>
NormStatistics ForwardStatistics(KernelArgs& a, const NormView& v, NormData x, int moving) {
  const auto& p = a.param<BatchNormParam>();
  T *moving_mean = a.in[moving].data<T>(), *moving_var = a.in[moving + 1].data<T>();
  NormStatistics s;
  s.mean.resize(v.channels);
  s.inv_std.resize(v.channels);
  std::vector<double> var(v.channels);
  if (UsesBatch(a)) {
    BatchMoments<T>(v, x, s.mean.data(), var.data());
    const double keep = p.momentum;
    for (int64_t c = 0; c < v.channels; ++c) {
      moving_mean[c] = static_cast<T>(keep * static_cast<double>(moving_mean[c]) + (1 - keep) * s.mean[c]);
      moving_var[c] = static_cast<T>(keep * static_cast<double>(moving_var[c]) + (1 - keep) * var[c]);
    }
  } else {
    for (int64_t c = 0; c < v.channels; ++c) s.mean[c] = static_cast<double>(moving_mean[c]), var[c] = static_cast<double>(moving_var[c]);
  }
  for (int64_t c = 0; c < v.channels; ++c) {
    s.inv_std[c] = 1.0 / std::sqrt(var[c] + p.eps);
    // what is kept for the backward pass is what is used here: recomputing gives the same bits
    if (Wanted(a, 1)) s.mean[c] = static_cast<double>(a.out[1].data<T>()[c] = static_cast<T>(s.mean[c]));
    if (Wanted(a, 2)) s.inv_std[c] = static_cast<double>(a.out[2].data<T>()[c] = static_cast<T>(s.inv_std[c]));
  }
  return s;
}

/* What the forward pass gave: inputs `mean` and the next. */
template <typename T>
NormStatistics KeptStatistics(const KernelArgs& a, const NormView& v, int mean) {
  NormStatistics s;
  s.mean.assign(a.in[mean].data<T>(), a.in[mean].data<T>() + v.channels);
  s.inv_std.assign(a.in[mean + 1].data<T>(), a.in[mean + 1].data<T>() + v.channels);
  return s;
}

/* For the backward pass: what the forward pass gave (inputs `mean` and the next), or what it used
 * of the moving averages (`moving` and the next). */
template <typename T>
NormStatistics BackwardStatistics(const KernelArgs& a, const NormView& v, int moving, int mean) {
  if (UsesBatch(a)) return KeptStatistics<T>(a, v, mean);
  NormStatistics s = KeptStatistics<T>(a, v, moving);
  for (double& d : s.inv_std) d = static_cast<double>(static_cast<T>(1.0 / std::sqrt(d + a.param<BatchNormParam>().eps)));
  return s;
}

/* dx = gamma inv_std (g - mean(g) - (x - mean) inv_std^2 mean(g (x - mean))) = g a + x b + c */
template <typename T>
struct GradientCoefficients {
  std::vector<T> a, b, c;
  GradientCoefficients(const BatchNormParam& p, bool batch, const NormView& v, const T* gamma, const NormStatistics& s,
                       const std::vector<double>& sum, const std::vector<double>& product)
      : a(v.channels), b(v.channels), c(v.channels) {
    const double n = static_cast<double>(v.count());
    for (int64_t i = 0; i < v.channels; ++i) {
      const double scale = (p.fix_gamma ? 1.0 : static_cast<double>(gamma[i])) * s.inv_std[i];
      const double slope = batch ? -scale * s.inv_std[i] * s.inv_std[i] * product[i] / n : 0.0;
      a[i] = static_cast<T>(scale);
      b[i] = static_cast<T>(slope);
      c[i] = static_cast<T>(batch ? -scale * sum[i] / n - slope * s.mean[i] : 0.0);
    }
  }
  void Repeat(int64_t times) { a = Repeated(a, times), b = Repeated(b, times), c = Repeated(c, times); }
};

// Where the result was positive, for each column: the coefficients of the forward pass.
template <typename T>
struct NormMaskArrays {
  std::vector<T> scale, shift;
  NormMaskArrays() = default;
  NormMaskArrays(const BatchNormParam& p, const T* gamma, const T* beta, const NormStatistics& s, int64_t together) {
    const Coefficients<T> k(p, gamma, beta, s.mean, s.inv_std);
    scale = Repeated(k.scale, together), shift = Repeated(k.shift, together);
  }
  NormMask At(int64_t c) const { return {static_cast<double>(scale[c]), static_cast<double>(shift[c])}; }
  NormMaskColumns Columns() const { return {scale.data(), shift.data()}; }
};

template <bool kRelu, typename T>
void DataGradient(const NormView& v, NormData og, NormData x, const GradientCoefficients<T>& to, const NormMaskArrays<T>& mask,
                  NormData dx) {
  if (v.inner > 1) {
    ParallelFor(v.outer * v.channels, RowGrain(v.inner), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        const int64_t c = i % v.channels;
        const NormMask own = kRelu ? mask.At(c) : NormMask();
        const int64_t at = i * v.inner;
        GradientLine(og + at, x + at, dx + at, v.inner, to.a[c], to.b[c], to.c[c], kRelu ? &own : nullptr);
      }
    });
  } else {
    const NormMaskColumns columns = mask.Columns();
    ParallelFor(v.outer, RowGrain(v.channels), [&](int64_t b, int64_t e) {
      const int64_t at = b * v.channels;
      GradientColumns(og + at, x + at, dx + at, e - b, v.channels, to.a.data(), to.b.data(), to.c.data(), kRelu ? &columns : nullptr);
    });
  }
}

/* Gradients of gamma and beta: outputs 1 and 2 of a backward kernel. */
template <typename T>
void ParameterGradients(KernelArgs& a, const NormView& v, const NormStatistics& s, const std::vector<double>& sum,
                        const std::vector<double>& product) {
  for (int64_t c = 0; c < v.channels; ++c) {
    if (Wanted(a, 1)) a.out[1].data<T>()[c] = a.param<BatchNormParam>().fix_gamma ? T(0) : static_cast<T>(product[c] * s.inv_std[c]);
    if (Wanted(a, 2)) a.out[2].data<T>()[c] = static_cast<T>(sum[c]);
  }
}

/* Inference of the forward operators, with or without an addend, and of those that compute output 0
 * again. Parameters of half-precision data are float32. */
bool BatchNormShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out);
bool BatchNormType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out);
bool BatchNormRecomputeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out);
bool BatchNormRecomputeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out);

/* Of a backward operator whose input kData is the data, with gamma behind it: outputs 0 to 2 are
 * the gradients of data, gamma and beta. */
template <int kData>
bool BatchNormGradientShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "data_grad", &(*out)[0], (*in)[kData]);
  AssignShape(attrs, "gamma_grad", &(*out)[1], (*in)[kData + 1]);
  AssignShape(attrs, "beta_grad", &(*out)[2], (*in)[kData + 1]);
  return (*out)[0].known() && (*out)[1].known();
}
template <int kData>
bool BatchNormGradientType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "data_grad", &(*out)[0], (*in)[kData]);
  AssignType(attrs, "gamma_grad", &(*out)[1], (*in)[kData + 1]);
  AssignType(attrs, "beta_grad", &(*out)[2], (*in)[kData + 1]);
  return (*out)[0] != kDTypeUnknown && (*out)[1] != kDTypeUnknown;
}

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_BATCH_NORM_H_
