/*
 * A residual network on images of a RecordIO file, as tools/im2rec of 1.9.1 writes them.
 *
 *   resnet TRAIN.rec CLASSES [SIZE] [EPOCHS] [--gpu]
 *
 * Images are cut to SIZE x SIZE (32). The network has three stages of two blocks (He et al., CVPR
 * 2016, section 4.2, in small).
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

const int kBatch = 16;

Symbol Conv(const std::string& name, Symbol data, int filters, int kernel, int stride) {
  Symbol conv = Operator("Convolution")
                    .SetParam("kernel", Shape(kernel, kernel))
                    .SetParam("num_filter", filters)
                    .SetParam("stride", Shape(stride, stride))
                    .SetParam("pad", Shape(kernel / 2, kernel / 2))
                    .SetParam("no_bias", true)
                    .SetInput("data", data)
                    .CreateSymbol(name);
  return BatchNorm(name + "_bn", conv, Symbol(), Symbol(), Symbol(), Symbol(), 2e-5, 0.9f, false);
}

Symbol Block(const std::string& name, Symbol data, int filters, int stride) {
  Symbol first = Activation(name + "_relu1", Conv(name + "_conv1", data, filters, 3, stride), "relu");
  Symbol second = Conv(name + "_conv2", first, filters, 3, 1);
  Symbol shortcut = stride == 1 ? data : Conv(name + "_shortcut", data, filters, 1, stride);
  return Activation(name + "_relu2", second + shortcut, "relu");
}

Symbol ResNet(int classes) {
  Symbol body = Activation("relu0", Conv("conv0", Symbol("data"), 16, 3, 1), "relu");
  for (int stage = 0; stage < 3; ++stage) {
    for (int block = 0; block < 2; ++block) {
      const std::string name = "stage" + std::to_string(stage) + "_block" + std::to_string(block);
      body = Block(name, body, 16 << stage, stage > 0 && block == 0 ? 2 : 1);
    }
  }
  Symbol pooled = Flatten("flatten", Pooling("pool", body, Shape(1, 1), PoolingPoolType::kAvg, true));
  return SoftmaxOutput("softmax", FullyConnected("fc", pooled, Symbol(), Symbol(), classes), Symbol("softmax_label"));
}

bool IsWeight(const std::string& name) { return name != "data" && name != "softmax_label"; }

void Train(const std::string& file, int classes, int size, int epochs, const Context& ctx) {
  MXDataIter images = MXDataIter("ImageRecordIter")
                          .SetParam("path_imgrec", file)
                          .SetParam("data_shape", Shape(3, size, size))
                          .SetParam("batch_size", kBatch)
                          .SetParam("shuffle", true)
                          .SetParam("rand_mirror", true)
                          .SetParam("mean_r", 128)
                          .SetParam("mean_g", 128)
                          .SetParam("mean_b", 128)
                          .SetParam("scale", 1.0 / 64)
                          .SetParam("round_batch", true)
                          .CreateDataIter();
  Symbol net = ResNet(classes);
  std::map<std::string, NDArray> args;
  args["data"] = NDArray(Shape(kBatch, 3, size, size), ctx);
  args["softmax_label"] = NDArray(Shape(kBatch), ctx);
  std::unique_ptr<Executor> exec(net.SimpleBind(ctx, args));
  MSRAPrelu init(Xavier::in, 0);
  for (auto& arg : exec->arg_dict()) init(arg.first, &arg.second);

  KVStore::SetType("local");
  const std::vector<std::string> names = net.ListArguments();
  for (size_t i = 0; i < names.size(); ++i) {
    if (IsWeight(names[i])) KVStore::Init(static_cast<int>(i), exec->arg_arrays[i]);
  }
  std::unique_ptr<Optimizer> optimizer(OptimizerRegistry::Find("adam"));
  optimizer->SetParam("lr", 0.003)->SetParam("rescale_grad", 1.0 / kBatch);
  KVStore::SetOptimizer(std::move(optimizer), true);

  for (int epoch = 0; epoch < epochs; ++epoch) {
    Accuracy accuracy;
    LogLoss loss;
    for (images.Reset(); images.Next();) {
      const DataBatch batch = images.GetDataBatch();
      batch.data.CopyTo(&args["data"]);
      batch.label.CopyTo(&args["softmax_label"]);
      exec->Forward(true);
      exec->Backward();
      for (size_t i = 0; i < names.size(); ++i) {
        if (!IsWeight(names[i])) continue;
        KVStore::Push(static_cast<int>(i), exec->grad_arrays[i], -static_cast<int>(i));
        KVStore::Pull(static_cast<int>(i), &exec->arg_arrays[i], -static_cast<int>(i));
      }
      accuracy.Update(args["softmax_label"], exec->outputs[0]);
      loss.Update(args["softmax_label"], exec->outputs[0]);
    }
    LG << "epoch " << epoch << ": accuracy " << accuracy.Get() << ", loss " << loss.Get();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: " << argv[0] << " TRAIN.rec CLASSES [SIZE] [EPOCHS] [--gpu]" << std::endl;
    return 2;
  }
  try {
    MXRandomSeed(1);
    const bool gpu = std::string(argv[argc - 1]) == "--gpu";
    const int size = argc > 3 ? std::atoi(argv[3]) : 0, epochs = argc > 4 ? std::atoi(argv[4]) : 0;
    Train(argv[1], std::atoi(argv[2]), size > 0 ? size : 32, epochs > 0 ? epochs : 10, gpu ? Context::gpu() : Context::cpu());
  } catch (const dmlc::Error& error) {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
