/*
 * What libmxnet_mpi.so offers, which JobTransport opens: the packets of a job over MPI. The library
 * uses nothing of libmxnet.so.
 */
#ifndef MXNET_KVSTORE_DIST_MPI_LIBRARY_H_
#define MXNET_KVSTORE_DIST_MPI_LIBRARY_H_

#include "kvstore/dist/packet_layer.h"

namespace mxnet {
namespace kvstore {

class MpiLayer : public PacketLayer {
 public:
  /* all[i] = mine of rank i; each has so many bytes. Waits for all ranks. Returns whether that went
   * well. */
  virtual bool Exchange(const void* mine, size_t bytes, void* all) = 0;
};

/*
 * Starts MPI, which waits for all ranks, on the thread that will make all calls. Its sockets take
 * what comes through the network interfaces of these numbers alone, or through any if the text has
 * none. Null: it failed, and `why` says so. Called once.
 */
using MpiOpenFunction = MpiLayer* (*)(const char* interfaces, char* why, size_t why_bytes);
#define MXNET_MPI_OPEN_FUNCTION mxnet_mpi_start

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_MPI_LIBRARY_H_
