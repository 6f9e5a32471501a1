#include <cstring>

#include "operator/image/pick_pixels.h"

namespace mxnet {
namespace image {
namespace {

template <int kBytes>
void PickPixelsOf(const char* from, const int64_t* at, int64_t n, char* to) {
  for (int64_t d = 0; d < n; ++d) std::memcpy(to + d * kBytes, from + at[d], kBytes);
}

// With kRead bytes, more than a pixel has, while one lies behind what is read and written.
template <int kBytes, int kRead>
void PickPixelsWide(const char* from, const int64_t* at, int64_t n, char* to) {
  int64_t d = 0;
  for (; d < n - 1 && at[d] < at[n - 1]; ++d) std::memcpy(to + d * kBytes, from + at[d], kRead);
  PickPixelsOf<kBytes>(from, at + d, n - d, to + d * kBytes);
}

// Eight bytes are written at once.
void PickBytes(const char* from, const int64_t* at, int64_t n, char* to) {
  int64_t d = 0;
  for (; d + 8 <= n; d += 8) {
    uint64_t word = 0;
    for (int k = 0; k < 8; ++k) word |= static_cast<uint64_t>(static_cast<uint8_t>(from[at[d + k]])) << (8 * k);
    std::memcpy(to + d, &word, sizeof(word));
  }
  PickPixelsOf<1>(from, at + d, n - d, to + d);
}

}  // namespace

void PickPixels(const char* from, const int64_t* at, int64_t n, int64_t bytes, char* to) {
  switch (bytes) {
    case 1: return PickBytes(from, at, n, to);
    case 3: return PickPixelsWide<3, 4>(from, at, n, to);
    case 4: return PickPixelsOf<4>(from, at, n, to);
    case 12: return PickPixelsWide<12, 16>(from, at, n, to);
    case 16: return PickPixelsOf<16>(from, at, n, to);
    default:
      for (int64_t d = 0; d < n; ++d) std::memcpy(to + d * bytes, from + at[d], static_cast<size_t>(bytes));
  }
}

}  // namespace image
}  // namespace mxnet
