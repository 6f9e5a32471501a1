// Records of fused layers.
#include "operator/nn/common/fused.h"

#include <algorithm>
#include <cstring>

#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace nn {
namespace {

/* Of the fused forms. */
struct FusedLayer {};

bool InferFusedShape(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<FusedParam>();
  ShapeVector own(in->begin(), in->begin() + p.LayerInputs());
  const bool known = InferCall(*p.layer, switches, &own, out);
  std::copy(own.begin(), own.end(), in->begin());
  if (!p.add) return known;
  AssignShape(attrs, "addend", &in->back(), (*out)[0]);
  return known && in->back().known();
}

// One dtype for all, but that a bias may be float32 beside 16-bit data: BatchNorm folded in loses
// nothing there.
bool InferFusedType(const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<FusedParam>();
  std::vector<int> like = *in;
  if (p.layer->op->trait<LayerTrait>()->before_bias) {
    like.resize(static_cast<size_t>(p.LayerInputs()));
    const bool known = InferCall(*p.layer, switches, &like, out);
    if (p.add) like.push_back((*out)[0]);
    *in = std::move(like);
    return known;
  }
  const bool wide = p.LayerInputs() > 2 && like[2] == kFloat32 && (IsHalf(like[0]) || IsHalf(like[1]) || IsHalf((*out)[0]));
  if (wide) like.erase(like.begin() + 2);
  const bool known = SameType(attrs, &like, out);
  if (wide) like.insert(like.begin() + 2, kFloat32);
  *in = std::move(like);
  return known;
}

const Op* FusedOp(const LayerView& view) { return Op::Get(view.layer->op->trait<LayerTrait>()->fused); }

}  // namespace

std::optional<LayerView> LayerOf(const Node& node) {
  if (node.is_variable()) return std::nullopt;
  const Op& op = *node.op();
  LayerView view;
  view.layer = node.attrs.get();
  if (op.trait<FusedLayer>()) {
    const auto& p = node.attrs->get<FusedParam>();
    view.layer = p.layer.get();
    view.add = p.add;
    view.post = p.post;
  } else if (!op.trait<LayerTrait>()) {
    return std::nullopt;
  }
  view.role = view.packed() ? Role::kDense : *view.layer->op->trait<Role>();
  return view;
}

AttrsPtr FuseInto(const Node& node, bool add, const EpilogueOp& post) {
  AttrDict dict = node.attrs->dict;
  if (add) dict["with_add"] = "True";
  if (post) dict["post"] = EpilogueText(post);
  return MakeAttrs(FusedOp(*LayerOf(node)), std::move(dict));
}

AttrsPtr WithBias(const Node& node, int dtype) {
  AttrDict dict = node.attrs->dict;
  dict["no_bias"] = "False";
  return MakeAttrs(IsHalf(dtype) ? FusedOp(*LayerOf(node)) : node.op(), std::move(dict));
}

Op& RegisterFused(const char* name, const char* layer) {
  Op& op = Op::Register(name);
  op.parse = [name, layer](const AttrDict& dict) -> std::shared_ptr<const void> {
    AttrDict rest = dict;
    auto p = std::make_shared<FusedParam>();
    std::string post;
    p->add = TakeFlag(name, &rest, "with_add");
    TakeText(&rest, "post", &post);
    p->post = ParsePost(name, post);
    p->layer = MakeAttrs(Op::Get(layer), std::move(rest));
    return p;
  };
  return op.describe(std::string(layer) + " with the addition and the activation behind it; made by the plan compiler.")
      .set_inputs({"data", "weight", "bias", "addend"},
                  [](const Attrs& a) { return a.get<FusedParam>().LayerInputs() + (a.get<FusedParam>().add ? 1 : 0); })
      .set_list_inputs([](const Attrs& a) {
        const auto& p = a.get<FusedParam>();
        std::vector<std::string> names = p.layer->op->ListInputs(*p.layer);
        if (p.add) names.push_back("addend");
        return names;
      })
      .set_trait(FusedLayer{})
      .set_infer_shape(InferFusedShape)
      .set_infer_type(InferFusedType)
      .set_dtypes(dtypes::kFloatsUpTo32)
      .set_inplace([](const Attrs& a) {
        const auto& p = a.get<FusedParam>();
        return p.add ? std::vector<std::pair<int, int>>{{p.LayerInputs(), 0}} : std::vector<std::pair<int, int>>();
      })
      .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob> out) {
        const Attrs& layer = *a.get<FusedParam>().layer;
        return layer.op->flops(layer, in, out);
      })
      .set_stateful();
}

void BeginWithAddend(const TBlob& addend, const TBlob& out) {
  if (addend.dptr == out.dptr) return;
  const char* from = static_cast<const char*>(addend.dptr);
  char* to = static_cast<char*>(out.dptr);
  ParallelFor(static_cast<int64_t>(out.Bytes()), 1 << 18, [&](int64_t b, int64_t e) { std::memcpy(to + b, from + b, e - b); });
}

}  // namespace nn
}  // namespace mxnet
