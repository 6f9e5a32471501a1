/* Operators on regions on a GPU. */
#ifndef MXNET_OPERATOR_VISION_ROI_GPU_ROI_H_
#define MXNET_OPERATOR_VISION_ROI_GPU_ROI_H_

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace roi {

struct AlignOptions {
  double scale;
  int64_t samples;
  bool position_sensitive = false, aligned = false;
};
struct DeformPoolOptions {
  double scale, trans_std;
  int64_t groups, parts, samples;
  bool no_trans;
};

/* The largest pixels of each bin; with `image_grad` the gradient of data from `bins` = ograd. */
void PoolOnDevice(KernelArgs& args, const TBlob& data, const TBlob& rois, const TBlob& bins, double scale, const TBlob* image_grad);
/* What `other` has where the largest pixels of data lie. */
void PoolOtherOnDevice(KernelArgs& args, const TBlob& other, const TBlob& data, const TBlob& rois, const TBlob& bins, double scale);
/* `kernel` NAME or NAME_backward: from the image to the bins, or back. */
void AlignOnDevice(KernelArgs& args, const char* kernel, const TBlob& image, const TBlob& rois, const TBlob& bins,
                   const AlignOptions& options);
void MeanOnDevice(KernelArgs& args, const char* kernel, const TBlob& image, const TBlob& rois, const TBlob& bins, double scale,
                  int64_t groups);
/* first_input 0: data, rois[, trans] -> bins; 1: the bins' gradient and these -> their
 * gradients. */
void DeformPoolOnDevice(KernelArgs& args, int first_input, const DeformPoolOptions& options);

}  // namespace roi
}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_ROI_GPU_ROI_H_
