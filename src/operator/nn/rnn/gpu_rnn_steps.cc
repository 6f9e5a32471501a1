#include "operator/nn/rnn/gpu_rnn_steps.h"

#include <string>

#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kFile = "operator/nn/rnn/gpu_rnn_steps.cuh";

void AddDirection(const RnnDirection& w, int64_t size, int64_t time, int64_t before, rtc::Arguments* args) {
  args->Add(w.lengths ? w.lengths->dptr : nullptr).Add(size).Add(w.width).Add(time).Add(before).Add(w.clip.low).Add(w.clip.high);
}
// RnnStepOf of the kernels.
std::string DirectionText(const RnnDirection& w) {
  return rtc::TypeText("RnnStepOf", {w.dtype, w.lengths ? w.lengths->dtype : -1, w.operand},
                       {w.mode, w.projection, w.clip.on, w.clip.on && w.clip.nan, w.lengths != nullptr});
}

}  // namespace

void RnnStepOnDevice(const RunContext& run, const RnnDirection& w, const RnnStep& s) {
  rtc::Arguments args;
  args.Add(s.gates)
      .Add(s.recurrent)
      .Add(s.input_bias)
      .Add(s.hidden_bias)
      .Add(s.h)
      .Add(s.c)
      .Add(s.cell)
      .Add(s.hidden)
      .Add(s.output)
      .Add(s.h_operand)
      .Add(s.hidden_operand)
      .Add(s.output_operand);
  AddDirection(w, w.hidden, s.time, -1, &args);
  rtc::LaunchItems(run, {kFile, "rnn_step", {}, {}, {DirectionText(w)}}, w.batch * w.hidden, &args);
}

void RnnProjectedOnDevice(const RunContext& run, const RnnDirection& w, const void* projected, const RnnStep& s) {
  rtc::Arguments args;
  args.Add(projected).Add(s.h).Add(s.output).Add(s.h_operand).Add(s.output_operand);
  AddDirection(w, w.out, s.time, -1, &args);
  rtc::LaunchItems(run, {kFile, "rnn_projected", {}, {}, {DirectionText(w)}}, w.batch * w.out, &args);
}

void RnnProjectedBackOnDevice(const RunContext& run, const RnnDirection& w, const RnnStepBack& s) {
  rtc::Arguments args;
  args.Add(s.first_state).Add(s.output_before).Add(s.up).Add(s.previous).Add(s.dh).Add(s.dprojected);
  AddDirection(w, w.out, s.time, s.before, &args);
  rtc::LaunchItems(run, {kFile, "rnn_projected_back", {}, {}, {DirectionText(w)}}, w.batch * w.out, &args);
}

void RnnStepBackOnDevice(const RunContext& run, const RnnDirection& w, const RnnStepBack& s) {
  rtc::Arguments args;
  args.Add(s.gates).Add(s.cell).Add(s.cell_before).Add(s.first_cell).Add(s.first_state).Add(s.output_before).Add(s.up).Add(s.dhidden);
  args.Add(s.previous).Add(s.dh).Add(s.dc).Add(s.dgates).Add(s.drecurrent);
  AddDirection(w, w.hidden, s.time, s.before, &args);
  rtc::LaunchItems(run, {kFile, "rnn_step_back", {}, {}, {DirectionText(w)}}, w.batch * w.hidden, &args);
}

void RnnDropoutOnDevice(const RunContext& run, const RnnDirection& w, const DeviceDraws* draws, float p, const TBlob& from, void* mask,
                        void* to, void* operand) {
  rtc::Arguments args;
  const double scale = p >= 1 ? 0.0 : from.dtype == kFloat64 ? 1.0 / (1.0 - static_cast<double>(p)) : static_cast<double>(1.f / (1.f - p));
  args.Add(from.dptr).Add(mask).Add(to).Add(operand).Add(from.Size()).Add(static_cast<double>(p)).Add(draws ? scale : 1.0);
  (draws ? *draws : DeviceDraws()).AddTo(&args);
  rtc::LaunchItems(run, {kFile, "rnn_dropout", {from.dtype, w.operand}, {draws != nullptr}}, (from.Size() + 3) / 4, &args);
}

}  // namespace nn
}  // namespace mxnet
