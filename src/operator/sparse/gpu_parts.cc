#include "operator/sparse/gpu_parts.h"

#include <algorithm>

#include "ndarray/sparse_copy.h"
#include "operator/indexing/index.h"
#include "operator/indexing/move_units.h"
#include "operator/init/fill.h"
#include "operator/matrix/move.h"
#include "operator/reduce/gpu_scan.h"
#include "operator/sparse/sparse_values.h"
#include "rtc/loop.h"
#include "storage/device_memory.h"

namespace mxnet {
namespace sparse {
namespace {

const char* const kFile = "operator/sparse/gpu_parts.cuh";

}  // namespace

int64_t* NumbersOnDevice(KernelArgs& args, int64_t count) {
  return static_cast<int64_t*>(args.workspace(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(int64_t)));
}

TBlob NumbersBlob(const int64_t* numbers, int64_t count) {
  TBlob b;
  b.dptr = const_cast<int64_t*>(numbers), b.shape = Shape{count}, b.dtype = kInt64;
  return b;
}

TBlob MarksOnDevice(KernelArgs& args, int64_t count) {
  TBlob b;
  b.dptr = args.workspace(static_cast<size_t>(count) + 1), b.shape = Shape{count}, b.dtype = kUint8;
  return b;
}

const int64_t* CountMarksOnDevice(KernelArgs& args, const TBlob& marks, int64_t* marked) {
  const int64_t* const before = CountChosenOnDevice(args, marks);
  rtc::ReadBack(args.run, before + marks.Size(), marked, sizeof(*marked));
  return before;
}

int64_t SumBeforeOnDevice(KernelArgs& args, const TBlob& numbers) {
  reduce::DeviceScan scan;
  scan.length = numbers.Size();
  scan.exclusive = true;
  reduce::ScanOnDevice(args, scan, numbers, numbers);
  int64_t sum = 0;
  rtc::ReadBack(args.run, numbers.data<int64_t>() + scan.length - 1, &sum, sizeof(sum));
  return sum;
}

void CopyIndexOnDevice(KernelArgs& args, const SparseParts& from, SparseParts* to) {
  if (&from == to) return;
  ResizeOnStream(to, from.stored(), args.run);
  to->state = from.state.load();
  for (int i = 0; i < from.num_index(); ++i)
    CopyBytes(args.run, from.index[i].memory.dptr, to->index[i].memory.dptr, static_cast<int64_t>(from.index[i].Bytes()));
}

void StoreRowNumbersOnDevice(KernelArgs& args, const int64_t* numbers, int64_t count, SparseParts* out) {
  ResizeOnStream(out, count, args.run);
  CopyBytes(args.run, numbers, out->index[SparseParts::kRows].memory.dptr, count * static_cast<int64_t>(sizeof(int64_t)));
}

void CopyOnDevice(KernelArgs& args, const SparseParts& from, SparseParts* to) {
  if (&from == to) return;
  CopyIndexOnDevice(args, from, to);
  CopyBytes(args.run, from.values.memory.dptr, to->values.memory.dptr, static_cast<int64_t>(from.values.Bytes()));
}

void ShiftNumbersOnDevice(KernelArgs& args, const int64_t* from, int64_t count, int64_t by, int64_t* to) {
  rtc::Arguments a;
  a.Add(from).Add(to).Add(by);
  rtc::LaunchItems(args.run, {kFile, "shift_numbers"}, count, &a);
}

void StoreNothing(KernelArgs& args, SparseParts* parts) {
  if (!args.run.ctx.is_gpu()) return parts->Resize(0);
  ResizeOnStream(parts, 0, args.run);
  if (parts->storage != StorageType::kCSR) return;
  const SparsePart& indptr = parts->index[SparseParts::kIndptr];
  ZeroBytes(args.run, indptr.memory.dptr, static_cast<int64_t>(indptr.Bytes()));
}

bool SameNumbersOnDevice(KernelArgs& args, const SparseParts& a, const SparseParts& b) {
  auto* const differs = static_cast<int64_t*>(args.workspace(sizeof(int64_t)));
  ZeroBytes(args.run, differs, sizeof(int64_t));
  for (int i = 0; i < a.num_index(); ++i) {
    rtc::Arguments compare;
    compare.Add(a.index[i].memory.dptr).Add(b.index[i].memory.dptr).Add(differs);
    rtc::LaunchItems(args.run, {kFile, "numbers_differ"}, a.index[i].Size(), &compare);
  }
  int64_t found = 0;
  rtc::ReadBack(args.run, differs, &found, sizeof(found));
  return found == 0;
}

void GatherRowsOnDevice(KernelArgs& args, const TBlob& in, const int64_t* number, int64_t count, void* out) {
  const int64_t rows = in.shape[0], row_bytes = rows == 0 ? 0 : static_cast<int64_t>(in.Bytes()) / rows;
  if (row_bytes == 0 || count == 0) return;
  if (!in.sparse) return TakeRows(args.run, in, 1, rows, in.Size() / rows, number, count, out);
  const void* const values = in.sparse->values.memory.dptr;
  const size_t unit = UnitOf(row_bytes, values, out);
  const int64_t units = row_bytes / static_cast<int64_t>(unit), items = count * units;
  rtc::Arguments a;
  a.Add(values).Add(in.sparse->index[SparseParts::kRows].memory.dptr).Add(in.sparse->stored()).Add(number).Add(out);
  rtc::AddDivisor(units, items >= rtc::kLargeCount, &a);
  rtc::LaunchItems(args.run, {kFile, "gather_stored_rows", {UnitDType(unit)}}, items, &a);
}

const int64_t* RowsOfElementsOnDevice(KernelArgs& args, const int64_t* pointers, int64_t rows, int64_t elements) {
  int64_t* const row = NumbersOnDevice(args, elements);
  rtc::Arguments a;
  a.Add(pointers).Add(row).Add(rows);
  rtc::LaunchItems(args.run, {kFile, "rows_of_elements"}, elements, &a);
  return row;
}
const int64_t* RowsOfElementsOnDevice(KernelArgs& args, const SparseParts& csr) {
  return RowsOfElementsOnDevice(args, csr.index[SparseParts::kIndptr].data<int64_t>(), csr.shape[0], csr.stored());
}

void GatherElementsOnDevice(KernelArgs& args, const TBlob& in, const SparseParts& at, void* out) {
  const int64_t count = at.stored();
  if (count == 0) return;
  const int unit = UnitDType(DTypeSize(in.dtype));
  rtc::Arguments a;
  a.Add(RowsOfElementsOnDevice(args, at)).Add(at.index[SparseParts::kColumns].memory.dptr).Add(out);
  if (in.sparse) {
    const SparseParts& from = *in.sparse;
    a.Add(from.index[SparseParts::kIndptr].memory.dptr).Add(from.index[SparseParts::kColumns].memory.dptr).Add(from.values.memory.dptr);
    return rtc::LaunchItems(args.run, {kFile, "stored_at_elements", {unit}}, count, &a);
  }
  const int nd = in.shape.ndim();
  const int64_t columns = nd > 0 ? in.shape[nd - 1] : 1, rows = nd > 1 ? in.shape[nd - 2] : 1;
  a.Add(in.dptr).Add(rows == 1 ? 0 : columns).Add(int64_t{columns != 1});
  rtc::LaunchItems(args.run, {kFile, "dense_at_elements", {unit}}, count, &a);
}

void* MakeWholeOnDevice(KernelArgs& args, SparseParts* parts) {
  const int64_t rows = parts->shape[0], stored = parts->stored();
  if (stored == rows) return parts->values.memory.dptr;
  const int64_t row_bytes = RowSize(*parts) * static_cast<int64_t>(DTypeSize(parts->values.dtype));
  SparsePart &values = parts->values, &index = parts->index[SparseParts::kRows];
  const StorageHandle fresh = storage::AllocOnStream(static_cast<size_t>(rows * row_bytes), args.run);
  ZeroBytes(args.run, fresh.dptr, rows * row_bytes);
  SpreadRowsOnDevice(args, values.memory.dptr, index.data<int64_t>(), stored, row_bytes, fresh.dptr);
  ReplaceOnStream(&values, fresh, args.run);
  ResizeOnStream(parts, rows, args.run);  // the values have their memory already
  FillRange(args.run, NumbersBlob(index.data<int64_t>(), rows), 0, 1, 1);
  return values.memory.dptr;
}

const int64_t* PlacesOnDevice(KernelArgs& args, const int64_t* number, int64_t count, int64_t rows) {
  const size_t bytes = static_cast<size_t>(std::max<int64_t>(rows, 1)) * sizeof(int64_t);
  auto* const places = static_cast<int64_t*>(args.workspace(bytes));
  ZeroBytes(args.run, places, static_cast<int64_t>(bytes));
  rtc::Arguments a;
  a.Add(number).Add(places);
  rtc::LaunchItems(args.run, {kFile, "places_of_rows"}, count, &a);
  return places;
}

void SpreadRowsOnDevice(KernelArgs& args, const void* from, const int64_t* number, int64_t count, int64_t row_bytes, void* to) {
  if (count == 0 || row_bytes == 0) return;
  const size_t unit = UnitOf(row_bytes, from, to);
  const int64_t units = row_bytes / static_cast<int64_t>(unit), items = count * units;
  rtc::Arguments a;
  a.Add(from).Add(number).Add(to);
  rtc::AddDivisor(units, items >= rtc::kLargeCount, &a);
  rtc::LaunchItems(args.run, {kFile, "spread_rows", {UnitDType(unit)}}, items, &a);
}

}  // namespace sparse
}  // namespace mxnet
