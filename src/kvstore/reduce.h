/* Sums of arrays in CPU memory, and the compression of gradients. */
#ifndef MXNET_KVSTORE_REDUCE_H_
#define MXNET_KVSTORE_REDUCE_H_

#include <vector>

#include "mxnet/base.h"
#include "mxnet/engine.h"

namespace mxnet {

/*
 * out = sum of inputs, all of one dtype and size. `out` may be one of the inputs. Order and
 * rounding do not depend on the number of threads: integers wrap, 16-bit floats are added in
 * float32 and rounded once, bool is "any".
 */
void SumArrays(const std::vector<TBlob>& in, const TBlob& out);

/* residual += in; out = threshold, 0 or -threshold; residual -= out. All float32, of one size. */
void QuantizeTwoBit(const TBlob& in, const TBlob& residual, const TBlob& out, float threshold);
/* The same for arrays of the GPU that `run` is on. */
void QuantizeTwoBitOnDevice(const RunContext& run, const TBlob& in, const TBlob& residual, const TBlob& out, float threshold);

}  // namespace mxnet
#endif  // MXNET_KVSTORE_REDUCE_H_
