/* What compression.h has, for arrays in CPU memory and for those of a GPU. */
#ifndef MXNET_KVSTORE_COMPRESSION_KERNELS_H_
#define MXNET_KVSTORE_COMPRESSION_KERNELS_H_

#include "kvstore/compression.h"
#include "mxnet/run_context.h"

namespace mxnet {
namespace kvstore {

void CompressOnHost(const Compression& how, const TBlob& in, const TBlob& residual, const TBlob& bits);
void DecompressOnHost(const Compression& how, const TBlob& bits, const TBlob& out);
void CompressOnDevice(const RunContext& run, const Compression& how, const TBlob& in, const TBlob& residual, const TBlob& bits);
void DecompressOnDevice(const RunContext& run, const Compression& how, const TBlob& bits, const TBlob& out);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_COMPRESSION_KERNELS_H_
