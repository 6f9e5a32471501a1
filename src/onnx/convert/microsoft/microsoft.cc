// com.microsoft's own forms of operators that ai.onnx has, too: older ones, and those whose images
// have their channels last.
#include <algorithm>
#include <cmath>

#include "onnx/convert/neural/window.h"
#include "onnx/convert/streams.h"
#include "onnx/convert/text/words.h"
#include "onnx/rewrite/written_nodes.h"

namespace mxnet {
namespace onnx {

namespace {

void ConvertTrilu(Call& c) { ConvertAs(c, "Trilu", 14, c.inputs()); }
void ConvertOlderGridSample(Call& c) { ConvertAs(c, "GridSample", 16, c.inputs()); }
void ConvertGatherND(Call& c) { ConvertAs(c, "GatherND", 12, c.inputs()); }

void ConvertPad(Call& c) {
  std::vector<Value> inputs = c.inputs();
  const auto flat = [&](size_t i, const Shape& shape) {
    if (i < inputs.size() && inputs[i].kind == Value::kTensor) inputs[i] = c.Reshape(inputs[i], shape);
  };
  flat(1, Shape{c.in(1).size()}), flat(2, Shape(0));
  ConvertAs(c, "Pad", 13, std::move(inputs));
}

/* argument: the operator of ai.onnx. */
void ConvertChannelsLast(Call& c) {
  CheckRank(c, 0, 3, 5);
  std::vector<Value> inputs = c.inputs();
  inputs[0] = ChannelsFirst(c, inputs[0]);
  ConvertAs(c, c.argument, 11, std::move(inputs));
  c.Out(ChannelsLast(c, c.outputs()[0]));
}

/* The weight has its channels last, too: as the optimizer for Stable Diffusion writes it. */
void ConvertNhwcConv(Call& c) {
  CheckRank(c, 0, 3, 5);
  std::vector<Value> inputs = c.inputs();
  for (size_t i = 0; i < 2; ++i) inputs[i] = ChannelsFirst(c, inputs[i]);
  ConvertAs(c, "Conv", 11, std::move(inputs));
  c.Out(ChannelsLast(c, c.outputs()[0]));
}

void ConvertQLinearConv(Call& c) {
  const bool last = c.Attr("channels_last", int64_t{0}) != 0;
  std::vector<Value> inputs = c.inputs();
  if (last) CheckRank(c, 0, 3, 5), inputs[0] = ChannelsFirst(c, inputs[0]);
  ConvertAs(c, "QLinearConv", 10, std::move(inputs), {"channels_last"});
  if (last) c.Out(ChannelsLast(c, c.outputs()[0]));
}

void ConvertExpandDims(Call& c) {
  Sizes shape = DimsOf(c.in(0).shape());
  const int axis = c.Axis(c.Int(1), c.in(0).ndim() + 1);
  shape.insert(shape.begin() + axis, 1);
  c.Out(c.Reshape(c.in(0), Shape(shape)));
}

void ConvertInverse(Call& c) {
  CheckRank(c, 0, 2, 32);
  c.Out(c.Op("_linalg_inverse", {c.in(0)}));
}

/* A x = B. skl2onnx writes it for Gaussian processes; onnxruntime does not know it. */
void ConvertSolve(Call& c) {
  CheckRank(c, 0, 2, 2);
  CheckRank(c, 1, 1, 2);
  for (const char* name : {"lower", "transposed"})
    if (c.Attr(name, int64_t{0}) != 0) c.Refuse("attribute " + std::string(name) + " is not 0; accepted is 0");
  if (c.in(0).shape()[0] != c.in(0).shape()[1] || c.in(1).shape()[0] != c.in(0).shape()[0])
    c.Refuse("A has shape " + Text(c.in(0).shape()) + ", B " + Text(c.in(1).shape()));
  c.Out(c.Op("_npi_solve", {c.in(0), c.in(1)}));
}

/* Without training nothing is dropped; the mask is all ones. */
void ConvertBiasDropout(Call& c) {  // data, bias, residual, ratio, training mode; without a bias: data, ratio, training mode
  const bool bias = c.argument != nullptr;
  const int training = bias ? 4 : 2;
  c.Ignore("seed");
  if (c.has(training) && c.Int(training) != 0) c.Refuse("input training_mode is true; accepted is false");
  Value y = c.in(0);
  if (bias) y = Add(c, y, c.in(1));
  if (bias && c.has(2)) y = Add(c, y, c.in(2));
  c.Out(0, y);
  if (!c.wants(1)) return;
  if (c.node.op == "BitmaskDropout" || c.node.op == "BitmaskBiasDropout") c.Refuse("output 1 is read; accepted is output 0");
  c.Out(1, c.Filled(y.shape(), kBool, 1));
}

void ConvertConvTransposeWithPads(Call& c) {  // X, W, pads, B
  std::vector<Attribute> given;
  if (c.has(2)) {
    given.emplace_back();
    given[0].name = "pads", given[0].kind = AttributeKind::kInts, given[0].ints = c.Ints(2);
  }
  ConvertAs(c, "ConvTranspose", 11, {c.in(0), c.in(1), c.has(3) ? c.in(3) : Value()}, {}, given);
}

/* Pairs of numbers in the last dimension. argument: the second one is conjugated. */
void ConvertComplexMul(Call& c) {
  CheckRank(c, 0, 1, 32);
  CheckRank(c, 1, 1, 32);
  const auto part = [&](int i, int64_t which) { return SliceAxis(c, c.in(i), c.in(i).ndim() - 1, which, which + 1); };
  for (int i = 0; i < 2; ++i)
    if (c.in(i).shape()[c.in(i).ndim() - 1] != 2) c.Refuse("input " + Text(i) + " has shape " + Text(c.in(i).shape()));
  const Value ar = part(0, 0), ai = part(0, 1), br = part(1, 0), bi = c.argument ? MulNumber(c, part(1, 1), -1) : part(1, 1);
  const Value real = Sub(c, Mul(c, ar, br), Mul(c, ai, bi)), imaginary = Add(c, Mul(c, ar, bi), Mul(c, ai, br));
  c.Out(Concat(c, {real, imaginary}, real.ndim() - 1));
}

/* argument: from frequencies back. */
void ConvertRfft(Call& c) {
  if (c.Attr("onesided", int64_t{1}) != 1 || c.Attr("normalized", int64_t{0}) != 0 || c.Attr("signal_ndim", int64_t{1}) != 1)
    c.Refuse("accepted are onesided=1, normalized=0 and signal_ndim=1");
  CheckRank(c, 0, c.argument ? 2 : 1, 31);
  const Value& x = c.in(0);
  NodeProto plain = c.node;
  plain.attributes.clear();
  AddInt(&plain, "onesided", 1);
  if (c.argument) AddInt(&plain, "inverse", 1);
  Sizes dims = DimsOf(x.shape());
  if (!c.argument) dims.push_back(1);
  const Value length = c.argument ? c.IntTensor({2 * (dims[dims.size() - 2] - 1)}) : Value();
  const Rule* const rule = FindRule("", "DFT", 20);
  Call inner(plain, 20, rule->argument, {c.Reshape(x, Shape(dims)), c.argument ? c.Reshape(length, Shape(0)) : length}, c.builder());
  rule->convert(inner);
  const Value y = inner.outputs()[0];
  c.Out(c.argument ? c.Reshape(y, Shape(y.shape().dims(), y.ndim() - 1)) : y);
}

void ConvertUnfold(Call& c) {
  CheckRank(c, 0, 1, 31);
  const Value& x = c.in(0);
  const int dim = c.Axis(c.Attr("dim", int64_t{-1}), x.ndim());
  const int64_t size = c.Attr("size", int64_t{0}), step = c.Attr("step", int64_t{1}), full = x.shape()[dim];
  if (size < 1 || step < 1 || size > full)
    c.Refuse("size is " + Text(size) + " and step " + Text(step) + " for " + Text(full) + " entries");
  Sizes places;
  const int64_t windows = (full - size) / step + 1;
  for (int64_t w = 0; w < windows; ++w)
    for (int64_t i = 0; i < size; ++i) places.push_back(w * step + i);
  const Value taken = Take(c, x, IntsLike(c, places, {windows, size}), dim);  // its two dimensions are in the place of one
  Sizes order;
  for (int i = 0; i <= x.ndim(); ++i)
    if (i != dim + 1) order.push_back(i);
  order.push_back(dim + 1);
  c.Out(c.Transpose(taken, order));
}

// ---- crops

/* Along one axis of the image: where the samples of each box are, (boxes, count). */
Value CropPlaces(const Call& c, const Value& first, const Value& last, int64_t size, int64_t count) {
  const double span = static_cast<double>(size - 1);
  if (count == 1) return MulNumber(c, Add(c, first, last), span / 2);
  std::vector<double> shares;
  for (int64_t i = 0; i < count; ++i) shares.push_back(static_cast<double>(i) / static_cast<double>(count - 1));
  return MulNumber(c, Add(c, first, Mul(c, Sub(c, last, first), FloatsLike(c, shares, {1, count}, first.dtype()))), span);
}

void ConvertCropAndResize(Call& c) {  // X, rois (y1, x1, y2, x2), images, (height, width)
  CheckRank(c, 0, 4, 4);
  CheckRank(c, 1, 2, 2);
  const Value& x = c.in(0);
  const Sizes out = c.Ints(3);
  const int mode = OneOf(c, "mode", c.Attr("mode", "bilinear"), {"bilinear", "nearest"});
  const double outside = c.Attr("extrapolation_value", 0.0f);
  if (out.size() != 2 || c.in(1).shape()[1] != 4) c.Refuse("crop_size is " + Text(out) + ", rois " + Text(c.in(1).shape()));
  CheckSmall(c, "crop_size", out, 1);
  const int64_t boxes = c.in(1).shape()[0], channels = x.shape()[1], height = x.shape()[2], width = x.shape()[3];
  if (boxes == 0) return c.Out(c.Filled(Shape{0, channels, out[0], out[1]}, x.dtype(), 0));
  if (x.size() == 0) c.Refuse("data has shape " + Text(x.shape()));
  const auto corner = [&](int64_t i) { return SliceAxis(c, c.in(1), 1, i, i + 1); };
  const Value y = c.Reshape(CropPlaces(c, corner(0), corner(2), height, out[0]), Shape{boxes, out[0], 1});
  const Value z = c.Reshape(CropPlaces(c, corner(1), corner(3), width, out[1]), Shape{boxes, 1, out[1]});
  const auto within = [&](const Value& at, int64_t size) {
    return Binary(c, "logical_and", BinaryNumber(c, "greater_equal", at, 0),
                  BinaryNumber(c, "less_equal", at, static_cast<double>(size - 1)));
  };
  const Value inside = Binary(c, "logical_and", within(y, height), within(z, width));
  const Value rows = c.Reshape(c.Transpose(x, {0, 2, 3, 1}), Shape{x.shape()[0] * height * width, channels});
  const Value start = MulNumber(c, c.Reshape(c.Cast(c.in(2), kInt64), Shape{boxes, 1, 1}), static_cast<double>(height * width));
  const auto index = [&](const Value& at, int64_t size) { return c.Cast(Clip(c, at, 0, static_cast<double>(size - 1)), kInt64); };
  const auto at = [&](const Value& row, const Value& column) {
    const Value place = Add(c, Add(c, start, MulNumber(c, index(row, height), static_cast<double>(width))), index(column, width));
    return Take(c, rows, place, 0);
  };
  Value found;
  if (mode == 1) {
    const auto nearest = [&](const Value& v) { return Unary(c, "rint", v); };
    found = at(nearest(y), nearest(z));
  } else {
    const Value top = Unary(c, "floor", y), left = Unary(c, "floor", z);
    const auto mixed = [&](const Value& a, const Value& b, const Value& share) { return Add(c, a, Mul(c, Sub(c, b, a), share)); };
    const auto last = [&](const Value& v) {
      Sizes dims = DimsOf(v.shape());
      dims.push_back(1);
      return c.Reshape(v, Shape(dims));
    };
    const Value right = last(Sub(c, z, left)), below = AddNumber(c, top, 1), after = AddNumber(c, left, 1);
    found = mixed(mixed(at(top, left), at(top, after), right), mixed(at(below, left), at(below, after), right), last(Sub(c, y, top)));
  }
  const Value shown = Where(c, c.Reshape(inside, Shape{boxes, out[0], out[1], 1}), found, c.Scalar(outside, found.dtype()));
  c.Out(c.Transpose(shown, {0, 3, 1, 2}));
}

}  // namespace

const Rules& MicrosoftRules() {
  static const Rules rules = {
      {"com.microsoft", "Trilu", 1, kNewest, ConvertTrilu, nullptr},
      {"com.microsoft", "Pad", 1, kNewest, ConvertPad, nullptr},
      {"com.microsoft", "GridSample", 1, kNewest, ConvertOlderGridSample, nullptr},
      {"com.microsoft", "GatherND", 1, kNewest, ConvertGatherND, nullptr},
      {"com.microsoft", "NhwcConv", 1, kNewest, ConvertNhwcConv, nullptr},
      {"com.microsoft", "NhwcMaxPool", 1, kNewest, ConvertChannelsLast, "MaxPool"},
      {"com.microsoft", "QLinearConv", 1, kNewest, ConvertQLinearConv, nullptr},
      {"com.microsoft", "ExpandDims", 1, kNewest, ConvertExpandDims, nullptr},
      {"com.microsoft", "Inverse", 1, kNewest, ConvertInverse, nullptr},
      {"com.microsoft", "Solve", 1, kNewest, ConvertSolve, nullptr},
      {"com.microsoft", "BiasDropout", 1, kNewest, ConvertBiasDropout, "bias"},
      {"com.microsoft", "BitmaskBiasDropout", 1, kNewest, ConvertBiasDropout, "bias"},
      {"com.microsoft", "BitmaskDropout", 1, kNewest, ConvertBiasDropout, nullptr},
      {"com.microsoft", "ConvTransposeWithDynamicPads", 1, kNewest, ConvertConvTransposeWithPads, nullptr},
      {"com.microsoft", "ComplexMul", 1, kNewest, ConvertComplexMul, nullptr},
      {"com.microsoft", "ComplexMulConj", 1, kNewest, ConvertComplexMul, "conjugate"},
      {"com.microsoft", "Rfft", 1, kNewest, ConvertRfft, nullptr},
      {"com.microsoft", "Irfft", 1, kNewest, ConvertRfft, "back"},
      {"com.microsoft", "UnfoldTensor", 1, kNewest, ConvertUnfold, nullptr},
      {"com.microsoft", "CropAndResize", 1, kNewest, ConvertCropAndResize, nullptr},
      {"com.microsoft", "MaxpoolWithMask", 1, kNewest, ConvertMaxPoolWithMask, nullptr},
      {"com.microsoft", "WordConvEmbedding", 1, kNewest, ConvertWordConvEmbedding, nullptr},
      {"com.microsoft", "BifurcationDetector", 1, kNewest, ConvertBifurcationDetector, nullptr},
      {"com.microsoft", "BranchwiseRMSNorm", 1, kNewest, ConvertBranchwiseNorm, nullptr},
      {"com.microsoft", "HyperConnectionPreMix", 1, kNewest, ConvertStreamsPreMix, nullptr},
      {"com.microsoft", "HyperConnectionPostMix", 1, kNewest, ConvertStreamsPostMix, nullptr},
      {"com.microsoft", "HyperConnectionLowRankMix", 1, kNewest, ConvertStreamsLowRankMix, nullptr},
      {"com.microsoft", "EngramGate", 1, kNewest, ConvertEngramGate, nullptr},
      {"com.microsoft", "NGramHashMapping", 1, kNewest, ConvertNGramHash, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
