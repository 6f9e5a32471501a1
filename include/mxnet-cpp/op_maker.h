/* What the generated functions of op.h are written with: as little as possible, so that they
 * compile fast. */
#ifndef MXNET_CPP_OP_MAKER_H_
#define MXNET_CPP_OP_MAKER_H_

#include <string>
#include <vector>

#include "mxnet-cpp/operator.h"

namespace mxnet {
namespace cpp {
namespace front_end {

class Maker {
 public:
  explicit Maker(const char* op) : operator_(op) {}
  Maker& Set(const char* name, bool value) { return Text(name, ParamText(value)); }
  Maker& Set(const char* name, int value) { return Text(name, ParamText(value)); }
  Maker& Set(const char* name, uint32_t value) { return Text(name, ParamText(value)); }
  Maker& Set(const char* name, int64_t value) { return Text(name, ParamText(value)); }
  Maker& Set(const char* name, uint64_t value) { return Text(name, ParamText(value)); }
  Maker& Set(const char* name, mx_float value) { return Text(name, ParamText(value)); }
  Maker& Set(const char* name, double value) { return Text(name, ParamText(value)); }
  Maker& Set(const char* name, const char* value) { return Text(name, value); }
  Maker& Set(const char* name, const std::string& value) { return Text(name, value); }
  Maker& Set(const char* name, const Shape& value) { return value.ndim() == 0 ? *this : Text(name, ParamText(value)); }
  template <typename T>
  Maker& Set(const char* name, const dmlc::optional<T>& value) {
    return Text(name, ParamText(value));
  }
  /* For parameters that are None unless they are given. */
  template <typename T>
  Maker& SetUnlessNone(const char* name, const dmlc::optional<T>& value) {
    return value.has_value() ? Text(name, ParamText(*value)) : *this;
  }
  template <typename T>
  Maker& Set(const char* name, const nnvm::Tuple<T>& value) {
    return Text(name, ParamText(value));
  }
  Maker& Input(const char* name, const Symbol& symbol) {
    operator_.SetInput(name, symbol);
    return *this;
  }
  Maker& Inputs(const std::vector<Symbol>& symbols) {
    operator_.PushInput(symbols);
    return *this;
  }
  Symbol Make(const std::string& name) { return operator_.CreateSymbol(name); }

 private:
  Maker& Text(const char* name, const std::string& value) {
    operator_.SetParam(name, value);
    return *this;
  }
  Operator operator_;
};

}  // namespace front_end
}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_OP_MAKER_H_
