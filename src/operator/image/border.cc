// _cvcopyMakeBorder: an image with pixels around it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/copy_run.h"
#include "base/threads/omp.h"
#include "operator/image/image_common.h"
#include "operator/image/pick_pixels.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/tuple_field.h"
#include "rtc/loop.h"

namespace mxnet {
namespace image {
namespace {

enum BorderType : int { kConstant, kReplicate, kReflect, kWrap, kReflect101 };

struct BorderParam : public Parameter<BorderParam> {
  int top, bot, left, right, type;
  double value;
  Tuple<double> values;
  MXNET_DECLARE_PARAM(BorderParam) {
    MXNET_FIELD(top).describe("Rows above the image.");
    MXNET_FIELD(bot).describe("Rows below the image.");
    MXNET_FIELD(left).describe("Columns before the image.");
    MXNET_FIELD(right).describe("Columns behind the image.");
    MXNET_FIELD(type).set_default(0).describe(
        "0: the given value, 1: the edge's pixels, 2: the image mirrored with its edge, 3: the image again, 4: mirrored without its edge.");
    MXNET_FIELD(value).set_default(0.0).describe("Value of the first three channels of type 0; the others are 0.");
    MXNET_FIELD(values).set_default(Tuple<double>()).describe("Value of each channel of type 0, instead of `value`.");
  }
};
MXNET_REGISTER_PARAM(BorderParam);

bool BorderShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<BorderParam>();
  constexpr int kMost = 1 << 30;
  for (int side : {p.top, p.bot, p.left, p.right})
    MXNET_CHECK_KIND(side >= 0 && side <= kMost, Value) << Named(attrs) << "top=" << p.top << ", bot=" << p.bot << ", left=" << p.left
                                                        << ", right=" << p.right << "; accepted are 0 to 2^30";
  MXNET_CHECK_KIND(p.type >= kConstant && p.type <= kReflect101, Value) << Named(attrs) << "type=" << p.type << "; accepted are 0 to 4";
  const Shape& src = (*in)[0];
  if (!src.ndim_known()) return false;
  NeedImages(attrs, src, false);
  if (p.type != kConstant)
    MXNET_CHECK_KIND(src[0] != 0 && src[1] != 0, Value)
        << Named(attrs) << "src has shape " << src << "; an image without pixels has a border of type 0 only";
  Shape to = src;
  if (src[0] >= 0) to[0] = src[0] + p.top + p.bot;
  if (src[1] >= 0) to[1] = src[1] + p.left + p.right;
  AssignShape(attrs, "output", &(*out)[0], to);
  return src.known();
}

// The place from 0 to n - 1 that place i, outside or inside, shows.
int64_t Shown(int64_t i, int64_t n, int type) {
  if (i >= 0 && i < n) return i;
  if (type == kReplicate) return i < 0 ? 0 : n - 1;
  if (type == kWrap) return ((i % n) + n) % n;
  if (n == 1) return 0;
  const int64_t edge = type == kReflect101 ? 1 : 0, period = 2 * (n - edge);
  const int64_t at = ((i % period) + period) % period;
  return at < n ? at : period - 1 + edge - at;
}

// What type 0 puts into a channel. As in 1.9.1, `value` is that of red, green and blue.
double ValueOf(const BorderParam& p, int64_t channel) {
  if (p.values.size() == 0) return channel < 3 ? p.value : 0.0;
  return channel < p.values.size() ? p.values[static_cast<int>(channel)] : 0.0;
}

template <typename T>
T BorderValue(double v) {
  if constexpr (std::is_same<T, uint8_t>::value)
    return static_cast<T>(std::min(std::max(std::nearbyint(std::isnan(v) ? 0 : v), 0.0), 255.0));
  if constexpr (std::is_integral<T>::value && !std::is_same<T, uint8_t>::value) return Wrapped<T>(std::nearbyint(v));
  return static_cast<T>(v);
}

/* Type 0. What lies between the image's rows, the right side of one and the left side of the next,
 * is written at once: rows may be short. */
template <typename T>
void FillBorder(const BorderParam& p, const Images& s, const T* from, int64_t height, int64_t width, T* to) {
  const int64_t c = s.channels, row = width * c, bottom = p.top + s.height;
  std::vector<T> fill(static_cast<size_t>(row));
  for (int64_t i = 0; i < row; ++i) fill[static_cast<size_t>(i)] = BorderValue<T>(ValueOf(p, i % c));
  const size_t pixel = static_cast<size_t>(c) * sizeof(T), inside = static_cast<size_t>(s.width) * pixel;
  ParallelFor(height, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, row)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* const line = to + r * row;
      if (r < p.top || r >= bottom) {
        CopyRun(line, fill.data(), static_cast<size_t>(row) * sizeof(T));
        continue;
      }
      if (r == begin || r == p.top) CopyRun(line, fill.data(), static_cast<size_t>(p.left) * pixel);
      CopyRun(line + p.left * c, from + (r - p.top) * s.width * c, inside);
      const bool next = r + 1 < std::min(end, bottom);
      CopyRun(line + (p.left + s.width) * c, fill.data(), static_cast<size_t>(p.right + (next ? p.left : 0)) * pixel);
    }
  });
}

template <typename T>
void MakeBorder(const BorderParam& p, const Images& s, const T* from, int64_t height, int64_t width, T* to) {
  if (p.type == kConstant) return FillBorder(p, s, from, height, width, to);
  const int64_t c = s.channels;
  const int64_t pixel = c * static_cast<int64_t>(sizeof(T));
  auto shown = [&](int64_t first, int64_t n) {  // columns of a border, in bytes
    std::vector<int64_t> at(static_cast<size_t>(n));
    for (int64_t x = 0; x < n; ++x) at[static_cast<size_t>(x)] = Shown(first + x, s.width, p.type) * pixel;
    return at;
  };
  const std::vector<int64_t> left = shown(-p.left, p.left), right = shown(s.width, p.right);
  ParallelFor(height, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, width * c)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      auto* row = reinterpret_cast<char*>(to + r * width * c);
      const auto* source = reinterpret_cast<const char*>(from + Shown(r - p.top, s.height, p.type) * s.width * c);
      PickPixels(source, left.data(), p.left, pixel, row);
      CopyRun(row + p.left * pixel, source, static_cast<size_t>(s.width * pixel));
      PickPixels(source, right.data(), p.right, pixel, row + (p.left + s.width) * pixel);
    }
  });
}

void BorderOnDevice(KernelArgs& a) {
  const auto& p = a.param<BorderParam>();
  const Images s = ImagesOf(a.in[0].shape);
  MXNET_CHECK_KIND(p.values.size() <= 4 || p.type != kConstant, Value)
      << Named(*a.attrs) << "values has " << p.values.size() << " numbers; a GPU accepts 4";
  rtc::Arguments args;
  args.Add(a.in[0].dptr).Add(a.out[0].dptr).Add(s.height).Add(s.width).Add(s.channels).Add(a.out[0].shape[1]);
  args.Add(static_cast<int64_t>(p.top)).Add(static_cast<int64_t>(p.left)).Add(static_cast<int64_t>(p.type));
  for (int c = 0; c < 4; ++c) {
    double v = ValueOf(p, c);
    if (a.in[0].dtype == kUint8) v = static_cast<double>(BorderValue<uint8_t>(v));
    args.Add(IsFloating(a.in[0].dtype) ? v : std::nearbyint(v));
  }
  rtc::LaunchItems(a.run, {"operator/image/gpu_place.cuh", "border", {a.in[0].dtype}}, a.out[0].Size(), &args);
}

void Border(KernelArgs& a) {
  if (!nn::Wanted(a, 0) || a.out[0].Size() == 0) return;
  if (a.run.ctx.is_gpu()) return BorderOnDevice(a);
  const auto& p = a.param<BorderParam>();
  const Images s = ImagesOf(a.in[0].shape);
  VisitImageDType(a.in[0].dtype, "_cvcopyMakeBorder", [&](auto tag) {
    using T = decltype(tag);
    MakeBorder<T>(p, s, a.in[0].data<T>(), a.out[0].shape[0], a.out[0].shape[1], a.out[0].data<T>());
  });
}

MXNET_REGISTER_OP(_cvcopyMakeBorder)
    .describe(
        "(height, width, channels) with `top`, `bot`, `left` and `right` pixels around it.\n\n"
        "Channels behind the last of `values` are 0. uint8 values are rounded and limited to 0 to 255.")
    .set_param<BorderParam>()
    .set_inputs({"src"})
    .set_dtypes(dtypes::kClassicNumbers)
    .set_infer_shape(BorderShape)
    .set_kernel(Border);

}  // namespace
}  // namespace image
}  // namespace mxnet
