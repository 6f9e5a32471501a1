// Pushes and pulls of rows: of row_sparse values and sums, and of dense values cut at rows.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kvstore/dist/row_messages.h"
#include "kvstore/dist/store_state.h"
#include "kvstore/rows.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {
namespace {

constexpr size_t kLongCopy = 256 << 10;  // bytes; longer ones are not for the thread that gets messages

/* The rows of all parts, in the array that they were pulled to. Throws Error for replies that are
 * malformed. */
void PutTogether(const std::vector<Message>& replies, const std::vector<std::pair<int64_t, int64_t>>& rows, const NDArray& target) {
  SparseParts* const out = target.blob().sparse;
  const size_t row_bytes = RowBytes(target.shape(), target.dtype());
  std::vector<SentRows> sent(replies.size());
  int64_t count = 0;
  for (size_t i = 0; i < replies.size(); ++i) {
    const std::string wrong = ReadRows(replies[i].data, replies[i].bytes, rows[i].second - rows[i].first, row_bytes, &sent[i]);
    if (!wrong.empty()) std::rethrow_exception(StoreError("a server's answer is malformed: " + wrong));
    count += static_cast<int64_t>(sent[i].ids.size());
  }
  out->Resize(count);
  int64_t* ids = out->index[SparseParts::kRows].data<int64_t>();
  char* values = out->values.data<char>();
  for (size_t i = 0; i < sent.size(); ++i) {
    for (const int64_t id : sent[i].ids) *ids++ = rows[i].first + id;
    const size_t bytes = sent[i].ids.size() * row_bytes;
    if (bytes > 0) std::memcpy(values, sent[i].values, bytes);
    values += bytes;
  }
}

}  // namespace

void DistStore::RunSparse(const Step& step, Remote* remote, int priority) {
  const Entry& entry = *step.entry;
  if (step.sum) {
    const std::shared_ptr<Operation> op = NewOperation(step.entry, remote);
    op->push = true;
    op->rows = step.sum->is_sparse() && remote->by_rows;
    op->source = *step.sum;
    const StorageType storage = op->rows ? StorageType::kRowSparse : StorageType::kDense;
    const TensorType type(entry.stored.shape(), entry.stored.dtype(), storage);
    if (op->source.type() != type || op->source.ctx().is_gpu()) {
      Ensure(&remote->sum, type, Context::CPU());
      Assign(*step.sum, remote->sum, priority);
      op->source = remote->sum;
    }
    Run(op, priority);
  }
  if (step.outs.empty()) return;
  const std::shared_ptr<Operation> op = NewOperation(step.entry, remote);
  op->pull = true;
  op->rows = remote->sparse;
  op->target = Target(remote, entry, step.outs);
  Run(op, priority);
  for (const NDArray* out : step.outs) Assign(op->target, *out, priority);
}

void DistStore::PullRowSparse(const Keys& keys, const Arrays& outs, const Arrays& row_ids, int priority) {
  const std::vector<Entry*> entries = GatherRowOuts(keys, outs, row_ids);
  own_->job()->CheckServers();
  for (size_t i = 0; i < outs.size(); ++i) {
    Remote* remote = RemoteOf(entries[i]);
    const NDArray& out = *outs[i];
    const std::shared_ptr<Operation> op = NewOperation(entries[i], remote);
    op->pull = true;
    if (!remote->by_rows) {  // a few long rows of a dense value, of which servers have pieces
      op->target = Target(remote, *entries[i], {});
      Run(op, priority);
      const NDArray rows = RowTarget(*entries[i], out, out.ctx());
      TakeRows(op->target, *row_ids[i], rows, priority);
      if (rows.chunk() != out.chunk()) CopyFromTo(rows, out, priority);
      continue;
    }
    op->rows = true;
    op->ids = row_ids[i]->ctx().is_gpu() ? row_ids[i]->Copy(Context::CPU()) : row_ids[i]->Detach();
    op->target = RowTarget(*entries[i], out, out.ctx().is_gpu() ? Context::CPU() : out.ctx()).Detach();
    Run(op, priority);
    if (op->target.chunk() != out.chunk()) CopyFromTo(op->target, out, priority);
  }
}

/* What is read may be read, and what is written may be written. */
void DistStore::StartRows(const std::shared_ptr<Operation>& op) {
  if (op->push) return SendRows(op);
  try {
    if (op->ids.is_none())
      AskForAll(op);
    else
      AskForRows(op);
  } catch (...) {  // before anything is asked for
    op->complete(std::current_exception());
  }
}

void DistStore::SendRows(const std::shared_ptr<Operation>& op) {
  SparseParts* const from = op->source.blob().sparse;
  std::string wrong;
  try {
    from->Settle();
  } catch (const std::exception& e) {  // the servers count pushes, and others wait for this one
    wrong = e.what();
  }
  const std::vector<Part>& parts = op->remote->parts;
  Job* const job = op->own->job();
  op->left = static_cast<int>(parts.size());
  // Slices of one priority may overtake those of another, which the next operation may have.
  const bool early = !op->slices;
  for (size_t i = 0; i < parts.size(); ++i) {
    Head head = op->head;
    head.part = static_cast<int64_t>(i);
    head.count = parts[i].count;
    head.flags |= static_cast<uint16_t>(wrong.empty() ? kRows : kNoValue);
    const auto [first, end] = op->remote->RowsOf(parts[i], op->source.shape());
    Message payload = wrong.empty() ? PackRows(*from, first, end) : TextMessage(head, wrong);
    const auto sent = [op, early] {
      if (!early) op->End(nullptr);
    };
    job->Tell(job->ServerRank(parts[i].server), head, std::move(payload), static_cast<int>(head.priority), sent);
  }
  if (early) op->complete(nullptr);  // what is on its way is a copy
}

void DistStore::AskForAll(const std::shared_ptr<Operation>& op) {
  const std::vector<Part>& parts = op->remote->parts;
  Job* const job = op->own->job();
  op->left = static_cast<int>(parts.size());
  op->replies.resize(parts.size());
  const auto finish = [op] {
    std::exception_ptr error = op->error;
    try {
      std::vector<std::pair<int64_t, int64_t>> rows;
      for (const Part& part : op->remote->parts) rows.push_back(op->remote->RowsOf(part, op->target.shape()));
      if (!error) PutTogether(op->replies, rows, op->target);
    } catch (...) {
      error = std::current_exception();
    }
    op->replies.clear();
    op->complete(error);
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    Head head = op->head;
    head.part = static_cast<int64_t>(i);
    head.count = parts[i].count;
    const auto arrive = [op, i, finish](const std::exception_ptr& error, const Message& reply) {
      op->replies[i] = reply;
      if (!op->IsLast(error)) return;
      size_t bytes = 0;
      for (const Message& m : op->replies) bytes += m.bytes;
      if (bytes < kLongCopy) return finish();
      Engine::Get()->PushAsync(
          [finish](RunContext, OnComplete done) {
            finish();
            done();
          },
          Context::CPU(), {}, {}, FnProperty::kCPUPrioritized, static_cast<int>(op->head.priority), "kvstore_copy");
    };
    job->Ask(job->ServerRank(parts[i].server), head, Message(), static_cast<int>(head.priority), Job::Destination(), arrive);
  }
}

void DistStore::AskForRows(const std::shared_ptr<Operation>& op) {
  const std::vector<Part>& parts = op->remote->parts;
  Job* const job = op->own->job();
  const Shape& shape = op->target.shape();
  const std::vector<int64_t> ids = UniqueRows(op->ids.data(), shape[0]);
  SparseParts* const out = op->target.blob().sparse;
  out->Resize(static_cast<int64_t>(ids.size()));
  std::copy(ids.begin(), ids.end(), out->index[SparseParts::kRows].data<int64_t>());
  const size_t row_bytes = RowBytes(shape, op->target.dtype());
  struct Question {
    size_t part, begin, count;
  };
  std::vector<Question> questions;
  for (size_t i = 0, begin = 0; i < parts.size(); ++i) {
    const int64_t last = op->remote->RowsOf(parts[i], shape).second;
    const size_t end = static_cast<size_t>(std::lower_bound(ids.begin(), ids.end(), last) - ids.begin());
    if (end > begin && row_bytes > 0) questions.push_back({i, begin, end - begin});
    begin = end;
  }
  if (questions.empty()) return op->complete(nullptr);
  op->left = static_cast<int>(questions.size());
  const auto target = std::make_shared<NDArray>(op->target);
  for (const Question& q : questions) {
    const Part& part = parts[q.part];
    Head head = op->head;
    head.flags |= kRows;
    head.part = static_cast<int64_t>(q.part);
    head.count = part.count;
    Job::Destination destination;
    destination.data = out->values.data<char>() + q.begin * row_bytes;
    destination.bytes = q.count * row_bytes;
    destination.keep = target;
    Message payload = PackQuestion(ids.data() + q.begin, static_cast<int64_t>(q.count), op->remote->RowsOf(part, shape).first);
    job->Ask(job->ServerRank(part.server), head, std::move(payload), static_cast<int>(head.priority), std::move(destination),
             [op](std::exception_ptr error, const Message&) { op->End(error); });
  }
}

}  // namespace kvstore
}  // namespace mxnet
