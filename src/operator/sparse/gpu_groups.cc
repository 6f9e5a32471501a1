#include "operator/sparse/gpu_groups.h"

#include "operator/indexing/gpu_order.h"
#include "operator/sparse/gpu_parts.h"
#include "rtc/loop.h"

namespace mxnet {
namespace sparse {
namespace {

const char* const kFile = "operator/sparse/gpu_groups.cuh";

}  // namespace

SortedNumbers SortOnDevice(KernelArgs& args, const int64_t* number, int64_t count, int64_t bound) {
  int64_t *const sorted = NumbersOnDevice(args, count), *const element = NumbersOnDevice(args, count);
  OrderEntriesOnDevice(args, NumbersBlob(number, count), 1, count, 1, count, true, sorted, element, bound);
  return {count, sorted, element};
}

const int64_t* PointersOnDevice(KernelArgs& args, const SortedNumbers& numbers, int64_t bound) {
  int64_t* const pointers = NumbersOnDevice(args, bound + 1);
  rtc::Arguments a;
  a.Add(numbers.sorted).Add(pointers).Add(numbers.count);
  rtc::LaunchItems(args.run, {kFile, "pointers_of_sorted"}, bound + 1, &a);
  return pointers;
}

NumberGroups GroupOnDevice(KernelArgs& args, const SortedNumbers& numbers) {
  const int64_t n = numbers.count;
  if (n == 0) return {};
  const TBlob begins = MarksOnDevice(args, n);
  rtc::Arguments mark;
  mark.Add(numbers.sorted).Add(begins.dptr);
  rtc::LaunchItems(args.run, {kFile, "group_begins"}, n, &mark);
  NumberGroups groups;
  const int64_t* const before = CountMarksOnDevice(args, begins, &groups.count);
  int64_t *const ids = NumbersOnDevice(args, groups.count), *const begin = NumbersOnDevice(args, groups.count + 1);
  rtc::Arguments write;
  write.Add(numbers.sorted).Add(before).Add(ids).Add(begin);
  rtc::LaunchItems(args.run, {kFile, "write_groups"}, n, &write);
  groups.ids = ids, groups.begin = begin;
  return groups;
}

}  // namespace sparse
}  // namespace mxnet
