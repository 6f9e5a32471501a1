/* What the files of ProgressTransport share: packets' heads and times. */
#ifndef MXNET_KVSTORE_DIST_TRANSPORT_PROGRESS_PARTS_H_
#define MXNET_KVSTORE_DIST_TRANSPORT_PROGRESS_PARTS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "kvstore/dist/transport_progress.h"

namespace mxnet {
namespace kvstore {
namespace progress {

enum Kind : int32_t { kMessage = 1, kHeartbeat, kGoodbye, kAnswer, kYouAreLost };

/* The head of each packet. A payload that is short enough follows it. */
struct PacketHead {
  int32_t kind = kMessage;
  int32_t priority = 0;
  int32_t tag = 0;
  uint64_t part = 0;
  uint64_t bytes = 0;
  int64_t head[Message::kWords] = {};
};
static_assert(sizeof(PacketHead) <= PacketLayer::kMaxHead, "a head has a bound");
inline constexpr int kMaxPackets = 64;  // on their way to one rank

inline constexpr int64_t kMicro = 1000, kMilli = 1000 * kMicro, kSecond = 1000 * kMilli;
inline constexpr int64_t kBeat = 50 * kMilli;
inline constexpr int64_t kShortest = 100 * kMicro, kLongest = kMilli;  // time without a sleep, after something has happened
inline constexpr int64_t kNap = 50 * kMicro;                           // where threads come to Work
inline constexpr int64_t kComing = 10 * kMilli;                        // since one was there: another will come
inline constexpr int64_t kOwnPause = kSecond;                          // longer without a beat: this process did not run

inline int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline int64_t Nanoseconds(double seconds) { return static_cast<int64_t>(std::min(seconds, 1e9) * 1e9); }

}  // namespace progress
}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_TRANSPORT_PROGRESS_PARTS_H_
