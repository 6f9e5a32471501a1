// Operators that move pixels: crop, flips, flips by chance.
#include <algorithm>
#include <cstring>

#include "base/threads/omp.h"
#include "operator/image/image_common.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/shared/random_philox.h"
#include "rtc/loop.h"

namespace mxnet {
namespace image {
namespace {

constexpr const char* kKernels = "operator/image/gpu_place.cuh";

// ---- crop

struct CropParam : public Parameter<CropParam> {
  int x, y, width, height;
  MXNET_DECLARE_PARAM(CropParam) {
    MXNET_FIELD(x).describe("First column.");
    MXNET_FIELD(y).describe("First row.");
    MXNET_FIELD(width).describe("Columns of the result, at least 1.");
    MXNET_FIELD(height).describe("Rows of the result, at least 1.");
  }
};
MXNET_REGISTER_PARAM(CropParam);

void NeedInside(const Attrs& attrs, const char* what, int64_t begin, int64_t size, int64_t whole) {
  MXNET_CHECK_KIND(size > 0 && begin >= 0 && (whole == Shape::kUnknownDim || begin + size <= whole), Value)
      << Named(attrs) << what << " " << begin << " to " << begin + size << " of an image with " << whole
      << "; accepted is a box of at least one pixel inside of the image";
}

bool CropShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  NeedImages(attrs, data, true);
  const auto& p = attrs.get<CropParam>();
  Shape to = data;
  const int at = to.ndim() - 3;
  NeedGrayOrColour(attrs, data[at + 2], data);
  NeedInside(attrs, "columns", p.x, p.width, data[at + 1]);
  NeedInside(attrs, "rows", p.y, p.height, data[at]);
  to[at] = p.height, to[at + 1] = p.width;
  AssignShape(attrs, "output", &(*out)[0], to);
  return data.known();
}

// part = a box of whole, or that box = part
void CopyCrop(KernelArgs& a, const TBlob& whole, void* part, bool into) {
  const auto& p = a.param<CropParam>();
  const Images s = ImagesOf(whole.shape);
  const int64_t bytes = static_cast<int64_t>(DTypeSize(whole.dtype)), c = s.channels;
  char* at = whole.data<char>() + (p.y * s.width + p.x) * c * bytes;
  const int64_t shape[] = {s.count, p.height, p.width * c};
  const int64_t strides[] = {s.size(), s.width * c, 1}, dense[] = {p.height * p.width * c, p.width * c, 1};
  if (into)
    CopyStrided(a.run, part, dense, at, strides, shape, 3, static_cast<size_t>(bytes));
  else
    CopyStrided(a.run, at, strides, part, dense, shape, 3, static_cast<size_t>(bytes));
}

void Crop(KernelArgs& a) {
  if (nn::Wanted(a, 0) && a.out[0].Size() > 0) CopyCrop(a, a.in[0], a.out[0].dptr, false);
}

void CropBack(KernelArgs& a) {  // ograd, data -> data_grad
  if (!nn::Wanted(a, 0) || a.out[0].Size() == 0) return;
  ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  CopyCrop(a, a.out[0], a.in[0].dptr, true);
}

MXNET_REGISTER_OP(_image_crop)
    .describe(
        "The box of `height` rows and `width` columns whose upper left pixel is (x, y), from (height, width, channels) or (images, "
        "height, width, channels).\n\n"
        "1 or 3 channels, any dtype. The box must lie inside of the image.")
    .alias("_npx__image_crop")
    .set_param<CropParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(CropShape)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike("_backward_image_crop", *node, {ograds[0], node->inputs[0]}), 0, 0}};
    })
    .set_kernel(Crop);

MXNET_REGISTER_OP(_backward_image_crop)
    .describe("Gradient of _image_crop: zeros around the gradient of the result.")
    .set_param<CropParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike("_image_crop", *node, {ograds[0]}), 0, 0}, NodeEntry()};
    })
    .set_kernel(CropBack);

// ---- flips

enum class Way { kLeftRight, kTopBottom };

// Pixels of kBytes bytes (0: `bytes`) in reverse order.
template <int kBytes>
void ReverseRow(const char* from, int64_t width, int64_t bytes, char* to) {
  const size_t size = static_cast<size_t>(kBytes > 0 ? kBytes : bytes);
  const char* last = from + (width - 1) * static_cast<int64_t>(size);
  for (int64_t x = 0; x < width; ++x) std::memcpy(to + x * static_cast<int64_t>(size), last - x * static_cast<int64_t>(size), size);
}

void FlipOnHost(const Images& s, const TBlob& from, const TBlob& to, Way way) {
  const int64_t pixel = s.channels * static_cast<int64_t>(DTypeSize(from.dtype)), row = s.width * pixel;
  const auto reverse = pixel == 3 ? ReverseRow<3> : pixel == 12 ? ReverseRow<12> : pixel == 1 ? ReverseRow<1> : ReverseRow<0>;
  ParallelFor(s.height, std::max<int64_t>(1, (1 << 15) / row), [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      const char* source = from.data<char>() + (way == Way::kTopBottom ? s.height - 1 - y : y) * row;
      if (way == Way::kTopBottom)
        std::memcpy(to.data<char>() + y * row, source, static_cast<size_t>(row));
      else
        reverse(source, s.width, pixel, to.data<char>() + y * row);
    }
  });
}

void CopyFlipped(const RunContext& run, const TBlob& from, const TBlob& to, Way way) {
  const Images s = ImagesOf(from.shape);
  if (!run.ctx.is_gpu()) return FlipOnHost(s, from, to, way);
  const int64_t bytes = static_cast<int64_t>(DTypeSize(from.dtype)), row = s.width * s.channels;
  const bool rows = way == Way::kTopBottom;
  const int64_t last = rows ? (s.height - 1) * row : (s.width - 1) * s.channels;
  const int64_t shape[] = {s.height, s.width, s.channels}, dense[] = {row, s.channels, 1};
  const int64_t strides[] = {rows ? -row : row, rows ? s.channels : -s.channels, 1};
  CopyStrided(run, from.data<char>() + last * bytes, strides, to.dptr, dense, shape, 3, static_cast<size_t>(bytes));
}

template <Way kWay>
void Flip(KernelArgs& a) {
  if (nn::Wanted(a, 0) && a.out[0].Size() > 0) CopyFlipped(a.run, a.in[0], a.out[0], kWay);
}

struct RandomFlipParam : public Parameter<RandomFlipParam> {
  float p;
  MXNET_DECLARE_PARAM(RandomFlipParam) { MXNET_FIELD(p).set_default(0.5f).describe("Probability that the image is flipped."); }
};
MXNET_REGISTER_PARAM(RandomFlipParam);

rtc::Arguments& AddImage(const Images& s, Way way, rtc::Arguments* args) {
  return args->Add(s.height).Add(s.width).Add(s.channels).Add(static_cast<int64_t>(way == Way::kTopBottom));
}

void RandomFlipOnDevice(KernelArgs& a, Way way) {
  const Images s = ImagesOf(a.in[0].shape);
  rtc::Arguments args;
  args.Add(a.in[0].dptr).Add(nn::Wanted(a, 0) ? a.out[0].dptr : nullptr).Add(nn::Wanted(a, 1) ? a.out[1].dptr : nullptr);
  AddImage(s, way, &args).Add(static_cast<double>(a.param<RandomFlipParam>().p));
  DrawsOnDevice(a.run, a.random, 1).AddTo(&args);
  rtc::LaunchItems(a.run, {kKernels, "random_flip", {a.in[0].dtype}}, s.size(), &args);
}

template <Way kWay>
void RandomFlip(KernelArgs& a) {  // data -> output, whether it was flipped
  if (a.run.ctx.is_gpu()) return RandomFlipOnDevice(a, kWay);
  const bool flip = Philox::ToFloat(Philox(a.random->seed(), a.random->Take(1)).word[0]) < a.param<RandomFlipParam>().p;
  if (nn::Wanted(a, 1)) *a.out[1].data<int32_t>() = flip;
  if (!nn::Wanted(a, 0) || a.out[0].Size() == 0) return;
  if (flip) return CopyFlipped(a.run, a.in[0], a.out[0], kWay);
  std::memcpy(a.out[0].dptr, a.in[0].dptr, a.in[0].Bytes());
}

template <Way kWay>
void RandomFlipBack(KernelArgs& a) {  // ograd, flipped -> data_grad
  if (!nn::Wanted(a, 0) || a.out[0].Size() == 0) return;
  if (a.run.ctx.is_gpu()) {
    const Images s = ImagesOf(a.in[0].shape);
    rtc::Arguments args;
    AddImage(s, kWay, &args.Add(a.in[0].dptr).Add(a.out[0].dptr).Add(a.in[1].dptr));
    return rtc::LaunchItems(a.run, {kKernels, "flip_back", {a.in[0].dtype}}, s.size(), &args);
  }
  if (*a.in[1].data<int32_t>() != 0) return CopyFlipped(a.run, a.in[0], a.out[0], kWay);
  std::memcpy(a.out[0].dptr, a.in[0].dptr, a.in[0].Bytes());
}

bool RandomFlipShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "flipped", &(*out)[1], Shape{1});
  return SameImageShape(attrs, in, out);
}

bool RandomFlipType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  AssignType(attrs, "flipped", &(*out)[1], kInt32);
  return (*in)[0] != kDTypeUnknown;
}

bool RandomFlipBackShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "flipped", &(*in)[1], Shape{1});
  AssignShape(attrs, "data_grad", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "ograd", &(*in)[0], (*out)[0]);
  return (*in)[0].known();
}

bool RandomFlipBackType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "flipped", &(*in)[1], kInt32);
  AssignType(attrs, "data_grad", &(*out)[0], (*in)[0]);
  return (*in)[0] != kDTypeUnknown;
}

template <Way kWay>
void RegisterFlips(const std::string& way, const std::string& text) {
  const std::string flip = "_image_flip_" + way, random = "_image_random_flip_" + way, back = "_backward_image_random_flip_" + way;
  Op::Register(flip)
      .describe(text + " of (height, width, channels) in reverse order.\n\n1 or 3 channels, any dtype.")
      .alias("_npx_" + flip)
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(SameImageShape)
      .set_gradient([flip](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
        return {MakeOp(flip, {ograds[0]})};
      })
      .set_kernel(Flip<kWay>);
  Op::Register(random)
      .describe(text +
                " of (height, width, channels) in reverse order with probability p, else the image itself.\n\n"
                "1 or 3 channels, any dtype.")
      .alias("_npx_" + random)
      .set_param<RandomFlipParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"output", "flipped"}, nullptr, [](const Attrs&) { return 1; })
      .set_infer_shape(RandomFlipShape)
      .set_infer_type(RandomFlipType)
      .set_uses_random()
      .set_gradient([back](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
        return {NodeEntry{MakeNodeLike(back, *node, {ograds[0], NodeEntry{node, 1, 0}}), 0, 0}};
      })
      .set_kernel(RandomFlip<kWay>);
  Op::Register(back)
      .describe("Gradient of " + random + ": flipped as the image was.")
      .set_param<RandomFlipParam>()
      .set_inputs({"ograd", "flipped"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(RandomFlipBackShape)
      .set_infer_type(RandomFlipBackType)
      .set_gradient([back](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
        return {NodeEntry{MakeNodeLike(back, *node, {ograds[0], node->inputs[1]}), 0, 0}, NodeEntry()};
      })
      .set_kernel(RandomFlipBack<kWay>);
}

[[maybe_unused]] const bool registered = [] {
  RegisterFlips<Way::kLeftRight>("left_right", "The columns");
  RegisterFlips<Way::kTopBottom>("top_bottom", "The rows");
  return true;
}();

}  // namespace
}  // namespace image
}  // namespace mxnet
