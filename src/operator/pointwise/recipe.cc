#include "operator/pointwise/recipe.h"

#include <unordered_map>

namespace mxnet {
namespace pointwise {
namespace {

struct Noted {
  Recipe recipe;
  RecipeFn fn;
};
std::unordered_map<std::string, Noted>& Recipes() {
  static auto* recipes = new std::unordered_map<std::string, Noted>();
  return *recipes;
}

}  // namespace

void NoteRecipe(const std::string& op, const Recipe& prepared, RecipeFn fn) { Recipes()[op] = {prepared, fn}; }

void NoteRecipe(const std::string& op, Recipe::Kind kind) {
  Recipe recipe;
  recipe.kind = kind;
  NoteRecipe(op, recipe);
}

bool RecipeOf(const Attrs& attrs, int dtype, Recipe* recipe) {
  if (!attrs.op) return false;
  auto it = Recipes().find(attrs.op->name);
  if (it == Recipes().end()) return false;
  *recipe = it->second.recipe;
  return !it->second.fn || it->second.fn(attrs, dtype, recipe);
}

}  // namespace pointwise
}  // namespace mxnet
