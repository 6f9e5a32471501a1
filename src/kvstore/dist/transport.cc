#include "kvstore/dist/transport.h"

#include <sstream>

#include "engine/interrupted.h"
#include "mxnet/error.h"

namespace mxnet {
namespace kvstore {

std::string Peer::str() const {
  return std::string(role == Role::kWorker ? "worker " : "server ") + std::to_string(number) + " (rank " + std::to_string(rank) +
         ", process " + std::to_string(process) + " on host " + host + ")";
}

std::string LossText(const Peer& peer) {
  std::ostringstream text;
  text.precision(1);
  text << peer.str();
  if (peer.said_goodbye) {
    text << " has ended";
  } else {
    text << " is lost: it was last heard of " << std::fixed << peer.silent_seconds << " s ago";
  }
  return text.str();
}

std::exception_ptr StoreError(const std::string& text) { return std::make_exception_ptr(Error("[kvstore] " + text)); }
std::exception_ptr InterruptedError(const std::string& text) { return std::make_exception_ptr(engine::Interrupted("[kvstore] " + text)); }

}  // namespace kvstore
}  // namespace mxnet
