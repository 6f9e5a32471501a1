#include "operator/runtime/compiled_graph.h"

#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/sparse_form.h"
#include "operator/record/traits_graph.h"

namespace mxnet {

/* Of a call by name, as 1.9.1 has it. */
struct NamedGraphParam : public Parameter<NamedGraphParam> {
  std::string subgraph;
  std::string static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size, data_indices, param_indices, is_dynamic;
  MXNET_DECLARE_PARAM(NamedGraphParam) {
    MXNET_FIELD(subgraph).set_default("").describe("The graph, as the text of a symbol file. Its variables are the inputs.");
    MXNET_FIELD(static_alloc).set_default("").describe("Whether memory stays reserved between calls.");
    MXNET_FIELD(static_shape).set_default("").describe("Whether shapes stay the same, too.");
    MXNET_FIELD(inline_limit).set_default("").describe("Recorded graphs of up to so many operators run one by one.");
    MXNET_FIELD(forward_bulk_size).set_default("").describe("Operators that are handed over at once.");
    MXNET_FIELD(backward_bulk_size).set_default("").describe("The same in the backward pass.");
    MXNET_FIELD(data_indices).set_default("").describe("Which inputs are data.");
    MXNET_FIELD(param_indices).set_default("").describe("Ignored.");
    MXNET_FIELD(is_dynamic).set_default("").describe("Ignored.");
  }
};
MXNET_REGISTER_PARAM(NamedGraphParam);

namespace {

MakeCompiledGraph make_graph = nullptr;

/* Without a graph: a node of a running program, which gives it. */
std::shared_ptr<const void> ParseNamed(const AttrDict& dict) {
  NamedGraphParam named;
  named.ReadKnown("_CachedOp", {dict.begin(), dict.end()});
  if (named.subgraph.empty()) return nullptr;
  return std::make_shared<CompiledGraphParam>(CompiledGraphParam{make_graph(dict), nullptr});
}

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

Op& CachedOpRecord(Op& op) {
  op.set_param<NamedGraphParam>();
  op.parse = ParseNamed;
  return op;
}

const Op& cached_op =
    CachedOpRecord(Op::Register("_CachedOp"))
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
const Symbol* GraphOf(const Attrs& attrs) {
  if (attrs.op != &cached_op) return nullptr;
  if (attrs.param) return &CompiledGraphOf(attrs).graph->graph();
  return attrs.subgraphs.size() == 1 ? attrs.subgraphs[0].get() : nullptr;
}
bool SetMakeCompiledGraph(MakeCompiledGraph make) {
  make_graph = make;
  return true;
}

}  // namespace mxnet
