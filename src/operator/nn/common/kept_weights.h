/*
 * Weights in the form that a kernel wants them, kept in the state of an inference plan's node while
 * the version of the original stays. Nodes whose weights in that form are equal share one copy:
 * plans of several batch sizes, of several threads, of several predictors of one model.
 */
#ifndef MXNET_OPERATOR_NN_COMMON_KEPT_WEIGHTS_H_
#define MXNET_OPERATOR_NN_COMMON_KEPT_WEIGHTS_H_

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "mxnet/kernel_args.h"

namespace mxnet {
namespace nn {

/* Are derived weights kept between calls? Else (training, no state, unknown version) they are made
 * in workspace memory for each. */
bool KeepsWeights(const KernelArgs& args, int weight_input);

/* False from the time on that the weights have got another version than those that are kept:
 * somebody trains between calls, and then packing for a call of few rows takes longer than it
 * saves. Not asked again, so that equal calls give equal numbers. */
bool WeightsStay(const KernelArgs& args, int weight_input);

/* Are derived weights of this node there, or can they be made while the original is not in memory
 * as a whole? REQUIRES: KeepsWeights. */
bool KeptWithoutSource(const KernelArgs& args, const void* source);

/* In a form: what is made depends on the contents, their shape and the form alone, whichever
 * operator reads them. */
constexpr uint64_t kOfContentsAlone = uint64_t{1} << 62;

/*
 * Weights of which each part becomes some of the form's numbers. Those that lie in a file are read
 * so, and are never as a whole in memory beside the form.
 */
struct WeightParts {
  int64_t count = 0;          // 0: they are wanted as a whole
  size_t bytes = 0, all = 0;  // of a part in the source, the last of which may be smaller, and of all
  size_t scratch = 0;         // bytes, 64-byte aligned, that `fill` needs beside them
  /* Parts [begin, end), of which the first lies at `from`, into the whole form. Any thread. */
  std::function<void(const void* from, int64_t begin, int64_t end, float* form, void* scratch)> fill;
};

/* All of them, on several threads, of weights that lie in memory. REQUIRES: parts.scratch is 0. */
void FillWhole(const WeightParts& parts, const void* weights, float* form);

/*
 * `size` floats, 64-byte aligned, that `fill` made from `source`, the contents of input
 * `weight_input`. `form` says what it makes of them: it must differ between forms of the same size.
 * `beside`: other inputs that `fill` reads. `parts`: another way to do what `fill` does;
 * `transposed_parts`: one that is given the matrix with rows and columns exchanged.
 *
 * Where a plan knows what the contents are (PlanWeights::Identity), another node's copy is found
 * without filling one.
 */
const float* KeptWeights(KernelArgs& args, int weight_input, const void* source, uint64_t form, int64_t size,
                         const std::function<void(float*)>& fill, std::initializer_list<int> beside = {},
                         const std::function<WeightParts()>& parts = nullptr,
                         const std::function<WeightParts()>& transposed_parts = nullptr);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_KEPT_WEIGHTS_H_
