#include "onnx/convert/neural/window.h"

#include <algorithm>

namespace mxnet {
namespace onnx {

namespace {

constexpr int64_t kMost = int64_t{1} << 31;

void SameSizes(Window* w, bool upper) {
  for (size_t i = 0; i < w->rank(); ++i) {
    w->out[i] = (w->in[i] + w->stride[i] - 1) / w->stride[i];
    const int64_t total = std::max<int64_t>(0, (w->out[i] - 1) * w->stride[i] + w->Extent(i) - w->in[i]);
    w->before[i] = upper ? total / 2 : total - total / 2;
    w->after[i] = total - w->before[i];
  }
}

void GivenSizes(const Call& c, Window* w, bool ceil) {
  for (size_t i = 0; i < w->rank(); ++i) {
    const int64_t whole = w->in[i] + w->before[i] + w->after[i];
    // Rounded up, a window beyond the end still has a place, where only what is there counts.
    if (ceil && whole > 0 && whole < w->Extent(i) && w->Extent(i) - whole < w->stride[i]) {
      w->kernel[i] = (whole - 1) / w->dilate[i] + 1, w->out[i] = 1;
      continue;
    }
    const int64_t room = whole - w->Extent(i);
    if (room < 0)
      c.Refuse("a window of " + Text(w->Extent(i)) + " elements does not fit into spatial axis " + Text(static_cast<int64_t>(i)) +
               ", which has " + Text(room + w->Extent(i)) + " with its padding");
    w->out[i] = (room + (ceil ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
    if (ceil && (w->out[i] - 1) * w->stride[i] >= w->in[i] + w->before[i]) --w->out[i];
  }
}

}  // namespace

bool Window::Dilated() const {
  return std::any_of(dilate.begin(), dilate.end(), [](int64_t d) { return d != 1; });
}

int64_t Window::After(size_t i) const { return std::max<int64_t>(0, (out[i] - 1) * stride[i] + Extent(i) - in[i] - before[i]); }

void CheckSmall(const Call& c, const char* what, const Sizes& sizes, int64_t least) {
  for (int64_t n : sizes)
    if (n < least || n >= kMost)
      c.Refuse(std::string(what) + " is " + Text(sizes) + "; accepted are numbers from " + Text(least) + " to 2^31 - 1");
}

Sizes ReadPositive(const Call& c, const char* name, size_t rank, int64_t otherwise) {
  Sizes sizes = c.Attr(name, Sizes{});
  if (sizes.empty()) sizes.assign(rank, otherwise);
  if (sizes.size() != rank)
    c.Refuse(std::string("attribute ") + name + " is " + Text(sizes) + " for " + Text(static_cast<int64_t>(rank)) + " spatial axes");
  CheckSmall(c, name, sizes, 1);
  return sizes;
}

Sizes ReadKernel(const Call& c, const Sizes& otherwise, size_t rank) {
  Sizes kernel = c.Attr("kernel_shape", Sizes{});
  if (kernel.empty()) kernel = otherwise;
  if (kernel.size() != rank || (!otherwise.empty() && kernel != otherwise))
    c.Refuse("attribute kernel_shape is " + Text(kernel) +
             (otherwise.empty() ? " for " + Text(static_cast<int64_t>(rank)) + " spatial axes" : "; the weight has " + Text(otherwise)));
  CheckSmall(c, "kernel_shape", kernel, 1);
  return kernel;
}

Window ReadWindow(const Call& c, const Sizes& in, const Sizes& kernel, bool ceil) {
  Window w;
  const size_t rank = kernel.size();
  w.in = in, w.kernel = kernel, w.out.resize(rank), w.before.assign(rank, 0), w.after.assign(rank, 0);
  w.stride = ReadPositive(c, "strides", rank, 1), w.dilate = ReadPositive(c, "dilations", rank, 1);
  const std::string mode = c.Attr("auto_pad", "NOTSET");
  const Sizes pads = c.Attr("pads", Sizes{});
  const bool up = ceil && c.Attr("ceil_mode", int64_t{0}) != 0;
  switch (OneOf(c, "auto_pad", mode.empty() ? "NOTSET" : mode, {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"})) {
    case 0:
      if (pads.empty()) break;
      if (pads.size() != 2 * rank)
        c.Refuse("attribute pads is " + Text(pads) + " for " + Text(static_cast<int64_t>(rank)) + " spatial axes");
      CheckSmall(c, "pads", pads, 0);
      w.before.assign(pads.begin(), pads.begin() + static_cast<int64_t>(rank)),
          w.after.assign(pads.begin() + static_cast<int64_t>(rank), pads.end());
      break;
    case 1: break;
    case 2: SameSizes(&w, true); return w;
    default: SameSizes(&w, false); return w;
  }
  GivenSizes(c, &w, up);
  return w;
}

Sizes Spatial(const Shape& shape) {
  Sizes sizes = DimsOf(shape);
  sizes.erase(sizes.begin(), sizes.begin() + std::min<int64_t>(2, static_cast<int64_t>(sizes.size())));
  return sizes;
}

Value PadSpatial(const Call& c, const Value& x, const Sizes& before, const Sizes& after, double value) {
  Sizes first(2, 0), last(2, 0);
  first.insert(first.end(), before.begin(), before.end()), last.insert(last.end(), after.begin(), after.end());
  return Pad(c, x, first, last, value);
}

}  // namespace onnx
}  // namespace mxnet
