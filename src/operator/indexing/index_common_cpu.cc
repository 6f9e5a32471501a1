#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/copy_run.h"
#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "mxnet/op.h"
#include "operator/indexing/index.h"
#include "operator/indexing/index_common.h"
#include "operator/matrix/move.h"
#include "operator/matrix/move_cpu.h"

namespace mxnet {
namespace {

template <typename T>
int64_t ToIndex(T v) {
  if constexpr (std::is_integral<T>::value) {
    if constexpr (std::is_same<T, uint64_t>::value) return v > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(v);
    return static_cast<int64_t>(v);
  } else {
    const double d = static_cast<double>(v);
    if (d >= 9223372036854775808.0) return INT64_MAX;
    if (!(d >= -9223372036854775808.0)) return INT64_MIN;
    return static_cast<int64_t>(d);
  }
}

constexpr int64_t kBlock = 1024;

// to[i] = from[i] cut off, where 32 bits hold all of them; else false. Every processor makes these
// conversions in vectors, and few those of 64 bits.
template <typename T>
bool ToFewBits(const T* from, int64_t n, int32_t* to) {
  if constexpr (!std::is_integral<T>::value) {
    using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
    int fit = 1;
    for (int64_t i = 0; i < n; ++i) {
      const Wide v = static_cast<Wide>(from[i]);
      fit &= static_cast<int>(v >= Wide(-0x1p31)) & static_cast<int>(v < Wide(0x1p31));
    }
    if (!fit) return false;
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int32_t>(static_cast<Wide>(from[i]));
  } else {
    int fit = 1;
    for (int64_t i = 0; i < n; ++i) {
      to[i] = static_cast<int32_t>(from[i]);
      if constexpr (sizeof(T) >= sizeof(int32_t)) fit &= static_cast<int>(ToIndex(from[i]) == to[i]);
    }
    if (!fit) return false;
  }
  return true;
}

// At most kBlock indices.
template <typename T>
void ToIndices(const T* from, int64_t n, int64_t* to) {
  int32_t few[kBlock];
  if (!std::is_integral<T>::value && ToFewBits(from, n, few)) {
    for (int64_t i = 0; i < n; ++i) to[i] = few[i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = ToIndex(from[i]);
  }
}

int64_t* Converted(KernelArgs& a, const TBlob& indices, int64_t n) {
  int64_t* out = static_cast<int64_t*>(a.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(int64_t)));
  ParallelFor(n, 0, [&](int64_t begin, int64_t end) { CopyIndices(indices, begin, end - begin, out + begin); });
  return out;
}

}  // namespace

void CopyIndices(const TBlob& indices, int64_t first, int64_t n, int64_t* to) {
  VisitDType(indices.dtype, "indices", [&](auto tag) {
    const auto* from = indices.data<decltype(tag)>() + first;
    for (int64_t i = 0; i < n; i += kBlock) ToIndices(from + i, std::min(kBlock, n - i), to + i);
  });
}

const int64_t* ReadIndices(KernelArgs& a, const TBlob& indices) {
  if (indices.dtype == kInt64) return indices.data<int64_t>();
  return a.run.ctx.is_gpu() ? ReadIndicesOnDevice(a, indices) : Converted(a, indices, indices.Size());
}

const int64_t* ReadIndicesInRange(KernelArgs& a, const TBlob& indices, int64_t size, IndexMode mode) {
  if (a.run.ctx.is_gpu()) return ReadIndicesInRangeOnDevice(a, indices, size, mode);
  const int64_t n = indices.Size();
  MXNET_CHECK_KIND(size > 0 || n == 0, Index) << "[" << a.attrs->op->name << "] cannot take " << n << " entries of a dimension of size 0";
  int64_t* out = Converted(a, indices, n);
  ParallelFor(n, 0, [&](int64_t begin, int64_t end) {
    switch (mode) {
      case IndexMode::kClip:
        for (int64_t i = begin; i < end; ++i) out[i] = std::min(std::max<int64_t>(out[i], 0), size - 1);
        break;
      case IndexMode::kWrap:
        for (int64_t i = begin; i < end; ++i) {
          const int64_t r = out[i] % size;
          out[i] = r < 0 ? r + size : r;
        }
        break;
      case IndexMode::kRaise:
        for (int64_t i = begin; i < end; ++i)
          MXNET_CHECK_KIND(out[i] >= 0 && out[i] < size, Index) << "[" << a.attrs->op->name << "] index " << out[i] << " at position " << i
                                                                << " is out of range; accepted: 0 to " << size - 1;
        break;
      case IndexMode::kFromEnd:
        for (int64_t i = begin; i < end; ++i) {
          MXNET_CHECK_KIND(out[i] >= -size && out[i] < size, Index) << "[" << a.attrs->op->name << "] index " << out[i] << " at position "
                                                                    << i << " is out of range; accepted: " << -size << " to " << size - 1;
          out[i] += out[i] < 0 ? size : 0;
        }
        break;
    }
  });
  return out;
}

void ConvertIndices(const int64_t* values, const TBlob& out, int64_t n) {
  VisitDType(out.dtype, "index", [&](auto tag) {
    using T = decltype(tag);
    T* to = out.data<T>();
    ParallelFor(n, 0, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = T(values[i]);
    });
  });
}

namespace {

// Entries [begin, end) of the result of TakeRows. Pointers are arguments: bytes that are stored
// could be part of what a lambda captured. A length that the compiler knows is one move.
template <typename Bytes>
void CopyEntries(const char* __restrict from, int64_t size, const int64_t* __restrict index, int64_t num, Bytes bytes, char* __restrict to,
                 int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end;) {
    const int64_t first = at % num, n = std::min(num - first, end - at);
    const char* const base = from + at / num * size * bytes;
    char* const out = to + at * bytes;
    for (int64_t i = 0; i < n; ++i) CopyEntry(out + i * bytes, base + index[first + i] * bytes, bytes);
    at += n;
  }
}

}  // namespace

void TakeRows(const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num, void* out) {
  const int64_t row = inner * static_cast<int64_t>(DTypeSize(data.dtype));
  if (row == 0) return;
  const char* from = data.data<char>();
  char* to = static_cast<char*>(out);
  const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / inner);
  OfLength(row, [&](auto bytes) {
    ParallelFor(outer * num, grain, [&](int64_t begin, int64_t end) { CopyEntries(from, size, index, num, bytes, to, begin, end); });
  });
}

void AddRows(KernelArgs& a, const void* rows, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
             const TBlob& data) {
  if (a.run.ctx.is_gpu()) return AddRowsOnDevice(a, rows, outer, size, inner, index, num, data, false);
  const int64_t total = data.Size();
  VisitDType(data.dtype, a.attrs->op->name.c_str(), [&](auto tag) {
    using T = decltype(tag);
    using Sum = std::conditional_t<sizeof(T) == 2 && !std::is_integral<T>::value, float, T>;
    constexpr bool kWide = !std::is_same<T, Sum>::value;
    const T* from = static_cast<const T*>(rows);
    Sum* to = kWide ? static_cast<Sum*>(a.workspace(static_cast<size_t>(std::max<int64_t>(total, 1)) * sizeof(Sum)))
                    : reinterpret_cast<Sum*>(data.data<T>());
    ZeroBytes(to, total * static_cast<int64_t>(sizeof(Sum)));
    const auto add = [=](int64_t first, int64_t last, int64_t low, int64_t high) {
      for (int64_t o = first; o < last; ++o)
        for (int64_t i = 0; i < num; ++i) {
          if (index[i] < low || index[i] >= high) continue;
          Sum* d = to + (o * size + index[i]) * inner;
          const T* s = from + (o * num + i) * inner;
          if (inner == 1) {  // a loop's beginning takes longer than its one addition
            *d = static_cast<Sum>(*d + static_cast<Sum>(*s));
            continue;
          }
          for (int64_t k = 0; k < inner; ++k) d[k] = static_cast<Sum>(d[k] + static_cast<Sum>(s[k]));
        }
    };
    // No two threads write one element, and sums keep the order of the indices: each thread owns
    // some of the outer, or a range of destination rows of which it reads all indices. Short rows
    // are added in less time than it takes to guess wrong whose they are.
    constexpr int64_t kShortRow = 16;
    const int threads = OmpThreads(outer * num * inner);
    if (outer >= threads)
      ParallelForThreads(threads, outer, [&](int64_t first, int64_t last) { add(first, last, 0, size); });
    else
      ParallelForThreads(inner < kShortRow ? 1 : threads, size, [&](int64_t low, int64_t high) { add(0, outer, low, high); });
    if (kWide) {
      T* end = data.data<T>();
      ParallelFor(total, 0, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) end[i] = T(to[i]);
      });
    }
  });
}

bool FlattenIndices(const int64_t* in, int64_t m, int64_t n, const Shape& data, bool from_end, int64_t* flat) {
  std::atomic<bool> good{true};
  ParallelFor(n, 0, [&](int64_t begin, int64_t end) {
    uint64_t outside = 0;
    if (m == 0) std::fill(flat + begin, flat + end, int64_t{0});
    for (int64_t d = 0; d < m; ++d) {
      const int64_t size = data[static_cast<int>(d)], added = from_end ? size : 0;
      const int64_t* given = in + d * n;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t index = given[i] + (given[i] < 0 ? added : 0);
        outside |= static_cast<uint64_t>(index) >= static_cast<uint64_t>(size);
        flat[i] =
            static_cast<int64_t>(static_cast<uint64_t>(d == 0 ? 0 : flat[i]) * static_cast<uint64_t>(size) + static_cast<uint64_t>(index));
      }
    }
    if (outside) good.store(false, std::memory_order_relaxed);
  });
  return good.load(std::memory_order_relaxed);
}

void RavelIndices(const RunContext& run, const Shape& target, const int64_t* columns, int64_t n, int64_t* flat) {
  if (run.ctx.is_gpu()) return RavelIndicesOnDevice(run, target, columns, n, flat);
  for (int64_t i = 0; i < n; ++i) {
    uint64_t at = 0;  // wraps instead of overflowing when the given indices are far out of range
    for (int d = 0; d < target.ndim(); ++d)
      at = at * (d == 0 ? 1 : static_cast<uint64_t>(target[d])) + static_cast<uint64_t>(columns[d * n + i]);
    flat[i] = static_cast<int64_t>(at);
  }
}

namespace {

// Of at most kBlock numbers that are not negative, the index of every dimension but the first, each
// given to `store` as soon as it is whole; the first is left in `rest`. n + 0.5 is so far from the
// multiples of a size that the rounded product with the size's reciprocal has the same whole part
// as the quotient.
template <typename Store>
void UnravelFewBits(const Shape& target, int64_t n, int32_t* rest, Store store) {
  int32_t column[kBlock];
  for (int d = target.ndim() - 1; d > 0; --d) {
    const int32_t size = static_cast<int32_t>(std::min<int64_t>(target[d], INT32_MAX));
    const double reciprocal = 1 / static_cast<double>(target[d]);
    for (int64_t i = 0; i < n; ++i) {
      const int32_t quotient = static_cast<int32_t>((rest[i] + 0.5) * reciprocal);
      column[i] = rest[i] - quotient * size;
      rest[i] = quotient;
    }
    store(d, column);
  }
}

// The same of any numbers; of negative ones the indices are negative, as in 1.9.1.
template <typename Store>
void UnravelAny(const Shape& target, int64_t n, int64_t* rest, Store store) {
  int64_t column[kBlock];
  for (int d = target.ndim() - 1; d > 0; --d) {
    const int64_t size = target[d];
    for (int64_t i = 0; i < n; ++i) {
      column[i] = rest[i] % size;
      rest[i] /= size;
    }
    store(d, column);
  }
}

}  // namespace

void UnravelIndices(const Shape& target, const TBlob& flat, const TBlob& columns) {
  const int64_t n = flat.Size();
  ParallelFor(n, 0, [&](int64_t begin, int64_t end) {
    int64_t rest[kBlock];
    int32_t few[kBlock];
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t m = std::min(kBlock, end - first);
      const auto store = [&](int d, const auto* column) {
        VisitDType(columns.dtype, "unravel_index", [&](auto tag) {
          auto* to = columns.data<decltype(tag)>() + d * n + first;
          for (int64_t i = 0; i < m; ++i) to[i] = decltype(tag)(column[i]);
        });
      };
      bool small = false;
      VisitDType(flat.dtype, "unravel_index", [&](auto tag) {
        const auto* from = flat.data<decltype(tag)>() + first;
        small = ToFewBits(from, m, few) && *std::min_element(few, few + m) >= 0;
        if (!small) ToIndices(from, m, rest);
      });
      // the first size is not checked: it need not be known
      if (small) {
        UnravelFewBits(target, m, few, store);
        store(0, few);
      } else {
        UnravelAny(target, m, rest, store);
        store(0, rest);
      }
    }
  });
}

const void* RepeatedTo(KernelArgs& a, const TBlob& val, const Shape& pieces) {
  if (val.shape.Size() == pieces.Size()) return val.dptr;
  const int ndim = pieces.ndim(), lead = ndim - val.shape.ndim();
  std::vector<int64_t> from(static_cast<size_t>(ndim), 0), to(static_cast<size_t>(ndim), 0), dims(pieces.begin(), pieces.end());
  int64_t from_step = 1, to_step = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    to[i] = to_step;
    to_step *= pieces[i];
    if (i < lead) continue;
    from[i] = val.shape[i - lead] == 1 ? 0 : from_step;
    from_step *= val.shape[i - lead];
  }
  void* all = a.workspace(static_cast<size_t>(to_step) * DTypeSize(val.dtype));
  CopyStrided(a.run, val.dptr, from.data(), all, to.data(), dims.data(), ndim, DTypeSize(val.dtype));
  return all;
}

}  // namespace mxnet
