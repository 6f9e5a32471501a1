/* A part of a model whose shapes are known when it starts. */
#ifndef MXNET_ONNX_RUN_STAGE_H_
#define MXNET_ONNX_RUN_STAGE_H_

#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "mxnet/executor.h"
#include "onnx/rewrite/learning.h"
#include "onnx/run/call_times.h"
#include "onnx/run/graph_calls.h"
#include "onnx/run/once.h"
#include "onnx/run/reuse.h"
#include "onnx/run/session.h"

namespace mxnet {
namespace onnx {

struct Pending;
struct Rounds;
struct RoundsState;
struct RoundsStack;

/* A result of a stage: an output of its plan, contents known beforehand, or several of them. */
struct Slot {
  Value value;
  int output = -1;
  std::vector<Slot> elements;  // of a sequence
};

constexpr double kNotTimed = 1e18;

struct Stage {
  std::string types;                                          // of what it was made for
  std::vector<std::pair<std::string, std::string>> demanded;  // names and the contents it was made for
  struct Bound {
    std::string name;
    int64_t most;
    bool holds;
  };
  std::vector<Bound> bounds;  // numbers of which it was enough to know whether they are at most this
  Symbol symbol;
  std::shared_ptr<CachedOp> op;  // null: everything was known
  struct Operand {
    std::string name;  // of a value at the start; empty: `constant`
    int element = -1;  // of a sequence
    NDArray constant;
    const Value& In(const Env& env) const {  // REQUIRES: a name
      const Value& v = env.at(name);
      return element < 0 ? v : (*v.elements)[static_cast<size_t>(element)];
    }
  };
  std::vector<Operand> operands;
  int num_outputs = 0;
  std::vector<std::pair<std::string, Slot>> results;
  std::deque<NodeProto> made;                         // nodes in the place of others
  std::vector<const NodeProto*> host;                 // to be run on arrays when the plan is done
  std::unique_ptr<Pending> rest;                      // what follows; null: nothing
  double elements = 0;                                // of the values at its start
  double build_ns = 0;                                // what making `symbol` took
  bool finds_nothing = false;                         // some values have no elements
  bool prepares = false;                              // kernels do, for each shape (PreparesForShape)
  mutable std::atomic<int> timed{0};                  // runs of the plan that were timed,
  mutable std::atomic<double> fastest_ns{kNotTimed};  // and the fastest one
};

/* Nodes that are still to be done, and the stages that begin there, the one used last first. */
struct Pending {
  std::vector<const NodeProto*> nodes;
  std::vector<std::string> needed;  // names that these nodes and the outputs read
  std::set<std::string> fixed;      // those that have the same contents whenever one comes here: the stage before implies them
  std::list<std::shared_ptr<Stage>> stages;
  int rebuilt = 0;                 // stages made for other contents, with the same types
  std::vector<std::string> after;  // what it gives to nodes that are no part of it, and to the caller; sorted
};

/* One graph of a model: the main one, or a body that is run again and again. */
class Runner {
 public:
  /* `grows`: shapes that come once may run node by node. `in_floats`: what stands for integers is
   * not computed with integers, which cannot learn. */
  Runner(Session* session, const GraphProto* graph, bool grows, bool in_floats = false);
  /* `env`: inputs and captured values. */
  std::vector<Value> Run(Env env, const std::map<std::string, NDArray>& into = {});
  /* `env`: values with types alone. */
  ConvertedGraph Convert(const Env& env, Learns learns);
  void Explain(std::string* into);
  /* The plans of the stages as a JSON list, in the order in which they run; `runs`: as for
   * ExplainCachedOp. */
  std::string ExplainPlans(int runs);
  const GraphProto& graph() const { return *graph_; }
  /* Of a body that does not grow; null for others. */
  GraphForm* form() const { return form_.get(); }
  /* The nodes of such a body that are not done in steps; adds what they give. The plan that did
   * all, if one did. */
  std::shared_ptr<Stage> RunNodes(Env* env);

 private:
  std::shared_ptr<Stage> Find(Pending* pending, const Env& env, const std::string& types);
  using Stages = std::vector<std::shared_ptr<Stage>>;
  bool IsKept(const std::string& name, const Stages& stages) const;
  void RunFrom(Pending* pending, const std::string& types, const std::map<std::string, NDArray>& into, Env* env, Stages* stages);
  struct Way {
    std::shared_ptr<const NodeByNode> once;       // null: a plan
    std::shared_ptr<const NodeByNode> rehearsed;  // runs as well, for shapes to come
  };
  Way WayFor(const std::string& types, const Env& env);
  struct Planned {
    double ns = 0, elements = 1;
    bool prepares = false, measured = true;  // some kernels prepare for each shape; all was timed
  };
  Planned OfPlans() const;
  static Planned OfPlan(const Stage& first);
  double LostOnce(const Planned& planned, double elements) const;
  bool IsQuick(double elements, int calls = 1) const;
  std::shared_ptr<const NodeByNode> ToRehearse(const Env& env);
  void Rehearse(const NodeByNode& once, Env env);
  void RunPlanned(const std::string& types, const std::map<std::string, NDArray>& into, Env* env, Stages* stages);
  double RunOnce(const NodeByNode& once, Env* env);
  void LeaveOnce();
  std::shared_ptr<const NodeByNode> OnceFor(const Env& env, int before);
  std::shared_ptr<const NodeByNode> Once(bool recipes);
  /* For a round of a body; null when a plan serves it. */
  std::shared_ptr<const NodeByNode> OnceForRound(const std::string& types, const Env& env);
  static size_t KeptPlans(const Pending& pending);
  void InvokeTimed(const Stage& stage, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out) const;
  void Execute(const Stage& stage, const std::map<std::string, NDArray>& into, Env* env);
  void RunNode(const NodeProto& node, Env* env);
  bool IsModel() const { return graph_ == &session_->model().graph; }  // not a body of a node
  int DeclaredType(const std::string& name) const;
  /* Names that the nodes and the outputs read, and `more`, without those that the nodes make,
   * sorted. */
  std::vector<std::string> Needed(const std::vector<const NodeProto*>& nodes, const std::vector<std::string>& more = {}) const;
  friend class StageBuilder;

  Session* const session_;
  const GraphProto* const graph_;
  const bool grows_;
  std::deque<NodeProto> made_;           // nodes in the place of others
  std::vector<const NodeProto*> nodes_;  // all of them
  std::unique_ptr<GraphForm> form_;
  std::vector<ValueInfo> made_by_nodes_;  // of the form: their names
  std::set<std::string> met_;             // types of rounds that came once
  std::mutex mutex_;                      // of what follows
  Pending root_;
  Conversions converted_;  // of the stages that were made last
  std::shared_ptr<const NodeByNode> once_;
  bool met_once_ = false;  // a shape that it was to serve
  CallTimes times_;
  int known_once_ = 0;  // calls of new shapes for which it has told
  int same_again_ = 0;  // calls with the shapes of the one before, up to the rehearsal
  int rehearsals_ = 0;
  int rehearse_every_ = 0;           // calls with the same shapes; 0: it was not rehearsed
  int since_rehearsal_ = 0;          // such calls
  double rehearsal_ns_ = kNotTimed;  // what the fastest one took, but for the first
  bool never_once_ = false;          // it failed, or read too many weights
  struct Recent {
    std::string types;
    int once = 0;          // calls that ran node by node
    bool planned = false;  // from now on it is a plan
  };
  std::deque<Recent> recent_;  // of the last calls, the last one first
};

/* Makes one stage. */
class StageBuilder {
 public:
  /* `whole`: everything must fit into it (Error(kValue) otherwise). */
  StageBuilder(Runner* runner, Pending* pending, const Env& env, bool whole, Learns learns = Learns::kNothing);
  std::shared_ptr<Stage> Build();
  ConvertedGraph BuildWhole();

 private:
  const Value* Lookup(const std::string& name);
  const Value* Find(const std::string& name);
  bool Available(const NodeProto& node);
  void Convert(const NodeProto& node);
  bool ConvertOnce(const NodeProto& node);
  std::vector<Value> ResultsOf(const NodeProto& node);
  bool Demand(const std::string& name);
  bool DemandBound(const std::string& name, int64_t bound);
  void PostponeFor(const NodeProto& node, const std::vector<std::string>& names);
  bool TakeBranch(const NodeProto& node);
  enum Taken : uint8_t { kTaken, kAgain, kNotTaken };  // kAgain: the plan depends on more contents now
  Taken TakeLoop(const NodeProto& node);
  struct Body;
  std::unique_ptr<Body> BuildBody(const NodeProto& node, const GraphProto& graph, Env given, const std::vector<const NodeProto*>& left_out,
                                  const std::vector<std::string>& results);
  Value Outside(const Body& body, const NodePtr& variable, const std::map<std::string, Value>& same);
  std::vector<const RoundsState*> Changing(const Call& call, const Rounds& rounds, const Body& body, std::map<std::string, Value>* same);
  Value RowsOf(const Call& call, const std::string& name, const Value& sequence, int64_t count);
  Taken TakeRounds(const Call& call, Rounds* rounds, const Body& body);
  /* The rounds of a Loop that begins, at most `most`, if its condition follows from what is known;
   * -1 otherwise. `last` gets the states that it depends on, by their names in the body. */
  int64_t CountRounds(const Call& call, const GraphProto& body, int64_t most, Env* last);
  void MakeNone(const Call& call, const Rounds& rounds, const Body& body);
  bool MakeRounds(const Call& call, const Rounds& rounds, const Body& body);
  bool MakeWhile(const Call& call, const Rounds& rounds, const Body& body, int64_t most);
  static void AddStates(const Body& body, const std::vector<const RoundsState*>& states, const NodeEntry& yes, Symbol* symbol);
  void CutRows(const Call& call, const RoundsStack& stack, const Value& made, const Value& count);
  bool MakeChoice(const NodeProto& node);
  void PutResult(const Call& call, int output, const Value& value);
  void ConvertAll();
  void Collect();
  void ReducePrecision(Symbol* symbol, std::unordered_map<const Node*, TensorType> types = {});
  Slot SlotOf(const Value& value);

  Runner* const runner_;
  Session* const session_;
  Pending* const pending_;
  const Env& env_;
  const bool whole_;
  bool reduces_;  // the precision of products
  GraphBuilder builder_;
  std::unique_ptr<Learning> learning_;  // of a graph that is trained
  std::deque<const NodeProto*> todo_;
  Env values_;
  std::unordered_map<std::string, const Value*> found_;  // what was asked for, in values_ or in the session
  std::set<std::string> demanded_, later_;
  std::vector<const NodeProto*> rest_;
  std::shared_ptr<Stage> stage_;
  std::vector<NodeEntry> outputs_;
  std::map<std::pair<const Node*, uint32_t>, int> output_of_;
  std::unordered_map<const Node*, Stage::Operand> variables_;
  std::unordered_map<const Node*, NDArray> reduced_;  // constants of the graph in another precision
  std::vector<NodePtr> held_;                         // those of variables_: no other node may get the address of one that is given up
};

/* The numbers of a Scan's inputs and outputs, and its lists. */
struct ScanSpec {
  std::vector<int64_t> in_axes, out_axes, in_directions, out_directions;
  size_t num_scan = 0, num_state = 0, num_out = 0;
};
/* Throws Error(kValue) for what does not fit together. */
ScanSpec ReadScan(const Call& call);

/* Has a node given an array without elements since this thread set it to false? */
bool& FoundNothing();
/* Notes whether results of a node that ran on arrays have no elements. Throws Error(kValue) where
 * they lose the gradients of what it reads. */
void CheckRecorded(const Session& session, const NodeProto& node, const Env& env, const std::vector<Value>& results);

/* A constant of the file. */
Value ValueOf(const Constant& constant);
/* Converts a node, and says in errors which it is. */
void Apply(const Rule& rule, Call* call);
/* The inputs of a node that runs on arrays, and its results. */
Value OnCPU(const Value& value, const std::string& name, GraphBuilder* builder);
std::vector<Value> OperandsOnCPU(const Session& session, const NodeProto& node, const Env& env, GraphBuilder* builder);
std::vector<Value> ResultsOnArrays(const NodeProto& node, const Rule& rule, std::vector<Value> operands, GraphBuilder* builder);
void PutResults(const NodeProto& node, std::vector<Value> results, Env* env);
/* Copies of the inputs that are results as well: a caller may change the arrays that it gave, and
 * other results may be written to them. */
Env InputsToReturn(const Env& inputs, const std::vector<ValueInfo>& outputs);
/* Does anything behind the stage's plan read that array, which is a value of `env`? */
bool IsReadLater(const Stage& stage, const Env& env, const NDArray& array);

/* Nodes that run graphs on arrays; null for others. */
using ControlFn = std::vector<Value> (*)(Session* session, const NodeProto& node, const Env& env);
ControlFn ControlOf(const NodeProto& node);
bool IsIf(const NodeProto& node);
/* An If on arrays. */
std::vector<Value> RunIf(Session* session, const NodeProto& node, const Env& env);
/* What the environment has of what a pending part needs, by type. */
std::string TypesOf(const Pending& pending, const Env& env);
/* Of all tensors. */
double ElementsOf(const Env& env);
/* Do contents of so few elements belong to what a plan was made for? */
bool IsSmall(const Value& value);
/* The value of that name; null when it is not there. */
const Value* FindValue(const Session& session, const Env& env, const std::string& name);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_STAGE_H_
