// The only caller of the records' functions of inference.
#include <deque>

#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"
#include "operator/record/numpy_types.h"
#include "operator/record/sparse_form.h"

namespace mxnet {
namespace {

/* Lists as the records' functions take them. Calls nest: a record may ask another one's. */
class Lists {
 public:
  struct Buffers {
    ShapeVector in_shapes, out_shapes;
    std::vector<int> in_dtypes, out_dtypes;
  };
  Lists() {
    Kept& kept = OfThread();
    if (kept.depth == kept.items.size()) kept.items.emplace_back();
    buffers_ = &kept.items[kept.depth++];
  }
  ~Lists() { --OfThread().depth; }
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;
  Buffers* operator->() const { return buffers_; }

 private:
  struct Kept {
    std::deque<Buffers> items;  // deque: growing keeps addresses
    size_t depth = 0;
  };
  static Kept& OfThread() {
    static thread_local Kept kept;
    return kept;
  }
  Buffers* buffers_;
};

void Take(const TensorTypes& types, ShapeVector* shapes, std::vector<int>* dtypes) {
  shapes->resize(types.size());
  dtypes->resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    (*shapes)[i] = types[i].shape;
    (*dtypes)[i] = types[i].dtype;
  }
}

void Give(ShapeVector* shapes, const std::vector<int>& dtypes, TensorTypes* types) {
  for (size_t i = 0; i < types->size(); ++i) {
    TensorType& t = (*types)[i];
    t.shape = std::move((*shapes)[i]);
    t.dtype = dtypes[i];
  }
}

/* Storages that nothing tells are those that the operator makes; given ones stay. */
void GiveStorages(const Attrs& attrs, TensorTypes* in, TensorTypes* out) {
  bool dense = !attrs.op->makes_sparse;
  for (const TensorTypes* types : {in, out})
    for (const TensorType& t : *types) dense = dense && !IsSparse(t.storage);
  StorageTypes made;
  if (!dense) {
    StorageTypes read;
    for (const TensorType& t : *in) read.push_back(t.storage);
    for (const TensorType& t : *out) made.push_back(t.storage);
    InferStorage(attrs, read, &made);
  }
  for (TensorType& t : *in)
    if (t.storage == StorageType::kUndefined) t.storage = StorageType::kDense;
  for (size_t i = 0; i < out->size(); ++i)
    if ((*out)[i].storage == StorageType::kUndefined) (*out)[i].storage = dense ? StorageType::kDense : made[i];
}

}  // namespace

InferSwitches InferSwitches::OfThread(bool in_graph) { return {numpy::DefaultIsFloat64(), NumpyShapes(), in_graph}; }

MXNET_DLL bool InferCallAs(const Op& op, const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  if (op.infer_shape_by) return op.infer_shape_by(attrs, switches, in, out);
  return op.infer_shape && op.infer_shape(attrs, in, out);
}

bool InferCall(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  return InferCallAs(*attrs.op, attrs, switches, in, out);
}

bool InferCall(const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
  const Op& op = *attrs.op;
  if (op.infer_type_by) return op.infer_type_by(attrs, switches, in, out);
  return op.infer_type ? op.infer_type(attrs, in, out) : SameType(attrs, in, out);
}

bool InferCall(const Attrs& attrs, const InferSwitches& switches, TensorTypes* in, TensorTypes* out) {
  const Lists lists;
  Take(*in, &lists->in_shapes, &lists->in_dtypes);
  Take(*out, &lists->out_shapes, &lists->out_dtypes);
  const bool shapes = InferCall(attrs, switches, &lists->in_shapes, &lists->out_shapes);
  const bool dtypes = InferCall(attrs, switches, &lists->in_dtypes, &lists->out_dtypes);
  Give(&lists->in_shapes, lists->in_dtypes, in);
  Give(&lists->out_shapes, lists->out_dtypes, out);
  GiveStorages(attrs, in, out);
  return shapes && dtypes;
}

}  // namespace mxnet
