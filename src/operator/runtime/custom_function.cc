// Functions whose gradient the user computes (mx.autograd.Function): one tape entry whose backward
// calls back.
#include "operator/runtime/custom_function.h"

#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/sparse_form.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

/* Hangs in Attrs::param of both operators, so it lives as long as the tape. */
struct CustomFunctionParam {
  std::shared_ptr<CustomFunction> function;
  int num_inputs = 0, num_outputs = 0;
  std::vector<Shape> shapes;  // of the inputs, and so of their gradients
  std::vector<int> dtypes;
  std::vector<Context> contexts;
};

/* The node's parameters, which only a running program can give. */
const CustomFunctionParam& ParamOf(const Attrs& a) {
  MXNET_CHECK_KIND(a.param != nullptr, Value) << "[" << a.op->name
                                              << "] belongs to a running program; it cannot come from a file or be called by name";
  return a.get<CustomFunctionParam>();
}

void Backward(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool is_train) {
  const CustomFunctionParam& p = ParamOf(attrs);
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i]->is_none()) out[i]->Init(p.shapes[i], p.contexts[i], p.dtypes[i]);
  p.function->Backward(in, out, is_train);
}

void NeverForward(const Attrs&, const std::vector<NDArray*>&, const std::vector<NDArray*>&, bool) {
  MXNET_THROW(Generic) << "[_CustomFunction] a recorded function can only be differentiated, not run again";
}

MXNET_REGISTER_OP(_CustomFunction)
    .describe("Tape entry of a user-defined differentiable function.")
    .set_inputs({}, [](const Attrs& a) { return ParamOf(a).num_inputs; })
    .set_dtypes(dtypes::kAll)
    .set_num_outputs([](const Attrs& a) { return ParamOf(a).num_outputs; })
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      NodePtr backward = MakeNodeLike("_backward_CustomFunction", *node, ograds);
      std::vector<NodeEntry> grads;
      for (size_t i = 0; i < node->inputs.size(); ++i) grads.push_back({backward, static_cast<uint32_t>(i), 0});
      return grads;
    })
    .set_trait(TakesAnyStorage{})
    .set_array_fn(NeverForward);

MXNET_REGISTER_OP(_backward_CustomFunction)
    .describe("Calls the user's backward function.")
    .set_inputs({}, [](const Attrs& a) { return ParamOf(a).num_outputs; })
    .set_dtypes(dtypes::kAll)
    .set_num_outputs([](const Attrs& a) { return ParamOf(a).num_inputs; })
    .set_trait(TakesSeveralDevices{})
    .set_trait(TakesAnyStorage{})
    .set_array_fn(Backward);

}  // namespace

AttrsPtr CustomFunctionAttrs(std::shared_ptr<CustomFunction> function, const std::vector<NDArray*>& inputs, size_t num_outputs) {
  auto p = std::make_shared<CustomFunctionParam>();
  p->function = std::move(function);
  p->num_inputs = static_cast<int>(inputs.size());
  p->num_outputs = static_cast<int>(num_outputs);
  for (NDArray* a : inputs) {
    p->shapes.push_back(a->shape());
    p->dtypes.push_back(a->dtype());
    p->contexts.push_back(a->ctx());
  }
  auto attrs = std::make_shared<Attrs>();
  attrs->op = Op::Get("_CustomFunction");
  attrs->param = std::move(p);
  return attrs;
}

}  // namespace mxnet
