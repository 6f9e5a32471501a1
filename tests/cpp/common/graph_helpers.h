/* What tests of graphs, plans and operators share: small symbols, float32 arrays on the CPU,
 * settings for one scope, messages of errors. */
#ifndef MXNET_TESTS_CPP_GRAPH_HELPERS_H_
#define MXNET_TESTS_CPP_GRAPH_HELPERS_H_

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/env.h"
#include "mxnet/graph.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"

namespace mxnet {

inline Symbol Make(const std::string& op, const std::vector<Symbol>& inputs, AttrDict dict = {}, const std::string& name = "",
                   const std::vector<std::string>& keys = {}) {
  Symbol s = Symbol::Atomic(Op::Get(op), std::move(dict));
  s.Compose(inputs, keys, name.empty() ? op : name);
  return s;
}

inline NDArray Array(const Shape& shape, const std::vector<float>& values) {
  NDArray a(shape, Context::CPU());
  a.CopyBytesFrom(values.data(), values.size() * sizeof(float));
  return a;
}

inline NDArray Filled(const Shape& shape, float value) {
  return Array(shape, std::vector<float>(static_cast<size_t>(shape.Size()), value));
}

inline NDArray Random(const Shape& shape, std::mt19937* random, float low = -1, float high = 1) {
  std::vector<float> values(static_cast<size_t>(shape.Size()));
  for (float& v : values) v = low + (high - low) * static_cast<float>((*random)() % 2000) / 2000.f;
  return Array(shape, values);
}

inline NDArray Random(const Shape& shape, int seed, float low = -1, float high = 1) {
  std::mt19937 random(static_cast<unsigned>(seed));
  return Random(shape, &random, low, high);
}

inline std::vector<float> Values(const NDArray& a) {
  std::vector<float> values(static_cast<size_t>(a.shape().Size()));
  a.CopyBytesTo(values.data(), values.size() * sizeof(float));
  return values;
}

/* Sets a variable of the environment for one scope. */
class EnvScope {
 public:
  EnvScope(const std::string& name, const std::string& value) : name_(name) { Env::Set(name, value); }
  ~EnvScope() { Env::Set(name_, ""); }

 private:
  std::string name_;
};

/* The message of the Error that `fn` throws; empty when it throws none. */
template <typename Fn>
std::string ErrorOf(Fn fn) {
  try {
    fn();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_GRAPH_HELPERS_H_
