#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/indexing/select_numbers.h"
#include "operator/pointwise/loops/gather.h"

namespace mxnet {
namespace {

constexpr int64_t kBlock = 2048;  // conditions turned into bytes at a time: one loop per dtype, one per element size

template <typename T>
void SelectBlock(const uint8_t* truth, const T* x, const T* y, T* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {  // both are read, so that there is no branch to guess
    const T a = x[i], b = y[i], all = static_cast<T>(T(0) - static_cast<T>(truth[i]));
    out[i] = static_cast<T>(b ^ ((a ^ b) & all));
  }
}

// With arguments of its own: bytes that are stored could be part of what a lambda captured.
template <typename T>
void FlagBlock(const T* in, int64_t n, uint8_t* flags) {
  if constexpr (std::is_same<T, bool>::value) {
    std::memcpy(flags, in, static_cast<size_t>(n));
  } else if constexpr (sizeof(T) == 2 && !std::is_integral<T>::value) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) flags[i] = (in[i].bits & 0x7fffu) != 0;
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) flags[i] = in[i] != T(0);
  }
}

}  // namespace

void NonzeroFlags(const TBlob& array, int64_t begin, int64_t n, uint8_t* flags) {
  VisitDType(array.dtype, "nonzero", [&](auto tag) {
    using T = decltype(tag);
    FlagBlock(array.data<T>() + begin, n, flags);
  });
}

void SelectNumbers(const TBlob& condition, const void* x, const void* y, void* out, int64_t count, int64_t piece, unsigned singles) {
  if (piece == 0) return;
  const char *px = static_cast<const char*>(x), *py = static_cast<const char*>(y);
  char* po = static_cast<char*>(out);
  ParallelForThreads(OmpThreads(count * piece / 4), count, [&](int64_t begin, int64_t end) {
    uint8_t truth[kBlock];
    alignas(64) char repeated[2][kBlock * 8];
    for (int k = 0; k < 2; ++k)
      if (singles >> k & 1u)
        pointwise::FillElements(repeated[k], std::min(kBlock, end - begin), k == 0 ? x : y, static_cast<size_t>(piece));
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      NonzeroFlags(condition, at, n, truth);
      const char *bx = singles & 1u ? repeated[0] : px + at * piece, *by = singles & 2u ? repeated[1] : py + at * piece;
      char* bo = po + at * piece;
      switch (piece) {
        case 1:
          SelectBlock(truth, reinterpret_cast<const uint8_t*>(bx), reinterpret_cast<const uint8_t*>(by), reinterpret_cast<uint8_t*>(bo), n);
          break;
        case 2:
          SelectBlock(truth, reinterpret_cast<const uint16_t*>(bx), reinterpret_cast<const uint16_t*>(by), reinterpret_cast<uint16_t*>(bo),
                      n);
          break;
        case 4:
          SelectBlock(truth, reinterpret_cast<const uint32_t*>(bx), reinterpret_cast<const uint32_t*>(by), reinterpret_cast<uint32_t*>(bo),
                      n);
          break;
        case 8:
          SelectBlock(truth, reinterpret_cast<const uint64_t*>(bx), reinterpret_cast<const uint64_t*>(by), reinterpret_cast<uint64_t*>(bo),
                      n);
          break;
        default:
          for (int64_t i = 0; i < n; ++i) std::memcpy(bo + i * piece, (truth[i] ? bx : by) + i * piece, piece);
      }
    }
  });
}

void Select(const TBlob& condition, const void* x, const void* y, void* out, int64_t count, int64_t piece) {
  SelectNumbers(condition, x, y, out, count, piece, 0);
}

}  // namespace mxnet
