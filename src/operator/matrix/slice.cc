// slice, slice_axis, slice_like, their gradients, and assignment into slices. All are one box with
// a start and a step per dimension.
#include <algorithm>
#include <string>

#include "base/threads/omp.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/matrix/slice_param.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"

namespace mxnet {

MXNET_REGISTER_PARAM(SliceParam);

namespace {

struct SliceAssignScalarParam : public Parameter<SliceAssignScalarParam> {
  double scalar;
  OptionalInts begin, end, step;
  MXNET_DECLARE_PARAM(SliceAssignScalarParam) {
    MXNET_FIELD(scalar).set_default(0).describe("The value that is written.");
    MXNET_FIELD(begin).describe("First index by dimension; None takes the end from which the step leads away.");
    MXNET_FIELD(end).describe("Index that is not reached any more, by dimension.");
    MXNET_FIELD(step).set_default(OptionalInts()).describe("Distance of indices by dimension, not 0.");
  }
};

struct SliceAxisParam : public Parameter<SliceAxisParam> {
  int axis;
  int64_t begin;
  std::optional<int64_t> end;
  MXNET_DECLARE_PARAM(SliceAxisParam) {
    MXNET_FIELD(axis).describe("The dimension that is cut.");
    MXNET_FIELD(begin).describe("First index; negative counts from the end.");
    MXNET_FIELD(end).describe("Index behind the last; None goes to the end.");
  }
};

struct SliceLikeParam : public Parameter<SliceLikeParam> {
  Shape axes;
  MXNET_DECLARE_PARAM(SliceLikeParam) {
    MXNET_FIELD(axes).set_default(Shape()).describe("The dimensions that are cut to the size of shape_like; all without it.");
  }
};

MXNET_REGISTER_PARAM(SliceAssignScalarParam);
MXNET_REGISTER_PARAM(SliceAxisParam);
MXNET_REGISTER_PARAM(SliceLikeParam);

// What a slice takes of an array: sizes by dimension (-1 unknown), first index, step.
struct Box {
  Shape size, first, step;
  explicit Box(const Shape& whole) : size(whole), first(std::max(0, whole.ndim()), 0), step(std::max(0, whole.ndim()), 1) {}
};

// As Python's slice.indices: bounds outside are clipped.
Box ResolveSlice(const Attrs& attrs, const Shape& whole, const OptionalInts& begin, const OptionalInts& end, const OptionalInts& step) {
  const int n = whole.ndim();
  const bool no_step = step.size() == 0 || (step.size() == 1 && !step.given(0));  // `step=None` as well
  MXNET_CHECK_KIND(begin.size() == end.size() && begin.size() <= n && (no_step || step.size() == begin.size()), Value)
      << "[" << attrs.op->name << "] begin " << begin << ", end " << end << ", step " << step << " for " << n
      << " dimensions; begin and end must have equal lengths, at most one entry per dimension, and step as many or none";
  Box box(whole);
  for (int i = 0; i < begin.size(); ++i) {
    const int64_t s = step.given(i) ? step.items[i].value : 1;
    MXNET_CHECK_KIND(s != 0, Value) << "[" << attrs.op->name << "] step[" << i << "] is 0";
    box.step[i] = s;
    if (whole[i] < 0) {
      if (begin.given(i) || end.given(i) || s != 1) box.size[i] = Shape::kUnknownDim;
      continue;
    }
    const int64_t length = whole[i], lowest = s > 0 ? 0 : -1, highest = s > 0 ? length : length - 1;
    auto clip = [&](const OptionalInts& v, int64_t fallback) {
      if (!v.given(i)) return fallback;
      int64_t x = v.items[i].value;
      if (x < 0) x += length;
      return std::min(std::max(x, lowest), highest);
    };
    const int64_t b = clip(begin, s > 0 ? lowest : highest), e = clip(end, s > 0 ? highest : lowest);
    const int64_t span = s > 0 ? e - b : b - e;
    const uint64_t stride = s > 0 ? static_cast<uint64_t>(s) : uint64_t{0} - static_cast<uint64_t>(s);
    box.size[i] = span > 0 ? static_cast<int64_t>((static_cast<uint64_t>(span) + stride - 1) / stride) : 0;
    box.first[i] = b;
    if (box.size[i] <= 1) box.step[i] = 1;  // a huge step must not overflow an offset
  }
  return box;
}

Box SliceBox(const Attrs& attrs, const Shape& whole, const Shape&) {
  const auto& p = attrs.get<SliceParam>();
  return ResolveSlice(attrs, whole, p.begin, p.end, p.step);
}

Box SliceScalarBox(const Attrs& attrs, const Shape& whole, const Shape&) {
  const auto& p = attrs.get<SliceAssignScalarParam>();
  return ResolveSlice(attrs, whole, p.begin, p.end, p.step);
}

Box SliceAxisBox(const Attrs& attrs, const Shape& whole, const Shape&) {
  const auto& p = attrs.get<SliceAxisParam>();
  Box box(whole);
  const int axis = CheckedAxis(attrs, p.axis, whole.ndim());
  const int64_t length = whole[axis];
  if (length < 0) return box;
  const int64_t b = p.begin < 0 ? p.begin + length : p.begin;
  const int64_t e = !p.end.has_value() ? length : p.end.value() < 0 ? p.end.value() + length : p.end.value();
  MXNET_CHECK_KIND(b >= 0 && b < e && e <= length, Value)
      << "[" << attrs.op->name << "] begin=" << p.begin << ", end=" << (p.end ? std::to_string(*p.end) : "None") << " of dimension " << axis
      << " with " << length << " entries; accepted: 0 <= begin < end <= " << length << ", negative ones count from the end";
  box.first[axis] = b;
  box.size[axis] = e - b;
  return box;
}

Box SliceLikeBox(const Attrs& attrs, const Shape& whole, const Shape& like) {
  const auto& p = attrs.get<SliceLikeParam>();
  Box box(whole);
  auto cut = [&](int axis) {
    MXNET_CHECK_KIND(axis < like.ndim(), Value)
        << "[" << attrs.op->name << "] axis " << axis << " does not exist in shape_like of shape " << like;
    MXNET_CHECK_KIND(whole[axis] < 0 || like[axis] <= whole[axis], Value)
        << "[" << attrs.op->name << "] dimension " << axis << " of shape_like " << like << " is larger than that of data " << whole;
    box.size[axis] = like[axis];
  };
  if (p.axes.ndim() <= 0) {
    MXNET_CHECK_KIND(whole.ndim() == like.ndim(), Value) << "[" << attrs.op->name << "] data has shape " << whole << ", shape_like " << like
                                                         << "; without axes both need the same number of dimensions";
    for (int i = 0; i < whole.ndim(); ++i) cut(i);
  } else {
    for (int64_t a : p.axes) cut(CheckedAxis(attrs, a, whole.ndim(), "axes"));
  }
  return box;
}

using BoxFn = Box (*)(const Attrs&, const Shape& whole, const Shape& like);

void Strides(const Box& box, const Shape& whole, int64_t* offset, Shape* strides) {
  const int n = whole.ndim();
  strides->Resize(n, 0);
  RowMajorStrides(whole, strides->dims());
  *offset = 0;
  for (int i = 0; i < n; ++i) {
    *offset += box.first[i] * (*strides)[i];
    (*strides)[i] *= box.step[i];
  }
}

// part = whole[box], or whole[box] = part.
void CopyBox(const RunContext& run, const Box& box, const TBlob& whole, void* part, bool into) {
  if (box.size.Size() == 0) return;
  const int n = whole.shape.ndim();
  Shape strides, dense(n, 0);
  int64_t offset;
  Strides(box, whole.shape, &offset, &strides);
  RowMajorStrides(box.size, dense.dims());
  const size_t bytes = DTypeSize(whole.dtype);
  char* at = whole.data<char>() + offset * static_cast<int64_t>(bytes);
  if (into) {
    CopyStrided(run, part, dense.dims(), at, strides.dims(), box.size.dims(), n, bytes);
  } else {
    CopyStrided(run, at, strides.dims(), part, dense.dims(), box.size.dims(), n, bytes);
  }
}

const Shape& Like(const Attrs&, const ShapeVector& in, size_t at) {
  static const Shape none;
  return at < in.size() ? in[at] : none;
}

template <BoxFn kBox>
bool TakeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].ndim_known()) return false;
  const Shape& like = Like(attrs, *in, 1);
  if (in->size() > 1 && !like.ndim_known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], kBox(attrs, (*in)[0], like).size);
  return (*in)[0].known() && (*out)[0].known() && (in->size() < 2 || like.known());
}

// The dimensions of an image whose channels are last in memory, in that order.
Shape ChannelsLast(const Shape& s) {
  Shape moved = s;
  for (int i = 2; i < s.ndim(); ++i) moved[i - 1] = s[i];
  moved[s.ndim() - 1] = s[1];
  return moved;
}

template <BoxFn kBox>
void Take(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  Box box = kBox(*a.attrs, a.in[0].shape, a.in.size() > 1 ? a.in[1].shape : Shape());
  TBlob whole = a.in[0];
  if (whole.layout == Layout::kChannelsLast || a.out[0].layout == Layout::kChannelsLast) {
    whole.shape = ChannelsLast(whole.shape);
    box.size = ChannelsLast(box.size), box.first = ChannelsLast(box.first), box.step = ChannelsLast(box.step);
  }
  CopyBox(a.run, box, whole, a.out[0].dptr, false);
}

template <BoxFn kBox>
std::vector<Stretch> TakenStretch(const Attrs& attrs, const Shape& whole) {
  const Box box = kBox(attrs, whole, Shape());
  std::vector<Stretch> parts;
  for (int i = 0; i < whole.ndim(); ++i) {
    if (box.step[i] != 1) return {};
    if (box.size[i] != whole[i]) parts.push_back({i, box.first[i], box.first[i] + box.size[i]});
  }
  return parts.size() == 1 && box.size.Size() > 0 ? parts : std::vector<Stretch>();
}

// [ograd, data(, shape_like)] -> gradient of data: zeros but for the slice.
template <BoxFn kBox>
void TakeBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob& to = a.out[0];
  ZeroBytes(a.run, to.dptr, static_cast<int64_t>(to.Bytes()));
  CopyBox(a.run, kBox(*a.attrs, to.shape, a.in.size() > 2 ? a.in[2].shape : Shape()), to, a.in[0].dptr, true);
}

bool FirstType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {  // shape_like may have any dtype
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "the first input", &(*in)[0], (*out)[0]);
  return (*in)[0] != kDTypeUnknown;
}

// Out = lhs with the slice replaced by rhs.
bool AssignSliceShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "lhs", &(*in)[0], (*out)[0]);
  if (!(*in)[0].ndim_known()) return false;
  AssignShape(attrs, "rhs", &(*in)[1], SliceBox(attrs, (*in)[0], Shape()).size);
  return (*in)[0].known() && (*in)[1].known();
}

// Some entries of the first dimension, which the box has all of, at a time: what is copied is in
// the first-level cache when it is written over.
void AssignByParts(const RunContext& run, const Box& box, const TBlob& from, const TBlob& part, const TBlob& to) {
  constexpr int64_t kBytes = 1 << 18;
  const int64_t entry = static_cast<int64_t>(to.Bytes()) / to.shape[0], given = static_cast<int64_t>(part.Bytes()) / to.shape[0];
  const int64_t together = std::max<int64_t>(1, kBytes / entry), parts = (to.shape[0] + together - 1) / together;
  ParallelFor(parts, 8, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * together, count = std::min(together, to.shape[0] - first);
      Box some = box;
      TBlob whole = to;
      some.size[0] = whole.shape[0] = count;
      whole.dptr = to.data<char>() + first * entry;
      CopyBytes(from.data<char>() + first * entry, whole.dptr, count * entry);
      CopyBox(run, some, whole, part.data<char>() + first * given, true);
    }
  });
}

void AssignSlice(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob& to = a.out[0];
  const Box box = SliceBox(*a.attrs, to.shape, Shape());
  const bool apart = !a.run.ctx.is_gpu() && a.in[0].dptr != to.dptr && box.size.Size() > 0;
  if (apart && to.shape.ndim() > 1 && box.size[0] == to.shape[0] && box.step[0] == 1 && to.Bytes() >= (1 << 19))
    return AssignByParts(a.run, box, a.in[0], a.in[1], to);
  CopyThrough(a);
  CopyBox(a.run, box, to, a.in[1].dptr, true);
}

void AssignScalar(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  CopyThrough(a);
  const TBlob& out = a.out[0];
  const Box box = SliceScalarBox(*a.attrs, out.shape, Shape());
  if (box.size.Size() == 0) return;
  uint64_t value = 0;
  TBlob one;
  one.dptr = a.run.ctx.is_gpu() ? a.workspace(sizeof(value)) : &value;
  one.shape = Shape({1});
  one.dtype = out.dtype;
  FillValue(a.run, one, a.param<SliceAssignScalarParam>().scalar);
  Shape strides, same(out.shape.ndim(), 0);
  int64_t offset;
  Strides(box, out.shape, &offset, &strides);
  const size_t bytes = DTypeSize(out.dtype);
  CopyStrided(a.run, one.dptr, same.dims(), out.data<char>() + offset * static_cast<int64_t>(bytes), strides.dims(), box.size.dims(),
              out.shape.ndim(), bytes);
}

std::string Text(const OptionalInts& v) {
  std::ostringstream os;
  os << v;
  return os.str();
}

template <typename P>
AttrDict SliceDict(const P& p) {
  return {{"begin", Text(p.begin)}, {"end", Text(p.end)}, {"step", Text(p.step)}};
}

// Gradient of lhs: zero where it was overwritten.
template <typename P>
NodeEntry Cleared(const NodePtr& node, const NodeEntry& ograd) {
  return MakeOp("_slice_assign_scalar", {ograd}, SliceDict(node->attrs->get<P>()));
}

Op& TakeRecord(const char* name, const char* text, const char* backward) {
  return Op::Register(name)
      .describe(text)
      .set_dtypes(dtypes::kAll)
      .set_trait(ReadsChosen{})
      .set_infer_type(FirstType)
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> in = {ograds[0]}, grads(node->num_inputs());
        in.insert(in.end(), node->inputs.begin(), node->inputs.end());
        grads[0] = NodeEntry{MakeNodeLike(backward, *node, std::move(in)), 0, 0};
        return grads;
      });
}

template <BoxFn kBox>
Op& TakeBackRecord(const char* name, const char* forward) {
  return Op::Register(name)
      .describe("Gradient of a slice: zeros around the gradient of the result.")
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(1)
      .set_infer_shape(LikeInputsShape(1))
      .set_infer_type(FirstType)
      .set_gradient([forward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> in = {ograds[0]}, grads(node->num_inputs());
        for (int i = 2; i < node->num_inputs(); ++i) in.push_back(node->inputs[i]);
        grads[0] = NodeEntry{MakeNodeLike(forward, *node, std::move(in)), 0, 0};
        return grads;
      })
      .set_kernel(TakeBack<kBox>);
}

[[maybe_unused]] const bool registered = [] {
  TakeRecord("slice", "A box of the array: begin, end and step by dimension.", "_backward_slice")
      .alias("crop")
      .alias("_npi_slice")
      .alias("_npx_slice")
      .alias("_sparse_slice")
      .set_param<SliceParam>()
      .set_inputs({"data"})
      .set_infer_shape(TakeShape<SliceBox>)
      .set_trait(ImagesOnCpu{[](const Attrs&) { return true; }})
      .set_trait(Stretches{TakenStretch<SliceBox>})
      .set_kernel(Take<SliceBox>);
  TakeBackRecord<SliceBox>("_backward_slice", "slice").set_param<SliceParam>().set_inputs({"ograd", "data"});
  TakeRecord("slice_axis", "Consecutive entries of one dimension.", "_backward_slice_axis")
      .set_param<SliceAxisParam>()
      .set_inputs({"data"})
      .set_infer_shape(TakeShape<SliceAxisBox>)
      .set_trait(ImagesOnCpu{[](const Attrs&) { return true; }})
      .set_trait(Stretches{TakenStretch<SliceAxisBox>})
      .set_kernel(Take<SliceAxisBox>);
  TakeBackRecord<SliceAxisBox>("_backward_slice_axis", "slice_axis").set_param<SliceAxisParam>().set_inputs({"ograd", "data"});
  TakeRecord("slice_like", "The leading entries of dimensions, as many as another array has.", "_backward_slice_like")
      .alias("_npx_slice_like")
      .set_shape_only_from(1)
      .set_trait(GivesInput{})
      .set_param<SliceLikeParam>()
      .set_inputs({"data", "shape_like"})
      .set_infer_shape(TakeShape<SliceLikeBox>)
      .set_kernel(Take<SliceLikeBox>);
  TakeBackRecord<SliceLikeBox>("_backward_slice_like", "slice_like")
      .set_param<SliceLikeParam>()
      .set_inputs({"ograd", "data", "shape_like"});
  Op::Register("_slice_assign")
      .describe("lhs with a slice replaced by rhs.")
      .alias("_crop_assign")
      .alias("_npi_slice_assign")
      .set_param<SliceParam>()
      .set_inputs({"lhs", "rhs"})
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_infer_shape(AssignSliceShape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{Cleared<SliceParam>(node, ograds[0]), NodeEntry{MakeNodeLike("slice", *node, {ograds[0]}), 0, 0}};
      })
      .set_kernel(AssignSlice);
  Op::Register("_slice_assign_scalar")
      .describe("The array with a slice set to one value.")
      .alias("_crop_assign_scalar")
      .alias("_npi_slice_assign_scalar")
      .set_param<SliceAssignScalarParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        if (!ElemwiseShape(attrs, in, out)) return false;
        SliceScalarBox(attrs, (*in)[0], Shape());  // refuses what does not fit
        return true;
      })
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{Cleared<SliceAssignScalarParam>(node, ograds[0])};
      })
      .set_kernel(AssignScalar);
  return true;
}();

}  // namespace

NodeEntry MakeSlice(const NodeEntry& data, int axis, int64_t begin, int64_t end, const std::string& name) {
  return MakeOp("slice_axis", {data}, {{"axis", std::to_string(axis)}, {"begin", std::to_string(begin)}, {"end", std::to_string(end)}},
                name);
}

}  // namespace mxnet
