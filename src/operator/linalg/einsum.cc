// Einstein's sums: contractions (contract.h) whose labels are written as text.
#include <algorithm>
#include <array>
#include <cctype>

#include "mxnet/op.h"
#include "operator/linalg/contract.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace linalg {
namespace {

struct EinsumParam : public Parameter<EinsumParam> {
  int num_args;
  std::string subscripts;
  int optimize;
  MXNET_DECLARE_PARAM(EinsumParam) {
    MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of arrays.");
    MXNET_FIELD(subscripts)
        .set_default("")
        .describe("A letter for each dimension of each array, commas between the arrays, and perhaps -> and the dimensions of the result.");
    MXNET_FIELD(optimize).set_default(0).describe("Accepted; the order of the products is chosen by their sizes in any case.");
  }
};

struct EinsumBackwardParam : public Parameter<EinsumBackwardParam> {
  int num_args;
  std::string subscripts;
  int which;
  MXNET_DECLARE_PARAM(EinsumBackwardParam) {
    MXNET_FIELD(num_args).set_lower_bound(2).describe("Number of arrays, with the gradient of the result.");
    MXNET_FIELD(subscripts).set_default("").describe("Those of the sum.");
    MXNET_FIELD(which).set_default(0).describe("The array whose gradient is wanted.");
  }
};
MXNET_REGISTER_PARAM(EinsumParam);
MXNET_REGISTER_PARAM(EinsumBackwardParam);

// ---- the text

constexpr int kEllipsis = -1;
using Term = std::vector<int>;  // letters, and at most one kEllipsis

struct Subscripts {
  std::vector<Term> in;
  Term out;
};

std::string Told(const Attrs& attrs, const std::string& text) {
  return "[" + attrs.op->name + "] subscripts is '" + text + "'; accepted: ";
}

Subscripts Parse(const Attrs& attrs, const std::string& text, int arrays) {
  Subscripts s;
  s.in.emplace_back();
  bool arrow = false;
  std::array<int, 256> seen{};
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    Term& term = arrow ? s.out : s.in.back();
    if (c == ' ') continue;
    if (std::isalpha(c)) {
      MXNET_CHECK_KIND(!arrow || std::find(term.begin(), term.end(), c) == term.end(), Value)
          << Told(attrs, text) << "each letter once behind ->";
      term.push_back(c);
      seen[c] += !arrow;
    } else if (text.compare(i, 3, "...") == 0) {
      MXNET_CHECK_KIND(std::find(term.begin(), term.end(), kEllipsis) == term.end(), Value)
          << Told(attrs, text) << "one ... for an array at most";
      term.push_back(kEllipsis);
      i += 2;
    } else if (text.compare(i, 2, "->") == 0 && !arrow) {
      arrow = true;
      i += 1;
    } else {
      MXNET_CHECK_KIND(c == ',' && !arrow, Value) << Told(attrs, text) << "letters, commas, ... and one ->";
      s.in.emplace_back();
    }
  }
  MXNET_CHECK_KIND(static_cast<int>(s.in.size()) == arrays, Value)
      << Told(attrs, text) << "the dimensions of as many arrays as there are, " << arrays;
  if (!arrow) {  // what stands once, in the order of the alphabet
    s.out.push_back(kEllipsis);
    for (int c = 0; c < 256; ++c)
      if (seen[static_cast<size_t>(c)] == 1) s.out.push_back(c);
  }
  for (int c : s.out)
    MXNET_CHECK_KIND(c == kEllipsis || seen[static_cast<size_t>(c)], Value)
        << Told(attrs, text) << "letters behind -> that stand before it, unlike " << static_cast<char>(c);
  return s;
}

// The same; of the text that this thread parsed last, as it was parsed then: inference and kernel
// of one call ask for one text.
const Subscripts& Parsed(const Attrs& attrs, const std::string& text, int arrays) {
  struct Last {
    std::string text;
    int arrays = 0;  // none
    Subscripts subscripts;
  };
  static thread_local Last last;
  if (last.arrays != arrays || last.text != text) {
    Subscripts parsed = Parse(attrs, text, arrays);
    last = {text, arrays, std::move(parsed)};
  }
  return last.subscripts;
}

// ---- the labels: letters by their codes, the dimensions of the ellipsis behind them

constexpr int kLetters = 256;

struct Indices {
  std::vector<std::vector<int>> in;
  std::vector<int> out;
  std::vector<int64_t> sizes;
  Shape result;
};

Indices Find(const Attrs& attrs, const std::string& text, const Shape* shapes, int arrays) {
  const Subscripts& s = Parsed(attrs, text, arrays);
  Indices x;
  x.in.resize(static_cast<size_t>(arrays));
  int repeated = 0;  // dimensions of the ellipsis
  for (int i = 0; i < arrays; ++i) {
    const int letters = static_cast<int>(s.in[i].size()), rest = shapes[i].ndim() - letters;
    const bool open = std::find(s.in[i].begin(), s.in[i].end(), kEllipsis) != s.in[i].end();
    MXNET_CHECK_KIND(open ? rest >= -1 : rest == 0, Value)
        << Told(attrs, text) << "a letter for each dimension of array " << i << ", which has shape " << shapes[i];
    if (open) repeated = std::max(repeated, rest + 1);
  }
  x.sizes.assign(static_cast<size_t>(kLetters + repeated), 1);
  auto label = [&](int i, int d, int l) {
    const int64_t size = shapes[i][d];
    int64_t& known = x.sizes[static_cast<size_t>(l)];
    if (size == 1) return l;
    MXNET_CHECK_KIND(known == 1 || known == size, Value)
        << Told(attrs, text) << "dimensions of equal size for equal letters; dimension " << d << " of array " << i << " has " << size
        << " elements where another one has " << known;
    known = size;
    return l;
  };
  for (int i = 0; i < arrays; ++i) {
    int d = 0;
    for (int c : s.in[i])
      if (c == kEllipsis)
        for (int n = shapes[i].ndim() - static_cast<int>(s.in[i].size()) + 1, k = 0; k < n; ++k, ++d)
          x.in[i].push_back(label(i, d, kLetters + repeated - n + k));
      else
        x.in[i].push_back(label(i, d, c)), ++d;
  }
  for (int c : s.out)
    if (c == kEllipsis)
      for (int k = 0; k < repeated; ++k) x.out.push_back(kLetters + k);
    else
      x.out.push_back(c);
  MXNET_CHECK_KIND(repeated == 0 || std::find(s.out.begin(), s.out.end(), kEllipsis) != s.out.end(), Value)
      << Told(attrs, text) << "... behind -> as well, for the dimensions that it stands for";
  x.result = Shape(static_cast<int>(x.out.size()), 0);
  for (size_t i = 0; i < x.out.size(); ++i) x.result[static_cast<int>(i)] = x.sizes[static_cast<size_t>(x.out[i])];
  return x;
}

// ---- forward

bool EinsumShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<EinsumParam>();
  Parsed(attrs, p.subscripts, p.num_args);
  for (const Shape& s : *in)
    if (!s.known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], Find(attrs, p.subscripts, in->data(), p.num_args).result);
  return true;
}

Indices IndicesOf(const Attrs& attrs, const std::string& text, Span<const TBlob> arrays) {
  ShapeVector shapes;
  for (const TBlob& b : arrays) shapes.push_back(b.shape);
  return Find(attrs, text, shapes.data(), arrays.size());
}

void Einsum(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const Indices x = IndicesOf(*args.attrs, args.param<EinsumParam>().subscripts, args.in);
  std::vector<Labelled> in;
  for (int i = 0; i < args.in.size(); ++i) in.push_back(Label(args.in[i], x.in[static_cast<size_t>(i)]));
  Contract(args, x.sizes, std::move(in), Label(args.out[0], x.out), args.out[0]);
}

double EinsumFlops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob>) {
  double n = 2;
  for (int64_t s : IndicesOf(attrs, attrs.get<EinsumParam>().subscripts, in).sizes) n *= static_cast<double>(s);
  return n;
}

// ---- backward: [ograd, arrays...] -> the gradient of one array, whose values are not read. The
// sum is linear in each array, and the gradient in ograd and in the other arrays.

NodeEntry GradientOf(const std::string& subscripts, int which, const std::vector<NodeEntry>& inputs) {
  return MakeOp("_backward_npi_einsum", inputs,
                {{"num_args", std::to_string(inputs.size())}, {"subscripts", subscripts}, {"which", std::to_string(which)}});
}

std::vector<NodeEntry> EinsumGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<EinsumParam>();
  std::vector<NodeEntry> inputs{ograds[0]}, out;
  inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
  for (int i = 0; i < p.num_args; ++i) out.push_back(GradientOf(p.subscripts, i, inputs));
  return out;
}

std::vector<NodeEntry> EinsumSecond(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<EinsumBackwardParam>();
  std::vector<NodeEntry> inputs = node->inputs, out(inputs.size());
  inputs[static_cast<size_t>(p.which) + 1] = ograds[0];
  out[0] = MakeOp("_npi_einsum", std::vector<NodeEntry>(inputs.begin() + 1, inputs.end()),
                  {{"num_args", std::to_string(p.num_args - 1)}, {"subscripts", p.subscripts}});
  for (int i = 0; i + 1 < p.num_args; ++i)
    if (i != p.which) out[static_cast<size_t>(i) + 1] = GradientOf(p.subscripts, i, inputs);
  return out;
}

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<EinsumBackwardParam>();
  MXNET_CHECK_KIND(p.which >= 0 && p.which < p.num_args - 1, Value)
      << "[" << attrs.op->name << "] which is " << p.which << "; accepted: 0 to " << p.num_args - 2;
  for (const Shape& s : *in)
    if (!s.known()) return false;
  AssignShape(attrs, "ograd", &(*in)[0], Find(attrs, p.subscripts, in->data() + 1, p.num_args - 1).result);
  AssignShape(attrs, "the gradient", &(*out)[0], (*in)[static_cast<size_t>(p.which) + 1]);
  return true;
}

void EinsumBackward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const auto& p = args.param<EinsumBackwardParam>();
  const Span<const TBlob> arrays(args.in.data() + 1, args.in.size() - 1);
  const Indices x = IndicesOf(*args.attrs, p.subscripts, arrays);
  std::vector<Labelled> in{Label(args.in[0], x.out)};
  for (int i = 0; i < arrays.size(); ++i)
    if (i != p.which) in.push_back(Label(arrays[i], x.in[static_cast<size_t>(i)]));
  Contract(args, x.sizes, std::move(in), Label(args.out[0], x.in[static_cast<size_t>(p.which)]), args.out[0]);
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_npi_einsum")
      .describe(
          "Einstein's sums: of the products of the arrays' elements over all letters that the result does not have.\n\n"
          "'ij,jk->ik' is the product of matrices, 'ii->i' the diagonal, 'ij->ji' the transpose, 'i,i' the sum of products. Without -> the "
          "result has the letters that stand once, in the order of the alphabet. ... stands for further dimensions, which are broadcast. "
          "Two arrays at a time are multiplied, those with the smallest product first, as matrices where anything is summed. Any dtype; "
          "all "
          "arrays have the same one. Integers wrap around; of bools the sum is \"or\".")
      .set_param<EinsumParam>()
      .set_variadic("data", [](const Attrs& a) { return a.get<EinsumParam>().num_args; })
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(EinsumShape)
      .set_flops(EinsumFlops)
      .set_expensive_to_recompute()
      .set_precision(Precision::kLow)
      .set_gradient(EinsumGradient)
      .set_kernel(Einsum);
  Op::Register("_backward_npi_einsum")
      .describe("Gradient of _npi_einsum in one of its arrays.")
      .set_param<EinsumBackwardParam>()
      .set_variadic("data", [](const Attrs& a) { return a.get<EinsumBackwardParam>().num_args; })
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(BackwardShape)
      .set_gradient(EinsumSecond)
      .set_kernel(EinsumBackward);
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
