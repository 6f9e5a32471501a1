/* How good predictions are, over as many batches as are given to Update. */
#ifndef MXNET_CPP_METRIC_H_
#define MXNET_CPP_METRIC_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mxnet-cpp/ndarray.h"

namespace mxnet {
namespace cpp {

class EvalMetric {
 public:
  explicit EvalMetric(const std::string& name, int num = 0) : name(name), num(num) {}
  virtual ~EvalMetric() {}
  virtual void Update(NDArray labels, NDArray preds) = 0;
  void Reset() {
    num_inst = 0;
    sum_metric = 0.0f;
  }
  /* The mean so far; not a number before the first Update. */
  float Get() const { return num_inst > 0 ? sum_metric / static_cast<float>(num_inst) : std::numeric_limits<float>::quiet_NaN(); }
  std::string GetName() const { return name; }

 protected:
  static std::vector<mx_float> Values(const NDArray& array) {
    NDArray copy = array;
    std::vector<mx_float> values;
    copy.SyncCopyToCPU(&values);
    return values;
  }
  /* Labels and predictions of equal size. */
  static void ReadPairs(const char* what, const NDArray& labels, const NDArray& preds, std::vector<mx_float>* label_values,
                        std::vector<mx_float>* pred_values) {
    *label_values = Values(labels);
    *pred_values = Values(preds);
    MXNET_CPP_NEED(label_values->size() == pred_values->size()) << "[" << what << "] got " << label_values->size() << " labels and "
                                                                << pred_values->size() << " predictions; accepted: equally many";
  }
  /* The mean over one batch of what `term` says of a label and a prediction. */
  template <typename Term>
  static float BatchMean(const char* what, const NDArray& labels, const NDArray& preds, Term term) {
    std::vector<mx_float> label, pred;
    ReadPairs(what, labels, preds, &label, &pred);
    double sum = 0;
    for (size_t i = 0; i < label.size(); ++i) sum += term(label[i], pred[i]);
    return static_cast<float>(sum / static_cast<double>(std::max<size_t>(label.size(), 1)));
  }
  void Add(float value) {
    sum_metric += value;
    ++num_inst;
  }

  std::string name;
  int num;
  float sum_metric = 0.0f;
  int num_inst = 0;
};

/* Share of rows whose largest prediction is at the label. */
class Accuracy : public EvalMetric {
 public:
  Accuracy() : EvalMetric("accuracy") {}
  void Update(NDArray labels, NDArray preds) override {
    const std::vector<mx_uint> shape = labels.GetShape();
    MXNET_CPP_NEED(shape.size() == 1) << "[Accuracy] got labels of shape " << Shape(shape) << "; accepted: one axis";
    const std::vector<mx_float> label = Values(labels), pred = Values(preds.ArgmaxChannel());
    MXNET_CPP_NEED(label.size() == pred.size()) << "[Accuracy] got " << label.size() << " labels for " << pred.size() << " rows";
    for (size_t i = 0; i < label.size(); ++i) Add(static_cast<int64_t>(label[i]) == static_cast<int64_t>(pred[i]) ? 1.f : 0.f);
  }
};

/* Mean of -log of the probability that each row gives its label. */
class LogLoss : public EvalMetric {
 public:
  LogLoss() : EvalMetric("logloss") {}
  void Update(NDArray labels, NDArray preds) override {
    static const float kEpsilon = 1e-15f;
    const std::vector<mx_uint> shape = preds.GetShape();
    MXNET_CPP_NEED(shape.size() == 2) << "[LogLoss] got predictions of shape " << Shape(shape) << "; accepted: rows and classes";
    const std::vector<mx_float> label = Values(labels), pred = Values(preds);
    MXNET_CPP_NEED(label.size() == shape[0]) << "[LogLoss] got " << label.size() << " labels for " << shape[0] << " rows";
    for (size_t i = 0; i < label.size(); ++i) {
      MXNET_CPP_NEED(label[i] >= 0 && label[i] < static_cast<float>(shape[1]))
          << "[LogLoss] got the label " << label[i] << "; accepted: 0 to " << shape[1] - 1;
      Add(-std::log(std::max(pred[i * shape[1] + static_cast<size_t>(label[i])], kEpsilon)));
    }
  }
};

/* Means over batches: of the absolute difference, of the squared one, and of its root. */
class MAE : public EvalMetric {
 public:
  MAE() : EvalMetric("mae") {}
  void Update(NDArray labels, NDArray preds) override {
    Add(BatchMean("MAE", labels, preds, [](float label, float pred) { return std::fabs(label - pred); }));
  }
};
class MSE : public EvalMetric {
 public:
  MSE() : EvalMetric("mse") {}
  void Update(NDArray labels, NDArray preds) override {
    Add(BatchMean("MSE", labels, preds, [](float label, float pred) { return (label - pred) * (label - pred); }));
  }
};
class RMSE : public EvalMetric {
 public:
  RMSE() : EvalMetric("rmse") {}
  void Update(NDArray labels, NDArray preds) override {
    Add(std::sqrt(BatchMean("RMSE", labels, preds, [](float label, float pred) { return (label - pred) * (label - pred); })));
  }
};

/* Peak signal-to-noise ratio in decibels, of values between 0 and 255. */
class PSNR : public EvalMetric {
 public:
  PSNR() : EvalMetric("psnr") {}
  void Update(NDArray labels, NDArray preds) override {
    const float error = BatchMean("PSNR", labels, preds, [](float label, float pred) { return (label - pred) * (label - pred); });
    Add(10 * std::log10(255.0f * 255.0f / error));
  }
};

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_METRIC_H_
