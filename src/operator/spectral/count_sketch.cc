// _contrib_count_sketch: a projection onto few dimensions (Charikar, Chen and Farach-Colton, 2002;
// as a layer in Gao et al., Compact Bilinear Pooling, CVPR 2016).
#include <algorithm>

#include "mxnet/env.h"
#include "mxnet/op.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/pointwise/execute.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace spectral {

struct CountSketchParam : public Parameter<CountSketchParam> {
  int out_dim, processing_batch_size;
  MXNET_DECLARE_PARAM(CountSketchParam) {
    MXNET_FIELD(out_dim).set_lower_bound(1).describe("Length of an output row.");
    MXNET_FIELD(processing_batch_size).set_default(32).describe("Accepted for compatibility; all rows are processed at once.");
  }
};
MXNET_REGISTER_PARAM(CountSketchParam);

namespace {

using nn::Named;
using nn::Wanted;

// Shapes of rows of data and of the output, and of h and s, which have one number for each column.
void Rows(const Attrs& attrs, Shape* data, Shape* h, Shape* s, Shape* out) {
  const int64_t out_dim = attrs.get<CountSketchParam>().out_dim;
  for (const Shape* given : {data, out})
    MXNET_CHECK_KIND(!given->ndim_known() || given->ndim() >= 1, Value) << Named(attrs) << "data has shape (); rows are needed";
  if (data->ndim_known()) {
    Shape expected = *data;
    expected[data->ndim() - 1] = out_dim;
    AssignShape(attrs, "output", out, expected);
  } else if (out->ndim_known()) {
    *data = *out;
    (*data)[out->ndim() - 1] = Shape::kUnknownDim;
  }
  if (!data->ndim_known()) return;
  const int last = data->ndim() - 1;
  for (int i = 0; i < last; ++i)
    if ((*data)[i] < 0) (*data)[i] = (*out)[i];
  for (Shape* one : {h, s}) {
    if (one->ndim() == 1)
      AssignShape(attrs, "h or s", one, Shape{(*data)[last]});
    else
      AssignShape(attrs, "h or s", one, Shape{1, (*data)[last]});
    if ((*data)[last] < 0) (*data)[last] = (*one)[one->ndim() - 1];
  }
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Rows(attrs, &(*in)[0], &(*in)[1], &(*in)[2], &(*out)[0]);
  return (*in)[0].known() && (*in)[1].known() && (*in)[2].known() && (*out)[0].known();
}

bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  if ((*in)[0] == kDTypeUnknown) return false;
  AssignType(attrs, "s", &(*in)[2], (*in)[0]);
  if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
  return true;
}

struct Sketch {
  int64_t rows, from, to;
  Sketch(const TBlob& wide, const TBlob& narrow)
      : rows(narrow.Size() / std::max<int64_t>(1, narrow.shape[narrow.shape.ndim() - 1])),
        from(wide.shape[wide.shape.ndim() - 1]),
        to(narrow.shape[narrow.shape.ndim() - 1]) {}
};

void OnDevice(KernelArgs& a, const Sketch& k, const TBlob& wide, const TBlob& narrow, bool back) {
  TBlob sums = narrow;
  if (!back) {
    if (IsHalf(narrow.dtype)) sums.dtype = kFloat32, sums.dptr = a.workspace(static_cast<size_t>(narrow.Size()) * sizeof(float));
    ZeroBytes(a.run, sums.dptr, static_cast<int64_t>(sums.Bytes()));
  }
  const bool in_order = !back && Env::Get().enforce_determinism;
  rtc::Arguments args;
  args.Add(wide.dptr).Add(a.in[1].dptr).Add(a.in[2].dptr).Add(sums.dptr).Add(k.from).Add(k.to);
  rtc::LaunchItems(a.run,
                   {"operator/spectral/gpu_count_sketch.cuh",
                    back       ? "sketch_back"
                    : in_order ? "sketch_in_order"
                               : "sketch",
                    {wide.dtype, a.in[1].dtype, sums.dtype}},
                   in_order ? k.rows : k.rows * k.from, &args);
  if (!back && IsHalf(narrow.dtype)) pointwise::ExecuteCast(a.run, sums, narrow, OpReq::kWrite);
}

template <bool kBack>
void Run(KernelArgs& args) {  // data or ograd, h, s -> output or data_grad
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const TBlob &wide = kBack ? args.out[0] : args.in[0], &narrow = kBack ? args.in[0] : args.out[0];
  const Sketch sketch(wide, narrow);
  if (args.run.ctx.is_gpu()) return OnDevice(args, sketch, wide, narrow, kBack);
  nn::RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const int64_t* h = nn::AsInt64(a, a.in[1]);
    const T *s = a.in[2].data<T>(), *in = a.in[0].data<T>();
    T* out = a.out[0].data<T>();
    const int64_t from = sketch.from, to = sketch.to;
    ParallelFor(sketch.rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, from + to)), [&](int64_t b, int64_t e) {
      for (int64_t row = b; row < e; ++row) {
        const T* x = in + row * (kBack ? to : from);
        T* y = out + row * (kBack ? from : to);
        if (!kBack) std::fill(y, y + to, T(0));
        for (int64_t i = 0; i < from; ++i) {
          const bool inside = h[i] >= 0 && h[i] < to;
          if (kBack)
            y[i] = inside ? s[i] * x[h[i]] : T(0);
          else if (inside)
            y[h[i]] += s[i] * x[i];
        }
      }
    });
  });
}

MXNET_REGISTER_OP(_contrib_count_sketch)
    .describe(
        "Count sketch of rows (Charikar, Chen and Farach-Colton, 2002; Gao et al., Compact Bilinear Pooling, CVPR 2016).\n\n"
        "data has shape (..., n), h and s (1, n) or (n,). Element i of a row, times s[i], is added to element h[i] of an output row of "
        "out_dim\n"
        "elements; s usually is 1 or -1. Elements whose h lies outside of the output are left out. Differentiable in data. float16, "
        "bfloat16,\n"
        "float32, float64; h may have any dtype.")
    .set_param<CountSketchParam>()
    .set_inputs({"data", "h", "s"})
    .set_infer_shape(ForwardShape)
    .set_infer_type(ForwardType)
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      const NodePtr back = MakeNodeLike("_backward__contrib_count_sketch", *node, {ograds[0], node->inputs[1], node->inputs[2]});
      return {NodeEntry{back, 0, 0}, NodeEntry(), NodeEntry()};
    })
    .set_kernel(Run<false>);

MXNET_REGISTER_OP(_backward__contrib_count_sketch)
    .describe("Gradient of _contrib_count_sketch with respect to data.")
    .set_param<CountSketchParam>()
    .set_inputs({"ograd", "h", "s"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      Rows(attrs, &(*out)[0], &(*in)[1], &(*in)[2], &(*in)[0]);
      return (*in)[0].known() && (*in)[1].known() && (*in)[2].known() && (*out)[0].known();
    })
    .set_infer_type(ForwardType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      const NodePtr forward = MakeNodeLike("_contrib_count_sketch", *node, {ograds[0], node->inputs[1], node->inputs[2]});
      return {NodeEntry{forward, 0, 0}, NodeEntry(), NodeEntry()};
    })
    .set_kernel(Run<true>);

}  // namespace
}  // namespace spectral
}  // namespace mxnet
