/* A network with its arrays: what Symbol::Bind and Symbol::SimpleBind make, ready to run. */
#ifndef MXNET_CPP_EXECUTOR_H_
#define MXNET_CPP_EXECUTOR_H_

#include <map>
#include <string>
#include <vector>

#include "mxnet-cpp/symbol.h"

namespace mxnet {
namespace cpp {

class Optimizer;

class Executor {
 public:
  /* Takes the handle over. The dictionaries know no names then. */
  explicit Executor(const ExecutorHandle& handle) : handle_(handle) { ReadOutputs(); }
  /*
   * Arrays in the order of ListArguments and ListAuxiliaryStates. Variables with the attribute
   * ctx_group live where group_to_ctx says. shared_exec may lend its memory for results between.
   */
  Executor(const Symbol& symbol, Context context, const std::vector<NDArray>& arg_arrays, const std::vector<NDArray>& grad_arrays,
           const std::vector<OpReqType>& grad_reqs, const std::vector<NDArray>& aux_arrays,
           const std::map<std::string, Context>& group_to_ctx = std::map<std::string, Context>(), Executor* shared_exec = nullptr);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() {
    if (handle_ != nullptr) MXExecutorFree(handle_);
  }

  /* Computes `outputs`. is_train: as in training (dropout drops), and so that Backward can
   * follow. */
  void Forward(bool is_train) {
    front_end::Check(MXExecutorForward(handle_, is_train));
    ReadOutputs();
  }
  /* Writes grad_arrays. head_grads: gradients of the outputs; none, where the outputs are
   * losses. */
  void Backward(const std::vector<NDArray>& head_grads = std::vector<NDArray>());
  /* Updates the arguments from number arg_update_begin until before arg_update_end (-1: the last
   * one) by their gradients. */
  void UpdateAll(Optimizer* opt, float lr, float wd, int arg_update_begin = 1, int arg_update_end = -1);
  /* An executor for other shapes of some arguments, which shares the arrays that fit. The caller
   * deletes it. */
  Executor* Reshape(const std::map<std::string, std::vector<mx_uint>>& shapes, bool partial_shaping = false, bool allow_up_sizing = false);
  /* What runs, as text. */
  std::string DebugStr() const;
  Symbol GetOptimizedSymbol() const;
  void SetMonitorCallback(ExecutorMonitorCallback callback, void* callback_handle, bool monitor_all = false) {
    front_end::Check(MXExecutorSetMonitorCallbackEX(handle_, callback, callback_handle, monitor_all));
  }
  ExecutorHandle GetHandle() const { return handle_; }

  std::map<std::string, NDArray> arg_dict() const { return GetDict(symbol_.ListArguments(), arg_arrays); }
  std::map<std::string, NDArray> grad_dict() const { return GetDict(symbol_.ListArguments(), grad_arrays); }
  std::map<std::string, NDArray> aux_dict() const { return GetDict(symbol_.ListAuxiliaryStates(), aux_arrays); }

  std::vector<NDArray> outputs;
  std::vector<NDArray> arg_arrays;
  std::vector<NDArray> grad_arrays;
  std::vector<NDArray> aux_arrays;

 private:
  static std::map<std::string, NDArray> GetDict(const std::vector<std::string>& names, const std::vector<NDArray>& arrays) {
    std::map<std::string, NDArray> dict;
    for (size_t i = 0; i < names.size() && i < arrays.size(); ++i) dict[names[i]] = arrays[i];
    return dict;
  }
  void ReadOutputs();

  ExecutorHandle handle_;
  Symbol symbol_;
  Context context_ = Context::cpu();
};

namespace front_end {

inline std::vector<NDArrayHandle> HandlesOf(const std::vector<NDArray>& arrays) {
  std::vector<NDArrayHandle> handles;
  for (const NDArray& array : arrays) handles.push_back(array.GetHandle());
  return handles;
}

}  // namespace front_end

inline Executor::Executor(const Symbol& symbol, Context context, const std::vector<NDArray>& args, const std::vector<NDArray>& grads,
                          const std::vector<OpReqType>& grad_reqs, const std::vector<NDArray>& auxs,
                          const std::map<std::string, Context>& group_to_ctx, Executor* shared_exec)
    : arg_arrays(args), grad_arrays(grads), aux_arrays(auxs), handle_(nullptr), symbol_(symbol), context_(context) {
  MXNET_CPP_NEED(grads.size() == args.size() && grad_reqs.size() == args.size())
      << "[Executor] got " << args.size() << " arguments, " << grads.size() << " gradients and " << grad_reqs.size()
      << " requests; accepted: equally many";
  std::vector<NDArrayHandle> arg_handles = front_end::HandlesOf(args), grad_handles = front_end::HandlesOf(grads),
                             aux_handles = front_end::HandlesOf(auxs);
  std::vector<mx_uint> reqs(grad_reqs.begin(), grad_reqs.end());
  for (size_t i = 0; i < reqs.size(); ++i) {
    if (grads[i].Size() == 0) grad_handles[i] = nullptr;
  }
  std::vector<const char*> groups;
  std::vector<int> types, ids;
  for (const auto& group : group_to_ctx) {
    groups.push_back(group.first.c_str());
    types.push_back(group.second.GetDeviceType());
    ids.push_back(group.second.GetDeviceId());
  }
  front_end::Check(MXExecutorBindEX(symbol.GetHandle(), context.GetDeviceType(), context.GetDeviceId(), static_cast<mx_uint>(groups.size()),
                                    groups.data(), types.data(), ids.data(), static_cast<mx_uint>(arg_handles.size()), arg_handles.data(),
                                    grad_handles.data(), reqs.data(), static_cast<mx_uint>(aux_handles.size()), aux_handles.data(),
                                    shared_exec != nullptr ? shared_exec->handle_ : nullptr, &handle_));
  ReadOutputs();
}
inline void Executor::ReadOutputs() {
  mx_uint count = 0;
  NDArrayHandle* handles = nullptr;
  front_end::Check(MXExecutorOutputs(handle_, &count, &handles));
  outputs.clear();
  for (mx_uint i = 0; i < count; ++i) outputs.push_back(NDArray(handles[i]));
}
inline void Executor::Backward(const std::vector<NDArray>& head_grads) {
  std::vector<NDArrayHandle> handles = front_end::HandlesOf(head_grads);
  front_end::Check(MXExecutorBackward(handle_, static_cast<mx_uint>(handles.size()), handles.data()));
}
inline Executor* Executor::Reshape(const std::map<std::string, std::vector<mx_uint>>& shapes, bool partial_shaping, bool allow_up_sizing) {
  std::vector<const char*> names;
  std::vector<int> axes;
  std::vector<mx_uint> starts(1, 0);
  for (const auto& entry : shapes) {
    names.push_back(entry.first.c_str());
    axes.insert(axes.end(), entry.second.begin(), entry.second.end());
    starts.push_back(static_cast<mx_uint>(axes.size()));
  }
  axes.push_back(0);  // never null
  mx_uint num_args = 0, num_aux = 0;
  NDArrayHandle *args = nullptr, *grads = nullptr, *auxs = nullptr;
  ExecutorHandle handle = nullptr;
  front_end::Check(MXExecutorReshapeEx(partial_shaping, allow_up_sizing, context_.GetDeviceType(), context_.GetDeviceId(), 0, nullptr,
                                       nullptr, nullptr, static_cast<mx_uint>(names.size()), names.data(), axes.data(), starts.data(),
                                       &num_args, &args, &grads, &num_aux, &auxs, handle_, &handle));
  Executor* executor = new Executor(handle);
  executor->symbol_ = symbol_;
  executor->context_ = context_;
  for (mx_uint i = 0; i < num_args; ++i) {
    executor->arg_arrays.push_back(NDArray(args[i]));
    executor->grad_arrays.push_back(grads[i] != nullptr ? NDArray(grads[i]) : NDArray());
  }
  for (mx_uint i = 0; i < num_aux; ++i) executor->aux_arrays.push_back(NDArray(auxs[i]));
  return executor;
}
inline std::string Executor::DebugStr() const {
  const char* text = nullptr;
  front_end::Check(MXExecutorPrint(handle_, &text));
  return text;
}
inline Symbol Executor::GetOptimizedSymbol() const {
  SymbolHandle handle = nullptr;
  front_end::Check(MXExecutorGetOptimizedSymbol(handle_, &handle));
  return Symbol(handle);
}

inline Executor* Symbol::SimpleBind(const Context& context, const std::map<std::string, NDArray>& args_map,
                                    const std::map<std::string, NDArray>& arg_grad_store,
                                    const std::map<std::string, OpReqType>& grad_req_type, const std::map<std::string, NDArray>& aux_map) {
  std::vector<NDArray> arg_arrays, grad_arrays, aux_arrays;
  std::vector<OpReqType> grad_reqs;
  InferExecutorArrays(context, &arg_arrays, &grad_arrays, &grad_reqs, &aux_arrays, args_map, arg_grad_store, grad_req_type, aux_map);
  return Bind(context, arg_arrays, grad_arrays, grad_reqs, aux_arrays);
}
inline Executor* Symbol::Bind(const Context& context, const std::vector<NDArray>& arg_arrays, const std::vector<NDArray>& grad_arrays,
                              const std::vector<OpReqType>& grad_reqs, const std::vector<NDArray>& aux_arrays,
                              const std::map<std::string, Context>& group_to_ctx, Executor* shared_exec) {
  return new Executor(*this, context, arg_arrays, grad_arrays, grad_reqs, aux_arrays, group_to_ctx, shared_exec);
}

}  // namespace cpp
}  // namespace mxnet

#include "mxnet-cpp/optimizer.h"  // the body of UpdateAll

#endif  // MXNET_CPP_EXECUTOR_H_
