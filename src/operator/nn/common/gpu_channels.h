/* Kernels over arrays around their channels: two sums for each channel, and element for element
 * with coefficients of the channels. */
#ifndef MXNET_OPERATOR_NN_COMMON_GPU_CHANNELS_H_
#define MXNET_OPERATOR_NN_COMMON_GPU_CHANNELS_H_

#include <string>
#include <vector>

#include "mxnet/kernel_args.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

/* An array around its channels. */
struct ChannelView {
  int64_t outer, channels, inner;
};
/*
 * A struct of a kernel source that says what is summed or mapped (see ChannelSumsOf and
 * ChannelMapOf in gpu_channels.cuh): its file and its name with template arguments, and the
 * kernel's name.
 */
struct ChannelKernel {
  const char *file, *name;
  std::string what;
};
using rtc::AddDivisor;
using rtc::kLargeCount;
/*
 * Two sums over the elements of each channel in an order that depends on the shape and the
 * addresses' alignment alone. `arrays` are those whose elements are summed, of `dtype`; `own` are
 * the members of the struct's Own.
 */
void ChannelSums(KernelArgs& args, const ChannelView& view, const ChannelKernel& kernel, int dtype, const std::vector<const void*>& arrays,
                 const rtc::Arguments& own);

/*
 * Where relu(BatchNorm(data) + addend) is positive: bits by lines of neighbouring elements, a byte
 * for eight of a line. `bytes` begins with a header whose first byte is the order (Layout) that the
 * forward pass wrote in; kernels read it there, so that nobody waits for it.
 */
struct NormMarks {
  void* bytes = nullptr;             // null: not wanted
  int64_t header = 0, order = 0;     // bytes; the Layout of the kernel's results
  int64_t line = 1, other_line = 1;  // elements of a line in this order and in the other one
  int64_t minor = 1, major = 1;      // an example is major rows of minor elements in this order
};

/* The members of struct Marks. */
void AddMarks(const NormMarks& marks, rtc::Arguments* args);

/*
 * An item for each access of 16 bytes or as much as fits (with marks: for eight elements of a line,
 * whose bits are a byte), with the coefficients of its channels: rows of `channels` numbers behind
 * `coef`.
 */
struct MapCall {
  ChannelKernel kernel;
  int dtype;
  std::vector<const void*> arrays;
  const void* coef;
  std::vector<void*> results;
  const NormMarks* marks = nullptr;
};
void MapOnDevice(const RunContext& run, const ChannelView& view, const MapCall& call);
/* Workspace for rows of coefficients in the arithmetic of dtype. */
void* NewCoefficients(KernelArgs& args, const ChannelView& view, int dtype, int rows);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_GPU_CHANNELS_H_
