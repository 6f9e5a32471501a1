#include <algorithm>
#include <cmath>

#include "base/dtype.h"
#include "operator/indexing/gpu_order.h"
#include "operator/nn/common/nn_common.h"
#include "operator/reduce/gpu_scan.h"
#include "operator/vision/boxes/gpu_boxes.h"
#include "operator/vision/boxes/gpu_lists.h"
#include "rtc/loop.h"

namespace mxnet {
namespace boxes {
namespace {

const char* const kFile = "operator/vision/boxes/gpu_anchors.cuh";

template <typename T>
TBlob Blob(T* data, const Shape& shape) {
  TBlob b;
  b.dptr = data;
  b.dtype = DTypeOf<T>::value;
  b.shape = shape;
  return b;
}

// The output, or memory that nobody reads.
template <typename T>
T* OutputOrMemory(KernelArgs& a, int i, int64_t n) {
  return nn::Wanted(a, i) ? a.out[i].data<T>() : DeviceMemory<T>(a, n);
}

template <typename T>
void FindTargets(KernelArgs& a, const TargetSettings& s) {
  const TBlob &anchor = a.in[0], &label = a.in[1], &pred = a.in[2];
  const int64_t batch = label.shape[0], labels = label.shape[1], width = label.shape[2], n = anchor.shape[1];
  const int dtype = anchor.dtype;
  int64_t *boxes = DeviceMemory<int64_t>(a, batch), *best = DeviceMemory<int64_t>(a, batch * labels),
          *match = DeviceMemory<int64_t>(a, batch * n), *take = DeviceMemory<int64_t>(a, batch);
  T *overlap = DeviceMemory<T>(a, batch * labels * n), *most = DeviceMemory<T>(a, batch * n), *cls = OutputOrMemory<T>(a, 2, batch * n);
  rtc::Arguments count, overlaps, pairs, write;
  count.Add(label.dptr).Add(boxes).Add(labels).Add(width);
  rtc::LaunchItems(a.run, {kFile, "target_count", {dtype}}, batch, &count);
  overlaps.Add(anchor.dptr).Add(label.dptr).Add(boxes).Add(overlap).Add(labels).Add(width).Add(n);
  rtc::LaunchItems(a.run, {kFile, "target_overlap", {dtype}}, batch * labels * n, &overlaps);
  const bool mining = s.mining_ratio > 0;
  pairs.Add(overlap).Add(boxes).Add(best).Add(match).Add(most).Add(take).Add(labels).Add(n);
  pairs.Add(s.overlap_threshold).Add(mining ? s.mining_ratio : 0.0);
  rtc::LaunchRows(a.run, {kFile, "target_match", {dtype}}, batch, &pairs);
  write.Add(anchor.dptr).Add(label.dptr).Add(boxes).Add(match);
  write.Add(OutputOrMemory<T>(a, 0, 4 * batch * n)).Add(OutputOrMemory<T>(a, 1, 4 * batch * n)).Add(cls).Add(labels).Add(width).Add(n);
  write.Add(mining ? s.ignore_label : 0.0).Add(s.ignore_label);
  for (double v : s.variances) write.Add(v);
  rtc::LaunchItems(a.run, {kFile, "target_write", {dtype}}, batch * n, &write);
  if (!mining) return;
  T* key = DeviceMemory<T>(a, batch * n);
  int64_t* position = DeviceMemory<int64_t>(a, batch * n);
  rtc::Arguments keys, chosen;
  keys.Add(pred.dptr).Add(match).Add(most).Add(key).Add(n).Add(pred.shape[1]).Add(s.mining_threshold);
  rtc::LaunchItems(a.run, {kFile, "target_keys", {dtype}}, batch * n, &keys);
  OrderEntriesOnDevice(a, Blob(key, Shape{batch, n}), batch, n, 1, n, true, nullptr, position);
  chosen.Add(key).Add(position).Add(take).Add(boxes).Add(cls).Add(n);
  rtc::LaunchItems(a.run, {kFile, "target_chosen", {dtype}}, batch * n, &chosen);
}

template <typename T>
void Detect(KernelArgs& a, const DetectionSettings& s) {
  const Shape& prob = a.in[0].shape;
  const int64_t batch = prob[0], n = prob[2], all = batch * n, take = std::min(s.topk, n);
  const int dtype = a.in[0].dtype;
  T *entry = DeviceMemory<T>(a, 6 * all), *key = DeviceMemory<T>(a, all);
  int64_t *valid = DeviceMemory<int64_t>(a, all), *rank = DeviceMemory<int64_t>(a, all), *at = DeviceMemory<int64_t>(a, all),
          *number = DeviceMemory<int64_t>(a, batch);
  rtc::Arguments find, found, write;
  for (int i = 0; i < 3; ++i) find.Add(a.in[i].dptr);
  find.Add(entry).Add(key).Add(valid).Add(n).Add(prob[1]).Add(int64_t{s.clip}).Add(s.threshold);
  for (double v : s.variances) find.Add(v);
  rtc::LaunchItems(a.run, {kFile, "detect_boxes", {dtype}}, all, &find);
  reduce::DeviceScan scan;
  scan.outer = batch, scan.length = n, scan.exclusive = true;
  reduce::ScanOnDevice(a, scan, Blob(valid, Shape{batch, n}), Blob(rank, Shape{batch, n}));
  found.Add(valid).Add(rank).Add(at).Add(number).Add(n);
  rtc::LaunchItems(a.run, {kFile, "detect_found"}, all, &found);
  DeviceKept kept{};
  if (s.suppress) {
    DeviceBoxes b;
    b.dtype = dtype, b.batch = batch, b.boxes = n, b.data = entry + 2, b.width = 6, b.key = key;
    if (!s.force) b.id = entry, b.id_width = 6;
    kept = SuppressOnDevice(a, b, take, take, std::nextafter(static_cast<T>(s.nms_threshold), T(-1)));  // at the threshold, too
  }
  write.Add(entry).Add(at).Add(number).Add(kept.position).Add(kept.kept).Add(kept.found).Add(a.out[0].dptr).Add(n).Add(take);
  rtc::LaunchItems(a.run, {kFile, "detect_write", {dtype}, {s.suppress}}, all, &write);
}

template <typename T>
void Propose(KernelArgs& a, const std::vector<float>& base, const ProposalSettings& s) {
  const Shape& prob = a.in[0].shape;
  const int64_t batch = prob[0], anchors = static_cast<int64_t>(base.size()) / 4, cells = prob[2] * prob[3], n = cells * anchors;
  const int dtype = a.in[0].dtype;
  T *box = DeviceMemory<T>(a, 4 * batch * n), *score = DeviceMemory<T>(a, batch * n), *key = DeviceMemory<T>(a, batch * n);
  for (int64_t k = 0; k < anchors; ++k) {
    rtc::Arguments propose;
    for (int i = 0; i < 3; ++i) propose.Add(a.in[i].dptr);
    propose.Add(box).Add(score).Add(key).Add(anchors).Add(k).Add(prob[2]).Add(prob[3]).Add(int64_t{s.corners});
    for (int c = 0; c < 4; ++c) propose.Add(static_cast<double>(base[4 * k + c]));
    propose.Add(static_cast<double>(s.stride)).Add(static_cast<double>(s.least));
    rtc::LaunchItems(a.run, {kFile, "propose_boxes", {dtype}}, batch * cells, &propose);
  }
  DeviceKept kept{};
  if (n > 0) {
    DeviceBoxes b;
    b.dtype = dtype, b.batch = batch, b.boxes = n, b.data = box, b.width = 4, b.key = key, b.extent = 1;
    kept = SuppressOnDevice(a, b, s.pre, std::min(s.pre, s.post), s.threshold);
  }
  rtc::Arguments write;
  write.Add(box).Add(score).Add(kept.position).Add(kept.kept).Add(kept.found);
  for (int i = 0; i < 2; ++i) write.Add(nn::Wanted(a, i) ? a.out[i].dptr : nullptr);
  write.Add(n).Add(s.pre).Add(s.post);
  rtc::LaunchItems(a.run, {kFile, "propose_write", {dtype}}, batch * s.post, &write);
}

}  // namespace

void PriorOnDevice(KernelArgs& a, const std::vector<double>& table, int64_t width, bool clip) {
  const int64_t each = static_cast<int64_t>(table.size()) / 2 - 2;
  for (int64_t k = 0; k < each; ++k) {
    rtc::Arguments prior;
    prior.Add(a.out[0].dptr).Add(width).Add(each).Add(k).Add(int64_t{clip});
    for (int64_t v : {2 * k, 2 * k + 1, 2 * each, 2 * each + 1, 2 * each + 2, 2 * each + 3}) prior.Add(table[v]);
    rtc::LaunchItems(a.run, {kFile, "prior_anchor", {a.out[0].dtype}}, a.out[0].Size() / (4 * each), &prior);
  }
}

void TargetOnDevice(KernelArgs& args, const TargetSettings& settings) {
  nn::RunReal(args, [&](KernelArgs& a, auto number) { FindTargets<decltype(number)>(a, settings); });
}

void DetectionOnDevice(KernelArgs& args, const DetectionSettings& settings) {
  nn::RunReal(args, [&](KernelArgs& a, auto number) { Detect<decltype(number)>(a, settings); });
}

void ProposeOnDevice(KernelArgs& args, const std::vector<float>& base, const ProposalSettings& settings) {
  nn::RunReal(args, [&](KernelArgs& a, auto number) { Propose<decltype(number)>(a, base, settings); });
}

}  // namespace boxes
}  // namespace mxnet
