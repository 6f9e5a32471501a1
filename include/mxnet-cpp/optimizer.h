/*
 * Rules by which gradients change weights. One optimizer keeps the states of many weights, told
 * apart by an index:
 *
 *   std::unique_ptr<Optimizer> opt(OptimizerRegistry::Find("sgd"));
 *   opt->SetParam("lr", 0.1)->SetParam("wd", 1e-4)->SetParam("rescale_grad", 1.0 / batch_size);
 *   opt->Update(i, weight, gradient);
 */
#ifndef MXNET_CPP_OPTIMIZER_H_
#define MXNET_CPP_OPTIMIZER_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet-cpp/executor.h"
#include "mxnet-cpp/lr_scheduler.h"

namespace mxnet {
namespace cpp {

class Optimizer {
 public:
  /* begin_num_update: how many updates came before, for training that goes on. */
  explicit Optimizer(unsigned begin_num_update = 0) : begin_num_update_(begin_num_update), num_update_(begin_num_update) {
    params_["lr"] = "0.01";
    params_["wd"] = "0";
  }
  virtual ~Optimizer() {}
  virtual std::string GetType() const = 0;
  /* "lr", "wd", and what the update operator of the rule takes, such as "rescale_grad" or
   * "clip_gradient". */
  template <typename T>
  Optimizer* SetParam(const std::string& name, const T& value) {
    params_[name] = front_end::ParamText(value);
    return this;
  }
  /* The scheduler begins at the rate that is set now. */
  Optimizer* SetLRScheduler(std::unique_ptr<LRScheduler> lr_scheduler) {
    MXNET_CPP_NEED(lr_scheduler != nullptr) << "[Optimizer::SetLRScheduler] got a null pointer";
    lr_scheduler_ = std::move(lr_scheduler);
    lr_scheduler_->SetLR(Number("lr", 0));
    return this;
  }
  /* One step for the weight with this index. */
  virtual void Update(int index, NDArray weight, NDArray grad) = 0;
  /* The same with this learning rate and weight decay, from now on. */
  void Update(int index, NDArray weight, NDArray grad, mx_float lr, mx_float wd) {
    SetParam("lr", lr);
    SetParam("wd", wd);
    Update(index, weight, grad);
  }
  /* Name and parameters, one "key=value" each line, as servers of parameters read them. */
  std::string Serialize() const {
    std::string text = "opt_type=" + GetType();
    for (const auto& param : params_) text += "\n" + param.first + "=" + param.second;
    return text;
  }
  /* Makes the state that the rule keeps for a weight. Update does it by itself. */
  void CreateState(int index, NDArray weight) { CreateState_(index, weight); }

 protected:
  virtual void CreateState_(int, NDArray) {}

  /* All parameters, for the update operator of a program's own optimizer. */
  std::vector<const char*> GetParamKeys_() const {
    std::vector<const char*> keys;
    for (const auto& param : params_) keys.push_back(param.first.c_str());
    return keys;
  }
  std::vector<const char*> GetParamValues_() const {
    std::vector<const char*> values;
    for (const auto& param : params_) values.push_back(param.second.c_str());
    return values;
  }
  /* The value of a parameter, or what holds without it. */
  float Number(const std::string& name, float otherwise) const {
    const auto found = params_.find(name);
    if (found == params_.end()) return otherwise;
    std::istringstream text(found->second);
    text.imbue(std::locale::classic());
    float value = otherwise;
    text >> value;
    MXNET_CPP_NEED(!text.fail()) << "[" << GetType() << "] got " << name << "='" << found->second << "'; accepted: a number";
    return value;
  }
  unsigned UpdateCount_(int index) {
    const auto added = count_.emplace(index, begin_num_update_);
    num_update_ = std::max(num_update_, ++added.first->second);
    return added.first->second;
  }
  float GetLR_(int) const { return lr_scheduler_ ? lr_scheduler_->GetLR(num_update_) : Number("lr", 0); }
  float GetWD_(int) const { return Number("wd", 0); }
  static NDArray ZerosLike(const NDArray& array) {
    NDArray zeros(array.GetShape(), array.GetContext(), false, array.GetDType());
    zeros = 0;
    return zeros;
  }
  /* The gradient as rescale_grad and clip_gradient want it. */
  NDArray Prepared(const NDArray& grad) const {
    NDArray result = grad * Number("rescale_grad", 1);
    const float clip = Number("clip_gradient", -1);
    if (clip >= 0) {
      const std::string low = front_end::ParamText(-clip), high = front_end::ParamText(clip);
      front_end::Invoke("clip", {result.GetHandle()}, {"a_min", "a_max"}, {low.c_str(), high.c_str()}, {result.GetHandle()});
    }
    return result;
  }
  /* Runs an update operator, which writes the weight. All parameters go to it, with `lr` in place
   * of the one that is set. */
  void Step(const char* op, const std::vector<NDArray>& inputs, float lr) {
    const std::string lr_text = front_end::ParamText(lr);
    const std::vector<const char*> keys = GetParamKeys_();
    std::vector<const char*> values = GetParamValues_();
    values[static_cast<size_t>(std::distance(params_.begin(), params_.find("lr")))] = lr_text.c_str();
    front_end::Invoke(op, front_end::HandlesOf(inputs), keys, values, {inputs[0].GetHandle()});
  }
  /* The state number `which` of a weight, made when it is first asked for. */
  NDArray& State(int index, size_t which, const NDArray& weight) {
    std::vector<NDArray>& states = states_[index];
    while (states.size() <= which) states.push_back(ZerosLike(weight));
    return states[which];
  }

  std::map<std::string, std::string> params_;
  std::map<int, std::vector<NDArray>> states_;
  std::map<int, unsigned> count_;
  unsigned begin_num_update_, num_update_;
  std::unique_ptr<LRScheduler> lr_scheduler_;
};

/* Stochastic gradient descent; with the parameter "momentum", with that. */
class SGDOptimizer : public Optimizer {
 public:
  explicit SGDOptimizer(unsigned begin_num_update = 0) : Optimizer(begin_num_update) {}
  std::string GetType() const override { return "sgd"; }
  using Optimizer::Update;
  void Update(int index, NDArray weight, NDArray grad) override {
    UpdateCount_(index);
    if (params_.count("momentum") == 0) {
      Step("sgd_update", {weight, grad}, GetLR_(index));
    } else {
      Step("sgd_mom_update", {weight, grad, State(index, 0, weight)}, GetLR_(index));
    }
  }

 protected:
  void CreateState_(int index, NDArray weight) override {
    if (params_.count("momentum") != 0) State(index, 0, weight);
  }
};

/* Steps of equal size by the sign of the gradient, or of its momentum (Bernstein et al., ICML
 * 2018). */
class SignumOptimizer : public Optimizer {
 public:
  explicit SignumOptimizer(unsigned begin_num_update = 0) : Optimizer(begin_num_update) {}
  std::string GetType() const override { return "signum"; }
  using Optimizer::Update;
  void Update(int index, NDArray weight, NDArray grad) override {
    UpdateCount_(index);
    if (params_.count("momentum") == 0) {
      Step("signsgd_update", {weight, grad}, GetLR_(index));
    } else {
      Step("signum_update", {weight, grad, State(index, 0, weight)}, GetLR_(index));
    }
  }

 protected:
  void CreateState_(int index, NDArray weight) override {
    if (params_.count("momentum") != 0) State(index, 0, weight);
  }
};

/* RMSProp in the centred form (Graves, arXiv:1308.0850). */
class RMSPropOptimizer : public Optimizer {
 public:
  explicit RMSPropOptimizer(unsigned begin_num_update = 0) : Optimizer(begin_num_update) {
    SetParam("gamma1", 0.9f);
    SetParam("gamma2", 0.9f);
    SetParam("epsilon", 1e-8f);
  }
  std::string GetType() const override { return "rmsprop"; }
  using Optimizer::Update;
  void Update(int index, NDArray weight, NDArray grad) override {
    CreateState_(index, weight);
    UpdateCount_(index);
    const std::vector<NDArray>& states = states_[index];
    Step("rmspropalex_update", {weight, grad, states[0], states[1], states[2]}, GetLR_(index));
  }

 protected:
  void CreateState_(int index, NDArray weight) override { State(index, 2, weight); }
};

/* Adam (Kingma and Ba, ICLR 2015), with the correction of the first steps. */
class AdamOptimizer : public Optimizer {
 public:
  explicit AdamOptimizer(unsigned begin_num_update = 0) : Optimizer(begin_num_update) {
    SetParam("beta1", 0.9f);
    SetParam("beta2", 0.999f);
    SetParam("epsilon", 1e-8f);
  }
  std::string GetType() const override { return "adam"; }
  using Optimizer::Update;
  void Update(int index, NDArray weight, NDArray grad) override {
    CreateState_(index, weight);
    const double count = UpdateCount_(index);
    const double first = 1 - std::pow(double(Number("beta1", 0.9f)), count), second = 1 - std::pow(double(Number("beta2", 0.999f)), count);
    const float lr = static_cast<float>(GetLR_(index) * std::sqrt(second) / first);
    const std::vector<NDArray>& states = states_[index];
    Step("adam_update", {weight, grad, states[0], states[1]}, lr);
  }

 protected:
  void CreateState_(int index, NDArray weight) override { State(index, 1, weight); }
};

/* AdaGrad (Duchi, Hazan and Singer, JMLR 2011). */
class AdaGradOptimizer : public Optimizer {
 public:
  explicit AdaGradOptimizer(unsigned begin_num_update = 0) : Optimizer(begin_num_update) { SetParam("eps", 1e-7f); }
  std::string GetType() const override { return "adagrad"; }
  using Optimizer::Update;
  void Update(int index, NDArray weight, NDArray grad) override {
    UpdateCount_(index);
    NDArray& history = State(index, 0, weight);
    const NDArray step = Prepared(grad);
    history += step * step;
    const NDArray root(front_end::Invoke("sqrt", {(history + Number("eps", 1e-7f)).GetHandle()}, {}, {})[0]);
    weight -= (step / root + weight * GetWD_(index)) * GetLR_(index);
  }

 protected:
  void CreateState_(int index, NDArray weight) override { State(index, 0, weight); }
};

/* AdaDelta (Zeiler, arXiv:1212.5701). It has no learning rate. */
class AdaDeltaOptimizer : public Optimizer {
 public:
  explicit AdaDeltaOptimizer(unsigned begin_num_update = 0) : Optimizer(begin_num_update) {
    SetParam("rho", 0.90f);
    SetParam("epsilon", 1e-5f);
  }
  std::string GetType() const override { return "adadelta"; }
  using Optimizer::Update;
  void Update(int index, NDArray weight, NDArray grad) override {
    UpdateCount_(index);
    CreateState_(index, weight);
    NDArray &squares = states_[index][0], &changes = states_[index][1];
    const float rho = Number("rho", 0.9f), epsilon = Number("epsilon", 1e-5f);
    const NDArray step = Prepared(grad);
    squares *= rho;
    squares += step * step * (1 - rho);
    const NDArray ratio = (changes + epsilon) / (squares + epsilon);
    const NDArray change = NDArray(front_end::Invoke("sqrt", {ratio.GetHandle()}, {}, {})[0]) * step;
    changes *= rho;
    changes += change * change * (1 - rho);
    weight -= change + weight * GetWD_(index);
  }

 protected:
  void CreateState_(int index, NDArray weight) override { State(index, 1, weight); }
};

inline void Executor::UpdateAll(Optimizer* opt, float lr, float wd, int arg_update_begin, int arg_update_end) {
  const int end = arg_update_end < 0 ? static_cast<int>(arg_arrays.size()) - 1 : arg_update_end;
  for (int i = arg_update_begin; i < end; ++i) {
    const size_t at = static_cast<size_t>(i);
    opt->Update(i, arg_arrays.at(at), grad_arrays.at(at), lr, wd);
  }
}

typedef std::function<Optimizer*()> OptimizerCreator;

/* Optimizers by name: sgd, ccsgd (the same), signum, rmsprop, adam, adagrad, adadelta, and a
 * program's own. */
class OptimizerRegistry {
 public:
  /* A new optimizer, which the caller deletes. Throws Error for a name that nobody registered. */
  static Optimizer* Find(const std::string& name) {
    const auto found = Creators().find(name);
    std::string names;
    for (const auto& entry : Creators()) names += (names.empty() ? "" : ", ") + entry.first;
    MXNET_CPP_NEED(found != Creators().end()) << "[OptimizerRegistry] got '" << name << "'; accepted: " << names;
    return found->second();
  }
  /* The optimizer that Serialize has written. The caller deletes it. */
  static Optimizer* FromText(const std::string& text) {
    std::istringstream lines(text);
    std::map<std::string, std::string> params;
    for (std::string line; std::getline(lines, line);) {
      const size_t at = line.find('=');
      MXNET_CPP_NEED(at != std::string::npos) << "[OptimizerRegistry] got the line '" << line << "'; accepted: key=value";
      params[line.substr(0, at)] = line.substr(at + 1);
    }
    Optimizer* optimizer = Find(params["opt_type"]);
    params.erase("opt_type");
    for (const auto& param : params) optimizer->SetParam(param.first, param.second);
    return optimizer;
  }
  static int __REGISTER__(const std::string& name, OptimizerCreator creator) {
    const bool is_new = Creators().emplace(name, std::move(creator)).second;
    MXNET_CPP_NEED(is_new) << "[OptimizerRegistry] '" << name << "' is registered already";
    return 0;
  }

 private:
  template <typename T>
  static Optimizer* New() {
    return new T();
  }
  static std::map<std::string, OptimizerCreator>& Creators() {
    static std::map<std::string, OptimizerCreator> creators = {{"sgd", &New<SGDOptimizer>},          {"ccsgd", &New<SGDOptimizer>},
                                                               {"signum", &New<SignumOptimizer>},    {"rmsprop", &New<RMSPropOptimizer>},
                                                               {"adam", &New<AdamOptimizer>},        {"adagrad", &New<AdaGradOptimizer>},
                                                               {"adadelta", &New<AdaDeltaOptimizer>}};
    return creators;
  }
};

/* For a program's own class, at namespace scope. */
#define MXNETCPP_REGISTER_OPTIMIZER(Name, OptimizerType)               \
  static const int mxnetcpp_optimizer_##Name __attribute__((unused)) = \
      ::mxnet::cpp::OptimizerRegistry::__REGISTER__(#Name, []() -> ::mxnet::cpp::Optimizer* { return new OptimizerType(); })

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_OPTIMIZER_H_
