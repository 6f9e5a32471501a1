// DeformablePSROIPooling: bins that are moved by offsets, each with channels of its own (Dai et
// al., Deformable Convolutional Networks, ICCV 2017).
#include <vector>

#include "operator/control/written_out.h"
#include "operator/nn/common/backward_shape.h"
#include "operator/record/dtypes.h"
#include "operator/vision/roi/deformable_psroi_twice.h"
#include "operator/vision/roi/gpu_roi.h"
#include "operator/vision/roi/roi.h"

namespace mxnet {
namespace roi {

struct DeformablePSROIPoolingParam : public Parameter<DeformablePSROIPoolingParam> {
  float spatial_scale;
  int output_dim, group_size, pooled_size, part_size, sample_per_part;
  float trans_std;
  bool no_trans;
  MXNET_DECLARE_PARAM(DeformablePSROIPoolingParam) {
    MXNET_FIELD(spatial_scale).set_range(0.0f, 1.0f).describe("Coordinates of rois times this are pixels of data.");
    MXNET_FIELD(output_dim).describe("Channels of the result.");
    MXNET_FIELD(group_size).describe("Groups of channels each way.");
    MXNET_FIELD(pooled_size).describe("Bins of a region each way.");
    MXNET_FIELD(part_size).set_default(0).describe("Offsets of a region each way; 0: as many as bins.");
    MXNET_FIELD(sample_per_part).set_default(1).describe("Points of a bin each way.");
    MXNET_FIELD(trans_std).set_default(0.0f).set_range(0.0f, 1.0f).describe("Offsets times this are parts of a region's size.");
    MXNET_FIELD(no_trans).set_default(false).describe("Leave the offsets out.");
  }
  int64_t parts() const { return part_size == 0 ? pooled_size : part_size; }
};
MXNET_REGISTER_PARAM(DeformablePSROIPoolingParam);

namespace {

using nn::RunReal;
using nn::Wanted;

bool DeformPoolShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<DeformablePSROIPoolingParam>();
  CheckGroups(attrs, p.output_dim, p.pooled_size, p.group_size, 1, false, (*in)[0]);
  MXNET_CHECK_KIND(p.part_size >= 0, Value) << nn::Named(attrs) << "part_size " << p.part_size << "; it must not be negative";
  MXNET_CHECK_KIND(p.sample_per_part >= 1 && p.sample_per_part <= 1024, Value)
      << nn::Named(attrs) << "sample_per_part " << p.sample_per_part << "; 1 to 1024 are accepted";
  const bool known = InferRegions(attrs, in, out, 5, p.output_dim, p.pooled_size, p.pooled_size);
  if (p.no_trans) return known;
  Shape& trans = (*in)[2];
  MXNET_CHECK_KIND(!trans.ndim_known() || trans.ndim() == 4, Value)
      << nn::Named(attrs) << "trans has shape " << trans << "; (regions, 2 * classes, part_size, part_size) is needed";
  Shape expected(4);
  expected[0] = (*out)[0][0], expected[2] = expected[3] = p.parts();
  AssignShape(attrs, "trans", &trans, expected);
  MXNET_CHECK_KIND(trans[1] < 0 || (trans[1] >= 2 && trans[1] % 2 == 0 && p.output_dim % (trans[1] / 2) == 0), Value)
      << nn::Named(attrs) << "trans has shape " << trans
      << "; it needs two channels for each class, and the classes must divide output_dim " << p.output_dim;
  return known && trans.known();
}

// What all that follows needs to know of a call.
template <typename T>
struct Call {
  const DeformablePSROIPoolingParam& p;
  const T *x, *rois, *trans;
  int64_t images, channels, h, w, regions, bins, groups, parts, classes, each;  // each: channels of the result in a class

  Call(const KernelArgs& a, int first) : p(a.param<DeformablePSROIPoolingParam>()) {
    const Shape& data = a.in[first].shape;
    x = a.in[first].data<T>(), rois = a.in[first + 1].data<T>(), trans = p.no_trans ? nullptr : a.in[first + 2].data<T>();
    images = data[0], channels = data[1], h = data[2], w = data[3], regions = a.in[first + 1].shape[0];
    bins = p.pooled_size, groups = p.group_size, parts = p.parts();
    classes = p.no_trans ? 1 : a.in[first + 2].shape[1] / 2;
    each = p.output_dim / classes;
  }
  int64_t Image(int64_t region) const { return AllFinite(rois + 5 * region, 5) ? ImageOf(rois[5 * region], images) : -1; }
  /* Of the offset by x of a bin of a region in one class; that by y lies parts^2 behind. */
  int64_t Offset(int64_t region, int64_t of, int64_t i, int64_t j) const {
    return ((region * classes + of) * 2 * parts + i * parts / bins) * parts + j * parts / bins;
  }
  int64_t Plane(int64_t image, int64_t c, int64_t i, int64_t j) const {
    return (image * channels + (c * groups + i * groups / bins) * groups + j * groups / bins) * h * w;
  }
};

// The four pixels of a point, and how much of the lower and of the right ones. A point on a row has
// that row twice, so that the derivative by y is 0 there as it is outside of the image.
template <typename T>
struct Point {
  int64_t pixel[4];
  T down, right;
  T Weight(int k) const { return (k / 2 ? down : T(1) - down) * (k % 2 ? right : T(1) - right); }
};

// The points within the image of one bin, and how large the region is.
template <typename T>
struct Points {
  std::vector<Point<T>> all;
  T width, height;

  void Make(const Call<T>& c, int64_t region, int64_t of, int64_t i, int64_t j) {
    all.clear();
    const T* roi = c.rois + 5 * region;
    const T scale = static_cast<T>(c.p.spatial_scale), bins = static_cast<T>(c.bins), half = T(0.5);
    const T x1 = Rounded(roi[1]) * scale - half, y1 = Rounded(roi[2]) * scale - half;
    width = std::max((Rounded(roi[3]) + T(1)) * scale - half - x1, T(0.1));
    height = std::max((Rounded(roi[4]) + T(1)) * scale - half - y1, T(0.1));
    T dx = 0, dy = 0;
    if (c.trans) {
      const int64_t at = c.Offset(region, of, i, j);
      dx = c.trans[at] * static_cast<T>(c.p.trans_std), dy = c.trans[at + c.parts * c.parts] * static_cast<T>(c.p.trans_std);
    }
    const int64_t samples = c.p.sample_per_part;
    const T bin_h = height / bins, bin_w = width / bins, step_h = bin_h / static_cast<T>(samples), step_w = bin_w / static_cast<T>(samples);
    const T top = static_cast<T>(i) * bin_h + y1 + dy * height, left = static_cast<T>(j) * bin_w + x1 + dx * width;
    const T low = -half, bottom = static_cast<T>(c.h) - half, end = static_cast<T>(c.w) - half;
    for (int64_t u = 0; u < samples; ++u) {
      T y = top + static_cast<T>(u) * step_h;
      if (!(y >= low && y <= bottom) || c.h == 0) continue;
      y = std::min(std::max(y, T(0)), static_cast<T>(c.h - 1));
      const int64_t y0 = static_cast<int64_t>(y), y1_ = y0 + (y > static_cast<T>(y0) ? 1 : 0);
      for (int64_t v = 0; v < samples; ++v) {
        T x = left + static_cast<T>(v) * step_w;
        if (!(x >= low && x <= end) || c.w == 0) continue;
        x = std::min(std::max(x, T(0)), static_cast<T>(c.w - 1));
        const int64_t x0 = static_cast<int64_t>(x), x1_ = x0 + (x > static_cast<T>(x0) ? 1 : 0);
        all.push_back({{y0 * c.w + x0, y0 * c.w + x1_, y1_ * c.w + x0, y1_ * c.w + x1_}, y - static_cast<T>(y0), x - static_cast<T>(x0)});
      }
    }
  }
};

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) {
    const auto& p = args.param<DeformablePSROIPoolingParam>();
    return DeformPoolOnDevice(args, 0, {p.spatial_scale, p.trans_std, p.group_size, p.parts(), p.sample_per_part, p.no_trans});
  }
  RunReal(args, [](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Call<T> c(a, 0);
    T* y = a.out[0].data<T>();
    const int64_t bins = c.bins * c.bins, samples = c.p.sample_per_part;
    ParallelFor(c.regions * c.classes, Grain(bins * c.each * samples * samples * 8), [&](int64_t begin, int64_t end) {
      Points<T> points;
      for (int64_t k = begin; k < end; ++k) {
        const int64_t region = k / c.classes, of = k % c.classes, image = c.Image(region);
        for (int64_t b = 0; b < bins; ++b) {
          const int64_t i = b / c.bins, j = b % c.bins;
          points.all.clear();
          if (image >= 0) points.Make(c, region, of, i, j);
          for (int64_t r = of * c.each; r < (of + 1) * c.each; ++r) {
            const T* from = points.all.empty() ? nullptr : c.x + c.Plane(image, r, i, j);
            T sum = 0;
            for (const Point<T>& point : points.all)
              for (int q = 0; q < 4; ++q) sum += point.Weight(q) * from[point.pixel[q]];
            y[(region * c.p.output_dim + r) * bins + b] = from ? sum / static_cast<T>(points.all.size()) : T(0);
          }
        }
      }
    });
  });
}

// Each channel of the result has planes of its own, in which it sums in the order of regions.
template <typename T>
void DataGradientOf(const Call<T>& c, const T* og, T* dx, int64_t size) {
  std::fill_n(dx, size, T(0));
  const int64_t bins = c.bins * c.bins;
  ParallelFor(c.p.output_dim, Grain(c.regions * bins * 8), [&](int64_t begin, int64_t end) {
    Points<T> points;
    for (int64_t r = begin; r < end; ++r)
      for (int64_t region = 0; region < c.regions; ++region) {
        const int64_t image = c.Image(region);
        for (int64_t b = 0; b < bins && image >= 0; ++b) {
          points.Make(c, region, r / c.each, b / c.bins, b % c.bins);
          const T g = og[(region * c.p.output_dim + r) * bins + b] / static_cast<T>(std::max<size_t>(points.all.size(), 1));
          T* to = dx + c.Plane(image, r, b / c.bins, b % c.bins);
          for (const Point<T>& point : points.all)
            for (int q = 0; q < 4; ++q) to[point.pixel[q]] += point.Weight(q) * g;
        }
      }
  });
}

// Each region and class has offsets of its own.
template <typename T>
void OffsetGradient(const Call<T>& c, const T* og, T* dtrans, int64_t size) {
  std::fill_n(dtrans, size, T(0));
  const int64_t bins = c.bins * c.bins;
  ParallelFor(c.regions * c.classes, Grain(bins * c.each * 8), [&](int64_t begin, int64_t end) {
    Points<T> points;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t region = k / c.classes, of = k % c.classes, image = c.Image(region);
      for (int64_t b = 0; b < bins && image >= 0; ++b) {
        const int64_t i = b / c.bins, j = b % c.bins, at = c.Offset(region, of, i, j);
        points.Make(c, region, of, i, j);
        if (points.all.empty()) continue;
        T by_x = 0, by_y = 0;
        for (int64_t r = of * c.each; r < (of + 1) * c.each; ++r) {
          const T* from = c.x + c.Plane(image, r, i, j);
          T right = 0, down = 0;
          for (const Point<T>& point : points.all) {
            const T a00 = from[point.pixel[0]], a01 = from[point.pixel[1]], a10 = from[point.pixel[2]], a11 = from[point.pixel[3]];
            right += (a01 - a00) * (T(1) - point.down) + (a11 - a10) * point.down;
            down += (a10 - a00) * (T(1) - point.right) + (a11 - a01) * point.right;
          }
          const T g = og[(region * c.p.output_dim + r) * bins + b];
          by_x += right * g, by_y += down * g;
        }
        const T scale = static_cast<T>(c.p.trans_std) / static_cast<T>(points.all.size());
        dtrans[at] += by_x * scale * points.width;
        dtrans[at + c.parts * c.parts] += by_y * scale * points.height;
      }
    }
  });
}

void Backward(KernelArgs& args) {  // ograd, data, rois[, trans]
  const auto& p = args.param<DeformablePSROIPoolingParam>();
  if (args.run.ctx.is_gpu())
    return DeformPoolOnDevice(args, 1, {p.spatial_scale, p.trans_std, p.group_size, p.parts(), p.sample_per_part, p.no_trans});
  RunReal(args, [](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Call<T> c(a, 1);
    if (Wanted(a, 0)) DataGradientOf(c, a.in[0].data<T>(), a.out[0].data<T>(), a.out[0].Size());
    if (c.trans && Wanted(a, 2)) OffsetGradient(c, a.in[0].data<T>(), a.out[2].data<T>(), a.out[2].Size());
    if (Wanted(a, 1)) std::fill_n(a.out[1].data<T>(), a.out[1].Size(), T(0));
  });
}

int Inputs(const Attrs& a) { return a.get<DeformablePSROIPoolingParam>().no_trans ? 2 : 3; }

std::vector<NodeEntry> WriteOut(const Node& backward, const std::vector<NodeEntry>& inputs) {
  const auto& p = backward.attrs->get<DeformablePSROIPoolingParam>();
  return {WriteOutDeformPool({static_cast<double>(p.spatial_scale), static_cast<double>(p.trans_std), p.output_dim, p.pooled_size,
                              p.group_size, p.parts(), p.sample_per_part, p.no_trans},
                             inputs)};
}

MXNET_REGISTER_OP(_contrib_DeformablePSROIPooling)
    .describe(
        "Position-sensitive pooling whose bins are moved by offsets (Dai et al., Deformable Convolutional Networks, ICCV 2017).\n\n"
        "data has shape (batch, output_dim * group_size * group_size, height, width), rois (regions, 5): image, x1, y1, x2, y2, trans "
        "(regions,\n"
        "2 * classes, part_size, part_size): for each class of output_dim / classes channels how far bins are moved to the right, then "
        "down, in\n"
        "parts of the region's size times trans_std. Corners are rounded and belong to the region. A bin is the mean of bilinear samples "
        "at\n"
        "sample_per_part points each way, without those farther than half a pixel outside of the image; its channel is that of\n"
        "_contrib_PSROIPooling. Bins without points, regions of images that are not in the batch and regions whose numbers are not finite "
        "give\n"
        "0. rois get no gradient. float16, bfloat16, float32 and float64.")
    .set_param<DeformablePSROIPoolingParam>()
    .set_inputs({"data", "rois", "trans"}, Inputs)
    .set_infer_shape(DeformPoolShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      std::vector<NodeEntry> inputs{ograds[0]}, grads(node->inputs.size());
      inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
      const NodePtr back = MakeNodeLike("_backward__contrib_DeformablePSROIPooling", *node, inputs);
      grads[0] = NodeEntry{back, 0, 0};
      if (grads.size() > 2) grads[2] = NodeEntry{back, 2, 0};
      return grads;
    })
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward__contrib_DeformablePSROIPooling)
    .describe("Gradients of _contrib_DeformablePSROIPooling with respect to its inputs; that of rois is 0.")
    .set_param<DeformablePSROIPoolingParam>()
    .set_inputs({"ograd", "data", "rois", "trans"}, [](const Attrs& a) { return 1 + Inputs(a); })
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "rois_grad", "trans_grad"}, Inputs)
    .set_infer_shape(nn::BackwardShape(DeformPoolShape))
    .set_gradient(GradientOfWrittenOut(
        WriteOut, [](const Attrs&) { return 1; }, Inputs))
    .set_kernel(Backward);

}  // namespace
}  // namespace roi
}  // namespace mxnet
