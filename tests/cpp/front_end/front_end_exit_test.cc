/* What programs do behind main(), and where their threads end: destructors of static and of
 * thread_local objects, of thread-specific data, and handlers of atexit(). */
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "mxnet-cpp/MxNetCpp.h"

using namespace mxnet::cpp;  // NOLINT

namespace {

/* Several operators, a file and a network: whether all of it came out right. */
bool Computes() {
  try {
    const Context cpu = Context::cpu();
    const NDArray x(std::vector<mx_float>{1, 2, 3, 4}, Shape(2, 2), cpu);
    NDArray squares = Operator("square")(x).Invoke()[0];
    NDArray product = Operator("dot")(x, squares).Invoke()[0];
    Symbol net = Operator("exp")(Symbol("x")).CreateSymbol("e");
    std::map<std::string, NDArray> args;
    args["x"] = x;
    std::unique_ptr<Executor> exec(net.SimpleBind(cpu, args));
    exec->Forward(false);
    return product.At(1, 1) == 3 * 4 + 4 * 16 && std::abs(exec->outputs[0].At(0, 0) - 2.7182818F) < 1e-5F;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return false;
  }
}

void EndUnlessComputing(const char* where) {
  if (Computes()) return;
  std::fprintf(stderr, "wrong results in %s\n", where);
  std::_Exit(1);
}

/* Made before the library is used, so destroyed behind whatever that keeps for a thread. */
struct Computing {
  explicit Computing(const char* where) : where_(where) {}
  ~Computing() { EndUnlessComputing(where_); }
  const char* where_;
};
const Computing at_exit("the destructor of a static object");

std::atomic<int> ended{0};

TEST(FrontEndExit, ThreadLocalObjectsOfTheProgramComputeAsTheyEnd) {
  const int before = ended.load();
  std::thread([] {
    thread_local struct Ending {
      bool used = false;
      ~Ending() { ended += Computes(); }
    } first;
    first.used = true;
    EXPECT_TRUE(Computes());
  }).join();
  EXPECT_EQ(ended.load(), before + 1);
}

TEST(FrontEndExit, ThreadSpecificDataComputesAsItEnds) {
  const int before = ended.load();
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void*) { ended += Computes(); }), 0);
  std::thread([key] {
    EXPECT_EQ(pthread_setspecific(key, &ended), 0);
    EXPECT_TRUE(Computes());
  }).join();
  EXPECT_EQ(ended.load(), before + 1);
  pthread_key_delete(key);
}

TEST(FrontEndExit, ManyThreadsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    std::thread([] { EXPECT_TRUE(Computes()); }).join();
  }
}

/* What the handler finds, the program's exit status tells: a crash or 1. */
TEST(FrontEndExit, HandlersOfAtExitCompute) {
  EXPECT_TRUE(Computes());
  EXPECT_EQ(std::atexit([] { EndUnlessComputing("a handler of atexit"); }), 0);
}

}  // namespace
