// User-defined functions and operators with callbacks over the C ABI.
#include "mxnet/c_api_custom.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <utility>

#include "c_api/c_api_common.h"
#include "c_api/callbacks.h"
#include "imperative/custom_function.h"
#include "mxnet/op.h"
#include "operator/custom/custom.h"
#include "operator/custom/worker_threads.h"

using namespace mxnet;  // NOLINT

namespace {

class CallbackFunction : public CustomFunction {
 public:
  explicit CallbackFunction(const MXCallbackList& list)
      : callbacks_(list.callbacks, list.callbacks + list.num_callbacks), contexts_(list.contexts, list.contexts + list.num_callbacks) {}
  ~CallbackFunction() override {
    if (callbacks_.size() <= kCustomFunctionDelete) return;
    const auto callback = As<CustomFunctionDelFunc>(callbacks_[kCustomFunctionDelete]);
    Freeing("autograd.Function", [&] { callback(contexts_[kCustomFunctionDelete]); });
  }
  void Backward(const std::vector<NDArray*>& ograds, const std::vector<NDArray*>& igrads, bool is_train) override {
    // The callee owns the handles that it gets.
    std::vector<void*> pointers;
    for (NDArray* a : ograds) pointers.push_back(new NDArray(a->Detach()));
    for (NDArray* a : igrads) pointers.push_back(new NDArray(a->Detach()));
    const std::vector<int> reqs(igrads.size(), static_cast<int>(OpReq::kWrite));
    const int ok = As<CustomFunctionBwdFunc>(callbacks_[kCustomFunctionBackward])(
        static_cast<int>(ograds.size()), static_cast<int>(igrads.size()), pointers.data(), reqs.data(), is_train,
        contexts_[kCustomFunctionBackward]);
    MXNET_CHECK(ok) << "[autograd.Function] the backward function failed: " << MXGetLastError();
  }

 private:
  std::vector<int (*)()> callbacks_;
  std::vector<void*> contexts_;
};

/* Callbacks with their contexts. What they belong to is given back on a thread of custom operators:
 * the last user may be an engine's worker, which must not wait for an interpreter. */
class Callbacks {
 public:
  Callbacks(std::string name, const MXCallbackList& list) : name_(std::move(name)) {
    if (list.num_callbacks <= 0 || list.callbacks == nullptr || list.contexts == nullptr) return;
    callbacks_.assign(list.callbacks, list.callbacks + list.num_callbacks);
    contexts_.assign(list.contexts, list.contexts + list.num_callbacks);
  }
  ~Callbacks() {
    constexpr size_t kDelete = 0;
    static_assert(kDelete == kCustomOpDelete && kDelete == kCustomOpPropDelete, "one place for both");
    if (!Has(kDelete)) return;
    const auto callback = As<CustomOpDelFunc>(callbacks_[kDelete]);
    try {
      custom::SubmitLater([callback, context = contexts_[kDelete]] { Freeing("CustomOp", [&] { callback(context); }); });
    } catch (const std::exception&) {  // not given back
    }
  }
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  bool Has(size_t which) const { return which < callbacks_.size() && callbacks_[which] != nullptr; }
  template <typename Fn, typename... Args>
  void Call(size_t which, const char* what, Args... args) const {
    MXNET_CHECK_KIND(Has(which), Value) << "[Custom] operator " << name_ << " gave no callback for " << what;
    NNAPISetLastError("");
    const auto callback = As<Fn>(callbacks_[which]);
    if (UnlessEnding([&] { return callback(args..., contexts_[which]); })) return;
    const std::string why = MXGetLastError();
    MXNET_THROW(Generic) << "[Custom] " << what << " of operator " << name_ << " failed" << (why.empty() ? "" : ": ") << why;
  }

 private:
  const std::string name_;
  std::vector<int (*)()> callbacks_;
  std::vector<void*> contexts_;
};

class CallbackOperator : public custom::Operator {
 public:
  CallbackOperator(const std::string& name, const MXCallbackList& list) : callbacks_(name, list) {}
  void Run(const custom::Call& call) override {
    const ImperativeScope fresh = ImperativeScope::Mode(false, false);  // this may be a thread of the program
    std::vector<void*> pointers;                                        // the callee owns the handles
    for (const NDArray& a : call.arrays) pointers.push_back(new NDArray(a));
    std::vector<int> tags = call.tags, reqs;
    for (OpReq r : call.reqs) reqs.push_back(static_cast<int>(r == OpReq::kWriteInplace ? OpReq::kWrite : r));
    callbacks_.Call<CustomOpFBFunc>(call.backward ? kCustomOpBackward : kCustomOpForward, call.backward ? "backward" : "forward",
                                    static_cast<int>(pointers.size()), pointers.data(), tags.data(), static_cast<const int*>(reqs.data()),
                                    static_cast<int>(call.is_train));
  }

 private:
  const Callbacks callbacks_;
};

/* Sizes as the C interface has them. */
struct IntShapes {
  explicit IntShapes(const ShapeVector& shapes) {
    for (const Shape& s : shapes) {
      dims.emplace_back();
      for (int i = 0; s.known() && i < s.ndim(); ++i) {
        MXNET_CHECK_KIND(s[i] <= std::numeric_limits<int>::max(), Value)
            << "[Custom] an array of shape " << s << "; accepted: sizes below 2^31";
        dims.back().push_back(static_cast<int>(s[i]));
      }
      ndims.push_back(static_cast<int>(dims.back().size()));
    }
    for (auto& d : dims) pointers.push_back(d.data());
  }
  std::vector<std::vector<int>> dims;
  std::vector<int> ndims;
  std::vector<int*> pointers;
};

/* The question before and its answer, which passes over a graph ask for again and again. No more
 * than one: the class may remember for create_operator what it was asked last. */
template <typename T>
class LastAnswer {
 public:
  template <typename Ask>
  void Get(std::vector<T>* values, const Ask& ask) {
    const std::shared_ptr<const Pair> last = std::atomic_load(&last_);
    if (last && last->question == *values) {
      *values = last->answer;
      return;
    }
    std::vector<T> question = *values;
    ask();
    std::atomic_store(&last_, std::shared_ptr<const Pair>(new Pair{std::move(question), *values}));
  }

 private:
  struct Pair {
    std::vector<T> question, answer;
  };
  std::shared_ptr<const Pair> last_;
};

class CallbackProp : public custom::Prop {
 public:
  CallbackProp(const std::string& name, const MXCallbackList& list) : callbacks_(name, list) {
    op_type = name;
    arguments = List(kCustomOpPropListArguments, "list_arguments");
    outputs = List(kCustomOpPropListOutputs, "list_outputs");
    states = List(kCustomOpPropListAuxiliaryStates, "list_auxiliary_states");
    MXNET_CHECK_KIND(!outputs.empty(), Value) << "[Custom] list_outputs of operator " << name << " is empty; accepted: one name or more";
    Dependencies();
  }

  void InferShape(ShapeVector* shapes) const override {
    last_shapes_.Get(shapes, [&] { AskShapes(shapes); });
  }

  void InferType(std::vector<int>* types) const override {
    last_types_.Get(types, [&] { AskTypes(types); });
  }

  bool TakesSparse() const override { return callbacks_.Has(kCustomOpPropInferStorageType); }

  void InferStorage(std::vector<int>* storages) const override {
    last_storages_.Get(storages, [&] {
      callbacks_.Call<CustomOpInferStorageTypeFunc>(kCustomOpPropInferStorageType, "infer_storage_type", static_cast<int>(storages->size()),
                                                    storages->data());
    });
  }

  void InferBackwardStorage(std::vector<int>* storages, const std::vector<int>& tags) const override {
    last_backward_storages_.Get(storages, [&] { AskBackwardStorages(storages, tags); });
  }

  std::shared_ptr<custom::Operator> Create(Context ctx, const ShapeVector& shapes, const std::vector<int>& types) const override {
    IntShapes given(shapes);
    std::ostringstream name;
    name << ctx;
    MXCallbackList list = {0, nullptr, nullptr};
    callbacks_.Call<CustomOpCreateFunc>(kCustomOpPropCreateOperator, "create_operator", name.str().c_str(), static_cast<int>(shapes.size()),
                                        reinterpret_cast<unsigned**>(given.pointers.data()), static_cast<const int*>(given.ndims.data()),
                                        types.data(), &list);
    return std::make_shared<CallbackOperator>(op_type, list);
  }

 private:
  void AskShapes(ShapeVector* shapes) const {
    IntShapes given(*shapes);
    callbacks_.Call<CustomOpInferShapeFunc>(kCustomOpPropInferShape, "infer_shape", static_cast<int>(shapes->size()), given.ndims.data(),
                                            given.pointers.data());
    for (size_t i = 0; i < shapes->size(); ++i) {
      const int ndim = given.ndims[i];
      // No dimensions mean "not known" where nothing was known before; a number has none.
      if (ndim < 0 || (ndim == 0 && i < arguments.size())) continue;
      Need(ndim, given.pointers[i], "the dimensions of a shape");
      Shape s(std::vector<int64_t>(given.pointers[i], given.pointers[i] + ndim));
      MXNET_CHECK_KIND(s.known(), Value) << "[Custom] infer_shape of operator " << op_type << " gave " << s << "; accepted: sizes >= 0";
      (*shapes)[i] = s;
    }
  }

  void AskTypes(std::vector<int>* types) const {
    if (!callbacks_.Has(kCustomOpPropInferType)) {
      const auto known = std::find_if(types->begin(), types->begin() + num_in(), [](int t) { return t != kDTypeUnknown; });
      const int type = num_in() == 0 || known == types->begin() + num_in() ? int{kFloat32} : *known;
      std::fill(types->begin() + num_in(), types->end(), type);
      return;
    }
    callbacks_.Call<CustomOpInferTypeFunc>(kCustomOpPropInferType, "infer_type", static_cast<int>(types->size()), types->data());
    for (int t : *types)
      MXNET_CHECK_KIND(t >= -1 && t < kNumDTypes, Type) << "[Custom] infer_type of operator " << op_type << " gave the dtype number " << t;
  }

  void AskBackwardStorages(std::vector<int>* storages, const std::vector<int>& tags) const {
    if (!callbacks_.Has(kCustomOpPropBackwardInferStorageType)) {
      for (size_t i = 0; i < tags.size(); ++i)
        if (tags[i] == custom::kInputGrad) (*storages)[i] = static_cast<int>(StorageType::kDense);
      return;
    }
    std::vector<int> copy = tags;
    callbacks_.Call<CustomOpBackwardInferStorageTypeFunc>(kCustomOpPropBackwardInferStorageType, "infer_storage_type_backward",
                                                          static_cast<int>(storages->size()), storages->data(), copy.data());
  }

  std::vector<std::string> List(size_t which, const char* what) const {
    char** names = nullptr;
    callbacks_.Call<CustomOpListFunc>(which, what, &names);
    std::vector<std::string> list;
    for (; names && *names; ++names) list.emplace_back(*names);
    return list;
  }

  void Dependencies() {
    std::vector<int> ids[3];
    int next = 0;
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < (k == 1 ? num_in() : num_out()); ++i) ids[k].push_back(next++);
    if (!callbacks_.Has(kCustomOpPropDeclareBackwardDependency)) {
      for (int i = 0; i < next; ++i) dependencies.push_back(i);
      return;
    }
    int count = 0;
    int* wanted = nullptr;
    callbacks_.Call<CustomOpBwdDepFunc>(kCustomOpPropDeclareBackwardDependency, "declare_backward_dependency",
                                        static_cast<const int*>(ids[0].data()), static_cast<const int*>(ids[1].data()),
                                        static_cast<const int*>(ids[2].data()), &count, &wanted);
    Need(count, wanted, "backward dependencies");
    dependencies.assign(wanted, wanted + count);
    std::sort(dependencies.begin(), dependencies.end());
    dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
    MXNET_CHECK_KIND(dependencies.empty() || (dependencies.front() >= 0 && dependencies.back() < next), Value)
        << "[Custom] declare_backward_dependency of operator " << op_type << " gave something else than what it was given";
  }

  const Callbacks callbacks_;
  mutable LastAnswer<Shape> last_shapes_;
  mutable LastAnswer<int> last_types_, last_storages_, last_backward_storages_;
};

std::shared_ptr<const custom::Prop> MakeProp(CustomOpPropCreator creator, const std::string& op_type, const AttrDict& arguments) {
  std::vector<const char*> keys, values;
  for (const auto& kv : arguments) keys.push_back(kv.first.c_str()), values.push_back(kv.second.c_str());
  MXCallbackList list = {0, nullptr, nullptr};
  NNAPISetLastError("");
  if (!UnlessEnding([&] { return creator(op_type.c_str(), static_cast<int>(keys.size()), keys.data(), values.data(), &list); })) {
    const std::string why = MXGetLastError();
    MXNET_THROW(Generic) << "[Custom] operator " << op_type << " cannot be made" << (why.empty() ? "" : ": ") << why;
  }
  return std::make_shared<CallbackProp>(op_type, list);
}

}  // namespace

int MXCustomOpRegister(const char* op_type, CustomOpPropCreator creator) {
  API_BEGIN();
  MXNET_CHECK_KIND(creator != nullptr, Value) << "[Custom] the creator is null; accepted: a function";
  custom::Register(Text(op_type, "op_type"),
                   [creator](const std::string& name, const AttrDict& arguments) { return MakeProp(creator, name, arguments); });
  API_END();
}

int MXCustomFunctionRecord(int num_inputs, NDArrayHandle* inputs, int num_outputs, NDArrayHandle* outputs, MXCallbackList* callbacks) {
  API_BEGIN();
  MXNET_CHECK_KIND(callbacks && callbacks->num_callbacks > kCustomFunctionBackward, Value)
      << "[autograd.Function] got no backward callback";
  Need(callbacks->num_callbacks, callbacks->callbacks, "callbacks");
  Need(callbacks->num_callbacks, callbacks->contexts, "callbacks' contexts");
  RecordCustomFunction(std::make_shared<CallbackFunction>(*callbacks), AsNDArrays(inputs, num_inputs), AsNDArrays(outputs, num_outputs));
  API_END();
}
