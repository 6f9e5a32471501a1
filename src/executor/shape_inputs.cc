// Inputs that kernels look at for their shape alone: their values need not be kept, and their layout does not matter.
#include <map>

#include "executor/passes.h"

namespace mxnet {

bool ReadsOnlyShape(const Op* op, int input) {
  // first such input; all behind it are too
  static const std::map<std::string, int> kFrom = {
      {"zeros_like", 0},      {"ones_like", 0},      {"shape_array", 0},        {"size_array", 0},           {"reshape_like", 1},         {"broadcast_like", 1},
      {"slice_like", 1},      {"_sum_like", 1},      {"_backward_sum_like", 1}, {"_backward_sum", 1},        {"_backward_mean", 1},       {"_backward_slice", 1},
      {"_backward_Concat", 1}, {"_backward_slice_axis", 1}, {"_backward_slice_like", 1}};
  auto it = kFrom.find(op->name);
  return it != kFrom.end() && input >= it->second;
}

}  // namespace mxnet
