/*
 * Ensembles of trees: their attributes become the arrays of _contrib_tree_ensemble, once for all
 * plans of a model.
 */
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "onnx/builder.h"
#include "onnx/convert/trees/tree.h"

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

/* What plans take. */
struct Packed {
  int dtype = kFloat32;  // of the data, values and weights
  Value nodes, values, roots, weights;
  int64_t depth = 0, most_feature = 0, targets = 1;
  int comparison = -1, aggregate = 0;
  bool one_score = false, positive = false;  // of classifiers: one score for two classes; no weight below 0
  std::vector<double> base;
};

std::shared_ptr<Packed> Pack(const Call& c, const Ensemble& e, int dtype) {
  auto p = std::make_shared<Packed>();
  p->dtype = dtype, p->depth = Depth(c, e), p->targets = e.targets, p->aggregate = e.aggregate, p->base = e.base;
  if (e.nodes.size() >= size_t{1} << 31) c.Refuse("there are " + Text(static_cast<int64_t>(e.nodes.size())) + " nodes");
  const double otherwise = e.aggregate == 2   ? std::numeric_limits<double>::infinity()
                           : e.aggregate == 3 ? -std::numeric_limits<double>::infinity()
                                              : 0;
  Sizes numbers, roots = e.roots;
  std::vector<double> values, weights;
  int64_t leaves = 0;
  bool any = false, alike = true;
  for (size_t i = 0; i < e.nodes.size(); ++i) {
    const Node& n = e.nodes[i];
    const bool leaf = n.mode == kLeaf;
    if (!leaf && (n.feature < 0 || n.feature >= int64_t{1} << 27)) c.Refuse("a node asks for feature " + Text(n.feature));
    numbers.push_back((leaf ? leaves : n.feature) * 16 + (!leaf && n.missing_is_yes ? 8 : 0) + (leaf ? 0 : n.mode));
    numbers.push_back(n.yes), numbers.push_back(n.no), values.push_back(n.value);
    if (!leaf) {
      p->most_feature = std::max(p->most_feature, n.feature);
      alike = alike && (!any || p->comparison == n.mode);
      p->comparison = n.mode, any = true;
      continue;
    }
    ++leaves;
    for (size_t t = i * static_cast<size_t>(e.targets), k = 0; k < static_cast<size_t>(e.targets); ++k)
      weights.push_back(e.weighs[t + k] ? e.weights[t + k] : otherwise);
  }
  if (!alike) p->comparison = -1;
  const int64_t count = static_cast<int64_t>(e.nodes.size());
  p->nodes = IntsLike(c, numbers, {count, 3}, kInt32), p->roots = IntsLike(c, roots, {static_cast<int64_t>(roots.size())}, kInt32);
  p->values = FloatsLike(c, values, {count}, dtype), p->weights = FloatsLike(c, weights, {leaves, e.targets}, dtype);
  const std::pair<const char*, const Value*> arrays[] = {
      {"_nodes", &p->nodes}, {"_values", &p->values}, {"_roots", &p->roots}, {"_weights", &p->weights}};
  for (const auto& array : arrays) c.builder()->folded()->AddWeight(array.second->array, c.node.label() + array.first);
  return p;
}

/* From an earlier plan, or made now; `names`: the attributes that `read` asks for. */
template <typename F>
std::shared_ptr<const Packed> Once(const Call& c, int dtype, const std::vector<std::string>& names, F&& read) {
  FoldedWeights* const shared = c.builder()->folded();
  const auto found = std::static_pointer_cast<const Packed>(shared->OfNode(c.node));
  if (found && found->dtype == dtype) {
    for (const std::string& name : names) c.Ignore(name.c_str());
    return found;
  }
  std::shared_ptr<const Packed> made = read();
  shared->PutOfNode(c.node, made);
  return made;
}

/* (examples, targets) */
Value Scores(const Call& c, const Packed& p, const Value& x) {
  if (p.most_feature >= x.dim(1)) c.Refuse("feature " + Text(p.most_feature) + " of data of shape " + Text(x.shape()));
  Value scores = c.Op("_contrib_tree_ensemble", {x, p.nodes, p.values, p.roots, p.weights},
                      {{"depth", Text(p.depth)},
                       {"comparison", Text(p.comparison)},
                       {"aggregate", p.aggregate == 2   ? "min"
                                     : p.aggregate == 3 ? "max"
                                                        : "sum"}});
  if (p.aggregate == 1) scores = MulNumber(c, scores, 1.0 / static_cast<double>(p.roots.size()));
  if (p.aggregate >= 2) scores = Where(c, Unary(c, "isinf", scores), c.Scalar(0, scores.dtype()), scores);
  if (p.base.empty()) return scores;
  if (static_cast<int64_t>(p.base.size()) != p.targets)
    c.Refuse("there are " + Text(static_cast<int64_t>(p.base.size())) + " base values for " + Text(p.targets) + " targets");
  return Add(c, scores, FloatsLike(c, p.base, {p.targets}, x.dtype()));
}

/* Floats of an attribute, or of the tensor that takes its place. */
class Numbers {
 public:
  Numbers(const Call& c, const char* name) : floats_(c.FloatsAttr(name)) {
    const Constant* tensor = c.TensorAttr((std::string(name) + "_as_tensor").c_str());
    if (tensor) others_ = NumbersOf(Value(tensor->array)), of_tensor_ = true;
  }
  size_t size() const { return of_tensor_ ? others_.size() : floats_.size(); }
  double operator[](size_t i) const { return of_tensor_ ? others_[i] : static_cast<double>(floats_[i]); }

 private:
  const std::vector<float>& floats_;
  std::vector<double> others_;
  bool of_tensor_ = false;
};

/* Where nodes are, by (tree, node). Of those that have the same numbers it is the last one. */
class Places {
 public:
  Places(const Call& c, const std::vector<int64_t>& trees, const std::vector<int64_t>& ids)
      : c_(c), trees_(trees), ids_(ids), sorted_(trees.size()) {
    std::iota(sorted_.begin(), sorted_.end(), size_t{0});
    const auto comes_later = [this](size_t a, size_t b) { return KeyOf(a) >= KeyOf(b); };
    ordered_ = std::adjacent_find(sorted_.begin(), sorted_.end(), comes_later) == sorted_.end();
    if (!ordered_) std::stable_sort(sorted_.begin(), sorted_.end(), [this](size_t a, size_t b) { return KeyOf(a) < KeyOf(b); });
  }
  /* `near`: a place from which numbers of nodes are counted on, as a rule. Refuses what is not
   * there. */
  size_t Find(int64_t tree, int64_t id, size_t near) const {
    const size_t guess = near + static_cast<size_t>(id) - static_cast<size_t>(ids_[near]);
    if (ordered_ && guess < ids_.size() && ids_[guess] == id && trees_[guess] == tree) return guess;
    const Key key(tree, id);
    const auto behind = std::upper_bound(sorted_.begin(), sorted_.end(), key, [this](const Key& k, size_t i) { return k < KeyOf(i); });
    if (behind == sorted_.begin() || KeyOf(behind[-1]) != key) c_.Refuse("node " + Text(id) + " of tree " + Text(tree) + " is not there");
    return behind[-1];
  }

 private:
  using Key = std::pair<int64_t, int64_t>;
  Key KeyOf(size_t i) const { return {trees_[i], ids_[i]}; }

  const Call& c_;
  const std::vector<int64_t>&trees_, &ids_;
  std::vector<size_t> sorted_;
  bool ordered_;  // they are in the order of their numbers, which differ
};

/* The modes of nodes; Refuses others. */
int ModeOf(const Call& c, const std::string& text) {
  static const std::vector<const char*> names = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                                 "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  if (text == "LEAF") return kLeaf;
  const int mode = OneOf(c, "nodes_modes", text, names);
  if (mode == kMember) c.Refuse("attribute nodes_modes has BRANCH_MEMBER");
  return mode;
}

/* A leaf may have several weights for a target. Where there is one target the first counts: so does
 * ONNX Runtime, and skl2onnx repeats the weights of leaves, by which it finds their numbers. */
void AddWeight(Ensemble* e, size_t at, double weight) {
  double& has = e->weights[at];
  if (!e->weighs[at])
    has = weight;
  else if (e->targets > 1)
    has = e->aggregate == 2 ? std::min(has, weight) : e->aggregate == 3 ? std::max(has, weight) : has + weight;
  e->weighs[at] = 1;
}

/* The nodes and the roots, by attributes nodes_*. */
Places ReadNodes(const Call& c, Ensemble* e) {
  const auto &tree = c.IntsAttr("nodes_treeids"), &id = c.IntsAttr("nodes_nodeids"), &feature = c.IntsAttr("nodes_featureids");
  const auto &yes = c.IntsAttr("nodes_truenodeids"), &no = c.IntsAttr("nodes_falsenodeids");
  const auto& tracks = c.IntsAttr("nodes_missing_value_tracks_true");
  const std::vector<std::string>& modes = c.StringsAttr("nodes_modes");
  const Numbers values(c, "nodes_values");
  c.Ignore("nodes_hitrates"), c.Ignore("nodes_hitrates_as_tensor");
  const size_t count = tree.size();
  if (count == 0 || id.size() != count || feature.size() != count || yes.size() != count || no.size() != count || modes.size() != count ||
      values.size() != count || (!tracks.empty() && tracks.size() != count))
    c.Refuse("attributes nodes_* do not have one element for each node");
  Places places(c, tree, id);
  std::vector<char> child(count, 0);
  e->nodes.resize(count);
  for (size_t i = 0; i < count; ++i) {
    Node& n = e->nodes[i];
    n.mode = ModeOf(c, modes[i]);
    n.feature = feature[i], n.value = values[i], n.missing_is_yes = !tracks.empty() && tracks[i] != 0;
    n.yes = n.no = static_cast<int64_t>(i);
    if (n.mode == kLeaf) continue;
    const size_t to_yes = places.Find(tree[i], yes[i], i), to_no = places.Find(tree[i], no[i], i);
    n.yes = static_cast<int64_t>(to_yes), n.no = static_cast<int64_t>(to_no);
    child[to_yes] = child[to_no] = 1;
  }
  for (size_t i = 0; i < count; ++i)
    if (!child[i]) e->roots.push_back(static_cast<int64_t>(i));
  if (!AllReached(*e)) c.Refuse("nodes of a tree lead to themselves");
  return places;
}

/* Nodes by (tree, node), as opsets before 5 write them; names of weights begin with `first`. */
Ensemble ReadEnsemble(const Call& c, const std::string& first, int aggregate) {
  Ensemble e;
  e.aggregate = aggregate;
  const Places places = ReadNodes(c, &e);
  const auto ints = [&](const char* end) -> const std::vector<int64_t>& { return c.IntsAttr((first + end).c_str()); };
  const auto &tree = ints("_treeids"), &node = ints("_nodeids"), &target = ints("_ids");
  const Numbers weights(c, (first + "_weights").c_str()), base(c, "base_values");
  if (tree.size() != weights.size() || node.size() != weights.size() || target.size() != weights.size())
    c.Refuse("attributes " + first + "_* do not have one element for each weight");
  for (int64_t t : target) {
    if (t < 0 || t >= int64_t{1} << 28) c.Refuse("target " + Text(t) + " is not there");
    e.targets = std::max(e.targets, t + 1);
  }
  for (size_t i = 0; i < base.size(); ++i) e.base.push_back(base[i]);  // also of classes that no leaf weighs for
  e.targets = std::max({e.targets, c.Attr("n_targets", int64_t{1}), static_cast<int64_t>(e.base.size())});
  if (e.targets > (int64_t{1} << 28) / static_cast<int64_t>(e.nodes.size())) c.Refuse("there are " + Text(e.targets) + " targets");
  e.weights.assign(e.nodes.size() * static_cast<size_t>(e.targets), 0), e.weighs.assign(e.weights.size(), 0);
  for (size_t i = 0, at = 0; i < weights.size(); ++i) {
    at = places.Find(tree[i], node[i], at);
    AddWeight(&e, at * static_cast<size_t>(e.targets) + static_cast<size_t>(target[i]), weights[i]);
  }
  return e;
}

/* What ReadEnsemble and those who call it ask for. */
std::vector<std::string> NamesOfNodes(const std::string& first) {
  std::vector<std::string> names = {"n_targets",
                                    "aggregate_function",
                                    "base_values",
                                    "base_values_as_tensor",
                                    "nodes_values_as_tensor",
                                    "nodes_hitrates_as_tensor",
                                    first + "_weights_as_tensor"};
  for (const char* end :
       {"treeids", "nodeids", "featureids", "truenodeids", "falsenodeids", "missing_value_tracks_true", "modes", "values", "hitrates"})
    names.push_back(std::string("nodes_") + end);
  for (const char* end : {"_treeids", "_nodeids", "_ids", "_weights"}) names.push_back(first + end);
  return names;
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
  const Value x = Features(c, 0);
  const int64_t classes = labels.size();
  const auto packed = Once(c, x.dtype(), NamesOfNodes("class"), [&] {
    Ensemble e = ReadEnsemble(c, "class", 0);
    const std::vector<int64_t>& ids = c.IntsAttr("class_ids");
    const bool one = classes == 2 && !ids.empty() && std::all_of(ids.begin(), ids.end(), [&](int64_t i) { return i == ids[0]; });
    const bool positive = std::all_of(e.weights.begin(), e.weights.end(), [](double w) { return w >= 0; });
    if (one) {  // the score of the second class alone
      std::vector<double> weights;
      std::vector<char> weighs;
      for (size_t i = 0; i < e.nodes.size(); ++i) {
        const size_t at = i * static_cast<size_t>(e.targets) + static_cast<size_t>(ids[0]);
        weights.push_back(e.weights[at]), weighs.push_back(e.weighs[at]);
      }
      e.weights = weights, e.weighs = weighs, e.targets = 1;
      if (e.base.size() > 1) e.base = {e.base.back()};
    }
    const auto made = Pack(c, e, x.dtype());
    made->one_score = one, made->positive = positive;
    return made;
  });
  if (packed->one_score) {
    const Value score = Scores(c, *packed, x);
    const Value yes = c.ReshapeTo(BinaryNumber(c, "greater", score, packed->positive ? 0.5 : 0), {-1});
    GiveLabels(c, labels, c.Cast(yes, kInt64));
    return c.Out(1, c.Cast(BothClasses(c, score, packed->positive, post), kFloat32));
  }
  if (classes < packed->targets) c.Refuse("there are " + Text(classes) + " labels for " + Text(packed->targets) + " classes");
  Value scores = Scores(c, *packed, x);
  if (classes > packed->targets) scores = Pad(c, scores, {0, 0}, {0, classes - packed->targets}, 0);
  GiveLabels(c, labels, c.Op("_npi_argmax", {scores}, {{"axis", "1"}}));
  c.Out(1, c.Cast(Transformed(c, scores, post), kFloat32));
}

void ConvertTreeRegressor(Call& c) {
  const Post post = ReadPost(c);
  const Value x = Features(c, 0);
  const auto packed = Once(c, x.dtype(), NamesOfNodes("target"), [&] {
    const int aggregate = OneOf(c, "aggregate_function", c.Attr("aggregate_function", "SUM"), {"SUM", "AVERAGE", "MIN", "MAX"});
    return Pack(c, ReadEnsemble(c, "target", aggregate), x.dtype());
  });
  c.Out(c.Cast(Transformed(c, Scores(c, *packed, x), post), kFloat32));
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
  const Value x = Features(c, 0);
  static const std::vector<std::string> names = {
      "n_targets",          "tree_roots",       "nodes_featureids", "nodes_truenodeids",
      "nodes_falsenodeids", "nodes_trueleafs",  "nodes_falseleafs", "nodes_missing_value_tracks_true",
      "nodes_splits",       "nodes_modes",      "nodes_hitrates",   "leaf_targetids",
      "leaf_weights",       "membership_values"};
  const auto packed = Once(c, x.dtype(), names, [&] {
    Ensemble e = ReadLists(c);
    e.aggregate = aggregate == 0 ? 1 : aggregate == 1 ? 0 : static_cast<int>(aggregate);  // average, sum, min, max
    return Pack(c, e, x.dtype());
  });
  static const Post posts[] = {Post::kNone, Post::kSoftmax, Post::kLogistic, Post::kSoftmaxZero, Post::kProbit};
  c.Out(Transformed(c, Scores(c, *packed, x), posts[post]));
}

}  // namespace onnx
}  // namespace mxnet
