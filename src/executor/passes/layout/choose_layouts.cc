// Channels-last layout: convolutions give it, pooling, normalisation and pointwise operators carry
// it on, and conversions stand only where somebody needs rows (or where a result leaves the graph).
#include <atomic>
#include <map>
#include <set>

#include "executor/passes/core/passes.h"
#include "mxnet/env.h"
#include "operator/nodes/graph_operators.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized/quantized.h"
#include "operator/record/traits.h"
#include "operator/shared/conv_call.h"

namespace mxnet {
namespace {

std::atomic<bool> g_layouts_may_change{true};

constexpr int64_t kFewFilters = 4, kLeastChannels = 16, kManyChannels = 64, kLeastLength = 8;
constexpr int64_t kLeastProducts = 256;  // of a number

/* `lines`: sequences with channels are images of one line. Only where kernels of our own, which
 * want their channels last, compute convolutions of them. */
bool IsImage(const Shape& s, int dtype, bool lines) {
  if (s.ndim() == 3) return lines && s.Size() > 0 && dtype == kFloat32;
  return (s.ndim() == 4 || s.ndim() == 5) && s.Size() > 0 && ((IsFloating(dtype) && dtype != kFloat64) || quantized::IsBytes(dtype));
}

/* One channel, or one place: both layouts are the same bytes. `ndim`: of the image that the tensor
 * is repeated over. */
bool Neutral(const Shape& s, int ndim) {
  const auto size = [&](int d) { return d < ndim - s.ndim() ? 1 : s[d - (ndim - s.ndim())]; };
  int64_t places = 1;
  for (int d = 2; d < ndim; ++d) places *= size(d);
  return size(1) == 1 || places == 1;
}
bool Neutral(const Shape& s) { return Neutral(s, s.ndim()); }

bool InSet(uint32_t set, int i) { return i < 32 && (set >> i & 1); }

// On a GPU, convolutions on tensor cores want channels last; others are as fast on planes.
bool Worthwhile(const PassGraph& g, PassContext* context) {
  const Env& env = Env::Get();
  const bool tensor_float = env.cuda_allow_tensor_core && env.cuda_tensor_op_math_allow_conversion;
  return AnyNode(g, [&](const NodePtr& n) {
    if (n->is_variable() || n->op()->layout != LayoutRule::kImages || ShapesAreChannelsLast(*n)) return false;
    return context->on_cpu() || (context->info(g).dtype({n, 0, 0}) == kFloat32 ? tensor_float : env.cuda_allow_tensor_core);
  });
}

class LayoutChooser {
 public:
  LayoutChooser(PassGraph* g, const PassContext& context, const GraphInfo& info)
      : g_(g),
        info_(info),
        keeps_weights_(!context.on_cpu() && context.inference()),
        brings_data_(context.on_cpu() && context.inference()) {
    if (brings_data_) FindReaders();
  }

  /* Returns how many conversions and other labels there are. */
  int Run() {
    Rewrite(g_, [this](const NodePtr& renewed, const NodePtr& original) { return Choose(renewed, original); });
    for (auto& e : g_->outputs) Leave(&e);
    for (auto& e : g_->grads) Leave(&e);
    return changes_;
  }

 private:
  struct Tensor {
    Shape shape;
    int dtype;
  };
  /* Of a node: what it reads, which of that and of its results are images, and whether these come
   * channels last. */
  struct Choice {
    std::vector<NodeEntry> inputs;
    std::vector<bool> image_in, image_out;
    bool out_last = false;
  };

  Layout LayoutOf(const NodeEntry& e) const {
    auto it = g_->layouts.find(e);
    return it == g_->layouts.end() ? Layout::kPlain : it->second;
  }

  /* `once`: by a constant node. */
  NodeEntry Convert(const NodeEntry& e, Layout wanted, bool once = false) {
    if (LayoutOf(e) == wanted || Neutral(tensors_.at(e).shape)) return e;
    return MadeOnce(e, wanted, [&](const std::string& name) {
      const NodeEntry made = graph_ops::ToLayout(e, name);
      return once ? NodeEntry{ConstantNodeLike(*made.node), 0, 0} : made;
    });
  }

  /* `e` in another layout: what `make` gives of its name, or has given before. */
  template <typename Make>
  NodeEntry MadeOnce(const NodeEntry& e, Layout wanted, const Make& make) {
    NodeEntry& made = converted_[static_cast<int>(wanted)][e];
    if (!made) {
      ++changes_;
      made = make(e.node->name + (wanted == Layout::kPlain ? "_plain" : "_channels_last"));
      tensors_[made] = tensors_.at(e);
      if (wanted == Layout::kChannelsLast) g_->layouts[made] = wanted;
    }
    return made;
  }

  void ConvertImages(Choice* c, Layout wanted) {
    for (size_t i = 0; i < c->inputs.size(); ++i)
      if (c->image_in[i]) c->inputs[i] = Convert(c->inputs[i], wanted);
  }

  bool IsImageHere(const Tensor& tensor) const { return IsImage(tensor.shape, tensor.dtype, brings_data_); }

  bool TakesImagesHere(const Node& n) const {
    const auto* takes = brings_data_ ? n.op()->trait<ImagesOnCpu>() : nullptr;
    return takes && takes->when(*n.attrs);
  }

  // A convolution, perhaps with what follows it, whose kernels pack their weights. REQUIRES: an
  // operator of images.
  static bool IsConvolution(const Node& n) { return !n.is_variable() && n.op()->trait<AsksForWeights>() != nullptr; }

  void FindReaders() {
    AnyNode(*g_, [this](const NodePtr& n) {
      for (size_t i = 0; i < n->inputs.size(); ++i) {
        const bool convolution = i == 0 && IsConvolution(*n) && n->op()->layout == LayoutRule::kImages && WantsRows(*n);
        (convolution ? for_convolutions_ : for_others_).insert(n->inputs[i].node.get());
      }
      return false;
    });
    for (const auto& e : g_->outputs) for_others_.insert(e.node.get());
  }

  // Are the channels of a sequence's convolution, with all of its filters, many enough for packed
  // products of rows?
  bool WantsRows(const Node& n) const {
    const Shape &data = info_.shape(n.inputs[0]), &weight = info_.shape(n.inputs[1]);
    return data.ndim() == 3 && data[1] >= kLeastChannels && weight[0] >= kLeastChannels && weight[1] == data[1];
  }

  // Does a convolution compute so much with each number that this library's own kernels, which want
  // channels last, make up for a pass over its data? Others compute on planes.
  bool WantsChannelsLast(const Node& n, const Choice& c) const {
    if (!brings_data_ || !IsConvolution(n) || !c.image_in[0]) return false;
    const Tensor &data = tensors_.at(c.inputs[0]), &weight = tensors_.at(c.inputs[1]);
    return data.dtype == kFloat32 && data.shape.ndim() <= 4 && data.shape[1] >= kLeastChannels && weight.shape[1] == data.shape[1] &&
           weight.shape.Size() / weight.shape[1] >= kLeastProducts;
  }

  // May its results follow the layout of its data? Bytes of sequences, which float sequences
  // become, are no images: they would be in an order that nobody knows of.
  bool GivesImages(const NodePtr& original, const Choice& c) const {
    for (size_t o = 0; o < c.image_out.size(); ++o) {
      const Shape shape = TensorOf(original, static_cast<int>(o)).shape;
      if (!c.image_out[o] && shape.ndim() >= 3 && !Neutral(shape)) return false;
    }
    return true;
  }

  // Images that are repeated over a result of more dimensions have their channels elsewhere: they
  // come as rows. False: one is as large as the result, which may take its memory in that order
  // alone.
  bool AlignRanks(const NodePtr& original, Choice* c) {
    if (c->inputs.size() < 2 || c->image_out.empty() || !c->image_out[0]) return true;
    const Shape& shape = info_.shape({original, 0, 0});
    const auto aligned = [&](size_t i) { return tensors_.at(c->inputs[i]).shape.ndim() == shape.ndim(); };
    for (size_t i = 0; i < c->inputs.size(); ++i)
      if (!aligned(i) && tensors_.at(c->inputs[i]).shape.Size() == shape.Size()) return Neutral(shape);
    for (size_t i = 0; i < c->inputs.size(); ++i) {
      if (!c->image_in[i] || aligned(i)) continue;
      c->inputs[i] = Convert(c->inputs[i], Layout::kPlain);
      c->image_in[i] = false;
    }
    return true;
  }

  // Of sequences only convolutions give channels last, and only ones whose readers may want them.
  bool StaysPlain(const Node& n, const NodePtr& original, const Choice& c) const {
    if (c.image_out.empty() || !c.image_out[0] || tensors_.at(c.inputs[0]).shape.ndim() != 3) return false;
    if (!IsConvolution(n)) return true;
    if (LayoutOf(c.inputs[0]) != Layout::kPlain) return false;
    const Shape &data = tensors_.at(c.inputs[0]).shape, &weight = tensors_.at(c.inputs[1]).shape, made = TensorOf(original, 0).shape;
    // In steps of 1 there are kernels along the sequence, if it fills their vectors. Sums over many
    // channels are as fast by packed products, and faster by Winograd's tiles.
    const bool along = (data[1] < kManyChannels || weight[1] == 1) && 2 * made[2] > data[2] + 1 && made[2] >= kLeastLength;
    return along || weight[0] < kLeastChannels || weight.Size() < kLeastProducts * weight[1];
  }

  // Does a convolution of few channels, each on its own, read planes in steps of 1? Its kernel
  // stays with them; vectors of such channels would be empty for the most part. What is fused with
  // one wants others.
  bool StaysOnPlanes(const Node& n, const NodePtr& original, const Choice& c) const {
    if (!brings_data_ || !IsConvolution(n) || c.inputs.size() < 2 || c.inputs.size() > 3 || !c.image_in[0]) return false;
    const Tensor& data = tensors_.at(c.inputs[0]);
    const Shape &x = data.shape, &w = tensors_.at(c.inputs[1]).shape, y = TensorOf(original, 0).shape;
    const Role* const role = n.op()->trait<Role>();
    if (!role || *role != Role::kConvolution || data.dtype != kFloat32 || x.ndim() != 4) return false;
    const bool few = w[1] == 1 && (w[0] == x[1] || w[0] <= kFewFilters) && w[0] < kLeastChannels;
    return few && LayoutOf(c.inputs[0]) == Layout::kPlain && 2 * y[2] > x[2] + 1 && 2 * y[3] > x[3] + 1;
  }

  // Does a convolution of few channels with few filters read planes in steps of 1?
  bool HasFewFilters(const Node& n, const NodePtr& original, const Choice& c) const {
    if (!brings_data_ || !IsConvolution(n) || !c.image_in[0] || tensors_.at(c.inputs[0]).shape.ndim() != 4) return false;
    const Tensor& data = tensors_.at(c.inputs[0]);
    const Shape &x = data.shape, &w = tensors_.at(c.inputs[1]).shape, y = TensorOf(original, 0).shape;
    for (size_t i = 2; i < c.inputs.size(); ++i)  // an addend may be one, but no weight
      if (c.image_in[i] && (tensors_.at(c.inputs[i]).shape != y || LayoutOf(c.inputs[i]) != Layout::kPlain)) return false;
    const bool every = LayoutOf(c.inputs[0]) == Layout::kPlain && data.dtype == kFloat32 && w[1] == x[1] && w[0] == y[1];
    return every && 2 * y[3] > x[3] + 1 && nn::RowsFillVectors(x[1], w[0], y[3]);
  }

  // An operator of images takes any mixture of layouts, and gives channels last.
  void ChooseForImages(const Node& n, const NodePtr& original, Choice* c) {
    const Op& op = *n.op();
    const int count = static_cast<int>(c->inputs.size());
    if (StaysPlain(n, original, *c) || StaysOnPlanes(n, original, *c) || HasFewFilters(n, original, *c))
      return ConvertImages(c, Layout::kPlain);
    if (WantsChannelsLast(n, *c)) c->inputs[0] = Convert(c->inputs[0], Layout::kChannelsLast);
    for (int i = 0; i < count; ++i)
      if (c->image_in[i] && !InSet(op.images.in, i)) c->inputs[i] = Convert(c->inputs[i], Layout::kPlain);
    for (int i = 0; i < count; ++i)
      if (c->image_in[i] && InSet(op.images.like_output, i)) c->inputs[i] = Convert(c->inputs[i], Layout::kChannelsLast);
    // A GPU's convolution wants its weight in the images' order, too. In inference it is brought
    // there once.
    if (keeps_weights_ && count > 1 && c->image_in[1] && !InSet(op.images.in, 1) &&
        (c->inputs[1].node->is_variable() || IsConstantNode(*c->inputs[1].node)))
      c->inputs[1] = Convert(c->inputs[1], Layout::kChannelsLast, true);
    for (size_t o = 0; o < c->image_out.size(); ++o) c->image_out[o] = c->image_out[o] && InSet(op.images.out, static_cast<int>(o));
    c->out_last = true;
  }

  // Element by element: the common layout passes through, where all tensors have one shape.
  void ChooseForAgnostic(const Op& op, const NodePtr& original, Choice* c) {
    const Shape& shape = info_.shape({original, 0, 0});
    bool alike = true;
    for (size_t i = 0; i < c->inputs.size(); ++i)
      alike = alike && (c->image_in[i] || original->attrs->ReadsOnlyShape(static_cast<int>(i))) && tensors_.at(c->inputs[i]).shape == shape;
    for (size_t o = 0; o < c->image_out.size(); ++o)
      alike = alike && c->image_out[o] && info_.shape({original, static_cast<uint32_t>(o), 0}) == shape;
    ConvertImages(c, alike ? Layout::kChannelsLast : Layout::kPlain);
    c->out_last = alike;
  }

  // The same where inputs are repeated, if these are the same bytes in both layouts.
  void ChooseForBroadcast(const NodePtr& original, Choice* c) {
    const Shape& shape = info_.shape({original, 0, 0});
    bool fits = c->image_out[0];
    for (size_t i = 0; i < c->inputs.size(); ++i) {
      const Shape& own = tensors_.at(c->inputs[i]).shape;
      fits = fits && (own == shape ? c->image_in[i] : Neutral(own, shape.ndim()));
    }
    if (!fits) return ConvertImages(c, Layout::kPlain);
    // One of fewer dimensions has its own channels elsewhere.
    for (NodeEntry& e : c->inputs) e = Convert(e, tensors_.at(e).shape == shape ? Layout::kChannelsLast : Layout::kPlain);
    c->out_last = true;
  }

  // Kernels that go by the label of their data give results in the same order. Data that is the
  // same in both may have one that the results do not have.
  void ForgetLabels(const Node& n, Choice* c) {
    if (n.op()->layout != LayoutRule::kChannelsLast && !TakesImagesHere(n)) return;
    for (size_t i = 0; i < c->inputs.size(); ++i) {
      NodeEntry& e = c->inputs[i];
      if (!c->image_in[i] || LayoutOf(e) == Layout::kPlain) continue;
      e = MadeOnce(e, Layout::kPlain, [&](const std::string& name) { return graph_ops::ReshapeTo(e, tensors_.at(e).shape, name); });
    }
  }

  // Networks of Keras and JAX turn images with their channels last around each convolution. Such a
  // permutation only says of the same bytes which layout they have. Null: this is none.
  NodePtr Relabelled(const NodePtr& renewed, const NodePtr& original) {
    if (!brings_data_ || RoleOf(*renewed) != Role::kTranspose) return nullptr;
    const NodeEntry& from = renewed->inputs[0];
    const Tensor &tensor = tensors_.at(from), made = TensorOf(original, 0);
    const int ndim = tensor.shape.ndim();
    if (ndim < 3 || ndim > 4 || tensor.dtype != kFloat32 || tensor.shape.Size() == 0) return nullptr;
    const std::vector<int> axes = PermutationOf(*renewed, ndim);
    const bool last = LayoutOf(from) == Layout::kChannelsLast;
    const bool rows = axes == (ndim == 4 ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{0, 2, 1});
    const bool images = axes == (ndim == 4 ? std::vector<int>{0, 3, 1, 2} : std::vector<int>{0, 2, 1});
    const bool to_rows = last && rows && !Neutral(tensor.shape);
    const bool to_images = !last && images && !Neutral(made.shape) && made.shape[1] >= kLeastChannels / 2 &&
                           (ndim == 4 || (for_convolutions_.count(original.get()) && !for_others_.count(original.get())));
    if (!to_rows && !to_images) return nullptr;
    const NodePtr result = graph_ops::ReshapeTo(from, made.shape, renewed->name).node;
    result->control_deps = renewed->control_deps;
    keep_.push_back(result);
    Describe(result, original);
    ++changes_;
    if (to_images) g_->layouts[{result.get(), 0}] = Layout::kChannelsLast;
    return result;
  }

  NodePtr Choose(const NodePtr& renewed, const NodePtr& original) {
    keep_.push_back(renewed);
    if (renewed->is_variable()) {
      Describe(renewed, original);
      return renewed;
    }
    if (NodePtr relabelled = Relabelled(renewed, original)) return relabelled;
    const Op& op = *renewed->op();
    Choice c;
    c.inputs = renewed->inputs;
    bool any = false;            // channels last among the inputs
    int images = 0, labels = 0;  // labels: also of images that are the same in both layouts
    for (int i = 0; i < renewed->num_inputs(); ++i) {
      const Tensor& tensor = tensors_.at(c.inputs[i]);
      c.image_in.push_back(IsImageHere(tensor) && !renewed->attrs->ReadsOnlyShape(i));
      if (!c.image_in[i]) continue;
      const bool last = LayoutOf(c.inputs[i]) == Layout::kChannelsLast;
      any = any || (last && !Neutral(tensor.shape));
      ++images, labels += last;
    }
    bool bytes = false;
    for (int o = 0; o < original->num_outputs(); ++o) {
      c.image_out.push_back(IsImageHere(TensorOf(original, o)));
      bytes = bytes || (c.image_out[o] && quantized::IsBytes(TensorOf(original, o).dtype));
    }
    for (int i = 0; i < renewed->num_inputs(); ++i) bytes = bytes || (c.image_in[i] && quantized::IsBytes(tensors_.at(c.inputs[i]).dtype));

    // NHWC in the user's own terms: shapes are in that order, nothing to do
    const bool as_given = ShapesAreChannelsLast(*renewed);
    // 32-bit sums of bytes are no images
    if (bytes && !(op.trait<graph_ops::ByteImages>() && c.image_out[0])) {
      ConvertImages(&c, Layout::kPlain);
    } else if (op.layout == LayoutRule::kImages && !as_given) {
      ChooseForImages(*renewed, original, &c);
    } else if ((any || (images > 0 && labels == images)) && !as_given &&
               (op.layout == LayoutRule::kChannelsLast || TakesImagesHere(*renewed))) {
      c.out_last = GivesImages(original, c) && AlignRanks(original, &c);
      ConvertImages(&c, c.out_last ? Layout::kChannelsLast : Layout::kPlain);
    } else if (any && op.layout == LayoutRule::kBroadcast) {
      ChooseForBroadcast(original, &c);
    } else if (any && op.layout == LayoutRule::kAgnostic) {
      ChooseForAgnostic(op, original, &c);
    } else if (any) {
      ConvertImages(&c, Layout::kPlain);
    }
    if (!c.out_last) ForgetLabels(*renewed, &c);
    return Make(renewed, original, std::move(c));
  }

  NodePtr Make(const NodePtr& renewed, const NodePtr& original, Choice c) {
    NodePtr result = renewed;
    bool changed = false;
    for (size_t i = 0; i < c.inputs.size(); ++i) changed = changed || c.inputs[i].node != renewed->inputs[i].node;
    if (changed) {
      result = std::make_shared<Node>();
      result->name = renewed->name;
      result->attrs = renewed->attrs;
      result->control_deps = renewed->control_deps;
      result->inputs = std::move(c.inputs);
      keep_.push_back(result);
    }
    Describe(result, original);
    for (size_t o = 0; o < c.image_out.size(); ++o)
      if (c.out_last && c.image_out[o]) g_->layouts[{result.get(), static_cast<uint32_t>(o)}] = Layout::kChannelsLast;
    return result;
  }

  Tensor TensorOf(const NodePtr& original, int output) const {
    const NodeEntry e{original, static_cast<uint32_t>(output), 0};
    return {info_.shape(e), info_.dtype(e)};
  }
  void Describe(const NodePtr& n, const NodePtr& original) {
    for (int o = 0; o < original->num_outputs(); ++o) tensors_[{n.get(), static_cast<uint32_t>(o)}] = TensorOf(original, o);
  }

  // Results leave the graph as rows.
  void Leave(NodeEntry* e) {
    const NodeEntry plain = Convert(*e, Layout::kPlain);
    if (plain.node == e->node) return;
    g_->alike.emplace_back(plain, *e);
    *e = plain;
  }

  PassGraph* const g_;
  const GraphInfo& info_;  // of the graph as it was
  const bool keeps_weights_, brings_data_;
  int changes_ = 0;
  std::set<const Node*> for_convolutions_, for_others_;  // read as sequences by convolutions of many channels; by others
  std::map<EntryKey, Tensor> tensors_;                   // renewed entries
  std::map<EntryKey, NodeEntry> converted_[2];           // by wanted layout
  std::vector<NodePtr> keep_;                            // nodes whose addresses are keys
};

}  // namespace

bool LayoutsMayChange() { return g_layouts_may_change.load(std::memory_order_relaxed); }
void LetLayoutsChange(bool value) { g_layouts_may_change.store(value, std::memory_order_relaxed); }

int ChooseLayouts(PassGraph* g, PassContext* context) {
  if (!Worthwhile(*g, context)) return 0;
  return LayoutChooser(g, *context, context->info(*g)).Run();
}

}  // namespace mxnet
