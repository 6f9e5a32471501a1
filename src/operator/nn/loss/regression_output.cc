// Output layers whose gradient is that of a loss: LinearRegressionOutput, LogisticRegressionOutput,
// MAERegressionOutput, SVMOutput.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "operator/matrix/move.h"
#include "operator/nn/activation/gpu_activation.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/loss/gpu_losses.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/record/precision.h"
#include "operator/shared/activation_kernels.h"

namespace mxnet {
namespace nn {

struct RegressionOutputParam : public Parameter<RegressionOutputParam> {
  float grad_scale;
  MXNET_DECLARE_PARAM(RegressionOutputParam) { MXNET_FIELD(grad_scale).set_default(1.0f).describe("The gradient is multiplied by this."); }
};
struct SVMOutputParam : public Parameter<SVMOutputParam> {
  float margin, regularization_coefficient;
  bool use_linear;
  MXNET_DECLARE_PARAM(SVMOutputParam) {
    MXNET_FIELD(margin).set_default(1.0f).describe("Scores must be this far on their side of 0.");
    MXNET_FIELD(regularization_coefficient).set_default(1.0f).describe("Weight of the loss.");
    MXNET_FIELD(use_linear).set_default(false).describe("Hinge loss instead of its square.");
  }
};
MXNET_REGISTER_PARAM(RegressionOutputParam);
MXNET_REGISTER_PARAM(SVMOutputParam);

namespace {

enum Regression { kLinear, kLogistic, kAbsolute };

template <Regression kKind>
void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  if (kKind != kLogistic) {
    return CopyBytes(args.run, args.in[0].dptr, args.out[0].dptr, static_cast<int64_t>(args.in[0].Bytes()));
  }
  if (args.run.ctx.is_gpu()) return ActivationOnDevice(args, kActSigmoid, 0, false);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    const int dtype = a.in[0].dtype;
    ParallelFor(a.out[0].Size(), 1 << 14, [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(ActivationForward)(kActSigmoid, dtype, x + b, y + b, e - b, 0.0);
    });
  });
}

template <Regression kKind>
void Backward(KernelArgs& args) {  // label, output -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) {
    const int64_t per_row = std::max<int64_t>(1, args.out[0].Size() / std::max<int64_t>(1, args.in[0].shape[0]));
    return RegressionBackwardOnDevice(args, args.in[0], args.in[1],
                                      args.param<RegressionOutputParam>().grad_scale / static_cast<double>(per_row), kKind == kAbsolute,
                                      args.out[0]);
  }
  RunReal(
      args,
      [](KernelArgs& a, auto tag) {
        using T = decltype(tag);
        const T *label = As<T>(a, a.in[0]), *y = a.in[1].data<T>();
        T* dx = a.out[0].data<T>();
        const int64_t n = a.out[0].Size(), per_row = n / std::max<int64_t>(1, a.in[0].shape[0]);
        const T scale = static_cast<T>(a.param<RegressionOutputParam>().grad_scale) / static_cast<T>(std::max<int64_t>(1, per_row));
        ParallelFor(n, 0, [&](int64_t b, int64_t e) {
          for (int64_t i = b; i < e; ++i) {
            const T d = y[i] - label[i];
            dx[i] = scale * (kKind == kAbsolute ? d > T(0) ? T(1) : T(-1) : d);
          }
        });
      },
      1);
}

bool RegressionShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  Shape& label = (*in)[1];
  if (!data.known()) return false;
  if (!label.ndim_known()) {
    label = data.ndim() == 2 && data[1] == 1 ? Shape{data[0]} : data;
  } else if (label.known() && label != data) {
    // one number per row may come with or without the dimension of size 1
    MXNET_CHECK_KIND(label.Size() == data.Size() && label.ndim() >= 1 && data.ndim() >= 1 && label[0] == data[0], Value)
        << Named(attrs) << "label has shape " << label << "; expected " << data;
  } else if (label.ndim() == 1 && data.ndim() == 2 && data[1] == 1) {
    AssignShape(attrs, "label", &label, Shape{data[0]});
  } else {
    AssignShape(attrs, "label", &label, data);
  }
  return label.known();
}

bool OutputType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  if ((*in)[0] == kDTypeUnknown && IsFloating((*in)[1])) (*in)[0] = (*out)[0] = (*in)[1];
  if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
  return (*in)[0] != kDTypeUnknown;
}

template <typename P>
Op& Record(const char* name, const char* text, Kernel kernel) {
  const std::string backward = std::string("_backward_") + name;
  return Op::Register(name)
      .describe(text)
      .set_param<P>()
      .set_inputs({"data", "label"})
      .set_infer_type(OutputType)
      .set_precision(Precision::kFull)
      .set_trait(LossAndOutput{})
      .set_dtypes(dtypes::kFloats)
      .set_gradient([backward](const NodePtr& node, const std::vector<NodeEntry>&) -> std::vector<NodeEntry> {
        return {NodeEntry{MakeNodeLike(backward, *node, {node->inputs[1], NodeEntry{node, 0, 0}}), 0, 0}, NodeEntry()};
      })
      .set_inplace({{0, 0}})
      .set_kernel(std::move(kernel));
}

template <typename P>
void BackwardRecord(const char* name, Kernel kernel) {
  Op::Register(std::string("_backward_") + name)
      .describe(std::string("Gradient of ") + name + " with respect to data.")
      .set_param<P>()
      .set_inputs({"label", "output"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"data_grad"})
      .set_infer_shape(LikeInputsShape(1))
      .set_infer_type(LikeInputsType(1))
      .set_kernel(std::move(kernel));
}

void SvmBackward(KernelArgs& args) {  // label, output -> data_grad: each class against the rest
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) {
    const auto& p = args.param<SVMOutputParam>();
    return SvmBackwardOnDevice(args, args.in[0], args.in[1], p.margin, p.regularization_coefficient, p.use_linear, args.out[0]);
  }
  RunReal(
      args,
      [](KernelArgs& a, auto tag) {
        using T = decltype(tag);
        const auto& p = a.param<SVMOutputParam>();
        const T *label = As<T>(a, a.in[0]), *x = a.in[1].data<T>();
        T* dx = a.out[0].data<T>();
        const int64_t rows = a.in[0].Size(), classes = a.out[0].Size() / std::max<int64_t>(1, rows);
        const T margin = static_cast<T>(p.margin), weight = static_cast<T>(p.regularization_coefficient);
        const bool linear = p.use_linear;
        ParallelFor(rows, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, classes)), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T wanted = std::trunc(label[i]);
            for (int64_t j = 0; j < classes; ++j) {
              const T side = static_cast<T>(j) == wanted ? T(1) : T(-1);
              const T loss = std::max(T(0), margin - side * x[i * classes + j]);
              dx[i * classes + j] = -side * weight * (linear ? static_cast<T>(loss > T(0)) : T(2) * loss);
            }
          }
        });
      },
      1);
}

bool SvmShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 1, Value) << Named(attrs) << "data has no dimensions";
  AssignShape(attrs, "label", &(*in)[1], Shape(data.dims(), data.ndim() - 1));
  return true;
}

[[maybe_unused]] const bool registered = [] {
  Record<RegressionOutputParam>(
      "LinearRegressionOutput",
      "The identity, with the gradient of half the squared error: (output - label) grad_scale / (numbers per row).", Forward<kLinear>)
      .alias("_sparse_LinearRegressionOutput")
      .set_infer_shape(RegressionShape);
  Record<RegressionOutputParam>("LogisticRegressionOutput",
                                "The sigmoid, with the gradient of the logistic loss: (output - label) grad_scale / (numbers per row).",
                                Forward<kLogistic>)
      .alias("_sparse_LogisticRegressionOutput")
      .set_infer_shape(RegressionShape);
  Record<RegressionOutputParam>(
      "MAERegressionOutput", "The identity, with the gradient of the absolute error: sign(output - label) grad_scale / (numbers per row).",
      Forward<kAbsolute>)
      .alias("_sparse_MAERegressionOutput")
      .set_infer_shape(RegressionShape);
  Record<SVMOutputParam>("SVMOutput",
                         "The identity, with the gradient of the squared (or linear) hinge loss of every class against the rest; label has "
                         "one class number per row.",
                         Forward<kLinear>)
      .set_infer_shape(SvmShape);
  BackwardRecord<RegressionOutputParam>("LinearRegressionOutput", Backward<kLinear>);
  BackwardRecord<RegressionOutputParam>("LogisticRegressionOutput", Backward<kLogistic>);
  BackwardRecord<RegressionOutputParam>("MAERegressionOutput", Backward<kAbsolute>);
  BackwardRecord<SVMOutputParam>("SVMOutput", SvmBackward);
  return true;
}();

}  // namespace
}  // namespace nn
}  // namespace mxnet
