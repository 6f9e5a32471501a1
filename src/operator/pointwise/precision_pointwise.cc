// What the operators of this folder need from programs of mixed precision, where it does not follow
// from their records.
#include "operator/precision.h"

namespace mxnet {
namespace {

MXNET_OPS_PRECISION(kFull, "_power", "broadcast_power", "_npi_power", "_hypot", "broadcast_hypot", "_npi_hypot");
MXNET_OPS_PRECISION(kFull, "make_loss", "MakeLoss");
MXNET_OPS_PRECISION(kFull, "smooth_l1");
MXNET_OPS_PRECISION(kFull, "_power_scalar", "_rpower_scalar", "_npi_power_scalar", "_npi_rpower_scalar", "_hypot_scalar", "_rdiv_scalar");
MXNET_OPS_PRECISION(kFull, "exp", "expm1", "log", "log2", "log10", "log1p", "sinh", "cosh", "tan", "arcsin", "arccos", "arctanh", "square",
                    "reciprocal", "rsqrt", "rcbrt", "erfinv", "gamma", "gammaln", "digamma", "_npi_exp", "_npi_expm1", "_npi_log",
                    "_npi_log2", "_npi_log10", "_npi_log1p", "_npi_sinh", "_npi_cosh", "_npi_tan", "_npi_arcsin", "_npi_arccos",
                    "_npi_arctanh", "_npi_square", "_npi_reciprocal");

}  // namespace
}  // namespace mxnet
