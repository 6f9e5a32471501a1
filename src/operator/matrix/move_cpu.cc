#include "operator/matrix/move_cpu.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/copy_past.h"
#include "base/copy_run.h"
#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/matrix/even_steps.h"
#include "operator/matrix/reverse_run.h"
#include "operator/matrix/strided_dims.h"
#include "operator/shared/element_size.h"

namespace mxnet {
namespace {

template <typename T>
constexpr int64_t kTile = sizeof(T) == 8 ? 32 : 64;  // a tile is at most 16 KiB on either side: both stay in the first caches

using Dim = StridedDim;

// Calls fn(src_offset, dst_offset) for every index of the outer dimensions in [begin, end),
// counting in row-major order.
template <typename F>
void ForOuter(const std::vector<Dim>& outer, int64_t begin, int64_t end, F&& fn) {
  const int n = static_cast<int>(outer.size());
  std::vector<int64_t> index(n);
  int64_t src = 0, dst = 0, rest = begin;
  for (int k = n - 1; k >= 0; --k) {
    index[k] = rest % outer[k].size;
    rest /= outer[k].size;
    src += index[k] * outer[k].src;
    dst += index[k] * outer[k].dst;
  }
  for (int64_t i = begin; i < end; ++i) {
    fn(src, dst);
    for (int k = n - 1; k >= 0; --k) {
      src += outer[k].src;
      dst += outer[k].dst;
      if (++index[k] < outer[k].size) break;
      src -= outer[k].size * outer[k].src;
      dst -= outer[k].size * outer[k].dst;
      index[k] = 0;
    }
  }
}

int64_t Count(const std::vector<Dim>& dims) {
  int64_t n = 1;
  for (const Dim& d : dims) n *= d.size;
  return n;
}

constexpr int64_t kBytesEach = 1 << 16;  // what a thread must have to move that its hand-over is worth it

// MXNET_CPU_PARALLEL_SIZE counts elements; those of four bytes where bytes are moved.
int ThreadsForBytes(int64_t bytes) {
  return static_cast<int>(std::min<int64_t>(OmpThreads(bytes / 4), std::max<int64_t>(1, bytes / kBytesEach)));
}

// Threads get whole outer iterations.
template <typename F>
void ParallelOuter(const std::vector<Dim>& outer, int64_t bytes_each, F&& fn) {
  const int64_t n = Count(outer);
  ParallelForThreads(ThreadsForBytes(n * bytes_each), n, [&](int64_t begin, int64_t end) { ForOuter(outer, begin, end, fn); });
}

// The lanes of the first halves of two vectors in turn, or of the second.
template <typename Vector, typename T, int kFirst, int... kLane>
Vector Interleave(Vector a, Vector b, std::integer_sequence<int, kLane...>) {
  constexpr int kLanes = sizeof...(kLane);
  typedef T Order __attribute__((vector_size(16)));
  return __builtin_shuffle(a, b, (Order){static_cast<T>(kFirst + kLane / 2 + kLane % 2 * kLanes)...});
}

// A square of as many elements as a vector has lanes, transposed in registers: in each round
// neighbours of the result come closer by half.
template <typename T>
void TransposeSquare(const T* src, int64_t src_pitch, T* dst, int64_t dst_pitch) {
  typedef T Vector __attribute__((vector_size(16)));
  constexpr int kLanes = 16 / sizeof(T);
  using Lanes = std::make_integer_sequence<int, kLanes>;
  Vector v[kLanes], w[kLanes];
  for (int i = 0; i < kLanes; ++i) std::memcpy(&v[i], src + i * src_pitch, 16);
  for (int round = 1; round < kLanes; round *= 2) {
    for (int i = 0; i < kLanes / 2; ++i) {
      w[2 * i] = Interleave<Vector, T, 0>(v[i], v[i + kLanes / 2], Lanes());
      w[2 * i + 1] = Interleave<Vector, T, kLanes / 2>(v[i], v[i + kLanes / 2], Lanes());
    }
    for (int i = 0; i < kLanes; ++i) v[i] = w[i];
  }
  for (int i = 0; i < kLanes; ++i) std::memcpy(dst + i * dst_pitch, &v[i], 16);
}

// tile[r * kTile + c] = src[c * pitch + r]
template <typename T>
void TransposeIntoTile(const T* src, int64_t pitch, int64_t rows, int64_t cols, T* tile) {
  constexpr int64_t kLanes = 16 / sizeof(T);
  const int64_t r1 = rows / kLanes * kLanes, c1 = cols / kLanes * kLanes;
  for (int64_t c = 0; c < c1; c += kLanes)
    for (int64_t r = 0; r < r1; r += kLanes) TransposeSquare(src + c * pitch + r, pitch, tile + r * kTile<T> + c, kTile<T>);
  for (int64_t c = 0; c < cols; ++c)
    for (int64_t r = c < c1 ? r1 : 0; r < rows; ++r) tile[r * kTile<T> + c] = src[c * pitch + r];
}

// The two inner dimensions: `rows` is contiguous in the source, `cols` in the destination. Each
// tile goes through a buffer, so that both sides are touched line by line: with power-of-two
// strides the lines of a tile would evict each other.
template <typename T>
void TransposeTiles(const T* src, T* dst, Dim rows, Dim cols) {
  alignas(64) T tile[kTile<T> * kTile<T>];
  for (int64_t r0 = 0; r0 < rows.size; r0 += kTile<T>) {
    const int64_t nr = std::min(kTile<T>, rows.size - r0);
    for (int64_t c0 = 0; c0 < cols.size; c0 += kTile<T>) {
      const int64_t nc = std::min(kTile<T>, cols.size - c0);
      const T* s = src + r0 + c0 * cols.src;
      T* d = dst + r0 * rows.dst + c0;
      if (nr < 8 || nc < 8) {  // slivers: the buffer would cost more than it saves
        for (int64_t r = 0; r < nr; ++r)
          for (int64_t c = 0; c < nc; ++c) d[r * rows.dst + c] = s[c * cols.src + r];
        continue;
      }
      TransposeIntoTile(s, cols.src, nr, nc, tile);
      if (nc == kTile<T>) {
        for (int64_t r = 0; r < nr; ++r) std::memcpy(d + r * rows.dst, tile + r * kTile<T>, kTile<T> * sizeof(T));
      } else {
        for (int64_t r = 0; r < nr; ++r) std::memcpy(d + r * rows.dst, tile + r * kTile<T>, static_cast<size_t>(nc) * sizeof(T));
      }
    }
  }
}

constexpr int64_t kTable = 2048, kShort = 8;  // places of a table; elements of a run that costs more to begin than to copy

// Divides dimension k: its later part, the largest of at most `most` elements, stands behind it.
void Divide(std::vector<Dim>* dims, size_t k, int64_t most) {
  const Dim d = (*dims)[k];
  int64_t part = std::min(most, d.size);
  while (part > 1 && d.size % part != 0) --part;
  if (part <= 1) return;
  (*dims)[k] = {d.size / part, d.src * part, d.dst * part};
  dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(k) + 1, {part, d.src, d.dst});
}

// The last dimensions that fill a stretch of the destination, as many as a table of places takes;
// they leave `dims`. Empty where runs are long enough to be copied one by one.
std::vector<int32_t> PlacesOfShortRuns(std::vector<Dim>* given) {
  std::vector<Dim> all = *given, *const dims = &all;
  const auto apart = [&](size_t k) {  // a transposition of two dimensions, which works on squares
    return (dims->at(k).src == 1 || dims->at(k).src == -1) && dims->at(k).size >= kShort;
  };
  if (dims->size() < 2 || dims->back().size >= kShort * (dims->back().src == 1 ? 1 : 4)) return {};
  for (size_t k = 0; k + 1 < dims->size(); ++k)
    if (dims->back().size >= kShort && apart(k)) return {};
  const int64_t most = std::min(kTable, Count(*dims) / 4);
  int64_t places = 1, reach = 0;
  size_t first = dims->size();
  for (; first > 0; --first) {
    if ((*dims)[first - 1].dst == places && places * (*dims)[first - 1].size > most) {
      const size_t before = dims->size();
      Divide(dims, first - 1, most / places);
      first += dims->size() - before;
    }
    const Dim d = (*dims)[first - 1];
    const int64_t further = (d.size - 1) * std::abs(d.src);
    if (d.dst != places || places * d.size > most || reach + further > INT32_MAX) break;
    places *= d.size, reach += further;
  }
  if (places < 2 * kShort) return {};
  std::vector<int32_t> table(static_cast<size_t>(places));
  int64_t made = 1;
  for (size_t k = dims->size(); k > first; --k)
    for (int64_t times = (*dims)[k - 1].size, i = 1, done = made; i < times; ++i, made += done)
      for (int64_t j = 0; j < done; ++j) table[made + j] = table[j] + static_cast<int32_t>(i * (*dims)[k - 1].src);
  dims->resize(first);
  *given = all;
  return table;
}

// The same where it is the source that is one stretch: false where runs are long enough.
template <typename T>
bool SpreadShortRuns(const T* src, T* dst, const std::vector<Dim>& dims) {
  std::vector<Dim> reverse;
  for (const Dim& d : dims) {
    const bool back = d.src < 0;  // then from its other end
    if (back) src += (d.size - 1) * d.src, dst += (d.size - 1) * d.dst;
    reverse.push_back({d.size, back ? -d.dst : d.dst, back ? -d.src : d.src});
  }
  const std::vector<int32_t> table = PlacesOfShortRuns(&reverse);
  if (table.empty()) return false;
  const int64_t n = static_cast<int64_t>(table.size());
  ParallelOuter(reverse, n * static_cast<int64_t>(sizeof(T)), [&, n](int64_t d, int64_t s) {
    const T* from = src + s;
    T* to = dst + d;
    const int32_t* place = table.data();
    for (int64_t i = 0; i < n; ++i) to[place[i]] = from[i];
  });
  return true;
}

// Few planes whose elements become neighbours, as the channels of pictures do. False: not of this
// kind.
template <typename T>
bool MixFewPlanes(const T* src, T* dst, std::vector<Dim> dims) {
  constexpr int64_t kLeast = 64, kTogether = 4096;
  if (dims.size() < 2) return false;
  const Dim planes = dims.back(), along = dims[dims.size() - 2];
  if (!IsEvenStep(planes.size, sizeof(T)) || planes.dst != 1 || along.src != 1 || along.dst != planes.size || along.size < kLeast)
    return false;
  dims.pop_back(), dims.pop_back();
  const int64_t pieces = (along.size + kTogether - 1) / kTogether, bytes = along.size * planes.size * static_cast<int64_t>(sizeof(T));
  const int step = static_cast<int>(planes.size);
  const int64_t outer = Count(dims);
  ParallelForThreads(ThreadsForBytes(outer * bytes), outer * pieces, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i % pieces * kTogether, n = std::min(kTogether, along.size - from);
      ForOuter(dims, i / pieces, i / pieces + 1, [&](int64_t s, int64_t d) {
        const void* parts[kMostStep];
        for (int k = 0; k < step; ++k) parts[k] = src + s + from + k * planes.src;
        MXNET_CPU_CALL(Interleave)(parts, step, dst + d + from * step, n, sizeof(T));
      });
    }
  });
  return true;
}

template <typename T>
void CopyStepped(const T* from, T* to, Dim run) {
  if (run.src == 0 && run.dst == 1) {
    std::fill(to, to + run.size, *from);
  } else if (run.src == -1 && run.dst == 1) {
    MXNET_CPU_CALL(ReverseRun)(from, to, run.size, sizeof(T));
  } else if (run.dst == 1 && IsEvenStep(run.src, sizeof(T))) {
    MXNET_CPU_CALL(EveryStep)(from, static_cast<int>(run.src), to, run.size, sizeof(T));
  } else {
    for (int64_t i = 0; i < run.size; ++i) to[i * run.dst] = from[i * run.src];
  }
}

template <typename T>
void CopyDims(const T* src, T* dst, std::vector<Dim> dims) {
  if (dims.empty()) {
    *dst = *src;
    return;
  }
  if (MixFewPlanes(src, dst, dims)) return;
  if (const std::vector<int32_t> table = PlacesOfShortRuns(&dims); !table.empty()) {
    const int64_t n = static_cast<int64_t>(table.size());
    return ParallelOuter(dims, n * static_cast<int64_t>(sizeof(T)), [&, n](int64_t s, int64_t d) {
      const T* from = src + s;
      T* to = dst + d;
      const int32_t* place = table.data();
      for (int64_t i = 0; i < n; ++i) to[i] = from[place[i]];
    });
  }
  if ((dims.back().dst != 1 || dims.back().src != 1) && SpreadShortRuns(src, dst, dims)) return;
  const Dim inner = dims.back();
  dims.pop_back();
  if (inner.src == 1 && inner.dst == 1) {
    if (dims.empty()) return CopyBytes(src, dst, inner.size * static_cast<int64_t>(sizeof(T)));
    const int64_t bytes = inner.size * static_cast<int64_t>(sizeof(T));
    return OfLength(bytes,
                    [&](auto length) { ParallelOuter(dims, bytes, [&](int64_t s, int64_t d) { CopyEntry(dst + d, src + s, length); }); });
  }
  // A dimension that is contiguous in the source while the last is contiguous in the destination: a
  // matrix transposition.
  if (inner.dst == 1) {
    for (size_t k = dims.size(); k-- > 0;) {
      if (dims[k].src != 1 && dims[k].src != -1) continue;
      Dim rows = dims[k];
      if (rows.src == -1) {  // from its other end
        src -= rows.size - 1;
        dst += (rows.size - 1) * rows.dst;
        rows = {rows.size, 1, -rows.dst};
      }
      dims.erase(dims.begin() + k);
      const int64_t outer = Count(dims),
                    tiles = (rows.size + kTile<T> - 1) / kTile<T>;  // rows are split too, so that threads have something to share
      ParallelForThreads(ThreadsForBytes(outer * rows.size * inner.size * static_cast<int64_t>(sizeof(T))), outer * tiles,
                         [&](int64_t begin, int64_t end) {
                           for (int64_t at = begin; at < end;) {
                             const int64_t o = at / tiles, t0 = at % tiles, t1 = std::min(tiles, t0 + end - at);
                             ForOuter(dims, o, o + 1, [&](int64_t s, int64_t d) {
                               const int64_t first = t0 * kTile<T>;
                               TransposeTiles(src + s + first, dst + d + first * rows.dst,
                                              Dim{std::min(t1 * kTile<T>, rows.size) - first, 1, rows.dst}, inner);
                             });
                             at += t1 - t0;
                           }
                         });
      return;
    }
  }
  const int64_t bytes = inner.size * static_cast<int64_t>(sizeof(T));
  if (dims.empty())  // threads share the one run
    return ParallelForThreads(ThreadsForBytes(bytes), inner.size, [&](int64_t begin, int64_t end) {
      CopyStepped(src + begin * inner.src, dst + begin * inner.dst, Dim{end - begin, inner.src, inner.dst});
    });
  ParallelOuter(dims, bytes, [&](int64_t s, int64_t d) { CopyStepped(src + s, dst + d, inner); });
}

}  // namespace

void CopyBytes(const void* src, void* dst, int64_t bytes) {
  if (src == dst || bytes <= 0) return;
  const char* from = static_cast<const char*>(src);
  char* to = static_cast<char*>(dst);
  const bool past = OutgrowsCaches(2 * bytes);
  ParallelForThreads(ThreadsForBytes(bytes), bytes, [&](int64_t begin, int64_t end) {
    if (!past) return CopyRun(to + begin, from + begin, static_cast<size_t>(end - begin));
    CopyPast(to + begin, from + begin, end - begin);
    EndCopiesPast();
  });
}

void ZeroBytes(void* dst, int64_t bytes) {
  char* to = static_cast<char*>(dst);
  ParallelForThreads(ThreadsForBytes(bytes), bytes, [&](int64_t begin, int64_t end) { std::memset(to + begin, 0, end - begin); });
}

void CopyRows(const void* src, int64_t src_pitch, void* dst, int64_t dst_pitch, int64_t row_bytes, int64_t rows) {
  if (row_bytes <= 0 || rows <= 0) return;
  if (rows == 1 || (src_pitch == row_bytes && dst_pitch == row_bytes)) return CopyBytes(src, dst, row_bytes * rows);
  const char* from = static_cast<const char*>(src);
  char* to = static_cast<char*>(dst);
  ParallelForThreads(ThreadsForBytes(rows * row_bytes), rows, [&](int64_t begin, int64_t end) {
    if (dst_pitch == row_bytes && src_pitch % row_bytes == 0 && IsEvenStep(src_pitch / row_bytes, row_bytes))
      return MXNET_CPU_CALL(EveryStep)(from + begin * src_pitch, static_cast<int>(src_pitch / row_bytes), to + begin * dst_pitch,
                                       end - begin, static_cast<size_t>(row_bytes));
    switch (row_bytes) {  // single elements: a store, not a call
      case 1:
        for (int64_t i = begin; i < end; ++i) to[i * dst_pitch] = from[i * src_pitch];
        break;
      case 4:
        for (int64_t i = begin; i < end; ++i) std::memcpy(to + i * dst_pitch, from + i * src_pitch, 4);
        break;
      case 8:
        for (int64_t i = begin; i < end; ++i) std::memcpy(to + i * dst_pitch, from + i * src_pitch, 8);
        break;
      default:
        for (int64_t i = begin; i < end; ++i) CopyRun(to + i * dst_pitch, from + i * src_pitch, static_cast<size_t>(row_bytes));
    }
  });
}

void JoinElements(const void* const* parts, int count, void* dst, int64_t rows, size_t elem_bytes) {
  const int64_t bytes = static_cast<int64_t>(elem_bytes);
  ParallelForThreads(ThreadsForBytes(rows * count * bytes), rows, [&](int64_t begin, int64_t end) {
    const void* from[kMostStep];
    for (int k = 0; k < count; ++k) from[k] = static_cast<const char*>(parts[k]) + begin * bytes;
    MXNET_CPU_CALL(Interleave)(from, count, static_cast<char*>(dst) + begin * count * bytes, end - begin, elem_bytes);
  });
}

void JoinRows(const std::vector<RowsOfPart>& parts, void* dst, int64_t rows) {
  int64_t pitch = 0;
  for (const RowsOfPart& p : parts) pitch += p.row_bytes;
  ParallelForThreads(ThreadsForBytes(rows * pitch), rows, [&](int64_t begin, int64_t end) {
    char* to = static_cast<char*>(dst) + begin * pitch;
    for (int64_t i = begin; i < end; ++i)
      for (const RowsOfPart& p : parts) {
        CopyRun(to, static_cast<const char*>(p.src) + i * p.row_bytes, static_cast<size_t>(p.row_bytes));
        to += p.row_bytes;
      }
  });
}

void AddStrided(const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride, const int64_t* shape, int ndim,
                int dtype) {
  std::vector<Dim> dims, summed;  // dimensions of the destination, and those that are summed into one element of it
  if (!MergedDims(src_stride, dst_stride, shape, ndim, &dims, &summed)) return;
  const int64_t terms = Count(summed);
  VisitDType(dtype, "sum", [&](auto tag) {
    using T = decltype(tag);
    using Sum = std::conditional_t<sizeof(T) == 2 && !std::is_integral<T>::value, float, T>;
    const T* from = static_cast<const T*>(src);
    T* to = static_cast<T*>(dst);
    if (!dims.empty() && dims.back().src == 1 && dims.back().dst == 1 &&
        dims.back().size >= 8) {  // neighbours on both sides: whole rows are added
      constexpr int64_t kBlock = 512;
      const int64_t inner = dims.back().size;
      std::vector<Dim> outer(dims.begin(), dims.end() - 1);
      return ParallelOuter(outer, inner * terms * static_cast<int64_t>(sizeof(T)), [&](int64_t s, int64_t d) {
        Sum sums[kBlock];
        for (int64_t j = 0; j < inner; j += kBlock) {
          const int64_t n = std::min(kBlock, inner - j);
          for (int64_t i = 0; i < n; ++i) sums[i] = static_cast<Sum>(to[d + j + i]);
          ForOuter(summed, 0, terms, [&](int64_t t, int64_t) {
            const T* row = from + s + t + j;
            for (int64_t i = 0; i < n; ++i) sums[i] = static_cast<Sum>(sums[i] + static_cast<Sum>(row[i]));
          });
          for (int64_t i = 0; i < n; ++i) to[d + j + i] = T(sums[i]);
        }
      });
    }
    ParallelOuter(dims, terms * static_cast<int64_t>(sizeof(T)), [&](int64_t s, int64_t d) {
      Sum sum = static_cast<Sum>(to[d]);
      if (summed.size() == 1) {
        for (int64_t i = 0; i < terms; ++i) sum = static_cast<Sum>(sum + static_cast<Sum>(from[s + i * summed[0].src]));
      } else {
        ForOuter(summed, 0, terms, [&](int64_t t, int64_t) { sum = static_cast<Sum>(sum + static_cast<Sum>(from[s + t])); });
      }
      to[d] = T(sum);
    });
  });
}

namespace {

constexpr int64_t kFew = 256;  // elements that are copied as they come: looking for a better order takes longer

template <typename T>
void CopyFew(const T* src, const int64_t* src_stride, T* dst, const int64_t* dst_stride, const int64_t* shape, int ndim) {
  if (ndim == 0) {
    *dst = *src;
  } else if (ndim <= 2) {
    const int64_t rows = ndim == 2 ? shape[0] : 1, columns = shape[ndim - 1];
    const int64_t src_row = src_stride[0], dst_row = dst_stride[0], src_step = src_stride[ndim - 1], dst_step = dst_stride[ndim - 1];
    for (int64_t i = 0; i < rows; ++i) {
      const T* from = src + i * src_row;
      T* to = dst + i * dst_row;
      for (int64_t j = 0; j < columns; ++j, from += src_step, to += dst_step) *to = *from;
    }
  } else {
    for (int64_t i = 0; i < *shape; ++i)
      CopyFew(src + i * *src_stride, src_stride + 1, dst + i * *dst_stride, dst_stride + 1, shape + 1, ndim - 1);
  }
}

/* Where a copy begins, in elements. */
struct Start {
  int64_t src = 0, dst = 0;
};

/* Orders and turns dimensions so that the destination is written as it lies. */
Start AlongDestination(std::vector<Dim>* dims) {
  Start at;
  bool moved = false;
  for (size_t i = 0; i < dims->size(); ++i) {
    Dim& d = (*dims)[i];
    if (d.dst < 0) {
      at.src += (d.size - 1) * d.src, at.dst += (d.size - 1) * d.dst;
      d = {d.size, -d.src, -d.dst};
      moved = true;
    }
    moved = moved || (i > 0 && (*dims)[i - 1].dst < d.dst);
  }
  if (!moved) return at;
  std::stable_sort(dims->begin(), dims->end(), [](const Dim& a, const Dim& b) { return a.dst > b.dst; });
  std::vector<int64_t> src, dst, shape;
  for (const Dim& d : *dims) src.push_back(d.src), dst.push_back(d.dst), shape.push_back(d.size);
  dims->clear();
  MergedDims(src.data(), dst.data(), shape.data(), static_cast<int>(shape.size()), dims);
  return at;
}

}  // namespace

void CopyStrided(const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride, const int64_t* shape, int ndim,
                 size_t elem_bytes) {
  int64_t total = 1;
  for (int i = 0; i < ndim && total <= kFew; ++i) total *= shape[i];
  if (total <= kFew && ndim <= 4)
    return VisitElement(elem_bytes, [&](auto tag) {
      using T = decltype(tag);
      CopyFew(static_cast<const T*>(src), src_stride, static_cast<T*>(dst), dst_stride, shape, ndim);
    });
  std::vector<Dim> dims;
  if (!MergedDims(src_stride, dst_stride, shape, ndim, &dims)) return;
  const Start at = AlongDestination(&dims);
  VisitElement(elem_bytes, [&](auto tag) {
    using T = decltype(tag);
    CopyDims(static_cast<const T*>(src) + at.src, static_cast<T*>(dst) + at.dst, std::move(dims));
  });
}

void RowMajorStrides(const Shape& shape, int64_t* strides) {
  int64_t step = 1;
  for (int i = shape.ndim() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
}

void Permute(const void* src, const Shape& src_shape, const int* axes, void* dst, size_t elem_bytes) {
  const int n = src_shape.ndim();
  constexpr int kUsual = 6;  // dimensions whose strides lie on the stack
  int64_t few[4 * kUsual];
  std::vector<int64_t> many(n > kUsual ? 4 * static_cast<size_t>(n) : 0);
  int64_t* strides = many.empty() ? few : many.data();
  int64_t *from = strides + n, *to = from + n, *shape = to + n;
  RowMajorStrides(src_shape, strides);
  for (int i = 0; i < n; ++i) {
    shape[i] = src_shape[axes[i]];
    from[i] = strides[axes[i]];
  }
  for (int64_t i = n - 1, step = 1; i >= 0; step *= shape[i--]) to[i] = step;
  CopyStrided(src, from, dst, to, shape, n, elem_bytes);
}

}  // namespace mxnet
