/* Workspace memory and random resources of a GPU, over a fake one. The variables are read once, so
 * this program runs itself again with other values. */
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <set>

#include "base/device/device_interface.h"
#include "common/fake_device.h"
#include "executor/plan/plan_workspace.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"
#include "ndarray/peer_access.h"
#include "operator/record/dtypes.h"
#include "storage/backend_registry.h"

namespace mxnet {
namespace {

std::atomic<int> g_waits{0};
std::mutex g_mutex;
std::condition_variable g_arrived;
int g_inside = 0, g_peak = 0;

// Holds workspace memory until a second one does too, or long enough to believe that none will.
void Meet(KernelArgs& a) {
  a.workspace(64);
  std::unique_lock<std::mutex> lock(g_mutex);
  g_peak = std::max(g_peak, ++g_inside);
  g_arrived.notify_all();
  g_arrived.wait_for(lock, std::chrono::milliseconds(500), [] { return g_peak > 1; });
  --g_inside;
}

bool SameShape(const Attrs&, ShapeVector* in, ShapeVector* out) {
  (*out)[0] = (*in)[0];
  return (*in)[0].known();
}
MXNET_REGISTER_OP(_test_scratch_meeting).set_inputs({"data"}).set_dtypes(dtypes::kAll).set_infer_shape(SameShape).set_kernel(Meet);

const StreamHooks kStreams = {[](int) {}, [](bool) -> void* { return new int(0); }, [](void* s) { delete static_cast<int*>(s); },
                              [](void*) { ++g_waits; }};

void FakeGpu() {
  GpuInterface().streams.Set(&kStreams);  // stays: workers give their streams back when the process ends
  FakeGpuMemory<size_t{1} << 30>();
}

TEST(DeviceChild, DISABLED_Print) {
  FakeGpu();
  std::set<Imperative::RandomResource*> resources;
  for (int i = 0; i < 40; ++i) resources.insert(Imperative::Random(Context::GPU(0)));
  const AttrsPtr attrs = MakeAttrs(Op::Get("_test_scratch_meeting"), {});
  std::vector<NDArray> out;
  for (int i = 0; i < 2; ++i) {
    NDArray in({4}, Context::GPU(0), kFloat32);
    out.emplace_back(Shape{4}, Context::GPU(0), kFloat32);
    Imperative::Run(attrs, {in}, {OpReq::kWrite}, {out.back()}, false);
  }
  Engine::Get()->WaitForAll();
  printf("<random %zu workspace %d>", resources.size(), g_peak);
}

int g_asked = 0, g_enabled = 0;
const PeerHooks kPeers = {[](int a, int b) { return ++g_asked, a != 9 && b != 9; }, [](int, int) { return ++g_enabled, true; }};

TEST(DeviceChild, DISABLED_Peers) {
  bool direct = true;
  for (int i = 0; i < 3; ++i) direct = EnsurePeerAccess(0, 1, kPeers) && EnsurePeerAccess(1, 0, kPeers);
  const bool unreachable = EnsurePeerAccess(1, 9, kPeers) || EnsurePeerAccess(9, 1, kPeers);
  printf("<direct %d %d asked %d enabled %d>", direct, unreachable, g_asked, g_enabled);
}

std::string Child(const std::string& environment, const std::string& test = "Print") {
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  EXPECT_GT(n, 0);
  self[n > 0 ? n : 0] = '\0';
  FILE* pipe =
      popen(("env " + environment + " '" + self + "' --gtest_also_run_disabled_tests --gtest_filter=DeviceChild.DISABLED_" + test + " 2>&1")
                .c_str(),
            "r");
  std::string text;
  char buffer[1024];
  while (size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << text;
  const size_t at = text.find('<');
  return at == std::string::npos ? text : text.substr(at, text.find('>', at) - at + 1);
}

TEST(DeviceResources, CopiesAsTheVariablesSay) {
  EXPECT_EQ(Child("-u MXNET_GPU_TEMP_COPY -u MXNET_GPU_PARALLEL_RAND_COPY"), "<random 4 workspace 1>");
  EXPECT_EQ(Child("MXNET_GPU_TEMP_COPY=2 MXNET_GPU_PARALLEL_RAND_COPY=3"), "<random 3 workspace 2>");
}

TEST(DeviceResources, DirectCopiesBetweenDevicesAsTheVariableSays) {
  EXPECT_EQ(Child("-u MXNET_ENABLE_GPU_P2P", "Peers"), "<direct 1 0 asked 3 enabled 2>");
  EXPECT_EQ(Child("MXNET_ENABLE_GPU_P2P=0", "Peers"), "<direct 0 0 asked 0 enabled 0>");
}

TEST(DeviceResources, WorkspaceOfPlansIsGivenBackBehindItsStream) {
  FakeGpu();
  RunContext run;
  run.ctx = Context::GPU(0);
  int stream = 0;
  run.stream = &stream;
  PlanWorkspace workspace, keeping(true);
  for (PlanWorkspace* s : {&workspace, &keeping}) {
    s->Begin(run);
    void* small = s->Get(100);
    s->Begin(run);
    EXPECT_EQ(s->Get(50), small);
    const int before = g_waits;
    s->Begin(run);
    void* large = s->Get(1 << 20);
    EXPECT_NE(large, small);
    EXPECT_EQ(g_waits, before + (s == &workspace)) << "kernels may still use what was given back";
    StorageHandle other = Storage::Get()->Alloc(100, run.ctx);
    if (s == &keeping) {
      EXPECT_NE(other.dptr, small) << "captured kernels know its address";
    }
    Storage::Get()->Free(other);
  }
}

}  // namespace
}  // namespace mxnet
