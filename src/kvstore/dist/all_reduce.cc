#include "kvstore/dist/all_reduce.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "engine/waiting_work.h"
#include "kvstore/dist/all_reduce_state.h"
#include "kvstore/dist/sharding.h"
#include "kvstore/nccl.h"
#include "kvstore/reduce.h"
#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {
namespace {

constexpr int64_t kShortBytes = 32 << 10;  // an array that is not shared out

constexpr int kAxisBits = 14, kAxes = 4, kHashed = 7;  // the word's lowest three bits: how many axes, or that it is a hash

std::string ShapeText(int64_t packed) {
  const int axes = static_cast<int>(packed & 7);
  if (axes == kHashed) return "";
  std::string text = " in the shape (";
  for (int d = 0; d < axes; ++d) text += (d ? ", " : "") + std::to_string(packed >> (3 + d * kAxisBits) & ((1 << kAxisBits) - 1));
  return text + (axes == 1 ? ",)" : ")");
}

std::string TextOf(const reduce::Words& words) {
  return std::to_string(words.count) + " elements of " + DTypeName(words.dtype) + ShapeText(words.shape) +
         (words.on_gpu ? " on a GPU" : "") + (words.sparse ? " in " + std::to_string(words.rows) + " rows, row_sparse" : "");
}

}  // namespace

int64_t reduce::PackedShape(const Shape& shape) {
  bool fits = shape.ndim() <= kAxes;
  uint64_t packed = static_cast<uint64_t>(shape.ndim()), hash = 14695981039346656037u;
  for (int d = 0; d < shape.ndim(); ++d) {
    fits = fits && shape[d] < (int64_t{1} << kAxisBits);
    if (fits) packed |= static_cast<uint64_t>(shape[d]) << (3 + d * kAxisBits);
    hash = (hash ^ static_cast<uint64_t>(shape[d])) * 1099511628211u;
  }
  return static_cast<int64_t>(fits ? packed : hash << 3 | uint64_t{kHashed});
}

AllReduce::State::State(std::shared_ptr<Transport> transport)
    : transport_(std::move(transport)), ranks_(transport_->RanksOf(Role::kWorker)), workers_(static_cast<int>(ranks_.size())) {
  me_ = WorkerOf(transport_->rank());
  MXNET_CHECK(me_ >= 0) << "[kvstore] an all-reduce is between workers; this process is a server";
  for (int worker = 0; worker < workers_; ++worker) {
    const Peer peer = transport_->Get(ranks_[static_cast<size_t>(worker)]);
    if (peer.lost) lost_[worker] = LossText(peer);
  }
}

void AllReduce::State::Push(int store, const KVKey& key, const NDArray& array, int priority, bool broadcast, bool may_gpu) {
  Words words;
  words.on_gpu = array.ctx().is_gpu();
  words.store = store;
  words.key = KeyHash(key);
  words.dtype = array.dtype();
  words.count = array.shape().Size();
  words.sparse = array.is_sparse();
  if (words.sparse) words.rows = array.shape()[0];
  words.shape = reduce::PackedShape(array.shape());
  CallPointer call;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    words.call = calls_of_key_[{store, words.key}]++;
    call = Find(words);
    call->words = words;
    call->priority = priority;
    call->broadcast = broadcast;
    call->may_gpu = may_gpu;
  }
  auto self = shared_from_this();
  engine::PushStarting(
      Engine::Get(), [self, call, array](RunContext, OnComplete done) { self->Start(call, array, done); }, {}, {array.var()}, priority,
      broadcast ? "kvstore_broadcast" : "kvstore_all_reduce");
}

/* The array is ready. */
void AllReduce::State::Start(const CallPointer& call, NDArray array, OnComplete done) {
  Later later;
  std::string wrong;  // with what a caller put into a row_sparse array
  std::vector<Message> packed;
  try {
    if (array.is_sparse()) array.blob().sparse->Settle();
    if (array.is_sparse() && !(call->broadcast && me_ != 0)) packed = PackShares(call->words, array);
  } catch (const std::exception& e) {
    wrong = e.what();
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    call->array = std::move(array);
    call->data = static_cast<char*>(call->array.blob().dptr);
    call->packed = std::move(packed);
    call->done = done;
    call->started = true;
    call->shapes[static_cast<size_t>(me_)] = call->words;
    if (!call->error.empty()) {
      Fail(call, StoreError(call->error), &later);
    } else if (!wrong.empty()) {
      FailForAll(call, wrong, &later);
    } else {
      if (call->may_gpu) Ask(call, &later);
      if (!call->words.on_gpu) SendShares(call, &later);
      for (const auto& [worker, message] : call->early) TakeResult(call.get(), worker, message);
      call->early.clear();
      Advance(call, &later);
    }
    for (const auto& [worker, text] : lost_)
      if (!call->over && Needs(*call, worker)) FailForAll(call, text, &later);
  }
  Run(later);
}

AllReduce::State::CallPointer AllReduce::State::Find(const Words& words) {
  CallPointer& call = calls_[IdOf(words)];
  if (!call) {
    call = std::make_shared<Call>();
    const size_t workers = static_cast<size_t>(workers_);
    call->values.resize(workers);
    call->results.resize(workers);
    call->have_values.resize(workers);
    call->have_result.resize(workers);
    call->asked.resize(workers);
    call->gpus.resize(workers);
    call->shapes.resize(workers);
    call->words = words;
  }
  return call;
}

std::pair<int64_t, int64_t> AllReduce::State::Share(const Words& words, int worker) const {
  const int64_t units = words.units();
  if (words.count * static_cast<int64_t>(DTypeSize(words.dtype)) < kShortBytes) {
    const int owner = static_cast<int>(static_cast<uint64_t>(words.key) % static_cast<uint64_t>(workers_));
    return worker == owner ? std::make_pair(int64_t{0}, units) : std::make_pair(units, units);
  }
  return {units * worker / workers_, units * (worker + 1) / workers_};
}

bool AllReduce::State::Owns(const Words& words, int worker) const {
  const auto share = Share(words, worker);
  return share.first < share.second;
}

/* Whether something of that worker is still to come. */
bool AllReduce::State::Needs(const Call& call, int worker) const {
  if (worker == me_) return false;
  if (call.words.on_gpu && !call.by_hosts) return true;
  const size_t i = static_cast<size_t>(worker);
  const bool values = Owns(call.words, me_) && !call.summed && !call.have_values[i] && (!call.broadcast || worker == 0);
  const bool result = Owns(call.words, worker) && !call.have_result[i] && !(call.broadcast && me_ == 0);
  return values || result;
}

void AllReduce::State::SendTo(const CallPointer& call, int worker, Phase phase, int64_t begin, int64_t end, Later* later) {
  if (call->words.sparse) return SendRows(call, worker, phase, later);
  const size_t size = DTypeSize(call->words.dtype);
  Message message;
  Words words = call->words;
  words.phase = phase;
  words.Write(message.head);
  message.data = call->data + static_cast<size_t>(begin) * size;
  message.bytes = static_cast<size_t>(end - begin) * size;
  message.owner = std::make_shared<NDArray>(call->array);
  ++call->sending;
  auto self = shared_from_this();
  const int rank = ranks_[static_cast<size_t>(worker)], priority = call->priority;
  later->push_back(
      [self, call, rank, priority, message] { self->transport_->Send(rank, message, priority, [self, call] { self->Sent(call); }); });
}

/* The others' shares of this worker's values. */
void AllReduce::State::SendShares(const CallPointer& call, Later* later) {
  if (call->broadcast && me_ != 0) return;
  for (int i = 1; i < workers_; ++i) {
    const int worker = (me_ + i) % workers_;
    const auto share = Share(call->words, worker);
    if (share.first < share.second) SendTo(call, worker, Phase::kValues, share.first, share.second, later);
  }
}

void AllReduce::State::Sent(const CallPointer& call) {
  Later later;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    --call->sending;
    Advance(call, &later);
  }
  Run(later);
}

/* Checks what is there; the next step, or the end. */
void AllReduce::State::Advance(const CallPointer& call, Later* later) {
  if (!call->started || call->over || !Matches(call, later)) return;
  if (call->words.on_gpu && !call->by_hosts) return GiveTurn(call, later);
  bool values = true, results = true;
  for (int worker = 0; worker < workers_; ++worker) {
    if (worker == me_) continue;
    const size_t i = static_cast<size_t>(worker);
    values &= call->have_values[i] || (call->broadcast && worker != 0);
    results &= call->have_result[i] || !Owns(call->words, worker) || (call->broadcast && me_ == 0);
  }
  if (!call->summed && (values || !Owns(call->words, me_))) {
    call->summed = true;
    if (Owns(call->words, me_)) {
      ++call->sending;  // until it is added up
      auto self = shared_from_this();
      const auto share = Share(call->words, me_);
      const bool is_long = call->words.sparse
                               ? HasManyRows(*call)
                               : static_cast<size_t>(share.second - share.first) * DTypeSize(call->words.dtype) >= reduce::kLongSum;
      if (!is_long)
        later->push_back([self, call] { self->AddUp(call); });
      else
        later->push_back([self, call] {
          Engine::Get()->PushAsync(
              [self, call](RunContext, OnComplete done) {
                self->AddUp(call);
                done();
              },
              Context::CPU(), {}, {}, FnProperty::kCPUPrioritized, call->priority, "kvstore_sum");
        });
    }
  }
  if (!call->summed || !results || call->sending > 0) return;
  call->over = true;
  calls_.erase(IdOf(call->words));
  later->push_back([self = shared_from_this(), call] {
    call->values.clear();
    if (call->words.sparse && !(call->broadcast && self->me_ == 0))
      self->PutTogether(call);
    else
      End(call);
  });
}

/* Nothing else touches the share meanwhile: all values are here, and no result has been sent. */
void AllReduce::State::AddUp(const CallPointer& call) {
  std::string error;
  try {
    if (call->words.sparse) {
      AddUpRows(call.get());
      return Summed(call, error);
    }
    const auto share = Share(call->words, me_);
    const size_t size = DTypeSize(call->words.dtype);
    const Shape shape{share.second - share.first};
    const auto blob = [&](const void* data) { return TBlob{const_cast<void*>(data), shape, call->words.dtype, Context::CPU()}; };
    const TBlob own = blob(call->data + static_cast<size_t>(share.first) * size);
    if (call->broadcast) {
      if (me_ != 0) std::memcpy(own.dptr, call->values[0].data, own.Bytes());
    } else {
      std::vector<TBlob> in;
      for (int worker = 0; worker < workers_; ++worker)
        in.push_back(worker == me_ ? own : blob(call->values[static_cast<size_t>(worker)].data));
      SumArrays(in, {own});
    }
  } catch (const std::exception& e) {
    error = e.what();
  }
  Summed(call, error);
}

void AllReduce::State::Summed(const CallPointer& call, const std::string& error) {
  Later later;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    --call->sending;
    if (!error.empty()) FailForAll(call, error, &later);
    const auto share = Share(call->words, me_);
    for (int i = 1; i < workers_ && !call->over; ++i) {
      const int worker = (me_ + i) % workers_;
      if (!call->broadcast || worker != 0) SendTo(call, worker, Phase::kResult, share.first, share.second, &later);
    }
    Advance(call, &later);
  }
  Run(later);
}

/* All workers must mean the same: else all of them get the error. */
bool AllReduce::State::Matches(const CallPointer& call, Later* later) {
  for (int worker = 0; worker < workers_; ++worker) {
    const size_t i = static_cast<size_t>(worker);
    if (!call->have_values[i] && !call->have_result[i] && !call->asked[i]) continue;
    const Words& theirs = call->shapes[i];
    if (theirs.Fits(call->words)) continue;
    const std::string text = "the workers gave different arrays for one key: worker " + std::to_string(me_) + " " + TextOf(call->words) +
                             ", worker " + std::to_string(worker) + " " + TextOf(theirs) +
                             "; accepted: the same shape, dtype and storage, and all on GPUs or none";
    FailForAll(call, text, later);
    return false;
  }
  return true;
}

void AllReduce::State::Say(const Call& call, Phase phase, std::string payload, int worker, int priority, Later* later) {
  const auto kept = std::make_shared<const std::string>(std::move(payload));
  Message message;
  Words words = call.words;
  words.phase = phase;
  words.Write(message.head);
  message.data = kept->data();
  message.bytes = kept->size();
  message.owner = kept;
  later->push_back(
      [t = transport_, rank = ranks_[static_cast<size_t>(worker)], priority, message] { t->Send(rank, message, priority, nullptr); });
}

/* The others may wait for what comes of this worker's share. */
void AllReduce::State::FailForAll(const CallPointer& call, const std::string& text, const std::exception_ptr& error, Later* later) {
  for (int worker = 0; worker < workers_; ++worker)
    if (worker != me_) Say(*call, Phase::kFailed, text, worker, 0, later);
  Fail(call, error, later);
}

void AllReduce::State::Fail(const CallPointer& call, std::exception_ptr error, Later* later) {
  if (call->over) return;
  call->over = true;
  calls_.erase(IdOf(call->words));
  later->push_back([call, error] { call->done(error); });
}

void AllReduce::State::OnMessage(int from, Message message) {
  const Words words = Words::Read(message.head);
  const int worker = WorkerOf(from);
  if (worker < 0) return;
  Later later;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (IsOver(words)) return;
    const CallPointer call = Find(words);
    const size_t i = static_cast<size_t>(worker);
    if (words.phase == Phase::kAsk) {
      call->asked[i] = true;
      call->shapes[i] = words;
      call->gpus[i] = GpuOf(message);
      Advance(call, &later);
    } else if (words.phase == Phase::kTurn) {
      OnTurn(call, message, &later);
    } else if (words.phase == Phase::kFailed) {
      call->error.assign(static_cast<const char*>(message.data), message.bytes);
      if (call->started) Fail(call, StoreError(call->error), &later);
    } else if (words.phase == Phase::kValues) {
      call->have_values[i] = true;
      call->shapes[i] = words;
      call->values[i] = std::move(message);
      Advance(call, &later);
    } else if (!call->started) {
      call->early.emplace_back(worker, std::move(message));
    } else if (!call->have_result[i]) {
      TakeResult(call.get(), worker, message);
      Advance(call, &later);
    }
  }
  Run(later);
}

/* What a worker made of its share; the array is ready. */
void AllReduce::State::TakeResult(Call* call, int worker, const Message& message) {
  call->have_result[static_cast<size_t>(worker)] = true;
  call->shapes[static_cast<size_t>(worker)] = Words::Read(message.head);
  if (call->words.sparse) {
    call->results[static_cast<size_t>(worker)] = message;
    return;
  }
  const auto share = Share(call->words, worker);
  const size_t size = DTypeSize(call->words.dtype);
  char* to = call->data + static_cast<size_t>(share.first) * size;
  if (message.data != to && message.bytes == static_cast<size_t>(share.second - share.first) * size)
    std::memcpy(to, message.data, message.bytes);
}

/* Results go where they belong: whoever sends one has got this worker's values of that share. */
std::shared_ptr<void> AllReduce::State::Place(int from, const int64_t* head) {
  const Words words = Words::Read(head);
  const int worker = WorkerOf(from);
  if (words.phase != Phase::kResult || worker < 0 || words.sparse) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = calls_.find(IdOf(words));
  if (found == calls_.end() || !found->second->started) return nullptr;
  const Call& call = *found->second;
  if ((words.on_gpu && !call.by_hosts) || call.words.sparse) return nullptr;
  if (call.words.count != words.count || call.words.dtype != words.dtype) return nullptr;
  char* to = call.data + static_cast<size_t>(Share(words, worker).first) * DTypeSize(words.dtype);
  return std::shared_ptr<void>(to, [array = call.array](void*) {});
}

void AllReduce::State::OnLost(const Peer& peer) {
  const int worker = WorkerOf(peer.rank);
  if (worker < 0) return;
  Later later;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    lost_[worker] = LossText(peer);
    if (gpus_) gpus_->Lose();
    std::vector<CallPointer> open;
    for (const auto& call : calls_) open.push_back(call.second);
    for (const CallPointer& call : open)
      if (call->started && Needs(*call, worker)) FailForAll(call, lost_[worker], &later);
  }
  Run(later);
}

std::function<void(const std::string& why)> AllReduce::State::Interrupter() {
  std::vector<CallPointer> open;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& call : calls_)
    if (call.second->started) open.push_back(call.second);
  return [self = shared_from_this(), open](const std::string& why) {
    const std::string text = self->transport_->Get(self->transport_->rank()).str() + ": " + why;
    Later later;
    {
      std::lock_guard<std::mutex> lock(self->mutex_);
      for (const CallPointer& call : open)
        if (!call->over) self->FailForAll(call, text, InterruptedError(why), &later);
    }
    Run(later);
  };
}

void AllReduce::State::Close() {
  std::unique_ptr<GpuSums> gpus;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    gpus.swap(gpus_);
  }
}

AllReduce::AllReduce(std::shared_ptr<Transport> transport) : state_(std::make_shared<State>(std::move(transport))) {}
AllReduce::~AllReduce() { state_->Close(); }

void AllReduce::Sum(int store, const KVKey& key, const NDArray& sum, int priority, bool may_gpu) {
  const bool direct = may_gpu && !sum.is_sparse() && nccl::Takes(sum.dtype()) && sum.shape().Size() > 0;
  if (direct || !sum.ctx().is_gpu()) return state_->Push(store, key, sum, priority, false, may_gpu);
  const NDArray copy = sum.Copy(Context::CPU());
  state_->Push(store, key, copy, priority, false, may_gpu);
  CopyFromTo(copy, sum, priority);
}

void AllReduce::Broadcast(int store, const KVKey& key, const NDArray& value, int priority) {
  if (!value.ctx().is_gpu()) return state_->Push(store, key, value, priority, true, false);
  const NDArray copy = value.Copy(Context::CPU());
  state_->Push(store, key, copy, priority, true, false);
  CopyFromTo(copy, value, priority);
}

void AllReduce::OnMessage(int from, Message message) { state_->OnMessage(from, std::move(message)); }
std::shared_ptr<void> AllReduce::Place(int from, const int64_t* head, size_t) { return state_->Place(from, head); }
void AllReduce::OnLost(const Peer& peer) { state_->OnLost(peer); }
std::function<void(const std::string& why)> AllReduce::Interrupter() { return state_->Interrupter(); }
bool AllReduce::busy() const { return state_->busy(); }

}  // namespace kvstore
}  // namespace mxnet
