// ROIPooling: the largest pixel of each bin of a region (Girshick, ICCV 2015).
#include <algorithm>
#include <vector>

#include "operator/nn/common/backward_shape.h"
#include "operator/record/dtypes.h"
#include "operator/vision/roi/gpu_roi.h"
#include "operator/vision/roi/roi.h"
#include "operator/vision/roi/roi_kernels.h"

namespace mxnet {
namespace roi {

struct ROIPoolingParam : public Parameter<ROIPoolingParam> {
  Shape pooled_size;
  float spatial_scale;
  MXNET_DECLARE_PARAM(ROIPoolingParam) {
    MXNET_FIELD(pooled_size).describe("Bins of a region: (height, width).");
    MXNET_FIELD(spatial_scale).set_range(0.0f, 1.0f).describe("Coordinates of rois times this are pixels of data.");
  }
};
MXNET_REGISTER_PARAM(ROIPoolingParam);

namespace {

using nn::RunReal;
using nn::Wanted;

bool PoolShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& size = attrs.get<ROIPoolingParam>().pooled_size;
  CheckPooledSize(attrs, size);
  CheckSamples(attrs, size, "points", 1);
  return InferRegions(attrs, in, out, 5, -1, size[0], size[1]);
}

// Bins of all regions, in one piece of memory.
class PooledRegions {
 public:
  template <typename T>
  PooledRegions(const T* rois, int64_t n, const ROIPoolingParam& p, const Shape& data)
      : height_(p.pooled_size[0]), width_(p.pooled_size[1]), images_(n), edges_(static_cast<size_t>(2 * n * (height_ + width_))) {
    const T scale = static_cast<T>(p.spatial_scale);
    for (int64_t i = 0; i < n; ++i) {
      const T* roi = rois + 5 * i;
      images_[i] = AllFinite(roi, 5) ? ImageOf(roi[0], data[0]) : -1;
      if (images_[i] < 0) continue;
      int32_t* edges = edges_.data() + 2 * i * (height_ + width_);
      const T x1 = Rounded(roi[1] * scale), y1 = Rounded(roi[2] * scale), x2 = Rounded(roi[3] * scale), y2 = Rounded(roi[4] * scale);
      Edges(y1, y2, height_, data[2], edges, edges + height_ + width_);
      Edges(x1, x2, width_, data[3], edges + height_, edges + 2 * height_ + width_);
    }
  }
  PooledRegion operator[](int64_t i) const {
    const int32_t* edges = edges_.data() + 2 * i * (height_ + width_);
    return {images_[i], height_, width_, edges, edges + height_ + width_};
  }

 private:
  // Both ends belong to the region; bins overlap where they share a pixel.
  template <typename T>
  static void Edges(T first, T last, int64_t bins, int64_t size, int32_t* begin, int32_t* end) {
    const T bin = std::max(last - first + T(1), T(1)) / static_cast<T>(bins);
    for (int64_t k = 0; k < bins; ++k) {
      begin[k] = Clipped(std::floor(static_cast<T>(k) * bin) + first, size);
      end[k] = Clipped(std::ceil(static_cast<T>(k + 1) * bin) + first, size);
    }
  }
  int64_t height_, width_;
  std::vector<int64_t> images_;
  std::vector<int32_t> edges_;
};

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu())
    return PoolOnDevice(args, args.in[0], args.in[1], args.out[0], args.param<ROIPoolingParam>().spatial_scale, nullptr);
  RunReal(args, [](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[0].shape;
    const int64_t channels = data[1], h = data[2], w = data[3], n = a.in[1].shape[0];
    const PooledRegions regions(a.in[1].data<T>(), n, a.param<ROIPoolingParam>(), data);
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    const int64_t bins = a.out[0].shape[2] * a.out[0].shape[3];
    const int64_t blocks = (channels + kChannels - 1) / kChannels;
    ParallelFor(n * blocks, Grain(bins * 4 * kChannels), [&](int64_t begin, int64_t end) {
      std::vector<T> scratch(static_cast<size_t>(RowScratch(w)));
      for (int64_t k = begin; k < end; ++k) {
        const int64_t i = k % n, c_begin = k / n * kChannels;
        const PooledRegion r = regions[i];
        for (int64_t c = c_begin; c < std::min(c_begin + kChannels, channels); ++c) {
          T* to = y + (i * channels + c) * bins;
          if (r.image < 0)
            std::fill_n(to, bins, T(0));
          else
            MXNET_CPU_CALL(PoolForward)(sizeof(T) == 8, r, x + (r.image * channels + c) * h * w, h, w, to, scratch.data());
        }
      }
    });
  });
}

void Backward(KernelArgs& args) {  // ograd, data, rois
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu())
    return PoolOnDevice(args, args.in[1], args.in[2], args.in[0], args.param<ROIPoolingParam>().spatial_scale, &args.out[0]);
  RunReal(args, [](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[1].shape;
    const int64_t channels = data[1], h = data[2], w = data[3], n = a.in[2].shape[0];
    const PooledRegions regions(a.in[2].data<T>(), n, a.param<ROIPoolingParam>(), data);
    const T *og = a.in[0].data<T>(), *x = a.in[1].data<T>();
    T* dx = a.out[0].data<T>();
    const int64_t bins = a.in[0].shape[2] * a.in[0].shape[3];
    ParallelFor(data[0] * channels, Grain(h * w), [&](int64_t begin, int64_t end) {
      std::vector<T> scratch(static_cast<size_t>(RowScratch(w)));
      std::vector<int32_t> rows(static_cast<size_t>(RowScratch(w)));
      for (int64_t k = begin; k < end; ++k) {
        T* plane = dx + k * h * w;
        std::fill_n(plane, h * w, T(0));
        for (int64_t i = 0; i < n; ++i) {
          const PooledRegion r = regions[i];
          if (r.image != k / channels) continue;
          MXNET_CPU_CALL(PoolBackward)
          (sizeof(T) == 8, r, x + k * h * w, og + (i * channels + k % channels) * bins, h, w, plane, scratch.data(), rows.data());
        }
      }
    });
  });
}

void Other(KernelArgs& args) {  // other, data, rois
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu())
    return PoolOtherOnDevice(args, args.in[0], args.in[1], args.in[2], args.out[0], args.param<ROIPoolingParam>().spatial_scale);
  RunReal(args, [](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[1].shape;
    const int64_t channels = data[1], h = data[2], w = data[3], n = a.in[2].shape[0];
    const PooledRegions regions(a.in[2].data<T>(), n, a.param<ROIPoolingParam>(), data);
    const T *other = a.in[0].data<T>(), *x = a.in[1].data<T>();
    T* y = a.out[0].data<T>();
    const int64_t bins = a.out[0].shape[2] * a.out[0].shape[3];
    ParallelFor(n * channels, Grain(bins * 4), [&](int64_t begin, int64_t end) {
      std::vector<T> scratch(static_cast<size_t>(RowScratch(w)));
      std::vector<int32_t> rows(static_cast<size_t>(RowScratch(w)));
      for (int64_t k = begin; k < end; ++k) {
        const PooledRegion r = regions[k / channels];
        const int64_t plane = (r.image * channels + k % channels) * h * w;
        if (r.image < 0)
          std::fill_n(y + k * bins, bins, T(0));
        else
          MXNET_CPU_CALL(PoolOtherForward)(sizeof(T) == 8, r, x + plane, other + plane, h, w, y + k * bins, scratch.data(), rows.data());
      }
    });
  });
}

bool OtherShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  ShapeVector pooled((*in).begin() + 1, (*in).end());
  const bool known = PoolShape(attrs, &pooled, out);
  std::copy(pooled.begin(), pooled.end(), in->begin() + 1);
  AssignShape(attrs, "other", &(*in)[0], (*in)[1]);
  return known;
}

// For given places of the largest pixels, pooling and its gradient are linear.
std::vector<NodeEntry> GradientOfGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& in = node->inputs;
  return {NodeEntry{MakeNodeLike("_roi_pooling_other", *node, {ograds[0], in[1], in[2]}), 0, 0}, NodeEntry(), NodeEntry()};
}
std::vector<NodeEntry> GradientOfOther(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& in = node->inputs;
  return {NodeEntry{MakeNodeLike("_backward_ROIPooling", *node, {ograds[0], in[1], in[2]}), 0, 0}, NodeEntry(), NodeEntry()};
}

MXNET_REGISTER_OP(ROIPooling)
    .describe(
        "The largest pixel of each bin of a region of interest (Girshick, Fast R-CNN, ICCV 2015).\n\n"
        "data has shape (batch, channels, height, width), rois (regions, 5): image, x1, y1, x2, y2. Corners times spatial_scale are "
        "rounded\n"
        "and belong to the region, which has at least one pixel each way and is divided into pooled_size bins. The result has shape\n"
        "(regions, channels, *pooled_size). Bins without pixels of the image, regions of images that are not in the batch and regions "
        "whose\n"
        "coordinates are not finite give 0. rois get no gradient. float16, bfloat16, float32 and float64.")
    .alias("_npx_roi_pooling")
    .set_param<ROIPoolingParam>()
    .set_inputs({"data", "rois"})
    .set_infer_shape(PoolShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(DataGradient("_backward_ROIPooling"))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_ROIPooling)
    .describe("Gradient of ROIPooling with respect to data: the first of a bin's largest pixels in row-major order gets it.")
    .set_param<ROIPoolingParam>()
    .set_inputs({"ograd", "data", "rois"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(nn::BackwardShape(PoolShape))
    .set_gradient(GradientOfGradient)
    .set_kernel(Backward);

MXNET_REGISTER_OP(_roi_pooling_other)
    .describe(
        "What `other`, of the shape of data, has where the largest pixels of data lie that ROIPooling gives; 0 in bins without pixels.")
    .set_param<ROIPoolingParam>()
    .set_inputs({"other", "data", "rois"})
    .set_infer_shape(OtherShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(GradientOfOther)
    .set_kernel(Other);

}  // namespace
}  // namespace roi
}  // namespace mxnet
