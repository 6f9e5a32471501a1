// Loops over 8-bit integers. Each is one that compilers make vector code of. Values are the same on
// each level, so products and sums are not contracted.
#pragma GCC optimize("fp-contract=off")  // for all that follows

#include <algorithm>
#include <type_traits>

#include "operator/quantized/bytes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr float kWhole = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction

inline float Cut(float v, ByteLimits limits) {
  v = v != v ? 0.0f : v;
  v = v > limits.high ? limits.high : v;
  return v < limits.low ? limits.low : v;
}

// The low byte of a whole number is that of both signed and unsigned bytes.
inline int8_t Byte(float whole) { return static_cast<int8_t>(static_cast<int32_t>(whole)); }
inline int8_t Rounded(float v, ByteLimits limits) { return Byte((Cut(v, limits) + kWhole) - kWhole); }

template <typename F>
inline void OfType(const void* x, bool is_unsigned, F&& f) {
  if (is_unsigned)
    f(static_cast<const uint8_t*>(x));
  else
    f(static_cast<const int8_t*>(x));
}

template <typename F>
inline void OfTypes(const void* a, bool a_unsigned, const void* b, bool b_unsigned, F&& f) {
  OfType(a, a_unsigned, [&](const auto* x) { OfType(b, b_unsigned, [&](const auto* y) { f(x, y); }); });
}

/* COUNT 0: any. */
template <int COUNT, typename Mean>
void Means(const int16_t* x, int64_t count, int64_t apart, const Mean& mean, int64_t n, int8_t* to) {
  constexpr int64_t kTogether = 256;
  int16_t sums[kTogether];
  for (int64_t from = 0; from < n; from += kTogether, x += kTogether, to += kTogether) {
    const int64_t some = std::min(kTogether, n - from);
    if (COUNT == 3) {
#pragma GCC ivdep
      for (int64_t j = 0; j < some; ++j) to[j] = mean(static_cast<int16_t>(x[j] + x[apart + j] + x[2 * apart + j]));
      continue;
    }
    std::copy_n(x, some, sums);
    for (int64_t k = 1; k < count; ++k)
#pragma GCC ivdep
      for (int64_t j = 0; j < some; ++j) sums[j] = static_cast<int16_t>(sums[j] + x[k * apart + j]);
#pragma GCC ivdep
    for (int64_t j = 0; j < some; ++j) to[j] = mean(sums[j]);
  }
}

/* Sums divided by an odd number below 128, of which none lies in the middle of two whole ones: 2^16
 * times what they are multiplied by is so near to a power of two over that number that every one of
 * 256 times it comes out right. */
struct OddMean {
  int below;  // makes sums positive, and the quotient by kBelow larger
  uint32_t factor;
  int shift = 0;
  uint16_t add;
  static constexpr int kBelow = 128;
  OddMean(int64_t numbers, bool is_unsigned) : below(is_unsigned ? 0 : kBelow) {
    const auto number = static_cast<uint32_t>(numbers);
    while (number >> (shift + 1)) ++shift;
    factor = ((uint32_t{65536} << shift) + number - 1) / number;
    add = static_cast<uint16_t>(below * number + number / 2);
  }
  int8_t operator()(int16_t sum) const {
    const uint32_t high = (static_cast<uint32_t>(static_cast<uint16_t>(sum + add)) * factor) >> 16;
    return static_cast<int8_t>((static_cast<uint16_t>(high) >> shift) - below);
  }
};

/* Sums divided by a power of two, ties to the even number. */
struct ShiftMean {
  int shift = 0, add, odd;
  explicit ShiftMean(int64_t numbers) : add(static_cast<int>(std::max<int64_t>(numbers / 2 - 1, 0))), odd(numbers > 1 ? 1 : 0) {
    while (numbers >> (shift + 1)) ++shift;
  }
  int8_t operator()(int16_t sum) const { return static_cast<int8_t>(static_cast<int16_t>(sum + add + ((sum >> shift) & odd)) >> shift); }
};

}  // namespace

void ToBytes(const float* x, float scale, float shift, ByteLimits limits, int64_t n, void* out) {
  int8_t* to = static_cast<int8_t*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = Rounded(x[i] * scale + shift, limits);
}

void SumsToBytes(const int32_t* x, float scale, ByteLimits limits, int64_t n, void* out) {
  int8_t* to = static_cast<int8_t*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = Rounded(static_cast<float>(x[i]) * scale, limits);
}

void BytesToFloats(const void* x, bool is_unsigned, float shift, float scale, int64_t n, float* out) {
  OfType(x, is_unsigned, [&](const auto* from) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = (static_cast<float>(from[i]) - shift) * scale;
  });
}

void BytesToBytes(const void* x, bool is_unsigned, float scale, float shift, ByteLimits limits, int64_t n, void* out) {
  int8_t* to = static_cast<int8_t*>(out);
  OfType(x, is_unsigned, [&](const auto* from) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Rounded(static_cast<float>(from[i]) * scale + shift, limits);
  });
}

void ScaleColumns(const void* x, bool is_unsigned, const float* scale, const float* shift, ByteLimits limits, int64_t n, void* out) {
  OfType(x, is_unsigned, [=](const auto* from) {  // copies: bytes that are written could be what a reference names
    int8_t* const to = static_cast<int8_t*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Rounded(static_cast<float>(from[i]) * scale[i] + shift[i], limits);
  });
}

void ColumnExtremes(const void* x, bool is_unsigned, int64_t n, int32_t* low, int32_t* high) {
  OfType(x, is_unsigned, [=](const auto* from) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const int32_t v = from[i];
      low[i] = v < low[i] ? v : low[i];
      high[i] = v > high[i] ? v : high[i];
    }
  });
}

void AddBytes(const void* a, bool a_unsigned, float a_scale, const void* b, bool b_unsigned, float b_scale, ByteLimits limits, int64_t n,
              void* out) {
  int8_t* to = static_cast<int8_t*>(out);
  OfTypes(a, a_unsigned, b, b_unsigned, [&](const auto* x, const auto* y) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Rounded(static_cast<float>(x[i]) * a_scale + static_cast<float>(y[i]) * b_scale, limits);
  });
}

void AddWide(const void* a, bool a_unsigned, double a_scale, const void* b, bool b_unsigned, double b_scale, int64_t n, int32_t* out) {
  constexpr double kWholeOfDouble = 6755399441055744;  // 1.5 * 2^52
  OfTypes(a, a_unsigned, b, b_unsigned, [&](const auto* x, const auto* y) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      double v = static_cast<double>(x[i]) * a_scale + static_cast<double>(y[i]) * b_scale;
      v = v != v ? 0.0 : v;
      v = v > 2147483647.0 ? 2147483647.0 : v;
      v = v < -2147483648.0 ? -2147483648.0 : v;
      out[i] = static_cast<int32_t>((v + kWholeOfDouble) - kWholeOfDouble);
    }
  });
}

void MultiplyBytes(const void* a, bool a_unsigned, const void* b, bool b_unsigned, int64_t n, int32_t* out) {
  OfTypes(a, a_unsigned, b, b_unsigned, [&](const auto* x, const auto* y) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int32_t>(x[i]) * y[i];
  });
}

void ProductsToBytes(const void* a, bool a_unsigned, const void* b, bool b_unsigned, float scale, ByteLimits limits, int64_t n, void* out) {
  int8_t* to = static_cast<int8_t*>(out);
  OfTypes(a, a_unsigned, b, b_unsigned, [&](const auto* x, const auto* y) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = Byte(Cut(static_cast<float>(static_cast<int32_t>(x[i]) * y[i]) * scale, limits));
  });
}

void ProductsToFloats(const void* a, bool a_unsigned, const void* b, bool b_unsigned, float scale, int64_t n, float* out) {
  OfTypes(a, a_unsigned, b, b_unsigned, [&](const auto* x, const auto* y) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int32_t>(x[i]) * y[i]) * scale;
  });
}

void PositiveBytes(const int8_t* x, int64_t n, int8_t* out) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] > 0 ? x[i] : static_cast<int8_t>(0);
}

void AddToSums(const int32_t* add, int64_t n, int32_t* sums) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    int64_t v = static_cast<int64_t>(sums[i]) + add[i];
    v = v > INT32_MAX ? INT32_MAX : v;
    sums[i] = static_cast<int32_t>(v < INT32_MIN ? INT32_MIN : v);
  }
}

void AddToRow(int32_t add, int64_t n, int32_t* sums) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    int64_t v = static_cast<int64_t>(sums[i]) + add;
    v = v > INT32_MAX ? INT32_MAX : v;
    sums[i] = static_cast<int32_t>(v < INT32_MIN ? INT32_MIN : v);
  }
}

void Extremes(const float* x, int64_t n, float* low, float* high) {
  float least = *low, greatest = *high;
#pragma omp simd reduction(min : least) reduction(max : greatest)
  for (int64_t i = 0; i < n; ++i) {
    least = x[i] < least ? x[i] : least;
    greatest = x[i] > greatest ? x[i] : greatest;
  }
  *low = least, *high = greatest;
}

void ByteExtremes(const void* x, bool is_unsigned, int64_t n, int* low, int* high) {
  OfType(x, is_unsigned, [&](const auto* from) {
    auto least = from[0], greatest = from[0];
#pragma omp simd reduction(min : least) reduction(max : greatest)
    for (int64_t i = 0; i < n; ++i) {
      least = from[i] < least ? from[i] : least;
      greatest = from[i] > greatest ? from[i] : greatest;
    }
    *low = least, *high = greatest;
  });
}

int64_t LargestOfSums(const int32_t* x, int64_t n) {
  int32_t least = 0, greatest = 0;
#pragma omp simd reduction(min : least) reduction(max : greatest)
  for (int64_t i = 0; i < n; ++i) {
    least = x[i] < least ? x[i] : least;
    greatest = x[i] > greatest ? x[i] : greatest;
  }
  const int64_t below = -static_cast<int64_t>(least);
  return below > greatest ? below : greatest;
}

void MaxBytes(const void* x, bool is_unsigned, int64_t n, void* greatest) {
  OfType(x, is_unsigned, [&](const auto* from) {
    auto* to = static_cast<std::remove_const_t<std::remove_pointer_t<decltype(from)>>*>(greatest);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = from[i] > to[i] ? from[i] : to[i];
  });
}

void SumLines(const char* const* lines, int64_t count, bool is_unsigned, int64_t n, int16_t* sums) {
  const auto add = [&](auto... line) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sums[i] = static_cast<int16_t>((line[i] + ...));
  };
  OfType(lines[0], is_unsigned, [&](const auto* first) {
    const auto line = [&](int64_t i) { return reinterpret_cast<decltype(first)>(lines[i]); };
    if (count == 3) return add(first, line(1), line(2));
    add(first);
    for (int64_t k = 1; k < count; ++k) add(line(k), sums);
  });
}

void WordMeans(const int16_t* x, int64_t count, int64_t apart, int64_t numbers, bool is_unsigned, int64_t n, void* out) {
  const auto means = [&](const auto& mean) {
    count == 3 ? Means<3>(x, count, apart, mean, n, static_cast<int8_t*>(out))
               : Means<0>(x, count, apart, mean, n, static_cast<int8_t*>(out));
  };
  numbers % 2 == 1 && numbers > 1 ? means(OddMean(numbers, is_unsigned)) : means(ShiftMean(numbers));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
