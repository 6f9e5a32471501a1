/*
 * Where calls of one operator on several devices of this process meet to exchange numbers.
 *
 * A call waits inside its kernel until as many devices as it expects have called with the same
 * key. So the kernels of such an operator (RunBy::kMeetingKernel) never run on the thread of the
 * program nor on one of the CPU's workers, which could all be waiting: each gets a thread of its
 * own.
 */
#ifndef MXNET_OPERATOR_RECORD_MEETING_H_
#define MXNET_OPERATOR_RECORD_MEETING_H_

#include <string>
#include <vector>

#include "mxnet/base.h"

namespace mxnet {

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
#endif  // MXNET_OPERATOR_RECORD_MEETING_H_
