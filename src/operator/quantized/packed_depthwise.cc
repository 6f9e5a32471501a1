#include "operator/quantized/packed_depthwise.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/ran.h"
#include "base/threads/omp.h"
#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace quantized {
namespace {

constexpr int64_t kPlaces = 8;                    // whose sums are finished together
constexpr int64_t kEight = 8, kNumbers = 6 * 16;  // channels whose weights lie together, and numbers of these

// ---- windows of 3 x 3

/* A line of the image, or what stands for one: its begin, and how far apart its places lie. */
struct NineLine {
  const char* begin;
  int64_t step;
};

/* Windows of a line that follow each other: from x on, until at most the line's end. */
NineTaps WindowsFrom(const PackedJob& l, const NineLine (&lines)[3], const char* outside, int64_t x) {
  const nn::ConvDims& d = l.d;
  const int64_t stride = d.stride[2], apart = d.dilate[2], width = d.in[2], left = x * stride - d.pad[2];
  // Columns that are read again and again must lie in the line; those read once need not.
  const int fresh = apart == 1 && stride < 3 ? static_cast<int>(stride) : 3;
  const int64_t room = width - 1 - left - 2 * apart;
  const bool follow = left + (3 - fresh) * apart >= 0 && room >= 0;
  NineTaps taps;
  taps.fresh = follow ? fresh : 3;
  taps.count = follow ? std::min(d.out[2] - x, room / stride + 1) : 1;
  for (int64_t i = 0; i < 3; ++i) {
    taps.step[i] = stride * lines[i].step;
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t at = left + k * apart;
      taps.tap[3 * i + k] = at >= 0 && at < width ? lines[i].begin + at * lines[i].step : outside;
    }
  }
  return taps;
}

/* All windows of a line of the result. */
void AddLine(const PackedJob& l, int64_t line, const char* outside, std::vector<NineTaps>* runs) {
  const nn::ConvDims& d = l.d;
  NineLine lines[3];
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t y = line % d.out[1] * d.stride[1] - d.pad[1] + i * d.dilate[1];
    const bool inside = y >= 0 && y < d.in[1];
    lines[i] = inside ? NineLine{l.src + (line / d.out[1] * d.in[1] + y) * d.in[2] * d.channels, d.channels} : NineLine{outside, 0};
  }
  for (int64_t x = 0; x < d.out[2]; x += runs->back().count) runs->push_back(WindowsFrom(l, lines, outside, x));
}

void Nines(KernelArgs& args, const PackedJob& l, const char* outside) {
  const nn::ConvDims& d = l.d;
  int32_t* start = nn::Workspace<int32_t>(args, d.channels);
  std::fill_n(start, d.channels, 0);
  const auto* weights = reinterpret_cast<const int16_t*>(l.packed);
  for (int64_t c = 0; c < d.channels && l.src_zero != 0; ++c)
    for (int64_t i = 0; i < kNumbers; i += 2 * kEight) {
      const int16_t* two = weights + c / kEight * kNumbers + i + c % kEight * 2;
      start[c] -= l.src_zero * (two[0] + two[1]);
    }
  const NineTasks tasks(l, outside);
  const int64_t places = tasks.most_windows(), work = places * kColumns * l.deep;
  ParallelFor(tasks.count(), std::max<int64_t>(1, 200000 / work), [&](int64_t b, int64_t e) {
    std::vector<int32_t> sums(static_cast<size_t>(places * kColumns));
    std::vector<NineTaps> runs;
    for (int64_t task = b; task < e; ++task) {
      const NineTask t = tasks.At(task, &runs);
      MXNET_CPU_CALL(DepthwiseNines)
      (runs.data(), static_cast<int64_t>(runs.size()), l.is_unsigned, weights, start, t.begin, t.end, sums.data(), kColumns);
      l.Finish(sums.data(), kColumns, t.first * d.out[2], (t.last - t.first) * d.out[2], t.begin, t.end - t.begin);
    }
  });
}

// ---- windows of any size

struct DepthwiseRoom {
  std::vector<const void*> taps;
  std::vector<int32_t> sums;
};

/* Where the channels of each place of a window lie. `outside`: the channels of a place that is no
 * part of the image, which are all the zero point. */
void PointTaps(const PackedJob& l, const char* image, const int64_t (&at)[3], const char* outside, const void** taps) {
  const nn::ConvDims& d = l.d;
  for (int64_t i = 0; i < d.kernel[0]; ++i)
    for (int64_t j = 0; j < d.kernel[1]; ++j) {
      const int64_t z = at[0] * d.stride[0] - d.pad[0] + i * d.dilate[0], y = at[1] * d.stride[1] - d.pad[1] + j * d.dilate[1];
      const bool inside = z >= 0 && z < d.in[0] && y >= 0 && y < d.in[1];
      const char* from = image + (z * d.in[1] + y) * d.in[2] * d.channels;
      int64_t x = at[2] * d.stride[2] - d.pad[2];
      for (int64_t k = 0; k < d.kernel[2]; ++k, x += d.dilate[2])
        *taps++ = inside && x >= 0 && x < d.in[2] ? from + x * d.channels : outside;
    }
  if (l.deep % 2) *taps = outside;
}

/* A line of places of the result. */
void DepthwiseLine(const PackedJob& l, int64_t line, const char* outside, const int16_t* weights, const int32_t* start,
                   DepthwiseRoom* room) {
  const nn::ConvDims& d = l.d;
  const char* image = l.src + line / (d.out[0] * d.out[1]) * d.InSize() * d.channels;
  int64_t at[3] = {line / d.out[1] % d.out[0], line % d.out[1], 0};
  const void** taps = room->taps.data();
  const int64_t pitch = l.panels * kWideColumns;
  const int64_t step = d.stride[2] * d.channels, before = (d.pad[2] + d.stride[2] - 1) / d.stride[2];
  for (; at[2] < d.out[2]; ++at[2]) {
    // Behind the first window that is within the line, and as long as they are, all taps move on.
    if (at[2] > before && at[2] * d.stride[2] - d.pad[2] + (d.kernel[2] - 1) * d.dilate[2] < d.in[2]) {
      for (int64_t t = 0; t < l.deep; ++t)
        if (taps[t] != outside) taps[t] = static_cast<const char*>(taps[t]) + step;
    } else {
      PointTaps(l, image, at, outside, taps);
    }
    const int64_t waiting = at[2] % kPlaces;
    MXNET_CPU_CALL(DepthwiseBytes)(taps, l.pairs, l.is_unsigned, weights, start, d.channels, room->sums.data() + waiting * pitch);
    if (waiting + 1 == kPlaces || at[2] + 1 == d.out[2])
      l.Finish(room->sums.data(), pitch, line * d.out[2] + at[2] - waiting, waiting + 1, 0, d.channels);
  }
}

int64_t Grain(const PackedJob& l) { return std::max<int64_t>(1, 200000 / (l.d.out[2] * l.d.channels * l.deep)); }

void OfAnySize(KernelArgs& args, const PackedJob& l, const char* outside) {
  const nn::ConvDims& d = l.d;
  int32_t* start = nn::Workspace<int32_t>(args, l.panels * kWideColumns);
  std::fill_n(start, l.panels * kWideColumns, 0);
  for (int64_t i = 0; i < l.GroupBytes() && l.src_zero != 0; ++i)
    start[i / (l.pairs * 2 * kWideColumns) * kWideColumns + i / 2 % kWideColumns] -= l.src_zero * l.packed[i];
  int16_t* weights = nn::Workspace<int16_t>(args, l.GroupBytes());
  MXNET_CPU_CALL(WidenLess)(l.packed, false, 0, l.GroupBytes(), weights);
  ParallelFor(d.batch * d.out[0] * d.out[1], Grain(l), [&](int64_t b, int64_t e) {
    DepthwiseRoom room{std::vector<const void*>(static_cast<size_t>(2 * l.pairs)),
                       std::vector<int32_t>(static_cast<size_t>(kPlaces * l.panels * kWideColumns))};
    for (int64_t line = b; line < e; ++line) DepthwiseLine(l, line, outside, weights, start, &room);
  });
}

}  // namespace

bool HasNineTaps(const nn::ConvDims& d) {
  return d.kernel[0] == 1 && d.kernel[1] == 3 && d.kernel[2] == 3 && d.in[0] == 1 && d.out[0] == 1 && d.pad[0] == 0;
}

NineTasks::NineTasks(const PackedJob& job, const char* outside) : job_(job), outside_(outside) {
  constexpr int64_t kLinePlaces = 64;  // whose sums are finished together, of whole lines
  lines_ = job.d.batch * job.d.out[1];
  together_ = std::max<int64_t>(1, kLinePlaces / job.d.out[2]);
  blocks_ = (lines_ + together_ - 1) / together_, parts_ = (job.d.channels + kColumns - 1) / kColumns;
}

NineTask NineTasks::At(int64_t task, std::vector<NineTaps>* runs) const {
  const int64_t first = task / parts_ * together_, begin = task % parts_ * kColumns;
  const NineTask t{first, std::min(lines_, first + together_), begin, std::min(job_.d.channels, begin + kColumns)};
  if (!runs->empty() && begin != 0) return t;
  runs->clear();
  for (int64_t line = t.first; line < t.last; ++line) AddLine(job_, line, outside_, runs);
  return t;
}

bool HasNines(const PackedJob& l) { return l.depthwise && l.d.channels % kEight == 0 && HasNineTaps(l.d); }

int64_t NineWeights(int64_t channels) { return channels / kEight * kNumbers; }

void PackNines(int64_t channels, const int8_t* weights, int16_t* to) {
  std::fill_n(to, NineWeights(channels), int16_t{0});
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < 9; ++t) {
      const int64_t line = t / 3, pair = t % 3 * 2 + line / 2;
      to[c / kEight * kNumbers + (pair * kEight + c % kEight) * 2 + line % 2] = weights[c * 9 + t];
    }
}

void Depthwise(KernelArgs& args, const PackedJob& l) {
  Ran("depthwise of bytes");
  char* outside = nn::Workspace<char>(args, l.d.channels);
  std::memset(outside, l.src_zero, static_cast<size_t>(l.d.channels));
  (HasNines(l) ? Nines : OfAnySize)(args, l, outside);
}

}  // namespace quantized
}  // namespace mxnet
