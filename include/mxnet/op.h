/*
 * The operator record: everything that the library knows about an operator, declared once.
 *
 * Python and C signatures, documentation, stubs, autograd, graph passes and the test harness are
 * derived from it. A record is built by chained setters at static initialisation and is immutable
 * afterwards:
 *
 *   MXNET_REGISTER_OP(FullyConnected)
 *       .describe("...")
 *       .alias("_npx_fully_connected")
 *       .set_param<FullyConnectedParam>()  // src/operator/record/param.h
 *       .set_inputs({"data", "weight", "bias"}, NumInputs).set_infer_shape(FullyConnectedShape)
 *       .set_dtypes(dtypes::kFloats)       // src/operator/record/dtypes.h
 *       .set_gradient(BackwardNode("_backward_FullyConnected", kGradInputs))
 *       .set_kernel(DeviceType::kCPU, FullyConnectedCPU);
 *
 * A kernel that is made of functions which exist for both devices (pointwise::Execute,
 * reduce::Reduce, ...) is set without a device and serves both. One for another device alone is
 * registered from its own file (`_cuda.cc`): MXNET_REGISTER_OP_KERNEL(name, kGPU, fn).
 */
#ifndef MXNET_OP_H_
#define MXNET_OP_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/kernel_args.h"
#include "mxnet/node.h"

namespace mxnet {

class NDArray;
class ParamTable;

/*
 * Inference fills in what it can, in both directions. Returns true when all inputs and outputs are
 * known. Throws Error(kValue) with the operator's name and both sides on a contradiction or an
 * impossible shape.
 */
using InferShapeFn = std::function<bool(const Attrs&, ShapeVector* in, ShapeVector* out)>;
using InferTypeFn = std::function<bool(const Attrs&, std::vector<int>* in, std::vector<int>* out)>;

using InferShapeBySwitchesFn = std::function<bool(const Attrs&, const InferSwitches&, ShapeVector* in, ShapeVector* out)>;
using InferTypeBySwitchesFn = std::function<bool(const Attrs&, const InferSwitches&, std::vector<int>* in, std::vector<int>* out)>;

/*
 * The inference of attrs.op, for one call: the only way to a record's functions. The first form
 * fills in shapes and dtypes, then the second and third each their part. True when all of that part
 * is known. What the record says nothing about is dense. Throws as InferShapeFn does; *in and *out
 * of the first form are then as they were.
 */
MXNET_DLL bool InferCall(const Attrs& attrs, const InferSwitches& switches, TensorTypes* in, TensorTypes* out);
MXNET_DLL bool InferCall(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out);
MXNET_DLL bool InferCall(const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out);
/* By the record of another operator with the same parameter type. */
bool InferCallAs(const Op& op, const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out);

/*
 * Gradient as graph nodes, so that it differentiates again. `ograds` has one entry per output,
 * never null (missing ones are zeros). Returns one entry per input; a null entry means that no
 * gradient flows there.
 */
using GradientFn = std::function<std::vector<NodeEntry>(const NodePtr& node, const std::vector<NodeEntry>& ograds)>;
/* For operators whose output shapes depend on values (boolean_mask, unique): works on arrays, on
 * the calling thread, waits as it needs. */
using ArrayFn = std::function<void(const Attrs&, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool is_train)>;

/*
 * How a call is carried out. Everybody who runs operators asks Op::RunsBy and looks at nothing
 * else.
 */
enum class RunBy : uint8_t {
  kNever,          // only known by shape, or replaced before anything runs
  kKernel,         // by the device's kernel, inside an engine operation
  kMeetingKernel,  // the same; on the CPU on a thread of its own, for it waits there for the same call on other devices
  kGraphKernel,    // the same; on a thread of its own, for it waits for operators in graphs that the node holds
  kArrays,         // by array_fn, on the calling thread
  kAsync           // an engine operation starts it, threads that are not the engine's end it (AsyncCall)
};

enum class LayoutRule : uint8_t {
  kPlain,         // inputs must be row-major, outputs are
  kAgnostic,      // element by element: any layout that all same-shaped inputs share; output gets it
  kBroadcast,     // the same; inputs of other shapes are repeated, and are the same bytes in both layouts
  kChannelsLast,  // kernel reads TBlob::layout of 4-D/5-D input 0 and outputs and handles both
  kImages         // some inputs and outputs are images (Op::images), in any mixture of layouts; plans let results be channels last
};

/* Of an operator with LayoutRule::kImages; bit i: input or output i. */
struct ImagePlaces {
  uint32_t in = 0, out = 0;
  uint32_t like_output = 0;  // inputs that must lie as output 0 does
};

/*
 * In which precision programs of mixed precision (mx.amp) run an operator. Most of it follows from
 * the record (src/operator/record/precision.h); kFull is declared by operators that lose too much
 * in float16.
 */
enum class Precision : int { kAny = 0, kLow = 1, kFull = 2, kWidest = 3 };

/* kFull where `parameter` has one of the values. */
struct PrecisionCondition {
  std::string parameter;
  std::vector<std::string> values;
};

/*
 * How the backward pass computes an operator's result again, where running the operator a second
 * time would do something else. Output 0 of a node is output 0 of operator `op` (of the same
 * parameter type) on the node's inputs, the first `inputs` of them (-1: all), and on its outputs
 * `reads`, which are therefore kept: BatchNorm's moving averages do not move twice, Dropout's mask
 * is not drawn twice.
 */
struct RecomputeRule {
  std::string op;  // empty: the operator itself
  int inputs = -1;
  std::vector<int> reads;
};

/* A property of an operator that passes ask for, told from others by its type. */
struct Trait {
  const std::type_info* type;
  std::shared_ptr<const void> value;
  /* T::Check(const Op&) of a type that has it: throws Error(kValue) when the finished record
   * contradicts the trait. Else null. */
  void (*check)(const Op&);
};
template <typename T>
constexpr auto CheckOfTrait(int) -> decltype(&T::Check) {
  return &T::Check;
}
template <typename T>
constexpr void (*CheckOfTrait(long))(const Op&) {
  return nullptr;
}

struct MXNET_DLL Op {
  std::string name;
  std::string description;
  std::vector<std::string> aliases;
  std::vector<ParamInfo> params;
  std::vector<std::string> input_names;  // longest form; variadic: {"data"} with num_args
  std::string key_var_num_args;          // "num_args" for variadic operators
  std::vector<std::string> output_names = {"output"};
  std::function<std::shared_ptr<const void>(const AttrDict&)> parse;  // throws; empty: no parameters
  std::function<int(const Attrs&)> num_inputs;                        // empty: input_names.size()
  std::function<int(const Attrs&)> num_outputs;                       // empty: output_names.size()
  std::function<int(const Attrs&)> num_visible_outputs;               // empty: all
  std::function<std::vector<std::string>(const Attrs&)>
      list_inputs;  // empty: first num_inputs of input_names, or name0, name1.. when variadic
  std::function<std::vector<std::string>(const Attrs&)> list_outputs;     // empty: output_names, or output0, output1...
  std::function<std::vector<int>(const Attrs&)> mutate_inputs;            // auxiliary states and updated arrays; empty: none
  std::function<std::vector<std::pair<int, int>>(const Attrs&)> inplace;  // (input, output) pairs that may share memory
  // Inference, which InferCall alone reads. A public operator has one of the first two.
  InferShapeFn infer_shape;
  InferShapeBySwitchesFn infer_shape_by;
  InferTypeFn infer_type;  // this one and the next empty: all inputs and outputs share one dtype
  InferTypeBySwitchesFn infer_type_by;
  GradientFn gradient;                         // empty: not differentiable (an error when asked for)
  RunBy runs = RunBy::kNever;                  // as the setters of kernels, of array_fn and of AsyncCall left it
  std::function<RunBy(const Attrs&)> runs_by;  // the same where parameters tell; empty: `runs`
  ArrayFn array_fn;                            // of RunBy::kArrays
  std::function<double(const Attrs&, Span<const TBlob> in, Span<const TBlob> out)> flops;  // empty: one per output element
  std::vector<int> dtypes;  // accepted for input 0 (without inputs: output 0); never empty. The harness checks both directions
  LayoutRule layout = LayoutRule::kPlain;
  ImagePlaces images;
  int shape_only_from = -1;                             // this input and all behind it are looked at for their shape alone; -1: none
  std::function<int(const Attrs&)> shape_only_from_of;  // the same where parameters tell; empty: shape_only_from
  bool uses_random = false;
  bool makes_sparse = false;               // its sparse form may make sparse results of dense inputs (record/sparse_form.h)
  bool supports_add = false;               // kernels honour OpReq::kAdd; otherwise the caller adds through a temporary
  bool zero_gradient = false;              // differentiable everywhere with gradient 0 (comparisons, argmax): gradient gives null entries
  bool stateful = false;                   // wants KernelArgs::state also in eager mode
  bool depends_on_training = false;        // result differs between is_train true and false
  bool expensive_to_recompute = false;     // recomputing it in the backward pass costs more than its result's memory is worth
  Precision precision = Precision::kAny;   // as declared; see PrecisionOf
  PrecisionCondition precision_condition;  // no values: none
  RecomputeRule recompute;
  std::vector<Trait> traits;  // one of each type (src/operator/record/traits.h)
  std::map<DeviceType, Kernel> kernels;

  /* Null when the record does not have that trait. */
  template <typename T>
  const T* trait() const {
    return static_cast<const T*>(FindTrait(typeid(T)));
  }
  RunBy RunsBy(const Attrs& a) const { return __builtin_expect(runs_by || !a.subgraphs.empty(), 0) ? RunsByParameters(a) : runs; }
  bool infers_shapes() const { return infer_shape || infer_shape_by; }
  bool reads_switches() const { return infer_shape_by || infer_type_by; }
  int NumInputs(const Attrs& a) const { return num_inputs ? num_inputs(a) : static_cast<int>(input_names.size()); }
  int NumOutputs(const Attrs& a) const { return num_outputs ? num_outputs(a) : static_cast<int>(output_names.size()); }
  int NumVisibleOutputs(const Attrs& a) const { return num_visible_outputs ? num_visible_outputs(a) : NumOutputs(a); }
  std::vector<std::string> ListInputs(const Attrs& a) const;
  std::vector<std::string> ListOutputs(const Attrs& a) const;
  std::vector<int> MutateInputs(const Attrs& a) const { return mutate_inputs ? mutate_inputs(a) : std::vector<int>(); }
  /* Fast path: kernels.at(kCPU) without the map; null when there is none. */
  const Kernel* cpu_kernel = nullptr;
  const Kernel* KernelFor(DeviceType dev) const;  // pinned and shared run on the CPU's; null when there is none

  /* Null / throws Error(kValue) with the nearest name when there is no such operator or alias. */
  static const Op* Find(const std::string& name);
  static const Op* Get(const std::string& name);
  static std::vector<std::string> ListNames();  // names and aliases, sorted
  static std::vector<const Op*> ListUnique();

  // Chained setters (definitions in src/operator/record/op.cc; of structs of parameters: param.h
  // there).
  Op& describe(const std::string& text) {
    description = text;
    return *this;
  }
  Op& alias(const std::string& other);
  template <typename P>
  Op& set_param() {
    return SetParams(P::Table(), []() -> std::shared_ptr<void> { return std::make_shared<P>(); });
  }
  Op& set_inputs(std::vector<std::string> names, std::function<int(const Attrs&)> count = nullptr);
  Op& set_variadic(const std::string& input_name, std::function<int(const Attrs&)> count, const std::string& key = "num_args");
  Op& set_outputs(std::vector<std::string> names, std::function<int(const Attrs&)> count = nullptr,
                  std::function<int(const Attrs&)> visible = nullptr);
  Op& set_num_outputs(std::function<int(const Attrs&)> count) {
    num_outputs = std::move(count);
    return *this;
  }
  Op& set_list_inputs(std::function<std::vector<std::string>(const Attrs&)> f) {
    list_inputs = std::move(f);
    return *this;
  }
  Op& set_list_outputs(std::function<std::vector<std::string>(const Attrs&)> f) {
    list_outputs = std::move(f);
    return *this;
  }
  Op& set_mutate_inputs(std::vector<int> which) {
    mutate_inputs = [which](const Attrs&) { return which; };
    return *this;
  }
  Op& set_mutate_inputs(std::function<std::vector<int>(const Attrs&)> f) {
    mutate_inputs = std::move(f);
    return *this;
  }
  Op& set_inplace(std::vector<std::pair<int, int>> pairs) {
    inplace = [pairs](const Attrs&) { return pairs; };
    return *this;
  }
  Op& set_inplace(std::function<std::vector<std::pair<int, int>>(const Attrs&)> f) {
    inplace = std::move(f);
    return *this;
  }
  Op& set_infer_shape(InferShapeFn f) {
    infer_shape = std::move(f);
    infer_shape_by = nullptr;
    return *this;
  }
  Op& set_infer_shape(InferShapeBySwitchesFn f) {
    infer_shape_by = std::move(f);
    infer_shape = nullptr;
    return *this;
  }
  Op& set_infer_type(InferTypeFn f) {
    infer_type = std::move(f);
    infer_type_by = nullptr;
    return *this;
  }
  Op& set_infer_type(InferTypeBySwitchesFn f) {
    infer_type_by = std::move(f);
    infer_type = nullptr;
    return *this;
  }
  Op& set_gradient(GradientFn f) {
    gradient = std::move(f);
    return *this;
  }
  Op& set_zero_gradient();
  Op& set_array_fn(ArrayFn f) {
    array_fn = std::move(f);
    runs = RunBy::kArrays;
    return *this;
  }
  Op& set_runs(RunBy how) {
    runs = how;
    return *this;
  }
  Op& set_runs(std::function<RunBy(const Attrs&)> how) {
    runs_by = std::move(how);
    return *this;
  }
  Op& set_flops(std::function<double(const Attrs&, Span<const TBlob>, Span<const TBlob>)> f) {
    flops = std::move(f);
    return *this;
  }
  Op& set_dtypes(std::vector<int> d) {
    dtypes = std::move(d);
    return *this;
  }
  Op& set_layout(LayoutRule r) {
    layout = r;
    return *this;
  }
  Op& set_images(ImagePlaces places) {
    layout = LayoutRule::kImages;
    images = places;
    return *this;
  }
  Op& set_shape_only_from(int input) {
    shape_only_from = input;
    return *this;
  }
  Op& set_shape_only_from(std::function<int(const Attrs&)> input) {
    shape_only_from_of = std::move(input);
    return *this;
  }
  Op& set_expensive_to_recompute() {
    expensive_to_recompute = true;
    return *this;
  }
  Op& set_precision(Precision p) {
    precision = p;
    return *this;
  }
  Op& set_precision_condition(std::string parameter, std::vector<std::string> values) {
    precision_condition = {std::move(parameter), std::move(values)};
    return *this;
  }
  Op& set_recompute(RecomputeRule rule) {
    recompute = std::move(rule);
    return *this;
  }
  template <typename T>
  Op& set_trait(T value) {
    return AddTrait({&typeid(T), std::shared_ptr<const void>(new const T(std::move(value))), CheckOfTrait<T>(0)});
  }
  Op& set_uses_random() {
    uses_random = true;
    return *this;
  }
  Op& set_supports_add() {
    supports_add = true;
    return *this;
  }
  Op& set_stateful() {
    stateful = true;
    return *this;
  }
  Op& set_depends_on_training() {
    depends_on_training = true;
    return *this;
  }
  Op& set_kernel(DeviceType dev, Kernel k);
  /* One function for the CPU and for GPUs: it touches data only through functions that are given
   * KernelArgs::run and go where that says. */
  Op& set_kernel(Kernel k);

  /* The record of that name, created on first mention (a `_cuda.cc` file may be initialised before
   * the record's own). */
  static Op& Register(const std::string& name);

 private:
  Op& SetParams(const ParamTable& table, std::shared_ptr<void> (*make)());
  const void* FindTrait(const std::type_info& type) const;
  RunBy RunsByParameters(const Attrs& a) const;
  /* In place of one of its type. */
  Op& AddTrait(Trait trait);
};

inline bool Attrs::ReadsOnlyShape(int input) const {
  if (!op) return false;
  if (__builtin_expect(static_cast<bool>(op->shape_only_from_of), 0)) return input >= op->shape_only_from_of(*this);
  return op->shape_only_from >= 0 && input >= op->shape_only_from;
}

// ---- inference and gradient building blocks (src/operator/record/op_common.cc)
bool ElemwiseShape(const Attrs&, ShapeVector* in, ShapeVector* out);       // all inputs and outputs alike
bool SameType(const Attrs&, std::vector<int>* in, std::vector<int>* out);  // all inputs and outputs alike
/* NumPy broadcasting of two shapes; throws Error(kValue) "[op] ... cannot be broadcast". */
Shape BroadcastShape(const std::string& op, const Shape& a, const Shape& b);
/* Checks one inferred value against another: *into = merged, throws Error(kValue) "[op] input
 * `name` has shape.. expected.." */
void AssignShape(const Attrs&, const char* what, Shape* into, const Shape& value);
void AssignType(const Attrs&, const char* what, int* into, int value);

enum GradUses : int { kGradInputs = 1, kGradOutputs = 2, kGradNoOgrad = 4 };
/* One backward node with inputs [ograds][inputs if kGradInputs][outputs if kGradOutputs] whose
 * outputs are the inputs' gradients, in order. */
GradientFn BackwardNode(const char* backward_op, int uses);
/* As many null entries as inputs. */
std::vector<NodeEntry> NoGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds);

#define MXNET_REG_CONCAT_(a, b) a##b
#define MXNET_REG_CONCAT(a, b) MXNET_REG_CONCAT_(a, b)
#define MXNET_REGISTER_OP_NAME(str) \
  static ::mxnet::Op& MXNET_REG_CONCAT(mxnet_op_reg_, __COUNTER__) [[maybe_unused]] = ::mxnet::Op::Register(str)
#define MXNET_REGISTER_OP(name) MXNET_REGISTER_OP_NAME(#name)
#define MXNET_REGISTER_OP_KERNEL(name, device, fn) MXNET_REGISTER_OP_NAME(#name).set_kernel(::mxnet::DeviceType::device, fn)

}  // namespace mxnet
#endif  // MXNET_OP_H_
