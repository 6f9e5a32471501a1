// Shape and dtype inference over the C ABI. The many entry points differ in the integers they speak
// and in whether all must be known.
#include <unordered_map>

#include "c_api/c_api_symbol.h"
#include "mxnet/numpy_shapes.h"

using namespace mxnet;  // NOLINT

namespace {

/* Values of a symbol's arguments, outputs and auxiliary states, in the order of its lists. */
template <typename T>
struct Inferred {
  std::vector<T> args, outs, aux;
};

template <typename T>
void Place(const IndexedGraph& g, const Symbol& s, uint32_t num_args, const char** keys, const std::vector<T>& given,
           std::vector<T>* values) {
  if (keys) {
    NeedTexts(num_args, keys, "arguments' names");
    std::unordered_multimap<std::string, uint32_t> by_name;  // several variables may have one name
    for (uint32_t id : g.input_nodes) by_name.emplace(g.nodes[id].source->name, id);
    for (uint32_t i = 0; i < num_args; ++i) {
      const auto named = by_name.equal_range(keys[i]);
      if (named.first == named.second) {
        std::string names;
        for (const auto& v : s.ListInputs(Symbol::kReadOnlyArgs)) names += (names.empty() ? "" : ", ") + v->name;
        MXNET_THROW(Value) << "[infer] the symbol has no argument '" << keys[i] << "'; accepted: " << names;
      }
      for (auto it = named.first; it != named.second; ++it) (*values)[g.eid(it->second, 0)] = given[i];
    }
    return;
  }
  const auto args = s.ListInputs(Symbol::kReadOnlyArgs);
  MXNET_CHECK_KIND(num_args <= args.size(), Value) << "[infer] got " << num_args << " positional arguments; the symbol has " << args.size();
  for (uint32_t i = 0; i < num_args; ++i) (*values)[g.eid(g.id.at(args[i].get()), 0)] = given[i];
}

template <typename T>
Inferred<T> Collect(const IndexedGraph& g, const Symbol& s, const std::vector<T>& values) {
  Inferred<T> r;
  for (const auto& v : s.ListInputs(Symbol::kReadOnlyArgs)) r.args.push_back(values[g.eid(g.id.at(v.get()), 0)]);
  for (const auto& e : g.outputs) r.outs.push_back(values[g.eid(e)]);
  for (const auto& v : s.ListInputs(Symbol::kAuxStates)) r.aux.push_back(values[g.eid(g.id.at(v.get()), 0)]);
  return r;
}

/* Shapes as the caller sees them: one dims pointer per shape into one flat store. */
template <typename Int, typename NDim>
struct ShapeStore {
  struct List {
    std::vector<NDim> ndim;
    std::vector<Int> flat;
    std::vector<const Int*> data;
    void Fill(const ShapeVector& shapes, bool np) {
      ndim.clear();
      flat.clear();
      data.clear();
      for (const auto& s : shapes) {
        ndim.push_back(static_cast<NDim>(s.ndim_known() ? s.ndim() : np ? -1 : 0));
        for (int64_t d : s) flat.push_back(static_cast<Int>(d == Shape::kUnknownDim && !np ? 0 : d));
      }
      size_t at = 0;
      for (const auto& s : shapes) {
        data.push_back(flat.data() + at);
        at += s.ndim_known() ? s.ndim() : 0;
      }
    }
  };
  List args, outs, aux;
  static ShapeStore& Get() { return PerThread<ShapeStore>(); }
};

template <typename Int>
ShapeVector ReadShapes(uint32_t n, const char* const*, const Int* data, const std::function<int64_t(uint32_t)>& ptr, bool np) {
  ShapeVector shapes(n);
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t begin = ptr(i), end = ptr(i + 1);
    MXNET_CHECK_KIND(begin >= 0 && end >= begin && end - begin <= 64, Value)
        << "[infer_shape] argument " << i << " has dimensions " << begin << " to " << end << " of the list";
    const int ndim = static_cast<int>(end - begin);
    if (ndim == 0 && !np) continue;  // 1.x convention: no dimensions and dimension 0 mean unknown
    shapes[i].Resize(ndim, Shape::kUnknownDim);
    for (int k = 0; k < ndim; ++k) {
      const int64_t d = static_cast<int64_t>(data[begin + k]);
      MXNET_CHECK_KIND(d >= -1, Value) << "[infer_shape] argument " << i << " has dimension " << d;
      shapes[i][k] = d == 0 && !np ? Shape::kUnknownDim : d;
    }
  }
  return shapes;
}

template <typename Ptr, typename Int, typename Size, typename NDim>
int InferShape(const char* function, bool partial, SymbolHandle sym, uint32_t num_args, const char** keys, const Ptr* ind_ptr,
               const Int* shape_data, Size* in_size, const NDim** in_ndim, const Int*** in_data, Size* out_size, const NDim** out_ndim,
               const Int*** out_data, Size* aux_size, const NDim** aux_ndim, const Int*** aux_data, int* complete) {
  API_BEGIN_AS(function, in_size, in_ndim, in_data, out_size, out_ndim, out_data, aux_size, aux_ndim, aux_data, complete);
  Need(num_args, ind_ptr, "positions of shapes");
  Need(num_args > 0 ? static_cast<int64_t>(ind_ptr[num_args]) : 0, shape_data, "dimensions");
  const Symbol& s = *AsSymbol(sym);
  const bool np = NumpyShapes();
  const IndexedGraph g(s.outputs);
  ShapeVector values(g.num_entries());
  Place(g, s, num_args, keys,
        ReadShapes<Int>(
            num_args, keys, shape_data, [&](uint32_t i) { return static_cast<int64_t>(ind_ptr[i]); }, np),
        &values);
  const bool all = InferShapes(g, &values);
  const Inferred<Shape> r = Collect(g, s, values);
  auto& store = ShapeStore<Int, NDim>::Get();
  auto give = [np](auto* list, const ShapeVector& shapes, Size* size, const NDim** ndim, const Int*** data) {
    list->Fill(shapes, np);
    *size = static_cast<Size>(shapes.size());
    *ndim = list->ndim.data();
    *data = list->data.data();
  };
  give(&store.args, r.args, in_size, in_ndim, in_data);
  give(&store.outs, r.outs, out_size, out_ndim, out_data);
  give(&store.aux, r.aux, aux_size, aux_ndim, aux_data);
  *complete = partial || all;
  API_END();
}

int InferType(const char* function, bool partial, SymbolHandle sym, uint32_t num_args, const char** keys, const int* arg_type_data,
              uint32_t* in_size, const int** in_data, uint32_t* out_size, const int** out_data, uint32_t* aux_size, const int** aux_data,
              int* complete) {
  API_BEGIN_AS(function, in_size, in_data, out_size, out_data, aux_size, aux_data, complete);
  Need(num_args, arg_type_data, "dtypes");
  const Symbol& s = *AsSymbol(sym);
  const IndexedGraph g(s.outputs);
  std::vector<int> values(g.num_entries(), kDTypeUnknown), given(arg_type_data, arg_type_data + num_args);
  for (int t : given)
    MXNET_CHECK_KIND(t >= -1 && t < kNumDTypes, Type)
        << "[infer_type] dtype number " << t << "; accepted: -1 (unknown) to " << kNumDTypes - 1;
  Place(g, s, num_args, keys, given, &values);
  const bool all = InferTypes(g, &values, kDTypeUnknown);
  auto& store = PerThread<Inferred<int>>();
  store = Collect(g, s, values);
  *in_size = static_cast<uint32_t>(store.args.size());
  *in_data = store.args.data();
  *out_size = static_cast<uint32_t>(store.outs.size());
  *out_data = store.outs.data();
  *aux_size = static_cast<uint32_t>(store.aux.size());
  *aux_data = store.aux.data();
  *complete = partial || all;
  API_END();
}

}  // namespace

#define MXNET_INFER_SHAPE(name, partial, Ptr, Int, Size, NDim)                                                                             \
  int name(SymbolHandle sym, uint32_t num_args, const char** keys, const Ptr* arg_ind_ptr, const Int* arg_shape_data, Size* in_shape_size, \
           const NDim** in_shape_ndim, const Int*** in_shape_data, Size* out_shape_size, const NDim** out_shape_ndim,                      \
           const Int*** out_shape_data, Size* aux_shape_size, const NDim** aux_shape_ndim, const Int*** aux_shape_data, int* complete) {   \
    return InferShape(#name, partial, sym, num_args, keys, arg_ind_ptr, arg_shape_data, in_shape_size, in_shape_ndim, in_shape_data,       \
                      out_shape_size, out_shape_ndim, out_shape_data, aux_shape_size, aux_shape_ndim, aux_shape_data, complete);           \
  }
MXNET_INFER_SHAPE(MXSymbolInferShape, false, uint32_t, uint32_t, uint32_t, uint32_t)
MXNET_INFER_SHAPE(MXSymbolInferShapePartial, true, uint32_t, uint32_t, uint32_t, uint32_t)
MXNET_INFER_SHAPE(MXSymbolInferShapeEx, false, uint32_t, int, uint32_t, int)
MXNET_INFER_SHAPE(MXSymbolInferShapePartialEx, true, uint32_t, int, uint32_t, int)
MXNET_INFER_SHAPE(MXSymbolInferShapeEx64, false, int64_t, int64_t, size_t, int)
MXNET_INFER_SHAPE(MXSymbolInferShapePartialEx64, true, int64_t, int64_t, size_t, int)
MXNET_INFER_SHAPE(MXSymbolInferShape64, false, int64_t, int64_t, size_t, int)
MXNET_INFER_SHAPE(MXSymbolInferShapePartial64, true, int64_t, int64_t, size_t, int)

int MXSymbolInferType(SymbolHandle sym, uint32_t num_args, const char** keys, const int* arg_type_data, uint32_t* in_type_size,
                      const int** in_type_data, uint32_t* out_type_size, const int** out_type_data, uint32_t* aux_type_size,
                      const int** aux_type_data, int* complete) {
  return InferType(__func__, false, sym, num_args, keys, arg_type_data, in_type_size, in_type_data, out_type_size, out_type_data,
                   aux_type_size, aux_type_data, complete);
}

int MXSymbolInferTypePartial(SymbolHandle sym, uint32_t num_args, const char** keys, const int* arg_type_data, uint32_t* in_type_size,
                             const int** in_type_data, uint32_t* out_type_size, const int** out_type_data, uint32_t* aux_type_size,
                             const int** aux_type_data, int* complete) {
  return InferType(__func__, true, sym, num_args, keys, arg_type_data, in_type_size, in_type_data, out_type_size, out_type_data,
                   aux_type_size, aux_type_data, complete);
}
