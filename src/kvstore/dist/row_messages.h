/*
 * Rows on their way between processes. A payload of rows has
 *
 *   how many (int64)
 *   their numbers within the part (int64), ascending, each once
 *   from a multiple of 64 bytes on, their values
 *
 * A question for rows has no values; the answer has nothing else.
 */
#ifndef MXNET_KVSTORE_DIST_ROW_MESSAGES_H_
#define MXNET_KVSTORE_DIST_ROW_MESSAGES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kvstore/dist/transport.h"
#include "kvstore/rows.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace kvstore {

/* Memory of the pool for so many bytes. */
std::shared_ptr<void> PooledMemory(size_t bytes);

/* The rows [begin, end) of a row_sparse array that it stores, numbered from `begin` on, behind
 * `front`. The head is the caller's to write. REQUIRES: SparseParts::Settle was called. */
Message PackRows(const SparseParts& from, int64_t begin, int64_t end, const std::string& front = "");
/* The rows of a dense or row_sparse array that were asked for, as an answer. */
Message PackAnswer(const TBlob& from, const std::vector<int64_t>& ids);
/* A question for rows, which are numbered from `begin` on. */
Message PackQuestion(const int64_t* ids, int64_t count, int64_t begin);

/* What came. */
struct SentRows {
  std::vector<int64_t> ids;
  const void* values = nullptr;  // in the message
  Rows rows() const {
    Rows r;
    r.ids = ids.data();
    r.count = static_cast<int64_t>(ids.size());
    r.values = values;
    return r;
  }
};
/* Nothing, or what is wrong with a payload: for an array of that many rows. */
std::string ReadRows(const void* data, size_t bytes, int64_t rows, size_t row_bytes, SentRows* out);
std::string ReadQuestion(const void* data, size_t bytes, int64_t rows, std::vector<int64_t>* ids);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_ROW_MESSAGES_H_
