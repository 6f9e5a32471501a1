/*
 * The engine and its process: environment variables that size the pools, fork, exit with work
 * pending, GPU workers (on recorded fake streams). What needs its own environment or exit runs this
 * program again with one DISABLED_ test.
 */
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/device/device_interface.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

const Context kCpu = Context::CPU();

struct Result {
  int status;
  std::string output;
};

/* Runs the disabled test `name` of this program with the assignments in front. */
Result RunChild(const std::string& assignments, const std::string& name) {
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = '\0';
  const std::string command =
      assignments + " timeout 150 '" + self + "' --gtest_also_run_disabled_tests --gtest_filter='Child.DISABLED_" + name + "' 2>&1";
  Result r{-1, ""};
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return r;
  char buffer[512];
  while (fgets(buffer, sizeof buffer, pipe) != nullptr) r.output += buffer;
  r.status = pclose(pipe);
  return r;
}

bool Contains(const std::string& s, const std::string& part) { return s.find(part) != std::string::npos; }

int Want() { return std::atoi(std::getenv("TEST_WANT")); }

/*
 * How many of 3 * want independent operations run at once: the first ones wait for each other (up
 * to 20 s) until `want` are inside, then stay a little longer, so that one thread too many would be
 * seen.
 */
int MostAtOnce(Engine* engine, int want, Context ctx, FnProperty prop) {
  std::atomic<int> inside{0}, most{0};
  std::vector<Var*> vars;
  for (int i = 0; i < 3 * want; ++i) {
    vars.push_back(engine->NewVariable());
    engine->PushSync(
        [&, want](RunContext) {
          int now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (most < want && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          std::this_thread::sleep_for(std::chrono::milliseconds(15));
          --inside;
        },
        ctx, {}, {vars.back()}, prop);
  }
  engine->WaitForAll();
  for (Var* v : vars) engine->DeleteVariable({}, ctx, v);
  return most;
}

int ExitCode(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

// ---- environment --------------------------------------------------------------------------------

TEST(Child, DISABLED_Type) { std::printf("type=%s\n", Engine::Get()->type()); }
TEST(Child, DISABLED_Cpu) { EXPECT_EQ(MostAtOnce(Engine::Get(), Want(), kCpu, FnProperty::kNormal), Want()); }
TEST(Child, DISABLED_Priority) { EXPECT_EQ(MostAtOnce(Engine::Get(), Want(), kCpu, FnProperty::kCPUPrioritized), Want()); }
TEST(Child, DISABLED_ForkedWorker) {
  EXPECT_EQ(MostAtOnce(Engine::Get(), 1, kCpu, FnProperty::kNormal), 1);
  pid_t pid = fork();
  if (pid == 0) _exit(MostAtOnce(Engine::Get(), Want(), kCpu, FnProperty::kNormal));
  EXPECT_EQ(ExitCode(pid), Want());
  EXPECT_EQ(MostAtOnce(Engine::Get(), 1, kCpu, FnProperty::kNormal), 1);
}
TEST(Child, DISABLED_SpawnedWorker) {
  Engine::MarkDataWorker();
  EXPECT_EQ(MostAtOnce(Engine::Get(), Want(), kCpu, FnProperty::kNormal), Want());
}

TEST(EngineEnvironment, TypeChoosesTheEngine) {
  for (const char* type : {"NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"}) {
    Result r = RunChild(std::string("MXNET_ENGINE_TYPE=") + type, "Type");
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_TRUE(Contains(r.output, std::string("type=") + type + "\n")) << r.output;
  }
  EXPECT_TRUE(Contains(RunChild("MXNET_ENGINE_TYPE=", "Type").output, "type=ThreadedEnginePerDevice\n"));
  Result bad = RunChild("MXNET_ENGINE_TYPE=FastEngine", "Type");
  EXPECT_NE(bad.status, 0);
  EXPECT_TRUE(Contains(bad.output, "FastEngine") && Contains(bad.output, "MXNET_ENGINE_TYPE")) << bad.output;
}

TEST(EngineEnvironment, WorkerCounts) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"TEST_WANT=1", "Cpu"},
      {"TEST_WANT=2 MXNET_CPU_WORKER_NTHREADS=2", "Cpu"},
      {"TEST_WANT=5 MXNET_CPU_WORKER_NTHREADS=5 MXNET_ENGINE_TYPE=ThreadedEngine", "Cpu"},
      {"TEST_WANT=1 MXNET_CPU_WORKER_NTHREADS=5 MXNET_ENGINE_TYPE=NaiveEngine", "Cpu"},
      {"TEST_WANT=4", "Priority"},
      {"TEST_WANT=2 MXNET_CPU_PRIORITY_NTHREADS=2", "Priority"},
      {"TEST_WANT=1", "ForkedWorker"},
      {"TEST_WANT=3 MXNET_MP_WORKER_NTHREADS=3", "ForkedWorker"},
      {"TEST_WANT=3 MXNET_MP_WORKER_NTHREADS=3 MXNET_CPU_WORKER_NTHREADS=7", "SpawnedWorker"},
  };
  for (const auto& c : cases) {
    Result r = RunChild("TSAN_OPTIONS=die_after_fork=0 " + c[0], c[1]);
    EXPECT_EQ(r.status, 0) << c[0] << "\n" << r.output;
  }
}

// ---- fork ---------------------------------------------------------------------------------------

TEST(Child, DISABLED_Fork) {
  Engine* engine = Engine::Get();
  Var *idle = engine->NewVariable(), *busy = engine->NewVariable(), *queued = engine->NewVariable(), *read = engine->NewVariable();
  Var* bulked = engine->NewVariable();
  std::atomic<bool> go{false};
  std::atomic<int> done{0};
  auto work = [&](RunContext) {
    while (!go) std::this_thread::yield();
    ++done;
  };
  engine->PushSync(work, kCpu, {read}, {busy});
  engine->PushSync(work, kCpu, {busy}, {queued});
  engine->SetBulkSize(10);
  engine->PushSync(work, kCpu, {idle}, {bulked});

  pid_t pid = fork();
  if (pid == 0) {
    int wrong = 0;
    auto lost = [&](Var* v) {
      try {
        engine->WaitForVar(v);
        return 1;
      } catch (const Error& e) {
        return Contains(e.what(), "fork") ? 0 : 1;
      }
    };
    wrong += lost(busy) + 2 * lost(queued) + 4 * lost(bulked);
    try {
      engine->WaitForVar(idle, true);
      engine->WaitForVar(read, true);  // was only being read: its contents are whole
      engine->WaitForAll();
      int x = 0;
      for (int i = 0; i < 100; ++i) engine->PushSync([&](RunContext) { ++x; }, kCpu, {idle, read}, {busy, bulked, queued});
      engine->WaitForVar(busy);
      if (x != 100) wrong += 8;
      if (engine->TryAcquire(&idle, 1, &queued, 1)) {
        engine->Release(&idle, 1, &queued, 1);
      } else {
        wrong += 16;
      }
      for (Var* v : {idle, busy, queued, read, bulked}) engine->DeleteVariable({}, kCpu, v);
      engine->WaitForAll();
    } catch (const std::exception& e) {
      std::printf("child: %s\n", e.what());
      wrong += 32;
    }
    if (done != 0) wrong += 64;  // the parent's work does not run here
    _exit(wrong);
  }
  EXPECT_EQ(ExitCode(pid), 0);
  go = true;
  engine->WaitForVar(bulked);
  engine->WaitForVar(queued);
  EXPECT_EQ(done, 3);
  engine->SetBulkSize(0);
  for (Var* v : {idle, busy, queued, read, bulked}) engine->DeleteVariable({}, kCpu, v);
}

TEST(Child, DISABLED_ForkStress) {
  // Forks while other threads push, complete, make and delete variables.
  Engine* engine = Engine::Get();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      engine->SetBulkSize(t * 3);
      Var *a = engine->NewVariable(), *b = engine->NewVariable();
      while (!stop) {
        Var* c = engine->NewVariable();
        for (int i = 0; i < 20; ++i) engine->PushSync([](RunContext) {}, kCpu, {a}, {b, c});
        engine->DeleteVariable({}, kCpu, c);
        engine->WaitForVar(b);
      }
      engine->DeleteVariable({}, kCpu, a);
      engine->DeleteVariable({}, kCpu, b);
    });
  }
  for (int round = 0; round < 40; ++round) {
    pid_t pid = fork();
    if (pid == 0) {
      alarm(60);
      Var *a = engine->NewVariable(), *b = engine->NewVariable();
      int x = 0;
      for (int i = 0; i < 300; ++i) engine->PushSync([&](RunContext) { ++x; }, kCpu, {a}, {b});
      engine->WaitForVar(b);
      engine->WaitForAll();
      _exit(x == 300 ? 0 : 1);
    }
    EXPECT_EQ(ExitCode(pid), 0);
  }
  stop = true;
  for (auto& t : threads) t.join();
}

TEST(EngineFork, ChildWorksAndParentIsUnaffected) {
  for (const char* type : {"ThreadedEngine", "ThreadedEnginePerDevice"}) {
    Result r = RunChild(std::string("TSAN_OPTIONS=die_after_fork=0 MXNET_ENGINE_TYPE=") + type, "Fork");
    EXPECT_EQ(r.status, 0) << r.output;
  }
}

TEST(EngineFork, UnderLoad) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer's allocator (GCC 12) keeps its locks across a fork while other threads allocate";
#endif
  for (const char* type : {"NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"}) {
    Result r = RunChild(std::string("TSAN_OPTIONS=die_after_fork=0 MXNET_ENGINE_TYPE=") + type, "ForkStress");
    EXPECT_EQ(r.status, 0) << r.output;
  }
}

// ---- exit ---------------------------------------------------------------------------------------

struct PushesAtExit {  // destroyed after the engine has been shut down
  Var* var = nullptr;
  ~PushesAtExit() {
    if (var == nullptr) return;
    int x = 0;
    for (int i = 0; i < 1000; ++i) Engine::Get()->PushSync([&](RunContext) { ++x; }, kCpu, {}, {var});
    Engine::Get()->WaitForVar(var);
    Engine::Get()->DeleteVariable([](RunContext) { std::printf("deleted\n"); }, kCpu, var);
    std::printf("late=%d\n", x);
  }
} g_pushes_at_exit;

TEST(Child, DISABLED_Exit) {
  Engine* engine = Engine::Get();
  g_pushes_at_exit.var = engine->NewVariable();
  static std::atomic<int> done{0};
  Var* v = engine->NewVariable();
  engine->SetBulkSize(7);
  for (int i = 0; i < 100; ++i) {
    engine->PushSync(
        [](RunContext) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          if (++done == 100) std::printf("all done\n");
        },
        kCpu, {}, {v});
  }
  // Returns with most of it pending.
}

// A library that keeps something in a function static, made by the first operation and destroyed at
// exit, ahead of the engine's own handler.
struct Kernels {
  std::atomic<bool> usable{true};
  ~Kernels() { usable = false; }
};
Kernels& LibraryKernels() {
  static Kernels kernels;
  return kernels;
}

TEST(Child, DISABLED_ExitWithStatics) {
  Engine* engine = Engine::Get();
  Var* v = engine->NewVariable();
  for (int i = 0; i < 50; ++i) {
    engine->PushSync(
        [](RunContext) {
          Kernels& kernels = LibraryKernels();
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          if (!kernels.usable) std::printf("used after its destruction\n");
        },
        kCpu, {}, {v});
  }
}

TEST(EngineExit, WorkIsOverBeforeStaticsGo) {
  for (const char* type : {"ThreadedEngine", "ThreadedEnginePerDevice"}) {
    Result r = RunChild(std::string("MXNET_ENGINE_TYPE=") + type, "ExitWithStatics");
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_FALSE(Contains(r.output, "used after")) << r.output;
  }
}

TEST(EngineExit, PendingWorkIsFinished) {
  for (const char* type : {"NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"}) {
    Result r = RunChild(std::string("MXNET_ENGINE_TYPE=") + type, "Exit");
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_TRUE(Contains(r.output, "all done")) << r.output;
    EXPECT_TRUE(Contains(r.output, "late=1000")) << r.output;
    EXPECT_TRUE(Contains(r.output, "deleted")) << r.output;
  }
}

TEST(EngineIdle, WorkersDoNotBurnTheProcessor) {
  std::unique_ptr<Engine> engine(Engine::Create("ThreadedEnginePerDevice"));
  Var* v = engine->NewVariable();
  for (FnProperty p : {FnProperty::kNormal, FnProperty::kCPUPrioritized}) engine->PushSync([](RunContext) {}, kCpu, {}, {v}, p);
  engine->WaitForVar(v);
  std::clock_t begin = std::clock();  // processor time of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 0.05);
  engine->DeleteVariable({}, kCpu, v);
}

// ---- GPU workers on fake streams ----------------------------------------------------------------

struct FakeStream {
  int dev;
  bool high_priority;
};
struct FakeDevice {
  std::mutex mu;
  std::set<FakeStream*> live;
  std::vector<FakeStream> made;
  int syncs = 0;
  int busy_streams = 0;
} g_fake;
thread_local int tls_device = -1;

void FakeSetDevice(int dev) {
  MXNET_CHECK_KIND(dev < 2, Value) << "[engine] gpu(" << dev << ") does not exist";
  tls_device = dev;
}
void* FakeCreate(bool high) {
  std::lock_guard<std::mutex> hold(g_fake.mu);
  FakeStream* s = new FakeStream{tls_device, high};
  g_fake.live.insert(s);
  g_fake.made.push_back(*s);
  return s;
}
void FakeDestroy(void* p) {
  std::lock_guard<std::mutex> hold(g_fake.mu);
  EXPECT_EQ(g_fake.live.erase(static_cast<FakeStream*>(p)), 1u);
  delete static_cast<FakeStream*>(p);
}
void FakeSync(void* p) {
  std::lock_guard<std::mutex> hold(g_fake.mu);
  EXPECT_EQ(g_fake.live.count(static_cast<FakeStream*>(p)), 1u);
  ++g_fake.syncs;
}
const StreamHooks kFakeHooks = {FakeSetDevice, FakeCreate, FakeDestroy, FakeSync};

/* Installs the fake device before the engine exists and checks that every stream was destroyed
 * after it. */
struct WithFakeGpu {
  explicit WithFakeGpu(const char* type = "ThreadedEnginePerDevice") {
    g_fake.made.clear();
    g_fake.syncs = 0;
    GpuInterface().streams.Set(&kFakeHooks);
    engine.reset(Engine::Create(type));
  }
  ~WithFakeGpu() {
    engine.reset();
    EXPECT_TRUE(g_fake.live.empty());
    GpuInterface().streams.Set(nullptr);
  }
  std::unique_ptr<Engine> engine;
};

TEST(EngineGpu, StreamBelongsToTheDeviceAndIsSynchronised) {
  WithFakeGpu gpu;
  Var* v = gpu.engine->NewVariable();
  for (int dev = 0; dev < 2; ++dev) {
    gpu.engine->PushSync(
        [dev](RunContext r) {
          ASSERT_NE(r.stream, nullptr);
          EXPECT_EQ(static_cast<FakeStream*>(r.stream)->dev, dev);
          EXPECT_EQ(tls_device, dev);
          EXPECT_EQ(r.aux_stream, nullptr);
          EXPECT_EQ(r.ctx.dev_id, dev);
        },
        Context::GPU(dev), {}, {v});
  }
  gpu.engine->WaitForVar(v);
  EXPECT_EQ(g_fake.syncs, 2);
  gpu.engine->SetBulkSize(10);
  for (int i = 0; i < 5; ++i) gpu.engine->PushSync([](RunContext r) { EXPECT_TRUE(r.is_bulk); }, Context::GPU(0), {}, {v});
  gpu.engine->PushSync([](RunContext) {}, kCpu, {}, {v});  // another context: flushes
  EXPECT_EQ(gpu.engine->stats().bulks, 1u);
  gpu.engine->WaitForVar(v);
  EXPECT_EQ(g_fake.syncs, 3);  // one for the whole bulk
  gpu.engine->DeleteVariable({}, Context::GPU(0), v);
}

TEST(EngineGpu, WhatABulkOnAnAbsentDeviceLeftMayBeOverwritten) {
  WithFakeGpu gpu;
  Var* v = gpu.engine->NewVariable();
  gpu.engine->SetBulkSize(4);
  gpu.engine->PushSync([](RunContext) { FAIL(); }, Context::GPU(2), {}, {v});
  gpu.engine->SetBulkSize(0);
  gpu.engine->PushSync([](RunContext) {}, kCpu, {}, {v});
  EXPECT_NO_THROW(gpu.engine->WaitForAll());
  gpu.engine->DeleteVariable({}, Context::GPU(0), v);
}

TEST(EngineGpu, AbsentDeviceIsAnErrorOfTheOperation) {
  WithFakeGpu gpu;
  Var* v = gpu.engine->NewVariable();
  gpu.engine->SetBulkSize(4);
  for (int i = 0; i < 3; ++i) {
    if (i == 0) gpu.engine->PushSync([](RunContext) { FAIL(); }, Context::GPU(2), {}, {v});
    if (i == 1) gpu.engine->PushAsync([](RunContext, OnComplete) { FAIL(); }, Context::GPU(2), {}, {v});
    if (i == 2) {
      gpu.engine->SetBulkSize(0);
      gpu.engine->PushSync([](RunContext) { FAIL(); }, Context::GPU(2), {}, {v});
    }
    try {
      gpu.engine->WaitForVar(v);
      ADD_FAILURE() << "no error in round " << i;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), Error::Kind::kValue);
      EXPECT_TRUE(Contains(e.what(), "gpu(2)")) << e.what();
    }
  }
  gpu.engine->DeleteVariable({}, Context::GPU(0), v);
}

TEST(Child, DISABLED_GpuPools) {
  const Env& env = Env::Get();
  {
    WithFakeGpu gpu;
    EXPECT_EQ(MostAtOnce(gpu.engine.get(), env.gpu_worker_nthreads, Context::GPU(0), FnProperty::kNormal), env.gpu_worker_nthreads);
    EXPECT_EQ(g_fake.made.size(), static_cast<size_t>(env.gpu_worker_nthreads * env.gpu_worker_nstreams));
    g_fake.made.clear();
    EXPECT_EQ(MostAtOnce(gpu.engine.get(), env.gpu_copy_nthreads, Context::GPU(1), FnProperty::kCopyToGPU), env.gpu_copy_nthreads);
    for (const FakeStream& s : g_fake.made) EXPECT_FALSE(s.high_priority);
    g_fake.made.clear();
    MostAtOnce(gpu.engine.get(), 1, Context::GPU(1), FnProperty::kGPUPrioritized);
    ASSERT_FALSE(g_fake.made.empty());
    for (const FakeStream& s : g_fake.made) EXPECT_TRUE(s.high_priority);
    Var* v = gpu.engine->NewVariable();
    gpu.engine->PushSync([&](RunContext r) { EXPECT_EQ(r.aux_stream != nullptr, env.gpu_worker_nstreams == 2); }, Context::GPU(0), {}, {v});
    gpu.engine->WaitForVar(v);
    gpu.engine->DeleteVariable({}, kCpu, v);
  }
  for (const char* type : {"ThreadedEngine", "NaiveEngine"}) {
    WithFakeGpu gpu(type);
    std::thread([&] {  // NaiveEngine: the streams live as long as the thread
      Var* v = gpu.engine->NewVariable();
      gpu.engine->PushSync([](RunContext r) { EXPECT_NE(r.stream, nullptr); }, Context::GPU(1), {}, {v});
      gpu.engine->WaitForVar(v);
      EXPECT_EQ(g_fake.syncs, env.gpu_worker_nstreams);
      gpu.engine->DeleteVariable({}, kCpu, v);
    })
        .join();
  }
}

TEST(EngineEnvironment, GpuPoolsAndStreams) {
  for (const char* assignments : {"", "MXNET_GPU_WORKER_NTHREADS=3 MXNET_GPU_COPY_NTHREADS=1",
                                  "MXNET_GPU_WORKER_NTHREADS=1 MXNET_GPU_COPY_NTHREADS=4 MXNET_GPU_WORKER_NSTREAMS=2"}) {
    Result r = RunChild(assignments, "GpuPools");
    EXPECT_EQ(r.status, 0) << assignments << "\n" << r.output;
  }
}

}  // namespace
}  // namespace mxnet
