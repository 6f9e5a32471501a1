/* Bodies of symbol.h, which includes this file. */
#ifndef MXNET_CPP_SYMBOL_INL_H_
#define MXNET_CPP_SYMBOL_INL_H_

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "mxnet-cpp/symbol.h"

namespace mxnet {
namespace cpp {
namespace front_end {

inline std::string AutoName(const std::string& operator_name) {
  static std::mutex mutex;
  static std::map<std::string, int> counts;
  std::string name = operator_name;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::lock_guard<std::mutex> lock(mutex);
  return name + std::to_string(counts[name]++);
}

/* A handle that a function of the C interface makes out of one symbol. */
template <typename Function>
inline Symbol Derived(Function function, SymbolHandle from) {
  SymbolHandle handle = nullptr;
  Check(function(from, &handle));
  return Symbol(handle);
}

/* Puts a list of shapes, as the C interface hands it out, into vectors. */
inline void TakeShapes(size_t count, const int* ndims, const int64_t** axes, std::vector<std::vector<mx_uint>>* out) {
  out->clear();
  for (size_t i = 0; i < count; ++i) {
    out->push_back(ndims[i] > 0 ? std::vector<mx_uint>(axes[i], axes[i] + ndims[i]) : std::vector<mx_uint>());
  }
}

}  // namespace front_end

inline Symbol::Symbol(const char* name) {
  SymbolHandle handle = nullptr;
  front_end::Check(MXSymbolCreateVariable(name, &handle));
  blob_ = std::make_shared<SymBlob>(handle);
}
inline Symbol::Symbol(const std::string& operator_name, const std::string& name, std::vector<const char*> input_keys,
                      std::vector<SymbolHandle> input_values, std::vector<const char*> config_keys, std::vector<const char*> config_values)
    : Symbol(front_end::Compose(operator_name, name, input_keys, input_values, config_keys, config_values)) {}
inline Symbol Symbol::Group(const std::vector<Symbol>& symbols) {
  std::vector<SymbolHandle> handles;
  for (const Symbol& symbol : symbols) handles.push_back(symbol.GetHandle());
  SymbolHandle handle = nullptr;
  front_end::Check(MXSymbolCreateGroup(static_cast<mx_uint>(handles.size()), handles.data(), &handle));
  return Symbol(handle);
}
inline Symbol Symbol::Load(const std::string& file_name) {
  SymbolHandle handle = nullptr;
  front_end::Check(MXSymbolCreateFromFile(file_name.c_str(), &handle));
  return Symbol(handle);
}
inline Symbol Symbol::LoadJSON(const std::string& json_str) {
  SymbolHandle handle = nullptr;
  front_end::Check(MXSymbolCreateFromJSON(json_str.c_str(), &handle));
  return Symbol(handle);
}
inline void Symbol::Save(const std::string& file_name) const { front_end::Check(MXSymbolSaveToFile(GetHandle(), file_name.c_str())); }
inline std::string Symbol::ToJSON() const {
  const char* json = nullptr;
  front_end::Check(MXSymbolSaveToJSON(GetHandle(), &json));
  return json;
}

#define MXNET_CPP_SYMBOL_OPERATOR(symbol, name)                                                                        \
  inline Symbol Symbol::operator symbol(const Symbol& rhs) const { return front_end::SymbolOf("_" name, *this, rhs); } \
  inline Symbol Symbol::operator symbol(mx_float scalar) const { return front_end::SymbolOf("_" name "_scalar", *this, scalar); }
MXNET_CPP_SYMBOL_OPERATOR(+, "plus")
MXNET_CPP_SYMBOL_OPERATOR(-, "minus")
MXNET_CPP_SYMBOL_OPERATOR(*, "mul")
MXNET_CPP_SYMBOL_OPERATOR(/, "div")
MXNET_CPP_SYMBOL_OPERATOR(%, "mod")
#undef MXNET_CPP_SYMBOL_OPERATOR
inline Symbol operator+(mx_float lhs, const Symbol& rhs) { return rhs + lhs; }
inline Symbol operator*(mx_float lhs, const Symbol& rhs) { return rhs * lhs; }
inline Symbol operator-(mx_float lhs, const Symbol& rhs) { return front_end::SymbolOf("_rminus_scalar", rhs, lhs); }
inline Symbol operator/(mx_float lhs, const Symbol& rhs) { return front_end::SymbolOf("_rdiv_scalar", rhs, lhs); }
inline Symbol operator%(mx_float lhs, const Symbol& rhs) { return front_end::SymbolOf("_rmod_scalar", rhs, lhs); }

inline Symbol Symbol::Copy() const { return front_end::Derived(&MXSymbolCopy, GetHandle()); }
inline Symbol Symbol::GetInternals() const { return front_end::Derived(&MXSymbolGetInternals, GetHandle()); }
inline Symbol Symbol::operator[](int index) const {
  SymbolHandle handle = nullptr;
  front_end::Check(MXSymbolGetOutput(GetHandle(), static_cast<mx_uint>(index), &handle));
  return Symbol(handle);
}
inline Symbol Symbol::operator[](const std::string& index) const {
  const std::vector<std::string> outputs = ListOutputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == index) return (*this)[static_cast<int>(i)];
  }
  std::string names;
  for (const std::string& output : outputs) names += (names.empty() ? "" : ", ") + output;
  throw dmlc::Error("[Symbol] got the output '" + index + "'; accepted: " + names);
}
inline Symbol Symbol::operator()(const std::vector<Symbol>& inputs, const std::string& name) const {
  Symbol copy = Copy();
  std::vector<SymbolHandle> handles;
  for (const Symbol& input : inputs) handles.push_back(input.GetHandle());
  front_end::Check(MXSymbolCompose(copy.GetHandle(), name.c_str(), static_cast<mx_uint>(handles.size()), nullptr, handles.data()));
  return copy;
}
inline Symbol Symbol::operator()(const std::map<std::string, Symbol>& inputs, const std::string& name) const {
  Symbol copy = Copy();
  std::vector<SymbolHandle> handles;
  std::vector<const char*> keys;
  for (const auto& input : inputs) {
    keys.push_back(input.first.c_str());
    handles.push_back(input.second.GetHandle());
  }
  front_end::Check(MXSymbolCompose(copy.GetHandle(), name.c_str(), static_cast<mx_uint>(handles.size()), keys.data(), handles.data()));
  return copy;
}
inline std::vector<std::string> Symbol::List(Lister lister) const {
  uint32_t count = 0;
  const char** texts = nullptr;
  front_end::Check(lister(GetHandle(), &count, &texts));
  return std::vector<std::string>(texts, texts + count);
}
inline std::map<std::string, std::string> Symbol::Pairs(Lister lister) const {
  uint32_t count = 0;
  const char** texts = nullptr;
  front_end::Check(lister(GetHandle(), &count, &texts));
  std::map<std::string, std::string> pairs;
  for (uint32_t i = 0; i < count; ++i) pairs[texts[2 * i]] = texts[2 * i + 1];
  return pairs;
}
inline void Symbol::SetAttribute(const std::string& key, const std::string& value) {
  front_end::Check(MXSymbolSetAttr(GetHandle(), key.c_str(), value.c_str()));
}
inline void Symbol::SetAttributes(const std::map<std::string, std::string>& attrs) {
  for (const auto& entry : attrs) SetAttribute(entry.first, entry.second);
}
inline mx_uint Symbol::GetNumOutputs() const {
  mx_uint count = 0;
  front_end::Check(MXSymbolGetNumOutputs(GetHandle(), &count));
  return count;
}
inline std::string Symbol::GetName() const {
  const char* name = nullptr;
  int success = 0;
  front_end::Check(MXSymbolGetName(GetHandle(), &name, &success));
  return success != 0 && name != nullptr ? name : "";
}
inline Symbol Symbol::GetBackendSymbol(const std::string& backend_name) const {
  SymbolHandle handle = nullptr;
  front_end::Check(MXGenBackendSubgraph(GetHandle(), backend_name.c_str(), &handle));
  return Symbol(handle);
}

inline void Symbol::InferShape(const std::map<std::string, std::vector<mx_uint>>& arg_shapes, std::vector<std::vector<mx_uint>>* in_shape,
                               std::vector<std::vector<mx_uint>>* aux_shape, std::vector<std::vector<mx_uint>>* out_shape) const {
  std::vector<const char*> keys;
  std::vector<int64_t> starts(1, 0), axes;
  for (const auto& entry : arg_shapes) {
    keys.push_back(entry.first.c_str());
    axes.insert(axes.end(), entry.second.begin(), entry.second.end());
    starts.push_back(static_cast<int64_t>(axes.size()));
  }
  axes.push_back(0);  // never null
  size_t counts[3] = {0, 0, 0};
  const int* ndims[3];
  const int64_t** shapes[3];
  int complete = 0;
  front_end::Check(MXSymbolInferShapeEx64(GetHandle(), static_cast<mx_uint>(keys.size()), keys.data(), starts.data(), axes.data(),
                                          &counts[0], &ndims[0], &shapes[0], &counts[1], &ndims[1], &shapes[1], &counts[2], &ndims[2],
                                          &shapes[2], &complete));
  front_end::TakeShapes(counts[0], ndims[0], shapes[0], in_shape);
  if (complete == 0) {
    const std::vector<std::string> names = ListArguments();
    std::string unknown;
    for (size_t i = 0; i < names.size() && i < in_shape->size(); ++i) {
      const std::vector<mx_uint>& shape = (*in_shape)[i];  // 0 and -1 stand for lengths that are not known
      const bool is_known = std::find_if(shape.begin(), shape.end(), [](mx_uint n) { return n == 0 || ~n == 0; }) == shape.end();
      if (shape.empty() || !is_known) unknown += (unknown.empty() ? "" : ", ") + names[i];
    }
    MXNET_CPP_NEED(false) << "[Symbol::InferShape] the shapes given do not determine that of " << unknown;
  }
  front_end::TakeShapes(counts[1], ndims[1], shapes[1], out_shape);
  front_end::TakeShapes(counts[2], ndims[2], shapes[2], aux_shape);
}

namespace front_end {

/* Shapes by argument, out of the arrays that are known. */
inline void InferFromArrays(const Symbol& symbol, const std::map<std::string, NDArray>& known, std::vector<std::vector<mx_uint>>* in_shapes,
                            std::vector<std::vector<mx_uint>>* aux_shapes) {
  std::map<std::string, std::vector<mx_uint>> shapes;
  for (const std::string& name : symbol.ListArguments()) {
    const auto found = known.find(name);
    if (found != known.end()) shapes[name] = found->second.GetShape();
  }
  std::vector<std::vector<mx_uint>> out_shapes;
  symbol.InferShape(shapes, in_shapes, aux_shapes, &out_shapes);
}

inline NDArray RandomArray(const std::vector<mx_uint>& shape, const Context& context) {
  NDArray array(shape, context, false);
  NDArray::SampleGaussian(0, 1, &array);
  return array;
}

inline NDArray FilledArray(const std::vector<mx_uint>& shape, const Context& context, mx_float value) {
  NDArray array(shape, context, false);
  array = value;
  return array;
}

}  // namespace front_end

inline void Symbol::InferArgsMap(const Context& context, std::map<std::string, NDArray>* args_map,
                                 const std::map<std::string, NDArray>& known_args) const {
  std::vector<std::vector<mx_uint>> in_shapes, aux_shapes;
  front_end::InferFromArrays(*this, known_args, &in_shapes, &aux_shapes);
  const std::vector<std::string> names = ListArguments();
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = known_args.find(names[i]);
    if (found == known_args.end()) {
      (*args_map)[names[i]] = front_end::RandomArray(in_shapes[i], context);
    } else if (args_map != &known_args) {
      (*args_map)[names[i]] = found->second;
    }
  }
}

inline void Symbol::InferExecutorArrays(const Context& context, std::vector<NDArray>* arg_arrays, std::vector<NDArray>* grad_arrays,
                                        std::vector<OpReqType>* grad_reqs, std::vector<NDArray>* aux_arrays,
                                        const std::map<std::string, NDArray>& args_map,
                                        const std::map<std::string, NDArray>& arg_grad_store,
                                        const std::map<std::string, OpReqType>& grad_req_type,
                                        const std::map<std::string, NDArray>& aux_map) const {
  std::vector<std::vector<mx_uint>> in_shapes, aux_shapes;
  front_end::InferFromArrays(*this, args_map, &in_shapes, &aux_shapes);
  const std::vector<std::string> names = ListArguments();
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto arg = args_map.find(name);
    arg_arrays->push_back(arg != args_map.end() ? arg->second : front_end::RandomArray(in_shapes[i], context));
    const auto req = grad_req_type.find(name);
    const bool is_input = front_end::EndsWith(name, "data") || front_end::EndsWith(name, "label");
    grad_reqs->push_back(req != grad_req_type.end() ? req->second : is_input ? kNullOp : kWriteTo);
    const auto grad = arg_grad_store.find(name);
    grad_arrays->push_back(grad != arg_grad_store.end() ? grad->second : front_end::FilledArray(in_shapes[i], context, 0));
  }
  const std::vector<std::string> aux_names = ListAuxiliaryStates();
  for (size_t i = 0; i < aux_names.size(); ++i) {
    const auto aux = aux_map.find(aux_names[i]);
    aux_arrays->push_back(aux != aux_map.end()
                              ? aux->second
                              : front_end::FilledArray(aux_shapes[i], context, front_end::EndsWith(aux_names[i], "var") ? 1.f : 0.f));
  }
}

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_SYMBOL_INL_H_
