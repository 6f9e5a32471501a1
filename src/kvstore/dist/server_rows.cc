// What a server does with row_sparse values, and with rows of values.
#include <algorithm>
#include <climits>
#include <numeric>
#include <utility>

#include "kvstore/dist/row_messages.h"
#include "kvstore/dist/server.h"
#include "mxnet/engine.h"
#include "ndarray/run.h"

namespace mxnet {
namespace kvstore {
namespace {

bool HasRows(const Message& m) { return (Head::Read(m.head).flags & kRows) != 0; }

/* sum = the sum of what was pushed, in that order. In an operation of the engine. */
void AddPushedRows(const RunContext& run, const std::vector<Message>& pushes, const NDArray& sum) {
  const TBlob out = sum.blob();
  const int64_t size = out.Size();
  std::vector<SentRows> sent(pushes.size());
  std::vector<std::shared_ptr<void>> unpacked;
  std::vector<Rows> in;
  for (size_t i = 0; i < pushes.size(); ++i) {
    const Message& push = pushes[i];
    const Compression how = CompressionOf(Head::Read(push.head));
    Rows dense;
    dense.all = true;
    dense.values = push.data;
    if (HasRows(push)) {
      const std::string wrong = ReadRows(push.data, push.bytes, out.shape[0], RowBytes(out.shape, out.dtype), &sent[i]);
      MXNET_CHECK(wrong.empty()) << "[kvstore] " << wrong;  // it was looked at when it came
      dense = sent[i].rows();
    } else if (how.on()) {
      TBlob value = BlobOf(push, size, out.dtype);
      unpacked.push_back(PooledMemory(value.Bytes()));
      value.dptr = unpacked.back().get();
      Decompress(run, how, BlobOf(push, how.Words(size), kUint32), value);
      dense.values = value.dptr;
    }
    in.push_back(dense);
  }
  AddRows(in, out);
}

}  // namespace

NDArray Server::FirstRows(const Head& head, const InitText& text, const char* data, size_t bytes) {
  const Shape shape = text.PartShape(head.count);
  const Shape whole(text.shape);
  MXNET_CHECK(whole.ndim() == shape.ndim()) << "[kvstore] a first value came as rows in a part that has none";
  NDArray value = NDArray::Make(TensorType(shape, head.dtype, StorageType::kRowSparse), Context::CPU());
  SentRows sent;
  const std::string wrong = ReadRows(data, bytes, shape[0], RowBytes(shape, head.dtype), &sent);
  MXNET_CHECK(wrong.empty()) << "[kvstore] a first value that is not whole came: " << wrong;
  AddRows({sent.rows()}, value.blob());  // nobody else has the array yet
  return value;
}

std::string Server::WrongRows(const KeptPart& part, const Head& head, const Message& message) {
  const Shape& shape = part.stored.shape();
  if (shape.ndim() == 0 || head.compression != Compression::kNone) return "rows of a value without rows, or compressed ones, came";
  SentRows sent;
  return ReadRows(message.data, message.bytes, shape[0], RowBytes(shape, part.stored.dtype()), &sent);
}

bool Server::AreRows(const KeptPart& part, const std::vector<Message>& pushes) {
  return part.stored.is_sparse() || std::any_of(pushes.begin(), pushes.end(), HasRows);
}

NDArray Server::ApplyRows(KeptPart* part, const std::vector<Message>& pushes, bool updated, int priority) {
  const bool all_rows = std::all_of(pushes.begin(), pushes.end(), HasRows);
  const bool sparse = all_rows && (updated || part->stored.is_sparse());
  TensorType type = part->stored.type();
  type.storage = sparse ? StorageType::kRowSparse : StorageType::kDense;
  const NDArray sum = NDArray::Make(type, Context::CPU(), true);
  double bytes = 0;
  for (const Message& push : pushes) bytes += static_cast<double>(push.bytes);
  if (!sparse) bytes += static_cast<double>(part->count) * static_cast<double>(DTypeSize(type.dtype));
  Var* writes[1] = {sum.var()};
  RunOrPush([sum, pushes](RunContext run) { AddPushedRows(run, pushes, sum); }, Context::CPU(), Span<Var* const>(),
            Span<Var* const>(writes, 1), kNsPerSummedByte * bytes < kInlineNanoseconds, FnProperty::kCPUPrioritized, priority,
            "kvstore_server_sum");
  if (updated) return std::exchange(part->sum, sum);
  part->whole = false;
  if (sparse == part->stored.is_sparse()) return std::exchange(part->stored, sum);
  NDArray replaced = std::exchange(part->stored, NDArray::Make(part->stored.type(), Context::CPU(), true));
  CopyFromTo(sum, part->stored, priority);
  return replaced;
}

void Server::FillRows(KeptPart* part) {
  const NDArray before = part->stored, filled = NDArray::Make(before.type(), Context::CPU(), true);
  Engine::Get()->PushSync(
      [before, filled](RunContext) {
        const TBlob from = before.blob(), to = filled.blob();
        to.sparse->Resize(to.shape[0]);
        int64_t* const ids = to.sparse->index[SparseParts::kRows].data<int64_t>();
        std::iota(ids, ids + to.shape[0], int64_t{0});
        GatherRows(from, ids, to.shape[0], to.sparse->values.data<char>());
      },
      Context::CPU(), {before.var()}, {filled.var()}, FnProperty::kCPUPrioritized, 0, "kvstore_server_fill");
  part->stored = filled;
  part->whole = true;
}

void Server::SendRows(KeptPart* part, const Pull& pull) {
  Head head = pull.head.Reply(Kind::kReply);
  head.version = part->version;
  const int priority = static_cast<int>(head.priority), to = pull.from;
  const NDArray value = part->stored;
  // An update that failed left its error in the variable: it is sent instead of the value.
  const auto send = [job = job_, value, head, to, priority, rows = pull.rows](RunContext) {
    Message message;
    try {
      Engine::Get()->Throw(value.var());
      const TBlob from = value.blob();
      if (from.sparse) from.sparse->Settle();
      message = rows ? PackAnswer(from, *rows) : PackRows(*from.sparse, 0, from.shape[0]);
    } catch (const std::exception& e) {
      return job->Tell(to, head.Reply(Kind::kError), TextMessage(Head(), e.what()), INT_MAX);
    }
    job->Tell(to, head, std::move(message), priority);
  };
  const int64_t count = pull.rows ? static_cast<int64_t>(pull.rows->size()) : value.shape()[0];
  const bool few = count <= static_cast<int64_t>(kCopiedBytes / std::max<size_t>(8, RowBytes(value.shape(), value.dtype())));
  Var* reads[1] = {value.var()};
  RunOrPush(send, Context::CPU(), Span<Var* const>(reads, 1), Span<Var* const>(), few, FnProperty::kNoSkip, priority,
            "kvstore_server_send");
}

}  // namespace kvstore
}  // namespace mxnet
