/* Greedy suppression on a GPU: arrays in device memory, steps in the order of a stream. */
#ifndef MXNET_OPERATOR_VISION_BOXES_GPU_LISTS_H_
#define MXNET_OPERATOR_VISION_BOXES_GPU_LISTS_H_

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace boxes {

/* Boxes of several images, all float32 or all float64. */
struct DeviceBoxes {
  int dtype;
  int64_t batch, boxes;      // so many in each image
  const void* data;          // the first number of the first box
  int64_t width;             // numbers from one box to the next
  const void* id = nullptr;  // class of the first box; null: all are alike
  int64_t id_width = 0;      // numbers from one class to the next
  const void* key;           // (batch, boxes) to sort by; -infinity: takes no part
  bool center = false;
  double extent = 0;
};
struct DeviceKept {
  const int64_t* position;  // (batch, take): boxes of an image in order
  const int64_t* kept;      // (batch, take): places among these of what stays
  const int64_t* found;     // (batch): how many stay
};
/* `take`: how many of the best take part, at least 1; `most`: how many can stay. */
DeviceKept SuppressOnDevice(KernelArgs& args, const DeviceBoxes& boxes, int64_t take, int64_t most, double threshold);

/* Device memory until the kernel has run. */
template <typename T>
T* DeviceMemory(KernelArgs& args, int64_t n) {
  return static_cast<T*>(args.workspace(static_cast<size_t>(n > 0 ? n : 1) * sizeof(T)));
}

}  // namespace boxes
}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_BOXES_GPU_LISTS_H_
