// Which tile size, or the direct kernels, for a convolution.
#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/cpu_dispatch.h"
#include "base/fork_guard.h"
#include "base/omp.h"
#include "operator/nn/winograd.h"

namespace mxnet {
namespace nn {
namespace {

ForkMutex* const g_measuring = new ForkMutex(ForkLevel::kOperator);   // held while measuring: one measurement at a time, and one per shape

constexpr double kSmall = 2e7;           // operations below which neither choice matters
constexpr double kTrial = 1.2e9;         // operations of one timed run, about: larger batches are judged by a part
constexpr double kSeconds = 0.1;         // after which no further round is run
constexpr int kRounds = 12;
constexpr double kCoarse = 0.85;         // 6x6 tiles, less exact, must be this much faster

double Flops(const ConvDims& d) { return 2.0 * d.batch * d.channels * d.filters * d.OutSize() * d.KernelSize(); }

bool Possible(const ConvCall& call) {
  const ConvDims& d = call.dims;
  WinogradDims w;
  WinogradFilter f;
  return d.channels >= 16 && d.filters >= 16 && Flops(d) >= kSmall && WinogradDimsOf(call, 4, &w, &f);
}

/* Scratch memory of a trial. */
class Buffers {
 public:
  void* Get(size_t bytes) {
    if (next_ == blocks_.size()) blocks_.emplace_back();
    auto& block = blocks_[next_++];
    if (block.second < bytes) {
      block.first.reset(new char[bytes + 64]);
      block.second = bytes;
      std::memset(block.first.get(), 0, bytes + 64);
    }
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(block.first.get()) + 63) & ~uintptr_t{63});
  }
  void Rewind() { next_ = 0; }

 private:
  std::vector<std::pair<std::unique_ptr<char[]>, size_t>> blocks_;
  size_t next_ = 0;
};

float* Filled(Buffers* buffers, int64_t count) {
  float* p = static_cast<float*>(buffers->Get(count * sizeof(float)));
  for (int64_t i = 0; i < count; ++i) p[i] = static_cast<float>(i * 37 % 101 - 50) * 0.01f;
  return p;
}

// Of this thread: other programs on the machine disturb it less than they do the wall clock.
double Now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int Measure(const ConvCall& like, bool kept) {
  auto hook = ActiveHooks().convolution;
  if (!hook) return WinogradByRule(like, kept);
  ConvCall call = like;
  ConvDims& dims = call.dims;
  dims.batch = std::max<int64_t>(1, std::min(dims.batch, static_cast<int64_t>(kTrial / (Flops(dims) / dims.batch))));
  Buffers data, scratch;
  call.src.ptr = Filled(&data, dims.batch * dims.channels * dims.InSize());
  call.dst.ptr = Filled(&data, dims.batch * dims.filters * dims.OutSize());
  call.weight.ptr = Filled(&data, dims.channels * dims.filters * dims.KernelSize());
  if (call.bias) call.bias = Filled(&data, dims.filters);
  call.accumulate = false;
  call.post = PostOp();
  call.weight_input = 0;
  KernelArgs args;
  std::shared_ptr<OpState> state;
  const uint64_t version = 1;
  args.state = &state;
  args.is_train = !kept;
  args.in_versions = Span<const uint64_t>(&version, 1);
  args.workspace = [&scratch](size_t bytes) { return scratch.Get(bytes); };
  std::vector<int> sizes{0, 2, 4, 6};
  std::vector<double> best(sizes.size(), 1e30);
  std::vector<std::vector<float>> weights(sizes.size());
  const auto run = [&](size_t i) {
    scratch.Rewind();
    if (sizes[i] == 0) {
      if (!hook(args, call)) sizes[i] = -1;
      return;
    }
    WinogradDims d;
    WinogradFilter f;
    WinogradDimsOf(call, sizes[i], &d, &f);
    const float *src = static_cast<const float*>(call.src.ptr), *dst = static_cast<const float*>(call.dst.ptr);
    if (call.pass == ConvPass::kBackwardWeights) {
      WinogradRunWeights(d, src, dst, {const_cast<float*>(f.ptr), f.k, f.c, f.r, f.s}, args.workspace);
      if (call.bias) WinogradSumRows(dst, d.batch * d.oh * d.ow, d.k, static_cast<float*>(call.bias), args.workspace);
      return;
    }
    const int64_t count = WinogradWeightSize(d);
    float* u = static_cast<float*>(kept ? nullptr : args.workspace(count * sizeof(float)));
    const bool transform = !kept || weights[i].empty();
    if (kept && transform) weights[i].resize(count + 16);
    if (kept) u = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(weights[i].data()) + 63) & ~uintptr_t{63});
    if (transform) WinogradTransformWeights(d, f, u);
    const bool forward = call.pass == ConvPass::kForward;
    WinogradEpilogue e;
    e.bias = static_cast<const float*>(call.bias);
    WinogradRun(d, forward ? src : dst, u, e, static_cast<float*>(forward ? call.dst.ptr : call.src.ptr), args.workspace);
  };
  double spent = 0;
  for (int round = 0; round < kRounds && (round < 2 || spent < kSeconds); ++round)   // the first one warms up
    for (size_t i = 0; i < sizes.size(); ++i) {
      const double begin = Now();
      run(i);
      const double t = Now() - begin;
      if (sizes[i] < 0) return WinogradByRule(like, kept);   // the direct kernels do not take it
      spent += t;
      if (round > 0) best[i] = std::min(best[i], t);
    }
  best[3] /= kCoarse;
  best[0] *= 0.97;   // in doubt the exact one
  return sizes[std::min_element(best.begin(), best.end()) - best.begin()];
}

}  // namespace

// Multiply-adds of the products, with what transforms and the reading of weights cost in units of them (fitted to Zen 3).
int WinogradByRule(const ConvCall& call, bool kept) {
  if (!Possible(call)) return 0;
  double least = 0.9 * 9.0 * call.dims.channels * call.dims.filters * (call.dims.batch * call.dims.OutSize() + (kept ? 8.0 : 16.0));
  int m = 0;
  for (int size : {2, 4}) {
    WinogradDims d;
    WinogradFilter f;
    WinogradDimsOf(call, size, &d, &f);
    const double work = static_cast<double>(d.Points()) * (d.c * d.k * (d.Tiles() + (kept ? 8.0 : 48.0)) + 7.0 * d.Tiles() * (d.c + d.k));
    if (work < least) least = work, m = size;
  }
  return m;
}

int WinogradByMeasurement(const ConvCall& call, bool kept) {
  if (!Possible(call)) return 0;
  struct Plain {
    ConvDims dims;
    int pass, flags, threads, level;
  } key;
  std::memset(static_cast<void*>(&key), 0, sizeof(key));
  key.dims = call.dims;
  key.pass = static_cast<int>(call.pass);
  key.flags = (kept ? 1 : 0) | (call.bias ? 2 : 0) | (call.weight.channels_last ? 4 : 0) | (ActiveHooks().convolution ? 8 : 0);
  key.threads = OmpMaxThreads();
  key.level = static_cast<int>(CurrentCpuLevel());
  const std::string bytes(reinterpret_cast<const char*>(&key), sizeof(key));
  thread_local std::unordered_map<std::string, int> mine;   // no lock on the way of a running plan
  auto own = mine.find(bytes);
  if (own != mine.end()) return own->second;
  static auto* all = new std::unordered_map<std::string, int>();
  std::lock_guard<ForkMutex> lock(*g_measuring);
  auto it = all->find(bytes);
  if (it == all->end()) it = all->emplace(bytes, Measure(call, kept)).first;
  mine.emplace(bytes, it->second);
  return it->second;
}

}  // namespace nn
}  // namespace mxnet
