/*
 * A loop as one node: a graph, the body, is run step by step. This is what _foreach, _while_loop
 * and the backward pass of both have in common, so that the gradient of a loop is a loop that can
 * be differentiated again.
 *
 * In each step the body gets slices of the data, the states that the step before has left, and
 * constants. Its results are slices of stacked results, the next states, and terms of sums.
 *
 * The node's outputs: [stacked results][last states][sums], which are visible, then what the
 * backward pass wants to know: [each state at the beginning of every step, stacked][kept results of
 * the body, stacked][the number of steps, where a condition decides it].
 */
#ifndef MXNET_OPERATOR_CONTROL_SCAN_H_
#define MXNET_OPERATOR_CONTROL_SCAN_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "operator/control/held_graph.h"

namespace mxnet {
namespace control {

/* Where an input of a graph comes from. */
struct Source {
  enum Kind : uint8_t { kData, kState, kConstant } kind;
  int index;
};

struct Scan {
  HeldGraph body;
  std::vector<Source> sources;  // by input of the body
  int num_stacks = 0, num_sums = 0;
  std::vector<int> data_at, state_at, constant_at;  // which inputs of the node they are
  std::vector<char> flat;                           // by data: of one dimension, its slices have shape (1,) (as arrays of 1.x do)
  std::vector<int> like;                            // by stacked result: the data whose gradient it is, -1
  bool reverse = false;                             // the last slices come first
  // ---- steps: as many as the data have slices, or
  HeldGraph condition;  // while its result is true
  std::vector<Source> condition_sources;
  bool has_condition = false;
  int64_t max_steps = -1;  // length of the stacked results, where no data tell
  int length_at = -1;      // an input with the number of steps, int64

  int num_data() const { return static_cast<int>(data_at.size()); }
  int num_states() const { return static_cast<int>(state_at.size()); }
  int num_constants() const { return static_cast<int>(constant_at.size()); }
  int num_visible() const { return num_stacks + num_states() + num_sums; }
  int state_stack(int state) const { return num_visible() + state; }
  int kept(int k) const { return num_visible() + num_states() + k; }
  int steps_output() const { return has_condition ? kept(body.num_kept()) : -1; }
  int num_outputs() const { return kept(body.num_kept()) + has_condition; }
  /* Of a body's result: where it goes. */
  bool is_stack(int result) const { return result < num_stacks || result >= num_visible(); }
  bool is_state(int result) const { return result >= num_stacks && result < num_stacks + num_states(); }
  int output_of(int result) const { return result < num_visible() ? result : result + num_states(); }
  int input_of(const Source& s) const {
    return s.kind == Source::kData ? data_at[s.index] : s.kind == Source::kState ? state_at[s.index] : constant_at[s.index];
  }

  std::shared_ptr<Programs> programs = std::make_shared<Programs>(), condition_programs = std::make_shared<Programs>();
  /* By which gradients come in. */
  struct Backwards {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const BackwardNode>> made;
  };
  std::shared_ptr<Backwards> backwards = std::make_shared<Backwards>();
};

bool InferScanShape(const Attrs& attrs, const InferSwitches& switches, const Scan& scan, ShapeVector* in, ShapeVector* out);
bool InferScanType(const Attrs& attrs, const InferSwitches& switches, const Scan& scan, std::vector<int>* in, std::vector<int>* out);
std::vector<NodeEntry> ScanGradient(const Scan& scan, const NodePtr& node, const std::vector<NodeEntry>& ograds);
void RunScan(const Scan& scan, KernelArgs& args);
/* Inputs of the node that the body writes. Throws Error(kValue) when it writes data or states. */
std::vector<int> WrittenByScan(const Attrs& attrs, const Scan& scan);
double ScanFlops(const Scan& scan, Span<const TBlob> in);

/* Parameters of _backward_foreach, made by gradients alone. */
struct ScanParam {
  std::shared_ptr<const Scan> scan;
  std::shared_ptr<CallStates> calls;
};

/* What all records of loops have in common. `of` gives a node's loop; null while the node has no
 * graph yet. */
void SetScan(Op* op, std::shared_ptr<const Scan> (*of)(const Attrs&), int (*visible)(const Attrs&));

}  // namespace control
}  // namespace mxnet
#endif  // MXNET_OPERATOR_CONTROL_SCAN_H_
