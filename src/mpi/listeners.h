/* Where MPI accepts connections. Open MPI 4.1 and 5.0 listen at all addresses of a host. */
#ifndef MXNET_MPI_LISTENERS_H_
#define MXNET_MPI_LISTENERS_H_

#include <vector>

namespace mxnet {
namespace kvstore {

/* File numbers of this process's sockets that listen. */
std::vector<int> ListeningSockets();

/*
 * Lets sockets accept only what comes through the network interfaces of these numbers, in decimal;
 * without any they stay as they are. The kernel drops packets that come through others.
 */
void RestrictListening(const std::vector<int>& sockets, const char* interfaces);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_MPI_LISTENERS_H_
