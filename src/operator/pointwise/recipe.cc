#include "operator/pointwise/recipe.h"

#include "operator/pointwise/rows.h"

namespace mxnet {
namespace pointwise {

FusionRecipe RecipeOfKind(Recipe::Kind kind) {
  FusionRecipe made;
  made.prepared.kind = kind;
  return made;
}

bool RecipeOf(const Attrs& attrs, int dtype, Recipe* recipe) {
  const FusionRecipe* known = attrs.op ? attrs.op->trait<FusionRecipe>() : nullptr;
  if (!known) return false;
  *recipe = known->prepared;
  return !known->fill || known->fill(attrs, dtype, recipe);
}

void FusionRecipe::Check(const Op& op) {
  const FusionRecipe* known = op.trait<FusionRecipe>();
  if (!known) return;
  const Recipe& r = known->prepared;
  const bool variadic = !op.key_var_num_args.empty();
  const int inputs = static_cast<int>(op.input_names.size());
  MXNET_CHECK_KIND((r.kind == Recipe::kSum) == variadic, Value)
      << "[" << op.name << "] its recipe "
      << (variadic ? "is not a sum, but the operator takes" : "is a sum; accepted: operators that take") << " any number of inputs";
  if (r.kind == Recipe::kForward || r.kind == Recipe::kGradient) {
    MXNET_CHECK_KIND(r.row >= 0 && r.row < kEndInteger, Value)
        << "[" << op.name << "] its recipe has row " << r.row << " of the pointwise table; accepted: 0 to " << kEndInteger - 1;
    const Row& row = GetRow(r.row);
    MXNET_CHECK_KIND(r.kind == Recipe::kForward || (r.side >= 0 && r.side < 2 && row.derivative[r.side]), Value)
        << "[" << op.name << "] its recipe is derivative " << r.side << " of row " << row.name << ", which has none";
  }
  MXNET_CHECK_KIND(r.count >= 1 && r.count <= 3, Value)
      << "[" << op.name << "] its recipe has " << r.count << " operands; accepted: 1 to 3";
  MXNET_CHECK_KIND(r.masks & 1u, Value) << "[" << op.name << "] its recipe does not accept operands that are all arrays";
  for (int k = 0; k < r.count && !variadic; ++k)
    MXNET_CHECK_KIND(r.operand[k] == Recipe::kNumber ? known->fill != nullptr : r.operand[k] >= 0 && r.operand[k] < inputs, Value)
        << "[" << op.name << "] operand " << k << " of its recipe is input " << r.operand[k] << "; the operator has " << inputs
        << " inputs";
}

}  // namespace pointwise
}  // namespace mxnet
