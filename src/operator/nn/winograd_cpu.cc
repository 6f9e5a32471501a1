// Winograd convolutions: blocks of tiles and threads, transformed weights kept in a plan.
#include <algorithm>
#include <memory>

#include "base/cpu_dispatch.h"
#include "base/omp.h"
#include "operator/nn/winograd.h"

namespace mxnet {

MXNET_CPU_DECLARE(MXNET_WINOGRAD_KERNELS)

namespace nn {
namespace {

constexpr int64_t kBlock = 24;          // tiles transformed, multiplied and transformed back by one thread while they are in its cache
constexpr int64_t kShared = 192;        // tiles that threads share when weights are what has to be read most
constexpr int64_t kFilters = 64;        // filters of products that are transformed back together
constexpr int64_t kSharedFilters = 32;
constexpr int64_t kGap = 16;            // floats between tiles: powers of two would fall into the same sets of the cache

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
int64_t Share(int64_t n, int64_t parts, int64_t i) { return n * i / parts; }

WinogradPart Part(float* ptr, const WinogradDims& d, int64_t channels) { return {ptr, d.Points() * channels + kGap, channels}; }
int64_t PartSize(const WinogradDims& d, int64_t channels, int64_t tiles) { return RoundUp((d.Points() * channels + kGap) * tiles, 16); }

double Flops(const WinogradDims& d) { return 2.0 * d.Points() * d.Tiles() * d.c * d.k; }

/* Transformed weights in the state of a plan's node. */
struct WinogradState : OpState {
  const void* source = nullptr;
  uint64_t version = 0;
  int m = 0, panel = 0;
  std::unique_ptr<char[]> memory;
  int64_t size = 0;
  float* Aligned() const { return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(memory.get()) + 63) & ~uintptr_t{63}); }
};

bool Kept(const KernelArgs& args, const ConvCall& call) {
  return args.state && !args.is_train && call.weight_input >= 0 && call.weight_input < args.in_versions.size();
}

const float* Weights(KernelArgs& args, const ConvCall& call, const WinogradDims& d, const WinogradFilter& f) {
  const int64_t size = WinogradWeightSize(d);
  if (!Kept(args, call)) {
    float* u = static_cast<float*>(args.workspace(size * sizeof(float)));
    WinogradTransformWeights(d, f, u);
    return u;
  }
  auto* state = dynamic_cast<WinogradState*>(args.state->get());
  if (!state) {
    state = new WinogradState();
    args.state->reset(state);
  }
  const uint64_t version = args.in_versions[call.weight_input];
  const int panel = MXNET_CPU_CALL(WinogradShape)().panel;
  if (state->source == f.ptr && state->version == version && state->m == d.m && state->panel == panel) return state->Aligned();
  if (state->size < size) {
    state->source = nullptr;
    state->memory.reset(new char[size * sizeof(float) + 64]);
    state->size = size;
  }
  WinogradTransformWeights(d, f, state->Aligned());
  state->source = f.ptr, state->version = version, state->m = d.m, state->panel = panel;
  return state->Aligned();
}

}  // namespace

bool WinogradDimsOf(const ConvCall& call, int m, WinogradDims* dims, WinogradFilter* filter) {
  const ConvDims& c = call.dims;
  if (call.dtype != kFloat32 || c.groups != 1 || call.pass == ConvPass::kBackwardWeights || !call.src.channels_last || !call.dst.channels_last) return false;
  if (c.in[0] != 1 || c.out[0] != 1 || c.kernel[0] != 1 || c.kernel[1] != 3 || c.kernel[2] != 3) return false;
  for (int i = 0; i < 3; ++i) if (c.stride[i] != 1 || (i && c.dilate[i] != 1) || (!i && c.pad[i] != 0)) return false;
  const bool forward = call.pass == ConvPass::kForward;
  dims->m = m, dims->batch = c.batch;
  dims->c = forward ? c.channels : c.filters;
  dims->k = forward ? c.filters : c.channels;
  dims->h = forward ? c.in[1] : c.out[1], dims->w = forward ? c.in[2] : c.out[2];
  dims->oh = forward ? c.out[1] : c.in[1], dims->ow = forward ? c.out[2] : c.in[2];
  dims->pad_h = forward ? c.pad[1] : 2 - c.pad[1], dims->pad_w = forward ? c.pad[2] : 2 - c.pad[2];
  filter->ptr = static_cast<const float*>(call.weight.ptr);
  const bool last = call.weight.channels_last;
  filter->k = 9 * c.channels, filter->c = last ? 1 : 9, filter->r = last ? 3 * c.channels : 3, filter->s = last ? c.channels : 1;
  filter->rotated = !forward;
  if (!forward) std::swap(filter->k, filter->c);
  return true;
}

int64_t WinogradWeightSize(const WinogradDims& d) {
  return RoundUp(d.k, MXNET_CPU_CALL(WinogradShape)().panel) * d.c * d.Points();
}

void WinogradTransformWeights(const WinogradDims& d, const WinogradFilter& f, float* u) {
  const int panel = MXNET_CPU_CALL(WinogradShape)().panel;
  const int64_t panels = RoundUp(d.k, panel) / panel, items = panels * d.c;
  ParallelFor(items, 64, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t p = begin / d.c, c = begin % d.c, stop = std::min(d.c, c + end - begin);
      MXNET_CPU_CALL(WinogradWeights)(d, f, p, p + 1, c, stop, u);
      begin += stop - c;
    }
  });
}

void WinogradRun(const WinogradDims& d, const float* x, const float* u, const WinogradEpilogue& e, float* y, const std::function<void*(size_t)>& workspace) {
  const WinogradGeometry g = MXNET_CPU_CALL(WinogradShape)();
  const int64_t channels = RoundUp(d.c, g.lanes), panels = RoundUp(d.k, g.panel) / g.panel, tiles = d.Tiles();
  const int threads = OmpThreadsForFlops(Flops(d));
  const auto products = [&](const WinogradPart& v, int64_t begin, int64_t end, int64_t p, int64_t stop, int64_t step, float* buffer) {
    const WinogradPart m = Part(buffer, d, step * g.panel);
    for (; p < stop; p += step) {
      const int64_t next = std::min(stop, p + step);
      MXNET_CPU_CALL(WinogradProducts)(d, v, end - begin, u, p, next, m);
      MXNET_CPU_CALL(WinogradOutput)(d, m, begin, end, p * g.panel, std::min(d.k, next * g.panel), e, y);
    }
  };
  const int64_t block = RoundUp(kBlock, g.rows);
  // Large weights are read from far away: once per many tiles, each thread its own filters. Small ones once per block of each thread.
  if (tiles >= 2 * block * threads && WinogradWeightSize(d) * sizeof(float) <= (4 << 20)) {
    const int64_t step = std::min(panels, std::max<int64_t>(1, kFilters / g.panel));
    const int64_t v_size = PartSize(d, channels, block), m_size = PartSize(d, step * g.panel, block);
    float* buffers = static_cast<float*>(workspace((v_size + m_size) * threads * sizeof(float)));
    const int64_t blocks = RoundUp(tiles, block) / block;
    ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
      for (int64_t id = first; id < last; ++id) {
        float* own = buffers + id * (v_size + m_size);
        const WinogradPart v = Part(own, d, channels);
        for (int64_t b = Share(blocks, threads, id); b < Share(blocks, threads, id + 1); ++b) {
          const int64_t begin = b * block, end = std::min(tiles, begin + block);
          MXNET_CPU_CALL(WinogradInput)(d, x, begin, end, v);
          products(v, begin, end, 0, panels, step, own + v_size);
        }
      }
    });
    return;
  }
  const int64_t shared = std::min(tiles, RoundUp(kShared, g.rows)), step = std::max<int64_t>(1, std::min<int64_t>(kSharedFilters / g.panel, panels / threads));
  const int64_t v_size = PartSize(d, channels, shared), m_size = PartSize(d, step * g.panel, shared);
  float* buffers = static_cast<float*>(workspace((v_size + m_size * threads) * sizeof(float)));
  const WinogradPart v = Part(buffers, d, channels);
  const int64_t cuts = RoundUp(threads, panels) / panels;   // of the tiles, where there are more threads than panels
  for (int64_t begin = 0; begin < tiles; begin += shared) {
    const int64_t count = std::min(shared, tiles - begin);
    ParallelForThreads(threads, count, [&](int64_t first, int64_t last) {
      const WinogradPart own{v.ptr + first * v.tile_stride, v.tile_stride, v.point_stride};
      MXNET_CPU_CALL(WinogradInput)(d, x, begin + first, begin + last, own);
    });
    ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
      for (int64_t id = first; id < last; ++id) {
        float* own = buffers + v_size + id * m_size;
        for (int64_t item = Share(panels * cuts, threads, id), stop = Share(panels * cuts, threads, id + 1); item < stop;) {
          const int64_t cut = item / panels, p = item % panels, next = std::min(panels, p + stop - item);
          const int64_t from = Share(count, cuts, cut), to = Share(count, cuts, cut + 1);
          const WinogradPart part{v.ptr + from * v.tile_stride, v.tile_stride, v.point_stride};
          products(part, begin + from, begin + to, p, next, step, own);
          item += next - p;
        }
      }
    });
  }
}

bool WinogradConvolution(KernelArgs& args, const ConvCall& call, const void* addend) {
  WinogradDims d;
  WinogradFilter f;
  if (!args.state || !Env::Get().cpu_allow_winograd || !WinogradDimsOf(call, 4, &d, &f)) return false;
  const bool kept = Kept(args, call);
  d.m = Env::Get().enforce_determinism ? WinogradByRule(call, kept) : WinogradByMeasurement(call, kept);
  if (d.m == 0) return false;
  const float* u = Weights(args, call, d, f);
  WinogradEpilogue e;
  e.bias = static_cast<const float*>(call.bias);
  e.addend = static_cast<const float*>(addend);
  e.relu = call.relu;
  const bool forward = call.pass == ConvPass::kForward;
  WinogradRun(d, static_cast<const float*>(forward ? call.src.ptr : call.dst.ptr), u, e, static_cast<float*>(forward ? call.dst.ptr : call.src.ptr), args.workspace);
  return true;
}

}  // namespace nn
}  // namespace mxnet
