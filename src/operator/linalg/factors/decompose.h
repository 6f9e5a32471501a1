/*
 * Eigenvectors of one symmetric matrix and singular vectors of one matrix: condense.h reduces it to
 * two diagonals, divide.h or LAPACK solves that, reflections.h turns the vectors back. Row-major
 * without gaps; float and double. Numbers are finite. Functions return LAPACK's info: 0, or the
 * 1-based place of an iteration that did not end.
 */
#ifndef MXNET_OPERATOR_LINALG_FACTORS_DECOMPOSE_H_
#define MXNET_OPERATOR_LINALG_FACTORS_DECOMPOSE_H_

#include <cstdint>

namespace mxnet {
namespace linalg {

/* What SingularVectors needs at once, for lapack::CheckSize. */
int64_t SingularNumbers(int64_t m, int64_t n);

/* w, which ascends, = the eigenvalues of a, whose lower triangle is given. With `vectors` the rows
 * of a become the eigenvectors, else nothing of use. */
template <typename T>
int64_t EigenVectors(bool vectors, int64_t n, T* a, T* w);

/* a = u diag(w) v; u m x k, v k x n, w descends. u and v null: only w. */
template <typename T>
int64_t SingularVectors(int64_t m, int64_t n, const T* a, T* u, T* w, T* v);

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_FACTORS_DECOMPOSE_H_
