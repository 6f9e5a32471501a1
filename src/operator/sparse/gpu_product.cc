#include "operator/sparse/gpu_product.h"

#include <algorithm>

#include "mxnet/env.h"
#include "ndarray/sparse_copy.h"
#include "operator/indexing/move_units.h"
#include "operator/init/fill.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/sparse/gpu_compact.h"
#include "operator/sparse/gpu_groups.h"
#include "operator/sparse/gpu_parts.h"
#include "rtc/loop.h"

namespace mxnet {
namespace sparse {
namespace {

const char* const kFile = "operator/sparse/gpu_product.cuh";
constexpr int64_t kEach = 4;  // elements of a row that are worth a thread

/* How many columns a thread has. */
int Width(int64_t columns, int dtype, const void* p, const void* q) {
  const int width = DTypeSize(dtype) == 8 ? 2 : 4;
  const uint64_t bytes = static_cast<uint64_t>(width) * DTypeSize(dtype);
  const bool aligned = (reinterpret_cast<uintptr_t>(p) | reinterpret_cast<uintptr_t>(q)) % bytes == 0;
  return columns % width == 0 && aligned ? width : 1;
}

/* `rows` rows of the csr matrix with so many elements, `columns` of the dense one. */
struct Launching {
  int64_t lanes, group, tiles, items;
  Launching(int64_t rows, int64_t elements, int64_t columns, int width) {
    const int64_t packs = (columns + width - 1) / width;
    group = PowerOfTwo(packs, kWarp);
    tiles = (packs + group - 1) / group;
    lanes = group * PowerOfTwo(elements / std::max<int64_t>(rows, 1) / kEach, kWarp / group);
    items = rtc::WholeBlocks(rows * tiles * lanes);
  }
};

constexpr int64_t kMost = 512;  // elements that one row's threads sum, where others have fewer

rtc::Arguments ProductArguments(const Launching& l, const PointedSums& s, const int64_t* ends, int64_t most) {
  rtc::Arguments a;
  a.Add(s.pointers).Add(ends).Add(s.index).Add(s.values).Add(s.from).Add(s.places).Add(s.out);
  a.Add(s.rows).Add(s.columns).Add(l.lanes).Add(l.group).Add(most);
  rtc::AddDivisor(l.tiles, l.items >= rtc::kLargeCount, &a);
  return a;
}

void Gather(KernelArgs& args, int dtype, int out_dtype, const PointedSums& s, const int64_t* ends, int64_t most) {
  const int width = std::min(Width(s.columns, dtype, s.from, nullptr), Width(s.columns, out_dtype, s.out, nullptr));
  const Launching l(s.rows, s.elements, s.columns, width);
  rtc::Arguments a = ProductArguments(l, s, ends, most);
  rtc::LaunchItems(args.run, {kFile, "csr_gather", {dtype, out_dtype}, {width, s.places != nullptr, s.values != nullptr}}, l.items, &a);
}

/* Rows with more than kMost elements: what is picked often, such as the number that fills up short
 * sentences. At most `elements` / kMost rows are such, with twice as many pieces. */
void GatherLongRows(KernelArgs& args, int dtype, const PointedSums& s) {
  const int64_t rows = s.elements / kMost, pieces = 2 * rows;
  const int sum_dtype = !IsFloating(dtype) ? int{kInt64} : dtype == kFloat64 ? int{kFloat64} : int{kFloat32};
  int64_t* const numbers = NumbersOnDevice(args, 2 + 2 * pieces + 3 * rows);
  int64_t *const begins = numbers + 2, *const ends = begins + pieces, *const row = ends + pieces, *const first = row + rows;
  ZeroBytes(args.run, numbers, (2 + 2 * pieces) * static_cast<int64_t>(sizeof(int64_t)));  // pieces that there are not are empty
  rtc::Arguments split;
  split.Add(s.pointers).Add(s.pointers + 1).Add(numbers).Add(begins).Add(ends).Add(row).Add(first).Add(first + rows).Add(kMost);
  rtc::LaunchItems(args.run, {kFile, "split_rows"}, s.rows, &split);
  PointedSums parts = s;
  parts.rows = pieces, parts.elements = pieces * kMost, parts.pointers = begins;
  parts.out = args.workspace(static_cast<size_t>(pieces * s.columns) * DTypeSize(sum_dtype));
  Gather(args, dtype, sum_dtype, parts, ends, INT64_MAX);
  rtc::Arguments add;
  add.Add(numbers).Add(row).Add(first).Add(first + rows).Add(parts.out).Add(s.out);
  rtc::AddDivisor(s.columns, rows * s.columns >= rtc::kLargeCount, &add);
  rtc::LaunchItems(args.run, {kFile, "add_pieces", {sum_dtype, dtype}}, rows * s.columns, &add);
}

}  // namespace

void SumByPointers(KernelArgs& args, int dtype, const PointedSums& s) {
  if (s.rows == 0 || s.columns == 0) return;
  const bool splits = s.elements >= 4 * kMost;
  Gather(args, dtype, dtype, s, s.pointers + 1, splits ? kMost : INT64_MAX);
  if (splits) GatherLongRows(args, dtype, s);
}

DeviceProduct::DeviceProduct(KernelArgs& args, const SparseParts& csr, bool transposed)
    : args_(args),
      csr_(csr),
      transposed_(transposed),
      rows_(csr.shape[transposed ? 1 : 0]),
      inner_(csr.shape[transposed ? 0 : 1]),
      dtype_(csr.values.dtype) {}

Matrix DeviceProduct::Rows(const TBlob& dense, bool transposed) const {
  Matrix m;
  const int nd = dense.shape.ndim();
  const int64_t first = nd > 0 ? dense.shape[0] : 1, rest = nd > 1 ? dense.shape.Prod(1, nd) : 1;
  m.rows = transposed && nd > 1 ? rest : first, m.columns = transposed && nd > 1 ? first : rest;
  if (dense.sparse) {
    const SparseParts& parts = *dense.sparse;
    m.rows = parts.stored(), m.all = parts.stored() == parts.shape[0];
    m.stored = parts.index[SparseParts::kRows].data<int64_t>();
    m.data = parts.values.memory.dptr;
    return m;
  }
  m.data = dense.dptr;
  if (!transposed || nd < 2 || first == 1 || rest == 1) return m;
  void* const turned = args_.workspace(std::max<size_t>(dense.Bytes(), 1));
  const int axes[2] = {1, 0};
  Permute(args_.run, dense.dptr, Shape{first, rest}, axes, turned, DTypeSize(dense.dtype));
  m.data = turned;
  return m;
}

DeviceProduct::Csr DeviceProduct::Given() const {
  return {csr_.shape[0], csr_.stored(), csr_.index[SparseParts::kIndptr].data<int64_t>(), csr_.index[SparseParts::kColumns].data<int64_t>(),
          csr_.values.memory.dptr};
}

DeviceProduct::Csr DeviceProduct::Met(const Matrix& right) const {
  const Csr all = Given();
  if (right.all || all.elements == 0) return all;
  const int64_t* const partner = transposed_ ? RowsOfElementsOnDevice(args_, all.pointers, all.rows, all.elements) : all.index;
  const TBlob keep = KeepPlacesOnDevice(args_, partner, all.elements, Places(right));
  Csr met = all;
  CompactOnDevice(args_, {all.rows, all.pointers, 0, all.elements, all.index, all.values}, dtype_, keep, 0, [&](int64_t kept) {
    const CsrTarget to{NumbersOnDevice(args_, all.rows + 1), NumbersOnDevice(args_, kept),
                       args_.workspace(static_cast<size_t>(kept) * DTypeSize(dtype_) + 1)};
    met.elements = kept, met.pointers = to.pointers, met.index = to.columns, met.values = to.values;
    return to;
  });
  return met;
}

void DeviceProduct::TakeElements(const Csr& from, const int64_t* element, Csr* to) const {
  const size_t item = DTypeSize(dtype_);
  int64_t* const index = NumbersOnDevice(args_, from.elements);
  void* const values = args_.workspace(static_cast<size_t>(from.elements) * item + 1);
  rtc::Arguments a;
  a.Add(element).Add(RowsOfElementsOnDevice(args_, from.pointers, from.rows, from.elements)).Add(from.values).Add(index).Add(values);
  rtc::LaunchItems(args_.run, {kFile, "take_elements", {UnitDType(item)}}, from.elements, &a);
  to->index = index, to->values = values, to->elements = from.elements;
}

DeviceProduct::Csr DeviceProduct::UsedRows(const Csr& csr) const {
  if (transposed_) {
    const SortedNumbers sorted = SortOnDevice(args_, csr.index, csr.elements, std::max<int64_t>(rows_, 1));
    const NumberGroups groups = GroupOnDevice(args_, sorted);
    Csr used{groups.count, 0, groups.begin, nullptr, nullptr, groups.ids};
    if (groups.count > 0) TakeElements(csr, sorted.element, &used);
    return used;
  }
  Csr used = csr;
  const int64_t rows = csr.rows;
  if (rows == 0) return used;
  const TBlob has = MarksOnDevice(args_, rows);
  rtc::Arguments mark;
  mark.Add(csr.pointers).Add(has.dptr);
  rtc::LaunchItems(args_.run, {kFile, "has_elements"}, rows, &mark);
  const int64_t* const before = CountMarksOnDevice(args_, has, &used.rows);
  int64_t *const ids = NumbersOnDevice(args_, used.rows), *const pointers = NumbersOnDevice(args_, used.rows + 1);
  rtc::Arguments write;
  write.Add(csr.pointers).Add(before).Add(ids).Add(pointers);
  rtc::LaunchItems(args_.run, {kFile, "rows_with_elements"}, rows, &write);
  used.ids = ids, used.pointers = pointers;
  return used;
}

DeviceProduct::Csr DeviceProduct::Transposed() const {
  const Csr csr = Given();
  const SortedNumbers sorted = SortOnDevice(args_, csr.index, csr.elements, std::max<int64_t>(rows_, 1));
  Csr all{rows_, 0, PointersOnDevice(args_, sorted, rows_), nullptr, nullptr};
  TakeElements(csr, sorted.element, &all);
  return all;
}

const int64_t* DeviceProduct::Places(const Matrix& right) const {
  return right.all ? nullptr : PlacesOnDevice(args_, right.stored, right.rows, inner_);
}

void DeviceProduct::Gather(const Csr& csr, const Matrix& right, void* out) const {
  SumByPointers(args_, dtype_,
                {csr.rows, csr.elements, csr.pointers, csr.index, csr.values, right.data, Places(right), right.columns, out});
}

void DeviceProduct::Scatter(const Matrix& right, const TBlob& out) const {
  TBlob sums = out;
  sums.shape = Shape{rows_ * right.columns};
  sums.dtype = dtype_ == kFloat64 ? kFloat64 : kFloat32;
  if (sums.dtype != dtype_) sums.dptr = args_.workspace(std::max<size_t>(sums.Bytes(), 1));
  ZeroBytes(args_.run, sums.dptr, static_cast<int64_t>(sums.Bytes()));
  const Csr csr = Given();
  if (csr.rows > 0 && csr_.stored() > 0 && right.columns > 0) {
    const int width = Width(right.columns, dtype_, right.data, nullptr);
    const Launching l(csr.rows, csr_.stored(), right.columns, width);
    const PointedSums sums_of = {csr.rows,   csr_.stored(), csr.pointers,  csr.index, csr.values,
                                 right.data, Places(right), right.columns, sums.dptr};
    rtc::Arguments a = ProductArguments(l, sums_of, csr.pointers + 1, INT64_MAX);
    rtc::LaunchItems(args_.run, {kFile, "csr_scatter", {dtype_, sums.dtype}, {width, !right.all}}, l.items, &a);
  }
  if (sums.dtype == dtype_) return;
  TBlob narrow = sums;
  narrow.dtype = dtype_, narrow.dptr = out.dptr;
  pointwise::ExecuteCast(args_.run, sums, narrow, OpReq::kWrite);
}

void DeviceProduct::Store(const Matrix& right, const TBlob& out, bool transpose_out) const {
  const int64_t n = right.columns;
  if (rows_ == 0 || n == 0) return;
  TBlob to = out;
  const bool turns = transpose_out && n > 1 && rows_ > 1;
  if (turns) to.dptr = args_.workspace(out.Bytes());
  if (!transposed_)
    Gather(Given(), right, to.dptr);
  else if (Env::Get().enforce_determinism && csr_.stored() > 0)
    Gather(Transposed(), right, to.dptr);
  else
    Scatter(right, to);
  const int axes[2] = {1, 0};
  if (turns) Permute(args_.run, to.dptr, Shape{rows_, n}, axes, out.dptr, DTypeSize(dtype_));
}

void DeviceProduct::StoreRows(const Matrix& right, SparseParts* out) const {
  const Csr used = UsedRows(Met(right));
  StoreRowNumbersOnDevice(args_, used.ids, used.rows, out);
  Gather(used, right, out->values.memory.dptr);
}

void DeviceProduct::StoreColumns(const Matrix& right, SparseParts* out) const {
  const Csr used = UsedRows(Given());
  const int64_t columns = used.rows, rows = right.columns, count = rows * columns;
  ResizeOnStream(out, count, args_.run);
  FillRange(args_.run, NumbersBlob(out->index[SparseParts::kIndptr].data<int64_t>(), rows + 1), 0, static_cast<double>(columns), 1);
  if (count == 0) return;
  rtc::Arguments a;
  a.Add(used.ids).Add(out->index[SparseParts::kColumns].memory.dptr).Add(columns);
  rtc::LaunchItems(args_.run, {kFile, "same_columns"}, count, &a);
  void* const turned = args_.workspace(out->values.Bytes());
  Gather(used, right, turned);
  const int axes[2] = {1, 0};
  Permute(args_.run, turned, Shape{columns, rows}, axes, out->values.memory.dptr, DTypeSize(dtype_));
}

}  // namespace sparse
}  // namespace mxnet
