#include "kvstore/dist/row_messages.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/round_up.h"

namespace mxnet {
namespace kvstore {
namespace {

/* Where the values begin. */
size_t ValuesAt(int64_t count) { return RoundUp((static_cast<size_t>(count) + 1) * 8, 64); }

Message Owned(const std::shared_ptr<void>& memory, size_t bytes) {
  Message m;
  m.data = memory.get();
  m.bytes = bytes;
  m.owner = memory;
  return m;
}

/* The numbers, of which no more than `rows` are; what is behind them is not looked at. */
std::string ReadIds(const void* data, size_t bytes, int64_t rows, std::vector<int64_t>* ids) {
  std::ostringstream text;
  int64_t count = -1;
  if (bytes >= sizeof count) std::memcpy(&count, data, sizeof count);
  if (count < 0 || count > rows || static_cast<size_t>(count) > (bytes - sizeof count) / 8) {
    text << count << " rows in " << bytes << " bytes came for a part of " << rows << " rows";
    return text.str();
  }
  ids->resize(static_cast<size_t>(count));
  if (count > 0) std::memcpy(ids->data(), static_cast<const char*>(data) + sizeof count, static_cast<size_t>(count) * 8);
  for (size_t i = 0; i < ids->size(); ++i) {
    const int64_t least = i > 0 ? (*ids)[i - 1] + 1 : 0;
    if ((*ids)[i] >= least && (*ids)[i] < rows) continue;
    text << "number " << i << " of the rows that came is " << (*ids)[i] << "; accepted: ascending numbers from 0 to " << rows - 1;
    return text.str();
  }
  return "";
}

}  // namespace

std::shared_ptr<void> PooledMemory(size_t bytes) {
  auto array = std::make_shared<NDArray>(Shape({static_cast<int64_t>(bytes)}), Context::CPU(), kUint8);
  void* data = array->data().dptr<void>();
  return std::shared_ptr<void>(std::move(array), data);
}

Message PackRows(const SparseParts& from, int64_t begin, int64_t end, const std::string& front) {
  const int64_t* const ids = from.index[SparseParts::kRows].data<int64_t>();
  const int64_t *const first = std::lower_bound(ids, ids + from.stored(), begin), *const last =
                                                                                      std::lower_bound(first, ids + from.stored(), end);
  const int64_t count = last - first;
  const size_t row_bytes = RowBytes(from.shape, from.values.dtype), values_at = ValuesAt(count);
  const size_t values = static_cast<size_t>(count) * row_bytes, bytes = front.size() + values_at + values;
  const std::shared_ptr<void> memory = PooledMemory(bytes);
  char* to = static_cast<char*>(memory.get());
  std::memcpy(to, front.data(), front.size());
  to += front.size();
  std::memset(to, 0, values_at);
  std::memcpy(to, &count, sizeof count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = first[i] - begin;
    std::memcpy(to + 8 + static_cast<size_t>(i) * 8, &id, sizeof id);
  }
  if (values > 0) std::memcpy(to + values_at, from.values.data<char>() + static_cast<size_t>(first - ids) * row_bytes, values);
  return Owned(memory, bytes);
}

Message PackAnswer(const TBlob& from, const std::vector<int64_t>& ids) {
  const size_t bytes = ids.size() * RowBytes(from.shape, from.dtype);
  const std::shared_ptr<void> memory = PooledMemory(bytes);
  GatherRows(from, ids.data(), static_cast<int64_t>(ids.size()), memory.get());
  return Owned(memory, bytes);
}

Message PackQuestion(const int64_t* ids, int64_t count, int64_t begin) {
  const size_t bytes = (static_cast<size_t>(count) + 1) * 8;
  const std::shared_ptr<void> memory = PooledMemory(bytes);
  int64_t* const words = static_cast<int64_t*>(memory.get());
  words[0] = count;
  for (int64_t i = 0; i < count; ++i) words[i + 1] = ids[i] - begin;
  return Owned(memory, bytes);
}

std::string ReadRows(const void* data, size_t bytes, int64_t rows, size_t row_bytes, SentRows* out) {
  std::string wrong = ReadIds(data, bytes, rows, &out->ids);
  if (!wrong.empty()) return wrong;
  // No more than `rows` rows: as an array has them, so that their bytes can be counted.
  const size_t values_at = ValuesAt(static_cast<int64_t>(out->ids.size())), all = values_at + out->ids.size() * row_bytes;
  if (bytes != all)
    return std::to_string(out->ids.size()) + " rows in " + std::to_string(bytes) + " bytes came; they have " + std::to_string(all);
  out->values = static_cast<const char*>(data) + values_at;
  return "";
}

std::string ReadQuestion(const void* data, size_t bytes, int64_t rows, std::vector<int64_t>* ids) {
  std::string wrong = ReadIds(data, bytes, rows, ids);
  if (wrong.empty() && bytes != (ids->size() + 1) * 8)
    wrong = "a question for " + std::to_string(ids->size()) + " rows came in " + std::to_string(bytes) + " bytes";
  return wrong;
}

}  // namespace kvstore
}  // namespace mxnet
