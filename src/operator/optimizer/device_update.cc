#include "operator/optimizer/device_update.h"

#include <string>

#include "mxnet/base.h"
#include "rtc/kernel.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace {

#define MXNET_UPDATE_FORMULAS(...) #__VA_ARGS__
const char* const kFormulas =
#include "operator/optimizer/update_formulas.inc"
    ;

// The formulas with the device's names for what they call and for where they run.
std::string Formulas() {
  std::string text = kFormulas;
  for (const auto& with : {std::pair<const char*, const char*>{"std::", "::"}, {"inline C ", "__device__ inline C "}, {"explicit ", "__device__ explicit "},
                           {"C operator()", "__device__ C operator()"}, {"C Clipped", "__device__ C Clipped"}, {"void Moments", "__device__ void Moments"}}) {
    const std::string what = with.first, by = with.second;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  }
  return text;
}

struct RuleInfo {
  const char* name;
  int states;
};
RuleInfo InfoOf(UpdateRule rule) {
  switch (rule) {
    case UpdateRule::kSgd: return {"Sgd", 0};
    case UpdateRule::kSgdMom: return {"SgdMom", 1};
    case UpdateRule::kNag: return {"Nag", 1};
    case UpdateRule::kAdam: return {"Adam", 2};
    case UpdateRule::kAdamW: return {"AdamW", 2};
    case UpdateRule::kLamb1: return {"Lamb1", 2};
    case UpdateRule::kLamb2: return {"Lamb2", 0};
    case UpdateRule::kRmsProp: return {"RmsProp", 1};
    case UpdateRule::kRmsPropAlex: return {"RmsPropAlex", 3};
    case UpdateRule::kFtrl: return {"Ftrl", 2};
    case UpdateRule::kFtml: return {"Ftml", 3};
    case UpdateRule::kSignSgd: return {"SignSgd", 0};
    default: return {"Signum", 1};
  }
}

}  // namespace

void UpdateOnDevice(const RunContext& run, const UpdateArgs& u, int64_t n) {
  if (n == 0) return;
  const RuleInfo info = InfoOf(u.rule);
  // as UpdateRange: with a master copy, states and weight are float32; phase 1 of LAMB writes a direction, phase 2 reads one
  const bool master = u.master != nullptr, writes_master = master && u.rule != UpdateRule::kLamb1;
  const int state = master ? int{kFloat32} : u.dtype, grad = master && u.rule == UpdateRule::kLamb2 ? int{kFloat32} : u.dtype;
  const int out = master && u.rule == UpdateRule::kLamb1 ? int{kFloat32} : u.dtype;
  const std::string w = rtc::StorageName(state), name = std::string("update_") + info.name;
  const rtc::Kernel& kernel = rtc::FindKernel(name + "|" + std::to_string(u.dtype) + (master ? "m" : ""), [&](rtc::Kernel* k) {
    k->name = name;
    std::string t = rtc::Prelude() + Formulas() + "\nstruct Args { const " + w + "* weight; const " + rtc::StorageName(grad) + "* grad; " + w + "* s0; " + w + "* s1; " + w +
                    "* s2; " + w + "* master; " + rtc::StorageName(out) + "* out; long long n; double h[10]; };\n";
    t += std::string("typedef ") + (state == kFloat64 ? "double" : "float") + " C;\n";
    t += "extern \"C\" __global__ void __launch_bounds__(256) " + name + "(const __grid_constant__ Args a) {\n  const " + info.name + "<C> rule(a.h);\n"
         "  for (long long i = mx::ThreadIndex(); i < a.n; i += mx::ThreadCount()) {\n    C s[3] = {C(0), C(0), C(0)};\n";
    for (int j = 0; j < info.states; ++j) t += "    s[" + std::to_string(j) + "] = mx::Load<C>(a.s" + std::to_string(j) + ", i);\n";
    t += "    const C v = rule(mx::Load<C>(a.weight, i), mx::Load<C>(a.grad, i), s);\n";
    for (int j = 0; j < info.states; ++j) t += "    mx::Store(a.s" + std::to_string(j) + ", i, s[" + std::to_string(j) + "]);\n";
    if (writes_master) t += "    mx::Store(a.master, i, v);\n";
    k->source = t + "    mx::Store(a.out, i, v);\n  }\n}\n";
  });
  rtc::Arguments args;
  args.Add(master ? static_cast<const void*>(u.master) : u.weight).Add(u.grad).Add(u.state[0]).Add(u.state[1]).Add(u.state[2]).Add(u.master).Add(u.out).Add(n);
  for (double h : u.h) args.Add(h);
  rtc::Launch(kernel, rtc::Cover(n), &args, run);
}

}  // namespace mxnet
