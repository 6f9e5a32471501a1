/*
 * Random dependency workloads against serial execution.
 *
 * Every operation mixes the values of the variables it reads and writes into those it writes, with
 * plain unsynchronised memory, so that a lost dependency changes the result (and is a race for
 * ThreadSanitizer). Each variable also records who touched it, in which order. Afterwards the
 * records must (1) contain each pushing thread's operations in push order, (2) fit one serial order
 * of all operations, and (3) executing that serial order must give the same values.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "mxnet/engine.h"

namespace mxnet {
namespace {

const Context kCpu = Context::CPU();

struct Cell {
  uint64_t value = 0;
  std::vector<int> writers;    // operations in the order in which they wrote
  std::atomic<int> inside{0};  // number of readers, or -1 for a writer
};

struct Planned {
  int thread = 0;
  int index = 0;  // in its thread's push order
  std::vector<int> reads, writes;
  std::vector<size_t> seen;  // for each of reads, then writes: writers before it
  bool ran = false;
};

uint64_t Mix(uint64_t h, uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdULL;
}

/* The same function for the engine's run and for the serial one. */
void Apply(const Planned& p, int id, const std::function<uint64_t&(int)>& value) {
  uint64_t h = id + 1;
  for (int v : p.reads) h = Mix(h, value(v));
  for (int v : p.writes) h = Mix(h, value(v));
  for (int v : p.writes) value(v) = Mix(h, v);
}

/* Ends asynchronous operations from another thread, in random order. */
class Completer {
 public:
  explicit Completer(uint64_t seed) : random_(seed), thread_([this] { Loop(); }) {}
  ~Completer() {
    {
      std::lock_guard<std::mutex> hold(mu_);
      stop_ = true;
    }
    cv_.notify_one();
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
      cv_.wait(hold, [this] { return stop_ || !todo_.empty(); });
      if (todo_.empty()) return;
      size_t i = random_() % todo_.size();
      std::function<void()> f = std::move(todo_[i]);
      todo_.erase(todo_.begin() + i);
      hold.unlock();
      f();
    }
  }
  std::mt19937_64 random_;
  std::mutex mu_;
  std::condition_variable cv_;
  std::deque<std::function<void()>> todo_;
  bool stop_ = false;
  std::thread thread_;
};

struct Size {
  int vars, ops, threads, most_used;
};

class RandomWorkload : public ::testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  void Run(const Size& size, uint64_t seed) {
    size_ = size;
    engine_.reset(Engine::Create(std::get<0>(GetParam())));
    cells_ = std::vector<Cell>(size.vars);
    vars_.clear();
    for (int i = 0; i < size.vars; ++i) vars_.push_back(engine_->NewVariable());
    plan_.assign(size.ops, Planned());
    std::mt19937_64 random(seed);
    std::vector<std::vector<int>> by_thread(size.threads);
    for (int id = 0; id < size.ops; ++id) {
      Planned& p = plan_[id];
      p.thread = static_cast<int>(random() % size.threads);
      p.index = static_cast<int>(by_thread[p.thread].size());
      by_thread[p.thread].push_back(id);
      const int count = 1 + static_cast<int>(random() % std::min(size.most_used, size.vars));
      std::vector<int> all(size.vars);
      for (int i = 0; i < size.vars; ++i) all[i] = i;
      std::shuffle(all.begin(), all.end(), random);
      const int writes = static_cast<int>(random() % (count + 1));
      for (int i = 0; i < count; ++i) (i < writes ? p.writes : p.reads).push_back(all[i]);
      p.seen.assign(count, 0);
    }
    {
      Completer completer(seed + 1);
      completer_ = &completer;
      std::vector<std::thread> threads;
      for (int t = 1; t < size.threads; ++t) threads.emplace_back([&, t] { PushAll(by_thread[t], seed * 31 + t); });
      PushAll(by_thread[0], seed * 31);
      for (auto& t : threads) t.join();
      engine_->WaitForAll();
    }
    EXPECT_EQ(temporaries_made_, temporaries_freed_);
    for (Var* v : vars_) engine_->DeleteVariable({}, kCpu, v);
    engine_.reset();
    Verify();
  }

 private:
  void Execute(int id) {
    Planned& p = plan_[id];
    size_t k = 0;
    for (int v : p.reads) {
      if (cells_[v].inside.fetch_add(1) < 0) ++violations_;
      p.seen[k++] = cells_[v].writers.size();
    }
    for (int v : p.writes) {
      if (cells_[v].inside.exchange(-1) != 0) ++violations_;
      p.seen[k++] = cells_[v].writers.size();
    }
    Apply(p, id, [this](int v) -> uint64_t& { return cells_[v].value; });
    p.ran = true;
    for (int v : p.writes) cells_[v].writers.push_back(id);
    for (int v : p.writes) {
      if (cells_[v].inside.exchange(0) != -1) ++violations_;
    }
    for (int v : p.reads) cells_[v].inside.fetch_sub(1);
  }

  void PushAll(const std::vector<int>& ids, uint64_t seed) {
    std::mt19937_64 random(seed);
    auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
    for (int id : ids) {
      const Planned& p = plan_[id];
      std::vector<Var*> reads, writes;
      for (int v : p.reads) reads.push_back(vars_[v]);
      for (int v : p.writes) writes.push_back(vars_[v]);
      if (chance(5)) engine_->SetBulkSize(static_cast<int>(random() % 12));
      const int priority = chance(20) ? static_cast<int>(random() % 5) - 2 : 0;
      const FnProperty prop = chance(15) ? FnProperty::kCPUPrioritized : FnProperty::kNormal;
      const int how = static_cast<int>(random() % 10);
      if (how < 3 && engine_->TryAcquire(reads.data(), static_cast<int>(reads.size()), writes.data(), static_cast<int>(writes.size()))) {
        Execute(id);
        engine_->Release(reads.data(), static_cast<int>(reads.size()), writes.data(), static_cast<int>(writes.size()));
      } else if (how < 8) {
        engine_->PushSync([this, id](RunContext) { Execute(id); }, kCpu, reads, writes, prop, priority, "sync");
      } else if (how < 9) {
        engine_->PushAsync(
            [this, id](RunContext, OnComplete done) {
              Execute(id);
              done();
            },
            kCpu, reads, writes, prop, priority, "async");
      } else {
        engine_->PushAsync(
            [this, id](RunContext, OnComplete done) {
              completer_->Add([this, id, done] {
                Execute(id);
                done();
              });
            },
            kCpu, reads, writes, chance(50) ? FnProperty::kAsync : prop, priority, "remote");
      }
      if (chance(10)) UseTemporary(reads);
      if (chance(3)) WaitAndCheck(id);
    }
    engine_->SetBulkSize(0);
  }

  /* A variable that is written, read and deleted at once; its memory may only go after both. */
  void UseTemporary(std::vector<Var*> reads) {
    if (reads.size() > 2) reads.resize(2);
    ++temporaries_made_;
    Var* var = engine_->NewVariable();
    int* memory = new int(0);
    engine_->PushSync([memory](RunContext) { *memory = 1; }, kCpu, reads, {var});
    engine_->PushSync(
        [this, memory](RunContext) {
          if (*memory != 1) ++violations_;
        },
        kCpu, {var}, {});
    engine_->DeleteVariable(
        [this, memory](RunContext) {
          delete memory;
          ++temporaries_freed_;
        },
        kCpu, var);
  }

  /* What this thread pushed has run when the wait returns. */
  void WaitAndCheck(int id) {
    const Planned& p = plan_[id];
    for (int v : p.writes) engine_->WaitForVar(vars_[v]);
    for (int v : p.reads) engine_->WaitForVar(vars_[v], true);
    if (!(p.writes.empty() && p.reads.empty()) && !p.ran) ++violations_;
  }

  void Verify() {
    ASSERT_EQ(violations_, 0);
    for (size_t id = 0; id < plan_.size(); ++id) ASSERT_TRUE(plan_[id].ran) << "operation " << id << " was lost";
    for (const Cell& c : cells_) {
      std::vector<int> last(size_.threads, -1);
      for (int id : c.writers) {
        ASSERT_GT(plan_[id].index, last[plan_[id].thread]) << "push order of one thread was broken";
        last[plan_[id].thread] = plan_[id].index;
      }
    }
    // A reader stands after exactly the writers of its thread that were pushed before it.
    for (const Planned& p : plan_) {
      for (size_t k = 0; k < p.reads.size(); ++k) {
        const std::vector<int>& writers = cells_[p.reads[k]].writers;
        for (size_t i = 0; i < writers.size(); ++i) {
          const Planned& w = plan_[writers[i]];
          if (w.thread != p.thread) continue;
          ASSERT_EQ(w.index < p.index, i < p.seen[k]) << "a read passed a write of its thread";
        }
      }
    }
    // Serial execution: an operation may run when each variable has seen exactly the writers that
    // it saw.
    std::vector<uint64_t> value(cells_.size(), 0);
    std::vector<size_t> written(cells_.size(), 0);
    std::deque<int> left;
    for (size_t id = 0; id < plan_.size(); ++id) left.push_back(static_cast<int>(id));
    // readers_left[v][k]: reads that saw k writers of v and must run before writer k.
    std::vector<std::vector<int>> readers_left(cells_.size());
    for (size_t v = 0; v < cells_.size(); ++v) readers_left[v].assign(cells_[v].writers.size() + 1, 0);
    for (const Planned& p : plan_) {
      for (size_t k = 0; k < p.reads.size(); ++k) ++readers_left[p.reads[k]][p.seen[k]];
    }
    size_t stuck = 0;
    while (!left.empty() && stuck <= left.size()) {
      const int id = left.front();
      left.pop_front();
      const Planned& p = plan_[id];
      bool ready = true;
      for (size_t k = 0; k < p.seen.size() && ready; ++k) {
        const bool read = k < p.reads.size();
        const int v = read ? p.reads[k] : p.writes[k - p.reads.size()];
        ready = written[v] == p.seen[k] && (read || readers_left[v][p.seen[k]] == 0);
      }
      if (!ready) {
        left.push_back(id);
        ++stuck;
        continue;
      }
      stuck = 0;
      Apply(p, id, [&](int v) -> uint64_t& { return value[v]; });
      for (int v : p.writes) ++written[v];
      for (size_t k = 0; k < p.reads.size(); ++k) --readers_left[p.reads[k]][p.seen[k]];
    }
    ASSERT_TRUE(left.empty()) << left.size() << " operations fit no serial order";
    for (size_t v = 0; v < cells_.size(); ++v) ASSERT_EQ(value[v], cells_[v].value) << "variable " << v;
  }

  Size size_{};
  std::unique_ptr<Engine> engine_;
  std::vector<Cell> cells_;
  std::vector<Var*> vars_;
  std::vector<Planned> plan_;
  Completer* completer_ = nullptr;
  std::atomic<int> violations_{0}, temporaries_made_{0}, temporaries_freed_{0};
};

TEST_P(RandomWorkload, EqualsASerialExecution) {
  const Size sizes[] = {{1, 300, 1, 1}, {2, 300, 2, 2}, {5, 1000, 1, 4}, {5, 1000, 3, 4}, {40, 2000, 4, 6}, {200, 1000, 2, 40}};
  for (const Size& size : sizes) {
    SCOPED_TRACE("vars " + std::to_string(size.vars) + " threads " + std::to_string(size.threads));
    Run(size, 1000 * std::get<1>(GetParam()) + size.vars);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomWorkload,
                         ::testing::Combine(::testing::Values("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"),
                                            ::testing::Range(1, 9)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "Seed" + std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace mxnet
