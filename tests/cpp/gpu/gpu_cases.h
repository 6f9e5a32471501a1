/*
 * Cases for the GPU kernels of operators without a GPU: a case runs the record's GPU kernel on the
 * emulator (gpu_emulator.h), and its result must be what the CPU kernel gives.
 */
#ifndef MXNET_TESTS_DEVICE_CASES_H_
#define MXNET_TESTS_DEVICE_CASES_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {

double ReadElement(const void* p, int dtype, int64_t i);
void WriteElement(void* p, int dtype, int64_t i, double v);

struct Case {
  std::string op;
  std::vector<Shape> shapes;
  std::vector<int> dtypes;  // one for all, or one per input
  AttrDict attrs;
  OpReq req = OpReq::kWrite;
  double low = -3, high = 3;
  bool misaligned = false;                      // data begins one element behind an aligned address
  uint32_t last_in = 0, last_out = 0;           // bit i: channels of input or output i lie last
  std::map<int, std::vector<char>> given = {};  // contents of inputs that are not random
  std::set<int> shifted = {};                   // inputs, and outputs behind them, whose data alone begins so
};

std::string Name(const Case& c);

/* What one kernel of the record does on host memory. */
struct Result {
  std::vector<std::vector<char>> bytes;
  std::vector<Shape> shapes;
  std::vector<int> dtypes;
  std::vector<std::vector<char>> inputs;  // afterwards: updated arrays are inputs
};
Result RunKernel(const Case& c, DeviceType device, unsigned seed = 1);
void ExpectNear(const Case& c, const std::vector<char>& got, const std::vector<char>& want, int dtype, double scale);

/* Tests say what to run; it is run when the test ends: first to see which kernels there are, then,
 * when they are compiled, in earnest. */
class DeviceKernels : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  /* `launches`: at least so many kernels must have run. */
  void Later(const std::string& name, int launches, std::function<void()> gpu, std::function<void()> compare);
  void Check(const Case& c, double scale = 1);
  /* Runs what was said so far, now: for settings that hold only here. */
  void RunNow();

 private:
  struct Work {
    std::string name;
    int launches;
    std::function<void()> gpu, compare;
  };
  std::vector<Work> work_;
};

}  // namespace mxnet
#endif  // MXNET_TESTS_DEVICE_CASES_H_
