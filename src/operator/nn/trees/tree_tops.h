/*
 * The first levels of decision trees, for several examples at a time: all nodes there are asked,
 * which vectors of examples do in less time than each example needs for the nodes on its way.
 */
#ifndef MXNET_OPERATOR_NN_TREES_TREE_TOPS_H_
#define MXNET_OPERATOR_NN_TREES_TREE_TOPS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace trees {

/* For which data the second child is next: all nodes alike, or each as it says. */
enum Question : int { kAbove, kNotBelow, kBelow, kNotAbove, kAny };
enum Go : int { kBelowGoes = 1, kEqualGoes = 2, kAboveGoes = 4, kMissingGoes = 8 };  // to the second child

constexpr int kTopLevels = 4, kTopNodes = (1 << kTopLevels) - 1, kLanes = 16;

/* A full tree: the children of node n are 2 n + 1 and 2 n + 2. Below a leaf there are nodes that
 * lead to their first child. */
template <typename T>
struct Top {
  T value[kTopNodes + 1];
  int32_t asks[kTopNodes + 1];    // feature * 16 + Go
  uint32_t below[kTopNodes + 1];  // nodes of the form
};

}  // namespace trees

/* at[tree][group][lane]: the nodes to which tops lead. columns: (groups, features, kLanes).
 * REQUIRES: a question other than kAny. */
MXNET_CPU_DECLARE(void TreeTops(int question, bool missing, const trees::Top<float>* tops, int64_t trees, const float* columns,
                                int64_t features, int64_t groups, uint32_t* at);)
MXNET_CPU_DECLARE(void TreeTopsDouble(int question, bool missing, const trees::Top<double>* tops, int64_t trees, const double* columns,
                                      int64_t features, int64_t groups, uint32_t* at);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_TREES_TREE_TOPS_H_
