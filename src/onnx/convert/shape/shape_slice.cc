/*
 * Parts of arrays, and arrays put together.
 */
#include <algorithm>
#include <limits>

#include "onnx/convert/operands.h"
#include "onnx/convert/shape/shape.h"

namespace mxnet {
namespace onnx {

Cut CutOf(int64_t size, int64_t begin, int64_t end, int64_t step) {
  Cut cut;
  cut.step = step;
  if (size == 0) return cut;
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  // Backward, the largest number stands for the end as it does forward: onnxruntime reads it so.
  if (step < 0 && (end == std::numeric_limits<int32_t>::max() || end == std::numeric_limits<int64_t>::max())) end = -size - 1;
  // the smallest number is not added to: it would stay negative anyway
  if (begin < 0) begin = begin < -size ? 0 : begin + size;
  if (end < 0) end = end < -size ? low : end + size;
  begin = std::max<int64_t>(0, std::min(begin, high));
  end = std::max(low, std::min(end, high));
  cut.begin = begin;
  if (step > 0 && end > begin) cut.count = (end - begin - 1) / step + 1;
  if (step < 0 && end < begin) cut.count = (begin - end - 1) / -step + 1;
  return cut;
}

namespace {

void SliceNumbers(Call& c) {
  const Value& x = c.in(0);
  const int rank = x.ndim();
  std::vector<int64_t> begins, ends, axes, steps;
  if (c.opset < 10) {
    begins = c.Attr("starts", std::vector<int64_t>());
    ends = c.Attr("ends", std::vector<int64_t>());
    axes = c.Attr("axes", std::vector<int64_t>());
  } else {
    begins = c.Ints(1);
    ends = c.Ints(2);
    if (c.has(3)) axes = c.Ints(3);
    if (c.has(4)) steps = c.Ints(4);
  }
  if (axes.empty())
    for (size_t i = 0; i < begins.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (steps.empty()) steps.assign(begins.size(), 1);
  if (ends.size() != begins.size() || axes.size() != begins.size() || steps.size() != begins.size())
    c.Refuse("starts " + Text(begins) + ", ends " + Text(ends) + ", axes " + Text(axes) + " and steps " + Text(steps) +
             "; accepted: one number of each for each axis");
  axes = c.Axes(std::move(axes), rank);
  std::vector<Cut> cuts;
  for (int i = 0; i < rank; ++i) cuts.push_back(CutOf(x.shape()[i], 0, x.shape()[i], 1));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0) c.Refuse("a step is 0; accepted: any other number");
    const int axis = static_cast<int>(axes[i]);
    cuts[static_cast<size_t>(axis)] = CutOf(x.shape()[axis], begins[i], ends[i], std::max(steps[i], -std::numeric_limits<int64_t>::max()));
  }
  std::vector<int64_t> dims;
  bool all = true;
  std::string begin, end, step;
  for (int i = 0; i < rank; ++i) {
    const Cut& cut = cuts[static_cast<size_t>(i)];
    dims.push_back(cut.count);
    const bool whole = cut.begin == 0 && cut.step == 1 && cut.count == x.shape()[i];
    all &= whole;
    const int64_t last = cut.count ? cut.begin + (cut.count - 1) * cut.step : cut.begin;
    begin += Text(cut.begin) + ",";
    if (whole || (cut.count && cut.step < 0 && last == 0))
      end += "None,";  // also of other batches
    else
      end += Text(cut.count && cut.step < 0 ? last - 1 : cut.count ? last + 1 : cut.begin) + ",";
    step += Text(cut.count > 1 ? cut.step : cut.step < 0 ? static_cast<int64_t>(-1) : static_cast<int64_t>(1)) + ",";
  }
  if (all) return c.Out(x);
  if (Shape(dims).Size() == 0) return c.Out(c.Filled(Shape(dims), x.dtype(), 0));
  c.Out(c.Op("slice", {x}, {{"begin", "(" + begin + ")"}, {"end", "(" + end + ")"}, {"step", "(" + step + ")"}}));
}

void Slice(Call& c) { MoveElements(c, SliceNumbers); }

void ConcatNumbers(Call& c) {
  const int rank = c.in(0).ndim();
  const int axis = c.Axis(c.Attr("axis", static_cast<int64_t>(1)), rank);
  SameDTypes(c, c.inputs());
  std::vector<Value> parts;
  for (const Value& v : c.inputs()) {
    bool fits = v.ndim() == rank;
    for (int i = 0; fits && !c.ForAnyShape() && i < rank; ++i) fits = i == axis || v.shape()[i] == c.in(0).shape()[i];
    if (!fits)
      c.Refuse("inputs have shapes " + c.in(0).shape().str() + " and " + v.shape().str() + "; accepted: equal ones but for dimension " +
               Text(axis));
    parts.push_back(v);
  }
  c.Out(Join(c, parts, axis));
}

void Concat(Call& c) { MoveElements(c, ConcatNumbers); }

/* The sizes of the parts of a Split. */
std::vector<int64_t> PartsOf(const Call& c, int64_t size) {
  std::vector<int64_t> parts;
  if (c.has(1))
    parts = c.Ints(1);
  else if (c.has_attr("split"))
    parts = c.Attr("split", std::vector<int64_t>());
  const int64_t count = c.Attr("num_outputs", static_cast<int64_t>(c.num_outputs()));
  if (count != c.num_outputs()) c.Refuse("num_outputs=" + Text(count) + " of a node with " + Text(c.num_outputs()) + " outputs");
  if (parts.empty()) {
    // the last part is smaller where they are not equal, which opsets before 18 refuse
    const int64_t each = count ? (size + count - 1) / count : 0;
    if (c.opset < 18 && each * count != size)
      c.Refuse("a dimension of " + Text(size) + " entries is not split into " + Text(count) + " equal parts");
    int64_t left = size;
    for (int64_t i = 0; i < count; ++i) {
      parts.push_back(std::min(each, left));
      left -= parts.back();
    }
    return parts;
  }
  int64_t sum = 0;
  for (int64_t p : parts) {
    if (p < 0 || p > size) c.Refuse("split " + Text(parts) + " of a dimension of " + Text(size) + " entries");
    sum += p;
  }
  if (sum != size || static_cast<int64_t>(parts.size()) != count)
    c.Refuse("split " + Text(parts) + " of a dimension of " + Text(size) + " entries into " + Text(count) + " outputs");
  return parts;
}

void SplitNumbers(Call& c) {
  const Value& x = c.in(0);
  const int axis = c.Axis(c.Attr("axis", static_cast<int64_t>(0)), x.ndim());
  const std::vector<int64_t> parts = PartsOf(c, x.shape()[axis]);
  bool equal = parts.size() > 1;
  for (int64_t p : parts) equal &= p == parts[0] && p > 0;
  if (equal) {
    std::vector<Value> all = c.Ops("SliceChannel", {x}, {{"num_outputs", Text(static_cast<int64_t>(parts.size()))}, {"axis", Text(axis)}});
    for (size_t i = 0; i < parts.size(); ++i) c.Out(static_cast<int>(i), all[i]);
    return;
  }
  int64_t begin = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    Shape shape = x.shape();
    shape[axis] = parts[i];
    if (c.wants(static_cast<int>(i)))
      c.Out(static_cast<int>(i), parts[i] ? SliceAxis(c, x, axis, begin, begin + parts[i]) : c.Filled(shape, x.dtype(), 0));
    begin += parts[i];
  }
}

void Split(Call& c) { MoveElements(c, SplitNumbers); }

void TileNumbers(Call& c) {
  const Value& x = c.in(0);
  std::vector<int64_t> repeats;
  if (c.opset < 6) {
    if (c.num_inputs() != 3) c.Refuse("opset 1 takes tiles and axis");
    repeats.assign(static_cast<size_t>(x.ndim()), 1);
    repeats[static_cast<size_t>(c.Axis(c.Int(2), x.ndim()))] = c.Int(1);
  } else {
    repeats = c.Ints(1);
  }
  if (static_cast<int>(repeats.size()) != x.ndim())
    c.Refuse("repeats " + Text(repeats) + "; accepted: one number for each of the " + Text(x.ndim()) + " dimensions");
  std::vector<int64_t> dims;
  bool once = true;
  for (int i = 0; i < x.ndim(); ++i) {
    const int64_t r = repeats[static_cast<size_t>(i)];
    int64_t d = 0;
    if (r < 0 || __builtin_mul_overflow(r, x.shape()[i], &d))
      c.Refuse("repeats " + Text(repeats) + "; accepted: numbers from 0 on that can be counted");
    dims.push_back(d);
    once &= r == 1;
  }
  if (once) return c.Out(x);
  if (Shape(dims).Size() == 0) return c.Out(c.Filled(Shape(dims), x.dtype(), 0));
  c.Out(c.Op("tile", {x}, {{"reps", Text(repeats)}}));
}

void Tile(Call& c) { MoveElements(c, TileNumbers); }

/* Entries before and behind each dimension. */
struct Padding {
  std::vector<int64_t> before, behind;
};

Padding PaddingOf(const Call& c, int rank) {
  std::vector<int64_t> pads = c.opset < 11 ? c.Attr(c.opset < 2 ? "paddings" : "pads", std::vector<int64_t>()) : c.Ints(1);
  std::vector<int64_t> axes;
  if (c.has(3))
    axes = c.Axes(c.Ints(3), rank);
  else
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  if (pads.size() != axes.size() * 2)
    c.Refuse("pads " + Text(pads) + "; accepted: two numbers for each of " + Text(static_cast<int64_t>(axes.size())) + " dimensions");
  Padding p;
  p.before.assign(static_cast<size_t>(rank), 0);
  p.behind = p.before;
  const int64_t limit = int64_t{1} << 40;
  for (size_t i = 0; i < axes.size(); ++i) {
    p.before[static_cast<size_t>(axes[i])] = pads[i];
    p.behind[static_cast<size_t>(axes[i])] = pads[i + axes.size()];
    if (std::max(std::abs(pads[i]), std::abs(pads[i + axes.size()])) > limit || pads[i] == std::numeric_limits<int64_t>::min())
      c.Refuse("pads " + Text(pads) + "; accepted: numbers up to 2^40");
  }
  return p;
}

/* Negative padding takes entries away. */
Value Cropped(const Call& c, Value x, Padding* p) {
  for (int i = 0; i < x.ndim(); ++i) {
    int64_t &before = p->before[static_cast<size_t>(i)], &behind = p->behind[static_cast<size_t>(i)];
    const int64_t size = x.shape()[i];
    const int64_t begin = before < 0 ? -before : 0, end = behind < 0 ? size + behind : size;
    if (begin == 0 && end == size) continue;
    if (begin > size || end < 0 || begin > end) c.Refuse("pads take more than the " + Text(size) + " entries of dimension " + Text(i));
    x = SliceAxis(c, x, i, begin, end);
    before = std::max<int64_t>(before, 0);
    behind = std::max<int64_t>(behind, 0);
  }
  return x;
}

/* The array again and again: by indices that are counted around. */
Value Wrapped(const Call& c, Value x, const Padding& p) {
  for (int i = 0; i < x.ndim(); ++i) {
    const int64_t before = p.before[static_cast<size_t>(i)], behind = p.behind[static_cast<size_t>(i)], size = x.shape()[i];
    if (before == 0 && behind == 0) continue;
    if (size == 0) c.Refuse("mode=wrap of dimension " + Text(i) + " without entries");
    if (before + size + behind > kMostListed)
      c.Refuse("mode=wrap makes " + Text(before + size + behind) + " entries of a dimension; accepted: up to 2^28");
    std::vector<int64_t> from;
    for (int64_t k = -before; k < size + behind; ++k) from.push_back(((k % size) + size) % size);
    x = c.Op("take", {x, c.IntTensor(from)}, {{"axis", Text(i)}, {"mode", "clip"}});
  }
  return x;
}

void Pad(Call& c) {
  const Value& x = c.in(0);
  const std::string mode = c.Attr("mode", "constant");
  Padding p = PaddingOf(c, x.ndim());
  double value = 0;
  if (c.opset < 11)
    value = c.Attr("value", 0.0f);
  else if (c.has(2) && mode == "constant")
    value = c.Float(2);
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    c.Refuse("mode=" + mode + "; accepted: constant, reflect, edge, wrap");
  const Value inside = Cropped(c, x, &p);
  std::string widths;
  bool nothing = true;
  for (int i = 0; i < x.ndim(); ++i) {
    const int64_t before = p.before[static_cast<size_t>(i)], behind = p.behind[static_cast<size_t>(i)];
    widths += "(" + Text(before) + "," + Text(behind) + "),";
    nothing &= before == 0 && behind == 0;
  }
  if (nothing) return c.Out(inside);
  if (mode == "wrap") return c.Out(Wrapped(c, inside, p));
  AttrDict attrs = {{"pad_width", "(" + widths + ")"}, {"mode", mode}};
  if (mode == "constant") attrs["constant_values"] = Text(value);
  c.Out(c.Op("_npi_pad", {inside}, attrs));
}

}  // namespace

Rules SliceRules() {
  return {
      {"", "Slice", 1, kNewest, Slice, nullptr}, {"", "Concat", 1, kNewest, Concat, nullptr}, {"", "Split", 1, kNewest, Split, nullptr},
      {"", "Tile", 1, kNewest, Tile, nullptr},   {"", "Pad", 1, kNewest, Pad, nullptr},
  };
}

}  // namespace onnx
}  // namespace mxnet
