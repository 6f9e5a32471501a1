// simple_bind: shapes and dtypes inferred, arrays made, everything bound.
#include <algorithm>

#include "executor/plan/placement.h"
#include "mxnet/executor.h"
#include "mxnet/imperative.h"
#include "mxnet/profiler.h"
#include "operator/graph_operators.h"

namespace mxnet {
namespace {

NDArray Zeros(const Shape& shape, Context ctx, int dtype) {
  NDArray a(shape, ctx, dtype);
  if (shape.Size() > 0) Imperative::Run(graph_ops::Zeros(), {}, {OpReq::kWrite}, {a}, false);
  return a;
}

/* An array of this shape in the named buffer, which is replaced when it is too small or of another
 * dtype. */
NDArray FromBuffer(std::map<std::string, NDArray>* buffer, const std::string& name, const Shape& shape, Context ctx, int dtype) {
  auto it = buffer->find(name);
  const int64_t size = shape.Size();
  if (it != buffer->end() && !it->second.is_none() && it->second.dtype() == dtype && it->second.ctx() == ctx &&
      it->second.shape().Size() >= size) {
    const NDArray& b = it->second;
    if (b.shape() == shape) return b;
    return b.Reshape(Shape({b.shape().Size()})).Slice(0, size).Reshape(shape);
  }
  NDArray fresh = Zeros(shape, ctx, dtype);
  (*buffer)[name] = fresh;
  return fresh;
}

}  // namespace

std::shared_ptr<Executor> SimpleBind(const SimpleBindRequest& r) {
  const IndexedGraph g(r.symbol.outputs);
  ShapeVector shapes(g.num_entries());
  std::vector<int> dtypes(g.num_entries(), kDTypeUnknown);
  for (uint32_t id : g.input_nodes) {
    const std::string& name = g.nodes[id].source->name;
    auto s = r.shapes.find(name);
    if (s != r.shapes.end()) shapes[g.eid(id, 0)] = s->second;
    auto t = r.dtypes.find(name);
    if (t != r.dtypes.end()) dtypes[g.eid(id, 0)] = t->second;
  }
  const bool known = InferShapes(g, &shapes);
  InferTypes(g, &dtypes, kFloat32);
  std::unordered_map<const Node*, uint32_t> eid;
  std::string unknown;
  for (uint32_t id : g.input_nodes) {
    const uint32_t e = g.eid(id, 0);
    eid[g.nodes[id].source] = e;
    if (!shapes[e].known()) unknown += (unknown.empty() ? "" : ", ") + g.nodes[id].source->name + ": " + shapes[e].str();
  }
  MXNET_CHECK_KIND(known || unknown.empty(), Value)
      << "[simple_bind] these shapes cannot be inferred: " << unknown << "; give more input shapes";

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
  std::vector<NDArray> args, grads, aux;
  for (size_t i = 0; i < arg_nodes.size(); ++i) {
    const std::string& name = arg_nodes[i]->name;
    const Shape& shape = shapes[eid.at(arg_nodes[i].get())];
    const int dtype = dtypes[eid.at(arg_nodes[i].get())];
    const Context at = places.at(arg_nodes[i].get());
    profiler::MemoryScope memory(name);
    const bool shareable = std::find(r.shared_arg_names.begin(), r.shared_arg_names.end(), name) != r.shared_arg_names.end();
    auto s = shareable ? shared_args.find(name) : shared_args.end();
    const bool fits = s != shared_args.end() && r.shared->args[s->second].shape() == shape && r.shared->args[s->second].dtype() == dtype;
    MXNET_CHECK_KIND(s == shared_args.end() || fits, Value)
        << "[simple_bind] shared argument " << name << " has shape " << r.shared->args[s->second].shape() << "; needed: " << shape;
    if (fits) {
      args.push_back(r.shared->args[s->second]);
    } else if (r.shared_buffer && !shareable) {
      args.push_back(FromBuffer(r.shared_buffer, name, shape, at, dtype));
    } else {
      args.push_back(Zeros(shape, at, dtype));
    }
    if (r.grad_req[i] == OpReq::kNull) {
      grads.emplace_back();
    } else if (fits && !r.shared->arg_grads[s->second].is_none()) {
      grads.push_back(r.shared->arg_grads[s->second]);
    } else if (r.shared_buffer && !shareable) {
      grads.push_back(FromBuffer(r.shared_buffer, "grad of " + name, shape, at, dtype));
    } else {
      grads.push_back(Zeros(shape, at, dtype));
    }
  }
  for (const auto& n : aux_nodes) {
    const uint32_t e = eid.at(n.get());
    profiler::MemoryScope memory(n->name);
    auto s = shared_aux.find(n->name);
    if (s != shared_aux.end() && r.shared->aux[s->second].shape() == shapes[e] && r.shared->aux[s->second].dtype() == dtypes[e])
      aux.push_back(r.shared->aux[s->second]);
    else
      aux.push_back(Zeros(shapes[e], places.at(n.get()), dtypes[e]));
  }
  return Executor::Bind(r.symbol, r.ctx, r.group2ctx, args, grads, r.grad_req, aux, r.shared);
}

}  // namespace mxnet
