/*
 * Networks: graphs of operators over named variables. A Symbol is a handle; composing one makes a
 * new graph, and attributes are the only part that can be changed afterwards.
 */
#ifndef MXNET_CPP_SYMBOL_H_
#define MXNET_CPP_SYMBOL_H_

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "mxnet-cpp/ndarray.h"

namespace mxnet {
namespace cpp {

class Executor;

/* Owns a handle. */
struct SymBlob {
  SymBlob() : handle_(nullptr) {}
  explicit SymBlob(SymbolHandle handle) : handle_(handle) {}
  SymBlob(const SymBlob&) = delete;
  SymBlob& operator=(const SymBlob&) = delete;
  ~SymBlob() {
    if (handle_ != nullptr) MXSymbolFree(handle_);
  }
  SymbolHandle handle_;
};

class Symbol {
 public:
  /* No symbol. As an input of an operator: the operator makes a variable of its own, where it needs
   * one. */
  Symbol() {}
  /* Takes the handle over. */
  explicit Symbol(SymbolHandle handle) : blob_(std::make_shared<SymBlob>(handle)) {}
  /* A variable. */
  explicit Symbol(const char* name);
  explicit Symbol(const std::string& name) : Symbol(name.c_str()) {}
  /* An operator by name. Keys may be empty: inputs are then in the operator's order. */
  Symbol(const std::string& operator_name, const std::string& name, std::vector<const char*> input_keys,
         std::vector<SymbolHandle> input_values, std::vector<const char*> config_keys, std::vector<const char*> config_values);
  static Symbol Variable(const std::string& name = "") { return Symbol(name); }
  /* One symbol whose outputs are those of all. */
  static Symbol Group(const std::vector<Symbol>& symbols);
  static Symbol Load(const std::string& file_name);
  static Symbol LoadJSON(const std::string& json_str);
  void Save(const std::string& file_name) const;
  std::string ToJSON() const;

  Symbol operator+(const Symbol& rhs) const;
  Symbol operator-(const Symbol& rhs) const;
  Symbol operator*(const Symbol& rhs) const;
  Symbol operator/(const Symbol& rhs) const;
  Symbol operator%(const Symbol& rhs) const;
  Symbol operator+(mx_float scalar) const;
  Symbol operator-(mx_float scalar) const;
  Symbol operator*(mx_float scalar) const;
  Symbol operator/(mx_float scalar) const;
  Symbol operator%(mx_float scalar) const;
  Symbol Copy() const;
  /* One output, by place or by name. Throws Error if there is none. */
  Symbol operator[](int index) const;
  Symbol operator[](const std::string& index) const;
  /* A group of every output of every node. */
  Symbol GetInternals() const;
  /* Puts symbols in the place of variables, in the order of ListArguments or by name. Returns a new
   * symbol. */
  Symbol operator()(const std::vector<Symbol>& inputs, const std::string& name = "") const;
  Symbol operator()(const std::map<std::string, Symbol>& inputs, const std::string& name = "") const;

  std::vector<std::string> ListArguments() const { return List(&MXSymbolListArguments); }
  std::vector<std::string> ListOutputs() const { return List(&MXSymbolListOutputs); }
  std::vector<std::string> ListAuxiliaryStates() const { return List(&MXSymbolListAuxiliaryStates); }
  /* Attributes of this node alone; of all nodes, as "node$attribute". */
  std::map<std::string, std::string> ListAttributes() const { return Pairs(&MXSymbolListAttrShallow); }
  std::map<std::string, std::string> ListAllAttributes() const { return Pairs(&MXSymbolListAttr); }
  void SetAttribute(const std::string& key, const std::string& value);
  void SetAttributes(const std::map<std::string, std::string>& attrs);
  mx_uint GetNumOutputs() const;
  /* Empty for a group. */
  std::string GetName() const;
  /* The graph as a backend rewrites it (MXGenBackendSubgraph). */
  Symbol GetBackendSymbol(const std::string& backend_name) const;
  SymbolHandle GetHandle() const { return blob_ ? blob_->handle_ : nullptr; }

  /* Shapes of all arguments, auxiliary states and outputs. Throws Error if those given do not
   * determine them. */
  void InferShape(const std::map<std::string, std::vector<mx_uint>>& arg_shapes, std::vector<std::vector<mx_uint>>* in_shape,
                  std::vector<std::vector<mx_uint>>* aux_shape, std::vector<std::vector<mx_uint>>* out_shape) const;
  /* Makes the arguments that known_args lacks, with values of the normal distribution, on
   * `context`. */
  void InferArgsMap(const Context& context, std::map<std::string, NDArray>* args_map,
                    const std::map<std::string, NDArray>& known_args) const;
  /*
   * The lists that Bind takes, in the order of ListArguments and ListAuxiliaryStates. What the maps
   * lack is made: arguments have values of the normal distribution, gradients are zeros, and are
   * written, except for those of names that end in "data" or "label", which are not computed.
   * Auxiliary states whose name ends in "var" are ones, others zeros.
   */
  void InferExecutorArrays(const Context& context, std::vector<NDArray>* arg_arrays, std::vector<NDArray>* grad_arrays,
                           std::vector<OpReqType>* grad_reqs, std::vector<NDArray>* aux_arrays,
                           const std::map<std::string, NDArray>& args_map,
                           const std::map<std::string, NDArray>& arg_grad_store = std::map<std::string, NDArray>(),
                           const std::map<std::string, OpReqType>& grad_req_type = std::map<std::string, OpReqType>(),
                           const std::map<std::string, NDArray>& aux_map = std::map<std::string, NDArray>()) const;
  /* A program to run, which the caller deletes. */
  Executor* SimpleBind(const Context& context, const std::map<std::string, NDArray>& args_map,
                       const std::map<std::string, NDArray>& arg_grad_store = std::map<std::string, NDArray>(),
                       const std::map<std::string, OpReqType>& grad_req_type = std::map<std::string, OpReqType>(),
                       const std::map<std::string, NDArray>& aux_map = std::map<std::string, NDArray>());
  Executor* Bind(const Context& context, const std::vector<NDArray>& arg_arrays, const std::vector<NDArray>& grad_arrays,
                 const std::vector<OpReqType>& grad_reqs, const std::vector<NDArray>& aux_arrays,
                 const std::map<std::string, Context>& group_to_ctx = std::map<std::string, Context>(), Executor* shared_exec = nullptr);

 private:
  typedef int (*Lister)(SymbolHandle, uint32_t*, const char***);
  std::vector<std::string> List(Lister lister) const;
  std::map<std::string, std::string> Pairs(Lister lister) const;

  std::shared_ptr<SymBlob> blob_;
};

namespace front_end {

/* "fullyconnected0" and so on, for operators that were given no name. */
std::string AutoName(const std::string& operator_name);

/* An operator applied to symbols; with no keys, in its own order. */
inline Symbol Compose(const std::string& operator_name, const std::string& name, const std::vector<const char*>& input_keys,
                      const std::vector<SymbolHandle>& inputs, const std::vector<const char*>& keys,
                      const std::vector<const char*>& values) {
  OpHandle creator = nullptr;
  SymbolHandle handle = nullptr;
  Check(NNGetOpHandle(operator_name.c_str(), &creator));
  Check(MXSymbolCreateAtomicSymbol(creator, static_cast<mx_uint>(keys.size()), const_cast<const char**>(keys.data()),
                                   const_cast<const char**>(values.data()), &handle));
  const Symbol symbol(handle);
  const std::string given = name.empty() ? AutoName(operator_name) : name;
  Check(MXSymbolCompose(handle, given.c_str(), static_cast<mx_uint>(inputs.size()),
                        input_keys.empty() ? nullptr : const_cast<const char**>(input_keys.data()),
                        const_cast<SymbolHandle*>(inputs.data())));
  return symbol;
}

inline Symbol SymbolOf(const char* op, const Symbol& lhs, const Symbol& rhs) {
  return Compose(op, "", {}, {lhs.GetHandle(), rhs.GetHandle()}, {}, {});
}
inline Symbol SymbolOf(const char* op, const Symbol& lhs, mx_float scalar) {
  return Compose(op, "", {}, {lhs.GetHandle()}, {"scalar"}, {ParamText(scalar).c_str()});
}

inline bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace front_end
}  // namespace cpp
}  // namespace mxnet

#include "mxnet-cpp/executor.h"  // the bodies of Bind and SimpleBind
#include "mxnet-cpp/symbol_inl.h"

#endif  // MXNET_CPP_SYMBOL_H_
