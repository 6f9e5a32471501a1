// delete, insert and repeats: results whose entries along one dimension are chosen by a list of
// positions. The list is made on the calling thread, from numbers or from the values of an array;
// take moves the entries, on the array's device.
#include <algorithm>
#include <numeric>

#include "base/dtype.h"
#include "mxnet/ndarray.h"
#include "operator/graph_operators.h"
#include "operator/indexing/host_values.h"
#include "operator/like_inputs.h"
#include "operator/matrix/axes.h"
#include "operator/optional_number.h"
#include "operator/param.h"
#include "operator/runtime/array_call.h"

namespace mxnet {
namespace {

#define MXNET_PLACE_FIELDS()                                                                                                    \
  DMLC_DECLARE_FIELD(start).set_default(dmlc::optional<int>()).describe("Where the slice of positions begins.");                \
  DMLC_DECLARE_FIELD(stop).set_default(dmlc::optional<int>()).describe("Where the slice of positions ends, without this one."); \
  DMLC_DECLARE_FIELD(step).set_default(dmlc::optional<int>()).describe("Distance of the positions of the slice.");              \
  DMLC_DECLARE_FIELD(int_ind).set_default(dmlc::optional<int>()).describe("One position, in place of a slice or an array.");    \
  DMLC_DECLARE_FIELD(axis).set_default(dmlc::optional<int>()).describe("The dimension; None takes the array as a vector.")

struct DeleteParam : public dmlc::Parameter<DeleteParam> {
  dmlc::optional<int> start, stop, step, int_ind, axis;
  DMLC_DECLARE_PARAMETER(DeleteParam) { MXNET_PLACE_FIELDS(); }
};

struct InsertParam : public dmlc::Parameter<InsertParam> {
  OptionalNumber val;
  dmlc::optional<int> start, stop, step, int_ind, axis;
  DMLC_DECLARE_PARAMETER(InsertParam) {
    DMLC_DECLARE_FIELD(val).set_default(OptionalNumber()).describe("The number to insert, in place of the input `values`.");
    MXNET_PLACE_FIELDS();
  }
};
#undef MXNET_PLACE_FIELDS

struct RepeatsParam : public dmlc::Parameter<RepeatsParam> {
  dmlc::optional<Shape> repeats;
  dmlc::optional<int> axis;
  DMLC_DECLARE_PARAMETER(RepeatsParam) {
    DMLC_DECLARE_FIELD(repeats).describe("How often each entry stands in the result: one number for each, or one for all.");
    DMLC_DECLARE_FIELD(axis)
        .set_default(dmlc::optional<int>())
        .describe("The dimension whose entries are repeated; None takes the array as a vector.");
  }
};

MXNET_REGISTER_PARAM(DeleteParam);
MXNET_REGISTER_PARAM(InsertParam);
MXNET_REGISTER_PARAM(RepeatsParam);

using List = std::vector<int64_t>;

// ---- positions

// `shape` as the list sees it: with a dimension, or as a vector.
struct Along {
  Shape shape;
  int axis;
  int64_t size() const { return shape[axis]; }
};
Along AlongAxis(const Attrs& attrs, const Shape& shape, const dmlc::optional<int>& axis) {
  if (!axis.has_value()) return {Shape({shape.Size()}), 0};
  if (shape.ndim() == 0) {  // NumPy takes a number as an array of one
    CheckedAxis(attrs, axis.value(), 1);
    return {Shape({1}), 0};
  }
  return {shape, CheckedAxis(attrs, axis.value(), shape.ndim())};
}

// The positions of a Python slice of a dimension.
template <typename P>
List SlicePlaces(const Attrs& attrs, const P& p, int64_t size) {
  const int64_t step = p.step.has_value() ? p.step.value() : 1;
  MXNET_CHECK_KIND(step != 0, Value) << "[" << attrs.op->name << "] step is 0; accepted: any other number";
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto bound = [&](const dmlc::optional<int>& given, int64_t otherwise) {
    if (!given.has_value()) return otherwise;
    const int64_t at = given.value() < 0 ? given.value() + size : given.value();
    return std::min(std::max(at, low), high);
  };
  List places;
  const int64_t start = bound(p.start, step > 0 ? low : high), stop = bound(p.stop, step > 0 ? high : low);
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) places.push_back(i);
  return places;
}

int64_t CheckedPlace(const Attrs& attrs, int64_t at, int64_t size, int64_t end) {
  MXNET_CHECK_KIND(at >= -size && at < end, Index)
      << "[" << attrs.op->name << "] index " << at << " is out of range; accepted: " << -size << " to " << end - 1;
  return at < 0 ? at + size : at;
}

List ValuesOf(const Attrs& attrs, const NDArray& index) {
  MXNET_CHECK_KIND(!IsFloating(index.dtype()), Type)
      << "[" << attrs.op->name << "] obj is " << DTypeName(index.dtype()) << "; accepted: integers and bool";
  const int64_t n = index.shape().Size();
  List values(static_cast<size_t>(n));
  ConvertElements(HostValues(index).at(), index.dtype(), values.data(), kInt64, n);
  return values;
}

// Positions from an array: as they stand, or where a mask is true. Those up to `end` are accepted.
List ArrayPlaces(const Attrs& attrs, const NDArray& index, int64_t size, int64_t end) {
  List values = ValuesOf(attrs, index);
  if (index.dtype() != kBool) {
    for (int64_t& v : values) v = CheckedPlace(attrs, v, size, end);
    return values;
  }
  MXNET_CHECK_KIND(index.shape().ndim() == 1 && index.shape()[0] == size, Index)
      << "[" << attrs.op->name << "] a mask of shape " << index.shape() << " for " << size << " entries; it needs one for each";
  List places;
  for (int64_t i = 0; i < size; ++i)
    if (values[static_cast<size_t>(i)] != 0) places.push_back(i);
  return places;
}

// ---- arrays

NDArray IndexArray(const List& values, Context ctx) {
  NDArray index(Shape({static_cast<int64_t>(values.size())}), ctx, kInt64);
  index.SyncCopyFromCPU(values.data(), values.size() * sizeof(int64_t));
  return index;
}

AttrsPtr TakeAttrs(const char* op, int axis) { return MakeAttrs(Op::Get(op), {{"axis", std::to_string(axis)}, {"mode", "clip"}}); }

Shape WithSize(Shape s, int axis, size_t size) {
  s[axis] = static_cast<int64_t>(size);
  return s;
}

void GiveShape(const Attrs& attrs, NDArray* out, const Shape& to, const NDArray& like) {
  if (out->is_none()) out->Init(to, like.ctx(), like.dtype());
  MXNET_CHECK_KIND(out->shape() == to && out->dtype() == like.dtype(), Value)
      << "[" << attrs.op->name << "] out has shape " << out->shape() << " and dtype " << DTypeName(out->dtype()) << "; the result is " << to
      << " of " << DTypeName(like.dtype());
}

void Zero(const NDArray& a) { RunOnArrays(graph_ops::Zeros(), {}, {OpReq::kWrite}, {a}, false); }

// out = the entries of data at those positions of its dimension.
void Take(const NDArray& data, const Along& along, const List& places, const NDArray& out) {
  if (out.shape().Size() == 0) return;
  RunOnArrays(TakeAttrs("take", along.axis), {data.Detach().Reshape(along.shape), IndexArray(places, data.ctx())}, {OpReq::kWrite},
              {out.Detach().Reshape(WithSize(along.shape, along.axis, places.size()))}, false);
}

// out = 0, then += the entries of data at those positions of out's dimension.
void Put(const NDArray& data, const Along& along, const List& places, const NDArray& out) {
  if (out.shape().Size() == 0) return;
  if (places.empty()) return Zero(out);
  const NDArray whole = out.Detach().Reshape(along.shape);
  RunOnArrays(TakeAttrs("_backward_take", along.axis),
              {data.Detach().Reshape(WithSize(along.shape, along.axis, places.size())), IndexArray(places, data.ctx()), whole},
              {OpReq::kWrite}, {whole}, false);
}

// ---- delete and repeats: places of the entries that the result has

List KeptPlaces(const Attrs& attrs, const Along& along, const NDArray* obj) {
  const auto& p = attrs.get<DeleteParam>();
  const int64_t size = along.size();
  List gone;
  if (p.int_ind.has_value())
    gone = {CheckedPlace(attrs, p.int_ind.value(), size, size)};
  else
    gone = obj ? ArrayPlaces(attrs, *obj, size, size) : SlicePlaces(attrs, p, size);
  std::vector<char> keep(static_cast<size_t>(size), 1);
  for (int64_t i : gone) keep[static_cast<size_t>(i)] = 0;
  List kept;
  for (int64_t i = 0; i < size; ++i)
    if (keep[static_cast<size_t>(i)]) kept.push_back(i);
  return kept;
}

// The number of entries of a dimension with those repeats.
int64_t RepeatedSize(const Attrs& attrs, int64_t size) {
  const auto& repeats = attrs.get<RepeatsParam>().repeats;
  MXNET_CHECK_KIND(repeats.has_value(), Value) << "[" << attrs.op->name << "] repeats is None; accepted: numbers";
  const Shape& r = repeats.value();
  MXNET_CHECK_KIND(r.ndim() == 1 || r.ndim() == size, Value)
      << "[" << attrs.op->name << "] repeats " << r << " for " << size << " entries; accepted: one number, or one for each entry";
  int64_t total = 0;
  for (int64_t v : r) {
    MXNET_CHECK_KIND(v >= 0, Value) << "[" << attrs.op->name << "] repeats " << r << "; they must not be negative";
    MXNET_CHECK_KIND(!__builtin_add_overflow(total, v, &total), Value) << "[" << attrs.op->name << "] repeats is too large";
  }
  if (r.ndim() == 1 && size != 1)
    MXNET_CHECK_KIND(!__builtin_mul_overflow(size, r[0], &total), Value) << "[" << attrs.op->name << "] repeats is too large";
  return total;
}

List RepeatedPlaces(const Attrs& attrs, const Along& along, const NDArray*) {
  List places;
  places.reserve(static_cast<size_t>(RepeatedSize(attrs, along.size())));
  const Shape& r = attrs.get<RepeatsParam>().repeats.value();
  for (int64_t i = 0; i < along.size(); ++i)
    places.insert(places.end(), static_cast<size_t>(r[r.ndim() == 1 ? 0 : static_cast<int>(i)]), i);
  return places;
}

using PlacesFn = List (*)(const Attrs&, const Along&, const NDArray* obj);

template <typename P, PlacesFn kPlaces>
void Choose(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const Along along = AlongAxis(attrs, in[0]->shape(), attrs.get<P>().axis);
  const List places = kPlaces(attrs, along, in.size() > 1 ? in[1] : nullptr);
  GiveShape(attrs, out[0], WithSize(along.shape, along.axis, places.size()), *in[0]);
  Take(*in[0], along, places, *out[0]);
}

// [ograd, arr, obj] -> gradient of arr
template <typename P, PlacesFn kPlaces>
void ChooseBack(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const Along along = AlongAxis(attrs, in[1]->shape(), attrs.get<P>().axis);
  GiveShape(attrs, out[0], in[1]->shape(), *in[0]);
  Put(*in[0], along, kPlaces(attrs, along, in.size() > 2 ? in[2] : nullptr), *out[0]);
}

bool FirstType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (int& t : *out) AssignType(attrs, "the result", &t, (*in)[0]);
  for (int t : *in)
    if (t == kDTypeUnknown) return false;
  return true;
}

// The result is as long as the parameters say, or the values of obj.
bool DeleteShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known()) return false;
  Along along = AlongAxis(attrs, (*in)[0], attrs.get<DeleteParam>().axis);
  along.shape[along.axis] = in->size() > 1 ? Shape::kUnknownDim : static_cast<int64_t>(KeptPlaces(attrs, along, nullptr).size());
  AssignShape(attrs, "the result", &(*out)[0], along.shape);
  return in->back().known() && (*out)[0].known();
}

bool RepeatsShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known()) return false;
  Along along = AlongAxis(attrs, (*in)[0], attrs.get<RepeatsParam>().axis);
  along.shape[along.axis] = RepeatedSize(attrs, along.size());
  AssignShape(attrs, "the result", &(*out)[0], along.shape);
  return true;
}

int DeleteInputs(const Attrs& attrs) {
  const auto& p = attrs.get<DeleteParam>();
  return p.int_ind.has_value() || p.start.has_value() || p.stop.has_value() || p.step.has_value() ? 1 : 2;
}

template <typename P, PlacesFn kPlaces>
Op& ChooseRecord(const std::string& name, const char* text, std::vector<std::string> inputs, std::function<int(const Attrs&)> count) {
  const std::string backward = "_backward" + name;
  std::vector<std::string> back_inputs = {"ograd"};
  back_inputs.insert(back_inputs.end(), inputs.begin(), inputs.end());
  Op::Register(backward)
      .describe("Gradient of " + name + ".")
      .template set_param<P>()
      .set_inputs(back_inputs, [count](const Attrs& a) { return 1 + count(a); })
      .set_infer_shape(LikeInputsShape(1))
      .set_infer_type(FirstType)
      .set_gradient([name](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> again = {ograds[0]};
        again.insert(again.end(), node->inputs.begin() + 2, node->inputs.end());
        std::vector<NodeEntry> grads(node->inputs.size());
        grads[0] = NodeEntry{MakeNodeLike(name, *node, std::move(again)), 0, 0};
        return grads;
      })
      .set_array_fn(ChooseBack<P, kPlaces>);
  return Op::Register(name)
      .describe(text)
      .template set_param<P>()
      .set_inputs(std::move(inputs), count)
      .set_infer_type(FirstType)
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> inputs = {ograds[0]};
        inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
        std::vector<NodeEntry> grads(node->inputs.size());
        grads[0] = NodeEntry{MakeNodeLike(backward, *node, std::move(inputs)), 0, 0};
        return grads;
      })
      .set_array_fn(Choose<P, kPlaces>);
}

// ---- insert

// Inputs of the three records: arr, then values unless `val` is given, then obj of insert_tensor.
bool HasObj(const Attrs& attrs) { return attrs.op->name.find("_insert_tensor") != std::string::npos; }
bool HasValues(const Attrs& attrs) { return !attrs.get<InsertParam>().val.has_value(); }
int InsertInputs(const Attrs& attrs) { return 1 + HasValues(attrs) + HasObj(attrs); }

std::vector<std::string> InsertNames(const Attrs& attrs) {
  std::vector<std::string> names = {"arr"};
  if (HasValues(attrs)) names.push_back("values");
  if (HasObj(attrs)) names.push_back("obj");
  return names;
}

// Where the entries of the result come from: those of arr in order, and those of the values.
struct Places {
  List of_arr, of_values;  // positions in the result
};

Places InsertPlaces(const Attrs& attrs, const Along& along, int64_t values_size, const NDArray* obj) {
  const auto& p = attrs.get<InsertParam>();
  const int64_t size = along.size();
  Places places;
  List before;  // the positions in arr that values stand in front of
  if (obj) {
    before = ArrayPlaces(attrs, *obj, size, size + 1);
  } else if (p.int_ind.has_value()) {
    before = {CheckedPlace(attrs, p.int_ind.value(), size, size + 1)};
  } else {
    before = SlicePlaces(attrs, p, size);
  }
  // All values go to a single position.
  if (before.size() == 1 && values_size != 1) before.assign(static_cast<size_t>(values_size), before[0]);
  List order(before.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return before[a] < before[b]; });
  places.of_values.resize(before.size());
  std::vector<char> taken(static_cast<size_t>(size) + before.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t at = before[order[i]] + static_cast<int64_t>(i);
    places.of_values[order[i]] = at;
    taken[static_cast<size_t>(at)] = 1;
  }
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i]) places.of_arr.push_back(static_cast<int64_t>(i));
  return places;
}

// The values in as many dimensions as the result, before they are broadcast: NumPy puts the first
// dimension of several values where a number says one position.
struct ValueView {
  Shape reshaped;  // with sizes of 1 in front
  bool moved;      // the first dimension goes to `axis`
};
ValueView ViewOfValues(const Attrs& attrs, const Shape& values, const Along& along, bool one) {
  const int n = along.shape.ndim();
  std::vector<int64_t> dims(values.begin(), values.end());
  while (static_cast<int>(dims.size()) < n) dims.insert(dims.begin(), 1);
  MXNET_CHECK_KIND(static_cast<int>(dims.size()) == n, Value)
      << "[" << attrs.op->name << "] values has shape " << values << "; accepted: at most " << n << " dimensions";
  return {Shape(dims), one && n > 1 && along.axis > 0};
}

int64_t ValuesSize(const ValueView& view, const Along& along) { return view.reshaped[view.moved ? 0 : along.axis]; }

AttrsPtr MovedAttrs(int ndim, int from, int to) {
  std::vector<int64_t> axes;
  for (int i = 0; i < ndim; ++i)
    if (i != from) axes.push_back(i);
  axes.insert(axes.begin() + to, from);
  return MakeAttrs(Op::Get("transpose"), {{"axes", Shape(axes).str()}});
}

Shape Moved(const Shape& s, int from, int to) {
  std::vector<int64_t> dims(s.begin(), s.end());
  const int64_t size = dims[static_cast<size_t>(from)];
  dims.erase(dims.begin() + from);
  dims.insert(dims.begin() + to, size);
  return Shape(dims);
}

// What both directions know of a call.
struct Insertion {
  Along along;
  ValueView view;
  Places places;
};
Insertion InsertionOf(const Attrs& attrs, const Shape& arr, const Shape& values, const NDArray* obj) {
  Insertion i;
  i.along = AlongAxis(attrs, arr, attrs.get<InsertParam>().axis);
  const bool one = obj ? obj->shape().ndim() == 0 : attrs.get<InsertParam>().int_ind.has_value();
  i.view = ViewOfValues(attrs, values, i.along, one);
  i.places = InsertPlaces(attrs, i.along, ValuesSize(i.view, i.along), obj);
  return i;
}
Insertion InsertionOf(const Attrs& attrs, const Shape& arr, const NDArray* const* rest) {
  const bool values = HasValues(attrs);
  return InsertionOf(attrs, arr, values ? rest[0]->shape() : Shape(std::vector<int64_t>()), HasObj(attrs) ? rest[values] : nullptr);
}

// The values in the shape and dtype in which they are inserted.
NDArray ExpandedValues(const Attrs& attrs, const NDArray& given, const Insertion& i, const NDArray& arr) {
  const Shape to = WithSize(i.along.shape, i.along.axis, i.places.of_values.size());
  NDArray now = given.Detach();
  if (now.dtype() != arr.dtype()) {
    NDArray cast(now.shape(), arr.ctx(), arr.dtype());
    RunOnArrays(graph_ops::CastAttrs(arr.dtype()), {now}, {OpReq::kWrite}, {cast}, false);
    now = cast;
  }
  now = now.Reshape(i.view.reshaped);
  if (i.view.moved) {
    NDArray turned(Moved(now.shape(), 0, i.along.axis), arr.ctx(), arr.dtype());
    RunOnArrays(MovedAttrs(to.ndim(), 0, i.along.axis), {now}, {OpReq::kWrite}, {turned}, false);
    now = turned;
  }
  if (now.shape() == to) return now;
  BroadcastShape(attrs.op->name, now.shape(), to);
  for (int d = 0; d < to.ndim(); ++d)
    MXNET_CHECK_KIND(now.shape()[d] == 1 || now.shape()[d] == to[d], Value)
        << "[" << attrs.op->name << "] values of shape " << given.shape() << " cannot be broadcast to " << to;
  NDArray full(to, arr.ctx(), arr.dtype());
  if (to.Size() > 0) RunOnArrays(MakeAttrs(Op::Get("_npi_broadcast_to"), {{"shape", to.str()}}), {now}, {OpReq::kWrite}, {full}, false);
  return full;
}

void Insert(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray& arr = *in[0];
  const Insertion i = InsertionOf(attrs, arr.shape(), in.data() + 1);
  const size_t kept = i.places.of_arr.size(), added = i.places.of_values.size();
  const Shape to = WithSize(i.along.shape, i.along.axis, kept + added);
  NDArray values;
  if (HasValues(attrs)) {
    values = ExpandedValues(attrs, *in[1], i, arr);
  } else {
    values = NDArray(WithSize(i.along.shape, i.along.axis, added), arr.ctx(), arr.dtype());
    std::ostringstream number;
    number.precision(17);
    number << attrs.get<InsertParam>().val.value();
    RunOnArrays(
        MakeAttrs(Op::Get("_npi_full"), {{"shape", values.shape().str()}, {"dtype", DTypeName(arr.dtype())}, {"value", number.str()}}), {},
        {OpReq::kWrite}, {values}, false);
  }
  GiveShape(attrs, out[0], to, arr);
  if (to.Size() == 0) return;
  NDArray joined(to, arr.ctx(), arr.dtype());
  RunOnArrays(MakeAttrs(Op::Get("Concat"), {{"dim", std::to_string(i.along.axis)}, {"num_args", "2"}}),
              {arr.Detach().Reshape(i.along.shape), values}, {OpReq::kWrite}, {joined}, false);
  List from(kept + added);
  for (size_t k = 0; k < kept; ++k) from[static_cast<size_t>(i.places.of_arr[k])] = static_cast<int64_t>(k);
  for (size_t k = 0; k < added; ++k) from[static_cast<size_t>(i.places.of_values[k])] = static_cast<int64_t>(kept + k);
  Take(joined, {to, i.along.axis}, from, *out[0]);
}

// [ograd, arr, values, obj] -> gradients of arr and values
void InsertBack(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray& ograd = *in[0];
  const Insertion i = InsertionOf(attrs, in[1]->shape(), in.data() + 2);
  const Along whole = {ograd.shape(), i.along.axis};
  GiveShape(attrs, out[0], in[1]->shape(), ograd);
  Take(ograd, whole, i.places.of_arr, *out[0]);
  if (!HasValues(attrs)) return;
  const NDArray& values = *in[2];
  if (out[1]->is_none()) out[1]->Init(values.shape(), ograd.ctx(), values.dtype());
  if (values.shape().Size() == 0) return;
  NDArray part(WithSize(whole.shape, whole.axis, i.places.of_values.size()), ograd.ctx(), ograd.dtype());
  Take(ograd, whole, i.places.of_values, part);
  if (i.view.moved) {
    NDArray turned(Moved(part.shape(), whole.axis, 0), ograd.ctx(), ograd.dtype());
    RunOnArrays(MovedAttrs(part.shape().ndim(), whole.axis, 0), {part}, {OpReq::kWrite}, {turned}, false);
    part = turned;
  }
  NDArray sum(i.view.reshaped, ograd.ctx(), ograd.dtype());
  if (part.shape().Size() == 0)
    Zero(sum);
  else
    RunOnArrays(MakeAttrs(graph_ops::SumLike(), {}), {part, sum}, {OpReq::kWrite}, {sum}, false);
  CopyFromTo(sum.Reshape(values.shape()), *out[1]);
}

bool InsertShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  for (const Shape& s : *in)
    if (!s.known()) return false;
  Along along = AlongAxis(attrs, (*in)[0], attrs.get<InsertParam>().axis);
  if (HasObj(attrs)) {
    along.shape[along.axis] = Shape::kUnknownDim;  // it may be a mask
  } else {
    const Insertion i = InsertionOf(attrs, (*in)[0], HasValues(attrs) ? (*in)[1] : Shape(std::vector<int64_t>()), nullptr);
    along.shape[along.axis] = static_cast<int64_t>(i.places.of_arr.size() + i.places.of_values.size());
  }
  AssignShape(attrs, "the result", &(*out)[0], along.shape);
  return (*out)[0].known();
}

void InsertRecord(const std::string& name, const char* text, std::vector<std::string> inputs) {
  const std::string backward = "_backward" + name;
  std::vector<std::string> back_inputs = {"ograd"};
  back_inputs.insert(back_inputs.end(), inputs.begin(), inputs.end());
  Op::Register(backward)
      .describe("Gradients of " + name + ": of arr, and of values where they are an array.")
      .set_param<InsertParam>()
      .set_inputs(back_inputs, [](const Attrs& a) { return 1 + InsertInputs(a); })
      .set_outputs({"arr", "values"}, [](const Attrs& a) { return 1 + HasValues(a); })
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        for (size_t i = 0; i < out->size(); ++i) AssignShape(attrs, "a gradient", &(*out)[i], (*in)[i + 1]);
        for (const Shape& s : *in)
          if (!s.known()) return false;
        return true;
      })
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        for (size_t i = 0; i < out->size(); ++i) AssignType(attrs, "a gradient", &(*out)[i], (*in)[i + 1]);
        for (int t : *in)
          if (t == kDTypeUnknown) return false;
        return true;
      })
      .set_array_fn(InsertBack);
  Op::Register(name)
      .describe(text)
      .set_param<InsertParam>()
      .set_inputs(std::move(inputs), InsertInputs)
      .set_list_inputs(InsertNames)
      .set_infer_shape(InsertShape)
      .set_infer_type(FirstType)
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> inputs = {ograds[0]};
        inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
        const NodePtr back = MakeNodeLike(backward, *node, std::move(inputs));
        std::vector<NodeEntry> grads(node->inputs.size());
        for (int i = 0; i < 1 + HasValues(*node->attrs); ++i) grads[i] = NodeEntry{back, static_cast<uint32_t>(i), 0};
        return grads;
      })
      .set_array_fn(Insert);
}

[[maybe_unused]] const bool registered = [] {
  ChooseRecord<DeleteParam, KeptPlaces>(
      "_npi_delete", "The array without the entries at a position, at those of a slice, or at those of obj.", {"arr", "obj"}, DeleteInputs)
      .set_infer_shape(DeleteShape);
  ChooseRecord<RepeatsParam, RepeatedPlaces>("_npi_repeats", "Every entry as often as its number says.", {"data"}, [](const Attrs&) {
    return 1;
  }).set_infer_shape(RepeatsShape);
  InsertRecord("_npi_insert_scalar", "The array with values before the position int_ind.", {"arr", "values"});
  InsertRecord("_npi_insert_slice", "The array with values before the positions of a slice.", {"arr", "values"});
  InsertRecord("_npi_insert_tensor", "The array with values before the positions in obj.", {"arr", "values", "obj"});
  return true;
}();

}  // namespace
}  // namespace mxnet
