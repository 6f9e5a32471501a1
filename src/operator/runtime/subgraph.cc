#include "operator/runtime/subgraph.h"

#include "mxnet/op.h"
#include "operator/runtime/subgraph_program.h"

namespace mxnet {
namespace {

SubgraphFunctions given;
CompileSubgraphFn compile;

}  // namespace

bool SetSubgraphFunctions(const SubgraphFunctions& functions) {
  given = functions;
  return true;
}

const SubgraphFunctions& OfSubgraphs() { return given; }

Subgraph ReadSubgraph(const Symbol& graph) { return given.read(graph); }

SubgraphTypes InferSubgraphTypes(const Attrs& attrs, const InferSwitches& switches, const Symbol& graph, const std::vector<int>& inputs) {
  const size_t variables = given.read(graph).inputs.size();
  MXNET_CHECK_KIND(variables == inputs.size(), Value)
      << "[" << attrs.op->name << "] " << inputs.size() << " inputs; its graph has " << variables;
  return given.infer_types(graph, switches, inputs);
}

bool SetCompileSubgraph(CompileSubgraphFn function) {
  compile = function;
  return true;
}

std::shared_ptr<const SubgraphProgram> CompileSubgraph(const SubgraphRequest& request) { return compile(request); }

}  // namespace mxnet
