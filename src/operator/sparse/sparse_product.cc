#include "operator/sparse/sparse_product.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/copy_past.h"
#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "ndarray/narrow_columns.h"
#include "operator/sparse/dot_kernels.h"
#include "operator/sparse/radix_sort.h"
#include "operator/sparse/sparse_values.h"
#include "operator/sparse/split_rows.h"

namespace mxnet {
namespace sparse {
namespace {

constexpr int64_t kAll = INT64_MAX;

/* f(T()) for the type that products of this dtype are computed in. */
template <typename F>
void VisitCompute(int dtype, F&& f) {
  VisitFloating(dtype, "dot", [&](auto zero) {
    using T = decltype(zero);
    f(std::conditional_t<std::is_same<T, double>::value, double, float>{});
  });
}

template <typename T>
T* Take(KernelArgs& args, int64_t count) {
  return static_cast<T*>(args.workspace(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T)));
}

/* The elements as T: where they are, or converted. */
template <typename T>
const T* As(KernelArgs& args, const void* data, int dtype, int64_t count) {
  if (dtype == DTypeOf<T>::value) return static_cast<const T*>(data);
  T* const to = Take<T>(args, count);
  ConvertElements(data, dtype, to, DTypeOf<T>::value, count);
  return to;
}

/* compute(T*) into memory of any floating dtype. */
template <typename T, typename F>
void Into(KernelArgs& args, void* out, int dtype, int64_t count, F&& compute) {
  if (dtype == DTypeOf<T>::value) return compute(static_cast<T*>(out));
  T* const wide = Take<T>(args, count);
  compute(wide);
  ConvertElements(wide, DTypeOf<T>::value, out, dtype, count);
}

template <typename T>
void Transpose(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kTile = 16;
  ParallelFor((columns + kTile - 1) / kTile, Grain(rows * kTile), [&](int64_t begin, int64_t end) {
    for (int64_t c0 = begin * kTile; c0 < std::min(end * kTile, columns); c0 += kTile)
      for (int64_t r0 = 0; r0 < rows; r0 += kTile)
        for (int64_t c = c0; c < std::min(c0 + kTile, columns); ++c)
          for (int64_t r = r0; r < std::min(r0 + kTile, rows); ++r) to[c * rows + r] = from[r * columns + c];
  });
}

int Threads(int64_t elements, int64_t columns) { return OmpThreadsForFlops(ProductFlops(elements, columns)); }

/* f(first row, last row, thread): rows with about as many elements and rows for each thread. */
template <typename F>
void ByElements(int threads, const int64_t* indptr, int64_t rows, F&& f) {
  const std::vector<int64_t> bounds = SplitRows(threads, rows, [&](int64_t r) { return indptr[r] - indptr[0]; });
  ParallelForThreads(threads, threads, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) f(bounds[static_cast<size_t>(t)], bounds[static_cast<size_t>(t) + 1], t);
  });
}

/* Bytes that stay in the caches next to a core. */
constexpr int64_t kNear = 512 << 10;
/* Columns that are computed together where more would not stay there. */
constexpr int64_t kStripe = 64;

/* Columns at..at + count of a matrix, row behind row. */
template <typename T>
void CopyColumns(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t count) {
  for (int64_t r = 0; r < rows; ++r) std::memcpy(to + r * to_step, from + r * from_step, static_cast<size_t>(count) * sizeof(T));
}

/* Parts of the rows of a dense matrix, of which so many bytes are read, that each stay in a core's
 * own cache. One part where each row of csr has few elements in one. */
int64_t PartsOf(int64_t inner, int64_t bytes, int64_t rows, int64_t count) {
  constexpr int64_t kElements = 24, kMost = 16;  // behind it csr's positions take as long
  const int64_t most = CoreCacheBytes() / 8 * 5, parts = (bytes + most - 1) / most;
  return parts > 1 && parts <= std::min(kMost, inner) && count / rows / parts >= kElements ? parts : 1;
}

/* Where the elements of each row begin that belong to part 0, 1, ... of the columns, and where the
 * last part ends: (parts + 1) times `rows` positions. REQUIRES: rows are ascending. */
int64_t* PartPositions(KernelArgs& args, const int64_t* indptr, const int64_t* index, int64_t rows, int64_t inner, int64_t parts,
                       int threads) {
  int64_t* const at = Take<int64_t>(args, (parts + 1) * rows);
  ParallelForThreads(threads, rows, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t n = at[r] = indptr[r];
      for (int64_t p = 1; p < parts; ++p)
        at[p * rows + r] = n = std::lower_bound(index + n, index + indptr[r + 1], inner * p / parts) - index;
      at[parts * rows + r] = indptr[r + 1];
    }
  });
  return at;
}

/* out = csr times dense, which has `inner` rows. Where they are read often and lie far apart, some
 * columns at a time are put together; where a core's cache does not hold them, a part of the rows
 * comes after the other. */
template <typename T>
void Gather(KernelArgs& args, const int64_t* indptr, const int64_t* index, const T* values, int64_t rows, bool sorted, const T* dense,
            int64_t inner, int64_t columns, T* out, const NarrowColumns& narrow = {}) {
  if (rows == 0 || columns == 0) return;
  const int64_t count = indptr[rows] - indptr[0], item = static_cast<int64_t>(sizeof(T));
  const int threads = Threads(count + rows, columns);
  const bool stripes = columns >= 2 * kStripe && count >= 4 * inner && inner * columns * item > kNear;
  const int64_t bytes = inner * (stripes ? kStripe : columns) * item;
  const bool pairs = columns % 2 == 0;  // a single column, also the last one, has kernels of its own
  const int64_t parts = sorted && pairs ? PartsOf(inner, bytes, rows, count) : 1;
  const int64_t* const positions = parts > 1 ? PartPositions(args, indptr, index, rows, inner, parts, threads) : nullptr;
  const auto stripe = [&](const T* from, int64_t step, int64_t at, int64_t width) {
    ByElements(threads, indptr, rows, [&](int64_t begin, int64_t end, int64_t) {
      if (begin == end) return;
      DotCall<T> call{indptr,         index,       values, begin, end, from, step, out + at, columns, width, inner * step * item > kNear,
                      narrow.numbers, narrow.bytes};
      if (!positions) return GatherProduct(call);
      call.far = false;
      for (int64_t p = 0; p < parts; ++p) {
        call.first = positions + p * rows, call.last = positions + (p + 1) * rows, call.adds = p > 0;
        GatherProduct(call);
      }
    });
  };
  if (!stripes) return stripe(dense, columns, 0, columns);
  T* const packed = Take<T>(args, inner * kStripe);
  for (int64_t at = 0; at < columns; at += kStripe) {
    const int64_t width = std::min(kStripe, columns - at);
    ParallelForThreads(threads, inner, [&](int64_t begin, int64_t end) {
      CopyColumns(dense + begin * columns + at, columns, packed + begin * kStripe, kStripe, end - begin, width);
    });
    stripe(packed, kStripe, at, width);
  }
}

/* Numbers of columns that split the elements evenly: from a sample. */
std::vector<int64_t> SplitColumns(const int64_t* index, int64_t count, int parts) {
  const int64_t step = std::max<int64_t>(1, count / (int64_t{256} * parts));
  std::vector<int64_t> sample, bounds = {0};
  for (int64_t n = 0; n < count; n += step) sample.push_back(index[n]);
  std::sort(sample.begin(), sample.end());
  for (int t = 1; t < parts; ++t)
    bounds.push_back(
        std::max(bounds.back(), sample.empty() ? 0 : sample[sample.size() * static_cast<size_t>(t) / static_cast<size_t>(parts)]));
  bounds.push_back(kAll);
  return bounds;
}

/* out = csr transposed times dense. Threads have rows of their own where elements are many, else
 * columns: of `dense` where those are wide enough, else of csr. */
template <typename T>
void Scatter(KernelArgs& args, const int64_t* indptr, const int64_t* index, const T* values, int64_t rows, bool sorted, const T* dense,
             int64_t columns, int64_t out_rows, T* out, const NarrowColumns& narrow) {
  const void* const numbers = narrow.numbers;
  const int bytes = narrow.bytes;
  const auto clear = [](T* to, int64_t size) { std::memset(static_cast<void*>(to), 0, static_cast<size_t>(size) * sizeof(T)); };
  const int64_t count = indptr[rows] - indptr[0], item = static_cast<int64_t>(sizeof(T));
  if (columns == 0) return;
  const int threads = count == 0 ? 1 : Threads(count + rows, columns);
  const bool far = out_rows * columns * item > kNear;
  if (far && columns >= 2 * kStripe && count >= 4 * out_rows) {  // each stripe next to the core that computes it
    const int64_t stripes = (columns + kStripe - 1) / kStripe;
    const int teams = static_cast<int>(std::min<int64_t>(threads, stripes));
    T* const packed = Take<T>(args, out_rows * kStripe * teams);
    return ParallelForThreads(teams, teams, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t)
        for (int64_t s = t; s < stripes; s += teams) {
          T* const mine = packed + t * out_rows * kStripe;
          const int64_t at = s * kStripe, width = std::min(kStripe, columns - at);
          clear(mine, out_rows * kStripe);
          ScatterProduct(DotCall<T>{indptr, index, values, 0, rows, dense + at, columns, mine, kStripe, width, true}, 0, kAll, sorted);
          CopyColumns(mine, kStripe, out + at, columns, out_rows, width);
        }
    });
  }
  if (threads > 1 && count >= 4 * out_rows * threads) {  // sums of their own rows, which are added up
    const int64_t size = out_rows * columns;
    T* const sums = Take<T>(args, size * (threads - 1));
    ByElements(threads, indptr, rows, [&](int64_t begin, int64_t end, int64_t t) {
      T* const mine = t == 0 ? out : sums + (t - 1) * size;
      clear(mine, size);
      if (begin < end)
        ScatterProduct(DotCall<T>{indptr, index, values, begin, end, dense, columns, mine, columns, columns, far, numbers, bytes}, 0, kAll,
                       sorted);
    });
    return ParallelForThreads(threads, size, [&](int64_t begin, int64_t end) {
      for (int t = 0; t < threads - 1; ++t)
        for (int64_t i = begin; i < end; ++i) out[i] += sums[t * size + i];
    });
  }
  ParallelFor(out_rows, Grain(columns, 4 * kRowGrain),
              [&](int64_t begin, int64_t end) { clear(out + begin * columns, (end - begin) * columns); });
  if (count == 0) return;
  const int64_t line = 64 / item, lines = (columns + line - 1) / line;
  if (threads == 1 || lines >= threads) {
    ParallelForThreads(threads, lines, [&](int64_t begin, int64_t end) {
      const int64_t at = begin * line, width = std::min(end * line, columns) - at;
      ScatterProduct(DotCall<T>{indptr, index, values, 0, rows, dense + at, columns, out + at, columns, width, far, numbers, bytes}, 0,
                     kAll, sorted);
    });
    return;
  }
  const std::vector<int64_t> bounds = SplitColumns(index + indptr[0], count, threads);
  ParallelForThreads(threads, threads, [&](int64_t begin, int64_t end) {
    ScatterProduct(DotCall<T>{indptr, index, values, 0, rows, dense, columns, out, columns, columns, far, numbers, bytes},
                   bounds[static_cast<size_t>(begin)], bounds[static_cast<size_t>(end)], sorted);
  });
}

}  // namespace

/* Elements of a csr matrix whose rows are numbered by `ids`, or 0, 1, ... */
template <typename T>
struct Product::Csr {
  const int64_t *indptr, *index;
  const T* values;
  int64_t rows;
  bool sorted;
  const int64_t* ids = nullptr;

  int64_t count() const { return indptr[rows] - indptr[0]; }

  /* Without rows that have no elements. */
  Csr WithoutEmptyRows(KernelArgs& args) const {
    Csr to = *this;
    int64_t used = 0;
    for (int64_t r = 0; r < rows; ++r) used += indptr[r + 1] > indptr[r];
    int64_t *const ptr = Take<int64_t>(args, used + 1), *const numbers = Take<int64_t>(args, used);
    int64_t n = 0;
    for (int64_t r = 0; r < rows; ++r)
      if (indptr[r + 1] > indptr[r]) ptr[n] = indptr[r], numbers[n++] = ids ? ids[r] : r;
    ptr[used] = indptr[rows];
    to.indptr = ptr, to.ids = numbers, to.rows = used;
    return to;
  }

  /* Is a table of all `columns` columns worth its time? */
  bool Fills(int64_t columns) const { return columns <= std::min<int64_t>(4 * count(), UINT32_MAX); }

  /* 1 for each of `columns` columns that has elements, else 0; `used`: how many have. Often all do,
   * which a part of the rows tells. */
  uint32_t* MarkColumns(KernelArgs& args, int64_t columns, int64_t* used) const {
    constexpr int64_t kRows = 64;
    uint32_t* const mark = Take<uint32_t>(args, columns);
    std::fill_n(mark, columns, 0);
    int64_t found = 0;
    for (int64_t r = 0; r < rows && found < columns; r += kRows)
      for (int64_t n = indptr[r], last = indptr[std::min(r + kRows, rows)]; n < last; ++n) {
        uint32_t& m = mark[index[n]];
        found += m ^ 1;
        m = 1;
      }
    *used = found;
    return mark;
  }

  /* Only the columns that have elements, which become 0, 1, ...; `stored` lists these `used`. */
  Csr UsedColumns(KernelArgs& args, int64_t columns, const int64_t** stored, int64_t* used) const {
    uint32_t* const place = MarkColumns(args, columns, used);
    int64_t* const list = Take<int64_t>(args, columns + 1);
    *stored = list;
    if (*used == columns) {
      for (int64_t c = 0; c < columns; ++c) list[c] = c;
      return *this;
    }
    uint32_t k = 0;
    for (int64_t c = 0; c < columns; ++c) {
      list[k] = c;
      const uint32_t mark = place[c];
      place[c] = k;
      k += mark;
    }
    int64_t* const to_index = Take<int64_t>(args, indptr[rows]);
    ParallelFor(count(), Grain(1), [&](int64_t begin, int64_t end) {
      for (int64_t n = indptr[0] + begin; n < indptr[0] + end; ++n) to_index[n] = place[index[n]];
    });
    Csr to = *this;
    to.index = to_index;
    return to;
  }

  /* The transpose, without rows that have no elements, in time that does not depend on the number
   * of columns. */
  Csr TransposedBySorting(KernelArgs& args, int64_t columns) const {
    const int64_t total = count();
    MXNET_CHECK_KIND(columns <= int64_t{1} << 32 && total <= int64_t{1} << 32, Value)
        << "[" << args.attrs->op->name << "] the transpose of a csr matrix of " << columns << " columns and " << total
        << " elements; accepted are up to 4294967296 of both where most columns are empty";
    uint64_t *keys = Take<uint64_t>(args, total), *const other = Take<uint64_t>(args, total);
    int64_t *const row_of = Take<int64_t>(args, total), *const to_row = Take<int64_t>(args, total);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t n = indptr[r]; n < indptr[r + 1]; ++n) {
        const int64_t k = n - indptr[0];
        keys[k] = static_cast<uint64_t>(index[n]) << 32 | static_cast<uint64_t>(k);
        row_of[k] = r;
      }
    keys = RadixSort(keys, other, total, 32, BitsOf(columns));
    T* const to_value = Take<T>(args, total);
    int64_t used = 0;
    for (int64_t k = 0; k < total; ++k) {
      const int64_t from = static_cast<int64_t>(keys[k] & 0xffffffffu);
      to_row[k] = row_of[from], to_value[k] = values[indptr[0] + from];
      used += k == 0 || keys[k] >> 32 != keys[k - 1] >> 32;
    }
    int64_t *const ptr = Take<int64_t>(args, used + 1), *const numbers = Take<int64_t>(args, used);
    int64_t u = 0;
    for (int64_t k = 0; k < total; ++k)
      if (k == 0 || keys[k] >> 32 != keys[k - 1] >> 32) ptr[u] = k, numbers[u++] = static_cast<int64_t>(keys[k] >> 32);
    ptr[used] = total;
    return {ptr, to_row, to_value, used, true, numbers};
  }

  /* Only the rows that `stored` lists, which become 0, 1, ... */
  Csr RowsOf(KernelArgs& args, const int64_t* stored, int64_t n_stored) const {
    int64_t* const ptr = Take<int64_t>(args, n_stored + 1);
    ptr[0] = 0;
    for (int64_t k = 0; k < n_stored; ++k) ptr[k + 1] = ptr[k] + indptr[stored[k] + 1] - indptr[stored[k]];
    int64_t* const to_index = Take<int64_t>(args, ptr[n_stored]);
    T* const to_value = Take<T>(args, ptr[n_stored]);
    for (int64_t k = 0; k < n_stored; ++k) {
      const int64_t from = indptr[stored[k]], length = ptr[k + 1] - ptr[k];
      std::copy_n(index + from, length, to_index + ptr[k]);
      std::copy_n(values + from, length, to_value + ptr[k]);
    }
    return {ptr, to_index, to_value, n_stored, sorted};
  }

  /* Only the columns that `stored` lists, which become 0, 1, ... */
  Csr ColumnsOf(KernelArgs& args, int64_t columns, const int64_t* stored, int64_t n_stored) const {
    int64_t *const ptr = Take<int64_t>(args, rows + 1), *const to_index = Take<int64_t>(args, count());
    T* const to_value = Take<T>(args, count());
    int64_t* place = nullptr;  // of each column; where elements are few, it is searched for
    if (columns <= 16 * count()) {
      place = Take<int64_t>(args, columns);
      std::fill_n(place, columns, -1);
      for (int64_t k = 0; k < n_stored; ++k) place[stored[k]] = k;
    }
    int64_t k = 0;
    for (int64_t r = 0; r < rows; ++r) {
      ptr[r] = k;
      for (int64_t n = indptr[r]; n < indptr[r + 1]; ++n) {
        int64_t at = place ? place[index[n]] : std::lower_bound(stored, stored + n_stored, index[n]) - stored;
        if (at < 0 || (!place && (at == n_stored || stored[at] != index[n]))) continue;
        to_index[k] = at, to_value[k++] = values[n];
      }
    }
    ptr[rows] = k;
    return {ptr, to_index, to_value, rows, sorted, ids};
  }
};

Product::Product(KernelArgs& args, const SparseParts& csr, bool transposed)
    : args_(args), csr_(csr), transposed_(transposed), rows_(csr.shape[transposed ? 1 : 0]), inner_(csr.shape[transposed ? 0 : 1]) {}

template <typename T>
void Product::UsedRows(const T* turned, Matrix* m) const {
  const int64_t* const index = csr_.index[SparseParts::kColumns].data<int64_t>();
  std::vector<int64_t> used(index, index + csr_.stored());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const int64_t count = static_cast<int64_t>(used.size());
  int64_t* const stored = Take<int64_t>(args_, count);
  std::copy(used.begin(), used.end(), stored);
  T* const rows = Take<T>(args_, count * m->columns);
  for (int64_t c = 0; c < m->columns; ++c)
    for (int64_t k = 0; k < count; ++k) rows[k * m->columns + c] = turned[c * m->rows + stored[k]];
  m->data = rows, m->rows = count, m->all = false, m->stored = stored;
}

Matrix Product::Rows(const TBlob& dense, bool transposed) const {
  Matrix m;
  const int nd = dense.shape.ndim();
  const int64_t first = nd > 0 ? dense.shape[0] : 1, rest = nd > 1 ? dense.shape.Prod(1, nd) : 1;
  m.rows = transposed ? rest : first, m.columns = transposed ? first : rest;
  if (nd < 2 && transposed) std::swap(m.rows, m.columns);  // a vector is one column
  VisitCompute(dense.dtype, [&](auto zero) {
    using T = decltype(zero);
    if (dense.sparse) {
      const SparseParts& parts = *dense.sparse;
      m.rows = parts.stored();
      m.all = parts.stored() == parts.shape[0];
      m.stored = parts.index[SparseParts::kRows].template data<int64_t>();
      m.data = As<T>(args_, parts.values.memory.dptr, parts.values.dtype, parts.values.Size());
      return;
    }
    const T* const data = As<T>(args_, dense.dptr, dense.dtype, dense.Size());
    m.data = data;
    if (!transposed || nd < 2 || m.rows == 1 || m.columns == 1) return;
    if (!transposed_ && inner_ > 4 * csr_.stored()) return UsedRows(data, &m);
    T* const turned = Take<T>(args_, dense.Size());
    Transpose(data, first, rest, turned);
    m.data = turned;
  });
  return m;
}

/* The csr matrix for this right factor: what meets rows that are not stored is left out. */
template <typename T>
Product::Csr<T> Product::Elements(const Matrix& right) const {
  const SparsePart &ptr = csr_.index[SparseParts::kIndptr], &columns = csr_.index[SparseParts::kColumns];
  Csr<T> csr{ptr.data<int64_t>(), columns.data<int64_t>(), As<T>(args_, csr_.values.memory.dptr, csr_.values.dtype, csr_.stored()),
             csr_.shape[0], csr_.state.load(std::memory_order_acquire) == SparseParts::kAscending};
  if (right.all) return csr;
  return transposed_ ? csr.RowsOf(args_, right.stored, right.rows) : csr.ColumnsOf(args_, csr_.shape[1], right.stored, right.rows);
}

void Product::Store(const Matrix& right, const TBlob& out, bool transpose_out) const {
  VisitCompute(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = right.columns;
    const Csr<T> csr = Elements<T>(right);
    const T* const dense = static_cast<const T*>(right.data);
    const NarrowColumns narrow = n == 1 && right.all ? NarrowColumnsOf(csr_) : NarrowColumns();
    Into<T>(args_, out.dptr, out.dtype, rows_ * n, [&](T* target) {
      T* const to = transpose_out && n > 1 && rows_ > 1 ? Take<T>(args_, rows_ * n) : target;
      if (transposed_)
        Scatter(args_, csr.indptr, csr.index, csr.values, csr.rows, csr.sorted, dense, n, rows_, to, narrow);
      else
        Gather(args_, csr.indptr, csr.index, csr.values, csr.rows, csr.sorted, dense, right.rows, n, to, narrow);
      if (to != target) Transpose(to, rows_, n, target);
    });
  });
}

/* The rows of a product that an element of csr takes part in. */
template <typename T>
struct Product::Kept {
  const int64_t* ids;
  int64_t count;
  Csr<T> csr;  // whose rows, or with `scatters` whose columns, are these
  bool scatters = false;
  NarrowColumns narrow;

  void Compute(KernelArgs& args, const Matrix& right, T* to) const {
    const T* const dense = static_cast<const T*>(right.data);
    if (scatters)
      Scatter(args, csr.indptr, csr.index, csr.values, csr.rows, csr.sorted, dense, right.columns, count, to, narrow);
    else
      Gather(args, csr.indptr, csr.index, csr.values, csr.rows, csr.sorted, dense, right.rows, right.columns, to);
  }
};

template <typename T>
Product::Kept<T> Product::KeptRows(const Matrix& right) const {
  const Csr<T> csr = Elements<T>(right);
  if (transposed_ && csr.Fills(rows_)) {
    Kept<T> kept{nullptr, 0, csr, true, NarrowColumns()};
    kept.csr = csr.UsedColumns(args_, rows_, &kept.ids, &kept.count);
    if (right.columns == 1 && right.all && kept.csr.index == csr.index) kept.narrow = NarrowColumnsOf(csr_);
    return kept;
  }
  const Csr<T> used = transposed_ ? csr.TransposedBySorting(args_, rows_) : csr.WithoutEmptyRows(args_);
  return {used.ids, used.rows, used, false, NarrowColumns()};
}

void Product::StoreRows(const Matrix& right, SparseParts* out) const {
  VisitCompute(out->values.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Kept<T> kept = KeptRows<T>(right);
    out->Resize(kept.count);
    std::copy_n(kept.ids, kept.count, out->index[SparseParts::kRows].template data<int64_t>());
    Into<T>(args_, out->values.memory.dptr, out->values.dtype, kept.count * right.columns, [&](T* to) { kept.Compute(args_, right, to); });
  });
}

void Product::StoreColumns(const Matrix& right, SparseParts* out) const {
  VisitCompute(out->values.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Kept<T> kept = KeptRows<T>(right);
    const int64_t columns = kept.count, rows = right.columns;
    out->Resize(rows * columns);
    int64_t *const indptr = out->index[SparseParts::kIndptr].template data<int64_t>(), *const index = out->index[SparseParts::kColumns]
                                                                                                          .template data<int64_t>();
    for (int64_t r = 0; r <= rows; ++r) indptr[r] = r * columns;
    for (int64_t r = 0; r < rows; ++r) std::copy_n(kept.ids, columns, index + r * columns);
    Into<T>(args_, out->values.memory.dptr, out->values.dtype, rows * columns, [&](T* to) {
      T* const turned = rows > 1 ? Take<T>(args_, rows * columns) : to;
      kept.Compute(args_, right, turned);
      if (turned != to) Transpose(turned, columns, rows, to);
    });
  });
}

}  // namespace sparse
}  // namespace mxnet
