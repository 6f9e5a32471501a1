// Roles of the table's rows. Rows that no pass asks for have none.
#include "operator/pointwise/records.h"

namespace mxnet {
namespace pointwise {

Role RoleOfRow(int row) {
  switch (row) {
    case k_add: return Role::kAdd;
    case k_sub: return Role::kSubtract;
    case k_mul: return Role::kMultiply;
    case k_div: return Role::kDivide;
    case k_maximum: return Role::kMaximum;
    case k_minimum: return Role::kMinimum;
    case k_power: return Role::kPower;
    case k_negative: return Role::kNegative;
    case k_reciprocal: return Role::kReciprocal;
    case k_sqrt: return Role::kSqrt;
    case k_rsqrt: return Role::kRsqrt;
    case k_square: return Role::kSquare;
    case k_exp: return Role::kExp;
    case k_log: return Role::kLog;
    case k_erf: return Role::kErf;
    case k_tanh: return Role::kTanh;
    case k_sigmoid: return Role::kSigmoid;
    case k_relu: return Role::kRelu;
    case k_isnan: return Role::kIsNan;
    default: return Role::kNone;
  }
}

}  // namespace pointwise
}  // namespace mxnet
