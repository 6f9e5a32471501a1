// _contrib_AdaptiveAvgPooling2D: averages over windows that divide the image into a given number of
// rows and columns.
#include <algorithm>

#include "operator/nn/common/nn_common.h"
#include "operator/nn/pooling/gpu_pooling.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/runtime/parameters_in_files.h"

namespace mxnet {
namespace nn {

struct AdaptiveAvgPoolingParam : public Parameter<AdaptiveAvgPoolingParam> {
  Shape output_size;
  MXNET_DECLARE_PARAM(AdaptiveAvgPoolingParam) {
    MXNET_FIELD(output_size).set_default(Shape()).describe("(height, width) of the output, or one number for both; 1 when not given.");
  }
};
MXNET_REGISTER_PARAM(AdaptiveAvgPoolingParam);

namespace {

// f(plane, output index, first and last row, first and last column) for all windows of planes
// [begin, end).
template <typename F>
void EachWindow(const Shape& in, const Shape& out, F&& f) {
  const int64_t planes = in[0] * in[1];
  ParallelFor(planes, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, in[2] * in[3])), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      for (int64_t i = 0; i < out[2]; ++i)
        for (int64_t j = 0; j < out[3]; ++j)
          f(p, (p * out[2] + i) * out[3] + j, i * in[2] / out[2], ((i + 1) * in[2] + out[2] - 1) / out[2], j * in[3] / out[3],
            ((j + 1) * in[3] + out[3] - 1) / out[3]);
  });
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return AdaptivePoolOnDevice(args, args.in[0], args.out[0], false);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    const Shape& in = a.in[0].shape;
    EachWindow(in, a.out[0].shape, [&](int64_t p, int64_t o, int64_t h0, int64_t h1, int64_t w0, int64_t w1) {
      T sum = 0;
      for (int64_t h = h0; h < h1; ++h)
        for (int64_t w = w0; w < w1; ++w) sum += x[(p * in[2] + h) * in[3] + w];
      y[o] = sum / static_cast<T>((h1 - h0) * (w1 - w0));
    });
  });
}

void Backward(KernelArgs& args) {  // ograd, data -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return AdaptivePoolOnDevice(args, args.out[0], args.in[0], true);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T* og = a.in[0].data<T>();
    T* dx = a.out[0].data<T>();
    const Shape& in = a.out[0].shape;
    std::fill(dx, dx + a.out[0].Size(), T(0));
    EachWindow(in, a.in[0].shape, [&](int64_t p, int64_t o, int64_t h0, int64_t h1, int64_t w0, int64_t w1) {
      const T g = og[o] / static_cast<T>((h1 - h0) * (w1 - w0));
      for (int64_t h = h0; h < h1; ++h)
        for (int64_t w = w0; w < w1; ++w) dx[(p * in[2] + h) * in[3] + w] += g;
    });
  });
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& size = attrs.get<AdaptiveAvgPoolingParam>().output_size;
  MXNET_CHECK_KIND(size.ndim() <= 2, Value) << Named(attrs) << "output_size " << size << "; one or two numbers are accepted";
  for (int64_t n : size)
    MXNET_CHECK_KIND(n >= 1 && n < (int64_t{1} << 31), Value)
        << Named(attrs) << "output_size " << size << "; every number must be at least 1";
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 4 && data[2] != 0 && data[3] != 0, Value)
      << Named(attrs) << "data has shape " << data << "; (batch, channels, height, width) with at least one pixel is needed";
  const int64_t h = size.ndim() >= 1 ? size[0] : 1, w = size.ndim() == 2 ? size[1] : h;
  AssignShape(attrs, "output", &(*out)[0], Shape{data[0], data[1], h, w});
  return data.known();
}

MXNET_REGISTER_OP(_contrib_AdaptiveAvgPooling2D)
    .describe(
        "Averages of an image over output_size windows: row i covers rows floor(i H / h) to ceil((i + 1) H / h) - 1, columns alike.\n\n"
        "data has shape (batch, channels, height, width). float16, bfloat16, float32 and float64.")
    .set_param<AdaptiveAvgPoolingParam>()
    .set_trait(ParametersInFiles{{{"kernel", ""},
                                  {"pool_type", ""},
                                  {"global_pool", ""},
                                  {"cudnn_off", ""},
                                  {"pooling_convention", ""},
                                  {"stride", ""},
                                  {"pad", ""},
                                  {"p_value", ""},
                                  {"count_include_pad", ""},
                                  {"layout", ""}}})
    .set_inputs({"data"})
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_contrib_AdaptiveAvgPooling2D", kGradInputs))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_contrib_AdaptiveAvgPooling2D)
    .describe("Gradient of _contrib_AdaptiveAvgPooling2D with respect to data.")
    .set_param<AdaptiveAvgPoolingParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_outputs({"data_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {  // linear
      return std::vector<NodeEntry>{{MakeNodeLike("_contrib_AdaptiveAvgPooling2D", *node, {ograds[0]}), 0, 0}, NodeEntry()};
    })
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
