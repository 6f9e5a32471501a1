#include "mxnet/c_api_env.h"

#include <cstdio>
#include <string>

#include "c_api/c_api_error.h"
#include "mxnet/env.h"

namespace {

void CheckPointer(const void* pointer, const char* what) {
  MXNET_CHECK_KIND(pointer != nullptr, Value) << "[environment] " << what << " is a null pointer; accepted: a valid one";
}

std::string Quote(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", code);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string TypedValue(const mxnet::EnvInfo& info) {
  if (info.type == "bool") return info.value == "1" ? "true" : "false";
  if (info.type == "int" || info.type == "float" || info.type == "bitmask") return info.value;
  if (info.type == "int list") return "[" + info.value + "]";
  return Quote(info.value);
}

}  // namespace

int MXCheckEnv() {
  API_BEGIN();
  mxnet::Env::Get();
  API_END();
}

int MXSetEnv(const char* name, const char* value) {
  API_BEGIN();
  CheckPointer(name, "name");
  CheckPointer(value, "value");
  mxnet::Env::Set(name, value);
  API_END();
}

int MXGetEnv(const char* name, const char** out_value) {
  static thread_local std::string value;
  API_BEGIN(out_value);
  CheckPointer(name, "name");
  value = mxnet::Env::Info(name).value;
  *out_value = value.c_str();
  API_END();
}

int MXListEnv(const char** out_json) {
  static thread_local std::string json;
  API_BEGIN(out_json);
  json = "[";
  for (const mxnet::EnvInfo& info : mxnet::Env::List()) {
    json += json.size() > 1 ? ",\n" : "\n";
    json += "{\"name\": " + Quote(info.name) + ", \"group\": " + Quote(info.group) + ", \"type\": " + Quote(info.type) +
            ", \"default\": " + Quote(info.default_value) + ", \"accepted\": " + Quote(info.accepted) + ", \"value\": " + TypedValue(info) +
            ", \"source\": " + Quote(info.source) + ", \"fixed_after_start\": " + (info.fixed_after_start ? "true" : "false") +
            ", \"help\": " + Quote(info.help) + "}";
  }
  json += "\n]";
  *out_json = json.c_str();
  API_END();
}

int MXSetNumOMPThreads(int thread_num) {
  API_BEGIN();
  mxnet::Env::Set("OMP_NUM_THREADS", std::to_string(thread_num));
  API_END();
}
