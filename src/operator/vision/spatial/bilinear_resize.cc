// _contrib_BilinearResize2D: images resized by bilinear interpolation.
#include <cmath>
#include <vector>

#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/vision/spatial/spatial_kernels.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

enum ResizeMode : int { kToSize, kOddScale, kLike, kToEvenDown, kToEvenUp, kToOddDown, kToOddUp };

struct BilinearResizeParam : public Parameter<BilinearResizeParam> {
  int height, width, mode;
  std::optional<float> scale_height, scale_width;
  bool align_corners;
  MXNET_DECLARE_PARAM(BilinearResizeParam) {
    MXNET_FIELD(height).set_default(1).set_lower_bound(1).describe("Rows of the output in mode size, if no scale is given.");
    MXNET_FIELD(width).set_default(1).set_lower_bound(1).describe("Columns of the output in mode size, if no scale is given.");
    MXNET_FIELD(scale_height)
        .set_default(std::optional<float>())
        .describe("Factor of the rows, for modes size and odd_scale. It counts if scale_width is given too.");
    MXNET_FIELD(scale_width)
        .set_default(std::optional<float>())
        .describe("Factor of the columns, for modes size and odd_scale. It counts if scale_height is given too.");
    MXNET_FIELD(mode)
        .add_enum("size", kToSize)
        .add_enum("odd_scale", kOddScale)
        .add_enum("like", kLike)
        .add_enum("to_even_down", kToEvenDown)
        .add_enum("to_even_up", kToEvenUp)
        .add_enum("to_odd_down", kToOddDown)
        .add_enum("to_odd_up", kToOddUp)
        .set_default(kToSize)
        .describe(
            "size: height and width, or the scales. odd_scale: the scales, of an odd side less 1, which is then added. like: as `like`. "
            "The others: to the next even or odd number, down or up.");
    MXNET_FIELD(align_corners)
        .set_default(true)
        .describe("Whether the middles of the corner pixels stay where they are; else the outer edges do.");
  }
  bool like() const { return mode == kLike; }
};
MXNET_REGISTER_PARAM(BilinearResizeParam);

namespace {

int64_t Scaled(const Attrs& attrs, int64_t size, float scale) {
  const float result = static_cast<float>(size) * scale;
  MXNET_CHECK_KIND(result >= 0 && result < 2147483648.0f, Value)
      << Named(attrs) << "scale " << scale << " of a side of " << size << "; the result must have between 1 and 2147483647 pixels";
  return static_cast<int64_t>(result);
}

// One side of the output; `scale` null where there is none.
int64_t Side(const Attrs& attrs, int64_t size, int64_t wanted, const std::optional<float>& scale) {
  const auto& p = attrs.get<BilinearResizeParam>();
  if (size < 0 && !(p.mode == kToSize && !scale.has_value())) return Shape::kUnknownDim;
  const bool odd = size % 2 != 0;
  switch (p.mode) {
    case kToSize: return scale.has_value() ? Scaled(attrs, size, scale.value()) : wanted;
    case kOddScale: return odd ? Scaled(attrs, size - 1, scale.value()) + 1 : Scaled(attrs, size, scale.value());
    case kToEvenDown: return odd ? size - 1 : size;
    case kToEvenUp: return odd ? size + 1 : size;
    case kToOddDown: return odd ? size : size - 1;
    default: return odd ? size : size + 1;
  }
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<BilinearResizeParam>();
  const bool scaled = p.scale_height.has_value() && p.scale_width.has_value();
  MXNET_CHECK_KIND(p.mode != kOddScale || scaled, Value)
      << Named(attrs) << "mode odd_scale without scale_height and scale_width; both are needed";
  Shape& data = (*in)[0];
  if (data.ndim_known())
    MXNET_CHECK_KIND(data.ndim() == 4, Value) << Named(attrs) << "data has shape " << data
                                              << "; (batch, channels, height, width) is needed";
  AssignShape(attrs, "data", &data, Shape(4));
  Shape expected{data[0], data[1], Shape::kUnknownDim, Shape::kUnknownDim};
  if (p.like()) {
    const Shape& like = (*in)[1];
    if (like.ndim_known()) {
      MXNET_CHECK_KIND(like.ndim() == 4, Value)
          << Named(attrs) << "like has shape " << like << "; (batch, channels, height, width) is needed";
      expected[2] = like[2], expected[3] = like[3];
    }
  } else {
    expected[2] = Side(attrs, data[2], p.height, scaled ? p.scale_height : std::optional<float>());
    expected[3] = Side(attrs, data[3], p.width, scaled ? p.scale_width : std::optional<float>());
  }
  for (int i = 2; i < 4; ++i)
    MXNET_CHECK_KIND(expected[i] != 0 && data[i] != 0 && expected[i] < (int64_t{1} << 31), Value)
        << Named(attrs) << "data of shape " << data << " resized to " << expected[2] << " x " << expected[3]
        << "; both need between 1 and 2147483647 pixels";
  AssignShape(attrs, "output", &(*out)[0], expected);
  AssignShape(attrs, "data", &data, Shape{(*out)[0][0], (*out)[0][1], Shape::kUnknownDim, Shape::kUnknownDim});
  return data.known() && (*out)[0].known() && (!p.like() || (*in)[1].known());
}

// `like` gives its shape alone and may have any dtype.
bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  std::vector<int> data{(*in)[0]};
  const bool known = SameType(attrs, &data, out);
  (*in)[0] = data[0];
  if (in->size() > 1 && (*in)[1] == kDTypeUnknown) (*in)[1] = data[0];
  return known;
}

bool BackwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  std::vector<int> images{(*in)[0], (*in)[1]}, data_grad{(*out)[0]};
  const bool known = SameType(attrs, &images, &data_grad);
  (*in)[0] = images[0], (*in)[1] = images[1], (*out)[0] = data_grad[0];
  if (in->size() == 2) return known;
  if ((*in)[2] == kDTypeUnknown) (*in)[2] = images[0];
  AssignType(attrs, "the gradient of like", &(*out)[1], (*in)[2]);
  return known;
}

// Of `to` pixels of a line, made of `from`: where pixel i lies.
struct LineGeometry {
  double step, first;
  LineGeometry(int64_t from, int64_t to, bool align_corners) {
    const double a = static_cast<double>(from), b = static_cast<double>(to);
    step = to <= 1 ? 0 : align_corners ? (a - 1) / (b - 1) : a / b;
    first = align_corners ? 0 : 0.5 * step - 0.5;
  }
};

template <typename T>
struct Line {
  std::vector<int32_t> upper, lower;
  std::vector<T> part;
  Line(int64_t from, int64_t to, bool align_corners) : upper(to), lower(to), part(to) {
    const LineGeometry g(from, to, align_corners);
    for (int64_t i = 0; i < to; ++i) {
      const double at = std::max(0.0, g.first + static_cast<double>(i) * g.step);
      const int64_t whole = std::min(static_cast<int64_t>(at), from - 1);
      upper[i] = static_cast<int32_t>(whole);
      lower[i] = static_cast<int32_t>(std::min(whole + 1, from - 1));
      part[i] = static_cast<T>(std::min(1.0, at - static_cast<double>(whole)));
    }
  }
  LineSources sources() const { return {upper.data(), lower.data(), part.data()}; }
};

int64_t PlaneGrain(const Shape& a, const Shape& b) {
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, std::max(a[2] * a[3], b[2] * b[3])));
}

// Small images, of which there are many: every output pixel has its sources in a table.
template <typename T>
void SmallImages(const T* images, int64_t planes, int64_t pixels, int64_t width, const Line<T>& rows, const Line<T>& columns, T* out) {
  struct Pixel {
    int32_t at[4];
    T right, down;
  };
  std::vector<Pixel> table;
  for (size_t i = 0; i < rows.part.size(); ++i)
    for (size_t j = 0; j < columns.part.size(); ++j) {
      const int32_t upper = rows.upper[i] * static_cast<int32_t>(width), lower = rows.lower[i] * static_cast<int32_t>(width);
      const int32_t left = columns.upper[j], right = columns.lower[j];
      table.push_back({{upper + left, upper + right, lower + left, lower + right}, columns.part[j], rows.part[i]});
    }
  for (int64_t plane = 0; plane < planes; ++plane, images += pixels)
    for (const Pixel& p : table) {
      const T upper = images[p.at[0]] * (1 - p.right) + images[p.at[1]] * p.right;
      const T lower = images[p.at[2]] * (1 - p.right) + images[p.at[3]] * p.right;
      *out++ = upper * (1 - p.down) + lower * p.down;
    }
}

// Each row of the output lies between two rows of the image, of which the widened ones are kept.
template <typename T>
void ForwardOnCpu(KernelArgs& a) {
  const Shape &from = a.in[0].shape, &to = a.out[0].shape;
  const bool align = a.param<BilinearResizeParam>().align_corners;
  const Line<T> rows(from[2], to[2], align), columns(from[3], to[3], align);
  const LineSources across = columns.sources();
  const int dtype = a.in[0].dtype;
  ParallelFor(from[0] * from[1], PlaneGrain(from, to), [&](int64_t b, int64_t e) {
    if (to[3] < 16 && to[2] * to[3] <= 256 && from[2] * from[3] < (1 << 20))
      return SmallImages(a.in[0].data<T>() + b * from[2] * from[3], e - b, from[2] * from[3], from[3], rows, columns,
                         a.out[0].data<T>() + b * to[2] * to[3]);
    std::vector<T> kept(2 * to[3]);
    for (int64_t plane = b; plane < e; ++plane) {
      const T* image = a.in[0].data<T>() + plane * from[2] * from[3];
      T* out = a.out[0].data<T>() + plane * to[2] * to[3];
      int64_t held[2] = {-1, -1};  // rows of the image, the even one first
      const auto wide = [&](int64_t row) {
        T* line = kept.data() + (row % 2) * to[3];
        if (held[row % 2] != row) MXNET_CPU_CALL(ResizeLine)(across, dtype, image + row * from[3], line, to[3]);
        held[row % 2] = row;
        return line;
      };
      for (int64_t i = 0; i < to[2]; ++i) {
        const T *upper = wide(rows.upper[i]), *lower = wide(rows.lower[i]);
        MXNET_CPU_CALL(BlendLines)(dtype, upper, lower, static_cast<double>(rows.part[i]), out + i * to[3], to[3]);
      }
    }
  });
}

template <typename T>
void BackwardOnCpu(KernelArgs& a) {
  const Shape &from = a.out[0].shape, &to = a.in[0].shape;
  const bool align = a.param<BilinearResizeParam>().align_corners;
  const Line<T> rows(from[2], to[2], align), columns(from[3], to[3], align);
  const LineSources across = columns.sources();
  const int dtype = a.in[0].dtype;
  ParallelFor(from[0] * from[1], PlaneGrain(from, to), [&](int64_t b, int64_t e) {
    std::vector<T> wide(2 * to[3]);  // what the two rows of the image under way get, before it is narrowed
    for (int64_t plane = b; plane < e; ++plane) {
      const T* og = a.in[0].data<T>() + plane * to[2] * to[3];
      T* dx = a.out[0].data<T>() + plane * from[2] * from[3];
      std::fill(dx, dx + from[2] * from[3], T(0));
      int64_t held[2] = {-1, -1};
      const auto finish = [&](int64_t k) {
        if (held[k] >= 0) MXNET_CPU_CALL(ResizeLineBack)(across, dtype, wide.data() + k * to[3], dx + held[k] * from[3], to[3]);
      };
      const auto give = [&](int64_t row, T weight, const T* line) {
        T* sums = wide.data() + (row % 2) * to[3];
        if (held[row % 2] != row) {
          finish(row % 2);
          std::fill(sums, sums + to[3], T(0));
          held[row % 2] = row;
        }
        MXNET_CPU_CALL(AddScaled)(dtype, line, static_cast<double>(weight), sums, to[3]);
      };
      for (int64_t i = 0; i < to[2]; ++i) {
        give(rows.upper[i], 1 - rows.part[i], og + i * to[3]);
        give(rows.lower[i], rows.part[i], og + i * to[3]);
      }
      finish(0), finish(1);
    }
  });
}

void OnDevice(KernelArgs& a, const TBlob& image, const TBlob& resized, bool back) {
  const bool align = a.param<BilinearResizeParam>().align_corners;
  const LineGeometry rows(image.shape[2], resized.shape[2], align), columns(image.shape[3], resized.shape[3], align);
  rtc::Arguments args;
  args.Add(image.dptr).Add(resized.dptr);
  args.Add(image.shape[2]).Add(image.shape[3]).Add(resized.shape[2]).Add(resized.shape[3]);
  args.Add(rows.first).Add(rows.step).Add(columns.first).Add(columns.step);
  rtc::LaunchItems(a.run,
                   {"operator/vision/spatial/gpu_bilinear_resize.cuh", back ? "bilinear_resize_back" : "bilinear_resize", {image.dtype}},
                   back ? image.Size() : resized.Size(), &args);
}

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return OnDevice(args, args.in[0], args.out[0], false);
  RunReal(args, [](KernelArgs& a, auto tag) { ForwardOnCpu<decltype(tag)>(a); });
}

void Backward(KernelArgs& args) {  // ograd, data, [like] -> data_grad, [like_grad]
  if (args.out.size() > 1 && Wanted(args, 1) && args.out[1].Size())
    ZeroBytes(args.run, args.out[1].dptr, static_cast<int64_t>(args.out[1].Bytes()));
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return OnDevice(args, args.out[0], args.in[0], true);
  RunReal(args, [](KernelArgs& a, auto tag) { BackwardOnCpu<decltype(tag)>(a); });
}

int Inputs(const Attrs& a) { return a.get<BilinearResizeParam>().like() ? 2 : 1; }

MXNET_REGISTER_OP(_contrib_BilinearResize2D)
    .describe(
        "Resizes images (batch, channels, height, width) by bilinear interpolation.\n\n"
        "An output pixel is the mean of the four pixels around the place that it comes from, weighted by nearness. With align_corners "
        "pixel i of n\n"
        "comes from i (size - 1) / (n - 1), else from (i + 1/2) size / n - 1/2, but at least 0; a side of one pixel comes from the first. "
        "In mode\n"
        "like the second input gives the height and width. float16, bfloat16, float32, float64.")
    .set_param<BilinearResizeParam>()
    .set_inputs({"data", "like"}, Inputs)
    .set_infer_shape(ForwardShape)
    .set_infer_type(ForwardType)
    .set_dtypes(dtypes::kFloats)
    .set_shape_only_from(1)
    .set_gradient(BackwardNode("_backward_contrib_BilinearResize2D", kGradInputs))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_contrib_BilinearResize2D)
    .describe("Gradient of _contrib_BilinearResize2D with respect to data; that of `like` is 0.")
    .set_param<BilinearResizeParam>()
    .set_inputs({"ograd", "data", "like"}, [](const Attrs& a) { return 1 + Inputs(a); })
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "like_grad"}, Inputs)
    .set_shape_only_from(1)
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(BackwardType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {  // linear
      std::vector<NodeEntry> inputs = {ograds[0]}, grads(node->inputs.size());
      if (node->attrs->get<BilinearResizeParam>().like()) inputs.push_back(node->inputs[2]);
      grads[0] = NodeEntry{MakeNodeLike("_contrib_BilinearResize2D", *node, std::move(inputs)), 0, 0};
      return grads;
    })
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
