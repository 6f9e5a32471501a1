// Reshape, Flatten, expand_dims, squeeze: other shapes of the same elements in the same order.
#include <algorithm>

#include "base/ran.h"
#include "mxnet/ndarray.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {

Shape ReshapedByCodes(const Attrs& attrs, const Shape& from, const std::vector<int64_t>& codes, bool reverse) {
  try {
    return NDArray::InferReshape(from, codes, reverse);
  } catch (const Error& e) {
    const std::string what = e.what();
    if (attrs.op->name == "Reshape") throw;  // which everybody calls reshape
    throw Error(e.kind(), "[" + attrs.op->name + "] " + what.substr(what.compare(0, 10, "[reshape] ") == 0 ? 10 : 0));
  }
}

void CopyThrough(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  Ran(a.in[0].dptr == a.out[0].dptr ? "nothing to copy" : "copy", RanAt::kNone);
  CopyBytes(a.run, a.in[0].dptr, a.out[0].dptr, static_cast<int64_t>(a.in[0].Bytes()));
}

bool IsCopyThrough(const Kernel& kernel) {
  void (*const* function)(KernelArgs&) = kernel.target<void (*)(KernelArgs&)>();
  return function && *function == CopyThrough;
}

bool OnlyMoves(const Op& op) {
  const Kernel *cpu = op.KernelFor(DeviceType::kCPU), *gpu = op.KernelFor(DeviceType::kGPU);
  return !op.stateful && cpu && IsCopyThrough(*cpu) && (!gpu || IsCopyThrough(*gpu));
}

std::vector<NodeEntry> ReshapeBack(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  return {MakeOp("reshape_like", {ograds[0], node->inputs[0]})};
}

namespace {

struct ReshapeParam : public Parameter<ReshapeParam> {
  Shape shape;
  bool reverse;
  Shape target_shape;
  bool keep_highest;
  MXNET_DECLARE_PARAM(ReshapeParam) {
    MXNET_FIELD(shape).set_default(Shape()).describe(
        "Sizes > 0, or codes: 0 copies this dimension, -1 is inferred, -2 copies all remaining dimensions, -3 merges two, -4 splits one "
        "into the next two sizes.");
    MXNET_FIELD(reverse).set_default(false).describe("Resolve the codes from the last dimension to the first.");
    MXNET_FIELD(target_shape).set_default(Shape()).describe("Older form of `shape`, used without it: one size may be 0 and is inferred.");
    MXNET_FIELD(keep_highest).set_default(false).describe("With `target_shape`: keep the first dimension of the input.");
  }
};

struct NumpyReshapeParam : public Parameter<NumpyReshapeParam> {
  Shape newshape;
  std::string order;
  MXNET_DECLARE_PARAM(NumpyReshapeParam) {
    MXNET_FIELD(newshape).describe("The new shape; one size may be -1 and is inferred.");
    MXNET_FIELD(order).set_default("C").describe("Order in which elements are read and placed; only C (row-major).");
  }
};

struct NumpyXReshapeParam : public Parameter<NumpyXReshapeParam> {
  Shape newshape;
  bool reverse;
  std::string order;
  MXNET_DECLARE_PARAM(NumpyXReshapeParam) {
    MXNET_FIELD(newshape).describe(
        "Sizes, or codes: -1 is inferred, -2 copies this dimension, -3 drops a dimension of size 1, -4 copies all remaining dimensions, "
        "-5 merges two, -6 splits one into the next two sizes.");
    MXNET_FIELD(reverse).set_default(false).describe("Resolve the codes from the last dimension to the first.");
    MXNET_FIELD(order).set_default("C").describe("Order in which elements are read and placed; only C (row-major).");
  }
};

struct ExpandDimsParam : public Parameter<ExpandDimsParam> {
  int axis;
  MXNET_DECLARE_PARAM(ExpandDimsParam) { MXNET_FIELD(axis).describe("Where the dimension of size 1 is put, from -(ndim + 1) to ndim."); }
};

struct SqueezeParam : public Parameter<SqueezeParam> {
  std::optional<Shape> axis;
  MXNET_DECLARE_PARAM(SqueezeParam) {
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Dimensions to remove, each of size 1; None removes all of size 1.");
  }
};

MXNET_REGISTER_PARAM(ReshapeParam);
MXNET_REGISTER_PARAM(NumpyReshapeParam);
MXNET_REGISTER_PARAM(NumpyXReshapeParam);
MXNET_REGISTER_PARAM(ExpandDimsParam);
MXNET_REGISTER_PARAM(SqueezeParam);

[[noreturn]] void FailReshape(const Attrs& attrs, const Shape& from, const Shape& codes, const std::string& why) {
  MXNET_THROW(Value) << "[" << attrs.op->name << "] cannot reshape " << from << " to " << codes << ": " << why;
}

// Fills the one dimension `infer` (none when -1) and checks the number of elements.
void Complete(const Attrs& attrs, const Shape& from, const Shape& codes, std::vector<int64_t>* dims, int infer) {
  const int64_t total = from.Size();
  int64_t known = 1;
  bool overflow = false;
  for (size_t i = 0; i < dims->size(); ++i)
    if (static_cast<int>(i) != infer) overflow |= __builtin_mul_overflow(known, (*dims)[i], &known);
  if (overflow) FailReshape(attrs, from, codes, "the new shape has too many elements");
  if (infer >= 0) {
    if (known == 0 || total % known != 0) FailReshape(attrs, from, codes, std::to_string(total) + " elements leave no size for -1");
    (*dims)[infer] = total / known;
  } else if (known != total) {
    FailReshape(attrs, from, codes, "the new shape has " + std::to_string(known) + " elements, the array " + std::to_string(total));
  }
}

Shape InferTarget(const Attrs& attrs, const Shape& from, const ReshapeParam& p) {
  std::vector<int64_t> dims(p.target_shape.begin(), p.target_shape.end());
  if (p.keep_highest && !dims.empty() && from.ndim() > 0) dims[0] = from[0];
  int infer = -1;
  for (size_t i = p.keep_highest ? 1 : 0; i < dims.size(); ++i) {
    if (dims[i] < 0) FailReshape(attrs, from, p.target_shape, "sizes of target_shape must not be negative");
    if (dims[i] != 0) continue;
    if (infer >= 0) FailReshape(attrs, from, p.target_shape, "only one size of target_shape may be 0");
    infer = static_cast<int>(i);
  }
  Complete(attrs, from, p.target_shape, &dims, infer);
  return Shape(dims);
}

// Fills the one open dimension of `from` so that it has as many elements as `to`; does nothing
// where that is not possible.
void FillFromResult(Shape* from, const Shape& to) {
  if (!to.known() || !from->ndim_known()) return;
  int open = -1;
  int64_t known = 1;
  for (int i = 0; i < from->ndim(); ++i) {
    if ((*from)[i] >= 0) {
      if (__builtin_mul_overflow(known, (*from)[i], &known)) return;
    } else if (open >= 0) {
      return;
    } else {
      open = i;
    }
  }
  if (open >= 0 && known > 0 && to.Size() % known == 0) (*from)[open] = to.Size() / known;
}

// The codes of Reshape over dimensions of which some are open: so are those of the result that
// follow from them. Nothing where the codes do not fit.
Shape OpenReshape(const Shape& from, const Shape& codes, bool reverse) {
  constexpr int64_t kOpen = Shape::kUnknownDim;
  std::vector<int64_t> src(from.begin(), from.end()), code(codes.begin(), codes.end()), out;
  if (reverse) {  // a split is read from the right: not worth a guess
    if (std::find(code.begin(), code.end(), -4) != code.end()) return Shape();
    std::reverse(src.begin(), src.end());
    std::reverse(code.begin(), code.end());
  }
  size_t at = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const int64_t c = code[i];
    if (c > 0 || c == -1) {
      out.push_back(c > 0 ? c : kOpen);
      ++at;
    } else if (c == -2) {
      while (at < src.size()) out.push_back(src[at++]);
    } else if (at >= src.size() || c < -4) {
      return Shape();
    } else if (c == 0) {
      out.push_back(src[at++]);
    } else if (c == -3) {
      if (at + 1 >= src.size()) return Shape();
      out.push_back(src[at] < 0 || src[at + 1] < 0 ? kOpen : src[at] * src[at + 1]);
      at += 2;
    } else {
      if (i + 2 >= code.size()) return Shape();
      const int64_t whole = src[at++], a = code[i + 1], b = code[i + 2];
      out.push_back(a > 0 ? a : whole >= 0 && b > 0 ? whole / b : kOpen);
      out.push_back(b > 0 ? b : whole >= 0 && a > 0 ? whole / a : kOpen);
      i += 2;
    }
  }
  if (reverse) std::reverse(out.begin(), out.end());
  return Shape(out);
}

bool ReshapeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<ReshapeParam>();
  Shape& from = (*in)[0];
  const bool by_target = p.shape.ndim() <= 0 && p.target_shape.ndim() > 0;
  MXNET_CHECK_KIND(p.shape.ndim() >= 0 || by_target, Value) << "[" << attrs.op->name << "] needs `shape`";
  if (p.shape.ndim() == 1 && p.shape[0] == -1) AssignShape(attrs, "the result", &(*out)[0], Shape(1));
  FillFromResult(&from, (*out)[0]);
  if (!from.known()) {
    if (from.ndim_known() && !by_target) AssignShape(attrs, "the result", &(*out)[0], OpenReshape(from, p.shape, p.reverse));
    return false;
  }
  AssignShape(attrs, "the result", &(*out)[0],
              by_target ? InferTarget(attrs, from, p)
                        : ReshapedByCodes(attrs, from, std::vector<int64_t>(p.shape.begin(), p.shape.end()), p.reverse));
  return true;
}

void CheckOrder(const Attrs& attrs, const std::string& order) {
  MXNET_CHECK_KIND(order == "C", Value) << "[" << attrs.op->name << "] order='" << order << "'; accepted: C";
}

bool NumpyReshapeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<NumpyReshapeParam>();
  CheckOrder(attrs, p.order);
  const Shape& from = (*in)[0];
  if (!from.known()) return false;
  std::vector<int64_t> dims(p.newshape.begin(), p.newshape.end());
  int infer = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0) continue;
    if (dims[i] != -1) FailReshape(attrs, from, p.newshape, "accepted: sizes and one -1");
    if (infer >= 0) FailReshape(attrs, from, p.newshape, "only one size may be -1");
    infer = static_cast<int>(i);
  }
  Complete(attrs, from, p.newshape, &dims, infer);
  AssignShape(attrs, "the result", &(*out)[0], Shape(dims));
  return true;
}

// The codes of npx.reshape, read from the left over dimensions `src`.
std::vector<int64_t> ResolveNumpyX(const Attrs& attrs, const Shape& from, const Shape& codes, const std::vector<int64_t>& src,
                                   const std::vector<int64_t>& code, int* infer) {
  std::vector<int64_t> out;
  size_t at = 0;
  *infer = -1;
  auto need = [&](size_t n) {
    if (at + n > src.size()) FailReshape(attrs, from, codes, "no dimension is left for code " + std::to_string(out.size()));
  };
  for (size_t i = 0; i < code.size(); ++i) {
    switch (code[i]) {
      case -1:
        if (*infer >= 0) FailReshape(attrs, from, codes, "-1 may stand only once");
        *infer = static_cast<int>(out.size());
        out.push_back(-1);
        ++at;
        break;
      case -2:
        need(1);
        out.push_back(src[at++]);
        break;
      case -3:
        need(1);
        if (src[at] != 1) FailReshape(attrs, from, codes, "-3 drops a dimension of size 1, this one has " + std::to_string(src[at]));
        ++at;
        break;
      case -4:
        while (at < src.size()) out.push_back(src[at++]);
        break;
      case -5:
        need(2);
        out.push_back(src[at] * src[at + 1]);
        at += 2;
        break;
      case -6: {
        need(1);
        if (i + 2 >= code.size()) FailReshape(attrs, from, codes, "-6 must be followed by two sizes");
        // read from the right, the pair stands mirrored
        int64_t a = code[i + 1], b = code[i + 2];
        const int64_t d = src[at++];
        if (a == -1 && b > 0 && d % b == 0) a = d / b;
        if (b == -1 && a > 0 && d % a == 0) b = d / a;
        if (a <= 0 || b <= 0 || a > d || a * b != d)
          FailReshape(attrs, from, codes, "the two sizes behind -6 must multiply to " + std::to_string(d));
        out.push_back(a);
        out.push_back(b);
        i += 2;
        break;
      }
      default:
        if (code[i] < 0) FailReshape(attrs, from, codes, "accepted: sizes and the codes -1 to -6");
        out.push_back(code[i]);
        ++at;
    }
  }
  return out;
}

bool NumpyXReshapeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<NumpyXReshapeParam>();
  CheckOrder(attrs, p.order);
  const Shape& from = (*in)[0];
  if (!from.known()) return false;
  std::vector<int64_t> src(from.begin(), from.end()), code(p.newshape.begin(), p.newshape.end());
  if (p.reverse) {
    std::reverse(src.begin(), src.end());
    std::reverse(code.begin(), code.end());
  }
  int infer = -1;
  std::vector<int64_t> dims = ResolveNumpyX(attrs, from, p.newshape, src, code, &infer);
  if (p.reverse) {
    std::reverse(dims.begin(), dims.end());
    if (infer >= 0) infer = static_cast<int>(dims.size()) - 1 - infer;
  }
  Complete(attrs, from, p.newshape, &dims, infer);
  AssignShape(attrs, "the result", &(*out)[0], Shape(dims));
  return true;
}

bool FlattenShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& from = (*in)[0];
  if (!from.ndim_known()) return false;
  MXNET_CHECK_KIND(from.ndim() > 0, Value) << "[" << attrs.op->name << "] got a scalar; the input needs at least one dimension";
  Shape to(2);
  to[0] = from[0];
  bool inner = true;
  for (int i = 1; i < from.ndim(); ++i) inner &= from[i] >= 0;
  if (inner) to[1] = from.Prod(1, from.ndim());
  AssignShape(attrs, "the result", &(*out)[0], to);
  if ((*in)[0][0] < 0) (*in)[0][0] = (*out)[0][0];
  return (*in)[0].known() && (*out)[0].known();
}

bool ExpandDimsShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const int axis = attrs.get<ExpandDimsParam>().axis;
  Shape& from = (*in)[0];
  Shape& to = (*out)[0];
  if (!from.ndim_known() && !to.ndim_known()) return false;
  const int n = from.ndim_known() ? from.ndim() + 1 : to.ndim();
  MXNET_CHECK_KIND(n > 0, Value) << "[" << attrs.op->name << "] the result has no dimension";
  const int at = CheckedAxis(attrs, axis, n);
  if (!from.ndim_known()) from = Shape(n - 1);
  Shape full(n, 1);
  for (int i = 0; i < n - 1; ++i) full[i < at ? i : i + 1] = from[i];
  AssignShape(attrs, "the result", &to, full);
  for (int i = 0; i < n - 1; ++i) from[i] = to[i < at ? i : i + 1];
  return from.known();
}

bool SqueezeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<SqueezeParam>();
  const Shape& from = (*in)[0];
  if (!from.ndim_known()) return false;
  const int n = from.ndim();
  std::vector<bool> drop(n, false);
  if (p.axis.has_value()) {
    for (int64_t a : p.axis.value()) {
      const int axis = CheckedAxis(attrs, a, n);
      MXNET_CHECK_KIND(!drop[axis], Value) << "[" << attrs.op->name << "] axis " << p.axis.value() << " names dimension " << axis
                                           << " twice";
      MXNET_CHECK_KIND(from[axis] == 1 || from[axis] < 0, Value) << "[" << attrs.op->name << "] dimension " << axis << " of " << from
                                                                 << " has size " << from[axis] << "; only size 1 can be removed";
      drop[axis] = true;
    }
  } else {
    if (!from.known()) return false;
    for (int i = 0; i < n; ++i) drop[i] = from[i] == 1;
  }
  std::vector<int64_t> kept;
  for (int i = 0; i < n; ++i)
    if (!drop[i]) kept.push_back(from[i]);
  // 1.x had no scalars: an array whose dimensions would all go keeps one
  const bool legacy = attrs.op->name == "squeeze";
  if (legacy && kept.empty() && n > 0) kept.push_back(1);
  AssignShape(attrs, "the result", &(*out)[0], Shape(kept));
  return from.known() && (*out)[0].known();
}

Op& ShapeOnly(Op& op, const char* text, const char* input) {
  return op.describe(text)
      .set_inputs({input})
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_gradient(ReshapeBack)
      .set_kernel(CopyThrough)
      .set_trait(Role::kReshape)
      .set_trait(GivesInput{});
}

[[maybe_unused]] const bool registered = [] {
  ShapeOnly(Op::Register("Reshape"), "The same elements in another shape.", "data")
      .alias("reshape")
      .set_trait(Quantized{"_contrib_quantized_reshape"})
      .set_param<ReshapeParam>()
      .set_infer_shape(ReshapeShape);
  ShapeOnly(Op::Register("_np_reshape"), "The same elements in another shape, as numpy.reshape.", "a")
      .set_param<NumpyReshapeParam>()
      .set_infer_shape(NumpyReshapeShape);
  ShapeOnly(Op::Register("_npx_reshape"), "The same elements in another shape, given by sizes and codes.", "a")
      .alias("_npi_reshape")
      .set_trait(Quantized{"_npx_quantized_reshape"})
      .set_param<NumpyXReshapeParam>()
      .set_infer_shape(NumpyXReshapeShape);
  ShapeOnly(Op::Register("Flatten"), "A matrix with one row per entry of the first dimension.", "data")
      .alias("flatten")
      .alias("_npx_batch_flatten")
      .set_trait(Quantized{"_contrib_quantized_flatten"})
      .set_infer_shape(FlattenShape);
  ShapeOnly(Op::Register("expand_dims"), "Puts in a dimension of size 1.", "data")
      .alias("_npi_expand_dims")
      .set_param<ExpandDimsParam>()
      .set_infer_shape(ExpandDimsShape);
  ShapeOnly(Op::Register("squeeze"), "Removes dimensions of size 1.", "data").set_param<SqueezeParam>().set_infer_shape(SqueezeShape);
  ShapeOnly(Op::Register("_np_squeeze"), "Removes dimensions of size 1, as numpy.squeeze.", "a")
      .alias("_npi_squeeze")
      .set_param<SqueezeParam>()
      .set_infer_shape(SqueezeShape);
  Op::Register("_contrib_quantized_reshape").set_param<ReshapeParam>();
  Op::Register("_npx_quantized_reshape").set_param<NumpyXReshapeParam>();
  return true;
}();

}  // namespace
}  // namespace mxnet
