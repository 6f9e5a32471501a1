#include "operator/optimizer/gpu_update.h"

#include <string>

#include "mxnet/base.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

const char* const kFile = "operator/optimizer/gpu_update.cuh";
constexpr int kWidth = 4;  // elements of an item, in one access to each array where these are aligned for it

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

}  // namespace

void UpdateOnDevice(const RunContext& run, const UpdateArgs& u, int64_t n, const DeviceNumbers& numbers) {
  const char* const rule = InfoOf(u.rule).name;
  const Types types(u);
  const std::string name = std::string("update_") + rule;
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
  rtc::LaunchItems(run,
                   {kFile,
                    "update",
                    {types.state, types.grad, types.out, first, second},
                    {types.writes_master, static_cast<int64_t>(numbers.kind)},
                    {rule},
                    name.c_str()},
                   (n + kWidth - 1) / kWidth, &args);
}

void UpdateOnDevice(const RunContext& run, const UpdateArgs* updates, const int64_t* n, int count, const float* lrs, const float* wds) {
  constexpr int kMost = 16;  // arrays in a launch: their pointers are arguments
  for (int begin = 0; begin < count;) {
    int end = begin;
    int64_t total = 0;  // items
    rtc::Arguments args;
    const char* const rule = InfoOf(updates[begin].rule).name;
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
    const std::string name = std::string("multi_update_") + rule;
    rtc::LaunchItems(
        run, {kFile, "multi_update", {types.state, types.grad, types.out}, {types.writes_master, lrs != nullptr}, {rule}, name.c_str()},
        total, &args);
    begin = end;
  }
}

}  // namespace mxnet
