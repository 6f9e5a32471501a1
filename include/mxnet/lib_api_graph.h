/*
 * JSON values and graphs for users' libraries: a part of lib_api.h, which includes it. C++11, and
 * all of it in headers.
 */
#ifndef MXNET_LIB_API_GRAPH_H_
#define MXNET_LIB_API_GRAPH_H_

#include <cctype>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lib_api_tensor.h"

namespace mxnet {
namespace ext {

enum JsonType { ERR, STR, NUM, LIST, MAP };

/* A JSON value. Keys of a map are values too: val.map[JsonVal("nodes")]. Parsing throws
 * std::runtime_error on what is no JSON. */
struct JsonVal {
  JsonVal() : type(ERR), num(-1) {}
  explicit JsonVal(JsonType t) : type(t), num(-1) {}
  explicit JsonVal(std::string s) : type(STR), num(-1), str(std::move(s)) {}
  explicit JsonVal(const char* s) : type(STR), num(-1), str(s) {}
  explicit JsonVal(int n) : type(NUM), num(n) {}
  JsonVal(JsonType t, int n, std::string s) : type(t), num(n), str(std::move(s)) {}

  bool operator<(const JsonVal& o) const {
    if (type != o.type) return type < o.type;
    if (type == STR) return str < o.str;
    if (type == NUM) return num != o.num ? num < o.num : str < o.str;
    if (type == LIST) return list < o.list;
    return type == MAP && map < o.map;
  }

  static JsonVal parse(const std::string& json) {
    unsigned int at = 0;
    JsonVal value = parse(json, &at);
    skip(json, &at);
    if (at != json.size()) fail(json, at, "the end");
    return value;
  }
  /* The value that begins at *idx, which moves behind it. */
  static JsonVal parse(const std::string& json, unsigned int* idx) {
    skip(json, idx);
    const char c = at(json, *idx);
    if (c == '"') return parse_string(json, idx);
    if (c == '[') return parse_list(json, idx);
    if (c == '{') return parse_map(json, idx);
    return parse_num(json, idx);
  }
  static JsonVal parse_string(const std::string& json, unsigned int* idx) {
    JsonVal value(STR);
    expect(json, idx, '"');
    while (at(json, *idx) != '"') {
      char c = json[(*idx)++];
      if (c == '\\') {
        c = at(json, *idx);
        ++*idx;
        if (c == 'u') {
          unescape(json, idx, &value.str);
          continue;
        }
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
      }
      value.str.push_back(c);
    }
    ++*idx;
    return value;
  }
  /* Numbers that are no int, and true, false and null, keep their text in `str`. */
  static JsonVal parse_num(const std::string& json, unsigned int* idx) {
    const unsigned int begin = *idx;
    while (*idx < json.size() &&
           (std::isalnum(static_cast<unsigned char>(json[*idx])) || json[*idx] == '-' || json[*idx] == '+' || json[*idx] == '.'))
      ++*idx;
    JsonVal value(NUM);
    const std::string text = json.substr(begin, *idx - begin);
    char* end = nullptr;
    const long long number = std::strtoll(text.c_str(), &end, 10);
    value.num = text == "true" ? 1 : static_cast<int>(number);
    const bool is_int = !text.empty() && *end == '\0' && number == value.num;
    if (is_int) return value;
    std::strtod(text.c_str(), &end);
    const bool known = (!text.empty() && *end == '\0') || text == "true" || text == "false" || text == "null";
    if (!known) fail(json, begin, "a value");
    value.str = text;
    return value;
  }
  static JsonVal parse_list(const std::string& json, unsigned int* idx) {
    JsonVal value(LIST);
    expect(json, idx, '[');
    for (skip(json, idx); at(json, *idx) != ']'; separate(json, idx, ']')) value.list.push_back(parse(json, idx));
    ++*idx;
    return value;
  }
  static JsonVal parse_map(const std::string& json, unsigned int* idx) {
    JsonVal value(MAP);
    expect(json, idx, '{');
    for (skip(json, idx); at(json, *idx) != '}'; separate(json, idx, '}')) {
      JsonVal key = parse_string(json, idx);
      skip(json, idx);
      expect(json, idx, ':');
      value.map[key] = parse(json, idx);
    }
    ++*idx;
    return value;
  }

  /* As text. */
  std::string dump() const {
    std::string text;
    switch (type) {
      case STR: return quote(str);
      case NUM: return str.empty() ? std::to_string(num) : str;
      case LIST:
        for (const JsonVal& v : list) text += (text.empty() ? "" : ", ") + v.dump();
        return "[" + text + "]";
      case MAP:
        for (const auto& kv : map) text += (text.empty() ? "" : ", ") + kv.first.dump() + ": " + kv.second.dump();
        return "{" + text + "}";
      default: return "null";
    }
  }
  static std::string quote(const std::string& text) {
    static const char* const hex = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\')
        (quoted += '\\') += c;
      else if (c == '\n')
        quoted += "\\n";
      else if (static_cast<unsigned char>(c) < 0x20)
        ((quoted += "\\u00") += hex[c >> 4]) += hex[c & 15];
      else
        quoted += c;
    }
    return quoted + "\"";
  }

  JsonType type;
  int num;
  std::string str;
  std::vector<JsonVal> list;
  std::map<JsonVal, JsonVal> map;

 private:
  [[noreturn]] static void fail(const std::string& json, unsigned int at, const char* wanted) {
    std::ostringstream os;
    os << "JSON at byte " << at << ": expected " << wanted << ", got '" << json.substr(at, 10) << "'";
    throw std::runtime_error(os.str());
  }
  static char at(const std::string& json, unsigned int idx) {
    if (idx >= json.size()) fail(json, static_cast<unsigned int>(json.size()), "more");
    return json[idx];
  }
  static void skip(const std::string& json, unsigned int* idx) {
    while (*idx < json.size() && std::isspace(static_cast<unsigned char>(json[*idx]))) ++*idx;
  }
  static void expect(const std::string& json, unsigned int* idx, char c) {
    const char wanted[] = {c, '\0'};
    if (at(json, *idx) != c) fail(json, *idx, wanted);
    ++*idx;
  }
  static void separate(const std::string& json, unsigned int* idx, char end) {
    skip(json, idx);
    if (at(json, *idx) != end) expect(json, idx, ',');
    skip(json, idx);
  }
  static void unescape(const std::string& json, unsigned int* idx, std::string* out) {
    const unsigned long code = std::strtoul(json.substr(*idx, 4).c_str(), nullptr, 16);
    at(json, *idx + 3);
    *idx += 4;
    if (code < 0x80) {
      out->push_back(static_cast<char>(code));
    } else if (code < 0x800) {
      out->push_back(static_cast<char>(0xc0 | code >> 6));
      out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
    } else {
      out->push_back(static_cast<char>(0xe0 | code >> 12));
      out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
      out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
    }
  }
};

/* The older way to the same. */
struct JsonParser {
  JsonVal parse_to_json(const std::string& json) { return JsonVal::parse(json); }
  std::string dump(const JsonVal& value) { return value.dump(); }
  void print_json_val(const JsonVal& value, int = 0) { std::cout << value.dump() << std::endl; }
};

/* New parameters of the model that a pass changes. */
class PassResource {
 public:
  using Make = std::function<MXTensor*(bool is_aux, const std::string& name, const std::vector<int64_t>& shape, const MXContext& ctx,
                                       MXDType dtype)>;
  explicit PassResource(Make make) : make_(std::move(make)) {}
  /* Null where there is no memory. The runtime owns the array. */
  MXTensor* alloc_arg(const std::string& name, const std::vector<int64_t>& shape, const MXContext& ctx, MXDType dtype) const {
    return make_(false, name, shape, ctx, dtype);
  }
  MXTensor* alloc_aux(const std::string& name, const std::vector<int64_t>& shape, const MXContext& ctx, MXDType dtype) const {
    return make_(true, name, shape, ctx, dtype);
  }

 private:
  Make make_;
};

class Graph;
struct Node;

/* Output `entry` of a node; in a list of users: input `entry` of one. */
struct NodeEntry {
  Node* node;
  int entry;
};

struct Node {
  Node() : tensor(nullptr), resource_(nullptr) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  inline ~Node();

  /* Makes this node, of the operator "null", a parameter of the model with an array of its own. */
  void alloc_arg(const std::vector<int64_t>& shape, const MXContext& ctx, MXDType dtype) { alloc(false, shape, ctx, dtype); }
  void alloc_aux(const std::vector<int64_t>& shape, const MXContext& ctx, MXDType dtype) { alloc(true, shape, ctx, dtype); }
  void _setPassResource(PassResource* resource) { resource_ = resource; }

  std::string op;  // "null": a variable
  std::string name;
  MXTensor* tensor;  // of a parameter that is known
  std::vector<NodeEntry> inputs;
  std::vector<std::vector<NodeEntry>> outputs;  // who reads each output
  std::vector<Graph*> subgraphs;
  std::unordered_map<std::string, std::string> attrs;

 private:
  void alloc(bool is_aux, const std::vector<int64_t>& shape, const MXContext& ctx, MXDType dtype) {
    if (!resource_) throw std::runtime_error("arrays can be made in a pass alone, and this graph belongs to none");
    tensor = is_aux ? resource_->alloc_aux(name, shape, ctx, dtype) : resource_->alloc_arg(name, shape, ctx, dtype);
    if (!tensor) throw std::runtime_error("no memory for the parameter " + name);
  }
  PassResource* resource_;
};

/* A graph, which owns its nodes. */
class Graph {
 public:
  Graph() : resource_(nullptr) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    for (Node* node : nodes) delete node;
  }

  /* The caller deletes it. Throw std::runtime_error on what is no graph. */
  static Graph* fromString(const std::string& json) { return fromJson(JsonVal::parse(json)); }
  static Graph* fromJson(const JsonVal& val) {
    std::unique_ptr<Graph> graph(new Graph);
    const JsonVal& nodes = member(val, "nodes", LIST);
    for (size_t i = 0; i < nodes.list.size(); ++i) graph->nodes.push_back(new Node);
    for (size_t i = 0; i < nodes.list.size(); ++i) graph->read(nodes.list[i], i);
    for (const JsonVal& i : member(val, "arg_nodes", LIST).list) graph->inputs.push_back(graph->nodeAt(i));
    for (const JsonVal& head : member(val, "heads", LIST).list) graph->outputs.push_back(graph->entryOf(head));
    for (const auto& kv : val.map)
      if (kv.first.str != "nodes" && kv.first.str != "arg_nodes" && kv.first.str != "heads" && kv.first.str != "node_row_ptr")
        graph->attrs[kv.first.str] = kv.second;
    return graph.release();
  }

  std::string toString() const { return toJson().dump(); }
  /* Nodes that no output needs are left out. */
  JsonVal toJson() const {
    const std::vector<Node*> order = sorted();
    std::unordered_map<const Node*, int> number;
    for (size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<int>(i);
    JsonVal val(MAP), list(LIST), arguments(LIST), heads(LIST), rows(LIST);
    const auto triple = [&number](const NodeEntry& e) {
      JsonVal t(LIST);
      t.list = {JsonVal(number.at(e.node)), JsonVal(e.entry), JsonVal(0)};
      return t;
    };
    int row = 0;
    for (const Node* n : order) {
      JsonVal node(MAP), in(LIST);
      for (const NodeEntry& e : n->inputs) in.list.push_back(triple(e));
      node.map[JsonVal("op")] = JsonVal(n->op);
      node.map[JsonVal("name")] = JsonVal(n->name);
      node.map[JsonVal("inputs")] = in;
      if (!n->attrs.empty()) {
        JsonVal attrs(MAP);
        for (const auto& kv : n->attrs) attrs.map[JsonVal(kv.first)] = JsonVal(kv.second);
        node.map[JsonVal("attrs")] = attrs;
      }
      if (!n->subgraphs.empty()) {
        JsonVal subgraphs(LIST);
        for (const Graph* g : n->subgraphs) subgraphs.list.push_back(g->toJson());
        node.map[JsonVal("subgraphs")] = subgraphs;
      }
      list.list.push_back(node);
      rows.list.push_back(JsonVal(row));
      row += n->outputs.empty() ? 1 : static_cast<int>(n->outputs.size());
      if (n->op == "null") arguments.list.push_back(JsonVal(number.at(n)));
    }
    rows.list.push_back(JsonVal(row));
    for (const NodeEntry& e : outputs) heads.list.push_back(triple(e));
    for (const auto& kv : attrs) val.map[JsonVal(kv.first)] = kv.second;
    val.map[JsonVal("nodes")] = list;
    val.map[JsonVal("arg_nodes")] = arguments;
    val.map[JsonVal("heads")] = heads;
    val.map[JsonVal("node_row_ptr")] = rows;
    return val;
  }

  size_t size() const { return nodes.size(); }
  Node* getNode(size_t i) { return nodes.at(i); }
  const Node* getNode(size_t i) const { return nodes.at(i); }
  const JsonVal& getAttr(const std::string& key) const { return attrs.at(key); }

  Node* addNode(const std::string& name, const std::string& op) {
    Node* node = new Node;
    nodes.push_back(node);
    node->name = name;
    node->op = op;
    node->_setPassResource(resource_);
    if (op == "null") inputs.push_back(node);
    return node;
  }

  /* What the outputs need, users before what they read. */
  std::vector<Node*> topological_sort() const {
    std::vector<Node*> order = sorted();
    return std::vector<Node*>(order.rbegin(), order.rend());
  }
  /* Every node that the outputs need, once, behind what it reads. */
  void DFS(const std::function<void(Node*)>& handler) const {
    for (Node* n : sorted()) handler(n);
  }

  void print(int indent = 0) const {
    const std::string space(static_cast<size_t>(indent), ' ');
    std::cout << space << "Graph of " << nodes.size() << " nodes\n";
    for (const Node* n : sorted()) {
      std::cout << space << "  " << n->op << " " << n->name << " (";
      for (size_t i = 0; i < n->inputs.size(); ++i)
        std::cout << (i ? ", " : "") << n->inputs[i].node->name << "[" << n->inputs[i].entry << "]";
      std::cout << ")\n";
      for (const Graph* g : n->subgraphs) g->print(indent + 4);
    }
  }

  void _setPassResource(PassResource* resource) {
    resource_ = resource;
    for (Node* n : nodes) n->_setPassResource(resource);
  }
  /* Gives variables the arrays of their names. */
  void _setParams(std::unordered_map<std::string, MXTensor>* args, std::unordered_map<std::string, MXTensor>* aux) {
    for (Node* n : nodes) {
      if (n->op != "null") continue;
      auto found = args->find(n->name);
      if (found == args->end()) {
        found = aux->find(n->name);
        if (found == aux->end()) continue;
        n->attrs["isAux"] = "True";
      }
      n->tensor = &found->second;
    }
  }

  std::vector<Node*> nodes;
  std::vector<Node*> inputs;  // variables
  std::vector<NodeEntry> outputs;
  std::map<std::string, JsonVal> attrs;

 private:
  static const JsonVal& member(const JsonVal& val, const char* name, JsonType type) {
    const auto found = val.map.find(JsonVal(name));
    if (val.type != MAP || found == val.map.end() || found->second.type != type)
      throw std::runtime_error(std::string("a graph without its member ") + name);
    return found->second;
  }
  Node* nodeAt(const JsonVal& number) const {
    if (number.type != NUM || number.num < 0 || static_cast<size_t>(number.num) >= nodes.size())
      throw std::runtime_error("a graph that names a node which it does not have");
    return nodes[static_cast<size_t>(number.num)];
  }
  NodeEntry entryOf(const JsonVal& triple) const {
    if (triple.type != LIST || triple.list.size() < 2 || triple.list[1].type != NUM || triple.list[1].num < 0 || triple.list[1].num > 4096)
      throw std::runtime_error("a graph with an entry that is none");
    return {nodeAt(triple.list[0]), triple.list[1].num};
  }
  void read(const JsonVal& val, size_t at) {
    Node* node = nodes[at];
    node->op = member(val, "op", STR).str;
    node->name = member(val, "name", STR).str;
    for (const JsonVal& triple : member(val, "inputs", LIST).list) {
      const NodeEntry e = entryOf(triple);
      if (e.node->outputs.size() <= static_cast<size_t>(e.entry)) e.node->outputs.resize(static_cast<size_t>(e.entry) + 1);
      e.node->outputs[static_cast<size_t>(e.entry)].push_back({node, static_cast<int>(node->inputs.size())});
      node->inputs.push_back(e);
    }
    for (const char* key : {"attrs", "attr", "param"}) {
      const auto found = val.map.find(JsonVal(key));
      if (found == val.map.end()) continue;
      for (const auto& kv : found->second.map) node->attrs[kv.first.str] = kv.second.str;
    }
    const auto graphs = val.map.find(JsonVal("subgraphs"));
    if (graphs != val.map.end())
      for (const JsonVal& g : graphs->second.list) node->subgraphs.push_back(fromJson(g));
  }
  /* Depth first from the outputs, inputs first. Throws for a circle. */
  std::vector<Node*> sorted() const {
    std::vector<Node*> order;
    std::unordered_map<Node*, size_t> next;  // input to look at
    std::unordered_set<Node*> open;
    for (const NodeEntry& head : outputs) {
      std::vector<Node*> stack;
      if (next.emplace(head.node, 0).second) stack.push_back(head.node), open.insert(head.node);
      while (!stack.empty()) {
        Node* n = stack.back();
        size_t& i = next[n];
        if (i == n->inputs.size()) {
          order.push_back(n);
          open.erase(n);
          stack.pop_back();
          continue;
        }
        Node* input = n->inputs[i++].node;
        if (next.emplace(input, 0).second)
          stack.push_back(input), open.insert(input);
        else if (open.count(input))
          throw std::runtime_error("a graph with a circle through " + input->name);
      }
    }
    return order;
  }
  PassResource* resource_;
};

inline Node::~Node() {
  for (Graph* g : subgraphs) delete g;
}

}  // namespace ext
}  // namespace mxnet

#endif  // MXNET_LIB_API_GRAPH_H_
