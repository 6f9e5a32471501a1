/* Streams and events of a device that is late: what is put on a stream runs on the stream's own
 * thread, or only when somebody waits for it. */
#ifndef MXNET_TESTS_CPP_FAKE_STREAMS_H_
#define MXNET_TESTS_CPP_FAKE_STREAMS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "base/device/device_interface.h"
#include "mxnet/error.h"

namespace mxnet {

class FakeStream {
 public:
  enum Kind {
    kThread,  // in order, on a thread of its own
    kLazy     // in order, on the thread that waits, no further than that has to
  };
  explicit FakeStream(Kind kind = kThread) : kind_(kind) {
    if (kind == kThread) thread_ = std::thread([this] { Loop(); });
  }
  ~FakeStream() {
    if (kind_ == kLazy) return;
    Put({});
    thread_.join();
  }
  void Put(std::function<void()> work) {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(work));
    ++put_;
    changed_.notify_all();
  }
  void Wait(uint64_t upto) {
    if (kind_ == kLazy) {
      while (!Done(upto)) RunOne();
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= upto; });
  }
  uint64_t put() {
    std::lock_guard<std::mutex> lock(mutex_);
    return put_;
  }
  bool Done(uint64_t upto) {
    std::lock_guard<std::mutex> lock(mutex_);
    return done_ >= upto;
  }
  /* Put there and not over. */
  size_t under_way() {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<size_t>(put_ - done_);
  }

  inline static std::atomic<int> syncs{0}, waits{0}, finishes{0};  // calls so far
  inline static std::atomic<int> events{0};                        // recorded and not released
  inline static std::atomic<bool> fault{false};                    // who waits for an event hears of one

 private:
  bool RunOne() {
    std::function<void()> work;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return !queue_.empty(); });
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    if (!work) return false;
    work();
    std::lock_guard<std::mutex> lock(mutex_);
    ++done_;
    changed_.notify_all();
    return true;
  }
  void Loop() {
    while (RunOne()) {
    }
  }
  const Kind kind_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  uint64_t put_ = 0, done_ = 0;
  std::thread thread_;
};

struct FakeEvent {
  FakeStream* stream;
  uint64_t upto;
};

inline const StreamHooks kFakeStreams = {[](int) {},
                                         [](bool) -> void* { return new FakeStream; },
                                         [](void* s) { delete static_cast<FakeStream*>(s); },
                                         [](void* s) {
                                           ++FakeStream::syncs;
                                           FakeStream* stream = static_cast<FakeStream*>(s);
                                           stream->Wait(stream->put());
                                         },
                                         [](void* s) -> void* {
                                           ++FakeStream::events;
                                           FakeStream* stream = static_cast<FakeStream*>(s);
                                           return new FakeEvent{stream, stream->put()};
                                         },
                                         [](void* s, void* e) {
                                           ++FakeStream::waits;
                                           const FakeEvent event = *static_cast<FakeEvent*>(e);
                                           static_cast<FakeStream*>(s)->Put([event] { event.stream->Wait(event.upto); });
                                         },
                                         [](void* e) { return static_cast<FakeEvent*>(e)->stream->Done(static_cast<FakeEvent*>(e)->upto); },
                                         [](void* e) {
                                           ++FakeStream::finishes;
                                           static_cast<FakeEvent*>(e)->stream->Wait(static_cast<FakeEvent*>(e)->upto);
                                           if (FakeStream::fault) throw Error("[engine] running on the GPU failed: fake fault");
                                         },
                                         [](void* e) {
                                           --FakeStream::events;
                                           delete static_cast<FakeEvent*>(e);
                                         }};

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_FAKE_STREAMS_H_
