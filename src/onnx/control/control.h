/* What nodes that run graphs on arrays have in common. */
#ifndef MXNET_ONNX_CONTROL_CONTROL_H_
#define MXNET_ONNX_CONTROL_CONTROL_H_

#include <string>
#include <vector>

#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {

/* One node on arrays: its operands, and its graphs. */
class Control {
 public:
  Control(Session* session, const NodeProto& node, const Env& env)
      : session(session),
        env(env),
        builder(session->options().ctx, session->folded(), true, session->widens()),
        call(node, node.opset, nullptr, OperandsOnCPU(*session, node, env, &builder), &builder) {
    builder.Record(session->options().learns);
  }

  /* The values of outer graphs that the node's graphs read. */
  Env Captured() const {
    Env captured;
    for (const std::string& name : call.node.captured)
      if (const Value* v = FindValue(*session, env, name)) captured[name] = *v;
    return captured;
  }
  const GraphProto& Body(const char* name) const {
    const GraphProto* body = call.GraphAttr(name);
    if (!body) call.Refuse(std::string("attribute ") + name + " is not there");
    return *body;
  }
  /* Elements along a new axis. */
  Value Stack(std::vector<Value> values, int64_t axis, const ValueInfo& about) const;
  /* Element `i` along an axis. */
  Value ElementOf(const Value& x, int axis, int64_t i) const;

  Session* const session;
  const Env& env;
  GraphBuilder builder;
  Call call;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONTROL_CONTROL_H_
