/* For tests of kernels that are compiled for several instruction sets (base/cpu_dispatch.h). */
#ifndef MXNET_TESTS_CPP_CPU_LEVELS_H_
#define MXNET_TESTS_CPP_CPU_LEVELS_H_

#include <gtest/gtest.h>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* At most the level while it lives. */
struct CpuLevelScope {
  explicit CpuLevelScope(CpuLevel level) { CapCpuLevel(level); }
  ~CpuLevelScope() { CapCpuLevel(CpuLevel::kV4); }
  CpuLevelScope(const CpuLevelScope&) = delete;
  CpuLevelScope& operator=(const CpuLevelScope&) = delete;
};

/* Each of its tests runs on all levels that the machine has. */
class CpuLevelTest : public ::testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > DetectedCpuLevel()) GTEST_SKIP();
    CapCpuLevel(GetParam());
  }
  void TearDown() override { CapCpuLevel(CpuLevel::kV4); }
};

#define MXNET_ON_CPU_LEVELS(suite) INSTANTIATE_TEST_SUITE_P(Levels, suite, ::testing::Values(CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4))

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_CPU_LEVELS_H_
