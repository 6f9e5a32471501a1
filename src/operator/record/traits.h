/*
 * What graph passes ask of an operator. A pass never looks at an operator's name or at the text of
 * its attributes: it asks for the operator's role and for views of its parsed parameters.
 *
 * A role says what is computed, whatever the operator is called: elemwise_add, broadcast_add and
 * _npi_add have the role kAdd. A record declares it with `.set_trait(Role::kAdd)`. Where the role
 * depends on parameters (Activation with act_type relu), the record declares a RoleByParameters.
 *
 * A view is a small struct with the parameters that passes need, in their terms. A record that
 * owns the parameter struct declares how it is read:
 *   .set_trait(ViewOf<SoftmaxView>{[](const Attrs& a) {
 *     const auto& p = a.get<SoftmaxParam>();
 *     return SoftmaxView{p.axis, p.temperature.has_value(), p.dtype.has_value()};
 *   }})
 * and a pass asks `if (const auto softmax = View<SoftmaxView>(node))`.
 *
 * A trait without parameters is an empty struct; passes ask `op->trait<T>() != nullptr`.
 */
#ifndef MXNET_OPERATOR_RECORD_TRAITS_H_
#define MXNET_OPERATOR_RECORD_TRAITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {

/*
 * Roles are about output 0. An operator has a role only if it computes exactly that from all its
 * inputs: operators with a number as one operand (_plus_scalar) have a WithNumber instead.
 */
enum class Role : uint8_t {
  kNone,
  // Two arrays, element by element. Of one shape or broadcast: the shapes tell.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMinimum,
  kPower,
  // One array, element by element.
  kNegative,
  kReciprocal,
  kSqrt,
  kRsqrt,
  kSquare,
  kExp,
  kLog,
  kErf,
  kTanh,
  kSigmoid,
  kRelu,
  kGelu,
  kIsNan,  // a boolean
  // The elements as they are, or in another dtype.
  kCopy,
  kStopGradient,
  kCast,          // input 0 in the dtype of output 0
  kCastTogether,  // several arrays, each to a common dtype: output i is input i
  // The same elements in the same order, another shape (Reshape, expand_dims, squeeze, ...).
  kReshape,
  kTranspose,  // see PermutationOf
  kBroadcast,  // repeats dimensions of size 1, possibly after adding leading ones
  kRepeat,     // repeats elements along an axis; see RepeatView
  kSlice,
  kConcat,  // arrays one behind the other; see AlongAxis
  // Over axes; see ReductionView.
  kSum,
  kSumOfSquares,
  kMean,
  kVariance,  // the mean of squares around the mean
  kMax,
  kMin,
  // An array of one value that does not depend on any input's contents.
  kConstant,
  // Layers.
  kMatrixProduct,         // of the last dimension and the first; see MatrixProductView
  kBatchedMatrixProduct,  // of the last two dimensions; see MatrixProductView
  kSoftmax,
  kLogSoftmax,
  kMaskedSoftmax,
  kDropout,
  kLayerNorm,
  kBatchNorm,
  kDense,
  kConvolution,
  kAttention,        // the fused form
  kAttentionScores,  // queries times keys of interleaved projections; see InterleavedView
  kAttentionValues,  // weights times values of interleaved projections
  kRnn,
};

struct RoleByParameters {
  Role (*of)(const Attrs&);
};

/* kNone for variables and for operators that declare nothing. */
Role RoleOf(const Node& node);
/* Is `e` the first result of an operator with this role? */
inline bool IsResultOf(const NodeEntry& e, Role role) { return e.index == 0 && RoleOf(*e.node) == role; }

template <typename V>
struct ViewOf {
  V (*read)(const Attrs&);
};
template <typename V>
std::optional<V> View(const Node& node) {
  if (node.is_variable()) return std::nullopt;
  const auto* view = node.op()->trait<ViewOf<V>>();
  return view ? std::optional<V>(view->read(*node.attrs)) : std::nullopt;
}

// ---- numbers as operands

/* role(x, number), or role(number, x) where the number comes first. */
struct WithNumber {
  Role role;
  bool number_first;
  double (*number)(const Attrs&);
};
/* The number beside which `node` computes role(x, number); nothing where it does not. */
std::optional<double> NumberBeside(const Node& node, Role role, bool number_first = false);

/* y = scale * x + shift with numbers. */
struct Affine {
  double scale = 1, shift = 0;
};
/* Of a node that adds, subtracts, multiplies or divides by a number, or negates. */
std::optional<Affine> AffineOf(const Node& node);

/* The c of y = x^c: square, sqrt, rsqrt, reciprocal, a power with a number, 1 / x. */
std::optional<double> ExponentOf(const Node& node);

// ---- moves and reductions

/* Dimension i of the result is dimension axes[i] of the input. */
struct Permutation {
  std::vector<int> (*axes)(const Attrs&, int ndim);
};
/* Empty when the node is no transpose. */
std::vector<int> PermutationOf(const Node& node, int ndim);

struct ReductionView {
  std::vector<char> reduced;  // by dimension of the input
  bool keepdims = false;
  bool initial = false;  // a number takes part
};
struct Reduction {
  ReductionView (*of)(const Attrs&, int ndim);
};
std::optional<ReductionView> ReductionOf(const Node& node, int ndim);

/* Consecutive entries of one dimension of the input; the others are whole. */
struct Stretch {
  int axis;
  int64_t begin, end;
};
/* What each result is. None where one is something else. */
struct Stretches {
  std::vector<Stretch> (*of)(const Attrs&, const Shape& whole);
};

struct RepeatView {
  std::optional<int> axis;  // none: of the flat array
};

/* A number where the condition, input 0, is not zero; else input 1. */
struct NumberWhereView {
  double number = 0;
};

// ---- layers

struct MatrixProductView {
  bool transpose_a = false, transpose_b = false;
};

struct SoftmaxView {
  int axis = -1;
  bool temperature = false, dtype = false, length = false;  // given?
};

struct DropoutView {
  float p = 0;
  bool always = false;  // in inference too
  bool shares = false;  // one decision for several elements
  /* Does it give what it gets? */
  bool DropsNothing(bool training) const { return p == 0 || (!training && !always); }
};

/* Products of interleaved projections: queries, keys and values of one sequence side by side, or
 * queries apart from keys and values. */
struct InterleavedView {
  int heads = 1;
  bool self = false;  // one sequence
};

// ---- traits that tell passes what they may do

/*
 * Output 0 is input 0 unchanged where both have one shape and dtype, nobody reads the other outputs
 * and `when` says so (null: always).
 */
struct GivesInput {
  bool (*when)(const Attrs&, const Shape& shape, bool training) = nullptr;
};

// ---- scale folding, layouts, micro-batches, recomputation, sources

/* The dimension that an operator is about: it puts its inputs together along it, or normalizes each
 * of its places apart. May be negative. */
struct AlongAxis {
  int (*axis)(const Attrs&);
};

/* The input that counts as 1 whatever its array holds: executors write ones into the array. -1:
 * none. */
struct CountsAsOnes {
  int (*input)(const Attrs&);
};

/* A parameter names the order of the dimensions, and shapes are in that order: does it put channels
 * last? */
struct NamesLayout {
  bool (*channels_last)(const Attrs&);
};
/* False where no parameter says so. */
bool ShapesAreChannelsLast(const Node& node);

/* The same tensor in another memory layout. */
struct LayoutConversion {};
/* LayoutRule::kChannelsLast on the CPU and in inference alone, with parameters for which `when` is
 * true. */
struct ImagesOnCpu {
  bool (*when)(const Attrs&);
};

/* (x - mean) / sqrt(var + eps) * gamma + beta of inputs x, gamma, beta, mean and var; see
 * AlongAxis. */
struct BatchNormView {
  double eps = 0;
  bool fix_gamma = false;      // gamma counts as 1
  bool gives_moments = false;  // outputs 1 and 2 are results
};
/* The same of inputs x, gamma and beta, with the moments of each channel (dimension 1) of each
 * example. */
struct InstanceNormView {
  double eps = 0;
};
/* A BatchNorm with relu, or a sum and relu, behind it. `inputs`: of the normalization. */
struct NormFusion {
  NodePtr (*with_relu)(const Node& norm, const std::vector<NodeEntry>& inputs);
  NodePtr (*with_add_relu)(const Node& norm, const std::vector<NodeEntry>& inputs, const NodeEntry& addend);
};

/* What it costs to compute output 0 again is one pass over memory, and its inputs are kept in any
 * case. */
struct RecomputesNearlyFree {};

/* Where inputs are vectors: their elements, one vector behind the other, as a recurrent layer wants
 * its parameters. */
struct JoinsParameters {};

/* The kernel for the CPU says before it reads these inputs in float32 or int8 (bit i: input i), and
 * when it has them in a form of its own (KernelArgs::NeedWeights). `halves`: in 16 bits, too.
 * `when`: for such parameters; null: for all. `bytes`: in uint8, too. */
struct AsksForWeights {
  uint32_t inputs = 0;
  bool halves = false;
  bool (*when)(const Attrs&) = nullptr;
  bool bytes = false;
};

/* For each new shape the kernel for the CPU prepares something that takes as long as some calls,
 * and of which a plan keeps more than a call by itself does. */
struct PreparesForShape {};

/* Of this input no more elements are read than output 0 has: rows of a table, a slice. */
struct ReadsChosen {
  int input = 0;
};

/* A parameter says the shape of what has no inputs; parts of it may be left to the users. */
struct ShapeParameter {
  const char* name;
  Shape (*shape)(const Attrs&);
};

// ---- quantization (mx.contrib.quantization)

/*
 * The operator on 8-bit integers that computes what this one does. It has the same parameters and
 * inputs. Behind these it takes the minimum and the maximum of each input that is of 8-bit
 * integers, in their order, as float32 of shape (1,). Behind output 0 it gives the minimum and the
 * maximum of that.
 */
struct Quantized {
  std::string op;
  std::vector<int> kept = {};            // inputs that stay as they are: indices, statistics, states
  bool (*when)(const Attrs&) = nullptr;  // the nodes that have it; null: all
  /* The inputs' scale and shift take the places of minimum and maximum, as _contrib_quantize_asym
   * gives them, and the outputs are those of this operator, in float32. */
  bool asymmetric = false;
};
/* Null where the node has none, or is a variable. */
const Quantized* QuantizedFormOf(const Node& node);

/* Of a quantized operator: output 0 is int32, which _contrib_requantize makes 8-bit integers of. */
struct NeedsRequantize {
  bool (*when)(const Attrs&) = nullptr;  // null: always
};
bool NeedsRequantizing(const Node& node);

/* Its parameters min_calib_range and max_calib_range say what range output 0 has; without them the
 * operator finds a range. */
struct TakesCalibratedRange {};

/* Other nodes that give the same for less, where dtypes allow it: an entry for each output. */
struct CheaperForm {
  std::vector<NodeEntry> (*make)(const Node& node, const std::vector<int>& in_types, const std::vector<int>& out_types);
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_TRAITS_H_
