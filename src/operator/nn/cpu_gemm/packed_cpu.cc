// Packed convolutions: geometry, pointers to rows, shares of threads.
#include <algorithm>

#include "base/cpu_dispatch.h"
#include "base/round_up.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/cpu_gemm/packed_geometry.h"

namespace mxnet {

MXNET_CPU_DECLARE(MXNET_PACKED_KERNELS)

namespace nn {
namespace {

constexpr int64_t kPixels = 96;     // of a block: panels of weights are read once per block
constexpr int64_t kFewPixels = 42;  // where all panels stay in the second-level cache anyway: what is read and written lies closer together
constexpr int64_t kManyPixels = 192;                                 // where they do not
constexpr int64_t kSmallWeights = 1 << 16, kLargeWeights = 1 << 18;  // elements
constexpr int64_t kRing = 32768;      // elements: lines between an expansion and its depthwise sums, in the second-level cache
constexpr int64_t kGroup = 8192;      // elements: of it, in the first level
constexpr int64_t kStepPixels = 192;  // of an expansion at a time: weights are read once for them
constexpr double kFlopsOfByte = 3;    // a core computes that much while a byte of weights comes from the last cache
constexpr double kRemote = 0.1;       // what it costs to divide channels: half of what is read next lies in another core's cache
alignas(64) const float kZeros[kMostDepth] = {};  // what lies outside the data

int Lanes() { return MXNET_CPU_CALL(PackedLanes)(); }

PackedEpilogue EpilogueOf(const void* bias, const float* addend, const EpilogueOp& post, bool* more) {
  PackedEpilogue e;
  e.bias = static_cast<const float*>(bias);
  e.addend = addend;
  if (post.kind == EpilogueKind::kRelu) e.low = 0;
  if (post.kind == EpilogueKind::kClip) e.low = post.a, e.high = post.b;
  *more = post && post.kind != EpilogueKind::kRelu && post.kind != EpilogueKind::kClip;
  return e;
}

/* For few pixels the weights, which are read once, take longer than the sums. */
double WorkOf(const Geometry& g) {
  return std::max(g.Flops(), kFlopsOfByte * sizeof(float) * static_cast<double>(g.blocks * g.block_f * g.K()));
}

int64_t SizeOf(int64_t filters, int64_t k) { return PackedVectors(filters, Lanes()) * Lanes() * k; }

void Run(const Geometry& g, const float* x, const float* packed, const PackedEpilogue& e, const EpilogueOp* post, float* y,
         const WorkspaceFn& workspace) {
  const int lanes = Lanes();
  const int64_t pixels = g.Pixels(), panels = g.blocks > 1 ? g.blocks : PackedPanels(g.filters, lanes),
                width = g.blocks > 1 ? g.block_f : 2 * lanes;  // blocks in place of panels
  const int threads = OmpThreadsForFlops(WorkOf(g));
  const int across = PanelShares(threads, pixels, panels, g.K(), g.filters), along = threads / across;
  const int64_t weights = g.K() * g.filters;
  const int64_t usual = std::min(weights > kLargeWeights   ? kManyPixels
                                 : weights > kSmallWeights ? kPixels
                                                           : kFewPixels,
                                 kPointers / g.segments);
  const bool copies = Collide<float>(g, MXNET_CPU_CALL(PackedRows)());
  const int64_t most = copies ? CopiedPixels<float>(g, usual) : usual, room = g.segments * most * CopiedPitch<float>(g);
  float* copied = copies ? static_cast<float*>(workspace(static_cast<size_t>(threads * room) * sizeof(float))) : nullptr;
  Shares shares(pixels, panels, across, along, most);
  ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
    const float* rows[kPointers];
    for (int64_t id = first; id < last; ++id) {
      int64_t pointed = -1;
      for (Shares::Item i; shares.Next(id, &i);) {
        const int64_t from = i.p_begin * width, to = i.p_end == panels ? g.filters : i.p_end * width;
        PackedBlock block;
        block.rows = rows, block.stride = block.count = i.end - i.begin;
        block.segments = g.segments, block.depth = g.depth, block.filters = g.block_f, block.ld = g.filters, block.onward = i.onward;
        if (pointed != i.begin) {
          Point(g, x, kZeros, i.begin, i.end, block.stride, rows);
          if (copies) CopyRows(g, block.count, copied + id * room, rows);
          pointed = i.begin;
        }
        PackedEpilogue own = e;
        if (e.addend) own.addend = e.addend + i.begin * g.filters;
        float* out = y + i.begin * g.filters;
        if (g.blocks == 1) {
          MXNET_CPU_CALL(PackedGemms)(block, packed, i.p_begin, i.p_end, own, out);
        } else {
          for (int64_t p = i.p_begin; p < i.p_end; ++p) {
            PackedEpilogue of = own;
            if (of.bias) of.bias += p * width;
            if (of.addend) of.addend += p * width;
            block.shift = p * g.block_c;
            MXNET_CPU_CALL(PackedGemms)(block, packed + p * SizeOf(width, g.K()), 0, PackedPanels(width, lanes), of, out + p * width);
          }
        }
        if (!post) continue;
        if (to - from == g.filters) {
          ApplyPost(*post, out, out, block.count * g.filters);
        } else {
          for (int64_t r = 0; r < block.count; ++r) ApplyPost(*post, out + r * g.filters + from, out + r * g.filters + from, to - from);
        }
      }
    }
  });
}

/*
 * Vector v of filters, whose rows of k numbers begin at `rows`; at(row, i): the weight of element i
 * of a pixel's sum. A few elements of all rows at a time, for they fill one line of the cache.
 */
template <typename At>
void PackVector(int64_t v, int64_t filters, int64_t k, const float* rows, float* packed, const At& at) {
  constexpr int64_t kAtOnce = 32;
  const int lanes = Lanes();
  const int64_t panels = PackedPanels(filters, lanes), p = std::min(v / 2, panels - 1);
  const int64_t width = (p + 1 < panels ? 2 : PackedVectors(filters, lanes) - 2 * p) * lanes,
                some = std::min<int64_t>(lanes, filters - v * lanes);
  float* const to = packed + p * 2 * lanes * k + (v - 2 * p) * lanes;
  for (int64_t begin = 0; begin < k; begin += kAtOnce) {
    const int64_t end = std::min(k, begin + kAtOnce);
    for (int64_t j = 0; j < some; ++j)
      for (int64_t i = begin; i < end; ++i) to[i * width + j] = at(rows + j * k, i);
    for (int64_t i = begin; some < lanes && i < end; ++i) std::fill(to + i * width + some, to + i * width + lanes, 0.f);
  }
}

/* A vector of filters is a part. */
template <typename At>
WeightParts PartsOf(int64_t filters, int64_t k, const At& at) {
  const int lanes = Lanes();
  WeightParts parts;
  parts.count = PackedVectors(filters, lanes);
  parts.bytes = static_cast<size_t>(lanes * k) * sizeof(float);
  parts.all = static_cast<size_t>(filters * k) * sizeof(float);
  parts.fill = [=](const void* from, int64_t begin, int64_t end, float* packed, void*) {
    for (int64_t v = begin; v < end; ++v) PackVector(v, filters, k, static_cast<const float*>(from) + (v - begin) * lanes * k, packed, at);
  };
  return parts;
}

// at(filter, i): the weight of element i of a pixel's sum.
template <typename At>
void Pack(int64_t filters, int64_t k, float* packed, const At& at) {
  const int lanes = Lanes();
  const int64_t panels = PackedPanels(filters, lanes), vectors = PackedVectors(filters, lanes);
  ParallelFor(panels, std::max<int64_t>(1, 32768 / (2 * lanes * k)), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t width = (p + 1 < panels ? 2 : vectors - 2 * p) * lanes, first = p * 2 * lanes, whole = std::min(width, filters - first);
      float* to = packed + first * k;
      for (int64_t j = 0; j < whole; ++j)
        for (int64_t i = 0; i < k; ++i) to[i * width + j] = at(first + j, i);
      for (int64_t i = 0; i < k; ++i) std::fill(to + i * width + whole, to + (i + 1) * width, 0.f);
    }
  });
}

DepthwiseDims DepthwiseOf(const ConvCall& call) {
  const ConvDims& d = call.dims;
  DepthwiseDims w;
  w.batch = d.batch, w.channels = d.channels, w.h = d.in[1], w.w = d.in[2], w.oh = d.out[1], w.ow = d.out[2];
  w.taps = static_cast<int>(d.kernel[1]), w.stride = static_cast<int>(d.stride[1]), w.pad_h = static_cast<int>(d.pad[1]),
  w.pad_w = static_cast<int>(d.pad[2]);
  return w;
}

}  // namespace

bool PackedTakes(const ConvCall& call) {
  Geometry g{};
  return call.dtype == kFloat32 && GeometryOf(call, Lanes(), &g);
}

int64_t PackedSize(const ConvCall& call) {
  Geometry g{};
  GeometryOf(call, Lanes(), &g);
  return g.blocks * SizeOf(g.block_f, g.K());
}

/* Of one group. */
WeightParts PackWeightParts(const ConvCall& call) {
  if (call.dims.groups > 1) return {};
  const int64_t c = call.dims.channels, window = call.dims.KernelSize();
  if (call.weight.channels_last || window == 1) return PackDenseParts(call.dims.filters, c * window);
  return PartsOf(call.dims.filters, c * window, [=](const float* row, int64_t i) { return row[i % c * window + i / c]; });
}

void PackWeights(const ConvCall& call, float* packed) {
  if (call.dims.groups == 1) return FillWhole(PackWeightParts(call), call.weight.ptr, packed);
  Geometry g{};
  GeometryOf(call, Lanes(), &g);
  const int64_t c = g.block_c, window = call.dims.KernelSize(), k = c * window;
  const float* w = static_cast<const float*>(call.weight.ptr);
  const bool last = call.weight.channels_last || window == 1;
  const int64_t own = call.dims.channels / call.dims.groups, filters = call.dims.filters / call.dims.groups;  // of a group
  for (int64_t block = 0; block < g.blocks; ++block, w += g.block_f * own * window, packed += SizeOf(g.block_f, k))
    Pack(g.block_f, k, packed, [=](int64_t filter, int64_t i) {
      const int64_t channel = i % c - filter / filters * own;
      return channel < 0 || channel >= own
                 ? 0.f
                 : w[last ? (filter * window + i / c) * own + channel : (filter * own + channel) * window + i / c];
    });
}

void PackedRun(const ConvCall& call, const float* packed, const float* addend, const WorkspaceFn& workspace) {
  Geometry g{};
  GeometryOf(call, Lanes(), &g);
  bool more;
  const PackedEpilogue e = EpilogueOf(call.bias, addend, call.post, &more);
  const float* x = static_cast<const float*>(call.src.ptr);
  if (g.bordered) x = Bordered(&g, x, workspace);
  Run(g, x, packed, e, more ? &call.post : nullptr, static_cast<float*>(call.dst.ptr), workspace);
}

int64_t PackedDenseSize(int64_t n, int64_t k) { return SizeOf(n, k); }

WeightParts PackDenseParts(int64_t n, int64_t k) {
  return PartsOf(n, k, [](const float* row, int64_t i) { return row[i]; });
}

/* A row of weights, that is an element of all pixels' sums, is a part. */
WeightParts PackTransposedParts(int64_t n, int64_t k) {
  const int lanes = Lanes();
  WeightParts parts;
  parts.count = k;
  parts.bytes = static_cast<size_t>(n) * sizeof(float);
  parts.all = static_cast<size_t>(n * k) * sizeof(float);
  parts.fill = [=](const void* from, int64_t begin, int64_t end, float* packed, void*) {
    const int64_t panels = PackedPanels(n, lanes), vectors = PackedVectors(n, lanes);
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t first = p * 2 * lanes, width = (p + 1 < panels ? 2 : vectors - 2 * p) * lanes, some = std::min(width, n - first);
      const float* row = static_cast<const float*>(from) + first;
      float* to = packed + first * k + begin * width;
      for (int64_t i = begin; i < end; ++i, row += n, to += width) {
        std::copy_n(row, some, to);
        std::fill(to + some, to + width, 0.f);
      }
    }
  };
  return parts;
}

void PackDense(const float* weight, int64_t n, int64_t k, float* packed) { FillWhole(PackDenseParts(n, k), weight, packed); }

void PackedDense(const DenseCall& call, const float* packed, const float* addend, const WorkspaceFn& workspace) {
  const Geometry g{1, 1, call.m, call.k, 1, call.m, call.n, 1, 1, 1, 1, 1, 1, 0, 0, false, false, false, 1, call.k, 1, call.k, call.n};
  bool more;
  const PackedEpilogue e = EpilogueOf(call.bias, addend, call.post, &more);
  Run(g, static_cast<const float*>(call.data), packed, e, more ? &call.post : nullptr, static_cast<float*>(call.out), workspace);
}

bool DepthwiseTakes(const ConvCall& call, bool with_addend) {
  const ConvDims& d = call.dims;
  if (call.pass != ConvPass::kForward || call.dtype != kFloat32 || d.groups != d.channels || d.filters != d.channels || d.channels < 2)
    return false;
  if (!call.src.channels_last || !call.dst.channels_last || d.in[0] != 1 || d.out[0] != 1 || d.kernel[0] != 1 || d.pad[0] != 0)
    return false;
  const int64_t taps = d.kernel[1];
  if (d.stride[1] != d.stride[2] || d.stride[1] > 2 || (taps != 3 && taps != 5 && taps != kMostDepthwiseTaps)) return false;
  for (int i = 1; i < 3; ++i)
    if (d.kernel[i] != taps || d.dilate[i] != 1 || d.pad[i] > taps / 2 ||
        (d.out[i] - 1) * d.stride[i] + taps - d.pad[i] > d.in[i] + taps / 2)
      return false;
  return d.channels >= Lanes() && (!with_addend || d.channels % Lanes() == 0);
}

int64_t DepthwiseSize(const ConvCall& call) { return RoundUp(call.dims.channels, Lanes()) * call.dims.KernelSize(); }

void PackDepthwise(const ConvCall& call, float* packed) {
  const int64_t channels = call.dims.channels, window = call.dims.KernelSize();
  const int lanes = Lanes();
  const float* w = static_cast<const float*>(call.weight.ptr);  // (C, 1, K, K) and (C, K, K, 1) are the same
  for (int64_t at = 0; at < channels; at += lanes) {
    const int64_t c = std::min(at, channels - lanes);
    for (int64_t i = 0; i < window; ++i)
      for (int j = 0; j < lanes; ++j) packed[at * window + i * lanes + j] = w[(c + j) * window + i];
  }
}

void DepthwiseRun(const ConvCall& call, const float* packed, const float* addend) {
  const DepthwiseDims d = DepthwiseOf(call);
  bool more;
  const PackedEpilogue e = EpilogueOf(call.bias, addend, call.post, &more);
  const float* x = static_cast<const float*>(call.src.ptr);
  float* y = static_cast<float*>(call.dst.ptr);
  const int64_t lines = d.batch * d.oh, groups = d.channels / (2 * Lanes());
  // Depthwise sums wait for memory more than for arithmetic: they are worth a second thread
  // earlier.
  const int threads = OmpThreadsForFlops(8.0 * static_cast<double>(lines * d.ow * d.channels * d.taps * d.taps));
  // Whole images stay with the core that multiplied them.
  const bool by_channels = groups >= 4 * threads && lines < 16 * threads && (threads == 1 || d.batch % threads != 0);
  ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
    for (int64_t id = first; id < last; ++id) {
      if (by_channels) {
        const int64_t begin = Share(groups, threads, id) * 2 * Lanes(),
                      end = id + 1 == threads ? d.channels : Share(groups, threads, id + 1) * 2 * Lanes();
        MXNET_CPU_CALL(DepthwiseLines)(d, x, packed, 0, lines, begin, end, e, y);
        if (more)
          for (int64_t i = 0; i < lines * d.ow; ++i)
            ApplyPost(call.post, y + i * d.channels + begin, y + i * d.channels + begin, end - begin);
        continue;
      }
      for (int64_t line = Share(lines, threads, id), stop = Share(lines, threads, id + 1); line < stop;) {
        const int64_t next = std::min(stop, line + 2), begin = line * d.ow * d.channels;
        MXNET_CPU_CALL(DepthwiseLines)(d, x, packed, line, next, 0, d.channels, e, y);
        if (more) ApplyPost(call.post, y + begin, y + begin, (next - line) * d.ow * d.channels);
        line = next;
      }
    }
  });
}

bool ExpandDepthwiseTakes(const ConvCall& expand, const ConvCall& depthwise) {
  const auto bounds = [](const EpilogueOp& p) { return !p || p.kind == EpilogueKind::kRelu || p.kind == EpilogueKind::kClip; };
  const ConvDims &a = expand.dims, &b = depthwise.dims;
  Geometry g{};
  if (expand.dtype != kFloat32 || !GeometryOf(expand, Lanes(), &g) || !DepthwiseTakes(depthwise, false) || !bounds(expand.post) ||
      !bounds(depthwise.post))
    return false;
  return a.KernelSize() == 1 && b.KernelSize() == 9 && a.groups == 1 && g.sh == 1 && g.sw == 1 && g.ph == 0 && g.pw == 0 &&
         expand.src.channels_last && b.batch == a.batch && b.channels == a.filters && b.in[1] == a.in[1] && b.in[2] == a.in[2] &&
         b.channels % Lanes() == 0 && b.in[2] <= kPointers;
}

/*
 * A few lines at a time, a panel or some of channels after the other: what the depthwise sums need
 * is computed just before them, into a ring of lines that stays in the cache: [vector of
 * channels][line][column][lanes], with a line of zeros and columns of zeros at the borders. Threads
 * divide the lines of the result where few lines of the expansion lie at their borders, which both
 * sides compute; else the channels.
 */
void ExpandDepthwiseRun(const ConvCall& expand, const ConvCall& depthwise, const float* packed, const float* packed_depthwise,
                        const WorkspaceFn& workspace) {
  const DepthwiseDims d = DepthwiseOf(depthwise);
  const int lanes = Lanes();
  const int64_t k = expand.dims.channels, panels = PackedPanels(d.channels, lanes), lines = d.batch * d.oh;
  const double flops = static_cast<double>(d.channels) * (2.0 * k * d.batch * d.h * d.w + 4.0 * 18 * lines * d.ow);
  const int threads = OmpThreadsForFlops(flops);
  const double by_lines =
      static_cast<double>(RoundUp(lines, threads)) / lines * (1 + static_cast<double>((threads - 1) * (3 - d.stride)) / (d.batch * d.h));
  const double by_panels = static_cast<double>(RoundUp(panels, threads)) / panels;
  const int across = by_lines <= by_panels + kRemote ? 1 : threads, along = threads / across;
  const int64_t columns = std::max(d.pad_w + d.w, (d.ow - 1) * d.stride + 3), line = columns * lanes;
  const int64_t step = std::min(d.oh, RoundUp(kStepPixels / (d.w * d.stride) + 1, 2)), ring = std::min(step * d.stride + 2, d.h),
                apart = (ring + 1) * line;
  const int64_t chunk = std::max<int64_t>(1, std::min((panels + across - 1) / across, kRing / (2 * apart))), room = apart * (2 * chunk + 1);
  const int64_t group = std::max<int64_t>(1, std::min<int64_t>(4, kGroup / (2 * apart)));
  float* rings = static_cast<float*>(workspace(static_cast<size_t>(threads * room + 16) * sizeof(float)));
  rings = AlignedTo64<float>(rings);
  bool more;
  const PackedEpilogue first = EpilogueOf(expand.bias, nullptr, expand.post, &more),
                       second = EpilogueOf(depthwise.bias, nullptr, depthwise.post, &more);
  const float* x = static_cast<const float*>(expand.src.ptr);
  float* y = static_cast<float*>(depthwise.dst.ptr);
  ParallelForThreads(threads, threads, [&](int64_t begin, int64_t end) {
    const float* rows[kPointers];
    float* outs[kPointers];
    for (int64_t id = begin; id < end; ++id) {
      float* own = rings + id * room;
      const int64_t p_end = Share(panels, across, id % across + 1), l_begin = Share(lines, along, id / across),
                    l_end = Share(lines, along, id / across + 1);
      std::fill(own, own + room, 0.f);
      for (int64_t p_begin = Share(panels, across, id % across), next; p_begin < p_end; p_begin = next) {
        next = std::min(p_end, p_begin + chunk);
        PackedBlock block;
        block.rows = rows, block.outs = outs, block.apart = apart, block.depth = k, block.filters = d.channels, block.onward = true;
        const int64_t back = 2 * p_begin * apart;    // what panels before these would take in the ring
        int64_t image = -1, have = 0, pointed = -1;  // lines before `have` were made; where `rows` begins
        for (int64_t l = l_begin; l < l_end;) {
          const int64_t n = l / d.oh, oy = l % d.oh, count = std::min({step, l_end - l, d.oh - oy});
          if (n != image) image = n, have = 0;
          have = std::max(have, oy * d.stride - d.pad_h);
          const int64_t high = std::min(d.h, (oy + count - 1) * d.stride - d.pad_h + 3);
          for (int64_t p = p_begin, p_next; p < next; p = p_next) {
            p_next = std::min(next, p + group);
            for (int64_t from = have, stop; from < high; from = stop) {
              stop = std::min(high, from + kPointers / d.w);
              if (pointed != n * d.h + from) {
                pointed = n * d.h + from;
                block.stride = block.count = (stop - from) * d.w;
                const float* data = x + pointed * d.w * k;
                for (int64_t iy = from, i = 0; iy < stop; ++iy) {
                  float* to = own + iy % ring * line + d.pad_w * lanes - back;
                  for (int64_t ix = 0; ix < d.w; ++ix, ++i) rows[i] = data + i * k, outs[i] = to + ix * lanes;
                }
              }
              MXNET_CPU_CALL(PackedGemms)(block, packed, p, p_next, first, nullptr);
            }
            const int64_t c_begin = p * 2 * lanes, c_end = p_next == panels ? d.channels : p_next * 2 * lanes;
            for (int64_t r = 0; r < count;) {
              const int height = r + 1 < count ? 2 : 1;
              const float* window[5];
              for (int i = 0; i < (height - 1) * d.stride + 3; ++i) {
                const int64_t iy = (oy + r) * d.stride - d.pad_h + i;
                window[i] = own + (iy >= 0 && iy < d.h ? iy % ring : ring) * line + 2 * (p - p_begin) * apart;
              }
              MXNET_CPU_CALL(DepthwiseVectors)
              (d, height, window, apart, packed_depthwise, c_begin, c_end, second, y + (l + r) * d.ow * d.channels);
              r += height;
            }
          }
          have = std::max(have, high);
          l += count;
        }
      }
    }
  });
}

}  // namespace nn
}  // namespace mxnet
