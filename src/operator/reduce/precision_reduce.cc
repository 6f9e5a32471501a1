// What the operators of this folder need from programs of mixed precision, where it does not follow
// from their records.
#include "operator/precision.h"

namespace mxnet {
namespace {

MXNET_OPS_PRECISION(kFull, "moments", "L2Normalization");
MXNET_OPS_PRECISION(kFull, "sum", "mean", "prod", "nansum", "nanprod", "norm");
MXNET_OPS_PRECISION(kFull, "_np_sum", "_np_prod", "_npi_mean", "_npi_std", "_npi_var");
MXNET_OPS_PRECISION(kFull, "_np_cumsum");

}  // namespace
}  // namespace mxnet
