#include "onnx/rewrite/repeats.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/dtype.h"
#include "base/threads/borrowed_team.h"
#include "imperative/kernel_call.h"
#include "mxnet/op.h"
#include "ndarray/stored.h"
#include "onnx/builder.h"
#include "operator/record/swapped_form.h"

namespace mxnet {
namespace onnx {
namespace {

bool IsPlain(const NodeProto& n, const char* op) { return n.op == op && n.IsPlain(2); }

/* Also one that JoinTransposes has made. */
bool IsProduct(const NodeProto& n) {
  if (IsPlain(n, "MatMul")) return true;
  const auto is_swap = [](const Attribute& a) { return a.name == "transB"; };
  return n.op == "FusedMatMul" && n.domain == "com.microsoft" && n.small.empty() && n.inputs.size() == 2 &&
         std::all_of(n.attributes.begin(), n.attributes.end(), is_swap);
}

class Graph {
 public:
  Graph(const std::vector<const NodeProto*>& nodes, const GraphProto& graph) {
    for (const NodeProto* n : nodes) {
      for (const auto* list : {&n->inputs, &n->captured})
        for (const std::string& name : *list) ++uses_[name];
      for (const std::string& name : n->outputs) makers_[name] = n;
    }
    for (const ValueInfo& v : graph.outputs) ++uses_[v.name];
  }
  /* What makes the name, for one reader alone; null: something else does. */
  const NodeProto* MakerFor(const std::string& name, const char* op) const {
    const auto found = makers_.find(name);
    return found != makers_.end() && IsPlain(*found->second, op) && uses_.at(name) == 1 ? found->second : nullptr;
  }

 private:
  std::unordered_map<std::string, const NodeProto*> makers_;
  std::unordered_map<std::string, int> uses_;
};

NodeProto Joined(const NodeProto& product, const NodeProto& expand, const NodeProto& reshape) {
  NodeProto n;
  n.name = product.name, n.op = "MatMul", n.domain = kRepeatsDomain, n.opset = 1;
  n.inputs = {product.inputs[0], expand.inputs[0], expand.inputs[1], reshape.inputs[1]}, n.outputs = product.outputs;
  n.attributes = product.attributes;
  n.attributes.insert(n.attributes.end(), reshape.attributes.begin(), reshape.attributes.end());
  return n;
}

}  // namespace

std::vector<const NodeProto*> JoinRepeats(const std::vector<const NodeProto*>& nodes, const GraphProto& graph,
                                          std::deque<NodeProto>* made) {
  if (std::none_of(nodes.begin(), nodes.end(), [](const NodeProto* n) { return IsPlain(*n, "Expand"); })) return nodes;
  const Graph known(nodes, graph);
  std::unordered_set<const NodeProto*> gone;
  std::vector<const NodeProto*> with = nodes;
  for (const NodeProto*& n : with) {
    const NodeProto* const reshape = IsProduct(*n) ? known.MakerFor(n->inputs[1], "Reshape") : nullptr;
    const NodeProto* const expand = reshape ? known.MakerFor(reshape->inputs[0], "Expand") : nullptr;
    if (!expand) continue;
    gone.insert({reshape, expand});
    n = &made->emplace_back(Joined(*n, *expand, *reshape));
  }
  with.erase(std::remove_if(with.begin(), with.end(), [&](const NodeProto* n) { return gone.count(n) > 0; }), with.end());
  return with;
}

bool RepeatsHeads(const Value& a, const Value& apart, const std::vector<int64_t>& expand, const std::vector<int64_t>& reshape,
                  bool zero_is_size, bool across, Repeats* r) {
  if (a.kind != Value::kTensor || a.ndim() != 4 || a.empty() || !IsFloating(a.dtype()) || a.dtype() != apart.dtype()) return false;
  if (apart.kind != Value::kTensor || apart.ndim() != 5 || expand.size() != 5 || reshape.size() != 4) return false;
  const Shape &m = a.shape(), &s = apart.shape();
  if (s[2] != 1 || s.Size() == 0) return false;
  for (const int i : {0, 1, 3, 4})
    if (expand[static_cast<size_t>(i)] != 1 && expand[static_cast<size_t>(i)] != s[i]) return false;
  r->groups = s[1], r->times = expand[2];
  const auto is = [&](size_t i, int64_t size) { return reshape[i] == -1 || reshape[i] == size; };
  const bool first = (reshape[0] == 0 && !zero_is_size) || is(0, s[0]);
  if (r->times <= 1 || std::count(reshape.begin(), reshape.end(), -1) > 1) return false;
  if (!first || !is(1, r->groups * r->times) || !is(2, s[3]) || !is(3, s[4])) return false;
  return m[0] == s[0] && m[1] == r->groups * r->times && m[3] == s[across ? 4 : 3];
}

bool MultiplyShared(const NodeProto& node, Span<const Value* const> operands, Value* result) {
  const Value &a = *operands[0], &apart = *operands[1];
  for (const Value* v : operands)
    if (v->kind != Value::kTensor || v->array.is_none() || (v->array.delayed() && !IsFilled(v->array))) return false;
  const bool across = node.Int("transB", 0) != 0;
  Repeats r;
  if (!RepeatsHeads(a, apart, IntsIn(operands[2]->array), IntsIn(operands[3]->array), node.Int("allowzero", 0) != 0, across, &r))
    return false;
  const BorrowedTeam team;
  if (team.refused()) return false;
  const Shape &s = a.type.shape, &b = apart.type.shape;
  const int64_t n = across ? b[3] : b[4];
  static const AttrsPtr plain = MakeAttrs(Op::Get("_npi_matmul"), {});
  static const AttrsPtr swapped = plain->op->trait<SwappedForm>()->attrs();
  const Attrs& attrs = across ? *swapped : *plain;
  NDArray made(Shape{s[0], s[1], s[2], n}, Context::CPU(), a.dtype());
  const auto as = [](TBlob blob, const Shape& shape) {
    blob.shape = shape;
    return blob;
  };
  const TBlob in[] = {as(a.array.data(), {s[0], r.groups, r.times * s[2], s[3]}), as(apart.array.data(), {b[0], b[1], b[3], b[4]})},
              out = as(made.data(), {s[0], r.groups, r.times * s[2], n});
  const OpReq req = OpReq::kWrite;
  RunContext run;
  run.ctx = Context::CPU();
  CallKernel(*attrs.op->KernelFor(DeviceType::kCPU), attrs, {in, 2}, {&req, 1}, {&out, 1}, run, false, nullptr);
  *result = Value(std::move(made));
  return true;
}

}  // namespace onnx
}  // namespace mxnet
