/* Writing where a mask is true, which exporters write with the places of what is true. */
#ifndef MXNET_ONNX_REWRITE_MASKS_H_
#define MXNET_ONNX_REWRITE_MASKS_H_

#include <deque>
#include <vector>

#include "onnx/run/session.h"

namespace mxnet {
namespace onnx {

/* The domain of the nodes that take the place of others. Their rule is in
 * convert/shape/index_choose.cc. */
constexpr char kMasksDomain[] = "mxnet.masks";

/*
 * The nodes of a graph, where PyTorch's masked_scatter is one node: Scatter(x, mask, rows) is x
 * with the first rows in the places where the mask is true, in their order. In files it is a
 * ScatterND at the places of NonZero, of so many rows as there are places: shapes that depend on
 * contents, which a plan is cut at and a block cannot have. `made` owns what is new.
 */
std::vector<const NodeProto*> JoinMasks(const std::vector<const NodeProto*>& nodes, const GraphProto& graph, const Session& session,
                                        std::deque<NodeProto>* made);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_MASKS_H_
