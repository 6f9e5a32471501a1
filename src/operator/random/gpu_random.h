/* Draws on a GPU: the same counters give the same numbers as on the CPU, up to the rounding of log
 * and cos. */
#ifndef MXNET_OPERATOR_RANDOM_GPU_RANDOM_H_
#define MXNET_OPERATOR_RANDOM_GPU_RANDOM_H_

#include <string>

#include "mxnet/kernel_args.h"
#include "rtc/kernel.h"

namespace mxnet {

/*
 * Counters of a kernel that draws: `first`, `first` + 1, ... of `seed`. In a CUDA graph, which
 * draws other numbers in every replay, seed and the counter where the replay begins are read from
 * `base`, and `first` counts from there.
 */
struct DeviceDraws {
  const uint64_t* base = nullptr;  // in the device's memory; null: no graph
  uint64_t seed = 0, first = 0;
  /* The members of mx::Draws in philox.cuh. */
  rtc::Arguments& AddTo(rtc::Arguments* args) const {
    return args->Add(base).Add(static_cast<int64_t>(seed)).Add(static_cast<int64_t>(first));
  }
};
/* Takes counters of the generator. */
DeviceDraws DrawsOnDevice(const RunContext& run, RandomState* random, uint64_t counters);
/* base[0] = seed, base[1] = counter, on run.stream. */
void BeginDraws(const RunContext& run, uint64_t* base, uint64_t seed, uint64_t counter);

/* out[i] = sampler(stream of counter first + i, a, b): the numbers of the CPU up to rounding, which
 * a rejection may rarely magnify. */
void SampleOnDevice(const RunContext& run, const char* sampler, const DeviceDraws& draws, double a, double b, const TBlob& out);
/* Each element of the parameter arrays is drawn from out.Size() / a.Size() times. */
void SampleOnDevice(const RunContext& run, const char* sampler, const DeviceDraws& draws, const TBlob& a, const TBlob* b, const TBlob& out);

enum class DeviceDraw { kUniform, kNormal, kExponential };
/* out from counters first, first + 1, ...: one per element; one per four elements for float32
 * uniform and normal draws. a, b: low and high, mean and deviation, rate. */
void DrawOnDevice(const RunContext& run, DeviceDraw kind, const DeviceDraws& draws, double a, double b, const TBlob& out);
/* Integers low + [0, range), one counter each. */
void DrawIntegersOnDevice(const RunContext& run, const DeviceDraws& draws, int64_t low, uint64_t range, const TBlob& out);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RANDOM_GPU_RANDOM_H_
