/* What follows a matrix product or a convolution on a GPU and that the vendor's library did not do
 * itself: one generated pointwise kernel. */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_EPILOGUE_H_
#define MXNET_OPERATOR_GPU_LIBRARY_EPILOGUE_H_

#include "mxnet/run_context.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace gpu_library {

/* Results lie as (rows, channels, inner); an addend lies as they do. */
struct Epilogue {
  const void* bias = nullptr;  // one number per channel
  int bias_dtype = kFloat32;
  const void* addend = nullptr;
  nn::EpilogueOp post;
  explicit operator bool() const { return bias || addend || post; }
};
/* out = post(out + bias + addend), on run.stream. Without anything to do: nothing. */
void ApplyEpilogue(const RunContext& run, void* out, int dtype, int64_t rows, int64_t channels, int64_t inner, const Epilogue& epilogue);
/* to = from in another floating type, `count` elements, through float. */
void ConvertOnDevice(const RunContext& run, const void* from, int from_dtype, void* to, int to_dtype, int64_t count);

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_EPILOGUE_H_
