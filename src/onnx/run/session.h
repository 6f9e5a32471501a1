/*
 * An ONNX model that runs: any shapes of inputs, any number of threads.
 *
 * For each set of input shapes a plan is made once and kept; the ones used last stay. Where shapes
 * depend on contents that the graph computes, it is cut into stages, each with plans of its own.
 */
#ifndef MXNET_ONNX_RUN_SESSION_H_
#define MXNET_ONNX_RUN_SESSION_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "mxnet/graph.h"
#include "onnx/convert.h"
#include "onnx/file/model.h"

namespace mxnet {

class ArenaPool;

namespace onnx {

class FoldedWeights;
class Runner;

struct SessionOptions {
  Context ctx;
  int precision = kFloat32;  // of products: bfloat16 and float16 as in mixed precision; float32: as the file says
  bool learns = false;       // see ForTraining
  bool all_digits = false;   // float32 was asked for: no data is rounded to 8 bits but where a node says so
};

/* Values by name while a model runs. */
using Env = std::unordered_map<std::string, Value>;
/* What it is, in words, for who gave something else than the model takes. */
std::string KindOf(const Value& v);

/* What a graph is made for: to predict, or to train its weights (learning.h). */
enum class Learns : uint8_t {
  kNothing,
  kWeights,    // constants that are no weights are marked
  kOperators,  // and what was computed of weights is computed in the graph
};

/* A graph of this library for given shapes, with the weights that it reads. */
struct ConvertedGraph {
  Symbol symbol;                                        // its outputs are those of the model, in their order
  std::vector<std::pair<std::string, NDArray>> params;  // by the names of variables
};

class Session {
 public:
  /* Throws Error(kValue) naming every node whose operator is not known. */
  explicit Session(std::shared_ptr<const Model> model, const SessionOptions& options = {});
  ~Session();

  /* All outputs, in the model's order. `inputs` has every input that has no initializer. Throws
   * Error(kValue) for names, dtypes and fixed dimensions that do not fit. Thread-safe. */
  std::vector<Value> Run(Env inputs) { return Run(std::move(inputs), {}); }
  /* Outputs named in `into` are written to these arrays, without a copy where a plan computes them.
   * Throws Error(kValue) for shapes, dtypes and names that do not fit. */
  std::vector<Value> Run(Env inputs, const std::map<std::string, NDArray>& into);
  /* The same computation as one graph, for inputs of these types, and for the contents of those in
   * `given`. Throws Error(kValue) naming the node where the graph would have to be cut. */
  ConvertedGraph Convert(const std::map<std::string, TensorType>& inputs, const Env& given = {}, Learns learns = Learns::kNothing);
  /* Another session of the same model, for graphs that are no single one (Convert): the weights of
   * the file are `with_defaults`, so that each call may have others, and calls are recorded where
   * the caller's are. */
  std::unique_ptr<Session> ForTraining() const;
  /* Run for arrays whose gradients are wanted, and results that have a history then. Throws
   * Error(kValue) where gradients are lost on the way. */
  std::vector<NDArray> RunRecorded(Env inputs);
  /* Inputs that a caller has to give: those without an initializer. */
  const std::vector<ValueInfo>& inputs() const { return inputs_; }
  /* Inputs that the file has values for, which a call may replace. */
  const std::vector<ValueInfo>& with_defaults() const { return with_defaults_; }
  bool Replaces(const Env& env) const;
  const std::vector<ValueInfo>& outputs() const { return model_->graph.outputs; }
  const Model& model() const { return *model_; }
  /* Stages and their plans so far, as text. */
  std::string Explain();
  /* The plans so far as a JSON list (docs/explain.md), their nodes timed over `runs` runs on
   * zeros. */
  std::string ExplainPlans(int runs);

  /*
   * Asks for products in a 16-bit dtype, or in float32: as the file says, and with all digits of
   * the data. Returns what is used: a processor without such products keeps float32. Throws
   * Error(kValue) after the first plan, and for other dtypes.
   */
  int SetPrecision(int dtype);

  // ---- for stages
  const Value* ConstantNamed(const std::string& name) const;
  /* Made when it is first asked for. `grows`: it is run with other shapes in each step, so it may
   * run in parts, as the model itself (Parts). */
  Runner* RunnerOf(const GraphProto* graph, bool grows = false);
  FoldedWeights* folded() { return folded_.get(); }
  const std::shared_ptr<ArenaPool>& arenas() const { return arenas_; }  // of all plans: they run one after another
  const SessionOptions& options() const { return options_; }
  int precision() const { return options_.precision; }
  bool widens() const { return !options_.ctx.is_gpu(); }  // GraphBuilder::Widened
  /* The nodes of a branch of If, with what hands its results over. */
  const std::vector<const NodeProto*>& Branch(const NodeProto& node, const GraphProto& branch);

 private:
  void AddConstants(const GraphProto& graph);
  void OfferWeights();
  void CheckOps(const GraphProto& graph, std::vector<std::string>* unknown) const;
  void CheckInputs(Env* inputs) const;

  const std::shared_ptr<const Model> model_;
  SessionOptions options_;
  std::vector<ValueInfo> inputs_, with_defaults_;
  bool has_weights_ = false;  // among the constants of the graph; else they are in nodes
  std::unique_ptr<FoldedWeights> folded_;
  const std::shared_ptr<ArenaPool> arenas_;
  std::unordered_map<std::string, Value> constants_;
  std::mutex mutex_;  // of the next two
  std::unordered_map<const GraphProto*, std::unique_ptr<Runner>> runners_;
  std::unordered_map<const GraphProto*, std::vector<const NodeProto*>> branches_;
  std::vector<std::unique_ptr<NodeProto>> made_;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_SESSION_H_
