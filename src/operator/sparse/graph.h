/* What operators on graphs share: a graph is a csr matrix whose row v has the edges of vertex v. */
#ifndef MXNET_OPERATOR_SPARSE_GRAPH_H_
#define MXNET_OPERATOR_SPARSE_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/record/sparse_form.h"

namespace mxnet {
namespace sparse {

/* Rows, columns and values of a csr matrix of int64. */
struct Graph {
  const int64_t *indptr, *column, *edge;
  int64_t vertices, columns;
  explicit Graph(const SparseParts& p)
      : indptr(p.index[SparseParts::kIndptr].data<int64_t>()),
        column(p.index[SparseParts::kColumns].data<int64_t>()),
        edge(p.values.data<int64_t>()),
        vertices(p.shape[0]),
        columns(p.shape[1]) {}
};

/* Throws Error(kValue) unless inputs [0, csr) are csr and the others dense: there is no dense
 * kernel to fall back to. Asked by kernels: inference does not know yet what a variable will be. */
void NeedStorages(const KernelArgs& args, int csr = 1);
/* The kernel of such a record for arrays that are all dense. */
void RefuseDense(KernelArgs& args);

/* All are int64. False while one is unknown. */
bool AllInt64(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out);

/* Names `first`, then `name`0 to `name`(n - 1). */
std::vector<std::string> NamesWithList(std::vector<std::string> first, const char* name, int n);

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_GRAPH_H_
