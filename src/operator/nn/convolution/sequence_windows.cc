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
constexpr double kManyShares = 4e6;             // of operations: with fewer there is a share for each thread
constexpr int64_t kTogether = 256;              // results that an epilogue should have at once
constexpr int64_t kFewChannels = 16;            // of an image: with more the packed kernels are at their best

struct Geometry {
  int64_t batch, groups, filters;  // filters of a group
  int64_t in, out, taps, dilate, pad;
  int64_t rows_in, rows_out, row_taps, row_stride, row_dilate, row_pad;
  int64_t channels;          // of a group, each once for each row of the window
  int64_t together, blocks;  // filters of a block of weights, and blocks of a group
  int64_t tiles, columns;    // of a sequence; of a tile, whole vectors
  int64_t step, pitch;       // of SequenceLines
  int64_t part;              // channels at a time
  bool apart;                // elements of the window are so far apart that each has a line of its own
  int64_t rows = 1;          // of results at a time, where a tile is a row
  int64_t Apart() const { return channels * taps * together; }
  int64_t Weights() const { return groups * blocks * Apart(); }

  explicit Geometry(const ConvDims& d)
      : batch(d.batch),
        groups(d.groups),
        filters(d.filters / d.groups),
        in(d.in[2]),
        out(d.out[2]),
        taps(d.kernel[2]),
        dilate(d.dilate[2]),
        pad(d.pad[2]),
        rows_in(d.in[1]),
        rows_out(d.out[1]),
        row_taps(d.kernel[1]),
        row_stride(d.stride[1]),
        row_dilate(d.dilate[1]),
        row_pad(d.pad[1]),
        channels(d.channels / d.groups * row_taps),
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

// Channels [begin, end) for results of a row, `from`: the channels of the group.
void Lines(const Geometry& g, const float* from, int64_t begin, int64_t end, int64_t row, int64_t first, float* to) {
  for (int64_t c = begin; c < end; ++c, to += g.pitch) {
    const int64_t y = row * g.row_stride - g.row_pad + c % g.row_taps * g.row_dilate;
    const bool inside = y >= 0 && y < g.rows_in;
    const float* const line = inside ? from + (c / g.row_taps * g.rows_in + y) * g.in : nullptr;
    const int64_t length = inside ? g.in : 0;
    if (!g.apart) {
      Line(line, length, first - g.pad, g.pitch, to);
      continue;
    }
    for (int64_t t = 0; t < g.taps; ++t) Line(line, length, first - g.pad + t * g.dilate, g.columns, to + t * g.columns);
  }
}

/* Is the epilogue part of the sums? */
bool IsInSums(const EpilogueOp& post) { return !post || post.kind == EpilogueKind::kRelu || post.kind == EpilogueKind::kLeaky; }

struct Job {
  const Geometry& g;
  const ConvCall& call;
  const float *weights, *addend;

  // Blocks [begin, end) of a group's filters for a tile of a row of an image's results.
  void Tile(int64_t image, int64_t group, int64_t row, int64_t tile, int64_t begin, int64_t end, float* lines, float* start,
            float* sums) const {
    const int64_t first = tile * g.columns, count = (end - begin) * g.together, filter = group * g.filters + begin * g.together;
    const int64_t pixels = g.rows_out * g.out;
    const auto* x = static_cast<const float*>(call.src.ptr) + (image * g.groups + group) * (g.channels / g.row_taps) * g.rows_in * g.in;
    const float* w = weights + (group * g.blocks + begin) * g.Apart();
    SequenceSums to;
    to.sums = sums, to.pitch = g.columns, to.start = start;
    to.filters = std::min(count, g.filters - begin * g.together), to.length = std::min(g.columns, g.out - first), to.apart = pixels;
    for (int64_t f = 0; f < count; ++f) start[f] = call.bias && f < to.filters ? static_cast<const float*>(call.bias)[filter + f] : 0.0f;
    const int64_t at = (image * g.groups * g.filters + filter) * pixels + row * g.out + first;
    const bool relu = call.post.kind == EpilogueKind::kRelu, bends = call.post && IsInSums(call.post);
    for (int64_t c = 0; c < g.channels; c += g.part, to.start = nullptr) {
      const int64_t some = std::min(g.part, g.channels - c);
      if (c + some == g.channels) {
        to.out = static_cast<float*>(call.dst.ptr) + at;
        to.addend = addend ? addend + at : nullptr;
        to.bends = bends, to.slope = relu ? 0.0f : call.post.a;
      }
      Lines(g, x, c, c + some, row, first, lines);
      MXNET_CPU_CALL(SumSequences)
      ({lines, some, g.taps, g.pitch, g.step}, w + c * g.taps * g.together, g.Apart(), g.together, count, RoundUp(to.length, kVector), to);
    }
  }

  // A row's tile, or several whole rows, `first` of all of an image.
  void Rows(int64_t image, int64_t group, int64_t first, int64_t begin, int64_t end, float* lines, float* start, float* sums) const {
    const int64_t row = first / g.tiles * g.rows, tile = first % g.tiles, rows = std::min(g.rows, g.rows_out - row);
    for (int64_t r = row; r < row + rows; ++r) Tile(image, group, r, tile, begin, end, lines, start, sums);
    if (IsInSums(call.post)) return;
    const int64_t filter = group * g.filters + begin * g.together, filters = std::min(end * g.together, g.filters) - begin * g.together;
    const int64_t length = g.tiles == 1 ? rows * g.out : std::min(g.columns, g.out - tile * g.columns);
    for (int64_t f = 0; f < filters; ++f) {
      float* const y =
          static_cast<float*>(call.dst.ptr) + ((image * g.groups * g.filters + filter + f) * g.rows_out + row) * g.out + tile * g.columns;
      ApplyPost(call.post, y, y, length);
    }
  }

  // Tiles are divided among the threads, and where there are few of them, filters.
  void Run(double flops) const {
    const int threads = OmpThreadsForFlops(flops);
    const int64_t every = g.tiles * ((g.rows_out + g.rows - 1) / g.rows), all = g.batch * g.groups * every;
    // each share copies the lines
    const int64_t wanted = flops < kManyShares ? threads : 4 * threads;
    const int64_t shares = std::clamp<int64_t>(all >= wanted ? 1 : (wanted + all - 1) / all, 1, threads == 1 ? 1 : g.blocks);
    ParallelForThreads(threads, all * shares, [&](int64_t begin, int64_t end) {
      const int64_t most = (g.blocks + shares - 1) / shares * g.together;
      const HostScratch<float> lines(g.part * g.pitch), start(most), sums(g.part < g.channels ? most * g.columns : 0);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t share = i % shares, sequence = i / shares / every;
        Rows(sequence / g.groups, sequence % g.groups, i / shares % every, g.blocks * share / shares, g.blocks * (share + 1) / shares,
             lines.get(), start.get(), sums.get());
      }
    });
  }
};

}  // namespace

bool RowsFillVectors(int64_t channels, int64_t filters, int64_t width) {
  const CpuLevel level = CurrentCpuLevel();
  if (level < CpuLevel::kV3 || channels >= kFewChannels || width < kLeastLength) return false;
  const int64_t lanes = level >= CpuLevel::kV4 ? 16 : 8;
  return width * lanes > filters * RoundUp(width, kVector);
}

bool SequenceWindowsTakes(const ConvCall& call) {
  const ConvDims& d = call.dims;
  if (call.pass != ConvPass::kForward || call.dtype != kFloat32 || call.src.channels_last || call.dst.channels_last || call.wide_bias)
    return false;
  if (call.weight.channels_last && d.KernelSize() > 1) return false;
  if (d.in[0] != 1 || d.out[0] != 1 || d.kernel[0] != 1) return false;
  if (CurrentCpuLevel() < CpuLevel::kV3 || d.stride[2] != 1 || d.out[2] < kLeastLength || d.in[2] < 1 || d.channels < 1) return false;
  if (d.in[1] != 1 || d.out[1] != 1 || d.kernel[1] != 1)
    return d.groups == 1 && d.in[1] > 0 && RowsFillVectors(d.channels, d.filters, d.out[2]);
  return d.groups == 1 || d.channels / d.groups >= kSequenceFilters;
}

bool SequenceWindows(KernelArgs& args, const ConvCall& call, const float* addend) {
  if (!SequenceWindowsTakes(call)) return false;
  const ConvDims& d = call.dims;
  Ran(d.out[1] == 1 && d.kernel[1] == 1 ? "products along sequences" : "products along rows");
  Geometry g(d);
  if (g.tiles == 1 && !IsInSums(call.post)) {
    const int64_t parts = std::min(g.rows_out, std::max<int64_t>(4, g.rows_out * g.out / kTogether));
    g.rows = (g.rows_out + parts - 1) / parts;
  }
  const uint64_t form = uint64_t{0x5e} << 32 | static_cast<uint64_t>(g.filters);
  const float* weights = KeptWeights(args, call.weight_input, call.weight.ptr, form, g.Weights(),
                                     [&](float* to) { Pack(g, static_cast<const float*>(call.weight.ptr), to); });
  const double products = static_cast<double>(d.batch * d.filters * g.rows_out * g.out) * static_cast<double>(g.channels * g.taps);
  Job{g, call, weights, addend}.Run(2.0 * products);
  return true;
}

}  // namespace nn
}  // namespace mxnet
