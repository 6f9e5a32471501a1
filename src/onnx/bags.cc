#include "onnx/bags.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "onnx/convert/make.h"
#include "onnx/convert/operands.h"
#include "onnx/stage.h"

namespace mxnet {
namespace onnx {
namespace {

using Outside = std::function<const Value*(const std::string&)>;

/* Bag i: rows of a table that indices name, or of the table itself where there are none, from
 * starts[i] on and before ends[i]. */
struct Bags {
  Value table, indices, starts, ends;
  std::string reduction;  // "sum", "mean" or "max"
  int64_t number = 0;
};

constexpr int64_t kMostBags = 4096;  // that become elements of a sequence

/* Reads what the body of a loop says, and the graphs inside of it. */
class BodyReader {
 public:
  BodyReader(const GraphProto& body, const Outside& outside) : body_(body), outside_(outside) { AddGraph(body); }

  /* torch.onnx.export(dynamo=False): each round gives a row of the result, by its number. */
  bool ReadRows(Bags* bags) const {
    if (body_.inputs.size() != 2 || body_.outputs.size() != 2 || !IsTrue(body_.outputs[0].name)) return false;
    const NodeProto* const reduce = Maker(body_.outputs[1].name);
    if (!reduce || !reduce->domain.empty() || !ReductionOf(reduce->op, &bags->reduction)) return false;
    if (reduce->Int("keepdims", 1) != 0 || Axes(*reduce, 1) != Sizes{0}) return false;
    const NodeProto* const rows = MakerOf(*reduce, 0, "Gather");
    if (!rows || !IsAxis0(*rows)) return false;
    const NodeProto* const part = MakerOf(*rows, 1, "Slice");
    return part && IsPlainSlice(*part) && Take(In(*rows, 0), &bags->table) && Take(In(*part, 0), &bags->indices) &&
           Bound(*part, 1, &bags->starts) && Bound(*part, 2, &bags->ends);
  }

  /* torch.onnx.export(dynamo=True): states are the number of the bag and a sequence of rows. */
  bool ReadSequence(Bags* bags) const {
    if (body_.inputs.size() != 4 || body_.outputs.size() != 3) return false;
    const NodeProto *const more = Maker(body_.outputs[0].name), *const insert = Maker(body_.outputs[2].name);
    if (!more || more->op != "Less" || In(*more, 0) != body_.outputs[1].name || Ahead(body_.outputs[1].name) != 1) return false;
    if (!insert || insert->op != "SequenceInsert" || insert->inputs.size() != 2 || insert->inputs[0] != body_.inputs[3].name) return false;
    const Sizes number = Ints(In(*more, 1));
    const NodeProto* const choice = MakerOf(*insert, 1, "If");
    if (number.size() != 1 || !choice) return false;
    bags->number = number[0];
    const NodeProto* const empty = MakerOf(*choice, 0, "Equal");
    const Attribute *const zeros = choice->Find("then_branch"), *const bag = choice->Find("else_branch");
    return empty && zeros && zeros->graph && bag && bag->graph && End(In(*empty, 0), 0, &bags->starts) &&
           End(In(*empty, 1), 1, &bags->ends) && zeros->graph->nodes.empty() && ReadBag(*bag->graph, In(*empty, 0), In(*empty, 1), bags);
  }

 private:
  static bool ReductionOf(const std::string& op, std::string* name) {
    *name = op == "ReduceSum" ? "sum" : op == "ReduceMean" ? "mean" : op == "ReduceMax" ? "max" : "";
    return !name->empty();
  }

  /* Names are unique in a model. */
  void AddGraph(const GraphProto& graph) {
    for (const Constant& c : graph.constants) constants_.emplace(c.name, &c);
    for (const NodeProto& n : graph.nodes) {
      if (!n.outputs.empty()) makers_.emplace(n.outputs[0], &n);
      for (const Attribute& a : n.attributes)
        if (a.graph) AddGraph(*a.graph);
    }
  }

  /* Empty: the node has no such input. */
  static const std::string& In(const NodeProto& node, size_t i) {
    static const std::string none;
    return i < node.inputs.size() ? node.inputs[i] : none;
  }

  /* What is behind nodes that change dtypes alone, which are few. */
  std::string Uncast(std::string name) const {
    constexpr int kMostCasts = 16;
    for (int i = 0; i < kMostCasts; ++i) {
      const auto found = makers_.find(name);
      if (found == makers_.end()) break;
      const NodeProto& n = *found->second;
      if (n.op != "Identity" && n.op != "Cast" && n.op != "CastLike") break;
      name = In(n, 0);
    }
    return name;
  }
  const NodeProto* Maker(const std::string& name) const {
    const auto found = makers_.find(Uncast(name));
    return found == makers_.end() ? nullptr : found->second;
  }

  const NodeProto* MakerOf(const NodeProto& node, size_t input, const char* op) const {
    const NodeProto* const n = Maker(In(node, input));
    return n && n->domain.empty() && n->op == op ? n : nullptr;
  }

  static bool IsAxis0(const NodeProto& gather) { return gather.inputs.size() == 2 && gather.Int("axis", 0) == 0; }

  bool IsPlainSlice(const NodeProto& slice) const {
    return slice.inputs.size() >= 3 && (slice.inputs.size() == 3 || Ints(slice.inputs[3]) == Sizes{0}) &&
           (slice.inputs.size() <= 4 || Ints(slice.inputs[4]) == Sizes{1});
  }

  /* A tensor of outer graphs. */
  bool Take(const std::string& name, Value* into) const {
    const Value* const found = Maker(name) ? nullptr : outside_(name);
    if (!found || found->kind != Value::kTensor) return false;
    *into = *found;
    return true;
  }

  /* Known integers; none: they are not known. */
  Sizes Ints(const std::string& given) const {
    const std::string name = Uncast(given);
    const NodeProto* const n = Maker(name);
    if (n && n->op == "Constant") {
      const Attribute* const value = n->Find("value");
      return value && value->tensor ? IntegersOf(ValueOf(*value->tensor)) : Sizes();
    }
    if (const auto constant = constants_.find(name); constant != constants_.end()) return IntegersOf(ValueOf(*constant->second));
    const Value* const found = n ? nullptr : outside_(name);
    return found && found->kind == Value::kTensor && found->known() ? IntegersOf(*found) : Sizes();
  }

  /* Axes as an input or, before opset 13, as an attribute. */
  Sizes Axes(const NodeProto& node, size_t input) const {
    const Attribute* const axes = node.Find("axes");
    return axes ? axes->ints : node.inputs.size() > input ? Ints(node.inputs[input]) : Sizes();
  }

  bool IsTrue(const std::string& name) const { return Uncast(name) == body_.inputs[1].name || Ints(name) == Sizes{1}; }

  /* One end of the slice: the round's element of a list. */
  bool Bound(const NodeProto& slice, size_t input, Value* list) const {
    const NodeProto* const unsqueeze = MakerOf(slice, input, "Unsqueeze");
    if (!unsqueeze || Axes(*unsqueeze, 1) != Sizes{0}) return false;
    const NodeProto* const element = MakerOf(*unsqueeze, 0, "Gather");
    return element && IsAxis0(*element) && In(*element, 1) == body_.inputs[0].name && Take(In(*element, 0), list) && list->ndim() == 1;
  }

  /* How far a number is ahead of the number of the bag; -1: it is something else. */
  int64_t Ahead(const std::string& given, int deep = 0) const {
    constexpr int kMostDeep = 16;
    if (deep > kMostDeep) return -1;
    const std::string name = Uncast(given);
    if (name == body_.inputs[2].name) return 0;
    const NodeProto* const n = Maker(name);
    if (n && n->op == "Reshape") return Ahead(In(*n, 0), deep + 1);
    if (!n || n->op != "Add") return -1;
    const Sizes by = Ints(In(*n, 1));
    const int64_t before = Ahead(In(*n, 0), deep + 1);
    return before < 0 || by.size() != 1 ? -1 : before + by[0];
  }

  /* One end of the bag: that element of a list, cut from `offset` on. */
  bool End(const std::string& name, int64_t offset, Value* list) const {
    const NodeProto* const slice = Maker(name);
    if (!slice || slice->op != "Slice" || !IsPlainSlice(*slice)) return false;
    return Ahead(In(*slice, 1)) == offset && Ahead(In(*slice, 2)) == offset + 1 && Take(In(*slice, 0), list) && list->ndim() == 1;
  }

  /* What is done with a bag. The last one is written apart: its rows end with the list, by which a
   * mean is divided, too. */
  bool ReadBag(const GraphProto& graph, const std::string& start, const std::string& end, Bags* bags) const {
    for (const NodeProto& n : graph.nodes) {
      std::string reduction;
      if (ReductionOf(n.op, &reduction)) {
        if (Axes(n, 1) != Sizes{0} || n.Int("keepdims", 1) != 1) return false;
        if (bags->reduction.empty() || reduction != "sum") bags->reduction = reduction;
      } else if (n.op == "Slice") {
        const bool whole = n.inputs.size() == 3 && (n.inputs[2] == end || Ints(n.inputs[2]).size() == 1);
        if (!whole || n.inputs[1] != start || !Take(n.inputs[0], &bags->table)) return false;
      } else if (n.op == "If") {
        for (const Attribute& a : n.attributes)
          if (a.graph && !ReadBag(*a.graph, start, end, bags)) return false;
      } else if (n.op != "Equal" && n.op != "Sub" && n.op != "CastLike" && n.op != "Cast" && n.op != "Greater" && n.op != "Div" &&
                 n.op != "Identity") {
        return false;
      }
    }
    return true;
  }

  const GraphProto& body_;
  // Of the body, and of graphs that its nodes hold.
  std::unordered_map<std::string, const NodeProto*> makers_;
  std::unordered_map<std::string, const Constant*> constants_;
  const Outside& outside_;
};

/* The length that all bags have if they are known and lie side by side, or 0. */
int64_t CommonLength(const Value& starts, const Value& ends, int64_t count) {
  if (!starts.known() || !ends.known()) return 0;
  const Sizes from = IntegersOf(starts), to = IntegersOf(ends);
  const int64_t length = to[0] - from[0];
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != static_cast<int64_t>(i) * length || to[i] != from[i] + length) return 0;
  return length * static_cast<int64_t>(from.size()) == count ? length : 0;
}

/* The largest of (bags, length, width) along the length, of which one has the gradient. */
Value Largest(const Call& c, const Value& x) {
  return c.Op("pick", {x, c.Op("_npi_argmax", {x}, {{"axis", "1"}})}, {{"axis", "1"}, {"mode", "clip"}});
}

/* Of rows (count, width) and what is inside of which bag (bags, count). */
Value ReduceParts(const Call& c, const Bags& bags, const Value& rows, const Value& inside) {
  const int64_t count = rows.dim(0), width = rows.dim(1);
  const Value weight = c.Cast(inside, rows.dtype()), there = Sum(c, weight, {1}, true);
  if (bags.reduction != "max") {
    const Value sum = MatMul(c, weight, rows);
    return bags.reduction == "sum" ? sum : Div(c, sum, Clip(c, there, 1, static_cast<double>(count)));
  }
  const Value low = c.Filled(Shape{1, 1, 1}, rows.dtype(), -std::numeric_limits<double>::infinity());
  const Value each = Where(c, c.Reshape(inside, Shape{bags.number, count, 1}), c.Reshape(rows, Shape{1, count, width}), low);
  return Where(c, BinaryNumber(c, "greater", there, 0), Largest(c, each), c.Filled(Shape{1, 1}, rows.dtype(), 0));
}

bool Fit(const Bags& bags) {
  const bool indexed = bags.indices.kind == Value::kTensor;
  return bags.number > 0 && !bags.reduction.empty() && bags.table.kind == Value::kTensor && bags.table.ndim() == 2 &&
         IsFloating(bags.table.dtype()) && (!indexed || (bags.indices.ndim() == 1 && !bags.indices.empty())) &&
         bags.starts.dim(0) >= bags.number && bags.ends.dim(0) >= bags.number && bags.starts.dtype() == bags.ends.dtype() &&
         bags.table.dim(0) > 0;
}

/* (bags, width) */
Value Reduced(const Call& call, const Bags& bags, int64_t skip) {
  const Value starts = SliceAxis(call, bags.starts, 0, 0, bags.number), ends = SliceAxis(call, bags.ends, 0, skip, skip + bags.number);
  const bool indexed = bags.indices.kind == Value::kTensor;
  const Value rows = indexed ? Take(call, bags.table, NotNegative(call, bags.indices, bags.table.dim(0)), 0) : bags.table;
  const int64_t count = rows.dim(0), width = rows.dim(1);
  if (const int64_t length = CommonLength(starts, ends, count)) {
    const Value each = call.Reshape(rows, Shape{bags.number, length, width});
    return bags.reduction == "max" ? Largest(call, each) : Reduce(call, bags.reduction.c_str(), each, {1}, false);
  }
  const Value at = IntsLike(call, IntegersOf(CountUp(call, count)), {1, count}, starts.dtype());
  const Value inside = Binary(call, "logical_and", Binary(call, "greater_equal", at, call.Reshape(starts, Shape{bags.number, 1})),
                              Binary(call, "less", at, call.Reshape(ends, Shape{bags.number, 1})));
  return ReduceParts(call, bags, rows, inside);
}

bool StartsAtOnce(const Call& call) { return !call.has(1) || (call.in(1).known() && call.Int(1) != 0); }

}  // namespace

std::optional<std::vector<Value>> BagsOf(const Call& call, const Outside& outside) {
  const GraphProto* const body = call.GraphAttr("body");
  if (!body || !StartsAtOnce(call)) return std::nullopt;
  const BodyReader reader(*body, outside);
  Bags bags;
  if (call.num_inputs() <= 2 && call.num_outputs() == 1 && call.has(0) && call.in(0).known() && reader.ReadRows(&bags)) {
    bags.number = call.Int(0);
    if (!Fit(bags)) return std::nullopt;
    return std::vector<Value>{Reduced(call, bags, 0)};
  }
  const bool counts = call.num_inputs() == 4 && call.num_outputs() == 2 && !call.has(0) && call.in(2).known() && call.Int(2) == 0;
  if (!counts || call.in(3).kind != Value::kSequence || !call.in(3).elements->empty() || !reader.ReadSequence(&bags)) return std::nullopt;
  if (!Fit(bags) || bags.ends.dim(0) <= bags.number || bags.number > kMostBags) return std::nullopt;
  const Value rows = Reduced(call, bags, 1);
  auto elements = std::make_shared<std::vector<Value>>();
  for (int64_t i = 0; i < bags.number; ++i) elements->push_back(SliceAxis(call, rows, 0, i, i + 1));
  Value sequence = call.in(3);
  sequence.elements = elements;
  return std::vector<Value>{call.Scalar(static_cast<double>(bags.number), kInt64), sequence};
}

}  // namespace onnx
}  // namespace mxnet
