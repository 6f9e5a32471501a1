// The range to quantize to, from a histogram of what was seen: the one that loses least information
// (Migacz, 8-bit inference with TensorRT, GTC 2017; divergence: Kullback and Leibler, 1951).
#include <cmath>
#include <limits>

#include "operator/nn/common/nn_common.h"
#include "operator/quantized/quantized.h"
#include "operator/record/param.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

struct CalibrateEntropyParam : public Parameter<CalibrateEntropyParam> {
  int num_quantized_bins;
  MXNET_DECLARE_PARAM(CalibrateEntropyParam) {
    MXNET_FIELD(num_quantized_bins)
        .set_default(255)
        .set_lower_bound(1)
        .describe("Number of bins that the quantized histogram has, at most as many as the histogram has.");
  }
};
MXNET_REGISTER_PARAM(CalibrateEntropyParam);

namespace {

using nn::Named;
using nn::Wanted;

using Histogram = std::vector<float>;

/* Gives empty bins a little of what the others have. False where the others have too little. */
bool Smooth(Histogram* bins) {
  constexpr float kLittle = 0.0001f;
  const auto empty = static_cast<float>(std::count(bins->begin(), bins->end(), 0.0f));
  const float full = static_cast<float>(bins->size()) - empty;
  if (full == 0) return false;
  const float taken = kLittle * empty / full;
  if (taken >= 1) return false;
  for (float& v : *bins) v = v == 0 ? kLittle : v - taken;
  return true;
}

// Sums are taken in float32, bin by bin, as in 1.9.1: thresholds differ by some bins otherwise.
float Sum(const Histogram& bins) {
  float sum = 0;
  for (float v : bins) sum += v;
  return sum;
}

/* That of q from p, both scaled to the sum 1. */
float Divergence(const Histogram& p, const Histogram& q) {
  const float p_sum = Sum(p), q_sum = Sum(q);
  float divergence = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const float a = p[i] / p_sum, b = q[i] / q_sum;
    if (a > 0) divergence += b > 0 ? a * std::log(a / b) : std::numeric_limits<float>::infinity();
  }
  return divergence;
}

/* `inside` with as few different heights as there are `quantized` bins, each spread over the bins
 * that have something in p. As in 1.9.1, a height is the mean of the bins that have something
 * inside, without the first of all. */
Histogram Quantize(const float* inside, const Histogram& p, int64_t quantized) {
  const auto n = static_cast<int64_t>(p.size()), merged = n / quantized;
  Histogram q(p.size());
  for (int64_t j = 0; j < quantized; ++j) {
    const int64_t first = j * merged, last = j + 1 == quantized ? n : first + merged;
    float sum = 0;
    int64_t full = 0;
    for (int64_t i = std::max<int64_t>(first, 1); i < last; ++i) sum += inside[i], full += inside[i] != 0;
    for (int64_t i = first; i < last; ++i) q[i] = full > 0 && p[i] != 0 ? sum / static_cast<float>(full) : 0;
  }
  return q;
}

/* The divergence when all that is outside of the 2 * half + 1 bins in the middle is cut to their
 * ends; infinite where there is none. */
float DivergenceOf(const float* bins, int64_t n, int64_t half, int64_t quantized) {
  const int64_t first = n / 2 - half, size = 2 * half + 1;
  Histogram p(bins + first, bins + first + size);
  for (int64_t i = 0; i < first; ++i) p.front() += bins[i];
  for (int64_t i = first + size; i < n; ++i) p.back() += bins[i];
  Histogram q = Quantize(bins + first, p, quantized);
  return Smooth(&p) && Smooth(&q) ? Divergence(p, q) : std::numeric_limits<float>::infinity();
}

void CalibrateKernel(KernelArgs& args) {
  const TBlob &hist = args.in[0], &edges = args.in[1];
  const int64_t n = hist.Size(), quantized = args.param<CalibrateEntropyParam>().num_quantized_bins, least = quantized / 2;
  const int64_t tries = n / 2 - least + 1;
  std::vector<float> divergences(static_cast<size_t>(tries));
  ParallelFor(tries, std::max<int64_t>(1, 20000 / n), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) divergences[i] = DivergenceOf(hist.data<float>(), n, least + i, quantized);
  });
  const int64_t best = std::min_element(divergences.begin(), divergences.end()) - divergences.begin();
  if (Wanted(args, 0)) *args.out[0].data<float>() = edges.data<float>()[n / 2 + least + best + 1];
  if (Wanted(args, 1)) *args.out[1].data<float>() = divergences[best];
}

bool CalibrateShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape &hist = (*in)[0], &edges = (*in)[1];
  AssignShape(attrs, "hist", &hist, Shape{Shape::kUnknownDim});
  AssignShape(attrs, "hist_edges", &edges, Shape{hist[0] < 0 ? Shape::kUnknownDim : hist[0] + 1});
  if (edges[0] > 0) AssignShape(attrs, "hist", &hist, Shape{edges[0] - 1});
  AssignShape(attrs, "threshold", &(*out)[0], Shape{1});
  AssignShape(attrs, "divergence", &(*out)[1], Shape{1});
  if (!hist.known()) return false;
  const int64_t quantized = attrs.get<CalibrateEntropyParam>().num_quantized_bins;
  MXNET_CHECK_KIND(hist[0] % 2 == 1 && hist[0] >= quantized, Value)
      << Named(attrs) << "hist has " << hist[0] << " bins; accepted with num_quantized_bins " << quantized
      << ": odd numbers of at least as many";
  MXNET_CHECK_KIND(quantized % 2 == 1, Value) << Named(attrs) << "num_quantized_bins " << quantized << "; accepted: odd numbers";
  return edges.known();
}

bool CalibrateType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "hist", &(*in)[0], kFloat32);
  AssignType(attrs, "hist_edges", &(*in)[1], kFloat32);
  AssignType(attrs, "threshold", &(*out)[0], kFloat32);
  AssignType(attrs, "divergence", &(*out)[1], kFloat32);
  return true;
}

MXNET_REGISTER_OP(_contrib_calibrate_entropy)
    .describe(
        "The magnitude to quantize to, from a histogram of numbers around 0, by least information lost (Kullback-Leibler divergence).\n\n"
        "hist has shape (bins,), an odd number of them, and hist_edges shape (bins + 1,): their ends, ascending and symmetric to 0. "
        "Thresholds from the middle num_quantized_bins bins to all of them are tried: what lies beyond counts at the ends, and what is "
        "inside gets num_quantized_bins different heights. The results, of shape (1,), are the threshold with the least divergence, and "
        "that divergence. float32.")
    .alias("_npx_contrib_calibrate_entropy")
    .set_param<CalibrateEntropyParam>()
    .set_inputs({"hist", "hist_edges"})
    .set_outputs({"threshold", "divergence"})
    .set_infer_shape(CalibrateShape)
    .set_infer_type(CalibrateType)
    .set_dtypes({kFloat32})
    .set_kernel([](KernelArgs& a) { OnHost(a, CalibrateKernel); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
