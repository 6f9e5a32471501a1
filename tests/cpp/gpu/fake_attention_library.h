/* An attention library that computes on host memory with the problem as it is told, reading
 * statistics as cuDNN does, and keeps what it was asked. What it drops is what the operator Dropout
 * would with the same counters. */
#ifndef MXNET_TESTS_CPP_FAKE_ATTENTION_LIBRARY_H_
#define MXNET_TESTS_CPP_FAKE_ATTENTION_LIBRARY_H_

#include <cmath>
#include <vector>

#include "base/device/device_interface.h"
#include "gpu_cases.h"
#include "operator/gpu_library/attention.h"
#include "operator/shared/random_philox.h"

namespace mxnet {

class FakeAttentionLibrary {
 public:
  static std::vector<gpu_library::AttentionProblem>& run() {
    static std::vector<gpu_library::AttentionProblem> list;
    return list;
  }
  static int& asked() {
    static int count = 0;
    return count;
  }
  static bool (*&refuse())(const gpu_library::AttentionProblem&) {
    static bool (*rule)(const gpu_library::AttentionProblem&) = nullptr;
    return rule;
  }
  FakeAttentionLibrary() {
    run().clear();
    asked() = 0;
    refuse() = nullptr;
    before_ = GpuInterface().attention.Set(&kLibrary);
    gpu_library::ForgetAttention();
  }
  ~FakeAttentionLibrary() {
    GpuInterface().attention.Set(before_);
    gpu_library::ForgetAttention();
  }

 private:
  static std::vector<gpu_library::EngineConfig> Candidates(const gpu_library::AttentionProblem& p, int, const RunContext&) {
    ++asked();
    if (refuse() && refuse()(p)) return {};
    gpu_library::EngineConfig first, second;
    first.engine = 1, second.engine = 2;
    return {first, second};
  }
  static bool Prepare(const gpu_library::AttentionProblem&, gpu_library::EngineConfig* config,
                      const RunContext&) {  // the first cannot after all
    config->workspace = 64;
    return config->engine == 2;
  }
  static void Run(const gpu_library::AttentionProblem& p, const gpu_library::EngineConfig& config, const gpu_library::AttentionOperands& o,
                  void* workspace, const RunContext&) {
    run().push_back(p);
    EXPECT_EQ(config.engine, 2);
    EXPECT_NE(workspace, nullptr);
    auto at = [](const gpu_library::AttentionStrides& s, int64_t b, int64_t h, int64_t i, int64_t j) {
      return b * s.example + h * s.head + i * s.row + j;
    };
    auto get = [&p](const void* array, int64_t i) { return ReadElement(array, p.dtype, i); };
    std::vector<double> weights(static_cast<size_t>(p.rows * p.columns)), grads(weights.size());
    const double keep = 1 - static_cast<double>(p.dropout);
    auto factor = [&](int64_t b, int64_t h, int64_t i, int64_t j) {  // of a weight
      if (p.dropout == 0) return 1.0;
      const uint64_t element = static_cast<uint64_t>(((b * p.heads + h) * p.rows + i) * p.columns + j);
      const Philox r(*static_cast<const uint64_t*>(o.seed), *static_cast<const uint64_t*>(o.offset) + element / 4);
      return r.word[element % 4] < static_cast<uint64_t>(keep * 4294967296.0) ? 1 / keep : 0.0;
    };
    float* statistics = static_cast<float*>(o.statistics);
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t h = 0; h < p.heads; ++h) {
        for (int64_t i = 0; i < p.rows; ++i) {
          double* w = &weights[static_cast<size_t>(i * p.columns)];
          double largest = -INFINITY, sum = 0;
          for (int64_t j = 0; j < p.columns; ++j) {
            double s = 0;
            for (int64_t t = 0; t < p.width; ++t) s += get(o.query, at(p.query, b, h, i, t)) * get(o.key, at(p.key, b, h, j, t));
            const int64_t* m = p.mask_dims;
            w[j] = s * static_cast<double>(o.scale);
            if (p.mask)
              w[j] += ReadElement(
                  o.mask, p.mask_dtype,
                  (((m[0] == 1 ? 0 : b) * m[1] + (m[1] == 1 ? 0 : h)) * m[2] + (m[2] == 1 ? 0 : i)) * m[3] + (m[3] == 1 ? 0 : j));
            largest = std::max(largest, w[j]);
          }
          for (int64_t j = 0; j < p.columns; ++j) sum += std::exp(w[j] - largest);
          float* kept = statistics ? &statistics[(b * p.heads + h) * p.rows + i] : nullptr;
          if (kept && !p.backward) *kept = static_cast<float>(largest + std::log(sum));
          for (int64_t j = 0; j < p.columns; ++j)
            w[j] = std::exp(w[j] - (p.backward ? static_cast<double>(*kept) : largest + std::log(sum)));
        }
        if (!p.backward) {
          for (int64_t i = 0; i < p.rows; ++i)
            for (int64_t t = 0; t < p.value_width; ++t) {
              double y = 0;
              for (int64_t j = 0; j < p.columns; ++j)
                y += weights[static_cast<size_t>(i * p.columns + j)] * factor(b, h, i, j) * get(o.value, at(p.value, b, h, j, t));
              WriteElement(o.output, p.dtype, at(p.output, b, h, i, t), y);
            }
          continue;
        }
        for (int64_t i = 0; i < p.rows; ++i) {
          double both = 0;
          for (int64_t t = 0; t < p.value_width; ++t)
            both += get(o.ograd, at(p.output, b, h, i, t)) * get(o.output, at(p.output, b, h, i, t));
          static_cast<float*>(o.sums)[(b * p.heads + h) * p.rows + i] = static_cast<float>(both);
          for (int64_t j = 0; j < p.columns; ++j) {
            double up = 0;
            for (int64_t t = 0; t < p.value_width; ++t)
              up += get(o.ograd, at(p.output, b, h, i, t)) * get(o.value, at(p.value, b, h, j, t));
            grads[static_cast<size_t>(i * p.columns + j)] =
                weights[static_cast<size_t>(i * p.columns + j)] * (up * factor(b, h, i, j) - both) * static_cast<double>(o.scale);
          }
          for (int64_t t = 0; t < p.width; ++t) {
            double g = 0;
            for (int64_t j = 0; j < p.columns; ++j) g += grads[static_cast<size_t>(i * p.columns + j)] * get(o.key, at(p.key, b, h, j, t));
            static_cast<float*>(o.query_sums)[((b * p.heads + h) * p.rows + i) * p.width + t] = static_cast<float>(g);
            WriteElement(o.query_grad, p.dtype, at(p.query, b, h, i, t), g);
          }
        }
        for (int64_t j = 0; j < p.columns; ++j) {
          for (int64_t t = 0; t < p.width; ++t) {
            double g = 0;
            for (int64_t i = 0; i < p.rows; ++i) g += grads[static_cast<size_t>(i * p.columns + j)] * get(o.query, at(p.query, b, h, i, t));
            WriteElement(o.key_grad, p.dtype, at(p.key, b, h, j, t), g);
          }
          for (int64_t t = 0; t < p.value_width; ++t) {
            double g = 0;
            for (int64_t i = 0; i < p.rows; ++i)
              g += weights[static_cast<size_t>(i * p.columns + j)] * factor(b, h, i, j) * get(o.ograd, at(p.output, b, h, i, t));
            WriteElement(o.value_grad, p.dtype, at(p.value, b, h, j, t), g);
          }
        }
      }
  }

  static constexpr gpu_library::AttentionLibrary kLibrary = {Candidates, Prepare, Run};
  const gpu_library::AttentionLibrary* before_;
};

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_FAKE_ATTENTION_LIBRARY_H_
