// Text forms of parameters that dmlc does not know, and error messages in the form that all have.
#include "operator/param.h"

namespace mxnet {

// Accepts "(2,3)", "[2, 3]", "()", "2", with optional spaces, a trailing comma and an L behind
// numbers (Python 2 wrote those); None inside means an unknown size.
std::istream& operator>>(std::istream& is, Shape& s) {
  std::vector<int64_t> dims;
  is >> std::ws;
  const int first = is.peek();
  if (first == 'N') {
    std::string none(4, '\0');
    is.read(&none[0], 4);
    if (none == "None") {
      s = Shape();
      is.clear();
    } else {
      is.setstate(std::ios::failbit);
    }
    return is;
  }
  if (first != '(' && first != '[') {
    int64_t only;
    if (is >> only) {
      dims.push_back(only);
      s = Shape(dims);
    }
    return is;
  }
  const char close = first == '(' ? ')' : ']';
  is.get();
  while (true) {
    is >> std::ws;
    if (is.peek() == close) {
      is.get();
      break;
    }
    if (is.peek() == 'N') {
      std::string none(4, '\0');
      is.read(&none[0], 4);
      if (none != "None") {
        is.setstate(std::ios::failbit);
        return is;
      }
      dims.push_back(Shape::kUnknownDim);
    } else {
      int64_t d;
      if (!(is >> d)) return is;
      if (is.peek() == 'L') is.get();
      if (is.peek() == '.') {  // "2.0" as some front ends write it
        is.get();
        while (is.peek() == '0') is.get();
      }
      dims.push_back(d);
    }
    is >> std::ws;
    if (is.peek() == ',') {
      is.get();
      continue;
    }
    if (is.peek() == close) {
      is.get();
      break;
    }
    is.setstate(std::ios::failbit);
    return is;
  }
  s = Shape(dims);
  return is;
}

std::string ParamError(const std::string& op, const std::string& what) {
  // dmlc may put a stack trace behind the message; people need only what precedes it.
  std::string text = what.substr(0, what.find("\nStack trace"));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  text = "[" + op + "] " + text;
  // The caller throws kValue; of dtypes that are none 1.9.1 says TypeError.
  if (text.find("Invalid Input") != std::string::npos && text.find("'float32'") != std::string::npos) MXNET_THROW(Type) << text;
  return text;
}

}  // namespace mxnet
