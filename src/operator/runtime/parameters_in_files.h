/* What symbol files of other versions call an operator's parameters. */
#ifndef MXNET_OPERATOR_RUNTIME_PARAMETERS_IN_FILES_H_
#define MXNET_OPERATOR_RUNTIME_PARAMETERS_IN_FILES_H_

#include <string>
#include <utility>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {

/* A trait: names in files, and the parameters that they mean; "" for those that mean nothing to the
 * operator: 2.0 writes down all that an operator shares with others. */
struct ParametersInFiles {
  /* A value that stood for "not given" in files which a version before `version` wrote. */
  struct OldDefault {
    std::string name, value;
    int version;
  };
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<OldDefault> old_defaults = {};
  /* What else changes in a node of this name, whose parameters are called as the operator's. */
  void (*change)(const std::string& name, AttrDict* params, std::vector<NodeEntry>* inputs) = nullptr;
  /* The operator that a node in a file of 2.0 means, or null for this one; `numpy`: the graph has
   * NumPy's shapes. */
  const char* (*instead)(bool numpy, AttrDict* params) = nullptr;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNTIME_PARAMETERS_IN_FILES_H_
