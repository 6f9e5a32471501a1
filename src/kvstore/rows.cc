#include "kvstore/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

#include "base/threads/omp.h"
#include "kvstore/reduce.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "operator/nodes/graph_operators.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace kvstore {
namespace {

constexpr int64_t kBytesForThread = 1 << 16;

/* Rows that are worth a thread of their own. */
int64_t RowGrain(size_t row_bytes) { return std::max<int64_t>(1, kBytesForThread / std::max<int64_t>(1, static_cast<int64_t>(row_bytes))); }

/* In an engine operation, on the CPU. Of a value that stores no row, none, as in 1.9.1. */
void CopyRows(const TBlob& from, const std::vector<int64_t>& rows, SparseParts* out) {
  const bool none = from.sparse && from.sparse->stored() == 0;
  const int64_t count = none ? 0 : static_cast<int64_t>(rows.size());
  out->Resize(count);
  if (count == 0) return;
  std::copy(rows.begin(), rows.end(), out->index[SparseParts::kRows].data<int64_t>());
  GatherRows(from, rows.data(), count, out->values.data<char>());
}

/* The rows that any has, ascending. */
std::vector<int64_t> UnionOf(const std::vector<Rows>& in, int64_t rows) {
  std::vector<int64_t> ids, more;
  for (const Rows& r : in) {
    if (r.all) {
      ids.resize(static_cast<size_t>(rows));
      std::iota(ids.begin(), ids.end(), int64_t{0});
      return ids;
    }
    more.clear();
    std::set_union(ids.begin(), ids.end(), r.ids, r.ids + r.count, std::back_inserter(more));
    ids.swap(more);
  }
  return ids;
}

/* The places of values of some rows, one after another. */
class RowCursor {
 public:
  /* The first row that is asked for. */
  RowCursor(const Rows& rows, size_t row_bytes, int64_t first) : rows_(rows), row_bytes_(row_bytes) {
    if (!rows.all) at_ = std::lower_bound(rows.ids, rows.ids + rows.count, first) - rows.ids;
  }
  /* Null where the row is not there. REQUIRES: no row below one that was asked for. */
  const char* Find(int64_t row) {
    if (rows_.all) return Value(row);
    while (at_ < rows_.count && rows_.ids[at_] < row) ++at_;
    return at_ < rows_.count && rows_.ids[at_] == row ? Value(at_) : nullptr;
  }

 private:
  const char* Value(int64_t place) const { return static_cast<const char*>(rows_.values) + static_cast<size_t>(place) * row_bytes_; }

  const Rows& rows_;
  const size_t row_bytes_;
  int64_t at_ = 0;
};

/* The sums of the rows `ids`, from number `begin` to `end`, where place(number) says. */
template <typename Place>
void SumRows(const std::vector<Rows>& in, const std::vector<int64_t>& ids, int64_t begin, int64_t end, const TBlob& row, Place place) {
  const size_t bytes = row.Bytes();
  std::vector<RowCursor> cursors;
  for (const Rows& r : in) cursors.emplace_back(r, bytes, ids[static_cast<size_t>(begin)]);
  std::vector<TBlob> found, sum(1, row);
  for (int64_t n = begin; n < end; ++n) {
    found.clear();
    for (RowCursor& cursor : cursors)
      if (const char* value = cursor.Find(ids[static_cast<size_t>(n)])) {
        found.push_back(row);
        found.back().dptr = const_cast<char*>(value);
      }
    sum[0].dptr = place(n);
    if (found.size() == 1)
      std::memcpy(sum[0].dptr, found[0].dptr, bytes);
    else
      SumArrays(found, sum);
  }
}

}  // namespace

size_t RowBytes(const Shape& shape, int dtype) { return static_cast<size_t>(shape.Prod(1, shape.ndim())) * DTypeSize(dtype); }

void GatherRows(const TBlob& from, const int64_t* ids, int64_t count, void* to) {
  if (from.sparse) from.sparse->Settle();
  sparse::GatherRows(from, ids, count, static_cast<char*>(to));
}

void AddRows(const std::vector<Rows>& in, const TBlob& out) {
  const std::vector<int64_t> ids = UnionOf(in, out.shape[0]);
  const int64_t count = static_cast<int64_t>(ids.size());
  TBlob row = out;
  row.sparse = nullptr;
  row.shape = Shape{out.shape.Prod(1, out.shape.ndim())};
  const size_t bytes = row.Bytes();
  char* to = out.data<char>();
  if (out.sparse) {
    out.sparse->Resize(count);
    std::copy(ids.begin(), ids.end(), out.sparse->index[SparseParts::kRows].data<int64_t>());
    to = out.sparse->values.data<char>();
  } else if (count < out.shape[0] && bytes > 0) {
    std::memset(to, 0, out.Bytes());
  }
  if (bytes == 0 || count == 0) return;
  ParallelFor(count, RowGrain(bytes), [&](int64_t begin, int64_t end) {
    SumRows(in, ids, begin, end, row,
            [&](int64_t n) { return to + static_cast<size_t>(out.sparse ? n : ids[static_cast<size_t>(n)]) * bytes; });
  });
}

std::vector<int64_t> UniqueRows(const TBlob& ids, int64_t rows) {
  std::vector<int64_t> unique(static_cast<size_t>(ids.Size()));
  if (IsFloating(ids.dtype)) {
    std::vector<double> numbers(unique.size());
    ConvertElements(ids.dptr, ids.dtype, numbers.data(), kFloat64, ids.Size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      MXNET_CHECK_KIND(numbers[i] >= 0 && numbers[i] < static_cast<double>(rows) && std::floor(numbers[i]) == numbers[i], Index)
          << "[kvstore] row_ids[" << i << "] is " << numbers[i] << "; accepted: whole numbers from 0 to " << rows - 1;
      unique[i] = static_cast<int64_t>(numbers[i]);
    }
  } else {
    ConvertElements(ids.dptr, ids.dtype, unique.data(), kInt64, ids.Size());
    for (size_t i = 0; i < unique.size(); ++i)
      MXNET_CHECK_KIND(unique[i] >= 0 && unique[i] < rows, Index)
          << "[kvstore] row_ids[" << i << "] is " << unique[i] << "; accepted: 0 to " << rows - 1;
  }
  if (!std::is_sorted(unique.begin(), unique.end())) std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  return unique;
}

void TakeRows(const NDArray& from, const NDArray& ids, const NDArray& out, int priority) {
  if (from.ctx().is_gpu()) {  // chosen there
    const NDArray wanted = ids.ctx() == from.ctx() ? ids : ids.Copy(from.ctx());
    const NDArray rows = NDArray::Make(out.type(), from.ctx(), true);
    Imperative::Run(graph_ops::RetainRows(), {from.Detach(), wanted.Detach()}, {OpReq::kWrite}, {rows}, false);
    return CopyFromTo(rows, out, priority);
  }
  const NDArray &source = from, wanted = ids.ctx().is_gpu() ? ids.Copy(Context::CPU()) : ids;
  const NDArray target = out.ctx().is_gpu() || out.chunk() == from.chunk() ? NDArray::Make(out.type(), Context::CPU(), true) : out;
  std::vector<Var*> reads = {source.var()};
  if (wanted.var() != source.var()) reads.push_back(wanted.var());
  Engine::Get()->PushSync(
      [source = source.Detach(), wanted = wanted.Detach(), parts = target.chunk()](RunContext) {
        parts->Allocate();
        CopyRows(source.blob(), UniqueRows(wanted.data(), source.shape()[0]), parts->sparse.get());
      },
      Context::CPU(), reads, {target.var()}, FnProperty::kCPUPrioritized, priority, "kvstore_take_rows");
  if (target.chunk() != out.chunk()) CopyFromTo(target, out, priority);
}

}  // namespace kvstore
}  // namespace mxnet
