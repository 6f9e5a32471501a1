// Convolutions of VGG-16, ResNet-50, AlexNet and Inception-v3: oneDNN's direct kernels against
// Winograd with 4, 6 and 8 points (methods 2, 4 and 6), alternating.
//   ./dev bench winograd [batch=1] [rounds=15] [forward|data|weight] [only: part of a layer's name]
// GFLOP/s are those of the direct method. Times are the least of the rounds; `ratio` is the median
// over pairs of neighbouring runs, in brackets by CPU time of all threads, which other programs on
// the machine disturb less.
#include "operator/nn/cpu_gemm/winograd.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "operator/nn/cpu_gemm/packed.h"

using namespace mxnet;      // NOLINT
using namespace mxnet::nn;  // NOLINT

namespace {

struct Layer {
  const char* name;
  int64_t size, channels, filters, times, window_h = 3, window_w = 3;
};

const Layer kLayers[] = {
    {"vgg conv1_2", 224, 64, 64, 1},          {"vgg conv2_1", 112, 64, 128, 1},        {"vgg conv2_2", 112, 128, 128, 1},
    {"vgg conv3_1", 56, 128, 256, 1},         {"vgg conv3_2,3", 56, 256, 256, 2},      {"vgg conv4_1", 28, 256, 512, 1},
    {"vgg conv4_2,3", 28, 512, 512, 2},       {"vgg conv5", 14, 512, 512, 3},          {"resnet stage1", 56, 64, 64, 3},
    {"resnet stage2", 28, 128, 128, 4},       {"resnet stage3", 14, 256, 256, 6},      {"resnet stage4", 7, 512, 512, 3},
    {"alexnet conv2", 27, 64, 192, 1, 5, 5},  {"inception 5x5", 35, 48, 64, 3, 5, 5},  {"inception 1x7", 17, 192, 192, 8, 1, 7},
    {"inception 7x1", 17, 160, 160, 8, 7, 1}, {"inception 1x3", 8, 384, 384, 4, 1, 3}, {"inception 3x1", 8, 384, 384, 4, 3, 1},
};

struct Times {
  double wall, cpu;
};

double Clock(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <typename F>
Times Timed(F&& f) {
  const double cpu = Clock(CLOCK_PROCESS_CPUTIME_ID), wall = Clock(CLOCK_MONOTONIC);
  f();
  return {Clock(CLOCK_MONOTONIC) - wall, Clock(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Workspace {
  std::vector<std::pair<std::unique_ptr<char[]>, size_t>> blocks;
  size_t next = 0;
  void* Get(size_t bytes) {
    if (next == blocks.size()) blocks.emplace_back();
    auto& b = blocks[next++];
    if (b.second < bytes) b = {std::unique_ptr<char[]>(new char[bytes + 64]), bytes};
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(b.first.get()) + 63) & ~uintptr_t{63});
  }
};

std::vector<float> Filled(int64_t n) {
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i) v[i] = static_cast<float>(i * 37 % 101 - 50) * 0.01f;
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 1;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  const std::string pass = argc > 3 ? argv[3] : "forward", only = argc > 4 ? argv[4] : "";
  auto hook = ActiveHooks().convolution;
  if (!hook) return std::puts("winograd: this build has no oneDNN to compare with"), 0;
  double direct_total = 0, best_total = 0;
  for (const Layer& layer : kLayers) {
    if (std::string(layer.name).find(only) == std::string::npos) continue;
    ConvCall call;
    ConvDims& d = call.dims;
    d.batch = batch, d.channels = layer.channels, d.filters = layer.filters;
    d.in[1] = d.in[2] = d.out[1] = d.out[2] = layer.size;
    d.kernel[1] = layer.window_h, d.kernel[2] = layer.window_w, d.pad[1] = layer.window_h / 2, d.pad[2] = layer.window_w / 2;
    std::vector<float> src = Filled(batch * d.channels * d.InSize()), dst = Filled(batch * d.filters * d.OutSize()),
                       weight = Filled(d.channels * d.filters * d.KernelSize()), bias = Filled(d.filters);
    call.pass = pass == "forward" ? ConvPass::kForward : pass == "data" ? ConvPass::kBackwardData : ConvPass::kBackwardWeights;
    call.src = {src.data(), true}, call.dst = {dst.data(), true}, call.weight = {weight.data(), false};
    if (call.pass == ConvPass::kForward) call.bias = bias.data();
    call.weight_input = 0;
    const bool kept = call.pass == ConvPass::kForward;  // inference transforms weights once, training for every call
    Workspace work;
    KernelArgs args;
    std::shared_ptr<OpState> state;
    const uint64_t version = 1;
    args.state = &state;
    args.is_train = !kept;
    args.in_versions = Span<const uint64_t>(&version, 1);
    args.workspace = [&work](size_t bytes) { return work.Get(bytes); };
    const auto direct = [&] {
      work.next = 0;
      hook(args, call);
    };
    const double flops = 2.0 * batch * d.channels * d.filters * d.OutSize() * d.KernelSize();
    direct();
    std::printf("%-15s", layer.name);
    double best = 1e30, direct_best = 1e30;
    for (int m : {2, 4, 6}) {
      WinogradDims w;
      WinogradFilter f;
      if (!WinogradDimsOf(call, m, &w, &f)) continue;
      if (kept) WinogradKeepCompact(3, &w);
      std::vector<float> kept_u(WinogradWeightSize(w) + 16);
      float* aligned = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(kept_u.data()) + 63) & ~uintptr_t{63});
      const bool forward = call.pass == ConvPass::kForward;
      WinogradEpilogue e;
      e.bias = static_cast<const float*>(call.bias);
      const auto ours = [&](bool transform) {
        work.next = 0;
        if (transform) WinogradTransformWeights(w, f, aligned);
        WinogradRun(w, forward ? src.data() : dst.data(), aligned, e, forward ? dst.data() : src.data(), args.workspace);
      };
      ours(true);
      std::vector<double> wall, cpu;
      Times a_least{1e30, 1e30}, b_least{1e30, 1e30};
      for (int r = 0; r < rounds; ++r) {
        const Times a = Timed(direct), b = Timed([&] { ours(!kept); });
        wall.push_back(a.wall / b.wall), cpu.push_back(a.cpu / b.cpu);
        a_least = {std::min(a_least.wall, a.wall), std::min(a_least.cpu, a.cpu)};
        b_least = {std::min(b_least.wall, b.wall), std::min(b_least.cpu, b.cpu)};
      }
      direct_best = std::min(direct_best, a_least.wall), best = std::min(best, b_least.wall);
      std::printf("  F%d %8.3f -> %7.3f ms %4.0f -> %4.0f GFLOP/s %.2f (%.2f)", m, a_least.wall * 1e3, b_least.wall * 1e3,
                  flops / a_least.wall * 1e-9, flops / b_least.wall * 1e-9, Median(wall), Median(cpu));
      std::fflush(stdout);
    }
    std::printf("  rule %d, measured %d\n", static_cast<int>(MethodByRule(call, kept)), static_cast<int>(MethodByMeasurement(call, kept)));
    direct_total += layer.times * direct_best, best_total += layer.times * std::min(best, direct_best);
  }
  std::printf("all: %.2f ms direct, %.2f ms with the best of both, ratio %.2f\n", direct_total * 1e3, best_total * 1e3,
              direct_total / best_total);
  return 0;
}
