/*
 * Resizing. Each axis is resized by itself: an element of the result is a sum of some elements of
 * the axis (taps) with weights that are known when the graph is made. Few taps become rows that are
 * taken, times their weights; many become a product with a matrix.
 */
#include <algorithm>
#include <cmath>

#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

namespace {

enum Mode { kNearest, kLinear, kCubic };
enum Transformation {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kCropAndResize,
  kHalfPixelForNearest
};
enum Nearest { kPreferFloor, kPreferCeil, kFloor, kCeil, kCeilWhenSmaller };  // the last is what opset 10 meant

struct ResizeRules {
  Mode mode = kNearest;
  Transformation where = kHalfPixel;
  Nearest nearest = kPreferFloor;
  double cubic = -0.75, outside = 0;
  bool exclude = false, smooth = false;
  bool cuts = false;  // results are cut to integers
};

struct AxisResize {
  int axis;
  int64_t in, out;
  double scale, roi_begin = 0, roi_end = 1;
};

struct Taps {
  int64_t count = 0;
  std::vector<int64_t> index;   // (out, count)
  std::vector<double> weight;   // (out, count)
  std::vector<int64_t> beyond;  // (out,): 1 where the position is outside; empty: none is
};

template <typename Number>
double PositionIn(const ResizeRules& r, const AxisResize& a, int64_t o) {
  const Number x = static_cast<Number>(o), in = static_cast<Number>(a.in), scale = static_cast<Number>(a.scale), width = scale * in;
  const Number half = static_cast<Number>(0.5);
  switch (r.where) {
    case kHalfPixel: return (x + half) / scale - half;
    case kHalfPixelSymmetric: return in / 2 * (1 - static_cast<Number>(a.out) / width) + (x + half) / scale - half;
    case kPytorchHalfPixel: return a.out == 1 ? 0 : (x + half) / scale - half;
    case kAlignCorners: return a.out == 1 ? 0 : x * (in - 1) / static_cast<Number>(a.out - 1);
    case kAsymmetric: return x / scale;
    case kHalfPixelForNearest: return (x + half) / scale;
    default: break;
  }
  const Number begin = static_cast<Number>(a.roi_begin), end = static_cast<Number>(a.roi_end);
  if (a.out == 1) return half * (begin + end) * (in - 1);
  return begin * (in - 1) + x * (end - begin) * (in - 1) / static_cast<Number>(a.out - 1);
}

/* Where sums of a third and two thirds are cut to integers, and where the nearest element is taken,
 * the last bit of a position decides; it is that of float32 then, as in onnxruntime. */
double Position(const ResizeRules& r, const AxisResize& a, int64_t o) {
  if (!r.cuts && r.mode != kNearest) return PositionIn<double>(r, a, o);
  const double x = PositionIn<float>(r, a, o);
  const bool inside = r.mode == kLinear && !r.exclude && !r.smooth && r.where != kCropAndResize;
  return inside ? std::min(std::max(x, 0.0), static_cast<double>(a.in - 1)) : x;  // one element times 1, not two parts of it
}

int64_t NearestIndex(Nearest rule, double scale, double x) {
  const double low = std::floor(x), part = x - low;
  const int64_t at = static_cast<int64_t>(low);
  if (part == 0) return at;
  switch (rule) {
    case kPreferFloor: return part <= 0.5 ? at : at + 1;
    case kPreferCeil: return part < 0.5 ? at : at + 1;
    case kFloor: return at;
    case kCeil: return at + 1;
    default: return scale < 1 ? at + 1 : at;
  }
}

double Kernel(const ResizeRules& r, double x) {
  x = std::fabs(x);
  if (r.mode == kLinear) return std::max(0.0, 1 - x);
  const double a = r.cubic;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* The element's taps and weights; positions on an element count as the end of the stretch before
 * it, which matters for what is excluded. */
void Weigh(const ResizeRules& r, const AxisResize& a, double x, int64_t half, double stretch, Taps* taps) {
  double low = std::floor(x);
  if (x == low) low -= 1;
  double sum = 0;
  const size_t first = taps->weight.size();
  for (int64_t k = 1 - half; k <= half; ++k) {
    const int64_t at = static_cast<int64_t>(low) + k;
    double weight = Kernel(r, (static_cast<double>(at) - x) * stretch);
    if (r.exclude && (at < 0 || at >= a.in)) weight = 0;
    taps->index.push_back(std::min(std::max<int64_t>(0, at), a.in - 1));
    taps->weight.push_back(weight);
    sum += weight;
  }
  if ((r.exclude || r.smooth) && sum != 0)
    for (size_t i = first; i < taps->weight.size(); ++i) taps->weight[i] /= sum;
}

Taps MakeTaps(const ResizeRules& r, const AxisResize& a) {
  Taps taps;
  const double stretch = r.smooth ? std::min(1.0, a.scale) : 1;
  const double reach = (r.mode == kCubic ? 2 : 1) / stretch;
  const int64_t half = static_cast<int64_t>(std::ceil(reach));
  taps.count = r.mode == kNearest ? 1 : 2 * half;
  bool any = false;
  for (int64_t o = 0; o < a.out; ++o) {
    const double x = Position(r, a, o);
    const bool beyond = r.where == kCropAndResize && (x < 0 || x > static_cast<double>(a.in - 1));
    any = any || beyond;
    taps.beyond.push_back(beyond);
    // Far outside nothing depends on how far.
    const double near = std::min(std::max(x, -4.0 - reach), static_cast<double>(a.in) + 4.0 + reach);
    if (r.mode == kNearest) {
      taps.index.push_back(std::min(std::max<int64_t>(0, NearestIndex(r.nearest, a.scale, near)), a.in - 1));
      taps.weight.push_back(1);
    } else {
      Weigh(r, a, near, half, stretch, &taps);
    }
  }
  if (!any) taps.beyond.clear();
  return taps;
}

bool Same(const AxisResize& a, const Taps& taps) {
  if (a.in != a.out || !taps.beyond.empty()) return false;
  for (int64_t o = 0; o < a.out; ++o)
    for (int64_t t = 0; t < taps.count; ++t) {
      const size_t i = static_cast<size_t>(o * taps.count + t);
      if (std::fabs(taps.weight[i]) > 1e-9 && taps.index[i] != o) return false;
    }
  return true;
}

Value ByMatrix(const Call& c, const Value& x, const AxisResize& a, const Taps& taps) {
  std::vector<double> matrix(static_cast<size_t>(a.in * a.out), 0);
  for (int64_t o = 0; o < a.out; ++o)
    for (int64_t t = 0; t < taps.count; ++t) {
      const size_t i = static_cast<size_t>(o * taps.count + t);
      matrix[static_cast<size_t>(o * a.in + taps.index[i])] += taps.weight[i];
    }
  const Value weight = FloatsLike(c, matrix, {a.out, a.in}, x.dtype());
  Sizes order;
  for (int i = 0; i < x.ndim(); ++i) order.push_back(i);
  std::swap(order[static_cast<size_t>(a.axis)], order.back());
  const Value last = c.Transpose(x, order);
  return c.Transpose(Dense(c, last, weight), order);
}

Value ResizeAxis(const Call& c, const ResizeRules& r, const Value& x, const AxisResize& a) {
  const Taps taps = MakeTaps(r, a);
  if (Same(a, taps)) return x;
  Value y;
  if (taps.count > 4) {
    y = ByMatrix(c, x, a, taps);
  } else {
    for (int64_t t = 0; t < taps.count; ++t) {
      Sizes index;
      std::vector<double> weight;
      for (int64_t o = 0; o < a.out; ++o) {
        index.push_back(taps.index[static_cast<size_t>(o * taps.count + t)]);
        weight.push_back(taps.weight[static_cast<size_t>(o * taps.count + t)]);
      }
      Value part = Take(c, x, c.IntTensor(index), a.axis);
      if (r.mode != kNearest) {
        Sizes shape(static_cast<size_t>(x.ndim()), 1);
        shape[static_cast<size_t>(a.axis)] = a.out;
        part = Mul(c, part, FloatsLike(c, weight, shape, x.dtype()));
      }
      y = t == 0 ? part : Add(c, y, part);
    }
  }
  if (taps.beyond.empty()) return y;
  Sizes shape(static_cast<size_t>(x.ndim()), 1);
  shape[static_cast<size_t>(a.axis)] = a.out;
  return Where(c, IntsLike(c, taps.beyond, shape, kBool), c.Scalar(r.outside, x.dtype()), y);
}

/* Integers of two axes: the sum of four elements, in onnxruntime's order, since it is cut. */
Value CutPlane(const Call& c, const ResizeRules& r, const Value& x, const AxisResize& h, const AxisResize& w) {
  const Taps rows = MakeTaps(r, h), columns = MakeTaps(r, w);
  const auto chosen = [&](const Value& from, const Taps& taps, int64_t which, const AxisResize& a) {
    Sizes index;
    for (int64_t o = 0; o < a.out; ++o) index.push_back(taps.index[static_cast<size_t>(o * taps.count + which)]);
    return Take(c, from, c.IntTensor(index), a.axis);
  };
  const auto at = [](const Taps& taps, int64_t o, int64_t which) {
    return static_cast<float>(taps.weight[static_cast<size_t>(o * taps.count + which)]);
  };
  Sizes shape(static_cast<size_t>(x.ndim()), 1);
  shape[static_cast<size_t>(h.axis)] = h.out, shape[static_cast<size_t>(w.axis)] = w.out;
  Value y;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      std::vector<double> weight;
      for (int64_t m = 0; m < h.out; ++m)
        for (int64_t n = 0; n < w.out; ++n) weight.push_back(at(columns, n, j) * at(rows, m, i));
      const Value part = Mul(c, chosen(chosen(x, rows, i, h), columns, j, w), FloatsLike(c, weight, shape, kFloat32));
      y = y.kind == Value::kNone ? part : Add(c, y, part);
    }
  return y;
}

/* The operators for planes, where their formulas are the same. */
bool ByOperator(const Call& c, const ResizeRules& r, const Value& x, const std::vector<AxisResize>& axes, Value* y) {
  if (x.ndim() != 4 || x.dtype() != kFloat32 || axes.size() != 2 || axes[0].axis != 2 || axes[1].axis != 3) return false;
  const AxisResize &h = axes[0], &w = axes[1];
  if (r.mode == kLinear && !r.smooth && !r.exclude) {
    const bool exact = h.scale * static_cast<double>(h.in) == static_cast<double>(h.out) &&
                       w.scale * static_cast<double>(w.in) == static_cast<double>(w.out);
    // A single row or column is the first one there.
    const bool several = h.out > 1 && w.out > 1, corners = r.where == kAlignCorners;
    const bool half = several && (r.where == kHalfPixel || r.where == kPytorchHalfPixel);
    if (!(exact && half) && !corners) return false;
    *y = c.Op("_contrib_BilinearResize2D", {x}, {{"height", Text(h.out)}, {"width", Text(w.out)}, {"align_corners", Text(corners)}});
    return true;
  }
  if (r.mode != kNearest || r.where == kCropAndResize || h.out != w.out / w.in * h.in || w.out % w.in) return false;
  const int64_t times = w.out / w.in;
  for (const AxisResize& a : axes) {
    const Taps taps = MakeTaps(r, a);
    for (int64_t o = 0; o < a.out; ++o)
      if (taps.index[static_cast<size_t>(o)] != o / times) return false;
  }
  *y = times == 1 ? x : c.Op("UpSampling", {x}, {{"scale", Text(times)}, {"sample_type", "nearest"}, {"num_args", "1"}});
  return true;
}

Value ClipTo(const Call& c, const Value& y, int dtype) {
  if (dtype == kUint8) return Clip(c, y, 0, 255);
  return dtype == kInt8 ? Clip(c, y, -128, 127) : y;
}

/* Integers with antialias: rows first, then columns, each rounded, as in Pillow and onnxruntime. */
Value SmoothIntegers(const Call& c, const ResizeRules& r, Value y, std::vector<AxisResize> axes, int dtype) {
  std::stable_sort(axes.begin(), axes.end(), [](const AxisResize& a, const AxisResize& b) { return a.axis > b.axis; });
  for (const AxisResize& a : axes) y = ClipTo(c, Unary(c, "floor", AddNumber(c, ResizeAxis(c, r, y, a), 0.5)), dtype);
  return c.Cast(y, dtype);
}

Value ResizeAll(const Call& c, ResizeRules r, const Value& x, std::vector<AxisResize> axes) {
  Sizes shape = DimsOf(x.shape());
  for (const AxisResize& a : axes) {
    if (!(a.scale > 0) || a.out < 0)
      c.Refuse("axis " + Text(a.axis) + " is to be scaled by " + Text(a.scale) + " to " + Text(a.out) + " elements");
    if (a.in == 0 && a.out != 0) c.Refuse("axis " + Text(a.axis) + " is empty");
    shape[static_cast<size_t>(a.axis)] = a.out;
  }
  CheckSmall(c, "the shape of the result", shape, 0);
  if (Shape(shape).Size() == 0) return c.Filled(Shape(shape), x.dtype(), 0);
  axes.erase(std::remove_if(axes.begin(), axes.end(),
                            [&](const AxisResize& a) { return a.in == a.out && r.where != kCropAndResize && a.scale == 1; }),
             axes.end());
  Value y;
  if (ByOperator(c, r, x, axes, &y)) return y;
  const bool whole = !IsFloating(x.dtype()) && r.mode != kNearest;
  y = whole ? c.Cast(x, kFloat32) : x;
  r.cuts = whole;
  if (whole && r.smooth) return SmoothIntegers(c, r, y, axes, x.dtype());
  // Axes that shrink first.
  const bool plane = whole && axes.size() == 2 && r.mode == kLinear && !r.exclude && r.where != kCropAndResize;
  if (!plane) std::stable_sort(axes.begin(), axes.end(), [](const AxisResize& a, const AxisResize& b) { return a.scale < b.scale; });
  if (plane)
    y = axes[0].axis < axes[1].axis ? CutPlane(c, r, y, axes[0], axes[1]) : CutPlane(c, r, y, axes[1], axes[0]);
  else
    for (const AxisResize& a : axes) y = ResizeAxis(c, r, y, a);
  return whole ? c.Cast(ClipTo(c, y, x.dtype()), x.dtype()) : y;
}

ResizeRules ReadRules(const Call& c) {
  ResizeRules r;
  r.mode = static_cast<Mode>(OneOf(c, "mode", c.Attr("mode", "nearest"), {"nearest", "linear", "cubic"}));
  r.where = static_cast<Transformation>(OneOf(c, "coordinate_transformation_mode", c.Attr("coordinate_transformation_mode", "half_pixel"),
                                              {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                                               "tf_crop_and_resize", "tf_half_pixel_for_nn"}));
  r.nearest = static_cast<Nearest>(
      OneOf(c, "nearest_mode", c.Attr("nearest_mode", "round_prefer_floor"), {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  r.cubic = c.Attr("cubic_coeff_a", -0.75f);
  r.outside = c.Attr("extrapolation_value", 0.0f);
  r.exclude = c.Attr("exclude_outside", int64_t{0}) != 0;
  r.smooth = c.Attr("antialias", int64_t{0}) != 0;
  if (r.smooth && r.mode == kNearest) c.Refuse("attribute antialias is 1 with mode \"nearest\"; accepted are \"linear\" and \"cubic\"");
  return r;
}

std::vector<AxisResize> OfScales(const Call& c, const Value& x, const Sizes& axes, const std::vector<double>& scales) {
  if (scales.size() != axes.size())
    c.Refuse("scales has " + Text(static_cast<int64_t>(scales.size())) + " numbers for " + Text(static_cast<int64_t>(axes.size())) +
             " axes");
  std::vector<AxisResize> made;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    // In float32, where 40 times 0.7 is 28; the float32 next to 0.7 is a bit less than that.
    const double out = std::floor(static_cast<float>(x.shape()[axis]) * static_cast<float>(scales[i]));
    if (!(scales[i] > 0) || !(out < 2147483648.0)) c.Refuse("axis " + Text(axis) + " is to be scaled by " + Text(scales[i]));
    made.push_back({axis, x.shape()[axis], static_cast<int64_t>(out), scales[i]});
  }
  return made;
}

std::vector<AxisResize> OfSizes(const Call& c, const Value& x, const Sizes& axes, Sizes sizes, const std::string& policy) {
  if (sizes.size() != axes.size())
    c.Refuse("sizes has " + Text(static_cast<int64_t>(sizes.size())) + " numbers for " + Text(static_cast<int64_t>(axes.size())) + " axes");
  CheckSmall(c, "sizes", sizes, 0);
  const int kind = OneOf(c, "keep_aspect_ratio_policy", policy, {"stretch", "not_larger", "not_smaller"});
  std::vector<AxisResize> made;
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    const int64_t in = x.shape()[axis];
    const double scale = in == 0 ? 1 : static_cast<double>(sizes[i]) / static_cast<double>(in);
    common = i == 0 ? scale : kind == 1 ? std::min(common, scale) : std::max(common, scale);
    made.push_back({axis, in, sizes[i], scale == 0 ? 1 : scale});
  }
  if (kind != 0)
    for (AxisResize& a : made) a.scale = common, a.out = static_cast<int64_t>(std::floor(common * static_cast<double>(a.in) + 0.5));
  return made;
}

Sizes AllAxes(int rank) {
  Sizes axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

}  // namespace

void ConvertResize(Call& c) {
  CheckRank(c, 0, 1, 32);
  const Value& x = c.in(0);
  const ResizeRules r = ReadRules(c);
  Sizes axes = c.Attr("axes", Sizes{});
  axes = axes.empty() ? AllAxes(x.ndim()) : c.Axes(axes, x.ndim());
  const std::string policy = c.Attr("keep_aspect_ratio_policy", "stretch");
  const bool by_scale = c.has(2) && c.in(2).size() > 0;
  if (!by_scale && !(c.has(3) && c.in(3).size() > 0) && x.ndim() > 0) c.Refuse("neither scales nor sizes are given");
  std::vector<AxisResize> made = by_scale ? OfScales(c, x, axes, c.Floats(2)) : OfSizes(c, x, axes, c.Ints(3), policy);
  if (r.where == kCropAndResize) {
    const std::vector<double> roi = c.has(1) ? c.Floats(1) : std::vector<double>();
    if (roi.size() != 2 * axes.size())
      c.Refuse("roi has " + Text(static_cast<int64_t>(roi.size())) + " numbers for " + Text(static_cast<int64_t>(axes.size())) + " axes");
    for (size_t i = 0; i < made.size(); ++i) made[i].roi_begin = roi[i], made[i].roi_end = roi[i + made.size()];
  }
  c.Out(ResizeAll(c, r, x, made));
}

namespace {

void ResizeByScales(Call& c, const std::vector<double>& scales, Nearest nearest) {
  CheckRank(c, 0, 1, 32);
  ResizeRules r;
  const std::string mode = c.Attr("mode", "nearest");
  r.mode = static_cast<Mode>(OneOf(c, "mode", mode == "bilinear" ? "linear" : mode, {"nearest", "linear"}));
  r.where = kAsymmetric, r.nearest = nearest;
  c.Out(ResizeAll(c, r, c.in(0), OfScales(c, c.in(0), AllAxes(c.in(0).ndim()), scales)));
}

}  // namespace

void ConvertResize10(Call& c) { ResizeByScales(c, c.Floats(1), kCeilWhenSmaller); }

/* Scales below 1, which only tf2onnx writes, are TensorFlow's. */
void ConvertUpsample(Call& c) {
  if (c.has(1)) return ResizeByScales(c, c.Floats(1), kFloor);
  const std::vector<float> scales = c.Attr("scales", std::vector<float>{});
  ResizeByScales(c, std::vector<double>(scales.begin(), scales.end()), kFloor);
}

}  // namespace onnx
}  // namespace mxnet
