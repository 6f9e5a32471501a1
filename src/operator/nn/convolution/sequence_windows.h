/*
 * Convolutions of sequences, channels first, in steps of 1. The vectors lie along the sequence, so
 * that a few channels fill them, and nothing is brought into another order before or behind the
 * sums. The vector library has kernels of whole vectors of channels for such data: with 8 channels
 * half of a vector is empty, and where a sum is added to, it takes a plain matrix product instead.
 *
 * So are images with few filters, as first layers of small networks have: a row of results is a
 * sequence, and the rows of a window are further channels of it.
 */
#ifndef MXNET_OPERATOR_NN_CONVOLUTION_SEQUENCE_WINDOWS_H_
#define MXNET_OPERATOR_NN_CONVOLUTION_SEQUENCE_WINDOWS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "mxnet/kernel_args.h"
#include "operator/shared/conv_call.h"

namespace mxnet {
namespace nn {

/* Does SequenceWindows compute the call? */
bool SequenceWindowsTakes(const ConvCall& call);

/* False: the case is another one, and nothing was done. `addend` may be null, or the result. */
bool SequenceWindows(KernelArgs& args, const ConvCall& call, const float* addend);

/* Filters whose weights lie side by side. */
constexpr int64_t kSequenceFilters = 4;

/* Data for some results: a line for each channel, in which the elements of a window are `step`
 * apart. */
struct SequenceLines {
  const float* data = nullptr;
  int64_t channels = 0, taps = 0, pitch = 0, step = 0;
};

/* Where sums begin and end. */
struct SequenceSums {
  const float* start = nullptr;  // by filter; null: `sums` has those of the channels before
  float* sums = nullptr;         // a line of `pitch` for each filter
  int64_t pitch = 0;
  /* Where results go with the last channels, null before: `filters` lines of `length`, `apart`. */
  float* out = nullptr;
  const float* addend = nullptr;  // as the results lie, and perhaps they; may be null
  int64_t filters = 0, length = 0, apart = 0;
  bool bends = false;  // results below 0 are multiplied by the slope, or become 0 where that is 0
  float slope = 0;
};

}  // namespace nn

/*
 * Adds the products of the lines from element i on with the weights of filter f to sum i of filter
 * f. Weights are [block of `together` filters][channel][tap][filter], `apart` between blocks;
 * `together` is 1, or kSequenceFilters and filters a multiple of it. columns is a multiple of 16.
 */
MXNET_CPU_DECLARE(void SumSequences(const nn::SequenceLines& lines, const float* weights, int64_t apart, int64_t together, int64_t filters,
                                    int64_t columns, const nn::SequenceSums& to);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CONVOLUTION_SEQUENCE_WINDOWS_H_
