/*
 * What the records over several weights share that have a running mean and variance: the inputs
 * are weight, grad, mean, var (, weight32) of each weight in turn, then the factor on the gradients
 * where `factor` is set.
 */
#ifndef MXNET_OPERATOR_OPTIMIZER_MULTI_UPDATE_H_
#define MXNET_OPERATOR_OPTIMIZER_MULTI_UPDATE_H_

#include <functional>
#include <string>

#include "mxnet/op.h"
#include "operator/optimizer/update_rules.h"

namespace mxnet {

struct MomentGroups {
  bool master, factor;
  int stride() const { return 4 + master; }
};

/* Everything of a record but text, parameters and kernel. `count` gives the number of weights,
 * `check` throws Error(kValue) when the lists have other lengths. A graph may be made before they
 * fit, as in 1.x: only inference checks them. */
Op& SetMoments(const char* name, MomentGroups groups, std::function<int(const Attrs&)> count, std::function<void(const Attrs&)> check);

/* Pointers and dtype of weight w. */
UpdateArgs MomentArrays(const KernelArgs& a, MomentGroups groups, int w);

/* f(first, last) for parts of [0, total) on some threads; a part of the concatenated weights is
 * visited as (weight, begin, end). `ends[w]`: elements up to and with weight w. */
void ForWeights(const std::vector<int64_t>& ends, const std::function<void(int, int64_t, int64_t)>& f);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_MULTI_UPDATE_H_
