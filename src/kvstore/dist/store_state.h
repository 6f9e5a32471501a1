/* What the files of DistStore share: a key's value on the servers, and pushes and pulls of it. */
#ifndef MXNET_KVSTORE_DIST_STORE_STATE_H_
#define MXNET_KVSTORE_DIST_STORE_STATE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kvstore/dist/store.h"
#include "mxnet/engine.h"

namespace mxnet {
namespace kvstore {

/*
 * Where a program pulls a short value behind each push of it, the push asks for the value as well,
 * so that both take one way to the server and back.
 */
struct DistStore::Foreseen {
  using Then = std::function<void(const std::exception_ptr& error, const Message& reply)>;
  std::mutex mutex;
  bool here = false;
  std::exception_ptr error;
  Message reply;
  Then then;            // of the pull, if it came before the reply
  int64_t request = 0;  // of the push

  void Arrive(const std::exception_ptr& e, const Message& message) {
    Then next;
    {
      std::lock_guard<std::mutex> hold(mutex);
      here = true, error = e, reply = message;
      next.swap(then);
    }
    if (next) next(e, message);
  }
  /* `next` gets the value, which lies in `into` already if it came late enough. */
  void Take(Job* job, Job::Destination into, Then next) {
    {
      std::lock_guard<std::mutex> hold(mutex);
      if (!here) then.swap(next);
    }
    if (next)
      next(error, reply);
    else
      job->Redirect(request, std::move(into));
  }
};

/* Its address stays for the life of the store. */
struct DistStore::Remote {
  Remote() : order(Engine::Get()->NewVariable()) {}
  ~Remote() { Engine::Get()->DeleteVariable(nullptr, Context::CPU(), order); }
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  /* The first row of a part, and the one behind its last. REQUIRES: by_rows. */
  std::pair<int64_t, int64_t> RowsOf(const Part& part, const Shape& shape) const {
    return row > 0 ? std::make_pair(part.begin / row, (part.begin + part.count) / row) : std::make_pair(int64_t{0}, shape[0]);
  }

  int64_t hash = 0;
  std::vector<Part> parts;
  int64_t row = 0;                     // elements of a row of the value; 0: it has none
  bool by_rows = false;                // each part is some rows
  bool sparse = false;                 // the value is row_sparse
  int64_t version = 0;                 // that this worker's pushes lead to
  Var* order;                          // written by all operations
  NDArray sum, pulled;                 // on the host, where the caller's arrays are not fit
  NDArray residual, codes;             // of gradient compression
  bool pushed = false;                 // and not pulled since
  bool pull_follows = false;           // the last push had a pull behind it
  std::shared_ptr<Foreseen> foreseen;  // of the last push
};

struct DistStore::Operation {
  /* Is over when nothing knows it any more; also when the engine has skipped it. */
  ~Operation() {
    if (own) own->End(push);
  }

  DistTransport* own = nullptr;  // once it has begun
  Remote* remote = nullptr;
  Head head;  // but for the parts
  bool push = false, pull = false, slices = false;
  bool held = false;  // HoldSource
  bool rows = false;  // what is pushed or pulled are rows
  NDArray source, target;
  NDArray ids;                   // of the rows that are pulled; none: all that are stored
  std::vector<Message> replies;  // of the parts of a value that is pulled as rows
  Compression compression;
  std::shared_ptr<Foreseen> foreseen;
  OnComplete complete;
  std::atomic<int> left{0};
  std::mutex mutex;
  std::exception_ptr error;  // the first one

  /*
   * May the engine hear of the end as soon as all is handed to the transport? The next operation of
   * the key need not wait then for what is on its way. The source is held till it has left.
   */
  bool HoldSource() {
    Var* reads[1] = {source.var()};
    return held = Engine::Get()->TryAcquire(reads, 1, nullptr, 0);
  }
  /* A part has left. */
  void Left() {
    if (!held) return End(nullptr);
    Var* reads[1] = {source.var()};
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) Engine::Get()->Release(reads, 1, nullptr, 0);
  }
  void End(const std::exception_ptr& e) {
    if (IsLast(e)) complete(error);
  }
  /* A part is over: was it the last one? */
  bool IsLast(const std::exception_ptr& e) {
    if (e) {
      std::lock_guard<std::mutex> hold(mutex);
      if (!error) error = e;
    }
    return left.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_STORE_STATE_H_
