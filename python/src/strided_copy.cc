#include "strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace mxnet {
namespace python {
namespace {

constexpr int kMostDims = 64;
constexpr int64_t kTile = 32;  // rows and columns of a transposed matrix whose cache lines a core holds

/* INVARIANT: `side` are the steps of the array that lies side by side, and no size is 1. */
struct Walk {
  int ndim = 0;
  int64_t count[kMostDims], step[kMostDims], side[kMostDims];
};

/* Without dimensions of size 1, and with those as one that lie together in both arrays. */
Walk Merged(int ndim, const int64_t* count, const int64_t* step) {
  Walk w;
  for (int i = 0; i < ndim; ++i) {
    if (count[i] == 1) continue;
    if (w.ndim > 0 && w.step[w.ndim - 1] == count[i] * step[i]) {
      w.count[w.ndim - 1] *= count[i];
      w.step[w.ndim - 1] = step[i];
      continue;
    }
    w.count[w.ndim] = count[i], w.step[w.ndim++] = step[i];
  }
  int64_t side = 1;
  for (int i = w.ndim; i-- > 0; side *= w.count[i]) w.side[i] = side;
  return w;
}

template <typename T, bool kGather>
inline void CopyOne(T* side, T* other) {
  if (kGather)
    *side = *other;
  else
    *other = *side;
}

template <typename T, bool kGather>
void CopyLine(T* side, T* other, int64_t count, int64_t step) {
  if (step == 1) {
    std::memcpy(kGather ? side : other, kGather ? other : side, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i) CopyOne<T, kGather>(side + i, other + i * step);
}

/* The last dimension lies side by side in one array, and dimension `d` in the other, or nearly. */
template <typename T, bool kGather>
void CopyTiles(T* side, T* other, const Walk& w, int d) {
  const int last = w.ndim - 1;
  for (int64_t i0 = 0; i0 < w.count[d]; i0 += kTile) {
    const int64_t i1 = std::min(i0 + kTile, w.count[d]);
    for (int64_t j0 = 0; j0 < w.count[last]; j0 += kTile) {
      const int64_t j1 = std::min(j0 + kTile, w.count[last]);
      for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j) CopyOne<T, kGather>(side + i * w.side[d] + j, other + i * w.step[d] + j * w.step[last]);
    }
  }
}

template <typename T, bool kGather>
void CopyFrom(T* side, T* other, const Walk& w, int d) {
  if (d == w.ndim) {
    CopyOne<T, kGather>(side, other);
  } else if (d == w.ndim - 1) {
    CopyLine<T, kGather>(side, other, w.count[d], w.step[d]);
  } else if (d == w.ndim - 2 && std::abs(w.step[d]) < std::abs(w.step[d + 1])) {
    CopyTiles<T, kGather>(side, other, w, d);
  } else {
    for (int64_t i = 0; i < w.count[d]; ++i) CopyFrom<T, kGather>(side + i * w.side[d], other + i * w.step[d], w, d + 1);
  }
}

template <bool kGather>
void Copy(void* side, void* other, int64_t offset, const Walk& w, size_t item) {
  switch (item) {
    case 1: return CopyFrom<uint8_t, kGather>(static_cast<uint8_t*>(side), static_cast<uint8_t*>(other) + offset, w, 0);
    case 2: return CopyFrom<uint16_t, kGather>(static_cast<uint16_t*>(side), static_cast<uint16_t*>(other) + offset, w, 0);
    case 4: return CopyFrom<uint32_t, kGather>(static_cast<uint32_t*>(side), static_cast<uint32_t*>(other) + offset, w, 0);
    default: return CopyFrom<uint64_t, kGather>(static_cast<uint64_t*>(side), static_cast<uint64_t*>(other) + offset, w, 0);
  }
}

}  // namespace

void GatherStrided(void* to, const void* from, int64_t offset, int ndim, const int64_t* count, const int64_t* step, size_t item) {
  Copy<true>(to, const_cast<void*>(from), offset, Merged(ndim, count, step), item);
}

void ScatterStrided(void* to, const void* from, int64_t offset, int ndim, const int64_t* count, const int64_t* step, size_t item) {
  Copy<false>(const_cast<void*>(from), to, offset, Merged(ndim, count, step), item);
}

}  // namespace python
}  // namespace mxnet
