// RROIAlign: ROIAlign of regions that are rotated (Ma et al., IEEE Transactions on Multimedia 20,
// 2018).
#include <limits>
#include <vector>

#include "operator/nn/common/backward_shape.h"
#include "operator/record/dtypes.h"
#include "operator/vision/roi/gpu_roi.h"
#include "operator/vision/roi/roi.h"
#include "operator/vision/roi/roi_kernels.h"

namespace mxnet {
namespace roi {

struct RROIAlignParam : public Parameter<RROIAlignParam> {
  Shape pooled_size;
  float spatial_scale;
  int sampling_ratio;
  MXNET_DECLARE_PARAM(RROIAlignParam) {
    MXNET_FIELD(pooled_size).describe("Bins of a region: (height, width).");
    MXNET_FIELD(spatial_scale).set_range(0.0f, 1.0f).describe("Coordinates of rois times this are pixels of data.");
    MXNET_FIELD(sampling_ratio)
        .set_default(-1)
        .describe("Points of a bin each way; 0 or less: as many as it is pixels high and wide, rounded up.");
  }
};
MXNET_REGISTER_PARAM(RROIAlignParam);

namespace {

using nn::RunReal;
using nn::Wanted;

constexpr int64_t kMostPoints = int64_t{1} << 26;  // of a region: half a second's work

bool RotatedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<RROIAlignParam>();
  CheckPooledSize(attrs, p.pooled_size);
  CheckSamples(attrs, p.pooled_size, "sampling_ratio", p.sampling_ratio);
  const int64_t samples = std::max(p.sampling_ratio, 1);  // the bounds above keep the product below 2^48
  MXNET_CHECK_KIND(p.pooled_size[0] * samples * (p.pooled_size[1] * samples) <= kMostPoints, Value)
      << nn::Named(attrs) << "pooled_size " << p.pooled_size << " with sampling_ratio " << p.sampling_ratio
      << "; at most 2^26 points of a region are accepted";
  return InferRegions(attrs, in, out, 6, -1, p.pooled_size[0], p.pooled_size[1]);
}

// For every bin of some regions the pixels that it is the sum of.
template <typename T>
class RotatedRegions {
 public:
  RotatedRegions(const T* rois, int64_t n, const RROIAlignParam& p, const Shape& data)
      : rois_(rois), n_(n), p_(p), data_(data), bins_(p.pooled_size[0] * p.pooled_size[1]) {}

  /* Of regions [first, the result): as many as memory should be spent on. */
  int64_t Prepare(int64_t first) {
    constexpr size_t kMostTaps = size_t{1} << 22;
    first_ = first;
    images_.clear(), scales_.clear(), starts_.assign(1, 0), taps_.clear();
    int64_t i = first;
    for (; i < n_ && (i == first || taps_.size() < kMostTaps); ++i) Add(rois_ + 6 * i);
    return i;
  }
  int64_t image(int64_t i) const { return images_[static_cast<size_t>(i - first_)]; }
  T scale(int64_t i) const { return scales_[static_cast<size_t>(i - first_)]; }
  /* f(bin, its first tap, behind its last) */
  template <typename F>
  void EachBin(int64_t i, F&& f) const {
    const size_t* starts = starts_.data() + (i - first_) * bins_;
    for (int64_t b = 0; b < bins_; ++b) f(b, taps_.data() + starts[b], taps_.data() + starts[b + 1]);
  }

 private:
  void Add(const T* roi) {
    const T scale = static_cast<T>(p_.spatial_scale);
    const T cx = roi[1] * scale, cy = roi[2] * scale, width = std::max(roi[3] * scale, T(1)), height = std::max(roi[4] * scale, T(1));
    const T angle = roi[5] * static_cast<T>(3.14159265358979323846 / 180), cosine = std::cos(angle), sine = std::sin(angle);
    const int64_t ph = p_.pooled_size[0], pw = p_.pooled_size[1];
    const T bin_h = height / static_cast<T>(ph), bin_w = width / static_cast<T>(pw);
    const T rows = p_.sampling_ratio > 0 ? static_cast<T>(p_.sampling_ratio) : std::ceil(bin_h),
            columns = p_.sampling_ratio > 0 ? static_cast<T>(p_.sampling_ratio) : std::ceil(bin_w);
    const bool finite = AllFinite(roi + 1, 5);
    images_.push_back(ImageOf(roi[0], data_[0]));
    scales_.push_back(finite ? T(1) / (rows * columns) : std::numeric_limits<T>::quiet_NaN());
    const bool any = finite && images_.back() >= 0;
    double low[2], high[2];  // of the image along the region's own axes
    Bounds(static_cast<double>(cy), static_cast<double>(cx), static_cast<double>(cosine), static_cast<double>(sine), low, high);
    for (int64_t b = 0; b < bins_; ++b) {
      const T y = -height / T(2) + static_cast<T>(b / pw) * bin_h, x = -width / T(2) + static_cast<T>(b % pw) * bin_w;
      const PointRange us(static_cast<double>(y), static_cast<double>(bin_h / rows), any ? static_cast<double>(rows) : 0, low[0], high[0]);
      const PointRange vs(static_cast<double>(x), static_cast<double>(bin_w / columns), any ? static_cast<double>(columns) : 0, low[1],
                          high[1]);
      for (int64_t u = us.first; u < us.last; ++u) {
        const T down = y + (static_cast<T>(u) + T(0.5)) * bin_h / rows;
        for (int64_t v = vs.first; v < vs.last; ++v) {
          const T over = x + (static_cast<T>(v) + T(0.5)) * bin_w / columns;
          Point(down * cosine - over * sine + cy, over * cosine + down * sine + cx);
        }
      }
      starts_.push_back(taps_.size());
    }
  }
  void Bounds(double cy, double cx, double cosine, double sine, double* low, double* high) const {
    const double ys[2] = {-1 - cy, static_cast<double>(data_[2]) - cy}, xs[2] = {-1 - cx, static_cast<double>(data_[3]) - cx};
    low[0] = low[1] = std::numeric_limits<double>::infinity(), high[0] = high[1] = -low[0];
    for (double y : ys)
      for (double x : xs) {
        const double own[2] = {y * cosine + x * sine, x * cosine - y * sine};
        for (int k = 0; k < 2; ++k) low[k] = std::min(low[k], own[k]), high[k] = std::max(high[k], own[k]);
      }
  }
  void Point(T y, T x) {
    const int64_t h = data_[2], w = data_[3];
    if (!(y >= T(-1) && y <= static_cast<T>(h) && x >= T(-1) && x <= static_cast<T>(w)) || h * w == 0) return;
    y = std::min(std::max(y, T(0)), static_cast<T>(h - 1)), x = std::min(std::max(x, T(0)), static_cast<T>(w - 1));
    const int64_t y0 = static_cast<int64_t>(y), x0 = static_cast<int64_t>(x), y1 = std::min(y0 + 1, h - 1), x1 = std::min(x0 + 1, w - 1);
    const T fy = y - static_cast<T>(y0), fx = x - static_cast<T>(x0);
    const Tap<T> own[4] = {{static_cast<int32_t>(y0 * w + x0), (T(1) - fy) * (T(1) - fx)},
                           {static_cast<int32_t>(y0 * w + x1), (T(1) - fy) * fx},
                           {static_cast<int32_t>(y1 * w + x0), fy * (T(1) - fx)},
                           {static_cast<int32_t>(y1 * w + x1), fy * fx}};
    // Many points for a pixel lie between the same four, one behind the other.
    Tap<T>* last = taps_.size() >= starts_.back() + 4 ? taps_.data() + taps_.size() - 4 : nullptr;
    if (last && last[0].at == own[0].at && last[3].at == own[3].at)
      for (int k = 0; k < 4; ++k) last[k].weight += own[k].weight;
    else
      taps_.insert(taps_.end(), own, own + 4);
  }

  const T* rois_;
  int64_t n_, first_ = 0;
  const RROIAlignParam& p_;
  Shape data_;
  int64_t bins_;
  std::vector<int64_t> images_;
  std::vector<T> scales_;
  std::vector<size_t> starts_;
  std::vector<Tap<T>> taps_;
};

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& param = args.param<RROIAlignParam>();
  if (args.run.ctx.is_gpu())
    return AlignOnDevice(args, "rotated_roi_align", args.in[0], args.in[1], args.out[0], {param.spatial_scale, param.sampling_ratio});
  RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[0].shape;
    const int64_t channels = data[1], plane = data[2] * data[3], n = a.in[1].shape[0], bins = a.out[0].shape[2] * a.out[0].shape[3];
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    RotatedRegions<T> regions(a.in[1].data<T>(), n, param, data);
    for (int64_t first = 0, last; first < n; first = last) {
      last = regions.Prepare(first);
      ParallelFor((last - first) * channels, Grain(bins * 16), [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          const int64_t c = k / (last - first), i = first + k % (last - first);
          T* to = y + (i * channels + c) * bins;
          const T scale = regions.scale(i);
          if (regions.image(i) < 0 || !std::isfinite(scale)) {
            std::fill_n(to, bins, regions.image(i) < 0 ? T(0) : scale);
            continue;
          }
          const T* from = x + (regions.image(i) * channels + c) * plane;
          regions.EachBin(i, [&](int64_t b, const Tap<T>* t, const Tap<T>* behind) {
            T sum = 0;
            for (; t != behind; ++t) sum += t->weight * from[t->at];
            to[b] = sum * scale;
          });
        }
      });
    }
  });
}

void Backward(KernelArgs& args) {  // ograd, data, rois
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& param = args.param<RROIAlignParam>();
  if (args.run.ctx.is_gpu())
    return AlignOnDevice(args, "rotated_roi_align_backward", args.out[0], args.in[2], args.in[0],
                         {param.spatial_scale, param.sampling_ratio});
  RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[1].shape;
    const int64_t channels = data[1], plane = data[2] * data[3], n = a.in[2].shape[0], bins = a.in[0].shape[2] * a.in[0].shape[3];
    const T* og = a.in[0].data<T>();
    T* dx = a.out[0].data<T>();
    std::fill_n(dx, a.out[0].Size(), T(0));
    RotatedRegions<T> regions(a.in[2].data<T>(), n, param, data);
    for (int64_t first = 0, last; first < n; first = last) {
      last = regions.Prepare(first);
      ParallelFor(data[0] * channels, Grain(plane), [&](int64_t begin, int64_t end) {  // each plane sums in the order of regions
        for (int64_t k = begin; k < end; ++k)
          for (int64_t i = first; i < last; ++i) {
            const T scale = regions.scale(i);
            if (regions.image(i) != k / channels || !std::isfinite(scale)) continue;
            const T* from = og + (i * channels + k % channels) * bins;
            T* to = dx + k * plane;
            regions.EachBin(i, [&](int64_t b, const Tap<T>* t, const Tap<T>* behind) {
              const T g = from[b] * scale;
              for (; t != behind; ++t) to[t->at] += t->weight * g;
            });
          }
      });
    }
  });
}

MXNET_REGISTER_OP(_contrib_RROIAlign)
    .describe(
        "ROIAlign of rotated regions of interest (Ma et al., IEEE Transactions on Multimedia 20, 2018).\n\n"
        "data has shape (batch, channels, height, width), rois (regions, 6): image, x and y of the centre, width, height, angle in "
        "degrees.\n"
        "A positive angle turns the region's x axis towards negative y. All but the angle is multiplied by spatial_scale; a region is at "
        "least\n"
        "one pixel high and wide. Bins and points are those of _contrib_ROIAlign. The result has shape (regions, channels, "
        "*pooled_size);\n"
        "regions of images that are not in the batch give 0, numbers that are not finite NaN. rois get no gradient. float16, bfloat16,\n"
        "float32 and float64.")
    .set_param<RROIAlignParam>()
    .set_inputs({"data", "rois"})
    .set_infer_shape(RotatedShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(DataGradient("_backward_RROIAlign"))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_RROIAlign)
    .describe("Gradient of _contrib_RROIAlign with respect to data.")
    .set_param<RROIAlignParam>()
    .set_inputs({"ograd", "data", "rois"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(nn::BackwardShape(RotatedShape))
    .set_gradient(LinearSecondGradient("_contrib_RROIAlign"))
    .set_kernel(Backward);

}  // namespace
}  // namespace roi
}  // namespace mxnet
