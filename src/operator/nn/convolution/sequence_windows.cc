// What a tile of results reads is copied to where it lies close together, with zeros where windows
// reach outside.
#include "operator/nn/convolution/sequence_windows.h"

#include <algorithm>

#include "base/copy_run.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kColumns = 96, kVector = 16;  // results of a tile at most; numbers that are computed together
constexpr int64_t kLines = 6144;                // numbers of a tile's data that stay in the first cache
constexpr int64_t kLeastLength = 8;             // of the results: shorter ones leave vectors empty

struct Geometry {
  int64_t batch, groups, channels, filters;  // channels and filters of a group
  int64_t in, out, taps, dilate, pad;
  int64_t together, blocks;  // filters of a block of weights, and blocks of a group
  int64_t tiles, columns;    // of a sequence; of a tile, whole vectors
  int64_t step, pitch;       // of SequenceLines
  int64_t part;              // channels at a time
  bool apart;                // elements of the window are so far apart that each has a line of its own
  int64_t Apart() const { return channels * taps * together; }
  int64_t Weights() const { return groups * blocks * Apart(); }

  explicit Geometry(const ConvDims& d)
      : batch(d.batch),
        groups(d.groups),
        channels(d.channels / d.groups),
        filters(d.filters / d.groups),
        in(d.in[2]),
        out(d.out[2]),
        taps(d.kernel[2]),
        dilate(d.dilate[2]),
        pad(d.pad[2]),
        together(filters == 1 ? 1 : kSequenceFilters),
        blocks((filters + together - 1) / together),
        tiles((out + kColumns - 1) / kColumns) {
    columns = RoundUp((out + tiles - 1) / tiles, kVector);
    tiles = (out + columns - 1) / columns;
    const int64_t reach = (taps - 1) * dilate;
    apart = reach > (taps - 1) * columns;
    step = apart ? columns : dilate;
    pitch = apart ? taps * columns : columns + reach;
    part = std::clamp<int64_t>(kLines / pitch, 1, channels);
  }
};

void Pack(const Geometry& g, const float* weights, float* to) {
  for (int64_t group = 0; group < g.groups; ++group)
    for (int64_t block = 0; block < g.blocks; ++block)
      for (int64_t i = 0; i < g.channels * g.taps; ++i)
        for (int64_t f = 0; f < g.together; ++f, ++to) {
          const int64_t filter = block * g.together + f;
          *to = filter < g.filters ? weights[(group * g.filters + filter) * g.channels * g.taps + i] : 0.0f;
        }
}

// Elements [first, first + count) of a sequence, zeros where it has none.
void Line(const float* from, int64_t length, int64_t first, int64_t count, float* to) {
  const int64_t begin = std::clamp<int64_t>(-first, 0, count), end = std::clamp<int64_t>(length - first, begin, count);
  std::fill_n(to, begin, 0.0f);
  if (end > begin) CopyRun(to + begin, from + first + begin, static_cast<size_t>(end - begin) * sizeof(float));
  std::fill(to + end, to + count, 0.0f);
}

void Lines(const Geometry& g, const float* from, int64_t channels, int64_t first, float* to) {
  for (int64_t c = 0; c < channels; ++c, from += g.in, to += g.pitch) {
    if (!g.apart) {
      Line(from, g.in, first - g.pad, g.pitch, to);
      continue;
    }
    for (int64_t t = 0; t < g.taps; ++t) Line(from, g.in, first - g.pad + t * g.dilate, g.columns, to + t * g.columns);
  }
}

struct Job {
  const Geometry& g;
  const ConvCall& call;
  const float *weights, *addend;

  // Blocks [begin, end) of a group's filters for a tile of an image's results.
  void Tile(int64_t image, int64_t group, int64_t tile, int64_t begin, int64_t end, float* lines, float* start, float* sums) const {
    const int64_t first = tile * g.columns, count = (end - begin) * g.together, filter = group * g.filters + begin * g.together;
    const auto* x = static_cast<const float*>(call.src.ptr) + (image * g.groups + group) * g.channels * g.in;
    const float* w = weights + (group * g.blocks + begin) * g.Apart();
    SequenceSums to;
    to.sums = sums, to.pitch = g.columns, to.start = start;
    to.filters = std::min(count, g.filters - begin * g.together), to.length = std::min(g.columns, g.out - first), to.apart = g.out;
    for (int64_t f = 0; f < count; ++f) start[f] = call.bias && f < to.filters ? static_cast<const float*>(call.bias)[filter + f] : 0.0f;
    const int64_t at = (image * g.groups * g.filters + filter) * g.out + first;
    const bool relu = call.post.kind == EpilogueKind::kRelu, bends = relu || call.post.kind == EpilogueKind::kLeaky;
    for (int64_t c = 0; c < g.channels; c += g.part, to.start = nullptr) {
      const int64_t some = std::min(g.part, g.channels - c);
      if (c + some == g.channels) {
        to.out = static_cast<float*>(call.dst.ptr) + at;
        to.addend = addend ? addend + at : nullptr;
        to.bends = bends, to.slope = relu ? 0.0f : call.post.a;
      }
      Lines(g, x + c * g.in, some, first, lines);
      MXNET_CPU_CALL(SumSequences)
      ({lines, some, g.taps, g.pitch, g.step}, w + c * g.taps * g.together, g.Apart(), g.together, count, RoundUp(to.length, kVector), to);
    }
    if (call.post && !bends)
      for (int64_t f = 0; f < to.filters; ++f) ApplyPost(call.post, to.out + f * g.out, to.out + f * g.out, to.length);
  }

  // Tiles are divided among the threads, and where there are few of them, filters.
  void Run(double flops) const {
    const int threads = OmpThreadsForFlops(flops);
    const int64_t all = g.batch * g.groups * g.tiles;
    const int64_t shares = std::clamp<int64_t>(all >= 4 * threads ? 1 : (4 * threads + all - 1) / all, 1, threads == 1 ? 1 : g.blocks);
    ParallelForThreads(threads, all * shares, [&](int64_t begin, int64_t end) {
      const int64_t most = (g.blocks + shares - 1) / shares * g.together;
      const HostScratch<float> lines(g.part * g.pitch), start(most), sums(g.part < g.channels ? most * g.columns : 0);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t share = i % shares, tile = i / shares % g.tiles, sequence = i / shares / g.tiles;
        Tile(sequence / g.groups, sequence % g.groups, tile, g.blocks * share / shares, g.blocks * (share + 1) / shares, lines.get(),
             start.get(), sums.get());
      }
    });
  }
};

}  // namespace

bool SequenceWindowsTakes(const ConvCall& call) {
  const ConvDims& d = call.dims;
  if (call.pass != ConvPass::kForward || call.dtype != kFloat32 || call.src.channels_last || call.dst.channels_last || call.wide_bias)
    return false;
  if (call.weight.channels_last && d.kernel[2] > 1) return false;
  for (int i = 0; i < 2; ++i)
    if (d.in[i] != 1 || d.out[i] != 1 || d.kernel[i] != 1) return false;
  if (CurrentCpuLevel() < CpuLevel::kV3 || d.stride[2] != 1 || d.out[2] < kLeastLength || d.in[2] < 1 || d.channels < 1) return false;
  return d.groups == 1 || d.channels / d.groups >= kSequenceFilters;
}

bool SequenceWindows(KernelArgs& args, const ConvCall& call, const float* addend) {
  if (!SequenceWindowsTakes(call)) return false;
  Ran("products along sequences");
  const ConvDims& d = call.dims;
  const Geometry g(d);
  const uint64_t form = uint64_t{0x5e} << 32 | static_cast<uint64_t>(g.filters);
  const float* weights = KeptWeights(args, call.weight_input, call.weight.ptr, form, g.Weights(),
                                     [&](float* to) { Pack(g, static_cast<const float*>(call.weight.ptr), to); });
  const double products = static_cast<double>(d.batch * d.filters * g.out) * static_cast<double>(g.channels * g.taps);
  Job{g, call, weights, addend}.Run(2.0 * products);
  return true;
}

}  // namespace nn
}  // namespace mxnet
