// Winograd convolutions: blocks of tiles and threads, transformed weights kept in a plan.
#include <algorithm>
#include <memory>

#include "base/cpu_dispatch.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/cpu_gemm/winograd.h"
#include "operator/nn/cpu_gemm/winograd_blocks.h"

namespace mxnet {

MXNET_CPU_DECLARE(MXNET_WINOGRAD_KERNELS)

namespace nn {
namespace {

constexpr int64_t kGradientBytes = 8 << 20;  // of tiles that a weight gradient sums at a time
constexpr int64_t kGap = 16;                 // floats between tiles: powers of two would fall into the same sets of the cache

WinogradPart Part(float* ptr, const WinogradDims& d, int64_t channels) { return {ptr, d.Points() * channels + kGap, channels}; }
int64_t PartSize(const WinogradDims& d, int64_t channels, int64_t tiles) { return RoundUp((d.Points() * channels + kGap) * tiles, 16); }

int64_t Panels(const WinogradDims& d) { return (d.k + MXNET_CPU_CALL(WinogradShape)().panel - 1) / MXNET_CPU_CALL(WinogradShape)().panel; }
int64_t PlainBytes(const WinogradDims& d) {
  return Panels(d) * MXNET_CPU_CALL(WinogradShape)().panel * d.c * d.Points() * static_cast<int64_t>(sizeof(float));
}

double Flops(const WinogradDims& d) { return 2.0 * d.Points() * d.Tiles() * d.c * d.k; }

}  // namespace

/* A dilated window sees every so many pixels in each direction: those are images of their own, with
 * a window that is not dilated. False: they are not all of one size. */
static bool TakeApart(const ConvCall& call, WinogradDims* d) {
  const ConvDims& c = call.dims;
  if (c.dilate[1] == 1 && c.dilate[2] == 1) return true;
  if (call.pass != ConvPass::kForward) return false;
  for (int i = 1; i < 3; ++i)
    if (c.in[i] % c.dilate[i] != 0 || c.out[i] % c.dilate[i] != 0 || c.pad[i] % c.dilate[i] != 0) return false;
  d->apart_h = c.dilate[1], d->apart_w = c.dilate[2];
  d->batch *= d->apart_h * d->apart_w;
  d->h /= d->apart_h, d->oh /= d->apart_h, d->pad_h /= d->apart_h;
  d->w /= d->apart_w, d->ow /= d->apart_w, d->pad_w /= d->apart_w;
  return true;
}

bool WinogradDimsOf(const ConvCall& call, int m, WinogradDims* dims, WinogradFilter* filter) {
  const ConvDims& c = call.dims;
  if (call.dtype != kFloat32 || c.groups != 1 || !call.src.channels_last || !call.dst.channels_last) return false;
  if (c.in[0] != 1 || c.out[0] != 1 || c.kernel[0] != 1) return false;
  for (int i = 0; i < 3; ++i)
    if (c.stride[i] != 1 || (!i && c.pad[i] != 0)) return false;
  const int64_t rh = c.kernel[1], rw = c.kernel[2], r = std::max(rh, rw);
  const bool square = rh == rw && (r == 3 || r == 5), line = std::min(rh, rw) == 1 && (r == 3 || r == 7);
  const int points = r == 7 ? m + 4 : m + 2;  // two outputs at least
  if ((!square && !line) || points <= r || (line && r == 3 && m != 4)) return false;
  const bool forward = call.pass != ConvPass::kBackwardData;
  *dims = WinogradDims();
  dims->points = points, dims->window_h = static_cast<int>(rh), dims->window_w = static_cast<int>(rw);
  dims->batch = c.batch;
  dims->c = forward ? c.channels : c.filters;
  dims->k = forward ? c.filters : c.channels;
  dims->h = forward ? c.in[1] : c.out[1], dims->w = forward ? c.in[2] : c.out[2];
  dims->oh = forward ? c.out[1] : c.in[1], dims->ow = forward ? c.out[2] : c.in[2];
  dims->pad_h = forward ? c.pad[1] : rh - 1 - c.pad[1], dims->pad_w = forward ? c.pad[2] : rw - 1 - c.pad[2];
  if (!TakeApart(call, dims)) return false;
  filter->ptr = static_cast<const float*>(call.weight.ptr);
  const bool last = call.weight.channels_last;
  filter->k = rh * rw * c.channels, filter->c = last ? 1 : rh * rw, filter->r = last ? rw * c.channels : rw,
  filter->s = last ? c.channels : 1;
  filter->rotated = !forward;
  if (!forward) std::swap(filter->k, filter->c);
  return true;
}

void WinogradKeepCompact(int bytes, WinogradDims* dims) {
  if (PlainBytes(*dims) > winograd_blocks::kLargeBytes) dims->weight_bytes = bytes;
}

int64_t WinogradWeightSize(const WinogradDims& d) { return Panels(d) * d.Points() * MXNET_CPU_CALL(WinogradChunk)(d); }

void WinogradTransformWeights(const WinogradDims& d, const WinogradFilter& f, float* u) {
  const int panel = MXNET_CPU_CALL(WinogradShape)().panel;
  const int64_t panels = Panels(d), items = panels * d.c;
  if (d.weight_bytes != 4) {
    WinogradDims plain = d;
    plain.weight_bytes = 4;
    const int64_t size = d.Points() * MXNET_CPU_CALL(WinogradChunk)(plain), compact = d.Points() * MXNET_CPU_CALL(WinogradChunk)(d);
    ParallelFor(panels, 1, [&](int64_t begin, int64_t end) {
      const std::unique_ptr<float[]> made(new float[size]);
      for (int64_t p = begin; p < end; ++p) {
        WinogradDims own = plain;
        own.k = std::min<int64_t>(panel, d.k - p * panel);
        WinogradFilter first = f;
        first.ptr += p * panel * f.k;
        MXNET_CPU_CALL(WinogradWeights)(own, first, 0, 1, 0, d.c, made.get());
        MXNET_CPU_CALL(WinogradCompact)(d, made.get(), u + p * compact);
      }
    });
    return;
  }
  ParallelFor(items, 64, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t p = begin / d.c, c = begin % d.c, stop = std::min(d.c, c + end - begin);
      MXNET_CPU_CALL(WinogradWeights)(d, f, p, p + 1, c, stop, u);
      begin += stop - c;
    }
  });
}

WeightParts WinogradWeightParts(const WinogradDims& d, const WinogradFilter& f) {
  const int64_t panel = MXNET_CPU_CALL(WinogradShape)().panel, row = d.c * d.window_h * d.window_w;
  if (f.rotated || f.k != row) return {};
  WeightParts parts;
  parts.count = Panels(d);
  parts.bytes = static_cast<size_t>(panel * row) * sizeof(float);
  parts.all = static_cast<size_t>(d.k * row) * sizeof(float);
  WinogradDims plain = d;
  plain.weight_bytes = 4;
  const int64_t size = d.Points() * MXNET_CPU_CALL(WinogradChunk)(d);
  if (d.weight_bytes != 4) parts.scratch = static_cast<size_t>(d.Points() * MXNET_CPU_CALL(WinogradChunk)(plain)) * sizeof(float);
  parts.fill = [=](const void* from, int64_t begin, int64_t end, float* u, void* scratch) {
    for (int64_t p = begin; p < end; ++p) {
      WinogradDims own = plain;
      own.k = std::min(panel, d.k - p * panel);
      WinogradFilter filter = f;
      filter.ptr = static_cast<const float*>(from) + (p - begin) * panel * row;
      float* const made = d.weight_bytes == 4 ? u + p * size : static_cast<float*>(scratch);
      MXNET_CPU_CALL(WinogradWeights)(own, filter, 0, 1, 0, d.c, made);
      if (d.weight_bytes != 4) MXNET_CPU_CALL(WinogradCompact)(d, made, u + p * size);
    }
  };
  return parts;
}

namespace {

/* A convolution for winograd_blocks.h. */
struct Job {
  const WinogradDims& d;
  const float *x, *u;
  const WinogradEpilogue& e;
  float* y;
  const WinogradGeometry g = MXNET_CPU_CALL(WinogradShape)();
  const int64_t channels = RoundUp(d.c, g.lanes), tiles = d.Tiles(), filters = d.k, panels = Panels(d), panel = g.panel, rows = g.rows,
                weight_bytes = PlainBytes(d);
  int64_t TileBytes() const { return (d.Points() * channels + kGap) * static_cast<int64_t>(sizeof(float)); }
  int64_t ProductBytes(int64_t of, int64_t count) const { return PartSize(d, of * panel, count) * static_cast<int64_t>(sizeof(float)); }
  void Input(int64_t begin, int64_t end, char* v) const {
    MXNET_CPU_CALL(WinogradInput)(d, x, begin, end, Part(reinterpret_cast<float*>(v), d, channels));
  }
  void Products(const char* tile, int64_t begin, int64_t end, int64_t p, int64_t stop, char* buffer) const {
    const WinogradPart v = Part(reinterpret_cast<float*>(const_cast<char*>(tile)), d, channels),
                       m = Part(reinterpret_cast<float*>(buffer), d, (stop - p) * panel);
    MXNET_CPU_CALL(WinogradGemms)(d, v, end - begin, u, p, stop, m);
    MXNET_CPU_CALL(WinogradOutput)(d, m, begin, end, p * panel, std::min(d.k, stop * panel), e, y);
  }
};

}  // namespace

void WinogradRun(const WinogradDims& d, const float* x, const float* u, const WinogradEpilogue& e, float* y,
                 const std::function<void*(size_t)>& workspace) {
  WinogradByBlocks(Job{d, x, u, e, y}, Flops(d), workspace);
}

void WinogradRunWeights(const WinogradDims& d, const float* x, const float* dy, const WinogradFilterGradient& f,
                        const std::function<void*(size_t)>& workspace) {
  const WinogradGeometry g = MXNET_CPU_CALL(WinogradShape)();
  const int64_t channels = RoundUp(d.c, g.lanes), filters = RoundUp(d.k, g.panel), tiles = d.Tiles(), points = d.Points();
  const int threads = OmpThreadsForFlops(Flops(d));
  const int64_t together = std::min(tiles, std::max<int64_t>(48, kGradientBytes / (4 * points * (channels + filters))));
  const auto part = [&](float* ptr, int64_t width) { return WinogradPart{ptr, width + kGap, (width + kGap) * together}; };
  float* u = static_cast<float*>(workspace(points * (d.c * filters + (channels + filters + 2 * kGap) * together) * sizeof(float)));
  const WinogradPart v = part(u + points * d.c * filters, channels), w = part(v.ptr + points * v.point_stride, filters);
  for (int64_t begin = 0; begin < tiles; begin += together) {
    const int64_t count = std::min(together, tiles - begin);
    ParallelForThreads(threads, count, [&](int64_t first, int64_t last) {
      MXNET_CPU_CALL(WinogradInput)(d, x, begin + first, begin + last, {v.ptr + first * v.tile_stride, v.tile_stride, v.point_stride});
      MXNET_CPU_CALL(WinogradGradient)(d, dy, begin + first, begin + last, {w.ptr + first * w.tile_stride, w.tile_stride, w.point_stride});
    });
    DividedItems items(threads, points);
    ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
      for (int64_t id = first; id < last; ++id)
        for (int64_t point; items.Next(id, &point);) MXNET_CPU_CALL(WinogradSums)(d, v, w, count, point, point + 1, begin > 0, u);
    });
  }
  ParallelForThreads(threads, d.c, [&](int64_t first, int64_t last) { MXNET_CPU_CALL(WinogradWeightGradient)(d, u, first, last, f); });
}

void WinogradSumRows(const float* y, int64_t rows, int64_t width, float* sums, const std::function<void*(size_t)>& workspace) {
  constexpr int64_t kPieces = 64, kRun = 128;  // the same for any number of threads; short runs keep float32 exact enough
  float* partial = static_cast<float*>(workspace(2 * kPieces * width * sizeof(float)));
  ParallelFor(kPieces, std::max<int64_t>(1, kPieces * 65536 / std::max<int64_t>(1, rows * width)), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      float *piece = partial + 2 * p * width, *run = piece + width;
      std::fill(piece, piece + width, 0.f);
      for (int64_t i = Share(rows, kPieces, p), stop = Share(rows, kPieces, p + 1); i < stop;) {
        std::fill(run, run + width, 0.f);
        for (const int64_t until = std::min(stop, i + kRun); i < until; ++i)
          for (int64_t k = 0; k < width; ++k) run[k] += y[i * width + k];
        for (int64_t k = 0; k < width; ++k) piece[k] += run[k];
      }
    }
  });
  std::fill(sums, sums + width, 0.f);
  for (int64_t p = 0; p < kPieces; ++p)
    for (int64_t k = 0; k < width; ++k) sums[k] += partial[2 * p * width + k];
}

/* "Winograd F(4x4, 3x3)": pixels of a tile's result, and of the window. */
void SayWinograd(const WinogradDims& d, RanAt at) {
  if (!RanAsked()) return;
  const auto text = [](int h, int w) { return std::to_string(h) + "x" + std::to_string(w); };
  const auto tile = [&](int window) { return window == 1 ? 1 : d.points - window + 1; };
  Ran(InternRan("Winograd F(" + text(tile(d.window_h), tile(d.window_w)) + ", " + text(d.window_h, d.window_w) + ")"), at);
}

void WinogradConvolution(KernelArgs& args, const ConvCall& call, const void* addend, int m, uint64_t form) {
  WinogradDims d;
  WinogradFilter f;
  WinogradDimsOf(call, m, &d, &f);
  SayWinograd(d, RanAtCpuLevel());
  const float *src = static_cast<const float*>(call.src.ptr), *dst = static_cast<const float*>(call.dst.ptr);
  if (call.pass == ConvPass::kBackwardWeights) {
    WinogradRunWeights(d, src, dst, {const_cast<float*>(f.ptr), f.k, f.c, f.r, f.s}, args.workspace);
    if (call.bias) WinogradSumRows(dst, d.batch * d.oh * d.ow, d.k, static_cast<float*>(call.bias), args.workspace);
    return;
  }
  if (call.pass == ConvPass::kForward && KeepsWeights(args, call.weight_input)) WinogradKeepCompact(3, &d);
  const float* u = KeptWeights(
      args, call.weight_input, f.ptr, form, WinogradWeightSize(d), [&](float* to) { WinogradTransformWeights(d, f, to); }, {},
      [&] { return WinogradWeightParts(d, f); });
  WinogradEpilogue e;
  e.bias = static_cast<const float*>(call.bias);
  e.addend = static_cast<const float*>(addend);
  e.relu = call.post.kind == EpilogueKind::kRelu;
  const bool forward = call.pass == ConvPass::kForward;
  float* y = static_cast<float*>(forward ? call.dst.ptr : call.src.ptr);
  WinogradRun(d, forward ? src : dst, u, e, y, args.workspace);
  if (forward && call.post && !e.relu)
    ParallelFor(d.batch * d.oh * d.ow * d.k, 0,
                [&](int64_t begin, int64_t end) { ApplyPost(call.post, y + begin, y + begin, end - begin); });
}

}  // namespace nn
}  // namespace mxnet
