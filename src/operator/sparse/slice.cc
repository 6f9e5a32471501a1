// Boxes of csr matrices, their gradients, and matrices one below the other.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ndarray/sparse_copy.h"
#include "operator/matrix/concat.h"
#include "operator/matrix/move.h"
#include "operator/matrix/slice_param.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_compact.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/sparse_values.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

constexpr StorageType kC = StorageType::kCSR;

/* 1.9.1 takes a step of one dimension alone for none. */
bool StepsByOne(const Attrs& attrs) {
  const auto& step = attrs.get<SliceParam>().step;
  return step.size() == 0 || (step.size() == 1 && (!step.given(0) || step.items[0].value == 1));
}

bool TakesSlice(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  return in[0] == kC && StepsByOne(attrs) && GiveStorage(&(*out)[0], kC);
}

/* First index of the box. */
int64_t First(const SliceParam& p, int dimension, int64_t length) {
  if (!p.begin.given(dimension)) return 0;
  const int64_t b = p.begin.items[static_cast<size_t>(dimension)].value;
  return std::min(std::max<int64_t>(b < 0 ? b + length : b, 0), length);
}

struct Parts {
  int64_t *indptr, *columns;
  char* values;
  explicit Parts(const SparseParts& p)
      : indptr(p.index[SparseParts::kIndptr].data<int64_t>()),
        columns(p.index[SparseParts::kColumns].data<int64_t>()),
        values(p.values.data<char>()) {}
};

/* Which elements of row r of the matrix are in the columns from `column` on. */
class InColumns {
  template <typename F>
  auto Run(int64_t r, F&& use) const {
    const int64_t *begin = from_.columns + from_.indptr[r], *end = from_.columns + from_.indptr[r + 1];
    if (!all_) begin = std::lower_bound(begin, end, low_), end = std::lower_bound(begin, end, high_);
    return use(begin - from_.columns, end - begin);
  }

 public:
  InColumns(const SparseParts& in, int64_t column, int64_t columns)
      : from_(in),
        low_(column),
        high_(column + columns),
        all_(columns == in.shape[1]),
        ordered_(in.state.load() == SparseParts::kAscending) {}

  int64_t Count(int64_t r) const {
    if (all_ || ordered_) return Run(r, [](int64_t, int64_t count) { return count; });
    int64_t count = 0;
    Visit(r, [&](int64_t, int64_t n) { count += n; });
    return count;
  }
  /* use(first, count) of elements that lie side by side. */
  template <typename F>
  void Visit(int64_t r, F&& use) const {
    if (all_ || ordered_) return Run(r, use);
    for (int64_t n = from_.indptr[r]; n < from_.indptr[r + 1]; ++n)
      if (from_.columns[n] >= low_ && from_.columns[n] < high_) use(n, int64_t{1});
  }

 private:
  const Parts from_;
  const int64_t low_, high_;
  const bool all_, ordered_;
};

void Slice(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const SparseParts& in = *args.in[0].sparse;
  SparseParts* const out = args.out[0].sparse;
  const auto& p = args.param<SliceParam>();
  const int64_t rows = out->shape[0], row = First(p, 0, in.shape[0]), column = First(p, 1, in.shape[1]);
  const size_t item = DTypeSize(in.values.dtype);
  const InColumns inside(in, column, out->shape[1]);
  int64_t count = 0;
  for (int64_t r = row; r < row + rows; ++r) count += inside.Count(r);
  out->Resize(count);
  out->state = in.state.load();
  const Parts from(in), to(*out);
  int64_t k = 0;
  to.indptr[0] = 0;
  for (int64_t r = 0; r < rows; ++r) {
    inside.Visit(row + r, [&](int64_t first, int64_t size) {
      if (size == 0) return;  // there may be no memory
      for (int64_t n = 0; n < size; ++n) to.columns[k + n] = from.columns[first + n] - column;
      std::memcpy(to.values + static_cast<size_t>(k) * item, from.values + static_cast<size_t>(first) * item,
                  static_cast<size_t>(size) * item);
      k += size;
    });
    to.indptr[r + 1] = k;
  }
}

/* On a GPU. */
void SliceOnDevice(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const SparseParts& in = *args.in[0].sparse;
  SparseParts* const out = args.out[0].sparse;
  const int64_t rows = out->shape[0], row = First(args.param<SliceParam>(), 0, in.shape[0]);
  const int64_t columns = out->shape[1], column = First(args.param<SliceParam>(), 1, in.shape[1]);
  if (rows == 0) return sparse::StoreNothing(args, out);
  const Parts from(in);
  int64_t bounds[2];
  rtc::ReadBack(args.run, from.indptr + row, &bounds[0], sizeof(int64_t));
  rtc::ReadBack(args.run, from.indptr + row + rows, &bounds[1], sizeof(int64_t));
  const int64_t count = bounds[1] - bounds[0], item = static_cast<int64_t>(DTypeSize(in.values.dtype));
  if (columns != in.shape[1]) {
    const sparse::CsrRows box{rows, from.indptr + row, bounds[0], count, from.columns, from.values};
    const TBlob keep = sparse::KeepColumnsOnDevice(args, box, column, column + columns);
    return sparse::CompactOnDevice(args, box, in.values.dtype, keep, -column, [&](int64_t kept) {
      ResizeOnStream(out, kept, args.run);
      out->state = in.state.load();
      const Parts to(*out);
      return sparse::CsrTarget{to.indptr, to.columns, to.values};
    });
  }
  ResizeOnStream(out, count, args.run);
  out->state = in.state.load();
  const Parts to(*out);
  sparse::ShiftNumbersOnDevice(args, from.indptr + row, rows + 1, -bounds[0], to.indptr);
  CopyBytes(args.run, from.columns + bounds[0], to.columns, count * static_cast<int64_t>(sizeof(int64_t)));
  CopyBytes(args.run, from.values + bounds[0] * item, to.values, count * item);
}

/* What came in, at its place in the whole. */
void SliceBackward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const SparseParts& in = *args.in[0].sparse;
  SparseParts* const out = args.out[0].sparse;
  const auto& p = args.param<SliceParam>();
  const int64_t rows = in.shape[0], row = First(p, 0, out->shape[0]), column = First(p, 1, out->shape[1]);
  out->Resize(in.stored());
  if (in.values.Bytes() > 0) std::memcpy(out->values.memory.dptr, in.values.memory.dptr, in.values.Bytes());
  out->state = in.state.load();
  const Parts from(in), to(*out);
  for (int64_t n = 0; n < in.stored(); ++n) to.columns[n] = from.columns[n] + column;
  for (int64_t r = 0; r <= out->shape[0]; ++r) to.indptr[r] = from.indptr[std::min(std::max<int64_t>(r - row, 0), rows)];
}

MXNET_REGISTER_SPARSE(slice, TakesSlice).set_kernel(DeviceType::kCPU, Slice).set_kernel(DeviceType::kGPU, SliceOnDevice);
/* On a GPU. */
void SliceBackwardOnDevice(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const SparseParts& in = *args.in[0].sparse;
  SparseParts* const out = args.out[0].sparse;
  const auto& p = args.param<SliceParam>();
  if (in.shape[0] == 0) return sparse::StoreNothing(args, out);
  ResizeOnStream(out, in.stored(), args.run);
  out->state = in.state.load();
  const Parts from(in), to(*out);
  CopyBytes(args.run, from.values, to.values, static_cast<int64_t>(in.values.Bytes()));
  sparse::ShiftNumbersOnDevice(args, from.columns, in.stored(), First(p, 1, out->shape[1]), to.columns);
  sparse::PointersAroundOnDevice(args, from.indptr, First(p, 0, out->shape[0]), in.shape[0], out->shape[0], to.indptr);
}

MXNET_REGISTER_SPARSE(_backward_slice, TakesSlice)
    .set_kernel(DeviceType::kCPU, SliceBackward)
    .set_kernel(DeviceType::kGPU, SliceBackwardOnDevice);

// ---- concat

bool TakesConcat(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  const int dim = attrs.get<ConcatParam>().dim;
  for (StorageType s : in)
    if (s != kC) return false;
  return (dim == 0 || dim == -2) && GiveStorage(&(*out)[0], kC);
}

void Concat(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  SparseParts* const out = args.out[0].sparse;
  int64_t count = 0;
  for (const TBlob& in : args.in) count += in.sparse->stored();
  out->Resize(count);
  const Parts to(*out);
  const size_t item = DTypeSize(out->values.dtype);
  int64_t n = 0, r = 0;
  to.indptr[0] = 0;
  int state = SparseParts::kAscending;
  for (const TBlob& in : args.in) {
    const Parts from(*in.sparse);
    const int64_t stored = in.sparse->stored();
    state = std::max(state, in.sparse->state.load());
    std::copy_n(from.columns, stored, to.columns + n);
    if (stored > 0) std::memcpy(to.values + static_cast<size_t>(n) * item, from.values, static_cast<size_t>(stored) * item);
    for (int64_t i = 0; i < in.shape[0]; ++i) to.indptr[++r] = n + from.indptr[i + 1];
    n += stored;
  }
  out->state = state;
}

/* On a GPU. */
void ConcatOnDevice(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  SparseParts* const out = args.out[0].sparse;
  int64_t count = 0;
  int state = SparseParts::kAscending;
  for (const TBlob& in : args.in) count += in.sparse->stored(), state = std::max(state, in.sparse->state.load());
  ResizeOnStream(out, count, args.run);
  const Parts to(*out);
  const int64_t item = static_cast<int64_t>(DTypeSize(out->values.dtype));
  ZeroBytes(args.run, to.indptr, sizeof(int64_t));
  int64_t n = 0, r = 1;
  for (const TBlob& in : args.in) {
    const Parts from(*in.sparse);
    const int64_t stored = in.sparse->stored();
    CopyBytes(args.run, from.columns, to.columns + n, stored * static_cast<int64_t>(sizeof(int64_t)));
    CopyBytes(args.run, from.values, to.values + n * item, stored * item);
    sparse::ShiftNumbersOnDevice(args, from.indptr + 1, in.shape[0], n, to.indptr + r);
    n += stored, r += in.shape[0];
  }
  out->state = state;
}

MXNET_REGISTER_SPARSE(Concat, TakesConcat).set_kernel(DeviceType::kCPU, Concat).set_kernel(DeviceType::kGPU, ConcatOnDevice);

}  // namespace
}  // namespace mxnet
