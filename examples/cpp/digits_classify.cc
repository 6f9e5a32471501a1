/*
 * Classifies the held-out digits with what Python exported, through the C predict interface.
 *
 *   digits_classify digits-symbol.json digits-0000.params digits-test.params
 *
 * Prints the confusion matrix and latency percentiles of single images; exits with 1 when any
 * answer differs from Python's.
 */
#include <mxnet/c_predict_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void Check(int status, const char* what) {
  if (status != 0) throw std::runtime_error(std::string(what) + ": " + MXGetLastError());
}

std::string ReadFile(const char* path) {
  std::ifstream f(path, std::ios::binary);
  if (!f) throw std::runtime_error(std::string("cannot read ") + path);
  return std::string(std::istreambuf_iterator<char>(f), {});
}

struct Tensor {
  std::vector<float> values;
  std::vector<uint32_t> shape;
};

Tensor Find(NDListHandle list, uint32_t count, const std::string& name) {
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    const float* data = nullptr;
    const uint32_t* shape = nullptr;
    uint32_t ndim = 0;
    Check(MXNDListGet(list, i, &key, &data, &shape, &ndim), "MXNDListGet");
    if (name != key) continue;
    Tensor t;
    t.shape.assign(shape, shape + ndim);
    size_t n = 1;
    for (uint32_t d : t.shape) n *= d;
    t.values.assign(data, data + n);
    return t;
  }
  throw std::runtime_error("the test file has no array " + name);
}

int Run(char** argv, bool gpu) {
  constexpr int kClasses = 10;
  const std::string symbol = ReadFile(argv[1]), parameters = ReadFile(argv[2]), test = ReadFile(argv[3]);

  NDListHandle list = nullptr;
  uint32_t count = 0;
  Check(MXNDListCreate(test.data(), static_cast<int>(test.size()), &list, &count), "MXNDListCreate");
  const Tensor images = Find(list, count, "images"), labels = Find(list, count, "labels"), python = Find(list, count, "python");
  Check(MXNDListFree(list), "MXNDListFree");

  const char* inputs[] = {"data"};
  const uint32_t index[] = {0, 4};
  const uint32_t shape[] = {1, images.shape[1], images.shape[2], images.shape[3]};
  PredictorHandle predictor = nullptr;
  Check(MXPredCreate(symbol.c_str(), parameters.data(), static_cast<int>(parameters.size()), gpu ? 2 : 1, 0, 1, inputs, index, shape,
                     &predictor),
        "MXPredCreate");

  const uint32_t pixels = shape[1] * shape[2] * shape[3];
  std::vector<std::vector<int>> confusion(kClasses, std::vector<int>(kClasses, 0));
  std::vector<double> microseconds;
  int right = 0, disagree = 0;
  for (uint32_t i = 0; i < images.shape[0]; ++i) {
    float scores[kClasses];
    const auto begin = std::chrono::steady_clock::now();
    Check(MXPredSetInput(predictor, "data", images.values.data() + size_t{i} * pixels, pixels), "MXPredSetInput");
    Check(MXPredForward(predictor), "MXPredForward");
    Check(MXPredGetOutput(predictor, 0, scores, kClasses), "MXPredGetOutput");
    microseconds.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    const int answer = static_cast<int>(std::max_element(scores, scores + kClasses) - scores);
    const int label = static_cast<int>(labels.values[i]);
    ++confusion.at(label).at(answer);
    right += answer == label;
    disagree += answer != static_cast<int>(python.values[i]);
  }
  Check(MXPredFree(predictor), "MXPredFree");

  std::printf("confusion matrix (rows: label, columns: answer)\n    ");
  for (int c = 0; c < kClasses; ++c) std::printf("%4d", c);
  std::printf("\n");
  for (int r = 0; r < kClasses; ++r) {
    std::printf("%4d", r);
    for (int c = 0; c < kClasses; ++c) std::printf("%4d", confusion[r][c]);
    std::printf("\n");
  }
  std::sort(microseconds.begin(), microseconds.end());
  auto percentile = [&](double p) { return microseconds[std::min(microseconds.size() - 1, static_cast<size_t>(p * microseconds.size()))]; };
  std::printf("accuracy %.4f on %u images; latency of one image: p50 %.1f us, p90 %.1f us, p99 %.1f us\n",
              right / static_cast<double>(images.shape[0]), images.shape[0], percentile(0.50), percentile(0.90), percentile(0.99));
  std::printf("C++ and Python %s\n",
              disagree == 0 ? "agree on every image" : ("DISAGREE on " + std::to_string(disagree) + " images").c_str());
  return disagree == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool gpu = argc == 5 && std::string(argv[4]) == "--gpu";
  if (argc != 4 && !gpu) {
    std::fprintf(stderr, "usage: %s SYMBOL.json MODEL.params TEST.params [--gpu]\n", argv[0]);
    return 2;
  }
  try {
    return Run(argv, gpu);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 2;
  }
}
