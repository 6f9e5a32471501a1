#include "operator/nn/common/half_pieces.h"

#include <cstring>

#include "base/half.h"

namespace mxnet {
namespace nn {
namespace {
constexpr int64_t kAlone = 1 << 15;  // elements that one thread converts
}

void ReadFloats(int dtype, const void* from, float* to, int64_t n) {
  if (dtype == kFloat16)
    HalfToFloat(static_cast<const float16*>(from), to, n);
  else if (dtype == kBfloat16)
    BfloatToFloat(static_cast<const bfloat16*>(from), to, n);
  else
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
}

void WriteFloats(const float* from, int dtype, void* to, int64_t n) {
  if (dtype == kFloat16)
    FloatToHalf(from, static_cast<float16*>(to), n);
  else if (dtype == kBfloat16)
    FloatToBfloat(from, static_cast<bfloat16*>(to), n);
  else
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
}

void ReadFloats(const TBlob& from, float* to) {
  ParallelFor(from.Size(), kAlone, [&](int64_t begin, int64_t end) { ReadFloats(from, begin, to + begin, end - begin); });
}

void WriteFloats(const float* from, const TBlob& to) {
  ParallelFor(to.Size(), kAlone, [&](int64_t begin, int64_t end) { WriteFloats(from + begin, to, begin, end - begin); });
}

void SumHalfRows(const TBlob& from, int64_t m, int64_t n, bool add, const TBlob& to) {
  constexpr int64_t kPart = 512;  // columns, whose sums stay in the first-level cache
  ParallelFor((n + kPart - 1) / kPart, std::max<int64_t>(1, 65536 / (m * kPart)), [&](int64_t begin, int64_t end) {
    alignas(64) float sums[kPart], row[kPart];
    for (int64_t first = begin * kPart; first < std::min(end * kPart, n); first += kPart) {
      const int64_t columns = std::min(kPart, n - first);
      if (add)
        ReadFloats(to, first, sums, columns);
      else
        std::fill_n(sums, columns, 0.f);
      for (int64_t i = 0; i < m; ++i) {
        ReadFloats(from, i * n + first, row, columns);
        for (int64_t j = 0; j < columns; ++j) sums[j] += row[j];
      }
      WriteFloats(sums, to, first, columns);
    }
  });
}

}  // namespace nn
}  // namespace mxnet
