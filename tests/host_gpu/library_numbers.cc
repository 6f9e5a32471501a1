#include "library_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

// Kernels for the machine's own vectors: chosen as the library is loaded.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HOST_GPU_CLONES __attribute__((target_clones("arch=haswell", "default"), optimize("O3")))
#else
#define HOST_GPU_CLONES
#endif

namespace host_gpu {
namespace {

uint32_t BitsOf(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
float FromBits(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

// To nearest, ties to even, of the upper bits that are kept.
float KeepUpperBits(float v, int dropped) {
  if (!std::isfinite(v)) return v;
  const uint32_t bits = BitsOf(v), half = (1u << (dropped - 1)) - 1 + ((bits >> dropped) & 1u);
  return FromBits((bits + half) & ~((1u << dropped) - 1));
}

float FromHalf(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const float sign = h >> 15 ? -1.f : 1.f;
  if (exponent == 31) return fraction ? FromBits(0x7fc00000u) : sign * INFINITY;
  return sign * (exponent ? std::ldexp(static_cast<float>(1024 + fraction), exponent - 25) : std::ldexp(static_cast<float>(fraction), -24));
}
// A table: each value is asked for many times.
const float* HalfTable() {
  static const float* const table = [] {
    float* made = new float[65536];
    for (int i = 0; i < 65536; ++i) made[i] = FromHalf(static_cast<uint16_t>(i));
    return made;
  }();
  return table;
}
uint16_t ToHalf(float v) {
  const uint16_t sign = static_cast<uint16_t>(BitsOf(v) >> 16 & 0x8000u);
  const float size = std::fabs(v);
  if (std::isnan(v)) return 0x7e00;
  if (size >= 65520.f) return sign | 0x7c00;
  if (size < 6.103515625e-05f)
    return sign | static_cast<uint16_t>(
                      std::nearbyint(size * 16777216.f));  // subnormal: a multiple of 2^-24; 1024 of them are the least normal one
  const uint32_t bits = BitsOf(KeepUpperBits(size, 13));
  return sign | static_cast<uint16_t>((bits >> 13) - (112u << 10));
}

template <typename V>
V Read(const void* array, int64_t index) {
  V v;
  std::memcpy(&v, static_cast<const char*>(array) + index * static_cast<int64_t>(sizeof v), sizeof v);
  return v;
}
template <typename V>
void Write(void* array, int64_t index, V v) {
  std::memcpy(static_cast<char*>(array) + index * static_cast<int64_t>(sizeof v), &v, sizeof v);
}
template <typename V, typename T>
V ToInteger(T v) {
  const double least = static_cast<double>(std::numeric_limits<V>::lowest()), most = static_cast<double>(std::numeric_limits<V>::max());
  return std::isnan(v) ? V{0}
         : v >= most   ? std::numeric_limits<V>::max()
         : v <= least  ? std::numeric_limits<V>::lowest()
                       : static_cast<V>(std::nearbyint(v));
}

}  // namespace

size_t SizeOf(Number type) {
  switch (type) {
    case Number::kDouble:
    case Number::kInt64: return 8;
    case Number::kFloat:
    case Number::kInt32: return 4;
    case Number::kHalf:
    case Number::kBfloat16: return 2;
    case Number::kInt8:
    case Number::kUint8:
    case Number::kBoolean: return 1;
  }
  return 1;
}

template <typename T>
T Load(Number type, const void* array, int64_t index) {
  switch (type) {
    case Number::kFloat: return static_cast<T>(Read<float>(array, index));
    case Number::kDouble: return static_cast<T>(Read<double>(array, index));
    case Number::kHalf: return static_cast<T>(HalfTable()[Read<uint16_t>(array, index)]);
    case Number::kBfloat16: return static_cast<T>(FromBits(static_cast<uint32_t>(Read<uint16_t>(array, index)) << 16));
    case Number::kInt8: return static_cast<T>(Read<int8_t>(array, index));
    case Number::kUint8: return static_cast<T>(Read<uint8_t>(array, index));
    case Number::kInt32: return static_cast<T>(Read<int32_t>(array, index));
    case Number::kInt64: return static_cast<T>(Read<int64_t>(array, index));
    case Number::kBoolean: return Read<uint8_t>(array, index) ? T{1} : T{0};
  }
  return T{0};
}

template <typename T>
void Store(Number type, void* array, int64_t index, T value) {
  switch (type) {
    case Number::kFloat: return Write(array, index, static_cast<float>(value));
    case Number::kDouble: return Write(array, index, static_cast<double>(value));
    case Number::kHalf: return Write(array, index, ToHalf(static_cast<float>(value)));
    case Number::kBfloat16:
      return Write(array, index,
                   static_cast<uint16_t>(std::isnan(value) ? 0x7fc0u : BitsOf(KeepUpperBits(static_cast<float>(value), 16)) >> 16));
    case Number::kInt8: return Write(array, index, ToInteger<int8_t>(value));
    case Number::kUint8: return Write(array, index, ToInteger<uint8_t>(value));
    case Number::kInt32: return Write(array, index, ToInteger<int32_t>(value));
    case Number::kInt64: return Write(array, index, ToInteger<int64_t>(value));
    case Number::kBoolean: return Write(array, index, static_cast<uint8_t>(value != T{0}));
  }
}

template <typename T>
T Rounded(Number type, T value) {
  char bytes[8];
  Store(type, bytes, 0, value);
  return Load<T>(type, bytes, 0);
}

float ToTensorFloat(float value) { return KeepUpperBits(value, 13); }

namespace {

// Four rows at a time against a piece of b that stays in the cache.
template <typename T>
inline __attribute__((always_inline)) void MultiplyBlocks(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb,
                                                          T* c, int64_t ldc) {
  constexpr int64_t kColumns = 512, kDepth = 128;
  for (int64_t j0 = 0; j0 < n; j0 += kColumns) {
    const int64_t columns = std::min(kColumns, n - j0);
    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
      const int64_t end = std::min(k, k0 + kDepth);
      int64_t i = 0;
      for (; i + 4 <= m; i += 4) {
        T* __restrict c0 = c + i * ldc + j0, * __restrict c1 = c0 + ldc, * __restrict c2 = c1 + ldc, * __restrict c3 = c2 + ldc;
        const T* a0 = a + i * lda;
        for (int64_t l = k0; l < end; ++l) {
          const T* __restrict row = b + l * ldb + j0;
          const T v0 = a0[l], v1 = a0[lda + l], v2 = a0[2 * lda + l], v3 = a0[3 * lda + l];
          for (int64_t j = 0; j < columns; ++j) {
            const T v = row[j];
            c0[j] += v0 * v, c1[j] += v1 * v, c2[j] += v2 * v, c3[j] += v3 * v;
          }
        }
      }
      for (; i < m; ++i) {
        T* __restrict c0 = c + i * ldc + j0;
        for (int64_t l = k0; l < end; ++l) {
          const T* __restrict row = b + l * ldb + j0;
          const T v0 = a[i * lda + l];
          for (int64_t j = 0; j < columns; ++j) c0[j] += v0 * row[j];
        }
      }
    }
  }
}

HOST_GPU_CLONES void MultiplyFloats(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c,
                                    int64_t ldc) {
  MultiplyBlocks(m, n, k, a, lda, b, ldb, c, ldc);
}
HOST_GPU_CLONES void MultiplyDoubles(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                                     int64_t ldc) {
  MultiplyBlocks(m, n, k, a, lda, b, ldb, c, ldc);
}

}  // namespace

template <>
void MultiplyAdd<float>(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc) {
  MultiplyFloats(m, n, k, a, lda, b, ldb, c, ldc);
}
template <>
void MultiplyAdd<double>(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                         int64_t ldc) {
  MultiplyDoubles(m, n, k, a, lda, b, ldb, c, ldc);
}

template float Load<float>(Number, const void*, int64_t);
template double Load<double>(Number, const void*, int64_t);
template void Store<float>(Number, void*, int64_t, float);
template void Store<double>(Number, void*, int64_t, double);
template float Rounded<float>(Number, float);
template double Rounded<double>(Number, double);

}  // namespace host_gpu
