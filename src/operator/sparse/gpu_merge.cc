#include "operator/sparse/gpu_merge.h"

#include <algorithm>

#include "ndarray/sparse_copy.h"
#include "operator/indexing/move_units.h"
#include "operator/matrix/move.h"
#include "operator/sparse/gpu_groups.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/row_sums.h"
#include "operator/sparse/sparse_values.h"
#include "rtc/loop.h"

namespace mxnet {
namespace sparse {
namespace {

const char* const kFile = "operator/sparse/gpu_merge.cuh";

/* Row numbers one array behind the other. */
int64_t* AllRows(KernelArgs& args, const std::vector<const SparseParts*>& parts, int64_t* count) {
  *count = 0;
  for (const SparseParts* p : parts) *count += p->stored();
  int64_t *const all = NumbersOnDevice(args, *count), *to = all;
  for (const SparseParts* p : parts) {
    CopyBytes(args.run, p->index[SparseParts::kRows].memory.dptr, to, p->stored() * static_cast<int64_t>(sizeof(int64_t)));
    to += p->stored();
  }
  return all;
}

}  // namespace

void StoreUnionOnDevice(KernelArgs& args, const SparseParts& a, const SparseParts& b, SparseParts* out, TBlob values[2]) {
  int64_t count = 0;
  const int64_t* const all = AllRows(args, {&a, &b}, &count);
  const NumberGroups rows = GroupOnDevice(args, SortOnDevice(args, all, count, std::max<int64_t>(a.shape[0], 1)));
  const SparseParts* const from[2] = {&a, &b};
  for (int i = 0; i < 2; ++i) {
    TBlob whole;
    whole.shape = from[i]->shape, whole.dtype = from[i]->values.dtype, whole.ctx = from[i]->ctx;
    whole.sparse = const_cast<SparseParts*>(from[i]);
    values[i] = ValuesOf(*from[i]);
    values[i].shape[0] = rows.count;
    values[i].dptr = args.workspace(values[i].Bytes() + 1);
    GatherRowsOnDevice(args, whole, rows.ids, rows.count, values[i].dptr);
  }
  StoreRowNumbersOnDevice(args, rows.ids, rows.count, out);
}

void AddRowsOnDevice(KernelArgs& args, const std::vector<const SparseParts*>& parts, SparseParts* out) {
  if (parts.size() == 1) return CopyOnDevice(args, *parts[0], out);
  int64_t count = 0;
  const int64_t* const all = AllRows(args, parts, &count);
  const int64_t row_bytes = RowSize(*out) * static_cast<int64_t>(DTypeSize(out->values.dtype));
  char *const values = static_cast<char*>(args.workspace(static_cast<size_t>(count * row_bytes) + 1)), *to = values;
  for (const SparseParts* p : parts) {
    CopyBytes(args.run, p->values.memory.dptr, to, p->stored() * row_bytes);
    to += p->stored() * row_bytes;
  }
  SumRows(args, all, count, values, out);
}

void MergeElementsOnDevice(KernelArgs& args, const SparseParts& a, const SparseParts& b, bool both, const ElementsFn& apply,
                           SparseParts* out) {
  const int64_t rows = a.shape[0], columns = a.shape[1], count = a.stored() + b.stored();
  if (count == 0) return StoreNothing(args, out);
  int64_t *const keys = NumbersOnDevice(args, count), *to = keys;
  for (const SparseParts* p : {&a, &b}) {
    rtc::Arguments k;
    k.Add(RowsOfElementsOnDevice(args, *p)).Add(p->index[SparseParts::kColumns].memory.dptr).Add(to).Add(columns);
    rtc::LaunchItems(args.run, {kFile, "element_keys"}, p->stored(), &k);
    to += p->stored();
  }
  const SortedNumbers sorted = SortOnDevice(args, keys, count, rows * columns);
  const NumberGroups places = GroupOnDevice(args, sorted);
  const size_t item = DTypeSize(a.values.dtype), bytes = static_cast<size_t>(places.count) * item;
  const int unit = UnitDType(item);
  void *const va = args.workspace(bytes), *const vb = args.workspace(bytes);
  rtc::Arguments pair;
  pair.Add(places.begin).Add(sorted.element).Add(a.values.memory.dptr).Add(b.values.memory.dptr).Add(va).Add(vb).Add(a.stored());
  rtc::LaunchItems(args.run, {kFile, "pair_elements", {unit}}, places.count, &pair);
  apply(va, vb, va, places.count);
  const TBlob keep = MarksOnDevice(args, places.count);
  rtc::Arguments mark;
  mark.Add(places.begin).Add(va).Add(keep.dptr).Add(BitsThatMatter(a.values.dtype));
  rtc::LaunchItems(args.run, {kFile, "keep_elements", {unit}, {both}}, places.count, &mark);
  int64_t kept = 0;
  const int64_t* const before = CountMarksOnDevice(args, keep, &kept);
  ResizeOnStream(out, kept, args.run);
  rtc::Arguments pointers;
  pointers.Add(before).Add(places.ids).Add(out->index[SparseParts::kIndptr].memory.dptr).Add(columns).Add(places.count);
  rtc::LaunchItems(args.run, {kFile, "write_indptr"}, rows + 1, &pointers);
  rtc::Arguments write;
  write.Add(before).Add(places.ids).Add(va).Add(out->index[SparseParts::kColumns].memory.dptr).Add(out->values.memory.dptr).Add(columns);
  rtc::LaunchItems(args.run, {kFile, "write_elements", {unit}}, kept == 0 ? 0 : places.count, &write);
}

}  // namespace sparse
}  // namespace mxnet
