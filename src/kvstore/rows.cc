#include "kvstore/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/threads/omp.h"
#include "mxnet/engine.h"

namespace mxnet {
namespace kvstore {
namespace {

constexpr int64_t kBytesForThread = 1 << 16;

/* In an engine operation, on the CPU. */
void CopyRows(const TBlob& from, const std::vector<int64_t>& rows, SparseParts* out) {
  const int64_t count = static_cast<int64_t>(rows.size());
  out->Resize(count);
  if (count == 0) return;
  std::copy(rows.begin(), rows.end(), out->index[SparseParts::kRows].data<int64_t>());
  const size_t bytes = out->values.Bytes() / static_cast<size_t>(count);
  char* const to = out->values.data<char>();
  const int64_t grain = std::max<int64_t>(1, kBytesForThread / std::max<int64_t>(1, static_cast<int64_t>(bytes)));
  if (!from.sparse) {
    ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        std::memcpy(to + static_cast<size_t>(n) * bytes, from.data<char>() + static_cast<size_t>(rows[static_cast<size_t>(n)]) * bytes,
                    bytes);
    });
    return;
  }
  from.sparse->Settle();
  const int64_t* const index = from.sparse->index[SparseParts::kRows].data<int64_t>();
  const int64_t* const last = index + from.sparse->stored();
  const char* const values = from.sparse->values.data<char>();
  ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    const int64_t* at = index;
    for (int64_t n = begin; n < end; ++n) {
      const int64_t row = rows[static_cast<size_t>(n)];
      at = std::lower_bound(at, last, row);
      char* const target = to + static_cast<size_t>(n) * bytes;
      if (at != last && *at == row)
        std::memcpy(target, values + static_cast<size_t>(at - index) * bytes, bytes);
      else
        std::memset(target, 0, bytes);
    }
  });
}

}  // namespace

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
  // Chosen on the host; arrays of GPUs are copied.
  const auto on_host = [](const NDArray& a) { return a.ctx().is_gpu() ? a.Copy(Context::CPU()) : a; };
  const NDArray source = on_host(from), wanted = on_host(ids);
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
