// PSROIPooling: each bin of a region is the mean of channels of its own (Dai et al., R-FCN, NIPS
// 2016).
#include <vector>

#include "operator/nn/common/backward_shape.h"
#include "operator/record/dtypes.h"
#include "operator/vision/roi/gpu_roi.h"
#include "operator/vision/roi/roi.h"

namespace mxnet {
namespace roi {

struct PSROIPoolingParam : public Parameter<PSROIPoolingParam> {
  float spatial_scale;
  int output_dim, pooled_size, group_size;
  MXNET_DECLARE_PARAM(PSROIPoolingParam) {
    MXNET_FIELD(spatial_scale).set_range(0.0f, 1.0f).describe("Coordinates of rois times this are pixels of data.");
    MXNET_FIELD(output_dim).describe("Channels of the result.");
    MXNET_FIELD(pooled_size).describe("Bins of a region each way.");
    MXNET_FIELD(group_size).set_default(0).describe("Groups of channels each way; 0: as many as bins.");
  }
  int64_t groups() const { return group_size == 0 ? pooled_size : group_size; }
};
MXNET_REGISTER_PARAM(PSROIPoolingParam);

namespace {

using nn::RunReal;
using nn::Wanted;

bool PSPoolShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<PSROIPoolingParam>();
  CheckGroups(attrs, p.output_dim, p.pooled_size, p.group_size, 0, true, (*in)[0]);
  return InferRegions(attrs, in, out, 5, p.output_dim, p.pooled_size, p.pooled_size);
}

// The edges of the bins of one region.
template <typename T>
struct MeanBins {
  int64_t image;
  std::vector<int32_t> begin, end;  // rows, then columns

  MeanBins(const T* roi, const PSROIPoolingParam& p, const Shape& data)
      : image(AllFinite(roi, 5) ? ImageOf(roi[0], data[0]) : -1), begin(2 * p.pooled_size), end(2 * p.pooled_size) {
    if (image < 0) return;
    const T scale = static_cast<T>(p.spatial_scale);
    for (int axis = 0; axis < 2; ++axis) {
      const T first = Rounded(roi[2 - axis]) * scale, last = (Rounded(roi[4 - axis]) + T(1)) * scale;
      const T bin = std::max(last - first, T(0.1)) / static_cast<T>(p.pooled_size);
      for (int64_t k = 0; k < p.pooled_size; ++k) {
        begin[axis * p.pooled_size + k] = Clipped(std::floor(static_cast<T>(k) * bin + first), data[2 + axis]);
        end[axis * p.pooled_size + k] = Clipped(std::ceil(static_cast<T>(k + 1) * bin + first), data[2 + axis]);
      }
    }
  }
  /* f(row's begin, columns of it) for the rows of bin (i, j) of that many; returns its pixels. */
  template <typename F>
  int64_t EachRow(int64_t i, int64_t j, int64_t bins, int64_t w, F&& f) const {
    const int64_t columns = end[bins + j] - begin[bins + j], rows = end[i] - begin[i];
    if (columns <= 0 || rows <= 0) return 0;
    for (int64_t y = begin[i]; y < end[i]; ++y) f(y * w + begin[bins + j], columns);
    return rows * columns;
  }
};

template <typename T>
std::vector<MeanBins<T>> BinsOf(const TBlob& rois, const PSROIPoolingParam& p, const Shape& data) {
  std::vector<MeanBins<T>> all;
  for (int64_t i = 0; i < rois.shape[0]; ++i) all.emplace_back(rois.data<T>() + 5 * i, p, data);
  return all;
}

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& param = args.param<PSROIPoolingParam>();
  if (args.run.ctx.is_gpu())
    return MeanOnDevice(args, "psroi_pool", args.in[0], args.in[1], args.out[0], param.spatial_scale, param.groups());
  RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[0].shape;
    const int64_t channels = data[1], plane = data[2] * data[3], n = a.in[1].shape[0], bins = param.pooled_size, groups = param.groups();
    const auto all = BinsOf<T>(a.in[1], param, data);
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    ParallelFor(n * param.output_dim, Grain(bins * bins * 16), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const MeanBins<T>& r = all[k / param.output_dim];
        for (int64_t b = 0; b < bins * bins; ++b) {
          T sum = 0;
          int64_t pixels = 0;
          if (r.image >= 0) {
            const int64_t c = (k % param.output_dim * groups + b / bins * groups / bins) * groups + b % bins * groups / bins;
            const T* from = x + (r.image * channels + c) * plane;
            pixels = r.EachRow(b / bins, b % bins, bins, data[3], [&](int64_t at, int64_t columns) {
              for (int64_t i = 0; i < columns; ++i) sum += from[at + i];
            });
          }
          y[k * bins * bins + b] = pixels ? sum / static_cast<T>(pixels) : T(0);
        }
      }
    });
  });
}

void Backward(KernelArgs& args) {  // ograd, data, rois
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& param = args.param<PSROIPoolingParam>();
  if (args.run.ctx.is_gpu())
    return MeanOnDevice(args, "psroi_pool_backward", args.out[0], args.in[2], args.in[0], param.spatial_scale, param.groups());
  RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[1].shape;
    const int64_t plane = data[2] * data[3], n = a.in[2].shape[0], bins = param.pooled_size, groups = param.groups();
    const auto all = BinsOf<T>(a.in[2], param, data);
    const T* og = a.in[0].data<T>();
    T* dx = a.out[0].data<T>();
    ParallelFor(data[0] * data[1], Grain(plane), [&](int64_t begin, int64_t end) {  // each plane sums in the order of regions
      for (int64_t k = begin; k < end; ++k) {
        const int64_t c = k % data[1], of = c / (groups * groups);
        const BinRange rows(c / groups % groups, bins, groups), columns(c % groups, bins, groups);
        T* to = dx + k * plane;
        std::fill_n(to, plane, T(0));
        if (of >= param.output_dim) continue;
        for (int64_t i = 0; i < n; ++i) {
          const MeanBins<T>& r = all[i];
          if (r.image != k / data[1]) continue;
          for (int64_t u = rows.first; u < rows.last; ++u)
            for (int64_t v = columns.first; v < columns.last; ++v) {
              const int64_t pixels = r.EachRow(u, v, bins, data[3], [](int64_t, int64_t) {});
              if (pixels == 0) continue;
              const T g = og[((i * param.output_dim + of) * bins + u) * bins + v] / static_cast<T>(pixels);
              r.EachRow(u, v, bins, data[3], [&](int64_t at, int64_t width) {
                for (int64_t p = 0; p < width; ++p) to[at + p] += g;
              });
            }
        }
      }
    });
  });
}

MXNET_REGISTER_OP(_contrib_PSROIPooling)
    .describe(
        "Means over the bins of a region of interest, each of channels of its own (Dai et al., R-FCN, NIPS 2016).\n\n"
        "data has shape (batch, at least output_dim * group_size * group_size, height, width), rois (regions, 5): image, x1, y1, x2, y2. "
        "Corners "
        "are\n"
        "rounded, belong to the region and are multiplied by spatial_scale. The result has shape (regions, output_dim, pooled_size, "
        "pooled_size):\n"
        "bin (i, j) of channel c is the mean over channel (c * group_size + i') * group_size + j' of data, i' = floor(i * group_size / "
        "pooled_size),\n"
        "j' alike. Bins without pixels of the image, regions of images that are not in the batch and regions whose numbers are not finite "
        "give 0.\n"
        "rois get no gradient. float16, bfloat16, float32 and float64.")
    .set_param<PSROIPoolingParam>()
    .set_inputs({"data", "rois"})
    .set_infer_shape(PSPoolShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(DataGradient("_backward__contrib_PSROIPooling"))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward__contrib_PSROIPooling)
    .describe("Gradient of _contrib_PSROIPooling with respect to data.")
    .set_param<PSROIPoolingParam>()
    .set_inputs({"ograd", "data", "rois"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(nn::BackwardShape(PSPoolShape))
    .set_gradient(LinearSecondGradient("_contrib_PSROIPooling"))
    .set_kernel(Backward);

}  // namespace
}  // namespace roi
}  // namespace mxnet
