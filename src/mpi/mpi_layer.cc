/*
 * Packets over MPI. Each rank has one reception open for the packets of each other rank; parts have
 * a reception as soon as they are asked for, so they arrive in place. Errors come back as values,
 * not by ending the process, and break the connection to the one rank that they are about.
 *
 * Works with Open MPI 4.1 and 5.0, whose libraries have the same name. The launcher brings its own.
 */
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kvstore/dist/mpi_library.h"
#include "listeners.h"

namespace mxnet {
namespace kvstore {
namespace {

std::string ErrorText(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, static_cast<size_t>(length));
}

/* What a request is for. */
struct Operation {
  enum Kind { kPacketIn, kPacketOut, kPartIn, kPartOut };
  Kind kind = kPacketIn;
  int rank = 0;
  int64_t ticket = 0;
  std::unique_ptr<char[]> packet;
};

struct Done {
  Operation operation;
  int bytes;
};

class Layer final : public MpiLayer {
 public:
  Layer(MPI_Comm comm, bool finalizes) : comm_(comm), finalizes_(finalizes) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    void* bound = nullptr;
    int known = 0;
    MPI_Comm_get_attr(comm_, MPI_TAG_UB, &bound, &known);
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    shared_ = level >= MPI_THREAD_SERIALIZED;
    if (known) max_tag_ = std::min(1 << 30, *static_cast<int*>(bound));
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int max_tag() const override { return max_tag_; }
  bool shared() const override { return shared_; }

  bool Exchange(const void* mine, size_t bytes, void* all) override {
    const int count = static_cast<int>(bytes);
    if (MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_) != MPI_SUCCESS) return false;
    for (int from = 0; from < size_; ++from)
      if (from != rank_) ReceivePacket(from, NewPacket());
    return true;
  }

  bool SendPacket(int to, const void* head, size_t head_bytes, const void* body, size_t body_bytes, int64_t ticket) override {
    Operation operation;
    operation.kind = Operation::kPacketOut;
    operation.rank = to;
    operation.ticket = ticket;
    operation.packet = NewPacket();
    std::memcpy(operation.packet.get(), head, head_bytes);
    if (body_bytes > 0) std::memcpy(operation.packet.get() + head_bytes, body, body_bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Isend(operation.packet.get(), static_cast<int>(head_bytes + body_bytes), MPI_BYTE, to, 0, comm_, &request);
    int left = 0;
    if (code == MPI_SUCCESS && (code = MPI_Test(&request, &left, MPI_STATUS_IGNORE)) == MPI_SUCCESS && left) {
      free_packets_.push_back(std::move(operation.packet));
      return true;
    }
    Keep(std::move(operation), request, code);
    return false;
  }

  void SendPart(int to, int tag, const void* data, size_t bytes, int64_t ticket) override {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_, &request);
    KeepPart(Operation::kPartOut, to, ticket, request, code);
  }

  void ReceivePart(int from, int tag, void* data, size_t bytes, int64_t ticket) override {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm_, &request);
    KeepPart(Operation::kPartIn, from, ticket, request, code);
  }

  bool Poll(Events* events) override;

  /* MPI cannot take back what is on its way. Requests are forgotten, not freed: their memory must
   * stay. The reception of packets goes on, to hear of ranks that were taken for lost. */
  void Drop(int rank) override {
    for (size_t i = operations_.size(); i-- > 0;) {
      if (operations_[i].rank != rank || operations_[i].kind == Operation::kPacketIn) continue;
      if (operations_[i].kind == Operation::kPartIn) MPI_Cancel(&requests_[i]);
      forgotten_.push_back(std::move(operations_[i]));
      Remove(i);
    }
  }

  void Close(bool in_order) override {
    if (!in_order || !finalizes_) return;
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
    MPI_Finalize();
  }

 private:
  std::unique_ptr<char[]> NewPacket() {
    if (free_packets_.empty()) return std::unique_ptr<char[]>(new char[kMaxHead + max_body()]);
    std::unique_ptr<char[]> packet = std::move(free_packets_.back());
    free_packets_.pop_back();
    return packet;
  }

  void ReceivePacket(int from, std::unique_ptr<char[]> packet) {
    Operation operation;
    operation.kind = Operation::kPacketIn;
    operation.rank = from;
    operation.packet = std::move(packet);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Irecv(operation.packet.get(), static_cast<int>(kMaxHead + max_body()), MPI_BYTE, from, 0, comm_, &request);
    Keep(std::move(operation), request, code);
  }

  void KeepPart(Operation::Kind kind, int rank, int64_t ticket, MPI_Request request, int code) {
    Operation operation;
    operation.kind = kind;
    operation.rank = rank;
    operation.ticket = ticket;
    Keep(std::move(operation), request, code);
  }

  void Keep(Operation operation, MPI_Request request, int code) {
    if (code != MPI_SUCCESS) {
      broken_.emplace_back(operation.rank, ErrorText(code));
      forgotten_.push_back(std::move(operation));
      return;
    }
    operations_.push_back(std::move(operation));
    requests_.push_back(request);
  }

  /* Moves what is done, and what broke, to done_ and broken_. */
  void Test();

  void Remove(size_t i) {
    if (i + 1 != operations_.size()) {
      operations_[i] = std::move(operations_.back());
      requests_[i] = requests_.back();
    }
    operations_.pop_back();
    requests_.pop_back();
  }

  const MPI_Comm comm_;
  const bool finalizes_;
  int rank_ = 0, size_ = 1, max_tag_ = 32767;
  bool shared_ = false;
  std::vector<MPI_Request> requests_;
  std::vector<Operation> operations_;  // one for each request
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<std::pair<int, int>> order_;  // request, status
  std::vector<Done> done_;
  std::vector<std::pair<int, std::unique_ptr<char[]>>> handled_;  // receptions to open again, when there is time
  std::vector<std::pair<int, std::string>> broken_;
  std::vector<Operation> forgotten_;
  std::vector<std::unique_ptr<char[]>> free_packets_;
};

bool Layer::Poll(Events* events) {
  for (auto& [rank, packet] : handled_) ReceivePacket(rank, std::move(packet));
  handled_.clear();
  Test();
  for (Done& d : done_) {
    if (d.operation.kind != Operation::kPacketIn) {
      events->OnDone(d.operation.ticket);
      if (d.operation.packet) free_packets_.push_back(std::move(d.operation.packet));
      continue;
    }
    events->OnPacket(d.operation.rank, d.operation.packet.get(), static_cast<size_t>(d.bytes));
    handled_.emplace_back(d.operation.rank, std::move(d.operation.packet));
  }
  const bool any = !done_.empty() || !broken_.empty();
  done_.clear();
  if (broken_.empty()) return any;
  std::vector<std::pair<int, std::string>> broken;
  broken.swap(broken_);
  for (const auto& [rank, why] : broken) events->OnBroken(rank, why.c_str());
  return any;
}

void Layer::Test() {
  if (requests_.empty()) return;
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  // Open MPI moves messages where it finds nothing done, and tells the next time what came.
  int code = MPI_SUCCESS, count = 0;
  for (int look = 0; look < 2 && count == 0 && code == MPI_SUCCESS; ++look) {
    code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), statuses_.data());
    if (count == MPI_UNDEFINED) count = 0;
  }
  order_.clear();
  for (int i = 0; i < count; ++i) order_.emplace_back(indices_[static_cast<size_t>(i)], i);
  std::sort(order_.rbegin(), order_.rend());
  for (const auto& [index, status] : order_) {
    const size_t i = static_cast<size_t>(index);
    MPI_Status& state = statuses_[static_cast<size_t>(status)];
    if (code == MPI_ERR_IN_STATUS && state.MPI_ERROR != MPI_SUCCESS && state.MPI_ERROR != MPI_ERR_PENDING) {
      broken_.emplace_back(operations_[i].rank, ErrorText(state.MPI_ERROR));
      forgotten_.push_back(std::move(operations_[i]));
    } else {
      int bytes = 0;
      if (operations_[i].kind == Operation::kPacketIn) MPI_Get_count(&state, MPI_BYTE, &bytes);
      done_.push_back({std::move(operations_[i]), bytes});
    }
    Remove(i);
  }
}

/*
 * Open MPI looks at its sockets again whenever it found something there, before it tells of what it
 * found. Without that second look a short message is here a microsecond sooner; Poll looks again
 * anyhow. Once and without waiting are libevent's flags EVLOOP_ONCE and EVLOOP_NONBLOCK.
 */
void LookOnce() {
  constexpr int kOnce = 1, kNonBlocking = 2;
  using SetFlag = int (*)(int);
  if (const auto set = reinterpret_cast<SetFlag>(dlsym(RTLD_DEFAULT, "opal_progress_set_event_flag"))) set(kOnce | kNonBlocking);
}

MpiLayer* Open(const char* interfaces, std::string* why) {
  int initialized = 0, finalized = 0, level = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized) {
    *why = "the program has ended MPI already";
    return nullptr;
  }
  if (initialized) {
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
      *why = "the program has started MPI without MPI_THREAD_MULTIPLE; accepted: with it, or leaving the start of MPI to the store";
      return nullptr;
    }
  } else {
    const std::vector<int> before = ListeningSockets();
    if (const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level); code != MPI_SUCCESS) {
      *why = ErrorText(code);
      return nullptr;
    }
    std::vector<int> own;  // MPI's
    for (const int number : ListeningSockets())
      if (std::find(before.begin(), before.end(), number) == before.end()) own.push_back(number);
    RestrictListening(own, interfaces);
    LookOnce();
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int code = MPI_Comm_dup(MPI_COMM_WORLD, &comm); code != MPI_SUCCESS) {
    *why = ErrorText(code);
    return nullptr;
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return new Layer(comm, !initialized);
}

}  // namespace
}  // namespace kvstore
}  // namespace mxnet

extern "C" __attribute__((visibility("default"))) mxnet::kvstore::MpiLayer* MXNET_MPI_OPEN_FUNCTION(const char* interfaces, char* why,
                                                                                                    size_t why_bytes) {
  std::string text;
  mxnet::kvstore::MpiLayer* layer = nullptr;
  try {
    layer = mxnet::kvstore::Open(interfaces, &text);
  } catch (const std::exception& e) {
    text = e.what();
  }
  std::snprintf(why, why_bytes, "%s", text.c_str());
  return layer;
}
