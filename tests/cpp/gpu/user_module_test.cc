/* Users' kernels over a device whose memory is the host's: signatures, order, what is refused.
 * user_module_cuda_test.cc compiles real ones. */
#include "rtc/user_module.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <optional>

#include "base/device/device_interface.h"
#include "common/fake_device.h"
#include "common/scoped_part.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"
#include "storage/backend_registry.h"

namespace mxnet {
namespace {

std::atomic<int> g_loads{0}, g_unloads{0}, g_launches{0};

rtc::CompiledCode Compile(const std::string& source, const std::vector<std::string>&, const std::vector<std::string>& exports) {
  MXNET_CHECK(source != "broken") << "[rtc] user_module.cu does not compile";
  rtc::CompiledCode c;
  c.code = ".version 8.0\n.visible .entry axpy(\n.visible .entry _Z5scaleIfE(\n";
  for (const auto& e : exports) c.mangled[e] = "_Z5scaleIfE";
  return c;
}
std::shared_ptr<void> Load(const rtc::CompiledCode&) {
  ++g_loads;
  return std::shared_ptr<void>(new int(0), [](void* p) {
    ++g_unloads;
    delete static_cast<int*>(p);
  });
}
void* Function(void* loaded, const std::string& name) {
  MXNET_CHECK(name == "axpy" || name == "_Z5scaleIfE") << name;
  return loaded;
}
void Launch(void*, const std::string&, const rtc::LaunchShape& shape, void** args, const RunContext& run) {
  EXPECT_NE(run.stream, nullptr);
  EXPECT_EQ(run.ctx.dev_id, 1);
  const float* x = *static_cast<float**>(args[0]);
  float* y = *static_cast<float**>(args[1]);
  const float a = *static_cast<float*>(args[2]);
  const int64_t n = *static_cast<int64_t*>(args[3]);
  EXPECT_EQ(shape.shared_bytes, 64u);
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
  ++g_launches;
}
const rtc::ModuleHooks kHooks = {Compile, Load, Function, Launch};

const StreamHooks kStreams = {[](int) {}, [](bool) -> void* { return new int(0); }, [](void* s) { delete static_cast<int*>(s); },
                              [](void*) {}};

class UserModule : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    GpuInterface().streams.Set(&kStreams);  // stays: workers give their streams back when the process ends
    FakeGpuMemory<size_t{1} << 30>();
  }
  void SetUp() override { modules_.emplace(GpuInterface().user_modules, &kHooks); }
  void TearDown() override { modules_.reset(); }

  static NDArray Filled(float value, int dev = 1) {
    NDArray a({4}, Context::GPU(dev), kFloat32);
    for (int i = 0; i < 4; ++i) a.data().dptr<float>()[i] = value;
    return a;
  }
  static std::vector<rtc::UserArgument> Axpy() {
    return {{true, true, kFloat32}, {true, false, kFloat32}, {false, false, kFloat32}, {false, false, kInt64}};
  }
  static rtc::LaunchShape Shape() {
    rtc::LaunchShape s;
    s.block[0] = 4;
    s.shared_bytes = 64;
    return s;
  }
  std::optional<ScopedPart<rtc::ModuleHooks>> modules_;
};

template <typename F>
std::string Refusal(F f, Error::Kind kind) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST_F(UserModule, LaunchesInOrderAndKeepsItsModule) {
  const int loads = g_loads, unloads = g_unloads, launches = g_launches;
  NDArray x = Filled(2), y = Filled(1);
  {
    auto module = std::make_shared<rtc::UserModule>("text", std::vector<std::string>{}, std::vector<std::string>{"scale<float>"});
    EXPECT_EQ(g_loads, loads) << "loaded before anything is launched: that needs a driver";
    rtc::UserKernel kernel(module, "axpy", Axpy()), mangled(module, "scale<float>", Axpy());
    module.reset();
    float a = 3;
    int64_t n = 4;
    void* values[] = {&x, &y, &a, &n};
    for (int i = 0; i < 10; ++i) kernel.Launch(1, values, Shape());
    mangled.Launch(1, values, Shape());
    a = 100;  // numbers are read before Launch returns
    n = 0;
  }
  y.WaitToRead();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y.data().dptr<float>()[i], 1 + 11 * 6);
  EXPECT_EQ(g_launches, launches + 11);
  EXPECT_EQ(g_loads, loads + 1);
  Engine::Get()->WaitForAll();
  EXPECT_EQ(g_unloads, unloads + 1);
}

TEST_F(UserModule, OneArrayForReadingAndWriting) {
  auto module = std::make_shared<rtc::UserModule>("text", std::vector<std::string>{}, std::vector<std::string>{});
  rtc::UserKernel kernel(module, "axpy", Axpy());
  NDArray y = Filled(1);
  float a = 1;
  int64_t n = 4;
  void* values[] = {&y, &y, &a, &n};
  kernel.Launch(1, values, Shape());
  y.WaitToRead();
  EXPECT_EQ(y.data().dptr<float>()[3], 2);
}

TEST_F(UserModule, WhatIsRefused) {
  auto make = [](const std::string& text) {
    return std::make_shared<rtc::UserModule>(text, std::vector<std::string>{}, std::vector<std::string>{"scale<float>"});
  };
  EXPECT_NE(Refusal([&] { make("broken"); }, Error::Kind::kGeneric).find("does not compile"), std::string::npos);
  auto module = make("text");
  const std::string none =
      Refusal([&] { rtc::UserKernel(module, "axp", Axpy()); }, Error::Kind::kValue);  // a beginning of a name is no name
  EXPECT_NE(none.find("no kernel axp"), std::string::npos) << none;
  EXPECT_NE(none.find("scale<float>"), std::string::npos) << none;

  rtc::UserKernel kernel(module, "axpy", Axpy());
  NDArray x = Filled(2), y = Filled(1), elsewhere = Filled(1, 0), host({4}, Context::CPU(), kFloat32), wide({4}, Context::GPU(1), kFloat64);
  float a = 1;
  int64_t n = 4;
  auto launch = [&](NDArray* first, const rtc::LaunchShape& shape, Error::Kind kind) {
    void* values[] = {first, &y, &a, &n};
    return Refusal([&] { kernel.Launch(1, values, shape); }, kind);
  };
  EXPECT_NE(launch(&elsewhere, Shape(), Error::Kind::kValue).find("on gpu(0); accepted: arrays on gpu(1)"), std::string::npos);
  EXPECT_NE(launch(&host, Shape(), Error::Kind::kValue).find("on cpu(0)"), std::string::npos);
  EXPECT_NE(launch(&wide, Shape(), Error::Kind::kType).find("float64; accepted: float32"), std::string::npos);
  EXPECT_NE(launch(nullptr, Shape(), Error::Kind::kValue).find("null"), std::string::npos);
  rtc::LaunchShape bad = Shape();
  bad.grid[1] = 0;
  EXPECT_NE(launch(&x, bad, Error::Kind::kValue).find("above 0"), std::string::npos);
  bad = Shape();
  bad.block[0] = bad.block[1] = 64;
  EXPECT_NE(launch(&x, bad, Error::Kind::kValue).find("1024"), std::string::npos);
  const ScopedPart<rtc::ModuleHooks> no_hooks(GpuInterface().user_modules, nullptr);
  EXPECT_NE(Refusal([&] { make("text"); }, Error::Kind::kGeneric).find("without GPU support"), std::string::npos);
  Engine::Get()->WaitForAll();
  EXPECT_EQ(y.data().dptr<float>()[0], 1) << "something was launched";
}

}  // namespace
}  // namespace mxnet
