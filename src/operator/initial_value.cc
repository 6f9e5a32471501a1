#include "operator/initial_value.h"

#include <unordered_map>
#include <utility>

namespace mxnet {
namespace {

std::unordered_map<std::string, InitialValueFn>& Noted() {
  static auto* noted = new std::unordered_map<std::string, InitialValueFn>();
  return *noted;
}

}  // namespace

void NoteInitialValue(const std::string& op, InitialValueFn fn) { Noted()[op] = std::move(fn); }

std::string InitialValue(const Attrs& attrs, const std::string& input) {
  auto it = Noted().find(attrs.op->name);
  if (it != Noted().end()) return it->second(attrs, input);
  if (input == "moving_mean") return "[\"zero\", {}]";  // of every operator that has them
  if (input == "moving_var") return "[\"one\", {}]";
  return "";
}

}  // namespace mxnet
