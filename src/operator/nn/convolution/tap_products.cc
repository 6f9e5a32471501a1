#include "operator/nn/convolution/tap_products.h"

#include <algorithm>
#include <vector>

#include "base/cpu_dispatch.h"
#include "base/threads/omp.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/cpu_gemm/packed.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kMostTaps = 64;
constexpr double kLeastFlops = 2e7;  // below which the copies weigh too much
constexpr double kMostWork = 0.5;    // of all products

/* An element of the window, and the pixels of the result that it reaches. */
struct Tap {
  int64_t index, y0, y1, x0, x1, dy, dx;  // pixel (y, x) of the result reads (y * stride + dy, x * stride + dx)
  int64_t Pixels() const { return (y1 - y0) * (x1 - x0); }
};

/* Where in [0, out) the position o * stride + shift lies in [0, in). */
void Reach(int64_t in, int64_t out, int64_t stride, int64_t shift, int64_t* begin, int64_t* end) {
  *begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  *end = shift >= in ? 0 : (in - 1 - shift) / stride + 1;
  *begin = std::min(*begin, out), *end = std::max(*begin, std::min(*end, out));
}

std::vector<Tap> TapsOf(const ConvDims& d) {
  std::vector<Tap> taps;
  for (int64_t ky = 0; ky < d.kernel[1]; ++ky)
    for (int64_t kx = 0; kx < d.kernel[2]; ++kx) {
      Tap t{ky * d.kernel[2] + kx, 0, 0, 0, 0, ky * d.dilate[1] - d.pad[1], kx * d.dilate[2] - d.pad[2]};
      Reach(d.in[1], d.out[1], d.stride[1], t.dy, &t.y0, &t.y1);
      Reach(d.in[2], d.out[2], d.stride[2], t.dx, &t.x0, &t.x1);
      if (t.Pixels() > 0) taps.push_back(t);
    }
  // One that reaches all pixels begins the sums.
  const auto all = std::find_if(taps.begin(), taps.end(), [&](const Tap& t) { return t.Pixels() == d.OutSize(); });
  if (all != taps.end()) std::rotate(taps.begin(), all, all + 1);
  return taps;
}

bool Takes(const KernelArgs& args, const ConvCall& call) {
  const ConvDims& d = call.dims;
  return call.pass == ConvPass::kForward && call.dtype == kFloat32 && CurrentCpuLevel() >= CpuLevel::kV3 && call.src.channels_last &&
         call.dst.channels_last && d.groups == 1 && d.kernel[0] == 1 && d.in[0] == 1 && d.out[0] == 1 && d.KernelSize() > 1 &&
         d.KernelSize() <= kMostTaps && KeepsWeights(args, call.weight_input) &&
         2.0 * static_cast<double>(d.batch * d.channels * d.filters) * static_cast<double>(d.OutSize() * d.KernelSize()) >= kLeastFlops;
}

/* The weights of one tap, (filters, channels). */
void TapWeights(const ConvCall& call, int64_t tap, float* to) {
  const ConvDims& d = call.dims;
  const int64_t window = d.KernelSize(), channels = d.channels;
  const float* w = static_cast<const float*>(call.weight.ptr);
  ParallelFor(d.filters, std::max<int64_t>(1, 16384 / channels), [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f)
      for (int64_t c = 0; c < channels; ++c)
        to[f * channels + c] = call.weight.channels_last ? w[(f * window + tap) * channels + c] : w[(f * channels + c) * window + tap];
  });
}

/* The pixels of the data that a tap reads, one behind the other. */
void Gather(const ConvDims& d, const Tap& t, const float* x, float* to) {
  const int64_t rows = t.y1 - t.y0, width = t.x1 - t.x0, c = d.channels;
  ParallelFor(d.batch * rows, std::max<int64_t>(1, 32768 / (width * c)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / rows, y = (t.y0 + i % rows) * d.stride[1] + t.dy;
      const float* line = x + ((n * d.in[1] + y) * d.in[2] + t.x0 * d.stride[2] + t.dx) * c;
      for (int64_t j = 0; j < width; ++j) std::copy_n(line + j * d.stride[2] * c, c, to + (i * width + j) * c);
    }
  });
}

/* Adds a tap's products to the pixels that it reaches. */
void Scatter(const ConvDims& d, const Tap& t, const float* from, float* y) {
  const int64_t rows = t.y1 - t.y0, width = (t.x1 - t.x0) * d.filters;
  ParallelFor(d.batch * rows, std::max<int64_t>(1, 32768 / width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / rows, at = t.y0 + i % rows;
      float* line = y + ((n * d.out[1] + at) * d.out[2] + t.x0) * d.filters;
      for (int64_t j = 0; j < width; ++j) line[j] += from[i * width + j];
    }
  });
}

/* Bias and addend, where no tap reaches all pixels. */
void Begin(const ConvCall& call, const float* addend, float* y) {
  const ConvDims& d = call.dims;
  const int64_t f = d.filters;
  const float* bias = static_cast<const float*>(call.bias);
  for (int64_t i = 0; i < d.batch * d.OutSize(); ++i)
    for (int64_t j = 0; j < f; ++j) y[i * f + j] = (addend ? addend[i * f + j] : 0.f) + (bias ? bias[j] : 0.f);
}

}  // namespace

bool TapProducts(KernelArgs& args, const ConvCall& call, const float* addend) {
  if (!Takes(args, call)) return false;
  const ConvDims& d = call.dims;
  const std::vector<Tap> taps = TapsOf(d);
  int64_t pixels = 0;
  uint64_t which = 0;
  for (const Tap& t : taps) pixels += t.Pixels(), which |= uint64_t{1} << t.index;
  if (static_cast<double>(pixels) > kMostWork * static_cast<double>(d.OutSize() * d.KernelSize())) return false;

  const int64_t size = PackedDenseSize(d.filters, d.channels), pixels_out = d.batch * d.OutSize();
  const uint64_t form = which * 0x9e3779b97f4a7c15u ^ (uint64_t{0x7a} << 8 | static_cast<uint64_t>(CurrentCpuLevel()));
  const float* packed =
      KeptWeights(args, call.weight_input, call.weight.ptr, form, size * static_cast<int64_t>(taps.size()), [&](float* to) {
        std::vector<float> plain(static_cast<size_t>(d.filters * d.channels));
        for (size_t i = 0; i < taps.size(); ++i) {
          TapWeights(call, taps[i].index, plain.data());
          PackDense(plain.data(), d.filters, d.channels, to + static_cast<int64_t>(i) * size);
        }
      });
  const auto* x = static_cast<const float*>(call.src.ptr);
  auto* const y = static_cast<float*>(call.dst.ptr);
  int64_t largest = 0;
  for (const Tap& t : taps) largest = std::max(largest, d.batch * t.Pixels());
  auto* const gathered = static_cast<float*>(args.workspace(static_cast<size_t>(largest * d.channels) * sizeof(float)));
  auto* const products = static_cast<float*>(args.workspace(static_cast<size_t>(largest * d.filters) * sizeof(float)));
  const bool begun = !taps.empty() && taps[0].Pixels() == d.OutSize();
  if (!begun) Begin(call, addend, y);
  for (size_t i = 0; i < taps.size(); ++i) {
    const Tap& t = taps[i];
    const bool first = begun && i == 0, whole = t.Pixels() == d.InSize() && d.stride[1] == 1 && d.stride[2] == 1;
    if (!whole) Gather(d, t, x, gathered);
    DenseCall dense;
    dense.m = d.batch * t.Pixels(), dense.n = d.filters, dense.k = d.channels;
    dense.data = whole ? x : gathered, dense.bias = first ? call.bias : nullptr, dense.out = first ? y : products;
    PackedDense(dense, packed + static_cast<int64_t>(i) * size, first ? addend : nullptr, args.workspace);
    if (!first) Scatter(d, t, products, y);
  }
  if (call.post)
    ParallelFor(pixels_out, std::max<int64_t>(1, 16384 / d.filters),
                [&](int64_t b, int64_t e) { ApplyPost(call.post, y + b * d.filters, y + b * d.filters, (e - b) * d.filters); });
  return true;
}

}  // namespace nn
}  // namespace mxnet
