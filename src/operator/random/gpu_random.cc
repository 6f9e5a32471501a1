#include "operator/random/gpu_random.h"

#include "rtc/loop.h"

namespace mxnet {
namespace {

const char* const kFile = "operator/random/gpu_random.cuh";

// The kernels with DrawArgs of gpu_random.cuh.
rtc::Arguments DrawArguments(const TBlob& out, const DeviceDraws& draws, double a, double b, int64_t low, uint64_t range) {
  rtc::Arguments args;
  draws.AddTo(&args.Add(out.dptr).Add(out.Size())).Add(a).Add(b).Add(low).Add(static_cast<int64_t>(range));
  return args;
}

}  // namespace

DeviceDraws DrawsOnDevice(const RunContext& run, RandomState* random, uint64_t counters) {
  DeviceDraws draws;
  draws.seed = random->seed();
  draws.first = random->Take(counters);
  if (run.capture) {
    run.capture->replayable += counters;
    if (run.capture->capturing && run.capture->draws) draws.base = run.capture->draws, draws.first -= run.capture->draws_begin;
  }
  return draws;
}

void BeginDraws(const RunContext& run, uint64_t* base, uint64_t seed, uint64_t counter) {
  rtc::Arguments args;
  args.Add(base).Add(static_cast<int64_t>(seed)).Add(static_cast<int64_t>(counter));
  rtc::LaunchItems(run, {kFile, "begin_draws"}, 1, &args);
}

void SampleOnDevice(const RunContext& run, const char* sampler, const DeviceDraws& draws, double a, double b, const TBlob& out) {
  rtc::Arguments args;
  draws.AddTo(&args.Add(out.dptr)).Add(a).Add(b);
  const std::string name = std::string("random_") + sampler;
  rtc::LaunchItems(run, {kFile, "random_sampler", {out.dtype}, {}, {sampler}, name.c_str()}, out.Size(), &args);
}

void SampleOnDevice(const RunContext& run, const char* sampler, const DeviceDraws& draws, const TBlob& a, const TBlob* b,
                    const TBlob& out) {
  rtc::Arguments args;
  draws.AddTo(&args.Add(out.dptr)).Add(a.dptr).Add(b ? b->dptr : nullptr).Add(a.Size() ? out.Size() / a.Size() : int64_t{1});
  const std::string name = std::string("sample_") + sampler;
  rtc::LaunchItems(run, {kFile, "sample_sampler", {out.dtype, a.dtype, b ? b->dtype : -1}, {b != nullptr}, {sampler}, name.c_str()},
                   out.Size(), &args);
}

void DrawOnDevice(const RunContext& run, DeviceDraw kind, const DeviceDraws& draws, double a, double b, const TBlob& out) {
  const int64_t n = out.Size();
  const bool four = out.dtype != kFloat64;  // uniform and normal numbers
  const bool uniform = kind == DeviceDraw::kUniform;
  if (kind == DeviceDraw::kExponential) {
    rtc::Arguments args = DrawArguments(out, draws, a, b, 0, 0);
    return rtc::LaunchItems(run, {kFile, "random_exponential", {out.dtype}}, n, &args);
  }
  // in float, a uniform number is made of the interval's begin and length
  rtc::Arguments args = DrawArguments(out, draws, a, four && uniform ? static_cast<double>(static_cast<float>(b - a)) : b, 0, 0);
  rtc::LaunchItems(run, {kFile, uniform ? "random_uniform" : "random_normal", {out.dtype}, {four}}, four ? (n + 3) / 4 : n, &args);
}

void DrawIntegersOnDevice(const RunContext& run, const DeviceDraws& draws, int64_t low, uint64_t range, const TBlob& out) {
  rtc::Arguments args = DrawArguments(out, draws, 0, 0, low, range);
  rtc::LaunchItems(run, {kFile, "random_integers", {out.dtype}}, (out.Size() + 1) / 2, &args);
}

}  // namespace mxnet
