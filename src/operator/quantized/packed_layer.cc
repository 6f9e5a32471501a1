#include "operator/quantized/packed_layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "base/mix.h"
#include "base/ran.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"
#include "operator/matrix/move_cpu.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/amx_windows.h"
#include "operator/quantized/amx_layer.h"
#include "operator/quantized/byte_product.h"
#include "operator/quantized/bytes.h"
#include "operator/quantized/depthwise_columns.h"
#include "operator/quantized/packed_depthwise.h"
#include "operator/quantized/packed_winograd.h"
#include "operator/quantized/pixel_products.h"
#include "operator/quantized/quantized.h"
#include "operator/shared/weights_room.h"

namespace mxnet {
namespace quantized {
namespace {

constexpr int64_t kRoom = 65536;                    // numbers of 16 bits of a block of rows
constexpr int64_t kLeastRows = 12, kMostRows = 96;  // of a block
constexpr int64_t kMostTaps = 1024;
constexpr int64_t kSmall = 64, kCopied = 8;  // numbers of a window's line that is small; what is copied at a time
constexpr int64_t kSoonPacked = 1 << 14;     // weights that are packed sooner than oneDNN makes a primitive

// ---- packing

/* n filters into a panel. Windows: their places, and the channels of each. */
void PackPanel(int64_t places, int64_t channels, bool last, const int8_t* weights, int64_t n, int64_t bytes, int8_t* panel) {
  std::memset(panel, 0, static_cast<size_t>(bytes));
  for (int64_t f = 0; f < n; ++f, weights += places * channels, panel += 2)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < places; ++p) {
        const int64_t k = p * channels + c;
        panel[k / 2 * 2 * kWideColumns + k % 2] = weights[last ? k : c * places + p];
      }
}

/* Of one group. */
nn::WeightParts PanelParts(const PackedJob& l) {
  const int64_t places = l.d.KernelSize(), channels = l.per_group, filters = l.filters, deep = l.deep, bytes = WidePanelBytes(l.deep);
  nn::WeightParts parts;
  parts.count = l.panels;
  parts.bytes = static_cast<size_t>(kWideColumns * deep), parts.all = static_cast<size_t>(filters * deep);
  parts.fill = [=, last = l.weights_last](const void* from, int64_t begin, int64_t end, float* form, void*) {
    for (int64_t p = begin; p < end; ++p)
      PackPanel(places, channels, last, static_cast<const int8_t*>(from) + (p - begin) * kWideColumns * deep,
                std::min(kWideColumns, filters - p * kWideColumns), bytes, reinterpret_cast<int8_t*>(form) + p * bytes);
  };
  return parts;
}

/* Kept weights that `make` tells the parts of. */
const float* ByParts(KernelArgs& args, const PackedCall& call, uint64_t form, int64_t words, const std::function<nn::WeightParts()>& make) {
  const void* weights = call.layer.weight.ptr;
  return nn::KeptWeights(
      args, call.weight_input, weights, form, words, [&](float* to) { nn::FillWhole(make(), weights, to); }, {}, make);
}

/* Of contents alone, where filters of so many places and channels are packed alike whoever asks: a
 * call whose shape is new finds what a plan has made. */
uint64_t FormOf(uint64_t method, const PackedJob& l) {
  uint64_t form = Mix(method, static_cast<uint64_t>(l.d.filters));
  for (const int64_t n : {l.d.KernelSize(), l.per_group, int64_t{l.weights_last}}) form = Mix(form, static_cast<uint64_t>(n));
  return form | nn::kOfContentsAlone;
}

const int8_t* Packed(KernelArgs& args, const PackedCall& call, const PackedJob& l) {
  constexpr uint64_t kForm = 0x62797465;
  const void* weights = call.layer.weight.ptr;
  const int64_t words = l.groups * l.GroupBytes() / static_cast<int64_t>(sizeof(float));
  if (l.groups == 1)
    return reinterpret_cast<const int8_t*>(ByParts(args, call, FormOf(kForm + l.depthwise, l), words, [&] { return PanelParts(l); }));
  return reinterpret_cast<const int8_t*>(nn::KeptWeights(args, call.weight_input, weights, kForm + l.depthwise, words, [&](float* to) {
    const nn::WeightParts group = PanelParts(l);
    ParallelFor(l.groups, std::max<int64_t>(1, 65536 / l.GroupBytes()), [&](int64_t b, int64_t e) {
      for (int64_t g = b; g < e; ++g)
        group.fill(static_cast<const int8_t*>(weights) + g * l.filters * l.deep, 0, group.count,
                   to + g * l.GroupBytes() / static_cast<int64_t>(sizeof(float)), nullptr);
    });
  }));
}

/* For Depthwise of windows of nine. */
const int8_t* PackedNines(KernelArgs& args, const PackedCall& call, const PackedJob& l) {
  constexpr uint64_t kForm = 0x6e696e65;
  const void* weights = call.layer.weight.ptr;
  return reinterpret_cast<const int8_t*>(
      nn::KeptWeights(args, call.weight_input, weights, kForm, (NineWeights(l.d.channels) + 1) / 2,
                      [&](float* to) { PackNines(l.d.channels, static_cast<const int8_t*>(weights), reinterpret_cast<int16_t*>(to)); }));
}

/* For DepthwiseColumns. */
const int8_t* PackedInColumns(KernelArgs& args, const PackedCall& call, const PackedJob& l) {
  constexpr uint64_t kForm = 0x636f6c73;
  const void* weights = call.layer.weight.ptr;
  return reinterpret_cast<const int8_t*>(
      nn::KeptWeights(args, call.weight_input, weights, kForm, ColumnWeights(l.d.channels) / static_cast<int64_t>(sizeof(float)),
                      [&](float* to) { PackColumns(l.d.channels, static_cast<const int8_t*>(weights), reinterpret_cast<int8_t*>(to)); }));
}

/* For PixelProducts. */
const int8_t* PackedForPixels(KernelArgs& args, const PackedCall& call, const PackedJob& l) {
  constexpr uint64_t kForm = 0x7069786c;
  return reinterpret_cast<const int8_t*>(
      ByParts(args, call, FormOf(kForm, l), PixelWeights(l) / static_cast<int64_t>(sizeof(float)), [&] { return PixelWeightParts(l); }));
}

/* For AmxLayer. */
const int8_t* PackedForAmx(KernelArgs& args, const PackedCall& call, const PackedJob& l) {
  constexpr uint64_t kForm = 0x616d7800;
  return reinterpret_cast<const int8_t*>(ByParts(args, call, FormOf(kForm, l), AmxWeights(l), [&] { return AmxWeightParts(l); }));
}

/* For WinogradProducts. */
const int16_t* Transformed(KernelArgs& args, const PackedCall& call, const PackedJob& l, const nn::WinogradDims& d) {
  constexpr uint64_t kForm = 0x77696e6f;
  const int64_t words = (WinogradWeights(d) + 1) / 2;
  return reinterpret_cast<const int16_t*>(
      ByParts(args, call, kForm + static_cast<uint64_t>(d.points), words, [&] { return TransformedParts(l, d); }));
}

// ---- what becomes of the sums

/* A value for each filter, in whole panels. `given` (null: none): one, or one for each. */
template <typename T>
T* ForEach(KernelArgs& args, const T* given, bool one, T otherwise, int64_t n) {
  T* made = nn::Workspace<T>(args, n + kWideColumns);
  std::fill_n(made, n + kWideColumns, given && one ? *given : otherwise);
  if (given && !one) std::copy_n(given, n, made);
  return made;
}

/* The same in steps. */
const float* InSteps(KernelArgs& args, const float* given, float otherwise, float step, int64_t n) {
  float* made = ForEach(args, given, false, otherwise, n);
  if (step != 1)
    for (int64_t i = 0; i < n; ++i) made[i] /= step;
  return made;
}

/* Limits of whole numbers that come with a zero point. */
void SetLimits(int dtype, int zero, float* low, float* high) {
  const ByteLimits limits = LimitsOf(dtype);
  *low = limits.low - static_cast<float>(zero), *high = limits.high - static_cast<float>(zero);
}

SumsFinish FinishOf(KernelArgs& args, const PackedCall& call) {
  const LayerCall& layer = call.layer;
  const int64_t filters = layer.dims.filters;
  SumsFinish f;
  f.out_type = layer.dst_type;
  if (f.out_type == kInt32) return f;
  const float step = IsBytes(layer.dst_type) ? layer.dst_step : 1, unit = layer.between ? layer.between->step : step;
  f.scales = InSteps(args, layer.scales, layer.scale, unit, filters);
  f.bias = InSteps(args, layer.bias_last ? nullptr : layer.bias, 0, unit, filters);
  if (layer.bias_last) f.later = InSteps(args, layer.bias, 0, step, filters);
  if (layer.between) {
    f.between = true, f.between_scale = unit / step;
    SetLimits(layer.between->dtype, layer.between->zero, &f.between_low, &f.between_high);
  }
  f.addend_type = layer.addend_type, f.addend_scale = layer.addend_step / step, f.addend_zero = static_cast<float>(layer.addend_zero);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float low = layer.relu ? 0 : layer.cuts ? layer.low : -kInfinity, high = layer.cuts && !layer.relu ? layer.high : kInfinity;
  SetResult({layer.dst_type, layer.dst_step, layer.dst_zero}, low, high, &f);
  return f;
}

// ---- windows as rows

/* Places [first, first + count) of a line of the image, of which those outside are zeros. */
void WidenPlaces(const PackedJob& l, const char* line, int64_t first, int64_t count, int16_t* to) {
  const int64_t c = l.d.channels, before = std::min(count, std::max<int64_t>(0, -first)),
                end = std::max(before, std::min(count, l.d.in[2] - first));
  std::fill_n(to, before * c, int16_t{0});
  MXNET_CPU_CALL(WidenLess)(line + (first + before) * c, l.is_unsigned, l.src_zero, (end - before) * c, to + before * c);
  std::fill_n(to + end * c, (count - end) * c, int16_t{0});
}

/* What a window from place `first` on sees of a line. */
void WindowLine(const PackedJob& l, const char* line, int64_t first, int64_t channel, int16_t* to) {
  const nn::ConvDims& d = l.d;
  if (d.groups == 1 && d.dilate[2] == 1) return WidenPlaces(l, line, first, d.kernel[2], to);
  for (int64_t k = 0; k < d.kernel[2]; ++k, to += l.per_group) {
    const int64_t x = first + k * d.dilate[2];
    if (x >= 0 && x < d.in[2])
      MXNET_CPU_CALL(WidenLess)(line + x * d.channels + channel, l.is_unsigned, l.src_zero, l.per_group, to);
    else
      std::fill_n(to, l.per_group, int16_t{0});
  }
}

/* f(line of the image, or null where it is outside) for each line that the windows of these places
 * see. */
template <typename F>
void ForLines(const PackedJob& l, const char* image, const int64_t (&at)[3], F&& f) {
  const nn::ConvDims& d = l.d;
  for (int64_t i = 0; i < d.kernel[0]; ++i)
    for (int64_t j = 0; j < d.kernel[1]; ++j) {
      const int64_t z = at[0] * d.stride[0] - d.pad[0] + i * d.dilate[0], y = at[1] * d.stride[1] - d.pad[1] + j * d.dilate[1];
      const bool inside = z >= 0 && z < d.in[0] && y >= 0 && y < d.in[1];
      f(inside ? image + (z * d.in[1] + y) * d.in[2] * d.channels : nullptr);
    }
}

/* Windows of `count` places of a line of the result, from `at` on. */
void WindowsOfLine(const PackedJob& l, const char* image, const int64_t (&at)[3], int64_t count, int64_t channel, int16_t* to) {
  const int64_t width = l.d.kernel[2] * l.per_group;
  for (int64_t x = 0; x < count; ++x, to += l.pitch) {
    int16_t* part = to;
    if (l.deep % 2) to[l.deep] = 0;
    ForLines(l, image, at, [&](const char* line) {
      if (line)
        WindowLine(l, line, (at[2] + x) * l.d.stride[2] - l.d.pad[2], channel, part);
      else
        std::fill_n(part, width, int16_t{0});
      part += width;
    });
  }
}

// Windows of few numbers of a line are copied from lines that are widened once.

bool SharesLines(const PackedJob& l) {
  return l.d.groups == 1 && l.d.dilate[2] == 1 && l.d.kernel[2] > 1 && l.d.kernel[2] * l.per_group <= kSmall;
}
int64_t LineRoom(const PackedJob& l) {  // numbers of the widened lines
  const nn::ConvDims& d = l.d;
  return SharesLines(l) ? d.kernel[0] * d.kernel[1] * ((d.out[2] - 1) * d.stride[2] + d.kernel[2]) * l.per_group + kCopied : 0;
}

/* As above. Behind the last row there is room for kCopied numbers. */
void WindowsOfWidened(const PackedJob& l, const char* image, const int64_t (&at)[3], int64_t count, int16_t* lines, int16_t* to) {
  const nn::ConvDims& d = l.d;
  const int64_t width = d.kernel[2] * l.per_group, step = d.stride[2] * l.per_group, places = (count - 1) * d.stride[2] + d.kernel[2];
  int16_t* next = lines;
  ForLines(l, image, at, [&](const char* line) {
    if (line)
      WidenPlaces(l, line, at[2] * d.stride[2] - d.pad[2], places, next);
    else
      std::fill_n(next, places * l.per_group, int16_t{0});
    next += places * l.per_group;
  });
  for (int64_t x = 0; x < count; ++x, to += l.pitch) {
    int16_t* part = to;
    // What is written behind the width belongs to the next line or the next row, which come later.
    for (const int16_t* line = lines + x * step; part != to + l.deep; part += width, line += places * l.per_group)
      for (int64_t k = 0; k < width; k += kCopied) std::memcpy(part + k, line + k, kCopied * sizeof(int16_t));
    if (l.deep % 2) *part = 0;
  }
}

/* Are the windows the places as they lie? */
bool LieAsRows(const PackedJob& l) {
  const nn::ConvDims& d = l.d;
  for (int i = 0; i < 3; ++i)
    if (d.kernel[i] != 1 || d.stride[i] != 1 || d.pad[i] != 0 || d.in[i] != d.out[i]) return false;
  return l.groups == 1 && l.deep == l.pitch;
}

/* Windows of places [begin, begin + count) of the results of all images. */
void WindowRows(const PackedJob& l, int64_t group, int64_t begin, int64_t count, int16_t* lines, int16_t* to) {
  const nn::ConvDims& d = l.d;
  if (LieAsRows(l)) {
    MXNET_CPU_CALL(WidenLess)(l.src + begin * l.deep, l.is_unsigned, l.src_zero, count * l.deep, to);
    return;
  }
  const bool shares = SharesLines(l);
  for (int64_t i = 0, some; i < count; i += some, to += some * l.pitch) {
    const int64_t place = (begin + i) % d.OutSize();
    const char* image = l.src + (begin + i) / d.OutSize() * d.InSize() * d.channels;
    const int64_t at[3] = {place / (d.out[1] * d.out[2]), place / d.out[2] % d.out[1], place % d.out[2]};
    some = std::min(count - i, d.out[2] - at[2]);
    if (shares)
      WindowsOfWidened(l, image, at, some, lines, to);
    else
      WindowsOfLine(l, image, at, some, group * l.per_group, to);
  }
}

// ---- products

/* Blocks of rows of each group, whose panels are divided where there are fewer of them than
 * threads. */
struct Tasks {
  int threads;
  int64_t rows, blocks, shares, count;
  explicit Tasks(const PackedJob& l) {
    rows = l.d.batch * l.d.OutSize();
    threads = OmpThreadsForFlops(2.0 * static_cast<double>(rows * l.d.filters) * static_cast<double>(l.deep));
    const int64_t most = std::min(kMostRows, std::max(kLeastRows, kRoom / l.pitch));
    blocks = (rows + most - 1) / most;
    if (threads > 1 && blocks * l.groups % threads != 0) blocks = std::max(blocks, std::min(RoundUp(blocks, threads), rows / kLeastRows));
    const int64_t together = (l.panels + kTogether - 1) / kTogether;
    shares = std::min(together, std::max<int64_t>(1, (threads + blocks * l.groups - 1) / (blocks * l.groups)));
    count = l.groups * blocks * shares;
  }
  int64_t MostRows() const { return (rows + blocks - 1) / blocks; }
};

/* What a thread works in. */
struct Room {
  int16_t *wide, *lines;
  int32_t* sums;
  int32_t* row_sums;
};

void Task(const PackedJob& l, const Tasks& tasks, int64_t task, const Room& room) {
  const int64_t share = task % tasks.shares, block = task / tasks.shares % tasks.blocks, group = task / tasks.shares / tasks.blocks;
  const int64_t begin = tasks.rows * block / tasks.blocks, count = tasks.rows * (block + 1) / tasks.blocks - begin;
  WindowRows(l, group, begin, count, room.lines, room.wide);
  if (l.zeros)
    for (int64_t i = 0; i < count; ++i) room.row_sums[i] = MXNET_CPU_CALL(SumWide)(room.wide + i * l.pitch, l.deep);
  const int64_t together = (l.panels + kTogether - 1) / kTogether;
  const int64_t last = std::min(l.panels, together * (share + 1) / tasks.shares * kTogether);
  for (int64_t p = together * share / tasks.shares * kTogether; p < last; p += kTogether) {
    const int64_t first = p * kWideColumns, n = std::min(kColumns, l.filters - first);
    MXNET_CPU_CALL(WideProducts)
    (room.wide, count, l.pitch, l.pairs, l.packed + group * l.GroupBytes() + p * WidePanelBytes(l.deep), n, room.sums, kColumns);
    if (l.zeros) MXNET_CPU_CALL(TakeZeros)(count, room.row_sums, l.zeros + group * l.filters + first, n, room.sums, kColumns);
    l.Finish(room.sums, kColumns, begin, count, group * l.filters + first, n);
  }
}

void Products(KernelArgs& args, const PackedJob& l) {
  Ran("packed GEMM of bytes");
  const Tasks tasks(l);
  const int64_t rows = RoundUp(tasks.MostRows(), 16), threads = tasks.threads;
  const int64_t wide = RoundUp(rows * l.pitch + kCopied, 32), lines = RoundUp(LineRoom(l), 32);
  int16_t* widened = nn::Workspace<int16_t>(args, threads * (wide + lines));
  int32_t* sums = nn::Workspace<int32_t>(args, threads * rows * (kColumns + 1));
  DividedItems items(tasks.threads, tasks.count);
  ParallelForThreads(tasks.threads, threads, [&](int64_t b, int64_t e) {
    for (int64_t id = b; id < e; ++id) {
      int16_t* own = widened + id * (wide + lines);
      int32_t* own_sums = sums + id * rows * (kColumns + 1);
      const Room room{own, own + wide, own_sums, own_sums + rows * kColumns};
      for (int64_t t; items.Next(id, &t);) Task(l, tasks, t, room);
    }
  });
}

// ---- images in another order

/* Do both orders of an image mean the same? */
bool LiesLast(const nn::Ordered& o, int64_t channels, int64_t places) { return o.channels_last || channels == 1 || places == 1; }

/* Between the two orders, of elements of `size` bytes. */
void Reorder(const void* from, bool from_last, void* to, const nn::ConvDims& d, int64_t channels, int64_t places, int64_t size) {
  const int64_t dims[] = {d.batch, channels, places}, plain[] = {channels * places, places, 1}, last[] = {channels * places, 1, channels};
  CopyStrided(from, from_last ? last : plain, to, from_last ? plain : last, dims, 3, static_cast<size_t>(size));
}

/* Can sums be exact, and zero points be bytes? */
bool Takes(const PackedCall& call, int64_t deep) {
  const ByteLimits limits = LimitsOf(call.layer.src_type);
  const auto zero = static_cast<float>(call.layer.src_zero);
  return deep > 0 && deep <= (call.zeros.filters ? kMostDeep / 2 : kMostDeep) && zero >= limits.low && zero <= limits.high;
}

PackedJob JobOf(const PackedCall& call) {
  const LayerCall& layer = call.layer;
  const nn::ConvDims& d = layer.dims;
  const bool depthwise =
      d.groups == d.channels && d.filters == d.channels && d.channels >= kWideColumns && d.KernelSize() <= kMostTaps && !call.zeros.filters;
  const int64_t groups = depthwise ? 1 : d.groups, per_group = d.channels / d.groups, deep = per_group * d.KernelSize();
  PackedJob l(d);
  l.src = static_cast<const char*>(layer.src.ptr), l.is_unsigned = layer.src_type == kUint8, l.src_zero = layer.src_zero;
  l.weights_last = layer.weight.channels_last;
  l.depthwise = depthwise, l.groups = groups, l.per_group = per_group, l.filters = d.filters / groups, l.deep = deep;
  l.pairs = WidePairs(deep), l.panels = WidePanels(l.filters), l.pitch = 2 * l.pairs;
  l.size = static_cast<int64_t>(DTypeSize(layer.dst_type));
  return l;
}

}  // namespace

void SetResult(const Affine& form, float low, float high, SumsFinish* f) {
  f->out_type = form.dtype, f->low = low, f->high = high;
  if (!IsBytes(form.dtype)) return;
  f->zero = form.zero;
  // What is beyond the values' limits is rounded to what they are rounded to.
  float least = 0, most = 0;
  SetLimits(form.dtype, form.zero, &least, &most);
  f->low = std::min(most, std::max(least, std::nearbyint(low / form.step)));
  f->high = std::max(f->low, std::min(most, std::nearbyint(high / form.step)));
}

bool TilesBeatByteProducts(const KernelArgs& args, const PackedCall& call) {
  const LayerCall& layer = call.layer;
  if (layer.dense || layer.post || call.zeros.filters || !layer.src.channels_last || !layer.dst.channels_last) return false;
  if (!nn::KeepsWeights(args, call.weight_input)) return false;
  // Of one image: how many there are does not choose.
  LayerCall image = layer;
  image.dims.batch = 1;
  const PackedJob l = JobOf({image, call.weight_input, {}, nullptr});
  nn::WinogradDims tiles;
  if (!Takes(call, l.deep) || !WinogradTakes(l, true, &tiles) || !BeatsByteProducts(tiles)) return false;
  // Many tiles share their weights: 28x28 places gain four times as much for a byte as 14x14.
  constexpr int64_t kMany = 32;
  const auto own = static_cast<size_t>(l.deep * l.d.filters), transformed = static_cast<size_t>(2 * WinogradWeights(tiles));
  return HasRoomFor(args.plan_weights, layer.weight.ptr, transformed - own, tiles.Tiles() >= kMany);
}

/* Are sums scaled, given a bias and rounded to 8 bits, and nothing else? */
bool TakesColumns(const PackedCall& call, const PackedJob& l) {
  const LayerCall& layer = call.layer;
  const bool rounds = layer.dst_type == kInt8 || layer.dst_type == kUint8;
  return rounds && !call.addend && !layer.accumulate && !layer.post && !layer.between && !layer.bias_last && HasColumns(l);
}

bool ColumnsBeatByteProducts(const PackedCall& call) {
  const LayerCall& layer = call.layer;
  if (layer.dense || !layer.src.channels_last || !layer.dst.channels_last) return false;
  const PackedJob l = JobOf(call);
  return Takes(call, l.deep) && TakesColumns(call, l);
}

/* Are sums scaled, given a bias, perhaps rounded before or behind that, given an addend of bytes,
 * and rounded to 8 bits? Or scaled, given a bias and an addend, and floats? `adds`: there is an
 * addend. */
bool TakesPixels(const PackedCall& call, const PackedJob& l, bool adds) {
  const LayerCall& layer = call.layer;
  const auto is_byte = [](int dtype) { return dtype == kInt8 || dtype == kUint8; };
  const bool bytes = is_byte(layer.dst_type) && (!adds || is_byte(layer.addend_type));
  const bool floats = layer.dst_type == kFloat32 && !layer.between && (!adds || layer.addend_type == kFloat32);
  return !layer.dense && (bytes || floats) && !layer.post && !call.zeros.filters && HasPixelProducts(l);
}

bool PixelsBeatByteProducts(const KernelArgs& args, const PackedCall& call) {
  const LayerCall& layer = call.layer;
  if (!layer.src.channels_last || !layer.dst.channels_last || !nn::KeepsWeights(args, call.weight_input)) return false;
  const PackedJob l = JobOf(call);
  return Takes(call, l.deep) && TakesPixels(call, l, layer.accumulate);
}

/* By matrix tiles: nothing beats them. A call without a plan keeps no small weights, and packs them
 * each time: so it computes what the plan does, and need not wait for oneDNN's first primitive. */
bool TakesAmx(const KernelArgs& args, const PackedCall& call, const PackedJob& l) {
  if (call.layer.dense || call.zeros.filters || call.layer.post || !HasAmxLayer(l)) return false;
  return nn::KeepsWeights(args, call.weight_input) || l.deep * l.filters <= kSoonPacked;
}

bool AmxBeatsByteProducts(const KernelArgs& args, const PackedCall& call) {
  const LayerCall& layer = call.layer;
  if (!(layer.src.channels_last || nn::AmxTakesPlanes(layer.dims)) || !layer.dst.channels_last) return false;
  const PackedJob l = JobOf(call);
  return Takes(call, l.deep) && TakesAmx(args, call, l);
}

bool PackedLayer(KernelArgs& args, const PackedCall& call) {
  const LayerCall& layer = call.layer;
  const nn::ConvDims& d = layer.dims;
  PackedJob l = JobOf(call);
  if (!Takes(call, l.deep)) return false;
  nn::WinogradDims tiles;
  const bool amx = TakesAmx(args, call, l),
             winograd = !amx && !call.zeros.filters && WinogradTakes(l, nn::KeepsWeights(args, call.weight_input), &tiles);
  const int16_t* transformed = winograd ? Transformed(args, call, l, tiles) : nullptr;
  const bool columns = !amx && !winograd && TakesColumns(call, l),
             pixels = !amx && !winograd && !columns && nn::KeepsWeights(args, call.weight_input) && TakesPixels(call, l, call.addend);
  if (amx)
    l.packed = PackedForAmx(args, call, l);
  else if (columns)
    l.packed = PackedInColumns(args, call, l);
  else if (pixels)
    l.packed = PackedForPixels(args, call, l);
  else if (!winograd)
    l.packed = HasNines(l) ? PackedNines(args, call, l) : Packed(args, call, l);
  l.finish = FinishOf(args, call);
  if (call.zeros.filters) l.zeros = ForEach<int32_t>(args, call.zeros.filters, call.zeros.one, 0, d.filters);
  if (!LiesLast(layer.src, d.channels, d.InSize()) && amx && nn::AmxTakesPlanes(d)) {
    l.planes = true;
  } else if (!LiesLast(layer.src, d.channels, d.InSize())) {
    char* last = nn::Workspace<char>(args, d.batch * d.channels * d.InSize());
    Reorder(layer.src.ptr, false, last, d, d.channels, d.InSize(), 1);
    l.src = last;
  }
  const bool moves = !LiesLast(layer.dst, d.filters, d.OutSize());
  const int64_t bytes = d.batch * d.filters * d.OutSize() * l.size;
  l.dst = moves ? nn::Workspace<char>(args, bytes) : static_cast<char*>(layer.dst.ptr);
  l.addend = static_cast<const char*>(call.addend);
  if (moves && call.addend) {
    Reorder(call.addend, false, l.dst, d, d.filters, d.OutSize(), l.size);
    l.addend = l.dst;
  }
  if (amx)
    AmxLayer(args, l);
  else if (winograd)
    WinogradProducts(args, l, tiles, transformed);
  else if (columns)
    DepthwiseColumns(args, l);
  else if (pixels)
    PixelProducts(args, l);
  else
    l.depthwise ? Depthwise(args, l) : Products(args, l);
  if (moves) Reorder(l.dst, true, layer.dst.ptr, d, d.filters, d.OutSize(), l.size);
  return true;
}

}  // namespace quantized
}  // namespace mxnet
