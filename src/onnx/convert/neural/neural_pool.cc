// Poolings. What the operator Pooling has no equivalent of (dilations, odd roundings, positions of
// maxima) is made of padding, sums and strided slices.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

namespace {

/* Of x, which may be input 0 in another order. */
Window PoolWindow(const Call& c, const Value& x) {
  CheckRank(c, 0, 3, 5);
  return ReadWindow(c, Spatial(x.shape()), ReadKernel(c, {}, static_cast<size_t>(x.ndim() - 2)), true);
}

/* The convention of Pooling that gives the window's sizes with its padding; null: none does. */
const char* Convention(const Window& w) {
  if (!w.Symmetric() || w.Dilated()) return nullptr;
  bool valid = true, full = true;
  for (size_t i = 0; i < w.rank(); ++i) {
    const int64_t room = w.in[i] + 2 * w.before[i] - w.kernel[i];
    if (w.before[i] >= w.kernel[i] || room < 0) return nullptr;
    valid = valid && w.out[i] == room / w.stride[i] + 1;
    full = full && w.out[i] == (room + w.stride[i] - 1) / w.stride[i] + 1;
  }
  return valid ? "valid" : full ? "full" : nullptr;
}

Value PadForWindow(const Call& c, const Value& x, const Window& w, double value) {
  Sizes after;
  for (size_t i = 0; i < w.rank(); ++i) after.push_back(w.After(i));
  return PadSpatial(c, x, w.before, after, value);
}

bool IsByte(const Value& x) { return x.dtype() == kInt8 || x.dtype() == kUint8; }

Value Pool(const Call& c, const Value& x, const Window& w, const char* type, const char* convention, bool padded, AttrDict more = {}) {
  AttrDict attrs = {{"kernel", Text(w.kernel)}, {"stride", Text(w.stride)}, {"pool_type", type}, {"pooling_convention", convention}};
  if (!padded) attrs["pad"] = Text(w.before);
  attrs.insert(more.begin(), more.end());
  if (IsByte(x)) {  // bytes in any order; their range says nothing here
    const Value end = c.Filled(Shape{1}, kFloat32, 0);
    return c.Ops("_contrib_quantized_pooling", {x, end, end}, attrs)[0];
  }
  return c.Op("Pooling", {x}, attrs);
}

/* The element at each position of the window: a strided slice of padded data for each. Gives the
 * positions too. */
struct Place {
  Value values;
  Sizes at;  // in the window, times the dilation
};

std::vector<Place> Places(const Call& c, const Value& padded, const Window& w) {
  int64_t count = 1;
  for (int64_t k : w.kernel) {
    count *= k;
    if (count > 4096)
      c.Refuse("windows of " + Text(w.kernel) + " elements with dilations or positions of maxima; accepted are up to 4096 elements");
  }
  std::vector<Place> places;
  for (int64_t n = 0; n < count; ++n) {
    Sizes begin(2, 0), end = DimsOf(padded.shape()), step(2, 1), at(w.rank());
    int64_t rest = n;
    for (size_t i = w.rank(); i-- > 0; rest /= w.kernel[i]) at[i] = rest % w.kernel[i] * w.dilate[i];
    for (size_t i = 0; i < w.rank(); ++i)
      begin.push_back(at[i]), end[i + 2] = at[i] + (w.out[i] - 1) * w.stride[i] + 1, step.push_back(w.stride[i]);
    places.push_back({SliceAll(c, padded, begin, end, step), at});
  }
  return places;
}

/* Numbers of the elements that a position of the window has, among those of one channel. */
Value Numbers(const Call& c, const Window& w, const Sizes& at, bool column_major) {
  int64_t count = 1;
  for (int64_t n : w.out) count *= n;
  Sizes numbers(static_cast<size_t>(count)), shape(2, 1);
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, number = 0, pitch = 1;
    Sizes place(w.rank());
    for (size_t i = w.rank(); i-- > 0; rest /= w.out[i]) place[i] = rest % w.out[i] * w.stride[i] + at[i] - w.before[i];
    for (size_t j = 0; j < w.rank(); ++j) {
      const size_t i = column_major ? j : w.rank() - 1 - j;
      number += place[i] * pitch, pitch *= w.in[i];
    }
    numbers[static_cast<size_t>(n)] = number;
  }
  shape.insert(shape.end(), w.out.begin(), w.out.end());
  return IntsLike(c, numbers, shape);
}

Value ChannelStarts(const Call& c, const Shape& x) {
  const int64_t channels = x[0] * x[1];
  Sizes starts(static_cast<size_t>(channels)), shape(static_cast<size_t>(x.ndim()), 1);
  for (int64_t i = 0; i < channels; ++i) starts[static_cast<size_t>(i)] = i * x.Prod(2, x.ndim());
  shape[0] = x[0], shape[1] = x[1];
  return IntsLike(c, starts, shape);
}

double Least(int dtype) { return IsFloating(dtype) ? -std::numeric_limits<double>::infinity() : dtype == kUint8 ? 0 : -128; }

void MaxWithPositions(Call& c, const Window& w, bool column_major) {
  // Bytes of the least value would be no greater than the padding, whose positions are none.
  const Value x = IsByte(c.in(0)) ? c.Cast(c.in(0), kFloat32) : c.in(0);
  const auto places = Places(c, PadForWindow(c, x, w, Least(x.dtype())), w);
  Value most = places[0].values, at = Numbers(c, w, places[0].at, column_major);
  for (size_t i = 1; i < places.size(); ++i) {
    const Value more = Binary(c, "greater", places[i].values, most);
    most = Where(c, more, places[i].values, most);
    at = Where(c, more, Numbers(c, w, places[i].at, column_major), at);
  }
  c.Out(0, c.Cast(most, c.in(0).dtype()));
  Sizes shape = DimsOf(most.shape());
  c.Out(1, c.BroadcastTo(Add(c, at, ChannelStarts(c, x.shape())), Shape(shape)));
}

/* How many elements of a window count, for each place of an axis. */
std::vector<double> Counts(const Window& w, size_t i, bool with_padding) {
  const int64_t first = with_padding ? -w.before[i] : 0, end = with_padding ? w.in[i] + w.after[i] : w.in[i];
  std::vector<double> counts;
  for (int64_t o = 0; o < w.out[i]; ++o) {
    int64_t count = 0;
    for (int64_t k = 0; k < w.kernel[i]; ++k) {
      const int64_t at = o * w.stride[i] - w.before[i] + k * w.dilate[i];
      count += at >= first && at < end;
    }
    counts.push_back(static_cast<double>(std::max<int64_t>(1, count)));
  }
  return counts;
}

/* Sums of windows, whatever their padding, rounding and dilation. */
Value WindowSums(const Call& c, const Value& x, const Window& w) {
  const Value padded = PadForWindow(c, x, w, 0);
  if (!w.Dilated()) return Pool(c, padded, w, "sum", "valid", true);
  const int64_t channels = x.shape()[1];
  Sizes shape = {channels, 1};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  return c.Op("Convolution", {padded, c.Filled(Shape(shape), x.dtype(), 1)},
              {{"kernel", Text(w.kernel)},
               {"stride", Text(w.stride)},
               {"dilate", Text(w.dilate)},
               {"num_filter", Text(channels)},
               {"num_group", Text(channels)},
               {"no_bias", "True"}});
}

}  // namespace

void ConvertMaxPool(Call& c) {
  const Value& x = c.in(0);
  const Window w = PoolWindow(c, x);
  const int64_t order = c.Attr("storage_order", int64_t{0});
  if (order != 0 && order != 1) c.Refuse("attribute storage_order is " + Text(order) + "; accepted are 0 and 1");
  if (c.wants(1)) return MaxWithPositions(c, w, order == 1);
  if (const char* convention = Convention(w)) return c.Out(Pool(c, x, w, "max", convention, false));
  const Value padded = PadForWindow(c, x, w, Least(x.dtype()));
  if (!w.Dilated()) return c.Out(Pool(c, padded, w, "max", "valid", true));
  Value most;
  for (const Place& place : Places(c, padded, w))
    most = most.kind == Value::kNone ? place.values : Binary(c, "maximum", most, place.values);
  c.Out(most);
}

namespace {

/* onnxruntime reads one mask for all channels, from here on for one of them. */
Value MaskOfChannels(const Call& c, const Shape& x) {
  const Value mask = c.Cast(c.Reshape(c.in(1), Shape{c.in(1).size()}), kInt32);
  const int64_t channels = x[0] * x[1], size = x.Prod(2, x.ndim());
  const int64_t masks = c.in(1).ndim() < 2 ? 0 : c.in(1).shape()[0] * c.in(1).shape()[1];
  if (masks < 1 || c.in(1).size() != masks * size || channels * size > kMostListed)
    c.Refuse("data has shape " + Text(x) + ", the mask " + Text(c.in(1).shape()) + "; accepted is a mask of the same spatial sizes");
  if (masks == 1) {
    Sizes one = DimsOf(x);
    one[0] = one[1] = 1;
    return c.BroadcastTo(c.Reshape(mask, Shape(one)), x);
  }
  Sizes places;
  for (int64_t i = 0; i < channels; ++i)
    for (int64_t at = 0; at < size; ++at) places.push_back(i * size % masks + at);
  return c.Reshape(Take(c, mask, IntsLike(c, places, {channels * size}), 0), x);
}

}  // namespace

/* In each line of a window only what comes before its first masked element counts. As in
 * onnxruntime, the first element of a picture or volume is never masked. */
void ConvertMaxPoolWithMask(Call& c) {
  const Value& x = c.in(0);
  const Window w = PoolWindow(c, x);
  c.Ignore("storage_order");  // of positions, which it does not give
  const Shape& shape = x.shape();
  if (x.size() == 0) return ConvertMaxPool(c);
  Sizes first(static_cast<size_t>(shape.Prod(2, shape.ndim())), 0), spatial = DimsOf(shape);
  first[0] = shape.ndim() > 3, spatial[0] = spatial[1] = 1;
  const Value shown = Binary(c, "logical_or", MaskOfChannels(c, shape), IntsLike(c, first, spatial, kInt32));
  const double least = -3.4028234663852886e38;
  const std::vector<Place> values = Places(c, PadForWindow(c, x, w, least), w);
  const std::vector<Place> masks = Places(c, PadForWindow(c, c.Cast(shown, kInt32), w, 1), w);
  const size_t line = static_cast<size_t>(w.kernel.back());
  const Value none = c.Scalar(least, x.dtype());
  Value most, so_far;
  for (size_t i = 0; i < values.size(); ++i) {
    so_far = i % line == 0 ? masks[i].values : Mul(c, so_far, masks[i].values);
    const Value counted = Where(c, BinaryNumber(c, "not_equal", so_far, 0), values[i].values, none);
    most = i == 0 ? counted : Binary(c, "maximum", most, counted);
  }
  c.Out(most);
}

Value Averages(const Call& c, const Value& x) {
  const Window w = PoolWindow(c, x);
  const bool with_padding = c.Attr("count_include_pad", int64_t{0}) != 0;
  const char* convention = Convention(w);
  if (convention && std::string(convention) == "valid")
    return Pool(c, x, w, "avg", convention, false, {{"count_include_pad", Text(with_padding)}});
  if (IsByte(x)) return c.Cast(Unary(c, "rint", Averages(c, c.Cast(x, kFloat32))), x.dtype());
  std::vector<double> shares(1, 1);
  for (size_t i = 0; i < w.rank(); ++i) {
    std::vector<double> more;
    const std::vector<double> counts = Counts(w, i, with_padding);
    for (double share : shares)
      for (double count : counts) more.push_back(share / count);
    shares.swap(more);
  }
  Sizes shape(2, 1);
  shape.insert(shape.end(), w.out.begin(), w.out.end());
  return Mul(c, WindowSums(c, x, w), FloatsLike(c, shares, shape, x.dtype()));
}

void ConvertAveragePool(Call& c) { c.Out(Averages(c, c.in(0))); }

void ConvertLpPool(Call& c) {
  const Value& x = c.in(0);
  const Window w = PoolWindow(c, x);
  const int64_t p = c.Attr("p", int64_t{2});
  if (p < 1 || p > 1000) c.Refuse("attribute p is " + Text(p) + "; accepted are 1 to 1000");
  const char* convention = Convention(w);
  if (p == 2 && convention && std::string(convention) == "valid") return c.Out(Pool(c, x, w, "lp", convention, false, {{"p_value", "2"}}));
  const Value size = Unary(c, "abs", x);
  const Value sums = WindowSums(c, p == 1 ? size : PowNumber(c, size, static_cast<double>(p)), w);
  c.Out(p == 1 ? sums : PowNumber(c, sums, 1.0 / static_cast<double>(p)));
}

void ConvertGlobalPool(Call& c) {
  CheckRank(c, 0, 2, 32);
  const Value& x = c.in(0);
  if (x.ndim() >= 3 && x.ndim() <= 5)
    return c.Out(c.Op("Pooling", {x},
                      {{"kernel", Text(Sizes(static_cast<size_t>(x.ndim() - 2), 1))}, {"pool_type", c.argument}, {"global_pool", "True"}}));
  Sizes axes;
  for (int i = 2; i < x.ndim(); ++i) axes.push_back(i);
  c.Out(Reduce(c, std::string(c.argument) == "avg" ? "mean" : "max", x, axes, true));
}

void ConvertGlobalLpPool(Call& c) {
  CheckRank(c, 0, 2, 32);
  const Value& x = c.in(0);
  const int64_t p = c.Attr("p", int64_t{2});
  if (p < 1 || p > 1000) c.Refuse("attribute p is " + Text(p) + "; accepted are 1 to 1000");
  Sizes axes;
  for (int i = 2; i < x.ndim(); ++i) axes.push_back(i);
  const double power = static_cast<double>(p);
  c.Out(PowNumber(c, Sum(c, PowNumber(c, Unary(c, "abs", x), power), axes, true), 1 / power));
}

void ConvertMaxUnpool(Call& c) {
  CheckRank(c, 0, 3, 5);
  const Value &x = c.in(0), &at = c.in(1);
  const Sizes in = Spatial(x.shape());
  const size_t rank = in.size();
  const Sizes kernel = ReadKernel(c, {}, rank), stride = ReadPositive(c, "strides", rank, 1);
  Sizes pads = c.Attr("pads", Sizes{});
  if (pads.empty()) pads.assign(2 * rank, 0);
  if (pads.size() != 2 * rank) c.Refuse("attribute pads is " + Text(pads));
  CheckSmall(c, "pads", pads, 0);
  Sizes shape = {x.shape()[0], x.shape()[1]};
  for (size_t i = 0; i < rank; ++i) shape.push_back((in[i] - 1) * stride[i] - pads[i] - pads[i + rank] + kernel[i]);
  CheckSmall(c, "the shape of the result", shape, 0);
  if (at.shape() != x.shape()) c.Refuse("indices have shape " + Text(at.shape()) + ", data " + Text(x.shape()));
  const Value flat = c.Op("scatter_nd", {c.Reshape(x, Shape{x.size()}), c.Reshape(at, Shape{1, at.size()})},
                          {{"shape", Text(Sizes{Shape(shape).Size()})}});
  Value y = c.Reshape(flat, Shape(shape));
  if (c.has(2)) {
    const Sizes wanted = c.Ints(2);
    if (wanted.size() != shape.size()) c.Refuse("output_shape is " + Text(wanted));
    CheckSmall(c, "output_shape", wanted, 0);
    Sizes more;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (wanted[i] < shape[i]) c.Refuse("output_shape is " + Text(wanted) + "; it must have at least " + Text(shape));
      more.push_back(wanted[i] - shape[i]);
    }
    y = Pad(c, y, Sizes(shape.size(), 0), more, 0);
  }
  c.Out(y);
}

}  // namespace onnx
}  // namespace mxnet
