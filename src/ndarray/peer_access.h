/* Direct copies between two GPUs (MXNET_ENABLE_GPU_P2P); without it the driver takes them through
 * the host's memory. */
#ifndef MXNET_NDARRAY_PEER_ACCESS_H_
#define MXNET_NDARRAY_PEER_ACCESS_H_

namespace mxnet {

struct PeerHooks {
  bool (*possible)(int dev_id, int peer);  // may `dev_id` reach the memory of `peer`?
  /* For good. Makes no device current but the caller's. Returns false when the driver refuses. */
  bool (*enable)(int dev_id, int peer);
};

/* What the first copy between two devices settles for both directions, where the variable allows
 * it; later ones ask nobody. True: the copy is direct. */
bool EnsurePeerAccess(int dst_dev, int src_dev, const PeerHooks& hooks);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_PEER_ACCESS_H_
