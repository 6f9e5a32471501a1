/* ONNX models behind a Predictor; included by predictor.hpp. Headers alone, over c_api_onnx.h, in
 * C++11. */
#ifndef MXNET_PREDICTOR_ONNX_HPP_
#define MXNET_PREDICTOR_ONNX_HPP_

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mxnet/c_api_onnx.h"
#include "mxnet/predictor_tensor.hpp"

namespace mxnet {
namespace detail {

/* Thread safety: any number of threads may call one at the same time. */
class OnnxNetwork {
 public:
  OnnxNetwork(const std::string& path, int dev_type, int dev_id, int precision) {
    OnnxModelHandle made = nullptr;
    Check(MXOnnxModelCreate(path.c_str(), dev_type, dev_id, &made));
    model_.reset(made);
    int used = 0;
    if (precision != 0) Check(MXOnnxModelSetPrecision(made, precision, &used));
    Names(MXOnnxModelListInputs, &inputs_, &dtypes_);
    std::map<std::string, int> unused;
    Names(MXOnnxModelListOutputs, &outputs_, &unused);
  }
  OnnxNetwork(const OnnxNetwork&) = delete;
  OnnxNetwork& operator=(const OnnxNetwork&) = delete;

  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }

  std::string Explain(int runs) const {
    const char* text = nullptr;
    Check(MXOnnxModelExplainPlans(model_.get(), runs, &text));
    return text;
  }

  std::vector<Tensor> Run(const std::map<std::string, const Tensor*>& given) const {
    std::vector<const char*> names;
    std::vector<Owner> owners;
    std::vector<void*> values;
    for (const auto& entry : given) {
      names.push_back(entry.first.c_str());
      owners.push_back(ValueOf(entry.first, *entry.second));
      values.push_back(owners.back().get());
    }
    int count = 0;
    OnnxValueHandle* results = nullptr;
    Check(MXOnnxModelRun(model_.get(), static_cast<int>(values.size()), names.data(), values.data(), &count, &results));
    std::vector<Owner> made;
    for (int i = 0; i < count; ++i) made.emplace_back(results[i], MXOnnxValueFree);
    std::vector<Tensor> tensors;
    for (int i = 0; i < count; ++i) tensors.push_back(TensorOf(made[static_cast<size_t>(i)].get(), outputs_[static_cast<size_t>(i)]));
    return tensors;
  }

 private:
  using Owner = std::unique_ptr<void, int (*)(void*)>;

  static void Check(int status) {
    if (status != 0) throw std::runtime_error(MXGetLastError());
  }

  void Names(int (*list)(OnnxModelHandle, int*, const char***, const int**), std::vector<std::string>* names,
             std::map<std::string, int>* dtypes) const {
    int count = 0;
    const char** texts = nullptr;
    const int* kinds = nullptr;
    Check(list(model_.get(), &count, &texts, &kinds));
    for (int i = 0; i < count; ++i) {
      names->push_back(texts[i]);
      (*dtypes)[texts[i]] = kinds[i];
    }
  }

  template <typename T>  // not bool, of which a vector holds no array
  static std::vector<char> Bytes(const std::vector<float>& from, T (*convert)(float)) {
    std::vector<T> to(from.size());
    std::transform(from.begin(), from.end(), to.begin(), convert);
    const char* begin = reinterpret_cast<const char*>(to.data());
    return std::vector<char>(begin, begin + to.size() * sizeof(T));
  }
  template <typename T>
  static T As(float value) {
    return static_cast<T>(value);
  }

  static uint8_t Truth(float value) { return value != 0; }

  /* Numbers of a dtype (base.h), as bytes. */
  static std::vector<char> InDType(const std::vector<float>& x, int dtype, const std::string& name) {
    switch (dtype) {
      case 0: return Bytes<float>(x, As<float>);
      case 1: return Bytes<double>(x, As<double>);
      case 2: return Bytes<uint16_t>(x, ToHalf);
      case 3: return Bytes<uint8_t>(x, As<uint8_t>);
      case 4: return Bytes<int32_t>(x, As<int32_t>);
      case 5: return Bytes<int8_t>(x, As<int8_t>);
      case 6: return Bytes<int64_t>(x, As<int64_t>);
      case 7: return Bytes<uint8_t>(x, Truth);
      default:
        throw std::runtime_error("[Predictor] input " + name + " has dtype number " + std::to_string(dtype) +
                                 "; accepted: floats but bfloat16, bool, uint8, int32, int8 and int64");
    }
  }

  Owner ValueOf(const std::string& name, const Tensor& x) const {
    const auto known = dtypes_.find(name);
    const int dtype = known == dtypes_.end() || known->second < 0 ? 0 : known->second;
    const std::vector<char> bytes = InDType(x.data, dtype, name);
    std::vector<int64_t> shape(x.shape.begin(), x.shape.end());
    void* array = nullptr;
    Check(MXOnnxValueCreateFromBytes(dtype, static_cast<int>(shape.size()), shape.data(), bytes.data(), bytes.size(), &array));
    return Owner(array, MXOnnxValueFree);
  }

  static Tensor TensorOf(OnnxValueHandle value, const std::string& name) {
    int kind = 0;
    Check(MXOnnxValueGetKind(value, &kind));
    if (kind != kMXOnnxTensor)
      throw std::runtime_error("[Predictor] output " + name + " is no tensor of numbers; accepted: those (c_api_onnx.h has the others)");
    int ndim = 0;
    const int64_t* dims = nullptr;
    Check(MXOnnxValueGetShape(value, &ndim, &dims));
    Tensor y(std::vector<uint32_t>(dims, dims + ndim));
    Check(MXOnnxValueCopyFloats(value, y.data.data(), y.data.size()));
    return y;
  }

  Owner model_{nullptr, MXOnnxModelFree};
  std::vector<std::string> inputs_, outputs_;
  std::map<std::string, int> dtypes_;
};

}  // namespace detail
}  // namespace mxnet

#endif  // MXNET_PREDICTOR_ONNX_HPP_
