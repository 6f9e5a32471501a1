/*
 * The parameter type of begin, end and step of the slice family: integers or None, by dimension.
 * Text: "(1, None, -2)", "[..]", "1", "None", "()".
 */
#ifndef MXNET_OPERATOR_MATRIX_SLICE_PARAM_H_
#define MXNET_OPERATOR_MATRIX_SLICE_PARAM_H_

#include <istream>
#include <ostream>
#include <vector>

#include "operator/record/param.h"

namespace mxnet {

struct OptionalInts {
  struct Item {
    bool given = false;
    int64_t value = 0;
    bool operator==(const Item& o) const { return given == o.given && value == o.value; }
  };
  std::vector<Item> items;
  int size() const { return static_cast<int>(items.size()); }
  bool given(int i) const { return i < size() && items[i].given; }
  bool operator==(const OptionalInts& o) const { return items == o.items; }
  bool operator!=(const OptionalInts& o) const { return !(*this == o); }
};

std::ostream& operator<<(std::ostream& os, const OptionalInts& v);
std::istream& operator>>(std::istream& is, OptionalInts& v);

struct SliceParam : public Parameter<SliceParam> {
  OptionalInts begin, end, step;
  MXNET_DECLARE_PARAM(SliceParam) {
    MXNET_FIELD(begin).describe(
        "First index by dimension; None takes the end from which the step leads away, negative counts from the end.");
    MXNET_FIELD(end).describe("Index that is not reached any more, by dimension; None goes to the end.");
    MXNET_FIELD(step).set_default(OptionalInts()).describe("Distance of indices by dimension, not 0; None or nothing is 1.");
  }
};

}  // namespace mxnet

#endif  // MXNET_OPERATOR_MATRIX_SLICE_PARAM_H_
