/*
 * Inference from C++ in five lines; headers alone, over the C interface, in C++11.
 *
 *   mxnet::Predictor predict("m-symbol.json", "m-0000.params");
 *   mxnet::Tensor y = predict(mxnet::Tensor({1, 3, 224, 224}, pixels));
 *
 * The files are those of HybridBlock.export, Module.save_checkpoint and MXNet 1.x, or one ONNX
 * model: mxnet::Predictor predict("m.onnx"). Failures are std::runtime_error with the library's message. See docs/cpp.md.
 */
#ifndef MXNET_PREDICTOR_HPP_
#define MXNET_PREDICTOR_HPP_

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/c_api.h"
#include "mxnet/c_api_process.h"
#include "mxnet/c_predict_api.h"
#include "mxnet/predictor_onnx.hpp"
#include "mxnet/predictor_tensor.hpp"

namespace mxnet {

/*
 * A network with its parameters, compiled for each shape of inputs that it is called with.
 *
 * Thread safety: any number of threads may call one Predictor. `Options::threads` of them compute
 * at the same time; they share the parameters and the compiled plan, and each has memory of its own
 * for what lies between input and output. Others wait.
 *
 * A Predictor is moved, not copied. No call may run while it is moved or destroyed.
 */
class Predictor {
 public:
  enum class Device { kCpu = 1, kGpu = 2 };
  /* Of products in ONNX models: as the file says, or in 16 bits where the device has such products,
   * as in mixed precision. */
  enum class Precision { kAsInFile = 0, kFloat16 = 2, kBfloat16 = 12 };

  struct Options {
    Device device = Device::kCpu;
    int device_id = 0;
    int threads = 1;         // calls that compute at the same time, 1 to 4096
    size_t kept_shapes = 8;  // the plans of this many shapes of inputs are kept, those used last
    Precision precision = Precision::kAsInFile;
  };

  /* Opens both files; throws std::runtime_error if that fails, and for a GPU that is not there. What
   * does not fit together is found by the first call, or by `Prepare`. Parameters are read when they
   * are needed, so their file stays as it is meanwhile; it may be replaced by another of its name. */
  Predictor(const std::string& symbol_file, const std::string& params_file) : Predictor(symbol_file, params_file, Options()) {}
  Predictor(const std::string& symbol_file, const std::string& params_file, const Options& options)
      : Predictor(FromFiles(symbol_file, params_file, options)) {}

  /* An ONNX model. Numbers become the dtypes of its inputs; results are floats. */
  explicit Predictor(const std::string& onnx_file) : Predictor(onnx_file, Options()) {}
  Predictor(const std::string& onnx_file, const Options& options)
      : onnx_(new detail::OnnxNetwork(onnx_file, static_cast<int>(options.device), options.device_id, static_cast<int>(options.precision))) {}

  /* The same from the contents of the files. */
  static Predictor FromMemory(std::string symbol_json, std::string params, const Options& options) {
    return Predictor(std::unique_ptr<State>(new State(std::move(symbol_json), std::move(params), "", options)));
  }

  Predictor(Predictor&&) noexcept = default;
  Predictor& operator=(Predictor&&) noexcept = default;

  /* Names of what a call has to give: arguments without a value in the parameters, apart from
   * labels. */
  const std::vector<std::string>& inputs() const { return onnx_ ? onnx_->inputs() : state_->inputs; }
  /* Names of the results, in their order. */
  const std::vector<std::string>& outputs() const { return onnx_ ? onnx_->outputs() : state_->outputs; }

  /* The first result for a network with one input. Throws std::runtime_error for another number of
   * inputs, and for shapes that do not fit. */
  Tensor operator()(const Tensor& x) const {
    if (inputs().size() != 1)
      throw std::runtime_error("[Predictor] one tensor for a network with the inputs " + Join(inputs()) +
                               "; accepted: a map by these names");
    return std::move(Run({{inputs()[0], &x}})[0]);
  }

  /* All results for inputs by name. */
  std::vector<Tensor> operator()(const std::map<std::string, Tensor>& named) const {
    std::map<std::string, const Tensor*> given;
    for (const auto& entry : named) given[entry.first] = &entry.second;
    return Run(given);
  }

  /* The first results of several samples of one shape, computed as one batch: the samples become
   * the rows of the input, and the rows of the result are what is returned. */
  std::vector<Tensor> Batch(const std::vector<Tensor>& samples) const {
    if (samples.empty()) return {};
    Tensor all;
    all.shape = samples[0].shape;
    all.shape.insert(all.shape.begin(), static_cast<uint32_t>(samples.size()));
    all.data.reserve(Tensor::Count(all.shape));
    for (const Tensor& sample : samples) {
      if (sample.shape != samples[0].shape) throw std::runtime_error("[Predictor] samples of a batch have different shapes");
      all.data.insert(all.data.end(), sample.data.begin(), sample.data.end());
    }
    const Tensor result = (*this)(all);
    if (result.shape.empty() || result.shape[0] != samples.size())
      throw std::runtime_error("[Predictor] the result has not one row for each sample of the batch");
    const std::vector<uint32_t> row(result.shape.begin() + 1, result.shape.end());
    const size_t count = Tensor::Count(row);
    std::vector<Tensor> rows;
    for (size_t i = 0; i < samples.size(); ++i)
      rows.emplace_back(row, std::vector<float>(result.data.begin() + i * count, result.data.begin() + (i + 1) * count));
    return rows;
  }

  /* Compiles for these shapes now, so that the first call is no slower than the others. */
  void Prepare(const std::map<std::string, std::vector<uint32_t>>& shapes) const {
    if (!onnx_) {
      state_->Take(shapes);
      return;
    }
    std::map<std::string, Tensor> zeros;  // where shapes follow from contents, one run tells them
    for (const auto& entry : shapes) zeros[entry.first] = Tensor(entry.second);
    (*this)(zeros);
  }

  /* The compiled plan for these shapes as JSON (docs/explain.md), its nodes timed over `runs` runs:
   * which implementations ran, how long they took and what the machine could do. Of an ONNX model a
   * list of plans, those of the calls so far. */
  std::string Explain(const std::map<std::string, std::vector<uint32_t>>& shapes, int runs = 5) const {
    const char* text = nullptr;
    if (onnx_) {
      Prepare(shapes);
      return onnx_->Explain(runs);
    }
    const Lease lease = state_->Take(shapes);
    Check(MXPredExplain(lease.handle(), runs, &text));
    return text;
  }

 private:
  using Shapes = std::map<std::string, std::vector<uint32_t>>;

  static void Check(int status) {
    if (status != 0) throw std::runtime_error(MXGetLastError());
  }

  static std::string Join(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  static Predictor FromFiles(const std::string& symbol_file, const std::string& params_file, const Options& options) {
    return Predictor(std::unique_ptr<State>(new State(ReadFile(symbol_file), "", params_file, options)));
  }

  static std::string ReadFile(const std::string& path) {
    const char *kind = "", *what = "", *in_python = "", *instead = "";
    Check(MXFileKind(path.c_str(), &kind));
    const std::string found = kind;
    if (!found.empty() && found != "symbol" && found != "json" && found != "text") {
      Check(MXFileKindWords(kind, &what, &in_python, &instead));
      throw std::runtime_error("[Predictor] " + path + " is " + what + ": " + instead + "; accepted here: networks (-symbol.json)");
    }
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file && !file.eof()) throw std::runtime_error("[Predictor] cannot read " + path);
    return text;
  }

  /* Predictors of one shape that nobody uses now. At most `Options::threads`, with those
   * that are leased. */
  struct Plan {
    std::vector<PredictorHandle> idle;
    ~Plan() {
      for (PredictorHandle handle : idle) MXPredFree(handle);
    }
  };

  struct State;

  /* A predictor for one call; goes back at the end. */
  class Lease {
   public:
    Lease(State* state, std::shared_ptr<Plan> plan, PredictorHandle handle) : state_(state), plan_(std::move(plan)), handle_(handle) {}
    Lease(Lease&& other) noexcept : state_(other.state_), plan_(std::move(other.plan_)), handle_(other.handle_) { other.handle_ = nullptr; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      if (handle_ == nullptr) return;
      std::lock_guard<std::mutex> lock(state_->mutex);
      plan_->idle.push_back(handle_);
      state_->returned.notify_all();  // the ones who wait may want different shapes
    }
    PredictorHandle handle() const { return handle_; }

   private:
    State* state_;
    std::shared_ptr<Plan> plan_;
    PredictorHandle handle_;
  };

  struct State {
    const std::string json, params, file;  // the parameters' bytes, or their file
    const Options options;
    std::vector<std::string> inputs, outputs;
    std::map<std::string, int> dtypes;  // of inputs
    std::mutex mutex;
    std::condition_variable returned;
    std::list<std::pair<Shapes, std::shared_ptr<Plan>>> plans;  // the one used last comes first

    State(std::string symbol_json, std::string param_bytes, std::string param_file, const Options& chosen)
        : json(std::move(symbol_json)), params(std::move(param_bytes)), file(std::move(param_file)), options(chosen) {
      if (params.size() > INT32_MAX) throw std::runtime_error("[Predictor] more than 2 GiB of parameters");
      if (options.threads < 1 || options.threads > 4096)
        throw std::runtime_error("[Predictor] threads=" + std::to_string(options.threads) + "; accepted: 1 to 4096");
      if (options.precision != Precision::kAsInFile)
        throw std::runtime_error("[Predictor] precision is accepted with ONNX models; amp.convert_model makes other networks in 16 bits");
      int gpus = 0;
      if (options.device == Device::kGpu && (MXGetGPUCount(&gpus) != 0 || options.device_id < 0 || options.device_id >= gpus))
        throw std::runtime_error("[Predictor] GPU " + std::to_string(options.device_id) + " given; this library finds " +
                                 std::to_string(gpus) + " GPUs. Accepted: Device::kCpu, or a number below that");
      SymbolHandle symbol = nullptr;
      Check(MXSymbolCreateFromJSON(json.c_str(), &symbol));
      const std::unique_ptr<void, int (*)(void*)> owner(symbol, MXSymbolFree);
      const std::map<std::string, int> known = ParameterTypes();
      for (const std::string& name : Names(symbol, MXSymbolListArguments))
        if (!known.count(name) && !IsLabel(name)) inputs.push_back(name);
      outputs = Names(symbol, MXSymbolListOutputs);
      InferInputTypes(symbol, known);
    }

    static bool IsLabel(const std::string& name) { return name.size() >= 5 && name.compare(name.size() - 5, 5, "label") == 0; }

    static std::vector<std::string> Names(SymbolHandle symbol, int (*list)(SymbolHandle, uint32_t*, const char***)) {
      uint32_t count = 0;
      const char** names = nullptr;
      Check(list(symbol, &count, &names));
      return std::vector<std::string>(names, names + count);
    }

    /* Names of the parameters, without "arg:" and "aux:", and their dtypes. */
    std::map<std::string, int> ParameterTypes() const {
      std::map<std::string, int> types;
      if (!file.empty()) {
        uint32_t entries = 0;
        const char** keys_of = nullptr;
        const int* dtypes_of = nullptr;
        Check(MXPredParameterTypes(file.c_str(), &entries, &keys_of, &dtypes_of));
        for (uint32_t i = 0; i < entries; ++i) types[keys_of[i]] = dtypes_of[i];
        return types;
      }
      if (params.empty()) return types;
      uint32_t count = 0, named = 0;
      NDArrayHandle* arrays = nullptr;
      const char** names = nullptr;
      Check(MXNDArrayLoadFromBuffer(params.data(), params.size(), &count, &arrays, &named, &names));
      std::vector<std::unique_ptr<void, int (*)(void*)>> owners;
      for (uint32_t i = 0; i < count; ++i) owners.emplace_back(arrays[i], MXNDArrayFree);
      const std::vector<std::string> keys(names, names + named);
      for (uint32_t i = 0; i < named && i < count; ++i) {
        int dtype = 0;
        Check(MXNDArrayGetDType(owners[i].get(), &dtype));
        const bool prefixed = keys[i].compare(0, 4, "arg:") == 0 || keys[i].compare(0, 4, "aux:") == 0;
        types[prefixed ? keys[i].substr(4) : keys[i]] = dtype;
      }
      return types;
    }

    /* Networks of 16 bits take inputs of 16 bits: asked of the graph, with float32 where it leaves
     * the choice. */
    void InferInputTypes(SymbolHandle symbol, const std::map<std::string, int>& known) {
      std::vector<const char*> keys;
      std::vector<int> given;
      const std::vector<std::string> arguments = Names(symbol, MXSymbolListArguments);
      for (const std::string& name : arguments) {
        const auto entry = known.find(name);
        if (entry == known.end()) continue;
        keys.push_back(name.c_str());
        given.push_back(entry->second);
      }
      uint32_t in = 0, out = 0, aux = 0;
      const int *in_types = nullptr, *out_types = nullptr, *aux_types = nullptr;
      int complete = 0;
      Check(MXSymbolInferTypePartial(symbol, static_cast<uint32_t>(keys.size()), keys.data(), given.data(), &in, &in_types, &out,
                                     &out_types, &aux, &aux_types, &complete));
      for (uint32_t i = 0; i < in && i < arguments.size(); ++i) dtypes[arguments[i]] = in_types[i] < 0 ? 0 : in_types[i];
    }

    /* An idle predictor for these shapes, made if there is none yet. */
    Lease Take(const Shapes& shapes) {
      std::unique_lock<std::mutex> lock(mutex);
      std::shared_ptr<Plan> plan = Find(shapes);
      if (plan == nullptr) {
        plan = Make(shapes);
        plans.emplace_front(shapes, plan);
        while (plans.size() > std::max<size_t>(1, options.kept_shapes)) plans.pop_back();
      }
      returned.wait(lock, [&] { return !plan->idle.empty(); });
      const PredictorHandle handle = plan->idle.back();
      plan->idle.pop_back();
      return Lease(this, plan, handle);
    }

   private:
    std::shared_ptr<Plan> Find(const Shapes& shapes) {
      for (auto it = plans.begin(); it != plans.end(); ++it) {
        if (it->first != shapes) continue;
        plans.splice(plans.begin(), plans, it);
        return it->second;
      }
      return nullptr;
    }

    std::shared_ptr<Plan> Make(const Shapes& shapes) const {
      std::vector<const char*> names;
      std::vector<uint32_t> ends(1, 0), dimensions;
      for (const auto& entry : shapes) {
        names.push_back(entry.first.c_str());
        dimensions.insert(dimensions.end(), entry.second.begin(), entry.second.end());
        ends.push_back(static_cast<uint32_t>(dimensions.size()));
      }
      auto plan = std::make_shared<Plan>();
      std::vector<PredictorHandle> made(static_cast<size_t>(options.threads), nullptr);
      const uint32_t count = static_cast<uint32_t>(names.size());
      const int device = static_cast<int>(options.device);
      if (!file.empty())
        Check(MXPredCreateFromFile(json.c_str(), file.c_str(), device, options.device_id, count, names.data(), ends.data(),
                                   dimensions.data(), options.threads, made.data()));
      else
        Check(MXPredCreateMultiThread(json.c_str(), params.data(), static_cast<int>(params.size()), device, options.device_id, count,
                                      names.data(), ends.data(), dimensions.data(), options.threads, made.data()));
      plan->idle = std::move(made);
      return plan;
    }
  };

  explicit Predictor(std::unique_ptr<State> state) : state_(std::move(state)) {}

  template <typename T>
  static void SetAs(PredictorHandle handle, const std::string& name, const Tensor& x) {
    const std::vector<T> values(x.data.begin(), x.data.end());
    Check(MXPredSetInput(handle, name.c_str(), reinterpret_cast<const float*>(values.data()), static_cast<uint32_t>(values.size())));
  }

  /* Writes an input in the dtype that the network takes. */
  void Set(PredictorHandle handle, const std::string& name, const Tensor& x) const {
    const auto entry = state_->dtypes.find(name);
    switch (entry == state_->dtypes.end() ? 0 : entry->second) {
      case 0: return Check(MXPredSetInput(handle, name.c_str(), x.data.data(), static_cast<uint32_t>(x.size())));
      case 1: return SetAs<double>(handle, name, x);
      case 2: {
        std::vector<uint16_t> values(x.size());
        std::transform(x.data.begin(), x.data.end(), values.begin(), detail::ToHalf);
        return Check(MXPredSetInput(handle, name.c_str(), reinterpret_cast<const float*>(values.data()), static_cast<uint32_t>(x.size())));
      }
      case 3: return SetAs<uint8_t>(handle, name, x);
      case 4: return SetAs<int32_t>(handle, name, x);
      case 5: return SetAs<int8_t>(handle, name, x);
      case 6: return SetAs<int64_t>(handle, name, x);
      default:
        throw std::runtime_error("[Predictor] input " + name + " has dtype number " + std::to_string(entry->second) +
                                 "; accepted: floats but bfloat16, uint8, int32, int8 and int64");
    }
  }

  template <typename T>
  static std::vector<T> Raw(PredictorHandle handle, uint32_t index, size_t count) {
    std::vector<T> values(count);
    Check(MXPredGetOutput(handle, index, reinterpret_cast<float*>(values.data()), static_cast<uint32_t>(count)));
    return values;
  }

  template <typename T>
  static void GetAs(PredictorHandle handle, uint32_t index, Tensor* y) {
    const std::vector<T> values = Raw<T>(handle, index, y->size());
    std::copy(values.begin(), values.end(), y->data.begin());
  }

  /* A result as float32, whatever dtype it has. */
  static Tensor Get(PredictorHandle handle, uint32_t index) {
    uint32_t *dimensions = nullptr, ndim = 0;
    int dtype = 0;
    Check(MXPredGetOutputShape(handle, index, &dimensions, &ndim));
    Tensor y(std::vector<uint32_t>(dimensions, dimensions + ndim));
    Check(MXPredGetOutputType(handle, index, &dtype));
    switch (dtype) {
      case 0: Check(MXPredGetOutput(handle, index, y.data.data(), static_cast<uint32_t>(y.size()))); break;
      case 1: GetAs<double>(handle, index, &y); break;
      case 2: {
        const std::vector<uint16_t> values = Raw<uint16_t>(handle, index, y.size());
        std::transform(values.begin(), values.end(), y.data.begin(), detail::FromHalf);
        break;
      }
      case 3:
      case 7: GetAs<uint8_t>(handle, index, &y); break;
      case 4: GetAs<int32_t>(handle, index, &y); break;
      case 5: GetAs<int8_t>(handle, index, &y); break;
      case 6: GetAs<int64_t>(handle, index, &y); break;
      default: throw std::runtime_error("[Predictor] output " + std::to_string(index) + " has dtype number " + std::to_string(dtype));
    }
    return y;
  }

  std::vector<Tensor> Run(const std::map<std::string, const Tensor*>& given) const {
    Shapes shapes;
    for (const auto& entry : given) {
      if (entry.second->size() != Tensor::Count(entry.second->shape))
        throw std::runtime_error("[Predictor] input " + entry.first + " has not as many values as its shape has places");
      shapes[entry.first] = entry.second->shape;
    }
    if (onnx_) return onnx_->Run(given);
    for (const std::string& name : state_->inputs)
      if (!given.count(name)) throw std::runtime_error("[Predictor] nothing for input " + name + "; accepted: " + Join(state_->inputs));
    const Lease lease = state_->Take(shapes);
    for (const auto& entry : given) Set(lease.handle(), entry.first, *entry.second);
    Check(MXPredForward(lease.handle()));
    std::vector<Tensor> results;
    for (uint32_t i = 0; i < state_->outputs.size(); ++i) results.push_back(Get(lease.handle(), i));
    return results;
  }

  std::unique_ptr<State> state_;  // one of the two
  std::unique_ptr<detail::OnnxNetwork> onnx_;
};

}  // namespace mxnet

#endif  // MXNET_PREDICTOR_HPP_
