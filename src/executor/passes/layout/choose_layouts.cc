// Channels-last layout: convolutions give it, pooling, normalisation and pointwise operators carry
// it on, and conversions stand only where somebody needs rows (or where a result leaves the graph).
#include <map>

#include "executor/passes/core/passes.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

using EntryKey = std::pair<const Node*, uint32_t>;

bool IsImage(const Shape& s, int dtype) {
  return (s.ndim() == 4 || s.ndim() == 5) && s.Size() > 0 && IsFloating(dtype) && dtype != kFloat64;
}

/* One channel, or one place: both layouts are the same bytes. */
bool Neutral(const Shape& s) { return s[1] == 1 || s.Prod(2, s.ndim()) == 1; }

bool HasLayoutAttr(const Node& n) {  // NHWC in the user's own terms: shapes are in that order, nothing to do
  auto it = n.attrs->dict.find("layout");
  return it != n.attrs->dict.end() && it->second != "None" && it->second != "NCHW" && it->second != "NCDHW" && it->second != "NCW";
}

// On a GPU, convolutions on tensor cores want channels last; others are as fast on planes.
bool Worthwhile(const PassGraph& g, const GraphInfo& info, bool on_cpu) {
  const Env& env = Env::Get();
  const bool tensor_float = env.cuda_allow_tensor_core && env.cuda_tensor_op_math_allow_conversion;
  std::vector<NodeEntry> heads = g.outputs;
  heads.insert(heads.end(), g.grads.begin(), g.grads.end());
  bool found = false;
  DFSVisit(heads, [&](const NodePtr& n) {
    if (found || n->is_variable() || n->op()->layout != LayoutRule::kImages || HasLayoutAttr(*n)) return;
    found = on_cpu || (info.dtype({n, 0, 0}) == kFloat32 ? tensor_float : env.cuda_allow_tensor_core);
  });
  return found;
}

}  // namespace

int ChooseLayouts(PassGraph* g, PassContext* context) {
  const GraphInfo& info = context->info(*g);
  if (!Worthwhile(*g, info, context->on_cpu())) return 0;
  const IndexedGraph& indexed = info.g;
  const ShapeVector& shapes = info.shapes;
  const std::vector<int>& dtypes = info.dtypes;
  int conversions = 0;
  auto& layouts = g->layouts;
  struct About {
    Shape shape;
    int dtype;
  };
  std::map<EntryKey, About> about;             // of renewed entries
  std::map<EntryKey, NodeEntry> converted[2];  // by wanted layout
  auto layout_of = [&](const NodeEntry& e) {
    auto it = layouts.find({e.node.get(), e.index});
    return it == layouts.end() ? Layout::kPlain : it->second;
  };
  std::vector<NodePtr> keep;
  auto convert = [&](const NodeEntry& e, Layout wanted, bool once = false) -> NodeEntry {
    const About& a = about.at({e.node.get(), e.index});
    if (layout_of(e) == wanted || Neutral(a.shape)) return e;
    NodeEntry& made = converted[static_cast<int>(wanted)][{e.node.get(), e.index}];
    if (!made) {
      ++conversions;
      made = MakeOp("_to_layout", {e}, {}, e.node->name + (wanted == Layout::kPlain ? "_plain" : "_channels_last"));
      if (once) made = {ConstantNodeLike(*made.node), 0, 0};
      about[{made.node.get(), 0}] = a;
      if (wanted == Layout::kChannelsLast) layouts[{made.node.get(), 0}] = wanted;
    }
    return made;
  };
  Rewrite(g, [&](const NodePtr& renewed, const NodePtr& original) -> NodePtr {
    keep.push_back(renewed);
    const uint32_t id = indexed.id.at(original.get());
    const int nout = original->num_outputs();
    auto describe = [&](const NodePtr& n) {
      for (int o = 0; o < nout; ++o) about[{n.get(), static_cast<uint32_t>(o)}] = {shapes[indexed.eid(id, o)], dtypes[indexed.eid(id, o)]};
    };
    if (renewed->is_variable()) {
      describe(renewed);
      return renewed;
    }
    const Op* op = renewed->op();
    const int nin = renewed->num_inputs();
    std::vector<bool> image_in(nin), image_out(nout);
    bool any = false;
    for (int i = 0; i < nin; ++i) {
      const About& a = about.at({renewed->inputs[i].node.get(), renewed->inputs[i].index});
      image_in[i] = IsImage(a.shape, a.dtype) && !op->ReadsOnlyShape(i);
      any = any || (image_in[i] && layout_of(renewed->inputs[i]) == Layout::kChannelsLast && !Neutral(a.shape));
    }
    for (int o = 0; o < nout; ++o) image_out[o] = IsImage(shapes[indexed.eid(id, o)], dtypes[indexed.eid(id, o)]);

    std::vector<NodeEntry> inputs = renewed->inputs;
    bool out_last = false;
    const bool images = op->layout == LayoutRule::kImages && !HasLayoutAttr(*renewed);
    auto in_set = [](uint32_t set, int i) { return i < 32 && (set >> i & 1); };
    if (images) {
      // takes any mixture of layouts; gives channels last
      for (int i = 0; i < nin; ++i)
        if (image_in[i] && !in_set(op->images.in, i)) inputs[i] = convert(inputs[i], Layout::kPlain);
      for (int i = 0; i < nin; ++i)
        if (image_in[i] && in_set(op->images.like_output, i)) inputs[i] = convert(inputs[i], Layout::kChannelsLast);
      // A GPU's convolution wants its weight in the images' order, too. In inference it is brought
      // there once.
      if (!context->on_cpu() && context->inference() && nin > 1 && image_in[1] && !in_set(op->images.in, 1) &&
          (inputs[1].node->is_variable() || IsConstantNode(*inputs[1].node)))
        inputs[1] = convert(inputs[1], Layout::kChannelsLast, true);
      for (int o = 0; o < nout; ++o) image_out[o] = image_out[o] && in_set(op->images.out, o);
      out_last = true;
    } else if (any && op->layout == LayoutRule::kChannelsLast && !HasLayoutAttr(*renewed)) {
      for (int i = 0; i < nin; ++i)
        if (image_in[i]) inputs[i] = convert(inputs[i], Layout::kChannelsLast);
      out_last = true;
    } else if (any && op->layout == LayoutRule::kAgnostic) {
      bool alike = true;
      const Shape& shape = shapes[indexed.eid(id, 0)];
      for (int i = 0; i < nin; ++i)
        alike = alike && (image_in[i] || op->ReadsOnlyShape(i)) && about.at({inputs[i].node.get(), inputs[i].index}).shape == shape;
      for (int o = 0; o < nout; ++o) alike = alike && image_out[o] && shapes[indexed.eid(id, o)] == shape;
      for (int i = 0; i < nin; ++i)
        if (image_in[i]) inputs[i] = convert(inputs[i], alike ? Layout::kChannelsLast : Layout::kPlain);
      out_last = alike;
    } else if (any) {
      for (int i = 0; i < nin; ++i)
        if (image_in[i]) inputs[i] = convert(inputs[i], Layout::kPlain);
    }
    NodePtr result = renewed;
    bool changed = false;
    for (int i = 0; i < nin; ++i) changed = changed || inputs[i].node != renewed->inputs[i].node;
    if (changed) {
      result = std::make_shared<Node>();
      result->name = renewed->name;
      result->attrs = renewed->attrs;
      result->control_deps = renewed->control_deps;
      result->inputs = std::move(inputs);
      keep.push_back(result);
    }
    describe(result);
    for (int o = 0; o < nout; ++o)
      if (out_last && image_out[o]) layouts[{result.get(), static_cast<uint32_t>(o)}] = Layout::kChannelsLast;
    return result;
  });
  auto leave = [&](NodeEntry* e) {
    const NodeEntry plain = convert(*e, Layout::kPlain);
    if (plain.node == e->node) return;
    g->alike.emplace_back(plain, *e);
    *e = plain;
  };
  for (auto& e : g->outputs) leave(&e);
  for (auto& e : g->grads) leave(&e);
  return conversions;
}

}  // namespace mxnet
