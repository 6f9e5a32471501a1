#include "operator/precision.h"

#include <map>
#include <sstream>

namespace mxnet {
namespace {

struct Declared {
  std::map<std::string, Precision> fixed;
  std::map<std::string, PrecisionCondition> conditions;
};
Declared& All() {
  static Declared* all = new Declared;  // whichever file comes first makes it
  return *all;
}

bool HasWeights(const Op& op) {
  for (const std::string& name : op.input_names)
    if (name == "weight" || name == "parameters") return true;
  return false;
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
    if (op.infer_type)
      op.infer_type(attrs, &in, &out);
    else
      SameType(attrs, &in, &out);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

bool DeclarePrecision(Precision precision, std::initializer_list<const char*> ops) {
  for (const char* op : ops) All().fixed[op] = precision;
  return true;
}

bool DeclarePrecisionIf(const char* op, const char* parameter, const char* values) {
  PrecisionCondition& c = All().conditions[op];
  c.parameter = parameter;
  std::istringstream list(values);
  for (std::string value; std::getline(list, value, ',');) c.values.push_back(value);
  return true;
}

Precision PrecisionOf(const Op& op) {
  auto it = All().fixed.find(op.name);
  if (it != All().fixed.end()) return it->second;
  if (op.name.compare(0, 9, "_backward") == 0 || op.mutate_inputs || !op.gradient) return Precision::kAny;
  if (op.flops && HasWeights(op)) return Precision::kLow;
  if (op.name.compare(0, 4, "amp_") != 0 && !TakesMixedInputs(op)) return Precision::kWidest;
  return Precision::kAny;
}

void CheckPrecisions() {
  for (const auto& kv : All().fixed)
    MXNET_CHECK_KIND(Op::Get(kv.first)->name == kv.first, Value)
        << "[amp] a precision is declared for " << kv.first << ", an alias of " << Op::Get(kv.first)->name;
  for (const auto& kv : All().conditions)
    MXNET_CHECK_KIND(Op::Get(kv.first)->name == kv.first, Value) << "[amp] a precision is declared for the alias " << kv.first;
}

const PrecisionCondition* PrecisionConditionOf(const Op& op) {
  auto it = All().conditions.find(op.name);
  return it == All().conditions.end() ? nullptr : &it->second;
}

}  // namespace mxnet
