/* What the records of this folder share: inference of shapes of batches of matrices, and parts of
 * gradients. */
#ifndef MXNET_OPERATOR_LINALG_SHAPES_H_
#define MXNET_OPERATOR_LINALG_SHAPES_H_

#include <string>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/node.h"

namespace mxnet {
namespace linalg {

/* Throws unless `s`, called `what`, has at least 2 dimensions of which the last two are equal, as
 * far as that is known. */
void NeedMatrices(const Attrs& attrs, const char* what, const Shape& s);
void NeedSquare(const Attrs& attrs, const char* what, const Shape& s);
/* One input and one output of the same shape, square matrices. */
bool SquareShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out);
/* `s` without its last dimensions, plus `more`. */
Shape Leading(const Shape& s, int drop, const std::vector<int64_t>& more);
/* The shape of one number for each matrix of `s`: (1,) for a single one, or () in NumPy's
 * operators. */
Shape NumberShape(const Shape& s, bool numpy);
/* Unknown sizes of dimension i of `a` and j of `b` from the other; throws when they differ. */
void Unify(const Attrs& attrs, const char* a_name, Shape* a, int i, const char* b_name, Shape* b, int j);
/* All of the shapes get the number of dimensions that some of them have; false when none has. */
bool SameRank(const Attrs& attrs, const std::vector<std::pair<const char*, Shape*>>& shapes, int least);

/* out has the shape of the last input, respectively of input 0. For gradients. */
bool LikeLastShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out);

// ---- parts of gradients

/* Parts of a square matrix x: kLower and kUpper keep a triangle with the diagonal; kMirror is the
 * lower triangle, put onto the upper one too; kFold is the lower triangle of x + x^T with the
 * diagonal of x (what reaches the lower triangle through kMirror); kSymmetric is (x + x^T) / 2. */
enum class Part : int { kLower, kUpper, kMirror, kFold, kSymmetric };
NodeEntry PartOf(const NodeEntry& x, Part part);
/* alpha * op(a) op(b) */
NodeEntry Product(const NodeEntry& a, bool ta, const NodeEntry& b, bool tb, double alpha = 1);
/* alpha * op(a) op(b) + c */
NodeEntry ProductPlus(const NodeEntry& a, bool ta, const NodeEntry& b, bool tb, const NodeEntry& c, double alpha = 1);
/* op(l)^-1 x, or x op(l)^-1 */
NodeEntry Solution(const NodeEntry& l, const NodeEntry& x, bool transpose, bool right, double alpha = 1, bool lower = true);
/* Each matrix times its number, and the sum of a * b over each matrix. */
NodeEntry Scaled(const NodeEntry& numbers, const NodeEntry& matrices);
NodeEntry InnerProducts(const NodeEntry& numbers_like, const NodeEntry& a, const NodeEntry& b);
inline NodeEntry Output(const NodePtr& node, uint32_t i) { return NodeEntry{node, i, 0}; }

}  // namespace linalg
}  // namespace mxnet
#endif  // MXNET_OPERATOR_LINALG_SHAPES_H_
