#include "operator/nn/loss/gpu_losses.h"

#include <algorithm>

#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/reduce/reduce.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kFile = "operator/nn/loss/gpu_losses.cuh";

}  // namespace

void SoftmaxOutputBackwardOnDevice(KernelArgs& a, const SoftmaxOutputSettings& s, const TBlob& label, const TBlob& y, const TBlob* og,
                                   const TBlob& dx) {
  int64_t* valid = nullptr;
  if (s.valid) {
    valid = static_cast<int64_t*>(a.workspace(sizeof(int64_t)));
    ZeroBytes(a.run, valid, sizeof(int64_t));
    rtc::Arguments count;
    count.Add(label.dptr).Add(valid).Add(s.ignore);
    rtc::LaunchItems(a.run, {kFile, "count_labels", {label.dtype}}, label.Size(), &count);
  }
  rtc::Arguments args;
  const bool large = dx.Size() >= rtc::kLargeCount;
  args.Add(label.dptr).Add(y.dptr).Add(og ? og->dptr : nullptr).Add(dx.dptr).Add(valid);
  rtc::AddDivisor(s.classes, large, &args);
  rtc::AddDivisor(s.inner, large, &args);
  args.Add(s.scale).Add(s.ignore).Add(s.on).Add(s.off);
  const bool narrow = (label.dtype == kFloat32 || IsHalf(label.dtype)) && s.classes <= int64_t{1} << 24;
  rtc::LaunchItems(a.run,
                   {kFile,
                    "softmax_output_backward",
                    {label.dtype, y.dtype, og ? og->dtype : -1},
                    {narrow, s.probabilities, s.use_ignore, og != nullptr}},
                   dx.Size(), &args);
}

void CrossEntropyOnDevice(KernelArgs& a, const TBlob& data, const TBlob& label, double least, const TBlob& out) {
  const int64_t rows = data.shape[0];
  TBlob losses;
  losses.dtype = kFloat64;
  losses.shape = Shape{rows};
  losses.dptr = a.workspace(std::max<size_t>(losses.Bytes(), 1));
  rtc::Arguments args;
  args.Add(data.dptr).Add(label.dptr).Add(losses.dptr).Add(data.shape[1]).Add(least);
  rtc::LaunchRows(a.run, {kFile, "cross_entropy", {data.dtype, label.dtype}}, rows, &args);
  reduce::Reduce(a, reduce::kSum, losses, {1}, reduce::Finish(), false, out, a.req[0]);
}

void CrossEntropyBackwardOnDevice(KernelArgs& a, const TBlob& og, const TBlob& label, const TBlob& dx) {
  rtc::Arguments args;
  args.Add(og.dptr).Add(label.dptr).Add(dx.dptr).Add(dx.shape[1]);
  rtc::LaunchItems(a.run, {kFile, "cross_entropy_backward", {og.dtype, label.dtype, dx.dtype}}, dx.Size(), &args);
}

void RegressionBackwardOnDevice(KernelArgs& a, const TBlob& label, const TBlob& y, double scale, bool sign, const TBlob& dx) {
  rtc::Arguments args;
  args.Add(label.dptr).Add(y.dptr).Add(dx.dptr).Add(scale);
  rtc::LaunchItems(a.run, {kFile, "regression_backward", {label.dtype, y.dtype}, {sign}}, dx.Size(), &args);
}

void SvmBackwardOnDevice(KernelArgs& a, const TBlob& label, const TBlob& x, double margin, double weight, bool linear, const TBlob& dx) {
  rtc::Arguments args;
  args.Add(label.dptr).Add(x.dptr).Add(dx.dptr).Add(dx.Size() / std::max<int64_t>(1, label.Size())).Add(margin).Add(weight);
  rtc::LaunchItems(a.run, {kFile, "svm_backward", {label.dtype, x.dtype}, {linear}}, dx.Size(), &args);
}

}  // namespace nn
}  // namespace mxnet
