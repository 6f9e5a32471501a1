// Convolutions and dense layers in bfloat16: which method, packing, blocks and threads.
#include <algorithm>

#include "base/cpu_dispatch.h"
#include "base/cpu_limit.h"
#include "base/half.h"
#include "base/ran.h"
#include "mxnet/env.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/amx_windows.h"
#include "operator/nn/cpu_gemm/packed_bfloat.h"
#include "operator/nn/cpu_gemm/packed_bfloat_kernels.h"
#include "operator/nn/cpu_gemm/packed_geometry.h"
#include "operator/nn/cpu_gemm/small_m_gemm.h"
#include "operator/nn/cpu_gemm/winograd.h"

namespace mxnet {
namespace nn {

#if defined(__x86_64__)

namespace {

constexpr int64_t kPixels = 98;                      // of a block: panels of weights are read once per block
constexpr int64_t kManyPixels = 196;                 // where all panels together do not stay in the second-level cache
constexpr int64_t kLargeWeights = 1 << 19;           // elements
constexpr int64_t kFloats = 1 << 18;                 // elements of float32 copies at a time, which stay in the second-level cache
constexpr int64_t kWide = 3 * kBfloatLanes;          // filters of the widest panel
constexpr double kPairs = 0.45;                      // time of a multiplication against float32's
alignas(64) const bfloat16 kZeros[kMostDepth] = {};  // what lies outside the data

enum Form : uint64_t { kFormPacked = 1u << 16, kFormWinograd = 2u << 16, kFormDepthwise = 3u << 16, kFormTiles = 4u << 16 };

float* Floats(const WorkspaceFn& workspace, int64_t count) {
  return static_cast<float*>(workspace(static_cast<size_t>(count) * sizeof(float)));
}

void Widen(const void* from, float* to, int64_t n) {
  ParallelFor(n, 1 << 15,
              [&](int64_t begin, int64_t end) { BfloatToFloat(static_cast<const bfloat16*>(from) + begin, to + begin, end - begin); });
}

void Narrow(const float* from, void* to, int64_t n) {
  ParallelFor(n, 1 << 15, [&](int64_t begin, int64_t end) { BfloatRound(from + begin, static_cast<bfloat16*>(to) + begin, end - begin); });
}

/* A bias in float32, filled up to whole vectors; null where there is none. */
const float* BiasOf(const void* bias, bool wide, int64_t n, const WorkspaceFn& workspace) {
  if (!bias) return nullptr;
  const int64_t whole = RoundUp(n, kBfloatLanes);
  if (wide && whole == n) return static_cast<const float*>(bias);
  float* made = Floats(workspace, whole);
  if (wide)
    std::copy_n(static_cast<const float*>(bias), n, made);
  else
    BfloatToFloat(static_cast<const bfloat16*>(bias), made, n);
  std::fill(made + n, made + whole, 0.f);
  return made;
}

int64_t Pairs(const Geometry& g) { return g.segments * ((g.depth + 1) / 2); }
int64_t SizeOf(int64_t filters, int64_t pairs) {
  return PackedVectors(filters, kBfloatLanes) * kBfloatLanes * pairs;
}  // in floats' room: a pair takes as much

// at(filter, segment, i): the weight of element i of a segment.
template <typename At>
void Pack(int64_t filters, int64_t segments, int64_t depth, bfloat16* packed, const At& at) {
  const int64_t pairs = segments * ((depth + 1) / 2), panels = PackedPanels(filters, kBfloatLanes),
                vectors = PackedVectors(filters, kBfloatLanes);
  ParallelFor(panels, std::max<int64_t>(1, 32768 / (4 * kBfloatLanes * pairs)), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t width = (p + 1 < panels ? 2 : vectors - 2 * p) * kBfloatLanes, first = p * 2 * kBfloatLanes,
                    whole = std::min(width, filters - first);
      bfloat16* to = packed + first * pairs * 2;
      std::fill(to, to + width * pairs * 2, bfloat16::FromBits(0));
      for (int64_t j = 0; j < whole; ++j) {
        bfloat16* pair = to + 2 * j;
        for (int64_t s = 0; s < segments; ++s)
          for (int64_t i = 0; i < depth; i += 2, pair += 2 * width) {
            pair[0] = at(first + j, s, i);
            if (i + 1 < depth) pair[1] = at(first + j, s, i + 1);
          }
      }
    }
  });
}

bool PlanesOf(const ConvCall& call) { return !call.src.channels_last && call.dims.InSize() > 1 && call.dims.channels > 1; }

/* A vector of filters, `filters` of it, whose windows of `places` lie at `from`, `last`: channels
 * are beside each other. `to`: its first pair, of panels `width` filters wide. */
void PackVector(const bfloat16* from, int64_t filters, int64_t places, int64_t channels, bool last, int64_t width, bfloat16* to) {
  const int64_t each = last ? channels : 1, apart = last ? 1 : places, pairs = (channels + 1) / 2;
  for (int64_t place = 0; place < places; ++place)
    for (int64_t i = 0; i < pairs; ++i, to += 2 * width) {
      std::fill_n(to, 2 * kBfloatLanes, bfloat16::FromBits(0));
      for (int64_t j = 0; j < filters; ++j) {
        const bfloat16* const at = from + j * places * channels + place * each + 2 * i * apart;
        to[2 * j] = at[0];
        if (2 * i + 1 < channels) to[2 * j + 1] = at[apart];
      }
    }
}

/* A segment for each place of the window; a vector of filters is a part. */
WeightParts PlacesParts(int64_t filters, int64_t places, int64_t channels, bool last) {
  const int64_t k = places * channels, units = places * ((channels + 1) / 2);
  WeightParts parts;
  parts.count = PackedVectors(filters, kBfloatLanes);
  parts.bytes = static_cast<size_t>(kBfloatLanes * k) * sizeof(bfloat16);
  parts.all = static_cast<size_t>(filters * k) * sizeof(bfloat16);
  parts.fill = [=](const void* from, int64_t begin, int64_t end, float* form, void*) {
    const int64_t vectors = PackedVectors(filters, kBfloatLanes), panels = PackedPanels(filters, kBfloatLanes);
    const auto* part = static_cast<const bfloat16*>(from);
    for (int64_t v = begin; v < end; ++v, part += kBfloatLanes * k) {
      const int64_t p = std::min(v / 2, panels - 1), width = (p + 1 < panels ? 2 : vectors - 2 * p) * kBfloatLanes;
      bfloat16* const to = reinterpret_cast<bfloat16*>(form) + p * 4 * kBfloatLanes * units + (v - 2 * p) * 2 * kBfloatLanes;
      PackVector(part, std::min<int64_t>(kBfloatLanes, filters - v * kBfloatLanes), places, channels, last, width, to);
    }
  };
  return parts;
}

void PackConvolution(const ConvCall& call, const Geometry& g, bfloat16* packed) {
  const int64_t c = g.c, window = call.dims.KernelSize(), k = c * window, depth = g.depth;
  const bfloat16* w = static_cast<const bfloat16*>(call.weight.ptr);
  if (call.weight.channels_last || window == 1) {
    Pack(g.filters, g.segments, depth, packed, [=](int64_t filter, int64_t s, int64_t i) { return w[filter * k + s * depth + i]; });
  } else {
    Pack(g.filters, g.segments, depth, packed, [=](int64_t filter, int64_t s, int64_t i) {
      const int64_t at = s * depth + i;
      return w[filter * k + at % c * window + at / c];
    });
  }
}

// As Run, by matrix tiles; `packed` has a segment for each place of the window.
void RunByTiles(KernelArgs& args, const ConvDims& d, const ConvCall* call, const void* data, const bfloat16* packed, const float* bias,
                const bfloat16* added, const EpilogueOp& post, bfloat16* y) {
  const bool more = post && post.kind != EpilogueKind::kRelu && post.kind != EpilogueKind::kClip;
  BfloatEpilogue limits;
  if (post.kind == EpilogueKind::kRelu) limits.low = 0;
  if (post.kind == EpilogueKind::kClip) limits.low = post.a, limits.high = post.b;
  const int64_t filters = d.filters, units = d.KernelSize() * ((d.channels + 1) / 2), vectors = PackedVectors(filters, kBfloatLanes),
                panels = PackedPanels(filters, kBfloatLanes);
  const AmxImages images{d, static_cast<const char*>(data), sizeof(bfloat16), 0, call && PlanesOf(*call)};
  AmxForBlocks(args, images, panels, [&](const AmxBlock& block, int64_t first, int64_t last) {
    alignas(64) float sums[kAmxSums], wide[kAmxGroup * kAmxPanel];
    const AmxScope scope(block.rows, block.view.depth);
    for (int64_t p = first; p < last; ++p) {
      const int64_t width = p + 1 < panels ? 2 : vectors - 2 * p;
      for (int64_t v = 0; v < width; v += 2) {  // the last panel may have three
        const int64_t some = std::min<int64_t>(2, width - v) * kBfloatLanes, filter = (2 * p + v) * kBfloatLanes,
                      n = std::min(some, filters - filter);
        const bfloat16 *const panel = packed + p * units * 4 * kBfloatLanes, *const next = panel + width * 2 * kBfloatLanes * units;
        const int64_t behind = p + 1 == panels || v > 0 ? 0 : (p + 2 == panels ? vectors - 2 * p - 2 : 2) * 4 * kBfloatLanes * units;
        const AmxFilters own{panel + v * 2 * kBfloatLanes, some, width * 4 * kBfloatLanes, bias ? bias + filter : nullptr, next, behind};
        AmxMultiply(AmxKind::kBfloat, block, own, sums, [&](const float* rows, int64_t pixel, int64_t count) {
          const int64_t at = pixel * filters + filter;
          BfloatEpilogue e = limits;
          e.addend = added ? added + at : nullptr;
          if (!more) return BfloatFinish(rows, kAmxPanel, count, n, e, y + at, filters);
          BfloatFinishWide(rows, kAmxPanel, count, n, e, filters, wide);
          if (post.kind != EpilogueKind::kGelu) ApplyPost(post, wide, wide, count * n);
          const auto round = post.kind == EpilogueKind::kGelu ? BfloatGelu : BfloatRound;
          for (int64_t r = 0; r < count; ++r) round(wide + r * n, y + at + r * filters, n);
        });
      }
    }
  });
}

// post(products + bias + addend), rounded; `added` as the result lies.
void Run(const Geometry& g, const bfloat16* x, const bfloat16* packed, const float* bias, const bfloat16* added, const EpilogueOp& post,
         bfloat16* y, const WorkspaceFn& workspace) {
  BfloatEpilogue e;
  e.bias = bias;
  if (post.kind == EpilogueKind::kRelu) e.low = 0;
  if (post.kind == EpilogueKind::kClip) e.low = post.a, e.high = post.b;
  const bool more = post && post.kind != EpilogueKind::kRelu && post.kind != EpilogueKind::kClip;
  const int64_t pixels = g.Pixels(), panels = PackedPanels(g.filters, kBfloatLanes);
  const int threads = OmpThreadsForFlops(g.Flops() / 2);
  const int across = PanelShares(threads, pixels, panels, g.K(), g.filters), along = threads / across;
  const int64_t usual = std::min(g.K() * g.filters > kLargeWeights ? kManyPixels : kPixels, kPointers / g.segments);
  const bool copies = Collide<bfloat16>(g, kBfloatRows);
  const int64_t most = copies ? CopiedPixels<bfloat16>(g, usual) : usual, room = g.segments * most * CopiedPitch<bfloat16>(g);
  bfloat16* copied = copies ? static_cast<bfloat16*>(workspace(static_cast<size_t>(threads * room) * sizeof(bfloat16))) : nullptr;
  float* wide = more ? Floats(workspace, threads * most * kWide) : nullptr;  // other activations are computed on unrounded sums
  Shares shares(pixels, panels, across, along, most);
  ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
    const bfloat16* rows[kPointers];
    for (int64_t id = first; id < last; ++id) {
      int64_t pointed = -1;
      for (Shares::Item i; shares.Next(id, &i);) {
        BfloatBlock block;
        block.rows = rows, block.stride = block.count = i.end - i.begin;
        block.segments = g.segments, block.depth = g.depth, block.filters = block.ld = g.filters, block.onward = i.onward;
        if (pointed != i.begin) {
          Point(g, x, kZeros, i.begin, i.end, block.stride, rows);
          if (copies) CopyRows(g, block.count, copied + id * room, rows);
          pointed = i.begin;
        }
        BfloatEpilogue own = e;
        if (added) own.addend = added + i.begin * g.filters;
        bfloat16* out = y + i.begin * g.filters;
        if (!more) {
          BfloatGemms(block, packed, i.p_begin, i.p_end, own, out);
          continue;
        }
        // Panel by panel: the activation finds the sums in the first-level cache.
        float* sums = wide + id * most * kWide;
        for (int64_t p = i.p_begin; p < i.p_end; ++p) {
          const int64_t from = p * 2 * kBfloatLanes, width = (p + 1 == panels ? g.filters : from + 2 * kBfloatLanes) - from;
          block.onward = i.onward || p + 1 < i.p_end;
          BfloatGemmsWide(block, packed, p, p + 1, own, sums, width);
          if (post.kind != EpilogueKind::kGelu) ApplyPost(post, sums, sums, block.count * width);
          const auto round = post.kind == EpilogueKind::kGelu ? BfloatGelu : BfloatRound;
          for (int64_t r = 0; r < block.count; ++r) round(sums + r * width, out + r * g.filters + from, width);
        }
      }
    }
  });
}

// Dense layers with few rows: weights are read as they lie.
void FewRows(KernelArgs& args, const DenseCall& call, const bfloat16* addend) {
  args.NeedWeights(call.weight);
  const int64_t m = call.m, n = call.n, k = call.k;
  const float* bias = BiasOf(call.bias, call.wide_bias, n, args.workspace);
  float* sums = Floats(args.workspace, m * n);
  bfloat16* y = static_cast<bfloat16*>(call.out);
  ParallelFor(n, std::max<int64_t>(32, 131072 / std::max<int64_t>(k, 1)), [&](int64_t begin, int64_t end) {
    BfloatRows(m, n, k, static_cast<const bfloat16*>(call.data), static_cast<const bfloat16*>(call.weight), sums, begin, end);
    for (int64_t i = 0; i < m; ++i) {
      float* row = sums + i * n;
      if (bias)
        for (int64_t j = begin; j < end; ++j) row[j] += bias[j];
      if (addend)
        for (int64_t j = begin; j < end; ++j) row[j] += static_cast<float>(addend[i * n + j]);
      if (call.post) ApplyPost(call.post, row + begin, row + begin, end - begin);
      BfloatRound(row + begin, y + i * n + begin, end - begin);
    }
  });
}

/* Each part is widened by itself: all weights in float32 may be larger than what is made of
 * them. */
WeightParts BfloatWinogradParts(const WinogradDims& d, const WinogradFilter& f) {
  const WeightParts floats = WinogradWeightParts(d, f);
  if (floats.count == 0) return {};
  WeightParts parts = floats;
  parts.bytes = floats.bytes / 2, parts.all = floats.all / 2;
  const size_t wide = static_cast<size_t>(RoundUp(static_cast<int64_t>(floats.bytes), 64));
  parts.scratch = wide + floats.scratch;
  parts.fill = [floats, wide, bytes = parts.bytes, all = parts.all](const void* from, int64_t begin, int64_t end, float* u, void* scratch) {
    const auto* part = static_cast<const bfloat16*>(from);
    auto* const own = static_cast<float*>(scratch);
    for (int64_t p = begin; p < end; ++p, part += bytes / sizeof(bfloat16)) {
      const size_t size = std::min(bytes, all - static_cast<size_t>(p) * bytes);
      BfloatToFloat(part, own, static_cast<int64_t>(size / sizeof(bfloat16)));
      floats.fill(own, p, p + 1, u, static_cast<char*>(scratch) + wide);
    }
  };
  return parts;
}

// Products of float32 tiles take fewer multiplications than bfloat16 saves; the data is widened and
// rounded by parts that stay in the cache.
void Winograd(KernelArgs& args, const ConvCall& call, const bfloat16* addend, int m) {
  ConvCall like = call;
  like.dtype = kFloat32;
  WinogradDims d;
  WinogradFilter f;
  WinogradDimsOf(like, m, &d, &f);
  WinogradKeepCompact(2, &d);
  const float* u = KeptWeights(
      args, call.weight_input, call.weight.ptr, kFormWinograd + static_cast<uint64_t>(m), WinogradWeightSize(d),
      [&](float* to) {
        const int64_t n = d.k * d.c * d.window_h * d.window_w;
        float* wide = Floats(args.workspace, n);
        Widen(call.weight.ptr, wide, n);
        WinogradFilter filter = f;
        filter.ptr = wide;
        WinogradTransformWeights(d, filter, to);
      },
      {}, [&] { return BfloatWinogradParts(d, f); });
  WinogradEpilogue e;
  e.bias = BiasOf(call.bias, call.wide_bias, d.k, args.workspace);
  e.relu = call.post.kind == EpilogueKind::kRelu;
  // Some images at a time, or a band of lines of one; large weights are read once for many tiles.
  const int64_t most = std::max(kFloats, d.Weights() / 2), widest = std::max(d.w * d.c, d.ow * d.k), lines = d.oh + d.window_h - 1;
  const int64_t images = std::max<int64_t>(1, most / (widest * std::max(lines, d.h))), groups = (d.batch + images - 1) / images;
  const int64_t band = images > 1 ? d.oh : std::min(d.oh, RoundUp(std::max<int64_t>(1, most / widest - d.window_h + 1), d.TileH()));
  const int64_t together = (d.batch + groups - 1) / groups;
  float *x = Floats(args.workspace, together * std::min(d.h, band + d.window_h - 1) * d.w * d.c),
        *y = Floats(args.workspace, together * band * d.ow * d.k);
  if (addend) e.addend = y;
  void* block = nullptr;  // all ask for the same, but the last for less
  size_t block_bytes = 0;
  const WorkspaceFn workspace = [&](size_t bytes) {
    if (bytes > block_bytes) block = args.workspace(bytes), block_bytes = bytes;
    return block;
  };
  SayWinograd(d, RanAtCpuLevel());  // in float32
  const WinogradDims whole = d;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = Share(whole.batch, groups, g), count = Share(whole.batch, groups, g + 1) - begin;
    for (int64_t line = 0; line < whole.oh; line += band) {
      const int64_t from = std::max<int64_t>(0, line - whole.pad_h), to = std::min(whole.h, line - whole.pad_h + band + whole.window_h - 1);
      d.batch = count, d.oh = std::min(band, whole.oh - line), d.h = std::max<int64_t>(0, to - from), d.pad_h = from - (line - whole.pad_h);
      const int64_t in = d.h * d.w * d.c, out = d.oh * d.ow * d.k;  // of one image; those of several are whole and adjacent
      const int64_t out_at = (begin * whole.oh + line) * d.ow * d.k;
      Widen(static_cast<const bfloat16*>(call.src.ptr) + (begin * whole.h + from) * d.w * d.c, x, count * in);
      if (addend) Widen(addend + out_at, y, count * out);
      WinogradRun(d, x, u, e, y, workspace);
      if (call.post && !e.relu) ParallelFor(count * out, 0, [&](int64_t b, int64_t stop) { ApplyPost(call.post, y + b, y + b, stop - b); });
      Narrow(y, static_cast<bfloat16*>(call.dst.ptr) + out_at, count * out);
    }
  }
}

// The size of Winograd's tiles, 0 for packed products: as MethodByRule, where a product takes
// kPairs of the time. Eight points are exact enough for bfloat16.
int WinogradSize(const ConvCall& call) {
  const ConvDims& dims = call.dims;
  if (!Env::Get().cpu_allow_winograd || dims.channels < 16 || dims.filters < 16) return 0;
  const double weights = static_cast<double>(dims.channels) * static_cast<double>(dims.filters);
  double least = kPairs * static_cast<double>(dims.KernelSize()) * weights * static_cast<double>(dims.batch * dims.OutSize() + 8);
  int best = 0;
  ConvCall like = call;
  like.dtype = kFloat32;
  for (int m : {4, 6}) {
    WinogradDims d;
    WinogradFilter f;
    if (!WinogradDimsOf(like, m, &d, &f) || d.apart_h * d.apart_w > 1) continue;
    const double tiles = static_cast<double>(d.Tiles());
    const double work = static_cast<double>(d.Points()) * (weights * (tiles + 8) + 8.0 * tiles * static_cast<double>(d.c + d.k));
    if (work < least) least = work, best = m;
  }
  return best;
}

/* Convolutions that matrix tiles compute. */
bool TakesTiles(const ConvCall& call) {
  const ConvDims& d = call.dims;
  return HasAmx() && d.groups == 1 && (call.dst.channels_last || d.OutSize() == 1) && (!PlanesOf(call) || AmxTakesPlanes(d));
}

bool IsDense(const ConvCall& call) {
  const ConvDims& d = call.dims;
  for (int i = 0; i < 3; ++i)
    if (d.stride[i] != 1 || d.pad[i] != 0) return false;
  return d.groups == 1 && d.KernelSize() == 1 && d.InSize() == d.OutSize() &&
         ((call.src.channels_last && call.dst.channels_last) || d.InSize() == 1);
}

}  // namespace

bool BfloatGemmsHere() {
  static const bool has = HasBfloat16();
  return has && CurrentCpuLevel() == CpuLevel::kV4;
}

bool BfloatConvolution(KernelArgs& args, const ConvCall& call, const void* addend) {
  if (!BfloatGemmsHere() || call.pass != ConvPass::kForward || !KeepsWeights(args, call.weight_input)) return false;
  const ConvDims& d = call.dims;
  const int64_t pixels = d.batch * d.OutSize();
  const bfloat16* added = static_cast<const bfloat16*>(addend);
  if (IsSmallMGemm(pixels, d.filters, d.channels) && IsDense(call)) {
    DenseCall dense;
    dense.m = pixels, dense.n = d.filters, dense.k = d.channels, dense.dtype = call.dtype;
    dense.data = call.src.ptr, dense.weight = call.weight.ptr, dense.bias = call.bias, dense.out = call.dst.ptr, dense.post = call.post;
    dense.wide_bias = call.wide_bias, dense.weight_input = call.weight_input;
    return BfloatDense(args, dense, addend);
  }
  if (TakesTiles(call)) {
    Ran(d.KernelSize() == 1 ? "packed GEMM" : "packed implicit GEMM", RanAt::kAmx);
    const auto parts = [&] { return PlacesParts(d.filters, d.KernelSize(), d.channels, call.weight.channels_last || d.KernelSize() == 1); };
    const float* packed = KeptWeights(
        args, call.weight_input, call.weight.ptr, kFormTiles, SizeOf(d.filters, d.KernelSize() * ((d.channels + 1) / 2)),
        [&](float* to) { FillWhole(parts(), call.weight.ptr, to); }, {}, parts);
    RunByTiles(args, d, &call, call.src.ptr, reinterpret_cast<const bfloat16*>(packed),
               BiasOf(call.bias, call.wide_bias, d.filters, args.workspace), added, call.post, static_cast<bfloat16*>(call.dst.ptr));
    return true;
  }
  Geometry g{};
  if (d.groups != 1 || !GeometryOf(call, kBfloatLanes, &g)) return false;
  if (const int m = WinogradSize(call)) {
    Winograd(args, call, added, m);
    return true;
  }
  Ran(d.KernelSize() == 1 ? "packed GEMM" : "packed implicit GEMM", RanAt::kAvx512Bf16);
  const float* packed = KeptWeights(args, call.weight_input, call.weight.ptr, kFormPacked, SizeOf(g.filters, Pairs(g)),
                                    [&](float* to) { PackConvolution(call, g, reinterpret_cast<bfloat16*>(to)); });
  const bfloat16* x = static_cast<const bfloat16*>(call.src.ptr);
  if (g.bordered) x = Bordered(&g, x, args.workspace);
  Run(g, x, reinterpret_cast<const bfloat16*>(packed), BiasOf(call.bias, call.wide_bias, g.filters, args.workspace), added, call.post,
      static_cast<bfloat16*>(call.dst.ptr), args.workspace);
  return true;
}

bool BfloatDense(KernelArgs& args, const DenseCall& call, const void* addend) {
  if (!BfloatGemmsHere() || call.m == 0 || call.k == 0) return false;
  const bfloat16* added = static_cast<const bfloat16*>(addend);
  if (!PacksDense(args, call)) {
    if (!IsSmallMGemm(call.m, call.n, call.k)) return false;
    Ran("GEMM of few rows", RanAt::kAvx512Bf16);
    FewRows(args, call, added);
    return true;
  }
  Ran("packed GEMM", HasAmx() ? RanAt::kAmx : RanAt::kAvx512Bf16);
  const bfloat16* w = static_cast<const bfloat16*>(call.weight);
  const int64_t k = call.k;
  const auto parts = [&] { return PlacesParts(call.n, 1, k, true); };
  const float* packed = KeptWeights(
      args, call.weight_input, w, kFormPacked, SizeOf(call.n, (k + 1) / 2), [&](float* to) { FillWhole(parts(), w, to); }, {}, parts);
  if (HasAmx()) {
    ConvDims d;
    d.batch = call.m, d.channels = k, d.filters = call.n;
    RunByTiles(args, d, nullptr, call.data, reinterpret_cast<const bfloat16*>(packed),
               BiasOf(call.bias, call.wide_bias, call.n, args.workspace), added, call.post, static_cast<bfloat16*>(call.out));
    return true;
  }
  const Geometry g{1, 1, call.m, k, 1, call.m, call.n, 1, 1, 1, 1, 1, 1, 0, 0, false, false, false, 1, k, 1, k, call.n};
  Run(g, static_cast<const bfloat16*>(call.data), reinterpret_cast<const bfloat16*>(packed),
      BiasOf(call.bias, call.wide_bias, call.n, args.workspace), added, call.post, static_cast<bfloat16*>(call.out), args.workspace);
  return true;
}

#else  // the kernels are written for x86

bool BfloatGemmsHere() { return false; }
bool BfloatConvolution(KernelArgs&, const ConvCall&, const void*) { return false; }
bool BfloatDense(KernelArgs&, const DenseCall&, const void*) { return false; }

#endif

}  // namespace nn
}  // namespace mxnet
