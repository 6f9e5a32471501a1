// simple_bind: shapes and dtypes inferred, arrays made, everything bound.
#include <algorithm>

#include "executor/interpret.h"
#include "executor/plan/placement.h"
#include "executor/plan/plan.h"
#include "mxnet/executor.h"
#include "mxnet/imperative.h"
#include "mxnet/profiler.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace {

NDArray Zeros(const TensorType& type, Context ctx) {
  NDArray a = NDArray::Make(type, ctx);
  if (a.is_sparse()) return a;
  if (type.shape.Size() > 0) Imperative::Run(graph_ops::Zeros(), {}, {OpReq::kWrite}, {a}, false);
  return a;
}

bool Fits(const NDArray& a, const TensorType& type) {
  return a.shape() == type.shape && a.dtype() == type.dtype && IsSparse(a.storage_type()) == IsSparse(type.storage);
}

/* An array of this type in the named buffer, which is replaced when it is too small or of another
 * dtype. */
NDArray FromBuffer(std::map<std::string, NDArray>* buffer, const std::string& name, const TensorType& type, Context ctx) {
  if (IsSparse(type.storage)) return Zeros(type, ctx);  // its memory grows with what it stores
  auto it = buffer->find(name);
  const Shape& shape = type.shape;
  const int64_t size = shape.Size();
  if (it != buffer->end() && !it->second.is_none() && it->second.dtype() == type.dtype && it->second.ctx() == ctx &&
      it->second.shape().Size() >= size) {
    const NDArray& b = it->second;
    if (b.shape() == shape) return b;
    return b.Reshape(Shape({b.shape().Size()})).Slice(0, size).Reshape(shape);
  }
  NDArray fresh = Zeros(type, ctx);
  (*buffer)[name] = fresh;
  return fresh;
}

bool MakesSparseGradients(const Node& n) {
  const auto* makes = n.op()->trait<MakesSparseGradient>();
  return n.op()->makes_sparse || (makes && makes->when(*n.attrs));
}

/* The storages of gradients, by argument: as a plan makes them where something is sparse, else
 * dense. */
StorageTypes GradientStorages(const SimpleBindRequest& r, const std::vector<NodePtr>& args,
                              const std::unordered_map<const Node*, const TensorType*>& type_of) {
  StorageTypes storages(args.size(), StorageType::kDense);
  bool sparse = false, wanted = false;
  for (OpReq req : r.grad_req) wanted = wanted || req != OpReq::kNull;
  DFSVisit(r.symbol.outputs, [&](const NodePtr& n) {
    sparse = sparse || (n->is_variable() ? IsSparse(type_of.at(n.get())->storage) : MakesSparseGradients(*n));
  });
  if (!sparse || !wanted || HasDynamicShape(r.symbol)) return storages;
  PlanRequest request;
  request.symbol = r.symbol;
  request.ctx = r.ctx;
  request.is_train = true;
  request.head_storages = HeadStorages::kAsOutputs;  // as 1.9.1 infers them
  std::unordered_map<const Node*, size_t> at;
  for (size_t i = 0; i < args.size(); ++i) at[args[i].get()] = i;
  const std::vector<NodePtr> inputs = r.symbol.ListInputs(Symbol::kAll);
  for (const NodePtr& n : inputs) {
    request.inputs.push_back(*type_of.at(n.get()));
    const auto arg = at.find(n.get());
    request.grad_req.push_back(arg == at.end() ? OpReq::kNull : r.grad_req[arg->second]);
  }
  const auto plan = Plan::Compile(request);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto arg = at.find(inputs[i].get());
    if (arg != at.end() && IsSparse(plan->grad_types[i].storage)) storages[arg->second] = plan->grad_types[i].storage;
  }
  return storages;
}

}  // namespace

std::shared_ptr<Executor> SimpleBind(const SimpleBindRequest& r) {
  const IndexedGraph g(r.symbol.outputs);
  TensorTypes types(g.num_entries());
  for (uint32_t id : g.input_nodes) {
    auto given = r.types.find(g.nodes[id].source->name);
    if (given != r.types.end()) types[g.eid(id, 0)] = given->second;
  }
  GraphInference how;
  how.default_dtype = kFloat32;
  InferEntries(g, &types, how);
  std::unordered_map<const Node*, const TensorType*> type_of;
  std::string unknown;
  for (uint32_t id : g.input_nodes) {
    const TensorType& type = types[g.eid(id, 0)];
    type_of[g.nodes[id].source] = &type;
    if (!type.shape.known()) unknown += (unknown.empty() ? "" : ", ") + g.nodes[id].source->name + ": " + type.shape.str();
  }
  MXNET_CHECK_KIND(unknown.empty(), Value) << "[simple_bind] these shapes cannot be inferred: " << unknown << "; give more input shapes";

  const auto arg_nodes = r.symbol.ListInputs(Symbol::kReadOnlyArgs), aux_nodes = r.symbol.ListInputs(Symbol::kAuxStates);
  MXNET_CHECK_KIND(r.grad_req.size() == arg_nodes.size(), Value)
      << "[simple_bind] got " << r.grad_req.size() << " grad_reqs; the symbol has " << arg_nodes.size() << " arguments";
  // As in 1.9.1, another executor's arrays are shared with those who also give a buffer; without
  // one the two have nothing but memory for intermediate results in common.
  std::map<std::string, size_t> shared_args, shared_aux;
  if (r.shared && r.shared_buffer) {
    const auto names = r.shared->ArgNames();
    for (size_t i = 0; i < names.size(); ++i) shared_args[names[i]] = i;
    const auto aux_names = r.shared->AuxNames();
    for (size_t i = 0; i < aux_names.size(); ++i) shared_aux[aux_names[i]] = i;
  }
  const Places places = PlaceNodes(r.symbol, r.ctx, r.group2ctx);
  const StorageTypes grad_storages = GradientStorages(r, arg_nodes, type_of);
  std::vector<NDArray> args, grads, aux;
  for (size_t i = 0; i < arg_nodes.size(); ++i) {
    const std::string& name = arg_nodes[i]->name;
    const TensorType& type = *type_of.at(arg_nodes[i].get());
    const TensorType grad_type(type.shape, type.dtype, grad_storages[i]);
    const Context at = places.at(arg_nodes[i].get());
    profiler::MemoryScope memory(name);
    const bool shareable = std::find(r.shared_arg_names.begin(), r.shared_arg_names.end(), name) != r.shared_arg_names.end();
    auto s = shareable ? shared_args.find(name) : shared_args.end();
    const bool fits = s != shared_args.end() && Fits(r.shared->args[s->second], type);
    MXNET_CHECK_KIND(s == shared_args.end() || fits, Value)
        << "[simple_bind] shared argument " << name << " has shape " << r.shared->args[s->second].shape() << "; needed: " << type.shape;
    if (fits) {
      args.push_back(r.shared->args[s->second]);
    } else if (r.shared_buffer && !shareable) {
      args.push_back(FromBuffer(r.shared_buffer, name, type, at));
    } else {
      args.push_back(Zeros(type, at));
    }
    if (r.grad_req[i] == OpReq::kNull) {
      grads.emplace_back();
    } else if (fits && !r.shared->arg_grads[s->second].is_none()) {
      grads.push_back(r.shared->arg_grads[s->second]);
    } else if (r.shared_buffer && !shareable) {
      grads.push_back(FromBuffer(r.shared_buffer, "grad of " + name, grad_type, at));
    } else {
      grads.push_back(Zeros(grad_type, at));
    }
  }
  for (const auto& n : aux_nodes) {
    const TensorType& type = *type_of.at(n.get());
    profiler::MemoryScope memory(n->name);
    auto s = shared_aux.find(n->name);
    if (s != shared_aux.end() && Fits(r.shared->aux[s->second], type))
      aux.push_back(r.shared->aux[s->second]);
    else
      aux.push_back(Zeros(type, places.at(n.get())));
  }
  return Executor::Bind(r.symbol, r.ctx, r.group2ctx, args, grads, r.grad_req, aux, r.shared);
}

}  // namespace mxnet
