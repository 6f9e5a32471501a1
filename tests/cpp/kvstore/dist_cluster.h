/* What the tests of distributed stores share: a job whose ranks are threads of this process. */
#ifndef MXNET_TESTS_DIST_CLUSTER_H_
#define MXNET_TESTS_DIST_CLUSTER_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "in_process.h"
#include "kvstore/dist/store.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"

namespace mxnet {
namespace kvstore {

using Values = std::vector<float>;
using WorkerFn = std::function<void(int worker, KVStore* kv)>;

inline NDArray Filled(const Values& values) {
  NDArray a({static_cast<int64_t>(values.size())}, Context::CPU(), kFloat32);
  if (!values.empty()) a.CopyBytesFrom(values.data(), values.size() * 4);
  return a;
}

inline NDArray Full(int64_t size, float value) { return Filled(Values(static_cast<size_t>(size), value)); }

inline Values Read(const NDArray& a) {
  Values values(static_cast<size_t>(a.shape().Size()));
  a.CopyBytesTo(values.data(), values.size() * 4);
  return values;
}

inline Values Random(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  Values values(size);
  for (float& v : values) v = number(random);
  return values;
}

template <typename F>
std::string ErrorOf(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

/* stored -= rate * pushed */
inline KVStore::Updater Descent(float rate) {
  return [rate](const KVKey&, const NDArray& pushed, NDArray* stored) {
    const TBlob from = pushed.data(), to = stored->data();
    Engine::Get()->PushSync(
        [from, to, rate](RunContext) {
          for (int64_t i = 0; i < to.Size(); ++i) to.data<float>()[i] -= rate * from.data<float>()[i];
        },
        Context::CPU(), {pushed.var(), stored->var()}, {stored->var()});
  };
}

/* The same for the rows that were pushed. REQUIRES: a row_sparse value has all rows. */
inline KVStore::Updater RowDescent(float rate) {
  return [rate](const KVKey&, const NDArray& pushed, NDArray* stored) {
    const NDArray to = *stored;
    Engine::Get()->PushSync(
        [pushed, to, rate](RunContext) {
          MXNET_CHECK(pushed.is_sparse()) << "rows were not pushed as such";
          const SparseParts& from = *pushed.sparse();
          MXNET_CHECK(!to.is_sparse() || to.sparse()->stored() == to.shape()[0]) << "rows are missing";
          float* const all = to.is_sparse() ? to.sparse()->values.data<float>() : to.data().data<float>();
          const int64_t row = to.shape().Prod(1, to.shape().ndim());
          for (int64_t i = 0; i < from.values.Size(); ++i)
            all[from.index[SparseParts::kRows].data<int64_t>()[i / row] * row + i % row] -= rate * from.values.data<float>()[i];
        },
        Context::CPU(), {pushed.var(), stored->var()}, {stored->var()});
  };
}

/* stored = how many elements were pushed */
inline void Counted(const KVKey&, const NDArray& pushed, NDArray* stored) {
  *stored = Full(pushed.shape().Size(), static_cast<float>(pushed.shape().Size()));
}

/* A job; its servers serve as long as it lives. Command 1 sets an updater, 3 one that counts
 * elements, 5 one that fails, 7 one for rows; 9 fails. */
class Cluster {
 public:
  Cluster(int workers, int servers, const std::string& type, InProcessOptions options = InProcessOptions())
      : fabric_(workers, servers, options), type_(type), workers_(workers) {
    for (int rank = 0; rank < workers + servers; ++rank) jobs_.push_back(std::make_shared<Job>(fabric_.At(rank)));
    for (int i = 0; i < servers; ++i) {
      servers_.push_back(CreateDistStore(type, jobs_[static_cast<size_t>(workers + i)]));
      KVStore* server = servers_.back().get();
      threads_.emplace_back([server] {
        server->RunServer([server](int id, const std::string& body) {
          if (id == 1) server->SetUpdater(Descent(std::stof(body)));
          if (id == 5)
            server->SetUpdater([server](const KVKey&, const NDArray&, NDArray*) { server->ReportServerError("line 7 of updater"); });
          if (id == 7) server->SetUpdater(RowDescent(std::stof(body)));
          if (id == 3) server->SetUpdater(Counted);
          if (id == 9) MXNET_THROW(Value) << "no such optimizer: " << body;
        });
      });
    }
  }
  ~Cluster() {
    Leave();
    for (std::thread& t : threads_) t.join();
    servers_.clear();
    for (auto& job : jobs_) job->Interrupter()("end");
    jobs_.clear();
  }
  /* All workers say goodbye. */
  void Leave() {
    for (int w = 0; w < workers_; ++w) fabric_.At(w)->Stop(5);
  }
  /* Each worker's program, at the same time. */
  void Run(const WorkerFn& program) {
    std::vector<std::thread> threads;
    for (int w = 0; w < workers_; ++w)
      threads.emplace_back([&, w] {
        std::unique_ptr<KVStore> kv = CreateDistStore(type_, job(w));
        try {
          program(w, kv.get());
        } catch (const std::exception& e) {
          ADD_FAILURE() << "worker " << w << ": " << e.what();
        }
      });
    for (std::thread& t : threads) t.join();
  }
  const std::shared_ptr<Job>& job(int rank) { return jobs_[static_cast<size_t>(rank)]; }
  InProcessFabric& fabric() { return fabric_; }

 private:
  InProcessFabric fabric_;
  const std::string type_;
  const int workers_;
  std::vector<std::shared_ptr<Job>> jobs_;
  std::vector<std::unique_ptr<KVStore>> servers_;
  std::vector<std::thread> threads_;
};

class Bounds {
 public:
  Bounds(const char* split_from, const char* slice) {
    Env::Set("MXNET_KVSTORE_BIGARRAY_BOUND", split_from);
    Env::Set("MXNET_KVSTORE_SLICE_THRESHOLD", slice);
  }
  ~Bounds() {
    Env::Set("MXNET_KVSTORE_BIGARRAY_BOUND", "");
    Env::Set("MXNET_KVSTORE_SLICE_THRESHOLD", "");
  }
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_TESTS_DIST_CLUSTER_H_
