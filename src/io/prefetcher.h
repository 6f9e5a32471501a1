/*
 * An iterator that another one feeds from a thread of its own, up to `depth` batches ahead.
 *
 * ERRORS   What the other one throws is thrown by the Next that would have given that batch.
 * FORK     The thread stays in the process that made it. In a forked child Next and BeforeFirst
 *          throw, and the destructor gives nothing back.
 */
#ifndef MXNET_IO_PREFETCHER_H_
#define MXNET_IO_PREFETCHER_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "io/data_iter.h"

namespace mxnet {

class Prefetcher : public DataIter {
 public:
  /* `name` begins messages. REQUIRES: depth > 0. */
  Prefetcher(std::string name, std::unique_ptr<DataIter> source, size_t depth);
  ~Prefetcher() override;
  void BeforeFirst() override { Rewind(false); }
  void Restart() override { Rewind(true); }
  bool Next() override;
  const DataBatch& Value() const override { return value_; }
  int64_t LengthHint() const override { return length_; }

 private:
  struct State;
  static void Work(State* state);
  void CheckProcess() const;
  void Rewind(bool restart);

  const std::string name_;
  State* const state_;  // shared with the thread; left alone in a forked child
  const pid_t owner_;
  const int64_t length_;
  DataBatch value_;
};

/* `source` itself if `depth` is 0. */
inline std::unique_ptr<DataIter> Prefetched(const std::string& name, std::unique_ptr<DataIter> source, size_t depth) {
  if (depth == 0) return source;
  return std::make_unique<Prefetcher>(name, std::move(source), depth);
}

}  // namespace mxnet
#endif  // MXNET_IO_PREFETCHER_H_
