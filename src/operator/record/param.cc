// Fields of parameter structs: the types that all operators share, text forms of parameters that
// dmlc does not know, and error messages in the form that all have.
#include <string>
#include <utility>
#include <vector>

#include "mxnet/op.h"
#include "operator/record/param_field.h"

namespace mxnet {

// Accepts "(2,3)", "[2, 3]", "()", "2", with optional spaces, a trailing comma and an L behind
// numbers (Python 2 wrote those); None inside means an unknown size.
std::istream& operator>>(std::istream& is, Shape& s) {
  std::vector<int64_t> dims;
  is >> std::ws;
  const int first = is.peek();
  if (first == 'N') {
    std::string none(4, '\0');
    is.read(&none[0], 4);
    if (none == "None") {
      s = Shape();
      is.clear();
    } else {
      is.setstate(std::ios::failbit);
    }
    return is;
  }
  if (first != '(' && first != '[') {
    int64_t only;
    if (is >> only) {
      dims.push_back(only);
      s = Shape(dims);
    }
    return is;
  }
  const char close = first == '(' ? ')' : ']';
  is.get();
  while (true) {
    is >> std::ws;
    if (is.peek() == close) {
      is.get();
      break;
    }
    if (is.peek() == 'N') {
      std::string none(4, '\0');
      is.read(&none[0], 4);
      if (none != "None") {
        is.setstate(std::ios::failbit);
        return is;
      }
      dims.push_back(Shape::kUnknownDim);
    } else {
      int64_t d;
      if (!(is >> d)) return is;
      if (is.peek() == 'L') is.get();
      if (is.peek() == '.') {  // "2.0" as some front ends write it
        is.get();
        while (is.peek() == '0') is.get();
      }
      dims.push_back(d);
    }
    is >> std::ws;
    if (is.peek() == ',') {
      is.get();
      continue;
    }
    if (is.peek() == close) {
      is.get();
      break;
    }
    is.setstate(std::ios::failbit);
    return is;
  }
  s = Shape(dims);
  return is;
}

namespace {

std::string ParamError(const std::string& who, const std::string& what) {
  // dmlc may put a stack trace behind the message; people need only what precedes it.
  std::string text = what.substr(0, what.find("\nStack trace"));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  text = "[" + who + "] " + text;
  // The caller throws kValue; of dtypes that are none 1.9.1 says TypeError.
  if (text.find("Invalid Input") != std::string::npos && text.find("'float32'") != std::string::npos) MXNET_THROW(Type) << text;
  return text;
}

}  // namespace

ParamTable::ParamTable(const char* name, void (*declare)(ParamTable*)) : manager_(new ::dmlc::parameter::ParamManager) {
  static_cast<::dmlc::parameter::ParamManager*>(manager_)->set_name(name);
  declare(this);
}

ParamTable::~ParamTable() { delete static_cast<::dmlc::parameter::ParamManager*>(manager_); }

std::vector<ParamInfo> ParamTable::Infos() const {
  std::vector<ParamInfo> out;
  for (auto& f : static_cast<const ::dmlc::parameter::ParamManager*>(manager_)->GetFieldInfo())
    out.push_back({f.name, f.type_info_str, f.description});
  return out;
}

void ParamTable::Read(void* params, const Texts& given, const std::string& who, bool skip_unknown) const {
  Texts unknown;
  try {
    static_cast<const ::dmlc::parameter::ParamManager*>(manager_)->RunInit(
        params, given.begin(), given.end(), skip_unknown ? &unknown : nullptr,
        skip_unknown ? ::dmlc::parameter::kAllowUnknown : ::dmlc::parameter::kAllMatch);
  } catch (const ::dmlc::Error& e) {
    throw Error(Error::Kind::kValue, ParamError(who, e.what()));
  }
}

Op& Op::SetParams(const ParamTable& table, std::shared_ptr<void> (*make)()) {
  for (ParamInfo& info : table.Infos()) params.push_back(std::move(info));
  parse = [table = &table, make, who = name](const AttrDict& dict) -> std::shared_ptr<const void> {
    std::shared_ptr<void> parsed = make();
    ParamTable::Texts given;
    for (const auto& kv : dict)
      if (!(kv.first.size() >= 4 && kv.first.compare(0, 2, "__") == 0)) given.emplace_back(kv);
    table->Read(parsed.get(), given, who, false);
    return parsed;
  };
  return *this;
}

MXNET_DEFINE_NUMBER_FIELD(int);
MXNET_DEFINE_NUMBER_FIELD(int64_t);
MXNET_DEFINE_NUMBER_FIELD(uint32_t);
MXNET_DEFINE_NUMBER_FIELD(uint64_t);
MXNET_DEFINE_NUMBER_FIELD(float);
MXNET_DEFINE_NUMBER_FIELD(double);
MXNET_DEFINE_FIELD(bool);
MXNET_DEFINE_FIELD(char);
MXNET_DEFINE_FIELD(std::string);
MXNET_DEFINE_FIELD(Shape);
MXNET_DEFINE_FIELD(std::optional<int>);
MXNET_DEFINE_FIELD(std::optional<int64_t>);
MXNET_DEFINE_FIELD(std::optional<float>);
MXNET_DEFINE_FIELD(std::optional<double>);
MXNET_DEFINE_FIELD(std::optional<bool>);
MXNET_DEFINE_FIELD(std::optional<Shape>);
template Field<int> Field<int>::add_enum(std::string_view, int);
template Field<std::optional<int>> Field<std::optional<int>>::add_enum(std::string_view, int);
template Field<Shape> Field<Shape>::set_default_none();

}  // namespace mxnet
