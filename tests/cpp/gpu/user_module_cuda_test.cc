/* Users' kernels through NVRTC, without a device. */
#include <gtest/gtest.h>

#include "mxnet/env.h"
#include "mxnet/error.h"
#include "rtc/user_module.h"

namespace mxnet {
namespace {

const char* const kText = R"TEXT(
#include <cuda_fp16.h>
extern "C" __global__ void axpy(const float* x, float* y, float a) { y[threadIdx.x] += a * x[threadIdx.x] + OFFSET; }
template <typename T> __global__ void scale(T* x, float f) { x[threadIdx.x] = T(float(x[threadIdx.x]) * f); }
)TEXT";

std::shared_ptr<rtc::UserModule> Make(const std::string& text, std::vector<std::string> options = {"-DOFFSET=1"}) {
  return std::make_shared<rtc::UserModule>(text, options, std::vector<std::string>{"scale<float>", "scale<__half>"});
}

TEST(UserModuleCuda, FindsKernelsByNameAndByExport) {
  for (const auto& options :
       {std::vector<std::string>{"-DOFFSET=1"}, {"-DOFFSET=1", "--gpu-architecture=compute_90"}, {"-arch", "compute_90a", "-DOFFSET=1"}}) {
    const auto module = Make(kText, options);
    EXPECT_EQ(module->Find("axpy"), "axpy");
    EXPECT_NE(module->Find("scale<float>"), module->Find("scale<__half>"));
    EXPECT_THROW(module->Find("scale<double>"), Error);
    EXPECT_THROW(module->Find("axp"), Error);
  }
  EXPECT_EQ(Make(kText, {"-DOFFSET=1", "-arch=sm_90"})->Find("axpy"), "axpy");  // machine code
}

TEST(UserModuleCuda, ErrorsCarryTheLog) {
  try {
    Make(kText, {});
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("OFFSET"), std::string::npos) << e.what();
  }
}

TEST(UserModuleCuda, HeadersComeFromCudaHome) {
  Make(kText);
  Env::Set("CUDA_HOME", "/nowhere");
  EXPECT_THROW(Make(kText), Error);
  EXPECT_EQ(rtc::UserModule("extern \"C\" __global__ void one(int* x) { *x = 1; }", {}, {}).Find("one"),
            "one");  // what includes nothing needs no headers
  Env::Set("CUDA_HOME", "");
}

TEST(UserModuleCuda, VerbosePrintsTheSource) {
  for (const char* value : {"0", "1"}) {
    Env::Set("MXNET_RTC_VERBOSE", value);
    testing::internal::CaptureStderr();
    Make(kText);
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_EQ(printed.find("a * x[threadIdx.x] + OFFSET") != std::string::npos, *value == '1') << printed;
  }
  Env::Set("MXNET_RTC_VERBOSE", "");
}

}  // namespace
}  // namespace mxnet
