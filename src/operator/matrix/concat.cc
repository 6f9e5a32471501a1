// Concat, stack and their NumPy forms; SliceChannel (split) and _split_v2. Each is the gradient of
// another.
#include "operator/matrix/concat.h"

#include <algorithm>

#include "operator/matrix/axes.h"
#include "operator/matrix/join_pieces.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/runtime/parameters_in_files.h"

namespace mxnet {

MXNET_REGISTER_PARAM(ConcatParam);

namespace {

struct StackParam : public Parameter<StackParam> {
  int axis;
  int num_args;
  MXNET_DECLARE_PARAM(StackParam) {
    MXNET_FIELD(axis).set_default(0).describe("Where the new dimension stands in the result.");
    MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of inputs.");
  }
};

struct ColumnStackParam : public Parameter<ColumnStackParam> {
  int num_args;
  MXNET_DECLARE_PARAM(ColumnStackParam) { MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of inputs."); }
};

struct SliceChannelParam : public Parameter<SliceChannelParam> {
  int num_outputs;
  int axis;
  bool squeeze_axis;
  MXNET_DECLARE_PARAM(SliceChannelParam) {
    MXNET_FIELD(num_outputs).set_lower_bound(1).describe("Number of equal parts.");
    MXNET_FIELD(axis).set_default(1).describe("The dimension that is split.");
    MXNET_FIELD(squeeze_axis).set_default(false).describe("Remove the dimension, which must have num_outputs entries.");
  }
};

struct SplitParam : public Parameter<SplitParam> {
  Shape indices;
  int axis;
  bool squeeze_axis;
  int sections;
  MXNET_DECLARE_PARAM(SplitParam) {
    MXNET_FIELD(indices).describe("First entry of each part, from 0 on; unused with `sections`.");
    MXNET_FIELD(axis).set_default(1).describe("The dimension that is split.");
    MXNET_FIELD(squeeze_axis).set_default(false).describe("Remove the dimension; every part must have one entry.");
    MXNET_FIELD(sections).set_default(0).set_lower_bound(0).describe("Number of nearly equal parts; 0 splits at `indices`.");
  }
};

MXNET_REGISTER_PARAM(StackParam);
MXNET_REGISTER_PARAM(ColumnStackParam);
MXNET_REGISTER_PARAM(SliceChannelParam);
MXNET_REGISTER_PARAM(SplitParam);

// ---- along an axis that exists

// `out` and all inputs agree but for `axis`, where the sizes add up. Fills in one unknown size from
// the others.
bool JoinShape(const Attrs& attrs, int dim, ShapeVector* parts, Shape* whole) {
  int ndim = whole->ndim();
  for (const Shape& s : *parts) {
    if (!s.ndim_known()) continue;
    MXNET_CHECK_KIND(ndim < 0 || ndim == s.ndim(), Value) << "[" << attrs.op->name << "] an input has shape " << s << ", another array "
                                                          << ndim << " dimensions; all must have the same number";
    ndim = s.ndim();
  }
  if (ndim < 0) return false;
  const int axis = CheckedAxis(attrs, dim, ndim, "dim");
  Shape common(ndim);
  auto merge = [&](const Shape& s, const char* what) {
    if (!s.ndim_known()) return;
    Shape others = s;
    others[axis] = Shape::kUnknownDim;
    const Shape before = common;
    MXNET_CHECK_KIND(MergeShape(&common, others), Value) << "[" << attrs.op->name << "] " << what << " has shape " << s
                                                         << "; the others have " << before << " in dimensions other than " << axis;
  };
  for (const Shape& s : *parts) merge(s, "an input");
  merge(*whole, "the result");
  int64_t sum = 0;
  int unknown = -1, num_unknown = 0;
  for (size_t i = 0; i < parts->size(); ++i) {
    Shape& s = (*parts)[i];
    const int64_t size = s.ndim_known() ? s[axis] : Shape::kUnknownDim;
    s = common;
    s[axis] = size;
    if (size < 0) {
      unknown = static_cast<int>(i);
      ++num_unknown;
    } else {
      sum += size;
    }
  }
  if (num_unknown == 1 && whole->ndim_known() && (*whole)[axis] >= sum) {
    (*parts)[unknown][axis] = (*whole)[axis] - sum;
    num_unknown = 0;
    sum = (*whole)[axis];
  }
  Shape joined = common;
  if (num_unknown == 0) joined[axis] = sum;
  AssignShape(attrs, "the result", whole, joined);
  for (const Shape& s : *parts)
    if (!s.known()) return false;
  return whole->known();
}

void Join(const RunContext& run, Span<const TBlob> parts, const TBlob& whole, int axis) {
  const RowsAlongAxis extents(whole, axis);
  JoinPieces(run, parts, whole.data<char>(), extents.rows, [&](int i) { return parts[i].shape[axis] * extents.inner; });
}

// `entries(i)`: entries of the axis in part i.
template <typename F>
void Divide(const RunContext& run, const TBlob& whole, Span<const TBlob> parts, Span<const OpReq> req, int axis, F&& entries) {
  const RowsAlongAxis extents(whole, axis);
  Ran("copies of rows", RanAt::kNone);
  const int64_t rows = extents.rows, inner = extents.inner, pitch = whole.shape[axis] * inner;
  const char* from = whole.data<char>();
  for (int i = 0; i < parts.size(); ++i) {
    const int64_t row = entries(i) * inner;
    if (req[i] != OpReq::kNull) CopyRows(run, from, pitch, parts[i].dptr, row, row, rows);
    from += row;
  }
}

bool ConcatShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  return JoinShape(attrs, attrs.get<ConcatParam>().dim, in, &(*out)[0]);
}

// Vectors whose sizes are not given have equal ones: they are the weights of both directions for
// the input of one layer.
bool RnnParamConcatShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& whole = (*out)[0];
  if (whole.known() && whole.ndim() == 1) {
    int64_t rest = whole[0], open = 0;
    for (const Shape& s : *in) {
      if (s.known())
        rest -= s.Size();
      else
        ++open;
    }
    if (open > 1 && rest >= 0 && rest % open == 0) {
      for (Shape& s : *in)
        if (!s.known()) s = Shape(1, rest / open);
    }
  }
  return ConcatShape(attrs, in, out);
}

void Concat(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  Join(a.run, a.in, a.out[0], CheckedAxis(*a.attrs, a.param<ConcatParam>().dim, a.out[0].shape.ndim()));
}

std::vector<NodeEntry> AllOutputs(const NodePtr& node, int count) {
  std::vector<NodeEntry> entries;
  for (int i = 0; i < count; ++i) entries.push_back(NodeEntry{node, static_cast<uint32_t>(i), 0});
  return entries;
}

// [ograd, inputs...] -> gradients of the inputs; the inputs are there for their sizes.
std::vector<NodeEntry> ConcatGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> in = {ograds[0]};
  in.insert(in.end(), node->inputs.begin(), node->inputs.end());
  return AllOutputs(MakeNodeLike("_backward_Concat", *node, std::move(in)), node->num_inputs());
}

int BackwardConcatInputs(const Attrs& a) { return a.get<ConcatParam>().num_args + 1; }

bool BackwardConcatShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  bool known = (*in)[0].known();
  for (size_t i = 0; i < out->size(); ++i) {
    AssignShape(attrs, "a gradient", &(*out)[i], (*in)[i + 1]);
    known &= (*out)[i].known();
  }
  return known;
}

void BackwardConcat(KernelArgs& a) {
  const int axis = CheckedAxis(*a.attrs, a.param<ConcatParam>().dim, a.in[0].shape.ndim());
  Divide(a.run, a.in[0], a.out, a.req, axis, [&](int i) { return a.out[i].shape[axis]; });
}

std::vector<NodeEntry> BackwardConcatGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> grads(node->num_inputs());
  grads[0] = NodeEntry{MakeNodeLike("Concat", *node, ograds), 0, 0};
  return grads;
}

Op& ConcatRecord(const char* name, const char* text) {
  return Op::Register(name)
      .describe(text)
      .set_param<ConcatParam>()
      .set_variadic("data", [](const Attrs& a) { return a.get<ConcatParam>().num_args; })
      .set_dtypes(dtypes::kAll)
      .set_gradient(ConcatGradient);
}

// ---- along a new axis

bool StackShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape common;
  for (const Shape& s : *in)
    MXNET_CHECK_KIND(MergeShape(&common, s), Value)
        << "[" << attrs.op->name << "] inputs have shapes " << (*in)[0] << " and " << s << "; all must be equal";
  if (!common.ndim_known() && !(*out)[0].ndim_known()) return false;
  const int n = common.ndim_known() ? common.ndim() + 1 : (*out)[0].ndim();
  const int axis = CheckedAxis(attrs, attrs.get<StackParam>().axis, n);
  if (!common.ndim_known()) common = Shape(n - 1);
  Shape full(n);
  for (int i = 0; i < n; ++i) full[i] = i == axis ? static_cast<int64_t>(in->size()) : common[i < axis ? i : i - 1];
  AssignShape(attrs, "the result", &(*out)[0], full);
  for (int i = 0; i < n; ++i)
    if (i != axis) common[i < axis ? i : i - 1] = (*out)[0][i];
  for (Shape& s : *in) s = common;
  return common.known();
}

void Stack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob& out = a.out[0];
  const int axis = CheckedAxis(*a.attrs, a.param<StackParam>().axis, out.shape.ndim());
  const int64_t row = out.shape.Prod(axis + 1, out.shape.ndim()) * static_cast<int64_t>(DTypeSize(out.dtype));
  JoinPieces(a.run, a.in, out.data<char>(), out.shape.Prod(0, axis), [row](int) { return row; });
}

// ---- NumPy's shorthands: inputs of fewer dimensions first get more of them

Shape AtLeast(const Shape& s, int ndim, bool columns, bool depth) {
  if (s.ndim() >= ndim) return s;
  if (depth) {  // dstack: (n,) -> (1, n, 1), (m, n) -> (m, n, 1)
    if (s.ndim() == 0) return Shape({1, 1, 1});
    return s.ndim() == 1 ? Shape({1, s[0], 1}) : Shape({s[0], s[1], 1});
  }
  if (s.ndim() == 0) return Shape(ndim, 1);
  return columns ? Shape({s[0], 1}) : Shape({1, s[0]});
}

enum class JoinKind { kV, kH, kD, kColumn };

// The inputs as the shorthand sees them, and the axis along which it puts them together.
template <JoinKind kind>
ShapeVector Seen(const ShapeVector& in, int* axis) {
  ShapeVector seen;
  for (const Shape& s : in) {
    if (!s.known()) return {};
    switch (kind) {
      case JoinKind::kV: seen.push_back(AtLeast(s, 2, false, false)); break;
      case JoinKind::kH: seen.push_back(s.ndim() == 0 ? Shape({1}) : s); break;
      case JoinKind::kD: seen.push_back(AtLeast(s, 3, false, true)); break;
      case JoinKind::kColumn: seen.push_back(AtLeast(s, 2, true, false)); break;
    }
  }
  *axis = kind == JoinKind::kV ? 0 : kind == JoinKind::kD ? 2 : kind == JoinKind::kColumn ? 1 : seen[0].ndim() == 1 ? 0 : 1;
  return seen;
}

template <JoinKind kind>
bool ShorthandShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  int axis = 0;
  ShapeVector seen = Seen<kind>(*in, &axis);
  return !seen.empty() && JoinShape(attrs, axis, &seen, &(*out)[0]);
}

template <JoinKind kind>
std::vector<TBlob> SeenBlobs(Span<const TBlob> in, int* axis) {
  ShapeVector shapes;
  for (const TBlob& b : in) shapes.push_back(b.shape);
  shapes = Seen<kind>(shapes, axis);
  std::vector<TBlob> blobs(in.begin(), in.end());
  for (size_t i = 0; i < blobs.size(); ++i) blobs[i].shape = shapes[i];
  return blobs;
}

template <JoinKind kind>
void Shorthand(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  int axis = 0;
  std::vector<TBlob> parts = SeenBlobs<kind>(a.in, &axis);
  Join(a.run, parts, a.out[0], axis);
}

template <JoinKind kind>
void BackwardShorthand(KernelArgs& a) {
  int axis = 0;
  std::vector<TBlob> parts = SeenBlobs<kind>(a.out, &axis);
  Divide(a.run, a.in[0], parts, a.req, axis, [&](int i) { return parts[i].shape[axis]; });
}

template <JoinKind kind, typename P>
void ShorthandRecord(const char* name, const char* backward, const char* text) {
  auto count = [](const Attrs& a) { return a.get<P>().num_args; };
  Op::Register(name)
      .describe(text)
      .set_dtypes(dtypes::kAll)
      .template set_param<P>()
      .set_trait(ParametersInFiles{{{"dim", ""}}})  // which 2.0 writes, and which the kind says
      .set_variadic("data", count)
      .set_infer_shape(ShorthandShape<kind>)
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> in = {ograds[0]};
        in.insert(in.end(), node->inputs.begin(), node->inputs.end());
        return AllOutputs(MakeNodeLike(backward, *node, std::move(in)), node->num_inputs());
      })
      .set_kernel(Shorthand<kind>);
  const std::string forward = name;
  Op::Register(backward)
      .describe("Gradient.")
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(1)
      .template set_param<P>()
      .set_variadic("data", [](const Attrs& a) { return a.get<P>().num_args + 1; })
      .set_num_outputs(count)
      .set_infer_shape(BackwardConcatShape)
      .set_layout(LayoutRule::kChannelsLast)
      .set_gradient([forward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> grads(node->num_inputs());
        grads[0] = NodeEntry{MakeNodeLike(forward, *node, ograds), 0, 0};
        return grads;
      })
      .set_kernel(BackwardShorthand<kind>);
}

// ---- splitting

// hsplit names no dimension: it divides the second one, and the only one of a vector.
bool IsHsplit(const Attrs& attrs) { return attrs.op->name.compare(0, 11, "_npi_hsplit") == 0; }
int SplitAxis(const Attrs& attrs, int ndim) {
  return CheckedAxis(attrs, IsHsplit(attrs) ? (ndim == 1 ? 0 : 1) : attrs.get<SplitParam>().axis, ndim);
}

// Where each part begins, and the end of the last.
std::vector<int64_t> PartBounds(const Attrs& attrs, const SplitParam& p, int64_t size) {
  std::vector<int64_t> at;
  if (p.sections > 0) {
    MXNET_CHECK_KIND(!IsHsplit(attrs) || size % p.sections == 0, Value)
        << "[" << attrs.op->name << "] a dimension of size " << size << " cannot be split into " << p.sections << " equal parts";
    const int64_t each = size / p.sections, longer = size % p.sections;
    at.push_back(0);
    for (int i = 0; i < p.sections; ++i) at.push_back(at.back() + each + (i < longer));
    return at;
  }
  at.assign(p.indices.begin(), p.indices.end());
  at.push_back(size);
  bool rising = at[0] == 0;
  for (size_t i = 1; i < at.size(); ++i) rising &= at[i - 1] <= at[i];
  MXNET_CHECK_KIND(rising, Value) << "[" << attrs.op->name << "] indices " << p.indices
                                  << "; they must begin with 0, not fall, and not exceed the size " << size;
  return at;
}

bool DivideShape(const Attrs& attrs, int axis, bool squeeze, const std::vector<int64_t>& bounds, const Shape& whole, ShapeVector* out) {
  bool known = true;
  for (size_t i = 0; i < out->size(); ++i) {
    Shape part = whole;
    part[axis] = bounds[i + 1] - bounds[i];
    if (squeeze) {
      MXNET_CHECK_KIND(part[axis] == 1, Value) << "[" << attrs.op->name << "] squeeze_axis needs parts of one entry; part " << i << " of "
                                               << whole << " has " << part[axis];
      std::vector<int64_t> dims(part.begin(), part.end());
      dims.erase(dims.begin() + axis);
      part = Shape(dims);
    }
    AssignShape(attrs, "a part", &(*out)[i], part);
    known &= (*out)[i].known();
  }
  return known;
}

Shape WithAxis(const Shape& s, int axis, int64_t size) {
  std::vector<int64_t> dims(s.begin(), s.end());
  dims.insert(dims.begin() + axis, size);
  return Shape(dims);
}

bool SplitShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<SplitParam>();
  Shape& whole = (*in)[0];
  if (!whole.ndim_known()) return false;
  const int axis = SplitAxis(attrs, whole.ndim());
  for (const Shape& part : *out) {  // what is known of the parts, in other dimensions
    if (part.ndim() != whole.ndim() - (p.squeeze_axis ? 1 : 0)) continue;
    Shape from = p.squeeze_axis ? WithAxis(part, axis, 1) : part;
    from[axis] = Shape::kUnknownDim;
    AssignShape(attrs, "data", &whole, from);
  }
  if (whole[axis] < 0) return false;
  return DivideShape(attrs, axis, p.squeeze_axis, PartBounds(attrs, p, whole[axis]), whole, out) && whole.known();
}

bool BackwardSplitShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<SplitParam>();
  Shape& whole = (*out)[0];
  bool known = true;
  for (const Shape& part : *in) known = known && part.known();
  if (!known) return whole.known() && SplitShape(attrs, out, in);
  const Shape& first = (*in)[0];
  const int axis = SplitAxis(attrs, first.ndim() + (p.squeeze_axis ? 1 : 0));
  Shape joined = p.squeeze_axis ? WithAxis(first, axis, 1) : first;
  joined[axis] = 0;
  for (const Shape& part : *in) {
    MXNET_CHECK_KIND(part.ndim() == first.ndim(), Value) << "[" << attrs.op->name << "] parts have shapes " << first << " and " << part;
    joined[axis] += p.squeeze_axis ? 1 : part[axis];
  }
  AssignShape(attrs, "the whole", &whole, joined);
  return SplitShape(attrs, out, in);
}

void BackwardSplit(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const auto& p = a.param<SplitParam>();
  const int axis = SplitAxis(*a.attrs, a.out[0].shape.ndim());
  if (!p.squeeze_axis) return Join(a.run, a.in, a.out[0], axis);
  std::vector<TBlob> parts(a.in.begin(), a.in.end());
  for (TBlob& part : parts) part.shape = WithAxis(part.shape, axis, 1);
  Join(a.run, parts, a.out[0], axis);
}

void Split(KernelArgs& a) {
  const auto& p = a.param<SplitParam>();
  const int axis = SplitAxis(*a.attrs, a.in[0].shape.ndim());
  const std::vector<int64_t> bounds = PartBounds(*a.attrs, p, a.in[0].shape[axis]);
  Divide(a.run, a.in[0], a.out, a.req, axis, [&](int i) { return bounds[i + 1] - bounds[i]; });
}

bool SliceChannelShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<SliceChannelParam>();
  Shape& whole = (*in)[0];
  for (const Shape& part : *out)
    if (!whole.ndim_known() && part.ndim_known()) whole = Shape(part.ndim() + (p.squeeze_axis ? 1 : 0));
  if (!whole.ndim_known()) return false;
  const int axis = CheckedAxis(attrs, p.axis, whole.ndim());
  for (const Shape& part : *out) {  // what is known of the parts
    if (!part.ndim_known()) continue;
    Shape from = p.squeeze_axis ? WithAxis(part, axis, 1) : part;
    if (from[axis] >= 0) from[axis] *= p.num_outputs;
    AssignShape(attrs, "data", &whole, from);
  }
  if (whole[axis] < 0) return false;
  MXNET_CHECK_KIND(whole[axis] % p.num_outputs == 0, Value)
      << "[" << attrs.op->name << "] dimension " << axis << " of " << whole << " cannot be split into " << p.num_outputs << " equal parts";
  std::vector<int64_t> bounds;
  for (int i = 0; i <= p.num_outputs; ++i) bounds.push_back(whole[axis] / p.num_outputs * i);
  return DivideShape(attrs, axis, p.squeeze_axis, bounds, whole, out) && whole.known();
}

void SliceChannel(KernelArgs& a) {
  const auto& p = a.param<SliceChannelParam>();
  const int axis = CheckedAxis(*a.attrs, p.axis, a.in[0].shape.ndim());
  const int64_t each = a.in[0].shape[axis] / p.num_outputs;
  Divide(a.run, a.in[0], a.out, a.req, axis, [&](int) { return each; });
}

std::vector<Stretch> EqualParts(const Attrs& attrs, const Shape& whole) {
  const auto& p = attrs.get<SliceChannelParam>();
  std::vector<Stretch> parts;
  const int axis = CheckedAxis(attrs, p.axis, whole.ndim());
  const int64_t each = whole[axis] / p.num_outputs;
  for (int i = 0; !p.squeeze_axis && i < p.num_outputs; ++i) parts.push_back({axis, each * i, each * (i + 1)});
  return parts;
}

template <typename P>
std::vector<NodeEntry> SplitGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<P>();
  const std::string count = std::to_string(ograds.size()), axis = std::to_string(p.axis);
  if (p.squeeze_axis) return {MakeOp("stack", ograds, {{"axis", axis}, {"num_args", count}})};
  return {MakeOp("Concat", ograds, {{"dim", axis}, {"num_args", count}})};
}

int SplitOutputs(const Attrs& a) {
  const auto& p = a.get<SplitParam>();
  return p.sections > 0 ? p.sections : std::max(1, p.indices.ndim());
}

// The record, without its gradient, and that of what undoes it.
Op& SplitRecords(const std::string& name, const char* backward, const char* text) {
  Op::Register(backward)
      .describe("Gradient of " + name + ": its parts put together.")
      .set_param<SplitParam>()
      .set_variadic("ograds", SplitOutputs, "")
      .set_dtypes(dtypes::kAll)
      .set_list_inputs([](const Attrs& a) {
        std::vector<std::string> names;
        for (int i = 0; i < SplitOutputs(a); ++i) names.push_back("arg" + std::to_string(i));
        return names;
      })
      .set_infer_shape(BackwardSplitShape)
      .set_gradient([name](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return AllOutputs(MakeNodeLike(name, *node, {ograds[0]}), node->num_inputs());
      })
      .set_kernel(BackwardSplit);
  return Op::Register(name)
      .describe(text)
      .set_param<SplitParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_num_outputs(SplitOutputs)
      .set_infer_shape(SplitShape)
      .set_kernel(Split);
}

// Files of 2.0 have None where the inputs count as vectors.
void FlattenAtNone(const std::string& name, AttrDict* params, std::vector<NodeEntry>* inputs) {
  if (auto dim = params->find("dim"); dim == params->end() || dim->second != "None") return;
  (*params)["dim"] = "0";
  for (NodeEntry& e : *inputs)
    e = {MakeNode("Reshape", {e}, {{"shape", "(-1,)"}}, name + "_flat" + std::to_string(&e - inputs->data())), 0, 0};
}

[[maybe_unused]] const bool registered = [] {
  ConcatRecord("Concat", "Puts arrays together along one dimension.")
      .set_expensive_to_recompute()
      .alias("concat")
      .alias("_npi_concatenate")
      .set_trait(ParametersInFiles{{{"axis", "dim"}}, {}, FlattenAtNone})  // of _npi_concatenate in 1.9.1
      .alias("_sparse_concat")
      .set_trait(Role::kConcat)
      .set_trait(AlongAxis{[](const Attrs& a) { return a.get<ConcatParam>().dim; }})
      .set_trait(Quantized{"_contrib_quantized_concat"})
      .set_trait(graph_ops::ByteImages{})
      .set_layout(LayoutRule::kChannelsLast)
      .set_infer_shape(ConcatShape)
      .set_kernel(Concat);
  ConcatRecord("_rnn_param_concat", "Puts the parameters of a recurrent layer together.")
      .alias("_npi_rnn_param_concat")
      .set_trait(JoinsParameters{})
      .set_infer_shape(RnnParamConcatShape)
      .set_kernel(Concat);
  Op::Register("_backward_Concat")
      .set_shape_only_from(1)
      .describe("Gradient of Concat.")
      .set_param<ConcatParam>()
      .set_variadic("data", BackwardConcatInputs)
      .set_dtypes(dtypes::kAll)
      .set_num_outputs([](const Attrs& a) { return a.get<ConcatParam>().num_args; })
      .set_infer_shape(BackwardConcatShape)
      .set_layout(LayoutRule::kChannelsLast)
      .set_gradient(BackwardConcatGradient)
      .set_kernel(BackwardConcat);
  Op::Register("stack")
      .describe("Puts arrays of one shape together along a new dimension.")
      .alias("_npi_stack")
      .set_param<StackParam>()
      .set_variadic("data", [](const Attrs& a) { return a.get<StackParam>().num_args; })
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(StackShape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const auto& p = node->attrs->get<StackParam>();
        NodePtr split = MakeNode("SliceChannel", {ograds[0]},
                                 {{"num_outputs", std::to_string(p.num_args)}, {"axis", std::to_string(p.axis)}, {"squeeze_axis", "True"}});
        return AllOutputs(split, node->num_inputs());
      })
      .set_kernel(Stack);
  ShorthandRecord<JoinKind::kV, ColumnStackParam>("_npi_vstack", "_backward_npi_vstack",
                                                  "Puts arrays together along dimension 0; vectors become rows.");
  ShorthandRecord<JoinKind::kH, ConcatParam>("_npi_hstack", "_backward_npi_hstack",
                                             "Puts arrays together along dimension 1, vectors along 0.");
  ShorthandRecord<JoinKind::kD, ConcatParam>("_npi_dstack", "_backward_npi_dstack", "Puts arrays together along dimension 2.");
  ShorthandRecord<JoinKind::kColumn, ColumnStackParam>("_npi_column_stack", "_backward_npi_column_stack",
                                                       "Puts arrays together along dimension 1; vectors become columns.");
  Op::Register("SliceChannel")
      .describe("Splits into equal parts along one dimension.")
      .alias("split")
      .alias("_npx_slice_channel")
      .set_param<SliceChannelParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"output0"}, [](const Attrs& a) { return a.get<SliceChannelParam>().num_outputs; })  // numbered even if it is one
      .set_infer_shape(SliceChannelShape)
      .set_trait(Stretches{EqualParts})
      .set_gradient(SplitGradient<SliceChannelParam>)
      .set_kernel(SliceChannel);
  SplitRecords("_split_v2", "_split_v2_backward", "Splits along one dimension, at given entries or into nearly equal parts.")
      .alias("_npi_split")
      .alias("_npi_array_split")
      .alias("_npi_dsplit")
      .set_gradient(SplitGradient<SplitParam>);
  SplitRecords("_npi_hsplit", "_npi_hsplit_backward", "Splits a vector, or other arrays along their second dimension.")
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_npi_hsplit_backward", *node, ograds), 0, 0}};
      });
  return true;
}();

}  // namespace
}  // namespace mxnet
