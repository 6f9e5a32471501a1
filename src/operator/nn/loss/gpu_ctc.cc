#include "operator/nn/loss/gpu_ctc.h"

#include <algorithm>
#include <string>

#include "operator/indexing/index_common.h"
#include "operator/matrix/gpu_move.h"
#include "operator/nn/softmax/gpu_softmax.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

using rtc::LoopText;

template <typename T>
T* Memory(KernelArgs& a, int64_t n) {
  return static_cast<T*>(a.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T)));
}

// As ctc_loss.cc: the variables of state s at each step in logarithms, in rows of a.most states.
const char* const kFunctions = R"TEXT(
__device__ __forceinline__ double Nothing() { return -static_cast<double>(__int_as_float(0x7f800000)); }
__device__ __forceinline__ double LogAdd(double p, double q) {
  const double high = p < q ? q : p, low = p < q ? p : q;
  return low == Nothing() ? high : high + ::log1p(::exp(low - high));
}
)TEXT";

const char* const kBody = R"TEXT(
    __shared__ double shared[256];
    (void)shared;
    const long long steps = a.lengths[row], labels = a.counts[row], states = 2 * labels + 1, stride = a.batch * a.classes;
    const long long* label = a.label + row * a.width;
    const double* logp = a.logp + row * a.classes;
    double* alpha = a.workspace + row * (a.steps + 2) * a.most;
    double total = Nothing();
    if (steps > 0) {
      for (long long t = 0; t < steps; ++t) {
        const double* before = alpha + (t - 1) * a.most;
        for (long long s = threadIdx.x; s < states; s += 256) {
          const long long symbol = s % 2 ? label[s / 2] : a.blank;
          double v = Nothing();
          if (t == 0) {
            if (s < 2) v = 0;
          } else {
            v = before[s];
            if (s >= 1) v = LogAdd(v, before[s - 1]);
            if (s % 2 && s >= 3 && label[s / 2] != label[s / 2 - 1]) v = LogAdd(v, before[s - 2]);
          }
          alpha[t * a.most + s] = v + logp[t * stride + symbol];
        }
        __syncthreads();
      }
      const double* end = alpha + (steps - 1) * a.most;
      total = states > 1 ? LogAdd(end[states - 1], end[states - 2]) : end[0];
    }
)TEXT";

const char* const kLoss = R"TEXT(
    if (threadIdx.x == 0) mx::Store(a.out, row, total == Nothing() ? 0.0 : -total);
)TEXT";

const char* const kGradient = R"TEXT(
    const double scale = mx::Load<double>(a.ograd, row);
    for (long long t = total == Nothing() ? 0 : steps; t < a.steps; ++t)
      for (long long k = threadIdx.x; k < a.classes; k += 256) mx::Store(a.out, (t * a.batch + row) * a.classes + k, 0.0);
    if (total != Nothing()) {
      double* beta = alpha + a.steps * a.most;
      double* next = beta + a.most;
      for (long long t = steps - 1; t >= 0; --t) {   // beta excludes the step's own probability
        const double* p = logp + (t + 1) * stride;
        for (long long s = threadIdx.x; s < states; s += 256) {
          double v = s + 2 >= states ? 0.0 : Nothing();
          if (t < steps - 1) {
            v = beta[s] + p[s % 2 ? label[s / 2] : a.blank];
            if (s + 1 < states) v = LogAdd(v, beta[s + 1] + p[(s + 1) % 2 ? label[(s + 1) / 2] : a.blank]);
            if (s % 2 && s + 2 < states && label[s / 2 + 1] != label[s / 2]) v = LogAdd(v, beta[s + 2] + p[label[s / 2 + 1]]);
          }
          next[s] = v;
        }
        __syncthreads();
        double* const kept = beta;
        beta = next;
        next = kept;
        const double* here = alpha + t * a.most;
        const long long to = (t * a.batch + row) * a.classes;
        double blank = 0;
        for (long long s = 2 * static_cast<long long>(threadIdx.x); s < states; s += 512) blank += ::exp(here[s] + beta[s] - total);
        blank = mx::BlockSum(blank, shared);
        for (long long k = threadIdx.x; k < a.classes; k += 256) mx::Store(a.out, to + k, scale * (::exp(logp[t * stride + k]) - (k == a.blank ? blank : 0.0)));
        __syncthreads();
        for (long long j = threadIdx.x; j < labels; j += 256) {   // the first of equal labels speaks for all
          bool first = true;
          for (long long m = 0; first && m < j; ++m) first = label[m] != label[j];
          if (!first) continue;
          double occupied = 0;
          for (long long m = j; m < labels; ++m)
            if (label[m] == label[j]) occupied += ::exp(here[2 * m + 1] + beta[2 * m + 1] - total);
          mx::Store(a.out, to + label[j], scale * (::exp(logp[t * stride + label[j]]) - occupied));
        }
        __syncthreads();
      }
    }
)TEXT";

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
  rtc::LaunchItems(args.run, {"ctc_labels", {}}, batch, &first, [] {
    return LoopText{
        "const long long* label; const long long* data_lengths; const long long* label_lengths; long long* lengths; long long* counts; "
        "unsigned long long* finding; "
        "long long steps, width, classes, blank, padding;",
        "",
        "    long long steps = a.data_lengths ? a.data_lengths[i] : a.steps, n = 0;\n    a.lengths[i] = steps < 0 ? 0 : steps > a.steps ? "
        "a.steps : steps;\n"
        "    for (; n < a.width; ++n) {\n      const long long at = static_cast<long long>(i) * a.width + n, l = a.label[at];\n"
        "      if (a.label_lengths ? n >= a.label_lengths[i] : l == a.padding) break;\n"
        "      if (l < 0 || l >= a.classes || l == a.blank) {\n        atomicMax(a.finding, static_cast<unsigned long long>(a.count * "
        "a.width - at));\n        break;\n      }\n    }\n    a.counts[i] = n;\n"};
  });
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
  rtc::LaunchRows(args.run, {ograd ? "ctc_backward" : "ctc", {ograd ? ograd->dtype : -1, out.dtype}}, batch, &second, [&] {
    return LoopText{
        "const double* logp; const long long* label; const long long* lengths; const long long* counts; const D0* ograd; D1* out; double* "
        "workspace; "
        "long long steps, batch, classes, width, most, blank;",
        kFunctions, std::string(kBody) + (ograd ? kGradient : kLoss)};
  });
}

}  // namespace nn
}  // namespace mxnet
