/*
 * What the messages of stores and servers say.
 *
 * A request has a number that its sender has given it; the reply repeats it. Number 0 wants no
 * reply. The words of a head:
 *
 *   0  kind | dtype << 8 | flags << 16 | store << 32
 *   1  number of the request
 *   2  hash of the key (sharding.h)
 *   3  number of the part
 *   4  version: how many pushes of each worker are in the value that is asked for, or sent
 *   5  elements of the part
 *   6  priority that replies are sent with
 *   7  gradient compression: kind | bits of the threshold (float32) << 32
 */
#ifndef MXNET_KVSTORE_DIST_PROTOCOL_H_
#define MXNET_KVSTORE_DIST_PROTOCOL_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/round_up.h"
#include "kvstore/dist/all_reduce.h"
#include "kvstore/dist/transport.h"
#include "mxnet/base.h"

namespace mxnet {
namespace kvstore {

enum class Kind : uint8_t {
  // To a server. The payloads: InitText and values; values or codes; nothing. With kRows values are
  // rows, and a pull's payload asks for some (row_messages.h).
  kInit = 1,
  kPush = 2,  // with a request's number: a pull of the version that the push leads to as well
  kPull = 3,
  kFlush = 4,    // answered when all that was sent before is done
  kCommand = 5,  // version: number of the command; the payload is its text
  kStep = 7,     // version: steps that this worker has ended (steps.h); answered at once, or behind a snapshot
  // To the first worker: answered when all workers have sent it.
  kBarrier = 6,
  // Between servers. The payload: the steps of the snapshots that the sender has.
  kSnapshots = 8,
  // Replies. The payloads: values, as rows where a whole row_sparse value was asked for; what an
  // error says.
  kReply = 16,
  kError = 17,
  // Steps of an all-reduce (all_reduce.h).
  kOther = AllReduce::kMessageKind,
};

enum Flags : uint16_t {
  kSync = 1,      // the store's type is a synchronous one
  kFirst = 2,     // kInit: the values of the first worker are in the payload
  kLeaving = 4,   // kFlush: this worker pushes nothing more
  kWrite = 8,     // kStep: write a snapshot of this step; the answer comes when it is written
  kRows = 16,     // the value of kInit is row_sparse; the push has rows; the pull asks for rows
  kNoValue = 32,  // kPush: there is none to push, and the payload says why
};

struct Head {
  Kind kind = Kind::kReply;
  uint8_t dtype = 0;
  uint16_t flags = 0;
  int32_t store = 0;
  int64_t request = 0;
  int64_t key = 0;
  int64_t part = 0;
  int64_t version = 0;
  int64_t count = 0;
  int64_t priority = 0;
  int32_t compression = 0;
  float threshold = 0;

  static Head Read(const int64_t* words) {
    Head h;
    const uint64_t first = static_cast<uint64_t>(words[0]);
    h.kind = static_cast<Kind>(first & 0xff);
    h.dtype = static_cast<uint8_t>(first >> 8);
    h.flags = static_cast<uint16_t>(first >> 16);
    h.store = static_cast<int32_t>(first >> 32);
    h.request = words[1];
    h.key = words[2];
    h.part = words[3];
    h.version = words[4];
    h.count = words[5];
    h.priority = words[6];
    h.compression = static_cast<int32_t>(words[7] & 0xffffffff);
    const uint32_t bits = static_cast<uint32_t>(static_cast<uint64_t>(words[7]) >> 32);
    std::memcpy(&h.threshold, &bits, 4);
    return h;
  }
  void Write(int64_t* words) const {
    uint32_t bits = 0;
    std::memcpy(&bits, &threshold, 4);
    words[0] = static_cast<int64_t>(static_cast<uint64_t>(kind) | uint64_t{dtype} << 8 | uint64_t{flags} << 16 |
                                    static_cast<uint64_t>(static_cast<uint32_t>(store)) << 32);
    words[1] = request;
    words[2] = key;
    words[3] = part;
    words[4] = version;
    words[5] = count;
    words[6] = priority;
    words[7] = static_cast<int64_t>(uint64_t{bits} << 32 | static_cast<uint32_t>(compression));
  }
  /* The reply's head. */
  Head Reply(Kind what) const {
    Head h = *this;
    h.kind = what;
    return h;
  }
};

/* A message with that head and those bytes, which `owner` keeps. */
inline Message MakeMessage(const Head& head, const void* data = nullptr, size_t bytes = 0, std::shared_ptr<const void> owner = nullptr) {
  Message m;
  head.Write(m.head);
  m.data = data;
  m.bytes = bytes;
  m.owner = std::move(owner);
  return m;
}

/* A message whose payload is a text. */
inline Message TextMessage(const Head& head, std::string text) {
  auto kept = std::make_shared<const std::string>(std::move(text));
  return MakeMessage(head, kept->data(), kept->size(), kept);
}

inline std::string TextOf(const Message& m) { return m.bytes ? std::string(static_cast<const char*>(m.data), m.bytes) : std::string(); }

/*
 * The beginning of kInit's payload, which tells the server what it keeps: the shape is to be that
 * of all workers. The values of the part follow from the first one (kFirst).
 */
struct InitText {
  std::string key;
  bool named = false;
  std::vector<int64_t> shape;  // of the whole value
  int64_t begin = 0;           // of the part
  int64_t parts = 1;

  std::string Write() const {
    std::vector<int64_t> words = {static_cast<int64_t>(key.size()), named ? 1 : 0, static_cast<int64_t>(shape.size()), begin, parts};
    words.insert(words.end(), shape.begin(), shape.end());
    std::string text(reinterpret_cast<const char*>(words.data()), words.size() * 8);
    text += key;
    text.resize(RoundUp(text.size(), 64));
    return text;
  }
  /* Returns its size, or 0 where it is not whole. */
  size_t Read(const void* data, size_t bytes) {
    int64_t words[5];
    if (bytes < sizeof words) return 0;
    std::memcpy(words, data, sizeof words);
    constexpr int64_t kMost = 1 << 20;
    if (words[0] < 0 || words[0] > kMost || words[2] < 0 || words[2] > 64) return 0;
    const size_t name = static_cast<size_t>(words[0]), ndim = static_cast<size_t>(words[2]);
    const size_t all = RoundUp(sizeof words + ndim * 8 + name, 64);
    if (bytes < all) return 0;
    const char* at = static_cast<const char*>(data) + sizeof words;
    shape.resize(ndim);
    if (ndim) std::memcpy(shape.data(), at, ndim * 8);
    key.assign(at + ndim * 8, name);
    named = words[1] != 0;
    begin = words[3];
    parts = words[4];
    return all;
  }
  /* Of what a server keeps as a part of so many elements: rows where it has whole ones, else a row
   * of elements. */
  Shape PartShape(int64_t count) const {
    if (parts == 1) return Shape(shape);
    int64_t row = 1;
    for (size_t d = 1; d < shape.size(); ++d)
      if (shape[d] <= 0 || __builtin_mul_overflow(row, shape[d], &row)) return Shape{count};
    if (shape.size() < 2 || begin % row != 0 || count % row != 0) return Shape{count};
    Shape part(shape);
    part[0] = count / row;
    return part;
  }
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_PROTOCOL_H_
