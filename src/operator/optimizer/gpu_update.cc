#include "operator/optimizer/gpu_update.h"

#include <string>

#include "mxnet/base.h"
#include "rtc/loop.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace {

#define MXNET_UPDATE_FORMULAS(...) #__VA_ARGS__
#define MXNET_UPDATE_RULE(name, form)
const char* const kFormulas =
#include "operator/optimizer/update_formulas.inc"
    ;

// The formulas with the GPU's names for what they call and for where they run.
std::string Formulas() {
  std::string text = kFormulas;
  for (size_t at = 0; (at = text.find("std::", at)) != std::string::npos; at += 2) text.replace(at, 5, "::");
  return "#define MX_DEVICE __device__\n" + text;
}

// As UpdateRange: with a master copy, states and weight are float32; phase 1 of LAMB writes a
// direction, phase 2 reads one.
struct Types {
  bool master, writes_master;
  int state, grad, out;
  explicit Types(const UpdateArgs& u) : master(u.master != nullptr), writes_master(master && u.rule != UpdateRule::kLamb1) {
    state = master ? int{kFloat32} : u.dtype;
    grad = master && u.rule == UpdateRule::kLamb2 ? int{kFloat32} : u.dtype;
    out = master && u.rule == UpdateRule::kLamb1 ? int{kFloat32} : u.dtype;
  }
  const void* Weight(const UpdateArgs& u) const { return master ? static_cast<const void*>(u.master) : u.weight; }
};

// Members of a struct with one array's pointers.
std::string PointersText(const Types& t) {
  const std::string w = rtc::StorageName(t.state);
  return "const " + w + "* weight; const " + rtc::StorageName(t.grad) + "* grad; " + w + "* s0; " + w + "* s1; " + w + "* s2; " + w +
         "* master; " + rtc::StorageName(t.out) + "* out; ";
}
constexpr int kWidth = 4;  // elements of an item, in one access to each array where these are aligned for it
// Step<W>(from, rule, at): W elements of the arrays in `from`.
std::string StepText(const Types& t, const RuleInfo& info) {
  std::string text =
      "template <int W, typename From, typename Rule> __device__ __forceinline__ void Step(const From& from, const Rule& rule, long long "
      "at) {\n"
      "  C weight[W], grad[W], s[3][W], v[W];\n  mx::LoadPack<W>(from.weight, at, weight);\n  mx::LoadPack<W>(from.grad, at, grad);\n";
  for (int j = 0; j < info.states; ++j) text += "  mx::LoadPack<W>(from.s" + std::to_string(j) + ", at, s[" + std::to_string(j) + "]);\n";
  text += "#pragma unroll\n  for (int k = 0; k < W; ++k) {\n    C own[3] = {C(0), C(0), C(0)};\n";
  for (int j = 0; j < info.states; ++j) text += "    own[" + std::to_string(j) + "] = s[" + std::to_string(j) + "][k];\n";
  text += "    v[k] = rule(weight[k], grad[k], own);\n";
  for (int j = 0; j < info.states; ++j) text += "    s[" + std::to_string(j) + "][k] = own[" + std::to_string(j) + "];\n";
  text += "  }\n";
  for (int j = 0; j < info.states; ++j) text += "  mx::StorePack<W>(from.s" + std::to_string(j) + ", at, s[" + std::to_string(j) + "]);\n";
  if (t.writes_master) text += "  mx::StorePack<W>(from.master, at, v);\n";
  return text + "  mx::StorePack<W>(from.out, at, v);\n}\n";
}
// The elements of an item from `at` on, of an array with n; in packs where `wide`.
const char* const kItemText =
    R"TEXT(template <typename From, typename Rule> __device__ __forceinline__ void Steps(const From& from, const Rule& rule, long long at, long long n, bool wide) {
  if (wide && at + 4 <= n) {
    Step<4>(from, rule, at);
  } else {
#pragma unroll 1
    for (long long k = at; k < at + 4 && k < n; ++k) Step<1>(from, rule, k);
  }
}
)TEXT";
// Whether all arrays begin where four elements are one access.
bool Wide(const Types& t, const UpdateArgs& u) {
  auto aligned = [](const void* p, int dtype) { return reinterpret_cast<uintptr_t>(p) % (kWidth * DTypeSize(dtype)) == 0; };
  bool wide = aligned(t.Weight(u), t.state) && aligned(u.grad, t.grad) && aligned(u.out, t.out) && aligned(u.master, kFloat32);
  for (const void* s : u.state) wide = wide && aligned(s, t.state);
  return wide && t.state != kFloat64;  // 16 bytes are the most
}
void AddPointers(const Types& t, const UpdateArgs& u, rtc::Arguments* args) {
  args->Add(t.Weight(u)).Add(u.grad).Add(u.state[0]).Add(u.state[1]).Add(u.state[2]).Add(u.master).Add(u.out);
}
std::string ComputeText(const Types& t) { return std::string("typedef ") + (t.state == kFloat64 ? "double" : "float") + " C;\n"; }

}  // namespace

void UpdateOnDevice(const RunContext& run, const UpdateArgs& u, int64_t n, const DeviceNumbers& numbers) {
  const RuleInfo info = InfoOf(u.rule);
  const Types types(u);
  const std::string name = std::string("update_") + info.name;
  const int first = numbers.kind == DeviceNumbers::kNone ? -1 : numbers.first.dtype,
            second = numbers.kind == DeviceNumbers::kNorms ? numbers.second.dtype : -1;
  rtc::Arguments args;
  AddPointers(types, u, &args);
  for (double h : u.h) args.Add(h);
  args.Add(u.weight)
      .Add(numbers.first.dptr)
      .Add(numbers.second.dptr)
      .Add(numbers.lower)
      .Add(numbers.upper)
      .Add(n)
      .Add(int64_t{Wide(types, u)});
  rtc::LaunchItems(run, {name.c_str(), {u.dtype, first, second}, types.master}, (n + kWidth - 1) / kWidth, &args, [&] {
    std::string body = "    const long long at = 4 * item;\n    double h[10];\n    for (int k = 0; k < 10; ++k) h[k] = a.h[k];\n";
    if (numbers.kind == DeviceNumbers::kRescale)
      body +=
          "    h[2] = mx::Load<double>(a.first, 0);\n    if (!(h[2] - h[2] == 0) || h[2] == 0) {\n      for (long long k = at; k < at + 4 "
          "&& k < a.n; ++k) a.out[k] = a.kept[k];\n      continue;\n    }\n";
    if (numbers.kind == DeviceNumbers::kNorms)
      body +=
          "    double norm = mx::Load<double>(a.first, 0);\n    const double direction = mx::Load<double>(a.second, 0);\n    if (a.lower "
          ">= 0 && norm < a.lower) norm = a.lower;\n"
          "    if (a.upper >= 0 && norm > a.upper) norm = a.upper;\n    h[0] *= norm == 0 || direction == 0 ? 1 : norm / direction;\n";
    return rtc::LoopText{
        PointersText(types) + "double h[10]; const D0* kept; const D1* first; const D2* second; double lower, upper; long long n, wide;",
        Formulas() + "\n" + ComputeText(types) + StepText(types, info) + kItemText,
        body + "    const " + info.name + "<C> rule(h);\n    Steps(a, rule, at, a.n, a.wide != 0);\n"};
  });
}

void UpdateOnDevice(const RunContext& run, const UpdateArgs* updates, const int64_t* n, int count, const float* lrs, const float* wds) {
  constexpr int kMost = 16;  // arrays in a launch: their pointers are arguments
  for (int begin = 0; begin < count;) {
    int end = begin;
    int64_t total = 0;  // items
    rtc::Arguments args;
    const RuleInfo info = InfoOf(updates[begin].rule);
    const Types types(updates[begin]);
    for (int k = 0; k < kMost; ++k) {
      const bool here = end < count && updates[end].dtype == updates[begin].dtype && end - begin == k;
      const UpdateArgs& u = updates[here ? end : begin];
      AddPointers(types, u, &args);
      total += here ? (n[end] + kWidth - 1) / kWidth : 0;
      args.Add(total).Add(here ? n[end] : 0).Add(int64_t{Wide(types, u)}).Add(u.h[0]).Add(u.h[1]);
      if (here) ++end;
    }
    for (double h : updates[begin].h) args.Add(h);
    args.Add(lrs ? lrs + begin : nullptr).Add(wds ? wds + begin : nullptr);
    const std::string name = std::string("multi_update_") + info.name;
    rtc::LaunchItems(run, {name.c_str(), {updates[begin].dtype}, (types.master ? 2 : 0) + (lrs ? 1 : 0)}, total, &args, [&] {
      return rtc::LoopText{
          "One one[16]; double h[10]; const float* lrs; const float* wds;",
          Formulas() + "\n" + ComputeText(types) + "struct One { " + PointersText(types) + "long long end, n, wide; double lr, wd; };\n" +
              StepText(types, info) + kItemText,
          std::string("    int w = 0;\n    while (item >= a.one[w].end) ++w;\n    const long long at = 4 * (item - (w > 0 ? a.one[w - "
                      "1].end : 0));\n"
                      "    double h[10];\n    for (int k = 0; k < 10; ++k) h[k] = a.h[k];\n") +
              (lrs ? "    h[0] = a.lrs[w];\n    h[1] = a.wds[w];\n" : "    h[0] = a.one[w].lr;\n    h[1] = a.one[w].wd;\n") + "    const " +
              info.name + "<C> rule(h);\n" + "    Steps(a.one[w], rule, at, a.one[w].n, a.one[w].wide != 0);\n"};
    });
    begin = end;
  }
}

}  // namespace mxnet
