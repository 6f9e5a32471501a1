/*
 * Logarithms of other bases, powers and roots for functions.h, which includes this where the
 * instruction set has fused multiply-add; the others go to libm. Before the last rounding their
 * errors are below half an ulp, so a number of the type comes out exactly: log10(1000) is 3, and
 * pow(3, 4) is 81.
 *
 * A sum `hi + lo` holds more digits than one number. Its low part is made with std::fma, never by a
 * product and a difference, which the compiler might fuse itself. Fits are of our own (Chebyshev).
 */
// No include guard on purpose: see functions.h.

// ---- logarithms: x is 2^k (1 + f), and log(1 + f) is hi + lo
template <typename T>
struct LogParts {
  T k, f;
};
MXNET_FN LogParts<double> PartsOf(double x) {
  const bool tiny = x < 0x1p-1022;
  const uint64_t bits = BitCast<uint64_t>(tiny ? x * 0x1p54 : x);
  const uint64_t biased = (bits - 0x3fe6a09e667f3bcdull + (uint64_t{1023} << 52)) >> 52;
  const double k = BitCast<double>(biased | 0x4330000000000000ull) - (tiny ? 0x1p52 + 1077.0 : 0x1p52 + 1023.0);
  return {k, BitCast<double>(bits - ((biased - 1023) << 52)) - 1.0};
}
MXNET_FN LogParts<float> PartsOf(float x) {
  const bool tiny = x < 0x1p-126f;
  const uint32_t bits = BitCast<uint32_t>(tiny ? x * 0x1p25f : x);
  const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  return {static_cast<float>(e) - (tiny ? 25.0f : 0.0f), BitCast<float>(bits - (static_cast<uint32_t>(e) << 23)) - 1.0f};
}
MXNET_FN double LogSeries(double z) {  // (atanh(s) / s - 1) * 2 with z = s * s
  double p = 0.131007213835034914;
  p = p * z + 0.132674185964748834;
  p = p * z + 0.15386290534658992;
  p = p * z + 0.181817947008977996;
  p = p * z + 0.222222224005477573;
  p = p * z + 0.285714285707644501;
  p = p * z + 0.400000000000009413;
  return z * (p * z + 0.666666666666666664);
}
MXNET_FN float LogSeries(float z) { return z * (((0.23341943389f * z + 0.2855039696f) * z + 0.40000125595f) * z + 0.6666666655f); }

// The logarithm whose inverse base has the logarithm `base` = base_hi + base_lo, and of 2 `two`,
// of which two_hi times an exponent is exact.
template <typename T>
MXNET_FN T LogOfBase(T x, T base_hi, T base_lo, T two_hi, T two_lo) {
  const LogParts<T> v = PartsOf(x);
  const T s = v.f / (T(2) + v.f), half = T(-0.5) * v.f;
  const T hi = std::fma(half, v.f, v.f);
  const T lo = std::fma(half, v.f, v.f - hi) + s * (T(0.5) * v.f * v.f + LogSeries(s * s));
  const T whole = v.k * two_hi;
  const T sum = std::fma(hi, base_hi, whole);
  const T rest = std::fma(hi, base_hi, whole - sum) + (std::fma(hi, base_lo, lo * base_hi) + v.k * two_lo);
  T r = sum + rest;
  r = x == T(0) ? -std::numeric_limits<T>::infinity() : r;
  return x < std::numeric_limits<T>::infinity() ? (x < T(0) ? std::numeric_limits<T>::quiet_NaN() : r) : x;
}
MXNET_FN double log2(double x) { return LogOfBase(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1.0, 0.0); }
MXNET_FN float log2(float x) { return LogOfBase(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1.0f, 0.0f); }
MXNET_FN double log10(double x) {
  return LogOfBase(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f6000p-2, 0x1.9fef311f12b36p-42);
}
MXNET_FN float log10(float x) { return LogOfBase(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f); }

// ---- 2^x
MXNET_FN double ScaledBy(double p, double n) {  // p * 2^n, in two steps: for subnormal results and those close to overflow
  const double shifted = n + 0x1.8p52;
  const int64_t e = BitCast<int64_t>(shifted) - BitCast<int64_t>(0x1.8p52);
  const double up = n < 0.0 ? 0x1p-600 : 0x1p600;
  const int64_t rest = e - (n < 0.0 ? -600 : 600);
  const bool far = std::fabs(n) > 600.0;
  const double scaled = p * BitCast<double>(static_cast<uint64_t>((far ? rest : e) + 1023) << 52);
  return far ? scaled * up : scaled;
}
MXNET_FN double ExpSeries(double r) {  // 2^r for |r| <= 1/2
  double p = 2.57293241773623042e-11;
  p = p * r + 4.45581790833606449e-10;
  p = p * r + 7.05489730415549928e-9;
  p = p * r + 1.01780570877339411e-7;
  p = p * r + 1.32154868087055628e-6;
  p = p * r + 0.0000152527338415567726;
  p = p * r + 0.000154035303933707334;
  p = p * r + 0.00133335581464064707;
  p = p * r + 0.00961812910762847949;
  p = p * r + 0.055504108664821627;
  p = p * r + 0.240226506959100712;
  p = p * r + 0.693147180559945309;
  return p * r + 1.0;
}
MXNET_FN double PowerOfTwo(double x) {
  x = x < -1080.0 ? -1080.0 : x;
  x = x > 1030.0 ? 1030.0 : x;
  const double n = (x + 0x1.8p52) - 0x1.8p52;
  return ScaledBy(ExpSeries(x - n), n);
}
MXNET_FN float PowerOfTwo(float x) {
  x = x < -155.0f ? -155.0f : x;
  x = x > 130.0f ? 130.0f : x;
  const float shifted = x + 0x1.8p23f;
  const float r = x - (shifted - 0x1.8p23f);
  float p = 0.000154531629451206902f;
  p = p * r + 0.00133908633646712344f;
  p = p * r + 0.00961808255727785149f;
  p = p * r + 0.0555035711421907782f;
  p = p * r + 0.240226507605681269f;
  p = p * r + 0.693147188026228781f;
  p = p * r + 1.0f;
  const int32_t e = BitCast<int32_t>(shifted) - 0x4b400000;
  const int32_t half = e >> 1;
  const uint32_t first = static_cast<uint32_t>(half + 127) << 23, second = static_cast<uint32_t>(e - half + 127) << 23;
  return p * BitCast<float>(first) * BitCast<float>(second);
}

// ---- powers of doubles: 2^(b log2(a)), with 66 digits of the logarithm
struct TwoParts {
  double hi, lo;
};
MXNET_FN TwoParts LongLog2(double k, double f) {
  const double d = 2.0 + f, d_lo = (2.0 - d) + f;
  const double inverse = 1.0 / d;
  const double s = f * inverse;
  const double s_lo = std::fma(-s, d_lo, std::fma(-s, d, f)) * inverse;
  const double z = s * s;
  const double z_lo = std::fma(s, s, -z) + 2.0 * s * s_lo;
  double q = 0.0586288563228971379;  // (atanh(s) / s - 1 - z / 3) / z^2
  q = q * z + 0.0585299407588591068;
  q = q * z + 0.0666740698575057761;
  q = q * z + 0.0769229739587882021;
  q = q * z + 0.0909090916849631319;
  q = q * z + 0.111111111108244105;
  q = q * z + 0.142857142857146889;
  q = q * z + 0.199999999999999999;
  constexpr double kThird = 0x1.5555555555555p-2, kThirdLo = 0x1.5555555555555p-56;
  const double far = z * z * q;
  const double u = std::fma(z, kThird, far);
  // `far` and z / 3 less u, which loses less than 2^-64 of the whole
  const double u_lo = std::fma(z, kThird, -u) + far + (z * kThirdLo + z_lo * kThird);
  const double v = std::fma(s, u, s);
  const double v_lo = std::fma(s, u, s - v) + (s_lo + std::fma(s, u_lo, s_lo * u));
  constexpr double kScale = 0x1.71547652b82fep+1, kScaleLo = 0x1.777d0ffda0d24p-55;  // 2 / ln 2
  const double hi = std::fma(v, kScale, k);
  return {hi, std::fma(v, kScale, k - hi) + std::fma(v, kScaleLo, v_lo * kScale)};
}
// 2^(b (k + log2(1 + f)))
MXNET_FN double PowerFrom(double k, double f, double b) {
  const TwoParts l = LongLog2(k, f);
  const double product = l.hi * b;
  double t = product < -1100.0 ? -1100.0 : product;  // 0 and infinity come out
  t = t > 1100.0 ? 1100.0 : t;
  const double t_lo = std::fma(l.hi, b, -product) + l.lo * b;
  const double n = (t + 0x1.8p52) - 0x1.8p52;
  return ScaledBy(ExpSeries((t - n) + (std::fabs(product) <= 1100.0 ? t_lo : 0.0)), n);
}
MXNET_FN double PowerOf(double x, double b) {  // x is positive, finite and not subnormal, b finite
  const uint64_t bits = BitCast<uint64_t>(x);
  const uint64_t biased = (bits - 0x3fe6a09e667f3bcdull + (uint64_t{1023} << 52)) >> 52;
  const double k = BitCast<double>(biased | 0x4330000000000000ull) - (0x1p52 + 1023.0);
  return PowerFrom(k, BitCast<double>(bits - ((biased - 1023) << 52)) - 1.0, b);
}
MXNET_FN double power(double a, double b) {  // as pow has it
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double x = std::fabs(a);
  const LogParts<double> parts = PartsOf(x);
  const double k = x == 0.0 ? -kInfinity : x < kInfinity ? parts.k : x;
  const double r = PowerFrom(k, parts.f, b);
  const double s = b == 0.0 ? 1.0 : x == 1.0 ? 1.0 : r;
  const double h = 0.5 * b;
  const bool integer = std::rint(b) == b, even = std::rint(h) == h;  // an odd one is an integer and not even
  const double odd = integer ? std::copysign(s, a) : s, v = even ? s : odd;
  const bool real = !(a < 0.0) || integer || a == -kInfinity;
  return real ? v : std::numeric_limits<double>::quiet_NaN();
}

// ---- cube roots: x is 2^(3 q) m, and w an approximation of m^(-1/3)
template <typename T>
MXNET_FN T CubeRootSeries(T f) {  // (1 + f)^(-1/3), to 5e-5
  const T m = f + T(1);
  return (((T(0.124740558956367212) * m - T(0.686906071489152262)) * m + T(1.53699336140336046)) * m - T(1.84519078779548289)) * m +
         T(1.87033464500780013);
}
MXNET_FN double ScaledByThird(double y, double q) {  // y * 2^q
  return y * BitCast<double>((BitCast<uint64_t>(q + (0x1.8p52 + 1023.0))) << 52);
}
MXNET_FN float ScaledByThird(float y, float q) { return y * BitCast<float>(BitCast<uint32_t>(q + (0x1.8p23f + 127.0f)) << 23); }
template <typename T>
MXNET_FN T CubeRoot(T x) {
  const T a = std::fabs(x);
  const LogParts<T> v = PartsOf(a);
  const T magic = sizeof(T) == 8 ? T(0x1.8p52) : T(0x1.8p23);
  const T q = (v.k * T(1.0 / 3) + magic) - magic, left = v.k - T(3) * q;  // -1, 0 or 1
  const T up = left > T(0) ? T(2) : left < T(0) ? T(0.5) : T(1);
  const T root = left > T(0) ? T(0.7937005259840997374) : left < T(0) ? T(1.2599210498948731648) : T(1);
  const T m = (v.f + T(1)) * up;
  T w = CubeRootSeries(v.f) * root;
  const T h = std::fma(-m * w, w * w, T(1));
  w = std::fma(w * h, T(1.0 / 3) + h * (T(2.0 / 9) + h * T(14.0 / 81)), w);
  const T y = m * w * w, y2 = y * y;
  const T excess = std::fma(y2, y, -m) + std::fma(y, y, -y2) * y;  // y^3 - m
  const T r = std::copysign(ScaledByThird(std::fma(excess * w, w * T(-1.0 / 3), y), q), x);
  return x == T(0) || !(a < std::numeric_limits<T>::infinity()) ? x : r;
}
MXNET_FN double cbrt(double x) { return CubeRoot(x); }
MXNET_FN float cbrt(float x) { return CubeRoot(x); }
