/* Connectionist temporal classification on a GPU: a block for each sequence. */
#ifndef MXNET_OPERATOR_NN_LOSS_GPU_CTC_H_
#define MXNET_OPERATOR_NN_LOSS_GPU_CTC_H_

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace nn {

struct CtcArrays {
  const TBlob* data = nullptr;                                    // (steps, batch, classes)
  const TBlob* label = nullptr;                                   // (batch, width)
  const TBlob *data_lengths = nullptr, *label_lengths = nullptr;  // may be null
  bool blank_first = true;
};
/* Without ograd: `out` gets the losses (batch); with it the gradient of data. A label that is no
 * class is refused: waits for the stream. */
void CtcOnDevice(KernelArgs& args, const CtcArrays& c, const TBlob* ograd, const TBlob& out);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_LOSS_GPU_CTC_H_
