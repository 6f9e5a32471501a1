// _expert_dense: rows of data by dense layers that are chosen for each.
#include <algorithm>
#include <vector>

#include "operator/nn/common/expert_rows.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/shared/gemm.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace nn {

struct ExpertDenseParam : public Parameter<ExpertDenseParam> {
  bool no_bias;
  MXNET_DECLARE_PARAM(ExpertDenseParam) { MXNET_FIELD(no_bias).set_default(false).describe("There is no bias."); }
};
MXNET_REGISTER_PARAM(ExpertDenseParam);

namespace {

enum In : int { kData, kExperts, kWeight, kBias };

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &data = (*in)[kData], &chosen = (*in)[kExperts], &weight = (*in)[kWeight];
  if (!data.known() || !chosen.known() || !weight.known()) return false;
  MXNET_CHECK_KIND(weight.ndim() == 3 && data.ndim() == 2 && weight[2] == data[1], Value)
      << Named(attrs) << "data has shape " << data << ", the weight " << weight
      << "; accepted: (rows, features), (experts, columns, features)";
  if (in->size() > kBias) AssignShape(attrs, "bias", &(*in)[kBias], Shape{weight[0], weight[1]});
  AssignShape(attrs, "output", &(*out)[0], ExpertShape(attrs, data, chosen, weight[1]));
  return true;
}

/* All floats have one dtype; experts have one of their own. */
bool InferType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  int dtype = (*out)[0];
  for (size_t i = 0; i < in->size(); ++i)
    if (i != kExperts && (*in)[i] != kDTypeUnknown) dtype = (*in)[i];
  if (dtype == kDTypeUnknown) return false;
  for (size_t i = 0; i < in->size(); ++i)
    if (i != kExperts) AssignType(attrs, "an input", &(*in)[i], dtype);
  AssignType(attrs, "output", &(*out)[0], dtype);
  return (*in)[kExperts] != kDTypeUnknown;
}

template <typename T>
void Multiply(KernelArgs& a) {
  const TBlob &data = a.in[kData], &weight = a.in[kWeight];
  const int64_t n = weight.shape[1], k = weight.shape[2];
  const ExpertRows rows(a, a.in[kExperts], data.shape[0], weight.shape[0]);
  const T* const bias = a.in.size() > kBias ? a.in[kBias].data<T>() : nullptr;
  rows.Multiply(a, data.data<T>(), k, n, a.out[0].data<T>(), [&](int64_t e, int64_t count, const T* x, T* y) {
    for (int64_t i = 0; bias && i < count; ++i) std::copy_n(bias + e * n, n, y + i * n);
    Gemm(false, true, count, n, k, x, weight.data<T>() + e * n * k, bias ? T(1) : T(0), y);
  });
}

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  RunReal(args, [](KernelArgs& a, auto tag) { Multiply<decltype(tag)>(a); });
}

/* ograd, data, experts, weight -> gradients of data, weight, bias. */
template <typename T>
void Gradients(KernelArgs& a) {
  const TBlob &data = a.in[1], &weight = a.in[3];
  const int64_t n = weight.shape[1], k = weight.shape[2];
  const ExpertRows rows(a, a.in[2], data.shape[0], weight.shape[0]);
  T* grads[3] = {nullptr, nullptr, nullptr};
  for (int i = 0; i < a.out.size(); ++i)
    if (Wanted(a, i)) std::fill_n(grads[i] = a.out[i].data<T>(), a.out[i].Size(), T(0));
  T *const x = Workspace<T>(a, rows.size() * k), *const og = Workspace<T>(a, rows.size() * n);
  rows.ForEach([&](int64_t e, const std::vector<int64_t>& mine) {
    const int64_t count = static_cast<int64_t>(mine.size());
    const std::vector<int64_t> from = rows.DataRows(mine);
    GatherRows(a.in[0].data<T>(), mine, n, og);
    if (grads[1]) {
      GatherRows(data.data<T>(), from, k, x);
      Gemm(true, false, n, k, count, og, x, T(0), grads[1] + e * n * k);
    }
    if (grads[0]) {
      Gemm(false, false, count, k, n, og, weight.data<T>() + e * n * k, T(0), x);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < k; ++j) grads[0][from[static_cast<size_t>(i)] * k + j] += x[i * k + j];
    }
    for (int64_t i = 0; grads[2] && i < count; ++i)
      for (int64_t j = 0; j < n; ++j) grads[2][e * n + j] += og[i * n + j];
  });
}

void Backward(KernelArgs& args) {
  RunReal(args, [](KernelArgs& a, auto tag) { Gradients<decltype(tag)>(a); });
}

std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodePtr made =
      MakeNodeLike("_backward_expert_dense", *node, {ograds[0], node->inputs[kData], node->inputs[kExperts], node->inputs[kWeight]});
  std::vector<NodeEntry> grads = {{made, 0, 0}, NodeEntry(), {made, 1, 0}};
  if (node->inputs.size() > kBias) grads.push_back({made, 2, 0});
  return grads;
}

bool GradientShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &data = (*in)[1], &weight = (*in)[3];
  if (!data.known() || !weight.known()) return false;
  AssignShape(attrs, "data_grad", &(*out)[0], data);
  AssignShape(attrs, "weight_grad", &(*out)[1], weight);
  if (out->size() > 2) AssignShape(attrs, "bias_grad", &(*out)[2], Shape{weight[0], weight[1]});
  return true;
}

bool GradientType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (int& dtype : *out) AssignType(attrs, "a gradient", &dtype, (*in)[1]);
  return (*in)[1] != kDTypeUnknown;
}

bool HasBias(const Attrs& a) { return !a.param || !a.get<ExpertDenseParam>().no_bias; }

MXNET_REGISTER_OP(_expert_dense)
    .describe(
        "Rows of data by dense layers that are chosen for each: the part of a mixture of experts that costs time.\n\n"
        "data has shape (rows, features), weight (experts, columns, features), bias (experts, columns). experts has shape (rows * per,): "
        "row r of data meets as many layers as `per` says, from experts[r * per] on. Row i of the result, of shape (rows * per, "
        "columns), is data[i / per] * weight[experts[i]]^T + bias[experts[i]]. float16, bfloat16, float32 and float64.")
    .set_param<ExpertDenseParam>()
    .set_inputs({"data", "experts", "weight", "bias"}, [](const Attrs& a) { return HasBias(a) ? 4 : 3; })
    .set_infer_shape(InferShape)
    .set_infer_type(InferType)
    .set_dtypes(dtypes::kAll)
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * static_cast<double>(out[0].Size()) * static_cast<double>(in[kData].shape[1]);
    })
    .set_gradient(Gradient)
    .set_kernel([](KernelArgs& a) { OnHost(a, Forward); });

MXNET_REGISTER_OP(_backward_expert_dense)
    .describe("Gradients of _expert_dense with respect to data, weight and bias.")
    .set_param<ExpertDenseParam>()
    .set_inputs({"ograd", "data", "experts", "weight"})
    .set_outputs({"data_grad", "weight_grad", "bias_grad"}, [](const Attrs& a) { return HasBias(a) ? 3 : 2; })
    .set_infer_shape(GradientShape)
    .set_infer_type(GradientType)
    .set_dtypes(dtypes::kAll)
    .set_kernel([](KernelArgs& a) { OnHost(a, Backward); });

}  // namespace
}  // namespace nn
}  // namespace mxnet
