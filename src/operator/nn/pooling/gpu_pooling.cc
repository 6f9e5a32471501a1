#include "operator/nn/pooling/gpu_pooling.h"

#include <algorithm>
#include <string>

#include "operator/nn/common/nn_common.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kFile = "operator/nn/pooling/gpu_pooling.cuh";

// Whether positions fit into 32 bits: there are fewer than 2^31 elements on either side, windows
// behind the borders included.
bool NarrowPositions(const TBlob& x, const TBlob& y, const PoolDims& d) {
  int64_t most = std::max(x.Size(), y.Size());
  for (int k = 0; k < 3; ++k) most = std::max({most, d.in[k] + 2 * d.pad[k] + d.kernel[k], d.out[k] * d.stride[k] + d.kernel[k]});
  return most < (int64_t{1} << 31) && d.kernel[0] * d.kernel[1] * d.kernel[2] < (int64_t{1} << 31);
}
// PoolArgs of the kernels. Divisors: packs of channels, and the sizes of the side whose elements
// are the items.
void AddPool(const PoolDims& d, const int64_t* sizes, int width, int64_t items, rtc::Arguments* args) {
  args->Add(d.channels);
  for (const int64_t* v : {d.in, d.out, d.kernel, d.stride, d.pad}) args->Add(v[0]).Add(v[1]).Add(v[2]);
  args->Add(int64_t{d.include_pad});
  rtc::AddDivisor(d.channels / width, items >= rtc::kLargeCount, args);
  for (int k = 0; k < 3; ++k) rtc::AddDivisor(sizes[k], items >= rtc::kLargeCount, args);
}
// Neighbouring channels that a thread works on where these lie last.
int PoolWidth(const PoolDims& d, bool last, std::initializer_list<const TBlob*> arrays) {
  int width = last ? 8 : 1;
  for (const TBlob* b : arrays)
    while (width > 1 && (d.channels % width || width * DTypeSize(b->dtype) > 16 ||
                         reinterpret_cast<uintptr_t>(b->dptr) % (static_cast<size_t>(width) * DTypeSize(b->dtype))))
      width /= 2;
  return width;
}
// Small windows are constants of the kernel, so that all their elements can be in flight; others
// are arguments.
bool SmallWindow(const PoolDims& d) {
  int64_t most = 1, elements = 1;
  for (int k = 0; k < 3; ++k) most = std::max({most, d.kernel[k], d.stride[k], d.pad[k]}), elements *= d.kernel[k];
  return most <= 7 && elements <= 27;
}
// PoolShape of the kernels.
std::string ShapeText(const PoolDims& d, bool last, bool narrow, int width) {
  rtc::TemplateArguments t;
  const bool small = SmallWindow(d);
  t.Value(narrow).Value(last).Value(width).Value(small);
  for (const int64_t* v : {d.kernel, d.stride, d.pad})
    for (int k = 0; k < 3; ++k) t.Value(small ? v[k] : 0);
  return "kernels::PoolShape" + t.text();
}
// The gradient of a mean or sum over whole planes, which every element of the plane gets.
bool IsSpread(const PoolDims& d) {
  bool whole = d.type == kPoolAvg || d.type == kPoolSum;
  for (int k = 0; k < 3; ++k) whole = whole && d.out[k] == 1 && d.pad[k] == 0 && d.kernel[k] >= d.in[k];
  return whole;
}
void SpreadOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& og, const TBlob& dx) {
  const int64_t plane = d.in[0] * d.in[1] * d.in[2], items = (dx.Size() + 3) / 4;
  const bool large = dx.Size() >= rtc::kLargeCount;
  rtc::Arguments args;
  args.Add(og.dptr).Add(dx.dptr).Add(dx.Size()).Add(d.type == kPoolAvg ? 1.0 / static_cast<double>(plane) : 1.0);
  rtc::AddDivisor(last ? plane * d.channels : plane, large, &args);
  rtc::AddDivisor(d.channels, large, &args);
  rtc::LaunchItems(a.run, {kFile, "pool_spread", {dx.dtype}, {last, large}}, items, &args);
}
// Small windows: first a byte for each window, the place of the first element that holds its
// maximum, then each element asks the windows that see it.
void MaximaBackOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& og, const TBlob& x, const TBlob& y, const TBlob& dx) {
  const int width = PoolWidth(d, last, {&og, &x, &y, &dx});
  void* places = a.workspace(static_cast<size_t>(std::max<int64_t>(y.Size(), 1)));
  rtc::Arguments find, ask;
  find.Add(x.dptr).Add(y.dptr).Add(places);
  AddPool(d, d.out, width, y.Size() / width, &find);
  ask.Add(og.dptr).Add(places).Add(dx.dptr);
  AddPool(d, d.in, width, dx.Size() / width, &ask);
  const std::string shape = ShapeText(d, last, NarrowPositions(x, y, d), width);
  rtc::LaunchItems(a.run, {kFile, "pool_places", {x.dtype}, {}, {shape}}, y.Size() / width, &find);
  rtc::LaunchItems(a.run, {kFile, "pool_backward_max", {x.dtype}, {}, {shape}}, dx.Size() / width, &ask);
}

}  // namespace

void PoolOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& x, const TBlob& y) {
  const int width = PoolWidth(d, last, {&x, &y});
  rtc::Arguments args;
  args.Add(x.dptr).Add(y.dptr);
  AddPool(d, d.out, width, y.Size() / width, &args);
  const std::string shape = ShapeText(d, last, NarrowPositions(x, y, d), width);
  rtc::LaunchItems(a.run, {kFile, "pool", {x.dtype}, {d.type, d.p}, {shape}}, y.Size() / width, &args);
}

void PoolBackwardOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& og, const TBlob& x, const TBlob& y, const TBlob& dx) {
  if (IsSpread(d)) return SpreadOnDevice(a, d, last, og, dx);
  if (d.type == kPoolMax && SmallWindow(d) && IsFloating(x.dtype)) return MaximaBackOnDevice(a, d, last, og, x, y, dx);
  const int width = PoolWidth(d, last, {&og, &x, &y, &dx});
  rtc::Arguments args;
  args.Add(og.dptr).Add(x.dptr).Add(y.dptr).Add(dx.dptr);
  AddPool(d, d.in, width, dx.Size() / width, &args);
  const std::string shape = ShapeText(d, last, NarrowPositions(x, y, d), width);
  rtc::LaunchItems(a.run, {kFile, "pool_backward", {x.dtype}, {d.type, d.p}, {shape}}, dx.Size() / width, &args);
}

void PoolGatherOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& u, const TBlob& x, const TBlob& y, const TBlob& out) {
  const int width = PoolWidth(d, last, {&u, &x, &y, &out});
  rtc::Arguments args;
  args.Add(u.dptr).Add(x.dptr).Add(y.dptr).Add(out.dptr);
  AddPool(d, d.out, width, y.Size() / width, &args);
  const std::string shape = ShapeText(d, last, NarrowPositions(x, y, d), width);
  rtc::LaunchItems(a.run, {kFile, "pool_gather", {x.dtype}, {d.type, d.p}, {shape}}, y.Size() / width, &args);
}

void AdaptivePoolOnDevice(KernelArgs& a, const TBlob& image, const TBlob& small, bool backward) {
  rtc::Arguments args;
  args.Add(image.dptr).Add(small.dptr).Add(image.shape[2]).Add(image.shape[3]).Add(small.shape[2]).Add(small.shape[3]);
  rtc::LaunchItems(a.run, {"operator/nn/pooling/gpu_resize.cuh", backward ? "adaptive_pool_backward" : "adaptive_pool", {image.dtype}},
                   backward ? image.Size() : small.Size(), &args);
}

void RepeatPixelsOnDevice(KernelArgs& a, const TBlob& small, const TBlob& large, int64_t first_channel, bool add, bool backward) {
  const Shape &s = small.shape, &l = large.shape;
  const char* const file = "operator/nn/pooling/gpu_resize.cuh";
  rtc::Arguments args;
  args.Add(small.dptr).Add(large.dptr).Add(s[1]).Add(s[2]).Add(s[3]).Add(l[1]).Add(l[2] / s[2]).Add(l[3] / s[3]).Add(first_channel);
  if (backward) return rtc::LaunchItems(a.run, {file, "repeat_pixels_backward", {small.dtype}}, small.Size(), &args);
  rtc::LaunchItems(a.run, {file, "repeat_pixels", {small.dtype}, {add}}, small.Size() * (l[2] / s[2]) * (l[3] / s[3]), &args);
}

}  // namespace nn
}  // namespace mxnet
