// Shape and dtype inference over a whole graph: sweeps in both directions until nothing changes.
#include "graph/infer.h"

#include <algorithm>
#include <cstdlib>

#include "mxnet/op.h"
#include "operator/record/sparse_form.h"

namespace mxnet {
namespace {

bool Known(const Shape& s) { return s.known(); }
bool Known(int t) { return t != kDTypeUnknown; }
bool Merge(Shape* into, const Shape& from) { return MergeShape(into, from); }
bool Merge(int* into, int from) { return MergeDType(into, from); }
std::string Text(const Shape& s) { return s.str(); }
std::string Text(int t) { return DTypeName(t); }

template <typename T>
T& Part(TensorType& t);
template <>
Shape& Part<Shape>(TensorType& t) {
  return t.shape;
}
template <>
int& Part<int>(TensorType& t) {
  return t.dtype;
}

/* Sweeps over one part of the entries' types. */
template <typename T>
class Sweeper {
 public:
  Sweeper(const IndexedGraph& g, TensorTypes* entries, const GraphInference& how, const std::vector<char>& settled)
      : g_(g), v_(*entries), switches_(how.switches), settled_(settled) {
    made_by_hint_.assign(g.nodes.size(), 0);
    settled_.resize(g.nodes.size(), 0);
    if (!how.alike) return;
    for (const auto& p : *how.alike) {
      auto a = g.id.find(p.first.node.get()), b = g.id.find(p.second.node.get());
      if (a == g.id.end() || b == g.id.end()) continue;
      pairs_.emplace_back(g.eid(a->second, p.first.index), g.eid(b->second, p.second.index));
      made_by_hint_[a->second] = 1;
    }
  }

  // One round in one direction. Returns whether anything was learnt.
  bool Sweep(bool forward) {
    bool changed = CopyPairs();
    const size_t n = g_.nodes.size();
    for (size_t k = 0; k < n; ++k) changed = Visit(static_cast<uint32_t>(forward ? k : n - 1 - k)) || changed;
    return changed;
  }

  void Run() {
    bool changed = true;
    while (changed) {
      changed = Sweep(true);
      if (!Complete()) changed = Sweep(false) || changed;
    }
  }

  bool Complete() const {
    return std::all_of(v_.begin(), v_.end(), [](TensorType& t) { return Known(Part<T>(t)); });
  }

 private:
  T& At(uint32_t entry) const { return Part<T>(v_[entry]); }

  bool CopyPairs() {
    bool changed = false;
    for (const auto& p : pairs_) {
      for (int way = 0; way < 2; ++way) {
        T& into = At(way ? p.second : p.first);
        const T& from = At(way ? p.first : p.second);
        if (into == from) continue;
        T merged = into;
        if (Merge(&merged, from) && !(merged == into)) {
          into = merged;
          changed = true;
        }
      }
    }
    return changed;
  }

  bool Visit(uint32_t id) {
    const auto& info = g_.nodes[id];
    if (settled_[id] || info.source->is_variable()) return false;
    const Attrs& attrs = *info.source->attrs;
    const size_t nout = g_.entry_ptr[id + 1] - g_.entry_ptr[id];
    in_.clear();
    out_.clear();
    bool all = true;
    for (const auto& e : info.inputs) {
      in_.push_back(At(g_.eid(e)));
      all = all && Known(in_.back());
    }
    for (size_t i = 0; i < nout; ++i) {
      out_.push_back(At(g_.eid(id, i)));
      all = all && Known(out_.back());
    }
    if (all && made_by_hint_[id]) {  // backward nodes need no inference of their own
      settled_[id] = 1;
      return false;
    }
    bool complete = false;
    try {
      complete = InferCall(attrs, switches_, &in_, &out_);
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + info.source->name + ", operator " + attrs.op->name + ")");
    }
    bool changed = false;
    auto put = [&](uint32_t eid, const T& learnt, const char* side, size_t i) {
      T merged = At(eid);
      MXNET_CHECK_KIND(Merge(&merged, learnt), Value)
          << "[" << attrs.op->name << "] " << side << ' ' << i << " of node " << info.source->name << " is " << Text(At(eid))
          << "; the operator needs " << Text(learnt);
      if (merged == At(eid)) return;
      At(eid) = merged;
      changed = true;
    };
    for (size_t i = 0; i < info.inputs.size(); ++i) put(g_.eid(info.inputs[i]), in_[i], "input", i);
    for (size_t i = 0; i < nout; ++i) put(g_.eid(id, i), out_[i], "output", i);
    if (complete && all) settled_[id] = 1;
    return changed;
  }

  const IndexedGraph& g_;
  TensorTypes& v_;
  const InferSwitches switches_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
  std::vector<char> settled_, made_by_hint_;
  std::vector<T> in_, out_;
};

const std::string* FindAttr(const Node& n, const char* key) {
  auto it = n.attrs->dict.find(key);
  return it == n.attrs->dict.end() ? nullptr : &it->second;
}

}  // namespace

Shape ParseShapeAttr(const std::string& text, bool numpy_shapes) {
  std::vector<int64_t> dims;
  const char* p = text.c_str();
  while (*p && (*p == '(' || *p == '[' || *p == ' ')) ++p;
  while (*p && *p != ')' && *p != ']') {
    char* end = nullptr;
    const long long d = std::strtoll(p, &end, 10);
    MXNET_CHECK_KIND(end != p && d >= -1, Value)
        << "[Symbol] attribute __shape__ is '" << text << "'; expected a tuple such as (2, 3), 0 or -1 for an unknown dimension";
    dims.push_back(d == 0 && !numpy_shapes ? Shape::kUnknownDim : d);
    p = end;
    if (*p == 'L') ++p;
    while (*p == ' ' || *p == ',') ++p;
  }
  return Shape(dims);
}

namespace {

// What the caller gives wins over what was declared.

void AddDeclaredShapes(const IndexedGraph& g, bool numpy_shapes, TensorTypes* entries) {
  for (uint32_t id : g.input_nodes) {
    const std::string* text = FindAttr(*g.nodes[id].source, "__shape__");
    if (!text) continue;
    const Shape wish = ParseShapeAttr(*text, numpy_shapes);
    if (wish.ndim() == 0 && !numpy_shapes) continue;
    Shape& have = (*entries)[g.eid(id, 0)].shape;
    if (have.known()) continue;
    Shape merged = have;
    have = MergeShape(&merged, wish) ? merged : wish;
  }
}

void AddDeclaredDTypes(const IndexedGraph& g, TensorTypes* entries) {
  for (uint32_t id : g.input_nodes) {
    const std::string* text = FindAttr(*g.nodes[id].source, "__dtype__");
    if (!text) continue;
    char* end = nullptr;
    long t = std::strtol(text->c_str(), &end, 10);
    if (*end != '\0' || end == text->c_str()) t = DTypeFromName(*text);
    MXNET_CHECK_KIND(t >= -1 && t < kNumDTypes, Value)
        << "[infer_type] variable " << g.nodes[id].source->name << " was declared with dtype " << *text;
    int& have = (*entries)[g.eid(id, 0)].dtype;
    if (!Known(have)) have = static_cast<int>(t);
  }
}

bool InferDTypes(const IndexedGraph& g, TensorTypes* entries, const GraphInference& how, const std::vector<char>& settled) {
  Sweeper<int> sweeper(g, entries, how, settled);
  AddDeclaredDTypes(g, entries);
  sweeper.Run();
  if (how.default_dtype != kDTypeUnknown) {
    for (uint32_t id : g.input_nodes) {
      int& t = (*entries)[g.eid(id, 0)].dtype;
      if (t != kDTypeUnknown) continue;
      t = how.default_dtype;
      sweeper.Run();
    }
  }
  return sweeper.Complete();
}

}  // namespace

namespace {

/* What variables are declared with (`__storage_type__`, a number) where the caller does not
 * tell. */
StorageType DeclaredStorage(const Node& variable) {
  const std::string* text = FindAttr(variable, "__storage_type__");
  if (!text) return StorageType::kDense;
  char* end = nullptr;
  const long number = std::strtol(text->c_str(), &end, 10);
  if (end == text->c_str() || *end != '\0') return StorageTypeFromName(*text);
  MXNET_CHECK_KIND(number >= -1 && number <= 2, Value)
      << "[infer_storage_type] variable " << variable.name << " was declared with storage type " << *text << "; accepted: 0, 1, 2";
  return number < 0 ? StorageType::kDense : static_cast<StorageType>(number);
}

/* Once through the graph: results follow from inputs. What the caller gives of results are
 * wishes. */
void InferStorages(const IndexedGraph& g, TensorTypes* entries) {
  bool dense = true;
  for (uint32_t id : g.input_nodes) {
    StorageType& s = (*entries)[g.eid(id, 0)].storage;
    if (s == StorageType::kUndefined) s = DeclaredStorage(*g.nodes[id].source);
    dense = dense && !IsSparse(s);
  }
  for (const auto& node : g.nodes) dense = dense && (node.source->is_variable() || !node.source->op()->makes_sparse);
  StorageTypes in, out;
  for (uint32_t id = 0; id < g.nodes.size() && !dense; ++id) {
    const auto& node = g.nodes[id];
    if (node.source->is_variable()) continue;
    in.clear();
    out.clear();
    for (const auto& e : node.inputs) in.push_back((*entries)[g.eid(e)].storage);
    for (uint32_t e = g.entry_ptr[id]; e < g.entry_ptr[id + 1]; ++e) out.push_back((*entries)[e].storage);
    InferStorage(*node.source->attrs, in, &out);
    for (uint32_t e = g.entry_ptr[id]; e < g.entry_ptr[id + 1]; ++e)
      if ((*entries)[e].storage == StorageType::kUndefined) (*entries)[e].storage = out[e - g.entry_ptr[id]];
  }
  for (TensorType& t : *entries)
    if (t.storage == StorageType::kUndefined) t.storage = StorageType::kDense;
}

}  // namespace

bool InferEntries(const IndexedGraph& g, TensorTypes* entries, const GraphInference& how) { return InferUnsettled(g, entries, how, {}); }

bool InferUnsettled(const IndexedGraph& g, TensorTypes* entries, const GraphInference& how, const std::vector<char>& settled) {
  MXNET_CHECK_KIND(entries->size() == g.num_entries(), Value)
      << "[infer] got " << entries->size() << " entries; the graph has " << g.num_entries();
  bool known = true;
  if (how.shapes) {
    Sweeper<Shape> sweeper(g, entries, how, settled);
    AddDeclaredShapes(g, how.switches.numpy_shapes, entries);
    sweeper.Run();
    known = sweeper.Complete();
  }
  if (how.dtypes) known = InferDTypes(g, entries, how, settled) && known;
  InferStorages(g, entries);
  return known;
}

bool InferShapes(const IndexedGraph& g, ShapeVector* shapes) {
  GraphInference how;
  how.dtypes = false;
  TensorTypes entries;
  for (Shape& s : *shapes) entries.emplace_back(std::move(s), kDTypeUnknown);
  const bool known = InferEntries(g, &entries, how);
  for (size_t i = 0; i < entries.size(); ++i) (*shapes)[i] = std::move(entries[i].shape);
  return known;
}

bool InferTypes(const IndexedGraph& g, std::vector<int>* dtypes, int default_dtype) {
  GraphInference how;
  how.shapes = false;
  how.default_dtype = default_dtype;
  TensorTypes entries;
  for (int t : *dtypes) entries.emplace_back(Shape(), t);
  const bool known = InferEntries(g, &entries, how);
  for (size_t i = 0; i < entries.size(); ++i) (*dtypes)[i] = entries[i].dtype;
  return known;
}

}  // namespace mxnet
