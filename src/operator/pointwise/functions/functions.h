/*
 * The vocabulary of the pointwise table on the CPU: what an expression such as `exp(x)` or `x >
 * T(0) ? x : T(0)` may call.
 *
 * Included by the *_variants.cc files inside namespace mxnet::MXNET_CPU_VARIANT { namespace { ... }
 * }, once per instruction set, so that loops over these functions are vectorized by the compiler:
 * float functions are free of branches and calls. Many are evaluated in double from series good to
 * 1e-9 or better and rounded once, so they are within 1 ulp; exp, expm1, log, tanh, erf, inverse
 * circular functions and sine of small angles are pure float (below 2 ulp), and so are log1p and
 * logaddexp. Double functions are libm's, most of them for vectors (vector_libm.h), but for
 * exponentials, logarithms, powers and roots (fused_functions.h). The same names exist on GPUs
 * (float_functions.cuh, integer_functions.cuh), and what is the same there is included; the parser
 * of expression.cc knows them too. Bits are moved in unsigned types: lanes whose result is thrown
 * away (NaN, zero, out of range) may wrap there.
 * Series are Chebyshev fits made for this file (interval and degree are given by the argument
 * reductions).
 */
// No include guard on purpose: see above. Needs <cmath>, <cstdint>, <limits> and vector_libm.h from
// the including file.
#define MXNET_FN inline __attribute__((always_inline))  // a call stops vectorization

template <typename To, typename From>
MXNET_FN To BitCast(From f) {
  return __builtin_bit_cast(To, f);
}

// ---- double kernels for float arguments
MXNET_FN double SeriesExp(double x) {  // relative error 1e-13 for results that are normal floats; 0 and inf beyond
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  const double shifted = x * 1.4426950408889634 + 0x1.8p52;  // low bits: nearest integer
  const double n = shifted - 0x1.8p52;
  const double r = (x - n * 0x1.62e42fefa39efp-1) - n * 0x1.abc9e3b39803fp-56;
  double p = 2.7613908675784856e-7;
  p = p * r + 2.7625237795740733e-6;
  p = p * r + 2.4801536205055341e-5;
  p = p * r + 1.9841208512102092e-4;
  p = p * r + 1.3888888905973545e-3;
  p = p * r + 8.3333333538398348e-3;
  p = p * r + 4.1666666666651244e-2;
  p = p * r + 1.6666666666648155e-1;
  p = p * r + 0.5;
  p = (p * r + 1.0) * r + 1.0;
  const uint64_t exponent = BitCast<uint64_t>(shifted) << 52;  // the bits above the integer are shifted out
  return BitCast<double>(BitCast<uint64_t>(p) + exponent);
}

MXNET_FN double SeriesLog(double x) {  // x >= 0, not subnormal; absolute error 1e-14, and relative 1e-13 near 1
  const uint64_t bits = BitCast<uint64_t>(x);
  const uint64_t offset = bits - 0x3fe6a09e667f3bcdull;  // sqrt(1/2)
  // exponent as a double without a 64-bit integer conversion, which AVX2 lacks
  const uint64_t biased = (offset + (uint64_t{1023} << 52)) >> 52;
  const double k = BitCast<double>(biased | 0x4330000000000000ull) - (0x1p52 + 1023.0);
  const double m = BitCast<double>(bits - ((biased - 1023) << 52));
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 0.16634817293436975;
  p = p * z + 0.18139329084810124;
  p = p * z + 0.22222882159268573;
  p = p * z + 0.28571423954752282;
  p = p * z + 0.40000000011787487;
  p = p * z + 0.66666666666661797;
  double r = s * (2.0 + p * z) + k * 0.69314718055994531;
  r = x == 0.0 ? -std::numeric_limits<double>::infinity() : r;
  return x < std::numeric_limits<double>::infinity() ? (x < 0.0 ? std::numeric_limits<double>::quiet_NaN() : r) : x;
}

MXNET_FN double SeriesLog1p(double x) {
  const double u = 1.0 + x;
  const double d = u - 1.0;
  const double r = SeriesLog(u) * (x / d);
  const double s = d == 0.0 ? x : r;
  return x < std::numeric_limits<double>::infinity() ? s : x;
}

// sine and cosine of the same argument; |x| < 2^28 (the caller leaves the rest to libm, a block at
// a time)
struct SinCos {
  double sin, cos;
};
MXNET_FN SinCos SeriesSinCos(double x) {
  const double shifted = x * 0.63661977236758134 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const int64_t quadrant = BitCast<int64_t>(shifted);
  const double r = (x - n * 0x1.921fb50000000p+0) - n * 0x1.110b4611a6263p-26;
  const double z = r * r;
  double s = -2.4805145406747432e-8;
  s = s * z + 2.7555985625200862e-6;
  s = s * z - 1.9841266899437399e-4;
  s = s * z + 8.3333333310611601e-3;
  s = s * z - 0.16666666666663858;
  s = r + r * z * s;
  double c = -2.7236503270855153e-7;
  c = c * z + 2.4799855304554607e-5;
  c = c * z - 1.3888885068618752e-3;
  c = c * z + 4.1666666637161583e-2;
  c = c * z - 0.49999999999963529;
  c = 1.0 + z * c;
  const bool odd = (quadrant & 1) != 0;
  const double s1 = odd ? c : s, c1 = odd ? s : c;
  const int64_t flip_sin = (quadrant & 2) << 62, flip_cos = ((quadrant + 1) & 2) << 62;
  return {BitCast<double>(BitCast<int64_t>(s1) ^ flip_sin), BitCast<double>(BitCast<int64_t>(c1) ^ flip_cos)};
}

#include "operator/pointwise/functions/gamma_functions.h"

// ---- float
MXNET_FN float exp(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 88.9f ? 88.9f : x;
  const float shifted = x * 1.44269504f + 0x1.8p23f;
  const float n = shifted - 0x1.8p23f;
  const float r = (x - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
  float p = 1.3926250831e-3f;
  p = p * r + 8.3632328837e-3f;
  p = p * r + 4.1666554213e-2f;
  p = p * r + 0.16666576666f;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  const int32_t e = BitCast<int32_t>(shifted) - 0x4b400000;
  const int32_t half = e >> 1;  // in two steps, so that subnormal results and 2^128 come out right
  const uint32_t first = static_cast<uint32_t>(half + 127) << 23, second = static_cast<uint32_t>(e - half + 127) << 23;
  return p * BitCast<float>(first) * BitCast<float>(second);
}
MXNET_FN float LogFrom(float f, float k) {  // of (1 + f) * 2^k, where 1 + f is between sqrt(1/2) and sqrt(2)
  const float s = f / (2.0f + f);
  const float z = s * s;
  const float p = ((0.23341943389f * z + 0.2855039696f) * z + 0.40000125595f) * z + 0.6666666655f;
  const float hfsq = 0.5f * f * f;
  return k * 0x1.62e300p-1f + ((s * (hfsq + z * p) + k * 0x1.2fefa2p-17f) - hfsq + f);
}
// The logarithm of x * 2^more, where x is positive, finite and not subnormal: what is done with all
// others is in `more`.
MXNET_FN float LogOf(float x, float more) {
  const uint32_t bits = BitCast<uint32_t>(x);
  const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float k = static_cast<float>(e) + more;
  return LogFrom(BitCast<float>(bits - (static_cast<uint32_t>(e) << 23)) - 1.0f, k);
}
// Of x >= 0: what makes it a number for LogOf, and its exponent. Those of 0, infinity and NaN are
// what is to come out.
MXNET_FN float Enlarged(float x) { return x < 0x1p-126f ? x * 0x1p25f : x; }
MXNET_FN float EnlargedBy(float x) {
  const float tiny = x < 0x1p-126f ? -25.0f : 0.0f;
  const float more = x == 0.0f ? -std::numeric_limits<float>::infinity() : tiny;
  return x < std::numeric_limits<float>::infinity() ? more : x;
}
MXNET_FN float log(float x) {
  const float more = EnlargedBy(x);
  return LogOf(Enlarged(x), x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : more);
}
#ifdef __FMA__
#include "operator/pointwise/functions/fused_functions.h"
#else
MXNET_FN float log2(float x) { return static_cast<float>(SeriesLog(x) * 1.4426950408889634); }
MXNET_FN float log10(float x) { return static_cast<float>(SeriesLog(x) * 0.43429448190325183); }
MXNET_FN float cbrt(float x) {
  const double d = x, a = d < 0.0 ? -d : d;
  const double r = SeriesExp(SeriesLog(a) * (1.0 / 3));
  const double signed_r = d < 0.0 ? -r : r;
  const float nonzero = a < std::numeric_limits<double>::infinity() ? static_cast<float>(signed_r) : x;
  return x == 0.0f ? x : nonzero;
}
MXNET_FN double log2(double x) { return std::log2(x); }
MXNET_FN double log10(double x) { return std::log10(x); }
MXNET_FN double cbrt(double x) { return std::cbrt(x); }
MXNET_FN double power(double a, double b) { return std::pow(a, b); }
MXNET_FN double PowerOf(double x, double b) { return std::pow(x, b); }
MXNET_FN double PowerOfTwo(double x) { return std::exp2(x); }
MXNET_FN float PowerOfTwo(float x) { return static_cast<float>(SeriesExp(x * 0.69314718055994531)); }
#endif
// The logarithm of 1 + x: as log, of the rounded sum; what rounding took joins what is left of the
// sum when its power of two is gone, so that one division serves both.
MXNET_FN float log1p(float x) {
  const float u = 1.0f + x;
  const float far = x >= 0x1p25f ? 0.0f : 1.0f - (u - x);
  const float lost = x >= 1.0f ? far : x - (u - 1.0f);
  const uint32_t bits = BitCast<uint32_t>(u);
  const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const uint32_t power = static_cast<uint32_t>(e) << 23;
  const float twice = BitCast<float>(0x40000000u - power);  // 2 * 2^-e; zero, not infinite, where u is largest
  const float f = (BitCast<float>(bits - power) - 1.0f) + 0.5f * lost * twice;
  const float r = LogFrom(f, static_cast<float>(e));
  const float nonzero = x == 0.0f ? x : r;  // the sum loses the sign of zero
  const float inside = u > 0.0f ? nonzero : u == 0.0f ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  return u < std::numeric_limits<float>::infinity() ? inside : u;
}
MXNET_FN float UnitLog1p(float t) {  // the same for 0 <= t <= 1
  const float s = t / (2.0f + t);
  const float z = s * s;
  const float p = ((0.280244589f * z + 0.279991418f) * z + 0.400216997f) * z + 0.666664124f;
  const float half = 0.5f * t * t;
  return s * (half + z * p) - half + t;
}
// exp(x) - 1 in float, below 2 ulp: 2^n (exp(r) - 1) + 2^n - 1.
MXNET_FN float FloatExpm1(float x) {
  float c = x < -18.0f ? -18.0f : x;
  c = c > 88.9f ? 88.9f : c;
  const float shifted = c * 1.44269504f + 0x1.8p23f;
  const float n = shifted - 0x1.8p23f;
  const float r = (c - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
  float p = 1.39415299e-3f;
  p = p * r + 8.36706999e-3f;
  p = p * r + 4.16663960e-2f;
  p = p * r + 0.166665405f;
  p = p * r + 0.5f;
  p = p * r * r + r;
  const uint32_t exponent = BitCast<uint32_t>(shifted) - 0x4b400000u + 126u;
  const float half = BitCast<float>(exponent << 23);  // of 2^n, which may be infinite
  const float y = 2.0f * (half * p + (half - 0.5f));
  return x == 0.0f ? x : y;
}
MXNET_FN double FloatExpm1(double x) { return MXNET_VECTOR_MATH(expm1)(x); }
MXNET_FN float expm1(float x) { return FloatExpm1(x); }
MXNET_FN float sin(float x) { return x == 0.0f ? x : static_cast<float>(SeriesSinCos(x).sin); }
MXNET_FN float cos(float x) { return static_cast<float>(SeriesSinCos(x).cos); }
// For |x| <= kSmallAngle: pi/2 in parts of 11, 11, 11 and 24 bits, so that the first three products
// are exact.
constexpr float kSmallAngle = 8192.0f;
MXNET_FN float SmallSinCos(float x, int32_t quarter) {  // sin(x + quarter * pi/2)
  const float shifted = x * 0.636619772f + 0x1.8p23f;
  const float n = shifted - 0x1.8p23f;
  const int32_t quadrant = BitCast<int32_t>(shifted) + quarter;
  const float r = (((x - n * 0x1.92p+0f) - n * 0x1.fb4p-12f) - n * 0x1.444p-24f) - n * 0x1.68c234p-39f;
  const float z = r * r;
  const float s = r + r * z * (-0.16666664539f + z * (0.0083327246138f + z * -0.00019582830679f));
  const float c = (1.0f - 0.5f * z) + z * z * (0.041666664536f + z * (-0.0013888279331f + z * 2.4542871111e-5f));
  const float v = (quadrant & 1) != 0 ? c : s;
  return BitCast<float>(BitCast<int32_t>(v) ^ static_cast<int32_t>(static_cast<uint32_t>(quadrant & 2) << 30));
}
MXNET_FN float tan(float x) {
  const SinCos v = SeriesSinCos(x);
  return x == 0.0f ? x : static_cast<float>(v.sin / v.cos);
}
#include "operator/pointwise/functions/arc_functions.h"
MXNET_FN float sinh(float x) {
  const double d = x, e = SeriesExp(d);
  const double small = d * (1.0 + d * d * (1.0 / 6) * (1.0 + d * d * 0.05));
  return static_cast<float>(d * d < 1e-4 ? small : 0.5 * (e - 1.0 / e));
}
MXNET_FN float cosh(float x) {
  const double e = SeriesExp(x);
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
MXNET_FN float tanh(float x) {
  const float z = x * x;
  float c = -0.005743002590665393f;
  c = c * z + 0.020671478196447875f;
  c = c * z - 0.05374911727507685f;
  c = c * z + 0.13331548170064378f;
  c = c * z - 0.33333285583603084f;
  const float small = x + x * (z * c);
  const float v = std::fabs(x);
  const float a = v > 10.0f ? 10.0f : v;
  const float t = a * 2.88539008f;  // exp(2a) is 2^t
  const float shifted = t + 0x1.8p23f;
  const float r = t - (shifted - 0x1.8p23f);
  float p = 0.00015353360601783723f;
  p = p * r + 0.0013398874866750023f;
  p = p * r + 0.009618437366519477f;
  p = p * r + 0.0555033246969345f;
  p = p * r + 0.24022647913498124f;
  p = p * r + 0.6931472028559699f;
  p = p * r + 1.0f;
  const float scale = BitCast<float>((BitCast<uint32_t>(shifted) << 23) + 0x3f800000u);
  const float large = 1.0f - 2.0f / (p * scale + 1.0f);
  return std::copysign(v < 0.62f ? small : large, x);  // of -0, too
}
MXNET_FN float arcsinh(float x) {
  const double d = x, a = d < 0.0 ? -d : d;
  const double r = SeriesLog1p(a + d * d / (1.0 + std::sqrt(1.0 + d * d)));
  return static_cast<float>(a == std::numeric_limits<double>::infinity() ? d : std::copysign(r, d));
}
MXNET_FN float arccosh(float x) {
  const double t = static_cast<double>(x) - 1.0;
  const double r = SeriesLog1p(t + std::sqrt(t * (t + 2.0)));
  return static_cast<float>(t < 0.0 ? std::numeric_limits<double>::quiet_NaN() : r);
}
MXNET_FN float arctanh(float x) {
  const double d = x;
  return static_cast<float>(0.5 * SeriesLog1p(2.0 * d / (1.0 - d)));
}
MXNET_FN float erf(float x) {
  const float a = std::fabs(x);
  const float z = a * a;
  float p = 7.8758750627e-5f;
  p = p * z - 0.00080168642872f;
  p = p * z + 0.0051890874234f;
  p = p * z - 0.026854212011f;
  p = p * z + 0.11283594715f;
  p = p * z - 0.37612626667f;
  p = p * z + 0.1283791658f;  // 2/sqrt(pi) - 1: adding x itself keeps its digits
  const float t = 1.0f / (1.0f + 0.5f * (a > 4.0f ? 4.0f : a));
  float q = 0.094896343769f;
  q = q * t - 0.38576763127f;
  q = q * t + 0.43652758811f;
  q = q * t - 0.00014390887072f;
  q = q * t + 0.29761269234f;
  q = q * t + 0.27415157448f;
  q = q * t + 0.28261988976f;
  const float tail = std::copysign(1.0f - q * t * exp(-z), x);
  const float r = a < 1.0f ? x + x * p : tail;
  return a > 4.0f ? std::copysign(1.0f, x) : r;
}
// erfinv(x) / x over w = -log(1 - x^2), in two pieces as M. Giles does ("Approximating the erfinv
// function", 2011), with fits of our own. The last steps are made in double; below 1.5 ulp.
MXNET_FN float ErfinvAt(float x, double ratio) {
  const float r = static_cast<float>(x * ratio), a = std::fabs(x);
  return a < 1.0f ? r : a == 1.0f ? x * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
}
MXNET_FN double ErfinvCentre(float w) {  // w < 6
  const float c = (w < 6.0f ? w : 6.0f) - 3.0f;
  float p = 7.0794195e-10f;
  p = p * c - 5.4366587e-09f;
  p = p * c - 2.0165097e-08f;
  p = p * c + 4.4769029e-07f;
  p = p * c - 1.7616682e-06f;
  p = p * c - 1.2704025e-05f;
  p = p * c + 0.00019508311f;
  p = p * c - 0.00083620426f;
  p = p * c - 0.0057381450f;
  return (static_cast<double>(p) * c + 0.24163041472218483) * c + 1.6235420064648294;
}
constexpr float kErfinvCentre = 0.9987f;  // up to it w is less than 6
MXNET_FN float ErfinvPlace(float x) { return -log((1.0f - x) * (1.0f + x)); }
MXNET_FN float ErfinvFrom(float x, float w) {
  const float t = std::sqrt(w < 6.0f ? 6.0f : w) - 3.26802655f;
  float q = -2.8340119e-05f;
  q = q * t - 0.00024532765f;
  q = q * t + 0.00093941694f;
  q = q * t - 0.0016426263f;
  q = q * t + 0.0023382114f;
  q = q * t - 0.0035665421f;
  q = q * t + 0.0051730926f;
  const double tail = (static_cast<double>(q) * t + 1.0054484813428304) * t + 3.1020086806735008;
  return ErfinvAt(x, w < 6.0f ? ErfinvCentre(w) : tail);
}
MXNET_FN float erfinv(float x) { return ErfinvFrom(x, ErfinvPlace(x)); }
MXNET_FN float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
MXNET_FN float softrelu(float x) {  // log(1 + exp(x)) without overflow
  return UnitLog1p(exp(-std::fabs(x))) + (x > 0.0f ? x : x != x ? x : 0.0f);
}
MXNET_FN float hypot(float a, float b) {
  const double x = a, y = b, r = std::sqrt(x * x + y * y);
  const float inf = std::numeric_limits<float>::infinity();
  const float special_a = std::fabs(a) == inf ? inf : static_cast<float>(r);
  return std::fabs(b) == inf ? inf : special_a;
}
// (x * 2^more)^b with x as for LogOf; 1e-11 in double, rounded once.
MXNET_FN float PowerOf(float x, float more, float b) {
  const uint32_t bits = BitCast<uint32_t>(x);
  const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const double k = static_cast<float>(e) + more;
  const double f = BitCast<float>(bits - (static_cast<uint32_t>(e) << 23)) - 1.0f;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double l = 0.34073835297892746;
  l = l * z + 0.41167221788213687;
  l = l * z + 0.5770835944739406;
  l = l * z + 0.9617966732840931;
  l = l * z + 2.8853900817901414;
  double t = (s * l + k) * static_cast<double>(b);
  t = t < -160.0 ? -160.0 : t;  // 0 and infinity come out
  t = t > 140.0 ? 140.0 : t;
  const double shifted = t + 0x1.8p52;
  const double r = t - (shifted - 0x1.8p52);
  double p = 1.5196154226946323e-5;
  p = p * r + 1.546675653155033e-4;
  p = p * r + 1.3333935066167583e-3;
  p = p * r + 9.618038131273321e-3;
  p = p * r + 5.550410365977396e-2;
  p = p * r + 0.24022651066567802;
  p = p * r + 0.6931471807045374;
  p = p * r + 1.0;
  return static_cast<float>(BitCast<double>(BitCast<uint64_t>(p) + (BitCast<uint64_t>(shifted) << 52)));
}
MXNET_FN float power(float a, float b) {  // as pow has it
  const float x = std::fabs(a), inf = std::numeric_limits<float>::infinity();
  const float r = PowerOf(Enlarged(x), EnlargedBy(x), b);
  const float s = b == 0.0f ? 1.0f : x == 1.0f ? 1.0f : r;
  const float h = 0.5f * b;
  const bool integer = std::rint(b) == b, even = std::rint(h) == h;  // an odd one is an integer and not even
  const float odd = integer ? std::copysign(s, a) : s, v = even ? s : odd;
  const bool real = !(a < 0.0f) || integer || a == -inf;
  return real ? v : std::numeric_limits<float>::quiet_NaN();
}
MXNET_FN float logaddexp(float a, float b) {
  const float hi = a > b ? a : b, d = std::fabs(a - b);
  return a == b ? hi + 0.693147181f : hi + UnitLog1p(exp(-d));
}
// The angle of (b, a), of whose magnitudes `less` is the smaller one; if `steep`, |a| is larger.
MXNET_FN float AngleOf(float less, float more, bool steep, float a, float b) {
  // quarters of a turn, from or up to which the angle of the smaller one is counted
  const float quarters = steep ? 1.0f : BitCast<int32_t>(b) < 0 ? 2.0f : 0.0f;
  const uint32_t up_to = (BitCast<uint32_t>(b) ^ (steep ? 0x80000000u : 0u)) & 0x80000000u;
  const float signed_less = BitCast<float>(BitCast<uint32_t>(less) | up_to);
  const double q = static_cast<double>(signed_less) / static_cast<double>(more);
  const double z = q * q;
  double p = 0.0011137718646854855;
  p = p * z - 0.007317872091204734;
  p = p * z + 0.022539687657394742;
  p = p * z - 0.04468973075901295;
  p = p * z + 0.0674158214782272;
  p = p * z - 0.0881108478887166;
  p = p * z + 0.11058221926239903;
  p = p * z - 0.14279832784910507;
  p = p * z + 0.19999671102780464;
  p = p * z - 0.33333326899011356;
  return std::copysign(static_cast<float>(static_cast<double>(quarters) * 1.5707963267948966 + (q + (q * z) * p)), a);
}
MXNET_FN float arctan2(float a, float b) {
  const float y = std::fabs(a), x = std::fabs(b);
  const bool steep = y > x, same = y == x;  // equal ones may both be 0 or infinite
  const float one = y == 0.0f ? 0.0f : 1.0f;
  const float less = steep ? x : y, more = steep ? y : x;
  return AngleOf(same ? one : less, same ? 1.0f : more, steep, a, b);
}

// ---- double: exponentials, logarithms and powers of our own, the rest libm's
MXNET_FN double exp(double x) {
  x = x < -746.0 ? -746.0 : x;
  x = x > 710.0 ? 710.0 : x;
  const double shifted = x * 1.4426950408889634 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  double p = 2.09112987659401982e-9;
  p = p * r + 2.5100472505694996e-8;
  p = p * r + 2.7557282838800483e-7;
  p = p * r + 2.75572682769056962e-6;
  p = p * r + 2.48015873172287221e-5;
  p = p * r + 1.9841269863171556e-4;
  p = p * r + 1.38888888888865356e-3;
  p = p * r + 8.3333333333300382e-3;
  p = p * r + 4.16666666666666672e-2;
  p = p * r + 1.66666666666666675e-1;
  p = p * r + 0.5;
  p = (p * r) * r + r + 1.0;
  const int64_t e = BitCast<int64_t>(shifted) - BitCast<int64_t>(0x1.8p52);
  const double up = n < 0.0 ? 0x1p-600 : 0x1p600;  // in two steps, for subnormal results and those close to overflow
  const int64_t rest = e - (n < 0.0 ? -600 : 600);
  const bool far = std::fabs(n) > 600.0;
  const double scaled = p * BitCast<double>(static_cast<uint64_t>((far ? rest : e) + 1023) << 52);
  return far ? scaled * up : scaled;
}
MXNET_FN double log(double x) {
  const bool tiny = x < 0x1p-1022;
  const uint64_t bits = BitCast<uint64_t>(tiny ? x * 0x1p54 : x);
  const uint64_t biased = (bits - 0x3fe6a09e667f3bcdull + (uint64_t{1023} << 52)) >> 52;
  const double k = BitCast<double>(biased | 0x4330000000000000ull) - (tiny ? 0x1p52 + 1077.0 : 0x1p52 + 1023.0);
  const double f = BitCast<double>(bits - ((biased - 1023) << 52)) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 0.131007213835034914;
  p = p * z + 0.132674185964748834;
  p = p * z + 0.15386290534658992;
  p = p * z + 0.181817947008977996;
  p = p * z + 0.222222224005477573;
  p = p * z + 0.285714285707644501;
  p = p * z + 0.400000000000009413;
  p = p * z + 0.666666666666666664;
  const double hfsq = 0.5 * f * f;
  double r = k * 0x1.62e42fee00000p-1 + ((s * (hfsq + z * p) + k * 0x1.a39ef35793c76p-33) - hfsq + f);
  r = x == 0.0 ? -std::numeric_limits<double>::infinity() : r;
  return x < std::numeric_limits<double>::infinity() ? (x < 0.0 ? std::numeric_limits<double>::quiet_NaN() : r) : x;
}
MXNET_FN double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
// Scaled where squares would leave the range of doubles.
MXNET_FN double hypot(double a, double b) {
  const double x = std::fabs(a), y = std::fabs(b), inf = std::numeric_limits<double>::infinity();
  const double most = x > y ? x : y;
  const double scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-400 ? 0x1p600 : 1.0;
  const double back = most > 0x1p500 ? 0x1p600 : most < 0x1p-400 ? 0x1p-600 : 1.0;
  const double v = x * scale, w = y * scale;
  const double r = std::sqrt(v * v + w * w) * back;
  return x == inf || y == inf ? inf : r;
}
// As AngleOf.
MXNET_FN double arctan2(double a, double b) {
  const double y = std::fabs(a), x = std::fabs(b);
  const bool steep = y > x, same = y == x;  // equal ones may both be 0 or infinite
  const double one = y == 0.0 ? 0.0 : 1.0, ratio = (steep ? x : y) / (steep ? y : x);
  const double angle = MXNET_VECTOR_MATH(atan)(same ? one : ratio);
  const bool behind = BitCast<int64_t>(b) < 0;
  const double quarters = steep ? 1.0 : behind ? 2.0 : 0.0;
  const double from = behind == steep ? angle : -angle;
  const double r = quarters * 0x1.921fb54442d18p+0 + (from + quarters * 0x1.1a62633145c07p-54);
  return std::copysign(r, a);
}
#define MXNET_OWN_DOUBLES
#define MXNET_LIBM double
#include "operator/pointwise/functions/libm_functions.cuh"
#undef MXNET_LIBM
#undef MXNET_OWN_DOUBLES

// ---- rare functions in double
#define MXNET_SLOW_FN inline
#include "operator/pointwise/functions/gamma_recurrences.cuh"
#undef MXNET_SLOW_FN
inline double SlowGamma(double x) { return std::tgamma(x); }
inline double SlowGammaln(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}
#define MXNET_RARE(name, single, fn)                                     \
  MXNET_FN float name(float x) { return static_cast<float>(single(x)); } \
  MXNET_FN double name(double x) { return fn(x); }
MXNET_RARE(digamma, SeriesDigamma, SlowDigamma)
MXNET_RARE(trigamma, SeriesTrigamma, SlowTrigamma)
MXNET_RARE(tetragamma, SlowTetragamma, SlowTetragamma)
MXNET_RARE(gammaln, SeriesGammaln, SlowGammaln)
MXNET_RARE(gamma, SeriesGamma, SlowGamma)
#undef MXNET_RARE
#include "operator/pointwise/functions/erfinv_doubles.h"
#include "operator/pointwise/functions/exact_functions.cuh"

// Whether a finite |x| above `limit` occurs: as integers, magnitudes compare like the numbers.
MXNET_FN bool AnyAbove(const float* x, int64_t n, float limit) {
  const int32_t low = BitCast<int32_t>(limit), infinity = 0x7f800000;
  int32_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t m = BitCast<int32_t>(x[i]) & 0x7fffffff;
    found |= static_cast<int32_t>(m > low) & static_cast<int32_t>(m < infinity);
  }
  return found != 0;
}
// Whether all are positive, finite and not subnormal, and whether all are finite.
MXNET_FN bool AllNormal(const float* x, int64_t n) {
  uint32_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t above = BitCast<uint32_t>(x[i]) - 0x00800000u;
    most = above > most ? above : most;
  }
  return most < 0x7f000000u;
}
MXNET_FN bool AllNormal(const double* x, int64_t n) {
  uint64_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t above = BitCast<uint64_t>(x[i]) - (uint64_t{1} << 52);
    most = above > most ? above : most;
  }
  return most < 0x7fe0000000000000ull;
}
MXNET_FN bool AllFinite(const double* x, int64_t n) {
  uint64_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t m = BitCast<uint64_t>(x[i]) & 0x7fffffffffffffffull;
    most = m > most ? m : most;
  }
  return most < 0x7ff0000000000000ull;
}
MXNET_FN bool AllFinite(const float* x, int64_t n) {
  uint32_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t m = BitCast<uint32_t>(x[i]) & 0x7fffffffu;
    most = m > most ? m : most;
  }
  return most < 0x7f800000u;
}
