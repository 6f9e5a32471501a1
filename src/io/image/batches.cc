// Threads that make the rows of batches.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/logging.h"
#include "base/threads/omp.h"
#include "base/threads/shared_cores.h"
#include "io/image/pipeline.h"
#include "mxnet/error.h"

namespace mxnet {
namespace image {
namespace {

constexpr int kWarnings = 20;  // about broken images, then only their number

struct Batch {
  DataBatch data;
  std::vector<char*> memory;     // of each array
  std::vector<uint8_t> bad;      // rows whose image is broken
  uint32_t given = 0, made = 0;  // rows
  uint32_t rows = 0;             // that the batch will have
  uint32_t first_bad = UINT32_MAX;
  std::string broken;     // why that row is bad
  bool borrowed = false;  // its last rows are of the next epoch
  std::exception_ptr error;
  bool complete = false;  // no more rows are given
  bool Ready() const { return complete && made == given; }
};

struct State {
  BatchOptions options;
  std::unique_ptr<RecordSource> records;  // guarded by the mutex, as what follows
  std::unique_ptr<RowMaker> rows;
  std::mutex mutex;
  std::condition_variable work, ready;
  std::deque<std::shared_ptr<Batch>> batches;  // that are not handed out; only the last is incomplete
  bool ended = false, paused = false, stop = false;
  int busy = 0;         // threads outside of the lock
  uint64_t epoch = 0;   // that the next record is from
  uint64_t broken = 0;  // images so far
  std::vector<std::thread> threads;

  bool Wanted() const {
    if (paused || ended) return false;
    const size_t most = static_cast<size_t>(std::max<uint64_t>(options.prefetch, 2)) - 1;  // and the one that was handed out
    return batches.size() < most || (!batches.empty() && !batches.back()->complete);
  }
};

std::shared_ptr<Batch> NewBatch(const State& state) {
  auto batch = std::make_shared<Batch>();
  batch->rows = state.options.batch_size;
  for (const RowArray& array : state.rows->arrays()) {
    std::vector<int64_t> shape{static_cast<int64_t>(batch->rows)};
    for (int i = 0; i < array.shape.ndim(); ++i) shape.push_back(array.shape[i]);
    NDArray memory;
    memory.Init(Shape(shape), state.options.context, array.dtype);
    batch->memory.push_back(memory.data().dptr<char>());
    batch->data.arrays.push_back(std::move(memory));
  }
  batch->bad.assign(batch->rows, 0);  // after the arrays, whose error says how large a batch would be
  batch->data.index.assign(batch->rows, 0);
  return batch;
}

size_t RowBytes(const RowArray& array) { return static_cast<size_t>(array.shape.Size()) * DTypeSize(array.dtype); }

// The next record and its row; false: the epoch is over. May complete the last batch.
bool GiveRow(State* state, Record* record, std::shared_ptr<Batch>* batch, uint32_t* row) {
  if (state->batches.empty() || state->batches.back()->complete) state->batches.push_back(NewBatch(*state));
  *batch = state->batches.back();
  Batch* last = batch->get();
  bool some = state->records->Read(record);
  if (!some && last->given > 0 && state->options.round_batch) {
    last->borrowed = true;
    state->records->StartEpoch(++state->epoch);
    some = state->records->Read(record);
  }
  if (!some) {
    state->ended = true;
    last->complete = true;
    if (last->given == 0) {
      state->batches.pop_back();
    } else {
      last->data.pad = static_cast<int>(last->rows - last->given);
    }
    return false;
  }
  *row = last->given++;
  if (last->borrowed) ++last->data.pad;
  if (last->given == last->rows) {
    last->complete = true;
    if (last->borrowed) state->ended = true;
  }
  return true;
}

void MakeRow(State* state, const Record& record, Batch* batch, uint32_t row, Workspace* workspace) {
  const std::vector<RowArray>& arrays = state->rows->arrays();
  char* to[8];
  for (size_t i = 0; i < arrays.size(); ++i) to[i] = batch->memory[i] + row * RowBytes(arrays[i]);
  if (state->rows->Make(record, workspace, to, &batch->data.index[row])) return;
  batch->bad[row] = 1;
  const std::string text =
      "image " + std::to_string(batch->data.index[row]) + " in " + record.Place() + " cannot be decoded: " + workspace->text;
  uint64_t count;
  {
    std::lock_guard<std::mutex> hold(state->mutex);
    if (row < batch->first_bad) batch->first_bad = row, batch->broken = text;
    count = ++state->broken;
  }
  if (count > kWarnings) return;
  LogWarning("[" + state->options.function + "] " + text + "; another image of the batch is in its place" +
             (count == kWarnings ? ". No more of these warnings are shown." : ""));
}

void Work(State* state) {
  SetThreadName("mxnet-image");
  SetThreadOmpLimit(1);
  Workspace workspace;
  std::unique_lock<std::mutex> hold(state->mutex);
  while (true) {
    state->work.wait(hold, [&] { return state->stop || state->Wanted(); });
    if (state->stop) return;
    Record record;
    std::shared_ptr<Batch> batch;
    uint32_t row = 0;
    bool some = false;
    std::exception_ptr error;
    try {
      some = GiveRow(state, &record, &batch, &row);
    } catch (const std::exception&) {
      error = std::current_exception();
      if (batch == nullptr) state->batches.push_back(batch = std::make_shared<Batch>());  // no memory for one
      batch->complete = state->ended = true;
    }
    if (some) {
      ++state->busy;
      hold.unlock();
      try {
        MakeRow(state, record, batch.get(), row, &workspace);
      } catch (const std::exception&) {
        error = std::current_exception();
      }
      record = Record();
      hold.lock();
      --state->busy;
      ++batch->made;
    }
    if (error && !batch->error) batch->error = error;
    if (batch->Ready() || state->ended || state->paused) state->ready.notify_all();
    if (!state->Wanted()) continue;
    state->work.notify_one();
  }
}

class ImageBatches : public DataIter {
 public:
  ImageBatches(const BatchOptions& options, std::unique_ptr<RecordSource> records, std::unique_ptr<RowMaker> rows)
      : name_(options.function), state_(new State), owner_(getpid()), batch_size_(options.batch_size) {
    state_->options = options;
    state_->records = std::move(records);
    state_->rows = std::move(rows);
    const int threads = std::max(1, std::min(options.threads, static_cast<int>(std::ceil(UsableProcessors()))));
    try {
      for (int i = 0; i < threads; ++i) state_->threads.emplace_back(Work, state_);
    } catch (...) {
      if (state_->threads.empty()) {  // one is enough to go on
        delete state_;
        throw;
      }
    }
  }

  ~ImageBatches() override {
    if (getpid() != owner_) return;  // the threads are not here, and locks may be held
    {
      std::lock_guard<std::mutex> hold(state_->mutex);
      state_->stop = true;
    }
    state_->work.notify_all();
    for (std::thread& thread : state_->threads) thread.join();
    delete state_;
  }

  void BeforeFirst() override { Rewind(false); }
  void Restart() override { Rewind(true); }

  bool Next() override {
    CheckProcess();
    std::shared_ptr<Batch> batch;
    {
      std::unique_lock<std::mutex> hold(state_->mutex);
      state_->ready.wait(hold, [&] { return state_->batches.empty() ? state_->ended : state_->batches.front()->Ready(); });
      if (state_->batches.empty()) return false;
      batch = std::move(state_->batches.front());
      state_->batches.pop_front();
    }
    value_ = DataBatch();  // its memory is free for a batch that is wanted now
    state_->work.notify_one();
    if (batch->error) std::rethrow_exception(batch->error);
    Complete(batch.get());
    value_ = std::move(batch->data);
    return true;
  }

  const DataBatch& Value() const override { return value_; }

  int64_t LengthHint() const override {
    const int64_t count = state_->records->Count();
    return count < 0 ? -1 : (count + batch_size_ - 1) / batch_size_;
  }

 private:
  void CheckProcess() const {
    MXNET_CHECK(getpid() == owner_) << "[" << name_ << "] the iterator belongs to the process that made it, " << owner_
                                    << "; accepted: one that is made in this process";
  }

  // Rows without an image of their own: copies of the one before, zeros behind the last record.
  void Complete(Batch* batch) const {
    const std::vector<RowArray>& arrays = state_->rows->arrays();
    auto copy = [&](uint32_t from, uint32_t to) {
      for (size_t i = 0; i < arrays.size(); ++i)
        std::memcpy(batch->memory[i] + to * RowBytes(arrays[i]), batch->memory[i] + from * RowBytes(arrays[i]), RowBytes(arrays[i]));
      batch->data.index[to] = batch->data.index[from];
    };
    uint32_t good = 0;
    while (good < batch->given && batch->bad[good]) ++good;
    MXNET_CHECK_KIND(good < batch->given, IO) << "[" << name_ << "] no image of a batch can be decoded; " << batch->broken;
    for (uint32_t i = 0; i < batch->given; ++i) {
      if (batch->bad[i])
        copy(good, i);
      else
        good = i;
    }
    for (size_t i = 0; i < arrays.size(); ++i)
      std::memset(batch->memory[i] + batch->given * RowBytes(arrays[i]), 0, (batch->rows - batch->given) * RowBytes(arrays[i]));
  }

  void Rewind(bool restart) {
    CheckProcess();
    std::unique_lock<std::mutex> hold(state_->mutex);
    state_->paused = true;
    state_->ready.wait(hold, [&] { return state_->busy == 0; });
    // Where all batches were taken, records that the last one borrowed have had their turn.
    const bool goes_on = !restart && state_->ended && state_->batches.empty() && state_->epoch > begun_;
    state_->batches.clear();
    std::exception_ptr error;
    try {
      begun_ = goes_on ? state_->epoch : begun_ + 1;
      if (!goes_on) state_->records->StartEpoch(state_->epoch = begun_);
    } catch (const std::exception&) {
      error = std::current_exception();
    }
    state_->ended = error != nullptr;
    state_->paused = false;
    hold.unlock();
    value_ = DataBatch();
    state_->work.notify_all();
    if (error) std::rethrow_exception(error);
  }

  const std::string name_;
  State* const state_;  // shared with the threads; left alone in a forked child
  const pid_t owner_;
  const int64_t batch_size_;
  uint64_t begun_ = 0;  // the epoch of the first batch
  DataBatch value_;
};

}  // namespace

std::unique_ptr<DataIter> MakeImageBatches(const BatchOptions& options, std::unique_ptr<RecordSource> records,
                                           std::unique_ptr<RowMaker> rows) {
  MXNET_CHECK_KIND(options.batch_size > 0, Value) << "[" << options.function << "] batch_size=0; accepted: 1 or more";
  MXNET_CHECK_KIND(options.threads > 0, Value) << "[" << options.function << "] preprocess_threads=" << options.threads
                                               << "; accepted: 1 or more";
  return std::make_unique<ImageBatches>(options, std::move(records), std::move(rows));
}

}  // namespace image
}  // namespace mxnet
