/* Models with several residual streams (hyper-connections), and tables of hashed words beside them:
 * com.microsoft's operators. */
#ifndef MXNET_ONNX_CONVERT_STREAMS_H_
#define MXNET_ONNX_CONVERT_STREAMS_H_

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

void ConvertBranchwiseNorm(Call& c);
void ConvertStreamsPreMix(Call& c);
void ConvertStreamsPostMix(Call& c);
void ConvertStreamsLowRankMix(Call& c);
void ConvertEngramGate(Call& c);
void ConvertNGramHash(Call& c);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_STREAMS_H_
