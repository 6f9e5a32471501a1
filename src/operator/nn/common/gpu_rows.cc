#include "operator/nn/common/gpu_rows.h"

#include <algorithm>

#include "mxnet/base.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int kThreads = 256, kMostThreads = 1024;  // of a block: more where a row has more

}  // namespace

void RegisterRows::AddTo(rtc::TemplateArguments* t) const { t->Value(lanes).Value(packs).Value(width); }

RegisterRows RegisterRowsFor(int64_t length, int most, std::initializer_list<std::pair<const void*, int>> arrays) {
  RegisterRows r;
  auto fits = [&](int width) {
    bool yes = length % width == 0;
    for (const auto& a : arrays)
      yes = yes && reinterpret_cast<uintptr_t>(a.first) % (static_cast<size_t>(width) * DTypeSize(a.second)) == 0;
    return yes;
  };
  r.width = static_cast<int>(16 / DTypeSize(arrays.begin()->second));
  while (r.width > 1 && !fits(r.width)) r.width /= 2;
  const int64_t loads = length / r.width;
  const int each = std::max(1, std::min(4, most / r.width));  // accesses of a thread, while there are threads for more
  int lanes = 1;
  while (lanes < kThreads && lanes * each < loads) lanes *= 2;
  while (lanes < kMostThreads && lanes * std::max(1, most / r.width) < loads) lanes *= 2;
  r.packs = 1;
  while (r.packs * lanes < loads && r.packs <= most) r.packs *= 2;
  if (r.packs * r.width <= most) r.lanes = lanes;
  return r;
}

int RegisterRows::threads() const { return std::max(lanes, kThreads); }

rtc::LaunchShape RegisterRowsGrid(int64_t rows, const RegisterRows& held) {
  rtc::LaunchShape grid;
  const int64_t each = held.threads() / held.lanes;
  grid.block[0] = static_cast<uint32_t>(held.threads());
  grid.grid[0] = static_cast<uint32_t>(std::max<int64_t>(1, std::min<int64_t>((rows + each - 1) / each, int64_t{1} << 20)));
  return grid;
}

}  // namespace nn
}  // namespace mxnet
