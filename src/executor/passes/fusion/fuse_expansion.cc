// Inference: a 1x1 convolution whose only reader is a 3x3 depthwise convolution becomes one
// operator with it: what lies between them, the largest tensor of such networks, is then never
// written as a whole.
#include "executor/passes/core/passes.h"
#include "operator/nn/common/fused.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nn/convolution/expand_depthwise.h"

namespace mxnet {
namespace {

struct Part {
  const nn::ConvolutionParam* conv = nullptr;
  nn::EpilogueOp post;
  int inputs = 0;
};

bool PartOf(const Node& n, Part* part) {
  const auto layer = nn::LayerOf(n);
  if (!layer || layer->role != Role::kConvolution || layer->add) return false;
  part->conv = &layer->layer->get<nn::ConvolutionParam>();
  part->post = layer->post;
  part->inputs = n.num_inputs();
  const bool bounds = !part->post || part->post.kind == nn::EpilogueKind::kRelu || part->post.kind == nn::EpilogueKind::kClip;
  return bounds && part->conv->kernel.ndim() == 2 && !nn::ChannelsLastAttr(part->conv->layout);
}

// Is every element `value`? Empty or not given: 1 for strides and dilations, 0 for pads.
bool All(const Shape& s, int64_t value, int64_t otherwise) {
  if (s.ndim() <= 0) return value == otherwise;
  for (int i = 0; i < s.ndim(); ++i)
    if (s[i] != value) return false;
  return true;
}
int64_t First(const Shape& s, int64_t otherwise) { return s.ndim() > 0 ? s[0] : otherwise; }

}  // namespace

int FuseExpansion(PassGraph* g, PassContext* context) {
  const auto is_part = [](const NodePtr& n) {
    Part part;
    return PartOf(*n, &part);
  };
  if (!AnyForward(*g, is_part)) return 0;
  const GraphInfo& info = context->info(*g);
  EntryUsers users = CountUsers(*g);
  int fused = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    Part second, first;
    if (!PartOf(*original, &second)) return n;
    const NodeEntry& middle = original->inputs[0];
    const nn::ConvolutionParam& d = *second.conv;
    const int64_t stride = First(d.stride, 1), pad = First(d.pad, 0);
    if (d.num_group != d.num_filter || d.num_filter % 16 || !All(d.kernel, 3, 0) || stride > 2 || !All(d.stride, stride, 1) || pad > 1 ||
        !All(d.pad, pad, 0) || !All(d.dilate, 1, 1))
      return n;
    if (users[middle] != 1 || !PartOf(*middle.node, &first)) return n;
    const nn::ConvolutionParam& e = *first.conv;
    if (e.num_filter != d.num_filter || e.num_group != 1 || !All(e.kernel, 1, 0) || !All(e.stride, 1, 1) || !All(e.pad, 0, 0)) return n;
    const NodeEntry& data = middle.node->inputs[0];
    if (info.shape(data).ndim() != 4 || info.shape(data).Size() == 0 || info.shape({original, 0, 0}).Size() == 0 ||
        info.dtype(data) != kFloat32 || info.dtype({original, 0, 0}) != kFloat32)
      return n;
    nn::ExpandDepthwiseParam p;
    p.num_filter = static_cast<int>(d.num_filter);
    p.stride = static_cast<int>(stride);
    p.pad = static_cast<int>(pad);
    p.expand_bias = first.inputs > 2;
    p.bias = second.inputs > 2;
    p.expand_post = first.post;
    p.post = second.post;
    auto made = std::make_shared<Node>();
    made->name = n->name;
    made->attrs = nn::ExpandDepthwiseAttrs(p);
    made->inputs = n->inputs[0].node->inputs;
    made->inputs.insert(made->inputs.end(), n->inputs.begin() + 1, n->inputs.end());
    ++fused;
    return made;
  });
  return fused;
}

}  // namespace mxnet
