#include "onnx/rewrite/float_nodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "onnx/builder.h"
#include "onnx/file/makers.h"
#include "onnx/rewrite/integers.h"
#include "onnx/rewrite/node_kinds.h"
#include "onnx/rewrite/written_nodes.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr int64_t kOpset = 13;  // of nodes that are written here

QuantityNames QuantityAt(const NodeProto& n, size_t first) { return {InputOf(n, first), InputOf(n, first + 1), InputOf(n, first + 2)}; }

class Rewriter {
 public:
  Rewriter(const GraphProto& graph, const Session& session, std::deque<NodeProto>* made)
      : graph_(graph), session_(session), made_(made), makers_(NodesOf(graph), session) {
    for (const NodeProto& n : graph.nodes)
      for (const auto* list : {&n.inputs, &n.captured})
        for (const std::string& name : *list) ++uses_[name];
    for (const ValueInfo& v : graph.outputs) ++uses_[v.name];
  }

  std::vector<const NodeProto*> Run() {
    for (const NodeProto& n : graph_.nodes) FindTable(n);
    for (const NodeProto& n : graph_.nodes) {
      NoteSteps(n);
      FindSums(n);
      if (gone_.count(&n)) continue;
      if (Write(n)) continue;
      MXNET_CHECK_KIND(!WriterOf(n), Value)
          << "[onnx] node " << n.label() << " (" << n.op
          << ") computes with integers whose scales or zero points are missing, or several numbers that are not one for each filter, row "
             "or column, or with floats of 8 bits: gradients do not pass it, so the model is no block; accepted: calls of the model, "
             "convert(), and QuantizeLinear and DequantizeLinear around the operator on floats";
      nodes_.push_back(&n);
    }
    return std::move(nodes_);
  }

 private:
  using Writer = bool (Rewriter::*)(const NodeProto&);

  // ---- what is known of names
  /* The size of a constant; 0: none, or not known. */
  int64_t SizeOf(const std::string& name) const {
    const NDArray* const a = makers_.ConstantOf(name);
    return a && !a->is_none() ? a->shape().Size() : 0;
  }
  bool IsOne(const QuantityNames& q) const { return SizeOf(q.scale) == 1 && (q.zero.empty() || SizeOf(q.zero) == 1); }
  /* Is it there, and no constant? */
  bool IsComputed(const std::string& name) const { return !name.empty() && !makers_.ConstantOf(name); }
  /* One scale, also one that the graph computes, where an operator has one for its data. */
  bool HasOneScale(const QuantityNames& q) const {
    const auto one = [&](const std::string& name) { return SizeOf(name) == 1 || IsComputed(name); };
    return one(q.scale) && (q.zero.empty() || one(q.zero));
  }
  /* Scales along one axis. */
  bool AreAlong(const QuantityNames& q) const {
    const auto along = [&](const std::string& name) {
      const NDArray* const a = name.empty() ? nullptr : makers_.ConstantOf(name);
      return a ? a->shape().ndim() <= 1 : IsComputed(name);
    };
    return along(q.scale) && (q.zero.empty() || along(q.zero));
  }
  /* One, or one for each row of data. */
  bool HasRowScales(const QuantityNames& q) const { return HasOneScale(q) || AreAlong(q); }
  const NodeProto* OnlyReader(const std::string& name) const {
    const auto uses = uses_.find(name);
    if (uses == uses_.end() || uses->second != 1) return nullptr;
    for (const NodeProto& n : graph_.nodes)
      if (std::find(n.inputs.begin(), n.inputs.end(), name) != n.inputs.end()) return &n;
    return nullptr;
  }

  // ---- writing
  NodeProto& Add(const NodeProto& of, const char* op, std::vector<std::string> inputs, const std::string& result = "") {
    NodeProto& n = made_->emplace_back();
    n.name = of.label(), n.op = op, n.opset = kOpset, n.inputs = std::move(inputs);
    n.outputs = {result.empty() ? of.label() + "/floats/" + std::to_string(made_->size()) : result};
    nodes_.push_back(&n);
    return n;
  }
  static void CopyAttributes(const NodeProto& from, NodeProto* to, const std::set<std::string>& but = {}) {
    for (const Attribute& a : from.attributes)
      if (!but.count(a.name)) to->attributes.push_back(a);
  }
  /* The name of what numbers stand for. Rows of a table are taken of its floats. */
  std::string Floats(const NodeProto& of, const QuantityNames& q, int64_t axis = 1) {
    const NodeProto* const maker = makers_.Of(q.numbers);
    if (maker && Is(*maker, "Gather") && maker->inputs.size() == 2 && session_.ConstantNamed(maker->inputs[0]) && IsOne(q)) {
      NodeProto& rows = Add(of, "Gather", {Floats(of, {maker->inputs[0], q.scale, q.zero}), maker->inputs[1]});
      CopyAttributes(*maker, &rows);
      return rows.outputs[0];
    }
    NodeProto& n = Add(of, "DequantizeLinear", {q.numbers, q.scale, q.zero});
    AddInt(&n, "axis", axis);
    return n.outputs[0];
  }
  /* The scale of a bias, whose factors are no weights, also where one of them is computed. */
  std::string BiasScale(const NodeProto& of, const QuantityNames& x, const QuantityNames& w) {
    NodeProto& own = Add(of, "Fixed", {w.scale});
    own.domain = kIntegerDomain, own.opset = 1;
    const std::string name = own.outputs[0];
    return Add(of, "Mul", {x.scale, name}).outputs[0];
  }
  /* Makes the result of a node of these floats; `scale` and `zero` are places among its inputs. */
  void Steps(const NodeProto& of, const std::string& floats, size_t scale, size_t zero, int64_t axis = 1) {
    steps_[of.outputs[0]] = {of.outputs[0], InputOf(of, scale), InputOf(of, zero)};
    AddInt(&Add(of, "QuantizeLinear", {floats, InputOf(of, scale), InputOf(of, zero)}, of.outputs[0]), "axis", axis);
  }
  /* Where channels are last in images of `of`: floats with them behind the batch, or last again. */
  std::string Turned(const NodeProto& of, const char* order, const std::string& floats) {
    if (of.Int("channels_last", 0) == 0) return floats;
    NodeProto& n = Add(of, order, {floats});
    n.domain = kIntegerDomain, n.opset = 1;
    return n.outputs[0];
  }
  /* Are these names there, and the zero points of results, which say their dtypes? */
  static bool Has(const NodeProto& n, const std::vector<size_t>& inputs) {
    return std::all_of(inputs.begin(), inputs.end(), [&](size_t i) { return !InputOf(n, i).empty(); });
  }

  /* In which steps results are. */
  void NoteSteps(const NodeProto& n) {
    if (n.outputs.empty()) return;
    if (IsStep(n, "QuantizeLinear") && !InputOf(n, 2).empty() && !n.Find("block_size"))
      steps_[n.outputs[0]] = {n.outputs[0], InputOf(n, 1), InputOf(n, 2)};
    if (Is(n, "DynamicQuantizeLinear") && n.outputs.size() == 3) steps_[n.outputs[0]] = {n.outputs[0], n.outputs[1], n.outputs[2]};
  }

  /* What writes an operator on integers; null: it is none. */
  static Writer WriterOf(const NodeProto& n) {
    static const std::map<std::string, Writer> writers = {
        {"QLinearConv", &Rewriter::Conv},
        {"com.microsoft.QLinearConv", &Rewriter::Conv},
        {"QLinearMatMul", &Rewriter::MatMul},
        {"com.microsoft.QGemm", &Rewriter::Gemm},
        {"com.microsoft.QLinearAdd", &Rewriter::Pair},
        {"com.microsoft.QLinearMul", &Rewriter::Pair},
        {"com.microsoft.QLinearSigmoid", &Rewriter::Function},
        {"com.microsoft.QLinearLeakyRelu", &Rewriter::Function},
        {"com.microsoft.QLinearSoftmax", &Rewriter::Function},
        {"com.microsoft.QLinearGlobalAveragePool", &Rewriter::Function},
        {"com.microsoft.QLinearAveragePool", &Rewriter::Function},
        {"com.microsoft.QLinearWhere", &Rewriter::Where},
        {"com.microsoft.QLinearConcat", &Rewriter::Concat},
        {"com.microsoft.DynamicQuantizeMatMul", &Rewriter::DynamicMatMul},
        {"com.microsoft.MatMulIntegerToFloat", &Rewriter::MatMulToFloat},
        {"com.microsoft.QAttention", &Rewriter::Attention},
    };
    const auto found = writers.find(n.domain.empty() ? n.op : n.domain + "." + n.op);
    return found == writers.end() ? nullptr : found->second;
  }

  bool Write(const NodeProto& n) {
    if (!n.small.empty() || n.outputs.empty()) return false;
    if (const Writer writer = WriterOf(n)) return (this->*writer)(n);
    if (const auto sums = sums_.find(&n); sums != sums_.end()) return Sums(n, sums->second);
    if (IsStep(n, "DequantizeLinear")) return Rows(n);
    return Move(n);
  }

  bool Conv(const NodeProto& n) {
    const QuantityNames x = QuantityAt(n, 0), w = QuantityAt(n, 3);
    if (!Has(n, {6, 7}) || !HasOneScale(x) || !AreAlong(w)) return false;
    std::vector<std::string> inputs = {Turned(n, "ChannelsFirst", Floats(n, x)), Floats(n, w, 0)};
    if (!InputOf(n, 8).empty()) {
      inputs.push_back(Floats(n, {InputOf(n, 8), BiasScale(n, x, w), ""}, 0));
    }
    NodeProto& made = Add(n, "Conv", inputs);
    CopyAttributes(n, &made, {"channels_last"});
    Steps(n, Turned(n, "ChannelsLast", made.outputs[0]), 6, 7, n.Int("channels_last", 0) != 0 ? -1 : 1);
    return true;
  }

  bool MatMul(const NodeProto& n) {  // of rows and columns that may have a scale each, as rows of the result
    const QuantityNames a = QuantityAt(n, 0), b = QuantityAt(n, 3);
    if (!Has(n, {6, 7}) || !HasRowScales(a) || !AreAlong(b)) return false;
    Steps(n, Add(n, "MatMul", {Floats(n, a, -2), Floats(n, b, -1)}).outputs[0], 6, 7, -2);
    return true;
  }

  bool Gemm(const NodeProto& n) {  // a, b, then a bias in steps of their product, then the steps of the result
    const QuantityNames a = QuantityAt(n, 0), b = QuantityAt(n, 3);
    const bool rounds = Has(n, {7});
    if ((rounds && !Has(n, {8})) || !HasOneScale(a) || !AreAlong(b)) return false;
    std::vector<std::string> inputs = {Floats(n, a), Floats(n, b, n.Int("transB", 0) ? 0 : 1)};
    if (!InputOf(n, 6).empty()) inputs.push_back(Floats(n, {InputOf(n, 6), BiasScale(n, a, b), ""}, -1));
    NodeProto& made = Add(n, "Gemm", inputs, rounds ? "" : n.outputs[0]);
    CopyAttributes(n, &made);
    if (const Attribute* alpha = n.Find("alpha")) AddFloat(&made, "beta", alpha->f);
    if (rounds) Steps(n, made.outputs[0], 7, 8);
    return true;
  }

  bool Pair(const NodeProto& n) {
    const QuantityNames a = QuantityAt(n, 0), b = QuantityAt(n, 3);
    if (!Has(n, {6, 7}) || !HasOneScale(a) || !HasOneScale(b)) return false;
    Steps(n, Add(n, n.op == "QLinearAdd" ? "Add" : "Mul", {Floats(n, a), Floats(n, b)}).outputs[0], 6, 7);
    return true;
  }

  bool Function(const NodeProto& n) {
    if (!Has(n, {3, 4}) || !HasOneScale(QuantityAt(n, 0))) return false;
    NodeProto& made = Add(n, n.op.c_str() + std::string("QLinear").size(), {Turned(n, "ChannelsFirst", Floats(n, QuantityAt(n, 0)))});
    made.opset = n.Int("opset", kOpset);  // of Softmax
    CopyAttributes(n, &made, {"opset", "channels_last"});
    Steps(n, Turned(n, "ChannelsLast", made.outputs[0]), 3, 4);
    return true;
  }

  bool Where(const NodeProto& n) {
    if (!Has(n, {7, 8}) || !HasOneScale(QuantityAt(n, 1)) || !HasOneScale(QuantityAt(n, 4))) return false;
    Steps(n, Add(n, "Where", {n.inputs[0], Floats(n, QuantityAt(n, 1)), Floats(n, QuantityAt(n, 4))}).outputs[0], 7, 8);
    return true;
  }

  bool Concat(const NodeProto& n) {
    if (!Has(n, {0, 1}) || n.inputs.size() < 5 || (n.inputs.size() - 2) % 3 != 0) return false;
    std::vector<std::string> parts;
    for (size_t i = 2; i < n.inputs.size(); i += 3)
      if (!HasOneScale(QuantityAt(n, i))) return false;
    for (size_t i = 2; i < n.inputs.size(); i += 3) parts.push_back(Floats(n, QuantityAt(n, i)));
    NodeProto& made = Add(n, "Concat", parts);
    CopyAttributes(n, &made);
    if (!made.Find("axis")) AddInt(&made, "axis", 0);
    Steps(n, made.outputs[0], 0, 1);
    return true;
  }

  void Product(const NodeProto& n, const std::string& a, const QuantityNames& b, const std::string& bias) {
    const std::vector<std::string> operands = {a, Floats(n, b, -1)};
    if (bias.empty()) return void(Add(n, "MatMul", operands, n.outputs[0]));
    const std::string product = Add(n, "MatMul", operands).outputs[0];
    Add(n, "Add", {product, bias}, n.outputs[0]);
  }

  bool DynamicMatMul(const NodeProto& n) {  // a, b, its scale and zero point, a bias
    const QuantityNames b = QuantityAt(n, 1);
    if (!AreAlong(b)) return false;
    NodeProto& rounded = Add(n, "DynamicQuantizeLinear", {n.inputs[0]});
    const std::string numbers = rounded.outputs[0];
    rounded.outputs.insert(rounded.outputs.end(), {numbers + "/scale", numbers + "/zero"});
    Product(n, Floats(n, {numbers, numbers + "/scale", numbers + "/zero"}), b, InputOf(n, 4));
    return true;
  }

  bool MatMulToFloat(const NodeProto& n) {  // a, b, their scales, their zero points, a bias
    const QuantityNames a{InputOf(n, 0), InputOf(n, 2), InputOf(n, 4)}, b{InputOf(n, 1), InputOf(n, 3), InputOf(n, 5)};
    if (!HasRowScales(a) || !AreAlong(b)) return false;
    Product(n, Floats(n, a, -2), b, InputOf(n, 6));
    return true;
  }

  bool Attention(const NodeProto& n) {  // data, weight, bias, their scales, mask, their zero points, past
    const QuantityNames x{InputOf(n, 0), InputOf(n, 3), InputOf(n, 6)}, w{InputOf(n, 1), InputOf(n, 4), InputOf(n, 7)};
    if (!HasOneScale(x) || !AreAlong(w)) return false;
    const std::vector<std::string> operands = {Floats(n, x), Floats(n, w, -1), InputOf(n, 2), InputOf(n, 5), InputOf(n, 8)};
    NodeProto& made = Add(n, "Attention", operands);
    made.domain = n.domain, made.opset = n.opset, made.outputs = n.outputs;
    CopyAttributes(n, &made);
    return true;
  }

  // ---- sums of products of integers, a Cast to floats, and two scales behind it
  struct Sum {
    const NodeProto* of;
    QuantityNames x, w;
    bool spread = false;   // the scale has axes of length 1 around that of filters or columns
    bool divided = false;  // the scale is that of the weight times that of the data
  };
  /* A scale that multiplies sums. */
  struct Factor {
    std::string name;
    Shape shape;  // as it meets the sums; of a constant
  };

  bool SameNumber(const std::string& a, const std::string& b) const {
    const NDArray *const x = a.empty() ? nullptr : makers_.ConstantOf(a), *const y = b.empty() ? nullptr : makers_.ConstantOf(b);
    return a == b || (SizeOf(a) == 1 && SizeOf(b) == 1 && x->dtype() == y->dtype() && FloatsIn(*x) == FloatsIn(*y));
  }
  std::vector<int64_t> IntsAt(const NodeProto& n, size_t input, const char* attribute) const {
    if (const Attribute* const a = n.Find(attribute)) return a->ints;
    const NDArray* const known = InputOf(n, input).empty() ? nullptr : makers_.ConstantOf(n.inputs[input]);
    return known ? IntsIn(*known) : std::vector<int64_t>();
  }
  /* The shape in which Reshape or Unsqueeze gives an array; one of no elements: it is not known. */
  Shape ShapeBehind(const NodeProto& n, const Shape& shape) const {
    const bool reshapes = Is(n, "Reshape");
    std::vector<int64_t> ints = IntsAt(n, 1, reshapes ? "shape" : "axes"), dims;
    const Shape unknown{0};
    if (reshapes) {
      int64_t known = 1;
      for (const int64_t size : ints) known *= size == -1 ? 1 : size;
      if (known < 1 || shape.Size() % known) return unknown;
      for (const int64_t size : ints) dims.push_back(size == -1 ? shape.Size() / known : size);
    } else {
      const int64_t rank = shape.ndim() + static_cast<int64_t>(ints.size());
      std::set<int64_t> axes;
      for (const int64_t axis : ints) axes.insert(axis < 0 ? axis + rank : axis);
      int at = 0;
      for (int64_t i = 0; i < rank; ++i) {
        if (!axes.count(i) && at == shape.ndim()) return unknown;
        dims.push_back(axes.count(i) ? 1 : shape[at++]);
      }
    }
    const Shape made(dims);
    return made.Size() == shape.Size() ? made : unknown;
  }
  /* The factors that a name is the product of; false: it is made otherwise. */
  bool AddFactors(const std::string& name, const std::set<std::string>& scales, std::vector<Factor>* factors, int depth = 0) const {
    const NDArray* const known = scales.count(name) ? nullptr : makers_.ConstantOf(name);
    if (scales.count(name) || known) return factors->push_back({name, known ? known->shape() : Shape(0)}), true;
    const NodeProto* const n = depth < 4 ? makers_.Of(name) : nullptr;
    if (!n || n->inputs.empty() || n->outputs.size() != 1) return false;
    if (Is(*n, "Mul") && n->inputs.size() == 2)
      return AddFactors(n->inputs[0], scales, factors, depth + 1) && AddFactors(n->inputs[1], scales, factors, depth + 1);
    const size_t first = factors->size();
    if ((!Is(*n, "Reshape") && !Is(*n, "Unsqueeze")) || !AddFactors(n->inputs[0], scales, factors, depth + 1)) return false;
    for (size_t i = first; i < factors->size(); ++i)
      if (Factor& f = (*factors)[i]; f.shape.Size() > 1) f.shape = ShapeBehind(*n, f.shape);
    return true;
  }
  /* Does a scale meet sums as one number, or as one for each filter (axis 1 of `rank`) or column
   * (the last)? */
  static bool MeetsFilters(const Shape& shape, bool conv, int rank) {
    if (shape.Size() == 1) return true;
    const int at = conv ? shape.ndim() - rank + 1 : shape.ndim() - 1;
    return at >= 0 && shape.ndim() <= rank && shape[at] == shape.Size() && shape.Size() > 0;
  }
  /* Completes the scale of the second operand; false: these are not its own and that of the
   * data. */
  bool TakeFactors(const std::vector<Factor>& factors, bool only_one, Sum* sum) const {
    const bool conv = Is(*sum->of, "ConvInteger");
    const NDArray* const w = makers_.ConstantOf(sum->w.numbers);
    const int rank = w ? w->shape().ndim() : 2;
    if (factors.size() != (only_one ? 1 : 2)) return false;
    for (size_t i = 0; i < factors.size(); ++i) {
      const Factor& own = factors[i];
      if (!only_one && !SameNumber(factors[1 - i].name, sum->x.scale)) continue;
      if (!sum->w.scale.empty()) {  // of another activation
        if (only_one || own.name != sum->w.scale) continue;
        return true;
      }
      if (!w || !makers_.ConstantOf(own.name) || !MeetsFilters(own.shape, conv, std::max(rank, conv ? 0 : 8))) continue;
      sum->w.scale = own.name, sum->divided = only_one;
      sum->spread = makers_.ConstantOf(own.name)->shape().ndim() > 1;
      return true;
    }
    return false;
  }

  void FindSums(const NodeProto& n) {
    const auto steps = steps_.find(InputOf(n, 0)), other = steps_.find(InputOf(n, 1));
    if (!(Is(n, "ConvInteger") || Is(n, "MatMulInteger")) || !n.small.empty() || n.outputs.size() != 1 || steps == steps_.end()) return;
    Sum sum{&n, steps->second, {n.inputs[1], "", InputOf(n, 3)}};
    if (other != steps_.end()) sum.w = other->second;
    const bool known = other != steps_.end() || makers_.ConstantOf(sum.w.numbers);
    if (!known || !HasOneScale(sum.x) || !SameNumber(InputOf(n, 2), sum.x.zero) || !SameNumber(InputOf(n, 3), sum.w.zero)) return;
    const NodeProto* const cast = OnlyReader(n.outputs[0]);
    if (!cast || !Is(*cast, "Cast") || cast->Int("to", 0) != 1) return;
    std::vector<const NodeProto*> nodes{&n, cast};
    std::vector<Factor> factors, first;
    const NodeProto* only = nullptr;  // whose factor may be the product of both scales
    for (int i = 0; i < 3 && factors.size() < 3; ++i) {
      const NodeProto* const scaled = OnlyReader(nodes.back()->outputs[0]);
      if (!scaled || !Is(*scaled, "Mul") || scaled->inputs.size() != 2) break;
      const std::string& by = scaled->inputs[scaled->inputs[0] == nodes.back()->outputs[0] ? 1 : 0];
      if (!AddFactors(by, {sum.x.scale, sum.w.scale}, &factors)) break;
      nodes.push_back(scaled);
      if (TakeFactors(factors, false, &sum)) return TakeSums(nodes, std::move(sum));
      if (i == 0) only = scaled, first = factors;
    }
    if (only && IsOne(sum.x) && TakeFactors(first, true, &sum)) TakeSums({&n, cast, only}, std::move(sum));
  }

  void TakeSums(const std::vector<const NodeProto*>& nodes, Sum sum) {
    if (!HasOneScale(sum.w) && !sum.spread && !AreAlong(sum.w)) return;
    gone_.insert(nodes.begin(), nodes.end() - 1);
    sums_.emplace(nodes.back(), std::move(sum));
  }

  bool Sums(const NodeProto& n, const Sum& sum) {
    const bool conv = Is(*sum.of, "ConvInteger");
    QuantityNames w = sum.w;
    if (sum.spread) w.scale = Add(n, "Squeeze", {w.scale}).outputs[0];
    if (sum.divided) w.scale = Add(n, "Div", {w.scale, sum.x.scale}).outputs[0];
    const std::vector<std::string> operands = {Floats(n, sum.x), Floats(n, w, conv ? 0 : -1)};
    CopyAttributes(*sum.of, &Add(n, conv ? "Conv" : "MatMul", operands, n.outputs[0]));
    return true;
  }

  // ---- what moves numbers

  /* Of rows of a table. */
  bool Rows(const NodeProto& n) {
    const QuantityNames q = QuantityAt(n, 0);
    const NodeProto* const maker = makers_.Of(q.numbers);
    if (!maker || !Is(*maker, "Gather") || n.Find("block_size") || n.Find("output_dtype") || !IsOne(q) || maker->inputs.size() != 2 ||
        !session_.ConstantNamed(maker->inputs[0]))
      return false;
    NodeProto& table = Add(n, "DequantizeLinear", {maker->inputs[0], q.scale, q.zero});
    CopyAttributes(*maker, &Add(n, "Gather", {table.outputs[0], maker->inputs[1]}, n.outputs[0]));
    return true;
  }

  /* Rows of a table that are moved before they become floats: in which steps they are. */
  void FindTable(const NodeProto& n) {
    const QuantityNames q = QuantityAt(n, 0);
    if (!IsStep(n, "DequantizeLinear") || n.Find("block_size") || !IsOne(q) || q.zero.empty()) return;
    const NodeProto* maker = makers_.Of(q.numbers);
    for (const NodeProto* moved = maker; moved && MovesFloats(*moved); moved = maker) {
      if (Is(*moved, "Gather") && session_.ConstantNamed(moved->inputs[0])) {
        if (moved != makers_.Of(q.numbers)) steps_[moved->outputs[0]] = {moved->outputs[0], q.scale, q.zero};
        return;
      }
      maker = moved->inputs.empty() ? nullptr : makers_.Of(moved->inputs[0]);
    }
  }

  /* Does it give its first input's numbers, or such that lie between them? */
  static bool MovesFloats(const NodeProto& n) {
    const bool by_input = Is(n, "Split") || Is(n, "Resize") || (Is(n, "Pad") && n.inputs.size() > 1);
    return Moves(n) || by_input || (n.domain == "com.microsoft" && n.op == "NhwcMaxPool");
  }

  bool Move(const NodeProto& n) {
    const auto found = steps_.find(InputOf(n, 0));
    if (found == steps_.end() || !MovesFloats(n)) return false;
    const QuantityNames q = found->second;
    if (q.zero.empty() || !HasOneScale(q)) return false;
    NodeProto moved = n;
    moved.inputs[0] = Floats(n, q);
    std::string outside;
    if (Is(n, "Pad")) {  // with the number 0 where it does not say with what
      moved.inputs.resize(std::max<size_t>(moved.inputs.size(), 3));
      const std::string number = moved.inputs[2].empty() ? Add(n, "Sub", {q.zero, q.zero}).outputs[0] : moved.inputs[2];
      moved.inputs[2] = Floats(n, {number, q.scale, q.zero});
      if (!IsOne(q)) {  // its contents are not known: zeros around the difference to it
        outside = moved.inputs[2];
        moved.inputs[0] = Add(n, "Sub", {moved.inputs[0], outside}).outputs[0], moved.inputs[2].clear();
      }
    }
    for (std::string& output : moved.outputs)
      if (!output.empty()) output += "/moved/" + std::to_string(made_->size());
    nodes_.push_back(&made_->emplace_back(std::move(moved)));
    std::vector<std::string> floats = nodes_.back()->outputs;
    if (!outside.empty()) floats[0] = Add(n, "Add", {floats[0], outside}).outputs[0];
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      if (n.outputs[i].empty()) continue;
      Add(n, "QuantizeLinear", {floats[i], q.scale, q.zero}, n.outputs[i]);
      steps_[n.outputs[i]] = {n.outputs[i], q.scale, q.zero};
    }
    return true;
  }

  const GraphProto& graph_;
  const Session& session_;
  std::deque<NodeProto>* const made_;
  const Makers makers_;
  std::unordered_map<std::string, int> uses_;
  std::unordered_map<std::string, QuantityNames> steps_;  // by the name of the numbers
  std::unordered_map<const NodeProto*, Sum> sums_;        // by the Mul
  std::set<const NodeProto*> gone_;
  std::vector<const NodeProto*> nodes_;
};

}  // namespace

std::vector<const NodeProto*> FloatNodes(const GraphProto& graph, const Session& session, std::deque<NodeProto>* made) {
  return Rewriter(graph, session, made).Run();
}

}  // namespace onnx
}  // namespace mxnet
