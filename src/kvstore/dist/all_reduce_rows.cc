// Sums of row_sparse arrays: each worker adds up some rows, of which those that any has travel.
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "kvstore/dist/all_reduce_state.h"
#include "kvstore/dist/row_messages.h"

namespace mxnet {
namespace kvstore {
namespace {

/* Throws Error for a payload that is malformed. */
SentRows Checked(const Message& message, int64_t rows, const NDArray& array) {
  SentRows sent;
  const std::string wrong = ReadRows(message.data, message.bytes, rows, RowBytes(array.shape(), array.dtype()), &sent);
  MXNET_CHECK(wrong.empty()) << "rows of another worker are malformed: " << wrong;
  return sent;
}

}  // namespace

/* The array is ready, and nobody else may end the call yet. */
std::vector<Message> AllReduce::State::PackShares(const Words& words, const NDArray& array) const {
  std::vector<Message> packed;
  for (int worker = 0; worker < workers_; ++worker) {
    const auto share = Share(words, worker);
    packed.push_back(PackRows(*array.sparse(), share.first, share.second));
  }
  return packed;
}

void AllReduce::State::SendRows(const CallPointer& call, int worker, Phase phase, Later* later) {
  Message message = phase == Phase::kResult ? call->results[static_cast<size_t>(me_)] : call->packed[static_cast<size_t>(worker)];
  Words words = call->words;
  words.phase = phase;
  words.Write(message.head);
  ++call->sending;
  auto self = shared_from_this();
  const int rank = ranks_[static_cast<size_t>(worker)], priority = call->priority;
  later->push_back(
      [self, call, rank, priority, message] { self->transport_->Send(rank, message, priority, [self, call] { self->Sent(call); }); });
}

bool AllReduce::State::HasManyRows(const Call& call) {
  size_t bytes = 0;
  for (const Message& m : call.packed) bytes += m.bytes;
  for (const Message& m : call.values) bytes += m.bytes;
  return bytes >= reduce::kLongSum;
}

/* Nothing else touches the share meanwhile: all values are here. */
void AllReduce::State::AddUpRows(Call* call) {
  const auto share = Share(call->words, me_);
  const int64_t rows = share.second - share.first;
  const size_t me = static_cast<size_t>(me_);
  if (!call->packed.empty()) call->values[me] = std::move(call->packed[me]);
  std::vector<SentRows> sent;
  for (size_t worker = 0; worker < call->values.size(); ++worker)
    if (!call->broadcast || worker == 0) sent.push_back(Checked(call->values[worker], rows, call->array));
  if (call->broadcast) {
    call->results[me] = call->values[0];
    return;
  }
  std::vector<Rows> in;
  for (const SentRows& s : sent) in.push_back(s.rows());
  Shape shape = call->array.shape();
  shape[0] = rows;
  const NDArray sum = NDArray::Make(TensorType(shape, call->words.dtype, StorageType::kRowSparse), Context::CPU());
  AddRows(in, sum.blob());
  call->results[me] = PackRows(*sum.sparse(), 0, rows);
}

void AllReduce::State::PutTogether(const CallPointer& call) {
  const auto put = [self = shared_from_this(), call] {
    std::exception_ptr error;
    try {
      std::vector<std::pair<int64_t, SentRows>> sent;  // each with its share's first row
      int64_t count = 0;
      for (int worker = 0; worker < self->workers_; ++worker) {
        const auto share = self->Share(call->words, worker);
        if (share.first >= share.second) continue;
        sent.emplace_back(share.first, Checked(call->results[static_cast<size_t>(worker)], share.second - share.first, call->array));
        count += static_cast<int64_t>(sent.back().second.ids.size());
      }
      SparseParts* const out = call->array.sparse();
      out->Resize(count);
      int64_t* ids = out->index[SparseParts::kRows].data<int64_t>();
      char* values = out->values.data<char>();
      const size_t row_bytes = RowBytes(call->array.shape(), call->words.dtype);
      for (const auto& [begin, rows] : sent) {
        for (const int64_t id : rows.ids) *ids++ = begin + id;
        const size_t bytes = rows.ids.size() * row_bytes;
        if (bytes > 0) std::memcpy(values, rows.values, bytes);
        values += bytes;
      }
    } catch (const std::exception& e) {
      error = StoreError(e.what());
    }
    call->results.clear();
    call->array = NDArray();
    call->done(error);
  };
  size_t bytes = 0;
  for (const Message& m : call->results) bytes += m.bytes;
  if (bytes < reduce::kLongSum) return put();
  Engine::Get()->PushAsync(
      [put](RunContext, OnComplete done) {
        put();
        done();
      },
      Context::CPU(), {}, {}, FnProperty::kCPUPrioritized, call->priority, "kvstore_copy");
}

}  // namespace kvstore
}  // namespace mxnet
