#include "operator/record/precision.h"

#include <algorithm>

namespace mxnet {
namespace {

bool HasWeights(const Op& op) {
  for (const std::string& name : op.input_names)
    if (name == "weight" || name == "parameters") return true;
  return false;
}

bool TakesHalf(const Op& op) {
  return std::any_of(op.dtypes.begin(), op.dtypes.end(), [](int dtype) { return IsHalf(dtype); });
}

/* Do inputs of different floating dtypes go together? Asked of the record's own inference. */
bool TakesMixedInputs(const Op& op) {
  if (!op.parse && (op.num_inputs || op.num_outputs)) return true;  // known only to a running program
  const bool variadic = !op.key_var_num_args.empty();
  if (!variadic && op.input_names.size() < 2) return true;
  Attrs attrs;
  attrs.op = &op;
  if (variadic) attrs.dict[op.key_var_num_args] = "2";
  try {
    if (op.parse) attrs.param = op.parse(attrs.dict);
    const int count = op.NumInputs(attrs);
    if (count < 2 || (!variadic && count != static_cast<int>(op.input_names.size()))) return true;
    std::vector<int> in(count, kFloat32), out(op.NumOutputs(attrs), kDTypeUnknown);
    in[0] = kFloat16;
    InferCall(attrs, InferSwitches(), &in, &out);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Precision PrecisionOf(const Op& op) {
  if (op.precision != Precision::kAny) return op.precision;
  if (op.name.compare(0, 9, "_backward") == 0 || op.mutate_inputs || !op.gradient) return Precision::kAny;
  if (op.flops && HasWeights(op) && TakesHalf(op)) return Precision::kLow;
  if (op.name.compare(0, 4, "amp_") != 0 && !TakesMixedInputs(op)) return Precision::kWidest;
  return Precision::kAny;
}

const PrecisionCondition* PrecisionConditionOf(const Op& op) {
  return op.precision_condition.values.empty() ? nullptr : &op.precision_condition;
}

}  // namespace mxnet
