/* Parameters and helpers that the files of reduction records share. */
#ifndef MXNET_OPERATOR_REDUCE_RECORDS_H_
#define MXNET_OPERATOR_REDUCE_RECORDS_H_

#include <functional>
#include <string>
#include <vector>

#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/reduce/reduce.h"

namespace mxnet {
namespace reduce {

struct ReduceParam : public Parameter<ReduceParam> {
  std::optional<Shape> axis;
  bool keepdims, exclude;
  MXNET_DECLARE_PARAM(ReduceParam) {
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Axes to reduce; None or (): all. Negative ones count from the end.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
    MXNET_FIELD(exclude).set_default(false).describe("Reduce all axes but the given ones.");
  }
};
struct NormParam : public Parameter<NormParam> {
  int ord;
  std::optional<Shape> axis;
  std::optional<int> out_dtype;
  bool keepdims;
  MXNET_DECLARE_PARAM(NormParam) {
    MXNET_FIELD(ord).set_default(2).describe("1: sum of magnitudes; 2: root of the sum of squares.");
    MXNET_FIELD(axis).set_default(std::optional<Shape>()).describe("Axes to reduce; None: all.");
    MXNET_DTYPE_FIELD_OF(out_dtype, dtypes::kIeeeFloats | dtypes::Set{kInt32, kInt64, kInt8})
        .set_default(std::optional<int>())
        .describe("None: that of the input.");
    MXNET_FIELD(keepdims).set_default(false).describe("Whether reduced axes stay with size 1.");
  }
};

/* Which dimensions an `axis` argument means. Throws Error(kValue). */
std::vector<char> ReducedDims(const std::string& op, const std::optional<Shape>& axis, bool exclude, bool empty_is_all, int ndim);
/* `legacy`: a result without dimensions becomes (1,). */
Shape ReducedShape(const Shape& in, const std::vector<char>& reduced, bool keepdims, bool legacy);
/* Do axes leave out examples and channels, so that images may have their channels last? */
bool OnlyPlaces(const std::optional<Shape>& axis);
/* What the row's operators compute (src/operator/record/traits.h). */
Role RoleOfReduction(const ReductionRow& row);
/* Throws Error(kValue) when results would have nothing to come from (max of nothing). */
void CheckNotEmpty(const std::string& op, const Shape& in, const std::vector<char>& reduced);
/* out (=, +=) data, seen as shape `kept`, broadcast to out. */
void BroadcastReduced(const RunContext& run, const TBlob& data, const Shape& kept, const TBlob& out, OpReq req);

// ---- pieces of gradients as graph nodes
using MapFn = std::function<NodeEntry(const NodeEntry&)>;
double CountOf(const Shape& shape, const std::vector<char>& reduced);  // elements behind one result
AttrDict AxesDict(const std::optional<Shape>& axis, bool keepdims);    // arguments of sum, _backward_sum, _backward_mean
NodeEntry EqualMask(const NodeEntry& a, const NodeEntry& b);
NodeEntry Scalar(const char* op, const NodeEntry& x, double s);
NodeEntry Mul(const NodeEntry& a, const NodeEntry& b);  // equal shapes
/* Graph nodes over the axes of a reduction: `sum` and `prod` reduce as it does, `spread` repeats a
 * reduced entry in the shape of the data, `share` does so with the gradient of the result (of
 * means, divided by the number of elements), `attained` to the elements that are the result. */
struct Axes {
  MapFn sum, prod, spread, share, attained;  // null where the row needs none
};
/* The operator behind `attained`: (ograd, data, result), with the parameters of sum. */
const char* AttainedName(Kind fold);
/*
 * Gradient of node y = reduction(x) as its row says: the derivative of each element times ograd. Of
 * a product it is the product without the element itself, also where factors are 0.
 */
NodeEntry ReductionGradient(const ReductionRow& reduction, const NodeEntry& ograd, const NodeEntry& x, const NodeEntry& y,
                            const Axes& axes);
/* A record for each group of names ("name alias | name"). */
void EachRecord(const char* names, const std::function<void(Op*)>& fill);

}  // namespace reduce
}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_RECORDS_H_
