/*
 * The connection to the launcher's process that started this rank (tools/launch.py), which knows at
 * once when a process ends. Lines of text go both ways through a socket that this process got from
 * it, with ranks. To the launcher: "joining 0", "joined 3" and "left 3" of this one, "lost 5" of
 * another that was silent for too long. From it: "lost 5" when that one has ended.
 *
 * DMLC_LAUNCHER_SOCKET names it: "7:123456", the number of the file and its inode. Without it, all
 * functions do nothing.
 */
#ifndef MXNET_KVSTORE_DIST_LAUNCHER_CHANNEL_H_
#define MXNET_KVSTORE_DIST_LAUNCHER_CHANNEL_H_

#include <string>
#include <vector>

namespace mxnet {
namespace kvstore {

/* The file stays open. */
class LauncherChannel {
 public:
  LauncherChannel();
  bool open() const { return socket_ >= 0; }
  void Say(const std::string& word, int rank);
  /* Ranks that have ended, since the last call. Does not wait. */
  std::vector<int> Lost();

 private:
  int socket_ = -1;
  std::string text_;  // of a line that is not whole yet
};

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_DIST_LAUNCHER_CHANNEL_H_
