#include "operator/nn/common/gpu_rows.h"

#include <algorithm>

#include "mxnet/base.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int kThreads = 256, kMostThreads = 1024;  // of a block: more where a row has more

std::string N(int64_t i) { return std::to_string(i); }

}  // namespace

std::string RegisterRows::Key() const { return "r" + N(lanes) + "," + N(packs) + "," + N(width); }

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

std::string RegisterRowsHead(const char* name, const RegisterRows& r) {
  const std::string threads = N(r.threads());
  std::string t = "constexpr int kLanes = " + N(r.lanes) + ", kRows = " + N(r.threads() / r.lanes) + ", kPacks = " + N(r.packs) +
                  ", kWidth = " + N(r.width) +
                  ";\n"
                  "struct Larger { __device__ __forceinline__ T operator()(T p, T q) const { return q > p ? q : p; } };\nstruct Added { "
                  "__device__ __forceinline__ T operator()(T p, T q) const { return p + q; } };\n"
                  "template <typename F> __device__ __forceinline__ T OfRow(T v, F merge, T* shared) {\n"
                  "#pragma unroll\n  for (int lane = (kLanes < 32 ? kLanes : 32) / 2; lane > 0; lane /= 2) v = merge(v, "
                  "__shfl_xor_sync(0xffffffffu, v, lane));\n";
  if (r.lanes > 32)
    t += "  const int warp = threadIdx.x / 32, first = warp - warp % (kLanes / 32);\n  __syncthreads();\n  if (threadIdx.x % 32 == 0) "
         "shared[warp] = v;\n  __syncthreads();\n  v = shared[first];\n"
         "#pragma unroll\n  for (int w = 1; w < kLanes / 32; ++w) v = merge(v, shared[first + w]);\n";
  return t + "  return v;\n}\nextern \"C\" __global__ void __launch_bounds__(" + threads + ") " + name +
         "(const __grid_constant__ Args a) {\n  __shared__ T shared[" + N(r.threads() / 32) +
         "];\n"
         "  const int lane = threadIdx.x % kLanes, row = threadIdx.x / kLanes, packs = static_cast<int>(a.length / kWidth);\n"
         "#pragma unroll 1\n  for (long long block = blockIdx.x; block * kRows < a.outer; block += gridDim.x) {\n"
         "  const long long slice = block * kRows + row, base = slice * a.length;\n  const bool mine = slice < a.outer;\n";
}

const char* const kEachRegisterPack =
    "#pragma unroll\n  for (int r = 0; r < kPacks; ++r) {\n    const int k = lane + r * kLanes;\n    if (!mine || k >= packs) continue;\n  "
    "  const long long at = base + k * kWidth;\n";
const char* const kEachRegisterElement = "#pragma unroll\n  for (int e = 0; e < kPacks * kWidth; ++e) ";

rtc::LaunchShape RegisterRowsGrid(int64_t rows, const RegisterRows& held) {
  rtc::LaunchShape grid;
  const int64_t each = held.threads() / held.lanes;
  grid.block[0] = static_cast<uint32_t>(held.threads());
  grid.grid[0] = static_cast<uint32_t>(std::max<int64_t>(1, std::min<int64_t>((rows + each - 1) / each, int64_t{1} << 20)));
  return grid;
}

}  // namespace nn
}  // namespace mxnet
