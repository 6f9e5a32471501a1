// The profiler through C. None of these calls shows up in what it records.
#include "c_api/c_api_common.h"
#include "mxnet/profiler.h"

using namespace mxnet;  // NOLINT
using profiler::Object;
using profiler::ObjectKind;

namespace {

/* What a ProfileHandle points to: a domain has only a name. */
struct Handle {
  std::string domain;
  Object* object = nullptr;
  ObjectKind kind = ObjectKind::kTask;
  ~Handle() { profiler::DeleteObject(object); }
};

std::string Name(const char* text, const char* what) {
  MXNET_CHECK_KIND(text != nullptr, Value) << "[profiler] " << what << " is a null pointer; accepted: a text";
  return text;
}

Handle* AsHandle(ProfileHandle handle) {
  MXNET_CHECK_KIND(handle != nullptr, Value) << "[profiler] got a null handle; accepted: one from MXProfileCreate*";
  return static_cast<Handle*>(handle);
}

Object* AsObject(ProfileHandle handle, bool counter) {
  Handle* h = AsHandle(handle);
  MXNET_CHECK_KIND(h->object && (h->kind == ObjectKind::kCounter) == counter, Value)
      << "[profiler] got a handle of another kind; accepted: " << (counter ? "a counter" : "a task, frame or event");
  return h->object;
}

void Create(ObjectKind kind, ProfileHandle domain, const char* name, ProfileHandle* out) {
  auto made = std::make_unique<Handle>();
  if (kind != ObjectKind::kEvent) made->domain = AsHandle(domain)->domain;
  made->kind = kind;
  made->object = profiler::NewObject(kind, made->domain, Name(name, "a name"));
  *out = made.release();
}

void CheckProcess(bool server) {
  MXNET_CHECK_KIND(!server, Value) << "[profiler] profile_process='server': no server process belongs to this program; accepted: worker";
}

}  // namespace

int MXSetProcessProfilerConfig(int num_params, const char* const* keys, const char* const* vals, KVStoreHandle) {
  API_BEGIN_UNSEEN();
  NeedTexts(num_params, keys, "names of settings");
  NeedTexts(num_params, vals, "values of settings");
  const profiler::Config config = profiler::ParseConfig(num_params, keys, vals);
  CheckProcess(config.server);
  profiler::SetConfig(config);
  API_END();
}

int MXSetProfilerConfig(int num_params, const char* const* keys, const char* const* vals) {
  return MXSetProcessProfilerConfig(num_params, keys, vals, nullptr);
}

int MXSetProcessProfilerState(int state, int profile_process, KVStoreHandle) {
  API_BEGIN_UNSEEN();
  MXNET_CHECK_KIND(state == 0 || state == 1, Value) << "[profiler] state " << state << "; accepted: 0 (stop), 1 (run)";
  CheckProcess(profile_process != 0);
  profiler::SetRunning(state == 1);
  API_END();
}

int MXSetProfilerState(int state) { return MXSetProcessProfilerState(state, 0, nullptr); }

int MXGetProfilerState(int* out) {
  API_BEGIN_UNSEEN(out);
  *out = profiler::Running();
  API_END();
}

int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle) {
  API_BEGIN_UNSEEN();
  CheckProcess(profile_process != 0);
  profiler::Dump(finished != 0);
  API_END();
}

int MXDumpProfile(int finished) { return MXDumpProcessProfile(finished, 0, nullptr); }

int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle) {
  API_BEGIN_UNSEEN();
  CheckProcess(profile_process != 0);
  profiler::SetPaused(paused != 0);
  API_END();
}

int MXProfilePause(int paused) { return MXProcessProfilePause(paused, 0, nullptr); }

int MXAggregateProfileStatsPrintEx(const char** out_str, int reset, int format, int sort_by, int ascending) {
  API_BEGIN_UNSEEN(out_str);
  MXNET_CHECK_KIND(format == 0 || format == 1, Value) << "[profiler] format " << format << "; accepted: 0 (table), 1 (json)";
  MXNET_CHECK_KIND(sort_by >= 0 && sort_by <= 4, Value)
      << "[profiler] sort_by " << sort_by << "; accepted: 0 (total), 1 (avg), 2 (min), 3 (max), 4 (count)";
  std::string& text = ApiStore::Get().text;
  text = profiler::AggregateStats(format == 1, static_cast<profiler::SortBy>(sort_by), ascending != 0, reset != 0);
  *out_str = text.c_str();
  API_END();
}

int MXAggregateProfileStatsPrint(const char** out_str, int reset) { return MXAggregateProfileStatsPrintEx(out_str, reset, 0, 0, 0); }

int MXProfileCreateDomain(const char* domain, ProfileHandle* out) {
  API_BEGIN_UNSEEN(out);
  auto made = std::make_unique<Handle>();
  made->domain = Name(domain, "a domain's name");
  *out = made.release();
  API_END();
}

int MXProfileCreateTask(ProfileHandle domain, const char* task_name, ProfileHandle* out) {
  API_BEGIN_UNSEEN(out);
  Create(ObjectKind::kTask, domain, task_name, out);
  API_END();
}

int MXProfileCreateFrame(ProfileHandle domain, const char* frame_name, ProfileHandle* out) {
  API_BEGIN_UNSEEN(out);
  Create(ObjectKind::kFrame, domain, frame_name, out);
  API_END();
}

int MXProfileCreateEvent(const char* event_name, ProfileHandle* out) {
  API_BEGIN_UNSEEN(out);
  Create(ObjectKind::kEvent, nullptr, event_name, out);
  API_END();
}

int MXProfileCreateCounter(ProfileHandle domain, const char* counter_name, ProfileHandle* out) {
  API_BEGIN_UNSEEN(out);
  Create(ObjectKind::kCounter, domain, counter_name, out);
  API_END();
}

int MXProfileDestroyHandle(ProfileHandle frame_handle) {
  API_BEGIN_UNSEEN();
  delete AsHandle(frame_handle);
  API_END();
}

int MXProfileDurationStart(ProfileHandle duration_handle) {
  API_BEGIN_UNSEEN();
  profiler::Start(AsObject(duration_handle, false));
  API_END();
}

int MXProfileDurationStop(ProfileHandle duration_handle) {
  API_BEGIN_UNSEEN();
  profiler::Stop(AsObject(duration_handle, false));
  API_END();
}

int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value) {
  API_BEGIN_UNSEEN();
  profiler::SetCounter(AsObject(counter_handle, true), value);
  API_END();
}

int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value) {
  API_BEGIN_UNSEEN();
  profiler::AdjustCounter(AsObject(counter_handle, true), value);
  API_END();
}

int MXProfileSetMarker(ProfileHandle domain, const char* instant_marker_name, const char* scope) {
  API_BEGIN_UNSEEN();
  profiler::Mark(AsHandle(domain)->domain, Name(instant_marker_name, "a marker's name"), Name(scope, "a marker's scope"));
  API_END();
}

int MXSetProfilerScope(const char* scope) {
  API_BEGIN_UNSEEN();
  profiler::SetMemoryScope(Name(scope, "a scope"));
  API_END();
}
