#include "operator/sparse/row_sums.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/copy_run.h"
#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/sparse/gpu_groups.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/gpu_product.h"
#include "operator/sparse/radix_sort.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace sparse {
namespace {

/* A row's number and, below it, its place among n: sorting these keeps rows of one number in
 * order. */
struct Packed {
  int place_bits;
  uint64_t Of(int64_t number, int64_t place) const { return static_cast<uint64_t>(number) << place_bits | static_cast<uint64_t>(place); }
  int64_t Number(uint64_t key) const { return static_cast<int64_t>(key >> place_bits); }
  int64_t Place(uint64_t key) const { return static_cast<int64_t>(key & ((uint64_t{1} << place_bits) - 1)); }
};

/* Rows are read in any order: how many are asked for ahead, and no more of each than this. */
constexpr int64_t kAhead = 12, kMostBytes = 1024;

void Prefetch(const void* row, int64_t bytes) {
  for (int64_t b = 0; b < std::min(bytes, kMostBytes); b += 64) __builtin_prefetch(static_cast<const char*>(row) + b, 0, 2);
}

/* The places of one number: to = their sum. */
template <typename T>
void SumOf(const T* from, const uint64_t* keys, int64_t count, const Packed& packed, int64_t size, T* to) {
  const T* first = from + packed.Place(keys[0]) * size;
  if (count == 1) return CopyRun(to, first, static_cast<size_t>(size) * sizeof(T));
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    std::vector<float> sum(static_cast<size_t>(size));
    for (int64_t k = 0; k < count; ++k) {
      const T* row = from + packed.Place(keys[k]) * size;
      for (int64_t j = 0; j < size; ++j) sum[static_cast<size_t>(j)] += static_cast<float>(row[j]);
    }
    for (int64_t j = 0; j < size; ++j) to[j] = T(sum[static_cast<size_t>(j)]);
  } else {
    std::memcpy(to, first, static_cast<size_t>(size) * sizeof(T));
    for (int64_t k = 1; k < count; ++k) {
      const T* row = from + packed.Place(keys[k]) * size;
      for (int64_t j = 0; j < size; ++j) to[j] = static_cast<T>(to[j] + row[j]);
    }
  }
}

}  // namespace

int64_t FindRow(const SparseParts& parts, int64_t number, bool whole) {
  if (whole) return number;
  const int64_t* begin = parts.index[SparseParts::kRows].data<int64_t>();
  const int64_t* end = begin + parts.stored();
  const int64_t* at = std::lower_bound(begin, end, number);
  return at != end && *at == number ? at - begin : -1;
}

namespace {

void SumRowsOnDevice(KernelArgs& args, const int64_t* number, int64_t n, const void* from, SparseParts* out) {
  const SortedNumbers sorted = SortOnDevice(args, number, n, std::max<int64_t>(out->shape[0], 1));
  const NumberGroups groups = GroupOnDevice(args, sorted);
  StoreRowNumbersOnDevice(args, groups.ids, groups.count, out);
  SumByPointers(args, out->values.dtype,
                {groups.count, n, groups.begin, sorted.element, nullptr, from, nullptr, RowSize(*out), out->values.memory.dptr});
}

}  // namespace

void SumRows(KernelArgs& args, const int64_t* number, int64_t n, const void* from, SparseParts* out) {
  if (args.run.ctx.is_gpu()) return SumRowsOnDevice(args, number, n, from, out);
  if (n == 0) return out->Resize(0);
  const int row_bits = BitsOf(out->shape[0]);
  const Packed packed{BitsOf(n)};
  MXNET_CHECK_KIND(row_bits + packed.place_bits <= 64, Value)
      << "[" << args.attrs->op->name << "] " << n << " rows of " << out->shape[0] << " are more than can be sorted at once";
  auto* keys = static_cast<uint64_t*>(args.workspace(static_cast<size_t>(2 * n) * sizeof(uint64_t)));
  for (int64_t i = 0; i < n; ++i) keys[i] = packed.Of(number[i], i);
  constexpr int64_t kFew = 64;  // below, counting takes longer than comparing
  if (n < kFew)
    std::sort(keys, keys + n);
  else
    keys = RadixSort(keys, keys + n, n, packed.place_bits, row_bits);
  auto* begin = static_cast<int64_t*>(args.workspace(static_cast<size_t>(n + 1) * sizeof(int64_t)));
  int64_t rows = 0;
  for (int64_t i = 0; i < n; ++i)
    if (i == 0 || packed.Number(keys[i]) != packed.Number(keys[i - 1])) begin[rows++] = i;
  begin[rows] = n;
  out->Resize(rows);
  int64_t* const index = out->index[SparseParts::kRows].data<int64_t>();
  const int64_t size = out->values.Size() / rows;
  VisitDType(out->values.dtype, "sum of rows", [&](auto tag) {
    using T = decltype(tag);
    T* const values = out->values.data<T>();
    const int64_t each = std::max<int64_t>(1, size * (n / rows));
    ParallelFor(rows, Grain(each), [&](int64_t b, int64_t e) {
      int64_t asked = begin[b];
      for (int64_t r = b; r < e; ++r) {
        for (const int64_t stop = std::min(begin[r + 1] + kAhead, begin[e]); asked < stop; ++asked)
          Prefetch(static_cast<const T*>(from) + packed.Place(keys[asked]) * size, size * static_cast<int64_t>(sizeof(T)));
        index[r] = packed.Number(keys[begin[r]]);
        SumOf(static_cast<const T*>(from), keys + begin[r], begin[r + 1] - begin[r], packed, size, values + r * size);
      }
    });
  });
}

}  // namespace sparse
}  // namespace mxnet
