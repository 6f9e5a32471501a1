#include "operator/quantized/depthwise_columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/cpu_limit.h"
#include "base/ran.h"
#include "base/threads/omp.h"
#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace quantized {
namespace {

constexpr int64_t kLeast = 16;   // channels of the narrowest vectors
constexpr int64_t kWindow = 12;  // bytes of a channel's weights

/* f(channel, first channel of its vectors, their width, its place among these) */
template <typename F>
void InOrder(int64_t channels, F&& f) {
  for (int64_t c = 0, width; c < channels; c += width) {
    width = ColumnChannels(channels - c);
    for (int64_t j = 0; j < std::min(width, channels - c); ++j) f(c + j, c, width, InColumnOrder(width, j));
  }
}

ColumnFinish FinishOf(KernelArgs& args, const PackedJob& l, int flip) {
  const int64_t channels = l.d.channels, room = RoundUp(channels, kLeast);
  const SumsFinish& from = l.finish;
  int32_t* start = nn::Workspace<int32_t>(args, room);
  float* scales = nn::Workspace<float>(args, 2 * room);
  float* const bias = scales + room;
  std::fill_n(start, room, 0);
  std::fill_n(scales, 2 * room, 0.0f);
  const int zero = l.src_zero + flip;
  InOrder(channels, [&](int64_t channel, int64_t first, int64_t width, int64_t at) {
    const int8_t* weights = l.packed + kWindow * first;
    int32_t sum = 0;
    for (int64_t k = 0; k < 3; ++k)
      for (int64_t i = 0; i < 3; ++i) sum += weights[(k * width + at) * 4 + i];
    start[first + at] = -zero * sum;
    scales[first + at] = from.scales[channel], bias[first + at] = from.bias[channel];
  });
  ColumnFinish f{start, scales, bias, 0, 0, from.zero, from.high, from.out_type == kUint8};
  f.low = static_cast<int>(from.low) + from.zero, f.high = static_cast<int>(from.high) + from.zero;
  return f;
}

}  // namespace

int64_t ColumnWeights(int64_t channels) { return kWindow * RoundUp(channels, kLeast); }

void PackColumns(int64_t channels, const int8_t* weights, int8_t* to) {
  std::memset(to, 0, static_cast<size_t>(ColumnWeights(channels)));
  InOrder(channels, [&](int64_t channel, int64_t first, int64_t width, int64_t at) {
    for (int64_t k = 0; k < 3; ++k)
      for (int64_t i = 0; i < 3; ++i) to[kWindow * first + (k * width + at) * 4 + i] = weights[channel * 9 + 3 * i + k];
  });
}

bool HasColumns(const PackedJob& l) { return l.depthwise && HasNineTaps(l.d) && CurrentCpuLevel() == CpuLevel::kV4 && HasVnni(); }

void DepthwiseColumns(KernelArgs& args, const PackedJob& l) {
  Ran("depthwise of bytes", RanAt::kAvx512Vnni);
  const nn::ConvDims& d = l.d;
  char* outside = nn::Workspace<char>(args, d.channels);
  std::memset(outside, l.src_zero, static_cast<size_t>(d.channels));
  const uint8_t flip = l.is_unsigned ? 0 : 0x80;
  const ColumnFinish finish = FinishOf(args, l, flip);
  const NineTasks tasks(l, outside);
  // Some microseconds are worth another thread.
  constexpr int64_t kWorth = 400000;
  const int64_t work = tasks.most_windows() * kColumns * l.deep;
  ParallelFor(tasks.count(), std::max<int64_t>(1, kWorth / work), [&](int64_t b, int64_t e) {
    std::vector<NineTaps> runs;
    for (int64_t task = b; task < e; ++task) {
      const NineTask t = tasks.At(task, &runs);
      MXNET_CPU_CALL(ByteColumns)
      (runs.data(), static_cast<int64_t>(runs.size()), flip, l.packed, finish, t.begin, t.end,
       l.dst + t.first * d.out[2] * d.channels + t.begin, d.channels);
    }
  });
}

}  // namespace quantized
}  // namespace mxnet
