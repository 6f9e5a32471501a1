// Regions, boxes and images.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "onnx/convert/neural/window.h"
#include "onnx/convert/operands.h"

namespace mxnet {
namespace onnx {

namespace {

struct Box {
  double y0, x0, y1, x1;
  double Area() const { return (y1 - y0) * (x1 - x0); }
};

Box BoxOf(const double* p, bool centre) {
  if (centre) return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
}

bool Overlap(const Box& a, const Box& b, double threshold) {
  const double h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0), w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (h <= 0 || w <= 0 || a.Area() <= 0 || b.Area() <= 0) return false;
  return h * w / (a.Area() + b.Area() - h * w) > threshold;
}

/*
 * Boxes that are kept so far, in strips of the x axis: one is compared with those in its strips
 * alone. Detectors move the boxes of each class apart and have thousands of them.
 */
class Chosen {
 public:
  /* For these boxes. */
  explicit Chosen(const std::vector<Box>& boxes) {
    double to = -std::numeric_limits<double>::infinity(), wide = 0, count = 0;
    for (const Box& b : boxes) {
      if (!Finite(b)) continue;
      from_ = count ? std::min(from_, b.x0) : b.x0, to = std::max(to, b.x1);
      wide += b.x1 - b.x0, ++count;
    }
    const double width = count ? std::max((to - from_) / kMost, 2 * wide / count) : 0;
    if (width > 0 && std::isfinite(width)) scale_ = 1 / width;
    strips_.resize(scale_ > 0 && std::isfinite(scale_) ? static_cast<size_t>((to - from_) * scale_) + 1 : 1);
  }
  void Clear() {
    for (auto& strip : strips_) strip.clear();
    count_ = 0;
  }
  size_t size() const { return count_; }
  bool Overlaps(const Box& box, double threshold) const {
    if (!Finite(box)) return false;  // shares of an infinite area are none
    for (size_t i = StripOf(box.x0), last = StripOf(box.x1); i <= last; ++i)
      for (const Box& other : strips_[i])
        if (Overlap(box, other, threshold)) return true;
    return false;
  }
  void Add(const Box& box) {
    ++count_;
    if (!Finite(box)) return;
    for (size_t i = StripOf(box.x0), last = StripOf(box.x1); i <= last; ++i) strips_[i].push_back(box);
  }

 private:
  static constexpr double kMost = 512;
  static bool Finite(const Box& b) { return std::isfinite(b.x0) && std::isfinite(b.x1) && std::isfinite(b.Area()); }
  size_t StripOf(double x) const {
    const double strip = (x - from_) * scale_;
    return strip > 0 ? std::min(static_cast<size_t>(std::min(strip, kMost)), strips_.size() - 1) : 0;
  }
  double from_ = 0, scale_ = 0;
  std::vector<std::vector<Box>> strips_;
  size_t count_ = 0;
};

/* How many boxes are kept depends on what is in them, so they are looked at here. */
void ConvertNonMaxSuppression(Call& c) {
  CheckRank(c, 0, 3, 3);
  CheckRank(c, 1, 3, 3);
  const Shape &b = c.in(0).shape(), &s = c.in(1).shape();
  if (b[2] != 4 || s[0] != b[0] || s[2] != b[1]) c.Refuse("boxes have shape " + Text(b) + ", scores " + Text(s));
  const int64_t centre = c.Attr("center_point_box", int64_t{0});
  if (centre != 0 && centre != 1) c.Refuse("attribute center_point_box is " + Text(centre) + "; accepted are 0 and 1");
  const int64_t most = c.has(2) ? c.Int(2) : 0;
  const double overlap = c.has(3) ? c.Float(3) : 0, least = c.has(4) ? c.Float(4) : 0;
  const std::vector<double> boxes = c.Floats(0), scores = c.Floats(1);
  Sizes kept;
  for (int64_t n = 0; n < s[0]; ++n) {
    std::vector<Box> all;
    for (int64_t i = 0; i < b[1]; ++i) all.push_back(BoxOf(boxes.data() + (n * b[1] + i) * 4, centre == 1));
    Chosen chosen(all);
    for (int64_t k = 0; k < s[1] && most > 0; ++k) {
      const double* score = scores.data() + (n * s[1] + k) * s[2];
      std::vector<int64_t> order;
      for (int64_t i = 0; i < s[2]; ++i)
        if (!c.has(4) || score[i] > least) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return score[i] > score[j]; });
      chosen.Clear();
      for (int64_t i : order) {
        if (static_cast<int64_t>(chosen.size()) >= most) break;
        const Box& box = all[static_cast<size_t>(i)];
        if (chosen.Overlaps(box, overlap)) continue;
        chosen.Add(box);
        kept.insert(kept.end(), {n, k, i});
      }
    }
  }
  c.Out(c.Reshape(c.IntTensor(kept), Shape{static_cast<int64_t>(kept.size()) / 3, 3}));
}

struct RoiGrid {
  int64_t height, width, out_h, out_w, ratio;
  double scale;
  bool half;
};

/* The largest of the weighted elements around the samples of each bin, of one plane. */
void LargestSamples(const RoiGrid& g, const double* roi, const double* plane, double* out) {
  const double offset = g.half ? 0.5 : 0;
  const double x0 = roi[0] * g.scale - offset, y0 = roi[1] * g.scale - offset;
  double w = roi[2] * g.scale - offset - x0, h = roi[3] * g.scale - offset - y0;
  if (!g.half) w = std::max(w, 1.0), h = std::max(h, 1.0);
  const double bin_h = h / static_cast<double>(g.out_h), bin_w = w / static_cast<double>(g.out_w);
  const auto count = [&](double bin) {
    return g.ratio > 0 ? g.ratio : std::min<int64_t>(4096, std::max<int64_t>(1, static_cast<int64_t>(std::ceil(bin))));
  };
  const int64_t rows = count(bin_h), columns = count(bin_w);
  for (int64_t i = 0; i < g.out_h * g.out_w; ++i) {
    double best = 0;
    bool any = false;
    for (int64_t s = 0; s < rows * columns; ++s) {
      double y =
          y0 + static_cast<double>(i / g.out_w) * bin_h + (static_cast<double>(s / columns) + 0.5) * bin_h / static_cast<double>(rows);
      double x =
          x0 + static_cast<double>(i % g.out_w) * bin_w + (static_cast<double>(s % columns) + 0.5) * bin_w / static_cast<double>(columns);
      double value[4] = {0, 0, 0, 0};
      if (y >= -1 && y <= static_cast<double>(g.height) && x >= -1 && x <= static_cast<double>(g.width)) {
        y = std::min(std::max(y, 0.0), static_cast<double>(g.height - 1)), x = std::min(std::max(x, 0.0), static_cast<double>(g.width - 1));
        const int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
        const int64_t bottom = std::min(top + 1, g.height - 1), right = std::min(left + 1, g.width - 1);
        const double dy = y - static_cast<double>(top), dx = x - static_cast<double>(left);
        value[0] = (1 - dy) * (1 - dx) * plane[top * g.width + left], value[1] = (1 - dy) * dx * plane[top * g.width + right];
        value[2] = dy * (1 - dx) * plane[bottom * g.width + left], value[3] = dy * dx * plane[bottom * g.width + right];
      }
      const double here = *std::max_element(value, value + 4);
      best = any ? std::max(best, here) : here, any = true;
    }
    out[i] = best;
  }
}

void RoiMaximum(Call& c, const RoiGrid& g) {
  const Shape& s = c.in(0).shape();
  const std::vector<double> x = c.Floats(0), rois = c.Floats(1);
  const std::vector<int64_t> batch = c.Ints(2);
  const int64_t plane = g.height * g.width, each = g.out_h * g.out_w, count = static_cast<int64_t>(batch.size());
  CheckSmall(c, "the size of the result", {count * s[1], each}, 0);
  std::vector<double> out(static_cast<size_t>(count * s[1] * each));
  for (int64_t r = 0; r < count; ++r) {
    const int64_t n = batch[static_cast<size_t>(r)];
    if (n < 0 || n >= s[0]) c.Refuse("batch_indices has " + Text(n) + " for data of shape " + Text(s));
    for (int64_t k = 0; k < s[1]; ++k)
      LargestSamples(g, rois.data() + r * 4, x.data() + (n * s[1] + k) * plane, out.data() + (r * s[1] + k) * each);
  }
  c.Out(FloatsLike(c, out, {count, s[1], g.out_h, g.out_w}, c.in(0).dtype()));
}

void ConvertRoiAlign(Call& c) {
  CheckRank(c, 0, 4, 4);
  CheckRank(c, 1, 2, 2);
  const Value &x = c.in(0), &rois = c.in(1);
  RoiGrid g;
  g.height = x.shape()[2], g.width = x.shape()[3];
  g.out_h = c.Attr("output_height", int64_t{1}), g.out_w = c.Attr("output_width", int64_t{1}),
  g.ratio = c.Attr("sampling_ratio", int64_t{0});
  g.scale = c.Attr("spatial_scale", 1.0f);
  const char* otherwise = c.opset >= 16 ? "half_pixel" : "output_half_pixel";
  g.half = OneOf(c, "coordinate_transformation_mode", c.Attr("coordinate_transformation_mode", otherwise),
                 {"half_pixel", "output_half_pixel"}) == 0;
  const int mode = OneOf(c, "mode", c.Attr("mode", "avg"), {"avg", "max"});
  CheckSmall(c, "output_height, output_width", {g.out_h, g.out_w}, 1);
  CheckSmall(c, "sampling_ratio", {g.ratio}, 0);
  if (rois.shape()[1] != 4 || c.in(2).size() != rois.shape()[0])
    c.Refuse("rois have shape " + Text(rois.shape()) + ", batch_indices " + Text(c.in(2).shape()));
  if (mode == 1) return RoiMaximum(c, g);
  const int64_t count = rois.shape()[0];
  const Value all = Concat(c, {c.Cast(c.Reshape(c.in(2), Shape{count, 1}), rois.dtype()), rois}, 1);
  c.Out(c.Op("_contrib_ROIAlign", {x, all},
             {{"pooled_size", Text(Sizes{g.out_h, g.out_w})},
              {"spatial_scale", Text(g.scale)},
              {"sample_ratio", Text(g.ratio > 0 ? g.ratio : int64_t{-1})},
              {"aligned", Text(g.half)}}));
}

void ConvertMaxRoiPool(Call& c) {
  CheckRank(c, 0, 4, 4);
  const Sizes size = c.Attr("pooled_shape", Sizes{});
  if (size.size() != 2) c.Refuse("attribute pooled_shape is " + Text(size));
  c.Out(c.Op("ROIPooling", {c.in(0), c.in(1)},
             {{"pooled_size", Text(size)}, {"spatial_scale", Text(double(c.Attr("spatial_scale", 1.0f)))}}));
}

void ConvertCenterCropPad(Call& c) {
  CheckRank(c, 0, 1, 32);
  const Value& x = c.in(0);
  const Sizes wanted = c.Ints(1);
  Sizes axes = c.Attr("axes", Sizes{});
  if (!c.has_attr("axes"))
    for (int i = 0; i < x.ndim(); ++i) axes.push_back(i);
  axes = c.Axes(axes, x.ndim());
  if (axes.size() != wanted.size()) c.Refuse("shape is " + Text(wanted) + " for axes " + Text(axes));
  CheckSmall(c, "shape", wanted, 0);
  Sizes begin(static_cast<size_t>(x.ndim()), 0), end = DimsOf(x.shape()), before = begin, after = begin;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t a = static_cast<size_t>(axes[i]);
    const int64_t more = wanted[i] - end[a];
    if (more > 0) before[a] = more / 2, after[a] = more - more / 2;
    if (more < 0) begin[a] = -more / 2, end[a] = begin[a] + wanted[i];
  }
  c.Out(Pad(c, SliceAll(c, x, begin, end, Sizes(begin.size(), 1)), before, after, 0));
}

void ConvertImageDecoder(Call& c) {
  const int format = OneOf(c, "pixel_format", c.Attr("pixel_format", "RGB"), {"RGB", "BGR", "Grayscale"});
  c.Known(0);
  const Value image = c.Op("_cvimdecode", {c.in(0)}, {{"flag", "1"}, {"to_rgb", Text(format != 1)}});
  if (format != 2) return c.Out(image);
  // The luma of ITU-R BT.601 in 16 bits behind the point, rounded.
  const Value weighted = Mul(c, c.Cast(image, kInt32), c.Cast(c.IntTensor({19595, 38470, 7471}), kInt32));
  const Value sum = BinaryNumber(c, "add", Sum(c, weighted, {2}, true), 32768);
  c.Out(c.Cast(c.Op("_npi_bitwise_right_shift_scalar", {sum}, {{"scalar", "16"}, {"is_int", "True"}}), kUint8));
}

}  // namespace

const Rules& VisionRules() {
  static const Rules rules = {
      {"", "NonMaxSuppression", 10, kNewest, ConvertNonMaxSuppression, nullptr},
      {"", "RoiAlign", 10, kNewest, ConvertRoiAlign, nullptr},
      {"", "MaxRoiPool", 1, kNewest, ConvertMaxRoiPool, nullptr},
      {"", "CenterCropPad", 18, kNewest, ConvertCenterCropPad, nullptr},
      {"", "ImageDecoder", 20, kNewest, ConvertImageDecoder, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
