/*
 * Where calls of one operator on several devices of this process meet to exchange numbers.
 *
 * A call waits inside its kernel until as many devices as it expects have called with the same
 * key. So the kernels of such an operator (trait MeetsOthers) never run on the thread of the
 * program nor on one of the CPU's workers, which could all be waiting: each gets a thread of its
 * own.
 */
#ifndef MXNET_OPERATOR_MEETING_H_
#define MXNET_OPERATOR_MEETING_H_

#include <string>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {

/* Trait of operators whose kernels wait for those of other devices: does a call with these
 * parameters? */
struct MeetsOthers {
  bool (*waits)(const Attrs& attrs);
};

inline bool WaitsForOthers(const Attrs& attrs) {
  const MeetsOthers* meets = attrs.op->trait<MeetsOthers>();
  return meets != nullptr && meets->waits(attrs);
}

struct MeetingNumbers {
  Context device;
  std::vector<double> numbers;
};

/* Seconds after which a call gives up. */
constexpr double kMeetingSeconds = 120;

/*
 * Waits until `expected` different devices have come with this key, and returns what all of them
 * brought, in the order of the devices. A device that comes again before the others have come opens
 * the next round. Throws Error(kGeneric), beginning with `who`, when the others do not come in
 * time; the round is then over for all that wait in it. THREADS: any.
 */
std::vector<MeetingNumbers> MeetOthers(const std::string& who, const std::string& key, int expected, MeetingNumbers own,
                                       double seconds = kMeetingSeconds);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MEETING_H_
