// Divisions of integers by one number, by multiplication: processors take many times as long for a
// division.
#pragma GCC optimize("wrapv")
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "operator/pointwise/loops/division.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;

enum class Part { kFloor, kFloorRest, kCut, kCutRest };  // quotients and remainders, rounded down or towards 0

template <Part kPart, typename T>
inline T Chosen(T quotient, T rest, T number, bool apart) {  // of a division towards 0; apart: it is not rounded down
  if constexpr (kPart == Part::kFloor) return quotient - apart;
  if constexpr (kPart == Part::kFloorRest) return apart ? rest + number : rest;
  if constexpr (kPart == Part::kCut) return quotient;
  return rest;
}

// The quotient of doubles is exact or, before it is cut off, wrong in the last place: by one whole
// at most, which the remainder tells.
template <Part kPart>
void DivideAll(const int32_t* x, int32_t number, int32_t* y, int64_t n) {
  const double inverse = 1.0 / number;
  const int32_t size = number < 0 ? -number : number, sign = number < 0 ? -1 : 1;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const int32_t a = x[i];
    int32_t q = static_cast<int32_t>(std::floor(a * inverse)), r = a - q * number;
    const int32_t under = r * sign < 0 ? 1 : 0, over = r * sign >= size ? 1 : 0;
    q += over - under;
    r -= (over - under) * number;
    if constexpr (kPart == Part::kCut || kPart == Part::kCutRest) {
      const int32_t up = (r != 0) & ((a ^ number) < 0) ? 1 : 0;
      q += up;
      r -= up * number;
    }
    y[i] = kPart == Part::kFloor || kPart == Part::kCut ? q : r;
  }
}

// Warren, "Hacker's Delight", 2nd edition, 10-1: quotients are the upper half of a product.
struct Magic {
  int64_t factor;
  int shift;
  explicit Magic(uint64_t d) {  // 2 <= d < 2^63
    using Wide = unsigned __int128;
    const uint64_t half = uint64_t{1} << 63, most = half - 1 - half % d;
    int p = 64;
    for (;; ++p) {
      const uint64_t rest = static_cast<uint64_t>((Wide{1} << p) % d);
      if (Wide{1} << p > Wide{most} * (d - rest)) {
        factor = static_cast<int64_t>(static_cast<uint64_t>(((Wide{1} << p) + d - rest) / d));
        break;
      }
    }
    shift = p - 64;
  }
};

template <Part kPart>
void DivideAll(const int64_t* x, int64_t number, int64_t* y, int64_t n) {
  const Magic magic(static_cast<uint64_t>(number < 0 ? -number : number));
  const int64_t factor = magic.factor, more = magic.factor < 0 ? -1 : 0, turn = number < 0 ? -1 : 0;
  const int shift = magic.shift;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const int64_t a = x[i];
    int64_t q = static_cast<int64_t>((static_cast<__int128>(a) * factor) >> 64) + (a & more);
    q = (q >> shift) + static_cast<int64_t>(static_cast<uint64_t>(a) >> 63);
    q = (q ^ turn) - turn;
    const int64_t r = a - q * number;
    y[i] = Chosen<kPart>(q, r, number, (r != 0) & ((r ^ number) < 0));
  }
}

template <Part kPart, typename T>
void ByNumber(const void* const* in, void* out, int64_t n, unsigned) {
  DivideAll<kPart>(static_cast<const T*>(in[0]), *static_cast<const T*>(in[1]), static_cast<T*>(out), n);
}

template <typename T>
Loop Of(int row) {
  switch (row) {
    case pointwise::k_floor_divide: return ByNumber<Part::kFloor, T>;
    case pointwise::k_mod: return ByNumber<Part::kFloorRest, T>;
    case pointwise::k_div: return ByNumber<Part::kCut, T>;
    case pointwise::k_fmod: return ByNumber<Part::kCutRest, T>;
    default: return nullptr;
  }
}

}  // namespace

Loop DivisionByNumber(int row, int compute) {
  return compute == pointwise::kI32 ? Of<int32_t>(row) : compute == pointwise::kI64 ? Of<int64_t>(row) : nullptr;
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
