/*
 * Compiled kernels on disk: one file per request under MXNET_HOME/rtc, named by a hash of the
 * request. Several processes may use one folder: files are written beside their final name and
 * renamed. A file that is damaged, or belongs to another request with the same hash, counts as
 * missing.
 */
#ifndef MXNET_RTC_CACHE_H_
#define MXNET_RTC_CACHE_H_

#include <string>

namespace mxnet {
namespace rtc {

/* MXNET_HOME/rtc, `~` replaced by the user's home. */
std::string CacheFolder();
/* The file's name for a request (all that the result depends on, as one text). */
std::string CacheName(const std::string& request);
/* False when there is no sound entry. Never throws. */
bool CacheRead(const std::string& folder, const std::string& request, std::string* payload);
/* Makes the folder when needed. Returns whether the entry is there now; a full or read-only disk is
 * no error, only slower. Never throws. */
bool CacheWrite(const std::string& folder, const std::string& request, const std::string& payload);

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_CACHE_H_
