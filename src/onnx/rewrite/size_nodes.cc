#include "onnx/rewrite/size_nodes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "onnx/builder.h"
#include "onnx/convert/shape/shape.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr int64_t kMost = 32;  // numbers of a value

/* One number, or a few in a row. */
bool IsFew(const TensorType& type, int dtype) { return type.dtype == dtype && type.shape.ndim() <= 1 && type.shape.Size() <= kMost; }

/* All numbers in their order. */
std::vector<int> All(int64_t count) {
  std::vector<int> picks(static_cast<size_t>(count));
  std::iota(picks.begin(), picks.end(), 0);
  return picks;
}

/* What Slice takes of `count` numbers; false: not along a row. */
bool Sliced(int64_t count, const std::vector<std::vector<int64_t>>& given, std::vector<int>* picks) {
  for (const auto& numbers : given)
    if (numbers.size() != 1) return false;
  const int64_t step = given.size() > 3 ? given[3][0] : 1;
  if (given.size() < 2 || step <= 0 || (given.size() > 2 && given[2][0] != 0 && given[2][0] != -1)) return false;
  const Cut cut = CutOf(count, given[0][0], given[1][0], step);
  for (int64_t i = 0; i < cut.count; ++i) picks->push_back(static_cast<int>(cut.begin + i * step));
  return true;
}

/* Which sizes Shape gives of so many. */
std::vector<int> Asked(const NodeProto& node, int ndim) {
  std::vector<int> picks = All(ndim);
  const Cut cut = CutOf(ndim, node.Int("start", 0), node.Int("end", ndim), 1);
  return {picks.begin() + cut.begin, picks.begin() + cut.begin + cut.count};
}

}  // namespace

/* False: it is neither a constant nor of a node that was taken in, or of another dtype. */
bool SizeNodes::Read(const Operand& operand, int dtype, Source* source) const {
  const auto place = static_cast<size_t>(operand.place);
  source->place = operand.place;
  if (operand.place < 0 || !operand.type || operand.type->dtype != dtype) return false;
  source->count = operand.type->shape.Size();
  if (operand.constant) {
    if (operand.constant->kind != Value::kTensor || !operand.constant->known() || !IsFew(operand.constant->type, kInt64)) return false;
    source->numbers = IntsIn(operand.constant->array);
    return true;
  }
  source->node = place < node_of_.size() ? node_of_[place] : -1;
  return source->node >= 0 && nodes_[static_cast<size_t>(source->node)].type == *operand.type;
}

bool SizeNodes::Put(const NodeProto& node, const std::vector<Operand>& operands, Node* made) const {
  static const std::map<std::string, Kind> pointwise = {{"Add", Kind::kAdd}, {"Sub", Kind::kSub},     {"Mul", Kind::kMul},
                                                        {"Div", Kind::kDiv}, {"Equal", Kind::kEqual}, {"Where", Kind::kWhere}};
  static const std::map<std::string, Kind> moves = {{"Unsqueeze", Kind::kPick}, {"Squeeze", Kind::kPick}, {"Identity", Kind::kPick},
                                                    {"Reshape", Kind::kPick},   {"Cast", Kind::kPick},    {"Gather", Kind::kPick},
                                                    {"Slice", Kind::kPick},     {"Concat", Kind::kJoin}};
  const int64_t count = made->type.shape.Size();
  if (node.op == "Shape") {
    const Operand& array = operands[0];
    if (array.constant || !array.type) return false;
    made->kind = Kind::kShape;
    made->in.resize(1);
    made->in[0].place = array.place;
    made->in[0].count = array.type->shape.ndim();
    made->picks = Asked(node, array.type->shape.ndim());
    return static_cast<int64_t>(made->picks.size()) == count;
  }
  const auto found = moves.find(node.op), each = pointwise.find(node.op);
  if (found == moves.end() && each == pointwise.end()) return false;
  made->kind = found != moves.end() ? found->second : each->second;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool chooses = made->kind == Kind::kWhere && i == 0;
    made->in.emplace_back();
    if (!Read(operands[i], chooses ? kBool : kInt64, &made->in.back())) return false;
  }
  std::vector<Source>& in = made->in;
  const int64_t first = in[0].count;
  if (made->kind == Kind::kJoin)
    return std::accumulate(in.begin(), in.end(), int64_t{0}, [](int64_t sum, const Source& s) { return sum + s.count; }) == count;
  if (each != pointwise.end())
    return in.size() == (node.op == "Where" ? 3 : 2) &&
           std::all_of(in.begin(), in.end(), [&](const Source& s) { return s.count == count || s.count == 1; });
  std::vector<std::vector<int64_t>> given;
  for (size_t i = 1; i < in.size(); ++i) {
    if (in[i].node >= 0) return false;
    given.push_back(in[i].numbers);
  }
  in.resize(1);
  if (node.op == "Gather") {
    if (given.size() != 1 || node.Int("axis", 0) != 0) return false;
    for (const int64_t at : given[0]) made->picks.push_back(static_cast<int>(at < 0 ? at + first : at));
  } else if (node.op == "Slice") {
    if (!Sliced(first, given, &made->picks)) return false;
  } else {
    made->picks = All(first);
  }
  const auto is_inside = [&](int pick) { return pick >= 0 && pick < first; };
  return static_cast<int64_t>(made->picks.size()) == count && std::all_of(made->picks.begin(), made->picks.end(), is_inside);
}

int SizeNodes::Add(const NodeProto& node, const std::vector<Operand>& operands, int out, const TensorType& result) {
  if (!node.domain.empty() || operands.empty() || out < 0 || !IsFew(result, node.op == "Equal" ? kBool : kInt64)) return -1;
  Node made{Kind::kPick, {}, {}, result};
  if (!Put(node, operands, &made)) return -1;
  const int number = static_cast<int>(nodes_.size());
  if (node_of_.size() <= static_cast<size_t>(out)) node_of_.resize(static_cast<size_t>(out) + 1, -1);
  node_of_[static_cast<size_t>(out)] = number;
  nodes_.push_back(std::move(made));
  return number;
}

SizeNodes::Values SizeNodes::Make() const {
  Values values;
  for (const Node& n : nodes_) {
    NDArray array(n.type.shape, Context::CPU(), n.type.dtype);
    values.data.push_back(array.data().dptr<void>());
    values.made.emplace_back(std::move(array));
  }
  return values;
}

bool SizeNodes::Compute(int node, const std::vector<const Value*>& at, Values* values) const {
  const Node& n = nodes_[static_cast<size_t>(node)];
  if (n.kind == Kind::kShape) {
    const Value* const v = at[static_cast<size_t>(n.in[0].place)];
    if (!v || v->kind != Value::kTensor || v->ndim() != n.in[0].count) return false;
    auto* out = static_cast<int64_t*>(values->data[static_cast<size_t>(node)]);
    for (const int axis : n.picks) *out++ = v->type.shape[axis];
    return true;
  }
  constexpr size_t kMostOperands = 16;
  if (n.in.size() > kMostOperands) return false;
  const void* in[kMostOperands];
  for (size_t i = 0; i < n.in.size(); ++i) {
    const Source& s = n.in[i];
    if (s.node >= 0 && at[static_cast<size_t>(s.place)] != &values->made[static_cast<size_t>(s.node)]) return false;
    in[i] = s.node >= 0 ? values->data[static_cast<size_t>(s.node)] : s.numbers.data();
  }
  const auto number = [&](size_t i, int64_t k) { return static_cast<const int64_t*>(in[i])[n.in[i].count == 1 ? 0 : k]; };
  const int64_t count = n.type.shape.Size();
  auto* out = static_cast<int64_t*>(values->data[static_cast<size_t>(node)]);
  switch (n.kind) {
    case Kind::kPick:
      for (const int pick : n.picks) *out++ = number(0, pick);
      return true;
    case Kind::kJoin:
      for (size_t i = 0; i < n.in.size(); ++i) out = std::copy_n(static_cast<const int64_t*>(in[i]), n.in[i].count, out);
      return true;
    case Kind::kEqual:
      for (int64_t k = 0; k < count; ++k) reinterpret_cast<bool*>(out)[k] = number(0, k) == number(1, k);
      return true;
    case Kind::kWhere:
      for (int64_t k = 0; k < count; ++k)
        out[k] = static_cast<const bool*>(in[0])[n.in[0].count == 1 ? 0 : k] ? number(1, k) : number(2, k);
      return true;
    default: break;
  }
  for (int64_t k = 0; k < count; ++k) {
    const int64_t a = number(0, k), b = number(1, k);
    if (n.kind == Kind::kDiv && (a < 0 || b <= 0)) return false;
    if (n.kind == Kind::kAdd   ? __builtin_add_overflow(a, b, out + k)
        : n.kind == Kind::kSub ? __builtin_sub_overflow(a, b, out + k)
                               : n.kind == Kind::kMul && __builtin_mul_overflow(a, b, out + k))
      return false;
    if (n.kind == Kind::kDiv) out[k] = a / b;
  }
  return true;
}

}  // namespace onnx
}  // namespace mxnet
