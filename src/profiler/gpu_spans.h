/*
 * Durations on a device's streams by the device's clock, so that nobody has to wait for what is
 * measured. A span begins and ends with an event on its stream; which of them have passed is asked
 * by who reads the profile, and by who records when there are many.
 *
 * A device's clock is laid beside the host's where the device comes to an event at once because its
 * stream is empty. From there on times are counted by the device from event to event, and never
 * before the moment in which the host recorded the event.
 */
#ifndef MXNET_PROFILER_GPU_SPANS_H_
#define MXNET_PROFILER_GPU_SPANS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/events.h"

namespace mxnet {
namespace profiler {

/* Whether the stream of `run` tells times. */
bool HasDeviceTimes(const RunContext& run);
/* Spans of one stream lie in each other. Null while the stream is captured, and after a fault of
 * the device: then there is nothing to tell. */
DeviceSpan* BeginOnDevice(const RunContext& run);
/* `event` lacks times and device. */
void EndOnDevice(DeviceSpan* span, const Event& event);
void DropOnDevice(DeviceSpan* span);

struct DeviceEvents {
  std::vector<std::pair<Event, int64_t>> events;      // with the row of the trace that belongs to the stream
  std::vector<std::pair<int64_t, std::string>> rows;  // of these, with names
};
/* What is over since the last call. `wait`: everything that is on the streams is. */
DeviceEvents TakeDeviceEvents(bool wait);
/* In the child of a fork: the parent's streams are not here. */
void ForgetDeviceSpans();

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_GPU_SPANS_H_
