// Sums of arrays that lie on one GPU of each worker: who is ready, and in which order.
#include <cstring>
#include <set>

#include "base/device/device_interface.h"
#include "base/logging.h"
#include "kvstore/dist/all_reduce_state.h"
#include "mxnet/engine.h"
#include "ndarray/run.h"

namespace mxnet {
namespace kvstore {
namespace {

/* The payload of a question and of a turn: a number, and an identity behind it. */
std::string Numbered(int64_t number, const std::string& identity) {
  std::string text(sizeof number, '\0');
  std::memcpy(text.data(), &number, sizeof number);
  return text + identity;
}

/* False for a payload that is none. */
bool ReadNumbered(const Message& message, int64_t* number, std::string* identity) {
  if (message.bytes < sizeof *number) return false;
  const char* text = static_cast<const char*>(message.data);
  std::memcpy(number, text, sizeof *number);
  identity->assign(text + sizeof *number, message.bytes - sizeof *number);
  return true;
}

/* Between the host and a device, neither of which is in use. */
void CopyNow(const NDArray& from, const NDArray& to) {
  const size_t bytes = from.data().Bytes();
  GpuInterface().copies->copy(to.data().dptr<void>(), to.ctx(), from.data().dptr<void>(), from.ctx(), bytes, nullptr);
}

}  // namespace

reduce::Gpu AllReduce::State::GpuOf(const Message& asked) {
  reduce::Gpu gpu;
  ReadNumbered(asked, &gpu.number, &gpu.identity);
  return gpu;
}

void AllReduce::State::Ask(const CallPointer& call, Later* later) {
  reduce::Gpu gpu;
  if (call->words.on_gpu) gpu = {call->array.ctx().dev_id, GpuSums::DeviceIdentity(call->array.ctx().dev_id)};
  if (me_ == 0) {
    call->asked[0] = true;
    call->gpus[0] = gpu;
    return;
  }
  Say(*call, Phase::kAsk, Numbered(gpu.number, gpu.identity), 0, call->priority, later);
}

/* An empty text where one GPU is meant twice. */
std::string AllReduce::State::GroupOf(const Call& call) {
  std::vector<int> numbers;
  std::set<std::string> identities;
  for (const reduce::Gpu& gpu : call.gpus) {
    numbers.push_back(static_cast<int>(gpu.number));
    identities.insert(gpu.identity);
  }
  const auto [at, made] = groups_.emplace(std::move(numbers), "");
  if (!made) return at->second;
  if (identities.size() == call.gpus.size()) return at->second = GpuSums::NewGroup();
  LogWarning(
      "[kvstore] workers share a GPU, so their sums go through the memory of the hosts; each worker may take another, such as "
      "mx.gpu(int(os.environ['OMPI_COMM_WORLD_LOCAL_RANK']))");
  return "";
}

void AllReduce::State::GiveTurn(const CallPointer& call, Later* later) {
  if (!call->original.is_none()) return;  // given, and another worker's values came before its copy was made
  if (me_ != 0 || std::find(call->asked.begin(), call->asked.end(), false) != call->asked.end()) return;
  GpuSums::Turn turn;
  try {
    turn.group = GroupOf(*call);
  } catch (const std::exception& e) {
    return FailForAll(call, e.what(), later);
  }
  if (!turn.group.empty()) turn.number = turns_++;
  for (int worker = 1; worker < workers_; ++worker)
    Say(*call, Phase::kTurn, Numbered(turn.number, turn.group), worker, call->priority, later);
  TakeTurn(call, std::move(turn), later);
}

void AllReduce::State::OnTurn(const CallPointer& call, const Message& message, Later* later) {
  GpuSums::Turn turn;
  if (call->started && !call->over && ReadNumbered(message, &turn.number, &turn.group)) TakeTurn(call, std::move(turn), later);
}

void AllReduce::State::TakeTurn(const CallPointer& call, GpuSums::Turn turn, Later* later) {
  if (turn.group.empty())
    AddOnHosts(call, later);
  else
    AddOnGpu(call, std::move(turn));
}

/* The operation that adds up has the array, so the copies are no operations of their own on it. */
void AllReduce::State::AddOnHosts(const CallPointer& call, Later* later) {
  call->original = call->array;
  call->array = NDArray(call->original.shape(), Context::CPU(), call->original.dtype());
  call->data = call->array.data().dptr<char>();
  ++call->sending;  // until it is copied
  later->push_back([self = shared_from_this(), call] {
    Engine::Get()->PushAsync(
        [self, call](RunContext, OnComplete done) {
          std::string error;
          try {
            CopyNow(call->original, call->array);
          } catch (const std::exception& e) {
            error = e.what();
          }
          self->Copied(call, error);
          done();
        },
        Context::CPU(), {}, {}, FnProperty::kCPUPrioritized, call->priority, "kvstore_copy");
  });
}

void AllReduce::State::Copied(const CallPointer& call, const std::string& error) {
  Later later;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    --call->sending;
    call->by_hosts = true;
    if (!error.empty() && !call->over) FailForAll(call, error, &later);
    if (!call->over) SendShares(call, &later);
    Advance(call, &later);
  }
  Run(later);
}

void AllReduce::State::End(const CallPointer& call) {
  if (call->original.is_none()) {
    call->array = NDArray();
    return call->done();
  }
  Engine::Get()->PushAsync(
      [call](RunContext, OnComplete done) {
        std::exception_ptr error;
        try {
          CopyNow(call->array, call->original);
        } catch (...) {
          error = std::current_exception();
        }
        call->array = call->original = NDArray();
        call->done(error);
        done();
      },
      Context::CPU(), {}, {}, FnProperty::kCPUPrioritized, call->priority, "kvstore_copy");
}

void AllReduce::State::AddOnGpu(const CallPointer& call, GpuSums::Turn turn) {
  call->over = true;
  calls_.erase(IdOf(call->words));
  turn.device = call->array.ctx().dev_id;
  turn.data = call->data;
  turn.count = call->words.count;
  turn.dtype = call->words.dtype;
  turn.done = [self = weak_from_this(), call](std::exception_ptr error) {
    call->array = NDArray();
    const std::shared_ptr<State> state = self.lock();
    call->done(state ? state->EndOnGpu(error) : error);
  };
  if (!gpus_) gpus_ = std::make_unique<GpuSums>(me_, workers_);
  if (!lost_.empty()) gpus_->Lose();
  gpus_->Add(std::move(turn));
}

/* A kernel that was told to end because a worker is lost leaves no sum, and no error. */
std::exception_ptr AllReduce::State::EndOnGpu(std::exception_ptr error) {
  std::lock_guard<std::mutex> lock(mutex_);
  return lost_.empty() ? error : StoreError(lost_.begin()->second);
}

}  // namespace kvstore
}  // namespace mxnet
