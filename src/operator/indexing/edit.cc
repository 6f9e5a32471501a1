// delete and repeats: results that have other numbers of an array's entries along one dimension.
#include "mxnet/ndarray.h"
#include "operator/indexing/parts.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

using namespace parts;  // NOLINT

struct DeleteParam : public Parameter<DeleteParam> {
  std::optional<int> start, stop, step, int_ind, axis;
  MXNET_DECLARE_PARAM(DeleteParam) { MXNET_PLACE_FIELDS(); }
};

struct RepeatsParam : public Parameter<RepeatsParam> {
  std::optional<Shape> repeats;
  std::optional<int> axis;
  MXNET_DECLARE_PARAM(RepeatsParam) {
    MXNET_FIELD(repeats).describe("How often each entry stands in the result: one number for each, or one for all.");
    MXNET_FIELD(axis)
        .set_default(std::optional<int>())
        .describe("The dimension whose entries are repeated; None takes the array as a vector.");
  }
};

MXNET_REGISTER_PARAM(DeleteParam);
MXNET_REGISTER_PARAM(RepeatsParam);

Runs Kept(const Attrs& attrs, const Along& along, const NDArray* obj) {
  const auto& p = attrs.get<DeleteParam>();
  const int64_t size = along.size();
  List gone;
  if (p.int_ind.has_value())
    gone = {CheckedPlace(attrs, p.int_ind.value(), size, size)};
  else
    gone = obj ? ArrayPlaces(attrs, *obj, size, size) : SlicePlaces(attrs, {p.start, p.stop, p.step}, size);
  return Others(std::move(gone), size);
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

Runs Repeated(const Attrs& attrs, const Along& along, const NDArray*) {
  Runs runs;
  runs.reserve(static_cast<size_t>(RepeatedSize(attrs, along.size())));
  const Shape& r = attrs.get<RepeatsParam>().repeats.value();
  for (int64_t i = 0; i < along.size(); ++i)
    runs.insert(runs.end(), static_cast<size_t>(r[r.ndim() == 1 ? 0 : static_cast<int>(i)]), {i, 1});
  return runs;
}

using RunsFn = Runs (*)(const Attrs&, const Along&, const NDArray* obj);

template <typename P, RunsFn kRuns>
void Choose(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const Along along = AlongAxis(attrs, in[0]->shape(), attrs.get<P>().axis);
  const Runs runs = kRuns(attrs, along, in.size() > 1 ? in[1] : nullptr);
  GiveShape(attrs, out[0], WithSize(along.shape, along.axis, Count(runs)), *in[0]);
  Take(*in[0], along, runs, *out[0]);
}

// [ograd, arr, obj] -> gradient of arr
template <typename P, RunsFn kRuns>
void ChooseBack(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const Along along = AlongAxis(attrs, in[1]->shape(), attrs.get<P>().axis);
  GiveShape(attrs, out[0], in[1]->shape(), *in[0]);
  Put(*in[0], along, kRuns(attrs, along, in.size() > 2 ? in[2] : nullptr), *out[0]);
}

// The result is as long as the parameters say, or the values of obj.
bool DeleteShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known()) return false;
  Along along = AlongAxis(attrs, (*in)[0], attrs.get<DeleteParam>().axis);
  along.shape[along.axis] = in->size() > 1 ? Shape::kUnknownDim : Count(Kept(attrs, along, nullptr));
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

template <typename P, RunsFn kRuns>
Op& ChooseRecord(const std::string& name, const char* text, std::vector<std::string> inputs, std::function<int(const Attrs&)> count) {
  const std::string backward = "_backward" + name;
  std::vector<std::string> back_inputs = {"ograd"};
  back_inputs.insert(back_inputs.end(), inputs.begin(), inputs.end());
  Op::Register(backward)
      .describe("Gradient of " + name + ".")
      .set_dtypes(dtypes::kAll)
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
      .set_array_fn(ChooseBack<P, kRuns>);
  return Op::Register(name)
      .describe(text)
      .set_dtypes(dtypes::kAll)
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
      .set_array_fn(Choose<P, kRuns>);
}

[[maybe_unused]] const bool registered = [] {
  ChooseRecord<DeleteParam, Kept>("_npi_delete", "The array without the entries at a position, at those of a slice, or at those of obj.",
                                  {"arr", "obj"}, DeleteInputs)
      .set_infer_shape(DeleteShape);
  ChooseRecord<RepeatsParam, Repeated>("_npi_repeats", "Every entry as often as its number says.", {"data"}, [](const Attrs&) {
    return 1;
  }).set_infer_shape(RepeatsShape);
  return true;
}();

}  // namespace
}  // namespace mxnet
