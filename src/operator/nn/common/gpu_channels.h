/* Generated kernels over arrays around their channels: two sums for each channel, and element for
 * element with coefficients of the channels. */
#ifndef MXNET_OPERATOR_NN_COMMON_GPU_CHANNELS_H_
#define MXNET_OPERATOR_NN_COMMON_GPU_CHANNELS_H_

#include <functional>
#include <string>
#include <utility>
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
 * Two sums over the elements of each channel in an order that depends on the shape and the
 * addresses' alignment alone: in A for the elements that a thread has under way, in double from
 * there on. `arrays` are members of type const D0*, `pointers` their values; `element` adds to
 * `first` and `second` what element `at` (= (o * channels + c) * inner + q) of channel c
 * contributes, and finds the arrays' elements under the arrays' names (As<A>(x) is the number) and
 * in `k` the channel's own values: `functions` defines A, struct Channel and ChannelOf(a, c).
 * `finish` is what happens to c, first and second then, on one thread. `own` in the order of
 * text.members, which may not be called outer, channels, inner, parts, chunk, partial, across,
 * accesses, per, perm, perh, count.
 */
struct ChannelText {
  std::string members, functions;
  std::vector<const char*> arrays;
  std::string element, finish;
  bool marks = false;  // `element` finds its bit of NormMarks as `bit`; kMarkMembers are among the members, MarkText() among the functions
};
std::string AccumulatorText(int dtype);  // the type A that arrays of `dtype` are computed in
using rtc::AddDivisor;
using rtc::kLargeCount;
extern const char* const kNoChannel;  // Channel and ChannelOf where a channel has nothing of its own
void ChannelSums(KernelArgs& args, const ChannelView& view, const rtc::LoopKey& key, const std::vector<const void*>& pointers,
                 const rtc::Arguments& own, const std::function<ChannelText()>& make);

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

extern const char *const kMarkMembers, *const kMarkText;
void AddMarks(const NormMarks& marks, rtc::Arguments* args);

/*
 * An item for each access of 16 bytes or as much as fits (with marks: for eight elements of a line,
 * whose bits are a byte), with the coefficients of its channels: rows of `channels` numbers behind
 * a.coef, one for each name. `body` computes results (A, by their names) of the arrays' elements
 * (storage D0, by theirs) and of the coefficients (A, by theirs); with marks it reads `bit` or sets
 * it. It goes from the end to the beginning: the sums before have just read the end, which the
 * cache still has.
 */
struct ChannelMap {
  std::vector<const char*> arrays, coefficients;
  std::string functions, body;
};
struct MapCall {
  const char* name;
  int dtype, variant;
  std::vector<const void*> arrays;
  const void* coef;
  std::vector<std::pair<const char*, void*>> results;  // those that are wanted; which they are is part of the variant
  const NormMarks* marks = nullptr;
  bool writes_marks = false;
};
void MapOnDevice(const RunContext& run, const ChannelView& view, const MapCall& call, const std::function<ChannelMap()>& make);
/* Room for rows of coefficients in the arithmetic of dtype. */
void* NewCoefficients(KernelArgs& args, const ChannelView& view, int dtype, int rows);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_GPU_CHANNELS_H_
