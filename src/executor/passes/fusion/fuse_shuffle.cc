// Inference: channels of groups taken in turn, written as a transpose of a view of the image that
// has the groups as a dimension of their own, become one operator with the concatenation before it
// and the slices behind it. Each of these alone moves the whole image.
#include <algorithm>

#include "executor/passes/core/pattern.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace {

using pattern::GraphView;

struct Shuffle {
  int64_t groups = 1;
  bool apart = false;  // the groups are arrays, and a concatenation of them is read
  std::vector<int64_t> begins, ends;
};
/* An output of a slice, by the place of its stretch in the shuffle before it. */
struct Piece {
  const Node* shuffle;
  std::vector<uint32_t> outputs;
};

bool IsView(const NodeEntry& e, const GraphView& view) { return IsResultOf(e, Role::kReshape) && view.Readers(e) == 1; }

/* Is this the last of: reshape to (batch, groups, channels, ...), exchange of both, reshape? */
bool IsShuffle(const NodeEntry& out, const GraphView& view, Shuffle* found) {
  if (!IsResultOf(out, Role::kReshape)) return false;
  const NodeEntry& turned = out.node->inputs[0];
  if (!IsResultOf(turned, Role::kTranspose) || view.Readers(turned) != 1) return false;
  const NodeEntry& grouped = turned.node->inputs[0];
  if (!IsView(grouped, view)) return false;
  const NodeEntry& data = grouped.node->inputs[0];
  const Shape &whole = view.shape(data), &parts = view.shape(grouped);
  const int n = whole.ndim();
  if (n < 3 || parts.ndim() != n + 1 || view.shape(out) != whole || whole.Size() == 0 || view.dtype(out) != view.dtype(data)) return false;
  if (parts[0] != whole[0] || parts[1] * parts[2] != whole[1]) return false;
  std::vector<int> axes = PermutationOf(*turned.node, n + 1);
  if (axes.size() != static_cast<size_t>(n + 1)) return false;
  std::swap(axes[1], axes[2]);
  for (int i = 0; i <= n; ++i)
    if (axes[i] != i || (i > 2 && parts[i] != whole[i - 1])) return false;
  found->groups = parts[1];
  const Node& joined = *data.node;
  found->apart = RoleOf(joined) == Role::kConcat && view.Readers(data) == 1 && joined.num_inputs() == found->groups &&
                 joined.op()->trait<AlongAxis>()->axis(*joined.attrs) == 1 &&
                 std::all_of(joined.inputs.begin(), joined.inputs.end(), [&](const NodeEntry& e) { return view.shape(e)[1] == parts[2]; });
  return true;
}

/* The stretches of channels that a node gives; none where it gives something else. */
std::vector<Stretch> StretchesOf(const Node& n, const Shape& whole) {
  const auto* stretches = n.is_variable() ? nullptr : n.op()->trait<Stretches>();
  std::vector<Stretch> found = stretches ? stretches->of(*n.attrs, whole) : std::vector<Stretch>();
  const bool channels = std::all_of(found.begin(), found.end(), [](const Stretch& s) { return s.axis == 1; });
  return channels ? found : std::vector<Stretch>();
}

/* Where one stretch stands among the results of a shuffle, which gets it if it has not got it. */
uint32_t PlaceOf(const Stretch& s, Shuffle* shuffle) {
  for (size_t i = 0; i < shuffle->begins.size(); ++i)
    if (shuffle->begins[i] == s.begin && shuffle->ends[i] == s.end) return static_cast<uint32_t>(i);
  shuffle->begins.push_back(s.begin), shuffle->ends.push_back(s.end);
  return static_cast<uint32_t>(shuffle->begins.size() - 1);
}

class ShuffleFuser {
 public:
  ShuffleFuser(PassGraph* g, const GraphInfo& info) : g_(g), view_(*g, info) {}

  int Run() {
    VisitForward(*g_, [&](const NodePtr& n) {
      Shuffle found;
      if (!n->is_variable() && IsShuffle({n, 0, 0}, view_, &found)) shuffles_.emplace(n.get(), std::move(found));
    });
    if (shuffles_.empty()) return 0;
    FindPieces();
    std::unordered_map<const Node*, NodePtr> made;
    RewriteEntries(g_, [&](const NodePtr& renewed, const NodePtr& original) -> std::vector<NodeEntry> {
      if (auto it = shuffles_.find(original.get()); it != shuffles_.end()) {
        const NodeEntry& data = renewed->inputs[0].node->inputs[0].node->inputs[0];
        const Shuffle& s = it->second;
        made[original.get()] =
            MakeShuffledChannels(s.apart ? data.node->inputs : std::vector<NodeEntry>{data}, s.groups, s.begins, s.ends, renewed->name);
        return {{made[original.get()], 0, 0}};
      }
      std::vector<NodeEntry> results;
      if (auto it = pieces_.find(original.get()); it != pieces_.end())
        for (const uint32_t o : it->second.outputs) results.push_back({made.at(it->second.shuffle), o, 0});
      return results;
    });
    return static_cast<int>(shuffles_.size());
  }

 private:
  // A shuffle gives stretches where nodes read it that take nothing else, and otherwise everything.
  void FindPieces() {
    std::unordered_map<const Node*, int> by_pieces;
    VisitForward(*g_, [&](const NodePtr& n) {
      if (n->is_variable() || n->num_inputs() != 1) return;
      const auto it = shuffles_.find(n->inputs[0].node.get());
      if (it == shuffles_.end()) return;
      const std::vector<Stretch> stretches = StretchesOf(*n, view_.shape(n->inputs[0]));
      if (stretches.empty()) return;
      ++by_pieces[it->first];
      Piece piece{it->first, {}};
      for (const Stretch& s : stretches) piece.outputs.push_back(PlaceOf(s, &it->second));
      pieces_.emplace(n.get(), std::move(piece));
    });
    EntryUsers users = CountUsers(*g_);  // those that look at the shape alone, too
    VisitForward(*g_, [&](const NodePtr& n) {
      const auto it = shuffles_.find(n.get());
      if (it == shuffles_.end() || users[{n.get(), 0}] == by_pieces[n.get()]) return;
      it->second.begins = {0}, it->second.ends = {view_.shape({n, 0, 0})[1]};
      for (auto p = pieces_.begin(); p != pieces_.end();) p = p->second.shuffle == n.get() ? pieces_.erase(p) : std::next(p);
    });
  }

  PassGraph* const g_;
  const GraphView view_;
  std::unordered_map<const Node*, Shuffle> shuffles_;
  std::unordered_map<const Node*, Piece> pieces_;
};

}  // namespace

int FuseShuffle(PassGraph* g, PassContext* context) {
  if (!Has(*g, Role::kTranspose) || !Has(*g, Role::kReshape)) return 0;
  return ShuffleFuser(g, context->info(*g)).Run();
}

}  // namespace mxnet
