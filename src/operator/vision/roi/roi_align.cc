// ROIAlign: the mean of bilinear interpolations at points of each bin (He et al., ICCV 2017).
#include <limits>
#include <vector>

#include "operator/nn/common/backward_shape.h"
#include "operator/record/dtypes.h"
#include "operator/vision/roi/gpu_roi.h"
#include "operator/vision/roi/roi.h"
#include "operator/vision/roi/roi_kernels.h"

namespace mxnet {
namespace roi {

struct ROIAlignParam : public Parameter<ROIAlignParam> {
  Shape pooled_size;
  float spatial_scale;
  int sample_ratio;
  bool position_sensitive, aligned;
  MXNET_DECLARE_PARAM(ROIAlignParam) {
    MXNET_FIELD(pooled_size).describe("Bins of a region: (height, width).");
    MXNET_FIELD(spatial_scale).set_range(0.0f, 1.0f).describe("Coordinates of rois times this are pixels of data.");
    MXNET_FIELD(sample_ratio)
        .set_default(-1)
        .describe("Points of a bin each way; 0 or less: as many as it is pixels high and wide, rounded up.");
    MXNET_FIELD(position_sensitive)
        .set_default(false)
        .describe("Each bin has channels of its own: bin (i, j) of result c reads channel (c * height + i) * width + j.");
    MXNET_FIELD(aligned).set_default(false).describe(
        "Moves regions by half a pixel, so that pixels are where their centres are, and lets them be smaller than a pixel.");
  }
};
MXNET_REGISTER_PARAM(ROIAlignParam);

namespace {

using nn::RunReal;
using nn::Wanted;

bool AlignShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<ROIAlignParam>();
  CheckPooledSize(attrs, p.pooled_size);
  CheckSamples(attrs, p.pooled_size, "sample_ratio", p.sample_ratio);
  if (!p.position_sensitive) return InferRegions(attrs, in, out, 5, -1, p.pooled_size[0], p.pooled_size[1]);
  const int64_t bins = p.pooled_size.Size();
  Shape& data = (*in)[0];
  const int64_t channels = data.ndim() == 4 ? data[1] : Shape::kUnknownDim;
  MXNET_CHECK_KIND(channels < 0 || channels % bins == 0, Value)
      << nn::Named(attrs) << "data has shape " << data << "; with position_sensitive its channels must be a multiple of the " << bins
      << " bins of pooled_size " << p.pooled_size;
  if (channels < 0) {  // then the result's are not known
    InferRegions(attrs, in, out, 5, Shape::kUnknownDim, p.pooled_size[0], p.pooled_size[1]);
    return false;
  }
  return InferRegions(attrs, in, out, 5, channels / bins, p.pooled_size[0], p.pooled_size[1]);
}

// The taps of regions, in a few pieces of memory.
template <typename T>
class AlignedRegions {
 public:
  AlignedRegions(const T* rois, int64_t n, const ROIAlignParam& p, const Shape& data) : rois_(rois), n_(n), p_(p), data_(data) {}

  /* Makes the taps of regions [first, the result): as many as memory should be spent on. dense:
   * also what AlignForward likes. */
  int64_t Prepare(int64_t first, bool dense) {
    constexpr size_t kMostTaps = size_t{1} << 20;
    first_ = first;
    regions_.clear(), starts_.clear(), taps_.clear();
    int64_t i = first;
    for (; i < n_ && (i == first || taps_.size() < kMostTaps); ++i) Add(rois_ + 5 * i);
    for (size_t k = 0; k < regions_.size(); ++k) {
      AlignedRegion<T>& r = regions_[k];
      r.rows = starts_.data() + k * static_cast<size_t>(r.pooled_h + r.pooled_w + 2);
      r.columns = r.rows + r.pooled_h + 1;
      r.taps = taps_.data();
    }
    if (dense) MakeDense();
    return i;
  }
  const AlignedRegion<T>& operator[](int64_t i) const { return regions_[static_cast<size_t>(i - first_)]; }

 private:
  void Add(const T* roi) {
    AlignedRegion<T> r{};
    r.image = ImageOf(roi[0], data_[0]);
    r.pooled_h = p_.pooled_size[0], r.pooled_w = p_.pooled_size[1];
    const T scale = static_cast<T>(p_.spatial_scale), offset = p_.aligned ? T(0.5) : T(0);
    T begin[2], size[2], points[2];
    for (int axis = 0; axis < 2; ++axis) {  // height, width
      begin[axis] = roi[2 - axis] * scale - offset;
      size[axis] = roi[4 - axis] * scale - offset - begin[axis];
      if (!p_.aligned) size[axis] = std::max(size[axis], T(1));
    }
    const bool finite = AllFinite(roi + 1, 4) && std::isfinite(size[0]) && std::isfinite(size[1]);
    int32_t first_row = 0, end_row = 0;
    for (int axis = 0; axis < 2; ++axis) {
      const int64_t bins = axis ? r.pooled_w : r.pooled_h;
      const T bin = size[axis] / static_cast<T>(bins);
      points[axis] = p_.sample_ratio > 0 ? static_cast<T>(p_.sample_ratio) : std::max(std::ceil(bin), T(0));
      const bool any = finite && r.image >= 0;
      AddAxis(begin[axis], bin, any ? points[axis] : T(0), bins, data_[2 + axis], axis ? &r.first_column : &first_row,
              axis ? &r.end_column : &end_row);
    }
    r.last_row = std::max(0, end_row - 1);
    r.scale = finite ? T(1) / std::max(points[0] * points[1], T(1)) : std::numeric_limits<T>::quiet_NaN();
    regions_.push_back(r);
  }

  void MakeDense() {
    auto columns = [](const AlignedRegion<T>& r) {
      return r.pooled_w <= kLanes && r.end_column > r.first_column ? static_cast<int64_t>(r.end_column - r.first_column) : int64_t{0};
    };
    int64_t all = 0;
    for (const AlignedRegion<T>& r : regions_) all += columns(r) * kLanes;
    dense_.assign(static_cast<size_t>(all), T(0));
    T* to = dense_.data();
    for (AlignedRegion<T>& r : regions_) {
      if (columns(r) == 0) continue;
      r.dense = to;
      for (int64_t j = 0; j < r.pooled_w; ++j)
        for (int64_t t = r.columns[j]; t < r.columns[j + 1]; ++t) to[(r.taps[t].at - r.first_column) * kLanes + j] += r.taps[t].weight;
      to += columns(r) * kLanes;
    }
  }

  void AddAxis(T begin, T bin, T points, int64_t bins, int64_t size, int32_t* first, int32_t* end) {
    *first = static_cast<int32_t>(size), *end = 0;
    const T step = bin / points;
    const size_t all = taps_.size();
    for (int64_t k = 0; k < bins; ++k) {
      starts_.push_back(static_cast<int32_t>(taps_.size()));
      const T start = begin + static_cast<T>(k) * bin;
      const PointRange range(static_cast<double>(start), static_cast<double>(step), static_cast<double>(points), -1,
                             static_cast<double>(size));
      const size_t own = taps_.size();
      for (int64_t u = range.first; u < range.last; ++u) {
        T at = start + (static_cast<T>(u) + T(0.5)) * bin / points;
        if (!(at >= T(-1) && at <= static_cast<T>(size)) || size == 0) continue;
        at = std::min(std::max(at, T(0)), static_cast<T>(size - 1));
        const int32_t low = static_cast<int32_t>(at), high = static_cast<int32_t>(std::min<int64_t>(low + 1, size - 1));
        const T part = at - static_cast<T>(low);
        Count(own, low, T(1) - part);
        Count(own, high, part);
      }
    }
    starts_.push_back(static_cast<int32_t>(taps_.size()));
    for (size_t t = all; t < taps_.size(); ++t) *first = std::min(*first, taps_[t].at), *end = std::max(*end, taps_[t].at + 1);
  }
  // Points are in order, so that the pixel is one of the last two or new.
  void Count(size_t own, int32_t at, T weight) {
    for (size_t t = taps_.size(); t > own && t + 2 > taps_.size(); --t)
      if (taps_[t - 1].at == at) {
        taps_[t - 1].weight += weight;
        return;
      }
    taps_.push_back({at, weight});
  }

  const T* rois_;
  int64_t n_, first_ = 0;
  const ROIAlignParam& p_;
  Shape data_;
  std::vector<AlignedRegion<T>> regions_;
  std::vector<int32_t> starts_;
  std::vector<Tap<T>> taps_;
  std::vector<T> dense_;
};

// f(pixel, weight) for the pixels of one bin.
template <typename T, typename F>
void EachTap(const AlignedRegion<T>& r, int64_t i, int64_t j, int64_t w, F&& f) {
  for (int64_t s = r.rows[i]; s < r.rows[i + 1]; ++s)
    for (int64_t t = r.columns[j]; t < r.columns[j + 1]; ++t)
      f(r.taps[s].at * w + r.taps[t].at, r.taps[s].weight * r.taps[t].weight * r.scale);
}

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& param = args.param<ROIAlignParam>();
  if (args.run.ctx.is_gpu())
    return AlignOnDevice(args, "roi_align", args.in[0], args.in[1], args.out[0],
                         {param.spatial_scale, param.sample_ratio, param.position_sensitive, param.aligned});
  RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[0].shape;
    const int64_t channels = data[1], results = a.out[0].shape[1], h = data[2], w = data[3], n = a.in[1].shape[0];
    const int64_t ph = param.pooled_size[0], pw = param.pooled_size[1], bins = ph * pw;
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    AlignedRegions<T> regions(a.in[1].data<T>(), n, param, data);
    for (int64_t first = 0, last; first < n; first = last) {
      last = regions.Prepare(first, !param.position_sensitive);
      const int64_t blocks = (results + kChannels - 1) / kChannels;
      ParallelFor((last - first) * blocks, Grain(bins * 8 * kChannels), [&](int64_t begin, int64_t end) {
        std::vector<T> scratch(static_cast<size_t>(RowScratch(w)));
        for (int64_t k = begin; k < end; ++k) {
          const int64_t i = first + k % (last - first), c_begin = k / (last - first) * kChannels;
          for (int64_t c = c_begin; c < std::min(c_begin + kChannels, results); ++c) {
            const AlignedRegion<T>& r = regions[i];
            T* to = y + (i * results + c) * bins;
            if (r.image < 0 || !std::isfinite(r.scale)) {
              std::fill_n(to, bins, r.image < 0 ? T(0) : r.scale);
            } else if (!param.position_sensitive) {
              MXNET_CPU_CALL(AlignForward)
              (sizeof(T) == 8, &r, x + (r.image * channels + c) * h * w, h, w, to, scratch.data());
            } else {
              for (int64_t b = 0; b < bins; ++b) {
                const T* plane = x + (r.image * channels + c * bins + b) * h * w;
                T sum = 0;
                EachTap(r, b / pw, b % pw, w, [&](int64_t at, T weight) { sum += weight * plane[at]; });
                to[b] = sum;
              }
            }
          }
        }
      });
    }
  });
}

void Backward(KernelArgs& args) {  // ograd, data, rois
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& param = args.param<ROIAlignParam>();
  if (args.run.ctx.is_gpu())
    return AlignOnDevice(args, "roi_align_backward", args.out[0], args.in[2], args.in[0],
                         {param.spatial_scale, param.sample_ratio, param.position_sensitive, param.aligned});
  RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& data = a.in[1].shape;
    const int64_t channels = data[1], results = a.in[0].shape[1], h = data[2], w = data[3], n = a.in[2].shape[0];
    const int64_t ph = param.pooled_size[0], pw = param.pooled_size[1], bins = ph * pw;
    const T* og = a.in[0].data<T>();
    T* dx = a.out[0].data<T>();
    AlignedRegions<T> regions(a.in[2].data<T>(), n, param, data);
    std::fill_n(dx, a.out[0].Size(), T(0));
    for (int64_t first = 0, last; first < n; first = last) {
      last = regions.Prepare(first, false);
      ParallelFor(data[0] * channels, Grain(h * w), [&](int64_t begin, int64_t end) {  // each plane sums in the order of regions
        std::vector<T> scratch(static_cast<size_t>(RowScratch(w)));
        for (int64_t k = begin; k < end; ++k) {
          const int64_t image = k / channels, c = k % channels;
          for (int64_t i = first; i < last; ++i) {
            const AlignedRegion<T>& r = regions[i];
            if (r.image != image || !std::isfinite(r.scale)) continue;
            T* plane = dx + k * h * w;
            if (!param.position_sensitive) {
              MXNET_CPU_CALL(AlignBackward)(sizeof(T) == 8, &r, og + (i * results + c) * bins, h, w, plane, scratch.data());
            } else {
              const int64_t b = c % bins;
              const T g = og[(i * results + c / bins) * bins + b];
              EachTap(r, b / pw, b % pw, w, [&](int64_t at, T weight) { plane[at] += weight * g; });
            }
          }
        }
      });
    }
  });
}

MXNET_REGISTER_OP(_contrib_ROIAlign)
    .describe(
        "The mean of bilinear interpolations at points of each bin of a region of interest (He et al., Mask R-CNN, ICCV 2017).\n\n"
        "data has shape (batch, channels, height, width), rois (regions, 5): image, x1, y1, x2, y2. Corners times spatial_scale are not "
        "rounded.\n"
        "A region is at least one pixel high and wide, unless aligned. It is divided into pooled_size bins with points on a regular grid "
        "in each.\n"
        "Points farther than a pixel outside of the image count as 0, others as the nearest in it. The result has shape (regions, "
        "channels,\n"
        "*pooled_size), with position_sensitive (regions, channels / bins, *pooled_size). Regions of images that are not in the batch "
        "give 0,\n"
        "coordinates that are not finite NaN. rois get no gradient. float16, bfloat16, float32 and float64.")
    .set_param<ROIAlignParam>()
    .set_inputs({"data", "rois"})
    .set_infer_shape(AlignShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(DataGradient("_backward_ROIAlign"))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_ROIAlign)
    .describe("Gradient of _contrib_ROIAlign with respect to data.")
    .set_param<ROIAlignParam>()
    .set_inputs({"ograd", "data", "rois"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(nn::BackwardShape(AlignShape))
    .set_gradient(LinearSecondGradient("_contrib_ROIAlign"))
    .set_kernel(Backward);

}  // namespace
}  // namespace roi
}  // namespace mxnet
