/*
 * Nodes that graph passes put in. Each function stands in the file of the record that it makes a
 * node of, so that no pass names operators or writes parameters as text.
 */
#ifndef MXNET_OPERATOR_NODES_MAKE_NODES_H_
#define MXNET_OPERATOR_NODES_MAKE_NODES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/node.h"

namespace mxnet {

/* A number as an attribute: the text from which the same number is read. */
std::string ExactText(double number);

NodePtr MakeSoftmax(const NodeEntry& data, int axis, bool logarithm, const std::string& name);
/* Over the last dimension. */
NodePtr MakeLayerNorm(const NodeEntry& data, const NodeEntry& gamma, const NodeEntry& beta, double eps, const std::string& name);
/* Of channels, dimension 1; gamma and beta have a number for each group or channel. */
NodePtr MakeGroupNorm(const NodeEntry& data, const NodeEntry& gamma, const NodeEntry& beta, int64_t groups, double eps,
                      const std::string& name);
/* Of the matrices in the last two dimensions. */
NodePtr MakeMatrixProduct(bool transpose_a, bool transpose_b, std::vector<NodeEntry> operands, const std::string& name);
/* matrix times the sums of squares of the table's rows. */
NodePtr MakeProductWithSquareSums(const NodeEntry& matrix, const NodeEntry& table, const std::string& name);
NodePtr MakeGelu(const NodeEntry& data, const std::string& name);
/* Channels of groups taken in turn; the groups are arrays, or one array. A result for each begin
 * and end. */
NodePtr MakeShuffledChannels(std::vector<NodeEntry> data, int64_t groups, const std::vector<int64_t>& begins,
                             const std::vector<int64_t>& ends, const std::string& name);
/* x sigmoid(beta x), and x clip(alpha x + beta, 0, 1). */
NodePtr MakeSilu(const NodeEntry& data, double beta, const std::string& name);
NodePtr MakeHardSwish(const NodeEntry& data, double alpha, double beta, const std::string& name);

NodeEntry MakeZeros(const Shape& shape, int dtype, const std::string& name);
NodeEntry MakeOnes(const Shape& shape, int dtype, const std::string& name);
/* data[..., begin:end, ...] along `axis`. */
NodeEntry MakeSlice(const NodeEntry& data, int axis, int64_t begin, int64_t end, const std::string& name);
/* Where the random numbers begin of which nobody else gets these counters. */
NodeEntry MakeDrawCounters(uint64_t counters, const std::string& name);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NODES_MAKE_NODES_H_
