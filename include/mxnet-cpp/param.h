/* How values of parameters become the texts that the C interface takes. */
#ifndef MXNET_CPP_PARAM_H_
#define MXNET_CPP_PARAM_H_

#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <type_traits>

#include "mxnet-cpp/optional.h"
#include "mxnet-cpp/shape.h"

namespace mxnet {
namespace cpp {
namespace front_end {

/* As a stream writes it, whatever locale the program has chosen. */
template <typename T>
inline std::string ParamText(const T& value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << value;
  return out.str();
}
/* The shortest text that reads back as the same number. */
template <typename T>
inline std::string NumberText(T value) {
  for (int digits = std::numeric_limits<T>::digits10;; ++digits) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(digits);
    out << value;
    if (digits >= std::numeric_limits<T>::max_digits10) return out.str();
    std::istringstream in(out.str());
    in.imbue(std::locale::classic());
    T read = 0;
    if (in >> read && read == value) return out.str();
  }
}
inline std::string ParamText(float value) { return NumberText(value); }
inline std::string ParamText(double value) { return NumberText(value); }
inline std::string ParamText(const std::string& value) { return value; }
inline std::string ParamText(const char* value) { return value; }
inline std::string ParamText(bool value) { return value ? "1" : "0"; }
inline std::string ParamText(int value) { return std::to_string(value); }
inline std::string ParamText(unsigned value) { return std::to_string(value); }
inline std::string ParamText(const Shape& shape) {
  std::string text = "(";
  for (index_t axis : shape) text += std::to_string(static_cast<int>(axis)) + ",";
  return text + ")";
}
template <typename T>
inline std::string ParamText(const nnvm::Tuple<T>& tuple) {
  std::string text = "(";
  for (const T& value : tuple) text += ParamText(value) + ",";
  return text + ")";
}
template <typename T>
inline std::string ParamText(const dmlc::optional<T>& value) {
  return value.has_value() ? ParamText(*value) : std::string("None");
}

}  // namespace front_end
}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_PARAM_H_
