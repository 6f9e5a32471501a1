/* Attention without softmax, written out step by step. */
#ifndef MXNET_ONNX_CONVERT_ATTENTION_ATTENTION_LINEAR_H_
#define MXNET_ONNX_CONVERT_ATTENTION_ATTENTION_LINEAR_H_

#include <functional>

#include "onnx/convert/make.h"

namespace mxnet {
namespace onnx {

/* A state for each group of heads, (keys, values), that each step decays and adds to: what its
 * value has more than the state finds for its key, where there is a beta, and else its value. */
struct LinearSteps {
  static constexpr int64_t kMostSteps = 16384;  // of which a graph is made

  const Call& c;
  int64_t batch, heads, groups, steps, keys, values;
  double scale;
  Value q, k, v, decay, beta, state;  // (batch, heads or groups, steps, ...); state (batch, groups, keys, values)
  Value added;                        // by the last step, beside its key: (batch, groups, 1, values)

  /* The result of one step, (batch, 1, heads * values). */
  Value Step(int64_t t);
  /* That of all of them, (batch, steps, heads * values). `after` each step: called with its
   * number. */
  Value All(const std::function<void(int64_t)>& after = nullptr);
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_ATTENTION_ATTENTION_LINEAR_H_
