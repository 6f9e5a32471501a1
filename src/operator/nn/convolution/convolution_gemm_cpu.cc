/*
 * Gradients of convolutions as matrix products of our own, where they beat the vector library on
 * channels-last tensors:
 *
 *   by the weights   dW(filters, taps * channels) = dY^T X', summed over pixels; row p of X' holds
 *                    what the window sees at pixel p (im2col) and exists only as panels of one
 *                    block of pixels
 *   by the data      dX = dY W for 1x1 windows; pixels that no window visits get zero
 *
 * Every element is summed in one order, whatever the number of threads. What the next block of
 * pixels needs is fetched beside the sums of one.
 */
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/cache_sets.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/shared_items.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nn/cpu_gemm/panel_kernels.h"
#include "operator/nn/cpu_gemm/winograd.h"

namespace mxnet {
namespace nn {
namespace {

constexpr double kSmall = 4e6;       // operations below which panels do not pay
constexpr int64_t kLeastWidth = 16;  // filters and columns
constexpr int64_t kDepth = 256;      // pixels (or filters) summed in registers at a time: a panel of them stays in the first-level cache
constexpr int64_t kColumns = 1024;   // whose panels are used for all filters before the next ones are made
constexpr int64_t kFilters = 192;    // whose strips stay in the second-level cache
constexpr int64_t kPixels = 96;      // rows of dY times all panels
constexpr int64_t kPieces = 2,
                  kPiecePixels = 4096;  // more pixels are summed in two pieces: threads that divide pixels read each of them once

bool PointwisePlane(const ConvDims& d) { return d.KernelSize() == 1 && d.in[0] == 1 && d.pad[0] == 0 && d.pad[1] == 0 && d.pad[2] == 0; }

/*
 * Part of a row of X': the taps (z, y, x ...) of one line of the window, or one tap where taps of a
 * line are not neighbours in memory. Where it pays, segments begin with a vector, and columns
 * between them stand for nothing.
 */
struct Segment {
  int64_t z, y, x, taps, first, width;
};
struct Window {
  std::vector<Segment> segments;
  int64_t columns = 0;  // with those between segments
};

Window WindowOf(const ConvDims& d, int64_t panel) {
  const int64_t taps = d.dilate[2] == 1 ? d.kernel[2] : 1, width = taps * d.channels, vector = panel / 2;
  Window w;
  for (int64_t z = 0; z < d.kernel[0]; ++z)
    for (int64_t y = 0; y < d.kernel[1]; ++y)
      for (int64_t x = 0; x<d.kernel[2]; x += taps, w.columns += width> vector ? RoundUp(width, vector) : width)
        w.segments.push_back({z * d.dilate[0], y * d.dilate[1], x * d.dilate[2], taps, w.columns, width});
  w.columns = w.segments.back().first + width;
  return w;
}

/* Where the windows of pixels begin .. begin + count look: corner 0 of the window in the data. */
struct Corner {
  int64_t image, z, y, x;
};
void Corners(const ConvDims& d, int64_t begin, int64_t count, Corner* to) {
  int64_t x = begin % d.out[2], y = begin / d.out[2] % d.out[1], z = begin / (d.out[2] * d.out[1]) % d.out[0], n = begin / d.OutSize();
  for (int64_t i = 0; i < count; ++i) {
    to[i] = {n, z * d.stride[0] - d.pad[0], y * d.stride[1] - d.pad[1], x * d.stride[2] - d.pad[2]};
    if (++x < d.out[2]) continue;
    x = 0;
    if (++y < d.out[1]) continue;
    y = 0;
    if (++z < d.out[0]) continue;
    z = 0;
    ++n;
  }
}

/* Columns [begin, end) of X' for some pixels, as panels. */
void PackColumns(const ConvDims& d, const Window& window, const float* x, const Corner* corners, int64_t depth, int64_t begin, int64_t end,
                 PanelRow* rows, float* panels, int64_t panel_stride) {
  const int64_t size = d.batch * d.InSize() * d.channels;
  for (const Segment& s : window.segments) {
    const int64_t from = std::max(begin, s.first), to = std::min(end, s.first + s.width);
    if (from >= to) continue;
    const int64_t skip = from - s.first, width = to - from;
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t iz = corners[i].z + s.z, iy = corners[i].y + s.y, ix = corners[i].x + s.x;
      int64_t lo = 0, hi = 0;
      if (iz >= 0 && iz < d.in[0] && iy >= 0 && iy < d.in[1]) {
        lo = std::max<int64_t>(0, -ix) * d.channels - skip;
        hi = std::min(s.taps, d.in[2] - ix) * d.channels - skip;
      }
      lo = std::min(std::max<int64_t>(lo, 0), width);
      hi = std::min(std::max(hi, lo), width);
      rows[i] = {hi > lo ? (((corners[i].image * d.in[0] + iz) * d.in[1] + iy) * d.in[2] + ix) * d.channels + skip : 0,
                 static_cast<int32_t>(lo), static_cast<int32_t>(hi)};
    }
    MXNET_CPU_CALL(PanelColumns)(x, size, rows, depth, from - begin, width, panels, panel_stride);
  }
  MXNET_CPU_CALL(PanelZero)(depth, end - begin, panels, panel_stride);
}

// Threads divide filters and columns so that little is packed twice.
void Divide(int threads, int64_t strips, int64_t panels, int64_t rows, int64_t columns, int64_t* by_rows, int64_t* by_columns) {
  double least = 1e300;
  for (int64_t r = 1; r <= threads; ++r) {
    const int64_t c = threads / r;
    if (r > strips || c > panels) continue;
    // what one thread sums, with packing in units of it
    const double mine_rows = static_cast<double>(rows) / static_cast<double>(r),
                 mine_columns = static_cast<double>(columns) / static_cast<double>(c);
    const double work = mine_rows * mine_columns + 8 * (mine_rows + mine_columns);
    if (work < least) least = work, *by_rows = r, *by_columns = c;
  }
}

void WeightGradient(KernelArgs& args, const ConvCall& call) {
  const ConvDims& d = call.dims;
  const PanelGeometry g = MXNET_CPU_CALL(PanelShape)();
  const int64_t taps = d.KernelSize(), row = taps * d.channels, pixels = d.batch * d.OutSize(), filters = d.filters;
  const auto *x = static_cast<const float*>(call.src.ptr), *dy = static_cast<const float*>(call.dst.ptr);
  auto* dw = static_cast<float*>(call.weight.ptr);
  const Window window = WindowOf(d, g.panel);
  const int64_t columns = window.columns;
  const bool straight = (taps == 1 || call.weight.channels_last) && columns == row && columns % g.panel == 0;
  const int64_t stride = straight ? columns : g.Panels(columns) * g.panel;
  float* sums = straight ? dw : Workspace<float>(args, filters * stride);
  const int64_t pieces = pixels >= kPiecePixels ? kPieces : 1;  // for any number of threads
  float* second_sums = pieces > 1 ? Workspace<float>(args, filters * stride) : nullptr;
  const int64_t strips = g.Strips(filters), panels = g.Panels(columns);
  int64_t by_rows = 1, by_columns = 1;
  const int threads = OmpThreadsForFlops(2.0 * static_cast<double>(pixels * filters) * static_cast<double>(columns));
  Divide(std::max<int>(1, threads / static_cast<int>(pieces)), strips, panels, filters, columns, &by_rows, &by_columns);
  const int64_t parts = by_rows * by_columns, tasks = pieces * parts, workers = std::min<int64_t>(threads, tasks);
  const bool in_order = PointwisePlane(d) && d.stride[1] == 1 && d.stride[2] == 1;  // pixels of the data lie as those of the result
  const int64_t most_columns = std::min(RoundUp(columns, g.panel), RoundUp(kColumns, g.panel)),
                most_filters = std::min(RoundUp(filters, g.rows), RoundUp(kFilters, g.rows));
  const int64_t panel_stride = g.PanelStride(kDepth), strip_stride = g.StripStride(kDepth);
  const int64_t each = RoundUp(g.Panels(most_columns) * panel_stride + g.Strips(most_filters) * strip_stride + 16, 16);
  float* buffers = Workspace<float>(args, each * tasks);
  ParallelForThreads(static_cast<int>(workers), tasks, [&](int64_t first, int64_t last) {
    std::vector<Corner> corners(kDepth);
    std::vector<PanelRow> rows(kDepth);
    for (int64_t task = first; task < last; ++task) {
      const int64_t piece = task / parts, id = task % parts, p_begin = Share(pixels, pieces, piece),
                    p_end = Share(pixels, pieces, piece + 1);
      float* to = piece ? second_sums : sums;
      const int64_t f_begin = Share(strips, by_rows, id % by_rows) * g.rows,
                    f_end = std::min(filters, Share(strips, by_rows, id % by_rows + 1) * g.rows);
      const int64_t c_begin = Share(panels, by_columns, id / by_rows) * g.panel,
                    c_end = std::min(columns, Share(panels, by_columns, id / by_rows + 1) * g.panel);
      float *panel = buffers + task * each, *strip = panel + g.Panels(most_columns) * panel_stride;
      for (int64_t c = c_begin; c < c_end; c += most_columns) {
        const int64_t c_stop = std::min(c_end, c + most_columns);
        for (int64_t p = p_begin; p < p_end; p += kDepth) {
          const int64_t depth = std::min(kDepth, p_end - p), next = std::min(kDepth, p_end - p - depth);
          PanelAhead ahead;  // rows that are read whole lie together
          if (in_order && c_stop - c == d.channels) ahead.first = x + (p + depth) * d.channels, ahead.first_size = next * d.channels;
          if (f_end - f_begin == filters) ahead.second = dy + (p + depth) * filters, ahead.second_size = next * filters;
          ahead.end = ahead.first_size + ahead.second_size;
          Corners(d, p, depth, corners.data());
          PackColumns(d, window, x, corners.data(), depth, c, c_stop, rows.data(), panel, panel_stride);
          for (int64_t f = f_begin; f < f_end; f += most_filters) {
            const int64_t width = std::min(most_filters, f_end - f);
            MXNET_CPU_CALL(PanelStrips)(dy + p * filters + f, filters, depth, width, strip, strip_stride);
            MXNET_CPU_CALL(PanelSums)
            (strip, strip_stride, width, panel, panel_stride, c_stop - c, depth, p > p_begin, to + f * stride + c, stride,
             ahead.Share(f - f_begin, f + width - f_begin, f_end - f_begin));
          }
        }
      }
    }
  });
  if (pieces > 1) {
    ParallelFor(filters, std::max<int64_t>(1, 65536 / stride), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * stride; i < end * stride; ++i) sums[i] += second_sums[i];
    });
  }
  if (!straight) {
    const int64_t tap = call.weight.channels_last ? d.channels : 1, channel = call.weight.channels_last ? 1 : taps;
    ParallelFor(filters, std::max<int64_t>(1, 16384 / row), [&](int64_t begin, int64_t end) {
      for (int64_t f = begin; f < end; ++f) {
        float* to = dw + f * row;
        for (const Segment& s : window.segments)
          for (int64_t t = 0; t < s.taps; ++t, to += tap) {
            const float* from = sums + f * stride + s.first + t * d.channels;
            for (int64_t c = 0; c < d.channels; ++c) to[c * channel] = from[c];
          }
      }
    });
  }
  if (call.bias) WinogradSumRows(dy, pixels, filters, static_cast<float*>(call.bias), args.workspace);
}

void DataGradient(KernelArgs& args, const ConvCall& call) {
  const ConvDims& d = call.dims;
  const PanelGeometry g = MXNET_CPU_CALL(PanelShape)();
  const int64_t filters = d.filters, channels = d.channels, width = d.out[2], lines = d.batch * d.out[1];
  const auto *dy = static_cast<const float*>(call.dst.ptr), *w = static_cast<const float*>(call.weight.ptr);
  auto* dx = static_cast<float*>(call.src.ptr);
  const int64_t panel_stride = g.PanelStride(filters);
  float* panels = Workspace<float>(args, g.Panels(channels) * panel_stride);
  ParallelFor(g.Panels(channels), std::max<int64_t>(1, 65536 / (filters * g.panel)), [&](int64_t begin, int64_t end) {
    const int64_t first = begin * g.panel, stop = std::min(channels, end * g.panel);
    std::vector<PanelRow> rows(filters);
    for (int64_t f = 0; f < filters; ++f) rows[f] = {f * channels + first, 0, static_cast<int32_t>(stop - first)};
    MXNET_CPU_CALL(PanelColumns)(w, filters * channels, rows.data(), filters, 0, stop - first, panels + begin * panel_stride, panel_stride);
    MXNET_CPU_CALL(PanelZero)(filters, stop - first, panels + begin * panel_stride, panel_stride);
  });
  const int64_t lines_at_once = std::max<int64_t>(1, kPixels / width), pitch = kDepth + kCacheLine / static_cast<int64_t>(sizeof(float));
  const bool copies = RowsCollide(filters * static_cast<int64_t>(sizeof(float)), g.rows);
  const int threads = OmpThreadsForFlops(2.0 * static_cast<double>(lines * width * filters) * static_cast<double>(channels));
  DividedItems items(threads, (lines + lines_at_once - 1) / lines_at_once);
  ParallelForThreads(threads, threads, [&](int64_t begin, int64_t end) {
    std::vector<float*> out(lines_at_once * width);
    std::vector<float> copied(copies ? kPixels * pitch : 0);
    for (int64_t id = begin; id < end; ++id)
      for (int64_t item; items.Next(id, &item);) {
        const int64_t line = item * lines_at_once, count = std::min(lines_at_once, lines - line);
        for (int64_t l = 0; l < count; ++l) {
          const int64_t oy = (line + l) % d.out[1], from = oy * d.stride[1], to = oy + 1 < d.out[1] ? from + d.stride[1] : d.in[1];
          float* row = dx + ((line + l) / d.out[1] * d.in[1] + from) * d.in[2] * channels;
          for (int64_t ox = 0; ox < width; ++ox) {
            float* pixel = out[l * width + ox] = row + ox * d.stride[2] * channels;
            const int64_t next = ox + 1 < width ? (ox + 1) * d.stride[2] : d.in[2];
            if (d.stride[2] > 1 || ox + 1 == width)
              std::memset(pixel + channels, 0, (next - ox * d.stride[2] - 1) * channels * sizeof(float));
          }
          std::memset(row + d.in[2] * channels, 0, (to - from - 1) * d.in[2] * channels * sizeof(float));
        }
        const int64_t rows = count * width;
        for (int64_t r = 0; r < rows; r += kPixels)
          for (int64_t f = 0; f < filters; f += kDepth) {
            const int64_t depth = std::min(kDepth, filters - f), at = line * width + r + kPixels,
                          left = std::min(kPixels, lines * width - at);
            PanelAhead ahead;  // the next rows
            if (left > 0) ahead.first = dy + at * filters, ahead.first_size = ahead.end = left * filters;
            const int64_t tall = std::min(kPixels, rows - r);
            const float* from = dy + (line * width + r) * filters + f;
            for (int64_t i = 0; copies && i < tall; ++i)
              std::memcpy(copied.data() + i * pitch, from + i * filters, static_cast<size_t>(depth) * sizeof(float));
            MXNET_CPU_CALL(PanelGemms)
            (copies ? copied.data() : from, copies ? pitch : filters, tall, panels + f * g.panel, panel_stride, channels, depth, f > 0,
             out.data() + r, ahead.Share(f, f + depth, filters));
          }
      }
  });
}

}  // namespace

bool GemmConvolution(KernelArgs& args, const ConvCall& call) {
  const ConvDims& d = call.dims;
  if (call.dtype != kFloat32 || d.groups != 1 || !call.src.channels_last || !call.dst.channels_last || !call.weight.ptr ||
      call.accumulate || call.post)
    return false;
  const int64_t columns = d.channels * d.KernelSize();
  if (d.filters < kLeastWidth || columns < kLeastWidth ||
      2.0 * static_cast<double>(d.batch * d.OutSize() * d.filters) * static_cast<double>(columns) < kSmall)
    return false;
  if (call.pass == ConvPass::kBackwardWeights) {
    Ran(d.KernelSize() == 1 ? "GEMM of panels" : "implicit GEMM of panels");
    WeightGradient(args, call);
    return true;
  }
  if (call.pass != ConvPass::kBackwardData || !PointwisePlane(d)) return false;
  Ran("GEMM of panels");
  DataGradient(args, call);
  return true;
}

}  // namespace nn
}  // namespace mxnet
