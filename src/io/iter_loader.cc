// SequentialSampler and RandomSampler, whose batches are numbers, and ThreadedDataLoader, which
// reads the items that they number.
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "io/prefetcher.h"
#include "io/register_iter.h"
#include "io/shared_iter.h"
#include "io/shuffle.h"
#include "mxnet/imperative.h"

namespace mxnet {
namespace {

enum LastBatch { kKeep, kDiscard, kRollover };

// In the order of 2.0's list: length, start, and how batches are made up.
struct SamplerLengthParam : public Parameter<SamplerLengthParam> {
  size_t length;
  MXNET_DECLARE_PARAM(SamplerLengthParam) { MXNET_FIELD(length).describe("How many items there are."); }
};
MXNET_REGISTER_PARAM(SamplerLengthParam);

struct SamplerStartParam : public Parameter<SamplerStartParam> {
  int start;
  MXNET_DECLARE_PARAM(SamplerStartParam) { MXNET_FIELD(start).set_default(0).describe("Number of the first one."); }
};
MXNET_REGISTER_PARAM(SamplerStartParam);

struct SamplerBatchParam : public Parameter<SamplerBatchParam> {
  uint32_t batch_size;
  int last_batch;
  MXNET_DECLARE_PARAM(SamplerBatchParam) {
    MXNET_FIELD(batch_size).describe("Numbers in a batch.");
    MXNET_FIELD(last_batch)
        .set_default(kKeep)
        .add_enum("keep", kKeep)
        .add_enum("discard", kDiscard)
        .add_enum("rollover", kRollover)
        .describe("What becomes of numbers that do not fill a batch: a smaller batch, nothing, or the beginning of the next epoch.");
  }
};
MXNET_REGISTER_PARAM(SamplerBatchParam);

/* A seed from the library's random numbers, which mx.random.seed begins. */
uint32_t DrawSeed() {
  const char* keys[] = {"low", "high", "shape"};
  const char* values[] = {"0", "2147483647", "(1,)"};
  const auto computing = ImperativeScope::Computing();
  const Context cpu = Context::CPU();
  NDArray drawn;
  static const Op* draw = Op::Get("_random_randint");  // operator-name: it draws as programs do
  Imperative::Invoke(Imperative::GetAttrs(draw, 3, keys, values), {}, {&drawn}, &cpu);
  int32_t seed = 0;
  drawn.CopyBytesTo(&seed, sizeof(seed));
  return static_cast<uint32_t>(seed);
}

class Sampler : public DataIter {
 public:
  Sampler(const std::string& name, size_t length, int64_t start, uint32_t batch_size, int last_batch, bool random)
      : name_(name), length_(length), start_(start), batch_size_(batch_size), last_batch_(last_batch), random_(random) {
    MXNET_CHECK_KIND(batch_size > 0, Value) << "[" << name << "] batch_size=0; accepted: 1 or more";
    MXNET_CHECK_KIND(length <= UINT32_MAX, Value) << "[" << name << "] length=" << length << "; accepted: less than 2^32";
    BeforeFirst();
  }

  void BeforeFirst() override {
    over_ = false;
    next_ = 0;
    CountBatches();
    if (!random_) return;
    order_.resize(length_);
    std::iota(order_.begin(), order_.end(), 0);
    std::mt19937 random(DrawSeed());
    Shuffle(&order_, &random);
  }

  bool Next() override {
    if (over_) return false;
    std::vector<int64_t> numbers = std::move(rest_);
    rest_.clear();
    CountBatches();
    while (numbers.size() < batch_size_ && next_ < length_) {
      numbers.push_back(start_ + static_cast<int64_t>(random_ ? order_[next_] : next_));
      ++next_;
    }
    if (numbers.size() < batch_size_) {
      over_ = true;
      if (last_batch_ == kRollover) rest_ = numbers;
      if (last_batch_ != kKeep || numbers.empty()) return false;
    }
    NDArray array(Shape({static_cast<int64_t>(numbers.size())}), Context::CPU(), kInt64);
    array.CopyBytesFrom(numbers.data(), numbers.size() * sizeof(int64_t));
    value_.arrays = {array};
    value_.pad = 0;
    return true;
  }

  const DataBatch& Value() const override { return value_; }

  int64_t LengthHint() const override { return batches_; }
  std::unique_ptr<DataIter> Another() const override {
    return std::make_unique<Sampler>(name_, length_, start_, batch_size_, last_batch_, random_);
  }

 private:
  void CountBatches() {
    batches_ = static_cast<int64_t>((length_ + (last_batch_ == kKeep ? batch_size_ - 1 : rest_.size())) / batch_size_);
  }

  const std::string name_;
  const size_t length_;
  const int64_t start_;
  const uint32_t batch_size_;
  const int last_batch_;
  const bool random_;
  std::vector<uint32_t> order_;
  size_t next_ = 0;
  bool over_ = false;
  std::vector<int64_t> rest_;        // of the epoch before, with "rollover"
  std::atomic<int64_t> batches_{0};  // programs ask for it while a loader's thread reads
  DataBatch value_;
};

MXNET_REGISTER_DATA_ITER(SequentialSampler)
    .describe("Batches of the numbers of a dataset's items, in their order.")
    .set_param<SamplerLengthParam, SamplerStartParam, SamplerBatchParam>()
    .set_make([](const IterArguments& given) -> std::unique_ptr<DataIter> {
      SamplerLengthParam items;
      SamplerStartParam first;
      SamplerBatchParam batches;
      ReadParams("SequentialSampler", given, &items, &first, &batches);
      return std::make_unique<Sampler>("SequentialSampler", items.length, first.start, batches.batch_size, batches.last_batch, false);
    });

MXNET_REGISTER_DATA_ITER(RandomSampler)
    .describe("Batches of the numbers of a dataset's items, in another order in each epoch. mx.random.seed sets where the orders begin.")
    .set_param<SamplerLengthParam, SamplerBatchParam>()
    .set_make([](const IterArguments& given) -> std::unique_ptr<DataIter> {
      SamplerLengthParam items;
      SamplerBatchParam batches;
      ReadParams("RandomSampler", given, &items, &batches);
      return std::make_unique<Sampler>("RandomSampler", items.length, 0, batches.batch_size, batches.last_batch, true);
    });

struct LoaderParam : public Parameter<LoaderParam> {
  int num_workers, pin_device_id;
  int64_t dataset, sampler, batchify_fn;
  MXNET_DECLARE_PARAM(LoaderParam) {
    MXNET_FIELD(num_workers).set_default(0).set_range(0, 1024).describe("Threads that read the items of a batch.");
    MXNET_FIELD(dataset).describe("Handle of a dataset.");
    MXNET_FIELD(sampler).describe("Handle of an iterator whose batches are numbers of items.");
    MXNET_FIELD(batchify_fn).describe("Handle of a function that makes batches of items.");
    MXNET_FIELD(pin_device_id).set_default(-1).describe("The GPU that reads page-locked memory of batches; -1: plain memory.");
  }
};
MXNET_REGISTER_PARAM(LoaderParam);

/* A sampler at its first batch, whoever else reads the given one. */
std::shared_ptr<SharedIter> OwnSampler(std::shared_ptr<SharedIter> given) {
  if (auto own = given->Another()) return std::make_shared<SharedIter>(std::move(own));
  given->BeforeFirst();
  return given;
}

class Loader : public DataIter {
 public:
  Loader(int workers, Context context, std::shared_ptr<Dataset> dataset, std::shared_ptr<SharedIter> sampler,
         std::shared_ptr<BatchifyFunction> batchify)
      : workers_(workers), context_(context), dataset_(std::move(dataset)), sampler_(std::move(sampler)), batchify_(std::move(batchify)) {}
  void BeforeFirst() override { sampler_->BeforeFirst(); }
  void Restart() override { sampler_->Restart(); }
  const DataBatch& Value() const override { return value_; }
  int64_t LengthHint() const override { return sampler_->LengthHint(); }

  bool Next() override {
    DataBatch drawn;
    if (!sampler_->Next(&drawn)) return false;
    MXNET_CHECK_KIND(!drawn.arrays.empty(), Value) << "[ThreadedDataLoader] the sampler's batches have no array; accepted: one, of numbers";
    const NDArray& array = drawn.arrays[0];
    std::vector<int64_t> numbers(array.shape().Size());
    MXNET_CHECK_KIND(array.dtype() == kInt64 && !numbers.empty(), Value)
        << "[ThreadedDataLoader] the sampler's batches are " << DTypeName(array.dtype()) << "; accepted: numbers of dtype int64";
    array.CopyBytesTo(numbers.data(), numbers.size() * sizeof(int64_t));
    for (int64_t number : numbers)
      MXNET_CHECK_KIND(number >= 0 && static_cast<uint64_t>(number) < dataset_->Size(), Index)
          << "[ThreadedDataLoader] the sampler gives item " << number << "; the dataset has " << dataset_->Size();
    value_.arrays = batchify_->Make(Items(numbers));
    if (context_ != Context::CPU())
      for (NDArray& part : value_.arrays) part = part.Copy(context_);
    value_.index.assign(numbers.begin(), numbers.end());
    return true;
  }

 private:
  std::vector<std::vector<NDArray>> Items(const std::vector<int64_t>& numbers) const {
    std::vector<std::vector<NDArray>> items(numbers.size());
    std::atomic<size_t> next{0};
    std::mutex mutex;  // guards the error
    std::exception_ptr error;
    auto work = [&] {
      try {
        for (size_t i = next++; i < numbers.size(); i = next++) items[i] = dataset_->Item(static_cast<uint64_t>(numbers[i]));
      } catch (const std::exception&) {
        std::lock_guard<std::mutex> hold(mutex);
        error = std::current_exception();
        next = numbers.size();
      }
    };
    std::vector<std::thread> threads;
    try {
      for (size_t i = 1; i < std::min(static_cast<size_t>(workers_), numbers.size()); ++i) threads.emplace_back(work);
    } catch (const std::system_error&) {
      // no more threads can be made: those that are there do it
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
    return items;
  }

  const int workers_;
  const Context context_;
  const std::shared_ptr<Dataset> dataset_;
  const std::shared_ptr<SharedIter> sampler_;
  const std::shared_ptr<BatchifyFunction> batchify_;
  DataBatch value_;
};

MXNET_REGISTER_DATA_ITER(ThreadedDataLoader)
    .describe("Batches of a dataset's items.")
    .set_param<LoaderParam, PrefetchParam>()
    .set_make([](const IterArguments& given) -> std::unique_ptr<DataIter> {
      LoaderParam param;
      PrefetchParam prefetch;
      ReadParams("ThreadedDataLoader", given, &param, &prefetch);
      auto loader = std::make_unique<Loader>(param.num_workers,
                                             param.pin_device_id >= 0 ? Context::CPUPinned(param.pin_device_id) : prefetch.context(),
                                             Handles<Dataset>::Find(param.dataset, "[ThreadedDataLoader] dataset"),
                                             OwnSampler(Handles<SharedIter>::Find(param.sampler, "[ThreadedDataLoader] sampler")),
                                             Handles<BatchifyFunction>::Find(param.batchify_fn, "[ThreadedDataLoader] batchify_fn"));
      return Prefetched("ThreadedDataLoader", std::move(loader), prefetch.prefetch_buffer);
    });

}  // namespace
}  // namespace mxnet
