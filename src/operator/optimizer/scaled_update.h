/* Updates whose factor on the gradient is an array of one element: AdamW and AdaBelief. */
#ifndef MXNET_OPERATOR_OPTIMIZER_SCALED_UPDATE_H_
#define MXNET_OPERATOR_OPTIMIZER_SCALED_UPDATE_H_

#include "mxnet/op.h"
#include "operator/optimizer/update.h"

#define MXNET_UPDATE_BETAS                                                                     \
  MXNET_FIELD(beta1).set_default(0.9f).describe("Decay of the running mean of the gradient."); \
  MXNET_FIELD(beta2).set_default(0.999f).describe("Decay of the running mean of its square.")

namespace mxnet {

/* Element 0, on the CPU. */
double FirstNumber(const TBlob& b);
/* All inputs but those in `scalars`, and the output, have one shape; a scalar has one element. */
InferShapeFn ShapeWithScalars(std::vector<int> scalars);

/* Everything of a record but parameters and text. `fill` writes UpdateArgs::numbers, less
 * `rescale`.
 */
Op& SetScaledUpdate(const char* name, UpdateRule rule, bool master, std::function<void(const Attrs&, UpdateNumbers*)> fill);

template <typename P>
Op& SetScaledUpdate(const char* name, UpdateRule rule, bool master) {
  return SetScaledUpdate(name, rule, master, [](const Attrs& a, UpdateNumbers* to) { a.get<P>().Fill(to); }).template set_param<P>();
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_SCALED_UPDATE_H_
