#include "operator/vision/boxes/gpu_boxes.h"

#include <algorithm>

#include "operator/indexing/gpu_order.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/shared/element_size.h"
#include "operator/vision/boxes/boxes.h"
#include "operator/vision/boxes/gpu_lists.h"
#include "rtc/loop.h"

namespace mxnet {
namespace boxes {
namespace {

const char* const kFile = "operator/vision/boxes/gpu_boxes.cuh";

const char* At(const TBlob& blob, int64_t element) {
  return static_cast<const char*>(blob.dptr) + element * static_cast<int64_t>(DTypeSize(blob.dtype));
}

TBlob Blob(void* data, int dtype, const Shape& shape) {
  TBlob b;
  b.dptr = data;
  b.dtype = dtype;
  b.shape = shape;
  return b;
}

}  // namespace

DeviceKept SuppressOnDevice(KernelArgs& a, const DeviceBoxes& b, int64_t take, int64_t most, double threshold) {
  const int64_t total = b.batch * take, bytes = static_cast<int64_t>(DTypeSize(b.dtype));
  int64_t* position = DeviceMemory<int64_t>(a, total);
  OrderEntriesOnDevice(a, Blob(const_cast<void*>(b.key), b.dtype, Shape{b.batch, b.boxes}), b.batch, b.boxes, 1, take, false, nullptr,
                       position);
  char *list = DeviceMemory<char>(a, 5 * total * bytes), *best = DeviceMemory<char>(a, 5 * total * bytes);
  int64_t *ids = DeviceMemory<int64_t>(a, total), *best_ids = DeviceMemory<int64_t>(a, total);
  rtc::Arguments gather;
  gather.Add(b.data).Add(b.id).Add(b.key).Add(position).Add(list).Add(total).Add(ids).Add(b.boxes).Add(take).Add(b.width).Add(b.id_width);
  gather.Add(int64_t{b.center}).Add(b.extent);
  rtc::LaunchItems(a.run, {kFile, "list_boxes", {b.dtype}}, total, &gather);
  int64_t *kept = DeviceMemory<int64_t>(a, total), *found = DeviceMemory<int64_t>(a, b.batch);
  rtc::Arguments suppress;
  suppress.Add(list).Add(total).Add(best).Add(total).Add(ids).Add(best_ids).Add(kept).Add(found).Add(take).Add(most).Add(threshold);
  suppress.Add(b.extent);
  rtc::LaunchRows(a.run, {kFile, "suppress_boxes", {b.dtype}}, b.batch, &suppress);
  return {position, kept, found};
}

void NmsOnDevice(KernelArgs& args, const NmsLayout& l, bool copy) {
  if (copy) {
    if (nn::Wanted(args, 0)) CopyBytes(args.run, args.in[0].dptr, args.out[0].dptr, static_cast<int64_t>(args.in[0].Bytes()));
    if (!nn::Wanted(args, 1)) return;
    rtc::Arguments up;
    up.Add(args.out[1].dptr).Add(l.boxes);
    return rtc::LaunchItems(args.run, {kFile, "count_up"}, args.out[1].Size(), &up);
  }
  nn::RunReal(args, [&l](KernelArgs& a, auto) {
    const TBlob& data = a.in[0];
    const int64_t n = l.batch * l.boxes;
    void* key = DeviceMemory<char>(a, n * static_cast<int64_t>(DTypeSize(data.dtype)));
    rtc::Arguments keys;
    keys.Add(data.dptr).Add(key).Add(l.width).Add(l.score).Add(l.id).Add(l.least_score).Add(l.background);
    rtc::LaunchItems(a.run, {kFile, "nms_keys", {data.dtype}}, n, &keys);
    DeviceBoxes b;
    b.dtype = data.dtype, b.batch = l.batch, b.boxes = l.boxes, b.data = At(data, l.coord), b.width = l.width, b.key = key;
    if (l.by_class) b.id = At(data, l.id), b.id_width = l.width;
    b.center = l.in_format == kCenter;
    const DeviceKept kept = SuppressOnDevice(a, b, l.take, l.take, l.threshold);
    rtc::Arguments write;
    write.Add(data.dptr).Add(kept.position).Add(kept.kept).Add(kept.found).Add(nn::Wanted(a, 0) ? a.out[0].dptr : nullptr);
    write.Add(nn::Wanted(a, 1) ? a.out[1].dptr : nullptr).Add(l.boxes).Add(l.take).Add(l.width).Add(l.coord);
    write.Add(int64_t{l.in_format == kCenter}).Add(int64_t{l.out_format == kCenter});
    rtc::LaunchItems(a.run, {kFile, "nms_write", {data.dtype}}, n, &write);
  });
}

void MoveRowsOnDevice(KernelArgs& a, bool back, int64_t boxes, int64_t width) {
  ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  rtc::Arguments args;
  args.Add(a.in[0].dptr).Add(a.in[1].dptr).Add(a.out[0].dptr).Add(boxes).Add(width);
  rtc::LaunchItems(a.run, {kFile, "move_rows", {a.out[0].dtype}, {back}}, a.out[0].Size(), &args);
}

void IouOnDevice(KernelArgs& args, int format) {
  nn::RunReal(args, [format](KernelArgs& a, auto) {
    rtc::Arguments iou;
    const int64_t n = a.out[0].Size();
    iou.Add(a.in[0].dptr).Add(a.in[1].dptr).Add(a.out[0].dptr);
    rtc::AddDivisor(a.in[1].Size() / 4, n >= rtc::kLargeCount, &iou);
    rtc::LaunchItems(a.run, {kFile, "box_iou", {a.in[0].dtype}, {format == kCenter}}, n, &iou);
  });
}

void MatchOnDevice(KernelArgs& args, const MatchSettings& s) {
  nn::RunReal(args, [&s](KernelArgs& a, auto number) {
    using T = decltype(number);
    const TBlob& data = a.in[0];
    const int64_t pairs = s.rows * s.columns;
    T* key = DeviceMemory<T>(a, s.batch * pairs);
    int64_t* position = DeviceMemory<int64_t>(a, s.batch * pairs);
    rtc::Arguments keys;
    keys.Add(data.dptr).Add(key).Add(s.threshold);
    rtc::LaunchItems(a.run, {kFile, "match_keys", {data.dtype}, {s.ascending}}, s.batch * pairs, &keys);
    OrderEntriesOnDevice(a, Blob(key, data.dtype, Shape{s.batch, pairs}), s.batch, pairs, 1, pairs, s.ascending, nullptr, position);
    T* row = nn::Wanted(a, 0) ? a.out[0].data<T>() : DeviceMemory<T>(a, s.batch * s.rows);
    T* column = nn::Wanted(a, 1) ? a.out[1].data<T>() : DeviceMemory<T>(a, s.batch * s.columns);
    int64_t most = std::min(s.rows, s.columns);
    if (s.topk > 0) most = std::min(most, s.topk + 1);
    rtc::Arguments match;
    match.Add(key).Add(position).Add(row).Add(column).Add(s.rows).Add(s.columns).Add(most);
    rtc::LaunchRows(a.run, {kFile, "match_pairs", {data.dtype}, {s.ascending}}, s.batch, &match);
  });
}

void EncodeOnDevice(KernelArgs& args) {
  nn::RunReal(args, [](KernelArgs& a, auto) {
    rtc::Arguments encode;
    for (const TBlob& in : a.in) encode.Add(in.dptr);
    for (int i = 0; i < 2; ++i) encode.Add(nn::Wanted(a, i) ? a.out[i].dptr : nullptr);
    encode.Add(a.in[0].shape[1]).Add(a.in[3].shape[1]);
    rtc::LaunchItems(a.run, {kFile, "box_encode", {a.in[0].dtype}}, a.in[0].Size(), &encode);
  });
}

void DecodeOnDevice(KernelArgs& args, const DecodeSettings& s) {
  nn::RunReal(args, [&s](KernelArgs& a, auto) {
    rtc::Arguments decode;
    decode.Add(a.in[0].dptr).Add(a.in[1].dptr).Add(a.out[0].dptr).Add(a.in[0].shape[1]);
    for (double std : s.std) decode.Add(std);
    decode.Add(s.clip);
    rtc::LaunchItems(a.run, {kFile, "box_decode", {a.in[0].dtype}, {s.format == kCorner}}, a.in[0].Size() / 4, &decode);
  });
}

}  // namespace boxes
}  // namespace mxnet
