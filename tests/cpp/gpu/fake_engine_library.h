/* A library of convolution engines that computes on host memory what the problem says, with engines
 * whose properties a test gives. */
#ifndef MXNET_TESTS_CPP_FAKE_ENGINE_LIBRARY_H_
#define MXNET_TESTS_CPP_FAKE_ENGINE_LIBRARY_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/device/device_interface.h"
#include "base/half.h"
#include "operator/gpu_library/convolution.h"

namespace mxnet {

class FakeEngineLibrary {
 public:
  struct State {
    std::vector<gpu_library::EngineConfig> engines;    // what the heuristics name; `workspace` is what `prepare` fills in
    std::map<int64_t, float> times;                    // by engine; none: 1
    std::set<int64_t> unprepared, failing;             // engines that `prepare` refuses, that fail when measured
    std::set<int> refused;                             // dtypes that no engine takes
    bool takes_last = true;                            // problems with channels last have engines
    bool fuses = true;                                 // graphs with something behind the convolution are supported
    std::vector<gpu_library::ConvProblem> asked, run;  // problems of `candidates` and `run`
    std::vector<int> modes;
    std::vector<int64_t> measured, used;  // engines
    std::vector<void*> streams;           // of `run`
  };
  static State& state() {
    static State s;
    return s;
  }
  static gpu_library::EngineConfig Engine(int64_t number, uint32_t notes = 0, size_t workspace = 0) {
    gpu_library::EngineConfig c;
    c.engine = number, c.notes = notes, c.workspace = workspace;
    c.knobs = {{2, number + 10}};
    return c;
  }

  FakeEngineLibrary() {
    state() = State();
    state().engines = {Engine(1)};
    before_ = GpuInterface().convolution.Set(&kLibrary);
    gpu_library::ForgetEngines();
  }
  ~FakeEngineLibrary() {
    GpuInterface().convolution.Set(before_);
    gpu_library::ForgetEngines();
  }

 private:
  static std::vector<gpu_library::EngineConfig> Candidates(const gpu_library::ConvProblem& problem, int mode, const RunContext&) {
    state().asked.push_back(problem);
    state().modes.push_back(mode);
    if (!state().fuses && (problem.addend || problem.bias || problem.relu)) return {};
    if (state().refused.count(problem.dtype) || (problem.channels_last && !state().takes_last)) return {};
    std::vector<gpu_library::EngineConfig> named = state().engines;
    for (auto& c : named) {
      c.plan = std::make_shared<size_t>(c.workspace);
      c.workspace = 0;
    }
    return named;
  }
  static bool Prepare(const gpu_library::ConvProblem&, gpu_library::EngineConfig* c, const RunContext&) {
    c->workspace = *static_cast<size_t*>(c->plan.get());
    return !state().unprepared.count(c->engine);
  }
  static float Time(const gpu_library::ConvProblem& problem, const gpu_library::EngineConfig& c, const gpu_library::ConvOperands& o,
                    void* workspace, const RunContext& run) {
    EXPECT_EQ(workspace != nullptr, c.workspace > 0);
    state().measured.push_back(c.engine);
    if (state().failing.count(c.engine)) return -1;
    Compute(problem, o);
    auto it = state().times.find(c.engine);
    return it == state().times.end() ? 1 : it->second;
  }
  static void Run(const gpu_library::ConvProblem& problem, const gpu_library::EngineConfig& c, const gpu_library::ConvOperands& o,
                  void* workspace, const RunContext& run) {
    EXPECT_EQ(workspace != nullptr, c.workspace > 0);
    state().streams.push_back(run.stream);
    state().run.push_back(problem);
    state().used.push_back(c.engine);
    Compute(problem, o);
  }
  static void Compute(const gpu_library::ConvProblem& problem, const gpu_library::ConvOperands& o) {
    switch (problem.dtype) {
      case kFloat32: return Loops<float>(problem, o);
      case kFloat64: return Loops<double>(problem, o);
      case kFloat16: return Loops<float16>(problem, o);
      default: return Loops<bfloat16>(problem, o);
    }
  }
  template <typename T>
  static void Loops(const gpu_library::ConvProblem& p, const gpu_library::ConvOperands& o) {
    const nn::ConvDims& d = p.dims;
    for (const void* x : {static_cast<const void*>(o.src), static_cast<const void*>(o.weight), static_cast<const void*>(o.dst)})
      EXPECT_EQ(reinterpret_cast<uintptr_t>(x) % p.alignment, 0u);
    const int64_t group_in = d.channels / d.groups, group_out = d.filters / d.groups;
    auto at = [&](int64_t outer, int64_t c, int64_t channels, const int64_t* pos, const int64_t* size) {
      const int64_t inner = (pos[0] * size[1] + pos[1]) * size[2] + pos[2], all = size[0] * size[1] * size[2];
      return p.channels_last ? (outer * all + inner) * channels + c : (outer * channels + c) * all + inner;
    };
    auto number = [](const void* data, int64_t i) { return static_cast<double>(static_cast<const T*>(data)[i]); };
    const int64_t result_size = p.pass == nn::ConvPass::kForward        ? d.batch * d.filters * d.OutSize()
                                : p.pass == nn::ConvPass::kBackwardData ? d.batch * d.channels * d.InSize()
                                                                        : d.filters * group_in * d.KernelSize();
    std::vector<double> result(static_cast<size_t>(result_size), 0.0);
    for (int64_t n = 0; n < d.batch; ++n)
      for (int64_t f = 0; f < d.filters; ++f)
        for (int64_t y = 0; y < d.OutSize(); ++y) {
          const int64_t out[3] = {y / (d.out[1] * d.out[2]), y / d.out[2] % d.out[1], y % d.out[2]};
          for (int64_t k = 0; k < d.KernelSize(); ++k) {
            const int64_t tap[3] = {k / (d.kernel[1] * d.kernel[2]), k / d.kernel[2] % d.kernel[1], k % d.kernel[2]};
            int64_t in[3];
            bool inside = true;
            for (int i = 0; i < 3; ++i) {
              in[i] = out[i] * d.stride[i] - d.pad[i] + tap[i] * d.dilate[i];
              inside = inside && in[i] >= 0 && in[i] < d.in[i];
            }
            for (int64_t c = 0; inside && c < group_in; ++c) {
              const int64_t s = at(n, f / group_out * group_in + c, d.channels, in, d.in), w = at(f, c, group_in, tap, d.kernel),
                            t = at(n, f, d.filters, out, d.out);
              if (p.pass == nn::ConvPass::kForward)
                result[t] += number(o.src, s) * number(o.weight, w);
              else if (p.pass == nn::ConvPass::kBackwardData)
                result[s] += number(o.dst, t) * number(o.weight, w);
              else
                result[w] += number(o.dst, t) * number(o.src, s);
            }
          }
        }
    void* to = p.pass == nn::ConvPass::kForward ? o.dst : p.pass == nn::ConvPass::kBackwardData ? o.src : o.weight;
    for (int64_t i = 0; i < result_size; ++i) {
      double v = result[i];
      if (p.addend) v += number(o.addend, i);
      if (p.bias) {
        const int64_t c = p.channels_last ? i % d.filters : i / d.OutSize() % d.filters;
        v += p.bias_dtype == p.dtype ? number(o.bias, c) : static_cast<double>(static_cast<const float*>(o.bias)[c]);
      }
      if (p.relu) v = std::max(v, 0.0);
      static_cast<T*>(to)[i] = T(v);
    }
  }

  static constexpr gpu_library::EngineLibrary kLibrary = {Candidates, Prepare, Time, Run};
  const gpu_library::EngineLibrary* before_;
};

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_FAKE_ENGINE_LIBRARY_H_
