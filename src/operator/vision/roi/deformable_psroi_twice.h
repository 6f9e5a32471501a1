/* DeformablePSROIPooling as other operators compute it, for its second derivatives. */
#ifndef MXNET_OPERATOR_VISION_ROI_DEFORMABLE_PSROI_TWICE_H_
#define MXNET_OPERATOR_VISION_ROI_DEFORMABLE_PSROI_TWICE_H_

#include <cstdint>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace roi {

struct DeformPoolWrittenOut {
  double scale, trans_std;
  int64_t channels, bins, groups, parts, samples;  // channels: of the result
  bool no_trans;
};
/* The result for data, rois and trans. */
NodeEntry WriteOutDeformPool(const DeformPoolWrittenOut& how, const std::vector<NodeEntry>& inputs);

}  // namespace roi
}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_ROI_DEFORMABLE_PSROI_TWICE_H_
