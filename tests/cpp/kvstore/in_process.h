/*
 * A job within a process, for tests: ranks whose messages go through memory, over connections that
 * have a delay and a bandwidth and can be cut. Above the connections all is as between processes
 * (transport_progress.h).
 */
#ifndef MXNET_TESTS_IN_PROCESS_H_
#define MXNET_TESTS_IN_PROCESS_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "kvstore/dist/transport_progress.h"

namespace mxnet {
namespace kvstore {

struct InProcessOptions {
  double delay = 0;      // seconds from a rank to another
  double bandwidth = 0;  // bytes per second of each direction of each connection; 0: no limit
  ProgressOptions progress;
  std::function<void(int)> tick;  // called by each rank's progress thread every 50 ms
  std::function<void(int)> end;   // and when all is said
};

/* What all ranks share. */
class InProcessConnections;

class InProcessFabric {
 public:
  /* Ranks 0 to workers - 1 are workers, those behind them servers. */
  InProcessFabric(int workers, int servers, InProcessOptions options = InProcessOptions());
  /* Stops all ranks, without waiting for what was not sent. Transports must not be used after. */
  ~InProcessFabric();
  InProcessFabric(const InProcessFabric&) = delete;
  InProcessFabric& operator=(const InProcessFabric&) = delete;

  /* Belongs to the fabric. */
  std::shared_ptr<Transport> At(int rank);
  /*
   * As if the process was killed: nothing comes from or gets to this rank any more. The others lose
   * it at once if `noticed`, else when the time-out is over. This rank loses the others, so that
   * what waits in this process can end.
   */
  void Cut(int rank, bool noticed = true);
  /* As SIGSTOP and SIGCONT: its progress thread rests, what is sent to it is kept. */
  void Stall(int rank);
  void Resume(int rank);
  /* Bytes that all ranks have sent. */
  size_t Sent() const;

 private:
  struct Rank;
  std::shared_ptr<InProcessConnections> connections_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_TESTS_IN_PROCESS_H_
