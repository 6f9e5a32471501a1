/*
 * Graphs that a node holds, compiled to run inside the node's kernel: once for given shapes, then
 * again and again with arrays that change from run to run. The executor, which lies above this
 * module, gives the function when the library is loaded (src/executor/plan/subgraph_program.cc).
 */
#ifndef MXNET_OPERATOR_RUNTIME_SUBGRAPH_PROGRAM_H_
#define MXNET_OPERATOR_RUNTIME_SUBGRAPH_PROGRAM_H_

#include <memory>
#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {

struct SubgraphRequest {
  std::shared_ptr<Symbol> graph;
  Context ctx;
  TensorTypes inputs;      // in the order of Subgraph::inputs
  std::vector<OpReq> req;  // by output: kWrite or kAdd
  bool is_train = false;
  InferSwitches switches;
};

/* The memory and states of one user of a program. One thread at a time. */
class SubgraphRun {
 public:
  virtual ~SubgraphRun() = default;
  /* Before the first Run of a kernel's call, which `around` is: memory for what is internal, and
   * random numbers, come from there. */
  virtual void Begin(const KernelArgs& around) = 0;
  /* Does whoever reads that input say so before (KernelArgs::NeedWeights)? */
  virtual bool Asks(int input) const = 0;
  /* `changed`: the array may hold something else than in the run before. */
  virtual void SetInput(int input, void* at, bool changed) = 0;
  virtual void SetOutput(int output, void* at) = 0;
  /* `step`: of the loop that the kernel is; -1: it is none. */
  virtual void Run(int64_t step) = 0;
  /* After the last Run of a kernel's call, also when that has thrown. */
  virtual void End() = 0;
};

/* Immutable. */
class SubgraphProgram {
 public:
  virtual ~SubgraphProgram() = default;
  virtual std::unique_ptr<SubgraphRun> NewRun() const = 0;
};

/* Throws Error(kValue) when the graph cannot be compiled for these shapes. */
using CompileSubgraphFn = std::shared_ptr<const SubgraphProgram> (*)(const SubgraphRequest&);
/* Returns true, so that an initializer can call it. */
bool SetCompileSubgraph(CompileSubgraphFn compile);
std::shared_ptr<const SubgraphProgram> CompileSubgraph(const SubgraphRequest& request);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNTIME_SUBGRAPH_PROGRAM_H_
