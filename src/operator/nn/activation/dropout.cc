// Dropout (Srivastava et al., JMLR 15, 2014), scaled so that the expectation stays.
#include <algorithm>
#include <cstring>

#include "base/ran.h"
#include "operator/init/fill.h"
#include "operator/matrix/move.h"
#include "operator/nn/activation/dropout_kernels.h"
#include "operator/nn/activation/gpu_activation.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/recipe.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace nn {

enum DropoutMode : int { kTraining, kAlways };

struct DropoutParam : public Parameter<DropoutParam> {
  float p;
  int mode;
  Shape axes;
  std::optional<bool> cudnn_off;
  MXNET_DECLARE_PARAM(DropoutParam) {
    MXNET_FIELD(p).set_default(0.5f).set_range(0, 1).describe("Probability that an element becomes 0.");
    MXNET_FIELD(mode)
        .add_enum("training", kTraining)
        .add_enum("always", kAlways)
        .set_default(kTraining)
        .describe("When elements are dropped.");
    MXNET_FIELD(axes).set_default(Shape()).describe("Axes along which one decision is shared.");
    MXNET_FIELD(cudnn_off).set_default(std::optional<bool>(false)).describe("Do not use cuDNN for this layer.");
  }
};
MXNET_REGISTER_PARAM(DropoutParam);

namespace {

constexpr int64_t kGrain = 1 << 14;

bool Active(const KernelArgs& a) { return a.is_train || a.param<DropoutParam>().mode == kAlways; }

DropoutView ReadDropout(const Attrs& a) {
  const auto& p = a.get<DropoutParam>();
  return {p.p, p.mode == kAlways, p.axes.ndim() > 0};
}

// out = data * mask, the mask broadcast along axes of size 1.
template <typename T>
void Apply(const T* x, const Shape& shape, const T* mask, const Shape& mask_shape, T* y) {
  const int64_t n = shape.Size();
  if (shape == mask_shape) {
    Ran("vector loop");
    ParallelFor(n, kGrain, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) y[i] = x[i] * mask[i];
    });
    return;
  }
  const int nd = shape.ndim();
  std::vector<int64_t> stride(nd);
  int64_t step = 1;
  for (int d = nd - 1; d >= 0; --d) {
    stride[d] = mask_shape[d] == 1 ? 0 : step;
    step *= mask_shape[d];
  }
  const int64_t width = shape[nd - 1];
  Ran("vector loop");
  ParallelFor(n / std::max<int64_t>(1, width), std::max<int64_t>(1, kGrain / std::max<int64_t>(1, width)), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) {
      int64_t rest = r, at = 0;
      for (int d = nd - 2; d >= 0; --d) {
        at += rest % shape[d] * stride[d];
        rest /= shape[d];
      }
      for (int64_t j = 0; j < width; ++j) y[r * width + j] = x[r * width + j] * mask[at + j * stride[nd - 1]];
    }
  });
}

/* The random numbers of one call: element i of the mask comes from counter `first` + i / 4. */
struct Draw : Keep {
  Draw(KernelArgs& a, int64_t n) : Keep(a.param<DropoutParam>().p), first(a.random->Take(CountersOfDropout(n))), seed(a.random->seed()) {}
  uint64_t first, seed;
};

/* Half precision with one decision per element. */
void ForwardHalf(KernelArgs& args, bool active) {
  const TBlob data = args.in[0], none, mask = Wanted(args, 1) ? args.out[1] : none;
  const int64_t n = data.Size();
  if (!active) return ForPieces<0, 1>({}, {mask}, n, [](float* const* v, int64_t, int64_t k) { std::fill(v[0], v[0] + k, 1.0f); });
  const Draw draw(args, n);
  const bool apply = args.req[0] != OpReq::kNull;
  ForPieces<1, 2>({apply ? data : none}, {apply ? args.out[0] : none, mask}, n, [&](float* const* v, int64_t at, int64_t k) {
    MXNET_CPU_CALL(DropoutMask)(kFloat32, draw.seed, draw.first + static_cast<uint64_t>(at) / 4, draw.threshold, draw.scale, v[2], 0, k);
    for (int64_t i = 0; apply && i < k; ++i) v[1][i] = v[0][i] * v[2][i];
  });
}

void ForwardOnDevice(KernelArgs& args) {
  TBlob mask = args.out[1];
  const bool alike = mask.shape == args.in[0].shape, apply = args.req[0] != OpReq::kNull;
  if (!Wanted(args, 1)) mask.dptr = alike ? nullptr : args.workspace(mask.Bytes());
  const Keep keep(args.param<DropoutParam>().p);
  DropoutOnDevice(args.run, DrawsOnDevice(args.run, args.random, CountersOfDropout(mask.Size())), keep.threshold, keep.scale,
                  alike && apply ? &args.in[0] : nullptr, mask, args.out[0]);
  if (!alike && apply) MultiplyOnDevice(args, args.in[0], mask, args.out[0]);
}

void Forward(KernelArgs& args) {
  if (args.out[0].Size() == 0) return;
  const auto& p = args.param<DropoutParam>();
  const bool active = Active(args) && p.p > 0;
  if (!active) {
    if (args.req[0] != OpReq::kNull) CopyBytes(args.run, args.in[0].dptr, args.out[0].dptr, static_cast<int64_t>(args.in[0].Bytes()));
    if (!Wanted(args, 1)) return;
    if (args.run.ctx.is_gpu()) return FillValue(args.run, args.out[1], 1);
  }
  if (args.run.ctx.is_gpu()) return ForwardOnDevice(args);
  if (IsHalf(args.in[0].dtype) && args.out[1].shape == args.in[0].shape) return ForwardHalf(args, active);
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const int64_t n = a.out[1].Size();
    T* mask = Wanted(a, 1) ? a.out[1].data<T>() : Workspace<T>(a, n);
    if (!active) {
      std::fill(mask, mask + n, T(1));
      if (args.req[0] != OpReq::kNull && a.out[0].dptr != args.out[0].dptr) std::memcpy(a.out[0].dptr, a.in[0].dptr, a.in[0].Bytes());
      return;
    }
    const Draw draw(a, n);
    const int dtype = a.in[0].dtype;
    Ran("vector loop");
    ParallelFor((n + 3) / 4, kGrain / 16, [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(DropoutMask)(dtype, draw.seed, draw.first, draw.threshold, draw.scale, mask, 4 * b, std::min(4 * e, n));
    });
    if (a.req[0] != OpReq::kNull) Apply(a.in[0].data<T>(), a.in[0].shape, mask, a.out[1].shape, a.out[0].data<T>());
  });
}

void Backward(KernelArgs& args) {  // ograd, mask -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return MultiplyOnDevice(args, args.in[0], args.in[1], args.out[0]);
  if (IsHalf(args.in[0].dtype) && args.in[0].shape == args.in[1].shape)
    return ForPieces<2, 1>({args.in[0], args.in[1]}, {args.out[0]}, args.out[0].Size(), [](float* const* v, int64_t, int64_t n) {
      for (int64_t i = 0; i < n; ++i) v[2][i] = v[0][i] * v[1][i];
    });
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    Apply(a.in[0].data<T>(), a.in[0].shape, a.in[1].data<T>(), a.in[1].shape, a.out[0].data<T>());
  });
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  if (!(*in)[0].known()) return false;
  Shape mask = (*in)[0];
  const Shape& axes = attrs.get<DropoutParam>().axes;
  for (int i = 0; i < axes.ndim(); ++i) mask[CheckAxis(attrs, static_cast<int>(axes[i]), mask.ndim())] = 1;
  AssignShape(attrs, "mask", &(*out)[1], mask);
  return true;
}

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "data_grad", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "ograd", &(*in)[0], (*out)[0]);
  return (*in)[0].known() && (*in)[1].known();
}

pointwise::FusionRecipe GradientTimesMask() {
  pointwise::FusionRecipe recipe;
  recipe.prepared.row = pointwise::k_mul, recipe.prepared.count = 2, recipe.prepared.masks = pointwise::kBinaryMasks;
  return recipe;
}

MXNET_REGISTER_OP(Dropout)
    .describe(
        "Sets elements to 0 with probability p and multiplies the others by 1 / (1 - p), in training or (mode='always') always; the "
        "identity otherwise.\n\n"
        "Along `axes` one decision is shared. float16, bfloat16, float32 and float64.")
    .alias("_npx_dropout")
    .set_trait(Role::kDropout)
    .set_trait(ViewOf<DropoutView>{ReadDropout})
    .set_trait(GivesInput{[](const Attrs& a, const Shape&, bool training) { return ReadDropout(a).DropsNothing(training); }})
    .set_param<DropoutParam>()
    .set_inputs({"data"})
    .set_outputs({"output", "mask"}, nullptr, [](const Attrs&) { return 1; })
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_inplace({{0, 0}})
    .set_uses_random()
    .set_depends_on_training()
    .set_trait(HonoursNullOutputs{})  // of the mask
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike("_backward_Dropout", *node, {ograds[0], NodeEntry{node, 1, 0}}), 0, 0}};
    })
    .set_recompute({"_backward_Dropout", 1, {1}})  // data times the mask, too
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_Dropout)
    .describe("Gradient of Dropout: the output's gradient times the mask.")
    .set_param<DropoutParam>()
    .set_inputs({"ograd", "mask"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(BackwardShape)
    .set_infer_type(SameType)
    .set_inplace({{0, 0}})
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike("_backward_Dropout", *node, {ograds[0], node->inputs[1]}), 0, 0}, NodeEntry()};
    })
    .set_trait(GradientTimesMask())
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
