#include "onnx/rewrite/bags.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "onnx/convert/make.h"
#include "onnx/convert/operands.h"
#include "onnx/run/stage.h"

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
  // Rows that an index of `tokens` names, but for `padding`, are the bags' alone; none: all rows.
  Value tokens;
  int64_t padding = 0, rows = 0;  // `rows`: of the table that the indices are for, 0: none is below 0
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
    const NodeProto* const choice = RowOf(bags);
    if (!choice) return false;
    const NodeProto* const empty = MakerOf(*choice, 0, "Equal");
    const Attribute *const zeros = choice->Find("then_branch"), *const bag = choice->Find("else_branch");
    return empty && zeros && zeros->graph && bag && bag->graph && End(In(*empty, 0), 0, &bags->starts) &&
           End(In(*empty, 1), 1, &bags->ends) && zeros->graph->nodes.empty() && ReadBag(*bag->graph, In(*empty, 0), In(*empty, 1), bags);
  }

  /* The same with a padding_idx: a loop inside lists the places of a bag that have others. */
  bool ReadPadded(Bags* bags) const {
    const NodeProto* const choice = RowOf(bags);
    const NodeProto* const empty = choice ? MakerOf(*choice, 0, "Equal") : nullptr;
    const NodeProto* const size = empty && Ints(In(*empty, 1)) == Sizes{0} ? MakerOf(*empty, 0, "Size") : nullptr;
    const NodeProto* const loop = size ? LoopThatGives(In(*size, 0)) : nullptr;
    const Attribute *const zeros = choice ? choice->Find("then_branch") : nullptr, *const bag =
                                                                                       choice ? choice->Find("else_branch") : nullptr;
    if (!loop || !zeros || !zeros->graph || !zeros->graph->nodes.empty() || !bag || !bag->graph || bag->graph->outputs.size() != 1)
      return false;
    const NodeProto* const reduce = Maker(bag->graph->outputs[0].name);
    if (!reduce || !reduce->domain.empty() || !ReductionOf(reduce->op, &bags->reduction)) return false;
    if (Axes(*reduce, 1) != Sizes{0} || reduce->Int("keepdims", 1) != 1) return false;
    const NodeProto* const rows = MakerOf(*reduce, 0, "Gather");
    return rows && IsAxis0(*rows) && In(*rows, 1) == loop->outputs[1] && Take(In(*rows, 0), &bags->table) && ReadPlaces(*loop, bags);
  }

 private:
  /* The If that gives the row which a round puts behind the others. */
  const NodeProto* RowOf(Bags* bags) const {
    if (body_.inputs.size() != 4 || body_.outputs.size() != 3) return nullptr;
    const NodeProto *const more = Maker(body_.outputs[0].name), *const insert = Maker(body_.outputs[2].name);
    const std::string& next = body_.outputs[1].name;
    if (!more || more->op != "Less" || In(*more, 0) != next || Ahead(next, Counter()) != 1) return nullptr;
    if (!insert || insert->op != "SequenceInsert" || insert->inputs.size() != 2 || insert->inputs[0] != body_.inputs[3].name)
      return nullptr;
    const Sizes number = Ints(In(*more, 1));
    if (number.size() != 1) return nullptr;
    bags->number = number[0];
    return MakerOf(*insert, 1, "If");
  }
  const std::string& Counter() const { return body_.inputs[2].name; }

  /* A loop whose second result that is, behind a counter. */
  const NodeProto* LoopThatGives(const std::string& name) const {
    for (const NodeProto& n : body_.nodes)
      if (n.domain.empty() && n.op == "Loop" && n.inputs.size() == 4 && n.inputs[0].empty() && n.outputs.size() == 2 &&
          n.outputs[1] == name)
        return &n;
    return nullptr;
  }

  /* The loop that lists places: from the start of the bag to its end, those whose index is another
   * than the padding. */
  bool ReadPlaces(const NodeProto& loop, Bags* bags) const {
    const Attribute* const body = loop.Find("body");
    const GraphProto* const g = body ? body->graph.get() : nullptr;
    if (!g || g->inputs.size() != 4 || g->outputs.size() != 3 || !IsEmptyList(loop.inputs[3])) return false;
    const NodeProto *const first = MakerOf(loop, 1, "Less"), *const more = Maker(g->outputs[0].name),
                           *const choice = Maker(g->outputs[2].name);
    if (!first || In(*first, 0) != loop.inputs[2] || !Element(loop.inputs[2], 0, &bags->starts)) return false;
    if (!Element(In(*first, 1), 1, &bags->ends)) return false;
    const std::string &at = g->inputs[2].name, &next = g->outputs[1].name;
    if (!more || more->op != "Less" || In(*more, 0) != next || In(*more, 1) != In(*first, 1) || Ahead(next, at) != 1) return false;
    const NodeProto* const taken = choice && choice->op == "If" ? MakerOf(*choice, 0, "Not") : nullptr;
    const NodeProto* const same = taken ? MakerOf(*taken, 0, "Equal") : nullptr;
    const Sizes padding = same ? Ints(In(*same, 1)) : Sizes();
    if (padding.size() != 1 || !Appends(*choice, g->inputs[3].name, at) || !ReadToken(In(*same, 0), at, bags)) return false;
    bags->padding = padding[0];
    return true;
  }

  /* Is it a choice between a list with that number behind it, and the list as it is? */
  bool Appends(const NodeProto& choice, const std::string& list, const std::string& number) const {
    const Attribute *const yes = choice.Find("then_branch"), *const no = choice.Find("else_branch");
    if (!yes || !yes->graph || yes->graph->outputs.size() != 1 || !no || !no->graph || no->graph->outputs.size() != 1) return false;
    const NodeProto* const longer = Maker(yes->graph->outputs[0].name);
    return longer && longer->op == "Concat" && longer->inputs.size() == 2 && longer->inputs[0] == list &&
           Ahead(longer->inputs[1], number) == 0 && Uncast(no->graph->outputs[0].name) == list;
  }

  /* The index at a place; one below 0, from the end of the table. */
  bool ReadToken(const std::string& name, const std::string& at, Bags* bags) const {
    const NodeProto* index = Maker(name);
    if (index && index->op == "If") {
      const NodeProto* const below = MakerOf(*index, 0, "Less");
      const Attribute *const yes = index->Find("then_branch"), *const no = index->Find("else_branch");
      if (!below || Ints(In(*below, 1)) != Sizes{0} || !yes || !yes->graph || yes->graph->outputs.size() != 1) return false;
      if (!no || !no->graph || no->graph->outputs.size() != 1) return false;
      const NodeProto* const moved = Maker(yes->graph->outputs[0].name);
      const std::string token = Uncast(In(*below, 0));
      const Sizes rows = moved && moved->op == "Add" && Uncast(In(*moved, 0)) == token ? Ints(In(*moved, 1)) : Sizes();
      if (rows.size() != 1 || Uncast(no->graph->outputs[0].name) != token) return false;
      bags->rows = rows[0];
      index = Maker(token);
    }
    return index && index->domain.empty() && index->op == "Gather" && IsAxis0(*index) && Uncast(In(*index, 1)) == at &&
           Take(In(*index, 0), &bags->tokens);
  }

  bool IsEmptyList(const std::string& name) const {
    const Value* const found = Maker(name) ? nullptr : outside_(name);
    return found && found->kind == Value::kTensor && found->known() && found->ndim() == 1 && found->empty();
  }

  /* An element of a list, by the number of the bag and `offset`. */
  bool Element(const std::string& name, int64_t offset, Value* list) const {
    const NodeProto* const gather = Maker(name);
    return gather && gather->domain.empty() && gather->op == "Gather" && IsAxis0(*gather) && Ahead(In(*gather, 1), Counter()) == offset &&
           Take(In(*gather, 0), list) && list->ndim() == 1;
  }

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

  /* How far a number is ahead of a counter; -1: it is something else. */
  int64_t Ahead(const std::string& given, const std::string& counter, int deep = 0) const {
    constexpr int kMostDeep = 16;
    if (deep > kMostDeep) return -1;
    const std::string name = Uncast(given);
    if (name == counter) return 0;
    const NodeProto* const n = Maker(name);
    if (n && n->op == "Reshape") return Ahead(In(*n, 0), counter, deep + 1);
    if (!n || n->op != "Add") return -1;
    const Sizes by = Ints(In(*n, 1));
    const int64_t before = Ahead(In(*n, 0), counter, deep + 1);
    return before < 0 || by.size() != 1 ? -1 : before + by[0];
  }

  /* One end of the bag: that element of a list, cut from `offset` on. */
  bool End(const std::string& name, int64_t offset, Value* list) const {
    const NodeProto* const slice = Maker(name);
    if (!slice || slice->op != "Slice" || !IsPlainSlice(*slice)) return false;
    return Ahead(In(*slice, 1), Counter()) == offset && Ahead(In(*slice, 2), Counter()) == offset + 1 && Take(In(*slice, 0), list) &&
           list->ndim() == 1;
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

/* Of rows (bags or 1, count, width) and what is inside of which bag (bags, count); 0 where nothing
 * is. */
Value LargestInside(const Call& c, const Value& rows, const Value& inside) {
  const int64_t number = inside.dim(0), count = inside.dim(1);
  const Value low = c.Filled(Shape{1, 1, 1}, rows.dtype(), -std::numeric_limits<double>::infinity());
  const Value each = Where(c, c.Reshape(inside, Shape{number, count, 1}), rows, low);
  const Value there = Sum(c, c.Cast(inside, rows.dtype()), {1}, true);
  return Where(c, BinaryNumber(c, "greater", there, 0), Largest(c, each), c.Filled(Shape{1, 1}, rows.dtype(), 0));
}

/* Of rows (count, width) and what is inside of which bag (bags, count). */
Value ReduceParts(const Call& c, const Bags& bags, const Value& rows, const Value& inside) {
  const int64_t count = rows.dim(0), width = rows.dim(1);
  if (bags.reduction == "max") return LargestInside(c, c.Reshape(rows, Shape{1, count, width}), inside);
  const Value weight = c.Cast(inside, rows.dtype()), sum = MatMul(c, weight, rows);
  return bags.reduction == "sum" ? sum : Div(c, sum, Clip(c, Sum(c, weight, {1}, true), 1, static_cast<double>(count)));
}

/* Of bags of one length (bags, length, width), and which of their rows count (bags, length). */
Value ReduceEach(const Call& c, const Bags& bags, const Value& each, const Value& counted) {
  if (bags.reduction == "max") return LargestInside(c, each, counted);
  const int64_t length = each.dim(1);
  const Value weight = c.Cast(counted, each.dtype());
  const Value sum = Sum(c, Mul(c, each, c.Reshape(weight, Shape{bags.number, length, 1})), {1}, false);
  return bags.reduction == "sum" ? sum : Div(c, sum, Clip(c, Sum(c, weight, {1}, true), 1, static_cast<double>(length)));
}

/* Which places have another index than the padding: (count,) of bool. */
Value NotPadding(const Call& c, const Bags& bags) {
  const Value tokens = bags.rows > 0 ? NotNegative(c, bags.tokens, bags.rows) : bags.tokens;
  return BinaryNumber(c, "not_equal", tokens, static_cast<double>(bags.padding));
}

bool IsPadded(const Bags& bags) { return bags.tokens.kind == Value::kTensor; }

bool Fit(const Bags& bags) {
  const bool indexed = bags.indices.kind == Value::kTensor;
  return bags.number > 0 && !bags.reduction.empty() && bags.table.kind == Value::kTensor && bags.table.ndim() == 2 &&
         IsFloating(bags.table.dtype()) && (!indexed || (bags.indices.ndim() == 1 && !bags.indices.empty())) &&
         bags.starts.dim(0) >= bags.number && bags.ends.dim(0) >= bags.number && bags.starts.dtype() == bags.ends.dtype() &&
         bags.table.dim(0) > 0 && (!IsPadded(bags) || (bags.tokens.ndim() == 1 && bags.tokens.dim(0) == bags.table.dim(0)));
}

/* (bags, width) */
Value Reduced(const Call& call, const Bags& bags, int64_t skip) {
  const Value starts = SliceAxis(call, bags.starts, 0, 0, bags.number), ends = SliceAxis(call, bags.ends, 0, skip, skip + bags.number);
  const bool indexed = bags.indices.kind == Value::kTensor;
  const Value rows = indexed ? Take(call, bags.table, NotNegative(call, bags.indices, bags.table.dim(0)), 0) : bags.table;
  const int64_t count = rows.dim(0), width = rows.dim(1);
  if (const int64_t length = CommonLength(starts, ends, count)) {
    const Value each = call.Reshape(rows, Shape{bags.number, length, width});
    if (IsPadded(bags)) return ReduceEach(call, bags, each, call.Reshape(NotPadding(call, bags), Shape{bags.number, length}));
    return bags.reduction == "max" ? Largest(call, each) : Reduce(call, bags.reduction.c_str(), each, {1}, false);
  }
  const Value at = IntsLike(call, IntegersOf(CountUp(call, count)), {1, count}, starts.dtype());
  Value inside = Binary(call, "logical_and", Binary(call, "greater_equal", at, call.Reshape(starts, Shape{bags.number, 1})),
                        Binary(call, "less", at, call.Reshape(ends, Shape{bags.number, 1})));
  if (IsPadded(bags)) inside = Binary(call, "logical_and", inside, call.Reshape(NotPadding(call, bags), Shape{1, count}));
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
  if (!counts || call.in(3).kind != Value::kSequence || !call.in(3).elements->empty()) return std::nullopt;
  if (!reader.ReadSequence(&bags)) {
    bags = Bags();
    if (!reader.ReadPadded(&bags)) return std::nullopt;
  }
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
