/* Second derivatives of probability densities. */
#ifndef MXNET_OPERATOR_RANDOM_DENSITY_SECOND_H_
#define MXNET_OPERATOR_RANDOM_DENSITY_SECOND_H_

#include <string>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {

/*
 * The gradient of a node _backward_pdf_`name` on (gradient, sample, parameters, result). The
 * density is written down in operators that can be differentiated any number of times, and its
 * gradient is differentiated. The result's share goes to sample and parameters, which it is a
 * function of.
 */
std::vector<NodeEntry> DensitySecondGradient(const std::string& name, bool is_log, const NodePtr& node,
                                             const std::vector<NodeEntry>& ograds);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RANDOM_DENSITY_SECOND_H_
