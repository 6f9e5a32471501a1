/* How the runtime enters a users' library: a part of lib_api.h, which includes it at its end. */
#ifndef MXNET_LIB_API_ENTRY_H_
#define MXNET_LIB_API_ENTRY_H_

extern "C" {
/* The user's; `version` is the runtime's, MAJOR * 10000 + MINOR * 100 + PATCH. */
__attribute__((visibility("hidden"))) mxnet::ext::MXReturnValue initialize(int version);
}

namespace mxnet {
namespace ext {
namespace entry {

/* f(), whose exceptions are failures with a message. */
template <typename F>
int Guarded(const F& f) {
  try {
    return f() == MX_SUCCESS;
  } catch (const std::exception& e) {
    MXerrorMsgs::get()->add() << e.what();
  } catch (...) {
    MXerrorMsgs::get()->add() << "something was thrown that is no std::exception";
  }
  return 0;
}

inline CustomOp& OpAt(size_t i) { return Registry<CustomOp>::get()->get(static_cast<int>(i)); }

inline types::StringMap MapOf(const MXExtTexts* texts) {
  types::StringMap map;
  for (size_t i = 0; i < texts->count; ++i) map[texts->keys[i]] = texts->values[i];
  return map;
}

inline MXTensor TensorOf(const MXExtTensor& t) {
  MXTensor tensor;
  tensor.setTensor(t.data, static_cast<MXDType>(t.dtype), t.shape, t.ndim, t.version, MXContext(t.device, t.device_id),
                   static_cast<MXStorageType>(t.storage_type));
  return tensor;
}

inline std::vector<MXTensor> TensorsOf(const MXExtTensor* tensors, size_t count) {
  std::vector<MXTensor> list;
  for (size_t i = 0; i < count; ++i) list.push_back(TensorOf(tensors[i]));
  return list;
}

inline types::TensorMap NamedOf(const MXExtNamedTensors* tensors) {
  types::TensorMap map;
  for (size_t i = 0; i < tensors->count; ++i) map[tensors->names[i]] = TensorOf(tensors->tensors[i]);
  return map;
}

/* Unknown shapes are empty. */
inline types::ShapeList ShapesOf(size_t count, const int* ndims, const int64_t* const* dims) {
  types::ShapeList shapes(count);
  for (size_t i = 0; i < count; ++i)
    for (int k = 0; k < ndims[i]; ++k) {
      if (dims[i][k] < 0 || dims[i][k] > 0xffffffffll)
        throw std::runtime_error("a size of 2^32 or more; an operator of a library takes less");
      shapes[i].push_back(static_cast<unsigned int>(dims[i][k]));
    }
  return shapes;
}

/* A graph whose variables have the arrays that are known. */
struct GivenGraph {
  GivenGraph(const char* json, const MXExtNamedTensors* args, const MXExtNamedTensors* aux)
      : graph(Graph::fromString(json)), arg_map(NamedOf(args)), aux_map(NamedOf(aux)) {
    graph->_setParams(&arg_map, &aux_map);
  }
  std::unique_ptr<Graph> graph;
  types::TensorMap arg_map, aux_map;
};

// ---- operators

inline void DescribeOp(size_t i, MXExtOp* out) {
  const CustomOp& op = OpAt(i);
  out->name = op.name;
  out->is_subgraph = op.isSGop;
  out->infers_shape = op.infer_shape != nullptr;
  out->infers_type = op.infer_type != nullptr;
  out->infers_storage = op.infer_storage_type != nullptr;
  out->has_mutate_inputs = op.mutate_inputs != nullptr;
  out->has = [](size_t at, const char* what, const char* device) -> int {
    const CustomOp& o = OpAt(at);
    if (std::strcmp(what, "parse") == 0) return o.parse_attrs != nullptr;
    if (std::strcmp(what, "state") == 0) return o.create_op_ctx_map.count(device) > 0;
    return (std::strcmp(what, "forward") == 0 ? o.forward_ctx_map : o.backward_ctx_map).count(device) > 0;
  };
}

inline int Parse(size_t op, const MXExtTexts* attrs, int* num_in, int* num_out) {
  return Guarded([&] { return OpAt(op).parse_attrs(MapOf(attrs), num_in, num_out); });
}

inline int InferShape(size_t op, const MXExtTexts* attrs, size_t num_in, size_t num_out, const int* ndims, const int64_t* const* dims,
                      void* to, MXExtPutShape put) {
  return Guarded([&] {
    types::ShapeList in = ShapesOf(num_in, ndims, dims), out = ShapesOf(num_out, ndims + num_in, dims + num_in);
    const MXReturnValue code = OpAt(op).infer_shape(MapOf(attrs), &in, &out);
    for (size_t i = 0; i < in.size(); ++i) put(to, 0, i, in[i].data(), in[i].size());
    for (size_t i = 0; i < out.size(); ++i) put(to, 1, i, out[i].data(), out[i].size());
    return code;
  });
}

template <typename F>
int InferNumbers(const F& infer, const MXExtTexts* attrs, int* in, size_t num_in, int* out, size_t num_out) {
  return Guarded([&] {
    std::vector<int> ins(in, in + num_in), outs(out, out + num_out);
    const MXReturnValue code = infer(MapOf(attrs), &ins, &outs);
    if (ins.size() != num_in || outs.size() != num_out)
      throw std::runtime_error("a function that infers changed the number of its lists' entries");
    std::copy(ins.begin(), ins.end(), in);
    std::copy(outs.begin(), outs.end(), out);
    return code;
  });
}

inline int MutateInputs(size_t op, const MXExtTexts* attrs, void* to, MXExtPutInt put) {
  return Guarded([&] {
    std::vector<int> inputs;
    const MXReturnValue code = OpAt(op).mutate_inputs(MapOf(attrs), &inputs);
    for (const int i : inputs) put(to, i);
    return code;
  });
}

inline int CreateState(size_t op, const MXExtTexts* attrs, const char* device, int device_id, size_t num_in, const int* ndims,
                       const int64_t* const* dims, const int* dtypes, void** state) {
  return Guarded([&] {
    CustomStatefulOp* made = nullptr;
    const MXReturnValue code = OpAt(op).create_op_ctx_map.at(device)(
        MapOf(attrs), MXContext(device, device_id), ShapesOf(num_in, ndims, dims), std::vector<int>(dtypes, dtypes + num_in), &made);
    if (code == MX_SUCCESS && !made) throw std::runtime_error("the function that makes the operator's state made none");
    *state = made;
    return code;
  });
}

inline int Compute(size_t op, void* state, int backward, const char* device, const MXExtTexts* attrs, const MXExtTensor* in, size_t num_in,
                   const MXExtTensor* out, size_t num_out, const MXExtResource* resource) {
  return Guarded([&] {
    std::vector<MXTensor> inputs = TensorsOf(in, num_in), outputs = TensorsOf(out, num_out);
    const OpResource offered(resource);
    if (state) {
      CustomStatefulOp* const object = static_cast<CustomStatefulOp*>(state);
      return backward ? object->Backward(&inputs, &outputs, offered) : object->Forward(&inputs, &outputs, offered);
    }
    const auto& functions = backward ? OpAt(op).backward_ctx_map : OpAt(op).forward_ctx_map;
    return functions.at(device)(MapOf(attrs), &inputs, &outputs, offered);
  });
}

// ---- partitioners

inline CustomPartitioner& PartitionerAt(size_t i) { return Registry<CustomPartitioner>::get()->get(static_cast<int>(i)); }

inline int SupportedOps(size_t i, size_t strategy, const char* graph, const MXExtTexts* options, const MXExtNamedTensors* args,
                        const MXExtNamedTensors* aux, void* to, MXExtPutInt put) {
  return Guarded([&] {
    GivenGraph given(graph, args, aux);
    std::vector<int> ids(given.graph->size(), -2);
    const supportedOps_t supported = PartitionerAt(i).strategies.at(strategy).supported;
    if (!supported) throw std::runtime_error("the strategy has neither setSupportedOps nor setCreateSelector");
    const MXReturnValue code = supported(given.graph.get(), &ids, MapOf(options));
    for (const int id : ids) put(to, id);
    return code;
  });
}

/* A selector may look at its graph as long as it lives. */
struct GivenSelector {
  std::unique_ptr<GivenGraph> given;
  std::unique_ptr<CustomOpSelector> selector;
};

inline int CreateSelector(size_t i, size_t strategy, const char* graph, const MXExtTexts* options, const MXExtNamedTensors* args,
                          const MXExtNamedTensors* aux, void** selector) {
  return Guarded([&] {
    std::unique_ptr<GivenSelector> made(new GivenSelector);
    made->given.reset(new GivenGraph(graph, args, aux));
    CustomOpSelector* user = nullptr;
    const MXReturnValue code = PartitionerAt(i).strategies.at(strategy).selector(made->given->graph.get(), &user, MapOf(options));
    made->selector.reset(user);
    if (code == MX_SUCCESS && !user) throw std::runtime_error("the function that makes the selector made none");
    *selector = code == MX_SUCCESS ? made.release() : nullptr;
    return code;
  });
}

inline int Select(void* selector, int direction, int node, int other, int* selected) {
  return Guarded([&] {
    CustomOpSelector& s = *static_cast<GivenSelector*>(selector)->selector;
    *selected = direction == 0 ? s.Select(node) : direction == 1 ? s.SelectInput(node, other) : s.SelectOutput(node, other);
    return MX_SUCCESS;
  });
}

inline int Filter(void* selector, const int* candidates, size_t count, void* to, MXExtPutInt put) {
  return Guarded([&] {
    std::vector<int> keep;
    static_cast<GivenSelector*>(selector)->selector->Filter(std::vector<int>(candidates, candidates + count), &keep);
    for (const int id : keep) put(to, id);
    return MX_SUCCESS;
  });
}

inline int Review(size_t i, size_t strategy, const char* subgraph, int number, const MXExtTexts* options, const MXExtNamedTensors* args,
                  const MXExtNamedTensors* aux, int* accept, void* to, MXExtPutText put) {
  return Guarded([&] {
    const reviewSubgraph_t review = PartitionerAt(i).strategies.at(strategy).review;
    *accept = 1;
    if (!review) return MX_SUCCESS;
    GivenGraph given(subgraph, args, aux);
    types::StringMap attrs;
    bool accepted = true;
    const MXReturnValue code = review(given.graph.get(), number, &accepted, MapOf(options), &attrs);
    *accept = accepted;
    for (const auto& kv : attrs) put(to, kv.first.c_str(), kv.second.c_str());
    return code;
  });
}

// ---- passes

inline int RunPass(size_t i, const char* graph, const MXExtTexts* options, const MXExtNamedTensors* args, const MXExtNamedTensors* aux,
                   void* to, MXExtPutText put, MXExtPutTensor make) {
  return Guarded([&] {
    GivenGraph given(graph, args, aux);
    std::vector<std::unique_ptr<MXTensor>> made;
    PassResource resource([&](bool is_aux, const std::string& name, const std::vector<int64_t>& shape, const MXContext& ctx,
                              MXDType dtype) -> MXTensor* {
      MXExtTensor tensor;
      if (!make(to, is_aux, name.c_str(), shape.data(), static_cast<int>(shape.size()), ctx.dev_type.c_str(), ctx.dev_id, dtype, &tensor))
        return nullptr;
      made.emplace_back(new MXTensor(TensorOf(tensor)));
      return made.back().get();
    });
    given.graph->_setPassResource(&resource);
    const graphPass_t body = Registry<CustomPass>::get()->get(static_cast<int>(i)).pass;
    if (!body) throw std::runtime_error("the pass has no setBody");
    const MXReturnValue code = body(given.graph.get(), MapOf(options));
    if (code == MX_SUCCESS) put(to, "graph", given.graph->toString().c_str());
    return code;
  });
}

inline MXExtLibrary Table() {
  MXExtLibrary t;
  std::memset(&t, 0, sizeof(t));
  t.version = MX_LIBRARY_VERSION;
  t.table_bytes = sizeof(t);
  t.initialize = [](int version) -> int { return Guarded([version] { return ::initialize(version); }); };
  t.error = []() -> const char* { return MXerrorMsgs::get()->take().c_str(); };
  t.num_ops = []() -> size_t { return static_cast<size_t>(Registry<CustomOp>::get()->size()); };
  t.num_partitioners = []() -> size_t { return static_cast<size_t>(Registry<CustomPartitioner>::get()->size()); };
  t.num_passes = []() -> size_t { return static_cast<size_t>(Registry<CustomPass>::get()->size()); };
  t.op = DescribeOp;
  t.parse = Parse;
  t.infer_shape = InferShape;
  t.infer_type = [](size_t op, const MXExtTexts* attrs, int* in, size_t num_in, int* out, size_t num_out) -> int {
    return InferNumbers(OpAt(op).infer_type, attrs, in, num_in, out, num_out);
  };
  t.infer_storage = [](size_t op, const MXExtTexts* attrs, int* in, size_t num_in, int* out, size_t num_out) -> int {
    return InferNumbers(OpAt(op).infer_storage_type, attrs, in, num_in, out, num_out);
  };
  t.mutate_inputs = MutateInputs;
  t.create_state = CreateState;
  t.delete_state = [](void* state) {
    Guarded([state] {
      delete static_cast<CustomStatefulOp*>(state);
      return MX_SUCCESS;
    });
  };
  t.compute = Compute;
  t.partitioner_name = [](size_t i) -> const char* { return PartitionerAt(i).name; };
  t.num_strategies = [](size_t i) -> size_t { return PartitionerAt(i).strategies.size(); };
  t.strategy = [](size_t i, size_t strategy, const char** name, const char** op, int* has_selector) {
    const CustomPartitioner::Strategy& s = PartitionerAt(i).strategies.at(strategy);
    *name = s.name;
    *op = s.op;
    *has_selector = s.selector != nullptr;
  };
  t.supported_ops = SupportedOps;
  t.create_selector = CreateSelector;
  t.select = Select;
  t.filter = Filter;
  t.reset_selector = [](void* selector) -> int {
    return Guarded([selector] {
      static_cast<GivenSelector*>(selector)->selector->Reset();
      return MX_SUCCESS;
    });
  };
  t.delete_selector = [](void* selector) {
    Guarded([selector] {
      delete static_cast<GivenSelector*>(selector);
      return MX_SUCCESS;
    });
  };
  t.review = Review;
  t.pass_name = [](size_t i) -> const char* { return Registry<CustomPass>::get()->get(static_cast<int>(i)).name; };
  t.run_pass = RunPass;
  return t;
}

}  // namespace entry
}  // namespace ext
}  // namespace mxnet

/* Weak: every file of a library defines it, and one of them stays. */
extern "C" __attribute__((weak, used, visibility("default"))) const MXExtLibrary* mxnet_ext_library(void) {
  static const MXExtLibrary table = mxnet::ext::entry::Table();
  return &table;
}

#endif  // MXNET_LIB_API_ENTRY_H_
