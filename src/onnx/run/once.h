/*
 * A model node by node, for shapes that come for the first time.
 *
 * A plan costs some hundred microseconds to make, and milliseconds for a decoder. A service whose
 * batches have ever new sizes would pay that in most calls, and a decoder whose cache grows in each
 * step. So such a call runs each node on arrays, by the converter that plans are made with, or by
 * what that has made before (Recipe). Shapes that come again get a plan.
 */
#ifndef MXNET_ONNX_RUN_ONCE_H_
#define MXNET_ONNX_RUN_ONCE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/rewrite/moved.h"
#include "onnx/rewrite/size_nodes.h"
#include "onnx/run/recipe.h"
#include "onnx/run/reuse.h"
#include "onnx/run/session.h"

namespace mxnet {
namespace onnx {

/* Any number of threads run it. */
class NodeByNode {
 public:
  /* `converted`: the nodes of a plan that was made before. `results` are kept to the end.
   * `recipes`: writes them, which takes as long as one run. REQUIRES: no node holds graphs. */
  NodeByNode(Session* session, const std::vector<const NodeProto*>& nodes, const std::vector<ValueInfo>& results,
             const Conversions& converted, bool recipes);
  /* Adds what the nodes give; what nobody reads any more goes. Results are arrays of their own. */
  void Run(Env* env) const;
  /* Bytes of weights whose arrays would have to be made again, since plans alone hold what they
   * made of them, and of something else than these weights. */
  size_t given_back() const;
  /* Bytes of weights that runs have read from where they are stored, for forms of their own. */
  size_t read_again() const { return read_again_.load(std::memory_order_relaxed); }
  /* Of all weights. */
  size_t weight_bytes() const { return weight_bytes_; }
  /* Nodes that run, and those whose converters need not be asked each time. */
  size_t num_steps() const { return steps_.size(); }
  size_t num_recipes() const;
  size_t num_sizes() const { return size_nodes_.count(); }
  bool recipes() const { return recipes_; }

 private:
  struct Step {
    const NodeProto* node;
    const Rule* rule;
    std::vector<int> in, out;              // places of names; -1: none
    std::vector<int> last;                 // that no later step reads
    std::unique_ptr<const Recipe> recipe;  // null: there is none
    int size = -1;                         // its number among nodes that compute sizes
    Move move = Move::kNone;
  };
  struct Frame {  // of one run at a time
    Recipe::Scratch scratch;
    SizeNodes::Values sizes;
    std::vector<Value> made;         // by slot
    std::vector<const Value*> at;    // by place, wherever it is
    std::vector<const Value*> read;  // by a step,
    std::vector<Value*> written;     // and what it gives
  };
  struct Place {
    const std::string* name;
    const Value* constant;  // null: it depends on inputs
    size_t slot = 0;        // where it is kept while somebody reads it
  };
  /* Null: it depends on inputs. */
  const Value* Constant(const std::string& name) const;
  int PlaceOf(const std::string& name);
  bool AddKnown(const NodeProto& node, const std::vector<Value>* made);
  void AddSteps(const std::vector<const NodeProto*>& nodes, const Conversions& converted);
  void AddWeights();
  void GiveSlots();
  Value* SlotOf(int place, Frame* frame) const { return &frame->made[places_[static_cast<size_t>(place)].slot]; }
  std::unique_ptr<const Recipe> RecipeFor(const Step& step, const std::vector<Value>* inputs) const;
  void TakeInputs(const Env& env, GraphBuilder* builder, Frame* frame) const;
  std::vector<Value> Asked(const Step& step, const Frame& frame, GraphBuilder* builder) const;
  int SizeFor(const Step& step, const Conversions& converted);
  static bool FollowRecipe(const Step& step, Frame* frame);
  void RunStep(const Step& step, GraphBuilder* builder, Frame* frame) const;
  void PutResults(Frame* frame, Env* env) const;
  std::unique_ptr<Frame> TakeFrame() const;

  Session* const session_;
  const bool recipes_;
  std::vector<Step> steps_;
  SizeNodes size_nodes_;
  Env known_;                            // what nodes give that read weights alone
  std::vector<Place> places_;            // of all names
  std::vector<const Value*> constants_;  // of all places
  size_t num_slots_ = 0;
  std::unordered_map<std::string_view, int> place_of_;
  size_t weight_bytes_ = 0;
  std::vector<NDArray> weights_;  // that the steps read, as the file has them or as recipes do
  std::vector<int> results_;      // that are kept
  mutable std::atomic<size_t> read_again_{0};
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> frames_;  // that no thread uses now
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_ONCE_H_
