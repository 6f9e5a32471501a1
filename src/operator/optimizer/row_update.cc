#include "operator/optimizer/row_update.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/copy_run.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "ndarray/sparse_copy.h"
#include "operator/record/sparse_form.h"

namespace mxnet {
namespace {

constexpr int kMostStates = 3;
constexpr int64_t kBlock = 2048;     // elements that are gathered at once
constexpr int64_t kNarrow = 16;      // rows of fewer elements are gathered: a call for each takes longer
constexpr int64_t kGrain = 1 << 13;  // elements that are worth a thread

bool Takes(const RowUpdate& how, const StorageTypes& in, StorageTypes* out) {
  const StorageType weight = in[0], states = how.states ? in[2] : weight;
  for (int k = 1; k < how.states; ++k)
    if (in[static_cast<size_t>(2 + k)] != states) return false;
  if (!GiveStorage(&(*out)[0], weight) || weight == StorageType::kCSR || states == StorageType::kCSR) return false;
  if (in[1] == StorageType::kDense) return weight == StorageType::kDense && states == StorageType::kDense;  // the dense kernel
  if (in[1] != StorageType::kRowSparse) return false;
  if (weight == StorageType::kRowSparse) return states == StorageType::kRowSparse || how.takes == RowUpdateStates::kEither;
  return states == StorageType::kDense && how.takes != RowUpdateStates::kSparse;
}

/* Stores every row, those that were not with zeros. Returns the values. */
char* MakeWhole(SparseParts* parts) {
  const int64_t rows = parts->shape[0], stored = parts->stored();
  if (stored == rows) return parts->values.data<char>();
  parts->Grow(rows, stored);
  const size_t bytes = parts->values.Bytes() / static_cast<size_t>(rows);
  char* const values = parts->values.data<char>();
  int64_t* const index = parts->index[SparseParts::kRows].data<int64_t>();
  int64_t end = rows;  // rows from here on are in place
  for (int64_t n = stored; n-- > 0;) {
    const int64_t row = index[n];
    std::memset(values + static_cast<size_t>(row + 1) * bytes, 0, static_cast<size_t>(end - row - 1) * bytes);
    if (row != n) std::memcpy(values + static_cast<size_t>(row) * bytes, values + static_cast<size_t>(n) * bytes, bytes);
    end = row;
  }
  std::memset(values, 0, static_cast<size_t>(end) * bytes);
  for (int64_t r = 0; r < rows; ++r) index[r] = r;
  return values;
}

char* AllRows(const TBlob& array) { return array.sparse ? MakeWhole(array.sparse) : array.data<char>(); }

/* One call: whole arrays, of which rows are updated. */
struct Rows {
  UpdateArgs u{};
  bool grouped = false;
  int states = 0;
  int64_t rows = 0, size = 0;  // of the weight; elements of a row
  size_t item = 0;
  size_t weight_bytes = 0, state_bytes = 0;  // of a row
  char* weight = nullptr;
  char* state[kMostStates] = {};
  const char* grad = nullptr;       // rows that there are
  const int64_t* number = nullptr;  // of those
  int64_t count = 0;

  void Apply(const UpdateArgs& a, int64_t n) const {
    if (grouped)
      MXNET_CPU_CALL(GroupAdaGradRows)(a, size, 0, n);
    else
      MXNET_CPU_CALL(UpdateRange)(a, 0, n * size);
  }
  /* Rows [row, row + n) by the gradient at `from`. `a`: a copy of u, whose pointers are set. */
  void Run(UpdateArgs* a, int64_t row, int64_t n, const char* from) const {
    a->weight = a->out = weight + static_cast<size_t>(row) * weight_bytes;
    for (int k = 0; k < states; ++k) a->state[k] = state[k] + static_cast<size_t>(row) * state_bytes;
    a->grad = from;
    Apply(*a, n);
  }
  // Into the level-2 cache: more lines can be on their way there than to the first. Inline: to GCC
  // a function that only prefetches has no effect, and calls of it go.
  inline __attribute__((always_inline)) void Prefetch(int64_t row) const {
    for (size_t b = 0; b < std::min<size_t>(weight_bytes, 1024); b += 64) {
      __builtin_prefetch(weight + static_cast<size_t>(row) * weight_bytes + b, 0, 2);
      if (grouped) continue;
      for (int k = 0; k < states; ++k) __builtin_prefetch(state[k] + static_cast<size_t>(row) * state_bytes + b, 0, 2);
    }
    for (int k = 0; grouped && k < states; ++k) __builtin_prefetch(state[k] + static_cast<size_t>(row) * state_bytes, 0, 2);
  }
};

/* Narrow rows that are not side by side, through buffers. */
void RunGathered(const Rows& r, int64_t begin, int64_t end) {
  alignas(64) char buffer[1 + kMostStates][kBlock * sizeof(double)];
  const int64_t most = kBlock / r.size;
  constexpr int64_t kAhead = 16;
  const auto each = [&](int64_t i, int64_t n, auto&& move) {
    for (int s = -1; s < r.states; ++s)
      OfLength(static_cast<int64_t>(s < 0 ? r.weight_bytes : r.state_bytes), [&](auto bytes) {
        char* const table = s < 0 ? r.weight : r.state[s];
        for (int64_t k = 0; k < n; ++k) move(buffer[1 + s] + k * bytes, table + r.number[i + k] * bytes, bytes);
      });
  };
  UpdateArgs a = r.u;
  a.weight = a.out = buffer[0];
  for (int s = 0; s < r.states; ++s) a.state[s] = buffer[1 + s];
  for (int64_t i = begin; i < end; i += most) {
    const int64_t n = std::min(most, end - i);
    for (int64_t k = 0; k < n + kAhead; ++k) {  // the first rows while the last ones are on their way
      if (i + k < end) r.Prefetch(r.number[i + k]);
    }
    each(i, n, [](char* in, const char* table, auto bytes) { CopyEntry(in, table, bytes); });
    a.grad = r.grad + static_cast<size_t>(i) * r.weight_bytes;
    r.Apply(a, n);
    each(i, n, [](const char* in, char* table, auto bytes) { CopyEntry(table, in, bytes); });
  }
}

/* Rows number[begin, end): those side by side in one call. */
void RunLazily(const Rows& r, int64_t begin, int64_t end) {
  // A prefetch holds the processor up until the page's translation is known, which in a table of
  // gigabytes takes longer than an update. So those of several rows follow each other at once:
  // their translations are looked up together.
  constexpr int64_t kTogether = 16;
  const bool narrow = r.size < kNarrow;
  UpdateArgs a = r.u;
  int64_t waiting = begin;  // narrow rows from here on are not updated yet
  int64_t fetched = begin;  // wide rows from here on are not prefetched yet
  for (int64_t i = begin; i < end;) {
    int64_t next = i + 1;
    while (next < end && r.number[next] == r.number[next - 1] + 1) ++next;
    if (narrow && (next - i) * r.size < 8 * kNarrow) {
      i = next;
      continue;
    }
    if (narrow && waiting < i) RunGathered(r, waiting, i);
    if (!narrow && next + kTogether > fetched)
      for (const int64_t stop = std::min(end, next + 2 * kTogether); fetched < stop; ++fetched) r.Prefetch(r.number[fetched]);
    r.Run(&a, r.number[i], next - i, r.grad + static_cast<size_t>(i) * r.weight_bytes);
    waiting = i = next;
  }
  if (narrow && waiting < end) RunGathered(r, waiting, end);
}

/* Rows [begin, end) of the weight; those that have no gradient have one of 0. */
void RunOnAll(const Rows& r, int64_t begin, int64_t end) {
  const int64_t most = std::max<int64_t>(1, 2 * kBlock / r.size);
  std::vector<char> grad(static_cast<size_t>(most) * r.weight_bytes);
  int64_t at = std::lower_bound(r.number, r.number + r.count, begin) - r.number;
  UpdateArgs a = r.u;
  for (int64_t row = begin; row < end; row += most) {
    const int64_t n = std::min(most, end - row);
    std::fill(grad.begin(), grad.end(), 0);
    for (; at < r.count && r.number[at] < row + n; ++at)
      std::memcpy(grad.data() + static_cast<size_t>(r.number[at] - row) * r.weight_bytes, r.grad + static_cast<size_t>(at) * r.weight_bytes,
                  r.weight_bytes);
    r.Run(&a, row, n, grad.data());
  }
}

/* The weight in `out`, where that is another array. */
void CopyWeight(const TBlob& in, const TBlob& out) {
  if (in.sparse)
    CopyParts(*in.sparse, out.sparse, nullptr);  // nothing where they are one
  else if (in.dptr != out.dptr && in.Size() > 0)
    std::memcpy(out.dptr, in.dptr, in.Bytes());
}

/* As in 1.9.1, a row_sparse weight with dense states is never updated lazily. */
bool IsLazy(const RowUpdate& how, const Attrs& attrs, Span<const TBlob> in) {
  return how.lazy(attrs) && !(in[0].sparse && how.states && !in[2].sparse);
}

void UpdateRows(const RowUpdate& how, KernelArgs& a) {
  const TBlob &in = a.in[0], &out = a.out[0];
  if (a.req[0] == OpReq::kNull) return;
  CopyWeight(in, out);
  if (in.Size() == 0) return;
  const SparseParts& grad = *a.in[1].sparse;
  Rows r;
  r.u.rule = how.rule;
  r.u.dtype = in.dtype;
  how.fill(*a.attrs, &r.u.numbers);
  r.u.numbers.in_place = true;
  r.grouped = how.grouped;
  r.states = how.states;
  r.rows = in.shape[0];
  r.size = in.Size() / r.rows;
  r.item = DTypeSize(in.dtype);
  r.weight_bytes = static_cast<size_t>(r.size) * r.item;
  r.state_bytes = how.grouped ? r.item : r.weight_bytes;
  r.weight = AllRows(out);
  for (int k = 0; k < how.states; ++k) r.state[k] = AllRows(a.in[2 + k]);
  r.grad = grad.values.data<char>();
  r.number = grad.index[SparseParts::kRows].data<int64_t>();
  r.count = grad.stored();
  const int64_t grain = std::max<int64_t>(1, kGrain / r.size);
  if (IsLazy(how, *a.attrs, a.in))
    ParallelFor(r.count, grain, [&](int64_t begin, int64_t end) { RunLazily(r, begin, end); });
  else
    ParallelFor(r.rows, grain, [&](int64_t begin, int64_t end) { RunOnAll(r, begin, end); });
}

}  // namespace

void DeclareRowUpdate(const char* name, RowUpdate update) {
  SparseForm& form =
      DeclareSparse(name, [update](const Attrs&, const StorageTypes& in, StorageTypes* out) { return Takes(update, in, out); });
  form.by_rows = [update](const Attrs& attrs, Span<const TBlob> in) { return in[1].sparse != nullptr && IsLazy(update, attrs, in); };
  form.set_in_place()
      .set_kernel(DeviceType::kCPU, [update](KernelArgs& a) { UpdateRows(update, a); })
      .set_kernel(DeviceType::kGPU, [update](KernelArgs& a) { UpdateRowsOnDevice(update, a); });
}

}  // namespace mxnet
