/*
 * What a converter makes of one node, as calls of operators on arrays.
 *
 * A converter is asked anew for each set of shapes: it may look at them, and computes what a plan
 * needs to know. That takes longer than the kernels of a small model do. But most converters look
 * at dtypes and ranks alone, or at the shapes of few inputs. So what one has made is written down
 * with what it has looked at, and serves as long as that is the same.
 */
#ifndef MXNET_ONNX_RUN_RECIPE_H_
#define MXNET_ONNX_RUN_RECIPE_H_

#include <memory>
#include <vector>

#include "mxnet/kernel_args.h"
#include "onnx/builder.h"
#include "onnx/run/weights_call.h"

namespace mxnet {
namespace onnx {

class Session;

/* Any number of threads follow it. */
class Recipe {
 public:
  /*
   * Of a node that reads `inputs`, as they were for an earlier plan. `constant`: those that are the
   * same in each call; of others types and small contents count. Null: the converter has to be
   * asked each time.
   */
  static std::unique_ptr<const Recipe> Write(const Session& session, const NodeProto& node, const Rule& rule,
                                             const std::vector<Value>& inputs, const std::vector<char>& constant);
  /* Would the converter make the same of these? */
  bool Fits(Span<const Value* const> inputs) const;
  /* What it has of weights, and of what converters made. */
  const std::vector<NDArray>& constants() const { return constants_; }
  /* What one thread at a time needs for it. */
  struct Scratch {
    CallStates states;

   private:
    std::vector<NDArray> made;           // results of all calls
    std::vector<const NDArray*> arrays;  // inputs, and these
    ShapeVector in_shapes, out_shapes;
    std::vector<TBlob> in, out;
    std::vector<OpReq> req;
    std::vector<uint64_t> versions;
    friend class Recipe;
  };
  /* Computes it; null: nobody wants the output. REQUIRES: Fits, and the inputs are there, on the
   * CPU. */
  void Follow(Span<const Value* const> inputs, Span<Value* const> outputs, Scratch* scratch) const;

 private:
  struct Seen {             // of an input, beside dtype and rank
    bool shape = false;     // all of it
    std::vector<int> axes;  // else these dimensions
    Shape was;
    NDArray contents;  // if they were read
  };
  struct Input {                           // small: a run looks at those of all nodes
    bool given = false, constant = false;  // not given: an optional one
    int ndim = 0, dtype = kFloat32;
    std::unique_ptr<Seen> seen;  // null: nothing
  };
  struct OpCall {
    AttrsPtr attrs;
    const Kernel* kernel;
    std::vector<int> in;      // arrays of a call, by number; of constants: ~number
    std::vector<int> dtypes;  // of the results, which follow what was there before
    bool moves;               // the result is the only input in another shape
    uint32_t asks;            // bit i: it asks for input i, a weight that may lie in the file
    bool keeps;               // it has forms of constants that calls keep (KeepsForms)
  };
  static constexpr int kNothing = -(1 << 30);
  class Writer;

  const NDArray& At(int place, const Scratch& scratch) const {
    return place < 0 ? constants_[static_cast<size_t>(~place)] : *scratch.arrays[static_cast<size_t>(place)];
  }
  void Run(const OpCall& call, NDArray* results, Scratch* scratch) const;
  void Push(const OpCall& call, NDArray* results, const Scratch& scratch) const;

  std::vector<Input> inputs_;
  std::vector<NDArray> constants_;
  std::vector<OpCall> calls_;
  std::vector<int> results_;   // of each output; kNothing: none
  bool moves_results_ = true;  // no two outputs are one array
  size_t num_results_ = 0;     // of all calls
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_RECIPE_H_
