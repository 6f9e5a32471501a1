/*
 * Ensembles of trees. All trees go down one level at a time: the node that each example has
 * reached in each tree is an array (examples, trees), and a level is a few lookups in arrays of
 * nodes. Leaves lead to themselves.
 */
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "onnx/convert/tree.h"

namespace mxnet {
namespace onnx {

namespace {

enum Mode : int { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember, kLeaf };

struct Node {
  int mode = kLeaf;
  int64_t feature = 0, yes = 0, no = 0;
  double value = 0;
  bool missing_is_yes = false;
};

struct Ensemble {
  std::vector<Node> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
  std::vector<double> weights;  // (nodes, targets)
  std::vector<char> weighs;     // (nodes, targets): is there a weight?
  std::vector<double> base;
  int aggregate = 0;  // sum, average, min, max
};

bool AllReached(const Ensemble& e) {
  std::vector<char> reached(e.nodes.size(), 0);
  std::vector<int64_t> todo = e.roots;
  size_t count = 0;
  while (!todo.empty()) {
    const size_t n = static_cast<size_t>(todo.back());
    todo.pop_back();
    if (reached[n]) continue;
    reached[n] = 1;
    ++count;
    if (e.nodes[n].mode != kLeaf) todo.push_back(e.nodes[n].yes), todo.push_back(e.nodes[n].no);
  }
  return count == e.nodes.size();
}

/* How many levels until all are at leaves; Refuses circles and children that are not there. */
int64_t Depth(const Call& c, const Ensemble& e) {
  std::vector<int64_t> level = e.roots;
  int64_t depth = 0;
  while (true) {
    std::vector<int64_t> next;
    for (int64_t n : level) {
      if (n < 0 || n >= static_cast<int64_t>(e.nodes.size())) c.Refuse("node " + Text(n) + " of a tree is not there");
      if (depth > static_cast<int64_t>(e.nodes.size())) c.Refuse("nodes of a tree lead to themselves");
      const Node& node = e.nodes[static_cast<size_t>(n)];
      if (node.mode != kLeaf) next.push_back(node.yes), next.push_back(node.no);
    }
    if (next.empty()) return depth;
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    ++depth;
    level.swap(next);
  }
}

const char* Comparison(int mode) {
  static const char* const names[] = {"less_equal", "less", "greater_equal", "greater", "equal", "not_equal"};
  return names[mode];
}

/* Does each example go to `yes`? */
Value Decide(const Call& c, const Ensemble& e, const Value& at, const Value& x, const Value& value) {
  std::vector<int> modes;
  Sizes mode_of, tracks;
  bool any_track = false;
  for (const Node& n : e.nodes) {
    if (n.mode != kLeaf && std::find(modes.begin(), modes.end(), n.mode) == modes.end()) modes.push_back(n.mode);
    mode_of.push_back(n.mode), tracks.push_back(n.missing_is_yes);
    any_track = any_track || n.missing_is_yes;
  }
  Value yes = Binary(c, Comparison(modes[0]), x, value);
  if (modes.size() > 1) {
    const Value mode = Take(c, c.IntTensor(mode_of), at, 0);
    for (size_t i = 1; i < modes.size(); ++i)
      yes = Where(c, BinaryNumber(c, "equal", mode, modes[i]), Binary(c, Comparison(modes[i]), x, value), yes);
  }
  if (!any_track) return yes;
  const Value track = c.Cast(Take(c, c.IntTensor(tracks), at, 0), kBool);
  return Binary(c, "logical_or", yes, Binary(c, "logical_and", Unary(c, "isnan", x), track));
}

/* (examples, targets) */
Value Scores(const Call& c, const Ensemble& e, const Value& x) {
  const int64_t examples = x.shape()[0], features = x.shape()[1], trees = static_cast<int64_t>(e.roots.size());
  const int64_t depth = Depth(c, e);
  Sizes feature, yes, no, starts;
  std::vector<double> value;
  for (const Node& n : e.nodes) {
    if (n.mode != kLeaf && (n.feature < 0 || n.feature >= features))
      c.Refuse("feature " + Text(n.feature) + " of data of shape " + Text(x.shape()));
    feature.push_back(n.feature), yes.push_back(n.yes), no.push_back(n.no), value.push_back(n.value);
  }
  for (int64_t i = 0; i < examples; ++i) starts.push_back(i * features);
  const Value flat = c.Reshape(x, Shape{x.size()}), start = IntsLike(c, starts, {examples, 1});
  const Value features_of = c.IntTensor(feature), yes_of = c.IntTensor(yes), no_of = c.IntTensor(no);
  const Value value_of = FloatsLike(c, value, {static_cast<int64_t>(value.size())}, x.dtype());
  Value at = IntsLike(c, e.roots, {1, trees});
  for (int64_t level = 0; level < depth; ++level) {
    const Value place = Add(c, Take(c, features_of, at, 0), start);
    const Value go = Decide(c, e, at, Take(c, flat, place, 0), Take(c, value_of, at, 0));
    at = Where(c, go, Take(c, yes_of, at, 0), Take(c, no_of, at, 0));
  }
  at = c.BroadcastTo(at, Shape{examples, trees});
  std::vector<double> table = e.weights;
  const double otherwise = e.aggregate == 2   ? std::numeric_limits<double>::infinity()
                           : e.aggregate == 3 ? -std::numeric_limits<double>::infinity()
                                              : 0;
  for (size_t i = 0; i < table.size(); ++i)
    if (!e.weighs[i]) table[i] = otherwise;
  const Value weights = FloatsLike(c, table, {static_cast<int64_t>(e.nodes.size()), e.targets}, x.dtype());
  const Value all = Take(c, weights, at, 0);  // (examples, trees, targets)
  Value scores = Reduce(c, e.aggregate == 2 ? "min" : e.aggregate == 3 ? "max" : "sum", all, {1}, false);
  if (e.aggregate == 1) scores = MulNumber(c, scores, 1.0 / static_cast<double>(trees));
  if (e.aggregate >= 2) scores = Where(c, Unary(c, "isinf", scores), c.Scalar(0, scores.dtype()), scores);
  if (e.base.empty()) return scores;
  if (static_cast<int64_t>(e.base.size()) != e.targets)
    c.Refuse("there are " + Text(static_cast<int64_t>(e.base.size())) + " base values for " + Text(e.targets) + " targets");
  return Add(c, scores, FloatsLike(c, e.base, {e.targets}, x.dtype()));
}

/* Floats of an attribute, or of the tensor that takes its place. */
std::vector<double> Numbers(const Call& c, const char* name) {
  const std::vector<float> floats = c.Attr(name, std::vector<float>{});
  const Constant* tensor = c.TensorAttr((std::string(name) + "_as_tensor").c_str());
  if (!tensor) return std::vector<double>(floats.begin(), floats.end());
  return NumbersOf(Value(tensor->array));
}

/* Nodes by (tree, node), as opsets before 5 write them; names of weights begin with `first`. */
Ensemble ReadNodes(const Call& c, const std::string& first) {
  Ensemble e;
  const auto ints = [&](const std::string& name) { return c.Attr(name.c_str(), std::vector<int64_t>{}); };
  const auto tree = ints("nodes_treeids"), id = ints("nodes_nodeids"), feature = ints("nodes_featureids");
  const auto yes = ints("nodes_truenodeids"), no = ints("nodes_falsenodeids"), tracks = ints("nodes_missing_value_tracks_true");
  const std::vector<std::string> modes = c.Attr("nodes_modes", std::vector<std::string>{});
  const std::vector<double> values = Numbers(c, "nodes_values");
  c.Ignore("nodes_hitrates"), c.Ignore("nodes_hitrates_as_tensor");
  const size_t count = tree.size();
  if (count == 0 || id.size() != count || feature.size() != count || yes.size() != count || no.size() != count || modes.size() != count ||
      values.size() != count || (!tracks.empty() && tracks.size() != count))
    c.Refuse("attributes nodes_* do not have one element for each node");
  std::map<std::pair<int64_t, int64_t>, int64_t> place;
  for (size_t i = 0; i < count; ++i) place[{tree[i], id[i]}] = static_cast<int64_t>(i);
  const auto find = [&](int64_t t, int64_t n) {
    const auto it = place.find({t, n});
    if (it == place.end()) c.Refuse("node " + Text(n) + " of tree " + Text(t) + " is not there");
    return it->second;
  };
  std::vector<char> child(count, 0);
  for (size_t i = 0; i < count; ++i) {
    Node n;
    n.mode = OneOf(c, "nodes_modes", modes[i],
                   {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"});
    if (n.mode == kMember) c.Refuse("attribute nodes_modes has BRANCH_MEMBER");
    n.feature = feature[i], n.value = values[i], n.missing_is_yes = !tracks.empty() && tracks[i] != 0;
    n.yes = n.no = static_cast<int64_t>(i);
    if (n.mode != kLeaf)
      n.yes = find(tree[i], yes[i]), n.no = find(tree[i], no[i]), child[static_cast<size_t>(n.yes)] = child[static_cast<size_t>(n.no)] = 1;
    e.nodes.push_back(n);
  }
  for (size_t i = 0; i < count; ++i)
    if (!child[i]) e.roots.push_back(static_cast<int64_t>(i));
  if (!AllReached(e)) c.Refuse("nodes of a tree lead to themselves");
  const auto w_tree = ints(first + "_treeids"), w_node = ints(first + "_nodeids"), w_target = ints(first + "_ids");
  const std::vector<double> weights = Numbers(c, (first + "_weights").c_str());
  if (w_tree.size() != weights.size() || w_node.size() != weights.size() || w_target.size() != weights.size())
    c.Refuse("attributes " + first + "_* do not have one element for each weight");
  for (int64_t t : w_target) e.targets = std::max(e.targets, t + 1);
  e.targets = std::max(e.targets, c.Attr("n_targets", int64_t{1}));
  if (e.targets > (int64_t{1} << 28) / static_cast<int64_t>(count)) c.Refuse("there are " + Text(e.targets) + " targets");
  e.weights.assign(count * static_cast<size_t>(e.targets), 0), e.weighs.assign(e.weights.size(), 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (w_target[i] < 0) c.Refuse("target " + Text(w_target[i]) + " is not there");
    const size_t at = static_cast<size_t>(find(w_tree[i], w_node[i]) * e.targets + w_target[i]);
    e.weights[at] += weights[i], e.weighs[at] = 1;
  }
  e.base = Numbers(c, "base_values");
  return e;
}

/* One score of two classes as two: as ones of probability, or of sign. */
Value BothClasses(const Call& c, const Value& score, bool positive, Post post) {
  if (post == Post::kProbit) return Transformed(c, score, post);
  if (positive) return Concat(c, {AddNumber(c, MulNumber(c, score, -1), 1), score}, 1);
  return Transformed(c, Concat(c, {MulNumber(c, score, -1), score}, 1), post);
}

}  // namespace

void ConvertTreeClassifier(Call& c) {
  const Labels labels = ReadLabels(c, "classlabels_int64s");
  const Post post = ReadPost(c);
  Ensemble e = ReadNodes(c, "class");
  const std::vector<int64_t> ids = c.Attr("class_ids", std::vector<int64_t>{});
  const Value x = Features(c, 0);
  const int64_t classes = labels.size();
  const bool one = std::all_of(ids.begin(), ids.end(), [&](int64_t i) { return i == ids[0]; });
  const bool positive = std::all_of(e.weights.begin(), e.weights.end(), [](double w) { return w >= 0; });
  if (classes == 2 && one && !ids.empty()) {  // the score of the second class alone
    std::vector<double> weights;
    std::vector<char> weighs;
    for (size_t i = 0; i < e.nodes.size(); ++i) {
      const size_t at = i * static_cast<size_t>(e.targets) + static_cast<size_t>(ids[0]);
      weights.push_back(e.weights[at]), weighs.push_back(e.weighs[at]);
    }
    e.weights = weights, e.weighs = weighs, e.targets = 1;
    if (e.base.size() > 1) e.base = {e.base.back()};
    const Value score = Scores(c, e, x);
    const Value yes = c.Reshape(BinaryNumber(c, "greater", score, positive ? 0.5 : 0), Shape{x.shape()[0]});
    GiveLabels(c, labels, c.Cast(yes, kInt64));
    return c.Out(1, c.Cast(BothClasses(c, score, positive, post), kFloat32));
  }
  if (classes < e.targets) c.Refuse("there are " + Text(classes) + " labels for " + Text(e.targets) + " classes");
  Value scores = Scores(c, e, x);
  if (classes > e.targets) scores = Pad(c, scores, {0, 0}, {0, classes - e.targets}, 0);
  GiveLabels(c, labels, c.Op("_npi_argmax", {scores}, {{"axis", "1"}}));
  c.Out(1, c.Cast(Transformed(c, scores, post), kFloat32));
}

void ConvertTreeRegressor(Call& c) {
  const Post post = ReadPost(c);
  Ensemble e = ReadNodes(c, "target");
  e.aggregate = OneOf(c, "aggregate_function", c.Attr("aggregate_function", "SUM"), {"SUM", "AVERAGE", "MIN", "MAX"});
  c.Out(c.Cast(Transformed(c, Scores(c, e, Features(c, 0)), post), kFloat32));
}

namespace {

/* Opset 5: inner nodes and leaves in lists of their own. A node that asks for one of many values
 * becomes a chain of nodes that ask for one each. */
Ensemble ReadLists(const Call& c) {
  Ensemble e;
  const auto ints = [&](const char* name) { return c.Attr(name, std::vector<int64_t>{}); };
  const auto numbers = [&](const char* name) {
    const Constant* tensor = c.TensorAttr(name);
    return tensor ? NumbersOf(Value(tensor->array)) : std::vector<double>();
  };
  const auto feature = ints("nodes_featureids"), yes = ints("nodes_truenodeids"), no = ints("nodes_falsenodeids");
  const auto yes_leaf = ints("nodes_trueleafs"), no_leaf = ints("nodes_falseleafs"), tracks = ints("nodes_missing_value_tracks_true");
  const auto targets = ints("leaf_targetids");
  const auto splits = numbers("nodes_splits"), modes = numbers("nodes_modes"), weights = numbers("leaf_weights"),
             members = numbers("membership_values");
  c.Ignore("nodes_hitrates");
  e.roots = ints("tree_roots"), e.targets = c.Attr("n_targets", int64_t{1});
  const size_t count = feature.size();
  const bool odd = yes.size() != count || no.size() != count || yes_leaf.size() != count || no_leaf.size() != count ||
                   splits.size() != count || modes.size() != count || (!tracks.empty() && tracks.size() != count) ||
                   targets.size() != weights.size();
  if (odd || e.roots.empty() || e.targets < 1) c.Refuse("attributes nodes_* or leaf_* do not have one element for each node or leaf");
  const int64_t inner = static_cast<int64_t>(count), leaves = static_cast<int64_t>(weights.size());
  const auto child = [&](int64_t at, int64_t leaf) {
    if (at < 0 || at >= (leaf ? leaves : inner)) c.Refuse("node or leaf " + Text(at) + " is not there");
    return leaf ? inner + at : at;
  };
  e.nodes.resize(count + weights.size());
  size_t next_member = 0;
  for (size_t i = 0; i < e.nodes.size(); ++i) e.nodes[i].yes = e.nodes[i].no = static_cast<int64_t>(i);
  for (size_t i = 0; i < count; ++i) {
    Node n;
    n.mode = modes[i] >= 0 && modes[i] <= 6 ? static_cast<int>(modes[i]) : -1;
    if (n.mode < 0) c.Refuse("attribute nodes_modes has " + Text(modes[i]) + "; accepted are 0 to 6");
    n.feature = feature[i], n.value = splits[i], n.missing_is_yes = !tracks.empty() && tracks[i] != 0;
    n.yes = child(yes[i], yes_leaf[i]), n.no = child(no[i], no_leaf[i]);
    // A tree that is one leaf: both children are it.
    if (n.mode != kMember) {
      if (n.yes == n.no) n.mode = kLeaf, n.yes = n.no = static_cast<int64_t>(i);
      e.nodes[i] = n;
      continue;
    }
    std::vector<double> values;
    while (next_member < members.size() && !std::isnan(members[next_member])) values.push_back(members[next_member++]);
    ++next_member;
    if (values.empty()) c.Refuse("a node of mode 6 has no membership_values");
    n.mode = kEqual;
    e.nodes[i] = n, e.nodes[i].value = values[0];
    int64_t last = static_cast<int64_t>(i);
    for (size_t v = 1; v < values.size(); ++v) {
      Node more = n;
      more.value = values[v];
      e.nodes[static_cast<size_t>(last)].no = static_cast<int64_t>(e.nodes.size());
      last = static_cast<int64_t>(e.nodes.size());
      e.nodes.push_back(more);
    }
  }
  e.weights.assign(e.nodes.size() * static_cast<size_t>(e.targets), 0), e.weighs.assign(e.weights.size(), 0);
  for (int64_t i = 0; i < leaves; ++i) {
    const int64_t target = targets[static_cast<size_t>(i)];
    if (target < 0 || target >= e.targets) c.Refuse("target " + Text(target) + " is not there");
    const size_t at = static_cast<size_t>((inner + i) * e.targets + target);
    e.weights[at] = weights[static_cast<size_t>(i)], e.weighs[at] = 1;
  }
  // Inner nodes whose children are one leaf carry its weight.
  for (size_t i = 0; i < count; ++i)
    if (e.nodes[i].mode == kLeaf) {
      const int64_t leaf = child(yes[i], yes_leaf[i]);
      for (int64_t t = 0; t < e.targets; ++t) {
        const size_t to = i * static_cast<size_t>(e.targets) + static_cast<size_t>(t), from = static_cast<size_t>(leaf * e.targets + t);
        e.weights[to] = e.weights[from], e.weighs[to] = e.weighs[from];
      }
    }
  return e;
}

}  // namespace

void ConvertTreeEnsemble(Call& c) {
  const int64_t aggregate = c.Attr("aggregate_function", int64_t{1}), post = c.Attr("post_transform", int64_t{0});
  if (aggregate < 0 || aggregate > 3) c.Refuse("attribute aggregate_function is " + Text(aggregate) + "; accepted are 0 to 3");
  if (post < 0 || post > 4) c.Refuse("attribute post_transform is " + Text(post) + "; accepted are 0 to 4");
  Ensemble e = ReadLists(c);
  e.aggregate = aggregate == 0 ? 1 : aggregate == 1 ? 0 : static_cast<int>(aggregate);  // average, sum, min, max
  static const Post posts[] = {Post::kNone, Post::kSoftmax, Post::kLogistic, Post::kSoftmaxZero, Post::kProbit};
  c.Out(Transformed(c, Scores(c, e, Features(c, 0)), posts[post]));
}

}  // namespace onnx
}  // namespace mxnet
