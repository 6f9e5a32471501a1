/*
 * Writes mxnet-cpp/op.h, the C++ functions of all operators, from the records of the library that
 * it is linked to. The build runs it:
 *
 *   generate_op_header build/release/include/mxnet-cpp/op.h
 *
 * Each operator whose name does not begin with an underscore becomes two functions that make a
 * Symbol: one takes the node's name first, the other none. Arguments without default come first,
 * then the others, each in the record's order. Parameters that accept certain texts become enum
 * classes, such as ActivationActType::kRelu.
 */
#include <mxnet/c_api.h>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Argument {
  std::string name;           // of the operator's
  std::string variable;       // of the C++ function's
  std::string type;           // in C++
  std::string default_value;  // in C++; empty: required
  bool is_input = false;
  bool is_list = false;  // of inputs
  bool is_optional = false;
  std::vector<std::string> texts;  // of an enum
};

struct Record {
  std::string name, real_name, description;
  std::vector<Argument> arguments;
};

void Check(int status) {
  if (status != 0) throw std::runtime_error(MXGetLastError());
}

bool StartsWith(const std::string& text, const std::string& start) { return text.compare(0, start.size(), start) == 0; }

/* "'relu'" -> "relu" */
std::string Unquoted(const std::string& text) {
  const size_t begin = text.find_first_not_of(" '\""), end = text.find_last_not_of(" '\"");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    if (!Unquoted(part).empty()) parts.push_back(Unquoted(part));
  }
  return parts;
}

std::string Capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/* ("Activation", "act_type") -> "ActivationActType" */
std::string EnumName(const std::string& op, const std::string& argument) {
  std::string name = Capital(op);
  for (const std::string& word : Split(argument, '_')) name += Capital(word);
  return name;
}

/* "relu" -> "kRelu"; what no identifier may have becomes '_'. */
std::string Enumerator(const std::string& text) {
  std::string name = "k" + Capital(text);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

/* Names that C++ keeps for itself get an underscore. */
std::string Variable(const std::string& name) {
  static const std::set<std::string> kKeywords = {"and",    "bool",    "char",  "class",  "const",      "default",  "delete",   "do",
                                                  "double", "enum",    "false", "for",    "float",      "goto",     "if",       "int",
                                                  "long",   "new",     "not",   "or",     "this",       "true",     "operator", "private",
                                                  "public", "return",  "short", "signed", "switch",     "template", "typename", "union",
                                                  "using",  "virtual", "void",  "while",  "symbol_name"};
  return kKeywords.count(name) != 0 ? name + "_" : name;
}

/* "[1,1]" and "(1, 1)" -> "Shape(1, 1)" */
std::string ShapeOf(const std::string& text) {
  std::string numbers;
  for (const std::string& number : Split(text.size() > 2 ? text.substr(1, text.size() - 2) : "", ',')) {
    numbers += (numbers.empty() ? "" : ", ") + number;
  }
  return "Shape(" + numbers + ")";
}

/* The C++ type of a record's type text, and whether None is one of its values. */
std::string CppType(const std::string& text) {
  static const std::vector<std::pair<std::string, std::string>> kTypes = {
      {"boolean or None", "dmlc::optional<bool>"},
      {"boolean", "bool"},
      {"Shape or None", "dmlc::optional<Shape>"},
      {"Shape(tuple)", "Shape"},
      {"float or None", "dmlc::optional<float>"},
      {"float", "mx_float"},
      {"real_t", "mx_float"},
      {"double or None", "dmlc::optional<double>"},
      {"double", "double"},
      {"int or None", "dmlc::optional<int>"},
      {"int (non-negative)", "uint32_t"},
      {"int", "int"},
      {"long or None", "dmlc::optional<int64_t>"},
      {"long (non-negative)", "uint64_t"},
      {"long", "int64_t"},
      {"string", "const std::string&"},
      {"tuple of <float>", "nnvm::Tuple<mx_float>"},
      {"tuple of <double>", "nnvm::Tuple<double>"},
      {"tuple of <long>", "nnvm::Tuple<int64_t>"},
      {"tuple of <int>", "nnvm::Tuple<int>"},
  };
  for (const auto& type : kTypes) {
    if (StartsWith(text, type.first)) return type.second;
  }
  throw std::runtime_error("no C++ type for '" + text + "'");
}

std::string CppDefault(const Argument& argument, const std::string& text) {
  if (!argument.texts.empty()) return argument.type + "::" + Enumerator(text);
  if (argument.is_optional) {
    if (text == "None") return argument.type + "()";
    Argument inner;
    inner.type = argument.type.substr(15, argument.type.size() - 16);  // dmlc::optional<...>
    return argument.type + "(" + CppDefault(inner, text) + ")";
  }
  if (argument.type == "bool") return text == "1" || text == "True" ? "true" : "false";
  if (argument.type == "Shape") return ShapeOf(text == "None" ? "" : text);
  if (StartsWith(argument.type, "const std::string")) return Quoted(text);
  if (StartsWith(argument.type, "nnvm")) return argument.type + "{" + (text.size() > 2 ? text.substr(1, text.size() - 2) : "") + "}";
  if (argument.type == "mx_float" && text.find_first_of(".en") != std::string::npos) return text + "f";
  return text;
}

Argument ReadArgument(const std::string& op, const std::string& name, const std::string& info) {
  Argument argument;
  argument.name = name;
  argument.variable = Variable(name);
  if (StartsWith(info, "NDArray") || StartsWith(info, "Symbol")) {
    argument.is_input = true;
    argument.is_list = info.find("[]") != std::string::npos;
    argument.type = argument.is_list ? "const std::vector<Symbol>&" : "Symbol";
    return argument;
  }
  if (info[0] == '{') {
    argument.texts = Split(info.substr(1, info.find('}') - 1), ',');
    argument.type = EnumName(op, name);
  } else {
    argument.type = CppType(info);
    argument.is_optional = StartsWith(argument.type, "dmlc::optional");
  }
  const size_t at = info.find("default=");
  if (at != std::string::npos) argument.default_value = CppDefault(argument, Unquoted(info.substr(at + 8)));
  return argument;
}

Record ReadRecord(const std::string& op) {
  OpHandle handle = nullptr;
  const char *name = nullptr, *description = nullptr, *count_key = nullptr;
  const char **names = nullptr, **types = nullptr, **descriptions = nullptr;
  uint32_t count = 0;
  Check(NNGetOpHandle(op.c_str(), &handle));
  Check(MXSymbolGetAtomicSymbolInfo(handle, &name, &description, &count, &names, &types, &descriptions, &count_key));
  Record record{op, name, description, {}};
  for (uint32_t i = 0; i < count; ++i) record.arguments.push_back(ReadArgument(op, names[i], types[i]));
  return record;
}

/* Required ones first. */
std::vector<const Argument*> Ordered(const Record& record) {
  std::vector<const Argument*> order;
  for (const bool has_default : {false, true}) {
    for (const Argument& argument : record.arguments) {
      if (argument.default_value.empty() != has_default) order.push_back(&argument);
    }
  }
  return order;
}

/* The enums of a record; those of an alias are the operator's own under another name. */
void WriteEnums(const Record& record, const std::set<std::string>& written, std::ostream& out) {
  for (const Argument& argument : record.arguments) {
    if (argument.texts.empty()) continue;
    if (record.real_name != record.name && written.count(record.real_name) != 0) {
      out << "typedef " << EnumName(record.real_name, argument.name) << " " << argument.type << ";\n";
      continue;
    }
    std::string values, texts;
    for (const std::string& text : argument.texts) {
      values += (values.empty() ? "" : ", ") + Enumerator(text);
      texts += (texts.empty() ? "" : ", ") + Quoted(text);
    }
    out << "enum class " << argument.type << " { " << values << " };\n"
        << "namespace front_end {\ninline const char* EnumText(" << argument.type << " value) {\n"
        << "  static const char* const texts[] = {" << texts
        << "};\n  return texts[static_cast<int>(value)];\n}\n}  // namespace front_end\n";
  }
}

/* How a parameter is handed on. A None that is the default anyway is left out. */
void WriteParameter(const Argument& argument, std::ostream& out) {
  const std::string value = argument.texts.empty() ? argument.variable : "front_end::EnumText(" + argument.variable + ")";
  const char* setter = argument.is_optional && argument.default_value == argument.type + "()" ? "SetUnlessNone" : "Set";
  out << "\n      ." << setter << "(" << Quoted(argument.name) << ", " << value << ")";
}

void WriteFunctions(const Record& record, std::ostream& out) {
  const std::vector<const Argument*> order = Ordered(record);
  std::string signature, values;
  for (const Argument* argument : order) {
    signature += ", " + argument->type + " " + argument->variable;
    if (!argument->default_value.empty()) signature += " = " + argument->default_value;
    values += ", " + argument->variable;
  }
  out << "inline Symbol " << record.name << "(const std::string& symbol_name" << signature << ") {\n  return front_end::Maker("
      << Quoted(record.name) << ")";
  for (const Argument& argument : record.arguments) {
    if (!argument.is_input) WriteParameter(argument, out);
  }
  for (const Argument& argument : record.arguments) {
    if (argument.is_list) out << "\n      .Inputs(" << argument.variable << ")";
    if (argument.is_input && !argument.is_list) out << "\n      .Input(" << Quoted(argument.name) << ", " << argument.variable << ")";
  }
  out << "\n      .Make(symbol_name);\n}\n";
  out << "inline Symbol " << record.name << "(" << (signature.empty() ? "" : signature.substr(2)) << ") {\n  return " << record.name
      << "(std::string()" << values << ");\n}\n";
}

std::string Header() {
  uint32_t count = 0;
  const char** all = nullptr;
  Check(MXListAllOpNames(&count, &all));
  std::set<std::string> names;  // sorted, whatever order the library has
  for (uint32_t i = 0; i < count; ++i) {
    if (all[i][0] != '_') names.insert(all[i]);
  }
  std::vector<Record> records;
  for (const bool alias : {false, true}) {
    for (const std::string& name : names) {
      Record record = ReadRecord(name);
      if ((record.real_name != name) == alias) records.push_back(record);
    }
  }
  std::ostringstream out;
  out << "/* Functions of all operators. Written by tools/generate_op_header.cc: do not edit. */\n"
         "#ifndef MXNET_CPP_OP_H_\n#define MXNET_CPP_OP_H_\n\n#include <string>\n#include <vector>\n\n"
         "#include \"mxnet-cpp/op_maker.h\"\n\nnamespace mxnet {\nnamespace cpp {\n\n";
  for (const Record& record : records) {
    WriteEnums(record, names, out);
    WriteFunctions(record, out);
    out << "\n";
  }
  out << "}  // namespace cpp\n}  // namespace mxnet\n#endif  // MXNET_CPP_OP_H_\n";
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s OP.h\n", argv[0]);
    return 2;
  }
  try {
    const std::string text = Header();
    // An equal file keeps its date, so that nothing is compiled again.
    std::ifstream old(argv[1], std::ios::binary);
    if (old && std::string(std::istreambuf_iterator<char>(old), {}) == text) return 0;
    std::ofstream file(argv[1], std::ios::binary);
    file << text;
    file.close();
    if (!file) throw std::runtime_error(std::string("cannot write ") + argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
