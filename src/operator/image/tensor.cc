// _image_to_tensor and _image_normalize: from images of bytes to what networks read.
#include <algorithm>
#include <vector>

#include "base/cpu_dispatch.h"
#include "base/threads/omp.h"
#include "operator/image/image_common.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/tuple_field.h"
#include "rtc/loop.h"

namespace mxnet {

MXNET_CPU_DECLARE(void BytesToPlanes(const uint8_t* from, int64_t n, int64_t channels, float* to, int64_t plane);
                  void NormalizePixels(const float* from, int64_t n, float mean, float deviation, float* to);)

namespace image {
namespace {

constexpr const char* kKernels = "operator/image/gpu_tensor.cuh";
constexpr int64_t kGrain = 1 << 13;

// ---- to_tensor

bool ToTensorShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape &data = (*in)[0], &result = (*out)[0];
  if (!data.ndim_known() && !result.ndim_known()) return false;
  if (result.ndim_known()) {
    Shape from = result;
    NeedImages(attrs, from, true);
    const int at = from.ndim() - 3;
    from[at] = result[at + 1], from[at + 1] = result[at + 2], from[at + 2] = result[at];
    AssignShape(attrs, "data", &data, from);
  }
  NeedImages(attrs, data, true);
  Shape to = data;
  const int at = to.ndim() - 3;
  to[at] = data[at + 2], to[at + 1] = data[at], to[at + 2] = data[at + 1];
  AssignShape(attrs, "output", &result, to);
  return data.known() && result.known();
}

void ToTensorOnDevice(const KernelArgs& a, const Images& s, const char* kernel) {
  rtc::Arguments args;
  args.Add(a.in[0].dptr).Add(a.out[0].dptr).Add(s.pixels()).Add(s.channels);
  rtc::LaunchItems(a.run, {kKernels, kernel, {a.in[0].dtype, a.out[0].dtype}}, s.count * s.size(), &args);
}

void ToTensor(KernelArgs& a) {
  const Images s = ImagesOf(a.in[0].shape);
  if (!nn::Wanted(a, 0) || a.in[0].Size() == 0) return;
  if (a.run.ctx.is_gpu()) return ToTensorOnDevice(a, s, "to_tensor");
  float* to = a.out[0].data<float>();
  const int64_t plane = s.pixels();
  auto each = [&](auto&& pixels) {  // pixels(image, first, count)
    ParallelFor(s.count * plane, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end;) {
        const int64_t first = at % plane, n = std::min(end - at, plane - first);
        pixels(at / plane, first, n);
        at += n;
      }
    });
  };
  if (a.in[0].dtype == kUint8) {
    const uint8_t* from = a.in[0].data<uint8_t>();
    return each([&](int64_t image, int64_t first, int64_t n) {
      MXNET_CPU_CALL(BytesToPlanes)(from + image * s.size() + first * s.channels, n, s.channels, to + image * s.size() + first, plane);
    });
  }
  VisitImageDType(a.in[0].dtype, "_image_to_tensor", [&](auto tag) {
    using T = decltype(tag);
    using A = std::conditional_t<std::is_same<T, double>::value, double, float>;
    const T* from = a.in[0].data<T>();
    each([&](int64_t image, int64_t first, int64_t n) {
      for (int64_t c = 0; c < s.channels; ++c)
        for (int64_t i = first; i < first + n; ++i)
          to[image * s.size() + c * plane + i] =
              static_cast<float>(static_cast<A>(from[image * s.size() + i * s.channels + c]) / static_cast<A>(255));
    });
  });
}

// [ograd, data] -> gradient of data
void ToTensorBack(KernelArgs& a) {
  const Images s = ImagesOf(a.out[0].shape);
  if (!nn::Wanted(a, 0) || a.out[0].Size() == 0) return;
  if (a.run.ctx.is_gpu()) return ToTensorOnDevice(a, s, "to_tensor_backward");
  const float* from = a.in[0].data<float>();
  const int64_t plane = s.pixels();
  VisitImageDType(a.out[0].dtype, "_backward_image_to_tensor", [&](auto tag) {
    using T = decltype(tag);
    T* to = a.out[0].data<T>();
    ParallelFor(s.count * plane, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        for (int64_t c = 0; c < s.channels; ++c)
          to[at * s.channels + c] = static_cast<T>(from[at / plane * s.size() + c * plane + at % plane] / 255.0f);
    });
  });
}

// ---- normalize

struct NormalizeParam : public Parameter<NormalizeParam> {
  Tuple<float> mean, std;
  MXNET_DECLARE_PARAM(NormalizeParam) {
    MXNET_FIELD(mean).set_default(Tuple<float>{0, 0, 0, 0}).describe("What is subtracted: one number, or one per channel.");
    MXNET_FIELD(std).set_default(Tuple<float>{1, 1, 1, 1}).describe("What is divided by: one number, or one per channel.");
  }
};
MXNET_REGISTER_PARAM(NormalizeParam);

void NeedPerChannel(const Attrs& attrs, const char* name, const Tuple<float>& given, int64_t channels) {
  MXNET_CHECK_KIND(given.size() == 1 || given.size() == channels, Value)
      << Named(attrs) << name << " has " << given.size() << " numbers; accepted are 1 and, for these channels, " << channels;
}

bool NormalizeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 3 || data.ndim() == 4, Value)
      << Named(attrs) << "data has shape " << data << "; accepted are (channels, height, width) and (images, channels, height, width)";
  const int64_t channels = data[data.ndim() - 3];
  NeedGrayOrColour(attrs, channels, data);
  if (channels != Shape::kUnknownDim) {
    NeedPerChannel(attrs, "mean", attrs.get<NormalizeParam>().mean, channels);
    NeedPerChannel(attrs, "std", attrs.get<NormalizeParam>().std, channels);
  }
  return data.known();
}

// (x - mean) / std, without the mean for gradients.
template <bool kSubtract>
void Normalize(KernelArgs& a) {
  const Shape& shape = a.in[0].shape;
  if (!nn::Wanted(a, 0) || shape.Size() == 0) return;
  const auto& p = a.param<NormalizeParam>();
  const int64_t channels = shape[shape.ndim() - 3], plane = shape[shape.ndim() - 2] * shape[shape.ndim() - 1];
  float mean[3], std[3];
  for (int c = 0; c < 3; ++c) {
    mean[c] = kSubtract ? p.mean[p.mean.size() == 1 || channels == 1 ? 0 : c] : 0.0f;
    std[c] = p.std[p.std.size() == 1 || channels == 1 ? 0 : c];
  }
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(a.in[0].dptr).Add(a.out[0].dptr).Add(plane).Add(channels);
    for (float v : mean) args.Add(static_cast<double>(v));
    for (float v : std) args.Add(static_cast<double>(v));
    return rtc::LaunchItems(a.run, {kKernels, "normalize", {a.in[0].dtype}}, shape.Size(), &args);
  }
  VisitImageDType(a.in[0].dtype, "_image_normalize", [&](auto tag) {
    using T = decltype(tag);
    using A = std::conditional_t<std::is_same<T, double>::value, double, float>;
    const T* from = a.in[0].data<T>();
    T* to = a.out[0].data<T>();
    ParallelFor(shape.Size(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end;) {
        const int64_t c = at / plane % channels, stop = std::min(end, (at / plane + 1) * plane);
        const A m = static_cast<A>(mean[c]), d = static_cast<A>(std[c]);
        if constexpr (std::is_same<T, float>::value) {
          MXNET_CPU_CALL(NormalizePixels)(from + at, stop - at, m, d, to + at);
        } else {
          for (int64_t i = at; i < stop; ++i) to[i] = Wrapped<T>((static_cast<A>(from[i]) - m) / d);
        }
        at = stop;
      }
    });
  });
}

MXNET_REGISTER_OP(_image_to_tensor)
    .describe(
        "From (height, width, channels) of numbers from 0 to 255 to (channels, height, width) of float32 from 0 to 1; also with a "
        "dimension of images in front.\n\n"
        "Each element is divided by 255. uint8, int8, int32, int64 and the floating dtypes.")
    .alias("_npx__image_to_tensor")
    .set_inputs({"data"})
    .set_dtypes(dtypes::kClassicNumbers)
    .set_infer_shape(ToTensorShape)
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "output", &(*out)[0], kFloat32);
      return (*in)[0] != kDTypeUnknown;
    })
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike("_backward_image_to_tensor", *node, {ograds[0], node->inputs[0]}), 0, 0}};
    })
    .set_kernel(ToTensor);

MXNET_REGISTER_OP(_backward_image_to_tensor)
    .describe("Gradient of _image_to_tensor: the output's gradient divided by 255, channels last.")
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike("_image_to_tensor", *node, {ograds[0]}), 0, 0}, NodeEntry()};
    })
    .set_kernel(ToTensorBack);

MXNET_REGISTER_OP(_image_normalize)
    .describe(
        "(data - mean) / std, with one mean and one deviation for all or for each channel of (channels, height, width) or (images, "
        "channels, height, width).\n\n"
        "1 or 3 channels. Integer dtypes keep the integral part of the result.")
    .alias("_npx__image_normalize")
    .set_param<NormalizeParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kClassicNumbers)
    .set_infer_shape(NormalizeShape)
    .set_inplace({{0, 0}})
    .set_gradient(BackwardNode("_backward_image_normalize", 0))
    .set_kernel(Normalize<true>);

MXNET_REGISTER_OP(_backward_image_normalize)
    .describe("Gradient of _image_normalize: the output's gradient divided by std.")
    .set_param<NormalizeParam>()
    .set_inputs({"ograd"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(NormalizeShape)
    .set_inplace({{0, 0}})
    .set_gradient(BackwardNode("_backward_image_normalize", 0))
    .set_kernel(Normalize<false>);

}  // namespace
}  // namespace image
}  // namespace mxnet
