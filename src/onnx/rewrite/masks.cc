#include "onnx/rewrite/masks.h"

#include <algorithm>
#include <unordered_set>

#include "onnx/builder.h"
#include "onnx/file/makers.h"

namespace mxnet {
namespace onnx {
namespace {

bool Is(const NodeProto* n, const char* op) { return n && n->domain.empty() && n->op == op && n->small.empty() && n->outputs.size() == 1; }

class Masks {
 public:
  Masks(const std::vector<const NodeProto*>& nodes, const Session& session) : makers_(nodes, session) {}

  /* False: it writes something else. `gone` gets the nodes that it need not read any more. */
  bool Read(const NodeProto& scatter, NodeProto* joined, std::unordered_set<const NodeProto*>* gone) const {
    if (!Is(&scatter, "ScatterND") || scatter.inputs.size() != 3) return false;
    const Attribute* const reduction = scatter.Find("reduction");
    const NodeProto *const places = MakerOf(scatter.inputs[1], "Transpose"), *const rows = MakerOf(scatter.inputs[2], "Slice");
    if (!places || !rows || (reduction && reduction->s != "none") || rows->inputs.size() < 3 || rows->inputs.size() > 5) return false;
    const Attribute* const perm = places->Find("perm");
    const NodeProto* const found = perm && perm->ints != std::vector<int64_t>{1, 0} ? nullptr : MakerOf(places->inputs[0], "NonZero");
    if (!found || !IsNumber(rows->inputs[1], 0) || (rows->inputs.size() > 3 && !IsNumber(rows->inputs[3], 0)) ||
        (rows->inputs.size() > 4 && !IsNumber(rows->inputs[4], 1)))
      return false;
    if (!IsCount(rows->inputs[2], places->outputs[0], gone)) return false;
    gone->insert({places, rows, found});
    joined->name = scatter.name, joined->op = "Scatter", joined->domain = kMasksDomain, joined->opset = 1;
    joined->inputs = {scatter.inputs[0], found->inputs[0], rows->inputs[0]}, joined->outputs = scatter.outputs;
    return true;
  }

 private:
  const NodeProto* MakerOf(const std::string& name, const char* op) const {
    const NodeProto* const n = makers_.Of(name);
    return Is(n, op) && !n->inputs.empty() ? n : nullptr;
  }

  bool IsNumber(const std::string& name, int64_t number) const {
    const NDArray* const array = makers_.ConstantOf(name);
    return array && !array->is_none() && array->dtype() == kInt64 && array->shape().Size() == 1 && IntsIn(*array)[0] == number;
  }

  /* The number of rows of `places`, which is the first of its sizes. */
  bool IsCount(const std::string& name, const std::string& places, std::unordered_set<const NodeProto*>* gone) const {
    const NodeProto* n = MakerOf(name, "Unsqueeze");
    if (n) gone->insert(n);
    const NodeProto* const first = MakerOf(n ? n->inputs[0] : name, "Gather");
    if (!first || first->inputs.size() != 2 || first->Int("axis", 0) != 0 || !IsNumber(first->inputs[1], 0)) return false;
    const NodeProto* const sizes = MakerOf(first->inputs[0], "Shape");
    if (!sizes || sizes->inputs[0] != places || sizes->Int("start", 0) != 0) return false;
    gone->insert({first, sizes});
    return true;
  }

  Makers makers_;
};

}  // namespace

std::vector<const NodeProto*> JoinMasks(const std::vector<const NodeProto*>& nodes, const GraphProto& graph, const Session& session,
                                        std::deque<NodeProto>* made) {
  if (std::none_of(nodes.begin(), nodes.end(), [](const NodeProto* n) { return Is(n, "NonZero"); })) return nodes;
  const Masks masks(nodes, session);
  std::unordered_set<const NodeProto*> gone;
  std::vector<const NodeProto*> with = nodes;
  for (const NodeProto*& n : with) {
    NodeProto joined;
    std::unordered_set<const NodeProto*> read;
    if (!masks.Read(*n, &joined, &read)) continue;
    gone.insert(read.begin(), read.end());
    n = &made->emplace_back(std::move(joined));
  }
  return gone.empty() ? with : WithoutUnread(with, graph, gone);
}

}  // namespace onnx
}  // namespace mxnet
