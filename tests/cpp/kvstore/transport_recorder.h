/* Ranks of one process, and what came to each, for tests of the transport. */
#ifndef MXNET_TESTS_TRANSPORT_RECORDER_H_
#define MXNET_TESTS_TRANSPORT_RECORDER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "in_process.h"
#include "kvstore/dist/transport.h"

namespace mxnet {
namespace kvstore {

struct Got {
  int from;
  Message message;
};

/* Keeps what comes. */
class Recorder : public Transport::Handler {
 public:
  explicit Recorder(Transport* transport) : transport_(transport) { transport->SetHandler(this); }
  ~Recorder() override { transport_->SetHandler(nullptr); }
  void OnMessage(int from, Message message) override {
    if (on_message) on_message(from, message);
    std::lock_guard<std::mutex> lock(mutex);
    got.push_back({from, std::move(message)});
    changed.notify_all();
  }
  std::shared_ptr<void> Place(int, const int64_t*, size_t bytes) override {
    if (!place) return nullptr;
    ++placed;
    return std::shared_ptr<void>(new char[bytes], [](void* p) { delete[] static_cast<char*>(p); });
  }
  void OnLost(const Peer& peer) override {
    std::lock_guard<std::mutex> lock(mutex);
    lost.push_back(peer);
    changed.notify_all();
  }
  template <typename Condition>
  bool Wait(Condition condition) {
    std::unique_lock<std::mutex> lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(60), condition);
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Got> got;
  std::vector<Peer> lost;
  std::function<void(int, const Message&)> on_message;
  bool place = false;
  std::atomic<int> placed{0};

 private:
  Transport* transport_;
};

struct Job {
  Job(int workers, int servers, InProcessOptions options = InProcessOptions()) : fabric(workers, servers, options) {
    for (int i = 0; i < workers + servers; ++i) recorders.push_back(std::make_unique<Recorder>(fabric.At(i).get()));
  }
  InProcessFabric fabric;
  std::vector<std::unique_ptr<Recorder>> recorders;
  Transport& at(int rank) { return *fabric.At(rank); }
};

inline std::shared_ptr<std::vector<uint8_t>> Payload(size_t bytes, uint8_t seed) {
  auto payload = std::make_shared<std::vector<uint8_t>>(bytes);
  for (size_t i = 0; i < bytes; ++i) (*payload)[i] = static_cast<uint8_t>(seed + i * 7 + i / 251);
  return payload;
}

inline Message Make(int64_t word, std::shared_ptr<std::vector<uint8_t>> payload = nullptr) {
  Message message;
  message.head[0] = word;
  if (payload) {
    message.data = payload->data();
    message.bytes = payload->size();
    message.owner = payload;
  }
  return message;
}

inline bool Same(const Message& message, const std::vector<uint8_t>& payload) {
  return message.bytes == payload.size() && (payload.empty() || std::memcmp(message.data, payload.data(), payload.size()) == 0);
}

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_TESTS_TRANSPORT_RECORDER_H_
