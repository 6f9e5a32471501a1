/* Draws on a GPU: the same counters give the same numbers as on the CPU, up to the rounding of log and cos. */
#ifndef MXNET_OPERATOR_RANDOM_DEVICE_RANDOM_H_
#define MXNET_OPERATOR_RANDOM_DEVICE_RANDOM_H_

#include <string>

#include "mxnet/op.h"

namespace mxnet {

/* mx::Philox, mx::Draw(seed, counter), mx::ToFloat: stands behind rtc::Prelude(). */
const char* PhiloxText();
/* That and distributions.inc: RandomStream and the samplers by their names. */
std::string SamplersText();
/* out[i] = sampler(stream of counter first + i, a, b): the numbers of the CPU up to rounding, which a rejection may rarely magnify. */
void SampleOnDevice(const RunContext& run, const char* sampler, uint64_t seed, uint64_t first, double a, double b, const TBlob& out);
/* Each element of the parameter arrays is drawn from out.Size() / a.Size() times. */
void SampleOnDevice(const RunContext& run, const char* sampler, uint64_t seed, uint64_t first, const TBlob& a, const TBlob* b, const TBlob& out);

enum class DeviceDraw { kUniform, kNormal, kExponential };
/* out from counters first, first + 1, ...: one per element; one per four elements for float32 uniform and normal draws. a, b: low and high, mean and deviation, rate. */
void DrawOnDevice(const RunContext& run, DeviceDraw kind, uint64_t seed, uint64_t first, double a, double b, const TBlob& out);
/* Integers low + [0, range), one counter each. */
void DrawIntegersOnDevice(const RunContext& run, uint64_t seed, uint64_t first, int64_t low, uint64_t range, const TBlob& out);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RANDOM_DEVICE_RANDOM_H_
