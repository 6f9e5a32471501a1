/* The operators on boxes on a GPU (gpu_boxes.cuh, gpu_anchors.cuh). */
#ifndef MXNET_OPERATOR_VISION_BOXES_GPU_BOXES_H_
#define MXNET_OPERATOR_VISION_BOXES_GPU_BOXES_H_

#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace boxes {

/* What box_nms does with arrays (batch, boxes, width). Places are positions in an entry. */
struct NmsLayout {
  int64_t batch, boxes, width;
  int64_t take;              // how many of the best take part
  int64_t score, coord, id;  // id -1: there are no classes
  double background, threshold, least_score;
  bool by_class;
  int in_format, out_format;
};
/* `copy`: the result is data. */
void NmsOnDevice(KernelArgs& args, const NmsLayout& layout, bool copy);
void MoveRowsOnDevice(KernelArgs& args, bool back, int64_t boxes, int64_t width);

void IouOnDevice(KernelArgs& args, int format);
struct MatchSettings {
  int64_t batch, rows, columns;
  double threshold;
  int64_t topk;
  bool ascending;
};
void MatchOnDevice(KernelArgs& args, const MatchSettings& settings);

void EncodeOnDevice(KernelArgs& args);
struct DecodeSettings {
  double std[4];
  double clip;
  int format;
};
void DecodeOnDevice(KernelArgs& args, const DecodeSettings& settings);

/* The output is float32 or float64. `table`: half widths and heights, then where centers begin and
 * how far apart they are. */
void PriorOnDevice(KernelArgs& args, const std::vector<double>& table, int64_t width, bool clip);
struct TargetSettings {
  double overlap_threshold, ignore_label, mining_ratio, mining_threshold;
  double variances[4];
};
void TargetOnDevice(KernelArgs& args, const TargetSettings& settings);
struct DetectionSettings {
  bool clip;
  double threshold;
  double variances[4];
  bool suppress;
  double nms_threshold;
  bool force;
  int64_t topk;
};
void DetectionOnDevice(KernelArgs& args, const DetectionSettings& settings);
struct ProposalSettings {
  int64_t pre, post;
  double threshold;
  int64_t least, stride;
  bool corners;
};
/* `base`: corners of the anchors of the first cell. */
void ProposeOnDevice(KernelArgs& args, const std::vector<float>& base, const ProposalSettings& settings);

}  // namespace boxes
}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_BOXES_GPU_BOXES_H_
