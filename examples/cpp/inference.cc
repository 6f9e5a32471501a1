/*
 * Classifies arrays with a network that Python or another program saved.
 *
 *   inference PREFIX INPUT [BATCH] [--gpu]
 *
 * Reads PREFIX-symbol.json and PREFIX-0000.params, and from the file INPUT (mx.nd.save) the array
 * named `data`, whose first axis counts the examples. Prints the class of each example, one a line.
 */
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mxnet-cpp/MxNetCpp.h"

using namespace mxnet::cpp;

namespace {

class Classifier {
 public:
  Classifier(const std::string& prefix, std::vector<mx_uint> shape, const Context& ctx) {
    Symbol net = Symbol::Load(prefix + "-symbol.json");
    std::map<std::string, NDArray> args, states;
    for (const auto& entry : NDArray::LoadToMap(prefix + "-0000.params")) {
      const std::string name = entry.first.substr(4);
      (entry.first.compare(0, 4, "aux:") == 0 ? states : args)[name] = entry.second.Copy(ctx);
    }
    args["data"] = NDArray(shape, ctx);
    // Whatever else the network takes, such as labels, does not matter here.
    std::map<std::string, OpReqType> no_gradients;
    for (const std::string& name : net.ListArguments()) no_gradients[name] = kNullOp;
    exec_.reset(net.SimpleBind(ctx, args, std::map<std::string, NDArray>(), no_gradients, states));
    data_ = args["data"];
  }
  /* The likeliest class of each example of a batch. */
  NDArray Classes(const NDArray& batch) {
    batch.CopyTo(&data_);
    exec_->Forward(false);
    return exec_->outputs[0].ArgmaxChannel();
  }

 private:
  std::unique_ptr<Executor> exec_;
  NDArray data_;
};

void Classify(const std::string& prefix, const std::string& input, mx_uint batch, const Context& ctx) {
  std::map<std::string, NDArray> arrays = NDArray::LoadToMap(input);
  CHECK(arrays.count("data") != 0) << input << " has no array named data";
  const NDArray data = arrays["data"];
  std::vector<mx_uint> shape = data.GetShape();
  const mx_uint count = shape[0];
  for (mx_uint begin = 0; begin < count;) {
    shape[0] = std::min(batch, count - begin);  // the last batch may be a smaller one
    Classifier classifier(prefix, shape, ctx);
    for (; begin + shape[0] <= count; begin += shape[0]) {
      const NDArray classes = classifier.Classes(data.Slice(begin, begin + shape[0]));
      for (mx_uint i = 0; i < shape[0]; ++i) std::cout << classes.At(i) << "\n";
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: " << argv[0] << " PREFIX INPUT [BATCH] [--gpu]" << std::endl;
    return 2;
  }
  try {
    const bool gpu = std::string(argv[argc - 1]) == "--gpu";
    const int batch = argc > 3 ? std::atoi(argv[3]) : 0;
    Classify(argv[1], argv[2], static_cast<mx_uint>(batch > 0 ? batch : 32), gpu ? Context::gpu() : Context::cpu());
  } catch (const dmlc::Error& error) {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
