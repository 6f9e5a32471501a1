#include "mxnet/ndarray.h"
#include "operator/matrix/move.h"
#include "operator/optimizer/gpu_update.h"
#include "operator/optimizer/row_update.h"
#include "operator/sparse/gpu_parts.h"

namespace mxnet {
namespace {

void* AllRows(KernelArgs& args, const TBlob& array) { return array.sparse ? sparse::MakeWholeOnDevice(args, array.sparse) : array.dptr; }

/* The weight in `out`, where that is another array. */
void CopyWeight(KernelArgs& args, const TBlob& in, const TBlob& out) {
  if (in.sparse)
    sparse::CopyOnDevice(args, *in.sparse, out.sparse);
  else if (in.dptr != out.dptr)
    CopyBytes(args.run, in.dptr, out.dptr, static_cast<int64_t>(in.Bytes()));
}

}  // namespace

void UpdateRowsOnDevice(const RowUpdate& how, KernelArgs& a) {
  const TBlob &in = a.in[0], &out = a.out[0];
  if (a.req[0] == OpReq::kNull) return;
  CopyWeight(a, in, out);
  if (in.Size() == 0) return;
  const SparseParts& grad = *a.in[1].sparse;
  const int64_t rows = in.shape[0], size = in.Size() / rows;
  const int64_t* const number = grad.index[SparseParts::kRows].data<int64_t>();
  UpdateArgs u{};
  u.rule = how.rule;
  u.dtype = in.dtype;
  how.fill(*a.attrs, &u.numbers);
  u.numbers.in_place = true;
  u.weight = u.out = AllRows(a, out);
  for (int k = 0; k < how.states; ++k) u.state[k] = AllRows(a, a.in[2 + k]);
  u.grad = grad.values.memory.dptr;
  if (how.grouped) return GroupAdaGradOnDevice(a.run, u, grad.stored(), size, number);
  // As in 1.9.1, a row_sparse weight with dense states is never updated lazily.
  if (how.lazy(*a.attrs) && !(out.sparse && how.states && !a.in[2].sparse))
    return UpdateRowsOnDevice(a.run, u, number, false, grad.stored(), size);
  UpdateRowsOnDevice(a.run, u, sparse::PlacesOnDevice(a, number, grad.stored(), rows), true, rows, size);
}

}  // namespace mxnet
