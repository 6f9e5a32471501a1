#include "operator/nn/rnn/gpu_rnn_steps.h"

#include <string>

#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

using rtc::LoopText;

const char* const kWalkMembers = "const D1* lengths; long long size, width, time, before; double low, high;";
void AddWalk(const RnnWalk& w, int64_t size, int64_t time, int64_t before, rtc::Arguments* args) {
  args->Add(w.lengths ? w.lengths->dptr : nullptr).Add(size).Add(w.width).Add(time).Add(before).Add(w.clip.low).Add(w.clip.high);
}
int LengthsType(const RnnWalk& w) { return w.lengths ? w.lengths->dtype : -1; }
int Variant(const RnnWalk& w) { return w.mode | w.projection << 2 | w.clip.on << 3 | (w.clip.on && w.clip.nan) << 4 | w.narrow() << 5; }
// Sequence n (row of the batch), unit j; whether this time belongs to it, and whether the time
// before does not: then the state before is the first one.
std::string Place(const RnnWalk& w) {
  return "    const I n = i / static_cast<I>(a.size), j = i - n * static_cast<I>(a.size);\n    const long long row = n, unit = j;\n    "
         "(void)row; (void)unit;\n" +
         (w.lengths ? std::string("    const long long length = mx::Load<long long>(a.lengths, row);\n    const bool live = a.time < "
                                  "length, fresh = a.before < 0 || a.before >= length;\n")
                    : std::string("    const bool live = true, fresh = a.before < 0;\n")) +
         "    (void)live; (void)fresh;\n";
}
const char* const kFunctions = "__device__ __forceinline__ D0 Sigmoid(D0 v) { return D0(1) / (D0(1) + ::exp(-v)); }\n";

// Stores `value` as an operand of products too.
std::string Operand(const RnnWalk& w, const char* array, const char* at, const char* value) {
  return w.narrow() ? std::string("    mx::Store(a.") + array + "_operand, " + at + ", " + value + ");\n" : std::string();
}

std::string ForwardBody(const RnnWalk& w) {
  std::string t = Place(w);
  t += "    const long long base = row * " + std::to_string(w.gates) + " * a.size + unit;\n";
  // a sequence that is over keeps its states
  const std::string output = w.projection ? "    a.hidden[i] = " : "    a.output[row * a.width + unit] = ";
  t += "    if (!live) {\n" + std::string(w.mode == kLstm || w.mode == kGru ? "      a.cell[i] = D0(0);\n" : "") + "  " + output +
       "D0(0);\n" + (w.projection ? Operand(w, "hidden", "i", "D0(0)") : Operand(w, "output", "row * a.width + unit", "D0(0)")) +
       "      continue;\n    }\n";
  auto sum = [&](int g, bool recurrent) {  // of the gate's input part, and of its hidden part
    const std::string at = std::to_string(g) + " * a.size";
    return "a.gates[base + " + at + "] + mx::Load<D0>(a.input_bias, " + at + " + unit)" +
           (recurrent ? " + (a.recurrent[base + " + at + "] + mx::Load<D0>(a.hidden_bias, " + at + " + unit))" : "");
  };
  auto keep = [&](int g, const char* value) { return "    a.gates[base + " + std::to_string(g) + " * a.size] = " + value + ";\n"; };
  if (w.mode == kLstm) {
    t += "    const D0 gi = Sigmoid(" + sum(0, true) + "), gf = Sigmoid(" + sum(1, true) + "), gg = ::tanh(" + sum(2, true) +
         "), go = Sigmoid(" + sum(3, true) + ");\n" + keep(0, "gi") + keep(1, "gf") + keep(2, "gg") + keep(3, "go") +
         "    D0 c = gf * a.c[i] + gi * gg;\n";
    if (w.clip.on) {
      if (w.clip.nan) t += "    if (c != c) c = static_cast<D0>(a.high);\n";
      t += "    c = c < static_cast<D0>(a.low) ? static_cast<D0>(a.low) : c > static_cast<D0>(a.high) ? static_cast<D0>(a.high) : c;\n";
    }
    t += "    a.c[i] = c;\n    a.cell[i] = c;\n    const D0 h = go * ::tanh(c);\n";
  } else if (w.mode == kGru) {
    t += "    const D0 gr = Sigmoid(" + sum(0, true) + "), gz = Sigmoid(" + sum(1, true) +
         "), kept = a.recurrent[base + 2 * a.size] + mx::Load<D0>(a.hidden_bias, 2 * a.size + unit);\n"
         "    const D0 gn = ::tanh(" +
         sum(2, false) + " + gr * kept);\n" + keep(0, "gr") + keep(1, "gz") + keep(2, "gn") +
         "    a.cell[i] = kept;\n    const D0 h = (D0(1) - gz) * gn + gz * a.h[i];\n";
  } else {
    t +=
        "    const D0 v = " + sum(0, true) + ", h = " + (w.mode == kRnnTanh ? "::tanh(v)" : "v > D0(0) ? v : D0(0)") + ";\n" + keep(0, "h");
  }
  if (w.projection) return t + output + "h;\n" + Operand(w, "hidden", "i", "h");
  return t + output + "h;\n    a.h[i] = h;\n" + Operand(w, "output", "row * a.width + unit", "h") + Operand(w, "h", "i", "h");
}

const char* const kPrevious =
    "    const D0 previous = fresh ? mx::Load<D0>(a.first_state, i) : a.output_before[row * a.width + unit];\n    mx::Store(a.previous, i, "
    "previous);\n";

std::string BackwardBody(const RnnWalk& w) {
  std::string t = Place(w);
  if (w.projection) {
    t += "    const D0 up = a.dhidden[i];\n";
  } else {
    t += kPrevious + std::string("    const D0 up = live ? a.dh[i] + a.up[row * a.width + unit] : D0(0);\n");
  }
  const int gates = static_cast<int>(w.gates);
  t += "    const long long base = row * " + std::to_string(gates) + " * a.size + unit;\n";
  auto at = [](const char* array, int g) { return std::string("a.") + array + "[base + " + std::to_string(g) + " * a.size]"; };
  auto give = [&t](const char* array, int g, const std::string& value) {
    t += std::string("    mx::Store(a.") + array + ", base + " + std::to_string(g) + " * a.size, " + value + ");\n";
  };
  // a sequence that is over hands its gradient on as it is
  t += "    if (!live) {\n";
  for (int g = 0; g < gates; ++g) {
    give("dgates", g, "D0(0)");
    if (w.mode == kGru) give("drecurrent", g, "D0(0)");
  }
  t += "      continue;\n    }\n";
  if (w.mode == kLstm) {
    t += "    const D0 gi = " + at("gates", 0) + ", gf = " + at("gates", 1) + ", gg = " + at("gates", 2) + ", go = " + at("gates", 3) +
         ";\n"
         "    const D0 tc = ::tanh(a.cell[i]), before = fresh ? mx::Load<D0>(a.first_cell, i) : a.cell_before[i];\n    D0 dc = a.dc[i] + "
         "up * go * (D0(1) - tc * tc);\n";
    if (w.clip.on)
      t += "    const D0 raw = gf * before + gi * gg;\n    if (!(raw > static_cast<D0>(a.low) && raw < static_cast<D0>(a.high))) dc = "
           "D0(0);\n";
    give("dgates", 0, "dc * gg * gi * (D0(1) - gi)");
    give("dgates", 1, "dc * before * gf * (D0(1) - gf)");
    give("dgates", 2, "dc * gi * (D0(1) - gg * gg)");
    give("dgates", 3, "up * tc * go * (D0(1) - go)");
    t += "    a.dc[i] = dc * gf;\n";
  } else if (w.mode == kGru) {
    t += "    const D0 gr = " + at("gates", 0) + ", gz = " + at("gates", 1) + ", gn = " + at("gates", 2) +
         ", candidate = up * (D0(1) - gz) * (D0(1) - gn * gn);\n"
         "    const D0 dr = candidate * a.cell[i] * gr * (D0(1) - gr), dz = up * (previous - gn) * gz * (D0(1) - gz);\n";
    for (const char* array : {"dgates", "drecurrent"}) {
      give(array, 0, "dr");
      give(array, 1, "dz");
      give(array, 2, array[1] == 'g' ? "candidate" : "candidate * gr");
    }
  } else {
    t += "    const D0 g = " + at("gates", 0) + ";\n";
    give("dgates", 0, w.mode == kRnnRelu ? "g > D0(0) ? up : D0(0)" : "up * (D0(1) - g * g)");
  }
  if (!w.projection) t += std::string("    a.dh[i] = ") + (w.mode == kGru ? "up * gz" : "D0(0)") + ";\n";
  return t;
}

}  // namespace

void RnnStepOnDevice(const RunContext& run, const RnnWalk& w, const RnnStep& s) {
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
  AddWalk(w, w.hidden, s.time, -1, &args);
  rtc::LaunchItems(run, {"rnn_step", {w.dtype, LengthsType(w), w.operand}, Variant(w)}, w.batch * w.hidden, &args, [&] {
    return LoopText{std::string("D0* gates; const D0* recurrent; const D2* input_bias; const D2* hidden_bias; D0* h; D0* c; D0* cell; D0* "
                                "hidden; D0* output; D2* h_operand; D2* hidden_operand; D2* output_operand; ") +
                        kWalkMembers,
                    kFunctions, ForwardBody(w)};
  });
}

void RnnProjectedOnDevice(const RunContext& run, const RnnWalk& w, const void* projected, const RnnStep& s) {
  rtc::Arguments args;
  args.Add(projected).Add(s.h).Add(s.output).Add(s.h_operand).Add(s.output_operand);
  AddWalk(w, w.out, s.time, -1, &args);
  rtc::LaunchItems(run, {"rnn_projected", {w.dtype, LengthsType(w), w.operand}, Variant(w)}, w.batch * w.out, &args, [&] {
    std::string kept = "    a.h[i] = v;\n" + Operand(w, "h", "i", "v");
    return LoopText{std::string("const D0* projected; D0* h; D0* output; D2* h_operand; D2* output_operand; ") + kWalkMembers, "",
                    Place(w) + "    const D0 v = a.projected[i];\n    if (live) {\n" + kept +
                        "    }\n    a.output[row * a.width + unit] = live ? v : D0(0);\n" +
                        Operand(w, "output", "row * a.width + unit", "live ? v : D0(0)")};
  });
}

void RnnProjectedBackOnDevice(const RunContext& run, const RnnWalk& w, const RnnStepBack& s) {
  rtc::Arguments args;
  args.Add(s.first_state).Add(s.output_before).Add(s.up).Add(s.previous).Add(s.dh).Add(s.dprojected);
  AddWalk(w, w.out, s.time, s.before, &args);
  rtc::LaunchItems(run, {"rnn_projected_back", {w.dtype, LengthsType(w), w.operand}, Variant(w)}, w.batch * w.out, &args, [&] {
    return LoopText{
        std::string("const D2* first_state; const D0* output_before; const D0* up; D2* previous; D0* dh; D2* dprojected; ") + kWalkMembers,
        "",
        Place(w) + kPrevious +
            "    mx::Store(a.dprojected, i, live ? a.dh[i] + a.up[row * a.width + unit] : D0(0));\n    if (live) a.dh[i] = D0(0);\n"};
  });
}

void RnnStepBackOnDevice(const RunContext& run, const RnnWalk& w, const RnnStepBack& s) {
  rtc::Arguments args;
  args.Add(s.gates).Add(s.cell).Add(s.cell_before).Add(s.first_cell).Add(s.first_state).Add(s.output_before).Add(s.up).Add(s.dhidden);
  args.Add(s.previous).Add(s.dh).Add(s.dc).Add(s.dgates).Add(s.drecurrent);
  AddWalk(w, w.hidden, s.time, s.before, &args);
  rtc::LaunchItems(run, {"rnn_step_back", {w.dtype, LengthsType(w), w.operand}, Variant(w)}, w.batch * w.hidden, &args, [&] {
    return LoopText{std::string("const D0* gates; const D0* cell; const D0* cell_before; const D2* first_cell; const D2* first_state; "
                                "const D0* output_before; const D0* up; const D0* dhidden; "
                                "D2* previous; D0* dh; D0* dc; D2* dgates; D2* drecurrent; ") +
                        kWalkMembers,
                    "", BackwardBody(w)};
  });
}

void RnnDropoutOnDevice(const RunContext& run, const RnnWalk& w, const DeviceDraws* draws, float p, const TBlob& from, void* mask, void* to,
                        void* operand) {
  rtc::Arguments args;
  const double scale = p >= 1 ? 0.0 : from.dtype == kFloat64 ? 1.0 / (1.0 - static_cast<double>(p)) : static_cast<double>(1.f / (1.f - p));
  args.Add(from.dptr).Add(mask).Add(to).Add(operand).Add(from.Size()).Add(static_cast<double>(p)).Add(draws ? scale : 1.0);
  (draws ? *draws : DeviceDraws()).AddTo(&args);
  rtc::LaunchItems(run, {"rnn_dropout", {from.dtype, w.operand}, (draws != nullptr) + 2 * w.narrow()}, (from.Size() + 3) / 4, &args, [&] {
    return LoopText{std::string("const D0* from; D0* mask; D0* to; D1* to_operand; long long n; double p, scale; ") + kDrawMembers,
                    PhiloxText(),
                    std::string(draws ? "    const mx::Philox r = mx::Draw(mx::Seed(a), mx::First(a) + i);\n" : "") +
                        "    for (int k = 0; k < 4; ++k) {\n      const long long at = 4 * static_cast<long long>(i) + k;\n      if (at >= "
                        "a.n) break;\n      const D0 factor = " +
                        (draws ? "mx::ToFloat(r.w[k]) >= static_cast<float>(a.p) ? static_cast<D0>(a.scale) : D0(0)" : "D0(1)") +
                        ";\n      a.mask[at] = factor;\n      a.to[at] = a.from[at] * factor;\n" +
                        Operand(w, "to", "at", "a.from[at] * factor") + "    }\n"};
  });
}

}  // namespace nn
}  // namespace mxnet
