#include "operator/nn/rnn/rnn_packed.h"

#include <algorithm>
#include <vector>

#include "mxnet/env.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/rnn/rnn_bfloat.h"
#include "operator/nn/rnn/rnn_layers.h"
#include "operator/shared/panel_gemm.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int kParameters = 1;                          // input
constexpr int64_t kFewSteps = 4;                        // for which packing does not pay
constexpr uint64_t kForm = 0x724e, kHalfForm = 0x724f;  // beside others of the same operator

void PackHidden(const RnnDims& d, const float* weight, float* packed) {
  ParallelFor(d.gates * PackedColumns(d.hidden) / kPackColumns, std::max<int64_t>(1, 65536 / (kPackColumns * d.out)),
              [&](int64_t b, int64_t e) {
                const int64_t per_gate = PackedColumns(d.hidden) / kPackColumns;
                for (int64_t i = b; i < e; ++i) {
                  const int64_t gate = i / per_gate, first = i % per_gate * kPackColumns;
                  MXNET_CPU_CALL(PackColumns)
                  (true, std::min(kPackColumns, d.hidden - first), d.out, weight + (gate * d.hidden + first) * d.out, d.out,
                   packed + i * kPackColumns * d.out);
                }
              });
}

void PackInput(const RnnDims& d, int64_t inputs, const float* weight, float* packed) {
  const int64_t gh = d.gates * d.hidden;
  ParallelFor(PackedColumns(gh) / kPackColumns, std::max<int64_t>(1, 65536 / (kPackColumns * inputs)), [&](int64_t b, int64_t e) {
    MXNET_CPU_CALL(PackColumns)
    (true, std::min(gh, e * kPackColumns) - b * kPackColumns, inputs, weight + b * kPackColumns * inputs, inputs,
     packed + b * kPackColumns * inputs);
  });
}

}  // namespace

int64_t RnnPacking::HiddenSize(const RnnDims& d) const {
  return half_ ? HalfPackedSize(d.gates * RoundUp(d.hidden, kHalfPanel), d.out) : d.gates * PackedSize(d.hidden, d.out);
}

int64_t RnnPacking::InputSize(const RnnDims& d, int64_t layer) const {
  const int64_t gh = d.gates * d.hidden, inputs = d.LayerInput(layer);
  return half_ ? HalfPackedSize(gh, inputs) : PackedSize(gh, inputs);
}

int64_t RnnPacking::Size(const RnnDims& d, int64_t layer) const {
  if (!whole_) return HiddenSize(d);
  return HiddenSize(d) + InputSize(d, layer) + BiasSize(d) + (half_ && d.projection ? HalfPackedSize(d.out, d.hidden) : 0);
}

int64_t RnnPacking::WholeSize(const RnnDims& d) const {
  int64_t sum = 0;
  for (int64_t l = 0; l < d.layers; ++l) sum += d.directions * Size(d, l);
  return sum;
}

const float* RnnPacking::Hidden(const RnnDims& d, int64_t layer, int64_t dir) const {
  const float* at = base_ + dir * Size(d, layer);
  for (int64_t l = 0; l < layer; ++l) at += d.directions * Size(d, l);
  return at;
}

void RnnPacking::Fill(const RNNParam& p, const RnnDims& d, float* params, float* to) const {
  for (int64_t l = 0; l < d.layers; ++l)
    for (int64_t dir = 0; dir < d.directions; ++dir, to += Size(d, l)) {
      const Weights<float> w(d, l, dir, params);
      PackHidden(d, w.hidden, to);
      if (!whole_) continue;
      float *input = to + HiddenSize(d), *bias = input + InputSize(d, l), *end = to + Size(d, l);
      PackInput(d, d.LayerInput(l), w.input, input);
      SumBiases(p, d, w.input_bias, w.hidden_bias, bias);
      float* const candidate = bias + d.gates * d.hidden;
      std::fill(candidate, end, 0.f);
      if (p.mode == kGru) std::copy_n(w.hidden_bias + 2 * d.hidden, d.hidden, candidate);
    }
}

void RnnPacking::FillHalf(const RNNParam& p, const RnnDims& d, const bfloat16* params, float* to) const {
  const int64_t gh = d.gates * d.hidden;
  std::vector<float> biases(static_cast<size_t>(2 * gh));
  for (int64_t l = 0; l < d.layers; ++l)
    for (int64_t dir = 0; dir < d.directions; ++dir, to += Size(d, l)) {
      const Weights<const bfloat16> w(d, l, dir, params);
      float *input = to + HiddenSize(d), *bias = input + InputSize(d, l), *projection = bias + BiasSize(d);
      HalfPackGates(d.gates, d.hidden, d.out, w.hidden, reinterpret_cast<bfloat16*>(to));
      HalfPackRows(gh, d.LayerInput(l), w.input, reinterpret_cast<bfloat16*>(input));
      if (d.projection) HalfPackRows(d.out, d.hidden, w.projection, reinterpret_cast<bfloat16*>(projection));
      std::fill(bias, projection, 0.f);
      BfloatToFloat(w.input_bias, biases.data(), 2 * gh);  // the hidden one lies behind it
      SumBiases(p, d, biases.data(), biases.data() + gh, bias);
      if (p.mode == kGru) std::copy_n(biases.data() + gh + 2 * d.hidden, d.hidden, bias + gh);
    }
}

RnnPacking::RnnPacking(KernelArgs& args, const RNNParam& p, const RnnDims& d, const void* source, float* params) {
  const bool kept = KeepsWeights(args, kParameters);
  half_ = params == nullptr, whole_ = kept || half_;
  if (!whole_ && d.steps < kFewSteps) return;
  const auto fill = [&](float* to) {
    if (half_)
      FillHalf(p, d, static_cast<const bfloat16*>(source), to);
    else
      Fill(p, d, params, to);
  };
  if (!kept) {
    float* made = Workspace<float>(args, WholeSize(d));
    fill(made);
    base_ = made;
    return;
  }
  const std::vector<uint64_t> trusted(Env::Get().rnn_use_weight_cache ? args.in_versions.size() : 0);
  KernelArgs call = args;
  if (!trusted.empty()) call.in_versions = trusted;
  const uint64_t form = (half_ ? kHalfForm : kForm) << 8 | static_cast<uint64_t>(CurrentCpuLevel());
  base_ = KeptWeights(call, kParameters, source, form, WholeSize(d), fill);
}

}  // namespace nn
}  // namespace mxnet
