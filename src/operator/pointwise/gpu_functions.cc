#include "operator/pointwise/gpu_functions.h"

#include <vector>

#include "mxnet/error.h"
#include "operator/pointwise/gpu_activation.h"
#include "operator/pointwise/rows.h"

namespace mxnet {
namespace pointwise {
namespace {

// libdevice's functions are overloaded for float and double; a name found in namespace mx hides
// them, so they are called with `::`.
const char* const kFloating = R"TEXT(namespace mx {
#define MX_FN __device__ __forceinline__ T
MX_FN Infinity() { return static_cast<T>(__int_as_float(0x7f800000)); }
MX_FN NotANumber() { return static_cast<T>(__int_as_float(0x7fffffff)); }
MX_FN abs(T x) { return ::fabs(x); }
MX_FN sign(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0); }
MX_FN square(T x) { return x * x; }
MX_FN sqrt(T x) { return ::sqrt(x); }
MX_FN floor(T x) { return ::floor(x); }
MX_FN ceil(T x) { return ::ceil(x); }
MX_FN trunc(T x) { return ::trunc(x); }
MX_FN rint(T x) { const T f = ::floor(x); return x - f <= T(0.5) ? f : f + T(1); }   // the reference's: halves go down
MX_FN round_even(T x) { return ::rint(x); }
MX_FN round(T x) { const T t = ::trunc(x); return ::copysign(::fabs(x - t) >= T(0.5) ? ::fabs(t) + T(1) : ::fabs(t), x); }
MX_FN isnan(T x) { return x != x ? T(1) : T(0); }
MX_FN isinf(T x) { return ::fabs(x) == Infinity() ? T(1) : T(0); }
MX_FN isfinite(T x) { return x - x == T(0) ? T(1) : T(0); }
MX_FN exp(T x) { return ::exp(x); }
MX_FN expm1(T x) { return ::expm1(x); }
MX_FN log(T x) { return ::log(x); }
MX_FN log2(T x) { return ::log2(x); }
MX_FN log10(T x) { return ::log10(x); }
MX_FN log1p(T x) { return ::log1p(x); }
MX_FN sigmoid(T x) { return Reciprocal(T(1) + ::exp(-x)); }
MX_FN softrelu(T x) { return ::log1p(::exp(x < T(0) ? x : -x)) + (x > T(0) ? x : x != x ? x : T(0)); }
MX_FN tanh(T x) { return ::tanh(x); }
MX_FN sinh(T x) { return ::sinh(x); }
MX_FN cosh(T x) { return ::cosh(x); }
MX_FN cbrt(T x) { return ::cbrt(x); }
MX_FN sin(T x) { return ::sin(x); }
MX_FN cos(T x) { return ::cos(x); }
MX_FN tan(T x) { return ::tan(x); }
MX_FN arcsin(T x) { return ::asin(x); }
MX_FN arccos(T x) { return ::acos(x); }
MX_FN arctan(T x) { return ::atan(x); }
MX_FN arcsinh(T x) { return ::asinh(x); }
MX_FN arccosh(T x) { return ::acosh(x); }
MX_FN arctanh(T x) { return ::atanh(x); }
MX_FN erf(T x) { return ::erf(x); }
MX_FN normal_cdf(T x) { return T(0.5) * (T(1) + ::erf(x * T(0.70710678118654752))); }
MX_FN erfinv(T x) { return ::erfinv(x); }
MX_FN maximum(T a, T b) { return a > b || a != a ? a : b; }   // NaN wins
MX_FN minimum(T a, T b) { return a < b || a != a ? a : b; }
MX_FN fmax(T a, T b) { return a >= b || b != b ? a : b; }     // NaN loses
MX_FN fmin(T a, T b) { return a <= b || b != b ? a : b; }
MX_FN divide(T a, T b) { return a / b; }
MX_FN copysign(T a, T b) { return ::copysign(a, b); }
MX_FN hypot(T a, T b) { return ::hypot(a, b); }
MX_FN arctan2(T a, T b) { return ::atan2(a, b); }
MX_FN power(T a, T b) { return ::pow(a, b); }
MX_FN ldexp(T a, T b) { return a * ::pow(T(2), b); }
MX_FN fmod(T a, T b) { return ::fmod(a, b); }
MX_FN mod(T a, T b) { const T r = ::fmod(a, b); return b == T(0) ? T(0) : r != T(0) && ((r < T(0)) != (b < T(0))) ? r + b : r; }
MX_FN floor_divide(T a, T b) { return ::floor(a / b); }
MX_FN logaddexp(T a, T b) { return a == b ? a + T(0.69314718055994531) : (a > b ? a : b) + ::log1p(::exp(a > b ? b - a : a - b)); }
#undef MX_FN
}  // namespace mx
)TEXT";

/*
 * In float where the result is rounded to 16 bits, with errors that those do not show: a quarter of
 * the instructions. On a Hopper GPU 25 for each element take as long as memory takes to bring and
 * to store it.
 */
const char* const kShort = R"TEXT(namespace mx {
namespace rounded {
#define MX_FN __device__ __forceinline__ float
MX_FN exp(float x) { return ShortExp(x); }
MX_FN sigmoid(float x) { return Reciprocal(1.0f + ShortExp(-x)); }
MX_FN tanh(float x) {
  const float far = 1.0f - 2.0f * Reciprocal(1.0f + ShortExp(2.0f * x));   // loses digits near 0
  return ::fabs(x) < 0.03f ? x * (1.0f - x * x * 0.33333333f) : far;
}
// Abramowitz and Stegun 7.1.26, whose terms are those of the lower tail: nothing is lost there, as
// it is where erf is near -1
MX_FN normal_cdf(float x) {
  const float t = Reciprocal(1.0f + 0.23164190f * ::fabs(x));
  const float series = t * (0.127414796f + t * (-0.142248368f + t * (0.710706870f + t * (-0.726576013f + t * 0.530702714f))));
  const float tail = series * ShortExp(-0.5f * x * x);
  return x < 0.0f ? tail : 1.0f - tail;
}
#undef MX_FN
}  // namespace rounded
}  // namespace mx
)TEXT";

// In double for both types; series of Abramowitz and Stegun 6.3.18, 6.4.12 behind a recurrence up
// to 10.
const char* const kRare = R"TEXT(namespace mx {
#define MX_PI 3.14159265358979323846
inline __device__ double SlowDigamma(double x) {
  if (x <= 0.0 && ::floor(x) == x) return static_cast<double>(NotANumber());
  double r = 0.0;
  if (x < 0.0) { r = -MX_PI / ::tan(MX_PI * x); x = 1.0 - x; }
  for (; x < 10.0; x += 1.0) r -= 1.0 / x;
  const double z = 1.0 / (x * x);
  return r + ::log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760))))));
}
inline __device__ double SlowTrigamma(double x) {
  if (x <= 0.0 && ::floor(x) == x) return static_cast<double>(Infinity());
  double r = 0.0, sign = 1.0;
  if (x < 0.0) { const double s = ::sin(MX_PI * x); r = MX_PI * MX_PI / (s * s); sign = -1.0; x = 1.0 - x; }
  double t = 0.0;
  for (; x < 10.0; x += 1.0) t += 1.0 / (x * x);
  const double z = 1.0 / (x * x);
  return r + sign * (t + 1.0 / x + 0.5 * z + z / x * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66))))));
}
inline __device__ double SlowTetragamma(double x) {
  if (x <= 0.0 && ::floor(x) == x) return static_cast<double>(NotANumber());
  double r = 0.0;
  if (x < 0.0) {
    const double s = ::sin(MX_PI * x), c = ::cos(MX_PI * x);
    r = -2.0 * MX_PI * MX_PI * MX_PI * c / (s * s * s);
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) r -= 2.0 / (x * x * x);
  const double z = 1.0 / (x * x);
  return r - z - z / x - z * z * (0.5 - z * (1.0 / 6 - z * (1.0 / 6 - z * (3.0 / 10 - z * (5.0 / 6)))));
}
#define MX_FN __device__ __forceinline__ T
MX_FN digamma(T x) { return static_cast<T>(SlowDigamma(x)); }
MX_FN trigamma(T x) { return static_cast<T>(SlowTrigamma(x)); }
MX_FN tetragamma(T x) { return static_cast<T>(SlowTetragamma(x)); }
MX_FN gamma(T x) { return static_cast<T>(::tgamma(static_cast<double>(x))); }
MX_FN gammaln(T x) { return static_cast<T>(::lgamma(static_cast<double>(x))); }
#undef MX_FN
}  // namespace mx
)TEXT";

// Wrapping on overflow, as the CPU's loops are compiled: sums and products are taken unsigned where
// the row's text does not.
const char* const kInteger = R"TEXT(namespace mx {
#define MX_FN __device__ __forceinline__ T
MX_FN abs(T x) { return x < 0 ? -x : x; }
MX_FN sign(T x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
MX_FN floor(T x) { return x; }
MX_FN ceil(T x) { return x; }
MX_FN trunc(T x) { return x; }
MX_FN rint(T x) { return x; }
MX_FN round(T x) { return x; }
MX_FN isnan(T) { return 0; }
MX_FN isinf(T) { return 0; }
MX_FN isfinite(T) { return 1; }
MX_FN maximum(T a, T b) { return a > b ? a : b; }
MX_FN minimum(T a, T b) { return a < b ? a : b; }
MX_FN fmax(T a, T b) { return a > b ? a : b; }
MX_FN fmin(T a, T b) { return a < b ? a : b; }
MX_FN divide(T a, T b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }   // a divisor of 0 gives 0
MX_FN fmod(T a, T b) { return b == 0 || b == -1 ? 0 : a % b; }
MX_FN mod(T a, T b) { const T r = fmod(a, b); return r != 0 && ((r < 0) != (b < 0)) ? r + b : r; }
MX_FN floor_divide(T a, T b) { const T q = divide(a, b); return b != 0 && b != -1 && a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q; }
MX_FN power(T a, T b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  T r = 1;
  for (T base = a; b > 0; b >>= 1, base *= base)
    if (b & 1) r *= base;
  return r;
}
MX_FN left_shift(T a, T b) { return b < 0 || b >= static_cast<T>(8 * sizeof(T)) ? 0 : static_cast<T>(static_cast<uint64>(a) << b); }
MX_FN right_shift(T a, T b) { return b < 0 || b >= static_cast<T>(8 * sizeof(T)) ? (a < 0 ? -1 : 0) : a >> b; }
__device__ __forceinline__ uint64 magnitude(T a) { return a < 0 ? uint64(0) - static_cast<uint64>(a) : static_cast<uint64>(a); }
MX_FN gcd(T a, T b) {
  uint64 u = magnitude(a), v = magnitude(b);
  while (v != 0) { const uint64 t = u % v; u = v; v = t; }
  return static_cast<T>(u);
}
MX_FN lcm(T a, T b) { const uint64 g = magnitude(gcd(a, b)); return g == 0 ? 0 : static_cast<T>(magnitude(a) / g * magnitude(b)); }
#undef MX_FN
}  // namespace mx
)TEXT";

// Activations with a slope, or made for networks: their CPU loops are in activation_variants.cc.
struct ActivationText {
  const char *name, *forward, *derivative;  // of x
};
const ActivationText kActivationTexts[] = {
    {"leaky", "x > T(0) ? x : x * p", "x > T(0) ? T(1) : p"},
    {"elu", "x > T(0) ? x : p * expm1(x)", "x > T(0) ? T(1) : p * exp(x)"},
    {"selu", "T(1.0507009873554804934193349852946) * (x > T(0) ? x : T(1.6732632423543772848170429916717) * expm1(x))",
     "T(1.0507009873554804934193349852946) * (x > T(0) ? T(1) : T(1.6732632423543772848170429916717) * exp(x))"},
    {"gelu", "x * normal_cdf(x)", "normal_cdf(x) + x * T(0.39894228040143268) * exp(T(-0.5) * x * x)"},
};
const ActivationText& ActivationOf(const Function& f) { return kActivationTexts[f.row - kActivations]; }

std::vector<const char*> Operands(const Function& f) {
  if (f.row >= kActivations) return f.gradient ? std::vector<const char*>{"g", "x"} : std::vector<const char*>{"x"};
  const Row& row = GetRow(f.row);
  if (f.row >= kFirstBinary + 1) return f.gradient ? std::vector<const char*>{"g", "a", "b"} : std::vector<const char*>{"a", "b"};
  if (!f.gradient) return {"x"};
  switch (row.uses[0]) {
    case 'X': return row.uses[1] == 'Y' ? std::vector<const char*>{"g", "x", "y"} : std::vector<const char*>{"g", "x"};
    case 'Y': return {"g", "y"};
    default: return {"g"};
  }
}

}  // namespace

const char* ComputeName(int compute) {
  constexpr const char* names[] = {"float", "double", "int", "long long"};
  return names[compute];
}

std::string DeviceFunctions(int compute) {
  const std::string type = std::string("namespace mx { typedef ") + ComputeName(compute) + " T; }\n";
  return compute >= kI32 ? type + kInteger : type + kFloating + kRare + (compute == kF32 ? kShort : "");
}

Function ActivationFunction(int type, bool gradient) {
  constexpr int rows[] = {k_relu, k_sigmoid, k_tanh, k_softrelu, k_softsign};  // in the order of nn::ActivationType
  constexpr int count = sizeof(rows) / sizeof(rows[0]);
  return {type < count ? rows[type] : kActivations + type - count, gradient, 0};
}

std::string DeviceName(const Function& f) {
  if (f.row >= kActivations) return std::string(f.gradient ? "grad_" : "act_") + ActivationOf(f).name;
  const std::string row = GetRow(f.row).name;
  return f.gradient ? "grad_" + row + (f.side ? "_1" : "") : "row_" + row;
}

std::string DeviceDefinition(const Function& f, bool rounded) {
  std::string text =
      std::string("namespace mx {\n") + (rounded ? "namespace rounded {\n" : "") + "__device__ __forceinline__ T " + DeviceName(f) + "(";
  for (const char* operand : Operands(f)) text += std::string("T ") + operand + ", ";
  text += "T p, T q, T r) { return ";
  const bool activation = f.row >= kActivations;
  if (f.gradient) {
    const std::string derivative = "(" + std::string(activation ? ActivationOf(f).derivative : GetRow(f.row).derivative[f.side]) + ")";
    text += (!activation && GetRow(f.row).gate() ? derivative + " == T(0) ? T(0) : " : std::string()) + "g * " + derivative;
  }
  if (!f.gradient) text += activation ? ActivationOf(f).forward : GetRow(f.row).expression;
  return text + "; }\n" + (rounded ? "}\n" : "") + "}  // namespace mx\n";
}

int OperandCount(const Function& f) { return static_cast<int>(Operands(f).size()); }

bool HasFunction(const Function& f, int compute) {
  if (f.row >= kActivations) return compute < kI32;
  const Row& row = GetRow(f.row);
  if (compute >= kI32) return row.exact() && !f.gradient;
  if (row.types == 'B') return false;
  if (!f.gradient) return true;
  const bool binary = f.row > kFirstBinary;
  if (binary) return row.uses[0] == 'L';
  return f.side == 0 && (row.uses[0] == 'X' || row.uses[0] == 'Y' || row.uses[0] == 'C');
}

}  // namespace pointwise
}  // namespace mxnet
