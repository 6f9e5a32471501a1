#include "operator/sparse/csr_merge.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/sparse/sparse_values.h"
#include "operator/sparse/split_rows.h"

namespace mxnet {
namespace sparse {
namespace {

/*
 * Rows of a csr matrix in the making, in pieces: rows `first` to `last` have elements `begin` to
 * `end`, and row r of them ends before element ends[r]. Between pieces there may be elements that
 * belong to no row.
 */
struct Piece {
  int64_t first, last, begin, end;
};
struct Pieces {
  std::vector<Piece> list;
  const int64_t *columns, *ends;

  template <typename F>
  void Each(F&& f) const {
    const int64_t count = static_cast<int64_t>(list.size());
    ParallelForThreads(static_cast<int>(count), count, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) f(list[static_cast<size_t>(k)], static_cast<size_t>(k));
    });
  }
};

struct Rows {
  const int64_t *ends, *columns;
  explicit Rows(const SparseParts& p)
      : ends(p.index[SparseParts::kIndptr].data<int64_t>()), columns(p.index[SparseParts::kColumns].data<int64_t>()) {}
};

/* Rows and elements that are worth a thread of their own. */
constexpr int64_t kWorthThread = kRowGrain / 4;

/* csr `out` = the elements that are not 0 of these. */
void StoreNonZero(const Pieces& pieces, const void* values, SparseParts* out) {
  const size_t item = DTypeSize(out->values.dtype);
  const char* const from = static_cast<const char*>(values);
  std::vector<int64_t> at(pieces.list.size() + 1, 0);
  VisitNonZero(out->values.dtype, [&](auto is_nonzero) {
    pieces.Each([&](const Piece& p, size_t k) {
      int64_t kept = 0;
      for (int64_t n = p.begin; n < p.end; ++n) kept += is_nonzero(values, n);
      at[k + 1] = kept;
    });
    for (size_t k = 0; k + 1 < at.size(); ++k) at[k + 1] += at[k];
    out->Resize(at.back());
    int64_t *const indptr = out->index[SparseParts::kIndptr].data<int64_t>(), *const index =
                                                                                  out->index[SparseParts::kColumns].data<int64_t>();
    char* const to = out->values.data<char>();
    indptr[0] = 0;
    pieces.Each([&](const Piece& p, size_t piece) {
      int64_t n = p.begin, k = at[piece];
      const int64_t count = p.end - p.begin;
      if (at[piece + 1] - k == count) {  // nothing is 0
        for (int64_t r = p.first; r < p.last; ++r) indptr[r + 1] = pieces.ends[r] - n + k;
        if (count == 0) return;
        std::copy_n(pieces.columns + n, count, index + k);
        std::memcpy(to + static_cast<size_t>(k) * item, from + static_cast<size_t>(n) * item, static_cast<size_t>(count) * item);
        return;
      }
      for (int64_t r = p.first; r < p.last; ++r) {
        for (; n < pieces.ends[r]; ++n) {
          if (!is_nonzero(values, n)) continue;
          index[k] = pieces.columns[n];
          std::memcpy(to + static_cast<size_t>(k++) * item, from + static_cast<size_t>(n) * item, item);
        }
        indptr[r + 1] = k;
      }
    });
  });
}

/*
 * What both rows have, or either. Values are moved by their bytes alone.
 * A step waits for the one before, which tells the columns that it compares, and a branch would be
 * one that nothing predicts. So two rows are merged at a time, as many steps as neither can end in.
 */
template <bool kBoth, typename T>
struct Merger {
  Rows a, b;
  const T *values_a, *values_b;
  int64_t* columns;
  T *va, *vb;

  struct Cursor {
    int64_t i, last_a, j, last_b, n;
    int64_t both() const { return std::min(last_a - i, last_b - j); }  // steps that do not leave either row
    int64_t most() const { return last_a - i + last_b - j; }
  };

  /* Rows `first` to `last`, behind one another from element n on; ends[r] is where row r ends. */
  int64_t Merge(int64_t first, int64_t last, int64_t n, int64_t* ends) const {
    int64_t r = first;
    for (; r + 1 < last; r += 2) {
      Cursor x = At(r, n), y = At(r + 1, n + x.most());
      const int64_t begin = y.n;
      for (int64_t steps; (steps = std::min(x.both(), y.both())) > 0;) Steps(steps, &x, &y);
      Finish(&x);
      Finish(&y);
      if (x.n < begin) {
        Move(begin, y.n - begin, x.n);
        y.n -= begin - x.n;
      }
      ends[r] = x.n, ends[r + 1] = n = y.n;
    }
    if (r < last) {
      Cursor x = At(r, n);
      Finish(&x);
      ends[r] = n = x.n;
    }
    return n;
  }

 private:
  Cursor At(int64_t r, int64_t n) const { return {a.ends[r], a.ends[r + 1], b.ends[r], b.ends[r + 1], n}; }

  /* So many steps of each. */
  template <typename... C>
  inline __attribute__((always_inline)) void Steps(int64_t steps, C*... cursors) const {
    const int64_t *const ac = a.columns, *const bc = b.columns;
    const T *const from_a = values_a, *const from_b = values_b;
    int64_t* const to = columns;
    T *const to_a = va, *const to_b = vb;
    const auto step = [&](Cursor & c) __attribute__((always_inline)) {
      const int64_t ca = ac[c.i], cb = bc[c.j], of_a = ca <= cb, of_b = cb <= ca;
      to[c.n] = ca < cb ? ca : cb;
      to_a[c.n] = static_cast<T>(from_a[c.i] & -static_cast<T>(of_a));
      to_b[c.n] = static_cast<T>(from_b[c.j] & -static_cast<T>(of_b));
      c.i += of_a, c.j += of_b;
      c.n += kBoth ? of_a & of_b : 1;
    };
    const auto all = [&](auto... local) __attribute__((always_inline)) {
      for (int64_t s = 0; s < steps; ++s) (step(local), ...);
      ((*cursors = local), ...);
    };
    all(*cursors...);
  }
  void Finish(Cursor* c) const {
    for (int64_t steps; (steps = c->both()) > 0;) Steps(steps, c);
    if (kBoth) return;
    int64_t n = c->n;
    for (int64_t i = c->i; i < c->last_a; ++i, ++n) columns[n] = a.columns[i], va[n] = values_a[i], vb[n] = T(0);
    for (int64_t j = c->j; j < c->last_b; ++j, ++n) columns[n] = b.columns[j], va[n] = T(0), vb[n] = values_b[j];
    c->n = n;
  }
  void Move(int64_t from, int64_t count, int64_t to) const {
    for (int64_t k = 0; k < count; ++k) columns[to + k] = columns[from + k], va[to + k] = va[from + k], vb[to + k] = vb[from + k];
  }
};

template <bool kBoth, typename F>
void VisitMerger(const SparseParts& a, const SparseParts& b, int64_t* columns, void* va, void* vb, F&& use) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    use(Merger<kBoth, T>{Rows(a), Rows(b), a.values.data<T>(), b.values.data<T>(), columns, static_cast<T*>(va), static_cast<T*>(vb)});
  };
  switch (DTypeSize(a.values.dtype)) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    default: return as(uint64_t{});
  }
}

}  // namespace

void MergeElements(KernelArgs& args, const SparseParts& a, const SparseParts& b, bool both, const ElementsFn& f, SparseParts* out) {
  const int64_t rows = a.shape[0];
  const size_t item = DTypeSize(a.values.dtype);
  const Rows ra(a), rb(b);
  const auto take = [&](int64_t count, size_t bytes) { return args.workspace(static_cast<size_t>(count) * bytes + 1); };
  const auto split = [&](auto&& before, Pieces* pieces) {
    const int64_t worth = (before(rows) + rows) / kWorthThread;
    const int threads = static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(OmpMaxThreads(), worth)));
    const std::vector<int64_t> bounds = SplitRows(threads, rows, before);
    for (size_t t = 0; t + 1 < bounds.size(); ++t)
      pieces->list.push_back({bounds[t], bounds[t + 1], before(bounds[t]), before(bounds[t + 1])});
  };
  Pieces pieces;
  if (SameIndex(args, a, b)) {
    char* const values = static_cast<char*>(take(a.stored(), item));
    split([&](int64_t r) { return ra.ends[r]; }, &pieces);
    pieces.columns = ra.columns, pieces.ends = ra.ends + 1;
    f(a.values.memory.dptr, b.values.memory.dptr, values, a.stored());
    return StoreNonZero(pieces, values, out);
  }
  const int64_t most = a.stored() + b.stored();
  char *const va = static_cast<char*>(take(most, item)), *const vb = static_cast<char*>(take(most, item));
  int64_t *const columns = static_cast<int64_t*>(take(most, sizeof(int64_t))), *const ends =
                                                                                   static_cast<int64_t*>(take(rows, sizeof(int64_t)));
  split([&](int64_t r) { return ra.ends[r] + rb.ends[r]; }, &pieces);
  pieces.columns = columns, pieces.ends = ends;
  const auto merge = [&](const auto& merger) {
    pieces.Each([&](const Piece& p, size_t k) { pieces.list[k].end = merger.Merge(p.first, p.last, p.begin, ends); });
  };
  both ? VisitMerger<true>(a, b, columns, va, vb, merge) : VisitMerger<false>(a, b, columns, va, vb, merge);
  for (const Piece& p : pieces.list) {
    const size_t at = static_cast<size_t>(p.begin) * item;
    f(va + at, vb + at, va + at, p.end - p.begin);
  }
  StoreNonZero(pieces, va, out);
}

}  // namespace sparse
}  // namespace mxnet
