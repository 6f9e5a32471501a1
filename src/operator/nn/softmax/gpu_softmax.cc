#include "operator/nn/softmax/gpu_softmax.h"

#include <algorithm>

#include "mxnet/kernel_args.h"
#include "operator/nn/common/gpu_rows.h"
#include "rtc/source.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int kThreads = 256;

// Threads that share a slice. With elements behind the axis, neighbouring threads take neighbouring
// slices instead.
struct Shape2 {
  int lanes;
  bool columns;
};
Shape2 ShapeOf(const DeviceSoftmax& s) {
  if (s.inner > 1) return {s.length >= 64 ? 8 : 1, true};
  int lanes = 1;
  while (lanes < kThreads && lanes * 4 < s.length) lanes *= 2;
  return {lanes, false};
}

rtc::LaunchShape GridOf(const DeviceSoftmax& s, const Shape2& shape) {
  rtc::LaunchShape grid;
  const int64_t rows = kThreads / shape.lanes, slices = s.outer * s.inner;
  grid.block[0] = kThreads;
  grid.grid[0] = static_cast<uint32_t>(std::max<int64_t>(1, std::min<int64_t>((slices + rows - 1) / rows, int64_t{1} << 20)));
  return grid;
}

// The kernel of register-resident rows, or that of slices of any length.
void LaunchSoftmax(const RunContext& run, const std::string& name, const DeviceSoftmax& s, const Shape2& shape, const RegisterRows& rows,
                   rtc::TemplateArguments t, rtc::Arguments* args) {
  if (rows)
    rows.AddTo(&t);
  else
    t.Value(shape.lanes).Value(shape.columns);
  const rtc::Kernel& kernel = rtc::FindKernel("operator/nn/softmax/gpu_softmax.cuh", rows ? name + "_rows" : name, t,
                                              rows ? rows.threads() : kThreads, name.c_str());
  rtc::Launch(kernel, rows ? RegisterRowsGrid(s.outer, rows) : GridOf(s, shape), args, run);
}

}  // namespace

void SoftmaxOnDevice(const RunContext& run, const DeviceSoftmax& s, const TBlob& x, const TBlob* lengths, const TBlob& y) {
  if (y.Size() == 0) return;
  const Shape2 shape = ShapeOf(s);
  const void* mask = s.mask ? s.mask->dptr : nullptr;  // no address hinders nothing
  const RegisterRows rows =
      s.inner == 1 ? RegisterRowsFor(s.length, 32, {{x.dptr, x.dtype}, {y.dptr, y.dtype}, {mask, kBool}}) : RegisterRows();
  rtc::TemplateArguments t;
  t.Type(y.dtype == kFloat64 ? "double" : "float").Type(x.dtype).Type(y.dtype).Type(lengths ? lengths->dtype : -1);
  t.Value(s.log).Value(s.mask != nullptr).Value(lengths != nullptr);
  rtc::Arguments args;
  args.Add(x.dptr)
      .Add(y.dptr)
      .Add(lengths ? lengths->dptr : nullptr)
      .Add(s.mask ? s.mask->dptr : nullptr)
      .Add(s.outer)
      .Add(s.length)
      .Add(s.inner)
      .Add(s.scale);
  LaunchSoftmax(run, "softmax", s, shape, rows, t, &args);
}

void SoftmaxBackwardOnDevice(const RunContext& run, const DeviceSoftmax& s, const TBlob& og, const TBlob& y, const TBlob& dx) {
  if (dx.Size() == 0) return;
  const Shape2 shape = ShapeOf(s);
  const bool wide = og.dtype == kFloat64 || y.dtype == kFloat64 || dx.dtype == kFloat64;
  const void* mask = s.mask ? s.mask->dptr : nullptr;
  const RegisterRows rows =
      s.inner == 1 ? RegisterRowsFor(s.length, 16, {{og.dptr, og.dtype}, {y.dptr, y.dtype}, {dx.dptr, dx.dtype}, {mask, kBool}})
                   : RegisterRows();
  rtc::TemplateArguments t;
  t.Type(wide ? "double" : "float").Type(og.dtype).Type(y.dtype).Type(dx.dtype).Value(s.log).Value(s.mask != nullptr);
  rtc::Arguments args;
  args.Add(og.dptr).Add(y.dptr).Add(dx.dptr).Add(mask).Add(s.outer).Add(s.length).Add(s.inner).Add(s.scale);
  LaunchSoftmax(run, "softmax_backward", s, shape, rows, t, &args);
}

}  // namespace nn
}  // namespace mxnet
