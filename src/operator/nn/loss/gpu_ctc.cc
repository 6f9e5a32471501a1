#include "operator/nn/loss/gpu_ctc.h"

#include <algorithm>
#include <string>

#include "operator/indexing/index_common.h"
#include "operator/matrix/move.h"
#include "operator/nn/softmax/gpu_softmax.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kFile = "operator/nn/loss/gpu_ctc.cuh";

template <typename T>
T* Memory(KernelArgs& a, int64_t n) {
  return static_cast<T*>(a.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T)));
}

}  // namespace

void CtcOnDevice(KernelArgs& args, const CtcArrays& c, const TBlob* ograd, const TBlob& out) {
  const Shape& shape = c.data->shape;
  const int64_t steps = shape[0], batch = shape[1], classes = shape[2], width = c.label->shape[1], blank = c.blank_first ? 0 : classes - 1,
                most = 2 * width + 1;
  if (batch == 0) return;
  const int64_t *label = ReadIndices(args, *c.label), *data_lengths = c.data_lengths ? ReadIndices(args, *c.data_lengths) : nullptr,
                *label_lengths = c.label_lengths ? ReadIndices(args, *c.label_lengths) : nullptr;
  int64_t *lengths = Memory<int64_t>(args, batch), *counts = Memory<int64_t>(args, batch);
  uint64_t* finding = Memory<uint64_t>(args, 1);
  ZeroBytes(args.run, finding, sizeof(uint64_t));
  rtc::Arguments first;
  first.Add(label)
      .Add(data_lengths)
      .Add(label_lengths)
      .Add(lengths)
      .Add(counts)
      .Add(finding)
      .Add(steps)
      .Add(width)
      .Add(classes)
      .Add(blank)
      .Add(c.blank_first ? int64_t{0} : int64_t{-1});
  rtc::LaunchItems(args.run, {kFile, "ctc_labels"}, batch, &first);
  uint64_t found = 0;
  rtc::ReadBack(args.run, finding, &found, sizeof(found));
  if (found != 0) {
    const int64_t at = batch * width - static_cast<int64_t>(found);
    int64_t wrong = 0;
    rtc::ReadBack(args.run, label + at, &wrong, sizeof(wrong));
    MXNET_THROW(Value) << "[CTCLoss] label " << wrong << " of sequence " << at / width << "; accepted are the classes 0 to " << classes - 1
                       << " without the blank " << blank;
  }
  TBlob logp = *c.data;
  logp.dtype = kFloat64;
  logp.dptr = Memory<double>(args, logp.Size());
  DeviceSoftmax softmax;
  softmax.outer = steps * batch, softmax.length = classes, softmax.log = true;
  SoftmaxOnDevice(args.run, softmax, *c.data, nullptr, logp);
  double* workspace = Memory<double>(args, batch * (steps + 2) * most);
  rtc::Arguments second;
  second.Add(logp.dptr)
      .Add(label)
      .Add(lengths)
      .Add(counts)
      .Add(ograd ? ograd->dptr : nullptr)
      .Add(out.dptr)
      .Add(workspace)
      .Add(steps)
      .Add(batch)
      .Add(classes)
      .Add(width)
      .Add(most)
      .Add(blank);
  rtc::LaunchRows(args.run, {kFile, ograd ? "ctc_backward" : "ctc", {ograd ? ograd->dtype : -1, out.dtype}}, batch, &second);
}

}  // namespace nn
}  // namespace mxnet
