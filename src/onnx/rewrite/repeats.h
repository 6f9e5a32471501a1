/* Products with keys and values that several heads share. */
#ifndef MXNET_ONNX_REWRITE_REPEATS_H_
#define MXNET_ONNX_REWRITE_REPEATS_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "mxnet/kernel_args.h"
#include "onnx/convert.h"
#include "onnx/file/model.h"

namespace mxnet {
namespace onnx {

/* The domain of the nodes that take the place of others; convert/matrix.cc has their rule. */
constexpr char kRepeatsDomain[] = "mxnet.repeats";

/*
 * The nodes of a graph, where a MatMul is one node with an Expand and a Reshape that repeat its
 * second input for each head of a group, and that nobody else reads: MatMul(a, apart, sizes of the
 * Expand, sizes of the Reshape). Where nodes run one by one, nothing is repeated then. Plans get
 * what the nodes say, which fold_repeats and fuse_attention know. `made` owns what is new.
 */
std::vector<const NodeProto*> JoinRepeats(const std::vector<const NodeProto*>& nodes, const GraphProto& graph, std::deque<NodeProto>* made);

/* How the heads' matrices are repeated: each of `groups` so many times in a row. */
struct Repeats {
  int64_t groups = 0, times = 0;
};

/* Do sizes of an Expand and of a Reshape make (batch, groups x times, rows, columns) of `apart`,
 * (batch, groups, 1, rows, columns), and no more, so that `a` can be multiplied with each? */
bool RepeatsHeads(const Value& a, const Value& apart, const std::vector<int64_t>& expand, const std::vector<int64_t>& reshape,
                  bool zero_is_size, bool across, Repeats* r);

/* What such a node gives of arrays: the rows of heads that share a matrix are rows of one product.
 * False: the converter has to be asked. REQUIRES: the operands are there, on the CPU. */
bool MultiplyShared(const NodeProto& node, Span<const Value* const> operands, Value* result);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_REPEATS_H_
