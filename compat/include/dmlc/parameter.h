/*
 * Structs of parameters that are read from texts, and variables of the environment, for programs
 * that include this header of dmlc-core, which MXNet 1.9.1 brought along:
 *
 * struct Options : public dmlc::Parameter<Options> {
 *   int depth;
 *   DMLC_DECLARE_PARAMETER(Options) {
 *     DMLC_DECLARE_FIELD(depth).set_default(3).set_lower_bound(1).describe("layers");
 *   }
 * };
 * DMLC_REGISTER_PARAMETER(Options);
 *
 * Values are written and read by the streams' operators of their type. What is wrong is a
 * dmlc::ParamError that names the field and says what is accepted.
 */
#ifndef DMLC_PARAMETER_H_
#define DMLC_PARAMETER_H_

#include <cctype>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dmlc/base.h"
#include "mxnet-cpp/optional.h"

namespace mxnet {
namespace cpp {
namespace front_end {

struct ParamError : public Error {
  explicit ParamError(const std::string& message) : Error(message) {}
};

/* What a field of a struct is, without its type. */
struct FieldInfo {
  std::string name, type, type_info_str, description;
};

namespace parameters {

template <typename T>
inline bool ReadValue(const std::string& text, T* value) {
  std::istringstream in(text);
  if (!(in >> *value)) return false;
  while (std::isspace(in.peek())) in.get();
  return in.peek() == std::istringstream::traits_type::eof();
}
inline bool ReadValue(const std::string& text, std::string* value) {
  *value = text;
  return true;
}
inline bool ReadValue(const std::string& text, bool* value) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  *value = lower == "true" || lower == "1";
  return *value || lower == "false" || lower == "0";
}

template <typename T>
inline std::string WriteValue(const T& value) {
  std::ostringstream out;
  if (std::is_floating_point<T>::value) out.precision(std::is_same<T, float>::value ? 9 : 17);
  out << value;
  return out.str();
}
inline std::string WriteValue(bool value) { return value ? "True" : "False"; }

template <typename T>
struct NameOf {
  static const char* Get() { return "value"; }
};
#define MXNET_CPP_NAME_OF(T, text)            \
  template <>                                 \
  struct NameOf<T> {                          \
    static const char* Get() { return text; } \
  };
MXNET_CPP_NAME_OF(int, "int")
MXNET_CPP_NAME_OF(int64_t, "long")
MXNET_CPP_NAME_OF(unsigned, "int (non-negative)")
MXNET_CPP_NAME_OF(uint64_t, "long (non-negative)")
MXNET_CPP_NAME_OF(float, "float")
MXNET_CPP_NAME_OF(double, "double")
MXNET_CPP_NAME_OF(bool, "boolean")
MXNET_CPP_NAME_OF(std::string, "string")
#undef MXNET_CPP_NAME_OF

/* A field of any type; `object` is the struct that has it. */
class AnyEntry {
 public:
  virtual ~AnyEntry() {}
  virtual void Default(void* object) const = 0;
  virtual void Set(void* object, const std::string& text) const = 0;
  virtual std::string Get(const void* object) const = 0;
  virtual void Check(const void* object) const = 0;
  virtual FieldInfo Info() const = 0;
  bool has_default = false;
};

template <typename T>
class Entry : public AnyEntry {
 public:
  Entry(const std::string& name, size_t offset) : name_(name), offset_(offset) {}
  Entry& set_default(const T& value) {
    default_ = value;
    has_default = true;
    return *this;
  }
  Entry& set_range(const T& low, const T& high) { return set_lower_bound(low).set_upper_bound(high); }
  Entry& set_lower_bound(const T& low) {
    return Bound(">=" + WriteValue(low), [low](const T& value) { return !(value < low); });
  }
  Entry& set_upper_bound(const T& high) {
    return Bound("<=" + WriteValue(high), [high](const T& value) { return !(high < value); });
  }
  /* The text that stands for a number. With any, texts of the type itself are refused. */
  Entry& add_enum(const std::string& text, const T& value) {
    enums_.emplace_back(text, value);
    return *this;
  }
  Entry& describe(const std::string& description) {
    description_ = description;
    return *this;
  }

  void Default(void* object) const override { At(object) = default_; }
  void Set(void* object, const std::string& text) const override {
    for (const auto& known : enums_)
      if (known.first == text) {
        At(object) = known.second;
        return;
      }
    if (!enums_.empty() || !ReadValue(text, &At(object)))
      throw ParamError("Invalid Parameter format for " + name_ + " expect " + Type() + " but value='" + text + "'");
  }
  std::string Get(const void* object) const override {
    const T& value = At(const_cast<void*>(object));
    for (const auto& known : enums_)
      if (known.second == value) return known.first;
    return WriteValue(value);
  }
  void Check(const void* object) const override {
    for (const auto& bound : bounds_)
      if (!bound.second(At(const_cast<void*>(object))))
        throw ParamError("value " + Get(object) + " for Parameter " + name_ + " is out of its range; accepted: " + bound.first);
  }
  FieldInfo Info() const override {
    FieldInfo info;
    info.name = name_;
    info.type = Type();
    info.type_info_str = info.type + (has_default ? ", optional, default=" + WriteValue(default_) : ", required");
    info.description = description_;
    return info;
  }

 private:
  Entry& Bound(const std::string& text, std::function<bool(const T&)> holds) {
    bounds_.emplace_back(text, std::move(holds));
    return *this;
  }
  T& At(void* object) const { return *reinterpret_cast<T*>(static_cast<char*>(object) + offset_); }
  std::string Type() const {
    if (enums_.empty()) return NameOf<T>::Get();
    std::string text;
    for (const auto& known : enums_) text += (text.empty() ? "{'" : ", '") + known.first + "'";
    return text + "}";
  }
  std::string name_, description_;
  size_t offset_;
  T default_ = T();
  std::vector<std::pair<std::string, T>> enums_;
  std::vector<std::pair<std::string, std::function<bool(const T&)>>> bounds_;
};

/* The fields of a struct, in the order in which they are declared. */
class Manager {
 public:
  template <typename T>
  Entry<T>& Add(const std::string& name, size_t offset) {
    Entry<T>* const entry = new Entry<T>(name, offset);
    entries_.emplace_back(name, std::unique_ptr<AnyEntry>(entry));
    return *entry;
  }
  void AddAlias(const std::string& field, const std::string& alias) { aliases_[alias] = field; }
  const AnyEntry* Find(const std::string& name) const {
    const auto alias = aliases_.find(name);
    for (const auto& entry : entries_)
      if (entry.first == (alias == aliases_.end() ? name : alias->second)) return entry.second.get();
    return nullptr;
  }
  const std::vector<std::pair<std::string, std::unique_ptr<AnyEntry>>>& entries() const { return entries_; }
  std::string Names() const {
    std::string names;
    for (const auto& entry : entries_) names += (names.empty() ? "" : ", ") + entry.first;
    return names;
  }
  std::string name;

 private:
  std::vector<std::pair<std::string, std::unique_ptr<AnyEntry>>> entries_;
  std::map<std::string, std::string> aliases_;
};

}  // namespace parameters

/* What a struct P of parameters derives from. */
template <typename P>
struct Parameter {
  /* Sets every field: from `kwargs`, else its default. Names that no field has are an error. */
  template <typename Container>
  void Init(const Container& kwargs) {
    for (const auto& kv : InitAllowUnknown(kwargs))
      throw ParamError("Cannot find argument '" + kv.first + "' of " + P::Manager().name + "; accepted: " + P::Manager().Names());
  }
  /* The same; gives what no field has. */
  template <typename Container>
  std::vector<std::pair<std::string, std::string>> InitAllowUnknown(const Container& kwargs) {
    std::map<std::string, bool> set;
    for (const auto& entry : P::Manager().entries()) entry.second->Default(Head());
    auto unknown = UpdateAllowUnknown(kwargs);
    for (const auto& kv : kwargs) {
      if (const parameters::AnyEntry* entry = P::Manager().Find(kv.first)) set[entry->Info().name] = true;
    }
    for (const auto& entry : P::Manager().entries())
      if (!entry.second->has_default && !set.count(entry.first))
        throw ParamError("Required parameter " + entry.first + " of " + entry.second->Info().type + " is not presented");
    return unknown;
  }
  /* Sets the fields that `kwargs` name, and leaves the others. */
  template <typename Container>
  std::vector<std::pair<std::string, std::string>> UpdateAllowUnknown(const Container& kwargs) {
    std::vector<std::pair<std::string, std::string>> unknown;
    for (const auto& kv : kwargs) {
      const parameters::AnyEntry* const entry = P::Manager().Find(kv.first);
      if (entry == nullptr) {
        unknown.emplace_back(kv.first, kv.second);
        continue;
      }
      entry->Set(Head(), kv.second);
      entry->Check(Head());
    }
    return unknown;
  }
  template <typename Container>
  void UpdateDict(Container* dict) const {
    for (const auto& kv : __DICT__()) (*dict)[kv.first] = kv.second;
  }
  std::map<std::string, std::string> __DICT__() const {
    std::map<std::string, std::string> values;
    for (const auto& entry : P::Manager().entries()) values[entry.first] = entry.second->Get(static_cast<const P*>(this));
    return values;
  }
  static std::vector<FieldInfo> __FIELDS__() {
    std::vector<FieldInfo> fields;
    for (const auto& entry : P::Manager().entries()) fields.push_back(entry.second->Info());
    return fields;
  }
  static std::string __DOC__() {
    std::string text;
    for (const FieldInfo& field : __FIELDS__()) text += field.name + " : " + field.type_info_str + "\n    " + field.description + "\n";
    return text;
  }

  /* Reads the declarations of P on a struct that nobody uses. */
  static parameters::Manager MakeManager(const char* name) {
    parameters::Manager manager;
    manager.name = name;
    P blank;
    blank.DeclareFields(&manager);
    return manager;
  }

 private:
  void* Head() { return static_cast<P*>(this); }
};

}  // namespace front_end
}  // namespace cpp
}  // namespace mxnet

namespace dmlc {
using mxnet::cpp::front_end::ParamError;
using mxnet::cpp::front_end::Parameter;
typedef mxnet::cpp::front_end::FieldInfo ParamFieldInfo;

/* The value of a variable of the environment, or `default_value` where it is unset or empty. */
template <typename T>
inline T GetEnv(const char* key, T default_value) {
  const char* const text = std::getenv(key);
  if (text == nullptr || *text == '\0') return default_value;
  T value = T();
  if (!mxnet::cpp::front_end::parameters::ReadValue(text, &value))
    throw ParamError(std::string("Invalid value '") + text + "' of " + key +
                     "; accepted: " + mxnet::cpp::front_end::parameters::NameOf<T>::Get());
  return value;
}
template <typename T>
inline void SetEnv(const char* key, T value) {
  setenv(key, mxnet::cpp::front_end::parameters::WriteValue(value).c_str(), 1);
}

}  // namespace dmlc

#define DMLC_DECLARE_PARAMETER(P)                                                           \
  static const ::mxnet::cpp::front_end::parameters::Manager& Manager() {                    \
    static const ::mxnet::cpp::front_end::parameters::Manager manager = P::MakeManager(#P); \
    return manager;                                                                         \
  }                                                                                         \
  typedef P Self_;                                                                          \
  inline void DeclareFields(::mxnet::cpp::front_end::parameters::Manager* manager)
#define DMLC_DECLARE_FIELD(field)       \
  manager->Add<decltype(Self_::field)>( \
      #field, static_cast<size_t>(reinterpret_cast<char*>(&this->field) - reinterpret_cast<char*>(static_cast<Self_*>(this))))
#define DMLC_DECLARE_ALIAS(field, alias) manager->AddAlias(#field, #alias)
/* Fields are known when they are first asked for; this line checks their declarations. */
#define DMLC_REGISTER_PARAMETER(P) \
  static DMLC_ATTRIBUTE_UNUSED const void* const DMLC_STR_CONCAT(mxnet_parameters_of_##P##_, __COUNTER__) = &P::Manager()

#endif
