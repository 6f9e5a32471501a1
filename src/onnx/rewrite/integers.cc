#include "onnx/rewrite/integers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "onnx/builder.h"
#include "onnx/rewrite/node_kinds.h"
#include "onnx/rewrite/written_nodes.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float FloatOf(const NodeProto& n, const char* name, float otherwise) {
  const Attribute* a = n.Find(name);
  return a ? a->f : otherwise;
}

class Rewriter {
 public:
  Rewriter(const GraphProto& graph, const Session& session, std::deque<NodeProto>* made)
      : graph_(graph), session_(session), made_(made), order_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) order_[i] = {&graph.nodes[i]};
    for (const NodeProto& n : graph.nodes) Count(n, 1);
    for (const ValueInfo& v : graph.outputs) ++uses_[v.name], kept_.insert(v.name);
    for (const NodeProto& n : graph.nodes)
      for (const std::string& name : n.captured) kept_.insert(name);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const NodeProto& n = graph.nodes[i];
      bool fixed = !n.outputs.empty() && n.captured.empty() && n.op.compare(0, 6, "Random") != 0;
      for (const std::string& name : n.inputs) fixed = fixed && (name.empty() || IsFixed(name));
      for (const std::string& name : n.outputs) {
        maker_[name] = i;
        if (fixed) fixed_.insert(name);
      }
    }
  }

  std::vector<const NodeProto*> Run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (gone_.count(i)) continue;
      const NodeProto& n = graph_.nodes[i];
      if ((Is(n, "MatMul") || Is(n, "Gemm")) && BlockLayer(i)) continue;
      if (Is(n, "Conv") || Is(n, "Gemm") || Is(n, "MatMul"))
        Layer(i);
      else if (Is(n, "ConvInteger") || Is(n, "MatMulInteger"))
        ScaledSums(i);
      else if (Is(n, "GlobalAveragePool"))
        Mean(i);
      else if (Is(n, "Concat"))
        Concat(i);
      else if (Is(n, "Add") || Is(n, "Mul"))
        Pair(i) || Function(i);
      else if (Moves(n) || Is(n, "AveragePool"))
        Move(i);
      else if (n.domain.empty() && Functions().count(n.op))
        Function(i);
    }
    return Finish();
  }

 private:
  // ---- what is known of names
  bool IsFixed(const std::string& name) const { return session_.ConstantNamed(name) || fixed_.count(name); }
  const NodeProto* MakerOf(const std::string& name) const {
    const auto it = maker_.find(name);
    return it == maker_.end() || gone_.count(it->second) ? nullptr : &graph_.nodes[it->second];
  }
  void Count(const NodeProto& n, int sign) {
    for (const auto* list : {&n.inputs, &n.captured})
      for (const std::string& name : *list) uses_[name] += sign;
  }
  bool ReadOnce(const std::string& name) const {
    const auto uses = uses_.find(name);  // nobody reads what files have beside their results
    return uses != uses_.end() && uses->second == 1 && !kept_.count(name);
  }
  /* The node that alone reads a name, and its place; null: there are others. */
  const NodeProto* OnlyReader(const std::string& name, size_t* at) const {
    if (!ReadOnce(name)) return nullptr;
    for (size_t i = maker_.at(name) + 1; i < graph_.nodes.size(); ++i) {
      const NodeProto& n = graph_.nodes[i];
      if (gone_.count(i) || std::find(n.inputs.begin(), n.inputs.end(), name) == n.inputs.end()) continue;
      *at = i;
      return &n;
    }
    return nullptr;
  }
  /* A constant of one element that the file has. */
  const Value* NumberNamed(const std::string& name) const {
    const Value* v = session_.ConstantNamed(name);
    if (!v) {
      const auto at = maker_.find(name);
      const NodeProto* n = at == maker_.end() ? nullptr : &graph_.nodes[at->second];
      const Attribute* a = n && Is(*n, "Constant") && n->attributes.size() == 1 ? &n->attributes[0] : nullptr;
      if (!a || !a->tensor || a->tensor->array.is_none() || a->tensor->shape.Size() != 1) return nullptr;
      return &(numbers_[name] = Value(a->tensor->array));
    }
    return v->kind == Value::kTensor && v->size() == 1 ? v : nullptr;
  }
  bool OneScale(const NodeProto& step) const {
    const Value* scale = NumberNamed(InputOf(step, 1));
    const std::string zero = InputOf(step, 2);
    for (const SmallType* small : step.small)
      if (small && (small->format || step.op == "QuantizeLinear")) return false;  // floats; other limits than those of bytes
    return scale && scale->dtype() == kFloat32 && (zero.empty() || NumberNamed(zero)) && !step.Find("output_dtype");
  }
  /* What a name is the DequantizeLinear of; `each`: scales may be many. */
  bool Dequantizes(const std::string& name, QuantityNames* q, bool each = false) const {
    const NodeProto* n = MakerOf(name);
    if (!n || !IsStep(*n, "DequantizeLinear") || n->inputs.size() < 2 || n->Int("block_size", 0) || n->Find("output_dtype")) return false;
    for (const SmallType* small : n->small)
      if (small && small->format) return false;
    if (each ? !IsFixed(n->inputs[0]) || !IsFixed(n->inputs[1]) : !OneScale(*n)) return false;
    *q = {n->inputs[0], n->inputs[1], InputOf(*n, 2)};
    return true;
  }
  /* Numbers of this dtype can be moved by `n`. The zero point has it: without one, both steps
   * around have, each for itself, one of their own. */
  bool MovesNumbers(const NodeProto& n, const QuantityNames& q) const {
    if (q.zero.empty()) return false;
    const Value& zero = *NumberNamed(q.zero);
    const bool averages = Is(n, "AveragePool");  // may count padding, which is the number 0
    return !(Pools(n) || averages) || (DTypeSize(zero.dtype()) == 1 && (!averages || FloatsIn(zero.array)[0] == 0));
  }
  bool SameNumber(const std::string& a, const std::string& b) const {
    if (a == b) return true;
    const Value *x = NumberNamed(a), *y = NumberNamed(b);
    return x && y && x->dtype() == y->dtype() && FloatsIn(x->array) == FloatsIn(y->array);
  }
  bool SameSteps(const QuantityNames& a, const QuantityNames& b) const {
    return SameNumber(a.scale, b.scale) && SameNumber(a.zero, b.zero);
  }

  // ---- a group
  struct Group {
    std::vector<size_t> nodes;  // its result is that of the last
    std::string result;
    float low = -kInfinity, high = kInfinity;
    QuantityNames out;  // scale empty: floats
    size_t last() const { return nodes.back(); }
  };
  Group Begin(size_t at) const {
    Group g;
    g.nodes = {at}, g.result = graph_.nodes[at].outputs[0];
    return g;
  }
  bool Bound(const NodeProto& n, size_t input, const char* attribute, float otherwise, float* bound) const {
    *bound = FloatOf(n, attribute, otherwise);
    const std::string name = InputOf(n, input);
    if (name.empty()) return true;
    const Value* v = NumberNamed(name);
    if (!v) return false;
    *bound = static_cast<float>(FloatsIn(v->array)[0]);
    return true;
  }
  /* An activation that only cuts. */
  void TakeActivation(Group* g) const {
    size_t at;
    const NodeProto* n = OnlyReader(g->result, &at);
    if (!n || n->domain != "" || InputOf(*n, 0) != g->result) return;
    float low = 0, high = kInfinity;
    if (n->op == "Clip" ? !Bound(*n, 1, "min", -kInfinity, &low) || !Bound(*n, 2, "max", kInfinity, &high) : n->op != "Relu") return;
    if (!(low <= high)) return;
    g->low = low, g->high = high, g->result = n->outputs[0];
    g->nodes.push_back(at);
  }
  /* QuantizeLinear behind it. */
  bool TakeStep(Group* g) const {
    size_t at;
    const NodeProto* n = OnlyReader(g->result, &at);
    if (!n || !IsStep(*n, "QuantizeLinear") || InputOf(*n, 0) != g->result || !OneScale(*n) || n->Find("precision")) return false;
    g->out = {n->outputs[0], n->inputs[1], InputOf(*n, 2)};
    g->result = n->outputs[0];
    g->nodes.push_back(at);
    return true;
  }
  NodeProto& Replace(const Group& g, const char* op) {
    for (size_t i : g.nodes) Remove(i);
    NodeProto& n = Make(graph_.nodes[g.nodes[0]].label(), op, g.result);
    for (const auto& bound : {std::make_pair("low", g.low), std::make_pair("high", g.high)})
      if (std::isfinite(bound.second)) AddFloat(&n, bound.first, bound.second);
    order_[g.last()].push_back(&n);
    groups_[g.result] = {&n, g.last()};
    return n;
  }
  void Remove(size_t i) {
    if (!gone_.insert(i).second) return;
    order_[i].erase(std::remove(order_[i].begin(), order_[i].end(), &graph_.nodes[i]), order_[i].end());
    Count(graph_.nodes[i], -1);
  }
  NodeProto& Make(const std::string& name, const char* op, const std::string& result) {
    made_->emplace_back();
    NodeProto& n = made_->back();
    n.name = name, n.op = op, n.domain = kIntegerDomain, n.opset = 1, n.outputs = {result};
    return n;
  }
  static void AddInputs(NodeProto* n, const QuantityNames& q) { n->inputs.insert(n->inputs.end(), {q.numbers, q.scale, q.zero}); }
  void SetInputs(NodeProto* n) { Count(*n, 1); }

  // ---- layers

  /* The name of what a product has as its weight, through a Transpose that nothing else reads;
   * `turned`: its rows are columns of the product. */
  std::string WeightOf(const NodeProto& n, bool* turned, std::vector<size_t>* between) const {
    const std::string name = InputOf(n, 1);
    *turned = Is(n, "Gemm") && n.Int("transB", 0);
    const NodeProto* m = Is(n, "Conv") ? nullptr : MakerOf(name);
    if (!m || !Is(*m, "Transpose") || !ReadOnce(name)) return name;
    const Attribute* perm = m->Find("perm");
    if (perm && perm->ints != std::vector<int64_t>{1, 0}) return name;
    const NodeProto* step = MakerOf(m->inputs[0]);  // of a matrix, where no order is given
    const Value* w = step ? session_.ConstantNamed(InputOf(*step, 0)) : nullptr;
    if (!perm && (!w || w->kind != Value::kTensor || w->ndim() != 2)) return name;
    between->push_back(maker_.at(name));
    *turned = !*turned;
    return m->inputs[0];
  }

  /* x, scale, zero, w, scale, zero, bias, scale and zero of the result; then an addend, its scale
   * and zero, and the scale and zero that the layer is rounded to before that or the bias. */
  void Layer(size_t at) {
    const NodeProto& n = graph_.nodes[at];
    QuantityNames x, w;
    if (n.inputs.size() < 2 || !Dequantizes(n.inputs[0], &x)) return;
    bool transposed;
    std::vector<size_t> turns;
    const std::string weight = WeightOf(n, &transposed, &turns);
    const bool fixed = Dequantizes(weight, &w, true);
    if (!fixed) {
      if (Is(n, "MatMul") && Dequantizes(n.inputs[1], &w)) Product(at, x, w);
      return;
    }
    if (Is(n, "Gemm") && (n.Int("transA", 0) || FloatOf(n, "alpha", 1) != 1 || FloatOf(n, "beta", 1) != 1)) return;
    const NodeProto& step = *MakerOf(weight);
    const bool conv = Is(n, "Conv");
    const int64_t axis = step.Int("axis", 1);
    std::string bias = InputOf(n, 2);
    Group g = Begin(at);
    bool added = false;
    if (Is(n, "MatMul")) added = TakeBias(&g, &bias);
    TakeActivation(&g);
    QuantityNames between;
    if (TakeStep(&g) && Is(n, "MatMul") && !added) {
      between = g.out;
      added = TakeSteppedBias(&g, &bias);
      if (!added) between = {};
    }
    for (size_t i : turns) Remove(i);
    NodeProto& made = Replace(g, conv ? "Conv" : "Dense");
    AddInputs(&made, x), AddInputs(&made, w);
    made.inputs.insert(made.inputs.end(), {bias, g.out.scale, g.out.zero});
    if (!between.scale.empty()) made.inputs.insert(made.inputs.end(), {"", "", "", between.scale, between.zero});
    if (conv)
      made.attributes.insert(made.attributes.end(), n.attributes.begin(), n.attributes.end());
    else
      AddInt(&made, "transB", transposed);
    AddInt(&made, "weight_axis", axis), AddInt(&made, "added", added || Is(n, "Gemm"));
    SetInputs(&made);
  }

  /* The DequantizeLinear that makes the weight of a product, and of nothing else, through a
   * Transpose perhaps, which is added to `between`. `turned`: its rows are columns of the
   * product. */
  const NodeProto* BlocksOf(const NodeProto& n, bool* turned, std::vector<size_t>* between) const {
    const std::string name = WeightOf(n, turned, between);
    const NodeProto* m = MakerOf(name);
    return m && Is(*m, "DequantizeLinear") && m->inputs.size() > 1 && ReadOnce(name) && !m->Find("output_dtype") ? m : nullptr;
  }

  /* A product with a weight of 2, 4 or 8 bits whose blocks of rows have scales of their own. */
  bool BlockLayer(size_t at) {
    const NodeProto& n = graph_.nodes[at];
    if (Is(n, "Gemm") && (n.Int("transA", 0) || FloatOf(n, "alpha", 1) != 1 || FloatOf(n, "beta", 1) != 1)) return false;
    bool turned;
    std::vector<size_t> between;
    const NodeProto* step = BlocksOf(n, &turned, &between);
    if (!step) return false;
    const int64_t block = step->Int("block_size", 0), axis = step->Int("axis", 1);
    const std::string zeros = InputOf(*step, 2), bias = InputOf(n, 2);
    const auto constant = [&](const std::string& name) { return name.empty() ? nullptr : session_.ConstantNamed(name); };
    const Value *w = constant(step->inputs[0]), *scale = constant(step->inputs[1]), *zero = constant(zeros), *added = constant(bias);
    const SmallType* small = step->small.empty() ? nullptr : step->small[0];
    const int64_t bits = small ? small->bits : 8;
    if (!w || !scale || (!zeros.empty() && !zero) || block < 2 || block * bits % 8 || (small && small->format)) return false;
    const int along = turned ? 1 : 0;
    if (w->kind != Value::kTensor || w->ndim() != 2 || (axis != along && axis != along - 2) || DTypeSize(w->dtype()) != 1 ||
        w->shape()[along] % block || w->size() == 0 || (scale->dtype() != kFloat32 && !IsHalf(scale->dtype())))
      return false;
    const int64_t columns = w->shape()[1 - along], blocks = w->shape()[along] / block;
    if (scale->shape() != (turned ? Shape{columns, blocks} : Shape{blocks, columns}) ||
        (zero && (zero->shape() != scale->shape() || zero->dtype() != w->dtype())) ||
        (!bias.empty() &&
         (!added || added->kind != Value::kTensor || added->size() != columns || added->shape()[added->ndim() - 1] != columns)))
      return false;
    for (size_t i : between) Remove(i);
    NodeProto& made = Replace(Begin(at), "BlockDense");
    made.inputs = {n.inputs[0], step->inputs[0], step->inputs[1], zeros, bias};
    AddInt(&made, "block_size", block), AddInt(&made, "bits", bits), AddInt(&made, "turned", turned);
    // where onnxruntime rounds data to 8 bits, too
    const bool rounds = Is(n, "MatMul") && !turned && bits == 8 && block >= 16 && (block & (block - 1)) == 0;
    AddInt(&made, "rounds", rounds && !session_.options().all_digits);
    SetInputs(&made);
    return true;
  }

  bool TakeBias(Group* g, std::string* bias) const {
    size_t at;
    const NodeProto* n = OnlyReader(g->result, &at);
    if (!n || !Is(*n, "Add")) return false;
    const std::string other = n->inputs[n->inputs[0] == g->result ? 1 : 0];
    if (!IsFixed(other)) return false;
    *bias = other, g->result = n->outputs[0];
    g->nodes.push_back(at);
    return true;
  }

  /* A bias that is added to the result in steps. */
  bool TakeSteppedBias(Group* g, std::string* bias) const {
    Group more = *g;
    size_t at;
    const NodeProto* step = OnlyReader(more.result, &at);
    if (more.low != -kInfinity || more.high != kInfinity || !step || !IsStep(*step, "DequantizeLinear")) return false;
    QuantityNames same;
    if (!Dequantizes(step->outputs[0], &same) || !SameSteps(same, g->out)) return false;
    more.nodes.push_back(at), more.result = step->outputs[0];
    if (!TakeBias(&more, bias)) return false;
    TakeActivation(&more);
    if (!TakeStep(&more)) return bias->clear(), false;
    *g = more;
    return true;
  }

  void Product(size_t at, const QuantityNames& a, const QuantityNames& b) {
    Group g = Begin(at);
    TakeStep(&g);
    NodeProto& made = Replace(g, "MatMul");
    AddInputs(&made, a), AddInputs(&made, b);
    made.inputs.insert(made.inputs.end(), {g.out.scale, g.out.zero});
    SetInputs(&made);
  }

  /* Sums of products of integers, cast to floats, times a scale, plus a bias. */
  void ScaledSums(size_t at) {
    const NodeProto& n = graph_.nodes[at];
    Group g = Begin(at);
    size_t place;
    const NodeProto* cast = OnlyReader(g.result, &place);
    if (!cast || !Is(*cast, "Cast") || cast->Int("to", 0) != 1 || !IsFixed(InputOf(n, 1)) || n.inputs.size() < 2) return;
    g.nodes.push_back(place), g.result = cast->outputs[0];
    const NodeProto* scaled = OnlyReader(g.result, &place);
    if (!scaled || !Is(*scaled, "Mul")) return;
    const std::string scale = scaled->inputs[scaled->inputs[0] == g.result ? 1 : 0];
    g.nodes.push_back(place), g.result = scaled->outputs[0];
    std::string bias;
    const bool added = TakeBias(&g, &bias), conv = Is(n, "ConvInteger");
    std::string more = TakeSum(&g);
    TakeActivation(&g);
    NodeProto& made = Replace(g, conv ? "Conv" : "Dense");
    made.inputs = {n.inputs[0], "", InputOf(n, 2), n.inputs[1], scale, InputOf(n, 3), bias, "", "", "", "", "", "", "", more};
    if (conv) made.attributes.insert(made.attributes.end(), n.attributes.begin(), n.attributes.end());
    AddInt(&made, "weight_axis", conv ? 0 : 1), AddInt(&made, "added", added);
    SetInputs(&made);
  }

  /* An array that is added to the result; empty: none is. */
  std::string TakeSum(Group* g) const {
    size_t at;
    const NodeProto* n = OnlyReader(g->result, &at);
    if (!n || !Is(*n, "Add")) return "";
    g->result = n->outputs[0];
    g->nodes.push_back(at);
    return n->inputs[n->inputs[0] == graph_.nodes[g->nodes[g->nodes.size() - 2]].outputs[0] ? 1 : 0];
  }

  // ---- sums and products of two arrays

  bool Pair(size_t at) {
    const NodeProto& n = graph_.nodes[at];
    QuantityNames a, b;
    if (n.inputs.size() != 2 || !Dequantizes(n.inputs[0], &a) || !Dequantizes(n.inputs[1], &b)) return false;
    Group g = Begin(at);
    TakeActivation(&g);
    if (!TakeStep(&g)) return false;
    if (Is(n, "Add") && (JoinLayer(g, a, b) || JoinLayer(g, b, a))) return true;
    NodeProto& made = Replace(g, Is(n, "Add") ? "Add" : "Mul");
    AddInputs(&made, a), AddInputs(&made, b);
    made.inputs.insert(made.inputs.end(), {g.out.scale, g.out.zero});
    SetInputs(&made);
    return true;
  }

  /* A convolution whose numbers only this sum reads takes it over. */
  bool JoinLayer(const Group& g, const QuantityNames& layer, const QuantityNames& other) {
    const auto it = groups_.find(layer.numbers);
    if (it == groups_.end() || layer.numbers == other.numbers) return false;
    NodeProto& n = *it->second.first;
    if (n.op != "Conv" || n.inputs.size() != 9 || n.Find("low") || n.Find("high") || !SameSteps({"", n.inputs[7], n.inputs[8]}, layer))
      return false;
    const NodeProto& sum = graph_.nodes[g.nodes[0]];
    const NodeProto* reader = MakerOf(MakerOf(sum.inputs[0])->inputs[0] == layer.numbers ? sum.inputs[0] : sum.inputs[1]);
    if (!ReadOnce(layer.numbers) || !ReadOnce(reader->outputs[0])) return false;
    auto& old = order_[it->second.second];
    old.erase(std::remove(old.begin(), old.end(), &n), old.end());
    Count(n, -1);
    for (size_t i : g.nodes) Remove(i);
    Remove(maker_.at(reader->outputs[0]));
    n.inputs.insert(n.inputs.end(), {other.numbers, other.scale, other.zero, n.inputs[7], n.inputs[8]});
    n.inputs[7] = g.out.scale, n.inputs[8] = g.out.zero;
    if (std::isfinite(g.low)) AddFloat(&n, "low", g.low);
    if (std::isfinite(g.high)) AddFloat(&n, "high", g.high);
    n.outputs = {g.result};
    Count(n, 1);
    order_[g.last()].push_back(&n);
    groups_.erase(it);
    groups_[g.result] = {&n, g.last()};
    return true;
  }

  // ---- others

  void Mean(size_t at) {
    QuantityNames x;
    if (!Dequantizes(InputOf(graph_.nodes[at], 0), &x)) return;
    Group g = Begin(at);
    TakeStep(&g);
    NodeProto& made = Replace(g, "Mean");
    AddInputs(&made, x);
    made.inputs.insert(made.inputs.end(), {g.out.scale, g.out.zero});
    SetInputs(&made);
  }

  /* The same numbers in other steps, or as they are; `reader`: the DequantizeLinear of them. */
  std::string InSteps(const QuantityNames& x, const QuantityNames& out, const NodeProto& reader, size_t before) {
    if (SameSteps(x, out)) return x.numbers;
    const auto layer = groups_.find(x.numbers);  // which only this reads: it is rounded twice
    if (layer != groups_.end() && ReadOnce(x.numbers) && ReadOnce(reader.outputs[0])) {
      NodeProto& n = *layer->second.first;
      if (n.op == "Conv" && n.inputs.size() == 9 && !n.Find("high") && FloatOf(n, "low", 0) == 0) {
        n.inputs.insert(n.inputs.end(), {"", "", "", n.inputs[7], n.inputs[8]});
        n.inputs[7] = out.scale, n.inputs[8] = out.zero;
        return x.numbers;
      }
    }
    const std::string name = x.numbers + "/" + out.numbers + "/" + std::to_string(made_->size());
    NodeProto& made = Make(name, "Function", name);
    AddInputs(&made, x);
    made.inputs.insert(made.inputs.end(), {out.scale, out.zero});
    AddChain(&made, {});
    SetInputs(&made);
    order_[before].push_back(&made);
    return name;
  }

  void Concat(size_t at) {
    const NodeProto& n = graph_.nodes[at];
    std::vector<QuantityNames> parts(n.inputs.size());
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (!Dequantizes(n.inputs[i], &parts[i])) return;
    Group g = Begin(at);
    if (parts.empty() || !TakeStep(&g)) return;
    std::vector<std::string> inputs;
    for (const QuantityNames& part : parts) inputs.push_back(InSteps(part, g.out, *MakerOf(n.inputs[inputs.size()]), g.last()));
    NodeProto& made = Replace(g, "Concat");
    made.domain.clear(), made.opset = n.opset, made.attributes = n.attributes, made.inputs = inputs;
    SetInputs(&made);
  }

  void Move(size_t at) {
    const NodeProto& n = graph_.nodes[at];
    QuantityNames x;
    if (!Dequantizes(InputOf(n, 0), &x) || !MovesNumbers(n, x)) return;
    Group g = Begin(at);
    if (!TakeStep(&g) || !SameSteps(x, g.out)) return;
    NodeProto& made = Replace(g, n.op.c_str());
    made.domain.clear(), made.opset = n.opset, made.attributes = n.attributes, made.inputs = n.inputs;
    made.inputs[0] = x.numbers;
    SetInputs(&made);
  }

  /* The constants of a node that has one other input, `name`. */
  bool OfOneInput(const NodeProto& n, const std::string& name) const {
    if (!n.domain.empty() || !Functions().count(n.op) || n.outputs.size() != 1) return false;
    int others = 0;
    for (const std::string& input : n.inputs) {
      if (input == name)
        ++others;
      else if (!input.empty() && !NumberNamed(input))
        return false;
    }
    return others == 1;
  }

  void AddChain(NodeProto* made, const std::vector<size_t>& nodes) {
    Attribute chain;
    chain.name = "chain", chain.kind = AttributeKind::kGraph;
    chain.graph = std::make_shared<GraphProto>();
    for (size_t i : nodes) {
      chain.graph->nodes.push_back(graph_.nodes[i]);
      for (const std::string& name : graph_.nodes[i].inputs) {
        const Value* v = name.empty() ? nullptr : NumberNamed(name);
        if (!v) continue;
        Constant c;
        c.name = name, c.array = v->array, c.shape = v->shape();
        chain.graph->constants.push_back(std::move(c));
      }
    }
    made->attributes.push_back(std::move(chain));
  }

  /* Functions of one number each, between steps: a table. */
  bool Function(size_t at) {
    const NodeProto& n = graph_.nodes[at];
    QuantityNames x;
    std::string from;
    for (const std::string& name : n.inputs)
      if (!name.empty() && !NumberNamed(name)) from = name;
    if (from.empty() || !OfOneInput(n, from) || !Dequantizes(from, &x)) return false;
    Group g = Begin(at);
    size_t place;
    for (const NodeProto* next = OnlyReader(g.result, &place); next && OfOneInput(*next, g.result); next = OnlyReader(g.result, &place))
      g.nodes.push_back(place), g.result = next->outputs[0];
    const std::vector<size_t> chain = g.nodes;
    if (!TakeStep(&g)) return false;
    NodeProto& made = Replace(g, "Function");
    AddInputs(&made, x);
    made.inputs.insert(made.inputs.end(), {g.out.scale, g.out.zero});
    AddChain(&made, chain);
    SetInputs(&made);
    return true;
  }

  /* What nobody reads any more is left out, from the end on. */
  std::vector<const NodeProto*> Finish() {
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const NodeProto& n = graph_.nodes[i];
      if (gone_.count(i) || !IsStep(n, "DequantizeLinear")) continue;
      if (uses_[n.outputs[0]] == 0 && !kept_.count(n.outputs[0])) Remove(i);
    }
    std::vector<const NodeProto*> nodes;
    for (const auto& place : order_) nodes.insert(nodes.end(), place.begin(), place.end());
    return nodes;
  }

  const GraphProto& graph_;
  const Session& session_;
  std::deque<NodeProto>* const made_;
  std::vector<std::vector<const NodeProto*>> order_;  // for each place of the graph, what stands there now
  std::unordered_map<std::string, size_t> maker_;
  std::unordered_map<std::string, int> uses_;
  mutable std::unordered_map<std::string, Value> numbers_;  // of Constant nodes
  std::set<std::string> kept_, fixed_;
  std::set<size_t> gone_;
  std::unordered_map<std::string, std::pair<NodeProto*, size_t>> groups_;  // by result, and where they stand
};

bool HasIntegers(const GraphProto& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const NodeProto& n) { return IsStep(n, "DequantizeLinear") || Is(n, "ConvInteger") || Is(n, "MatMulInteger"); });
}

}  // namespace

bool RoundsToIntegers(const GraphProto& graph) {
  static const std::set<std::string> others = {"QGemm", "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"};
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const NodeProto& n) {
    return IsStep(n, "QuantizeLinear") || n.op.rfind("QLinear", 0) == 0 || others.count(n.op) > 0;
  });
}

std::vector<const NodeProto*> IntegerNodes(const GraphProto& graph, const Session& session, std::deque<NodeProto>* made) {
  return HasIntegers(graph) ? Rewriter(graph, session, made).Run() : NodesOf(graph);
}

}  // namespace onnx
}  // namespace mxnet
