// Uniform, normal and exponential numbers and integers, many counters at a time.
#include <cmath>
#include <cstdint>
#include <limits>

#include "operator/pointwise/functions/vector_libm.h"
#include "operator/random/draw_kernels.h"
#include "operator/shared/philox_lanes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
#include "operator/pointwise/functions/functions.h"

constexpr int kCounters = kPhiloxWords / 4;  // of one call

// The first two words of each counter as one number of 64 bits.
inline void Wide(uint64_t seed, uint64_t first, uint64_t* wide) {
  uint32_t words[kPhiloxWords];
  PhiloxWords(seed, first, words);
  for (int i = 0; i < kCounters; ++i) wide[i] = static_cast<uint64_t>(words[4 * i]) << 32 | words[4 * i + 1];
}

inline void Unit(bool normal, const uint32_t* words, float* v) {
  for (int i = 0; i < kPhiloxWords; ++i) v[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24f;
  if (!normal) return;
  float radius[kPhiloxWords / 2], angle[kPhiloxWords / 2];
  for (int i = 0; i < kPhiloxWords / 2; ++i) radius[i] = v[2 * i], angle[i] = 6.2831853f * v[2 * i + 1];
  float c[kPhiloxWords / 2], s[kPhiloxWords / 2];
  for (int i = 0; i < kPhiloxWords / 2; ++i) {  // Box and Muller, 1958
    const float r = std::sqrt(-2.0f * log(1.0f - radius[i]));
    c[i] = r * SmallSinCos(angle[i], 1);
    s[i] = r * SmallSinCos(angle[i], 0);
  }
  for (int i = 0; i < kPhiloxWords / 2; ++i) v[2 * i] = c[i], v[2 * i + 1] = s[i];
}

// [0, 1), and (0, 1) like OpenUnit of distributions.cuh.
inline double Unit53(uint32_t high, uint32_t low) {
  return static_cast<double>(static_cast<int64_t>((static_cast<uint64_t>(high) << 32 | low) >> 11)) * 0x1p-53;
}
inline double Open(double u) { return u * 0.99999999999999988898 + 5.5511151231257827e-17; }

// cos(2 pi t), t in [0, 1): series at the nearest quarter.
inline double CosOfTurn(double t) {
  const int32_t quarter = static_cast<int32_t>(4.0 * t + 0.5);
  const double x = 6.283185307179586477 * (t - 0.25 * quarter), q = x * x;
  double s = 1 - q * (1.0 / 210), c = 1 - q * (1.0 / 240);
  s = 1 - q * (1.0 / 156) * s, c = 1 - q * (1.0 / 182) * c;
  s = 1 - q * (1.0 / 110) * s, c = 1 - q * (1.0 / 132) * c;
  s = 1 - q * (1.0 / 72) * s, c = 1 - q * (1.0 / 90) * c;
  s = 1 - q * (1.0 / 42) * s, c = 1 - q * (1.0 / 56) * c;
  s = 1 - q * (1.0 / 20) * s, c = 1 - q * (1.0 / 30) * c;
  s = x * (1 - q * (1.0 / 6) * s), c = 1 - q * (1.0 / 12) * c;
  c = 1 - q * (1.0 / 2) * c;
  const double v = quarter & 1 ? s : c;
  return quarter == 1 || quarter == 2 ? -v : v;
}

template <typename F>
inline void Each(const double* u, double* v, F&& f) {
  for (int j = 0; j < kCounters; ++j) v[j] = f(u[j]);
}

// kCounters numbers from the words of as many counters.
inline void Bases(BaseDraw kind, const uint32_t* words, double* v) {
  double u[kCounters];
  for (int j = 0; j < kCounters; ++j) u[j] = Unit53(words[4 * j], words[4 * j + 1]);
  switch (kind) {
    case BaseDraw::kUnit: return Each(u, v, [](double x) { return x; });
    case BaseDraw::kExponential: return Each(u, v, [](double x) { return -log(1.0 - x); });
    case BaseDraw::kGumbel: return Each(u, v, [](double x) { return -log(-log(Open(x))); });
    case BaseDraw::kLogistic: return Each(u, v, [](double x) { return log(Open(x)) - log(1.0 - Open(x)); });
    case BaseDraw::kLaplace:
      return Each(u, v, [](double x) {
        const double open = Open(x), tail = log(2 * (open < 0.5 ? open : 1.0 - open));
        return open < 0.5 ? tail : -tail;
      });
    case BaseDraw::kRayleigh: return Each(u, v, [](double x) { return std::sqrt(-2.0 * log(1.0 - x)); });
    case BaseDraw::kLogExponential: return Each(u, v, [](double x) { return log(-log(Open(x))); });
    case BaseDraw::kNormal: break;
  }
  Each(u, v, [](double x) { return std::sqrt(-2.0 * log(1.0 - x)); });
  for (int j = 0; j < kCounters; ++j) v[j] *= CosOfTurn(Unit53(words[4 * j + 2], words[4 * j + 3]));
}

}  // namespace

void DrawFloats(bool normal, uint64_t seed, uint64_t first, float a, float b, float* y, int64_t n) {
  const float end = a + b, last = !normal && b > 0 ? std::nextafter(end, a)
                                                   : std::numeric_limits<float>::infinity();  // rounding must not reach the excluded end
  uint32_t words[kPhiloxWords];
  float v[kPhiloxWords];
  for (int64_t i = 0; i < n; i += kPhiloxWords) {
    PhiloxWords(seed, first + static_cast<uint64_t>(i) / 4, words);
    Unit(normal, words, v);
    const int64_t m = n - i < kPhiloxWords ? n - i : kPhiloxWords;
    for (int j = 0; j < kPhiloxWords; ++j) {
      const float x = a + b * v[j];
      v[j] = x > last ? last : x;
    }
    if (m == kPhiloxWords)
      for (int j = 0; j < kPhiloxWords; ++j) y[i + j] = v[j];
    else
      for (int64_t j = 0; j < m; ++j) y[i + j] = v[j];
  }
}

void DrawInts(uint64_t seed, uint64_t first, uint64_t low, uint64_t range, uint64_t* y, int64_t n) {
  constexpr int kPairs = kPhiloxWords / 2;
  uint32_t words[kPhiloxWords];
  uint64_t v[kPairs];
  for (int64_t i = 0; i < n; i += kPairs) {
    PhiloxWords(seed, first + static_cast<uint64_t>(i) / 2, words);
    // Lemire's multiplication: the bias is below range / 2^64
    if (range >> 32 == 0) {
      for (int j = 0; j < kPairs; ++j) v[j] = low + ((words[2 * j] * range + (words[2 * j + 1] * range >> 32)) >> 32);
    } else {
      for (int j = 0; j < kPairs; ++j) {
        const uint64_t word = static_cast<uint64_t>(words[2 * j]) << 32 | words[2 * j + 1];
        v[j] = low + static_cast<uint64_t>((static_cast<unsigned __int128>(word) * range) >> 64);
      }
    }
    const int64_t m = n - i < kPairs ? n - i : kPairs;
    for (int64_t j = 0; j < m; ++j) y[i + j] = v[j];
  }
}

void DrawGammas(uint64_t seed, uint64_t first, double alpha, double beta, double* y, int64_t n) {
  // the words of one trial of SampleGamma, which takes two more for the power of small shapes
  const bool small = alpha < 1;
  const int at = small ? 2 : 0;
  const double d = (small ? alpha + 1 : alpha) - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d), power = 1.0 / alpha;
  uint32_t words[2][kPhiloxWords];
  double u[4][kCounters], v[kCounters], scale[kCounters];
  for (double& x : scale) x = beta;
  for (int64_t i = 0; i < n; i += kCounters) {
    for (uint64_t high = 0; high < 2; ++high) PhiloxWords(seed, first + static_cast<uint64_t>(i), words[high], high);
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < kCounters; ++j) u[k][j] = Unit53(words[k / 2][4 * j + k % 2 * 2], words[k / 2][4 * j + k % 2 * 2 + 1]);
    const double *radius = u[at / 2], *turn = u[at / 2 + 1], *chance = u[at / 2 + 2];
    for (int j = 0; j < kCounters; ++j) v[j] = std::sqrt(-2.0 * log(1.0 - radius[j]));
    if (small)
      for (int j = 0; j < kCounters; ++j) scale[j] = beta * exp(log(1.0 - u[0][j]) * power);
    for (int j = 0; j < kCounters; ++j) {
      const double x = v[j] * CosOfTurn(turn[j]), t = 1.0 + c * x, q = x * x;
      const bool taken = (t > 0) & (1.0 - chance[j] < 1.0 - 0.0331 * q * q);
      v[j] = taken ? d * (t * t * t) * scale[j] : -1.0;
    }
    const int64_t m = n - i < kCounters ? n - i : kCounters;
    for (int64_t j = 0; j < m; ++j) y[i + j] = v[j];
  }
}

void DrawExponentials(uint64_t seed, uint64_t first, double rate, double* y, int64_t n) {
  uint64_t wide[kCounters];
  double v[kCounters];
  for (int64_t i = 0; i < n; i += kCounters) {
    Wide(seed, first + static_cast<uint64_t>(i), wide);
    for (int j = 0; j < kCounters; ++j) v[j] = -log(1.0 - static_cast<double>(static_cast<int64_t>(wide[j] >> 11)) * 0x1p-53) / rate;
    const int64_t m = n - i < kCounters ? n - i : kCounters;
    for (int64_t j = 0; j < m; ++j) y[i + j] = v[j];
  }
}

void DrawBases(BaseDraw kind, uint64_t seed, uint64_t first, double* z, int64_t n) {
  uint32_t words[kPhiloxWords];
  double v[kCounters];
  for (int64_t i = 0; i < n; i += kCounters) {
    PhiloxWords(seed, first + static_cast<uint64_t>(i), words);
    Bases(kind, words, v);
    const int64_t m = n - i < kCounters ? n - i : kCounters;
    for (int64_t j = 0; j < m; ++j) z[i + j] = v[j];
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
