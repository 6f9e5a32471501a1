// Eager operators and autograd: several threads against serial results, and errors that surface at
// the wait.
#include "mxnet/imperative.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "common/graph_helpers.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"

using namespace mxnet;  // NOLINT

namespace {

AttrsPtr Attributes(const std::string& op, const AttrDict& dict = {}) {
  std::vector<const char*> keys, values;
  for (const auto& kv : dict) keys.push_back(kv.first.c_str()), values.push_back(kv.second.c_str());
  return Imperative::GetAttrs(Op::Get(op), static_cast<int>(keys.size()), keys.data(), values.data());
}

std::vector<NDArray> Call(const std::string& op, const std::vector<NDArray>& inputs, const AttrDict& dict = {}) {
  const AttrsPtr attrs = Attributes(op, dict);
  std::vector<NDArray> in = inputs, out(attrs->op->NumOutputs(*attrs));
  std::vector<NDArray*> in_ptrs, out_ptrs;
  for (auto& a : in) in_ptrs.push_back(&a);
  for (auto& a : out) out_ptrs.push_back(&a);
  Imperative::Invoke(attrs, in_ptrs, out_ptrs);
  return out;
}

NDArray Call1(const std::string& op, const std::vector<NDArray>& inputs, const AttrDict& dict = {}) { return Call(op, inputs, dict)[0]; }

void CallInto(const std::string& op, std::vector<NDArray> inputs, NDArray out, const AttrDict& dict = {}) {
  std::vector<NDArray*> in_ptrs;
  for (auto& a : inputs) in_ptrs.push_back(&a);
  Imperative::Invoke(Attributes(op, dict), in_ptrs, {&out});
}

struct Recording {
  Recording() { Imperative::State().recording = Imperative::State().training = true; }
  ~Recording() { Imperative::State().recording = Imperative::State().training = false; }
};

template <typename Fn>
void OnThreads(int count, Fn fn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&fn, t] { fn(t); });
  for (auto& t : threads) t.join();
}

constexpr int kThreads = 4;

}  // namespace

// Every thread runs the same operators on the same inputs, small ones that run at once and large
// ones that are queued; all must see what one thread sees.
TEST(Imperative, ManyThreadsOnSharedInputs) {
  struct Case {
    const char* op;
    std::vector<NDArray> in;
    AttrDict dict;
  };
  std::vector<Case> cases;
  for (int n : {3, 300}) {
    NDArray a = Random(Shape{n, n}, 1), b = Random(Shape{n, n}, 2), bias = Random(Shape{n}, 3),
            image = Random(Shape{2, 3, n / 10 + 4, 8}, 4);
    NDArray kernel = Random(Shape{5, 3, 3, 3}, 5), channels = Random(Shape{5}, 6);
    cases.push_back({"elemwise_add", {a, b}, {}});
    cases.push_back({"broadcast_mul", {a, bias}, {}});
    cases.push_back({"_mul_scalar", {a}, {{"scalar", "3"}}});
    cases.push_back({"tanh", {a}, {}});
    cases.push_back({"dot", {a, b}, {}});
    cases.push_back({"FullyConnected", {a, b, bias}, {{"num_hidden", std::to_string(n)}}});
    cases.push_back({"Convolution", {image, kernel, channels}, {{"kernel", "(3,3)"}, {"num_filter", "5"}}});
    cases.push_back({"sum", {a}, {{"axis", "1"}}});
    cases.push_back({"softmax", {a}, {}});
    cases.push_back({"transpose", {a}, {}});
    cases.push_back({"Reshape", {a}, {{"shape", "(-1,)"}}});
    cases.push_back({"take", {a, Array(Shape{2}, {0, 2})}, {}});
    cases.push_back({"Pooling", {image}, {{"kernel", "(2,2)"}, {"pool_type", "max"}}});
  }
  std::vector<std::vector<float>> expected;
  for (const Case& c : cases) expected.push_back(Values(Call1(c.op, c.in, c.dict)));
  std::atomic<int> wrong{0};
  OnThreads(kThreads, [&](int t) {
    std::mt19937 random(t);
    for (int i = 0; i < 200; ++i) {
      const size_t at = random() % cases.size();
      wrong += Values(Call1(cases[at].op, cases[at].in, cases[at].dict)) != expected[at];
    }
  });
  EXPECT_EQ(wrong, 0);
}

// Writers of one array are ordered by the engine, whoever they are and wherever their work runs.
TEST(Imperative, NoUpdateIsLost) {
  for (int n : {4, 100000}) {
    NDArray sum = Filled(Shape{n}, 0), one = Filled(Shape{n}, 1);
    OnThreads(kThreads, [&](int) {
      for (int i = 0; i < 50; ++i) CallInto("elemwise_add", {sum, one}, sum);
    });
    EXPECT_EQ(Values(sum), std::vector<float>(n, 50.f * kThreads));
  }
}

TEST(Imperative, ViewsAreOrderedLikeTheirArray) {
  NDArray a = Filled(Shape{kThreads, 1000}, 0);
  OnThreads(kThreads, [&](int t) {
    NDArray row = a.At(t);
    for (int i = 0; i < 100; ++i) CallInto("_plus_scalar", {row}, row, {{"scalar", std::to_string(t + 1)}});
  });
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(Values(a.At(t)), std::vector<float>(1000, 100.f * (t + 1)));
}

TEST(Imperative, EqualSeedsGiveEqualNumbersWhateverElseRuns) {
  auto draw = [] {
    Imperative::Seed(7);
    std::vector<float> all;
    for (int i = 0; i < 20; ++i) {
      const std::vector<float> v = Values(Call1("_random_normal", {}, {{"shape", "(1000,)"}}));
      all.insert(all.end(), v.begin(), v.end());
    }
    return all;
  };
  const std::vector<float> alone = draw();
  std::atomic<bool> stop{false};
  std::thread noise([&] {
    NDArray a = Random(Shape{300, 300}, 1);
    while (!stop) Values(Call1("dot", {a, a}));
  });
  EXPECT_EQ(draw(), alone);
  stop = true;
  noise.join();
}

// ---- autograd

// Each thread records and differentiates its own net over shared weights. d sum(tanh(x w)) has a
// closed form in the recorded values.
TEST(Autograd, ManyThreadsOverSharedWeights) {
  NDArray w = Random(Shape{16, 16}, 9);
  auto gradient = [&w](int seed) {
    NDArray x = Random(Shape{8, 16}, seed), grad = Filled(Shape{8, 16}, 0);
    Imperative::MarkVariables({&x}, {OpReq::kWrite}, {&grad});
    NDArray loss;
    {
      Recording on;
      loss = Call1("sum", {Call1("tanh", {Call1("dot", {x, w})})});
    }
    Imperative::Backward({&loss}, {nullptr}, {}, false, false, true);
    return Values(grad);
  };
  std::vector<std::vector<float>> serial;
  for (int seed = 0; seed < 8; ++seed) serial.push_back(gradient(seed));
  {
    // (1 - tanh^2) w^T, computed by operators that are not recorded
    NDArray x = Random(Shape{8, 16}, 0);
    NDArray y = Call1("tanh", {Call1("dot", {x, w})});
    NDArray slope = Call1("_rminus_scalar", {Call1("square", {y})}, {{"scalar", "1"}});
    const std::vector<float> expected = Values(Call1("dot", {slope, w}, {{"transpose_b", "True"}}));
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(serial[0][i], expected[i], 1e-5);
  }
  std::atomic<int> wrong{0};
  OnThreads(kThreads, [&](int t) {
    for (int i = 0; i < 40; ++i) wrong += gradient((t + i) % 8) != serial[(t + i) % 8];
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Autograd, RecordingBelongsToOneThread) {
  Recording on;
  std::thread([] { EXPECT_FALSE(Imperative::State().recording); }).join();
  NDArray x = Filled(Shape{2}, 3), grad = Filled(Shape{2}, 0);
  Imperative::MarkVariables({&x}, {OpReq::kAdd}, {&grad});
  for (int i = 0; i < 3; ++i) {
    NDArray y = Call1("square", {x});
    Imperative::Backward({&y}, {nullptr}, {}, false, false, true);
  }
  EXPECT_EQ(Values(grad), (std::vector<float>{18, 18}));
}

// What one thread records another may differentiate.
TEST(Autograd, BackwardOnAnotherThread) {
  for (int i = 0; i < 50; ++i) {
    NDArray x = Filled(Shape{4}, 2), grad = Filled(Shape{4}, 0), y;
    Imperative::MarkVariables({&x}, {OpReq::kWrite}, {&grad});
    {
      Recording on;
      y = Call1("elemwise_mul", {x, Call1("square", {x})});
    }
    std::thread([&] { Imperative::Backward({&y}, {nullptr}, {}, false, false, true); }).join();
    ASSERT_EQ(Values(grad), std::vector<float>(4, 12));
  }
}

TEST(Autograd, LongChainsAreFreedWithoutRecursion) {
  NDArray x = Filled(Shape{1}, 1), grad = Filled(Shape{1}, 0);
  Imperative::MarkVariables({&x}, {OpReq::kWrite}, {&grad});
  NDArray y = x;
  {
    Recording on;
    for (int i = 0; i < 50000; ++i) y = Call1("_plus_scalar", {y}, {{"scalar", "1"}});
  }
  EXPECT_EQ(Values(y)[0], 50001);
  Imperative::Backward({&y}, {nullptr}, {}, false, false, true);
  EXPECT_EQ(Values(grad)[0], 1);
}

// ---- errors

// What the caller does not read costs nothing, unless the tape wants it.
TEST(Imperative, OutputsThatNobodyReadGetNoMemory) {
  NDArray data = Random(Shape{40, 50}, 1);
  for (const bool recording : {false, true}) {
    std::vector<NDArray> out(2);
    Imperative::State().recording = recording;
    Imperative::Invoke(Attributes("Dropout"), {&data}, {&out[0], &out[1]}, nullptr, 1);
    Imperative::State().recording = false;
    out[0].WaitToRead();
    EXPECT_EQ(Values(out[0]), Values(data));
    EXPECT_EQ(out[1].chunk()->handle.dptr != nullptr, recording);
  }
}

TEST(ImperativeError, ArgumentsAreRefusedAtOnce) {
  NDArray a = Filled(Shape{2, 3}, 1), b = Filled(Shape{4, 3}, 1);
  EXPECT_NE(ErrorOf([&] { Call("elemwise_add", {a, b}); }).find("elemwise_add"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Call("elemwise_add", {a}); }).find("2"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Call("sum", {a}, {{"axis", "7"}}); }).find("[sum]"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Call("sum", {a}, {{"no_such", "7"}}); }).find("no_such"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Call("sum", {NDArray()}); }).find("none"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { CallInto("sum", {a}, b); }).find("sum"), std::string::npos);
}

// An index that only the kernel can see to be wrong: the result is poisoned, and what depends on
// it; nothing else is. The first wait tells.
TEST(ImperativeError, StaysWithWhatItPoisons) {
  for (int n : {4, 200000}) {
    const std::string wrong = std::to_string(2 * n);
    NDArray data = Filled(Shape{n, 2}, 1), good = Filled(Shape{n}, 1), bad = Filled(Shape{n}, 1);
    CallInto("_mul_scalar", {bad}, bad, {{"scalar", wrong}});
    for (bool wait_for_dependent : {false, true}) {
      NDArray taken = Call1("take", {data, bad}, {{"mode", "raise"}});
      NDArray dependent = Call1("_plus_scalar", {taken}, {{"scalar", "1"}});
      NDArray fine = Call1("take", {data, good}, {{"mode", "raise"}});
      EXPECT_EQ(Values(fine), std::vector<float>(2 * n, 1));
      const std::string error = ErrorOf([&] { (wait_for_dependent ? dependent : taken).WaitToRead(); });
      EXPECT_NE(error.find("take"), std::string::npos) << error;
      EXPECT_NE(error.find(wrong), std::string::npos) << error;
      EXPECT_EQ(Values(data), std::vector<float>(2 * n, 1));
      Engine::Get()->WaitForAll();  // told once
      CallInto("_plus_scalar", {fine}, taken, {{"scalar", "1"}});
      EXPECT_EQ(Values(taken), std::vector<float>(2 * n, 2));  // written again, the array is as good as new
    }
    Call1("take", {data, bad}, {{"mode", "raise"}});
    EXPECT_NE(ErrorOf([] { Engine::Get()->WaitForAll(); }).find("take"), std::string::npos);
    Engine::Get()->WaitForAll();
  }
}

TEST(ImperativeError, EveryThreadIsToldOfItsOwn) {
  NDArray data = Filled(Shape{4}, 1);
  std::atomic<int> told{0};
  OnThreads(kThreads, [&](int t) {
    const float index = 100.f + static_cast<float>(t);
    for (int i = 0; i < 20; ++i) {
      NDArray taken = Call1("take", {data, Filled(Shape{1}, index)}, {{"mode", "raise"}});
      NDArray mine = Call1("_plus_scalar", {taken}, {{"scalar", "1"}});
      told += ErrorOf([&] { mine.WaitToRead(); }).find(std::to_string(100 + t)) != std::string::npos;
    }
  });
  EXPECT_EQ(told, kThreads * 20);
}

// Threads allocate, draw and compute while another forks: the child finds every lock free.
TEST(ImperativeFork, ChildrenComputeWhileThreadsAllocate) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers' allocators keep their locks across a fork while other threads allocate";
#endif
  Engine::Get()->WaitForAll();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        NDArray noise = Call1("_random_uniform", {}, {{"shape", "(50000,)"}});
        NDArray sum = Call1("_plus_scalar", {Call1("_plus_scalar", {noise}, {{"scalar", "1"}})}, {{"scalar", "1"}});
        sum.WaitToRead();
      }
    });
  }
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      NDArray noise = Call1("_random_uniform", {}, {{"shape", "(50000,)"}});
      const std::vector<float> values = Values(Call1("_plus_scalar", {noise}, {{"scalar", "5"}}));
      _exit(values[0] >= 5 && values[0] <= 6 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "round " << round;
  }
  stop = true;
  for (std::thread& t : threads) t.join();
}

int main(int argc, char** argv) {
  // Several workers, so that operators of different threads really overlap; the variable is read at
  // load, hence the second start.
  if (setenv("MXNET_CPU_WORKER_NTHREADS", "4", 0) == 0 && Env::Get().cpu_worker_nthreads < 2) {
    execv("/proc/self/exe", argv);
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
