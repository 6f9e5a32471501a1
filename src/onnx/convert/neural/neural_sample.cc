// Sampling at positions that are data, pieces of images, and blocks of channels.
#include <algorithm>
#include <numeric>

#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

namespace {

enum Border { kZeros, kEdge, kReflection };

/* The positions of samples along one spatial axis, and what surrounds it. */
struct SampleAxis {
  int64_t size;
  double least, most;  // between which positions are reflected
  Value at;            // (batch, samples), float32
};

/* Triangle wave between the ends. */
Value Reflect(const Call& c, const Value& x, double least, double most) {
  const double span = most - least;
  if (!(span > 0)) return AddNumber(c, MulNumber(c, x, 0), least);
  const Value t = Unary(c, "abs", AddNumber(c, x, -least));
  const Value turns = Unary(c, "floor", MulNumber(c, t, 1 / (2 * span)));
  const Value in = Sub(c, t, MulNumber(c, turns, 2 * span));  // of a period
  return AddNumber(c, MulNumber(c, Unary(c, "abs", AddNumber(c, in, -span)), -1), span + least);
}

std::vector<SampleAxis> ReadPositions(const Call& c, const Shape& x, Border border, bool corners, int mode) {
  const int rank = x.ndim() - 2;
  const Value& grid = c.in(1);
  const int64_t samples = grid.shape().Prod(1, grid.ndim() - 1);
  const Value flat = c.Cast(c.Reshape(grid, Shape{x[0], samples, rank}), kFloat32);
  std::vector<SampleAxis> axes;
  for (int i = 0; i < rank; ++i) {
    SampleAxis a;
    a.size = x[i + 2];
    const double size = static_cast<double>(a.size);
    a.least = corners ? 0 : -0.5, a.most = corners ? size - 1 : size - 0.5;
    const Value n = c.Reshape(SliceAxis(c, flat, 2, rank - 1 - i, rank - i), Shape{x[0], samples});
    a.at = corners ? MulNumber(c, AddNumber(c, n, 1), (size - 1) / 2)
                   : MulNumber(c, AddNumber(c, MulNumber(c, AddNumber(c, n, 1), size), -1), 0.5);
    if (mode == 0) a.at = Unary(c, "around", a.at);  // ties to even ones
    // of cubic ones each tap is, as in PyTorch and onnxruntime
    if (border == kEdge && mode != 2) a.at = Clip(c, a.at, 0, size - 1);
    if (border == kReflection) a.at = Reflect(c, a.at, a.least, a.most);
    axes.push_back(a);
  }
  return axes;
}

struct Tap {
  Value index;   // int32, in range
  Value weight;  // float32; none: 1
};

Value CubicWeight(const Call& c, const Value& distance, bool inner) {
  constexpr double a = -0.75;
  const Value x = distance;
  if (inner)  // ((a + 2) x - (a + 3)) x x + 1
    return AddNumber(c, Mul(c, Mul(c, AddNumber(c, MulNumber(c, x, a + 2), -(a + 3)), x), x), 1);
  const Value first = AddNumber(c, MulNumber(c, x, a), -5 * a);  // ((a x - 5 a) x + 8 a) x - 4 a
  return AddNumber(c, Mul(c, AddNumber(c, Mul(c, first, x), 8 * a), x), -4 * a);
}

std::vector<Tap> TapsOf(const Call& c, const SampleAxis& a, Border border, int mode) {
  std::vector<Tap> taps;
  const Value low = mode == 0 ? a.at : Unary(c, "floor", a.at);
  const Value part = mode == 0 ? Value() : Sub(c, a.at, low);
  const int first = mode == 2 ? -1 : 0, last = mode == 0 ? 0 : mode == 1 ? 1 : 2;
  for (int k = first; k <= last; ++k) {
    Tap tap;
    Value at = k == 0 ? low : AddNumber(c, low, k);
    if (mode == 1) tap.weight = k == 0 ? AddNumber(c, MulNumber(c, part, -1), 1) : part;
    if (mode == 2) {
      const Value distance = k <= 0 ? AddNumber(c, part, -k) : AddNumber(c, MulNumber(c, part, -1), k);
      tap.weight = CubicWeight(c, distance, k == 0 || k == 1);
    }
    if (border == kReflection) at = Reflect(c, at, a.least, a.most);
    const double end = static_cast<double>(a.size - 1);
    if (border == kZeros) {
      const Value inside = c.Cast(
          Mul(c, c.Cast(BinaryNumber(c, "greater_equal", at, 0), kFloat32), c.Cast(BinaryNumber(c, "less_equal", at, end), kFloat32)),
          kFloat32);
      tap.weight = tap.weight.kind == Value::kNone ? inside : Mul(c, tap.weight, inside);
    }
    tap.index = c.Cast(Clip(c, at, 0, end), kInt64);
    taps.push_back(tap);
  }
  return taps;
}

}  // namespace

void ConvertGridSample(Call& c) {
  CheckRank(c, 0, 3, 5);
  const Value &x = c.in(0), &grid = c.in(1);
  const int rank = x.ndim() - 2;
  if (grid.ndim() != x.ndim() || grid.shape()[0] != x.shape()[0] || grid.shape()[x.ndim() - 1] != rank)
    c.Refuse("the grid has shape " + Text(grid.shape()) + " for data of shape " + Text(x.shape()));
  std::string name = c.Attr("mode", "linear");
  if (name == "bilinear" || name == "bicubic") name = name.substr(2);
  const int mode = OneOf(c, "mode", name, {"nearest", "linear", "cubic"});
  const Border border = static_cast<Border>(OneOf(c, "padding_mode", c.Attr("padding_mode", "zeros"), {"zeros", "border", "reflection"}));
  const bool corners = c.Attr("align_corners", int64_t{0}) != 0;
  Sizes shape = {x.shape()[0], x.shape()[1]};
  for (int i = 1; i <= rank; ++i) shape.push_back(grid.shape()[i]);
  if (Shape(shape).Size() == 0) return c.Out(c.Filled(Shape(shape), x.dtype(), 0));
  if (x.size() == 0) c.Refuse("data has shape " + Text(x.shape()));
  if (rank == 2 && mode == 1 && border == kZeros && corners && x.dtype() == kFloat32 && grid.dtype() == kFloat32 && x.shape()[2] > 1 &&
      x.shape()[3] > 1)
    return c.Out(c.Op("BilinearSampler", {x, c.Transpose(grid, {0, 3, 1, 2})}));

  const auto axes = ReadPositions(c, x.shape(), border, corners, mode);
  const int64_t batch = x.shape()[0], channels = x.shape()[1], size = x.shape().Prod(2, x.ndim()), samples = Shape(shape).Prod(2, rank + 2);
  const Value rows = c.Reshape(c.Transpose(c.Reshape(x, Shape{batch, channels, size}), {0, 2, 1}), Shape{batch * size, channels});
  Sizes starts;
  for (int64_t n = 0; n < batch; ++n) starts.push_back(n * size);
  std::vector<Tap> all = {{IntsLike(c, starts, {batch, 1}), Value()}};
  int64_t pitch = size;
  for (const SampleAxis& a : axes) {
    pitch /= a.size;
    std::vector<Tap> more;
    const auto taps = TapsOf(c, a, border, mode);
    for (const Tap& one : all)
      for (const Tap& tap : taps) {
        Tap both;
        both.index = Add(c, pitch == 1 ? tap.index : MulNumber(c, tap.index, static_cast<double>(pitch)), one.index);
        both.weight = one.weight.kind == Value::kNone   ? tap.weight
                      : tap.weight.kind == Value::kNone ? one.weight
                                                        : Mul(c, one.weight, tap.weight);
        more.push_back(both);
      }
    all.swap(more);
  }
  const bool half = IsHalf(x.dtype());
  Value sum;
  for (const Tap& tap : all) {
    Value part = Take(c, rows, tap.index, 0);
    if (tap.weight.kind != Value::kNone) {
      if (x.dtype() != kFloat64 || half) part = c.Cast(part, kFloat32);
      part = Mul(c, part, c.Cast(c.Reshape(tap.weight, Shape{batch, samples, 1}), part.dtype()));
    }
    sum = sum.kind == Value::kNone ? part : Add(c, sum, part);
  }
  c.Out(c.Reshape(c.Transpose(c.Cast(sum, x.dtype()), {0, 2, 1}), Shape(shape)));
}

void ConvertAffineGrid(Call& c) {
  CheckRank(c, 0, 3, 3);
  const Value& theta = c.in(0);
  const Sizes size = c.Ints(1);
  CheckSmall(c, "size", size, 0);
  const int rank = static_cast<int>(size.size()) - 2;
  if (rank < 1 || rank > 3 || theta.shape()[1] != rank || theta.shape()[2] != rank + 1 || theta.shape()[0] != size[0])
    c.Refuse("theta has shape " + Text(theta.shape()) + " for size " + Text(size));
  const bool corners = c.Attr("align_corners", int64_t{0}) != 0;
  int64_t places = 1;
  for (int i = 0; i < rank; ++i) places *= size[static_cast<size_t>(i) + 2];
  CheckSmall(c, "the number of places", {places}, 0);
  std::vector<double> base;
  for (int64_t n = 0; n < places; ++n) {
    int64_t rest = n;
    for (int i = 0; i < rank; ++i) {  // the last axis comes first
      const int64_t d = size[static_cast<size_t>(rank - i) + 1], at = rest % d;
      rest /= d;
      base.push_back(corners ? (d > 1 ? -1 + 2.0 * static_cast<double>(at) / static_cast<double>(d - 1) : 0)
                             : (2.0 * static_cast<double>(at) + 1) / static_cast<double>(d) - 1);
    }
    base.push_back(1);
  }
  const Value points = FloatsLike(c, base, {1, places, rank + 1}, theta.dtype());
  const Value all = c.BroadcastTo(points, Shape{size[0], places, rank + 1});
  Sizes shape = {size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.push_back(rank);
  c.Out(c.Reshape(MatMul(c, all, theta, true), Shape(shape)));
}

void ConvertDepthToSpace(Call& c) {
  CheckRank(c, 0, 4, 4);
  const Value& x = c.in(0);
  const int64_t b = c.Attr("blocksize", int64_t{0});
  const int mode = OneOf(c, "mode", c.Attr("mode", "DCR"), {"DCR", "CRD"});
  CheckSmall(c, "blocksize", {b}, 1);
  const Shape& s = x.shape();
  if (b > 46340 || s[1] % (b * b)) c.Refuse("data has " + Text(s[1]) + " channels and blocksize is " + Text(b));
  const int64_t channels = s[1] / (b * b);
  const Value split = c.Reshape(x, mode == 0 ? Shape{s[0], b, b, channels, s[2], s[3]} : Shape{s[0], channels, b, b, s[2], s[3]});
  c.Out(c.Reshape(c.Transpose(split, mode == 0 ? Sizes{0, 3, 4, 1, 5, 2} : Sizes{0, 1, 4, 2, 5, 3}),
                  Shape{s[0], channels, s[2] * b, s[3] * b}));
}

void ConvertSpaceToDepth(Call& c) {
  CheckRank(c, 0, 4, 4);
  const Value& x = c.in(0);
  const int64_t b = c.Attr("blocksize", int64_t{0});
  CheckSmall(c, "blocksize", {b}, 1);
  const int mode = OneOf(c, "mode", c.Attr("mode", "DCR"), {"DCR", "CRD"});
  const Shape& s = x.shape();
  if (b > 46340 || s[2] % b || s[3] % b) c.Refuse("data has shape " + Text(s) + " and blocksize is " + Text(b));
  const Value split = c.Reshape(x, Shape{s[0], s[1], s[2] / b, b, s[3] / b, b});
  c.Out(c.Reshape(c.Transpose(split, mode == 0 ? Sizes{0, 3, 5, 1, 2, 4} : Sizes{0, 1, 3, 5, 2, 4}),
                  Shape{s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

void ConvertCol2Im(Call& c) {
  CheckRank(c, 0, 3, 3);
  const Value& x = c.in(0);
  const Sizes image = c.Ints(1), kernel = c.Ints(2);
  const size_t rank = image.size();
  if (rank < 1 || rank > 3 || kernel.size() != rank) c.Refuse("image_shape is " + Text(image) + ", block_shape " + Text(kernel));
  CheckSmall(c, "image_shape", image, 1);
  CheckSmall(c, "block_shape", kernel, 1);
  const Sizes stride = ReadPositive(c, "strides", rank, 1), dilate = ReadPositive(c, "dilations", rank, 1);
  Sizes pads = c.Attr("pads", Sizes{});
  if (pads.empty()) pads.assign(2 * rank, 0);
  if (pads.size() != 2 * rank) c.Refuse("attribute pads is " + Text(pads));
  CheckSmall(c, "pads", pads, 0);
  Sizes whole, begin(2, 0), end = {x.shape()[0], 0};
  for (size_t i = 0; i < rank; ++i) {
    whole.push_back(image[i] + pads[i] + pads[i + rank]);
    begin.push_back(pads[i]), end.push_back(pads[i] + image[i]);
  }
  const Value y =
      c.Op("col2im", {x}, {{"output_size", Text(whole)}, {"kernel", Text(kernel)}, {"stride", Text(stride)}, {"dilate", Text(dilate)}});
  end[1] = y.shape()[1];
  c.Out(SliceAll(c, y, begin, end, Sizes(begin.size(), 1)));
}

void ConvertLRN(Call& c) {
  CheckRank(c, 0, 3, 32);
  const Value& x = c.in(0);
  const int64_t size = c.Attr("size", int64_t{0});
  const double alpha = c.Attr("alpha", 1e-4f), beta = c.Attr("beta", 0.75f), bias = c.Attr("bias", 1.0f);
  CheckSmall(c, "size", {size}, 1);
  if (size % 2 == 1 && x.ndim() == 4)
    return c.Out(c.Op("LRN", {x}, {{"nsize", Text(size)}, {"alpha", Text(alpha)}, {"beta", Text(beta)}, {"knorm", Text(bias)}}));
  const int64_t channels = x.shape()[1];
  if (size > 4096) c.Refuse("attribute size is " + Text(size) + "; accepted are up to 4096");
  Sizes before(static_cast<size_t>(x.ndim()), 0), after = before;
  before[1] = (size - 1) / 2, after[1] = size / 2;
  const Value squares = Pad(c, Mul(c, x, x), before, after, 0);
  Value sum;
  for (int64_t k = 0; k < size; ++k) {
    const Value part = SliceAxis(c, squares, 1, k, k + channels);
    sum = k == 0 ? part : Add(c, sum, part);
  }
  c.Out(Div(c, x, PowNumber(c, AddNumber(c, MulNumber(c, sum, alpha / static_cast<double>(size)), bias), beta)));
}

}  // namespace onnx
}  // namespace mxnet
