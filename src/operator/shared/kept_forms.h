/* Of operators whose kernel for the CPU makes a form of constants that takes longer than a call. */
#ifndef MXNET_OPERATOR_SHARED_KEPT_FORMS_H_
#define MXNET_OPERATOR_SHARED_KEPT_FORMS_H_

#include <cstdint>

namespace mxnet {

/* A trait: these inputs (bit i: input i) had better keep their form from call to call also where
 * nodes of a model run one by one, if all of them are constants that follow from the node alone. */
struct KeepsForms {
  uint32_t inputs = 0;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_KEPT_FORMS_H_
