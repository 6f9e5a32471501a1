#include "kvstore/dist/store.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <future>
#include <sstream>

#include "engine/waiting_work.h"
#include "kvstore/dist/row_messages.h"
#include "kvstore/dist/store_state.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "mxnet/op.h"
#include "ndarray/run.h"

namespace mxnet {
namespace kvstore {

namespace {

constexpr size_t kForeseenBytes = 64 << 10;  // of a value; longer ones are not copied on their way

}  // namespace

DistStore::DistStore(std::string name, DistType type, const std::shared_ptr<Job>& job)
    : LocalStore(std::move(name), type.on_device, std::make_unique<DistTransport>(job)),
      dist_(type),
      own_(static_cast<DistTransport*>(transport())) {}

DistStore::~DistStore() {
  for (const auto& remote : remotes_) own_->job()->steps()->Remove(remote.second->order);
  own_->Close();
}

void DistStore::SetGradientCompression(const std::vector<std::pair<std::string, std::string>>& params) {
  compression_ = Compression::FromParams(params);
}

void DistStore::Init(const Keys& keys, const Arrays& values) {
  CheckNew("init", keys, values);
  own_->job()->CheckServers();
  ShardingOptions options;
  options.servers = own_->job()->servers();
  options.split_from = Env::Get().kvstore_bigarray_bound;
  options.slice = dist_.slices ? Env::Get().kvstore_slice_threshold : 0;
  if (!own_->splits_values()) options.split_from = INT64_MAX, options.slice = 0;
  std::vector<std::unique_ptr<Remote>> remotes;
  for (size_t i = 0; i < keys.size(); ++i) {
    auto remote = std::make_unique<Remote>();
    const Shape& shape = values[i]->shape();
    remote->hash = KeyHash(keys[i]);
    remote->sparse = options.whole_rows = values[i]->is_sparse();
    remote->row = options.row = shape.ndim() > 0 ? shape.Prod(1, shape.ndim()) : 0;
    remote->parts = Shard(remote->hash, shape.Size(), options);
    remote->by_rows = shape.ndim() > 0 && AreRows(remote->parts, remote->row);
    SendFirst(keys[i], *values[i], remote.get());
    remotes.push_back(std::move(remote));
  }
  own_->job()->Barrier(own_->store());
  for (size_t i = 0; i < keys.size(); ++i) {
    Add(keys[i], NDArray::Make(values[i]->type(), dist_.on_device && !values[i]->is_sparse() ? values[i]->ctx() : Context::CPU(), true));
    const Entry* entry = Find(keys[i]);
    std::lock_guard<std::mutex> hold(mutex_);
    if (dist_.sync) own_->job()->steps()->Add(remotes[i]->order, remotes[i]->version);
    remotes_[entry] = std::move(remotes[i]);
  }
}

void DistStore::SendFirst(const KVKey& key, const NDArray& value, Remote* remote) {
  const bool first = own_->rank() == 0;
  NDArray host = value;
  if (first && value.ctx().is_gpu()) host = value.Copy(Context::CPU());
  if (first) host.WaitToRead();
  if (first && host.is_sparse()) host.blob().sparse->Settle();
  InitText text;
  text.key = key.str();
  text.named = key.named;
  text.shape.assign(value.shape().begin(), value.shape().end());
  text.parts = static_cast<int64_t>(remote->parts.size());
  struct Answers {
    std::promise<void> all;
    std::mutex mutex;
    size_t left = 0;
    bool over = false;  // with the first error: parts that worker 0 does not have get no answer
    std::exception_ptr error;
    int64_t version = 0;
  };
  auto answers = std::make_shared<Answers>();
  answers->left = remote->parts.size();
  std::future<void> all = answers->all.get_future();
  for (size_t i = 0; i < remote->parts.size(); ++i) {
    const Part& part = remote->parts[i];
    Head head;
    head.kind = Kind::kInit;
    head.store = own_->store();
    head.dtype = static_cast<uint8_t>(value.dtype());
    head.flags = static_cast<uint16_t>((dist_.sync ? kSync : 0) | (first ? kFirst : 0) | (remote->sparse ? kRows : 0));
    head.key = remote->hash;
    head.part = static_cast<int64_t>(i);
    head.count = part.count;
    text.begin = part.begin;
    std::string bytes = text.Write();
    Message payload;
    if (first && remote->sparse) {
      const auto [row, end] = remote->RowsOf(part, value.shape());
      payload = PackRows(*host.sparse(), row, end, bytes);
    } else {
      const size_t size = DTypeSize(value.dtype());
      if (first)
        bytes.append(host.data().dptr<const char>() + static_cast<size_t>(part.begin) * size, static_cast<size_t>(part.count) * size);
      payload = TextMessage(head, std::move(bytes));
    }
    const auto done = [answers](std::exception_ptr error, const Message& reply) {
      std::lock_guard<std::mutex> hold(answers->mutex);
      if (answers->over) return;
      answers->error = error;
      if (!error) answers->version = Head::Read(reply.head).version;
      answers->over = error || --answers->left == 0;
      if (answers->over) answers->all.set_value();
    };
    own_->job()->Ask(own_->job()->ServerRank(part.server), head, std::move(payload), 0, Job::Destination(), done);
  }
  all.get();
  if (answers->error) std::rethrow_exception(answers->error);
  remote->version = answers->version;
}

NDArray DistStore::Source(Remote* remote, const Entry& entry, const NDArray& sum, int priority) {
  NDArray source = sum;
  const int dtype = entry.stored.dtype();
  if (sum.ctx().is_gpu() || sum.dtype() != dtype) {
    Ensure(&remote->sum, TensorType(sum.shape(), dtype, StorageType::kDense), Context::CPU());
    Assign(sum, remote->sum, priority);
    source = remote->sum;
  }
  if (!compression_.on()) return source;
  Compress(compression_, source, &remote->residual, &remote->codes, priority);
  return remote->codes;
}

NDArray DistStore::Target(Remote* remote, const Entry& entry, const Arrays& outs) {
  for (const NDArray* out : outs)
    if (!out->ctx().is_gpu() && out->type() == entry.stored.type()) return *out;
  Ensure(&remote->pulled, entry.stored.type(), Context::CPU());
  return remote->pulled;
}

void DistStore::Run(const std::shared_ptr<Operation>& op, int priority) {
  if (op->push && dist_.sync) own_->job()->steps()->BeforePush(op->remote->version + 1);
  op->compression = op->push ? compression_ : Compression();
  op->slices = dist_.slices;
  op->head.kind = op->push ? Kind::kPush : Kind::kPull;
  op->head.store = own_->store();
  op->head.flags = dist_.sync ? kSync : 0;
  op->head.key = op->remote->hash;
  op->head.version = op->push ? ++op->remote->version : op->remote->version;
  op->head.priority = dist_.slices ? priority : 0;
  op->head.compression = op->compression.kind;
  op->head.threshold = op->compression.threshold;
  std::vector<Var*> reads, writes;
  writes.reserve(2);
  writes.push_back(op->remote->order);
  if (op->push) reads.push_back(op->source.var());
  if (op->pull) {
    writes.push_back(op->target.var());
    if (!CoversChunk(op->target)) reads.push_back(op->target.var());
  }
  if (!op->ids.is_none()) reads.push_back(op->ids.var());
  own_->Begin(op->push);
  op->own = own_;
  if (op->rows || op->remote->sparse)
    op->remote->pushed = false, op->remote->foreseen = nullptr;
  else
    Foresee(op.get());
  const auto start = [op](RunContext, OnComplete complete) {
    op->complete = complete;
    if (op->rows)
      StartRows(op);
    else
      Start(op);
  };
  const char* name = !op->push ? "kvstore_dist_pull" : !op->pull ? "kvstore_dist_push" : "kvstore_dist_pushpull";
  engine::PushStarting(Engine::Get(), start, std::move(reads), std::move(writes), priority, name);
}

void DistStore::Foresee(Operation* op) {
  Remote* remote = op->remote;
  const size_t bytes = static_cast<size_t>(remote->parts[0].count) * DTypeSize(op->head.dtype);
  const bool alone = op->push && !op->pull;
  if (op->pull && !op->push && remote->pushed) {
    remote->pull_follows = true;
    op->foreseen = std::move(remote->foreseen);
  } else if (alone) {
    if (remote->pushed) remote->pull_follows = false;
    if (remote->pull_follows && dist_.sync && remote->parts.size() == 1 && bytes > 0 && bytes <= kForeseenBytes)
      op->foreseen = std::make_shared<Foreseen>();
  }
  remote->pushed = alone;
  remote->foreseen = alone ? op->foreseen : nullptr;
}

/* What is read may be read, and what is written may be written. */
void DistStore::Start(const std::shared_ptr<Operation>& op) {
  const std::vector<Part>& parts = op->remote->parts;
  op->left = static_cast<int>(parts.size());
  auto source = op->push && !op->foreseen ? std::make_shared<NDArray>(op->source) : nullptr;
  auto target = op->pull ? std::make_shared<NDArray>(op->target) : nullptr;
  const char* from = op->push ? op->source.data().dptr<const char>() : nullptr;
  char* into = target ? target->data().dptr<char>() : nullptr;
  Job* job = op->own->job();
  if (target && op->foreseen) {
    Job::Destination destination;
    destination.data = into;
    destination.bytes = target->data().Bytes();
    destination.keep = target;
    return op->foreseen->Take(job, std::move(destination), [op, into](const std::exception_ptr& error, const Message& reply) {
      if (!error && reply.data != into) std::memcpy(into, reply.data, std::min(reply.bytes, op->target.data().Bytes()));
      op->End(error);
    });
  }
  // Slices of one priority may overtake those of another, which the next operation may have.
  const bool early = !target && !op->foreseen && !op->slices && op->HoldSource();
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    Head head = op->head;
    head.part = static_cast<int64_t>(i);
    head.count = part.count;
    Message payload;
    if (from) {
      payload.data = from + op->compression.Bytes(part.begin, op->head.dtype);
      payload.bytes = op->compression.Bytes(part.count, op->head.dtype);
      payload.owner = source;
    }
    const int to = job->ServerRank(part.server), priority = static_cast<int>(head.priority);
    if (op->foreseen) {  // the source may change at once: without an owner, the payload leaves or is copied
      const auto arrive = [foreseen = op->foreseen](std::exception_ptr error, const Message& reply) { foreseen->Arrive(error, reply); };
      op->foreseen->request = job->Ask(to, head, std::move(payload), priority, Job::Destination(), arrive);
      op->End(nullptr);
      continue;
    }
    if (!target) {
      job->Tell(to, head, std::move(payload), priority, [op] { op->Left(); });
      continue;
    }
    Job::Destination destination;
    destination.data = into + static_cast<size_t>(part.begin) * DTypeSize(op->head.dtype);
    destination.bytes = static_cast<size_t>(part.count) * DTypeSize(op->head.dtype);
    destination.keep = target;
    destination.is_source = source && source->chunk() == target->chunk();
    job->Ask(to, head, std::move(payload), priority, std::move(destination),
             [op](std::exception_ptr error, const Message&) { op->End(error); });
  }
  if (early) op->complete(nullptr);
}

std::vector<DistStore::Step> DistStore::Steps(const std::vector<Pushed>& pushed, const std::vector<NDArray>& sums,
                                              const std::vector<Entry*>& entries, const Arrays& outs) {
  std::vector<Step> steps;
  if (pushed.size() == 1 && outs.empty()) return {{pushed[0].entry, &sums[0], {}}};
  if (pushed.empty() && outs.size() == 1) return {{entries[0], nullptr, outs}};
  std::map<const Entry*, size_t> places;
  std::map<const Var*, size_t> sources;
  for (size_t i = 0; i < pushed.size(); ++i) {
    places[pushed[i].entry] = i;
    sources[sums[i].var()] = i;
    steps.push_back({pushed[i].entry, &sums[i], {}});
  }
  // Everything is read before anything is written: a pull to what another key sends is for later.
  bool apart = false;
  for (size_t i = 0; i < outs.size(); ++i) {
    const auto source = sources.find(outs[i]->var());
    const auto place = places.find(entries[i]);
    apart = apart || (source != sources.end() && (place == places.end() || place->second != source->second));
  }
  if (apart) places.clear();
  for (size_t i = 0; i < outs.size(); ++i) {
    const auto place = places.emplace(entries[i], steps.size());
    if (place.second) steps.push_back({entries[i], nullptr, {}});
    steps[place.first->second].outs.push_back(outs[i]);
  }
  return steps;
}

void DistStore::Push(const Keys& keys, const Arrays& values, int priority) { PushPull(keys, values, {}, {}, priority); }

void DistStore::Pull(const Keys& keys, const Arrays& outs, int priority) { PushPull({}, {}, keys, outs, priority); }

void DistStore::PushPull(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) {
  const char* what = keys.empty() ? "pull" : out_keys.empty() ? "push" : "pushpull";
  const std::vector<Pushed> pushed = Gather(what, keys, values);
  const std::vector<Entry*> entries = GatherOuts(what, out_keys, outs);
  for (const Pushed& p : pushed)
    MXNET_CHECK_KIND(!compression_.on() || !IsSparse(p), Value)
        << "[kvstore] " << what << " of row_sparse values to key " << p.key->str()
        << " of a store with gradient compression; accepted: dense values, or compression of type 'none'";
  own_->job()->CheckServers();
  const std::vector<NDArray> sums = SumAll(pushed, priority);
  for (const Step& step : Steps(pushed, sums, entries, outs)) {
    Remote* remote = RemoteOf(step.entry);
    if (remote->sparse || (step.sum && step.sum->is_sparse())) {
      RunSparse(step, remote, priority);
      continue;
    }
    const std::shared_ptr<Operation> op = NewOperation(step.entry, remote);
    op->push = step.sum != nullptr;
    op->pull = !step.outs.empty();
    if (op->push) op->source = Source(op->remote, *step.entry, *step.sum, priority);
    if (op->pull) op->target = Target(op->remote, *step.entry, step.outs);
    Run(op, priority);
    for (const NDArray* out : step.outs) Assign(op->target, *out, priority);
  }
}

DistStore::Remote* DistStore::RemoteOf(const Entry* entry) {
  std::lock_guard<std::mutex> hold(mutex_);
  return remotes_.at(entry).get();
}

std::shared_ptr<DistStore::Operation> DistStore::NewOperation(const Entry* entry, Remote* remote) {
  auto op = std::make_shared<Operation>();
  op->remote = remote;
  op->head.dtype = static_cast<uint8_t>(entry->stored.dtype());
  return op;
}

}  // namespace kvstore
}  // namespace mxnet
