// User-defined functions with callbacks over the C ABI.
#include "c_api/c_api_common.h"
#include "imperative/custom_function.h"

using namespace mxnet;  // NOLINT

namespace {

class CallbackFunction : public CustomFunction {
 public:
  explicit CallbackFunction(const MXCallbackList& list)
      : callbacks_(list.callbacks, list.callbacks + list.num_callbacks), contexts_(list.contexts, list.contexts + list.num_callbacks) {}
  ~CallbackFunction() override {
    if (callbacks_.size() > kCustomFunctionDelete)
      reinterpret_cast<CustomFunctionDelFunc>(callbacks_[kCustomFunctionDelete])(contexts_[kCustomFunctionDelete]);
  }
  void Backward(const std::vector<NDArray*>& ograds, const std::vector<NDArray*>& igrads, bool is_train) override {
    // The callee owns the handles that it gets.
    std::vector<void*> pointers;
    for (NDArray* a : ograds) pointers.push_back(new NDArray(a->Detach()));
    for (NDArray* a : igrads) pointers.push_back(new NDArray(a->Detach()));
    const std::vector<int> reqs(igrads.size(), static_cast<int>(OpReq::kWrite));
    const int ok = reinterpret_cast<CustomFunctionBwdFunc>(callbacks_[kCustomFunctionBackward])(
        static_cast<int>(ograds.size()), static_cast<int>(igrads.size()), pointers.data(), reqs.data(), is_train,
        contexts_[kCustomFunctionBackward]);
    MXNET_CHECK(ok) << "[autograd.Function] the backward function failed: " << MXGetLastError();
  }

 private:
  std::vector<int (*)()> callbacks_;
  std::vector<void*> contexts_;
};

}  // namespace

int MXCustomFunctionRecord(int num_inputs, NDArrayHandle* inputs, int num_outputs, NDArrayHandle* outputs, MXCallbackList* callbacks) {
  API_BEGIN();
  MXNET_CHECK_KIND(callbacks && callbacks->num_callbacks > kCustomFunctionBackward, Value)
      << "[autograd.Function] got no backward callback";
  Need(callbacks->num_callbacks, callbacks->callbacks, "callbacks");
  Need(callbacks->num_callbacks, callbacks->contexts, "callbacks' contexts");
  RecordCustomFunction(std::make_shared<CallbackFunction>(*callbacks), AsNDArrays(inputs, num_inputs), AsNDArrays(outputs, num_outputs));
  API_END();
}
