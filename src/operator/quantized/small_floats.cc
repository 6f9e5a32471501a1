// Floats of 8 and 4 bits, as ONNX has them: bytes here, which these operators make of numbers and
// read. The names are those of the formats' papers: bits of the exponent, bits of the fraction.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/ran.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/check.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {
namespace {

enum Format : int { kE4M3FN, kE4M3FNUZ, kE5M2, kE5M2FNUZ, kE2M1, kE8M0 };
enum Rounding : int { kUp, kDown, kNearest };

/* Of all but E8M0, which has an exponent alone. */
struct Layout {
  int bits, fraction, bias;
  int most;      // the greatest number
  int nan, inf;  // -1: there is none
  bool minus_zero;
};
constexpr Layout kLayouts[] = {{8, 3, 7, 0x7e, 0x7f, -1, true},
                               {8, 3, 8, 0x7f, 0x80, -1, false},
                               {8, 2, 15, 0x7b, 0x7f, 0x7c, true},
                               {8, 2, 16, 0x7f, 0x80, -1, false},
                               {4, 1, 1, 0x7, -1, -1, true}};
constexpr int kNaNOfExponents = 0xff;

}  // namespace

#define MXNET_FORMAT_FIELD             \
  MXNET_FIELD(format)                  \
      .add_enum("e4m3fn", kE4M3FN)     \
      .add_enum("e4m3fnuz", kE4M3FNUZ) \
      .add_enum("e5m2", kE5M2)         \
      .add_enum("e5m2fnuz", kE5M2FNUZ) \
      .add_enum("e2m1", kE2M1)         \
      .add_enum("e8m0", kE8M0)         \
      .describe("What the bytes are. Numbers of e2m1 have a byte each.")

struct SmallFloatParam : public Parameter<SmallFloatParam> {
  int format;
  MXNET_DECLARE_PARAM(SmallFloatParam) { MXNET_FORMAT_FIELD; }
};
MXNET_REGISTER_PARAM(SmallFloatParam);

struct ToSmallFloatParam : public Parameter<ToSmallFloatParam> {
  int format, round_mode;
  bool saturate;
  MXNET_DECLARE_PARAM(ToSmallFloatParam) {
    MXNET_FORMAT_FIELD;
    MXNET_FIELD(saturate).set_default(true).describe("Too large numbers and infinities become the greatest one; else infinity, or NaN.");
    MXNET_FIELD(round_mode)
        .add_enum("up", kUp)
        .add_enum("down", kDown)
        .add_enum("nearest", kNearest)
        .set_default(kUp)
        .describe("How numbers between two powers of two are rounded, for e8m0. Others go to the nearest, ties to even.");
  }
};
MXNET_REGISTER_PARAM(ToSmallFloatParam);

namespace {

using nn::Wanted;

constexpr int64_t kChunk = 16384;  // elements that a thread takes at least

double PowerOf2(int exponent) {  // REQUIRES: a normal number
  const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

uint8_t Encoded(double x, const Layout& f, bool saturate) {
  // without NaN it is -0, as onnx's node tests have it
  if (std::isnan(x)) return static_cast<uint8_t>(f.nan >= 0 ? f.nan : 1 << (f.bits - 1));
  const int sign = std::signbit(x) ? 1 << (f.bits - 1) : 0;
  const double size = std::fabs(x);
  int code = f.most + 1;
  if (std::isfinite(size)) {
    uint64_t bits;
    std::memcpy(&bits, &size, sizeof bits);
    const int exponent = std::max(static_cast<int>(bits >> 52) - 1023, 1 - f.bias);
    const double steps = std::nearbyint(size * PowerOf2(std::max(f.fraction - exponent, -1022)));
    if (exponent + f.bias < 1 << 8)
      code = ((exponent + f.bias - 1) << f.fraction) + static_cast<int>(steps);  // a carry is the next exponent
  }
  if (code > f.most) code = saturate ? f.most : f.inf >= 0 ? f.inf : f.nan >= 0 ? f.nan : f.most;
  if (code == 0 && !f.minus_zero) return 0;
  return static_cast<uint8_t>(code | sign);
}

uint8_t EncodedExponent(float x, int round_mode, bool saturate) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const int exponent = static_cast<int>(bits >> 23 & 0xff);
  const uint32_t fraction = bits & 0x7fffff, half = 0x400000;
  if (exponent == 0xff) return kNaNOfExponents;
  bool up = round_mode == kUp && fraction > 0;
  if (round_mode == kNearest) up = fraction > half || (fraction == half && exponent > 0);
  if (saturate && exponent == 0xfe) up = false;
  return static_cast<uint8_t>(exponent + up);
}

float Decoded(int code, int format) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  if (format == kE8M0) {
    const uint32_t bits = code == 0 ? 0x400000 : static_cast<uint32_t>(code) << 23;  // 2^-127 is no normal number
    float power;
    std::memcpy(&power, &bits, sizeof power);
    return code == kNaNOfExponents ? kNaN : power;
  }
  const Layout& f = kLayouts[format];
  const int sign = 1 << (f.bits - 1);
  code &= 2 * sign - 1;
  const int size = code & (sign - 1);
  if (code == f.nan || (f.nan >= 0 && f.minus_zero && size > (f.inf >= 0 ? f.inf : f.most))) return kNaN;
  if (size == f.inf) return code & sign ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  const int exponent = size >> f.fraction, fraction = size & ((1 << f.fraction) - 1);
  const double number =
      exponent ? ((1 << f.fraction) + fraction) * PowerOf2(exponent - f.bias - f.fraction) : fraction * PowerOf2(1 - f.bias - f.fraction);
  return static_cast<float>(code & sign ? -number : number);
}

template <typename T>
void EncodeAll(const KernelArgs& args) {
  const auto& p = args.param<ToSmallFloatParam>();
  const T* x = args.in[0].data<T>();
  auto* out = static_cast<uint8_t*>(args.out[0].dptr);
  ParallelFor(args.in[0].Size(), kChunk, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      out[i] = p.format == kE8M0 ? EncodedExponent(static_cast<float>(x[i]), p.round_mode, p.saturate)
                                 : Encoded(static_cast<double>(x[i]), kLayouts[p.format], p.saturate);
  });
}

void Encode(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  Ran("scalar loop");
  args.in[0].dtype == kFloat64 ? EncodeAll<double>(args) : EncodeAll<float>(args);
}

void Decode(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  float numbers[256];
  for (int code = 0; code < 256; ++code) numbers[code] = Decoded(code, args.param<SmallFloatParam>().format);
  const auto* x = static_cast<const uint8_t*>(args.in[0].dptr);
  auto* out = args.out[0].data<float>();
  Ran("table");
  ParallelFor(args.in[0].Size(), kChunk, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) out[i] = numbers[x[i]];
  });
}

bool SameShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  return (*in)[0].known();
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_to_small_float")
      .describe(
          "Bytes that stand for the nearest numbers of a float format of 8 or 4 bits (ties to even).\n\n"
          "What a format has not, such as infinity or NaN, becomes what ONNX says. float32, float64.")
      .set_inputs({"data"})
      .set_param<ToSmallFloatParam>()
      .set_infer_shape(SameShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "output", &(*out)[0], kUint8);
        return (*in)[0] != kDTypeUnknown;
      })
      .set_dtypes(dtypes::kReals)
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) { OnHost(a, Encode); });
  Op::Register("_from_small_float")
      .describe("The numbers that bytes of a float format of 8 or 4 bits stand for, float32.\n\nuint8.")
      .set_inputs({"data"})
      .set_param<SmallFloatParam>()
      .set_infer_shape(SameShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "data", &(*in)[0], kUint8);
        AssignType(attrs, "output", &(*out)[0], kFloat32);
        return true;
      })
      .set_dtypes({kUint8})
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) { OnHost(a, Decode); });
  return true;
}();

}  // namespace
}  // namespace quantized
}  // namespace mxnet
