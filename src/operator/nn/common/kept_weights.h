/*
 * Weights in the form that a kernel wants them, kept in the state of an inference plan's node while
 * the version of the original stays. Nodes whose weights in that form are equal share one copy:
 * plans of several batch sizes, of several threads, of several predictors of one model.
 */
#ifndef MXNET_OPERATOR_NN_COMMON_KEPT_WEIGHTS_H_
#define MXNET_OPERATOR_NN_COMMON_KEPT_WEIGHTS_H_

#include <cstdint>
#include <functional>

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

/* In a form: what is made depends on the contents, their shape and the form alone, whichever
 * operator reads them. */
constexpr uint64_t kOfContentsAlone = uint64_t{1} << 62;

/*
 * `size` floats, 64-byte aligned, that `fill` made from `source`, the contents of input
 * `weight_input`. `form` says what it makes of them: it must differ between forms of the same size.
 * `beside`: another input that `fill` reads; -1: none.
 *
 * Where a plan knows what the contents are (PlanWeights::Identity), another node's copy is found
 * without filling one.
 */
const float* KeptWeights(KernelArgs& args, int weight_input, const void* source, uint64_t form, int64_t size,
                         const std::function<void(float*)>& fill, int beside = -1);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_KEPT_WEIGHTS_H_
