/*
 * In a build with CUDA every text that the emulator runs is compiled by NVRTC too: to PTX, with
 * NIGHTLY set in the environment to sm_90 code, and as it is written for 2^31 items or more.
 */
#include <cstdlib>
#include <string>

#include "gpu_emulator.h"
#include "rtc/compile.h"
#include "rtc/module.h"

namespace mxnet {
namespace {

void Compile(const rtc::Kernel& kernel) {
  rtc::CompileRequest r;
  r.name = kernel.name + ".cu";
  r.source = kernel.source;
  r.options = rtc::KernelOptions();
  r.architecture = std::getenv("NIGHTLY") ? "sm_90" : "compute_90";
  rtc::Compile(r);
  const std::string small = "typedef unsigned I;";  // src/rtc/loop.cc
  const size_t at = r.source.find(small);
  if (at == std::string::npos || !std::getenv("NIGHTLY")) return;
  r.source.replace(at, small.size(), "typedef long long I;");
  rtc::Compile(r);
}

[[maybe_unused]] const bool registered = (EmulatedDevice::check_text = Compile) != nullptr;

}  // namespace
}  // namespace mxnet
