/*
 * Draws. They come from the library's generator (mx.random.seed); the `seed` attribute of a
 * node, which would make each run draw the same, is not read.
 */
#include "onnx/convert/operands.h"

namespace mxnet {
namespace onnx {

namespace {

/* The dtype that is drawn in, for a result of `dtype`. */
int DrawnType(const Call& c, int dtype) {
  if (!IsFloating(dtype)) c.Refuse(std::string("the result is ") + DTypeName(dtype) + "; accepted: float16, bfloat16, float32, float64");
  return dtype == kBfloat16 ? kFloat32 : dtype;
}

void Draw(Call& c, const Shape& shape, int dtype) {
  const bool normal = std::string(c.argument) == "_random_normal";
  AttrDict attrs = {{"shape", Text(shape)}, {"dtype", DTypeName(DrawnType(c, dtype))}};
  attrs[normal ? "loc" : "low"] = Text(static_cast<double>(normal ? c.Attr("mean", 0.0f) : c.Attr("low", 0.0f)));
  attrs[normal ? "scale" : "high"] = Text(static_cast<double>(normal ? c.Attr("scale", 1.0f) : c.Attr("high", 1.0f)));
  c.Ignore("seed");
  c.Out(c.Cast(c.Op(c.argument, {}, attrs), dtype));
}

void OfShape(Call& c) {
  const std::vector<int64_t> dims = c.Attr("shape", std::vector<int64_t>());
  for (int64_t d : dims)
    if (d < 0) c.Refuse("shape=" + Text(dims) + "; accepted: sizes from 0 on");
  Draw(c, Shape(dims), c.DTypeAttr("dtype", kFloat32));
}

void Like(Call& c) { Draw(c, c.in(0).shape(), c.DTypeAttr("dtype", c.in(0).dtype())); }

void Bernoulli(Call& c) {
  const Value& p = c.in(0);
  c.Ignore("seed");
  const int dtype = c.DTypeAttr("dtype", p.dtype()), drawn = DrawnType(c, p.dtype());
  const Value uniform = c.Op("_random_uniform", {}, {{"shape", Text(p.shape())}, {"dtype", DTypeName(drawn)}});
  c.Out(c.Cast(c.Op("_npi_less", {uniform, c.Cast(p, drawn)}), dtype));
}

void Multinomial(Call& c) {
  const Value& x = c.in(0);
  c.Ignore("seed");
  const int64_t count = c.Attr("sample_size", static_cast<int64_t>(1));
  const int dtype = c.DTypeAttr("dtype", kInt32);
  if (x.ndim() != 2 || x.shape()[1] < 1 || count < 1)
    c.Refuse("the input has shape " + x.shape().str() + " and sample_size is " + Text(count) +
             "; accepted: (batch, classes), and 1 or more");
  // the input has logarithms of chances
  const Value chances = c.Op("softmax", {c.Cast(x, DrawnType(c, x.dtype()))}, {{"axis", "-1"}});
  c.Out(c.Cast(c.Op("_sample_categorical", {chances}, {{"shape", Text(std::vector<int64_t>{count})}, {"dtype", "int32"}}), dtype));
}

}  // namespace

const Rules& RandomRules() {
  static const Rules rules = {
      {"", "RandomNormal", 1, kNewest, OfShape, "_random_normal"},  {"", "RandomUniform", 1, kNewest, OfShape, "_random_uniform"},
      {"", "RandomNormalLike", 1, kNewest, Like, "_random_normal"}, {"", "RandomUniformLike", 1, kNewest, Like, "_random_uniform"},
      {"", "Bernoulli", 15, kNewest, Bernoulli, nullptr},           {"", "Multinomial", 7, kNewest, Multinomial, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
