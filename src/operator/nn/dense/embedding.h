/* Parameters of Embedding, for its kernels of dense and of sparse arrays. */
#ifndef MXNET_OPERATOR_NN_DENSE_EMBEDDING_H_
#define MXNET_OPERATOR_NN_DENSE_EMBEDDING_H_

#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace nn {

struct EmbeddingParam : public Parameter<EmbeddingParam> {
  int input_dim, output_dim, dtype;
  bool sparse_grad;
  MXNET_DECLARE_PARAM(EmbeddingParam) {
    MXNET_FIELD(input_dim).set_lower_bound(1).describe("Number of rows of the weight.");
    MXNET_FIELD(output_dim).set_lower_bound(1).describe("Length of a row.");
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::kClassicNumbers).set_default(kFloat32).describe("Dtype of the weight when nothing else says it.");
    MXNET_FIELD(sparse_grad).set_default(false).describe("Gradient of the weight as row_sparse.");
  }
};

/* Of the older SparseEmbedding, whose weight has a row_sparse gradient unless a script says
 * otherwise. Kernels and the gradient read it as EmbeddingParam. */
struct SparseEmbeddingParam : public EmbeddingParam {
  bool deterministic;
  MXNET_DECLARE_PARAM(SparseEmbeddingParam) {
    MXNET_FIELD(input_dim).set_lower_bound(1).describe("Number of rows of the weight.");
    MXNET_FIELD(output_dim).set_lower_bound(1).describe("Length of a row.");
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::kClassicNumbers).set_default(kFloat32).describe("Dtype of the weight when nothing else says it.");
    MXNET_FIELD(sparse_grad).set_default(true).describe("Gradient of the weight as row_sparse.");
    MXNET_FIELD(deterministic).set_default(false).describe("Accepted and without effect: sums have a fixed order.");
  }
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_DENSE_EMBEDDING_H_
