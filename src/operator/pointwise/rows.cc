#include "operator/pointwise/rows.h"

#include <unordered_map>

namespace mxnet {
namespace pointwise {
namespace {

#define MXNET_ROW_UNARY(name, types, expression, uses, derivative) {#name, #types[0], #expression, #uses, {#derivative, nullptr}},
#define MXNET_ROW_BINARY(name, types, expression, kind, da, db) {#name, #types[0], #expression, #kind, {#da, #db}},
#define MXNET_ROW_INTEGER(name, types, expression) {#name, #types[0], #expression, "Z", {nullptr, nullptr}},
const Row kRows[] = {MXNET_UNARY_EXACT(MXNET_ROW_UNARY) MXNET_UNARY_EXP(MXNET_ROW_UNARY) MXNET_UNARY_TRIG(MXNET_ROW_UNARY)
                         MXNET_UNARY_PARAM(MXNET_ROW_UNARY) MXNET_BINARY_ARITHMETIC(MXNET_ROW_BINARY) MXNET_BINARY_MATH(MXNET_ROW_BINARY)
                             MXNET_BINARY_INTEGER(MXNET_ROW_INTEGER)};

}  // namespace

const Row& GetRow(int row) { return kRows[row]; }

int FindRow(const std::string& name) {
  static const auto* index = [] {
    auto* m = new std::unordered_map<std::string, int>();
    for (int i = 0; i < kEndInteger; ++i) (*m)[kRows[i].name] = i;
    (*m)["divide"] = k_div;  // the functions behind `/` and unary identity have names of their own in texts
    return m;
  }();
  auto it = index->find(name);
  return it == index->end() ? -1 : it->second;
}

}  // namespace pointwise
}  // namespace mxnet
