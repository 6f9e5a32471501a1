// Inference: relu(convolution + other) becomes one operator, so that the result is written once.
#include <map>

#include "executor/passes.h"
#include "operator/nn/convolution.h"

namespace mxnet {
namespace {

using nn::FusedConvolutionParam;

bool Is(const NodePtr& n, const char* op) { return !n->is_variable() && n->op()->name == op; }

bool IsRelu(const NodePtr& n) {
  if (Is(n, "relu")) return true;
  if (!Is(n, "Activation")) return false;
  auto it = n->attrs->dict.find("act_type");
  return it != n->attrs->dict.end() && it->second == "relu";
}

/* A convolution that can still take something in. */
bool Open(const NodePtr& n, bool addition) {
  if (Is(n, "Convolution")) return true;
  return !addition && Is(n, "_fused_convolution") && !n->attrs->get<FusedConvolutionParam>().relu;
}

NodePtr Fuse(const NodePtr& convolution, const NodeEntry* addend, bool relu, const std::string& name) {
  AttrDict dict = convolution->attrs->dict;   // of Convolution, or of what it was fused into before
  if (addend) dict["with_add"] = "True";
  if (relu) dict["with_relu"] = "True";
  auto made = std::make_shared<Node>();
  made->name = name;
  made->attrs = MakeAttrs(Op::Get("_fused_convolution"), std::move(dict));
  made->inputs = convolution->inputs;
  if (addend) made->inputs.push_back(*addend);
  return made;
}

}  // namespace

int FuseConvolution(PassGraph* g) {
  std::map<const Node*, int> users;
  DFSVisit(g->outputs, [&](const NodePtr& n) {
    for (const auto& e : n->inputs) ++users[e.node.get()];
  });
  for (const auto& e : g->outputs) ++users[e.node.get()];
  int gone = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (Is(n, "elemwise_add")) {
      for (int i = 0; i < 2; ++i) {
        if (!Open(n->inputs[i].node, true) || users[original->inputs[i].node.get()] != 1) continue;
        ++gone;
        return Fuse(n->inputs[i].node, &n->inputs[1 - i], false, n->name);
      }
    } else if (IsRelu(n) && Open(n->inputs[0].node, false) && users[original->inputs[0].node.get()] == 1) {
      ++gone;
      return Fuse(n->inputs[0].node, nullptr, true, n->name);
    }
    return n;
  });
  return gone;
}

}  // namespace mxnet
