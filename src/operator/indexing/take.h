/* Parameters of take, for its kernels of dense and of sparse arrays. */
#ifndef MXNET_OPERATOR_INDEXING_TAKE_H_
#define MXNET_OPERATOR_INDEXING_TAKE_H_

#include "operator/indexing/index_common.h"
#include "operator/record/param.h"

namespace mxnet {

struct TakeParam : public Parameter<TakeParam> {
  int axis, mode;
  MXNET_DECLARE_PARAM(TakeParam) {
    MXNET_FIELD(axis).set_default(0).describe("The dimension whose entries are taken.");
    MXNET_FIELD(mode)
        .set_default(static_cast<int>(IndexMode::kClip))
        .add_enum("clip", static_cast<int>(IndexMode::kClip))
        .add_enum("wrap", static_cast<int>(IndexMode::kWrap))
        .add_enum("raise", static_cast<int>(IndexMode::kRaise))
        .add_enum("from_end", static_cast<int>(IndexMode::kFromEnd))
        .describe(
            "Indices out of range: the nearest valid one, counted around, or an IndexError; with from_end negative ones count from the "
            "end.");
  }
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_TAKE_H_
