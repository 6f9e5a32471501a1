/* Lengths of an array's axes. */
#ifndef MXNET_CPP_SHAPE_H_
#define MXNET_CPP_SHAPE_H_

#include <algorithm>
#include <istream>
#include <ostream>
#include <utility>
#include <vector>

#include "mxnet-cpp/base.h"

namespace mxnet {
namespace cpp {

/*
 * Axes are unsigned. -1, as Reshape knows it, is given as Shape(-1, 0) all the same: parameters of
 * operators are written with the sign.
 */
class Shape {
 public:
  Shape() {}
  explicit Shape(const std::vector<index_t>& axes) : axes_(axes) {}
  explicit Shape(index_t s1) : axes_(1, s1) {}
  Shape(index_t s1, index_t s2) : axes_{s1, s2} {}
  Shape(index_t s1, index_t s2, index_t s3) : axes_{s1, s2, s3} {}
  Shape(index_t s1, index_t s2, index_t s3, index_t s4) : axes_{s1, s2, s3, s4} {}
  Shape(index_t s1, index_t s2, index_t s3, index_t s4, index_t s5) : axes_{s1, s2, s3, s4, s5} {}

  template <typename RandomAccessIterator>
  void CopyFrom(RandomAccessIterator begin, RandomAccessIterator end) {
    axes_.assign(begin, end);
  }
  Shape& operator=(const std::vector<index_t>& axes) {
    axes_ = axes;
    return *this;
  }
  const index_t* data() const { return axes_.data(); }
  index_t* data() { return axes_.data(); }
  const index_t* begin() const { return data(); }
  const index_t* end() const { return data() + axes_.size(); }
  index_t ndim() const { return static_cast<index_t>(axes_.size()); }
  index_t& operator[](size_t i) { return axes_[i]; }
  const index_t& operator[](size_t i) const { return axes_[i]; }
  /* How many elements an array of this shape has. */
  size_t Size() const {
    size_t size = 1;
    for (index_t axis : axes_) size *= axis;
    return size;
  }
  bool operator==(const Shape& other) const { return axes_ == other.axes_; }
  bool operator!=(const Shape& other) const { return axes_ != other.axes_; }

 private:
  std::vector<index_t> axes_;
};

/* (2,3), and (2,) for one axis. */
inline std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (index_t i = 0; i < shape.ndim(); ++i) out << (i ? "," : "") << shape[i];
  if (shape.ndim() == 1) out << ',';
  return out << ')';
}

/* Reads what is written above; [2,3] and a single number are accepted as well. */
inline std::istream& operator>>(std::istream& in, Shape& shape) {
  std::vector<index_t> axes;
  index_t axis;
  char c = 0;
  in >> std::ws;
  if (in.peek() >= '0' && in.peek() <= '9') {
    if (in >> axis) shape = std::vector<index_t>(1, axis);
    return in;
  }
  if (!(in >> c)) return in;
  if (c != '(' && c != '[') {
    in.setstate(std::ios::failbit);
    return in;
  }
  const char close = c == '(' ? ')' : ']';
  while (in >> std::ws && in.peek() != close) {
    if (!(in >> axis)) return in;
    axes.push_back(axis);
    in >> std::ws;
    if (in.peek() == ',') in.get();
    if (in.peek() == 'L') in.get();
  }
  if (in.get() == close) shape = axes;
  return in;
}

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_SHAPE_H_
