/*
 * Parts of an array along one dimension, chosen by positions: for operators whose results have
 * them in another number (edit.cc, insert.cc). Positions are found on the calling thread, from
 * numbers or from the values of an array. A few runs of them are joined; of many, take moves the
 * entries one by one, on the array's device.
 */
#ifndef MXNET_OPERATOR_INDEXING_PARTS_H_
#define MXNET_OPERATOR_INDEXING_PARTS_H_

#include <vector>

#include "mxnet/ndarray.h"
#include "operator/record/param.h"

namespace mxnet {
namespace parts {

using List = std::vector<int64_t>;

struct Run {
  int64_t begin, count;
};
using Runs = std::vector<Run>;
constexpr size_t kFewRuns = 16;

int64_t Count(const Runs& runs);
List Expanded(const Runs& runs);
/* The positions below `size` that are not in `gone`, which needs no order and may repeat. */
Runs Others(List gone, int64_t size);

// ---- positions

/* `shape` as the list sees it: with a dimension, or as a vector. */
struct Along {
  Shape shape;
  int axis;
  int64_t size() const { return shape[axis]; }
};
Along AlongAxis(const Attrs& attrs, const Shape& shape, const std::optional<int>& axis);

/* Parameters that say positions, and their fields. */
struct PlaceSlice {
  std::optional<int> start, stop, step;
};
#define MXNET_PLACE_FIELDS()                                                                                            \
  MXNET_FIELD(start).set_default(std::optional<int>()).describe("Where the slice of positions begins.");                \
  MXNET_FIELD(stop).set_default(std::optional<int>()).describe("Where the slice of positions ends, without this one."); \
  MXNET_FIELD(step).set_default(std::optional<int>()).describe("Distance of the positions of the slice.");              \
  MXNET_FIELD(int_ind).set_default(std::optional<int>()).describe("One position, in place of a slice or an array.");    \
  MXNET_FIELD(axis).set_default(std::optional<int>()).describe("The dimension; None takes the array as a vector.")

/* The positions of a Python slice of a dimension. */
List SlicePlaces(const Attrs& attrs, const PlaceSlice& p, int64_t size);
/* `at` from 0 on, if it is in [-size, end). */
int64_t CheckedPlace(const Attrs& attrs, int64_t at, int64_t size, int64_t end);
/* Positions from an array: as they stand, below `end`, or where a mask is true. */
List ArrayPlaces(const Attrs& attrs, const NDArray& index, int64_t size, int64_t end);

// ---- arrays

Shape WithSize(Shape s, int axis, int64_t size);
/* Gives a result its shape; the dtype is that of `like`. */
void GiveShape(const Attrs& attrs, NDArray* out, const Shape& to, const NDArray& like);
void Zero(const NDArray& a);
/* The entries of a run of a dimension: a view where they lie side by side. */
NDArray Part(const NDArray& data, const Along& along, const Run& run);
/* out = the parts, none of them empty, one behind the other. */
void Join(const std::vector<NDArray>& parts, int axis, const NDArray& out);
/* out = the entries of data at those positions of its dimension. */
void Take(const NDArray& data, const Along& along, const List& places, const NDArray& out);
void Take(const NDArray& data, const Along& along, const Runs& runs, const NDArray& out);
/* out = 0, then += the entries of data at those positions of out's dimension. */
void Put(const NDArray& data, const Along& along, const Runs& runs, const NDArray& out);
/* Results of the first input's dtype. */
bool FirstType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out);

}  // namespace parts
}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_PARTS_H_
