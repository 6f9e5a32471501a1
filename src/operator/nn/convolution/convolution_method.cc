// Which method for a convolution: the vector library, packed weights, Winograd tiles.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/cpu_dispatch.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/fork_guard.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nn/cpu_gemm/packed.h"
#include "operator/nn/cpu_gemm/winograd.h"

namespace mxnet {
namespace nn {
namespace {

ForkMutex* const g_measuring = new ForkMutex(ForkLevel::kOperator);  // held while measuring: one measurement at a time, and one per shape

constexpr double kSmall = 2e7;               // operations below which Winograd is not tried
constexpr double kTiny = 2e5;                // below which nothing is measured
constexpr double kTrial = 6e8;               // operations of one timed run, about: larger batches are judged by a part
constexpr double kKeptTrial = 1e8;           // the same of a plan for inference, whose first answer somebody waits for
constexpr int64_t kTrialPixels = 1024;       // at least, where weights are transformed in each call
constexpr double kSeconds = 0.1;             // after which no further round is run
constexpr int kRounds = 4, kRuns = 4;        // of each method; the first run of a round warms up
constexpr int64_t kCoarseWeights = 2 << 20;  // elements: of larger ones 6x6 tiles save little and hold nearly twice as much memory as 4x4
constexpr int64_t kLargeWeights = 8 << 20;   // elements: 4x4 tiles with more must be a tenth faster than smaller ones
constexpr int64_t kLargeSums = 5 << 19;      // elements: of transformed gradients by weights that do not stay in the second-level cache
constexpr double kClear = 1.25;              // times the least: more than noise and what is in doubt
constexpr double kCoarse = 0.85;             // 6x6 tiles, less exact, must be this much faster
constexpr double kInDoubt = 0.97;            // for the rule's choice: what differs by less than noise is chosen alike in every process
constexpr int64_t kFewPixels = 6;            // fewer do not fill the register tiles of the packed kernels

double Flops(const ConvDims& d) { return 2.0 * d.batch * (d.channels / d.groups) * d.filters * d.OutSize() * d.KernelSize(); }

// The sizes of Winograd's tiles that can compute the call, as numbers of ConvMethod.
std::vector<int> WinogradSizes(const ConvCall& call) {
  const ConvDims& d = call.dims;
  std::vector<int> sizes;
  if (!Env::Get().cpu_allow_winograd || d.channels < 16 || d.filters < 16 || Flops(d) < kSmall) return sizes;
  WinogradDims w;
  WinogradFilter f;
  for (int m : {2, 4, 6})
    if (WinogradDimsOf(call, m, &w, &f)) sizes.push_back(m);
  return sizes;
}

int64_t TransformedWeights(const ConvCall& call, int m) {
  WinogradDims w;
  WinogradFilter f;
  return WinogradDimsOf(call, m, &w, &f) ? w.Weights() : 0;
}

// Eight points in both dimensions lose digits; in one dimension they do not.
bool Coarse(const ConvCall& call, ConvMethod m) {
  return m == ConvMethod::kWinograd6 && call.dims.kernel[1] > 1 && call.dims.kernel[2] > 1;
}

/*
 * Workspace memory of a trial, straight from the system and back: through malloc tens of megabytes
 * would stay with the arena of the thread that measured.
 */
class Buffers {
 public:
  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    for (const auto& b : blocks_) munmap(b.first, b.second);
  }
  void* Get(size_t bytes) {
    if (next_ == blocks_.size()) blocks_.emplace_back(nullptr, 0);
    auto& block = blocks_[next_++];
    if (block.second < bytes) {
      if (block.second) munmap(block.first, block.second);
      block = {nullptr, 0};
      void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (p == MAP_FAILED) throw std::bad_alloc();
      block = {p, bytes};
    }
    return block.first;
  }
  void Rewind() { next_ = 0; }

 private:
  std::vector<std::pair<void*, size_t>> blocks_;
  size_t next_ = 0;
};

/* Numbers that come again and again. */
float* Filled(Buffers* buffers, int64_t count) {
  constexpr int64_t kPeriod = 101;
  float* p = static_cast<float*>(buffers->Get(count * sizeof(float)));
  for (int64_t i = 0; i < std::min(count, kPeriod); ++i) p[i] = static_cast<float>(i * 37 % kPeriod - 50) * 0.01f;
  for (int64_t done = kPeriod; done < count; done *= 2) std::memcpy(p + done, p, std::min(done, count - done) * sizeof(float));
  return p;
}

// Of this thread: other programs on the machine disturb it less than they do the wall clock.
double Now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The methods that can compute the call besides the vector library.
std::vector<ConvMethod> Candidates(const ConvCall& call) {
  std::vector<ConvMethod> methods;
  if (DepthwiseTakes(call, false))
    methods.push_back(ConvMethod::kDepthwise);
  else if (PackedTakes(call))
    methods.push_back(ConvMethod::kPacked);
  for (int m : WinogradSizes(call)) {
    const ConvMethod method = static_cast<ConvMethod>(m);
    if (!Coarse(call, method) || TransformedWeights(call, m) <= kCoarseWeights) methods.push_back(method);
  }
  return methods;
}

// Is it worth packing the weights for one call?
bool PackingPays(const ConvCall& call) {
  const ConvDims& d = call.dims;
  const int64_t pixels = d.batch * d.OutSize();
  return d.KernelSize() == 1 && d.filters >= 48 && ((d.channels >= 128 && pixels >= 512) || (d.channels >= 1024 && pixels >= 90));
}

bool Exact(ConvMethod m) { return m == ConvMethod::kLibrary || m == ConvMethod::kPacked || m == ConvMethod::kDepthwise; }

/*
 * Groups of so few channels leave half of a vector of AVX-512 empty in the packed kernels, or more.
 * The library's took 0.5 to 0.97 of their time on Sapphire Rapids.
 */
bool NarrowGroups(const ConvCall& call) {
  const ConvDims& d = call.dims;
  const int64_t width = d.channels / d.groups;
  return call.pass == ConvPass::kForward && CurrentCpuLevel() >= CpuLevel::kV4 && ActiveHooks().convolution && d.groups > 1 &&
         (width == 4 || width == 8) && Flops(d) >= kTiny && d.filters == d.channels && d.kernel[1] == 3 && d.kernel[2] == 3 &&
         d.in[0] == 1 && d.dilate[1] == 1 && d.dilate[2] == 1 && call.src.channels_last && call.dst.channels_last;
}

/*
 * Is the rule as good as a trial? For whole vectors, of the layers of ResNet, Inception, AlexNet
 * and MobileNet on Zen 3 and Zen 5, it chose Winograd and the size of its tiles as the least time
 * does; packed 1x1 convolutions are within 5 % of the library's in a trial, where weights stay in
 * the cache, and faster in a network, where they come from memory; with other windows they are
 * faster. In training, all it chose together take 1.3 % longer than the best of 362 trials, which
 * took up to 9 s before a network's first step. Packed products of groups of one filter are some
 * twenty times as slow as the library's, so that trials of them were most of the first answer of
 * networks with windows of 5x5 in groups.
 */
bool Settled(const ConvCall& call) {
  if (CurrentCpuLevel() < CpuLevel::kV3) return false;
  return DepthwiseTakes(call, false) || !WinogradSizes(call).empty() || NarrowGroups(call) ||
         (call.pass == ConvPass::kForward && PackedTakes(call) && (call.dims.groups == 1 || call.dims.groups == call.dims.filters));
}

// While it lives operators on this thread use no other: its processor time would count waiting for
// threads that other programs hold up.
struct Alone {
  const int before = SetThreadOmpLimit(1);
  ~Alone() { SetThreadOmpLimit(before); }
};

/* Runs of a call like the given one, smaller and with memory of its own, on this thread. */
class Trial {
 public:
  Trial(const ConvCall& like, bool kept, bool (*library)(KernelArgs&, const ConvCall&)) : kept_(kept), library_(library), call_(like) {
    ConvDims& dims = call_.dims;
    // What is done with the weights in each call must not weigh more than it will.
    const int64_t least = kept ? 1 : (kTrialPixels + dims.OutSize() - 1) / dims.OutSize();
    dims.batch = std::min(dims.batch, std::max(least, static_cast<int64_t>((kept ? kKeptTrial : kTrial) / (Flops(dims) / dims.batch))));
    call_.src.ptr = Filled(&data_, dims.batch * dims.channels * dims.InSize());
    call_.dst.ptr = Filled(&data_, dims.batch * dims.filters * dims.OutSize());
    call_.weight.ptr = Filled(&data_, dims.channels / dims.groups * dims.filters * dims.KernelSize());
    if (call_.bias) call_.bias = Filled(&data_, dims.filters);
    call_.accumulate = false;
    call_.post = EpilogueOp();
    call_.weight_input = 0;
    args_.state = &state_;
    args_.is_train = !kept;
    args_.in_versions = Span<const uint64_t>(&version_, 1);
    args_.workspace = [this](size_t bytes) { return workspace_.Get(bytes); };
  }

  const ConvCall& call() const { return call_; }

  /* One run; the first of a method makes the weights that it keeps. False: the library refused. */
  bool Run(ConvMethod method, bool first) {
    workspace_.Rewind();
    if (method == ConvMethod::kLibrary) return GemmConvolution(args_, call_) || library_(args_, call_);
    if (method == ConvMethod::kPacked)
      PackedRun(call_, Derived(first, PackedSize(call_), [&](float* u) { PackWeights(call_, u); }), nullptr, args_.workspace);
    else if (method == ConvMethod::kDepthwise)
      DepthwiseRun(call_, Derived(first, DepthwiseSize(call_), [&](float* u) { PackDepthwise(call_, u); }), nullptr);
    else
      RunWinograd(method, first);
    return true;
  }

 private:
  // The weights as the method wants them: made now, or once.
  template <typename Make>
  float* Derived(bool first, int64_t count, const Make& make) {
    if (!kept_) {
      float* u = static_cast<float*>(args_.workspace(count * sizeof(float)));
      make(u);
      return u;
    }
    if (first) std::vector<float>(count + 16).swap(weights_);
    float* u = AlignedTo64<float>(weights_.data());
    if (first) make(u);
    return u;
  }

  void RunWinograd(ConvMethod method, bool first) {
    WinogradDims d;
    WinogradFilter f;
    WinogradDimsOf(call_, static_cast<int>(method), &d, &f);
    const float *src = static_cast<const float*>(call_.src.ptr), *dst = static_cast<const float*>(call_.dst.ptr);
    if (call_.pass == ConvPass::kBackwardWeights) {
      WinogradRunWeights(d, src, dst, {const_cast<float*>(f.ptr), f.k, f.c, f.r, f.s}, args_.workspace);
      if (call_.bias) WinogradSumRows(dst, d.batch * d.oh * d.ow, d.k, static_cast<float*>(call_.bias), args_.workspace);
      return;
    }
    if (kept_ && call_.pass == ConvPass::kForward) WinogradKeepCompact(3, &d);
    const float* u = Derived(first, WinogradWeightSize(d), [&](float* to) { WinogradTransformWeights(d, f, to); });
    const bool forward = call_.pass == ConvPass::kForward;
    WinogradEpilogue e;
    e.bias = static_cast<const float*>(call_.bias);
    WinogradRun(d, forward ? src : dst, u, e, static_cast<float*>(forward ? call_.dst.ptr : call_.src.ptr), args_.workspace);
  }

  const bool kept_;
  bool (*const library_)(KernelArgs&, const ConvCall&);
  ConvCall call_;
  Buffers data_, workspace_;
  KernelArgs args_;
  std::shared_ptr<OpState> state_;
  const uint64_t version_ = 1;
  std::vector<float> weights_;  // of one method at a time: the trial must not need more memory than the plan will
};

/* Is one so much faster than the others that more runs would not tell another? */
bool IsClear(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times.size() > 1 && times[0] * kClear < times[1];
}

/* The least time of each method in several runs; empty where the library refuses the call. */
std::vector<double> LeastTimes(Trial* trial, const std::vector<ConvMethod>& methods) {
  std::vector<double> best(methods.size(), 1e30);
  double spent = 0;
  for (int round = 0; round < kRounds && (round < 2 || spent < kSeconds); ++round) {
    for (size_t i = 0; i < methods.size(); ++i)
      for (int turn = 0; turn < kRuns; ++turn) {
        const double begin = Now();
        if (!trial->Run(methods[i], turn == 0)) return {};
        const double t = Now() - begin;
        if (turn == 0) continue;
        spent += t;
        best[i] = std::min(best[i], t);
      }
    if (IsClear(best)) break;
  }
  return best;
}

ConvMethod Measure(const ConvCall& like, bool kept, std::vector<ConvMethod> methods) {
  const auto hook = ActiveHooks().convolution;
  if (!hook) return MethodByRule(like, kept);
  const Alone alone;
  const RanScope aside(nullptr);  // trials are not what ran
  methods.insert(methods.begin(), ConvMethod::kLibrary);
  Trial trial(like, kept, hook);
  std::vector<double> best = LeastTimes(&trial, methods);
  const ConvMethod ruled = MethodByRule(like, kept);
  if (best.empty()) return ruled;
  for (size_t i = 0; i < methods.size(); ++i) {
    if (methods[i] == ruled) best[i] *= kInDoubt;
    best[i] *= Coarse(trial.call(), methods[i]) ? 1 / kCoarse : Exact(methods[i]) ? 0.97 : 1;  // in doubt the exact one
  }
  for (size_t i = 0; i < methods.size(); ++i)
    if (methods[i] == ConvMethod::kWinograd4 && TransformedWeights(trial.call(), 4) > kLargeWeights) best[i] *= 1.1;
  return methods[std::min_element(best.begin(), best.end()) - best.begin()];
}

}  // namespace

/*
 * Multiply-adds of the products, with what transforms and the reading of weights cost in units of
 * them (fitted to Zen 3). Large weights come from memory: with few pixels, tiles of 4x4 and of 2x2
 * take the same time then (fitted to Sapphire Rapids), and these hold less than half as much.
 */
ConvMethod MethodByRule(const ConvCall& call, bool kept) {
  const ConvDims& dims = call.dims;
  const int64_t pixels = dims.batch * dims.OutSize();
  ConvMethod method = ConvMethod::kLibrary;
  const bool once = !kept && ActiveHooks().convolution;  // weights are packed for one call, and the library, which need not, is there
  if (DepthwiseTakes(call, false))
    method = once && dims.stride[2] > 1 ? ConvMethod::kLibrary : ConvMethod::kDepthwise;
  else if (PackedTakes(call) && !NarrowGroups(call) && (dims.groups == 1 || dims.groups < dims.filters) &&
           (once ? PackingPays(call) : pixels >= (kept ? kFewPixels : 64)))
    method = ConvMethod::kPacked;
  double least = 0.9 * dims.KernelSize() * dims.channels * dims.filters * (pixels + (kept ? 8.0 : 16.0));
  for (int size : WinogradSizes(call)) {
    const bool coarse = Coarse(call, static_cast<ConvMethod>(size));
    if (coarse && (TransformedWeights(call, size) > kCoarseWeights || (call.pass == ConvPass::kBackwardWeights && dims.kernel[1] == 3)))
      continue;
    WinogradDims d;
    WinogradFilter f;
    WinogradDimsOf(call, size, &d, &f);
    const bool sums = call.pass == ConvPass::kBackwardWeights && d.Weights() > kLargeSums;
    const bool far = d.Weights() > kLargeWeights;
    const double each = kept ? (far ? 24 : 8) : sums ? 100 : 48;  // for each weight
    const double work =
        (coarse ? 1 / kCoarse : 1) * static_cast<double>(d.Points()) * (d.c * d.k * (d.Tiles() + each) + 7.0 * d.Tiles() * (d.c + d.k));
    if (work < least) least = work, method = static_cast<ConvMethod>(size);
  }
  return method;
}

ConvMethod MethodByMeasurement(const ConvCall& call, bool kept) {
  if (Flops(call.dims) < kTiny || Settled(call)) return MethodByRule(call, kept);
  struct Plain {
    ConvDims dims;
    int pass, flags, level;
  } key;
  std::memset(static_cast<void*>(&key), 0, sizeof(key));
  key.dims = call.dims;
  key.pass = static_cast<int>(call.pass);
  key.flags = (kept ? 1 : 0) | (call.bias ? 2 : 0) | (call.weight.channels_last ? 4 : 0) | (ActiveHooks().convolution ? 8 : 0) |
              (Env::Get().cpu_allow_winograd ? 16 : 0) | (call.src.channels_last ? 32 : 0) | (call.dst.channels_last ? 64 : 0);
  key.level = static_cast<int>(CurrentCpuLevel());
  const std::string bytes(reinterpret_cast<const char*>(&key), sizeof(key));
  constexpr size_t kMost =
      4096;  // of a thread; of all sixteen times as many. Shapes without end must not fill the memory: then what was measured is forgotten
  thread_local std::unordered_map<std::string, ConvMethod> mine;  // no lock on the way of a running plan
  auto own = mine.find(bytes);
  if (own != mine.end()) return own->second;
  static auto* all = new std::unordered_map<std::string, ConvMethod>();
  std::lock_guard<ForkMutex> lock(*g_measuring);
  auto it = all->find(bytes);
  if (it == all->end()) {
    if (all->size() >= 16 * kMost) all->clear();
    std::vector<ConvMethod> methods = Candidates(call);
    it = all->emplace(bytes, methods.empty() ? ConvMethod::kLibrary : Measure(call, kept, std::move(methods))).first;
#ifdef __GLIBC__
    malloc_trim(0);  // a trial's memory goes back at once: the largest layers, which come last, would stand on top of it
#endif
  }
  if (mine.size() >= kMost) mine.clear();
  mine.emplace(bytes, it->second);
  return it->second;
}

}  // namespace nn
}  // namespace mxnet
