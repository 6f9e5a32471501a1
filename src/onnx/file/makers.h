/* Which node makes a value of a graph, for those that put one node in the place of several. */
#ifndef MXNET_ONNX_FILE_MAKERS_H_
#define MXNET_ONNX_FILE_MAKERS_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/run/session.h"

namespace mxnet {
namespace onnx {

class Makers {
 public:
  Makers(const std::vector<const NodeProto*>& nodes, const Session& session);
  /* Null: none of these nodes. */
  const NodeProto* Of(const std::string& name) const;
  /* Null: it is none, as far as a graph tells before shapes are known. */
  const NDArray* ConstantOf(const std::string& name) const;

 private:
  const Session& session_;
  std::unordered_map<std::string, const NodeProto*> makers_;
};

/* The nodes without those of `replaced` whose first result nobody reads any more. */
std::vector<const NodeProto*> WithoutUnread(const std::vector<const NodeProto*>& nodes, const GraphProto& graph,
                                            const std::unordered_set<const NodeProto*>& replaced);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_FILE_MAKERS_H_
