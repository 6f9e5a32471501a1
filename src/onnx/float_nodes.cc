#include "onnx/float_nodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "onnx/integers.h"
#include "onnx/makers.h"
#include "onnx/node_kinds.h"
#include "onnx/written_nodes.h"

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
    for (const NodeProto& n : graph_.nodes) FindSums(n);
    for (const NodeProto& n : graph_.nodes) {
      if (gone_.count(&n)) continue;
      NoteSteps(n);
      if (Write(n)) continue;
      MXNET_CHECK_KIND(!WriterOf(n), Value)
          << "[onnx] node " << n.label() << " (" << n.op
          << ") computes with integers whose scales or zero points are computed, missing, or several numbers that are not one for each "
             "filter, row or column, or with floats of 8 bits: gradients do not pass it, so the model is no block; accepted: calls of the "
             "model, convert(), and QuantizeLinear and DequantizeLinear around the operator on floats";
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
  /* One scale: a constant, or one that DynamicQuantizeLinear found. */
  bool HasOneScale(const QuantityNames& q) const {
    const NodeProto* const maker = makers_.Of(q.scale);
    return IsOne(q) || (maker && Is(*maker, "DynamicQuantizeLinear"));
  }
  /* Scales along one axis. */
  bool AreAlong(const QuantityNames& q) const {
    const NDArray *const scale = makers_.ConstantOf(q.scale), *const zero = makers_.ConstantOf(q.zero);
    return scale && scale->shape().ndim() <= 1 && (q.zero.empty() || (zero && zero->shape().ndim() <= 1));
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
      const std::string scale = Add(n, "Mul", {x.scale, w.scale}).outputs[0];
      inputs.push_back(Floats(n, {InputOf(n, 8), scale, ""}, 0));
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
    if (!InputOf(n, 6).empty()) inputs.push_back(Floats(n, {InputOf(n, 6), Add(n, "Mul", {a.scale, b.scale}).outputs[0], ""}, -1));
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
  };

  /* The scale of a weight, where `name` is its product with that of the data. */
  std::string OtherScale(const std::string& name, const std::string& scale) const {
    const NodeProto* const n = makers_.Of(name);
    if (!n || !Is(*n, "Mul") || n->inputs.size() != 2) return "";
    const std::string other = n->inputs[0] == scale ? n->inputs[1] : n->inputs[1] == scale ? n->inputs[0] : "";
    return makers_.ConstantOf(other) ? other : "";
  }

  void FindSums(const NodeProto& n) {
    const bool conv = Is(n, "ConvInteger");
    if (!(conv || Is(n, "MatMulInteger")) || !n.small.empty() || n.outputs.size() != 1) return;
    const NodeProto *const rounded = makers_.Of(InputOf(n, 0)), *const cast = OnlyReader(n.outputs[0]);
    if (!rounded || !Is(*rounded, "DynamicQuantizeLinear") || rounded->outputs.size() != 3 || rounded->outputs[0] != n.inputs[0] ||
        InputOf(n, 2) != rounded->outputs[2] || !session_.ConstantNamed(InputOf(n, 1)))
      return;
    const NodeProto* const scaled = cast && Is(*cast, "Cast") && cast->Int("to", 0) == 1 ? OnlyReader(cast->outputs[0]) : nullptr;
    if (!scaled || !Is(*scaled, "Mul") || scaled->inputs.size() != 2) return;
    const std::string& both = scaled->inputs[scaled->inputs[0] == cast->outputs[0] ? 1 : 0];
    Sum sum{
        &n, {n.inputs[0], rounded->outputs[1], rounded->outputs[2]}, {n.inputs[1], OtherScale(both, rounded->outputs[1]), InputOf(n, 3)}};
    if (sum.w.scale.empty() || !AreAlong(sum.w) || (conv && SizeOf(sum.w.scale) != 1)) return;
    gone_.insert({&n, cast});
    sums_.emplace(scaled, std::move(sum));
  }

  bool Sums(const NodeProto& n, const Sum& sum) {
    const bool conv = Is(*sum.of, "ConvInteger");
    const std::vector<std::string> operands = {Floats(n, sum.x), Floats(n, sum.w, conv ? 0 : -1)};
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
    if (Is(n, "Pad")) {  // with the number 0 where it does not say with what
      moved.inputs.resize(std::max<size_t>(moved.inputs.size(), 3));
      const std::string number = moved.inputs[2].empty() ? Add(n, "Sub", {q.zero, q.zero}).outputs[0] : moved.inputs[2];
      moved.inputs[2] = Floats(n, {number, q.scale, q.zero});
    }
    for (std::string& output : moved.outputs)
      if (!output.empty()) output += "/floats/" + std::to_string(made_->size());
    nodes_.push_back(&made_->emplace_back(std::move(moved)));
    const std::vector<std::string> floats = nodes_.back()->outputs;
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
