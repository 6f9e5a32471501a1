/*
 * The products of multi-head attention (Vaswani et al., 2017) on projections that lie together:
 * (steps, batch, heads * parts * size) with the parts of one head side by side, queries keys values
 * (3) or keys values (2). No head is copied out: the products read and write with strides.
 */
#ifndef MXNET_OPERATOR_NN_ATTENTION_INTERLEAVED_ATTENTION_H_
#define MXNET_OPERATOR_NN_ATTENTION_INTERLEAVED_ATTENTION_H_

#include "operator/record/param.h"

namespace mxnet {
namespace nn {

struct InterleavedParam : public Parameter<InterleavedParam> {
  int heads;
  MXNET_DECLARE_PARAM(InterleavedParam) { MXNET_FIELD(heads).set_lower_bound(1).describe("Number of attention heads."); }
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ATTENTION_INTERLEAVED_ATTENTION_H_
