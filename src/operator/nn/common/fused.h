/* What the fused forms of convolution and dense layers share: the layer, the addition and the
 * activation behind it, as one node made by the plan compiler. */
#ifndef MXNET_OPERATOR_NN_COMMON_FUSED_H_
#define MXNET_OPERATOR_NN_COMMON_FUSED_H_

#include <optional>

#include "mxnet/op.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

/* `layer` on the first inputs, plus the last input when `add`, then `post`. */
struct FusedParam {
  AttrsPtr layer;
  bool add = false;
  EpilogueOp post;
  int LayerInputs() const { return layer->op->NumInputs(*layer); }
};

/*
 * Of the record of a layer, y = weight x + bias: its fused form, and the dimension of a result of
 * `ndim` dimensions that its filters run along. Inputs are data, weight and, where there is one,
 * bias.
 * `before_bias` makes it a dense layer whose weight is packed: it is no array of floats that a pass
 * could change, and has inputs of its own. The function says how many inputs stand before the bias,
 * which is the last one.
 */
struct LayerTrait {
  const char* fused;
  int (*channel_axis)(const Attrs& layer, int ndim);
  int (*before_bias)(const Attrs& layer) = nullptr;
};

/* A layer, alone or with what is fused into it. */
struct LayerView {
  const Attrs* layer;  // of the layer alone
  Role role;           // of the layer alone: kConvolution or kDense
  bool add = false;    // something is added to its result, and then `post` applied
  EpilogueOp post;
  const LayerTrait& trait() const { return *layer->op->trait<LayerTrait>(); }
  int channel_axis(int ndim) const { return trait().channel_axis(*layer, ndim); }
  bool packed() const { return trait().before_bias != nullptr; }
  int before_bias() const { return packed() ? trait().before_bias(*layer) : 2; }
};
std::optional<LayerView> LayerOf(const Node& node);
/* Of the fused form of `node`, a layer or such a form itself, with an addition or an activation (or
 * none) more. */
AttrsPtr FuseInto(const Node& node, bool add, const EpilogueOp& post);
/* The same, alone, with a bias that may be float32 beside data of a 16-bit `dtype`. */
AttrsPtr WithBias(const Node& node, int dtype);

/* The record of `name`: parameters of `layer` and with_add and post; float32 and, but for packed
 * weights, the 16-bit dtypes, whose bias may be float32; the result may take the addend's memory.
 * The kernel is the caller's to set. */
Op& RegisterFused(const char* name, const char* layer);

/* f(args, reference): first on 16-bit tensors as they are, without the reference; where it returns
 * false, and for float32, on float32. Throws Error(kType) for other dtypes. */
template <typename F>
void RunFused(KernelArgs& args, const F& f) {
  const int dtype = args.out[0].dtype;
  MXNET_CHECK_KIND(dtype == kFloat32 || IsHalf(dtype), Type)
      << Named(*args.attrs) << "dtype " << DTypeName(dtype) << "; accepted: float32, float16, bfloat16";
  if (IsHalf(dtype) && f(args, false)) return;
  RunReal(args, [&](KernelArgs& a, auto) { f(a, true); });
}

/* out = addend, where the two are not the same memory already: what a kernel that accumulates
 * starts from. */
void BeginWithAddend(const TBlob& addend, const TBlob& out);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_FUSED_H_
