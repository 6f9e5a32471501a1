/*
 * dmlc::optional, a value or none, and nnvm::Tuple, a list of numbers: what parameters of operators
 * are made of besides numbers, texts and shapes. If a program includes the original headers first,
 * those are used; as in logging.h, the types are ours.
 */
#ifndef MXNET_CPP_OPTIONAL_H_
#define MXNET_CPP_OPTIONAL_H_

#include <initializer_list>
#include <istream>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mxnet-cpp/logging.h"

#ifndef DMLC_OPTIONAL_H_
#define DMLC_OPTIONAL_H_
namespace mxnet {
namespace cpp {
namespace front_end {

struct nullopt_t {
  constexpr explicit nullopt_t(int) {}
};
constexpr const nullopt_t nullopt = nullopt_t(0);

template <typename T>
class optional {
 public:
  optional() : given_(false), value_() {}
  optional(nullopt_t) : given_(false), value_() {}                 // NOLINT: implicit on purpose
  optional(const T& value) : given_(true), value_(value) {}        // NOLINT
  optional(T&& value) : given_(true), value_(std::move(value)) {}  // NOLINT
  /* From an optional of another type, such as int for int64_t. */
  template <typename U, typename = typename std::enable_if<std::is_convertible<const U&, T>::value>::type>
  optional(const optional<U>& other)  // NOLINT
      : given_(other.has_value()), value_(other.has_value() ? static_cast<T>(*other) : T()) {}
  optional& operator=(const T& value) {
    value_ = value;
    given_ = true;
    return *this;
  }
  optional& operator=(nullopt_t) {
    value_ = T();
    given_ = false;
    return *this;
  }
  template <typename... Args>
  void emplace(Args&&... args) {
    value_ = T(std::forward<Args>(args)...);
    given_ = true;
  }
  void swap(optional& other) { std::swap(*this, other); }
  bool has_value() const { return given_; }
  explicit operator bool() const { return given_; }
  /* Throws Error if there is no value. */
  const T& value() const {
    CHECK(given_) << "this optional has no value";
    return value_;
  }
  T& value() {
    CHECK(given_) << "this optional has no value";
    return value_;
  }
  const T& operator*() const { return value(); }
  T& operator*() { return value(); }
  bool operator==(const optional& other) const { return given_ == other.given_ && (!given_ || value_ == other.value_); }
  bool operator!=(const optional& other) const { return !(*this == other); }

 private:
  bool given_;
  T value_;
};

/* "None", or the value as its own operator writes it. */
template <typename T>
std::ostream& operator<<(std::ostream& out, const optional<T>& value) {
  return value.has_value() ? out << *value : out << "None";
}
template <typename T>
std::istream& operator>>(std::istream& in, optional<T>& value) {
  in >> std::ws;
  if (in.peek() == 'N') {
    std::string word;
    in >> word;
    if (word != "None") in.setstate(std::ios::failbit);
    value = nullopt;
    return in;
  }
  T read;
  if (in >> read) value = read;
  return in;
}

}  // namespace front_end
}  // namespace cpp
}  // namespace mxnet

namespace dmlc {
using mxnet::cpp::front_end::nullopt;
using mxnet::cpp::front_end::nullopt_t;
using mxnet::cpp::front_end::optional;
}  // namespace dmlc
#endif  // DMLC_OPTIONAL_H_

#ifndef NNVM_TUPLE_H_
#define NNVM_TUPLE_H_
namespace mxnet {
namespace cpp {
namespace front_end {

template <typename T>
class Tuple {
 public:
  Tuple() {}
  Tuple(std::initializer_list<T> values) : values_(values) {}   // NOLINT: implicit on purpose
  Tuple(std::vector<T> values) : values_(std::move(values)) {}  // NOLINT
  template <typename Iterator>
  Tuple(Iterator begin, Iterator end) : values_(begin, end) {}
  uint32_t ndim() const { return static_cast<uint32_t>(values_.size()); }
  T& operator[](size_t i) { return values_[i]; }
  const T& operator[](size_t i) const { return values_[i]; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + values_.size(); }
  bool operator==(const Tuple& other) const { return values_ == other.values_; }
  bool operator!=(const Tuple& other) const { return values_ != other.values_; }

 private:
  std::vector<T> values_;
};

template <typename T>
std::ostream& operator<<(std::ostream& out, const Tuple<T>& tuple) {
  out << '(';
  for (uint32_t i = 0; i < tuple.ndim(); ++i) out << (i ? "," : "") << tuple[i];
  if (tuple.ndim() == 1) out << ',';
  return out << ')';
}

}  // namespace front_end
}  // namespace cpp
}  // namespace mxnet

namespace nnvm {
using mxnet::cpp::front_end::Tuple;
}  // namespace nnvm
#endif  // NNVM_TUPLE_H_
#endif  // MXNET_CPP_OPTIONAL_H_
