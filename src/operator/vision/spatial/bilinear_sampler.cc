// BilinearSampler and SpatialTransformer (Jaderberg et al., NeurIPS 2015): images sampled at given
// points, and at the points of an affine grid.
#include <cstring>
#include <vector>

#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/vision/spatial/sampler.h"
#include "operator/vision/spatial/sampler_twice.h"

namespace mxnet {
namespace nn {

struct BilinearSamplerParam : public Parameter<BilinearSamplerParam> {
  std::optional<bool> cudnn_off;
  MXNET_DECLARE_PARAM(BilinearSamplerParam) {
    MXNET_FIELD(cudnn_off).set_default(std::optional<bool>()).describe("Accepted for compatibility; the kernel is the library's own.");
  }
};
MXNET_REGISTER_PARAM(BilinearSamplerParam);

struct SpatialTransformerParam : public Parameter<SpatialTransformerParam> {
  Shape target_shape;
  int transform_type, sampler_type;
  std::optional<bool> cudnn_off;
  MXNET_DECLARE_PARAM(SpatialTransformerParam) {
    MXNET_FIELD(target_shape).set_default(Shape({0, 0})).describe("Height and width of the output; both must be given.");
    MXNET_FIELD(transform_type).add_enum("affine", 0).describe("How loc is applied to the places of a regular grid.");
    MXNET_FIELD(sampler_type).add_enum("bilinear", 1).describe("How pixels between which a place lies are weighted.");
    MXNET_FIELD(cudnn_off).set_default(std::optional<bool>()).describe("Accepted for compatibility; the kernel is the library's own.");
  }
};
MXNET_REGISTER_PARAM(SpatialTransformerParam);

bool CheckImages(const Attrs& attrs, const Shape& data) {
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 4, Value) << Named(attrs) << "data has shape " << data << "; (batch, channels, height, width) is needed";
  return true;
}

namespace {

// ---- BilinearSampler

bool SamplerShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape &data = (*in)[0], &grid = (*in)[1], &result = (*out)[0];
  CheckImages(attrs, data);
  if (grid.ndim_known())
    MXNET_CHECK_KIND(grid.ndim() == 4, Value) << Named(attrs) << "grid has shape " << grid << "; (batch, 2, height, width) is needed";
  AssignShape(attrs, "data", &data, Shape(4));
  AssignShape(attrs, "grid", &grid, Shape{Shape::kUnknownDim, 2, Shape::kUnknownDim, Shape::kUnknownDim});
  AssignShape(attrs, "output", &result, Shape{data[0], data[1], grid[2], grid[3]});
  AssignShape(attrs, "data", &data, Shape{result[0], result[1], Shape::kUnknownDim, Shape::kUnknownDim});
  AssignShape(attrs, "grid", &grid, Shape{result[0], 2, result[2], result[3]});
  AssignShape(attrs, "data", &data, Shape{grid[0], result[1], Shape::kUnknownDim, Shape::kUnknownDim});
  AssignShape(attrs, "output", &result, Shape{data[0], data[1], grid[2], grid[3]});
  return data.known() && grid.known();
}

// The points of a grid (batch, 2, rows, columns) are where it has them.
template <typename T>
auto InGrid(const SampleDims& d, const T* grid) {
  return [&d, grid](int64_t n, int64_t first, int64_t, PointBlock<T>* at) {
    at->px = grid + 2 * n * d.points() + first;
    at->py = at->px + d.points();
  };
}

void Zeros(const KernelArgs& a, int i) {
  if (Wanted(a, i) && a.out[i].Size()) ZeroBytes(a.run, a.out[i].dptr, static_cast<int64_t>(a.out[i].Bytes()));
}

void SamplerForward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const SampleDims d(args.in[0].shape, args.out[0].shape);
  if (d.pixels() == 0) return Zeros(args, 0);
  if (args.run.ctx.is_gpu()) return SampleOnDevice(args, d, args.in[0], args.in[1], args.out[0]);
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    SampleOnCpu(d, a.in[0].dtype, a.in[0].data<T>(), a.out[0].data<T>(), InGrid(d, a.in[1].data<T>()));
  });
}

void SamplerBackward(KernelArgs& args) {  // ograd, data, grid -> data_grad, grid_grad
  const SampleDims d(args.in[1].shape, args.in[0].shape);
  if (args.in[0].Size() == 0 || d.pixels() == 0) return Zeros(args, 0), Zeros(args, 1);
  if (args.run.ctx.is_gpu()) {
    if (Wanted(args, 0)) SampleToDataOnDevice(args, d, args.in[0], args.in[2], args.out[0]);
    if (Wanted(args, 1)) SampleToPointsOnDevice(args, d, args.in[0], args.in[1], args.in[2], args.out[1]);
    return;
  }
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T* og = a.in[0].data<T>();
    const auto locate = InGrid(d, a.in[2].data<T>());
    if (Wanted(a, 0)) SampleToDataOnCpu(d, a.in[0].dtype, og, a.out[0].data<T>(), locate);
    if (!Wanted(a, 1)) return;
    T* dgrid = a.out[1].data<T>();
    SampleToPointsOnCpu(d, a.in[0].dtype, a.in[1].data<T>(), og, locate,
                        [&](int64_t n, int64_t first, int64_t count, const T* dx, const T* dy) {
                          T* to = dgrid + 2 * n * d.points() + first;
                          std::copy(dx, dx + count, to);
                          std::copy(dy, dy + count, to + d.points());
                        });
  });
}

// ---- SpatialTransformer

bool TransformerShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& target = attrs.get<SpatialTransformerParam>().target_shape;
  MXNET_CHECK_KIND(target.ndim() >= 2 && target[0] > 0 && target[1] > 0 && target[0] < (int64_t{1} << 31) && target[1] < (int64_t{1} << 31),
                   Value)
      << Named(attrs) << "target_shape " << target << "; two numbers of at least 1 are needed";
  Shape &data = (*in)[0], &loc = (*in)[1], &result = (*out)[0];
  CheckImages(attrs, data);
  AssignShape(attrs, "data", &data, Shape(4));
  AssignShape(attrs, "loc", &loc, Shape{data[0], 6});
  AssignShape(attrs, "output", &result, Shape{loc[0], data[1], target[0], target[1]});
  AssignShape(attrs, "loc", &loc, Shape{result[0], 6});
  AssignShape(attrs, "data", &data, Shape{result[0], result[1], Shape::kUnknownDim, Shape::kUnknownDim});
  return data.known() && loc.known();
}

template <typename T>
auto InAffineGrid(const SampleDims& d, const T* theta) {
  return [&d, theta](int64_t n, int64_t first, int64_t count, PointBlock<T>* at) {
    AffinePoints(theta + 6 * n, d.rows, d.columns, first, count, at->x, at->y);
  };
}

TBlob GridOnDevice(KernelArgs& a, const SampleDims& d, int dtype) {
  TBlob grid;
  grid.dtype = dtype == kFloat64 ? kFloat64 : kFloat32;
  grid.shape = Shape{d.batch, 2, d.rows, d.columns};
  grid.ctx = a.in[0].ctx;
  grid.dptr = a.workspace(static_cast<size_t>(std::max<int64_t>(1, grid.Size())) * DTypeSize(grid.dtype));
  return grid;
}

void TransformerForward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const SampleDims d(args.in[0].shape, args.out[0].shape);
  if (d.pixels() == 0) return Zeros(args, 0);
  if (args.run.ctx.is_gpu()) {
    const TBlob grid = GridOnDevice(args, d, args.in[0].dtype);
    AffineGridOnDevice(args, args.in[1], grid);
    return SampleOnDevice(args, d, args.in[0], grid, args.out[0]);
  }
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    SampleOnCpu(d, a.in[0].dtype, a.in[0].data<T>(), a.out[0].data<T>(), InAffineGrid(d, a.in[1].data<T>()));
  });
}

// Sums of dgrid times the places of the regular grid; those of the blocks are added in order.
template <typename T>
void ToLoc(KernelArgs& a, const SampleDims& d, const T* data, const T* og, const T* theta, T* dtheta) {
  double* sums = Workspace<double>(a, d.batch * d.blocks() * 6);
  SampleToPointsOnCpu(d, a.in[0].dtype, data, og, InAffineGrid(d, theta),
                      [&](int64_t n, int64_t first, int64_t count, const T* dx, const T* dy) {
                        double s[6] = {};
                        for (int64_t i = 0; i < count; ++i) {
                          const double u = RegularPlace<double>((first + i) % d.columns, d.columns);
                          const double v = RegularPlace<double>((first + i) / d.columns, d.rows);
                          const double x = static_cast<double>(dx[i]), y = static_cast<double>(dy[i]);
                          s[0] += x * u, s[1] += x * v, s[2] += x;
                          s[3] += y * u, s[4] += y * v, s[5] += y;
                        }
                        std::copy(s, s + 6, sums + (n * d.blocks() + first / kSamplePoints) * 6);
                      });
  for (int64_t n = 0; n < d.batch; ++n)
    for (int k = 0; k < 6; ++k) {
      double sum = 0;
      for (int64_t b = 0; b < d.blocks(); ++b) sum += sums[(n * d.blocks() + b) * 6 + k];
      dtheta[6 * n + k] = static_cast<T>(sum);
    }
}

void TransformerBackward(KernelArgs& args) {  // ograd, data, loc -> data_grad, loc_grad
  const SampleDims d(args.in[1].shape, args.in[0].shape);
  if (args.in[0].Size() == 0 || d.pixels() == 0) return Zeros(args, 0), Zeros(args, 1);
  if (args.run.ctx.is_gpu()) {
    const TBlob grid = GridOnDevice(args, d, args.in[0].dtype);
    AffineGridOnDevice(args, args.in[2], grid);
    if (Wanted(args, 0)) SampleToDataOnDevice(args, d, args.in[0], grid, args.out[0]);
    if (!Wanted(args, 1)) return;
    const TBlob dgrid = GridOnDevice(args, d, args.in[0].dtype);
    SampleToPointsOnDevice(args, d, args.in[0], args.in[1], grid, dgrid);
    return AffineGridBackOnDevice(args, dgrid, args.out[1]);
  }
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T *og = a.in[0].data<T>(), *theta = a.in[2].data<T>();
    if (Wanted(a, 0)) SampleToDataOnCpu(d, a.in[0].dtype, og, a.out[0].data<T>(), InAffineGrid(d, theta));
    if (Wanted(a, 1)) ToLoc(a, d, a.in[1].data<T>(), og, theta, a.out[1].data<T>());
  });
}

// ---- records

MXNET_REGISTER_OP(BilinearSampler)
    .describe(
        "Samples images at given points (Jaderberg et al., Spatial Transformer Networks, NeurIPS 2015).\n\n"
        "data has shape (batch, channels, height, width), grid (batch, 2, rows, columns): x and y of each point, from -1 in the middle of "
        "the\n"
        "first pixel to 1 in the middle of the last. An output (batch, channels, rows, columns) is the mean of the four pixels around its "
        "point,\n"
        "weighted by nearness; pixels outside of the image count as 0. Differentiable in data and grid. float16, bfloat16, float32, "
        "float64.")
    .set_param<BilinearSamplerParam>()
    .set_inputs({"data", "grid"})
    .set_infer_shape(SamplerShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_BilinearSampler", kGradInputs))
    .set_kernel(SamplerForward);

MXNET_REGISTER_OP(_backward_BilinearSampler)
    .describe("Gradients of BilinearSampler with respect to data and grid.")
    .set_param<BilinearSamplerParam>()
    .set_inputs({"ograd", "data", "grid"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "grid_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(SameType)
    .set_gradient(SamplerSecondGradient)
    .set_kernel(SamplerBackward);

MXNET_REGISTER_OP(SpatialTransformer)
    .describe(
        "Samples images at the points of an affine grid (Jaderberg et al., Spatial Transformer Networks, NeurIPS 2015).\n\n"
        "data has shape (batch, channels, height, width), loc (batch, 6): for each image a matrix of two rows that takes (u, v, 1), the "
        "places of\n"
        "a regular grid of target_shape points from -1 to 1, to the x and y at which the image is sampled. The same as GridGenerator "
        "followed by\n"
        "BilinearSampler. Differentiable in data and loc. float16, bfloat16, float32, float64.")
    .set_param<SpatialTransformerParam>()
    .set_inputs({"data", "loc"})
    .set_infer_shape(TransformerShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_SpatialTransformer", kGradInputs))
    .set_kernel(TransformerForward);

MXNET_REGISTER_OP(_backward_SpatialTransformer)
    .describe("Gradients of SpatialTransformer with respect to data and loc.")
    .set_param<SpatialTransformerParam>()
    .set_inputs({"ograd", "data", "loc"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "loc_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(SameType)
    .set_gradient(TransformerSecondGradient)
    .set_kernel(TransformerBackward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
