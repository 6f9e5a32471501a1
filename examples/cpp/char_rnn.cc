/*
 * Learns to write like a text, letter by letter, with an LSTM whose steps are unrolled.
 *   char_rnn TEXT [STEPS] [START]
 * After training it prints START and the 80 letters that it finds likeliest to follow.
 */
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
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
  Symbol cell = forget * before.cell + in * change;
  return {cell, out * Activation(cell, "tanh")};
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
  return Symbol::Group(
      {SoftmaxOutput("softmax", scores, Symbol("label")), BlockGrad("last_c", state.cell), BlockGrad("last_h", state.hidden)});
}

std::map<std::string, NDArray> Inputs(int batch, int length, const Context& ctx) {
  std::map<std::string, NDArray> args;
  args["data"] = NDArray(Shape(batch, length), ctx);
  args["label"] = NDArray(Shape(batch * length), ctx);
  for (const char* name : {"init_c", "init_h"}) args[name] = NDArray(std::vector<mx_float>(batch * kHidden), Shape(batch, kHidden), ctx);
  return args;
}

/* The letters of a text, each once; a letter's number is its place there. */
std::string Letters(std::string text) {
  std::sort(text.begin(), text.end());
  text.erase(std::unique(text.begin(), text.end()), text.end());
  return text;
}

mx_float Number(const std::string& letters, char letter) {
  const size_t place = letters.find(letter);
  return static_cast<mx_float>(place == std::string::npos ? 0 : place);
}

std::map<std::string, NDArray> Train(const std::string& text, const std::string& letters, int steps, const Context& ctx) {
  Symbol net = Unrolled(kLength, static_cast<int>(letters.size()));
  std::map<std::string, NDArray> args = Inputs(kBatch, kLength, ctx);
  std::map<std::string, OpReqType> requests;
  for (const auto& arg : args) requests[arg.first] = kNullOp;
  std::unique_ptr<Executor> exec(net.SimpleBind(ctx, args, std::map<std::string, NDArray>(), requests));
  std::map<std::string, NDArray> weights = exec->arg_dict();
  for (const auto& request : requests) weights.erase(request.first);
  Xavier init;
  for (auto& weight : weights) init(weight.first, &weight.second);
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
        data[b * kLength + t] = Number(letters, text[begin + t]);
        label[t * kBatch + b] = Number(letters, text[begin + t + 1]);
      }
    }
    args["data"].SyncCopyFromCPU(data);
    args["label"].SyncCopyFromCPU(label);
    exec->Forward(true);
    exec->Backward();
    for (size_t i = 0; i < names.size(); ++i)
      if (weights.count(names[i]) > 0) optimizer->Update(static_cast<int>(i), exec->arg_arrays[i], exec->grad_arrays[i]);
    if ((step + 1) % 50 == 0) {
      LogLoss loss;
      loss.Update(args["label"], exec->outputs[0]);
      LG << "step " << step + 1 << ": loss " << loss.Get() << " each letter";
    }
  }
  return weights;
}

std::string Write(const std::string& start, int count, const std::string& letters, const std::map<std::string, NDArray>& weights,
                  const Context& ctx) {
  Symbol net = Unrolled(1, static_cast<int>(letters.size()));
  std::map<std::string, NDArray> args = Inputs(1, 1, ctx);
  args.insert(weights.begin(), weights.end());
  std::unique_ptr<Executor> exec(net.SimpleBind(ctx, args));
  std::string text = start;
  for (size_t i = 0; i < start.size() + count; ++i) {
    args["data"] = Number(letters, text[i]);
    exec->Forward(false);
    exec->outputs[1].CopyTo(&args["init_c"]);
    exec->outputs[2].CopyTo(&args["init_h"]);
    if (i + 1 == text.size()) text += letters.at(static_cast<size_t>(exec->outputs[0].ArgmaxChannel().At(0)));
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) try {
  CHECK(argc > 1) << "usage: char_rnn TEXT [STEPS] [START]";
  std::ifstream file(argv[1], std::ios::binary);
  std::string text;
  std::getline(file, text, '\0');
  CHECK(text.size() > kLength + 2) << argv[1] << " has too few letters";
  MXRandomSeed(1);
  const Context ctx = Context::cpu();
  const std::string letters = Letters(text);
  const std::map<std::string, NDArray> weights = Train(text, letters, argc > 2 ? std::stoi(argv[2]) : 1000, ctx);
  std::cout << Write(argc > 3 ? argv[3] : text.substr(0, 8), 80, letters, weights, ctx) << std::endl;
} catch (const std::exception& error) {
  std::cerr << argv[0] << ": " << error.what() << std::endl;
  return 1;
}
