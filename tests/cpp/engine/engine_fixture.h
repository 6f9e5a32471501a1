/* What the tests of the engine's contract share: all of them run on every engine. */
#ifndef MXNET_TESTS_CPP_ENGINE_FIXTURE_H_
#define MXNET_TESTS_CPP_ENGINE_FIXTURE_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mxnet/engine.h"

namespace mxnet {

inline const Context kCpu = Context::CPU();

/* A gate that operations wait behind. */
class Gate {
 public:
  void Open() {
    std::lock_guard<std::mutex> hold(mu_);
    open_ = true;
    cv_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> hold(mu_);
    cv_.wait(hold, [this] { return open_; });
  }

 private:
  std::mutex mu_;
  std::condition_variable cv_;
  bool open_ = false;
};

/* Another thread that ends asynchronous operations. */
class Completer {
 public:
  ~Completer() {
    Add(nullptr);
    thread_.join();
  }
  void Add(std::function<void()> f) {
    std::lock_guard<std::mutex> hold(mu_);
    todo_.push_back(std::move(f));
    cv_.notify_one();
  }

 private:
  void Loop() {
    for (;;) {
      std::unique_lock<std::mutex> hold(mu_);
      cv_.wait(hold, [this] { return !todo_.empty(); });
      std::function<void()> f = std::move(todo_.front());
      todo_.pop_front();
      hold.unlock();
      if (!f) return;
      f();
    }
  }
  std::mutex mu_;
  std::condition_variable cv_;
  std::deque<std::function<void()>> todo_;
  std::thread thread_{[this] { Loop(); }};
};

inline std::string MessageOf(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

inline bool Contains(const std::string& s, const std::string& part) { return s.find(part) != std::string::npos; }

class EngineTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { engine_.reset(Engine::Create(GetParam())); }
  bool naive() const { return std::string(GetParam()) == "NaiveEngine"; }
  Var* New() { return engine_->NewVariable(); }
  void Delete(std::initializer_list<Var*> vars) {
    for (Var* v : vars) engine_->DeleteVariable({}, kCpu, v);
  }
  void Fail(std::vector<Var*> reads, std::vector<Var*> writes, const char* name, const char* message = "broken") {
    engine_->PushSync([message](RunContext) { throw Error(Error::Kind::kIndex, message); }, kCpu, reads, writes, FnProperty::kNormal, 0,
                      name);
  }
  void Nothing(std::vector<Var*> reads, std::vector<Var*> writes) {
    engine_->PushSync([](RunContext) {}, kCpu, reads, writes);
  }
  std::unique_ptr<Engine> engine_;
};

#define MXNET_ON_ALL_ENGINES(fixture)                                                                                   \
  INSTANTIATE_TEST_SUITE_P(All, fixture, ::testing::Values("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"), \
                           [](const auto& info) { return std::string(info.param); })

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_ENGINE_FIXTURE_H_
