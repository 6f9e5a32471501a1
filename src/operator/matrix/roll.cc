// roll and rot90: elements of the same array in other places; atleast_1d, _2d and _3d: the same
// elements with more dimensions.
#include <algorithm>

#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

struct RollParam : public Parameter<RollParam> {
  std::optional<Shape> shift, axis;
  MXNET_DECLARE_PARAM(RollParam) {
    MXNET_FIELD(shift)
        .set_default(std::optional<Shape>())
        .describe("By how many places entries move: one number for all dimensions of axis, or one for each. It must be given.");
    MXNET_FIELD(axis)
        .set_default(std::optional<Shape>())
        .describe("The dimensions along which entries move; None takes the array as a vector.");
  }
};

struct Rot90Param : public Parameter<Rot90Param> {
  int k;
  std::optional<Shape> axes;
  MXNET_DECLARE_PARAM(Rot90Param) {
    MXNET_FIELD(k).set_default(1).describe("How many quarters of a turn.");
    MXNET_FIELD(axes)
        .set_default(std::optional<Shape>())
        .describe("The two dimensions of the plane: positive turns go from the first to the second. They must be given.");
  }
};

struct CountParam : public Parameter<CountParam> {
  int num_args;
  MXNET_DECLARE_PARAM(CountParam) { MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of arrays."); }
};

MXNET_REGISTER_PARAM(RollParam);
MXNET_REGISTER_PARAM(Rot90Param);
MXNET_REGISTER_PARAM(CountParam);

// ---- roll

// Entries at `at` along dimensions of that size go to (at + by) % size.
struct Roll {
  int64_t outer, size, inner, by;
};

// The sum of two shifts of a dimension of that size, in [0, size).
int64_t AddShift(int64_t a, int64_t shift, int64_t size) {
  const int64_t b = (shift % size + size) % size;
  return a < size - b ? a + b : a - (size - b);
}

std::vector<Roll> Rolls(const Attrs& attrs, const Shape& s) {
  const auto& p = attrs.get<RollParam>();
  MXNET_CHECK_KIND(p.shift.has_value() && p.shift.value().ndim() > 0, Value)
      << "[" << attrs.op->name << "] shift is not given; accepted: a number, or one for each dimension of axis";
  const Shape& shift = p.shift.value();
  std::vector<int64_t> by(std::max(s.ndim(), 1), 0);
  if (!p.axis.has_value()) {
    MXNET_CHECK_KIND(shift.ndim() == 1, Value) << "[" << attrs.op->name << "] shift " << shift << " without axis; accepted: one number";
    const int64_t n = s.Size();
    return {{1, n, 1, n > 0 ? AddShift(0, shift[0], n) : 0}};
  }
  const Shape& axes = p.axis.value();
  MXNET_CHECK_KIND(shift.ndim() == 1 || axes.ndim() == 1 || shift.ndim() == axes.ndim(), Value)
      << "[" << attrs.op->name << "] shift " << shift << " and axis " << axes << "; they must have as many numbers, or one of them one";
  for (int i = 0; i < std::max(axes.ndim(), axes.ndim() > 0 ? shift.ndim() : 0); ++i) {
    const int axis = CheckedAxis(attrs, axes[axes.ndim() == 1 ? 0 : i], s.ndim());
    if (s[axis] > 0) by[axis] = AddShift(by[axis], shift[shift.ndim() == 1 ? 0 : i], s[axis]);
  }
  std::vector<Roll> rolls;
  for (int d = 0; d < s.ndim(); ++d)
    if (by[d] != 0) rolls.push_back({s.Prod(0, d), s[d], s.Prod(d + 1, s.ndim()), by[d]});
  return rolls;
}

bool RollShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool known = ElemwiseShape(attrs, in, out);
  if (known) Rolls(attrs, (*in)[0]);
  return known;
}

// One dimension after the other, between the result and the workspace.
void RollKernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const std::vector<Roll> rolls = Rolls(*a.attrs, a.in[0].shape);
  if (rolls.empty()) return CopyThrough(a);
  char* spare = rolls.size() > 1 ? static_cast<char*>(a.workspace(a.out[0].Bytes())) : nullptr;
  const char* from = a.in[0].data<char>();
  for (size_t i = 0; i < rolls.size(); ++i) {
    const Roll& r = rolls[i];
    char* to = (rolls.size() - i) % 2 == 1 ? a.out[0].data<char>() : spare;
    const int64_t piece = r.inner * static_cast<int64_t>(DTypeSize(a.in[0].dtype)), line = r.size * piece, head = r.by * piece;
    CopyRows(a.run, from, line, to + head, line, line - head, r.outer);
    CopyRows(a.run, from + line - head, line, to, line, head, r.outer);
    from = to;
  }
}

std::vector<NodeEntry> RollGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<RollParam>();
  Shape back = p.shift.value();
  for (int i = 0; i < back.ndim(); ++i) back[i] = back[i] == INT64_MIN ? back[i] : -back[i];
  AttrDict dict = {{"shift", back.str()}};
  if (p.axis.has_value()) dict["axis"] = p.axis.value().str();
  return {MakeOp("_npi_roll", {ograds[0]}, dict)};
}

// ---- rot90

struct Turn {
  int first, second, quarters;
};

Turn TurnOf(const Attrs& attrs, const Shape& s) {
  const auto& p = attrs.get<Rot90Param>();
  MXNET_CHECK_KIND(p.axes.has_value() && p.axes.value().ndim() == 2, Value)
      << "[" << attrs.op->name << "] axes is " << (p.axes.has_value() ? p.axes.value().str() : "None") << "; accepted: two dimensions";
  const Shape& axes = p.axes.value();
  const Turn t = {CheckedAxis(attrs, axes[0], s.ndim(), "axes"), CheckedAxis(attrs, axes[1], s.ndim(), "axes"), (p.k % 4 + 4) % 4};
  MXNET_CHECK_KIND(t.first != t.second, Value) << "[" << attrs.op->name << "] axes " << axes << " names dimension " << t.first << " twice";
  return t;
}

bool Rot90Shape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& from = (*in)[0];
  if (!from.ndim_known()) return false;
  const Turn t = TurnOf(attrs, from);
  Shape to = from;
  if (t.quarters % 2) std::swap(to[t.first], to[t.second]);
  AssignShape(attrs, "the result", &(*out)[0], to);
  return from.known();
}

void Rot90(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const Shape& s = a.in[0].shape;
  const Turn t = TurnOf(*a.attrs, s);
  std::vector<int64_t> from(s.ndim()), to(s.ndim());
  RowMajorStrides(s, from.data());
  RowMajorStrides(a.out[0].shape, to.data());
  int64_t offset = 0;
  auto turn_around = [&](int d) {
    offset += (s[d] - 1) * from[d];
    from[d] = -from[d];
  };
  if (t.quarters == 1 || t.quarters == 2) turn_around(t.second);
  if (t.quarters == 3 || t.quarters == 2) turn_around(t.first);
  if (t.quarters % 2) std::swap(from[t.first], from[t.second]);
  const size_t bytes = DTypeSize(a.in[0].dtype);
  CopyStrided(a.run, a.in[0].data<char>() + offset * static_cast<int64_t>(bytes), from.data(), a.out[0].dptr, to.data(),
              a.out[0].shape.dims(), s.ndim(), bytes);
}

// ---- atleast_1d, atleast_2d, atleast_3d

Shape AtLeast(const Shape& s, int dims) {
  std::vector<int64_t> to(s.begin(), s.end());
  if (dims == 3 && s.ndim() == 2) to.push_back(1);
  if (dims == 3 && s.ndim() == 1) to = {1, s[0], 1};
  while (static_cast<int>(to.size()) < dims) to.insert(to.begin(), 1);
  return Shape(to);
}

template <int kDims>
bool AtLeastShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  bool known = true;
  for (size_t i = 0; i < in->size(); ++i) {
    if ((*in)[i].ndim_known()) AssignShape(attrs, "a result", &(*out)[i], AtLeast((*in)[i], kDims));
    known = known && (*in)[i].known();
  }
  return known;
}

bool EachType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  bool known = true;
  for (size_t i = 0; i < in->size(); ++i) {
    AssignType(attrs, "a result", &(*out)[i], (*in)[i]);
    AssignType(attrs, "an array", &(*in)[i], (*out)[i]);
    known = known && (*in)[i] != kDTypeUnknown;
  }
  return known;
}

template <int kDims>
void AtLeastRecord(const std::string& name) {
  const auto count = [](const Attrs& a) { return a.get<CountParam>().num_args; };
  Op::Register("_np_" + name)
      .describe("Each array with at least " + std::to_string(kDims) + " dimensions: sizes of 1 are put around its shape.")
      .alias("_npi_" + name)
      .set_param<CountParam>()
      .set_variadic("arys", count)
      .set_dtypes(dtypes::kAll)
      .set_num_outputs(count)
      .set_infer_shape(AtLeastShape<kDims>)
      .set_infer_type(EachType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> grads;
        for (size_t i = 0; i < ograds.size(); ++i) grads.push_back(MakeOp("reshape_like", {ograds[i], node->inputs[i]}));
        return grads;
      })
      .set_kernel([](KernelArgs& a) {
        for (int i = 0; i < a.in.size(); ++i)
          if (a.req[i] != OpReq::kNull) CopyBytes(a.run, a.in[i].dptr, a.out[i].dptr, static_cast<int64_t>(a.in[i].Bytes()));
      });
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_np_roll")
      .describe("Entries moved along dimensions; those that leave at one end come in at the other.")
      .alias("_npi_roll")
      .set_param<RollParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(RollShape)
      .set_gradient(RollGradient)
      .set_kernel(RollKernel);
  Op::Register("_npi_rot90")
      .describe("The planes of two dimensions turned by quarters of a turn.")
      .set_param<Rot90Param>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(Rot90Shape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const auto& p = node->attrs->get<Rot90Param>();
        return std::vector<NodeEntry>{
            MakeOp("_npi_rot90", {ograds[0]}, {{"k", std::to_string((4 - p.k % 4) % 4)}, {"axes", p.axes.value().str()}})};
      })
      .set_kernel(Rot90);
  AtLeastRecord<1>("atleast_1d");
  AtLeastRecord<2>("atleast_2d");
  AtLeastRecord<3>("atleast_3d");
  return true;
}();

}  // namespace
}  // namespace mxnet
