// tile, repeat, reverse, depth_to_space, space_to_depth: results whose elements are the input's in
// another arrangement.
#include <algorithm>

#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

struct TileParam : public Parameter<TileParam> {
  Shape reps;
  MXNET_DECLARE_PARAM(TileParam) {
    MXNET_FIELD(reps).describe(
        "How often the array is laid out along each dimension; the shorter of shape and reps is filled up with ones on the left.");
  }
};

struct RepeatParam : public Parameter<RepeatParam> {
  int repeats;
  std::optional<int> axis;
  MXNET_DECLARE_PARAM(RepeatParam) {
    MXNET_FIELD(repeats).describe("How often each entry stands in the result; not negative.");
    MXNET_FIELD(axis)
        .set_default(std::optional<int>())
        .describe("The dimension whose entries are repeated; None takes the array as a vector.");
  }
};

struct ReverseParam : public Parameter<ReverseParam> {
  Shape axis;
  MXNET_DECLARE_PARAM(ReverseParam) { MXNET_FIELD(axis).describe("The dimensions whose order is turned around."); }
};

struct BlockParam : public Parameter<BlockParam> {
  int block_size;
  MXNET_DECLARE_PARAM(BlockParam) { MXNET_FIELD(block_size).describe("Height and width of the blocks; at least 1."); }
};

MXNET_REGISTER_PARAM(TileParam);
MXNET_REGISTER_PARAM(RepeatParam);
MXNET_REGISTER_PARAM(ReverseParam);
MXNET_REGISTER_PARAM(BlockParam);

// A walk over the larger array, with the offset in the smaller one that belongs to each element.
struct Walk {
  std::vector<int64_t> shape, small, large;
  void Add(int64_t size, int64_t small_stride) {
    shape.push_back(size);
    small.push_back(small_stride);
  }
  void Finish() {
    large.resize(shape.size());
    RowMajorStrides(Shape(shape), large.data());
  }
};

Walk TileWalk(const Attrs& attrs, const Shape& data, const Shape&) {
  const Shape& reps = attrs.get<TileParam>().reps;
  const int n = std::max(data.ndim(), reps.ndim());
  std::vector<int64_t> strides(data.ndim());
  RowMajorStrides(data, strides.data());
  Walk w;
  for (int i = 0; i < n; ++i) {
    const int r = i - (n - reps.ndim()), d = i - (n - data.ndim());
    w.Add(r < 0 ? 1 : reps[r], 0);
    if (d >= 0) w.Add(data[d], strides[d]);
  }
  w.Finish();
  return w;
}

bool TileShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &data = (*in)[0], &reps = attrs.get<TileParam>().reps;
  for (int64_t r : reps) MXNET_CHECK_KIND(r >= 0, Value) << "[" << attrs.op->name << "] reps " << reps << "; must not be negative";
  if (!data.ndim_known()) return false;
  const int n = std::max(data.ndim(), reps.ndim());
  Shape to(n);
  for (int i = 0; i < n; ++i) {
    const int r = i - (n - reps.ndim()), d = i - (n - data.ndim());
    const int64_t times = r < 0 ? 1 : reps[r], size = d < 0 ? 1 : data[d];
    if (size >= 0)
      MXNET_CHECK_KIND(!__builtin_mul_overflow(times, size, &to[i]), Value)
          << "[" << attrs.op->name << "] reps " << reps << " is too large";
  }
  AssignShape(attrs, "the result", &(*out)[0], to);
  return data.known() && (*out)[0].known();
}

Walk RepeatWalk(const Attrs& attrs, const Shape& data, const Shape&) {
  const auto& p = attrs.get<RepeatParam>();
  Walk w;
  if (!p.axis.has_value()) {
    w.Add(data.Size(), 1);
    w.Add(p.repeats, 0);
  } else {
    const int axis = CheckedAxis(attrs, p.axis.value(), data.ndim());
    const int64_t inner = data.Prod(axis + 1, data.ndim());
    w.Add(data.Prod(0, axis + 1), inner);
    w.Add(p.repeats, 0);
    w.Add(inner, 1);
  }
  w.Finish();
  return w;
}

bool RepeatShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<RepeatParam>();
  MXNET_CHECK_KIND(p.repeats >= 0, Value) << "[" << attrs.op->name << "] repeats=" << p.repeats << "; must not be negative";
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  Shape to;
  if (p.axis.has_value()) {
    const int axis = CheckedAxis(attrs, p.axis.value(), data.ndim());
    to = data;
    if (to[axis] >= 0)
      MXNET_CHECK_KIND(!__builtin_mul_overflow(to[axis], static_cast<int64_t>(p.repeats), &to[axis]), Value)
          << "[" << attrs.op->name << "] repeats is too large";
  } else {
    if (!data.known()) return false;
    int64_t size = data.Size();
    MXNET_CHECK_KIND(!__builtin_mul_overflow(size, static_cast<int64_t>(p.repeats), &size), Value)
        << "[" << attrs.op->name << "] repeats is too large";
    to = Shape({size});
  }
  AssignShape(attrs, "the result", &(*out)[0], to);
  return data.known() && (*out)[0].known();
}

using WalkFn = Walk (*)(const Attrs&, const Shape& small, const Shape& large);

template <WalkFn kWalk>
void Spread(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const Walk w = kWalk(*a.attrs, a.in[0].shape, a.out[0].shape);
  CopyStrided(a.run, a.in[0].dptr, w.small.data(), a.out[0].dptr, w.large.data(), w.shape.data(), static_cast<int>(w.shape.size()),
              DTypeSize(a.in[0].dtype));
}

// [ograd, data] -> gradient of data: the sum over the places where an element went.
template <WalkFn kWalk>
void Gather(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  ZeroBytes(a.run, a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  if (a.in[0].Size() == 0) return;
  const Walk w = kWalk(*a.attrs, a.out[0].shape, a.in[0].shape);
  AddStrided(a.run, a.in[0].dptr, w.large.data(), a.out[0].dptr, w.small.data(), w.shape.data(), static_cast<int>(w.shape.size()),
             a.in[0].dtype);
}

template <WalkFn kWalk, typename P>
Op& SpreadRecord(const char* name, const char* backward, const char* text) {
  const std::string forward = name;
  Op::Register(backward)
      .describe("Gradient: sums of the gradient of the result.")
      .set_dtypes(dtypes::kAll)
      .template set_param<P>()
      .set_inputs({"ograd", "data"})
      .set_shape_only_from(1)
      .set_infer_shape(LikeInputsShape(1))
      .set_gradient([forward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(forward, *node, {ograds[0]}), 0, 0}, NodeEntry{}};
      })
      .set_kernel(Gather<kWalk>);
  return Op::Register(name)
      .describe(text)
      .set_dtypes(dtypes::kAll)
      .template set_param<P>()
      .set_inputs({"data"})
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(backward, *node, {ograds[0], node->inputs[0]}), 0, 0}};
      })
      .set_kernel(Spread<kWalk>);
}

// ---- reverse

bool ReverseShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool known = ElemwiseShape(attrs, in, out);
  if ((*in)[0].ndim_known())
    for (int64_t a : attrs.get<ReverseParam>().axis) CheckedAxis(attrs, a, (*in)[0].ndim());
  return known;
}

void Reverse(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const Shape& shape = a.in[0].shape;
  const int n = shape.ndim();
  std::vector<int64_t> to(n), from(n);
  RowMajorStrides(shape, to.data());
  from = to;
  int64_t offset = 0;
  for (int64_t given : a.param<ReverseParam>().axis) {  // an axis named twice is turned twice
    const int axis = CheckedAxis(*a.attrs, given, n);
    offset += (shape[axis] - 1) * from[axis];
    from[axis] = -from[axis];
  }
  const size_t bytes = DTypeSize(a.in[0].dtype);
  CopyStrided(a.run, a.in[0].data<char>() + offset * static_cast<int64_t>(bytes), from.data(), a.out[0].dptr, to.data(), shape.dims(), n,
              bytes);
}

// ---- blocks between channels and space

void CheckBlock(const Attrs& attrs, const Shape& s, bool channels) {
  const int64_t b = attrs.get<BlockParam>().block_size;
  MXNET_CHECK_KIND(b > 0 && b < 65536, Value) << "[" << attrs.op->name << "] block_size=" << b << "; accepted: 1 to 65535";
  MXNET_CHECK_KIND(s.ndim() == 4, Value) << "[" << attrs.op->name << "] data has shape " << s
                                         << "; it needs 4 dimensions (batch, channel, height, width)";
  MXNET_CHECK_KIND(channels ? s[1] < 0 || s[1] % (b * b) == 0 : (s[2] < 0 || s[2] % b == 0) && (s[3] < 0 || s[3] % b == 0), Value)
      << "[" << attrs.op->name << "] data of shape " << s << " with block_size " << b << "; "
      << (channels ? "the channels must be a multiple of block_size squared" : "height and width must be multiples of block_size");
}

bool DepthToSpaceShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.ndim_known()) return false;
  CheckBlock(attrs, s, true);
  const int64_t b = attrs.get<BlockParam>().block_size;
  auto times = [b](int64_t size) { return size < 0 ? size : size * b; };
  AssignShape(attrs, "the result", &(*out)[0], Shape({s[0], s[1] < 0 ? s[1] : s[1] / (b * b), times(s[2]), times(s[3])}));
  return s.known();
}

bool SpaceToDepthShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.ndim_known()) return false;
  CheckBlock(attrs, s, false);
  const int64_t b = attrs.get<BlockParam>().block_size;
  auto part = [b](int64_t size) { return size < 0 ? size : size / b; };
  AssignShape(attrs, "the result", &(*out)[0], Shape({s[0], s[1] < 0 ? s[1] : s[1] * b * b, part(s[2]), part(s[3])}));
  return s.known();
}

void DepthToSpace(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const int64_t b = a.param<BlockParam>().block_size;
  const Shape& s = a.in[0].shape;
  const int axes[6] = {0, 3, 4, 1, 5, 2};  // n, b, b, c, h, w -> n, c, h, b, w, b
  Permute(a.run, a.in[0].dptr, Shape({s[0], b, b, s[1] / (b * b), s[2], s[3]}), axes, a.out[0].dptr, DTypeSize(a.in[0].dtype));
}

void SpaceToDepth(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const int64_t b = a.param<BlockParam>().block_size;
  const Shape& s = a.in[0].shape;
  const int axes[6] = {0, 3, 5, 1, 2, 4};  // n, c, h, b, w, b -> n, b, b, c, h, w
  Permute(a.run, a.in[0].dptr, Shape({s[0], s[1], s[2] / b, b, s[3] / b, b}), axes, a.out[0].dptr, DTypeSize(a.in[0].dtype));
}

Op& OtherWay(Op& op, const char* text, const char* gradient) {
  return op.describe(text)
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_gradient([gradient](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike(gradient, *node, {ograds[0]}), 0, 0}};
      });
}

[[maybe_unused]] const bool registered = [] {
  SpreadRecord<TileWalk, TileParam>("tile", "_backward_tile", "The array laid out several times along its dimensions.")
      .alias("_npi_tile")
      .set_infer_shape(TileShape);
  SpreadRecord<RepeatWalk, RepeatParam>("repeat", "_backward_repeat", "Every entry several times in a row.")
      .alias("_np_repeat")
      .alias("_npi_repeat")
      .set_trait(Role::kRepeat)
      .set_trait(ViewOf<RepeatView>{[](const Attrs& a) {
        const auto& axis = a.get<RepeatParam>().axis;
        return axis.has_value() ? RepeatView{axis.value()} : RepeatView{};
      }})
      .set_infer_shape(RepeatShape);
  for (const char* name : {"reverse", "_npi_flip"})
    OtherWay(Op::Register(name), "The order of entries turned around along some dimensions.", name)
        .set_param<ReverseParam>()
        .set_infer_shape(ReverseShape)
        .set_kernel(Reverse);
  Op::Register("reverse").alias("flip");
  OtherWay(Op::Register("depth_to_space"), "Moves channels into blocks of height and width.", "space_to_depth")
      .set_param<BlockParam>()
      .set_infer_shape(DepthToSpaceShape)
      .set_kernel(DepthToSpace);
  OtherWay(Op::Register("space_to_depth"), "Moves blocks of height and width into channels.", "depth_to_space")
      .set_param<BlockParam>()
      .set_infer_shape(SpaceToDepthShape)
      .set_kernel(SpaceToDepth);
  return true;
}();

}  // namespace
}  // namespace mxnet
