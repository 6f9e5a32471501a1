// Layers on 8-bit integers give 32-bit sums. Their step back to 8 bits or to floats, a sum with
// another array and a relu become part of the layer, so that sums never reach memory.
#include "executor/passes/core/passes.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized_fused/fused_layer.h"

namespace mxnet {
namespace {

using quantized::ByteRange;
using quantized::FusedForm;
using quantized::FusedFormOf;

ByteRange Of(const graph_ops::KnownRange& r) { return {r.is_unsigned ? int{kUint8} : int{kInt8}, r.low, r.high, r.halves}; }

class QuantizedFuser {
 public:
  QuantizedFuser(PassGraph* g, const GraphInfo& info) : g_(g), info_(info), users_(CountUsers(*g)) {}

  int Run() {
    RewriteEntries(g_, [this](const NodePtr& n, const NodePtr& original) {
      NodePtr result = n;
      if (!n->is_variable() && !n->inputs.empty()) {
        if (graph_ops::Requantizes(*n))
          result = Requantize(n, original);
        else if (graph_ops::IsReluOfIntegers(*n))
          result = Relu(n, original);
        else
          result = Floats(n, original);
      }
      if (result == n) return std::vector<NodeEntry>();
      std::vector<NodeEntry> entries(original->num_outputs());
      for (size_t i = 0; i < entries.size(); ++i) entries[i] = {result, static_cast<uint32_t>(i), 0};
      return entries;
    });
    return gone_;
  }

 private:
  /* Are all results of the node read once, by one and the same reader? */
  bool ReadOnce(const Node& original) {
    for (uint32_t i = 0; i < 3; ++i)
      if (users_[{&original, i}] != 1) return false;
    return true;
  }

  NodePtr Requantize(const NodePtr& n, const NodePtr& original) {
    const auto range = graph_ops::RangeOf(*n);
    const Node& before = *n->inputs[0].node;
    if (!range || !ReadOnce(*original->inputs[0].node)) return n;
    if (quantized::GivesSums(before)) {
      FusedForm form;
      form.out = Of(*range);
      ++gone_;
      return quantized::FuseLayer(before, form, nullptr, n->name);
    }
    return graph_ops::SumsIntegers(before) ? Sum(n, *original->inputs[0].node, Of(*range)) : n;
  }

  /* The step to 8 bits behind a sum, one operand of which is a layer that nobody else reads. */
  NodePtr Sum(const NodePtr& n, const Node& sum_before, const ByteRange& out) {
    const Node& sum = *n->inputs[0].node;
    for (int i = 0; i < 2; ++i) {
      const Node& layer = *sum.inputs[i].node;
      const NodeEntry &other = sum.inputs[1 - i], &other_before = sum_before.inputs[1 - i];
      const auto form = FusedFormOf(layer);
      const auto addend = KnownRangeOf(other);
      if (!form || form->add || form->post || !addend || !ReadOnce(*sum_before.inputs[i].node)) continue;
      if (form->relu && form->out.dtype != kUint8) continue;  // which has none below 0
      if (info_.dtype(other_before) != addend->dtype) continue;
      FusedForm with;
      with.out = out, with.own = form->out, with.addend = *addend, with.add = true;
      with.addend.halves = true;  // as the sum takes both
      gone_ += 2;
      return quantized::FuseLayer(layer, with, &other, n->name);
    }
    return n;
  }

  std::optional<ByteRange> KnownRangeOf(const NodeEntry& e) const {
    const Node* n = e.node.get();
    while (graph_ops::KeepsRange(*n)) n = n->inputs[0].node.get();
    if (const auto form = FusedFormOf(*n)) return form->out;
    const auto range = graph_ops::RangeOf(*n);
    return range ? std::optional<ByteRange>(Of(*range)) : std::nullopt;
  }

  NodePtr Relu(const NodePtr& n, const NodePtr& original) {
    const NodePtr& layer = n->inputs[0].node;
    auto form = FusedFormOf(*layer);
    if (!form) return n;
    if (form->out.dtype == kUint8) {  // it has none below 0
      ++gone_;
      return layer;
    }
    if (!ReadOnce(*original->inputs[0].node)) return n;
    form->relu = true;
    ++gone_;
    return quantized::FuseLayer(*layer, *form, nullptr, n->name);
  }

  // ---- results in floats

  /* Of a fused layer that gives floats to one reader, and can still take something in. */
  std::optional<FusedForm> OpenFloats(const NodeEntry& made, const NodeEntry& original) {
    const auto form = FusedFormOf(*made.node);
    if (!form || form->out.dtype != kFloat32 || form->relu || form->post || users_[original] != 1) return std::nullopt;
    return form;
  }

  /* The step from sums to floats; behind it a sum with floats of that shape, a function of one
   * number, and, if there is one, the step to 8 bits behind that. */
  NodePtr Floats(const NodePtr& n, const NodePtr& original) {
    if (const auto sums = graph_ops::DequantizedSums(*n)) {
      const NodeEntry before = *graph_ops::DequantizedSums(*original);
      // One reader has the sums, one their step.
      if (!quantized::GivesSums(*sums->node) || !ReadByOne(*before.node, *original)) return n;
      FusedForm form;
      form.out = {kFloat32, 0, 0};
      gone_ += 3;
      return quantized::FuseLayer(*sums->node, form, nullptr, n->name);
    }
    if (RoleOf(*n) == Role::kAdd) return FloatSum(n, original);
    nn::EpilogueOp post;
    if (n->inputs.size() != 1) return n;
    if (graph_ops::QuantizesFloats(*n)) return Quantize(n, original);
    if (!nn::EpilogueOf(*n, &post)) return n;
    auto form = OpenFloats(n->inputs[0], original->inputs[0]);
    if (!form) return n;
    form->relu = post.kind == nn::EpilogueKind::kRelu;
    if (!form->relu) form->post = post;
    ++gone_;
    return quantized::FuseLayer(*n->inputs[0].node, *form, nullptr, n->name);
  }

  /* The step to 8 bits behind a function of a layer's result. */
  NodePtr Quantize(const NodePtr& n, const NodePtr& original) {
    const auto range = graph_ops::RangeOf(*n);
    auto form = FusedFormOf(*n->inputs[0].node);
    if (!range || !form || form->out.dtype != kFloat32 || form->add || !(form->post || form->relu) || users_[original->inputs[0]] != 1)
      return n;
    form->out = Of(*range);
    ++gone_;
    return quantized::FuseLayer(*n->inputs[0].node, *form, nullptr, n->name);
  }

  /* Are the sums and their range read by that step alone? */
  bool ReadByOne(const Node& layer, const Node& step) {
    return users_[{&layer, 0}] == 1 && users_[{&layer, 1}] == 0 && users_[{&layer, 2}] == 1 && users_[step.inputs[0]] == 1 &&
           users_[step.inputs[1]] == 1;
  }

  NodePtr FloatSum(const NodePtr& n, const NodePtr& original) {
    const NodeEntry out{original, 0, 0};
    for (int i = 0; i < 2; ++i) {
      auto form = OpenFloats(n->inputs[i], original->inputs[i]);
      const NodeEntry& other = original->inputs[1 - i];
      if (!form || form->add || info_.dtype(other) != kFloat32) continue;
      if (!(info_.shape(original->inputs[i]) == info_.shape(out)) || !(info_.shape(other) == info_.shape(out))) continue;
      form->add = true, form->addend = {kFloat32, 0, 0};
      ++gone_;
      return quantized::FuseLayer(*n->inputs[i].node, *form, &n->inputs[1 - i], n->name);
    }
    return n;
  }

  PassGraph* const g_;
  const GraphInfo& info_;
  EntryUsers users_;
  int gone_ = 0;
};

}  // namespace

int FuseQuantized(PassGraph* g, PassContext* context) {
  if (!AnyForward(*g, [](const NodePtr& n) { return !n->is_variable() && quantized::GivesSums(*n); })) return 0;
  return QuantizedFuser(g, context->info(*g)).Run();
}

}  // namespace mxnet
