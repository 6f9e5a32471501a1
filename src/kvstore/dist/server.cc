#include "kvstore/dist/server.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/foreign_env.h"
#include "kvstore/compression.h"
#include "kvstore/dist/row_messages.h"
#include "kvstore/reduce.h"
#include "mxnet/engine.h"
#include "ndarray/run.h"

namespace mxnet {
namespace kvstore {
namespace {

std::string ErrorText(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an unknown error";
  }
}

/* An array in the memory of what was pushed, which belongs to nobody else. None where it is not
 * aligned as the pool's memory is. */
NDArray ArrayIn(const Message& m, const Shape& shape, int dtype) {
  constexpr uintptr_t kAlignment = 64;
  if (CompressionOf(Head::Read(m.head)).on() || reinterpret_cast<uintptr_t>(m.data) % kAlignment != 0) return NDArray();
  TBlob blob = BlobOf(m, shape.Size(), dtype);
  blob.shape = shape;
  return NDArray(blob, [owner = m.owner] {});
}

/* out = the sum of what was pushed, in that order. May be the memory of the first push. */
void AddPushes(const RunContext& run, const std::vector<Message>& pushes, const TBlob& out) {
  std::vector<TBlob> plain;
  for (const Message& m : pushes)
    if (!CompressionOf(Head::Read(m.head)).on()) plain.push_back(BlobOf(m, out.Size(), out.dtype));
  if (plain.size() == pushes.size()) return SumArrays(plain, {out});
  const size_t bytes = out.Bytes();
  const std::shared_ptr<void> unpacked = PooledMemory(bytes);
  for (size_t i = 0; i < pushes.size(); ++i) {
    const Compression how = CompressionOf(Head::Read(pushes[i].head));
    TBlob value = BlobOf(pushes[i], out.Size(), out.dtype);
    if (how.on()) {
      const TBlob codes = BlobOf(pushes[i], how.Words(out.Size()), kUint32);
      if (i > 0) value.dptr = unpacked.get();
      Decompress(run, how, codes, i > 0 ? value : out);
      if (i == 0) continue;
    }
    SumArrays(i > 0 ? std::vector<TBlob>{out, value} : std::vector<TBlob>{value}, {out});
  }
}

}  // namespace

Server::Server(std::shared_ptr<Job> job)
    : job_(std::move(job)),
      snapshot_folder_(ForeignText("PS_SNAPSHOT_FOLDER")),
      snapshot_interval_(ForeignNumber("PS_SNAPSHOT_INTERVAL", 600)) {
  numbers_.resize(static_cast<size_t>(job_->transport()->size()), -1);
  const std::vector<int>& workers = job_->transport()->RanksOf(Role::kWorker);
  for (size_t i = 0; i < workers.size(); ++i) numbers_[static_cast<size_t>(workers[i])] = static_cast<int>(i);
  if (!snapshot_folder_.empty()) CheckSnapshotFolder();
  job_->SetServer(this);
}

Server::~Server() { job_->SetServer(nullptr); }

void Server::OnMessage(int from, Message message) {
  Event event;
  event.from = from;
  event.message = std::move(message);
  if (TakeHere(event)) return;
  std::lock_guard<std::mutex> hold(mutex_);
  events_.push_back(std::move(event));
  wake_.notify_one();
}

/* A hand-over to the serving thread takes longer than most pushes and pulls that no updater has to
 * see. */
bool Server::TakeHere(const Event& event) {
  const Head head = Head::Read(event.message.head);
  if (head.kind != Kind::kPush && head.kind != Kind::kPull) return false;
  const std::unique_lock<std::mutex> work(work_mutex_, std::try_to_lock);
  if (!work || !serves_here_ || UpdaterOf(head.store)) return false;
  {
    std::lock_guard<std::mutex> hold(mutex_);
    if (!events_.empty()) return false;  // they came before
  }
  static const KVStore::Controller none;
  Take(event, none);
  return true;
}

std::shared_ptr<void> Server::Place(int, const int64_t* head, size_t bytes) {
  return bytes > 0 && Head::Read(head).kind == Kind::kPush ? PooledMemory(bytes) : nullptr;
}

void Server::OnLost(const Peer& peer) {
  if (peer.role != Role::kWorker) return;
  std::lock_guard<std::mutex> hold(mutex_);
  Event event;
  event.lost = true;
  event.peer = peer;
  events_.push_back(std::move(event));
  wake_.notify_one();
}

void Server::Run(const KVStore::Controller& controller) {
  using Clock = std::chrono::steady_clock;
  const auto interval =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::clamp(snapshot_interval_, 0.05, 1e8)));
  if (!snapshot_folder_.empty()) FindSnapshot();
  auto next = Clock::now() + interval;
  while (gone_ < job_->workers()) {
    {
      std::lock_guard<std::mutex> work(work_mutex_);
      for (const Event& event : TakenEvents()) Take(event, controller);
      serves_here_ = snapshot_folder_.empty() && gone_ < job_->workers();
      if (!snapshot_folder_.empty() && Clock::now() >= next) {
        if (changed_) WriteSnapshot(-1, controller);
        next = Clock::now() + interval;
      }
    }
    if (gone_ < job_->workers()) AwaitEvents(snapshot_folder_.empty() ? nullptr : &next);
  }
}

void Server::AwaitEvents(const std::chrono::steady_clock::time_point* until) {
  job_->transport()->Work([this] {
    std::lock_guard<std::mutex> hold(mutex_);
    return !events_.empty();
  });
  std::unique_lock<std::mutex> hold(mutex_);
  const auto some = [this] { return !events_.empty(); };
  if (until)
    wake_.wait_until(hold, *until, some);
  else
    wake_.wait(hold, some);
}

std::deque<Server::Event> Server::TakenEvents() {
  std::deque<Event> events;
  std::lock_guard<std::mutex> hold(mutex_);
  events.swap(events_);
  return events;
}

void Server::Take(const Event& event, const KVStore::Controller& controller) {
  if (event.lost) {
    ++gone_;
    return Leave(event.peer, "");
  }
  const Head head = Head::Read(event.message.head);
  try {
    switch (head.kind) {
      case Kind::kInit: return Init(event.from, head, event.message);
      case Kind::kPush: return Push(event.from, head, event.message);
      case Kind::kPull: return TakePull(event.from, head, event.message);
      case Kind::kFlush:
        if (head.flags & kLeaving) Leave(job_->transport()->Get(event.from), " waits for the end of the others");
        return job_->Tell(event.from, head.Reply(Kind::kReply), Message(), INT_MAX);
      case Kind::kCommand: return Command(event.from, head, event.message, controller);
      case Kind::kStep: return EndStep(event.from, head, controller);
      default: return SendError(event.from, head, "message of kind " + std::to_string(static_cast<int>(head.kind)) + " to a server");
    }
  } catch (const std::exception& e) {
    SendError(event.from, head, e.what());
  }
}

/* When the last worker has ended the step, its pushes are applied and none of a later step is: the
 * first worker's wait for the answer. */
void Server::EndStep(int from, const Head& head, const KVStore::Controller& controller) {
  const Peer worker = job_->transport()->Get(from);
  if (snapshot_folder_.empty() || head.version < 0) return job_->Tell(from, head.Reply(Kind::kReply), Message(), INT_MAX);
  int64_t& steps = stepped_[worker.number];
  steps = std::max(steps, head.version);
  if (worker.role == Role::kWorker && worker.number == 0 && (head.flags & kWrite))
    writing_ = {from, head};
  else
    job_->Tell(from, head.Reply(Kind::kReply), Message(), INT_MAX);
  if (writing_.head.request == 0) return;
  const int64_t step = writing_.head.version;
  for (int number = 0; number < job_->workers(); ++number) {
    if (HasEnded(number, step)) continue;
    if (ended_.count(number)) SendError(writing_.from, writing_.head, ended_[number]), writing_ = {};
    return;
  }
  WriteSnapshot(step, controller);
  job_->Tell(writing_.from, writing_.head.Reply(Kind::kReply), Message(), INT_MAX);
  writing_ = {};
}

bool Server::HasEnded(int worker, int64_t step) const {
  const auto there = stepped_.find(worker);
  return there != stepped_.end() && there->second >= step;
}

void Server::SetUpdater(KVStore::Updater updater) { updaters_[command_store_] = std::move(updater); }

const KVStore::Updater& Server::UpdaterOf(int store) const {
  static const KVStore::Updater none;
  const auto own = updaters_.find(store);
  if (own != updaters_.end()) return own->second;
  const auto all = updaters_.find(-1);
  return all != updaters_.end() ? all->second : none;
}

Server::KeptPart* Server::Find(const Head& head) {
  const auto at = parts_.find(PartName(head.store, head.key, head.part));
  return at == parts_.end() ? nullptr : at->second.get();
}

void Server::Init(int from, const Head& head, const Message& message) {
  const PartName name(head.store, head.key, head.part);
  KeptPart* part = Find(head);
  InitText text;
  const size_t begin = text.Read(message.data, message.bytes);
  if (begin == 0) return SendError(from, head, "a first value that is not whole came");
  if (part == nullptr && !(head.flags & kFirst)) {
    const auto first = ended_.find(0);
    if (first != ended_.end()) return SendError(from, head, first->second + " before it gave a first value to the key");
    early_[name].push_back({{from, head}, text.shape});
    return;
  }
  if (part == nullptr) {
    const bool rows = (head.flags & kRows) != 0;
    const char* data = static_cast<const char*>(message.data) + begin;
    const size_t bytes = static_cast<size_t>(head.count) * DTypeSize(head.dtype);
    const bool fits = head.count >= 0 && static_cast<size_t>(head.count) <= message.bytes;
    if (!rows && (!fits || message.bytes != begin + bytes)) return SendError(from, head, "a first value that is not whole came");
    auto made = std::make_unique<KeptPart>();
    made->key = text.named ? KVKey(text.key) : KVKey(std::stoi(text.key));
    made->place = {head.part, text.begin};
    made->sync = (head.flags & kSync) != 0;
    made->count = head.count;
    const Shape shape = text.PartShape(head.count);
    if (!shape.known() || shape.Size() != head.count) return SendError(from, head, "a first value came whose shape is not its own");
    made->stored = rows ? FirstRows(head, text, data, message.bytes - begin) : NDArray(shape, Context::CPU(), head.dtype);
    if (!rows && bytes) made->stored.CopyBytesFrom(data, bytes);
    part = made.get();
    parts_[name] = std::move(made);
    changed_ = changed_ || !part->sync;
  }
  if (head.flags & kFirst) part->shape = text.shape, part->shape_known = true;
  std::vector<FirstValue> answered;
  answered.swap(early_[name]);
  early_.erase(name);
  answered.push_back({{from, head}, text.shape});
  for (const FirstValue& a : answered) {
    const std::string refusal = Refusal(*part, a);
    if (!refusal.empty()) {
      SendError(a.from, a.head, refusal);
      continue;
    }
    Head reply = a.head.Reply(Kind::kReply);
    reply.version = part->version;
    job_->Tell(a.from, reply, Message(), INT_MAX);
  }
}

std::string Server::Refusal(const KeptPart& part, const FirstValue& value) const {
  const bool same_part = value.head.count == part.count && value.head.dtype == part.stored.dtype();
  const bool rows = (value.head.flags & kRows) != 0, same_storage = rows == part.stored.is_sparse();
  if (same_part && same_storage && (!part.shape_known || value.shape == part.shape)) return "";
  std::ostringstream text;
  text << "the first value of key '" << part.key.str() << "' has ";
  if (!same_storage)
    text << "storage type " << (rows ? "default" : "row_sparse") << " on worker 0, and " << (rows ? "row_sparse" : "default");
  else if (same_part)
    text << "shape " << Shape(part.shape) << " on worker 0, and " << Shape(value.shape);
  else
    text << part.count << " elements of " << DTypeName(part.stored.dtype()) << " in this part on worker 0, and " << value.head.count
         << " of " << DTypeName(value.head.dtype);
  text << " on " << job_->transport()->Get(value.from).str() << "; accepted: the same on all workers";
  return text.str();
}

std::string Server::Refusal(const KeptPart& part, const Head& head, const Message& message) const {
  if (head.flags & kNoValue) return "key '" + part.key.str() + "' was pushed to and there was nothing to push: " + TextOf(message);
  const bool coded = head.compression == Compression::kNone ||
                     (head.dtype == kFloat32 && (head.compression == Compression::kOneBit || head.compression == Compression::kTwoBit));
  const bool rows = (head.flags & kRows) != 0;
  const bool fits = coded && head.count == part.count && head.dtype == part.stored.dtype() &&
                    (rows || message.bytes == CompressionOf(head).Bytes(head.count, head.dtype));
  const std::string wrong = fits && rows ? WrongRows(part, head, message) : "";
  if (!wrong.empty()) return "a push to key '" + part.key.str() + "' is malformed: " + wrong;
  const bool same_kind = ((head.flags & kSync) != 0) == part.sync;
  if (fits && same_kind && (part.sync || UpdaterOf(head.store))) return "";
  std::ostringstream text;
  if (!fits) {
    text << "a push of " << head.count << " elements of " << DTypeName(head.dtype) << " in " << message.bytes << " bytes came for key '"
         << part.key.str() << "'; the server keeps " << part.count << " of " << DTypeName(part.stored.dtype());
  } else if (!same_kind) {
    text << "key '" << part.key.str() << "' was initialised by a store that is " << (part.sync ? "" : "not ")
         << "synchronous and pushed to by one that is " << (part.sync ? "not" : "") << "; all workers have stores of one type";
  } else {
    text << "key '" << part.key.str()
         << "' of an asynchronous store was pushed to, and the servers have no updater; set_optimizer comes first";
  }
  return text.str();
}

void Server::TakePull(int from, const Head& head, const Message& message) {
  KeptPart* part = Find(head);
  if (part == nullptr) return SendError(from, head, "a key that has no value on the servers was pulled; init comes first");
  Pull pull = {from, head};
  if (head.flags & kRows) {
    auto rows = std::make_shared<std::vector<int64_t>>();
    const Shape& shape = part->stored.shape();
    const std::string wrong = shape.ndim() == 0 ? "it has no rows" : ReadQuestion(message.data, message.bytes, shape[0], rows.get());
    if (!wrong.empty()) return SendError(from, head, "a pull of rows of key '" + part->key.str() + "' is malformed: " + wrong);
    pull.rows = std::move(rows);
  }
  part->pulls.push_back(std::move(pull));
  AnswerPulls(part);
}

void Server::Push(int from, const Head& head, const Message& message) {
  KeptPart* part = Find(head);
  if (part == nullptr) return SendError(from, head, "a key that has no value on the servers was pushed to; init comes first");
  const int worker = numbers_[static_cast<size_t>(from)];
  if (worker < 0) return SendError(from, head, "a process that is no worker pushed");
  const std::string refusal = Refusal(*part, head, message);
  if (!refusal.empty()) {
    (part->sync ? part->refused : part->error) = refusal;
    SendError(from, head, refusal);
    return AnswerPulls(part);
  }
  if (part->sync) {
    Keep(part, worker, message);
    if (head.request) part->pulls.push_back({from, head});
    while (part->round == job_->workers()) EndRound(part);
  } else {
    Apply(part, head.store, {message});
    if (head.request) part->pulls.push_back({from, head});
  }
  AnswerPulls(part);
}

void Server::Keep(KeptPart* part, int worker, const Message& message) {
  const size_t number = static_cast<size_t>(worker);
  part->pushes.resize(static_cast<size_t>(job_->workers()));
  part->pushed.resize(part->pushes.size());
  if (part->pushed[number]) return part->later[worker].push_back(message);
  part->pushes[number] = message;
  part->pushed[number] = true;
  ++part->round;
}

void Server::EndRound(KeptPart* part) {
  std::vector<Message> pushes;
  pushes.swap(part->pushes);
  part->pushed.assign(part->pushed.size(), false);
  part->round = 0;
  for (auto at = part->later.begin(); at != part->later.end();) {
    Keep(part, at->first, at->second.front());
    at->second.pop_front();
    at = at->second.empty() ? part->later.erase(at) : std::next(at);
  }
  // Freed when the answers have left.
  const NDArray replaced = Apply(part, Head::Read(pushes.back().head).store, pushes);
  AnswerPulls(part);  // of this version, before the next round changes it
}

NDArray Server::Apply(KeptPart* part, int store, const std::vector<Message>& pushes) {
  const KVStore::Updater& updater = UpdaterOf(store);
  const int dtype = part->stored.dtype();
  const int priority = static_cast<int>(Head::Read(pushes[0].head).priority);
  ++part->version;
  changed_ = changed_ || !part->sync;
  part->error.clear();
  NDArray replaced;
  if (part->count > 0 && AreRows(*part, pushes)) {
    replaced = ApplyRows(part, pushes, static_cast<bool>(updater), priority);
  } else if (part->count > 0) {
    NDArray* slot = updater ? &part->sum : &part->stored;
    // A new array, also without an updater: replies may still be sent from the old one.
    NDArray sum = ArrayIn(pushes[0], part->stored.shape(), dtype);
    const bool summed = !sum.is_none() && pushes.size() == 1;
    if (sum.is_none()) sum = NDArray(part->stored.shape(), Context::CPU(), dtype);
    replaced = std::exchange(*slot, std::move(sum));
    if (!summed) {
      const TBlob result = slot->data();
      Var* writes[1] = {slot->var()};
      const double cost = kNsPerSummedByte * static_cast<double>(result.Bytes()) * static_cast<double>(pushes.size());
      RunOrPush([result, pushes](RunContext run) { AddPushes(run, pushes, result); }, Context::CPU(), Span<Var* const>(),
                Span<Var* const>(writes, 1), cost < kInlineNanoseconds, FnProperty::kCPUPrioritized, priority, "kvstore_server_sum");
    }
  }
  if (updater) Update(part, updater);
  return replaced;
}

void Server::Update(KeptPart* part, const KVStore::Updater& updater) {
  if (part->sum.is_none()) part->sum = NDArray::Make(part->stored.type(), Context::CPU());
  if (part->stored.is_sparse() && !part->whole) FillRows(part);
  if (part->lent) part->stored = part->stored.Copy(Context::CPU());
  part->lent = false;
  reported_.clear();
  updated_part_ = part->place;
  try {
    updater(part->key, part->sum, &part->stored);
  } catch (...) {
    reported_ = ErrorText(std::current_exception());
  }
  updated_part_ = {};
  if (!reported_.empty()) part->error = "the updater of " + job_->self().str() + " failed for key '" + part->key.str() + "': " + reported_;
  reported_.clear();
}

std::string Server::Hopeless(const KeptPart& part, int64_t version) const {
  if (!part.sync || version <= part.version) return "";
  if (!part.refused.empty()) return part.refused;
  for (const auto& e : ended_) {
    const size_t number = static_cast<size_t>(e.first);
    const auto later = part.later.find(e.first);
    const int64_t pushed = part.version + (number < part.pushed.size() && part.pushed[number] ? 1 : 0) +
                           (later == part.later.end() ? 0 : static_cast<int64_t>(later->second.size()));
    if (pushed < version)
      return e.second + " after " + std::to_string(pushed) + " pushes to key '" + part.key.str() + "'; push " + std::to_string(version) +
             " of each worker is waited for";
  }
  return "";
}

void Server::AnswerPulls(KeptPart* part) {
  size_t left = 0;
  for (const Pull& pull : part->pulls) {
    const std::string hopeless = Hopeless(*part, pull.head.version);
    if (!hopeless.empty()) {
      SendError(pull.from, pull.head, hopeless);
    } else if (part->sync && pull.head.version > part->version) {
      part->pulls[left++] = pull;
    } else if (!part->error.empty()) {
      SendError(pull.from, pull.head, part->error);
    } else {
      SendValue(part, pull);
    }
  }
  part->pulls.resize(left);
}

void Server::SendValue(KeptPart* part, const Pull& pull) {
  if (pull.rows || part->stored.is_sparse()) return SendRows(part, pull);
  Head head = pull.head.Reply(Kind::kReply);
  head.version = part->version;
  const int priority = static_cast<int>(head.priority), to = pull.from;
  const NDArray value = part->stored;
  const size_t bytes = static_cast<size_t>(part->count) * DTypeSize(value.dtype());
  if (bytes == 0) return job_->Tell(to, head, Message(), priority);
  // An update that failed left its error in the variable: it is sent instead of the value.
  const auto failed = [job = job_, value, to, head] {
    try {
      Engine::Get()->Throw(value.var());
      return false;
    } catch (...) {
      job->Tell(to, head.Reply(Kind::kError), TextMessage(Head(), ErrorText(std::current_exception())), INT_MAX);
      return true;
    }
  };
  Var* reads[1] = {value.var()};
  if (!UpdaterOf(head.store)) {  // nobody changes it in place
    part->lent = true;
    return RunOrPush(
        [job = job_, failed, value, head, to, priority, bytes](RunContext) {
          if (failed()) return;
          auto owner = std::make_shared<NDArray>(value);
          const void* data = owner->data().dptr<void>();
          job->Tell(to, head, MakeMessage(head, data, bytes, std::move(owner)), priority);
        },
        Context::CPU(), Span<Var* const>(reads, 1), Span<Var* const>(), true, FnProperty::kNoSkip, priority, "kvstore_server_send");
  }
  if (part->sync && bytes > kCopiedBytes) {
    Engine::Get()->PushAsync(
        [job = job_, failed, value, head, to, priority, bytes](RunContext, OnComplete done) {
          if (failed()) return done();
          auto owner = std::make_shared<NDArray>(value);
          const void* data = owner->data().dptr<void>();
          job->Tell(to, head, MakeMessage(head, data, bytes, std::move(owner)), priority, [done] { done(); });
        },
        Context::CPU(), {value.var()}, {}, FnProperty::kNoSkip, priority, "kvstore_server_send");
    return;
  }
  RunOrPush(
      [job = job_, failed, value, head, to, priority, bytes](RunContext) {
        if (failed()) return;
        const std::shared_ptr<void> copy = PooledMemory(bytes);
        std::memcpy(copy.get(), value.data().dptr<void>(), bytes);
        job->Tell(to, head, MakeMessage(head, copy.get(), bytes, copy), priority);
      },
      Context::CPU(), Span<Var* const>(reads, 1), Span<Var* const>(), bytes <= kCopiedBytes, FnProperty::kNoSkip, priority,
      "kvstore_server_send");
}

void Server::SendError(int to, const Head& head, const std::string& text) {
  if (head.request) job_->Tell(to, head.Reply(Kind::kError), TextMessage(Head(), text), INT_MAX);
}

std::string Server::Control(int store, int id, const std::string& body, const KVStore::Controller& controller, std::string* error) {
  reported_.clear();
  reply_.clear();
  command_store_ = store;
  try {
    if (controller) controller(id, body);
  } catch (...) {
    reported_ = ErrorText(std::current_exception());
  }
  command_store_ = -1;
  *error = std::move(reported_);
  reported_.clear();
  return std::move(reply_);
}

void Server::Command(int from, const Head& head, const Message& message, const KVStore::Controller& controller) {
  const int id = static_cast<int>(head.version);
  if (id == kGetStep) return job_->Tell(from, head.Reply(Kind::kReply), TextMessage(head, std::to_string(restored_step_)), INT_MAX);
  std::string error;
  const std::string reply = Control(head.store, id, TextOf(message), controller, &error);
  if (error.empty() && id == kSetOptimizer && !restored_states_.empty()) {
    const std::string states = std::move(restored_states_);
    restored_states_.clear();
    Control(head.store, kSetStates, states, controller, &error);
  }
  if (error.empty()) return job_->Tell(from, head.Reply(Kind::kReply), TextMessage(head, reply), INT_MAX);
  SendError(from, head, "command " + std::to_string(id) + " failed on " + job_->self().str() + ": " + error);
}

void Server::Leave(const Peer& peer, const std::string& why) {
  ended_[peer.number] = why.empty() ? LossText(peer) : peer.str() + why;
  for (const auto& part : parts_) AnswerPulls(part.second.get());
  if (writing_.head.request != 0 && !HasEnded(peer.number, writing_.head.version)) {
    SendError(writing_.from, writing_.head, ended_[peer.number]);
    writing_ = {};
  }
  if (peer.number != 0) return;
  for (const auto& early : early_)
    for (const Pull& pull : early.second) SendError(pull.from, pull.head, ended_[0] + " before it gave a first value to the key");
  early_.clear();
}

}  // namespace kvstore
}  // namespace mxnet
