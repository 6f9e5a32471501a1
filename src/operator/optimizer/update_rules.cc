#include "operator/optimizer/update_rules.h"

#include <cmath>

namespace mxnet {
namespace {

#define MX_DEVICE
#include "operator/optimizer/update_formulas.cuh"

// All forms but SameDType know float32 copies.
constexpr RuleInfo kRules[] = {
#define MXNET_UPDATE_RULE(name, form) {#name, name<double>::kStates, #form[0] != 'S'},
#include "operator/optimizer/update_formulas.cuh"
};

}  // namespace

const RuleInfo& InfoOf(UpdateRule rule) { return kRules[static_cast<int>(rule)]; }

}  // namespace mxnet
