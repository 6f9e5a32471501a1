// insert: an array with values before some positions of one dimension.
#include <algorithm>
#include <numeric>

#include "base/dtype.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/indexing/parts.h"
#include "operator/nodes/graph_operators.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/optional_number.h"
#include "operator/record/param.h"
#include "operator/runtime/array_call.h"

namespace mxnet {
namespace {

using namespace parts;  // NOLINT

struct InsertParam : public Parameter<InsertParam> {
  OptionalNumber val;
  std::optional<int> start, stop, step, int_ind, axis;
  MXNET_DECLARE_PARAM(InsertParam) {
    MXNET_FIELD(val).set_default(OptionalNumber()).describe("The number to insert, in place of the input `values`.");
    MXNET_PLACE_FIELDS();
  }
};

MXNET_REGISTER_PARAM(InsertParam);

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
  Runs of_arr;  // positions in the result
  List of_values;
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
    before = SlicePlaces(attrs, {p.start, p.stop, p.step}, size);
  }
  // All values go to a single position.
  if (before.size() == 1 && values_size != 1) before.assign(static_cast<size_t>(values_size), before[0]);
  List order(before.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return before[a] < before[b]; });
  places.of_values.resize(before.size());
  for (size_t i = 0; i < order.size(); ++i) places.of_values[order[i]] = before[order[i]] + static_cast<int64_t>(i);
  places.of_arr = Others(places.of_values, size + static_cast<int64_t>(before.size()));
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
  const Shape to = WithSize(i.along.shape, i.along.axis, static_cast<int64_t>(i.places.of_values.size()));
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

// Where the result's entries come from, of the array with the values behind it.
Runs Woven(const Places& places) {
  struct Piece {
    int64_t at;  // in the result
    Run from;
  };
  std::vector<Piece> pieces;
  int64_t next = 0;
  for (const Run& r : places.of_arr) {
    pieces.push_back({r.begin, {next, r.count}});
    next += r.count;
  }
  const int64_t kept = next;
  for (int64_t at : places.of_values) {
    Piece* last = next > kept ? &pieces.back() : nullptr;
    if (last != nullptr && last->at + last->from.count == at)
      ++last->from.count;
    else
      pieces.push_back({at, {next, 1}});
    ++next;
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.at < b.at; });
  Runs runs;
  for (const Piece& p : pieces) runs.push_back(p.from);
  return runs;
}

void Insert(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray& arr = *in[0];
  const Insertion i = InsertionOf(attrs, arr.shape(), in.data() + 1);
  const int64_t kept = Count(i.places.of_arr), added = static_cast<int64_t>(i.places.of_values.size());
  const Shape to = WithSize(i.along.shape, i.along.axis, kept + added);
  NDArray values;
  if (HasValues(attrs)) {
    values = ExpandedValues(attrs, *in[1], i, arr);
  } else {
    values = NDArray(WithSize(i.along.shape, i.along.axis, added), arr.ctx(), arr.dtype());
    const std::string number = ExactText(attrs.get<InsertParam>().val.value());
    RunOnArrays(MakeAttrs(Op::Get("_npi_full"), {{"shape", values.shape().str()}, {"dtype", DTypeName(arr.dtype())}, {"value", number}}),
                {}, {OpReq::kWrite}, {values}, false);
  }
  GiveShape(attrs, out[0], to, arr);
  if (to.Size() == 0) return;
  const Runs runs = Woven(i.places);
  if (runs.size() <= kFewRuns) {  // without a copy of both, one behind the other
    std::vector<NDArray> parts;
    for (const Run& r : runs)
      parts.push_back(r.begin < kept ? Part(arr, i.along, r) : Part(values, {values.shape(), i.along.axis}, {r.begin - kept, r.count}));
    return Join(parts, i.along.axis, out[0]->Detach().Reshape(to));
  }
  NDArray joined(to, arr.ctx(), arr.dtype());
  Join({arr.Detach().Reshape(i.along.shape), values}, i.along.axis, joined);
  Take(joined, {to, i.along.axis}, runs, *out[0]);
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
  NDArray part(WithSize(whole.shape, whole.axis, static_cast<int64_t>(i.places.of_values.size())), ograd.ctx(), ograd.dtype());
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
    along.shape[along.axis] = Count(i.places.of_arr) + static_cast<int64_t>(i.places.of_values.size());
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
      .set_dtypes(dtypes::kAll)
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
      .set_gradient([name](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> inputs = ograds, grads(node->inputs.size());  // what is above is inserted alike, or 0 for a number
        AttrDict dict = node->attrs->dict;
        if (!HasValues(*node->attrs)) dict["val"] = "0";
        if (HasObj(*node->attrs)) inputs.push_back(node->inputs.back());
        grads[0] = MakeOp(name, std::move(inputs), std::move(dict));
        return grads;
      })
      .set_array_fn(InsertBack);
  Op::Register(name)
      .describe(text)
      .set_param<InsertParam>()
      .set_inputs(std::move(inputs), InsertInputs)
      .set_dtypes(dtypes::kAll)
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
  InsertRecord("_npi_insert_scalar", "The array with values before the position int_ind.", {"arr", "values"});
  InsertRecord("_npi_insert_slice", "The array with values before the positions of a slice.", {"arr", "values"});
  InsertRecord("_npi_insert_tensor", "The array with values before the positions in obj.", {"arr", "values", "obj"});
  return true;
}();

}  // namespace
}  // namespace mxnet
