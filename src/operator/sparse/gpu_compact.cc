#include "operator/sparse/gpu_compact.h"

#include "operator/indexing/move_units.h"
#include "operator/sparse/gpu_parts.h"
#include "rtc/loop.h"

namespace mxnet {
namespace sparse {
namespace {

const char* const kFile = "operator/sparse/gpu_compact.cuh";

}  // namespace

TBlob KeepColumnsOnDevice(KernelArgs& args, const CsrRows& from, int64_t low, int64_t high) {
  const TBlob keep = MarksOnDevice(args, from.count);
  rtc::Arguments a;
  a.Add(from.columns + from.first).Add(keep.dptr).Add(low).Add(high);
  rtc::LaunchItems(args.run, {kFile, "keep_columns"}, from.count, &a);
  return keep;
}

TBlob KeepPlacesOnDevice(KernelArgs& args, const int64_t* number, int64_t count, const int64_t* places) {
  const TBlob keep = MarksOnDevice(args, count);
  rtc::Arguments a;
  a.Add(number).Add(places).Add(keep.dptr);
  rtc::LaunchItems(args.run, {kFile, "keep_places"}, count, &a);
  return keep;
}

void CompactOnDevice(KernelArgs& args, const CsrRows& from, int dtype, const TBlob& keep, int64_t shift,
                     const std::function<CsrTarget(int64_t count)>& target) {
  int64_t kept = 0;
  const int64_t* const before = CountMarksOnDevice(args, keep, &kept);
  const CsrTarget to = target(kept);
  rtc::Arguments pointers;
  pointers.Add(before).Add(from.pointers).Add(to.pointers).Add(from.first);
  rtc::LaunchItems(args.run, {kFile, "kept_pointers"}, from.rows + 1, &pointers);
  if (kept == 0) return;
  const size_t item = DTypeSize(dtype);
  rtc::Arguments write;
  write.Add(before).Add(from.columns + from.first).Add(static_cast<const char*>(from.values) + static_cast<size_t>(from.first) * item);
  write.Add(to.columns).Add(to.values).Add(shift);
  rtc::LaunchItems(args.run, {kFile, "write_kept", {UnitDType(item)}}, from.count, &write);
}

void PointersAroundOnDevice(KernelArgs& args, const int64_t* pointers, int64_t first, int64_t rows, int64_t all, int64_t* to) {
  rtc::Arguments a;
  a.Add(pointers).Add(to).Add(first).Add(rows);
  rtc::LaunchItems(args.run, {kFile, "pointers_around"}, all + 1, &a);
}

}  // namespace sparse
}  // namespace mxnet
