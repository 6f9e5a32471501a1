#include "operator/runtime/compiled_graph.h"

#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/sparse_form.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

AttrsPtr ParamAttrs(const char* op, CompiledGraphParam param) {
  auto attrs = std::make_shared<Attrs>();
  attrs->op = Op::Get(op);
  attrs->param = std::make_shared<CompiledGraphParam>(std::move(param));
  attrs->grad_use.bits = ~uint64_t{0};  // not to be found out by building the gradient
  return attrs;
}

/* The node's parameters, which only a running program can give. */
const CompiledGraphParam& ParamOf(const Attrs& attrs, bool backward) {
  MXNET_CHECK_KIND(attrs.param && (!backward || attrs.get<CompiledGraphParam>().call), Value)
      << "[" << attrs.op->name << "] belongs to a running program; it cannot come from a file or be called by name";
  return attrs.get<CompiledGraphParam>();
}

int NumInputs(const Attrs& a) { return a.param ? a.get<CompiledGraphParam>().graph->num_inputs() : 0; }

// Every call has shapes of its own, known only to the plan; the arrays carry them.
bool UnknownShape(const Attrs&, ShapeVector*, ShapeVector*) { return false; }
bool UnknownType(const Attrs&, std::vector<int>*, std::vector<int>*) { return false; }

MXNET_REGISTER_OP(_CachedOp)
    .alias("_CachedOpThreadSafe")
    .describe("A compiled graph as one operator; made by CachedOp, not by users.")
    .set_inputs({"data"}, NumInputs)
    .set_dtypes(dtypes::kAll)
    .set_list_inputs([](const Attrs& a) {
      std::vector<std::string> names;
      for (int i = 0; i < NumInputs(a); ++i) names.push_back("data" + std::to_string(i));
      return names;
    })
    .set_outputs({"output"}, [](const Attrs& a) { return a.param ? a.get<CompiledGraphParam>().graph->num_outputs() : 1; })
    .set_infer_shape(UnknownShape)
    .set_infer_type(UnknownType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return CompiledGraphOf(*node->attrs).graph->Gradient(node, ograds);
    })
    .set_trait(TakesAnyStorage{})
    .set_array_fn([](const Attrs& a, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool is_train) {
      CompiledGraphOf(a).graph->Call(in, out, is_train);
    });

MXNET_REGISTER_OP(_backward_CachedOp)
    .describe("The backward phase of a recorded CachedOp call.")
    .set_inputs({}, [](const Attrs& a) { return a.param ? a.get<CompiledGraphParam>().graph->num_outputs() : 0; })
    .set_dtypes(dtypes::kAll)
    .set_outputs({"output"},
                 [](const Attrs& a) {
                   return a.param && a.get<CompiledGraphParam>().call ? a.get<CompiledGraphParam>().call->num_gradients() : 1;
                 })
    .set_infer_shape(UnknownShape)
    .set_infer_type(UnknownType)
    .set_trait(WritesGivenOutputs{})
    .set_trait(TakesAnyStorage{})
    .set_array_fn([](const Attrs& a, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
      ParamOf(a, true).call->Backward(in, out);
    });

}  // namespace

AttrsPtr CompiledGraphAttrs(CompiledGraphParam param) { return ParamAttrs("_CachedOp", std::move(param)); }
AttrsPtr BackwardOfCallAttrs(CompiledGraphParam param) { return ParamAttrs("_backward_CachedOp", std::move(param)); }
const CompiledGraphParam& CompiledGraphOf(const Attrs& attrs) { return ParamOf(attrs, false); }

}  // namespace mxnet
