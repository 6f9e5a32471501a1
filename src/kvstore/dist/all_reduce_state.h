/* What the files of AllReduce share: the words of its messages, calls under way, and its state. */
#ifndef MXNET_KVSTORE_DIST_ALL_REDUCE_STATE_H_
#define MXNET_KVSTORE_DIST_ALL_REDUCE_STATE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kvstore/dist/all_reduce.h"
#include "kvstore/dist/gpu_sums.h"
#include "mxnet/engine.h"

namespace mxnet {
namespace kvstore {
namespace reduce {

constexpr size_t kLongSum = 256 << 10;  // bytes; longer sums are not made on the progress thread

enum class Phase : uint8_t {
  kValues = 0,
  kResult = 1,
  kFailed = 2,
  kAsk = 3,  // to the first worker: this worker's array is ready; the payload is its Gpu
  kTurn = 4  // from the first worker: all are ready; the payload is the turn's number and group
};

/* A shape in one word: of up to four axes below 2^14 the sizes themselves, of others a hash. */
int64_t PackedShape(const Shape& shape);

/* The words of a message: kind, phase, dtype, where the array is, its storage and store; the
 * array's elements; the key's hash; how many calls for the key came before; the rows of a
 * row_sparse array; the shape, see PackedShape. */
struct Words {
  Phase phase = Phase::kValues;
  bool on_gpu = false, sparse = false;
  int dtype = 0, store = 0;
  int64_t count = 0, key = 0, call = 0, rows = 0, shape = 0;

  /* What is shared out: rows or elements. */
  int64_t units() const { return sparse ? rows : count; }

  void Write(int64_t* head) const {
    head[0] = static_cast<int64_t>(uint64_t{AllReduce::kMessageKind} | static_cast<uint64_t>(dtype & 0xff) << 8 |
                                   static_cast<uint64_t>(phase) << 16 | static_cast<uint64_t>(on_gpu) << 24 |
                                   static_cast<uint64_t>(sparse) << 25 | static_cast<uint64_t>(static_cast<uint32_t>(store)) << 32);
    head[1] = count;
    head[2] = key;
    head[3] = call;
    head[4] = rows;
    head[5] = shape;
  }
  static Words Read(const int64_t* head) {
    Words words;
    const uint64_t first = static_cast<uint64_t>(head[0]);
    words.dtype = static_cast<int>(first >> 8 & 0xff);
    words.phase = static_cast<Phase>(first >> 16 & 0xff);
    words.on_gpu = (first >> 24 & 1) != 0;
    words.sparse = (first >> 25 & 1) != 0;
    words.store = static_cast<int>(static_cast<uint32_t>(first >> 32));
    words.count = head[1];
    words.key = head[2];
    words.call = head[3];
    words.rows = head[4];
    words.shape = head[5];
    return words;
  }
  bool Fits(const Words& other) const {
    return count == other.count && dtype == other.dtype && on_gpu == other.on_gpu && sparse == other.sparse && rows == other.rows &&
           shape == other.shape;
  }
};

/* Where an array lies. */
struct Gpu {
  int64_t number = -1;   // in its process; -1: on the CPU
  std::string identity;  // of the device
};

/* A call for a key, from the first that is heard of it to its end. */
struct Call {
  bool started = false;  // here; the array is ready
  bool broadcast = false, may_gpu = false;
  NDArray array;
  char* data = nullptr;
  Words words;
  int priority = 0;
  OnComplete done;
  std::vector<Message> values;   // of this worker's share, by worker
  std::vector<Message> packed;   // the shares of a row_sparse array, by worker
  std::vector<Message> results;  // what became of them
  std::vector<bool> have_values, have_result;
  std::vector<bool> asked;                     // at the first worker, by worker: kAsk is here
  std::vector<Gpu> gpus;                       // at the first worker, by worker
  bool by_hosts = false;                       // GPUs cannot add up here after all: `array` is a copy
  NDArray original;                            // of this
  std::vector<std::pair<int, Message>> early;  // results of a broadcast that came before the call was started here
  std::vector<Words> shapes;                   // what the workers say of the array
  bool summed = false, over = false;
  int sending = 0;
  std::string error;  // what another worker says
};

}  // namespace reduce

class AllReduce::State : public std::enable_shared_from_this<AllReduce::State> {
 public:
  explicit State(std::shared_ptr<Transport> transport);

  /* `may_gpu`: the workers have agreed that GPUs add up arrays that lie on them. */
  void Push(int store, const KVKey& key, const NDArray& array, int priority, bool broadcast, bool may_gpu);
  void OnMessage(int from, Message message);
  std::shared_ptr<void> Place(int from, const int64_t* head);
  void OnLost(const Peer& peer);
  std::function<void(const std::string& why)> Interrupter();
  /* No thread goes on. */
  void Close();
  bool busy() {
    std::lock_guard<std::mutex> lock(mutex_);
    return !calls_.empty();
  }

 private:
  using Phase = reduce::Phase;
  using Words = reduce::Words;
  using Call = reduce::Call;
  using Id = std::tuple<int, int64_t, int64_t>;  // store, key, call
  using CallPointer = std::shared_ptr<Call>;
  /* Work for after the lock is released. */
  using Later = std::vector<std::function<void()>>;

  static Id IdOf(const Words& words) { return Id(words.store, words.key, words.call); }
  int WorkerOf(int rank) const {
    const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
    return found == ranks_.end() ? -1 : static_cast<int>(found - ranks_.begin());
  }

  void Start(const CallPointer& call, NDArray array, OnComplete done);
  CallPointer Find(const Words& words);
  /* The call has ended here. What still comes for it, of workers that failed or were late, is
   * dropped. */
  bool IsOver(const Words& words) const {
    const auto calls = calls_of_key_.find({words.store, words.key});
    return calls != calls_of_key_.end() && words.call < calls->second && !calls_.count(IdOf(words));
  }
  /* The elements that a worker adds up, or the rows of a row_sparse array. */
  std::pair<int64_t, int64_t> Share(const Words& words, int worker) const;
  bool Owns(const Words& words, int worker) const;
  bool Needs(const Call& call, int worker) const;
  void SendTo(const CallPointer& call, int worker, Phase phase, int64_t begin, int64_t end, Later* later);
  void SendShares(const CallPointer& call, Later* later);
  void Advance(const CallPointer& call, Later* later);
  void TakeResult(Call* call, int worker, const Message& message);
  void AddUp(const CallPointer& call);
  void Summed(const CallPointer& call, const std::string& error);
  bool Matches(const CallPointer& call, Later* later);
  /* A message about the call with a text as payload. */
  void Say(const Call& call, Phase phase, std::string payload, int worker, int priority, Later* later);
  void FailForAll(const CallPointer& call, const std::string& text, Later* later) { FailForAll(call, text, StoreError(text), later); }
  /* `text` on the other workers, `error` on this one. */
  void FailForAll(const CallPointer& call, const std::string& text, const std::exception_ptr& error, Later* later);
  void Fail(const CallPointer& call, std::exception_ptr error, Later* later);
  void Sent(const CallPointer& call);
  static void Run(const Later& later) {
    for (const auto& what : later) what();
  }

  // Row_sparse arrays (all_reduce_rows.cc): shares are rows, of which those that are there travel.
  std::vector<Message> PackShares(const Words& words, const NDArray& array) const;
  void SendRows(const CallPointer& call, int worker, Phase phase, Later* later);
  /* May take long. */
  static bool HasManyRows(const Call& call);
  void AddUpRows(Call* call);
  /* The results become the array. */
  void PutTogether(const CallPointer& call);

  // Arrays that lie on GPUs (all_reduce_gpus.cc):
  /* Tells the first worker what this one's array is, on a GPU or not. */
  void Ask(const CallPointer& call, Later* later);
  /* The first worker gives the call its turn when all have asked. */
  void GiveTurn(const CallPointer& call, Later* later);
  static reduce::Gpu GpuOf(const Message& asked);
  void OnTurn(const CallPointer& call, const Message& message, Later* later);
  /* The GPUs may begin, if the turn names their group. */
  void TakeTurn(const CallPointer& call, GpuSums::Turn turn, Later* later);
  /* They may not: the call goes on with a copy on the host, as if it had begun there. */
  void AddOnHosts(const CallPointer& call, Later* later);
  void AddOnGpu(const CallPointer& call, GpuSums::Turn turn);
  std::string GroupOf(const Call& call);
  void Copied(const CallPointer& call, const std::string& error);
  /* The sum is in `array`, on the host. */
  static void End(const CallPointer& call);
  /* What an array on the GPU gets at its end. */
  std::exception_ptr EndOnGpu(std::exception_ptr error);

  const std::shared_ptr<Transport> transport_;
  const std::vector<int> ranks_;  // of the workers
  const int workers_;
  int me_ = 0;
  std::mutex mutex_;  // guards what follows
  std::map<std::pair<int, int64_t>, int64_t> calls_of_key_;
  std::map<Id, CallPointer> calls_;
  std::map<int, std::string> lost_;  // worker, what is said of it
  std::unique_ptr<GpuSums> gpus_;    // once it is needed
  // At the first worker: turns that were given, and the groups of GPUs.
  int64_t turns_ = 0;
  std::map<std::vector<int>, std::string> groups_;  // empty: these GPUs cannot add up
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_ALL_REDUCE_STATE_H_
