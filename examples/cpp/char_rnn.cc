/*
 * Learns to write like a text, letter by letter, with an LSTM whose steps are unrolled.
 *
 *   char_rnn TEXT [STEPS] [START]
 *
 * After training it prints START and the 80 letters that it finds likeliest to follow.
 */
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mxnet-cpp/MxNetCpp.h"

using namespace mxnet::cpp;

namespace {

const int kBatch = 16, kLength = 24, kHidden = 64;

struct State {
  Symbol cell, hidden;
};

/* One step of an LSTM (Hochreiter and Schmidhuber, 1997) with forget gates. */
State Step(const std::string& name, Symbol input, const State& before, const std::map<std::string, Symbol>& weights) {
  Symbol from_input = FullyConnected(name + "_i2h", input, weights.at("i2h_weight"), weights.at("i2h_bias"), 4 * kHidden);
  Symbol from_hidden = FullyConnected(name + "_h2h", before.hidden, weights.at("h2h_weight"), weights.at("h2h_bias"), 4 * kHidden);
  Symbol gates = SliceChannel(name + "_gates", from_input + from_hidden, 4);
  Symbol in = Activation(gates[0], "sigmoid"), forget = Activation(gates[1], "sigmoid");
  Symbol change = Activation(gates[2], "tanh"), out = Activation(gates[3], "sigmoid");
  State after;
  after.cell = forget * before.cell + in * change;
  after.hidden = out * Activation(after.cell, "tanh");
  return after;
}

/* `length` steps. The outputs: what comes after each letter, and the last state. */
Symbol Unrolled(int length, int letters) {
  std::map<std::string, Symbol> weights;
  for (const char* name : {"i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias"}) weights[name] = Symbol(name);
  Symbol embedded = Embedding("embed", Symbol("data"), Symbol("embed_weight"), letters, kHidden);
  Symbol steps = SliceChannel("steps", embedded, length, 1, true);
  State state = {Symbol("init_c"), Symbol("init_h")};
  std::vector<Symbol> hidden;
  for (int t = 0; t < length; ++t) {
    state = Step("t" + std::to_string(t), length == 1 ? steps : steps[t], state, weights);
    hidden.push_back(state.hidden);
  }
  Symbol all = Concat("all", hidden, length, 0);  // letter after letter, each of the whole batch
  Symbol scores = FullyConnected("scores", all, Symbol("out_weight"), Symbol("out_bias"), letters);
  Symbol softmax = SoftmaxOutput("softmax", scores, Symbol("label"));
  return Symbol::Group({softmax, BlockGrad("last_c", state.cell), BlockGrad("last_h", state.hidden)});
}

std::map<std::string, NDArray> Inputs(int batch, int length, const Context& ctx) {
  std::map<std::string, NDArray> args;
  args["data"] = NDArray(Shape(batch, length), ctx);
  args["label"] = NDArray(Shape(batch * length), ctx);
  for (const char* name : {"init_c", "init_h"}) {
    args[name] = NDArray(Shape(batch, kHidden), ctx);
    args[name] = 0;
  }
  return args;
}

class Letters {
 public:
  explicit Letters(const std::string& text) : all_(text) {
    std::sort(all_.begin(), all_.end());
    all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
  }
  int Count() const { return static_cast<int>(all_.size()); }
  mx_float Number(char letter) const {
    const size_t place = all_.find(letter);
    return static_cast<mx_float>(place == std::string::npos ? 0 : place);
  }
  char Letter(mx_float number) const { return all_.at(static_cast<size_t>(number)); }

 private:
  std::string all_;
};

std::map<std::string, NDArray> Train(const std::string& text, const Letters& letters, int steps, const Context& ctx) {
  Symbol net = Unrolled(kLength, letters.Count());
  std::map<std::string, NDArray> args = Inputs(kBatch, kLength, ctx);
  std::map<std::string, OpReqType> requests;
  for (const auto& arg : args) requests[arg.first] = kNullOp;
  std::unique_ptr<Executor> exec(net.SimpleBind(ctx, args, std::map<std::string, NDArray>(), requests));
  std::map<std::string, NDArray> all = exec->arg_dict();
  Xavier init;
  for (auto& arg : all) {
    if (requests.count(arg.first) == 0) init(arg.first, &arg.second);
  }
  std::unique_ptr<Optimizer> optimizer(OptimizerRegistry::Find("adam"));
  optimizer->SetParam("lr", 0.01)->SetParam("rescale_grad", 1.0 / (kBatch * kLength))->SetParam("clip_gradient", 1.0);

  std::mt19937 random(1);
  std::uniform_int_distribution<size_t> place(0, text.size() - kLength - 2);
  const std::vector<std::string> names = net.ListArguments();
  std::vector<mx_float> data(kBatch * kLength), label(kBatch * kLength);
  for (int step = 0; step < steps; ++step) {
    for (int b = 0; b < kBatch; ++b) {
      const size_t begin = place(random);
      for (int t = 0; t < kLength; ++t) {
        data[b * kLength + t] = letters.Number(text[begin + t]);
        label[t * kBatch + b] = letters.Number(text[begin + t + 1]);
      }
    }
    args["data"].SyncCopyFromCPU(data);
    args["label"].SyncCopyFromCPU(label);
    exec->Forward(true);
    exec->Backward();
    for (size_t i = 0; i < names.size(); ++i) {
      if (requests.count(names[i]) == 0) optimizer->Update(static_cast<int>(i), exec->arg_arrays[i], exec->grad_arrays[i]);
    }
    if ((step + 1) % 50 == 0) {
      LogLoss loss;
      loss.Update(args["label"], exec->outputs[0]);
      LG << "step " << step + 1 << ": loss " << loss.Get() << " each letter";
    }
  }
  for (const auto& request : requests) all.erase(request.first);
  return all;
}

std::string Write(const std::string& start, int count, const Letters& letters, const std::map<std::string, NDArray>& weights,
                  const Context& ctx) {
  Symbol net = Unrolled(1, letters.Count());
  std::map<std::string, NDArray> args = Inputs(1, 1, ctx);
  args.insert(weights.begin(), weights.end());
  std::unique_ptr<Executor> exec(net.SimpleBind(ctx, args));
  std::string text = start;
  for (size_t i = 0; i < start.size() + count; ++i) {
    args["data"] = letters.Number(text[i]);
    exec->Forward(false);
    exec->outputs[1].CopyTo(&args["init_c"]);
    exec->outputs[2].CopyTo(&args["init_h"]);
    if (i + 1 == text.size()) text += letters.Letter(exec->outputs[0].ArgmaxChannel().At(0));
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: " << argv[0] << " TEXT [STEPS] [START]" << std::endl;
    return 2;
  }
  try {
    std::ifstream file(argv[1], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CHECK(text.size() > kLength + 2) << argv[1] << " has too few letters";
    MXRandomSeed(1);
    const Context ctx = Context::cpu();
    const Letters letters(text);
    const int steps = argc > 2 ? std::atoi(argv[2]) : 1000;
    const std::map<std::string, NDArray> weights = Train(text, letters, steps, ctx);
    std::cout << Write(argc > 3 ? argv[3] : text.substr(0, 8), 80, letters, weights, ctx) << std::endl;
  } catch (const dmlc::Error& error) {
    std::cerr << argv[0] << ": " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
