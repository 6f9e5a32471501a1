/*
 * A network of two layers, by hand: arrays, SimpleBind, and plain gradient descent.
 *
 *   mlp [STEPS]
 *
 * It learns which of four rings a point lies in, which no straight line tells. The points are made
 * here. Exits with 1 if fewer than 95 of 100 new points are told right.
 */
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mxnet-cpp/MxNetCpp.h"

using namespace mxnet::cpp;

namespace {

const int kBatch = 100, kRings = 4, kHidden = 64;

Symbol Network() {
  Symbol data = Symbol::Variable("data"), label = Symbol::Variable("label");
  Symbol hidden = FullyConnected("fc1", data, Symbol("fc1_w"), Symbol("fc1_b"), kHidden);
  Symbol scores = FullyConnected("fc2", Activation("act", hidden, ActivationActType::kTanh), Symbol("fc2_w"), Symbol("fc2_b"), kRings);
  return SoftmaxOutput("softmax", scores, label);
}

/* Points at random angles, at distances around 1, 2, 3 and 4. */
void MakePoints(std::mt19937* random, std::vector<mx_float>* points, std::vector<mx_float>* rings) {
  std::uniform_real_distribution<float> angle(0, 6.2831853f), width(-0.25f, 0.25f);
  points->clear();
  rings->clear();
  for (int i = 0; i < kBatch; ++i) {
    const float a = angle(*random), r = static_cast<float>(1 + i % kRings) + width(*random);
    points->push_back(r * std::cos(a));
    points->push_back(r * std::sin(a));
    rings->push_back(static_cast<mx_float>(i % kRings));
  }
}

int Train(int steps) {
  const Context ctx = Context::cpu();
  Symbol net = Network();
  std::map<std::string, NDArray> args;
  args["data"] = NDArray(Shape(kBatch, 2), ctx);
  args["label"] = NDArray(Shape(kBatch), ctx);
  net.InferArgsMap(ctx, &args, args);
  for (auto& arg : args) {
    if (arg.first.compare(0, 2, "fc") == 0) NDArray::SampleUniform(-0.5f, 0.5f, &arg.second);
  }
  std::unique_ptr<Executor> exec(net.SimpleBind(ctx, args));
  std::map<std::string, NDArray> grads = exec->grad_dict();

  std::mt19937 random(1);
  std::vector<mx_float> points, rings;
  const float rate = 0.3f / kBatch;  // the loss is summed over the batch
  for (int step = 0; step < steps; ++step) {
    MakePoints(&random, &points, &rings);
    args["data"].SyncCopyFromCPU(points);
    args["label"].SyncCopyFromCPU(rings);
    exec->Forward(true);
    exec->Backward();
    for (auto& arg : args) {
      if (arg.first != "data" && arg.first != "label") arg.second -= grads[arg.first] * rate;
    }
  }

  MakePoints(&random, &points, &rings);
  args["data"].SyncCopyFromCPU(points);
  args["label"].SyncCopyFromCPU(rings);
  exec->Forward(false);
  Accuracy accuracy;
  accuracy.Update(args["label"], exec->outputs[0]);
  std::cout << "accuracy of new points after " << steps << " steps: " << accuracy.Get() << std::endl;
  return accuracy.Get() >= 0.95f ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 2;
  MX_TRY
  MXRandomSeed(1);
  status = Train(argc > 1 ? std::atoi(argv[1]) : 3000);
  MX_CATCH
  return status;
}
