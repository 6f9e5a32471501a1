/*
 * The reductions: a row for each operator, over the folds of folds.cuh. A new reduction is a row
 * here, one there if it folds in a new way, and a case in tests/python/op_cases/reduce.py.
 */
#ifndef MXNET_OPERATOR_REDUCE_TABLE_H_
#define MXNET_OPERATOR_REDUCE_TABLE_H_

#include "operator/reduce/folds.cuh"

namespace mxnet {
namespace reduce {

enum Kind : int {
#define MXNET_FOLD(name, ...) k##name,
  MXNET_REDUCTION_FOLDS(MXNET_FOLD)
#undef MXNET_FOLD
      kNumKinds
};

enum class Range { Sums, Products, Compares, Truths };

/* A fold as data: what generated kernels are made of. */
struct Fold {
  const char *name, *neutral, *map, *merge;
  Range range;
};
inline const Fold& GetFold(Kind kind) {
  static const Fold folds[] = {
#define MXNET_FOLD(name, neutral, map, merge, range) {#name, #neutral, #map, #merge, Range::range},
      MXNET_REDUCTION_FOLDS(MXNET_FOLD)
#undef MXNET_FOLD
  };
  return folds[kind];
}

/* What becomes of the folded value: nothing, its share of the number of elements, its square
 * root. */
enum class End { kPlain, kMean, kRoot };

/*
 * An operator over a set of axes. Records whose names stand in one text are apart where `|` stands;
 * the first name of each is the record's, the others are aliases; `full` before it: programs of
 * mixed precision run it in float32. Legacy records have the
 * parameters axis, keepdims and exclude, and results of at least one dimension; NumPy's have those
 * of NumPy.
 */
struct ReductionRow {
  const char *legacy, *numpy;  // empty: none
  Kind fold;
  End end;
  /* d result / d element, in x (the element) and y (the result) and the words of
   * pointwise/loops/table.h; "product": the product of the other elements. Null: 0. */
  const char* derivative;
  const char* description;
};
inline const ReductionRow kReductions[] = {
    {"full sum sum_axis _sparse_sum", "full _np_sum | _npi_sum", kSum, End::kPlain, "T(1)", "Sum over axes."},
    {"full mean _sparse_mean", "full _npi_mean", kSum, End::kMean, "T(1)", "Arithmetic mean over axes."},
    {"full prod", "full _np_prod _np_product | _npi_prod", kProd, End::kPlain, "product", "Product over axes."},
    {"full nansum", "", kNanSum, End::kPlain, "x == x ? T(1) : T(0)", "Sum over axes, counting NaN as 0."},
    {"full nanprod", "", kNanProd, End::kPlain, "product", "Product over axes, counting NaN as 1."},
    // every element that attains the extreme gets the gradient
    {"max max_axis", "_np_max _np_amax | _npi_max _npi_amax", kMax, End::kPlain, "x == y ? T(1) : T(0)",
     "Largest element over axes; NaN when there is one."},
    {"min min_axis", "_np_min _np_amin | _npi_min _npi_amin", kMin, End::kPlain, "x == y ? T(1) : T(0)",
     "Smallest element over axes; NaN when there is one."},
    {"", "_np_any _np_sometrue | _npi_any", kAny, End::kPlain, nullptr, "Whether any element over axes is not 0."},
    {"", "_np_all | _npi_all", kAll, End::kPlain, nullptr, "Whether all elements over axes are not 0."},
};

}  // namespace reduce
}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_TABLE_H_
