#include "rtc/loop.h"

#include <algorithm>

#include "base/device_interface.h"
#include "mxnet/error.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace rtc {
namespace {

// Within a warp by shuffles (every lane ends with the same bits), between the eight warps through
// shared memory: two barriers, and an order that never changes.
const char* const kBlockText = R"TEXT(namespace mx {
// for all threads of the block: the sum or the largest of v over them; a NaN is larger than
// everything
template <typename A> __device__ __forceinline__ A BlockSum(A v, A* shared) {
  for (int lane = 16; lane > 0; lane /= 2) v += __shfl_xor_sync(0xffffffffu, v, lane);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  v = shared[0];
  for (int warp = 1; warp < 8; ++warp) v += shared[warp];
  return v;
}
template <typename A> __device__ __forceinline__ A Larger(A v, A other) { return other > v || other != other ? other : v; }
template <typename A> __device__ __forceinline__ A BlockMax(A v, A* shared) {
  for (int lane = 16; lane > 0; lane /= 2) v = Larger(v, __shfl_xor_sync(0xffffffffu, v, lane));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  v = shared[0];
  for (int warp = 1; warp < 8; ++warp) v = Larger(v, shared[warp]);
  return v;
}
// sum of v over the threads before this one; *total: over all
template <typename A> __device__ __forceinline__ A BlockScan(A v, A* shared, A* total) {
  A sum = v;   // up to this lane of the warp
  for (unsigned step = 1; step < 32; step *= 2) {
    const A before = __shfl_up_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 >= step) sum += before;
  }
  const A up = __shfl_up_sync(0xffffffffu, sum, 1);
  A before = threadIdx.x % 32 > 0 ? up : A(0);
  __syncthreads();
  if (threadIdx.x % 32 == 31) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  A all = A(0);
  for (unsigned warp = 0; warp < 8; ++warp) {
    if (warp == threadIdx.x / 32) before += all;
    all += shared[warp];
  }
  *total = all;
  return before;
}
}  // namespace mx
)TEXT";

const char* const kOverText = R"TEXT(
__device__ __forceinline__ unsigned Over(unsigned i, long long, long long m, long long h) { return mx::Divide(i, m, h); }
__device__ __forceinline__ long long Over(long long i, long long d, long long, long long) { return i / d; }
)TEXT";

const Kernel& Find(const LoopKey& key, char shape, const MakeLoopText& make) {
  std::string signature = key.name;
  signature += '|';
  signature += shape;
  for (int d : key.dtypes) signature += ',' + std::to_string(d);
  signature += ';' + std::to_string(key.variant);
  return FindKernel(signature, [&](Kernel* k) {
    const LoopText text = make();
    k->name = key.name;
    std::string t = Prelude() + kOverText;
    if (shape == 'r') t += kBlockText;
    int n = 0;
    for (int d : key.dtypes) t += std::string("typedef ") + (d < 0 ? "int" : StorageName(d)) + " D" + std::to_string(n++) + ";\n";
    if (shape != 'r') t += std::string("typedef ") + (shape == 's' ? "unsigned" : "long long") + " I;\n";
    t += text.functions + "struct Args { " + text.members + " long long count; };\nextern \"C\" __global__ void __launch_bounds__(256) " +
         key.name + "(const __grid_constant__ Args a) {\n";
    // not unrolled: most threads come by once
    if (shape == 'r')
      t += "#pragma unroll 1\n  for (long long row = blockIdx.x; row < a.count; row += gridDim.x) {\n" + text.body +
           "  __syncthreads();\n  }\n}\n";
    else
      t += "#pragma unroll 1\n  for (long long item = mx::ThreadIndex(); item < a.count; item += mx::ThreadCount()) {\n  const I i = "
           "static_cast<I>(item);\n" +
           text.body + "  }\n}\n";
    k->source = t;
  });
}

}  // namespace

void AddDivisor(int64_t d, bool large, Arguments* args) {
  const FastDivisor divisor(large ? 1 : std::max<int64_t>(d, 1));
  args->Add(d).Add(divisor.multiplier).Add(divisor.shift);
}

void LaunchItems(const RunContext& run, const LoopKey& key, int64_t items, Arguments* args, const MakeLoopText& make) {
  if (items == 0) return;
  args->Add(items);
  Launch(Find(key, items < kLargeCount ? 's' : 'l', make), Cover(items), args, run);
}

void LaunchRows(const RunContext& run, const LoopKey& key, int64_t rows, Arguments* args, const MakeLoopText& make) {
  if (rows == 0) return;
  args->Add(rows);
  LaunchShape shape;
  shape.block[0] = kRowThreads;
  shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(rows, int64_t{1} << 20));
  Launch(Find(key, 'r', make), shape, args, run);
}

void ReadBack(const RunContext& run, const void* src, void* dst, size_t bytes) {
  const LaunchHooks* hooks = GpuInterface().kernels.get();
  MXNET_CHECK(hooks && hooks->read) << "[rtc] reading from " << run.ctx << ": this build has no GPU support; accepted: cpu contexts";
  if (run.capture) ++run.capture->host_waits;
  MXNET_CHECK(!run.capturing()) << "[rtc] a stream that is being captured cannot be waited for";
  hooks->read(src, dst, bytes, run);
}

}  // namespace rtc
}  // namespace mxnet
