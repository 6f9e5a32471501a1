// Inference: the parameters of a recurrent layer, which Gluon keeps apart and puts together in
// every call, are put together once per plan: by a constant node, so that the layer finds them
// unchanged and keeps its packed weights.
#include "executor/passes/fusion/fold_rnn.h"

#include <cstdlib>

#include "operator/matrix/gpu_move.h"

namespace mxnet {
namespace {

constexpr char kJoin[] = "_join_parameters";

struct JoinParam {
  int count = 0;
};

void Join(KernelArgs& args) {
  char* to = static_cast<char*>(args.out[0].dptr);
  for (const TBlob& b : args.in) {
    CopyBytes(args.run, b.dptr, to, static_cast<int64_t>(b.Bytes()));
    to += b.Bytes();
  }
}

bool JoinShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  int64_t size = 0;
  for (const Shape& s : *in) {
    if (!s.known()) return false;
    size += s.Size();
  }
  AssignShape(attrs, "vector", &(*out)[0], Shape({size}));
  return true;
}

Op& WithParser(Op& op) {
  op.parse = [](const AttrDict& dict) -> std::shared_ptr<const void> {
    auto p = std::make_shared<JoinParam>();
    auto it = dict.find("num_args");
    p->count = it == dict.end() ? 0 : std::atoi(it->second.c_str());
    return p;
  };
  return op;
}

[[maybe_unused]] Op& record =
    WithParser(Op::Register(kJoin))
        .describe("The elements of all arrays, one array behind the other, as one vector; made by the plan compiler.")
        .set_variadic("data", [](const Attrs& a) { return a.get<JoinParam>().count; })
        .set_outputs({"vector"})
        .set_infer_shape(JoinShape)
        .set_kernel(Join);

/* The variable whose elements, in their order, the entry has; null: something else. */
const NodeEntry* Parameter(const NodeEntry& e) {
  const NodeEntry* at = &e;
  while (!at->node->is_variable()) {
    const std::string& op = at->node->op()->name;
    if (op != "Reshape" && op != "Flatten" && op != "expand_dims" && op != "squeeze") return nullptr;
    at = &at->node->inputs[0];
  }
  return at;
}

}  // namespace

int FoldRnnParameters(PassGraph* g, PassContext* context) {
  const GraphInfo& info = context->info(*g);
  int folded = 0;
  Rewrite(g, [&](const NodePtr& n, const NodePtr& original) -> NodePtr {
    if (n->is_variable() || n->op()->name != "_rnn_param_concat") return n;
    if (info.shape({original, 0, 0}).ndim() != 1) return n;
    std::vector<NodeEntry> parameters;
    for (const NodeEntry& e : n->inputs) {
      const NodeEntry* p = Parameter(e);
      if (!p) return n;
      parameters.push_back(*p);
    }
    ++folded;
    return MakeNode(kJoin, parameters, {{"num_args", std::to_string(parameters.size())}, {kPlanConstant, "1"}}, n->name);
  });
  return folded;
}

}  // namespace mxnet
