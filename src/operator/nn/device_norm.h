/* Normalisation on a GPU: generated kernels, texts in every build. */
#ifndef MXNET_OPERATOR_NN_DEVICE_NORM_H_
#define MXNET_OPERATOR_NN_DEVICE_NORM_H_

#include <string>
#include <vector>

#include "mxnet/op.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

/* An array around its channels. */
struct ChannelView {
  int64_t outer, channels, inner;
};
/*
 * Two sums over the elements of each channel in an order that depends on the shape and the addresses' alignment alone: in A for the elements that a thread has
 * under way, in double from there on. `arrays` are members of type const D0*, `pointers` their values; `element` adds to `first` and `second` what element `at`
 * (= (o * channels + c) * inner + q) of channel c contributes, and finds the arrays' elements under the arrays' names (As<A>(x) is the number) and in `k` the channel's
 * own values: `functions` defines A, struct Channel and ChannelOf(a, c). `finish` is what happens to c, first and second then, on one thread.
 * `own` in the order of text.members, which may not be called outer, channels, inner, parts, chunk, partial, across, accesses, per, perm, perh, count.
 */
struct ChannelText {
  std::string members, functions;
  std::vector<const char*> arrays;
  std::string element, finish;
  bool marks = false;   // `element` finds its bit of NormMarks as `bit`; kMarkMembers are among the members, MarkText() among the functions
};
extern const char* const kNoChannel;   // Channel and ChannelOf where a channel has nothing of its own
void ChannelSums(KernelArgs& args, const ChannelView& view, const rtc::LoopKey& key, const std::vector<const void*>& pointers, const rtc::Arguments& own, const std::function<ChannelText()>& make);

/* LayerNorm, GroupNorm, InstanceNorm: rows of n elements, `inner` apart, (outer * inner) of them. */
struct RowNorm {
  int64_t rows, n, inner;
  /* Which of the parameters belongs to element j of a row: j, or the channel or the group of groups * per_group channels with `span` elements each. */
  enum Parameter { kElement, kChannel, kGroup } parameter = kElement;
  int64_t groups = 1, per_group = 1, span = 1;
  double eps = 0;
};
/* in: data, gamma, beta; out: result, mean, sqrt(variance + eps); the last two may be missing. */
void RowNormOnDevice(KernelArgs& args, const RowNorm& norm);
/* in: gradient, data, gamma; out: gradients of data, gamma, beta. */
void RowNormBackwardOnDevice(KernelArgs& args, const RowNorm& norm);

/*
 * Where relu(BatchNorm(data) + addend) is positive: bits by lines of neighbouring elements, a byte for eight of a line. `bytes` begins with a header whose first byte is the
 * order (Layout) that the forward pass wrote in; kernels read it there, so that nobody waits for it.
 */
struct NormMarks {
  void* bytes = nullptr;                    // null: not wanted
  int64_t header = 0, order = 0;            // bytes; the Layout of the kernel's results
  int64_t line = 1, other_line = 1;         // elements of a line in this order and in the other one
  int64_t minor = 1, major = 1;             // an example is major rows of minor elements in this order
};

/* BatchNorm, the parts of batch_norm.cc and batch_norm_add.cc. `relu`: followed by it. */
struct BatchNormSettings {
  ChannelView view;
  double eps, momentum;
  bool fix_gamma, batch, relu;   // batch: its moments are used, not the moving averages
  const NormMarks* sum = nullptr;   // followed by a sum and a relu
};
/* data, gamma, beta, [addend,] moving_mean, moving_var -> output, mean, inv_std, [marks]. */
void BatchNormOnDevice(KernelArgs& args, const BatchNormSettings& s);
/* data, gamma, beta, [addend,] mean, inv_std -> output. */
void BatchNormAgainOnDevice(KernelArgs& args, const BatchNormSettings& s);
/* ograd, [marks,] data, gamma, moving_mean, moving_var, mean, inv_std, [beta with relu] -> data_grad, gamma_grad, beta_grad, [addend_grad]. */
void BatchNormBackwardOnDevice(KernelArgs& args, const BatchNormSettings& s);

/* `b` in the memory order of `like`: itself or a copy in the workspace. */
TBlob InOrderOnDevice(KernelArgs& args, const TBlob& b, Layout like);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_DEVICE_NORM_H_
