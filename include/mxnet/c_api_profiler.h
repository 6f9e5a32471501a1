/* The profiler: a part of the C interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_PROFILER_H_
#define MXNET_C_API_PROFILER_H_

#include "mxnet/c_api.h"

/* 1 while the profiler runs (paused or not), else 0. */
MXNET_C_DLL int MXGetProfilerState(int* out);

/* The profiler (docs/profiler.md). Keys and values of its configuration are those of
 * mx.profiler.set_config. A state is 0 (stopped) or 1 (running). Dumping writes the trace file;
 * `finished` ends the profile. The names with `Process` take a store and 0 for the worker or 1 for
 * the server process. */

/* Sets options in this process and, as a command of the store, in its servers. */
MXNET_C_DLL int MXSetProcessProfilerConfig(int num_params, const char* const* keys, const char* const* vals, KVStoreHandle kvstoreHandle);

/* Sets options in this process: `num_params` pairs of texts. An unknown key is an error. */
MXNET_C_DLL int MXSetProfilerConfig(int num_params, const char* const* keys, const char* const* vals);

/* Starts (1) or stops (0) the profiler of the worker or of the servers. */
MXNET_C_DLL int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle kvStoreHandle);

/* Starts (1) or stops (0) the profiler of this process. */
MXNET_C_DLL int MXSetProfilerState(int state);

/* Writes the trace of the worker, or lets the servers write theirs. */
MXNET_C_DLL int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvStoreHandle);

/* Writes the trace file of this process. Waits for what is under way. */
MXNET_C_DLL int MXDumpProfile(int finished);

/* Totals by name as text. `reset` forgets them afterwards. `format`: 0 a table, 1 JSON; `sort_by`:
 * 0 total, 1 average, 2 least, 3 greatest, 4 number. */

/* A table, sorted by total. The text lives until this thread's next call. */
MXNET_C_DLL int MXAggregateProfileStatsPrint(const char** out_str, int reset);

/* The same with a format and an order; `ascending` is 1 for the smallest first. */
MXNET_C_DLL int MXAggregateProfileStatsPrintEx(const char** out_str, int reset, int format, int sort_by, int ascending);

/* Stops recording for a while (`paused` 1), and goes on (0). */

/* Pauses or resumes the profiler of the worker or of the servers. */
MXNET_C_DLL int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvStoreHandle);

/* Pauses or resumes the profiler of this process. */
MXNET_C_DLL int MXProfilePause(int paused);

/* Objects of the program in the trace: domains group tasks, frames, counters and markers under a
 * name. Each handle goes back through MXProfileDestroyHandle. Durations (tasks, frames, events) are
 * started and stopped. A marker is one point in time, of the process, the thread, the task or its
 * domain. */

/* A new domain. The name is copied. */
MXNET_C_DLL int MXProfileCreateDomain(const char* domain, ProfileHandle* out);

/* A new task in a domain; it is not started. */
MXNET_C_DLL int MXProfileCreateTask(ProfileHandle domain, const char* task_name, ProfileHandle* out);

/* A new frame in a domain; it is not started. */
MXNET_C_DLL int MXProfileCreateFrame(ProfileHandle domain, const char* frame_name, ProfileHandle* out);

/* A new event, which belongs to no domain; it is not started. */
MXNET_C_DLL int MXProfileCreateEvent(const char* event_name, ProfileHandle* out);

/* A new counter in a domain, with the value 0. */
MXNET_C_DLL int MXProfileCreateCounter(ProfileHandle domain, const char* counter_name, ProfileHandle* out);

/* Gives any handle of these functions back. */
MXNET_C_DLL int MXProfileDestroyHandle(ProfileHandle frame_handle);

/* A task, frame or event begins now, on this thread. */
MXNET_C_DLL int MXProfileDurationStart(ProfileHandle duration_handle);

/* It ends now. Nothing is recorded of what was not started. */
MXNET_C_DLL int MXProfileDurationStop(ProfileHandle duration_handle);

/* Sets a counter; the trace gets its new value. */
MXNET_C_DLL int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value);

/* Adds to a counter; `value` may be negative. */
MXNET_C_DLL int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value);

/* Puts a marker into the trace. `scope` is one of process, thread, task, marker or global. */
MXNET_C_DLL int MXProfileSetMarker(ProfileHandle domain, const char* instant_marker_name, const char* scope);

/* A name in front of what this thread records and allocates from now on. */
MXNET_C_DLL int MXSetProfilerScope(const char* scope);

#endif /* MXNET_C_API_PROFILER_H_ */
