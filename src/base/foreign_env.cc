#include "base/foreign_env.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "mxnet/error.h"

namespace mxnet {
namespace {

constexpr const char* kNames[] = {
#define MXNET_FOREIGN_ENV(name, whose, help) name,
#include "base/foreign_env.inc"
#undef MXNET_FOREIGN_ENV
};

const char* Value(const char* name) {
  MXNET_CHECK(std::any_of(std::begin(kNames), std::end(kNames), [&](const char* known) { return std::strcmp(known, name) == 0; }))
      << "[environment] " << name << " is looked at, but has no row in src/base/foreign_env.inc";
  return std::getenv(name);
}

}  // namespace

bool ForeignIsSet(const char* name) { return Value(name) != nullptr; }

std::string ForeignVariable(const char* name) {
  const char* value = Value(name);
  return value ? std::string(", ") + name + "='" + value + "'" : "";
}

std::string ForeignText(const char* name) {
  const char* value = Value(name);
  return value ? value : "";
}

double ForeignNumber(const char* name, double otherwise) {
  const std::string given = ForeignText(name), spaces = " \t\r\n";
  const size_t begin = given.find_first_not_of(spaces);
  if (begin == std::string::npos) return otherwise;
  const std::string text = given.substr(begin, given.find_last_not_of(spaces) + 1 - begin);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  MXNET_CHECK_KIND(*end == '\0' && number >= 0, Value) << "[environment] " << name << "='" << text << "'; accepted: a number of at least 0";
  return number;
}

}  // namespace mxnet
