// Convolutions.
#include <algorithm>

#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

namespace {

/* Leaves out the taps of a window that never meet the data: with dilation beyond the size of an
 * image only those in the middle do. */
Value Met(const Call& c, const Value& x, const Value& w, Window* window) {
  Sizes begin(2, 0), end = DimsOf(w.shape());
  bool fewer = false;
  for (size_t i = 0; i < window->kernel.size(); ++i) {
    const int64_t size = x.shape()[static_cast<int>(i) + 2], taps = window->kernel[i], step = window->dilate[i], stride = window->stride[i];
    const int64_t places = (size + window->before[i] + window->after[i] - (taps - 1) * step - 1) / stride + 1;
    const auto meets = [&](int64_t tap) {  // some place o: 0 <= o * stride + tap * step - before < size
      const int64_t start = tap * step - window->before[i], first = start >= 0 ? 0 : (-start + stride - 1) / stride;
      return places > 0 && first < places && first * stride + start < size;
    };
    int64_t from = 0, to = taps;
    while (from + 1 < to && !meets(from)) ++from;
    while (to - 1 > from && !meets(to - 1)) --to;
    begin.push_back(from), end[i + 2] = to;
    fewer = fewer || to - from < taps;
  }
  if (!fewer) return w;
  Window less = *window;
  for (size_t i = 0; i < less.kernel.size(); ++i) {
    less.before[i] -= begin[i + 2] * less.dilate[i], less.after[i] -= (less.kernel[i] - end[i + 2]) * less.dilate[i];
    less.kernel[i] = end[i + 2] - begin[i + 2];
    if (less.before[i] < 0 || less.after[i] < 0) return w;  // the data would have to be cut
  }
  *window = less;
  return SliceAll(c, w, begin, end, Sizes(begin.size(), 1));
}

}  // namespace

Value Convolve(const Call& c, const Value& x, const Value& w, const Value& bias, const Window& window, int64_t groups) {
  Value data = x;
  Sizes pad = window.before;
  if (!window.Symmetric()) {  // the smaller half by the operator, the rest by Pad
    Sizes before = window.before, after = window.after;
    for (size_t i = 0; i < pad.size(); ++i) pad[i] = std::min(before[i], after[i]), before[i] -= pad[i], after[i] -= pad[i];
    data = PadSpatial(c, x, before, after, 0);
  }
  const bool has_bias = bias.kind != Value::kNone;
  std::vector<Value> operands = {data, w};
  if (has_bias) operands.push_back(bias);
  return c.Op("Convolution", operands,
              {{"kernel", Text(window.kernel)},
               {"stride", Text(window.stride)},
               {"dilate", Text(window.dilate)},
               {"pad", Text(pad)},
               {"num_filter", Text(w.shape()[0])},
               {"num_group", Text(groups)},
               {"no_bias", Text(!has_bias)}});
}

void ConvertConv(Call& c) {
  CheckRank(c, 0, 3, 5);
  CheckRank(c, 1, c.in(0).ndim(), c.in(0).ndim());
  const Value &x = c.in(0), &w = c.in(1);
  const int64_t groups = c.Attr("group", int64_t{1});
  if (groups < 1 || x.shape()[1] % groups || x.shape()[1] / groups != w.shape()[1] || w.shape()[0] % groups)
    c.Refuse("data has shape " + Text(x.shape()) + ", the weight " + Text(w.shape()) + ", and there are " + Text(groups) + " groups");
  Window window = ReadWindow(c, Spatial(x.shape()), ReadKernel(c, Spatial(w.shape()), static_cast<size_t>(x.ndim() - 2)), false);
  const Value met = w.known() && x.size() > 0 ? Met(c, x, w, &window) : w;
  c.Out(Convolve(c, x, met, c.has(2) ? c.in(2) : Value(), window, groups));
}

namespace {

/* What a transposed convolution of full size is cropped by; below 0: filled up with zeros. */
struct Crop {
  Sizes before, after;
};

Crop ReadCrop(const Call& c, const Sizes& in, const Sizes& full, const Sizes& stride, const Sizes& more) {
  const size_t rank = in.size();
  Crop crop{Sizes(rank, 0), Sizes(rank, 0)};
  const std::string mode = c.Attr("auto_pad", "NOTSET");
  const int kind = OneOf(c, "auto_pad", mode.empty() ? "NOTSET" : mode, {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"});
  const Sizes pads = c.Attr("pads", Sizes{});
  Sizes wanted = c.Attr("output_shape", Sizes{});
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);  // as some exporters write it
  if (!wanted.empty() && wanted.size() != rank) c.Refuse("attribute output_shape is " + Text(wanted));
  if (wanted.empty() && kind >= 2)
    for (size_t i = 0; i < rank; ++i) wanted.push_back(in[i] * stride[i]);
  if (!wanted.empty()) {
    CheckSmall(c, "output_shape", wanted, 1);
    for (size_t i = 0; i < rank; ++i) {
      const int64_t total = full[i] + more[i] - wanted[i];
      const int64_t half = total >= 0 ? total / 2 : 0;
      crop.before[i] = kind == 2 ? half : std::max<int64_t>(0, total) - half;
      crop.after[i] = total - crop.before[i] - more[i];
    }
    return crop;
  }
  if (kind == 0 && !pads.empty()) {
    if (pads.size() != 2 * rank) c.Refuse("attribute pads is " + Text(pads) + " for " + Text(static_cast<int64_t>(rank)) + " spatial axes");
    CheckSmall(c, "pads", pads, 0);
    for (size_t i = 0; i < rank; ++i) crop.before[i] = pads[i], crop.after[i] = pads[i + rank];
  }
  for (size_t i = 0; i < rank; ++i) crop.after[i] -= more[i];
  return crop;
}

Value CropSpatial(const Call& c, const Value& x, const Crop& crop) {
  Sizes begin(2, 0), end = DimsOf(x.shape()), fill(crop.after.size(), 0);
  for (size_t i = 0; i < fill.size(); ++i) {
    begin.push_back(crop.before[i]);
    end[i + 2] -= std::max<int64_t>(0, crop.after[i]);
    fill[i] = std::max<int64_t>(0, -crop.after[i]);
    if (begin[i + 2] >= end[i + 2]) c.Refuse("nothing is left of spatial axis " + Text(static_cast<int64_t>(i)));
  }
  return PadSpatial(c, SliceAll(c, x, begin, end, Sizes(begin.size(), 1)), Sizes(fill.size(), 0), fill, 0);
}

}  // namespace

void ConvertConvTranspose(Call& c) {
  CheckRank(c, 0, 3, 5);
  CheckRank(c, 1, c.in(0).ndim(), c.in(0).ndim());
  const Value &x = c.in(0), &w = c.in(1);
  const int64_t groups = c.Attr("group", int64_t{1});
  if (groups < 1 || x.shape()[1] != w.shape()[0] || x.shape()[1] % groups)
    c.Refuse("data has shape " + Text(x.shape()) + ", the weight " + Text(w.shape()) + ", and there are " + Text(groups) + " groups");
  const Sizes in = Spatial(x.shape()), kernel = ReadKernel(c, Spatial(w.shape()), in.size());
  const Sizes stride = ReadPositive(c, "strides", in.size(), 1), dilate = ReadPositive(c, "dilations", in.size(), 1);
  Sizes more = c.Attr("output_padding", Sizes{});
  if (more.empty()) more.assign(in.size(), 0);
  if (more.size() != in.size()) c.Refuse("attribute output_padding is " + Text(more));
  CheckSmall(c, "output_padding", more, 0);
  Sizes full;
  for (size_t i = 0; i < in.size(); ++i) full.push_back((in[i] - 1) * stride[i] + (kernel[i] - 1) * dilate[i] + 1);
  CheckSmall(c, "the size of the result", full, 0);
  const Crop crop = ReadCrop(c, in, full, stride, more);
  bool direct = true;  // does the operator crop as well?
  Sizes adj(in.size(), 0);
  for (size_t i = 0; i < in.size(); ++i) {
    adj[i] = crop.before[i] - crop.after[i];
    direct = direct && adj[i] >= 0 && adj[i] < stride[i] && full[i] + adj[i] > 2 * crop.before[i];
  }
  AttrDict attrs = {{"kernel", Text(kernel)},    {"stride", Text(stride)},
                    {"dilate", Text(dilate)},    {"num_filter", Text(w.shape()[1] * groups)},
                    {"num_group", Text(groups)}, {"no_bias", Text(!(direct && c.has(2)))}};
  if (direct) attrs["pad"] = Text(crop.before), attrs["adj"] = Text(adj);
  std::vector<Value> operands = {x, w};
  if (direct && c.has(2)) operands.push_back(c.in(2));
  Value y = c.Op("Deconvolution", operands, attrs);
  if (!direct) y = CropSpatial(c, y, crop);
  if (!direct && c.has(2)) y = Add(c, y, AlongAxis(c, c.in(2), 1, x.ndim()));
  c.Out(y);
}

void ConvertDeformConv(Call& c) {
  CheckRank(c, 0, 4, 4);
  CheckRank(c, 1, 4, 4);
  const Value &x = c.in(0), &w = c.in(1);
  const int64_t groups = c.Attr("group", int64_t{1}), offsets = c.Attr("offset_group", int64_t{1});
  const Window window = ReadWindow(c, Spatial(x.shape()), ReadKernel(c, Spatial(w.shape()), 2), false);
  Value data = x;
  Sizes pad = window.before;
  if (!window.Symmetric()) data = PadSpatial(c, x, window.before, window.after, 0), pad.assign(2, 0);
  AttrDict attrs = {{"kernel", Text(window.kernel)},    {"stride", Text(window.stride)},
                    {"dilate", Text(window.dilate)},    {"pad", Text(pad)},
                    {"num_filter", Text(w.shape()[0])}, {"num_group", Text(groups)},
                    {"no_bias", Text(!c.has(3))},       {"num_deformable_group", Text(offsets)}};
  // Samples fade out beyond the edges, with a mask and without. Those of
  // _contrib_DeformableConvolution do not.
  Value mask = c.has(4) ? c.in(4) : Value();
  if (!c.has(4)) {
    CheckRank(c, 2, 4, 4);
    Shape shape = c.in(2).shape();
    shape[1] /= 2;
    mask = c.Filled(shape, x.dtype(), 1);
  }
  std::vector<Value> operands = {data, c.in(2), mask, w};
  if (c.has(3)) operands.push_back(c.in(3));
  c.Out(c.Op("_contrib_ModulatedDeformableConvolution", operands, attrs));
}

}  // namespace onnx
}  // namespace mxnet
