#include "operator/record/shown_inputs.h"

#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

namespace mxnet {
namespace {

using Ops = std::unordered_set<const Op*>;

Ops Find(std::initializer_list<const char*> names) {
  Ops ops;
  for (const char* name : names)
    if (const Op* found = Op::Find(name)) ops.insert(found);
  return ops;
}

}  // namespace

bool ShowsInputNames(const Op& op) {
  if (op.input_names.size() != 1 || !op.key_var_num_args.empty()) return true;
  // 1.9.1 has no name for the input of most operators with one; of these it has.
  static const Ops& named = *new Ops(Find({"Dropout",
                                           "IdentityAttachKLSparseReg",
                                           "L2Normalization",
                                           "LRN",
                                           "MakeLoss",
                                           "Pad",
                                           "Pooling",
                                           "Pooling_v1",
                                           "SliceChannel",
                                           "SwapAxis",
                                           "UpSampling",
                                           "_contrib_MultiBoxPrior",
                                           "_contrib_index_array",
                                           "_contrib_quadratic",
                                           "_contrib_quantize_asym",
                                           "_contrib_quantize_v2",
                                           "_image_to_tensor",
                                           "_linalg_det",
                                           "_linalg_extractdiag",
                                           "_linalg_extracttrian",
                                           "_linalg_gelqf",
                                           "_linalg_inverse",
                                           "_linalg_makediag",
                                           "_linalg_maketrian",
                                           "_linalg_potrf",
                                           "_linalg_potri",
                                           "_linalg_slogdet",
                                           "_linalg_sumlogdiag",
                                           "_linalg_syevd",
                                           "_linalg_syrk",
                                           "_sample_exponential",
                                           "_sample_poisson",
                                           "_split_v2",
                                           "cumsum",
                                           "depth_to_space",
                                           "diag",
                                           "flip",
                                           "im2col",
                                           "log_softmax",
                                           "one_hot",
                                           "repeat",
                                           "reverse",
                                           "softmax",
                                           "space_to_depth",
                                           "squeeze",
                                           "tile"}));
  return named.count(&op) != 0;
}

bool ShowsOutputNames(const Op& op) {
  // Most operators of 1.9.1 have no names for their outputs. These call them output, output0, ...
  static const Ops& named = *new Ops(Find({"Activation",
                                           "BatchNorm",
                                           "BatchNorm_v1",
                                           "BilinearSampler",
                                           "Concat",
                                           "Convolution",
                                           "Convolution_v1",
                                           "Correlation",
                                           "Crop",
                                           "Deconvolution",
                                           "Dropout",
                                           "FullyConnected",
                                           "GridGenerator",
                                           "GroupNorm",
                                           "IdentityAttachKLSparseReg",
                                           "InstanceNorm",
                                           "L2Normalization",
                                           "LRN",
                                           "LayerNorm",
                                           "LeakyReLU",
                                           "MakeLoss",
                                           "Pad",
                                           "Pooling",
                                           "Pooling_v1",
                                           "RNN",
                                           "ROIPooling",
                                           "SVMOutput",
                                           "SequenceLast",
                                           "SequenceMask",
                                           "SequenceReverse",
                                           "SliceChannel",
                                           "SoftmaxActivation",
                                           "SoftmaxOutput",
                                           "SpatialTransformer",
                                           "SwapAxis",
                                           "UpSampling",
                                           "_CrossDeviceCopy",
                                           "_contrib_BatchNormWithReLU",
                                           "_contrib_DeformableConvolution",
                                           "_contrib_DeformablePSROIPooling",
                                           "_contrib_ModulatedDeformableConvolution",
                                           "_contrib_MultiBoxDetection",
                                           "_contrib_MultiBoxPrior",
                                           "_contrib_MultiProposal",
                                           "_contrib_PSROIPooling",
                                           "_contrib_Proposal",
                                           "_contrib_ROIAlign",
                                           "_contrib_RROIAlign",
                                           "_contrib_SyncBatchNorm",
                                           "_contrib_count_sketch",
                                           "_contrib_fft",
                                           "_contrib_ifft",
                                           "_contrib_interleaved_matmul_encdec_qk",
                                           "_contrib_interleaved_matmul_encdec_valatt",
                                           "_contrib_interleaved_matmul_selfatt_qk",
                                           "_contrib_interleaved_matmul_selfatt_valatt",
                                           "_rnn_param_concat",
                                           "col2im",
                                           "elemwise_add",
                                           "im2col",
                                           "softmax",
                                           "softmin"}));
  return named.count(&op) != 0;
}

const ShownGradients& ShownGradientsOf(const Op& op) {
  static const auto& table = *new auto([] {
    std::unordered_map<const Op*, ShownGradients> made;
    for (const Op* by_name : Find({"BatchNorm_v1",
                                   "BilinearSampler",
                                   "Convolution_v1",
                                   "Correlation",
                                   "Crop",
                                   "GridGenerator",
                                   "IdentityAttachKLSparseReg",
                                   "InstanceNorm",
                                   "L2Normalization",
                                   "MakeLoss",
                                   "Pad",
                                   "Pooling_v1",
                                   "ROIPooling",
                                   "SVMOutput",
                                   "SequenceLast",
                                   "SequenceMask",
                                   "SequenceReverse",
                                   "SliceChannel",
                                   "SpatialTransformer",
                                   "SwapAxis",
                                   "_contrib_DeformableConvolution",
                                   "_contrib_DeformablePSROIPooling",
                                   "_contrib_PSROIPooling",
                                   "_contrib_SyncBatchNorm"}))
      made[by_name].by_name = true;
    for (const Op* own_node : Find({"batch_dot"})) made[own_node].own_node = true;
    for (const Op* first : Find({"where"})) made[first].without = {0};
    for (const Op* second : Find({"pick", "gather_nd", "scatter_nd", "reshape_like", "broadcast_like"})) made[second].without = {1};
    for (const Op* second :
         Find({"take", "slice_like", "SequenceLast", "SequenceMask", "SequenceReverse", "_contrib_DeformablePSROIPooling"}))
      made[second].zero = {1};
    for (const Op* first : Find({"Embedding"})) made[first].zero = {0};
    return made;
  }());
  static const auto& numbered = *new ShownGradients;
  const auto found = table.find(&op);
  return found == table.end() ? numbered : found->second;
}

}  // namespace mxnet
