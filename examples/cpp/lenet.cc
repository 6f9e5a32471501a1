/*
 * LeNet on the files of MNIST, with an iterator, an optimizer and a metric.
 *
 *   lenet FOLDER PREFIX [EPOCHS] [--gpu]
 *
 * FOLDER has train-images-idx3-ubyte, train-labels-idx1-ubyte, and the two files t10k-* of the same
 * form. The network is written to PREFIX-symbol.json and PREFIX-0000.params, which Python and the
 * program `inference` read.
 */
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mxnet-cpp/MxNetCpp.h"

using namespace mxnet::cpp;

namespace {

const int kBatch = 50;

Symbol Stage(const std::string& number, Symbol data, int filters) {
  Symbol conv = Convolution("conv" + number, data, Symbol(), Symbol(), Shape(5, 5), filters);
  Symbol act = Activation("act" + number, conv, ActivationActType::kTanh);
  return Pooling("pool" + number, act, Shape(2, 2), PoolingPoolType::kMax, false, false, PoolingPoolingConvention::kValid, Shape(2, 2));
}

Symbol LeNet() {
  Symbol features = Flatten("flatten", Stage("2", Stage("1", Symbol("data"), 8), 16));
  Symbol hidden = Activation("act3", FullyConnected("fc1", features, Symbol(), Symbol(), 64), ActivationActType::kTanh);
  return SoftmaxOutput("softmax", FullyConnected("fc2", hidden, Symbol(), Symbol(), 10), Symbol("softmax_label"));
}

MXDataIter Images(const std::string& folder, const std::string& part, bool is_training) {
  return MXDataIter("MNISTIter")
      .SetParam("image", folder + "/" + part + "-images-idx3-ubyte")
      .SetParam("label", folder + "/" + part + "-labels-idx1-ubyte")
      .SetParam("batch_size", kBatch)
      .SetParam("shuffle", is_training)
      .SetParam("flat", 0)
      .CreateDataIter();
}

/* The mean of a metric over an epoch. With an optimizer the network learns. */
float RunEpoch(MXDataIter* images, Executor* exec, const std::vector<std::string>& names, Optimizer* optimizer) {
  std::map<std::string, NDArray> args = exec->arg_dict();
  Accuracy accuracy;
  for (images->Reset(); images->Next();) {
    const DataBatch batch = images->GetDataBatch();
    batch.data.CopyTo(&args["data"]);
    batch.label.CopyTo(&args["softmax_label"]);
    exec->Forward(optimizer != nullptr);
    if (optimizer != nullptr) {
      exec->Backward();
      for (size_t i = 0; i < names.size(); ++i) {
        if (names[i] == "data" || names[i] == "softmax_label") continue;
        optimizer->Update(static_cast<int>(i), exec->arg_arrays[i], exec->grad_arrays[i]);
      }
    }
    accuracy.Update(args["softmax_label"], exec->outputs[0]);
  }
  return accuracy.Get();
}

void Save(const Symbol& net, Executor* exec, const std::string& prefix) {
  std::map<std::string, NDArray> parameters;
  for (const auto& arg : exec->arg_dict()) {
    if (arg.first != "data" && arg.first != "softmax_label") parameters["arg:" + arg.first] = arg.second;
  }
  net.Save(prefix + "-symbol.json");
  NDArray::Save(prefix + "-0000.params", parameters);
}

void Train(const std::string& folder, const std::string& prefix, int epochs, const Context& ctx) {
  MXDataIter train = Images(folder, "train", true), test = Images(folder, "t10k", false);
  CHECK(train.Next()) << "there is not one batch of images";
  Symbol net = LeNet();
  std::map<std::string, NDArray> args;
  args["data"] = NDArray(train.GetData().GetShape(), ctx);
  args["softmax_label"] = NDArray(Shape(kBatch), ctx);
  net.InferArgsMap(ctx, &args, args);
  Xavier init(Xavier::uniform, Xavier::avg, 3);
  for (auto& arg : args) init(arg.first, &arg.second);

  std::unique_ptr<Executor> exec(net.SimpleBind(ctx, args));
  std::unique_ptr<Optimizer> optimizer(OptimizerRegistry::Find("sgd"));
  optimizer->SetParam("momentum", 0.9)->SetParam("wd", 1e-4)->SetParam("rescale_grad", 1.0 / kBatch)->SetParam("lr", 0.05);
  optimizer->SetLRScheduler(std::unique_ptr<LRScheduler>(new FactorScheduler(1000, 0.5f)));
  const std::vector<std::string> names = net.ListArguments();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const float learned = RunEpoch(&train, exec.get(), names, optimizer.get());
    const float tested = RunEpoch(&test, exec.get(), names, nullptr);
    LG << "epoch " << epoch << ": accuracy " << learned << " in training, " << tested << " on test images";
  }
  Save(net, exec.get(), prefix);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: " << argv[0] << " FOLDER PREFIX [EPOCHS] [--gpu]" << std::endl;
    return 2;
  }
  try {
    MXRandomSeed(1);
    const bool gpu = std::string(argv[argc - 1]) == "--gpu";
    Train(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 5, gpu ? Context::gpu() : Context::cpu());
  } catch (const dmlc::Error& error) {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
