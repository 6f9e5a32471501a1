/*
 * The graph of a node, called on arrays again and again: rounds of a Loop that is no operator of a
 * plan.
 *
 * A round may take some microseconds. So names are places here, what does not change is found once,
 * and the plan of a round is found by the types of what the round is given. Sequences are lists of
 * arrays, and elements come and go without plans: those that the graph takes out of sequences which
 * it is given are taken before the rest runs, and what it puts in behind that.
 */
#ifndef MXNET_ONNX_RUN_GRAPH_CALLS_H_
#define MXNET_ONNX_RUN_GRAPH_CALLS_H_

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx/run/session.h"

namespace mxnet {
namespace onnx {

struct Slot;
struct Stage;

/* What is known of a graph before it is called. */
class GraphForm {
 public:
  struct Step {
    const NodeProto* node;
    std::vector<int> in;  // places; -1: none
    int out;
    bool last;  // nobody reads the first input behind it
  };
  /* One plan for all that is not done in steps, of inputs of some types. */
  struct OnePlan {
    std::shared_ptr<Stage> stage;
    std::vector<int> operands;         // places; -1: a constant of the stage
    std::vector<const Slot*> results;  // of the plan: what goes to the places `made`
  };

  /* Takes nodes that are done in steps out of `nodes`, which are those of the graph. */
  GraphForm(const GraphProto& graph, const Session& session, std::vector<const NodeProto*>* nodes);
  /* So many plans are kept. */
  void Keep(size_t most) { most_ = most; }
  bool has_steps() const { return !before.empty() || !after.empty(); }
  /* The names at `made`. */
  std::vector<std::string> MadeNames() const;
  /* Null: not known yet. */
  std::shared_ptr<const OnePlan> Find(const std::string& key);
  void Put(const std::string& key, std::shared_ptr<const OnePlan> plan);

  std::vector<Step> before, after;
  std::vector<std::string> names;  // by place; those of the graph's inputs come first
  std::vector<int> outer;          // places of values of outer graphs, and of constants that are read in steps
  std::vector<int> given;          // that the nodes read and do not make, without constants
  std::vector<int> made;           // that steps and the caller want of the nodes
  std::vector<int> outputs;        // of the graph

 private:
  int PlaceOf(const std::string& name);
  void TakeSteps(std::vector<const NodeProto*>* nodes);
  Step StepOf(const NodeProto* node);

  std::unordered_map<std::string, int> place_;
  size_t most_ = 1;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const OnePlan>> plans_;
};

/* Calls with the same values of outer graphs. */
class GraphCalls {
 public:
  /* `outer`: values of outer graphs. */
  GraphCalls(Session* session, const GraphProto* graph, const Env& outer);
  /* The graph's outputs, of all of its inputs. */
  std::vector<Value> Run(std::vector<Value> inputs);

 private:
  void RunSteps(const std::vector<GraphForm::Step>& steps);
  bool TakeElement(const GraphForm::Step& step);
  bool Insert(const GraphForm::Step& step);
  bool Describe();
  void RunNodes(bool described);
  void RunPlan(const GraphForm::OnePlan& plan);
  std::shared_ptr<const GraphForm::OnePlan> OnePlanOf(std::shared_ptr<Stage> stage) const;

  Session* const session_;
  Runner* const runner_;
  GraphForm* const form_;
  std::vector<Value> at_;  // by place
  std::string key_;        // types of what is given
  std::vector<NDArray> in_, out_;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_GRAPH_CALLS_H_
