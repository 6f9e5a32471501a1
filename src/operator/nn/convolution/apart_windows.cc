#include "operator/nn/convolution/apart_windows.h"

#include <algorithm>
#include <vector>

#include "base/ran.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kCached = 65536;     // numbers of windows that are made before they go to their places
constexpr int64_t kAlwaysDivided = 8;  // images and blocks of lines at least, with MXNET_ENFORCE_DETERMINISM
constexpr int64_t kFewChannels = 8, kLeastFilters = 8;
constexpr int64_t kFewNumbers = 16;  // of a channels-last line of a window, which a call would copy slower

/* One group of float32, and nothing is added to the sums. */
bool IsPlainDataPass(const ConvCall& call) {
  return call.pass == ConvPass::kBackwardData && call.dtype == kFloat32 && call.dims.groups == 1 && !call.accumulate && !call.post &&
         !call.bias;
}

bool Takes(const ConvCall& call) {
  const ConvDims& d = call.dims;
  if (!IsPlainDataPass(call) || d.KernelSize() == 1) return false;
  for (int i = 0; i < 3; ++i)
    if (d.kernel[i] != d.stride[i] || d.pad[i] != 0 || (d.dilate[i] != 1 && d.kernel[i] != 1) || d.in[i] != d.out[i] * d.kernel[i])
      return false;
  return true;
}

/* The line of an image that line `kh` of depth `kd` of the windows of `line` is a part of. */
int64_t LineOf(const ConvDims& d, int64_t line, int64_t kd, int64_t kh) {
  const int64_t od = line / d.out[1], oh = line % d.out[1];
  return (od * d.kernel[0] + kd) * d.in[1] + oh * d.kernel[1] + kh;
}

/* `windows` are (channel, kernel position, pixel) of `count` lines from `first` on. */
void PutPlanes(const ConvDims& d, const float* windows, int64_t first, int64_t count, float* image) {
  const int64_t wide = d.kernel[2], across = d.out[2], pixels = count * across;
  for (int64_t c = 0; c < d.channels; ++c)
    for (int64_t kd = 0; kd < d.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < d.kernel[1]; ++kh, windows += wide * pixels)
        for (int64_t l = 0; l < count; ++l) {
          float* to = image + c * d.InSize() + LineOf(d, first + l, kd, kh) * d.in[2];
          const float* from = windows + l * across;
          if (wide == 2) {
            for (int64_t x = 0; x < across; ++x) to[2 * x] = from[x], to[2 * x + 1] = from[pixels + x];
            continue;
          }
          for (int64_t j = 0; j < wide; ++j)
            for (int64_t x = 0; x < across; ++x) to[x * wide + j] = from[j * pixels + x];
        }
}

/* `windows` are (pixel, kernel position, channel) of `count` lines from `first` on. */
void PutPixels(const ConvDims& d, const float* windows, int64_t first, int64_t count, float* image) {
  const int64_t run = d.kernel[2] * d.channels, window = d.KernelSize() * d.channels, across = d.out[2];
  for (int64_t l = 0; l < count; ++l)
    for (int64_t kd = 0; kd < d.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < d.kernel[1]; ++kh) {
        float* to = image + LineOf(d, first + l, kd, kh) * d.in[2] * d.channels;
        const float* from = windows + l * across * window + (kd * d.kernel[1] + kh) * run;
        for (int64_t x = 0; x < across; ++x, to += run, from += window) {
          if (run > kFewNumbers)
            std::copy(from, from + run, to);
          else
            for (int64_t i = 0; i < run; ++i) to[i] = from[i];
        }
      }
}

/* (filters, kernel position, channel) of weights (filters, channel, kernel position). */
std::vector<float> PositionsFirst(const ConvDims& d, const float* weight) {
  const int64_t window = d.KernelSize();
  std::vector<float> made(static_cast<size_t>(d.filters * window * d.channels));
  for (int64_t f = 0; f < d.filters; ++f)
    for (int64_t c = 0; c < d.channels; ++c)
      for (int64_t k = 0; k < window; ++k) made[(f * window + k) * d.channels + c] = *weight++;
  return made;
}

/* Do windows overlap, in images of so few channels, which are last, that they leave the vector
 * library's lanes empty? */
bool TakesFew(const ConvCall& call) {
  const ConvDims& d = call.dims;
  if (!IsPlainDataPass(call)) return false;
  if (d.in[0] != 1 || d.out[0] != 1 || d.kernel[0] != 1 || d.kernel[1] == 1 || d.channels > kFewChannels || d.filters < kLeastFilters)
    return false;
  if (d.dilate[1] != 1 || d.dilate[2] != 1 || (!call.src.channels_last && d.channels > 1)) return false;
  return call.dst.channels_last || call.src.channels_last;  // DataOfFewChannels takes planes
}

/* Adds the windows of a line, (pixel, column, channel) with `pitch` from pixel to pixel, to a line
 * of the image. */
void AddLine(const ConvDims& d, const float* windows, int64_t pitch, float* line) {
  const int64_t run = d.kernel[2] * d.channels, size = d.in[2] * d.channels, step = d.stride[2] * d.channels;
  int64_t at = -d.pad[2] * d.channels;
  for (int64_t x = 0; x < d.out[2]; ++x, at += step, windows += pitch) {
    const int64_t begin = std::max<int64_t>(0, -at), end = std::min(run, size - at);
    float* const to = line + at;
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) to[i] += windows[i];
  }
}

/* Lines [begin, end) of an image, from the products of all lines that reach there. */
void FewLines(const ConvCall& call, const float* w, int64_t n, int64_t begin, int64_t end, std::vector<float>* windows) {
  const ConvDims& d = call.dims;
  const int64_t window = d.channels * d.KernelSize(), across = d.out[2], run = d.kernel[2] * d.channels;
  const bool rows = call.dst.channels_last;
  float* const image = static_cast<float*>(call.src.ptr) + n * d.channels * d.InSize();
  const float* const from = static_cast<const float*>(call.dst.ptr) + n * d.filters * d.OutSize();
  std::fill(image + begin * d.in[2] * d.channels, image + end * d.in[2] * d.channels, 0.0f);
  const int64_t reach = begin + d.pad[1] - d.kernel[1] + 1, stop = std::min(d.out[1], (end - 1 + d.pad[1]) / d.stride[1] + 1);
  const int64_t some = std::max<int64_t>(1, kCached / std::max<int64_t>(1, window * across));
  for (int64_t first = reach > 0 ? (reach + d.stride[1] - 1) / d.stride[1] : 0; first < stop; first += some) {
    const int64_t count = std::min(some, stop - first), pixels = count * across, pitch = rows ? d.filters : d.OutSize();
    windows->resize(static_cast<size_t>(std::max<int64_t>(static_cast<int64_t>(windows->size()), window * pixels)));
    Gemm(!rows, false, pixels, window, d.filters, 1.0f, from + first * across * (rows ? d.filters : 1), pitch, w, window, 0.0f,
         windows->data(), window);
    for (int64_t l = 0; l < count; ++l)
      for (int64_t k = 0; k < d.kernel[1]; ++k) {
        const int64_t y = (first + l) * d.stride[1] - d.pad[1] + k;
        if (y >= begin && y < end) AddLine(d, windows->data() + l * across * window + k * run, window, image + y * d.in[2] * d.channels);
      }
  }
}

bool FewWindows(KernelArgs& args, const ConvCall& call) {
  if (!TakesFew(call)) return false;
  const ConvDims& d = call.dims;
  Ran("added windows of GEMMs", RanAt::kNone);
  args.NeedWeights(call.weight.ptr);
  const auto* w = static_cast<const float*>(call.weight.ptr);
  std::vector<float> turned;
  if (!call.weight.channels_last && d.channels > 1) turned = PositionsFirst(d, w), w = turned.data();
  const double products = static_cast<double>(d.batch * d.OutSize() * d.filters) * static_cast<double>(d.channels * d.KernelSize());
  const int threads = OmpThreadsForFlops(2.0 * products);
  // A library's product may round a row as its neighbours say, so where blocks begin shows in bits.
  const int64_t divided = Env::Get().enforce_determinism ? kAlwaysDivided : threads;
  const int64_t blocks = std::clamp<int64_t>((divided + d.batch - 1) / d.batch, 1, std::max<int64_t>(1, d.in[1] / (2 * d.kernel[1])));
  ParallelForThreads(threads, d.batch * blocks, [&](int64_t begin, int64_t end) {
    std::vector<float> windows;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t at = b % blocks;
      FewLines(call, w, b / blocks, d.in[1] * at / blocks, d.in[1] * (at + 1) / blocks, &windows);
    }
  });
  return true;
}

}  // namespace

bool ApartWindows(KernelArgs& args, const ConvCall& call) {
  if (!Takes(call)) return FewWindows(args, call);
  const ConvDims& d = call.dims;
  const bool last = call.src.channels_last, rows = call.dst.channels_last;
  if (call.weight.channels_last && !last) return false;
  Ran("apart windows of GEMMs", RanAt::kNone);
  args.NeedWeights(call.weight.ptr);
  const auto* w = static_cast<const float*>(call.weight.ptr);
  std::vector<float> turned;
  if (last && !call.weight.channels_last && d.channels > 1) turned = PositionsFirst(d, w), w = turned.data();
  const int64_t window = d.channels * d.KernelSize(), across = d.out[2], lines = d.out[0] * d.out[1];
  const int64_t some = std::min(lines, std::max<int64_t>(1, kCached / std::max<int64_t>(1, window * across)));
  const int64_t blocks = (lines + some - 1) / some;
  ParallelFor(d.batch * blocks, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> windows(static_cast<size_t>(window * some * across));
    for (int64_t b = begin; b < end; ++b) {
      const int64_t n = b / blocks, first = b % blocks * some, count = std::min(some, lines - first), pixels = count * across;
      const float* y = static_cast<const float*>(call.dst.ptr) + n * d.filters * d.OutSize() + first * across * (rows ? d.filters : 1);
      const int64_t pitch = rows ? d.filters : d.OutSize();
      float* x = static_cast<float*>(call.src.ptr) + n * d.channels * d.InSize();
      if (last) {
        Gemm(!rows, false, pixels, window, d.filters, 1.0f, y, pitch, w, window, 0.0f, windows.data(), window);
        PutPixels(d, windows.data(), first, count, x);
      } else {
        Gemm(true, rows, window, pixels, d.filters, 1.0f, w, window, y, pitch, 0.0f, windows.data(), pixels);
        PutPlanes(d, windows.data(), first, count, x);
      }
    }
  });
  return true;
}

}  // namespace nn
}  // namespace mxnet
