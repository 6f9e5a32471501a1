#include "c_api/c_api_error.h"

#include <algorithm>
#include <new>
#include <string>

namespace {
struct LastError {
  std::string message;
  int kind = 0;
};
LastError* ThreadError() {
  static thread_local LastError error;
  return &error;
}
}  // namespace

namespace mxnet {

int HandleApiException() noexcept {
  LastError* last = ThreadError();
  last->kind = static_cast<int>(Error::Kind::kGeneric);
  try {
    try {
      throw;
    } catch (const Error& e) {
      last->kind = static_cast<int>(e.kind());
      last->message = e.what();
    } catch (const std::bad_alloc&) {
      last->kind = static_cast<int>(Error::Kind::kOutOfMemory);
      last->message = "[memory] the system has no memory left for the library's own records";
    } catch (const std::exception& e) {
      last->message = e.what();
      if (last->message.empty() || last->message[0] != '[') last->message = "[c_api] " + last->message;
    } catch (...) {
      last->message = "[c_api] an exception of unknown type";
    }
  } catch (...) {  // no memory for the message
    last->message.clear();
  }
  return -1;
}

void ThrowNullOutput(const char* function, const char* names, size_t index) {
  std::string list = names;
  for (; index > 0; --index) list.erase(0, list.find(',') + 1);
  list.resize(std::min(list.size(), list.find(',')));
  list.erase(0, list.find_first_not_of(' '));
  MXNET_THROW(Value) << "[" << function << "] " << list << " is NULL; accepted: the address of memory for it";
}

void ThrowBadArray(int64_t count, const char* what) {
  if (count < 0) MXNET_THROW(Value) << "[c_api] the number of " << what << " is " << count << "; accepted: 0 or more";
  MXNET_THROW(Value) << "[c_api] " << what << " is NULL, its number " << count << "; accepted: NULL only for none";
}

void ThrowNullElement(int64_t index, const char* what) {
  MXNET_THROW(Value) << "[c_api] number " << index << " of the " << what << " is NULL; accepted: a text";
}

}  // namespace mxnet

const char* MXGetLastError() { return ThreadError()->message.c_str(); }
const char* NNGetLastError() { return MXGetLastError(); }
int MXGetLastErrorKind() { return ThreadError()->kind; }
void NNAPISetLastError(const char* msg) {
  try {
    ThreadError()->message = msg ? msg : "";
    ThreadError()->kind = 0;
  } catch (...) {
    mxnet::HandleApiException();
  }
}
