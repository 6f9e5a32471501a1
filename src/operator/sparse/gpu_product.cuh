// Products of csr and dense matrices. A row and some columns of the result belong to `lanes`
// neighbouring threads, a power of two up to a warp: `group` of them are beside each other, with V
// columns each, and the row's elements are shared by lanes / group such groups.
#include "rtc/loop.cuh"

namespace kernels {

template <typename T>
struct ProductArgs {
  const long long *begins, *ends, *index;
  const T *values, *dense;
  const long long* places;  // of rows of `dense`: 1 + where they are, or 0 (mapped)
  void* out;
  long long rows, columns, lanes, group;
  long long most;     // rows with more elements are left to others
  mx::Divisor tiles;  // of columns
  long long count;
};
// Where a thread works.
struct ProductPlace {
  long long row, column, part, parts;
  bool mine;
  template <int V, typename I, typename A>
  __device__ __forceinline__ void Find(const A& a, I i) {
    const unsigned lane = static_cast<unsigned>(i) & static_cast<unsigned>(a.lanes - 1);
    const I unit = i / static_cast<I>(a.lanes), r = mx::Over(unit, a.tiles);
    row = r;
    column = ((unit - r * static_cast<I>(a.tiles.d)) * a.group + (lane & static_cast<unsigned>(a.group - 1))) * V;
    part = lane / static_cast<unsigned>(a.group);
    parts = a.lanes / a.group;
    mine = row < a.rows && column < a.columns;
  }
};
// places[i] - 1 where rows of the dense matrix are not all there.
template <bool mapped, typename A>
__device__ __forceinline__ long long DenseRow(const A& a, long long i) {
  return mapped ? a.places[i] - 1 : i;
}

// sum += value * V columns of a row
template <int V, typename T, typename C>
__device__ __forceinline__ void AddColumns(const T* dense, long long at, C value, C* sum) {
  C x[V];
  mx::LoadPack<V>(dense, at, x);
#pragma unroll
  for (int k = 0; k < V; ++k) sum[k] += value * x[k];
}

// out, of type Out, = csr times dense. Not `weighted`: all elements of csr are 1.
template <typename I, typename T, typename Out, int V, bool mapped, bool weighted>
struct csr_gather {
  typedef ProductArgs<T> Args;
  typedef typename mx::Choose<mx::IsReal<T>::value, typename mx::Real<T>::Type, long long>::Type C;
  static __device__ __forceinline__ C Value(const Args& a, long long n) { return weighted ? mx::Load<C>(a.values, n) : C(1); }
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    ProductPlace at;
    at.Find<V>(a, i);
    C sum[V];
#pragma unroll
    for (int k = 0; k < V; ++k) sum[k] = C(0);
    long long n = at.mine ? a.begins[at.row] : 0;
    const long long end = at.mine ? a.ends[at.row] : 0;
    at.mine = at.mine && end - n <= a.most;
    if (at.mine) {
      n += at.part;
      for (; n + 3 * at.parts < end; n += 4 * at.parts) {  // four reads of rows under way at a time
        long long from[4];
        C value[4], x[4][V];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          from[k] = DenseRow<mapped>(a, a.index[n + k * at.parts]);
          value[k] = Value(a, n + k * at.parts);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
          for (int j = 0; j < V; ++j) x[k][j] = C(0);
          if (!mapped || from[k] >= 0)
            mx::LoadPack<V>(a.dense, from[k] * a.columns + at.column, x[k]);
          else
            value[k] = C(0);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
          for (int j = 0; j < V; ++j) sum[j] += value[k] * x[k][j];
      }
      for (; n < end; n += at.parts) {
        const long long from = DenseRow<mapped>(a, a.index[n]);
        if (!mapped || from >= 0) AddColumns<V>(a.dense, from * a.columns + at.column, Value(a, n), sum);
      }
    }
    for (long long step = a.lanes / 2; step >= a.group; step /= 2)
#pragma unroll
      for (int k = 0; k < V; ++k) sum[k] += __shfl_xor_sync(0xffffffffu, sum[k], static_cast<int>(step));
    if (at.mine && at.part == 0) mx::StorePack<V>(static_cast<Out*>(a.out), at.row * a.columns + at.column, sum);
  }
};

// out += csr transposed times dense, out of type S.
template <typename I, typename T, typename S, int V, bool mapped>
struct csr_scatter {
  typedef ProductArgs<T> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    ProductPlace at;
    at.Find<V>(a, i);
    if (!at.mine) return;
    const long long from = DenseRow<mapped>(a, at.row);
    if (mapped && from < 0) return;
    S x[V];
    mx::LoadPack<V>(a.dense, from * a.columns + at.column, x);
    S* const out = static_cast<S*>(a.out) + at.column;
    const long long end = a.ends[at.row];
#pragma unroll 1
    for (long long n = a.begins[at.row] + at.part; n < end; n += at.parts) {
      const S value = mx::Load<S>(a.values, n);
      S* const to = out + a.index[n] * a.columns;
#pragma unroll
      for (int k = 0; k < V; ++k) atomicAdd(to + k, value * x[k]);
    }
  }
};

// ---- rows of many elements, in pieces of `most` that are summed apart

// counts[0]: how many pieces there are so far, counts[1]: of how many rows. Where a row's pieces
// stand differs from run to run, their order does not.
template <typename I>
struct split_rows {
  struct Args {
    const long long *begins, *ends;
    unsigned long long* counts;
    long long *piece_begins, *piece_ends;
    long long *row, *first, *pieces;  // of each such row
    long long most;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    const long long begin = a.begins[i], end = a.ends[i];
    if (end - begin <= a.most) return;
    const long long pieces = (end - begin + a.most - 1) / a.most;
    const long long first = static_cast<long long>(atomicAdd(a.counts, static_cast<unsigned long long>(pieces)));
    const long long n = static_cast<long long>(atomicAdd(a.counts + 1, 1ull));
    a.row[n] = item;
    a.first[n] = first;
    a.pieces[n] = pieces;
    for (long long k = 0; k < pieces; ++k) {
      a.piece_begins[first + k] = begin + k * a.most;
      a.piece_ends[first + k] = k + 1 < pieces ? begin + (k + 1) * a.most : end;
    }
  }
};
template <typename I, typename Sum, typename Out>
struct add_pieces {
  struct Args {
    const unsigned long long* counts;
    const long long *row, *first, *pieces;
    const Sum* sums;
    Out* out;
    mx::Divisor columns;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I n = mx::Over(i, a.columns);
    if (n >= a.counts[1]) return;
    const long long column = i - n * static_cast<I>(a.columns.d);
    Sum sum = Sum(0);
    for (long long k = 0; k < a.pieces[n]; ++k) sum += a.sums[(a.first[n] + k) * a.columns.d + column];
    mx::Store(a.out, a.row[n] * a.columns.d + column, sum);
  }
};

// ---- elements by column

template <typename I, typename Unit>
struct take_elements {
  struct Args {
    const long long *element, *row;
    const Unit* values;
    long long* index;
    Unit* to;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long from = a.element[i];
    a.index[i] = a.row[from];
    a.to[i] = a.values[from];
  }
};

// Rows with elements: whether, and then which and where.
template <typename I>
struct has_elements {
  struct Args {
    const long long* pointers;
    unsigned char* has;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.has[i] = a.pointers[i] < a.pointers[i + 1]; }
};
template <typename I>
struct rows_with_elements {
  struct Args {
    const long long *pointers, *before;
    long long *ids, *to;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    const long long n = a.before[i];
    if (i + 1 == a.count) a.to[a.before[i + 1]] = a.pointers[i + 1];
    if (a.before[i + 1] == n) return;
    a.ids[n] = item;
    a.to[n] = a.pointers[i];
  }
};

// Index parts of a csr matrix that has the same columns in every row.
template <typename I>
struct same_columns {
  struct Args {
    const long long* ids;
    long long* index;
    long long columns;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.index[i] = a.ids[i % static_cast<I>(a.columns)]; }
};
}  // namespace kernels
