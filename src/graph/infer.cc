// Shape and dtype inference over a whole graph: sweeps in both directions until nothing changes.
#include "graph/infer.h"

#include <algorithm>
#include <cstdlib>

#include "mxnet/numpy_shapes.h"

namespace mxnet {
namespace {

bool Known(const Shape& s) { return s.known(); }
bool Known(int t) { return t != kDTypeUnknown; }
bool Merge(Shape* into, const Shape& from) { return MergeShape(into, from); }
bool Merge(int* into, int from) { return MergeDType(into, from); }
std::string Text(const Shape& s) { return s.str(); }
std::string Text(int t) { return DTypeName(t); }

bool CallRecord(const Attrs& a, ShapeVector* in, ShapeVector* out) {
  const InferShapeFn& infer = a.op->infer_shape_in_graph ? a.op->infer_shape_in_graph : a.op->infer_shape;
  return infer ? infer(a, in, out) : false;
}
bool CallRecord(const Attrs& a, std::vector<int>* in, std::vector<int>* out) {
  return a.op->infer_type ? a.op->infer_type(a, in, out) : SameType(a, in, out);
}

template <typename T>
class Sweeper {
 public:
  Sweeper(const IndexedGraph& g, std::vector<T>* values, const EntryPairs& alike) : g_(g), v_(*values) {
    MXNET_CHECK_KIND(v_.size() == g.num_entries(), Value) << "[infer] got " << v_.size() << " entries; the graph has " << g.num_entries();
    made_by_hint_.assign(g.nodes.size(), 0);
    settled_.assign(g.nodes.size(), 0);
    for (const auto& p : alike) {
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
    return std::all_of(v_.begin(), v_.end(), [](const T& t) { return Known(t); });
  }

 private:
  bool CopyPairs() {
    bool changed = false;
    for (const auto& p : pairs_) {
      for (int way = 0; way < 2; ++way) {
        T& into = way ? v_[p.second] : v_[p.first];
        const T& from = way ? v_[p.first] : v_[p.second];
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
      in_.push_back(v_[g_.eid(e)]);
      all = all && Known(in_.back());
    }
    for (size_t i = 0; i < nout; ++i) {
      out_.push_back(v_[g_.eid(id, i)]);
      all = all && Known(out_.back());
    }
    if (all && made_by_hint_[id]) {  // backward nodes need no inference of their own
      settled_[id] = 1;
      return false;
    }
    bool complete = false;
    try {
      complete = CallRecord(attrs, &in_, &out_);
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + info.source->name + ", operator " + attrs.op->name + ")");
    }
    bool changed = false;
    auto put = [&](uint32_t eid, const T& learnt, const char* side, size_t i) {
      T merged = v_[eid];
      MXNET_CHECK_KIND(Merge(&merged, learnt), Value)
          << "[" << attrs.op->name << "] " << side << ' ' << i << " of node " << info.source->name << " is " << Text(v_[eid])
          << "; the operator needs " << Text(learnt);
      if (merged == v_[eid]) return;
      v_[eid] = merged;
      changed = true;
    };
    for (size_t i = 0; i < info.inputs.size(); ++i) put(g_.eid(info.inputs[i]), in_[i], "input", i);
    for (size_t i = 0; i < nout; ++i) put(g_.eid(id, i), out_[i], "output", i);
    if (complete && all) settled_[id] = 1;
    return changed;
  }

  const IndexedGraph& g_;
  std::vector<T>& v_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
  std::vector<char> made_by_hint_, settled_;
  std::vector<T> in_, out_;
};

const std::string* FindAttr(const Node& n, const char* key) {
  auto it = n.attrs->dict.find(key);
  return it == n.attrs->dict.end() ? nullptr : &it->second;
}

}  // namespace

Shape ParseShapeAttr(const std::string& text) {
  const bool np = NumpyShapes();
  std::vector<int64_t> dims;
  const char* p = text.c_str();
  while (*p && (*p == '(' || *p == '[' || *p == ' ')) ++p;
  while (*p && *p != ')' && *p != ']') {
    char* end = nullptr;
    const long long d = std::strtoll(p, &end, 10);
    MXNET_CHECK_KIND(end != p && d >= -1, Value)
        << "[Symbol] attribute __shape__ is '" << text << "'; expected a tuple such as (2, 3), 0 or -1 for an unknown dimension";
    dims.push_back(d == 0 && !np ? Shape::kUnknownDim : d);
    p = end;
    if (*p == 'L') ++p;
    while (*p == ' ' || *p == ',') ++p;
  }
  return Shape(dims);
}

bool InferShapes(const IndexedGraph& g, ShapeVector* shapes, const EntryPairs& alike) {
  Sweeper<Shape> sweeper(g, shapes, alike);
  for (uint32_t id : g.input_nodes) {
    const std::string* text = FindAttr(*g.nodes[id].source, "__shape__");
    if (!text) continue;
    const Shape wish = ParseShapeAttr(*text);
    if (wish.ndim() == 0 && !NumpyShapes()) continue;
    Shape& have = (*shapes)[g.eid(id, 0)];
    if (have.known()) continue;  // what the caller gives wins over what was declared
    Shape merged = have;
    have = MergeShape(&merged, wish) ? merged : wish;
  }
  sweeper.Run();
  return sweeper.Complete();
}

MXNET_DLL bool InferShapes(const IndexedGraph& g, ShapeVector* shapes) { return InferShapes(g, shapes, {}); }

bool InferTypes(const IndexedGraph& g, std::vector<int>* dtypes, int default_dtype, const EntryPairs& alike) {
  Sweeper<int> sweeper(g, dtypes, alike);
  for (uint32_t id : g.input_nodes) {
    const std::string* text = FindAttr(*g.nodes[id].source, "__dtype__");
    if (!text) continue;
    char* end = nullptr;
    long t = std::strtol(text->c_str(), &end, 10);
    if (*end != '\0' || end == text->c_str()) t = DTypeFromName(*text);
    MXNET_CHECK_KIND(t >= -1 && t < kNumDTypes, Value)
        << "[infer_type] variable " << g.nodes[id].source->name << " was declared with dtype " << *text;
    int& have = (*dtypes)[g.eid(id, 0)];
    if (!Known(have)) have = static_cast<int>(t);  // what the caller gives wins over what was declared
  }
  sweeper.Run();
  if (default_dtype != kDTypeUnknown) {
    for (uint32_t id : g.input_nodes) {
      int& t = (*dtypes)[g.eid(id, 0)];
      if (t != kDTypeUnknown) continue;
      t = default_dtype;
      sweeper.Run();
    }
  }
  return sweeper.Complete();
}

MXNET_DLL bool InferTypes(const IndexedGraph& g, std::vector<int>* dtypes, int default_dtype) {
  return InferTypes(g, dtypes, default_dtype, {});
}

}  // namespace mxnet
