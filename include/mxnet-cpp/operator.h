/*
 * Operators by name, for symbols and for arrays:
 *
 *   Operator fc("FullyConnected");
 *   Symbol out = fc.SetParam("num_hidden", 10).SetInput("data", x).CreateSymbol("fc");
 *   NDArray sum = Operator("_plus")(a, b).Invoke()[0];
 */
#ifndef MXNET_CPP_OPERATOR_H_
#define MXNET_CPP_OPERATOR_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mxnet-cpp/symbol.h"

namespace mxnet {
namespace cpp {

class Operator {
 public:
  explicit Operator(const std::string& operator_name) : op_name_(operator_name) {}

  /* A parameter by name, or by its place among all arguments of the operator. */
  template <typename T>
  Operator& SetParam(const std::string& name, const T& value) {
    return SetText(name, front_end::ParamText(value));
  }
  template <typename T>
  Operator& SetParam(int pos, const T& value) {
    return SetText(ArgumentName(pos), front_end::ParamText(value));
  }
  /* Inputs by name. An empty Symbol stands for an input that is not given. */
  Operator& SetInput(const std::string& name, const Symbol& symbol) {
    if (symbol.GetHandle() == nullptr) return *this;
    input_keys_.push_back(name);
    symbols_.push_back(symbol);
    return *this;
  }
  Operator& SetInput(const std::string& name, const NDArray& ndarray) {
    input_keys_.push_back(name);
    arrays_.push_back(ndarray);
    return *this;
  }
  /* Inputs in the operator's order. */
  void PushInput(const Symbol& symbol) { symbols_.push_back(symbol); }
  void PushInput(const NDArray& ndarray) { arrays_.push_back(ndarray); }
  void PushInput(const std::vector<Symbol>& symbols) { symbols_.insert(symbols_.end(), symbols.begin(), symbols.end()); }
  void PushInput(const std::vector<NDArray>& arrays) { arrays_.insert(arrays_.end(), arrays.begin(), arrays.end()); }
  Operator& AddInput(const Symbol& symbol) { return (*this)(symbol); }
  Operator& AddInput(const NDArray& ndarray) { return (*this)(ndarray); }
  /* Inputs and parameters together, each in the place that the operator's signature gives it. */
  template <typename... Args>
  Operator& operator()(const Args&... args) {
    return Positional(0, args...);
  }

  /* The operator on symbols. Without a name it gets one of its own, such as "convolution0". */
  Symbol CreateSymbol(const std::string& name = "");
  /* The operator on arrays, now. With an argument: into those arrays. */
  std::vector<NDArray> Invoke();
  void Invoke(NDArray& output);                // NOLINT: programs pass it so
  void Invoke(std::vector<NDArray>& outputs);  // NOLINT

 private:
  struct Texts {
    std::vector<const char*> keys, values;
  };
  struct Signature {
    std::vector<std::string> arguments;
    std::string count_key;  // the parameter that counts the inputs, if there is one
  };

  Operator& SetText(const std::string& name, std::string text) {
    params_[name] = std::move(text);
    return *this;
  }
  Operator& Positional(int) { return *this; }
  template <typename First, typename... Rest>
  Operator& Positional(int pos, const First& first, const Rest&... rest) {
    Place(pos, first);
    return Positional(pos + 1, rest...);
  }
  void Place(int, const Symbol& symbol) { PushInput(symbol); }
  void Place(int, const NDArray& ndarray) { PushInput(ndarray); }
  void Place(int, const std::vector<Symbol>& symbols) { PushInput(symbols); }
  void Place(int, const std::vector<NDArray>& arrays) { PushInput(arrays); }
  template <typename T>
  void Place(int pos, const T& value) {
    SetParam(pos, value);
  }

  Signature ReadSignature() const;
  std::string ArgumentName(int pos) const;
  Texts ParamTexts(size_t inputs);
  std::vector<NDArrayHandle> OrderedArrays() const;
  std::vector<NDArray> InvokeInto(const std::vector<NDArrayHandle>& outputs);

  std::string op_name_;
  std::map<std::string, std::string> params_;
  std::vector<std::string> input_keys_;
  std::vector<Symbol> symbols_;
  std::vector<NDArray> arrays_;
};

inline Operator::Signature Operator::ReadSignature() const {
  OpHandle op = nullptr;
  front_end::Check(NNGetOpHandle(op_name_.c_str(), &op));
  const char *name = nullptr, *description = nullptr, *count_key = nullptr;
  const char **names = nullptr, **types = nullptr, **descriptions = nullptr;
  mx_uint count = 0;
  front_end::Check(MXSymbolGetAtomicSymbolInfo(op, &name, &description, &count, &names, &types, &descriptions, &count_key));
  Signature signature;
  signature.arguments.assign(names, names + count);
  if (count_key != nullptr) signature.count_key = count_key;
  return signature;
}
inline std::string Operator::ArgumentName(int pos) const {
  const std::vector<std::string> names = ReadSignature().arguments;
  MXNET_CPP_NEED(pos >= 0 && static_cast<size_t>(pos) < names.size())
      << "[Operator] " << op_name_ << " has no argument number " << pos << "; accepted: 0 to " << names.size() - 1;
  return names[static_cast<size_t>(pos)];
}
inline Operator::Texts Operator::ParamTexts(size_t inputs) {
  const std::string count_key = ReadSignature().count_key;
  if (!count_key.empty() && params_.count(count_key) == 0) SetParam(count_key, static_cast<int>(inputs));
  Texts texts;
  for (const auto& param : params_) {
    texts.keys.push_back(param.first.c_str());
    texts.values.push_back(param.second.c_str());
  }
  return texts;
}
inline Symbol Operator::CreateSymbol(const std::string& name) {
  std::vector<SymbolHandle> handles;
  std::vector<const char*> keys;
  for (const Symbol& symbol : symbols_) handles.push_back(symbol.GetHandle());
  while (!handles.empty() && handles.back() == nullptr) handles.pop_back();
  // By name only if every input has one.
  if (input_keys_.size() == symbols_.size()) {
    for (const std::string& key : input_keys_) keys.push_back(key.c_str());
  }
  const Texts texts = ParamTexts(handles.size());
  return front_end::Compose(op_name_, name, keys, handles, texts.keys, texts.values);
}
inline std::vector<NDArrayHandle> Operator::OrderedArrays() const {
  std::vector<NDArrayHandle> handles;
  if (input_keys_.size() == arrays_.size()) {
    for (const std::string& argument : ReadSignature().arguments) {
      for (size_t i = 0; i < arrays_.size(); ++i) {
        if (input_keys_[i] == argument) handles.push_back(arrays_[i].GetHandle());
      }
    }
    if (handles.size() == arrays_.size()) return handles;
    handles.clear();
  }
  for (const NDArray& array : arrays_) handles.push_back(array.GetHandle());
  return handles;
}
inline std::vector<NDArray> Operator::InvokeInto(const std::vector<NDArrayHandle>& outputs) {
  const std::vector<NDArrayHandle> inputs = OrderedArrays();
  const Texts texts = ParamTexts(inputs.size());
  const std::vector<NDArrayHandle> handles = front_end::Invoke(op_name_, inputs, texts.keys, texts.values, outputs);
  std::vector<NDArray> arrays;
  if (outputs.empty()) {
    for (NDArrayHandle handle : handles) arrays.push_back(NDArray(handle));
  }
  return arrays;
}
inline std::vector<NDArray> Operator::Invoke() { return InvokeInto({}); }
inline void Operator::Invoke(NDArray& output) { InvokeInto({output.GetHandle()}); }
inline void Operator::Invoke(std::vector<NDArray>& outputs) {
  std::vector<NDArrayHandle> handles;
  for (NDArray& output : outputs) handles.push_back(output.GetHandle());
  std::vector<NDArray> made = InvokeInto(handles);
  if (outputs.empty()) outputs.swap(made);
}

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_OPERATOR_H_
