#include "operator/shown_inputs.h"

#include <unordered_set>

namespace mxnet {

bool ShowsInputNames(const Op& op) {
  if (op.input_names.size() != 1 || !op.key_var_num_args.empty()) return true;
  // 1.9.1 has no name for the input of most operators with one; of these it has.
  static const std::unordered_set<const Op*> named = [] {
    std::unordered_set<const Op*> ops;
    for (const char* name : {"Dropout",
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
                             "tile"})
      if (const Op* found = Op::Find(name)) ops.insert(found);
    return ops;
  }();
  return named.count(&op) != 0;
}

}  // namespace mxnet
