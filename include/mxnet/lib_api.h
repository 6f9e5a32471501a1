/*
 * Operators, partitioners of graphs and passes over them in a library of users' own, written in
 * C++11 against this header alone:
 *
 * g++ -std=c++11 -shared -fPIC SOURCES -o libmine.so -I <folder of mxnet>/include/mxnet
 *
 * and loaded with mx.library.load("/path/libmine.so"). Sources for Apache MXNet 1.9.1 compile as
 * they are, but without a copy of its lib_api.cc: mxnet/src/lib_api.cc of this package takes the
 * place of that in a Makefile, and may as well be left out. A library defines
 * `MXReturnValue initialize(int version)`, which gets the version of the runtime (10900 is 1.9.0)
 * and may refuse it, and registers what it has:
 *
 * REGISTER_OP(my_gemm).setForward(forward, "cpu").setParseAttrs(parseAttrs)
 * .setInferType(inferType).setInferShape(inferShape);
 * REGISTER_PARTITIONER(mine).addStrategy("fast", "_my_subgraph_op") .setSupportedOps("fast",
 * supported); REGISTER_PASS(renames).setBody(rename);
 *
 * A function that fails returns MX_FAIL and says why: MX_ERROR_MSG << "...". An exception that
 * leaves it does the same.
 *
 * THREADS  Functions of an operator may run on several threads at once; those of one
 * CustomStatefulOp object one at a time.
 */
#ifndef MXNET_LIB_API_H_
#define MXNET_LIB_API_H_

#include <cstring>
#include <exception>
#include <random>

#if defined(__NVCC__)
#include <cuda_runtime.h>
#include <curand_kernel.h>
#endif

#include "lib_api_graph.h"
#include "lib_api_tensor.h"

#define MX_STR_SUBGRAPH_SYM_JSON "subgraph_sym_json"
#define MX_STR_DTYPE "__ext_dtype__"
#define MX_STR_SHAPE "__ext_shape__"
#define MX_STR_EXTRA_INPUTS "__ext_extra_inputs__"

#define MX_NUM_CPU_RANDOM_STATES 1024
#define MX_NUM_GPU_RANDOM_STATES 32768

namespace mxnet {
namespace ext {

typedef std::mt19937 mx_cpu_rand_t;
#if defined(__NVCC__)
typedef cudaStream_t mx_stream_t;
typedef curandStatePhilox4_32_10_t mx_gpu_rand_t;
#else
typedef void* mx_stream_t;
typedef void* mx_gpu_rand_t;
#endif

/* What a function that computes may use until it returns. */
class OpResource {
 public:
  explicit OpResource(const MXExtResource* resource) : resource_(resource) {}

  /* Workspace, 64-byte aligned. Null where there is none of that kind. */
  void* alloc_cpu(size_t bytes) const { return resource_->alloc_cpu ? resource_->alloc_cpu(resource_->self, bytes) : nullptr; }
  void* alloc_gpu(size_t bytes) const { return resource_->alloc_gpu ? resource_->alloc_gpu(resource_->self, bytes) : nullptr; }
  /* Of the device's work; null on the CPU. */
  mx_stream_t get_cuda_stream() const { return static_cast<mx_stream_t>(resource_->stream); }
  /* MX_NUM_CPU_RANDOM_STATES generators, seeded for this call as mx.random.seed says. */
  mx_cpu_rand_t* get_cpu_rand_states() const {
    if (!random_) {
      random_.reset(new std::vector<mx_cpu_rand_t>(MX_NUM_CPU_RANDOM_STATES));
      const uint64_t drawn = resource_->draw(resource_->self);
      std::seed_seq seeds{static_cast<uint32_t>(drawn), static_cast<uint32_t>(drawn >> 32)};
      std::vector<uint32_t> each(MX_NUM_CPU_RANDOM_STATES);
      seeds.generate(each.begin(), each.end());
      for (size_t i = 0; i < each.size(); ++i) (*random_)[i].seed(each[i]);
    }
    return random_->data();
  }
  /* Null: generators of a GPU are not offered. Seed some from get_cpu_rand_states. */
  mx_gpu_rand_t* get_gpu_rand_states() const { return nullptr; }
  /* Results are dense arrays: throws. */
  void alloc_sparse(MXSparse*, int, int64_t, int64_t = 0) const {
    throw std::runtime_error("a sparse result was asked for; operators of libraries give dense arrays");
  }

 private:
  const MXExtResource* resource_;
  mutable std::shared_ptr<std::vector<mx_cpu_rand_t>> random_;
};

/* An operator that keeps something between calls: one object for each use in a program or a graph,
 * whose gradient is asked of the object that has computed. */
class CustomStatefulOp {
 public:
  CustomStatefulOp() : ignore_warn(false), created_(false) {}
  virtual ~CustomStatefulOp() {}
  virtual MXReturnValue Forward(std::vector<MXTensor>* inputs, std::vector<MXTensor>* outputs, const OpResource& op_res) = 0;
  /* `inputs`: gradients of the results, then the inputs, then the results. */
  virtual MXReturnValue Backward(std::vector<MXTensor>*, std::vector<MXTensor>*, const OpResource&) {
    MX_ERROR_MSG << "the operator has no Backward";
    return MX_FAIL;
  }
  template <class T, typename... Args>
  static CustomStatefulOp* create(Args... args) {
    CustomStatefulOp* op = new T(args...);
    op->created_ = true;
    return op;
  }
  bool wasCreated() const { return created_; }
  bool ignore_warn;  // kept for programs that set it

 private:
  bool created_;
};

/* Owns one. */
class CustomStatefulOpWrapper {
 public:
  explicit CustomStatefulOpWrapper(CustomStatefulOp* instance) : instance_(instance) {}
  CustomStatefulOp* get_instance() { return instance_.get(); }

 private:
  std::unique_ptr<CustomStatefulOp> instance_;
};

/* Decides node by node what goes into a subgraph; nodes are numbered as in the graph. */
class CustomOpSelector {
 public:
  virtual ~CustomOpSelector() {}
  virtual bool Select(int nodeID) = 0;
  virtual bool SelectInput(int nodeID, int input_nodeID) = 0;
  virtual bool SelectOutput(int nodeID, int output_nodeID) = 0;
  /* Which of the nodes found do stay; none: no subgraph. */
  virtual void Filter(const std::vector<int>& candidates, std::vector<int>* keep) {
    keep->insert(keep->end(), candidates.begin(), candidates.end());
  }
  virtual void Reset() {}
};

// Names that users have of their own stay free: programs say `using namespace mxnet::ext`.
namespace types {
typedef std::unordered_map<std::string, std::string> StringMap;
typedef std::unordered_map<std::string, MXTensor> TensorMap;
typedef std::vector<std::vector<unsigned int>> ShapeList;
}  // namespace types

// Forward and backward: see CustomStatefulOp.
typedef MXReturnValue (*fcomp_t)(const types::StringMap& attributes, std::vector<MXTensor>* inputs, std::vector<MXTensor>* outputs,
                                 const OpResource& res);
typedef MXReturnValue (*parseAttrs_t)(const types::StringMap& attributes, int* num_inputs, int* num_outputs);
typedef MXReturnValue (*inferType_t)(const types::StringMap& attributes, std::vector<int>* in_types, std::vector<int>* out_types);
typedef MXReturnValue (*inferSType_t)(const types::StringMap& attributes, std::vector<int>* in_storage_types,
                                      std::vector<int>* out_storage_types);
typedef MXReturnValue (*inferShape_t)(const types::StringMap& attributes, types::ShapeList* in_shapes, types::ShapeList* out_shapes);
typedef MXReturnValue (*mutateInputs_t)(const types::StringMap& attributes, std::vector<int>* input_indices);
typedef MXReturnValue (*createOpState_t)(const types::StringMap& attributes, const MXContext& ctx, const types::ShapeList& in_shapes,
                                         const std::vector<int> in_types, CustomStatefulOp** op_inst);
typedef MXReturnValue (*createOpStateShort_t)(const types::StringMap& attributes, CustomStatefulOp** op_inst);
typedef MXReturnValue (*supportedOps_t)(const Graph* graph, std::vector<int>* ids, const types::StringMap& options);
typedef MXReturnValue (*createSelector_t)(const Graph* graph, CustomOpSelector** sel_inst, const types::StringMap& options);
typedef MXReturnValue (*reviewSubgraph_t)(const Graph* subgraph, int subgraph_id, bool* accept, const types::StringMap& options,
                                          types::StringMap* attrs);
typedef MXReturnValue (*graphPass_t)(Graph* graph, const types::StringMap& options);

/* An operator. Without setInferType all dtypes are alike; without setInferShape the results have
 * the shape of the first input. */
class CustomOp {
 public:
  explicit CustomOp(const char* op_name) : name(op_name) {}
  CustomOp& setForward(fcomp_t fcomp, const char* ctx) {
    forward_ctx_map[ctx] = fcomp;
    return *this;
  }
  CustomOp& setBackward(fcomp_t fgrad, const char* ctx) {
    backward_ctx_map[ctx] = fgrad;
    return *this;
  }
  CustomOp& setParseAttrs(parseAttrs_t func) {
    parse_attrs = func;
    return *this;
  }
  CustomOp& setInferType(inferType_t func) {
    infer_type = func;
    return *this;
  }
  /* Asked, and refused when it wants something else than dense arrays. */
  CustomOp& setInferSType(inferSType_t func) {
    infer_storage_type = func;
    return *this;
  }
  CustomOp& setInferShape(inferShape_t func) {
    infer_shape = func;
    return *this;
  }
  CustomOp& setMutateInputs(mutateInputs_t func) {
    mutate_inputs = func;
    return *this;
  }
  CustomOp& setCreateOpState(createOpState_t func, const char* ctx) {
    create_op_ctx_map[ctx] = [func](const types::StringMap& attrs, const MXContext& where, const types::ShapeList& shapes,
                                    const std::vector<int>& types, CustomStatefulOp** op) { return func(attrs, where, shapes, types, op); };
    return *this;
  }
  CustomOp& setCreateOpState(createOpStateShort_t func, const char* ctx) {
    create_op_ctx_map[ctx] = [func](const types::StringMap& attrs, const MXContext&, const types::ShapeList&, const std::vector<int>&,
                                    CustomStatefulOp** op) { return func(attrs, op); };
    return *this;
  }
  CustomOp& setIsSubgraphOp() {
    isSGop = true;
    return *this;
  }
  void mapToVector() {}

  const char* name;
  parseAttrs_t parse_attrs = nullptr;
  inferType_t infer_type = nullptr;
  inferSType_t infer_storage_type = nullptr;
  inferShape_t infer_shape = nullptr;
  mutateInputs_t mutate_inputs = nullptr;
  bool isSGop = false;
  std::unordered_map<std::string, fcomp_t> forward_ctx_map, backward_ctx_map;
  std::unordered_map<std::string, std::function<MXReturnValue(const types::StringMap&, const MXContext&, const types::ShapeList&,
                                                              const std::vector<int>&, CustomStatefulOp**)>>
      create_op_ctx_map;
};

/* Changes the graph that it is given. */
class CustomPass {
 public:
  explicit CustomPass(const char* pass_name) : name(pass_name) {}
  CustomPass& setBody(graphPass_t func) {
    pass = func;
    return *this;
  }
  const char* name;
  graphPass_t pass = nullptr;
};

/* Takes parts out of graphs: each becomes one node of an operator of this library, with the part as
 * its subgraph. A strategy chooses nodes by setSupportedOps (-1: into any subgraph, a number from
 * 0: into that one) or by a selector; setReviewSubgraph may refuse a part and give its node
 * attributes. */
class CustomPartitioner {
 public:
  struct Strategy {
    const char* name;
    const char* op;
    supportedOps_t supported;
    createSelector_t selector;
    reviewSubgraph_t review;
  };
  CustomPartitioner() : name("ERROR") {}
  explicit CustomPartitioner(const char* backend_name) : name(backend_name) {}
  CustomPartitioner& addStrategy(const char* prop_name, const char* sg_name) {
    strategies.push_back({prop_name, sg_name, nullptr, nullptr, nullptr});
    return *this;
  }
  CustomPartitioner& setSupportedOps(const char* prop_name, supportedOps_t func) {
    find(prop_name).supported = func;
    return *this;
  }
  CustomPartitioner& setCreateSelector(const char* prop_name, createSelector_t func) {
    find(prop_name).selector = func;
    return *this;
  }
  CustomPartitioner& setReviewSubgraph(const char* prop_name, reviewSubgraph_t func) {
    find(prop_name).review = func;
    return *this;
  }
  const char* name;
  std::vector<Strategy> strategies;

 private:
  Strategy& find(const char* prop_name) {
    for (Strategy& s : strategies)
      if (std::strcmp(s.name, prop_name) == 0) return s;
    return addStrategy(prop_name, "").strategies.back();  // without an operator: refused when the library is loaded
  }
};

/* What a library has of one kind. */
template <class T>
class __attribute__((visibility("hidden"))) Registry {  // hidden: each library has its own
 public:
  static Registry* get() {
    static Registry registry;
    return &registry;
  }
  T& add(const char* name) {
    entries_.emplace_back(new T(name));
    return *entries_.back();
  }
  int size() const { return static_cast<int>(entries_.size()); }
  T& get(int i) { return *entries_.at(static_cast<size_t>(i)); }

 private:
  std::vector<std::unique_ptr<T>> entries_;
};

}  // namespace ext
}  // namespace mxnet

/* How functions that a library exports are declared in sources for 1.9.1. */
#define MX_INT_RET __attribute__((visibility("default"))) int
#define MX_VOID_RET __attribute__((visibility("default"))) void
#define PRIVATE_SYMBOL __attribute__((visibility("hidden")))

#define MX_STR_CONCAT_(a, b) a##b
#define MX_STR_CONCAT(a, b) MX_STR_CONCAT_(a, b)
#define MX_TOSTRING_(x) #x
#define MX_TOSTRING(x) MX_TOSTRING_(x)
#define MX_REGISTER_(kind, name)                                                    \
  static kind& MX_STR_CONCAT(mx_registered_, __COUNTER__) __attribute__((unused)) = \
      mxnet::ext::Registry<kind>::get()->add(MX_TOSTRING(name))
#define REGISTER_OP(name) MX_REGISTER_(mxnet::ext::CustomOp, name)
#define REGISTER_PARTITIONER(name) MX_REGISTER_(mxnet::ext::CustomPartitioner, name)
#define REGISTER_PASS(name) MX_REGISTER_(mxnet::ext::CustomPass, name)

#include "lib_api_entry.h"

#endif  // MXNET_LIB_API_H_
