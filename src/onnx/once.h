/*
 * A small model node by node, for shapes that come for the first time.
 *
 * A plan costs some hundred microseconds to make. A service whose batches have ever new sizes would
 * pay that in most calls, for a model that computes for ten. So such a call runs each node on
 * arrays, by the converter that plans are made with. Shapes that come again get a plan.
 */
#ifndef MXNET_ONNX_ONCE_H_
#define MXNET_ONNX_ONCE_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "onnx/reuse.h"
#include "onnx/session.h"
#include "onnx/weights_call.h"

namespace mxnet {
namespace onnx {

/* Any number of threads run it. */
class NodeByNode {
 public:
  /* `converted`: the nodes of a plan that was made before. `results` are kept to the end.
   * REQUIRES: no node holds graphs. */
  NodeByNode(Session* session, const std::vector<const NodeProto*>& nodes, const std::vector<ValueInfo>& results,
             const Conversions& converted);
  /* Adds what the nodes give; what nobody reads any more goes. Results are arrays of their own. */
  void Run(Env* env) const;
  /* Bytes of weights whose arrays would have to be made again, since plans alone hold them. */
  size_t given_back() const;

 private:
  struct Step {
    const NodeProto* node;
    const Rule* rule;
    std::vector<const std::string*> last;  // names that no later step reads
  };
  /* Null: it depends on inputs. */
  const Value* Constant(const std::string& name) const;
  std::unique_ptr<CallStates> TakeStates() const;

  Session* const session_;
  std::vector<Step> steps_;
  Env known_;                         // what nodes give that read weights alone
  std::vector<NDArray> weights_;      // that the steps read
  std::vector<std::string> results_;  // names that are kept
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<CallStates>> states_;  // that no thread uses now
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_ONCE_H_
