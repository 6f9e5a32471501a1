/* Workers of an all-reduce within this process. */
#ifndef MXNET_TESTS_CPP_REDUCE_WORKERS_H_
#define MXNET_TESTS_CPP_REDUCE_WORKERS_H_

#include <memory>
#include <string>
#include <vector>

#include "in_process.h"
#include "kvstore/dist/all_reduce.h"
#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {

struct Workers {
  explicit Workers(int n, InProcessOptions options = InProcessOptions()) : fabric(n, 0, options) {
    for (int i = 0; i < n; ++i) {
      reduce.push_back(std::make_unique<AllReduce>(fabric.At(i)));
      fabric.At(i)->SetHandler(reduce.back().get());
    }
  }
  ~Workers() {
    for (size_t i = 0; i < reduce.size(); ++i) fabric.At(static_cast<int>(i))->SetHandler(nullptr);
  }
  InProcessFabric fabric;
  std::vector<std::unique_ptr<AllReduce>> reduce;
};

inline std::string ErrorOf(const NDArray& array) {
  try {
    array.WaitToRead();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_REDUCE_WORKERS_H_
