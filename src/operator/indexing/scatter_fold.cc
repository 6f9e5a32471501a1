// What ONNX's ScatterND and ScatterElements do with several values for one place: their product,
// the smallest or the largest. Sums are _npx_index_add, the last one is _npx_index_update.
#include "base/dtype.h"
#include "operator/indexing/index.h"
#include "operator/matrix/axes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace {

enum Fold : int { kAdd, kMul, kMin, kMax };

struct ScatterFoldParam : public Parameter<ScatterFoldParam> {
  int fold;
  MXNET_DECLARE_PARAM(ScatterFoldParam) {
    MXNET_FIELD(fold)
        .add_enum("add", static_cast<int>(kAdd))
        .add_enum("mul", static_cast<int>(kMul))
        .add_enum("min", static_cast<int>(kMin))
        .add_enum("max", static_cast<int>(kMax))
        .describe("How values for one place, and what is there, become one; NaN stays.");
  }
};
MXNET_REGISTER_PARAM(ScatterFoldParam);

bool FoldShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape &data = (*in)[0], &indices = (*in)[1];
  if (!data.known() || !indices.known()) return false;
  MXNET_CHECK_KIND(indices.ndim() > 1 && indices[0] <= data.ndim(), Value)
      << "[" << attrs.op->name << "] indices have shape " << indices << " for data of shape " << data << "; accepted: (1 to " << data.ndim()
      << ", ...)";
  std::vector<int64_t> dims(indices.begin() + 1, indices.end());
  dims.insert(dims.end(), data.begin() + indices[0], data.end());
  AssignShape(attrs, "updates", &(*in)[2], Shape(dims));
  return true;
}

bool FoldType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  AssignType(attrs, "updates", &(*in)[2], (*in)[0]);
  AssignType(attrs, "indices", &(*in)[1], kInt64);
  return (*in)[0] != kDTypeUnknown;
}

template <typename T>
T Folded(Fold fold, T a, T b) {
  if (a != a || b != b) return a != a ? a : b;
  switch (fold) {
    case kAdd: return static_cast<T>(a + b);
    case kMul: return static_cast<T>(a * b);
    case kMin: return b < a ? b : a;
    case kMax: break;
  }
  return a < b ? b : a;
}

// One piece after another: several may be for one place.
void ScatterFold(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  CopyThrough(a);
  const TBlob &out = a.out[0], &indices = a.in[1];
  const int64_t depth = indices.shape[0], n = indices.shape.Prod(1, indices.shape.ndim());
  const int64_t piece = out.shape.Prod(static_cast<int>(depth), out.shape.ndim());
  const Fold fold = static_cast<Fold>(a.param<ScatterFoldParam>().fold);
  const int64_t* index = indices.data<int64_t>();
  VisitDType(out.dtype, "_onnx_scatter_fold", [&](auto tag) {
    using T = decltype(tag);
    T* data = out.data<T>();
    const T* updates = a.in[2].data<T>();
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = 0;
      for (int64_t d = 0; d < depth; ++d) {
        const int64_t size = out.shape[static_cast<int>(d)], given = index[d * n + i], from = given < 0 ? given + size : given;
        MXNET_CHECK_KIND(from >= 0 && from < size, Index)
            << "[_onnx_scatter_fold] index " << given << " is out of bounds for axis " << d << " with size " << size;
        at = at * size + from;
      }
      for (int64_t k = 0; k < piece; ++k) data[at * piece + k] = Folded<T>(fold, data[at * piece + k], updates[i * piece + k]);
    }
  });
}

NodeEntry ScalarOp(const char* op, const NodeEntry& x, const char* scalar) {
  return MakeOp(op, {x}, {{"scalar", scalar}, {"is_int", "0"}});
}
NodeEntry Equal(const NodeEntry& a, const NodeEntry& b) { return MakeOp("_equal", {a, b}); }
NodeEntry Times(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_mul", {a, b}); }
NodeEntry Plus(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_add", {a, b}); }
NodeEntry Over(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_div", {a, b}); }

/* Sums, for each place of data, of what `pieces` have for it. */
NodeEntry SumsOf(const NodePtr& fold, const NodeEntry& pieces) {
  return MakeOp("_backward_gather_nd", {pieces, fold->inputs[1], fold->inputs[0]});
}
NodeEntry PiecesOf(const NodePtr& fold, const NodeEntry& places) { return MakeOp("gather_nd", {places, fold->inputs[1]}); }

/* Those which are the smallest or the largest share the gradient of their place. */
std::vector<NodeEntry> GradientOfExtremes(const NodePtr& node, const NodeEntry& ograd) {
  const NodeEntry result{node, 0, 0};
  const NodeEntry is_data = Equal(node->inputs[0], result), is_piece = Equal(node->inputs[2], PiecesOf(node, result));
  const NodeEntry share = Over(ograd, ScalarOp("_maximum_scalar", Plus(is_data, SumsOf(node, is_piece)), "1"));  // none: NaN
  return {Times(share, is_data), NodeEntry{}, Times(PiecesOf(node, share), is_piece)};
}

/* The product of the others: that of all which are not zero over one's own, where no other is
 * zero. */
std::vector<NodeEntry> GradientOfProduct(const NodePtr& node, const NodeEntry& ograd) {
  const NodeEntry no_data = ScalarOp("_equal_scalar", node->inputs[0], "0"), no_piece = ScalarOp("_equal_scalar", node->inputs[2], "0");
  const NodeEntry data = Plus(node->inputs[0], no_data), pieces = Plus(node->inputs[2], no_piece);
  const NodeEntry zeros = Plus(no_data, SumsOf(node, no_piece));
  const NodeEntry product = Times(ograd, NodeEntry{MakeNodeLike("_onnx_scatter_fold", *node, {data, node->inputs[1], pieces}), 0, 0});
  return {Times(Over(product, data), Equal(zeros, no_data)), NodeEntry{},
          Times(Over(PiecesOf(node, product), pieces), Equal(PiecesOf(node, zeros), no_piece))};
}

std::vector<NodeEntry> FoldGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const int fold = node->attrs->get<ScatterFoldParam>().fold;
  if (fold == kAdd) return {ograds[0], NodeEntry{}, PiecesOf(node, ograds[0])};
  return fold == kMul ? GradientOfProduct(node, ograds[0]) : GradientOfExtremes(node, ograds[0]);
}

MXNET_REGISTER_OP(_onnx_scatter_fold)
    .describe(
        "data with updates folded into the places that indices address, by their product, the smallest or the largest.\n\n"
        "indices: int64 of shape (k, ...), whose columns are indices of the first k dimensions of data; negative ones count from "
        "the end. updates has shape indices.shape[1:] + data.shape[k:] and the dtype of data.")
    .set_param<ScatterFoldParam>()
    .set_inputs({"data", "indices", "updates"})
    .set_dtypes(dtypes::kAll)
    .set_inplace({{0, 0}})
    .set_infer_shape(FoldShape)
    .set_infer_type(FoldType)
    .set_gradient(FoldGradient)
    .set_kernel([](KernelArgs& args) { OnHost(args, ScatterFold); });

}  // namespace
}  // namespace mxnet
