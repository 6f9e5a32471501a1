/*
 * Eigenvectors of one symmetric matrix and singular vectors of one matrix: LAPACK reduces it to two
 * diagonals and solves that, reflections.h turns the vectors back. Row-major without gaps; float
 * and double. Numbers are finite. Functions return LAPACK's info: 0, or the 1-based place of an
 * iteration that did not end.
 */
#ifndef MXNET_OPERATOR_LINALG_DECOMPOSE_H_
#define MXNET_OPERATOR_LINALG_DECOMPOSE_H_

#include <cstdint>

namespace mxnet {
namespace linalg {

/* What the larger of two matrices of the calls below has, for lapack::CheckSize. */
int64_t EigenNumbers(int64_t n);
int64_t SingularNumbers(int64_t m, int64_t n);

/* Rows of a, whose lower triangle is given, become eigenvectors; w, which ascends, the values. */
template <typename T>
int64_t EigenVectors(int64_t n, T* a, T* w);

/* a = u diag(w) v; u m x k, v k x n, w descends. */
template <typename T>
int64_t SingularVectors(int64_t m, int64_t n, const T* a, T* u, T* w, T* v);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_DECOMPOSE_H_
