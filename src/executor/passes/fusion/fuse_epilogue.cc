// Inference: activation(layer + other), where the layer is a convolution or dense, becomes one
// operator, so that the result is written once.
#include <map>

#include "executor/passes/core/passes.h"
#include "operator/nn/common/epilogue.h"

namespace mxnet {
namespace {

/* What a layer and its fused form are called. */
struct Layer {
  const char* op;
  const char* fused;
};

bool Is(const NodePtr& n, const char* op) { return !n->is_variable() && n->op()->name == op; }

bool IsAddition(const NodePtr& n) { return Is(n, "elemwise_add") || Is(n, "_grad_add") || Is(n, "broadcast_add") || Is(n, "_npi_add"); }

/* Can it still take something in? An addition goes before the activation. */
bool Open(const NodePtr& n, const Layer& layer, bool addition) {
  if (Is(n, layer.op)) return true;
  return Is(n, layer.fused) && !n->attrs->dict.count("post") && !(addition && n->attrs->dict.count("with_add"));
}

bool Computed(int dtype) { return dtype == kFloat32 || IsHalf(dtype); }

NodePtr Fuse(const Layer& layer, const NodePtr& from, const NodeEntry* addend, const nn::EpilogueOp* post, const std::string& name) {
  AttrDict dict = from->attrs->dict;  // of the layer, or of what it was fused into before
  if (addend) dict["with_add"] = "True";
  if (post) dict["post"] = nn::EpilogueText(*post);
  auto made = std::make_shared<Node>();
  made->name = name;
  made->attrs = MakeAttrs(Op::Get(layer.fused), std::move(dict));
  made->inputs = from->inputs;
  if (addend) made->inputs.push_back(*addend);
  return made;
}

int FuseEpilogue(PassGraph* g, PassContext* context, const Layer& layer) {
  const GraphInfo& info = context->info(*g);
  std::map<const Node*, int> users;
  DFSVisit(g->outputs, [&](const NodePtr& n) {
    for (const auto& e : n->inputs) ++users[e.node.get()];
  });
  for (const auto& e : g->outputs) ++users[e.node.get()];
  int gone = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    auto ready = [&](int i, bool addition) {
      const NodeEntry& e = original->inputs[i];
      return Open(n->inputs[i].node, layer, addition) && users[e.node.get()] == 1 && Computed(info.dtype(e));
    };
    nn::EpilogueOp post;
    if (IsAddition(n)) {
      const NodeEntry out{original, 0, 0};
      for (int i = 0; i < 2; ++i) {
        const NodeEntry& other = original->inputs[1 - i];
        if (!ready(i, true) || !(info.shape(original->inputs[i]) == info.shape(out)) || !(info.shape(other) == info.shape(out)) ||
            info.dtype(other) != info.dtype(original->inputs[i]))
          continue;
        ++gone;
        return Fuse(layer, n->inputs[i].node, &n->inputs[1 - i], nullptr, n->name);
      }
    } else if (nn::EpilogueOf(*n, &post) && ready(0, false)) {
      ++gone;
      return Fuse(layer, n->inputs[0].node, nullptr, &post, n->name);
    }
    return n;
  });
  return gone;
}

}  // namespace

int FuseConvolution(PassGraph* g, PassContext* context) { return FuseEpilogue(g, context, {"Convolution", "_fused_convolution"}); }
int FuseDense(PassGraph* g, PassContext* context) { return FuseEpilogue(g, context, {"FullyConnected", "_fused_dense"}); }

}  // namespace mxnet
