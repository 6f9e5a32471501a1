// Convolutions pad for themselves: exporters of nets whose padding depends on the image's size
// write zeros around it in front of each, which copies it. Behind that, other passes see that a
// depthwise convolution is one of the usual kind.
#include <vector>

#include "executor/passes/core/passes.h"
#include "operator/nn/common/fused.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nodes/padding.h"

namespace mxnet {
namespace {

/* What a convolution pads by that also does what stands in front of it; empty: it cannot. */
Shape Joint(const nn::ConvolutionParam& conv, const std::vector<int64_t>& widths) {
  const int rank = conv.kernel.ndim();
  if (static_cast<int>(widths.size()) != 2 * (rank + 2) || widths[0] || widths[1] || widths[2] || widths[3]) return Shape();
  Shape pad = conv.pad.ndim() > 0 ? conv.pad : Shape(std::vector<int64_t>(static_cast<size_t>(rank), 0));
  for (int i = 0; i < rank; ++i) {
    const int64_t before = widths[static_cast<size_t>(2 * i + 4)];
    if (before != widths[static_cast<size_t>(2 * i + 5)]) return Shape();
    pad[i] += before;
  }
  return pad;
}

Shape JointOf(const Node& n) {
  const auto layer = nn::LayerOf(n);
  if (!layer || layer->role != Role::kConvolution || layer->layer != n.attrs.get() || n.inputs[0].node->is_variable()) return Shape();
  const auto& conv = n.attrs->get<nn::ConvolutionParam>();
  const auto zeros = View<ZerosAroundView>(*n.inputs[0].node);
  return zeros && !nn::ChannelsLastAttr(conv.layout) ? Joint(conv, zeros->widths) : Shape();
}

}  // namespace

int FoldPadding(PassGraph* g, PassContext*) {
  int folded = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr&) -> NodePtr {
    const Shape pad = JointOf(*n);
    if (pad.ndim() <= 0) return n;
    ++folded;
    return MakePadded(*n, n->inputs[0].node->inputs[0], pad);
  });
  return folded;
}

}  // namespace mxnet
