// Embedding: tables that are row_sparse, and gradients that have the touched rows alone.
#include "operator/nn/dense/embedding.h"

#include <algorithm>
#include <cstring>

#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/indexing/index_common.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/row_sums.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

bool TakesEmbedding(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  return in[0] == StorageType::kDense && in[1] != StorageType::kCSR && GiveStorage(&(*out)[0], StorageType::kDense);
}

/* Unlike a dense table's, rows that there are not are refused, as in 1.9.1. */
void EmbeddingSparse(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const SparseParts& weight = *args.in[1].sparse;
  const int64_t* number = ReadIndicesInRange(args, args.in[0], weight.shape[0], IndexMode::kRaise);
  if (args.run.ctx.is_gpu()) return sparse::GatherRows(args, args.in[1], number, args.in[0].Size(), args.out[0].data<char>());
  const bool whole = sparse::IsWhole(weight);
  const auto bytes = static_cast<size_t>(weight.shape[1]) * DTypeSize(weight.values.dtype);
  const char* const values = weight.values.data<char>();
  char* const out = args.out[0].data<char>();
  ParallelFor(args.in[0].Size(), sparse::Grain(static_cast<int64_t>(bytes), 4 * sparse::kRowGrain), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t at = sparse::FindRow(weight, number[i], whole);
      char* const to = out + static_cast<size_t>(i) * bytes;
      if (at < 0)
        std::memset(to, 0, bytes);
      else
        std::memcpy(to, values + static_cast<size_t>(at) * bytes, bytes);
    }
  });
}
MXNET_REGISTER_SPARSE(Embedding, TakesEmbedding)
    .set_kernel(DeviceType::kCPU, EmbeddingSparse)
    .set_kernel(DeviceType::kGPU, EmbeddingSparse);
MXNET_REGISTER_SPARSE(_contrib_SparseEmbedding, TakesEmbedding)
    .set_kernel(DeviceType::kCPU, EmbeddingSparse)
    .set_kernel(DeviceType::kGPU, EmbeddingSparse);

/* sparse_grad asks for a row_sparse gradient; where the caller's array has a storage, that
 * decides. */
bool TakesEmbeddingGradient(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  if (in[0] != StorageType::kDense || in[1] != StorageType::kDense) return false;
  const bool rows = attrs.get<nn::EmbeddingParam>().sparse_grad || (*out)[0] == StorageType::kRowSparse;
  if ((*out)[0] == StorageType::kDense) return true;
  return GiveStorage(&(*out)[0], rows ? StorageType::kRowSparse : StorageType::kDense);
}

void EmbeddingGradientSparse(KernelArgs& args) {  // ograd, data -> weight_grad
  if (args.req[0] == OpReq::kNull) return;
  SparseParts* const out = args.out[0].sparse;
  const int64_t* number = ReadIndicesInRange(args, args.in[1], out->shape[0], IndexMode::kRaise);
  sparse::SumRows(args, number, args.in[1].Size(), args.in[0].dptr, out);
}
/* Sorting a number takes some nanoseconds. */
double EmbeddingGradientFlops(const Attrs&, Span<const TBlob> in, Span<const TBlob>) { return 100 * static_cast<double>(in[1].Size()); }

MXNET_REGISTER_SPARSE(_backward_Embedding, TakesEmbeddingGradient)
    .set_from_dense()
    .set_flops(EmbeddingGradientFlops)
    .set_kernel(DeviceType::kCPU, EmbeddingGradientSparse)
    .set_kernel(DeviceType::kGPU, EmbeddingGradientSparse);

}  // namespace
}  // namespace mxnet
