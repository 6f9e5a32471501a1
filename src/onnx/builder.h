/* The graph that converters build, and what is computed while they do. */
#ifndef MXNET_ONNX_BUILDER_H_
#define MXNET_ONNX_BUILDER_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/entry_key.h"
#include "mxnet/numpy_shapes.h"
#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

/*
 * What was computed of weights alone, for all graphs of one model: transposed weights are made once
 * and shared. It keeps the operands too, so their addresses are names. Thread-safe.
 */
class FoldedWeights {
 public:
  /* Those that live as long as the model. */
  void AddWeight(const NDArray& weight, const std::string& name, bool learns = true);
  /* A constant of the file that training leaves as it is. */
  bool IsFixed(const NDArray& array);
  /* The name of a weight as the file has it; empty for others. */
  std::string NameOf(const NDArray& array);
  /* Which of these live as long as the model: weights, and what was computed of them. */
  std::vector<bool> Keeps(const std::vector<NDArray>& arrays);
  /* None unless `operands` are all weights, or were computed of them, and the results are kept. */
  std::vector<NDArray> Find(const std::string& call, const std::vector<NDArray>& operands);
  /* Returns what is kept, which is what another thread has put there before; else `results`. What
   * is kept once stays: others know it by its address. */
  std::vector<NDArray> Put(const std::string& call, const std::vector<NDArray>& operands, std::vector<NDArray> results);
  /* What a converter made of a node's attributes alone; null when it has not. Any later plan of
   * the model takes it, too. */
  std::shared_ptr<const void> OfNode(const NodeProto& node);
  void PutOfNode(const NodeProto& node, std::shared_ptr<const void> made);
  /* The same contents on another device. */
  NDArray On(const NDArray& array, Context ctx);

 private:
  /* Of what was computed of one weight: its name, and the operator's. */
  std::string NameOfDerived(const std::string& call, const std::vector<NDArray>& operands) const;
  static std::string Key(const std::string& call, const std::vector<NDArray>& operands);
  bool AllKept(const std::vector<NDArray>& operands) const;
  std::mutex mutex_;
  std::vector<NDArray> kept_;
  std::unordered_set<const Chunk*> chunks_;
  std::unordered_set<const Chunk*> fixed_;
  std::unordered_map<std::string, std::string> names_;
  std::unordered_map<std::string, std::vector<NDArray>> results_;
  std::unordered_map<const NodeProto*, std::shared_ptr<const void>> of_nodes_;
};

/* What a conversion has left in a builder, beside its results. */
struct Traces {
  std::vector<NodePtr> nodes;                          // in the order in which they were made
  std::vector<std::pair<NodeEntry, Value>> constants;  // variables that they read, and the known contents of these
  std::vector<std::pair<NodePtr, Value>> widened;      // casts, and what they widen
  bool looked_back = false;                            // they depend on more than the values that the node reads
};
/* What entries of one graph are in another. */
using EntryMap = std::map<EntryKey, NodeEntry>;

class CallStates;
class Learning;

class GraphBuilder {
 public:
  /* `draws`: random numbers are drawn at once, as for a node that runs on arrays. `widens`: see
   * Widened. */
  GraphBuilder(Context ctx, FoldedWeights* folded, bool draws = false, bool widens = false)
      : ctx_(ctx), folded_(folded), draws_(draws), widens_(widens) {}
  /* For nodes that run on arrays: forms of weights are kept there. */
  void KeepIn(CallStates* states) { states_ = states; }
  /* What runs on arrays is recorded where the caller's operators are. */
  void Record(bool records) { records_ = records; }
  /* For graphs that are trained: it is told what was computed of what. */
  void TellTo(Learning* learning) { learning_ = learning; }
  /* `result` was made of the operands' contents; without `attrs` by no operator. */
  void TellOf(const NDArray& result, const AttrsPtr& attrs, const std::vector<Value>& operands);
  /* Is it a known value that training changes? */
  bool Learns(const Value& value);
  /* Is the graph to be trained, by to_block? */
  bool ForTraining() const;
  Learning* learning() const { return learning_; }

  /* All results of an operator: arrays where all operands are known, else entries of the graph.
   * Throws NeedsValue without inputs when shapes of the results depend on unknown contents. */
  std::vector<Value> Apply(const Call& call, const char* op, const std::vector<Value>& operands, AttrDict attrs);
  /* Results of an operator that holds graphs; none when inference does not tell their shapes. */
  std::vector<Value> Holding(const Call& call, const char* op, const std::vector<Value>& operands, std::vector<Symbol> graphs,
                             AttrDict attrs);
  /* An operand of the graph that is given when it runs. */
  Value Input(const std::string& name, const TensorType& type);
  /* The entry of the graph that has this value; contents that are known become a variable. */
  NodeEntry EntryOf(const Value& value);
  /*
   * Processors compute float32 faster than float16, and more exactly. So where the builder widens,
   * float16 is what weights are stored in and what the caller hands in and gets; in between
   * everything is float32. Operators never see float16 then.
   */
  Value Widened(const Value& value, const std::string& name) { return Widens(value) ? Converted(value, kFloat32, name) : value; }
  bool Widens(const Value& value) const { return widens_ && value.kind == Value::kTensor && value.dtype() == kFloat16; }
  /* A value in the dtype that the model says, where it was widened. */
  Value Narrowed(const Value& value, int declared, const std::string& name) {
    if (widens_ && declared == kFloat16 && value.kind == Value::kSequence) return NarrowedElements(value, name);
    const bool wide = widens_ && value.kind == Value::kTensor && value.dtype() == kFloat32 && declared == kFloat16;
    if (!wide) return value;
    const Value before = BeforeWidening(value);
    return before.dtype() == kFloat16 ? before : Converted(value, kFloat16, name);
  }
  /* The float16 that a value was before Widened made it float32, for operators that read float16
   * themselves; others as they are. */
  Value BeforeWidening(const Value& value) {
    LookBack();
    const auto it = value.known() || value.kind != Value::kTensor ? widened_.end() : widened_.find(value.entry.node.get());
    return it == widened_.end() ? value : it->second;
  }
  /* Whether the number that has this name is at most `bound`, for plans that depend on no more of
   * it (Call::AtMost). */
  void PutBound(const std::string& name, int64_t bound, bool holds) { bounds_[{name, bound}] = holds; }
  const bool* FindBound(const std::string& name, int64_t bound) {
    LookBack();
    const auto it = bounds_.find({name, bound});
    return it == bounds_.end() ? nullptr : &it->second;
  }

  /* Known contents in another dtype. */
  Value Cast(const Value& known, int dtype) { return Converted(known, dtype, ""); }

  /* From now on what conversions leave is added to `traces`; null: it is not. */
  void Trace(Traces* traces) { traces_ = traces; }
  /* A converter says so before it looks at the nodes behind its inputs, or at other things that
   * only this graph has. */
  void LookBack() {
    if (traces_) traces_->looked_back = true;
  }
  /*
   * Does in this graph what a conversion did in another. `now` has what the entries are here that
   * the node reads; `results` are those of the other graph, and become this one's. False, and
   * `results` are nothing: it has to be converted.
   */
  bool Repeat(const Traces& traces, EntryMap* now, std::vector<Value>* results);

  /* Variables made of known contents. */
  const std::unordered_map<const Node*, NDArray>& constants() const { return constants_; }
  /* A name that no node has yet. */
  std::string Unused(const std::string& name);
  Context ctx() const { return ctx_; }
  bool on_arrays() const { return draws_; }
  bool widens() const { return widens_; }
  void SetWidens(bool widens) { widens_ = widens; }  // before anything is made
  FoldedWeights* folded() const { return folded_; }

 private:
  Value NarrowedElements(const Value& sequence, const std::string& name);
  Value Converted(const Value& value, int dtype, const std::string& name);
  std::vector<Value> Compute(const AttrsPtr& attrs, const std::string& text, const std::vector<Value>& operands);
  std::vector<NodeEntry> Entries(const std::vector<Value>& values);
  static std::vector<Value> ResultsOf(const NodePtr& node, const TensorTypes& types);
  std::string NameFor(const Call& call);
  void Remember(const NodePtr& cast, const Value& before);

  Context ctx_;
  FoldedWeights* folded_;
  Traces* traces_ = nullptr;
  const bool draws_;
  bool records_ = false;
  CallStates* states_ = nullptr;
  Learning* learning_ = nullptr;
  bool widens_;
  std::map<std::pair<const Chunk*, std::string>, NodeEntry> known_;  // by chunk, and which part of it
  std::unordered_map<const Node*, NDArray> constants_;
  std::unordered_map<const Node*, Value> widened_;  // by the node of the cast
  std::vector<NodePtr> casts_;                      // those: no other node may get the address of one that is given up
  std::map<std::pair<std::string, int64_t>, bool> bounds_;
  std::unordered_map<std::string, int> names_;
};

/* Which part of its memory an array is, and as what. */
std::string PartOf(const NDArray& a);

/* On the CPU; waits for it. */
NDArray OnCPU(const NDArray& array);
/* The contents of an array of any dtype and on any device; waits for it. */
std::vector<int64_t> IntsIn(const NDArray& array);
std::vector<double> FloatsIn(const NDArray& array);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_BUILDER_H_
