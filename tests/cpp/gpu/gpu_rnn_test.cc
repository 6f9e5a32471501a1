/* Recurrent layers of GPUs against those of the CPU: all cells, directions, layers, projections,
 * clipping, dropout and lengths, forward and backward. */
#include <algorithm>
#include <cmath>
#include <memory>

#include "fake_gemm_library.h"
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/op.h"
#include "operator/nn/rnn/rnn.h"

namespace mxnet {
namespace {

constexpr int64_t kSteps = 4, kBatch = 3, kInput = 5, kHidden = 6;

class RecurrentLayers : public DeviceKernels {
 protected:
  struct Layer {
    AttrDict attrs;
    int dtype = kFloat32, lengths = -1;  // dtype of the lengths; -1: none
    int64_t steps = kSteps;
  };
  /* Forward and backward. */
  void CheckBoth(const Layer& l) {
    AttrDict attrs = l.attrs;
    attrs["state_size"] = std::to_string(kHidden);
    if (!attrs.count("num_layers")) attrs["num_layers"] = "1";
    if (l.lengths >= 0) attrs["use_sequence_length"] = "1";
    const AttrsPtr parsed = MakeAttrs(Op::Get("RNN"), attrs);
    const auto& p = parsed->get<nn::RNNParam>();
    const nn::RnnDims d = nn::DimsOf(p, Shape{l.steps, kBatch, kInput});
    const bool lstm = p.mode == nn::kLstm;
    Case forward{"RNN", {{l.steps, kBatch, kInput}, {d.ParamSize()}, {d.layers * d.directions, kBatch, d.out}}, {}, attrs};
    if (lstm) forward.shapes.push_back({d.layers * d.directions, kBatch, kHidden});
    forward.dtypes.assign(forward.shapes.size(), l.dtype);
    if (l.lengths >= 0) forward.shapes.push_back({kBatch}), forward.dtypes.push_back(l.lengths);
    if (l.lengths >= 0)
      forward.low = -1.5, forward.high = 4.5;  // lengths below 0 and behind the end too
    else
      forward.low = -1, forward.high = 1;
    Compare(forward, l.lengths >= 0);  // what is kept of steps behind a sequence's end is nobody's

    Case backward{"_backward_RNN", {{l.steps, kBatch, d.directions * d.out}, forward.shapes[2]}, {l.dtype, l.dtype}, attrs};
    if (lstm) backward.shapes.push_back(forward.shapes[3]), backward.dtypes.push_back(l.dtype);
    backward.shapes.insert(backward.shapes.end(), forward.shapes.begin(), forward.shapes.end());
    backward.dtypes.insert(backward.dtypes.end(), forward.dtypes.begin(), forward.dtypes.end());
    backward.shapes.push_back({d.ReserveSize()});
    backward.dtypes.push_back(l.dtype == kFloat64 ? kFloat64 : kFloat32);
    const double bound =
        l.dtype == kFloat16 ? 0.6 : 1.5;  // gates are random here: gradients grow from step to step, and float16 ends at 65504
    backward.low = -bound, backward.high = l.lengths >= 0 ? 4.5 : bound;
    Compare(backward, false);
  }
  void Compare(const Case& c, bool without_last) {
    auto want = std::make_shared<Result>(RunKernel(c, DeviceType::kCPU)), got = std::make_shared<Result>();
    Later(
        Name(c), 1, [c, got] { *got = RunKernel(c, DeviceType::kGPU); },
        [c, want, got, without_last] {
          for (size_t i = 0; i + without_last < want->bytes.size(); ++i) {
            // sums of gradients are as exact as their largest element
            double largest = 1;
            const int64_t n = static_cast<int64_t>(want->bytes[i].size() / DTypeSize(want->dtypes[i]));
            for (int64_t k = 0; k < n; ++k) largest = std::max(largest, std::fabs(ReadElement(want->bytes[i].data(), want->dtypes[i], k)));
            // GPUs round states to the 16-bit type of the layer before they multiply them, the CPU
            // does not: a rounding for each step and layer, in what is kept in float32 too
            const bool wide = want->dtypes[i] == kFloat32 && c.dtypes[0] != kFloat32;
            ExpectNear(c, got->bytes.at(i), want->bytes[i], want->dtypes[i],
                       8 * largest *
                           (!wide                     ? 1
                            : c.dtypes[0] == kFloat16 ? 100
                                                      : 800));
          }
        });
  }
  FakeGemmLibrary library_;
};

TEST_F(RecurrentLayers, EveryCell) {
  for (const char* mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"})
    for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16}) {
      CheckBoth({{{"mode", mode}, {"state_outputs", "1"}}, dtype});
      CheckBoth({{{"mode", mode}, {"state_outputs", "1"}, {"num_layers", "3"}, {"bidirectional", "1"}}, dtype});
    }
}

// 16-bit factors, and sums that are float32 but for gradients of weights, which are results.
TEST_F(RecurrentLayers, NarrowLayersMultiplyNarrowFactors) {
  for (int dtype : {kFloat16, kBfloat16}) {
    CheckBoth({{{"mode", "lstm"}, {"state_outputs", "1"}, {"num_layers", "2"}, {"projection_size", "2"}}, dtype});
    RunNow();
    int wide = 0, narrow = 0;
    for (const auto& p : FakeGemmLibrary::chosen()) {
      EXPECT_EQ(p.gemm.dtype, dtype);
      ++(p.gemm.result_dtype() == kFloat32 ? wide : narrow);
    }
    EXPECT_GT(wide, 0);
    EXPECT_GE(narrow, 3);  // weights of inputs, states, projections; those that are alike are asked about once
    gpu_library::ForgetGemms();
    FakeGemmLibrary::chosen().clear();
  }
}

TEST_F(RecurrentLayers, SequencesEndEarlier) {
  for (const char* mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"}) {
    for (int lengths : {kInt32, kFloat32})
      CheckBoth({{{"mode", mode}, {"state_outputs", "1"}, {"num_layers", "2"}, {"bidirectional", "1"}}, kFloat64, lengths});
    CheckBoth({{{"mode", mode}, {"state_outputs", "1"}, {"num_layers", "2"}, {"bidirectional", "1"}}, kBfloat16, kInt32});
  }
  CheckBoth({{{"mode", "lstm"}, {"state_outputs", "1"}, {"bidirectional", "1"}, {"projection_size", "2"}}, kFloat64, kInt32});
}

TEST_F(RecurrentLayers, DropoutDrawsTheNumbersOfTheCpu) {
  for (const char* p : {"0.4", "1"})
    for (int dtype : {kFloat32, kFloat64, kFloat16})
      CheckBoth({{{"mode", "gru"}, {"state_outputs", "1"}, {"num_layers", "2"}, {"bidirectional", "1"}, {"p", p}}, dtype});
}

TEST_F(RecurrentLayers, ProjectedAndClipped) {
  const AttrDict clipped = {{"mode", "lstm"}, {"state_outputs", "1"}, {"lstm_state_clip_min", "-0.2"}, {"lstm_state_clip_max", "0.3"}};
  for (int dtype : {kFloat32, kFloat64, kBfloat16}) {
    AttrDict attrs = clipped;
    CheckBoth({attrs, dtype});
    attrs["lstm_state_clip_nan"] = "1";
    attrs["projection_size"] = "2";
    attrs["num_layers"] = "2";
    attrs["bidirectional"] = "1";
    CheckBoth({attrs, dtype});
  }
}

TEST_F(RecurrentLayers, OneStep) {
  CheckBoth({{{"mode", "lstm"}, {"state_outputs", "1"}}, kFloat32, -1, 1});
  CheckBoth({{{"mode", "gru"}, {"bidirectional", "1"}}, kFloat32, -1, 1});
}

}  // namespace
}  // namespace mxnet
