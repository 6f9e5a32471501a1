// Changes of brightness, contrast, saturation, hue and lighting, by given or drawn amounts.
#include "operator/image/colour.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "operator/image/image_common.h"
#include "operator/nn/common/nn_common.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/tuple_field.h"
#include "operator/shared/random_philox.h"
#include "rtc/loop.h"

namespace mxnet {
namespace image {
namespace {

// Principal components of the colours of ImageNet times their deviations (Krizhevsky et al., NIPS
// 2012): rows are channels.
constexpr float kLighting[3][3] = {
    {55.46f * -0.5675f, 4.794f * 0.7192f, 1.148f * 0.4009f},
    {55.46f * -0.5808f, 4.794f * -0.0045f, 1.148f * -0.8140f},
    {55.46f * -0.5836f, 4.794f * -0.6948f, 1.148f * 0.4203f},
};

struct FactorParam : public Parameter<FactorParam> {
  float min_factor, max_factor;
  MXNET_DECLARE_PARAM(FactorParam) {
    MXNET_FIELD(min_factor).set_lower_bound(0.0f).describe("Smallest amount that is drawn.");
    MXNET_FIELD(max_factor).set_lower_bound(0.0f).describe("Largest amount that is drawn.");
  }
};
MXNET_REGISTER_PARAM(FactorParam);

struct JitterParam : public Parameter<JitterParam> {
  float brightness, contrast, saturation, hue;
  MXNET_DECLARE_PARAM(JitterParam) {
    MXNET_FIELD(brightness).describe("Brightness is multiplied by 1 - brightness to 1 + brightness; 0: not at all.");
    MXNET_FIELD(contrast).describe("Contrast is multiplied by 1 - contrast to 1 + contrast; 0: not at all.");
    MXNET_FIELD(saturation).describe("Saturation is multiplied by 1 - saturation to 1 + saturation; 0: not at all.");
    MXNET_FIELD(hue).describe("The hue is turned by -hue to hue of a full circle; 0: not at all.");
  }
};
MXNET_REGISTER_PARAM(JitterParam);

struct LightingParam : public Parameter<LightingParam> {
  Tuple<float> alpha;
  MXNET_DECLARE_PARAM(LightingParam) { MXNET_FIELD(alpha).describe("How much of each of the three principal components is added."); }
};
MXNET_REGISTER_PARAM(LightingParam);

struct RandomLightingParam : public Parameter<RandomLightingParam> {
  float alpha_std;
  MXNET_DECLARE_PARAM(RandomLightingParam) {
    MXNET_FIELD(alpha_std).set_default(0.05f).describe("Standard deviation of the amounts, which are normally distributed around 0.");
  }
};
MXNET_REGISTER_PARAM(RandomLightingParam);

float Between(float low, float high, uint32_t word) { return low + (high - low) * Philox::ToFloat(word); }

enum class Kind { kBrightness, kContrast, kSaturation, kHue };

// An amount of 1 (of 0 for hues) leaves the image as it is. `from` is read for its mean gray.
Recolour By(Kind kind, float amount, const TBlob& from) {
  Recolour how;
  how.a = amount;
  if (kind == Kind::kSaturation) how.change = Change::kSaturation, how.b = 1 - amount;
  if (kind == Kind::kHue) how.change = Change::kHue;
  if (kind == Kind::kContrast) {
    const Images s = ImagesOf(from.shape);
    how.b = static_cast<float>(static_cast<double>(1 - amount) * MeanGray(from.dtype, from.dptr, s.pixels(), s.channels));
  }
  return how;
}

void Apply(const Recolour& how, const TBlob& from, const TBlob& to) {
  const Images s = ImagesOf(from.shape);
  RecolourPixels(from.dtype, how, from.dptr, to.dptr, s.pixels(), s.channels);
}

bool Nothing(const KernelArgs& a) { return !nn::Wanted(a, 0) || a.out[0].Size() == 0; }

constexpr const char* kKernels = "operator/image/gpu_colour.cuh";

// One change of `from`, by what the kernel draws. kind < 0: step `step` of a jitter.
struct DeviceChange {
  int kind = -1, step = 0;
  FactorParam factor;
  JitterParam jitter;
};

void ChangeOnDevice(KernelArgs& a, const DeviceChange& change, const DeviceDraws& draws, const void* from, void* mean) {
  const Images s = ImagesOf(a.in[0].shape);
  const int dtype = a.in[0].dtype;
  auto arguments = [&] {
    rtc::Arguments args;
    args.Add(from).Add(a.out[0].dptr).Add(mean).Add(s.pixels()).Add(s.channels);
    args.Add(static_cast<int64_t>(change.kind)).Add(static_cast<int64_t>(change.step));
    const JitterParam& j = change.jitter;
    for (float v : {change.factor.min_factor, change.factor.max_factor, j.brightness, j.contrast, j.saturation, j.hue})
      args.Add(static_cast<double>(v));
    draws.AddTo(&args);
    return args;
  };
  rtc::Arguments of_mean = arguments(), of_change = arguments();
  if (change.kind < 0 || change.kind == static_cast<int>(Kind::kContrast))
    rtc::LaunchRows(a.run, {kKernels, "mean_gray", {dtype}}, 1, &of_mean);
  rtc::LaunchItems(a.run, {kKernels, "recolour", {dtype}}, s.pixels(), &of_change);
}

void ByFactorOnDevice(KernelArgs& a, Kind kind) {
  const DeviceDraws draws = DrawsOnDevice(a.run, a.random, 1);
  if (Nothing(a)) return;
  DeviceChange change;
  change.kind = static_cast<int>(kind), change.factor = a.param<FactorParam>(), change.jitter = {};
  ChangeOnDevice(a, change, draws, a.in[0].dptr, a.workspace(sizeof(double)));
}

void JitterOnDevice(KernelArgs& a) {
  const DeviceDraws draws = DrawsOnDevice(a.run, a.random, 2);
  if (Nothing(a)) return;
  DeviceChange change;
  change.factor = {}, change.jitter = a.param<JitterParam>();
  void* mean = a.workspace(sizeof(double));
  for (change.step = 0; change.step < 4; ++change.step)
    ChangeOnDevice(a, change, draws, change.step == 0 ? a.in[0].dptr : a.out[0].dptr, mean);
}

void LightOnDevice(KernelArgs& a, const float* alpha, double deviation, const DeviceDraws* draws) {
  const Images s = ImagesOf(a.in[0].shape);
  rtc::Arguments args;
  args.Add(a.in[0].dptr).Add(a.out[0].dptr).Add(s.channels);
  for (int i = 0; i < 3; ++i) args.Add(static_cast<double>(alpha[i]));
  for (const auto& row : kLighting)
    for (float v : row) args.Add(static_cast<double>(v));
  args.Add(deviation).Add(draws ? 1.0 : 0.0);
  (draws ? *draws : DeviceDraws()).AddTo(&args);
  rtc::LaunchItems(a.run, {kKernels, "light", {a.in[0].dtype}}, s.pixels(), &args);
}

template <Kind kKind>
void ByFactor(KernelArgs& a) {
  if (a.run.ctx.is_gpu()) return ByFactorOnDevice(a, kKind);
  const auto& p = a.param<FactorParam>();
  const float amount = Between(p.min_factor, p.max_factor, Philox(a.random->seed(), a.random->Take(1)).word[0]);
  if (Nothing(a)) return;
  Apply(By(kKind, amount, a.in[0]), a.in[0], a.out[0]);
}

// The four changes in an order that is drawn, each with its own amount.
void Jitter(KernelArgs& a) {
  if (a.run.ctx.is_gpu()) return JitterOnDevice(a);
  const auto& p = a.param<JitterParam>();
  const uint64_t first = a.random->Take(2);
  const Philox amounts(a.random->seed(), first), order(a.random->seed(), first + 1);
  if (Nothing(a)) return;
  const float spread[4] = {p.brightness, p.contrast, p.saturation, p.hue};
  int kinds[4] = {0, 1, 2, 3};
  for (int i = 3; i > 0; --i) std::swap(kinds[i], kinds[order.word[i] % static_cast<uint32_t>(i + 1)]);  // Fisher and Yates
  TBlob from = a.in[0];
  for (int kind : kinds) {
    if (spread[kind] == 0) continue;
    const float centre = kind == static_cast<int>(Kind::kHue) ? 0.0f : 1.0f;
    const float amount = centre + Between(-spread[kind], spread[kind], amounts.word[kind]);
    Apply(By(static_cast<Kind>(kind), amount, from), from, a.out[0]);
    from = a.out[0];
  }
  if (from.dptr != a.out[0].dptr) std::memcpy(a.out[0].dptr, from.dptr, from.Bytes());
}

void Light(KernelArgs& a, const float* alpha) {
  Recolour how;
  how.change = Change::kShift;
  for (int c = 0; c < 3; ++c) {
    float sum = 0;
    for (int i = 0; i < 3; ++i) sum += kLighting[c][i] * alpha[i];
    how.shift[c] = sum;
  }
  Apply(how, a.in[0], a.out[0]);
}

void AdjustLighting(KernelArgs& a) {
  if (Nothing(a)) return;
  const float* alpha = a.param<LightingParam>().alpha.values.data();
  if (a.run.ctx.is_gpu()) return LightOnDevice(a, alpha, 0, nullptr);
  Light(a, alpha);
}

void RandomLighting(KernelArgs& a) {
  if (a.run.ctx.is_gpu()) {
    const DeviceDraws draws = DrawsOnDevice(a.run, a.random, 1);
    const float none[3] = {0, 0, 0};
    if (!Nothing(a)) LightOnDevice(a, none, static_cast<double>(a.param<RandomLightingParam>().alpha_std), &draws);
    return;
  }
  const Philox draw(a.random->seed(), a.random->Take(1));
  if (Nothing(a)) return;
  float alpha[4];
  for (int i = 0; i < 4; i += 2) {  // Box and Muller
    const double u = 1.0 - static_cast<double>(Philox::ToFloat(draw.word[i])), v = static_cast<double>(Philox::ToFloat(draw.word[i + 1]));
    const double radius = std::sqrt(-2 * std::log(u)) * static_cast<double>(a.param<RandomLightingParam>().alpha_std);
    alpha[i] = static_cast<float>(radius * std::cos(2 * M_PI * v)), alpha[i + 1] = static_cast<float>(radius * std::sin(2 * M_PI * v));
  }
  Light(a, alpha);
}

bool LightingShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const int given = attrs.get<LightingParam>().alpha.size();
  MXNET_CHECK_KIND(given >= 3, Value) << Named(attrs) << "alpha has " << given << " numbers; 3 are needed";
  return SameImageShape(attrs, in, out);
}

constexpr const char* kTail =
    "\n\n(height, width, channels) with 1 or 3 channels, red first. Bytes are limited to 0 to 255; integers keep the integral part. The "
    "gradient passes as if nothing had been changed.";

Op& ColourRecord(const std::string& name, const std::string& text, void (*kernel)(KernelArgs&)) {
  return Op::Register(name)
      .describe(text + kTail)
      .alias("_npx_" + name)
      .set_inputs({"data"})
      .set_dtypes(dtypes::kClassicNumbers)
      .set_infer_shape(SameImageShape)
      .set_inplace({{0, 0}})
      .set_gradient([](const NodePtr&, const std::vector<NodeEntry>& ograds) { return ograds; })
      .set_kernel(kernel);
}

[[maybe_unused]] const bool registered = [] {
  const std::string drawn = " between min_factor and max_factor.";
  ColourRecord("_image_random_brightness", "Multiplies the image by a number" + drawn, ByFactor<Kind::kBrightness>)
      .set_param<FactorParam>()
      .set_uses_random();
  ColourRecord("_image_random_contrast",
               "Multiplies the image's distance from the mean of its gray (0.299 R + 0.587 G + 0.114 B) by a number" + drawn,
               ByFactor<Kind::kContrast>)
      .set_param<FactorParam>()
      .set_uses_random();
  ColourRecord("_image_random_saturation",
               "data * f + (1 - f) * 0.114 * B, with f" + drawn +
                   " So it was in 1.9.1, although the gray of a pixel has red and green in it; mx.image.SaturationJitterAug has them.",
               ByFactor<Kind::kSaturation>)
      .set_param<FactorParam>()
      .set_uses_random();
  ColourRecord("_image_random_hue", "Turns the hue by a part of a full circle" + drawn, ByFactor<Kind::kHue>)
      .set_param<FactorParam>()
      .set_uses_random();
  ColourRecord("_image_random_color_jitter",
               "Changes brightness, contrast, saturation and hue in an order that is drawn, each by an amount that is drawn.", Jitter)
      .set_param<JitterParam>()
      .set_uses_random();
  ColourRecord("_image_adjust_lighting",
               "Adds the principal components of the colours of ImageNet, times alpha (Krizhevsky, Sutskever, Hinton, NIPS 2012).",
               AdjustLighting)
      .set_param<LightingParam>()
      .set_infer_shape(LightingShape);
  ColourRecord("_image_random_lighting",
               "Adds the principal components of the colours of ImageNet, times normally distributed amounts (Krizhevsky, Sutskever, "
               "Hinton, NIPS 2012).",
               RandomLighting)
      .set_param<RandomLightingParam>()
      .set_uses_random();
  return true;
}();

}  // namespace
}  // namespace image
}  // namespace mxnet
