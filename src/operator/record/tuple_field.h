/*
 * Operator parameters that are lists of numbers: Tuple<float> values; prints as "tuple of <float>"
 * in signatures, accepts "(0.1, 0.2)", "[0.1]", "()" and a single number. T is float, double,
 * int64_t or uint64_t.
 */
#ifndef MXNET_OPERATOR_RECORD_TUPLE_FIELD_H_
#define MXNET_OPERATOR_RECORD_TUPLE_FIELD_H_

#include <initializer_list>
#include <iosfwd>
#include <vector>

#include "operator/record/param.h"

namespace mxnet {

template <typename T>
struct Tuple {
  std::vector<T> values;
  Tuple() = default;
  Tuple(std::initializer_list<T> v) : values(v) {}
  int size() const { return static_cast<int>(values.size()); }
  T operator[](int i) const { return values[i]; }
  bool operator==(const Tuple& o) const { return values == o.values; }
};

/* Sets failbit on malformed text. */
template <typename T>
std::istream& operator>>(std::istream& is, Tuple<T>& t);
template <typename T>
std::ostream& operator<<(std::ostream& os, const Tuple<T>& t);

}  // namespace mxnet

#endif  // MXNET_OPERATOR_RECORD_TUPLE_FIELD_H_
