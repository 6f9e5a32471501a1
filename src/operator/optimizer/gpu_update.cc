#include "operator/optimizer/gpu_update.h"

#include <cstring>
#include <string>
#include <type_traits>

#include "mxnet/base.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

const char* const kFile = "operator/optimizer/gpu_update.cuh";
constexpr int kWidth = 4;  // elements of an item, in one access to each array where these are aligned for it

bool Directs(UpdateRule rule) { return rule == UpdateRule::kLamb1 || rule == UpdateRule::kLans1; }

// As UpdateRange: with a master copy, states and weight are float32; phase 1 of LAMB and of LANS
// writes a direction, phase 2 reads one.
struct Types {
  bool master, writes_master;
  int state, grad, out;
  explicit Types(const UpdateArgs& u) : master(u.master != nullptr), writes_master(master && !Directs(u.rule)) {
    state = master ? int{kFloat32} : u.dtype;
    grad = master && (u.rule == UpdateRule::kLamb2 || u.rule == UpdateRule::kLans2) ? int{kFloat32} : u.dtype;
    out = master && Directs(u.rule) ? int{kFloat32} : u.dtype;
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

// As the kernels' struct has them: one argument each.
void AddNumbers(const UpdateNumbers& numbers, rtc::Arguments* args) {
  constexpr size_t kCount = sizeof(UpdateNumbers) / sizeof(double);
  static_assert(sizeof(UpdateNumbers) == kCount * sizeof(double) && std::is_trivially_copyable<UpdateNumbers>::value, "doubles alone");
  double all[kCount];
  std::memcpy(all, &numbers, sizeof(all));
  for (double number : all) args->Add(number);
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
  AddNumbers(u.numbers, &args);
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

void UpdateOnDevice(const RunContext& run, const UpdateArgs* updates, const int64_t* n, int count, const DeviceRates& rates,
                    const TBlob* factor) {
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
      args.Add(total).Add(here ? n[end] : 0).Add(int64_t{Wide(types, u)}).Add(u.numbers.lr).Add(u.numbers.wd);
      args.Add(u.numbers.unbias1).Add(u.numbers.unbias2).Add(u.weight);
      if (here) ++end;
    }
    AddNumbers(updates[begin].numbers, &args);
    for (const void* of : {rates.lrs, rates.wds}) args.Add(of ? static_cast<const char*>(of) + begin * DTypeSize(rates.dtype) : nullptr);
    args.Add(factor ? factor->dptr : nullptr);
    const std::string name = std::string("multi_update_") + rule;
    rtc::LaunchItems(run,
                     {kFile,
                      "multi_update",
                      {types.state, types.grad, types.out, rates.dtype, factor ? factor->dtype : -1},
                      {types.writes_master, rates.lrs != nullptr, factor != nullptr},
                      {rule},
                      name.c_str()},
                     total, &args);
    begin = end;
  }
}

void UpdateRowsOnDevice(const RunContext& run, const UpdateArgs& u, const int64_t* rows, bool all, int64_t count, int64_t size) {
  const char* const rule = InfoOf(u.rule).name;
  const std::string name = std::string("update_rows_") + rule;
  const int64_t packs = (size + kWidth - 1) / kWidth, items = count * packs;
  rtc::Arguments args;
  args.Add(u.weight).Add(u.grad).Add(u.state[0]).Add(u.state[1]).Add(u.state[2]).Add(rows);
  AddNumbers(u.numbers, &args);
  args.Add(size).Add(int64_t{size % kWidth == 0 && Wide(Types(u), u)});
  rtc::AddDivisor(packs, items >= rtc::kLargeCount, &args);
  rtc::LaunchItems(run, {kFile, "update_rows", {u.dtype}, {all}, {rule}, name.c_str()}, items, &args);
}

void GroupAdaGradOnDevice(const RunContext& run, const UpdateArgs& a, int64_t rows, int64_t n, const int64_t* numbers) {
  rtc::Arguments args;
  args.Add(a.weight)
      .Add(a.grad)
      .Add(a.state[0])
      .Add(a.out)
      .Add(n)
      .Add(a.numbers.lr)
      .Add(a.numbers.rescale)
      .Add(a.numbers.clip)
      .Add(a.numbers.epsilon)
      .Add(numbers);
  rtc::LaunchRows(run, {kFile, "group_adagrad", {a.dtype}}, rows, &args);
}

void RatesFromNorms(KernelArgs& args, const NormRates& rates, const std::vector<std::vector<TBlob>>& arrays,
                    const std::vector<UpdateArgs>& updates, double* lrs, double* wds) {
  constexpr int64_t kChunk = 16384;
  const int count = static_cast<int>(arrays.size());
  std::vector<int64_t> chunks(arrays.size());
  int64_t most = 1;
  for (int w = 0; w < count; ++w) most += chunks[w] = (arrays[w][0].Size() + kChunk - 1) / kChunk;
  double* const sums = static_cast<double*>(args.workspace(static_cast<size_t>(3 * most) * sizeof(double)));
  int64_t first = 0;
  for (int w = 0; w < count; ++w, first += chunks[w - 1]) {
    for (size_t k = 0; k < arrays[w].size(); ++k) {
      rtc::Arguments a;
      a.Add(arrays[w][k].dptr).Add(sums + static_cast<int64_t>(k) * most + first).Add(arrays[w][k].Size()).Add(kChunk);
      rtc::LaunchRows(args.run, {kFile, "squares", {arrays[w][k].dtype}}, chunks[w], &a);
    }
    rtc::Arguments a;
    a.Add(sums + first).Add(lrs + w).Add(wds + w).Add(chunks[w]).Add(most).Add(updates[w].numbers.lr).Add(updates[w].numbers.wd);
    a.Add(rates.rescale).Add(rates.beta1).Add(rates.lower).Add(rates.upper);
    rtc::LaunchItems(args.run, {kFile, "rates_from_norms", {}, {static_cast<int64_t>(rates.kind)}}, 1, &a);
  }
}

}  // namespace mxnet
