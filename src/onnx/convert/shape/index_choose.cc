/*
 * Choosing by conditions, order and running sums.
 */
#include <algorithm>
#include <numeric>

#include "onnx/convert/make.h"
#include "onnx/convert/operands.h"
#include "onnx/convert/shape/index.h"

namespace mxnet {
namespace onnx {

namespace {

void WhereNumbers(Call& c) {
  const Value &condition = c.in(0), &x = c.in(1), &y = c.in(2);
  SameDTypes(c, {x, y});
  if (condition.dtype() != kBool) c.Refuse(std::string("condition is ") + DTypeName(condition.dtype()) + "; accepted: bool");
  double number;
  const bool numbers = x.dtype() != kBool && !condition.known();
  // A number adds no dimensions where an array has as many.
  if (numbers && !y.known() && ScalarOf(x, &number) && x.ndim() <= std::max(condition.ndim(), y.ndim()))
    return c.Out(c.Op("_npi_where_lscalar", {condition, y}, {{"scalar", Text(number)}}));
  if (numbers && !x.known() && ScalarOf(y, &number) && y.ndim() <= std::max(condition.ndim(), x.ndim()))
    return c.Out(c.Op("_npi_where_rscalar", {condition, x}, {{"scalar", Text(number)}}));
  c.Out(c.Op("_npi_where", {condition, x, y}));
}

void Where(Call& c) { MoveElements(c, WhereNumbers); }

void TopK(Call& c) {
  const Value& x = c.in(0);
  const int axis = c.Axis(c.Attr("axis", static_cast<int64_t>(-1)), x.ndim());
  const int64_t size = x.shape()[axis];
  if (c.opset >= 10 && c.in(1).size() != 1) c.Refuse("K has shape " + c.in(1).shape().str() + "; accepted: one number");
  const int64_t k = c.opset < 10 ? c.Attr("k", static_cast<int64_t>(-1)) : c.Int(1);
  const bool largest = c.Attr("largest", static_cast<int64_t>(1)) != 0;
  c.Attr("sorted", static_cast<int64_t>(1));  // in order is one of the orders that not sorted allows
  if (k < 0 || k > size) c.Refuse("k is " + Text(k) + "; accepted: 0 to " + Text(size));
  Shape shape = x.shape();
  shape[axis] = k;
  if (shape.Size() == 0) {
    c.Out(0, c.Filled(shape, x.dtype(), 0));
    return c.Out(1, c.Filled(shape, kInt64, 0));
  }
  const std::vector<Value> both =
      c.Ops("topk", {x}, {{"axis", Text(axis)}, {"k", Text(k)}, {"ret_typ", "both"}, {"is_ascend", Text(!largest)}, {"dtype", "int64"}});
  c.Out(0, both[0]);
  c.Out(1, both[1]);
}

/* Flips, shifts and flips back around what runs along an axis. `run` keeps the shape. */
template <typename F>
void Running(Call& c, double start, F run) {
  const Value& x = c.in(0);
  const int axis = c.Axis(c.Int(1), x.ndim());
  const bool exclusive = c.Attr("exclusive", static_cast<int64_t>(0)) != 0, reverse = c.Attr("reverse", static_cast<int64_t>(0)) != 0;
  const int64_t size = x.shape()[axis];
  if (x.size() == 0) return c.Out(x);
  const AttrDict flip = {{"axis", Text(std::vector<int64_t>{axis})}};
  Value y = reverse ? c.Op("_npi_flip", {x}, flip) : x;
  y = run(y, axis);
  if (exclusive) {
    Shape one = x.shape();
    one[axis] = 1;
    const Value first = c.Filled(one, x.dtype(), start);
    y = size == 1 ? first : Join(c, {first, SliceAxis(c, y, axis, 0, size - 1)}, axis);
  }
  c.Out(reverse ? c.Op("_npi_flip", {y}, flip) : y);
}

void CumSum(Call& c) {
  Running(c, 0, [&c](const Value& x, int axis) {
    const int dtype = x.dtype() == kBool ? static_cast<int>(kInt64) : x.dtype();  // PyTorch's exporter counts what is true
    return c.Op("_np_cumsum", {x}, {{"axis", Text(axis)}, {"dtype", DTypeName(dtype)}});
  });
}

void CumProd(Call& c) {
  Running(c, 1, [&c](Value x, int axis) {
    // after step s each entry is the product of the last 2^s ones
    const int64_t size = x.shape()[axis];
    for (int64_t reach = 1; reach < size; reach *= 2) {
      const Value rest = c.Op("_npi_multiply", {SliceAxis(c, x, axis, reach, size), SliceAxis(c, x, axis, 0, size - reach)});
      x = Join(c, {SliceAxis(c, x, axis, 0, reach), rest}, axis);
    }
    return x;
  });
}

void Trilu(Call& c) {
  const Value& x = c.in(0);
  const bool upper = c.Attr("upper", static_cast<int64_t>(1)) != 0;
  if (x.ndim() < 2) c.Refuse("the input has shape " + x.shape().str() + "; accepted: at least two dimensions");
  const int64_t rows = x.shape()[x.ndim() - 2], columns = x.shape()[x.ndim() - 1];
  const int64_t k = std::max(-rows - 1, std::min(columns + 1, c.has(1) ? c.Int(1) : 0));
  if (x.size() == 0) return c.Out(x);
  c.Out(c.Op(upper ? "_npi_triu" : "_npi_tril", {x}, {{"k", Text(k)}}));
}

void CompressNumbers(Call& c) {
  Value x = c.in(0);
  const Value& condition = c.in(1);
  int axis = 0;
  if (c.has_attr("axis"))
    axis = c.Axis(c.Attr("axis", static_cast<int64_t>(0)), x.ndim());
  else
    x = c.Reshape(x, Shape{x.size()});
  if (condition.ndim() != 1 || condition.dtype() != kBool) c.Refuse("condition is not a vector of bool");
  // a condition may be shorter; what it does not reach is left out
  const std::vector<int64_t> flags = c.Ints(1);
  std::vector<int64_t> places;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    if (static_cast<int64_t>(i) >= x.shape()[axis])
      c.Refuse("condition chooses entry " + Text(static_cast<int64_t>(i)) + " of " + Text(x.shape()[axis]));
    places.push_back(static_cast<int64_t>(i));
  }
  Shape shape = x.shape();
  shape[axis] = static_cast<int64_t>(places.size());
  if (shape.Size() == 0) return c.Out(c.Filled(shape, x.dtype(), 0));
  c.Out(c.Op("take", {x, c.IntTensor(places)}, {{"axis", Text(axis)}, {"mode", "clip"}}));
}

void Compress(Call& c) { MoveElements(c, CompressNumbers); }

void NonZero(Call& c) {
  const Value& x = c.in(0);
  c.Known(0);
  if (x.size() == 0) return c.Out(c.Filled(Shape{x.ndim(), 0}, kInt64, 0));
  const Value places = c.Op("_npx_nonzero", {x});
  if (places.size() == 0) return c.Out(c.Filled(Shape{places.shape()[1], 0}, kInt64, 0));
  c.Out(c.Transpose(places, {1, 0}));
}

/* x with the first rows in the places where a mask is true, in their order. */
void ScatterByMask(Call& c) {
  const Value &x = c.in(0), &given = c.in(1), &rows = c.in(2);
  SameDTypes(c, {x, rows});
  const Shape& places = given.shape();
  const int depth = places.ndim();
  bool fits = depth > 0 && depth <= x.ndim() && rows.ndim() == x.ndim() - depth + 1;
  for (int i = 0; fits && i < x.ndim(); ++i) fits = i < depth ? places[i] == x.shape()[i] : rows.shape()[i - depth + 1] == x.shape()[i];
  if (!fits)
    c.Refuse("rows of shape " + rows.shape().str() + " where a mask of shape " + places.str() + " is true, in an array of shape " +
             x.shape().str());
  if (x.size() == 0) return c.Out(x);
  if (rows.size() == 0) {
    for (const int64_t flag : c.Ints(1))
      if (flag) c.Refuse("the mask is true, and there are no rows for it");
    return c.Out(x);
  }
  const Value mask = c.Cast(given, kBool), flat = c.Reshape(mask, Shape{places.Size()});
  const Value count = c.Op("_np_cumsum", {flat}, {{"axis", "0"}, {"dtype", "int64"}});
  // In front of the first place the number is -1, and its row is not chosen. One behind the last
  // row is an error.
  const Value number = Clip(c, AddNumber(c, count, -1), 0, static_cast<double>(places.Size()));
  const Value each = c.Reshape(TakeRows(c, rows, number), x.shape());
  std::vector<int64_t> dims(places.begin(), places.end());
  dims.resize(static_cast<size_t>(x.ndim()), 1);
  c.Out(mxnet::onnx::Where(c, c.Reshape(mask, Shape(dims)), each, x));
}

/* argument: com.microsoft's, which keeps the order and has no places of the first ones. */
void UniqueNumbers(Call& c) {
  const Value& x = c.in(0);
  const bool plain = c.argument != nullptr;
  const bool sorted = !plain && c.Attr("sorted", static_cast<int64_t>(1)) != 0, whole = !c.has_attr("axis");
  const auto give = [&](int list, const Value& v) {
    const int i = plain ? list - 1 : list;
    if (i > 0 && c.wants(i)) c.Out(i, v);
  };
  const int axis = whole ? 0 : c.Axis(c.Attr("axis", static_cast<int64_t>(0)), x.ndim());
  c.Known(0);
  if (x.size() == 0) {
    Shape none = whole ? Shape{0} : x.shape();
    none[axis] = 0;
    c.Out(0, c.Filled(none, x.dtype(), 0));
    for (int i = 1; i < 4; ++i) give(i, c.Filled(Shape{0}, kInt64, 0));
    return;
  }
  const std::vector<Value> all =
      c.Ops("_npi_unique", {x},
            {{"return_index", "True"}, {"return_inverse", "True"}, {"return_counts", "True"}, {"axis", whole ? "None" : Text(axis)}});
  std::vector<int64_t> first = IntegersOf(all[1]), inverse = IntegersOf(all[2]), counts = IntegersOf(all[3]);
  Value found = all[0];
  if (!sorted) {
    // in the order in which they come first
    std::vector<int64_t> order(first.size()), rank(first.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&first](int64_t a, int64_t b) { return first[static_cast<size_t>(a)] < first[static_cast<size_t>(b)]; });
    std::vector<int64_t> first_then, counts_then;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t from = static_cast<size_t>(order[i]);
      rank[from] = static_cast<int64_t>(i);
      first_then.push_back(first[from]);
      counts_then.push_back(counts[from]);
    }
    for (int64_t& i : inverse) i = rank[static_cast<size_t>(i)];
    found = c.Op("take", {found, c.IntTensor(order)}, {{"axis", Text(axis)}, {"mode", "clip"}});
    first = first_then;
    counts = counts_then;
  }
  c.Out(0, found);
  const std::vector<int64_t>* lists[] = {&first, &inverse, &counts};
  for (int i = 1; i < 4; ++i) give(i, c.IntTensor(*lists[i - 1]));
}

/* Strings are numbered in their order. */
void Unique(Call& c) {
  if (c.in(0).kind != Value::kStrings) return UniqueNumbers(c);
  const std::vector<std::string>& strings = *c.in(0).strings;
  std::vector<std::string> sorted = strings;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<int64_t> numbers;
  for (const std::string& s : strings) numbers.push_back(std::lower_bound(sorted.begin(), sorted.end(), s) - sorted.begin());
  Call inner(c.node, c.opset, c.argument, {c.Tensor(c.in(0).shape(), kInt64, numbers.data())}, c.builder());
  UniqueNumbers(inner);
  inner.CheckAttributes();
  for (const Attribute& a : c.node.attributes) c.Ignore(a.name.c_str());
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Value& made = inner.outputs()[static_cast<size_t>(i)];
    if (made.kind != Value::kNone) c.Out(i, i == 0 ? Lettered(c, made, sorted) : made);
  }
}

}  // namespace

Rules ChooseRules() {
  return {
      {"", "Where", 9, kNewest, Where, nullptr},
      {"", "TopK", 1, kNewest, TopK, nullptr},
      {"", "CumSum", 11, kNewest, CumSum, nullptr},
      {"", "CumProd", 26, kNewest, CumProd, nullptr},
      {"", "Trilu", 14, kNewest, Trilu, nullptr},
      {"", "Compress", 9, kNewest, Compress, nullptr},
      {"", "NonZero", 9, kNewest, NonZero, nullptr},
      {"", "Unique", 11, kNewest, Unique, nullptr},
      {"com.microsoft", "Unique", 1, kNewest, Unique, "plain"},
      {"mxnet.masks", "Scatter", 1, 1, ScatterByMask, nullptr},
  };
}

}  // namespace onnx
}  // namespace mxnet
