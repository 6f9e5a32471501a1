/* Learning rates that change as training goes on. */
#ifndef MXNET_CPP_LR_SCHEDULER_H_
#define MXNET_CPP_LR_SCHEDULER_H_

#include <algorithm>

#include "mxnet-cpp/base.h"

namespace mxnet {
namespace cpp {

class LRScheduler {
 public:
  explicit LRScheduler(float base_lr = 0.01f) : base_lr_(base_lr) {}
  virtual ~LRScheduler() {}
  void SetLR(const float lr) { base_lr_ = lr; }
  /* The rate for update number num_update, which grows from call to call. */
  virtual float GetLR(unsigned num_update) = 0;

 protected:
  float base_lr_;
};

/* Multiplies the rate by `factor` after every `step` updates, down to stop_factor_lr. */
class FactorScheduler : public LRScheduler {
 public:
  explicit FactorScheduler(int step, float factor = 1, float stop_factor_lr = 1e-8f)
      : step_(step), factor_(factor), stop_factor_lr_(stop_factor_lr) {
    MXNET_CPP_NEED(step >= 1) << "[FactorScheduler] got step " << step << "; accepted: 1 or more";
    MXNET_CPP_NEED(factor <= 1) << "[FactorScheduler] got factor " << factor << "; accepted: at most 1, so that the rate does not grow";
  }
  float GetLR(unsigned num_update) override {
    while (num_update > count_ + static_cast<unsigned>(step_)) {
      count_ += static_cast<unsigned>(step_);
      base_lr_ = std::max(base_lr_ * factor_, stop_factor_lr_);
    }
    return base_lr_;
  }

 private:
  int step_;
  float factor_;
  float stop_factor_lr_;
  unsigned count_ = 0;
};

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_LR_SCHEDULER_H_
