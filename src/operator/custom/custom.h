/*
 * Operators that the program brings along: what Custom asks of them. The C interface makes one of
 * the callbacks that it is given (src/c_api/c_api_custom.cc).
 */
#ifndef MXNET_OPERATOR_CUSTOM_CUSTOM_H_
#define MXNET_OPERATOR_CUSTOM_CUSTOM_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace custom {

enum Tag : int { kInput = 0, kOutput = 1, kInputGrad = 2, kOutputGrad = 3, kAux = 4 };

/* A sparse array of a call that has the parts of an operation's for its time. */
struct LentParts {
  size_t at;  // which of the call's arrays
  SparseParts* owner;
  bool writes;
};

/* Arrays of one call: of each tag in order. What a backward function did not ask for is none. */
struct Call {
  bool backward = false, is_train = false;
  std::vector<NDArray> arrays;
  std::vector<int> tags;
  std::vector<LentParts> lent;
  std::vector<OpReq> reqs;  // of the outputs, or of the inputs' gradients
};

/* One operator, made for a call or an executor. Destroyed on any thread. */
class Operator {
 public:
  virtual ~Operator() = default;
  /* Throws what went wrong. May leave operations on the arrays pending. */
  virtual void Run(const Call& call) = 0;
};

/* What describes operators with the same arguments. Immutable; its functions run on the calling
 * thread and throw what went wrong. */
class Prop {
 public:
  virtual ~Prop() = default;
  /* `shapes`, `types`: of arguments (given, as far as they are known), outputs and auxiliary states
   * (to be filled in). */
  virtual void InferShape(ShapeVector* shapes) const = 0;
  virtual void InferType(std::vector<int>* types) const = 0;
  /* Does the operator take sparse arrays? Then these are called, with storages (StorageType) of
   * arguments, outputs and auxiliary states, as far as they are known, or of all arrays of backward
   * with their tags; they fill in the rest. */
  virtual bool TakesSparse() const = 0;
  virtual void InferStorage(std::vector<int>* storages) const = 0;
  virtual void InferBackwardStorage(std::vector<int>* storages, const std::vector<int>& tags) const = 0;
  /* `shapes`, `types`: of arguments and auxiliary states. */
  virtual std::shared_ptr<Operator> Create(Context ctx, const ShapeVector& shapes, const std::vector<int>& types) const = 0;

  std::string op_type;
  std::vector<std::string> arguments, outputs, states;
  /* What backward reads, sorted: gradients of outputs, then arguments, then outputs. */
  std::vector<int> dependencies;
  int num_in() const { return static_cast<int>(arguments.size()); }
  int num_out() const { return static_cast<int>(outputs.size()); }
  int num_aux() const { return static_cast<int>(states.size()); }
};

/* Of one use of the operator, with its arguments as texts. */
using Creator = std::function<std::shared_ptr<const Prop>(const std::string& op_type, const AttrDict& arguments)>;
/* In place of one of that name. */
void Register(const std::string& op_type, Creator creator);

}  // namespace custom
}  // namespace mxnet
#endif  // MXNET_OPERATOR_CUSTOM_CUSTOM_H_
