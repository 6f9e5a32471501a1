#include "operator/sparse/gpu_cast.h"

#include <algorithm>

#include "ndarray/sparse_copy.h"
#include "operator/indexing/index.h"
#include "operator/indexing/move_units.h"
#include "operator/matrix/move.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/sparse_values.h"
#include "rtc/loop.h"

namespace mxnet {
namespace sparse {
namespace {

const char* const kFile = "operator/sparse/gpu_cast.cuh";

struct DenseRows {
  int64_t rows, columns, lanes, items;
  size_t unit;
  explicit DenseRows(const TBlob& in) {
    rows = in.shape[0], columns = rows == 0 ? 0 : in.Size() / rows;
    lanes = PowerOfTwo(columns, kWarp);
    items = rtc::WholeBlocks((rows + 1) * lanes);
    unit = DTypeSize(in.dtype);
  }
  rtc::Arguments Start(const TBlob& in) const {
    rtc::Arguments a;
    a.Add(in.dptr).Add(rows).Add(columns).Add(lanes).Add(BitsThatMatter(in.dtype));
    return a;
  }
};

/* Of each row, and 0 behind the last. */
int64_t* CountNonZero(KernelArgs& args, const TBlob& in, const DenseRows& d) {
  int64_t* const counts = NumbersOnDevice(args, d.rows + 1);
  rtc::Arguments a = d.Start(in);
  a.Add(counts);
  rtc::LaunchItems(args.run, {kFile, "count_nonzero", {UnitDType(d.unit)}}, d.items, &a);
  return counts;
}

/* For each row how many before it are not 0 altogether, and behind the last one their number. */
const int64_t* CountUsedRows(KernelArgs& args, const TBlob& in, const DenseRows& d, int64_t* count) {
  const TBlob has = MarksOnDevice(args, d.rows);
  rtc::Arguments mark;
  mark.Add(CountNonZero(args, in, d)).Add(has.dptr);
  rtc::LaunchItems(args.run, {kFile, "mark_counts"}, d.rows, &mark);
  return CountMarksOnDevice(args, has, count);
}

void WriteUsedRows(KernelArgs& args, const int64_t* before, int64_t rows, int64_t* ids) {
  rtc::Arguments write;
  write.Add(before).Add(ids);
  rtc::LaunchItems(args.run, {kFile, "write_chosen"}, rows, &write);
}

void DenseToRows(KernelArgs& args, const TBlob& in, SparseParts* out) {
  const DenseRows d(in);
  if (in.Size() == 0) return ResizeOnStream(out, 0, args.run);
  int64_t count = 0;
  const int64_t* const before = CountUsedRows(args, in, d, &count);
  ResizeOnStream(out, count, args.run);
  int64_t* const ids = out->index[SparseParts::kRows].data<int64_t>();
  if (count == 0) return;
  WriteUsedRows(args, before, d.rows, ids);
  TakeRows(args.run, in, 1, d.rows, d.columns, ids, count, out->values.memory.dptr);
}

void DenseToCSR(KernelArgs& args, const TBlob& in, SparseParts* out) {
  const DenseRows d(in);
  const TBlob counts = NumbersBlob(CountNonZero(args, in, d), d.rows + 1);
  const int64_t count = SumBeforeOnDevice(args, counts);
  ResizeOnStream(out, count, args.run);
  int64_t* const indptr = out->index[SparseParts::kIndptr].data<int64_t>();
  CopyBytes(args.run, counts.dptr, indptr, static_cast<int64_t>(counts.Bytes()));
  if (count == 0) return;
  rtc::Arguments a = d.Start(in);
  a.Add(indptr).Add(out->index[SparseParts::kColumns].memory.dptr).Add(out->values.memory.dptr);
  rtc::LaunchItems(args.run, {kFile, "write_nonzero", {UnitDType(d.unit)}}, d.items, &a);
}

}  // namespace

void ToDenseOnDevice(KernelArgs& args, const SparseParts& in, const TBlob& out) {
  if (out.Size() == 0) return;
  ZeroBytes(args.run, out.dptr, static_cast<int64_t>(out.Bytes()));
  if (in.storage == StorageType::kCSR) return AddStoredOnDevice(args, in, out, false);
  const int64_t row_bytes = RowSize(in) * static_cast<int64_t>(DTypeSize(in.values.dtype));
  SpreadRowsOnDevice(args, in.values.memory.dptr, in.index[SparseParts::kRows].data<int64_t>(), in.stored(), row_bytes, out.dptr);
}

void FromDenseOnDevice(KernelArgs& args, const TBlob& in, SparseParts* out) {
  out->storage == StorageType::kCSR ? DenseToCSR(args, in, out) : DenseToRows(args, in, out);
}

void DropZeroRowsOnDevice(KernelArgs& args, SparseParts* parts) {
  const TBlob values = ValuesOf(*parts);
  const DenseRows d(values);
  if (values.Size() == 0) return ResizeOnStream(parts, 0, args.run);
  int64_t count = 0;
  const int64_t* const before = CountUsedRows(args, values, d, &count);
  if (count == d.rows) return;
  if (count > 0) {  // copies first: rows move within their memory
    int64_t *const places = NumbersOnDevice(args, count), *const ids = NumbersOnDevice(args, count);
    const SparsePart& index = parts->index[SparseParts::kRows];
    const size_t bytes = values.Bytes() / static_cast<size_t>(d.rows) * static_cast<size_t>(count);
    void* const kept = args.workspace(bytes);
    WriteUsedRows(args, before, d.rows, places);
    TakeRows(args.run, values, 1, d.rows, d.columns, places, count, kept);
    TakeRows(args.run, NumbersBlob(index.data<int64_t>(), d.rows), 1, d.rows, 1, places, count, ids);
    CopyBytes(args.run, kept, values.dptr, static_cast<int64_t>(bytes));
    CopyBytes(args.run, ids, index.memory.dptr, count * static_cast<int64_t>(sizeof(int64_t)));
  }
  ResizeOnStream(parts, count, args.run);
}

void AddStoredOnDevice(KernelArgs& args, const SparseParts& parts, const TBlob& out, bool minus) {
  const int64_t stored = parts.stored(), rows = parts.shape[0];
  if (parts.values.Size() == 0) return;
  rtc::Arguments a;
  if (parts.storage == StorageType::kRowSparse) {
    const int64_t size = RowSize(parts), items = stored * size;
    a.Add(parts.index[SparseParts::kRows].memory.dptr).Add(parts.values.memory.dptr).Add(out.dptr);
    rtc::AddDivisor(size, items >= rtc::kLargeCount, &a);
    return rtc::LaunchItems(args.run, {kFile, "add_rows_of_sparse", {out.dtype}, {minus}}, items, &a);
  }
  const int64_t lanes = parts.state == SparseParts::kAscending ? PowerOfTwo(stored / rows, kWarp) : 1;
  a.Add(parts.index[SparseParts::kIndptr].memory.dptr).Add(parts.index[SparseParts::kColumns].memory.dptr);
  a.Add(parts.values.memory.dptr).Add(out.dptr).Add(parts.shape[1]).Add(lanes);
  rtc::LaunchItems(args.run, {kFile, "add_csr", {out.dtype}, {minus}}, rows * lanes, &a);
}

}  // namespace sparse
}  // namespace mxnet
