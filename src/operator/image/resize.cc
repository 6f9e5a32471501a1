// _image_resize, _cvimresize, and crops at places that are drawn, which resize what they cut.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "operator/image/image_common.h"
#include "operator/image/resample.h"
#include "operator/nn/common/nn_common.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/tuple_field.h"
#include "operator/shared/random_philox.h"
#include "rtc/loop.h"

namespace mxnet {
namespace image {
namespace {

constexpr const char* kMethods =
    "0: nearest pixel, 1: bilinear, 2: bicubic, 3: mean of the area that a pixel covers, 4: Lanczos over 8 pixels, 5: bilinear with one "
    "rounding (uint8)";

struct ResizeParam : public Parameter<ResizeParam> {
  Shape size;
  bool keep_ratio;
  int interp;
  MXNET_DECLARE_PARAM(ResizeParam) {
    MXNET_FIELD(size).set_default(Shape()).describe("(width, height) of the result, or one number for both.");
    MXNET_FIELD(keep_ratio)
        .set_default(false)
        .describe("With one number as size: the shorter side becomes that long, and the other one in proportion.");
    MXNET_FIELD(interp).set_default(1).describe(kMethods);
  }
};

struct CvResizeParam : public Parameter<CvResizeParam> {
  int w, h, interp;
  MXNET_DECLARE_PARAM(CvResizeParam) {
    MXNET_FIELD(w).describe("Width of the result.");
    MXNET_FIELD(h).describe("Height of the result.");
    MXNET_FIELD(interp).set_default(1).describe(kMethods);
  }
};

struct RandomCropParam : public Parameter<RandomCropParam> {
  Tuple<float> xrange, yrange;
  int width, height, interp;
  MXNET_DECLARE_PARAM(RandomCropParam) {
    MXNET_FIELD(xrange).set_default(Tuple<float>{0, 1}).describe("From where to where, from 0 to 1, the left edge is drawn.");
    MXNET_FIELD(yrange).set_default(Tuple<float>{0, 1}).describe("From where to where, from 0 to 1, the upper edge is drawn.");
    MXNET_FIELD(width).set_lower_bound(1).describe("Width of the result.");
    MXNET_FIELD(height).set_lower_bound(1).describe("Height of the result.");
    MXNET_FIELD(interp).set_default(1).describe(kMethods);
  }
};

struct RandomResizedCropParam : public Parameter<RandomResizedCropParam> {
  Tuple<float> xrange, yrange;
  int width, height, interp;
  Tuple<float> area, ratio;
  int max_trial;
  MXNET_DECLARE_PARAM(RandomResizedCropParam) {
    MXNET_FIELD(xrange).set_default(Tuple<float>{0, 1}).describe("From where to where, from 0 to 1, the left edge is drawn.");
    MXNET_FIELD(yrange).set_default(Tuple<float>{0, 1}).describe("From where to where, from 0 to 1, the upper edge is drawn.");
    MXNET_FIELD(width).set_lower_bound(1).describe("Width of the result.");
    MXNET_FIELD(height).set_lower_bound(1).describe("Height of the result.");
    MXNET_FIELD(interp).set_default(1).describe(kMethods);
    MXNET_FIELD(area).set_default(Tuple<float>{0.08f, 1}).describe("From where to where the box's part of the area is drawn.");
    MXNET_FIELD(ratio).set_default(Tuple<float>{3.0f / 4, 4.0f / 3}).describe("From where to where the box's width / height is drawn.");
    MXNET_FIELD(max_trial).set_default(10).describe("Draws before the largest box in the middle is taken.");
  }
};
MXNET_REGISTER_PARAM(ResizeParam);
MXNET_REGISTER_PARAM(CvResizeParam);
MXNET_REGISTER_PARAM(RandomCropParam);
MXNET_REGISTER_PARAM(RandomResizedCropParam);

// A side of a result: more pixels than that are a mistake.
void NeedSide(const Attrs& attrs, const char* what, int64_t size) {
  MXNET_CHECK_KIND(size > 0 && size <= (int64_t{1} << 30), Value)
      << Named(attrs) << what << " of the result is " << size << "; accepted are 1 to 2^30";
}

void NeedMethod(const Attrs& attrs, int interp) {
  MXNET_CHECK_KIND(interp >= 0 && interp < kInterpolations, Value) << Named(attrs) << "interp=" << interp << "; accepted are " << kMethods;
}

void NeedPixels(const Attrs& attrs, const Shape& shape) {
  const int at = shape.ndim() - 3;
  for (int i = at; i < shape.ndim(); ++i)
    MXNET_CHECK_KIND(shape[i] != 0, Value) << Named(attrs) << "data has shape " << shape << "; an image without pixels cannot be resized";
}

struct Size {
  int64_t height, width;
};

// REQUIRES: height and width of `data` are known if the ratio is kept.
Size WantedSize(const Attrs& attrs, const Shape& data) {
  const auto& p = attrs.get<ResizeParam>();
  MXNET_CHECK_KIND(p.size.ndim() == 1 || p.size.ndim() == 2, Value)
      << Named(attrs) << "size has " << std::max(0, p.size.ndim()) << " numbers; accepted are one, or width and height";
  if (p.size.ndim() == 2) return {p.size[1], p.size[0]};
  const int64_t side = p.size[0], height = data[data.ndim() - 3], width = data[data.ndim() - 2];
  if (!p.keep_ratio || side <= 0 || side > (int64_t{1} << 30) || height < 1 || width < 1) return {side, side};
  auto scaled = [&](int64_t longer, int64_t shorter) {
    return static_cast<int64_t>(static_cast<double>(longer) * static_cast<double>(side) / static_cast<double>(shorter));
  };
  return height > width ? Size{scaled(height, width), side} : Size{side, scaled(width, height)};
}

void SetSize(const Attrs& attrs, const Shape& data, Size size, Shape* out) {
  NeedSide(attrs, "width", size.width);
  NeedSide(attrs, "height", size.height);
  Shape to = data;
  to[to.ndim() - 3] = size.height, to[to.ndim() - 2] = size.width;
  AssignShape(attrs, "output", out, to);
}

bool ResizeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<ResizeParam>();
  NeedMethod(attrs, p.interp);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  NeedImages(attrs, data, true);
  NeedPixels(attrs, data);
  const int at = data.ndim() - 3;
  if (p.keep_ratio && p.size.ndim() == 1 && (data[at] < 0 || data[at + 1] < 0)) return false;
  SetSize(attrs, data, WantedSize(attrs, data), &(*out)[0]);
  return data.known();
}

bool CvResizeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<CvResizeParam>();
  NeedMethod(attrs, p.interp);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  NeedImages(attrs, data, false);
  NeedPixels(attrs, data);
  SetSize(attrs, data, {p.h, p.w}, &(*out)[0]);
  return data.known();
}

// The box of each image of `from`, resized.
struct Box {
  int64_t y, x, height, width;
};

void NeedResampling(const Attrs& attrs, int dtype, int interp) {
  MXNET_CHECK_KIND(CanResample(dtype, interp), Type)
      << Named(attrs) << "data is " << DTypeName(dtype) << "; interp=" << interp << " accepts "
      << (interp == kNearest ? "uint8, int8, int32, int64, float32, float64" : "uint8, float32, float64");
}

template <typename P>
bool ResampledType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const bool known = SameType(attrs, in, out);
  if (known) NeedResampling(attrs, (*in)[0], attrs.get<P>().interp);
  return known;
}

// A box of the result's size is copied, whatever its dtype.
void CopyBox(KernelArgs& a, const Box& box) {
  const Images s = ImagesOf(a.in[0].shape), t = ImagesOf(a.out[0].shape);
  const int64_t pixel = s.channels * static_cast<int64_t>(DTypeSize(a.in[0].dtype)), row = t.width * pixel;
  const char* from = a.in[0].data<char>() + (box.y * s.width + box.x) * pixel;
  char* to = a.out[0].data<char>();
  for (int64_t i = 0; i < s.count; ++i, from += s.pixels() * pixel)
    for (int64_t y = 0; y < t.height; ++y, to += row) std::memcpy(to, from + y * s.width * pixel, static_cast<size_t>(row));
}

void ResizeBox(KernelArgs& a, const Box& box, int interp) {
  const TBlob &from = a.in[0], &to = a.out[0];
  const Images s = ImagesOf(from.shape), t = ImagesOf(to.shape);
  if (box.height == t.height && box.width == t.width) return CopyBox(a, box);
  NeedResampling(*a.attrs, from.dtype, interp);
  const int64_t bytes = static_cast<int64_t>(DTypeSize(from.dtype)), row = s.width * s.channels;
  for (int64_t i = 0; i < s.count; ++i)
    Resample(from.dtype, static_cast<Interpolation>(interp), from.data<char>() + (i * s.size() + box.y * row + box.x * s.channels) * bytes,
             {box.height, box.width, s.channels}, row, to.data<char>() + i * t.size() * bytes, t.height, t.width);
}

// How a GPU finds the box: it is `given`, at a drawn place, or of drawn area and ratio.
struct DeviceBox {
  int64_t kind = 0;
  Box given{0, 0, 0, 0};
  Tuple<float> xrange{0, 0}, yrange{0, 0}, area{0, 0}, ratio{1, 1};
  int64_t trials = 0;
  DeviceDraws draws;
};

void ResizeBoxOnDevice(KernelArgs& a, const DeviceBox& how, int interp) {
  constexpr const char* kKernels = "operator/image/gpu_resample.cuh";
  const TBlob &from = a.in[0], &to = a.out[0];
  const Images s = ImagesOf(from.shape), t = ImagesOf(to.shape);
  NeedResampling(*a.attrs, from.dtype, interp);
  void* box = a.workspace(sizeof(Box));
  rtc::Arguments choose;
  choose.Add(box).Add(how.kind).Add(how.given.y).Add(how.given.x).Add(how.given.height).Add(how.given.width).Add(s.height).Add(s.width);
  for (const auto* range : {&how.xrange, &how.yrange, &how.area, &how.ratio})
    choose.Add(static_cast<double>((*range)[0])).Add(static_cast<double>((*range)[1]));
  how.draws.AddTo(&choose.Add(how.trials));
  rtc::LaunchItems(a.run, {kKernels, "choose_box"}, 1, &choose);
  rtc::Arguments args;
  args.Add(from.dptr).Add(to.dptr).Add(box).Add(s.height).Add(s.width).Add(s.channels).Add(t.height).Add(t.width);
  args.Add(static_cast<int64_t>(interp));
  rtc::LaunchItems(a.run, {kKernels, "resample", {from.dtype}}, to.Size(), &args);
}

Box Whole(const Shape& shape) {
  const Images s = ImagesOf(shape);
  return {0, 0, s.height, s.width};
}

template <typename P>
void Resize(KernelArgs& a) {
  if (!nn::Wanted(a, 0) || a.out[0].Size() == 0) return;
  if (a.run.ctx.is_gpu()) {
    DeviceBox how;
    how.given = Whole(a.in[0].shape);
    return ResizeBoxOnDevice(a, how, a.param<P>().interp);
  }
  ResizeBox(a, Whole(a.in[0].shape), a.param<P>().interp);
}

// ---- crops at drawn places

void NeedRange(const Attrs& attrs, const char* what, const Tuple<float>& range, float highest) {
  MXNET_CHECK_KIND(range.size() == 2 && range[0] >= 0 && range[0] <= range[1] && range[1] <= highest, Value)
      << Named(attrs) << what << "=" << range << "; accepted are two numbers in ascending order, from 0 to " << highest;
}

template <typename P>
bool RandomCropShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<P>();
  NeedMethod(attrs, p.interp);
  NeedRange(attrs, "xrange", p.xrange, 1);
  NeedRange(attrs, "yrange", p.yrange, 1);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  NeedImages(attrs, data, true);
  NeedPixels(attrs, data);
  SetSize(attrs, data, {p.height, p.width}, &(*out)[0]);
  return data.known();
}

bool RandomResizedCropShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<RandomResizedCropParam>();
  NeedRange(attrs, "area", p.area, 1);
  NeedRange(attrs, "ratio", p.ratio, 1e6f);
  MXNET_CHECK_KIND(p.ratio[0] > 0, Value) << Named(attrs) << "ratio=" << p.ratio << "; accepted are numbers above 0";
  MXNET_CHECK_KIND(p.max_trial >= 0 && p.max_trial <= 1000, Value)
      << Named(attrs) << "max_trial=" << p.max_trial << "; accepted are 0 to 1000";
  return RandomCropShape<RandomResizedCropParam>(attrs, in, out);
}

double Between(double low, double high, uint32_t word) { return low + (high - low) * static_cast<double>(Philox::ToFloat(word)); }

// A box of that size, its upper left pixel drawn.
template <typename P>
Box Placed(const P& p, const Images& s, int64_t height, int64_t width, uint32_t word_x, uint32_t word_y) {
  auto place = [](const Tuple<float>& range, int64_t room, uint32_t word) {
    const double at = Between(static_cast<double>(range[0]), static_cast<double>(range[1]), word) * static_cast<double>(room);
    return std::min(std::max<int64_t>(static_cast<int64_t>(at), 0), room);
  };
  return {place(p.yrange, s.height - height, word_y), place(p.xrange, s.width - width, word_x), height, width};
}

// The size that is asked for, or the largest one of its ratio that the image has, as
// mx.image.scale_down.
Size Fitting(const RandomCropParam& p, const Images& s) {
  auto width = static_cast<double>(p.width), height = static_cast<double>(p.height);
  const auto most_width = static_cast<double>(s.width), most_height = static_cast<double>(s.height);
  if (most_height < height) width = width * most_height / height, height = most_height;
  if (most_width < width) height = height * most_width / width, width = most_width;
  return {std::max<int64_t>(1, static_cast<int64_t>(height)), std::max<int64_t>(1, static_cast<int64_t>(width))};
}

void RandomCrop(KernelArgs& a) {
  const auto& p = a.param<RandomCropParam>();
  const Images s = ImagesOf(a.in[0].shape);
  const auto [height, width] = Fitting(p, s);
  if (a.run.ctx.is_gpu()) {
    DeviceBox how;
    how.kind = 1, how.given = {0, 0, height, width}, how.xrange = p.xrange, how.yrange = p.yrange;
    how.draws = DrawsOnDevice(a.run, a.random, 1);
    const bool copies = height == p.height && width == p.width;  // each pixel is the nearest one
    if (nn::Wanted(a, 0) && a.out[0].Size() > 0) ResizeBoxOnDevice(a, how, copies ? kNearest : p.interp);
    return;
  }
  const Philox draw(a.random->seed(), a.random->Take(1));
  if (nn::Wanted(a, 0) && a.out[0].Size() > 0) ResizeBox(a, Placed(p, s, height, width, draw.word[0], draw.word[1]), p.interp);
}

// The largest box in the middle whose ratio is in the range.
Box Middle(const RandomResizedCropParam& p, const Images& s) {
  const double ratio = static_cast<double>(s.width) / static_cast<double>(s.height), low = static_cast<double>(p.ratio[0]),
               high = static_cast<double>(p.ratio[1]);
  int64_t height = s.height, width = s.width;
  if (ratio < low) height = std::max<int64_t>(1, std::llround(static_cast<double>(s.width) / low));
  if (ratio > high) width = std::max<int64_t>(1, std::llround(static_cast<double>(s.height) * high));
  height = std::min(height, s.height), width = std::min(width, s.width);
  return {(s.height - height) / 2, (s.width - width) / 2, height, width};
}

void RandomResizedCrop(KernelArgs& a) {
  const auto& p = a.param<RandomResizedCropParam>();
  const Images s = ImagesOf(a.in[0].shape);
  if (a.run.ctx.is_gpu()) {
    DeviceBox how;
    how.kind = 2, how.given = Middle(p, s), how.xrange = p.xrange, how.yrange = p.yrange, how.area = p.area, how.ratio = p.ratio;
    how.trials = p.max_trial;
    how.draws = DrawsOnDevice(a.run, a.random, static_cast<uint64_t>(p.max_trial));
    if (nn::Wanted(a, 0) && a.out[0].Size() > 0) ResizeBoxOnDevice(a, how, p.interp);
    return;
  }
  const uint64_t first = a.random->Take(static_cast<uint64_t>(p.max_trial));
  if (!nn::Wanted(a, 0) || a.out[0].Size() == 0) return;
  for (int trial = 0; trial < p.max_trial; ++trial) {
    const Philox draw(a.random->seed(), first + static_cast<uint64_t>(trial));
    const double area =
        Between(static_cast<double>(p.area[0]), static_cast<double>(p.area[1]), draw.word[0]) * static_cast<double>(s.pixels());
    const double ratio =
        std::exp(Between(std::log(static_cast<double>(p.ratio[0])), std::log(static_cast<double>(p.ratio[1])), draw.word[1]));
    const int64_t width = std::llround(std::sqrt(area * ratio)), height = std::llround(std::sqrt(area / ratio));
    if (width < 1 || height < 1 || width > s.width || height > s.height) continue;
    return ResizeBox(a, Placed(p, s, height, width, draw.word[2], draw.word[3]), p.interp);
  }
  ResizeBox(a, Middle(p, s), p.interp);
}

Op& ResizeRecord(const char* name, const char* text, void (*kernel)(KernelArgs&)) {
  return Op::Register(name).describe(text).set_dtypes(dtypes::kReals | dtypes::kClassicIntegers).set_kernel(kernel);
}

[[maybe_unused]] const bool registered = [] {
  ResizeRecord(
      "_image_resize",
      "Resizes (height, width, channels) or (images, height, width, channels) to `size`.\n\n"
      "uint8, float32 and float64; int8, int32 and int64 with interp=0. Weights are those of OpenCV's methods of the same numbers; "
      "bytes are mixed in fixed point.",
      Resize<ResizeParam>)
      .alias("_npx__image_resize")
      .set_param<ResizeParam>()
      .set_infer_type(ResampledType<ResizeParam>)
      .set_inputs({"data"})
      .set_infer_shape(ResizeShape);
  ResizeRecord("_cvimresize",
               "Resizes (height, width, channels) to h rows and w columns.\n\n"
               "Dtypes and methods are those of _image_resize.",
               Resize<CvResizeParam>)
      .alias("_npi_cvimresize")
      .set_param<CvResizeParam>()
      .set_infer_type(ResampledType<CvResizeParam>)
      .set_inputs({"src"})
      .set_infer_shape(CvResizeShape);
  ResizeRecord(
      "_image_random_crop",
      "A box of `width` and `height` at a place that is drawn, from (height, width, channels) or (images, height, width, "
      "channels).\n\n"
      "Of images that are smaller, the largest box of that ratio is resized, if _image_resize takes their dtype. Images of a batch "
      "share the place.",
      RandomCrop)
      .alias("_npx__image_random_crop")
      .set_param<RandomCropParam>()
      .set_dtypes(dtypes::kClassicNumbers)
      .set_inputs({"data"})
      .set_uses_random()
      .set_infer_shape(RandomCropShape<RandomCropParam>);
  ResizeRecord("_image_random_resized_crop",
               "A box whose area, ratio and place are drawn, resized to `width` and `height` (Szegedy et al., CVPR 2015).\n\n"
               "(height, width, channels) or (images, height, width, channels), whose images share the box. The logarithm of the ratio is "
               "uniform. Of a dtype that _image_resize does not take, the box must have the size of the result.",
               RandomResizedCrop)
      .alias("_npx__image_random_resized_crop")
      .set_param<RandomResizedCropParam>()
      .set_dtypes(dtypes::kClassicNumbers)
      .set_inputs({"data"})
      .set_uses_random()
      .set_infer_shape(RandomResizedCropShape);
  return true;
}();

}  // namespace
}  // namespace image
}  // namespace mxnet
