#include <algorithm>
#include <cstring>
#include <string>

#include "mxnet/env.h"
#include "mxnet/op.h"
#include "operator/indexing/gpu_order.h"
#include "operator/indexing/index.h"
#include "operator/indexing/move_units.h"
#include "operator/init/fill.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/reduce/gpu_scan.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

const char* const kFile = "operator/indexing/gpu_index.cuh";

int64_t* Positions(KernelArgs& a, int64_t n) {
  return static_cast<int64_t*>(a.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(int64_t)));
}

// The I of a loop over so many items counts to 2^31 and more.
bool Large(int64_t items) { return items >= rtc::kLargeCount; }

// The sizes of n dimensions; kernels have one at least.
void AddSizes(const Shape& shape, int n, rtc::Arguments* args) {
  for (int d = 0; d < n; ++d) args->Add(shape[d]);
  if (n == 0) args->Add(int64_t{1});
}

// 0: all was well; else how far from the end the first bad one was.
uint64_t ReadFinding(KernelArgs& a, const uint64_t* finding) {
  uint64_t found = 0;
  rtc::ReadBack(a.run, finding, &found, sizeof(found));
  return found;
}
uint64_t* NewFinding(KernelArgs& a) {
  uint64_t* finding = static_cast<uint64_t*>(a.workspace(sizeof(uint64_t)));
  ZeroBytes(a.run, finding, sizeof(uint64_t));
  return finding;
}

}  // namespace

int64_t* ReadIndicesOnDevice(KernelArgs& a, const TBlob& indices) {
  const int64_t n = indices.Size();
  int64_t* out = Positions(a, n);
  rtc::Arguments args;
  args.Add(indices.dptr).Add(out);
  rtc::LaunchItems(a.run, {kFile, "read_indices", {indices.dtype}}, n, &args);
  return out;
}

int64_t* ReadIndicesInRangeOnDevice(KernelArgs& a, const TBlob& indices, int64_t size, IndexMode mode) {
  const int64_t n = indices.Size();
  MXNET_CHECK_KIND(size > 0 || n == 0, Index) << "[" << a.attrs->op->name << "] cannot take " << n << " entries of a dimension of size 0";
  int64_t* out = Positions(a, n);
  uint64_t* finding = (mode == IndexMode::kRaise || mode == IndexMode::kFromEnd) && n > 0 ? NewFinding(a) : nullptr;
  rtc::Arguments args;
  args.Add(indices.dptr).Add(out).Add(size).Add(finding);
  rtc::LaunchItems(a.run, {kFile, "indices_in_range", {indices.dtype}, {static_cast<int>(mode)}}, n, &args);
  if (finding) {
    const uint64_t found = ReadFinding(a, finding);
    if (found != 0) {
      const int64_t at = n - static_cast<int64_t>(found);
      int64_t index = 0;
      rtc::ReadBack(a.run, out + at, &index, sizeof(index));
      MXNET_THROW(Index) << "[" << a.attrs->op->name << "] index " << index << " at position " << at
                         << " is out of range; accepted: " << (mode == IndexMode::kFromEnd ? -size : 0) << " to " << size - 1;
    }
  }
  return out;
}

int64_t* FlatIndicesOnDevice(KernelArgs& a, const TBlob& indices, const Shape& data, int axis) {
  const int m = static_cast<int>(indices.shape[0]);
  const int64_t n = indices.shape.Prod(1, indices.shape.ndim());
  const int64_t* in = indices.dtype == kInt64 ? indices.data<int64_t>() : ReadIndicesOnDevice(a, indices);
  int64_t* flat = Positions(a, n);
  if (n == 0) return flat;
  if (m == 0) {
    ZeroBytes(a.run, flat, n * static_cast<int64_t>(sizeof(int64_t)));
    return flat;
  }
  uint64_t* finding = NewFinding(a);
  rtc::Arguments args;
  args.Add(in).Add(flat).Add(finding);
  AddSizes(data, m, &args);
  rtc::LaunchItems(a.run, {kFile, "flat_indices", {}, {m}}, n, &args);
  const uint64_t found = ReadFinding(a, finding);
  if (found != 0) {
    const int64_t at = n * m - static_cast<int64_t>(found), d = at % m;
    int64_t given = 0;
    rtc::ReadBack(a.run, in + d * n + at / m, &given, sizeof(given));
    MXNET_THROW(Index) << "[" << a.attrs->op->name << "] index " << given << " is out of bounds for axis " << axis + d << " with size "
                       << data[static_cast<int>(d)];
  }
  return flat;
}

int64_t* CountChosenOnDevice(KernelArgs& a, const TBlob& mask) {
  const int64_t n = mask.Size();
  TBlob counts;
  counts.dtype = kInt64;
  counts.shape = Shape({n + 1});
  counts.dptr = Positions(a, n + 1);
  rtc::Arguments args;
  args.Add(mask.dptr).Add(counts.dptr);
  rtc::LaunchItems(a.run, {kFile, "chosen", {mask.dtype}}, n + 1, &args);
  reduce::DeviceScan scan;
  scan.length = n + 1;
  scan.exclusive = true;
  reduce::ScanOnDevice(a, scan, counts, counts);
  return counts.data<int64_t>();
}

void PutChosenOnDevice(const RunContext& run, const TBlob& chosen, const int64_t* before, int64_t outer, int64_t size, int64_t n,
                       int64_t piece_bytes, const TBlob& out) {
  const size_t unit = UnitOf(piece_bytes, chosen.dptr, out.dptr);
  const int64_t inner = piece_bytes / static_cast<int64_t>(unit);
  rtc::Arguments args;
  args.Add(chosen.dptr).Add(out.dptr).Add(before).Add(size).Add(n).Add(inner);
  rtc::LaunchItems(run, {kFile, "put_chosen", {UnitDType(unit)}}, outer * size * inner, &args);
}

void IndexArrayOnDevice(const RunContext& run, const Shape& s, const std::vector<int>& axes, int64_t* out) {
  for (size_t k = 0; k < axes.size(); ++k) {
    rtc::Arguments args;
    args.Add(out).Add(s[axes[k]]).Add(s.Prod(axes[k] + 1, s.ndim())).Add(static_cast<int64_t>(k)).Add(static_cast<int64_t>(axes.size()));
    rtc::LaunchItems(run, {kFile, "index_array"}, s.Size(), &args);
  }
}

void RavelIndicesOnDevice(const RunContext& run, const Shape& target, const int64_t* columns, int64_t n, int64_t* flat) {
  rtc::Arguments args;
  args.Add(columns).Add(flat);
  AddSizes(target, target.ndim(), &args);
  rtc::LaunchItems(run, {kFile, "ravel_indices", {}, {std::max(target.ndim(), 1)}}, n, &args);
}

void UnravelIndicesOnDevice(const RunContext& run, const Shape& target, const int64_t* flat, int64_t n, int64_t* columns) {
  rtc::Arguments args;
  args.Add(flat).Add(columns);
  AddSizes(target, target.ndim(), &args);
  rtc::LaunchItems(run, {kFile, "unravel_indices", {}, {std::max(target.ndim(), 1)}}, n, &args);
}

void ConvertIndices(const RunContext& run, const int64_t* values, const TBlob& out, int64_t n) {
  if (!run.ctx.is_gpu()) return ConvertIndices(values, out, n);
  TBlob from = out, to = out;
  from.dptr = const_cast<int64_t*>(values);
  from.dtype = kInt64;
  from.shape = to.shape = Shape({n});
  pointwise::ExecuteCast(run, from, to, OpReq::kWrite);
}

void TakeRows(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
              void* out) {
  if (!run.ctx.is_gpu()) return TakeRows(data, outer, size, inner, index, num, out);
  const int64_t row = inner * static_cast<int64_t>(DTypeSize(data.dtype));
  const size_t unit = UnitOf(row, data.dptr, out);
  const bool pairs = unit == 8 && row % 16 == 0 && (reinterpret_cast<uintptr_t>(data.dptr) | reinterpret_cast<uintptr_t>(out)) % 16 == 0;
  inner = row / static_cast<int64_t>(pairs ? 16 : unit);
  const int64_t items = outer * num * inner;
  rtc::Arguments args;
  args.Add(data.dptr).Add(out).Add(index).Add(size);
  rtc::AddDivisor(inner, Large(items), &args);
  rtc::AddDivisor(num, Large(items), &args);
  rtc::LaunchItems(run, {kFile, "take_rows", {UnitDType(unit)}, {pairs ? 2 : 1}}, items, &args);
}

namespace {

// For each place 1 + the last row that names it, or 0.
int64_t* OwnersOnDevice(KernelArgs& a, int64_t size, const int64_t* index, int64_t num) {
  int64_t* owner = Positions(a, size);
  ZeroBytes(a.run, owner, size * static_cast<int64_t>(sizeof(int64_t)));
  rtc::Arguments claim;
  claim.Add(index).Add(owner);
  rtc::LaunchItems(a.run, {kFile, "claim_rows"}, num, &claim);
  return owner;
}

}  // namespace

void PutRows(KernelArgs& a, const void* rows, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
             const TBlob& data) {
  const int64_t row = inner * static_cast<int64_t>(DTypeSize(data.dtype));
  if (!a.run.ctx.is_gpu()) {
    const char* from = static_cast<const char*>(rows);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < num; ++i)
        std::memmove(data.data<char>() + (o * size + index[i]) * row, from + (o * num + i) * row, static_cast<size_t>(row));
    return;
  }
  if (outer * num * row == 0) return;
  const size_t unit = UnitOf(row, data.dptr, rows);
  inner = row / static_cast<int64_t>(unit);
  rtc::Arguments args;
  args.Add(rows).Add(data.dptr).Add(index).Add(OwnersOnDevice(a, size, index, num)).Add(size).Add(inner).Add(num);
  rtc::LaunchItems(a.run, {kFile, "put_rows", {UnitDType(unit)}}, outer * num * inner, &args);
}

void TakeKeptRows(KernelArgs& a, const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
                  void* out) {
  const int64_t row = inner * static_cast<int64_t>(DTypeSize(data.dtype));
  if (outer * num * row == 0) return;
  if (a.run.ctx.is_gpu()) {
    const size_t unit = UnitOf(row, data.dptr, out);
    inner = row / static_cast<int64_t>(unit);
    rtc::Arguments args;
    args.Add(data.dptr).Add(out).Add(index).Add(OwnersOnDevice(a, size, index, num)).Add(size).Add(inner).Add(num);
    return rtc::LaunchItems(a.run, {kFile, "take_kept_rows", {UnitDType(unit)}}, outer * num * inner, &args);
  }
  TakeRows(data, outer, size, inner, index, num, out);
  int64_t* last = static_cast<int64_t*>(a.workspace(static_cast<size_t>(size) * sizeof(int64_t)));  // only places in `index` are set
  for (int64_t i = 0; i < num; ++i) last[index[i]] = i;
  for (int64_t i = 0; i < num; ++i)
    for (int64_t o = 0; o < outer && last[index[i]] != i; ++o)
      std::memset(static_cast<char*>(out) + (o * num + i) * row, 0, static_cast<size_t>(row));
}

void AddRowsOnDevice(KernelArgs& a, const void* rows, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
                     const TBlob& data, bool add) {
  const int64_t total = data.Size();
  const int dtype = data.dtype;
  const bool wide = DTypeSize(dtype) == 8, sum_is_data = DTypeSize(dtype) >= 4;
  const int sum = dtype == kFloat64 || dtype == kFloat32 ? dtype : IsFloating(dtype) ? int{kFloat32} : wide ? int{kUint64} : int{kInt32};
  if (Env::Get().enforce_determinism) {
    if (!add) ZeroBytes(a.run, data.dptr, static_cast<int64_t>(data.Bytes()));
    if (outer * num * inner == 0) return;
    int64_t *sorted = Positions(a, num), *order = Positions(a, num);
    TBlob keys;
    keys.dptr = const_cast<int64_t*>(index);
    keys.dtype = kInt64;
    keys.shape = Shape({num});
    OrderEntriesOnDevice(a, keys, 1, num, 1, num, true, sorted, order, size);
    rtc::Arguments args;
    args.Add(rows).Add(data.dptr).Add(sorted).Add(size).Add(inner).Add(num).Add(order);
    return rtc::LaunchItems(a.run, {kFile, "add_rows_in_order", {dtype, dtype, sum}, {add}}, outer * num * inner, &args);
  }
  TBlob sums = data;
  sums.dtype = sum;
  if (!sum_is_data) sums.dptr = a.workspace(static_cast<size_t>(std::max<int64_t>(total, 1)) * DTypeSize(sum));
  if (!add)
    ZeroBytes(a.run, sums.dptr, static_cast<int64_t>(sums.Bytes()));
  else if (!sum_is_data)
    pointwise::ExecuteCast(a.run, data, sums, OpReq::kWrite);
  const int64_t items = outer * num * inner;
  rtc::Arguments args;
  args.Add(rows).Add(sums.dptr).Add(index).Add(size);
  rtc::AddDivisor(inner, Large(items), &args);
  rtc::AddDivisor(num, Large(items), &args);
  rtc::LaunchItems(a.run, {kFile, "add_rows", {dtype, sum}}, items, &args);
  if (!sum_is_data) pointwise::ExecuteCast(a.run, sums, data, OpReq::kWrite);
}

namespace {

// One entry of each line: `small` is (outer, k, inner), `large` (outer, size, inner).
void MoveLines(const RunContext& run, const char* name, const void* small, const void* large, int64_t outer, int64_t size, int64_t inner,
               int64_t k, const int64_t* index, int dtype) {
  rtc::Arguments args;
  args.Add(small).Add(large).Add(index).Add(size).Add(inner).Add(k);
  rtc::LaunchItems(run, {kFile, name, {UnitDType(DTypeSize(dtype))}}, outer * k * inner, &args);
}

}  // namespace

void TakeLines(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index,
               void* out) {
  if (!run.ctx.is_gpu()) return TakeLines(data, outer, size, inner, k, index, out);
  MoveLines(run, "take_lines", out, data.dptr, outer, size, inner, k, index, data.dtype);
}
void PutLines(const RunContext& run, const void* values, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index,
              const TBlob& data) {
  if (!run.ctx.is_gpu()) return PutLines(values, outer, size, inner, k, index, data);
  MoveLines(run, "put_lines", values, data.dptr, outer, size, inner, k, index, data.dtype);
}
void PickEntries(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, void* out) {
  if (!run.ctx.is_gpu()) return PickEntries(data, outer, size, inner, index, out);
  TakeLines(run, data, outer, size, inner, 1, index, out);
}
void PutEntries(const RunContext& run, const void* values, int64_t outer, int64_t size, int64_t inner, const int64_t* index,
                const TBlob& data) {
  if (!run.ctx.is_gpu()) return PutEntries(values, outer, size, inner, index, data);
  PutLines(run, values, outer, size, inner, 1, index, data);
}

void FillOneHot(KernelArgs& a, const TBlob& out, const TBlob& index, int64_t depth, double on, double off) {
  if (!a.run.ctx.is_gpu()) return FillOneHot(out, index, depth, on, off);
  if (index.Size() * depth == 0) return;
  FillValue(a.run, out, off);
  rtc::Arguments args;
  args.Add(out.dptr).Add(ReadIndices(a, index)).Add(depth).Add(on);
  rtc::LaunchItems(a.run, {kFile, "one_hot", {out.dtype}}, index.Size(), &args);
}

void Select(const RunContext& run, const TBlob& condition, const void* x, const void* y, void* out, int64_t count, int64_t piece_bytes) {
  if (!run.ctx.is_gpu()) return Select(condition, x, y, out, count, piece_bytes);
  if (piece_bytes == 0) return;
  const size_t unit = UnitOf(piece_bytes, x, y, out);
  const int64_t inner = piece_bytes / static_cast<int64_t>(unit);
  rtc::Arguments args;
  args.Add(condition.dptr).Add(x).Add(y).Add(out).Add(inner);
  rtc::LaunchItems(run, {kFile, "select_where", {condition.dtype, UnitDType(unit)}}, count * inner, &args);
}

}  // namespace mxnet
