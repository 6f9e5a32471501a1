#include "kvstore/dist/transport.h"

namespace mxnet {
namespace kvstore {

std::string Peer::str() const {
  return std::string(role == Role::kWorker ? "worker " : "server ") + std::to_string(number) + " (rank " + std::to_string(rank) +
         ", process " + std::to_string(process) + " on host " + host + ")";
}

}  // namespace kvstore
}  // namespace mxnet
