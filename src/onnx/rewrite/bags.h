/* Sums, means and maxima of bags of rows, as PyTorch's exporters write an EmbeddingBag: a Loop that
 * looks at one bag in each round. */
#ifndef MXNET_ONNX_REWRITE_BAGS_H_
#define MXNET_ONNX_REWRITE_BAGS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

/* The results of the Loop, made without rounds, so that bags of any lengths fit a graph of fixed
 * shapes; nothing if it is no such loop. `outside` finds values that the body reads. An empty bag
 * is 0, as in PyTorch. */
std::optional<std::vector<Value>> BagsOf(const Call& call, const std::function<const Value*(const std::string&)>& outside);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_BAGS_H_
