// What the operators of this folder need from programs of mixed precision, where it does not follow
// from their records.
#include "operator/precision.h"

namespace mxnet {
namespace {

MXNET_OPS_PRECISION(kWidest, "where");  // the condition may have any dtype, the two it chooses from must share one

}  // namespace
}  // namespace mxnet
