/*
 * A server: keeps its parts of the values, adds up what the workers push, and answers pulls.
 *
 * SYNC       A part collects one push from each worker. When all are there they are added in the
 *            order of the workers' numbers, and the sum replaces what is stored or is handed to the
 *            updater; the part's version grows by one. A pull says which version it needs, and
 *            waits for it. Sums have the same bits in every run.
 * ASYNC      Each push is handed to the updater at once. Pulls never wait.
 * THREADS    Messages are taken and updaters and controllers called by the thread that calls Run.
 *            While it waits it receives messages itself, or the progress thread does. Pushes and
 *            pulls that no updater has to see are taken where they are received. The engine makes
 *            large sums.
 * MEMORY     A push is received in memory that becomes the sum, and without an updater the stored
 *            value: that is replaced, never changed, so that replies are sent from it without a
 *            copy.
 * SNAPSHOTS  With PS_SNAPSHOT_FOLDER the server writes its parts and what the controller answers to
 *            kGetStates there, every PS_SNAPSHOT_INTERVAL seconds (600) if something has changed.
 *            With synchronous stores all servers write the same step (steps.h), and each keeps the
 *            files of its last two: the one before is there until all have the last. Servers that
 *            start tell each other what they have and go on from the latest step that all have.
 *            Inits then leave the values as they are, and the controller gets the states behind its
 *            first kSetOptimizer. Files are whole or not there.
 * ROWS       A row_sparse value is kept as its rows, and gets all of them before an updater sees it.
 *            Sums are row_sparse where all workers pushed rows.
 * FAILURE    What fails in an updater is kept with the part and told to whoever pulls it. When a
 *            worker is lost or ends, pulls that wait for its push fail with an error that says who
 *            it was and how often it had pushed; pulls that wait for nobody are still answered.
 */
#ifndef MXNET_KVSTORE_DIST_SERVER_H_
#define MXNET_KVSTORE_DIST_SERVER_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kvstore/compression.h"
#include "kvstore/dist/job.h"
#include "mxnet/kvstore.h"

namespace mxnet {
namespace kvstore {

/* Values up to this size that an updater changes in place are copied before they are sent, so that
 * the next update need not wait. */
constexpr size_t kCopiedBytes = 64 << 10;

inline Compression CompressionOf(const Head& head) {
  Compression how;
  how.kind = static_cast<Compression::Kind>(head.compression);
  how.threshold = head.threshold;
  return how;
}

inline TBlob BlobOf(const Message& m, int64_t count, int dtype) {
  return TBlob{const_cast<void*>(m.data), Shape({count}), dtype, Context::CPU()};
}

/* Numbers of commands that servers themselves know; controllers carry them out. */
enum Commands { kSetOptimizer = 0, kGetStates = 2, kSetStates = 3, kGetStep = 4 };

class Server final : private Transport::Handler {
 public:
  explicit Server(std::shared_ptr<Job> job);
  ~Server() override;

  /* Serves until all workers have ended or are lost. */
  void Run(const KVStore::Controller& controller);
  /* Called within a controller: for the store of the command's sender; else for all. */
  void SetUpdater(KVStore::Updater updater);
  /* The running updater or controller has failed. */
  void ReportError(const std::string& text) { reported_ = text; }
  /* Within a controller: the worker gets this. */
  void SetReply(const std::string& text) { reply_ = text; }
  /* What the updater is called for. */
  KVStore::ServerPart part() const { return updated_part_; }

 private:
  struct Pull {
    int from = 0;
    Head head;
    std::shared_ptr<const std::vector<int64_t>> rows = nullptr;  // that are asked for; null: the whole
  };
  struct FirstValue : Pull {
    std::vector<int64_t> shape;  // of the whole value
  };
  struct KeptPart {
    KVKey key{0};
    KVStore::ServerPart place;
    std::vector<int64_t> shape;  // of the whole value, if shape_known: snapshots do not have it
    bool shape_known = false;
    bool sync = true;
    int64_t count = 0;  // elements
    NDArray stored, sum;
    bool lent = false;   // messages on their way may be in the memory of `stored`
    bool whole = false;  // `stored` is row_sparse and has all rows
    int64_t version = 0;
    std::vector<Message> pushes;               // the oldest of each worker, by its number
    std::vector<bool> pushed;                  // whether there is one
    int round = 0;                             // how many there are
    std::map<int, std::deque<Message>> later;  // those behind, by the worker's number; none is empty
    std::vector<Pull> pulls;                   // that wait
    std::string error;                         // of the last update
    std::string refused;                       // why a worker's push is missing for good
  };
  struct Event {
    int from = 0;
    Message message;
    bool lost = false;
    Peer peer;
  };
  using PartName = std::tuple<int32_t, int64_t, int64_t>;  // store, key, part

  void OnMessage(int from, Message message) override;
  std::shared_ptr<void> Place(int from, const int64_t* head, size_t bytes) override;
  void OnLost(const Peer& peer) override;

  void Take(const Event& event, const KVStore::Controller& controller);
  void Init(int from, const Head& head, const Message& message);
  void Push(int from, const Head& head, const Message& message);
  void TakePull(int from, const Head& head, const Message& message);
  void Command(int from, const Head& head, const Message& message, const KVStore::Controller& controller);
  /* The controller's reply; *error: what failed. */
  std::string Control(int store, int id, const std::string& body, const KVStore::Controller& controller, std::string* error);
  /* The worker pushes nothing more. `why` is said of it; empty: that it is lost. */
  void Leave(const Peer& peer, const std::string& why);

  KeptPart* Find(const Head& head);
  /* Keeps a push till those of all workers are there. */
  void Keep(KeptPart* part, int worker, const Message& message);
  /* Why it is not worker 0's, or empty. */
  std::string Refusal(const KeptPart& part, const FirstValue& value) const;
  /* Why the push is not accepted, or nothing. */
  std::string Refusal(const KeptPart& part, const Head& head, const Message& message) const;
  /* Adds up the oldest push of each worker. */
  void EndRound(KeptPart* part);
  /* The sum of `pushes` replaces what is stored or is handed to the updater. Returns the array
   * whose place the sum took: to free it takes longer than an answer takes to leave. */
  NDArray Apply(KeptPart* part, int store, const std::vector<Message>& pushes);
  void Update(KeptPart* part, const KVStore::Updater& updater);
  void AnswerPulls(KeptPart* part);
  /* Why version `version` will never be there, or nothing. */
  std::string Hopeless(const KeptPart& part, int64_t version) const;
  void SendValue(KeptPart* part, const Pull& pull);

  // server_rows.cc
  /* The first value that came behind InitText. Throws Error for one that is not whole. */
  static NDArray FirstRows(const Head& head, const InitText& text, const char* data, size_t bytes);
  /* What is wrong with rows that were pushed, or nothing. */
  static std::string WrongRows(const KeptPart& part, const Head& head, const Message& message);
  /* Has one of the pushes rows, or what is stored? */
  static bool AreRows(const KeptPart& part, const std::vector<Message>& pushes);
  /* What Apply does with these but for the updater. */
  NDArray ApplyRows(KeptPart* part, const std::vector<Message>& pushes, bool updated, int priority);
  /* Gives a row_sparse value all its rows. */
  void FillRows(KeptPart* part);
  void SendRows(KeptPart* part, const Pull& pull);

  void SendError(int to, const Head& head, const std::string& text);
  const KVStore::Updater& UpdaterOf(int store) const;

  /* On the thread that receives: takes a push or pull at once, if the serving thread has nothing to
   * do and no updater is to be called. */
  bool TakeHere(const Event& event);
  /* Returns when something came or the time is over; null: whenever that is. */
  void AwaitEvents(const std::chrono::steady_clock::time_point* until);
  std::deque<Event> TakenEvents();
  void EndStep(int from, const Head& head, const KVStore::Controller& controller);
  bool HasEnded(int worker, int64_t step) const;

  // snapshot.cc; a step of -1: of asynchronous stores
  void CheckSnapshotFolder() const;
  std::string SnapshotPath(int64_t step) const;
  /* The steps of this server's files, which are of as many servers. */
  std::set<int64_t> SnapshotSteps() const;
  void FindSnapshot();
  /* What other servers have. */
  std::set<int64_t> CommonSteps(std::set<int64_t> own);
  void ReadSnapshot(const std::string& path);
  /* Returns whether the file is there. */
  bool WriteSnapshot(int64_t step, const KVStore::Controller& controller);

  const std::shared_ptr<Job> job_;
  std::vector<int> numbers_;  // of the ranks that are workers; -1: none
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Event> events_;  // guarded by mutex_
  std::mutex work_mutex_;     // guards what follows; taken before mutex_
  bool serves_here_ = false;  // the serving thread waits for events
  std::map<PartName, std::unique_ptr<KeptPart>> parts_;
  std::map<PartName, std::vector<FirstValue>> early_;  // inits of other workers before the first one's
  std::map<int, KVStore::Updater> updaters_;           // by store; -1: all others
  int command_store_ = -1;
  KVStore::ServerPart updated_part_;
  std::string reported_, reply_;
  std::map<int, std::string> ended_;  // who pushes nothing more, by their numbers: what is said of them
  std::string snapshot_folder_, restored_states_;
  double snapshot_interval_ = 0;
  bool changed_ = false;            // since the last snapshot; by asynchronous stores
  std::map<int, int64_t> stepped_;  // by the worker's number: the steps that it has ended
  Pull writing_;                    // the first worker's kStep that waits for a snapshot; request 0: none
  int64_t restored_step_ = 0;
  int gone_ = 0;  // workers that are lost or have said goodbye
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_SERVER_H_
