// GridGenerator: sampling points for BilinearSampler.
#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/vision/spatial/sampler.h"

namespace mxnet {
namespace nn {

enum GridTransform : int { kAffineGrid, kWarpGrid };

struct GridGeneratorParam : public Parameter<GridGeneratorParam> {
  int transform_type;
  Shape target_shape;
  MXNET_DECLARE_PARAM(GridGeneratorParam) {
    MXNET_FIELD(transform_type)
        .add_enum("affine", kAffineGrid)
        .add_enum("warp", kWarpGrid)
        .describe("affine: data are matrices (batch, 6); warp: data is a flow (batch, 2, height, width) in pixels.");
    MXNET_FIELD(target_shape).set_default(Shape({0, 0})).describe("Height and width of the grid for affine; a flow has its own size.");
  }
};
MXNET_REGISTER_PARAM(GridGeneratorParam);

namespace {

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<GridGeneratorParam>();
  Shape &data = (*in)[0], &grid = (*out)[0];
  if (p.transform_type == kWarpGrid) {
    if (data.ndim_known())
      MXNET_CHECK_KIND(data.ndim() == 4, Value)
          << Named(attrs) << "data has shape " << data << "; transform_type warp needs (batch, 2, height, width)";
    const Shape flow{Shape::kUnknownDim, 2, Shape::kUnknownDim, Shape::kUnknownDim};
    AssignShape(attrs, "data", &data, flow);
    AssignShape(attrs, "output", &grid, data);
    AssignShape(attrs, "data", &data, grid);
    return data.known();
  }
  const Shape& target = p.target_shape;
  MXNET_CHECK_KIND(target.ndim() >= 2 && target[0] > 0 && target[1] > 0 && target[0] < (int64_t{1} << 31) && target[1] < (int64_t{1} << 31),
                   Value)
      << Named(attrs) << "target_shape " << target << "; transform_type affine needs two numbers of at least 1";
  if (data.ndim_known())
    MXNET_CHECK_KIND(data.ndim() == 2, Value) << Named(attrs) << "data has shape " << data << "; transform_type affine needs (batch, 6)";
  AssignShape(attrs, "data", &data, Shape{Shape::kUnknownDim, 6});
  AssignShape(attrs, "output", &grid, Shape{data[0], 2, target[0], target[1]});
  AssignShape(attrs, "data", &data, Shape{grid[0], 6});
  return data.known();
}

// Pixels of a line of n from -1 to 1: the distance of neighbours; 0 if there is but one.
double PixelStep(int64_t n) { return n > 1 ? 2.0 / static_cast<double>(n - 1) : 0.0; }

template <typename F>
void EachRow(const Shape& grid, F&& f) {  // f(image, row)
  ParallelFor(grid[0] * grid[2], std::max<int64_t>(1, 8192 / std::max<int64_t>(1, grid[3])), [&](int64_t b, int64_t e) {
    int64_t image = b / grid[2], row = b % grid[2];
    for (int64_t i = b; i < e; ++i) {
      f(image, row);
      if (++row == grid[2]) row = 0, ++image;
    }
  });
}

// (flow + place) as numbers from -1 to 1; without places it is the gradient, transposed to itself.
template <typename T>
void Warp(const Shape& s, const T* flow, T* grid, bool places) {
  const T by_x = static_cast<T>(PixelStep(s[3])), by_y = static_cast<T>(PixelStep(s[2]));
  EachRow(s, [&](int64_t n, int64_t row) {
    const int64_t x = (2 * n * s[2] + row) * s[3], y = x + s[2] * s[3];
    const T least_x = places && s[3] > 1 ? T(-1) : T(0), least_y = places && s[2] > 1 ? T(-1) : T(0);
    for (int64_t i = 0; i < s[3]; ++i) {
      grid[x + i] = (flow[x + i] + (places ? static_cast<T>(i) : T(0))) * by_x + least_x;
      grid[y + i] = (flow[y + i] + (places ? static_cast<T>(row) : T(0))) * by_y + least_y;
    }
  });
}

// Points of a grid whose places are computed once for all images, so that short rows are no loops
// of their own.
constexpr int64_t kSmallGrid = 4096;

template <typename T>
void AffineGrids(const Shape& s, const T* data, T* grid) {
  const int64_t plane = s[2] * s[3], points = plane <= kSmallGrid ? plane : s[3];
  std::vector<T> u(points), v(points);
  for (int64_t i = 0; i < points; ++i) u[i] = RegularPlace<T>(i % s[3], s[3]), v[i] = RegularPlace<T>(i / s[3], s[2]);
  if (points == plane)
    return ParallelFor(s[0], std::max<int64_t>(1, 8192 / plane), [&](int64_t b, int64_t e) {
      const auto level = [at = v.data()](int64_t i) { return at[i]; };
      for (int64_t n = b; n < e; ++n) AffineAt(data + 6 * n, u.data(), level, plane, grid + 2 * n * plane, grid + (2 * n + 1) * plane);
    });
  EachRow(s, [&](int64_t n, int64_t row) {
    T* x = grid + 2 * n * plane + row * s[3];
    const T at = RegularPlace<T>(row, s[2]);
    AffineAt(
        data + 6 * n, u.data(), [at](int64_t) { return at; }, s[3], x, x + plane);
  });
}

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const bool warp = args.param<GridGeneratorParam>().transform_type == kWarpGrid;
  if (args.run.ctx.is_gpu())
    return warp ? WarpGridOnDevice(args, args.in[0], args.out[0], false) : AffineGridOnDevice(args, args.in[0], args.out[0]);
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const Shape& s = a.out[0].shape;
    const T* data = a.in[0].data<T>();
    T* grid = a.out[0].data<T>();
    if (warp) return Warp(s, data, grid, true);
    AffineGrids(s, data, grid);
  });
}

// The sums of a row, plain and by the places of its columns; lanes do not wait for each other.
template <typename T>
void AddRow(const T* g, const double* place, int64_t columns, double* plain, double* by_column) {
  constexpr int kLanes = 4;
  double p[kLanes] = {}, c[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes)
    for (int k = 0; k < kLanes; ++k) {
      const double v = static_cast<double>(g[i + k]);
      p[k] += v, c[k] += v * place[i + k];
    }
  for (; i < columns; ++i) p[0] += static_cast<double>(g[i]), c[0] += static_cast<double>(g[i]) * place[i];
  *plain = (p[0] + p[1]) + (p[2] + p[3]);
  *by_column = (c[0] + c[1]) + (c[2] + c[3]);
}

// The gradient of theta: sums in double over the rows of one image after the other.
template <typename T>
void AffineBack(const Shape& s, const T* dgrid, T* dtheta) {
  std::vector<double> u(s[3]), v(s[2]);
  for (int64_t i = 0; i < s[3]; ++i) u[i] = RegularPlace<double>(i, s[3]);
  for (int64_t i = 0; i < s[2]; ++i) v[i] = RegularPlace<double>(i, s[2]);
  ParallelFor(s[0] * 2, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, s[2] * s[3])), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      double sum[3] = {};
      for (int64_t row = 0; row < s[2]; ++row) {
        double plain, by_column;
        AddRow(dgrid + (i * s[2] + row) * s[3], u.data(), s[3], &plain, &by_column);
        sum[0] += by_column;
        sum[1] += plain * v[row];
        sum[2] += plain;
      }
      for (int k = 0; k < 3; ++k) dtheta[3 * i + k] = static_cast<T>(sum[k]);
    }
  });
}

void Backward(KernelArgs& args) {  // ograd -> data_grad
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const bool warp = args.param<GridGeneratorParam>().transform_type == kWarpGrid;
  if (args.run.ctx.is_gpu())
    return warp ? WarpGridOnDevice(args, args.in[0], args.out[0], true) : AffineGridBackOnDevice(args, args.in[0], args.out[0]);
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const Shape& s = a.in[0].shape;
    if (warp) return Warp(s, a.in[0].data<T>(), a.out[0].data<T>(), false);
    AffineBack(s, a.in[0].data<T>(), a.out[0].data<T>());
  });
}

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "ograd", &(*in)[0], Shape(4));
  if (attrs.get<GridGeneratorParam>().transform_type == kWarpGrid)
    AssignShape(attrs, "data_grad", &(*out)[0], (*in)[0]);
  else
    AssignShape(attrs, "data_grad", &(*out)[0], Shape{(*in)[0][0], 6});
  return (*in)[0].known() && (*out)[0].known();
}

MXNET_REGISTER_OP(GridGenerator)
    .describe(
        "Points (batch, 2, height, width) at which BilinearSampler samples images: x and y, from -1 to 1.\n\n"
        "With transform_type affine, data (batch, 6) has a matrix of two rows for each image, which takes (u, v, 1), the places of a "
        "regular grid\n"
        "of target_shape points from -1 to 1, to x and y. With warp, data (batch, 2, height, width) is a flow: how many pixels to the "
        "right and\n"
        "down of its own place each point lies. A side of one pixel has its only place at 0. float16, bfloat16, float32, float64.")
    .set_param<GridGeneratorParam>()
    .set_inputs({"data"})
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{{MakeNodeLike("_backward_GridGenerator", *node, {ograds[0]}), 0, 0}};
    })
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_GridGenerator)
    .describe("Gradient of GridGenerator with respect to data.")
    .set_param<GridGeneratorParam>()
    .set_inputs({"ograd"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(BackwardShape)
    .set_infer_type(SameType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {  // linear
      const bool warp = node->attrs->get<GridGeneratorParam>().transform_type == kWarpGrid;
      return std::vector<NodeEntry>{{MakeNodeLike(warp ? "_backward_GridGenerator" : "GridGenerator", *node, {ograds[0]}), 0, 0}};
    })
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
