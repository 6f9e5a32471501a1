/* What fusion needs to know of a pointwise operator: which loop it runs, on what. A trait of its
 * record. */
#ifndef MXNET_OPERATOR_POINTWISE_RECIPE_H_
#define MXNET_OPERATOR_POINTWISE_RECIPE_H_

#include <functional>
#include <string>

#include "mxnet/op.h"

namespace mxnet {
namespace pointwise {

struct Recipe {
  /* kCopy: the first input, repeated or in another dtype. kSum: all inputs, added in order and
   * rounded once. */
  enum Kind { kForward, kGradient, kActivation, kActivationGradient, kCopy, kSum } kind = kForward;
  int row = 0, side = 0;       // of the table; the activation's type
  int count = 1;               // operands of the loop
  int operand[3] = {0, 1, 2};  // by operand: the operator's input, or kNumber
  unsigned masks = 1;          // bit m: the loop takes the operands of mask m as single elements
  bool has_params = false;
  double params[3] = {0, 0, 0};  // p, q, r of a row with parameters; [0]: slope of an activation, or the number
  static constexpr int kNumber = -1;
  bool mean = false;  // kCopy: divided by how often it is repeated
  Shape (*seen_as)(const Attrs& attrs,
                   const Shape& result) = nullptr;  // kCopy: the first input with dimensions that it may lack; null: it has all of them
};
/* Fills in what depends on the parameters; false: not in this case. */
using RecipeFn = std::function<bool(const Attrs& attrs, int dtype, Recipe* recipe)>;
/* The trait. */
struct FusionRecipe {
  Recipe prepared;          // what `fill` starts from
  RecipeFn fill = nullptr;  // null: `prepared` is all
  /* The record has a recipe that a loop follows: of a row that exists, with operands that are
   * inputs, ... */
  static void Check(const Op& op);
};
FusionRecipe RecipeOfKind(Recipe::Kind kind);
/* The recipe for data of a floating dtype; false when the operator has none. */
bool RecipeOf(const Attrs& attrs, int dtype, Recipe* recipe);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_RECIPE_H_
