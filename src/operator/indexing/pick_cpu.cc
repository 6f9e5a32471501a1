#include <algorithm>

#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/indexing/index_common.h"
#include "operator/indexing/pick.h"
#include "operator/init/fill_cpu.h"

namespace mxnet {
namespace {

// Unsigned integers stand for elements of their size.
template <typename F>
void BySize(int dtype, F&& f) {
  switch (DTypeSize(dtype)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

template <typename F>
void Each(int64_t outer, int64_t size, int64_t inner, const int64_t* index, F&& f) {
  ParallelFor(outer * inner, 0, [&](int64_t begin, int64_t end) {
    if (inner == 1) {
      for (int64_t at = begin; at < end; ++at) f(at, at * size + index[at]);
    } else {
      for (int64_t at = begin; at < end; ++at) f(at, (at / inner * size + index[at]) * inner + at % inner);
    }
  });
}

}  // namespace

void PickEntries(const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, void* out) {
  BySize(data.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* from = data.data<T>();
    T* to = static_cast<T*>(out);
    Each(outer, size, inner, index, [&](int64_t small, int64_t large) { to[small] = from[large]; });
  });
}

void PutEntries(const void* values, int64_t outer, int64_t size, int64_t inner, const int64_t* index, const TBlob& data) {
  BySize(data.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* from = static_cast<const T*>(values);
    T* to = data.data<T>();
    Each(outer, size, inner, index, [&](int64_t small, int64_t large) { to[large] = from[small]; });
  });
}

// Threads share whole (outer, size, inner) blocks' lines, so that two values for one place never
// race.
template <typename F>
static void EachLine(int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index, F&& f) {
  const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / std::max<int64_t>(1, k));
  ParallelFor(outer * inner, grain, [&](int64_t begin, int64_t end) {
    for (int64_t l = begin; l < end; ++l) {
      const int64_t o = l / inner, i = l % inner;
      for (int64_t j = 0; j < k; ++j) {
        const int64_t small = (o * k + j) * inner + i;
        f(small, (o * size + index[small]) * inner + i);
      }
    }
  });
}

void TakeLines(const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index, void* out) {
  BySize(data.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* from = data.data<T>();
    T* to = static_cast<T*>(out);
    EachLine(outer, size, inner, k, index, [&](int64_t small, int64_t large) { to[small] = from[large]; });
  });
}

void PutLines(const void* values, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index, const TBlob& data) {
  BySize(data.dtype, [&](auto tag) {
    using T = decltype(tag);
    const T* from = static_cast<const T*>(values);
    T* to = data.data<T>();
    EachLine(outer, size, inner, k, index, [&](int64_t small, int64_t large) { to[large] = from[small]; });
  });
}

void FillOneHot(const TBlob& out, const TBlob& index, int64_t depth, double on, double off) {
  constexpr int64_t kBlock = 1 << 13;  // elements that are filled, and still in the cache when some get the other value
  constexpr int64_t kRows = 1024;
  uint64_t values[2] = {0, 0};  // in the dtype of out
  for (int i = 0; i < 2; ++i) {
    TBlob one;
    one.dptr = &values[i];
    one.shape = Shape({1});
    one.dtype = out.dtype;
    FillValue(one, i ? on : off);
  }
  BySize(out.dtype, [&](auto tag) {
    using T = decltype(tag);
    T v, rest;
    std::memcpy(&rest, &values[0], sizeof(T));
    std::memcpy(&v, &values[1], sizeof(T));
    T* to = out.data<T>();
    const int64_t rows = std::min(kRows, std::max<int64_t>(1, kBlock / std::max<int64_t>(depth, 1)));
    const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / std::max<int64_t>(depth, 1));
    ParallelFor(index.Size(), grain, [&](int64_t begin, int64_t end) {
      int64_t ones[kRows];
      for (int64_t first = begin; first < end; first += rows) {
        const int64_t last = std::min(end, first + rows);
        std::fill(to + first * depth, to + last * depth, rest);
        CopyIndices(index, first, last - first, ones);
        T* row = to + first * depth;
        for (int64_t i = 0; i < last - first; ++i, row += depth)
          if (static_cast<uint64_t>(ones[i]) < static_cast<uint64_t>(depth)) row[ones[i]] = v;
      }
    });
  });
}

}  // namespace mxnet
