// From a symbol with known input shapes to a plan: gradient, passes, order, shapes, memory, blobs,
// bulks.
#include <algorithm>
#include <map>
#include <set>

#include "executor/monitor_names.h"
#include "executor/passes/core/passes.h"
#include "executor/plan/plan.h"
#include "graph/gradient.h"
#include "mxnet/env.h"
#include "operator/check.h"
#include "operator/graph_operators.h"
#include "operator/traits_graph.h"

namespace mxnet {
namespace {

using EntryKey = std::pair<const mxnet::Node*, uint32_t>;
EntryKey KeyOf(const NodeEntry& e) { return {e.node.get(), e.index}; }

class Compiler {
 public:
  /* trial: find out what plan->recompute gives. */
  Compiler(const PlanRequest& request, Plan* plan, bool trial = false)
      : r_(request), p_(*plan), trial_(trial), inputs_(request.symbol.ListInputs(Symbol::kAll)) {}

  void Run() {
    Prepare();
    MakeNodes();
    MakePhases();
    Summarize();
  }

 private:
  // Everything up to the arena.
  void Prepare() {
    MXNET_CHECK_KIND(r_.shapes.size() == inputs_.size() && r_.dtypes.size() == inputs_.size(), Value)
        << "[plan] got " << r_.shapes.size() << " input shapes; the symbol has " << inputs_.size() << " inputs";
    p_.ctx = r_.ctx;
    p_.is_train = r_.is_train;
    p_.num_inputs = static_cast<int>(inputs_.size());
    p_.num_outputs = static_cast<int>(r_.symbol.outputs.size());
    p_.grad_req = r_.grad_req;
    p_.grad_req.resize(inputs_.size(), OpReq::kNull);
    p_.per_call = r_.per_call;
    p_.per_call.resize(inputs_.size(), 0);
    for (int i = 0; i < p_.num_inputs; ++i) variable_slot_[inputs_[i].get()] = i;
    for (int i = 0; i < p_.num_inputs; ++i) types_[inputs_[i].get()] = {r_.shapes[i], r_.dtypes[i]};
    graph_.outputs = r_.symbol.outputs;
    for (OpReq req : p_.grad_req) p_.has_backward = p_.has_backward || req != OpReq::kNull;
    PassContext context(r_, p_.has_backward, &types_);
    context.quiet = trial_;
    if (forward_)
      graph_.outputs = *forward_;
    else
      RunPasses(&graph_, &context, true, &p_.passes);
    context.Forget();
    AddBackward();
    RunPasses(&graph_, &context, false, &p_.passes);
    for (const auto& pass : p_.passes) p_.stats.num_removed += std::max(0, pass.nodes_before - pass.nodes_after);
    p_.optimized.outputs = graph_.outputs;
    ExternalResults();
    Infer();
    order_ = ExecutionOrder(*g_, graph_.outputs.size(), graph_.sequence, r_.every_result, &num_forward_);
    MakeLoops();
    PlaceEntries();
  }

  // ---- graph
  void AddBackward() {
    std::vector<NodeEntry> xs;
    for (int i = 0; i < p_.num_inputs; ++i) {
      if (p_.grad_req[i] == OpReq::kNull) continue;
      grad_inputs_.push_back(i);
      xs.push_back({inputs_[i], 0, 0});
    }
    if (p_.has_backward) {
      std::vector<NodeEntry> heads;
      for (int i = 0; i < p_.num_outputs; ++i) {
        heads.push_back({MakeVariable("_head_grad" + std::to_string(i)), 0, 0});
        variable_slot_[heads.back().node.get()] = p_.head_slot(i);
        extra_variables_.push_back(heads.back().node);
      }
      if (!trial_) ChooseWhatToRecompute(xs, heads);
      AddGradient(xs, heads, p_.recompute.nodes);
    }
  }

  void AddGradient(const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& heads, const NodeSet& again) {
    const IndexedGraph forward(graph_.outputs);
    std::vector<int> dtypes(forward.num_entries(), kDTypeUnknown);
    for (uint32_t id : forward.input_nodes) {
      auto known = types_.find(forward.nodes[id].source);
      if (known != types_.end()) dtypes[forward.eid(id, 0)] = known->second.dtype;
    }
    InferTypes(forward, &dtypes, kDTypeUnknown);
    const auto dtype_of = [&](const NodeEntry& e) {
      auto id = forward.id.find(e.node.get());
      return id == forward.id.end() ? int{kDTypeUnknown} : dtypes[forward.eid(id->second, e.index)];
    };
    // Said here, before inference in both directions guesses: the gradient of an output is bound in
    // the output's dtype.
    for (size_t i = 0; i < heads.size(); ++i) types_[heads[i].node.get()].dtype = dtype_of(graph_.outputs[i]);
    GradientResult made = BuildGradient(
        graph_.outputs, xs, heads, [&](const mxnet::Node& n) { return again.count(&n) > 0; }, dtype_of);
    graph_.alike = std::move(made.alike);
    graph_.sequence = std::move(made.sequence);
    graph_.grads.clear();
    for (size_t k = 0; k < xs.size(); ++k)
      graph_.grads.push_back(made.grads[k] ? made.grads[k] : graph_ops::ZerosLike(xs[k], xs[k].node->name + kNoGrad));
  }

  void ChooseWhatToRecompute(const std::vector<NodeEntry>& xs, const std::vector<NodeEntry>& heads) {
    const bool wanted = RecomputeWanted(graph_.outputs, r_);
    bool nearly_free = false;
    DFSVisit(graph_.outputs, [&](const NodePtr& n) { nearly_free = nearly_free || NearlyFree(*n); });
    if (!wanted && !nearly_free) return;
    AddGradient(xs, heads, {});
    const auto info = InferGraph(graph_, types_);
    auto arena_bytes = [this](const NodeSet& again) {
      Plan plan;
      plan.recompute.nodes = again;
      Compiler compiler(r_, &plan, true);
      compiler.forward_ = &graph_.outputs;
      compiler.Prepare();
      return plan.memory.arena_bytes;
    };
    const RecomputeQuestion question{graph_, *info, r_.memory_budget, r_.least_memory, arena_bytes};
    p_.recompute = wanted ? ChooseRecomputed(question) : RecomputeNearlyFree(question);
  }

  /* `made` stands for `like` from now on. */
  NodeEntry InPlaceOf(const NodeEntry& like, NodeEntry made) {
    auto s = graph_.sequence.find(like.node.get());
    if (s != graph_.sequence.end()) graph_.sequence[made.node.get()] = s->second;
    graph_.alike.emplace_back(made, like);
    return made;
  }

  // Every result gets an entry of its own that an operator writes, so that it can be computed
  // straight into the caller's array.
  void ExternalResults() {
    std::map<EntryKey, int> users;
    std::vector<NodeEntry> heads = graph_.outputs;
    heads.insert(heads.end(), graph_.grads.begin(), graph_.grads.end());
    DFSVisit(heads, [&](const NodePtr& n) {
      for (const auto& e : n->inputs) ++users[KeyOf(e)];
    });
    for (const auto& e : graph_.grads) ++users[KeyOf(e)];
    std::set<EntryKey> taken;
    for (int i = 0; i < p_.num_outputs; ++i) {
      NodeEntry& e = graph_.outputs[i];
      if (e.node->is_variable() || taken.count(KeyOf(e))) e = InPlaceOf(e, graph_ops::CopyOf(e, "_output" + std::to_string(i)));
      taken.insert(KeyOf(e));
      result_slot_[KeyOf(e)] = p_.output_slot(i);
    }
    for (size_t k = 0; k < graph_.grads.size(); ++k) {
      NodeEntry& e = graph_.grads[k];
      const int input = grad_inputs_[k], slot = p_.grad_slot(input);
      const std::string name = inputs_[input]->name + "_grad";
      const bool own = !e.node->is_variable() && !taken.count(KeyOf(e));
      if (p_.grad_req[input] == OpReq::kAdd) {
        if (own && users[KeyOf(e)] == 1 && e.node->op()->supports_add) {
          add_directly_.insert(KeyOf(e));
        } else {
          NodePtr before = MakeVariable(name + "_before");
          variable_slot_[before.get()] = slot;
          extra_variables_.push_back(before);
          graph_.alike.emplace_back(NodeEntry{before, 0, 0}, NodeEntry{inputs_[input], 0, 0});
          e = InPlaceOf(e, graph_ops::AddGradient({before, 0, 0}, e, name));
        }
      } else if (!own) {
        e = InPlaceOf(e, graph_ops::CopyOf(e, name));
      }
      taken.insert(KeyOf(e));
      result_slot_[KeyOf(e)] = slot;
    }
  }

  // ---- shapes
  void Infer() {
    info_ = InferGraph(graph_, types_);
    g_ = &info_->g;
    shapes_ = info_->shapes;
    dtypes_ = info_->dtypes;
    p_.output_shapes.clear();
    p_.output_dtypes.clear();
    for (int i = 0; i < p_.num_outputs; ++i) {
      const uint32_t e = g_->eid(g_->outputs[i]);
      p_.output_shapes.push_back(shapes_[e]);
      p_.output_dtypes.push_back(dtypes_[e]);
    }
    for (size_t k = 0; k < graph_.grads.size(); ++k) {  // written into arrays that lie as the inputs do
      const int input = grad_inputs_[k];
      const NodeEntry& grad = graph_.grads[k];
      const uint32_t e = g_->eid(g_->id.at(grad.node.get()), grad.index);
      MXNET_CHECK_KIND(shapes_[e] == r_.shapes[input] && dtypes_[e] == r_.dtypes[input], Value)
          << "[plan] the gradient of " << inputs_[input]->name << " is " << shapes_[e] << ' ' << DTypeName(dtypes_[e]) << "; the array is "
          << r_.shapes[input] << ' ' << DTypeName(r_.dtypes[input]);
    }
  }

  // ---- memory
  // Colours of nodes by place in the order: the longest path through the graph is the first, the
  // longest of what is left the second, and so on; all that is left over gets the last of
  // MXNET_EXEC_NUM_TEMP. Paths of different colours share no memory, so they could run side by
  // side.
  std::vector<int> ColourNodes() const {
    const int n = static_cast<int>(order_.size()), colours = std::min(Env::Get().exec_num_temp, n + 1);  // no more paths than nodes
    std::vector<int> colour(n, std::max(colours - 1, 0));
    if (colours <= 1) return colour;
    std::unordered_map<uint32_t, int> at;
    for (int t = 0; t < n; ++t) at[order_[t]] = t;
    std::vector<char> taken(n, 0);
    for (int c = 0; c + 1 < colours; ++c) {
      std::vector<int> length(n, 0), before(n, -1);
      int end = -1;
      for (int t = 0; t < n; ++t) {
        if (taken[t]) continue;
        for (const auto& e : g_->nodes[order_[t]].inputs) {
          auto from = at.find(e.node);
          if (from != at.end() && !taken[from->second] && length[from->second] > length[t]) {
            length[t] = length[from->second];
            before[t] = from->second;
          }
        }
        ++length[t];
        if (end < 0 || length[t] > length[end]) end = t;
      }
      if (end < 0) break;
      for (; end >= 0; end = before[end]) {
        taken[end] = 1;
        colour[end] = c;
      }
    }
    return colour;
  }

  // Stretches of the order whose nodes belong to one run; constant nodes may stand among them, but
  // neither first nor last.
  void MakeLoops() {
    loop_of_.assign(order_.size(), -1);
    p_.loops.clear();
    const auto turn = [&](int t) { return graph_.micro_batches.find(g_->nodes[order_[t]].source); };
    for (int t = 0; t < num_forward_; ++t) {
      const auto first = turn(t);
      if (first == graph_.micro_batches.end()) continue;
      Plan::Loop loop;
      loop.begin = t;
      for (int i = t; i < num_forward_; ++i) {
        const auto it = turn(i);
        if (it != graph_.micro_batches.end() && it->second.run == first->second.run)
          loop.end = i + 1;
        else if (!IsConstantNode(*g_->nodes[order_[i]].source))
          break;
      }
      loop.micro_batches = static_cast<int>(shapes_[g_->eid(order_[t], 0)][0] / first->second.examples);
      std::fill(loop_of_.begin() + loop.begin, loop_of_.begin() + loop.end, static_cast<int>(p_.loops.size()));
      t = loop.end - 1;
      p_.loops.push_back(std::move(loop));
    }
  }

  // The loop whose micro_batches give a node other data, -1; constant nodes among its nodes run
  // with them but have none.
  int LoopAt(int t) const { return loop_of_[t] >= 0 && !IsConstantNode(*g_->nodes[order_[t]].source) ? loop_of_[t] : -1; }

  // Does a node in a loop read or write this tensor a part at a time?
  bool InParts(int t, int input) const {
    const auto& info = g_->nodes[order_[t]];
    return LoopAt(t) >= 0 && ReadsByExample(*info.source, input, shapes_[g_->eid(info.inputs[input])]);
  }

  void PlaceEntries() {
    const uint32_t n = g_->num_entries();
    slot_.assign(n, -1);
    block_.assign(n, -1);
    for (uint32_t id : g_->input_nodes) slot_[g_->eid(id, 0)] = variable_slot_.at(g_->nodes[id].source);
    for (const auto& e : g_->outputs) slot_[g_->eid(e)] = result_slot_.at({g_->nodes[e.node].source, e.index});
    std::vector<int> last_use(n, -1), made_in(n, -1);
    parts_.assign(n, 1);
    for (int t = 0; t < static_cast<int>(order_.size()); ++t) {
      if (LoopAt(t) < 0) continue;
      for (uint32_t e = g_->entry_ptr[order_[t]]; e < g_->entry_ptr[order_[t] + 1]; ++e) {
        if (!WritesByExample(shapes_[e])) continue;
        made_in[e] = LoopAt(t);
        if (slot_[e] < 0) parts_[e] = p_.loops[LoopAt(t)].micro_batches;  // until it turns out to be wanted elsewhere
      }
    }
    for (int t = 0; t < static_cast<int>(order_.size()); ++t) {
      const auto& info = g_->nodes[order_[t]];
      for (size_t i = 0; i < info.inputs.size(); ++i) {
        const uint32_t e = g_->eid(info.inputs[i]);
        const bool inside = LoopAt(t) >= 0 && made_in[e] == LoopAt(t);
        if (!inside) parts_[e] = 1;
        if (info.source->op()->ReadsOnlyShape(static_cast<int>(i))) continue;
        // What comes from before a loop is read in each of its micro_batches.
        last_use[e] = std::max(last_use[e], inside || LoopAt(t) < 0 ? t : p_.loops[LoopAt(t)].end - 1);
      }
    }
    inplace_.assign(n, false);
    constant_.assign(n, false);
    constant_offset_.assign(n, 0);
    const std::vector<int> colour = ColourNodes();
    const bool inplace_wanted = Env::Get().exec_enable_inplace && Env::Get().nnvm_exec_match_range > 0;
    for (int t = 0; t < static_cast<int>(order_.size()); ++t) {
      const uint32_t id = order_[t];
      const auto& info = g_->nodes[id];
      const Attrs& attrs = *info.source->attrs;
      const int nout = static_cast<int>(g_->entry_ptr[id + 1] - g_->entry_ptr[id]);
      std::vector<std::pair<int, int>> pairs;
      if (attrs.op->inplace) pairs = attrs.op->inplace(attrs);
      std::set<int> reused;
      bool constant = IsConstantNode(*info.source);  // not when a result leaves the plan, or is empty
      for (int o = 0; o < nout; ++o) constant = constant && slot_[g_->eid(id, o)] < 0 && BytesOf(g_->eid(id, o)) > 0;
      for (int o = 0; o < nout; ++o) {
        const uint32_t out = g_->eid(id, o);
        if (slot_[out] >= 0) {
          // _grad_add onto the caller's array: its first input is that array
          for (const auto& e : info.inputs) inplace_[out] = inplace_[out] || (slot_[g_->eid(e)] == slot_[out]);
          continue;
        }
        const size_t bytes = BytesOf(out);
        if (constant) {
          constant_[out] = true;
          constant_offset_[out] = p_.constant_bytes;
          p_.constant_bytes += (bytes + 63) / 64 * 64;
          continue;
        }
        if (inplace_wanted && bytes > 0) {
          for (const auto& pair : pairs) {
            if (pair.second != o || pair.first >= static_cast<int>(info.inputs.size()) || attrs.op->ReadsOnlyShape(pair.first)) continue;
            const uint32_t in = g_->eid(info.inputs[pair.first]);
            const int b = block_[in];
            if (b < 0 || p_.blocks[b].last != t || p_.blocks[b].colour != colour[t] || p_.blocks[b].bytes != bytes ||
                DTypeSize(dtypes_[in]) != DTypeSize(dtypes_[out]) || reused.count(b))
              continue;
            bool others = false;  // who read the block, too, and must not lose it
            for (size_t i = 0; i < info.inputs.size(); ++i)
              others = others || (block_[g_->eid(info.inputs[i])] == b && !attrs.op->ReadsOnlyShape(static_cast<int>(i)) &&
                                  std::find(pairs.begin(), pairs.end(), std::make_pair(static_cast<int>(i), o)) == pairs.end());
            if (others) continue;
            block_[out] = b;
            p_.blocks[b].last = std::max(t, last_use[out]);
            reused.insert(b);
            inplace_[out] = true;
            ++p_.stats.num_inplace;
            break;
          }
        }
        if (block_[out] >= 0) continue;
        block_[out] = static_cast<int>(p_.blocks.size());
        const bool leaves = LoopAt(t) >= 0 && parts_[out] == 1;  // a loop: written in each of its micro_batches
        p_.blocks.push_back(
            {bytes, leaves ? p_.loops[LoopAt(t)].begin : t, std::max(leaves ? p_.loops[LoopAt(t)].end - 1 : t, last_use[out]), colour[t]});
      }
    }
    p_.memory = PlanMemory(p_.blocks, Env::Get().nnvm_exec_match_range);
    uses_ = std::move(last_use);
  }

  // In the arena.
  size_t BytesOf(uint32_t e) const { return static_cast<size_t>(shapes_[e].Size()) * DTypeSize(dtypes_[e]) / parts_[e]; }

  // ---- what runs
  // loop: in which one it is used a part at a time; -1: as a whole.
  void AddBlob(uint32_t node, uint32_t index, int loop) {
    const uint32_t e = g_->eid(node, index);
    Plan::Blob b;
    b.shape.shape = shapes_[e];
    b.shape.dtype = dtypes_[e];
    b.shape.ctx = r_.ctx;
    b.slot = slot_[e];
    auto layout = graph_.layouts.find({g_->nodes[node].source, index});
    if (layout != graph_.layouts.end()) b.shape.layout = layout->second;
    const int at = static_cast<int>(p_.blobs.size());
    if (loop >= 0) {
      Plan::Loop& of = p_.loops[loop];
      b.shape.shape[0] /= of.micro_batches;
      of.data.push_back(at);
      if (parts_[e] == 1 && (b.slot >= 0 || constant_[e] || block_[e] >= 0)) of.moving.push_back(at), b.micro_batches = of.micro_batches;
    }
    if (b.slot >= 0) {
      p_.slot_blobs[b.slot].push_back(at);
    } else if (constant_[e]) {
      b.constant = true;
      b.offset = constant_offset_[e];
      p_.constant_blobs.push_back(at);
      p_.constant_readers[position_.at(node)].push_back(at);
    } else if (block_[e] < 0) {
      b.shape_only = true;
    } else {
      b.offset = p_.memory.offsets[block_[e]];
      p_.arena_blobs.push_back(at);
    }
    p_.blobs.push_back(std::move(b));
  }

  // Inference settles nodes of the gradient by what they are the gradient of: here every record is
  // asked once, whoever made the node.
  void Check(uint32_t id) const {
    const auto& info = g_->nodes[id];
    const uint32_t first = g_->entry_ptr[id], end = g_->entry_ptr[id + 1];
    ShapeVector in_shapes, out_shapes(shapes_.begin() + first, shapes_.begin() + end);
    std::vector<int> in_types, out_types(dtypes_.begin() + first, dtypes_.begin() + end);
    for (const auto& e : info.inputs) {
      in_shapes.push_back(shapes_[g_->eid(e)]);
      in_types.push_back(dtypes_[g_->eid(e)]);
    }
    try {
      CheckCall(*info.source->attrs, in_shapes, out_shapes, in_types, out_types);
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + info.source->name + ")");
    }
  }

  void MakeNodes() {
    p_.slot_blobs.resize(p_.num_slots());
    p_.head_used.assign(p_.num_outputs, 0);
    p_.constant_readers.resize(order_.size());
    for (size_t t = 0; t < order_.size(); ++t) position_[order_[t]] = static_cast<int>(t);
    for (int t = 0; t < static_cast<int>(order_.size()); ++t) {
      const uint32_t id = order_[t];
      const auto& info = g_->nodes[id];
      Check(id);
      Plan::Node node;
      node.attrs = info.source->attrs;
      node.name = info.source->name;
      node.constant = IsConstantNode(*info.source) && constant_[g_->eid(id, 0)];
      node.loop = loop_of_[t];
      node.kernel = node.attrs->op->KernelFor(r_.ctx.dev_type);
      MXNET_CHECK(node.kernel) << "[" << node.attrs->op->name << "] has no GPU kernel in this build (node " << node.name
                               << "); accepted: cpu contexts";
      node.in = static_cast<int>(p_.blobs.size());
      node.num_in = static_cast<int>(info.inputs.size());
      for (int i = 0; i < node.num_in; ++i) {
        const auto& e = info.inputs[i];
        AddBlob(e.node, e.index, InParts(t, i) ? LoopAt(t) : -1);
        const int slot = slot_[g_->eid(e)] - p_.head_slot(0);
        if (slot >= 0 && slot < p_.num_outputs && !node.attrs->op->ReadsOnlyShape(i)) p_.head_used[slot] = 1;
      }
      node.out = static_cast<int>(p_.blobs.size());
      node.num_out = static_cast<int>(g_->entry_ptr[id + 1] - g_->entry_ptr[id]);
      node.req = static_cast<int>(p_.reqs.size());
      for (int o = 0; o < node.num_out; ++o) {
        const uint32_t e = g_->eid(id, o);
        AddBlob(id, o, WritesByExample(shapes_[e]) ? LoopAt(t) : -1);
        OpReq req = inplace_[e] ? OpReq::kWriteInplace : OpReq::kWrite;
        if (add_directly_.count({info.source, static_cast<uint32_t>(o)})) req = OpReq::kAdd;
        const bool looks = t >= num_forward_ || node.attrs->op->trait<HonoursNullOutputs>();
        if (looks && slot_[e] < 0 && uses_[e] < 0) req = OpReq::kNull;
        p_.reqs.push_back(req);
      }
      p_.nodes.push_back(std::move(node));
    }
    std::vector<TBlob> views;  // for costs
    for (const auto& b : p_.blobs) views.push_back(b.shape);
    for (auto& n : p_.nodes) {
      double work = 0;
      for (int i = n.in; i < n.out + n.num_out; ++i) work += static_cast<double>(views[i].Size());
      n.cost = n.constant ? 100 : 100 + 0.125 * work;
      if (n.attrs->op->flops)
        n.cost += 0.05 * n.attrs->op->flops(*n.attrs, Span<const TBlob>(views.data() + n.in, n.num_in),
                                            Span<const TBlob>(views.data() + n.out, n.num_out));
      if (n.loop >= 0 && !n.constant) n.cost *= p_.loops[n.loop].micro_batches;
    }
  }

  Plan::Bulk MakeBulk(int begin, int end) const {
    Plan::Bulk bulk;
    bulk.begin = begin;
    bulk.end = end;
    std::set<int> reads, writes, kept;
    for (int t = begin; t < end; ++t) {
      const Plan::Node& n = p_.nodes[t];
      const auto read = [&](int slot) {
        reads.insert(slot);
        if (writes.count(slot) == 0) kept.insert(slot);
      };
      for (int i = 0; i < n.num_in; ++i)
        if (p_.blobs[n.in + i].slot >= 0) read(p_.blobs[n.in + i].slot);
      for (int o = 0; o < n.num_out; ++o)
        if (p_.reqs[n.req + o] == OpReq::kAdd && p_.blobs[n.out + o].slot >= 0) read(p_.blobs[n.out + o].slot);
      for (int m : n.attrs->op->MutateInputs(*n.attrs))
        if (m < n.num_in && p_.blobs[n.in + m].slot >= 0) writes.insert(p_.blobs[n.in + m].slot);
      for (int o = 0; o < n.num_out; ++o)
        if (p_.blobs[n.out + o].slot >= 0) writes.insert(p_.blobs[n.out + o].slot);
      bulk.random = bulk.random || n.attrs->op->uses_random;
    }
    for (int w : writes) reads.erase(w);
    bulk.read_slots.assign(reads.begin(), reads.end());
    bulk.write_slots.assign(writes.begin(), writes.end());
    for (int s : bulk.write_slots)
      if (kept.count(s)) bulk.kept_slots.push_back(s);
    return bulk;
  }

  void MakePhase(Plan::Phase* phase, int begin, int end, int wanted, bool all, int env_size) {
    phase->begin = begin;
    phase->end = end;
    const int size = std::max(std::min(wanted >= 0 ? wanted : all ? end - begin : env_size, end - begin), 1);
    for (int t = begin; t < end; t += size) phase->bulks.push_back(MakeBulk(t, std::min(end, t + size)));
    phase->whole = MakeBulk(begin, end);
    for (int t = begin; t < end; ++t) phase->cost += p_.nodes[t].cost;
  }

  void MakePhases() {
    const Env& env = Env::Get();
    const int total = static_cast<int>(p_.nodes.size());
    if (p_.is_train || p_.has_backward) {
      MakePhase(&p_.forward, 0, num_forward_, r_.forward_bulk, false, env.exec_bulk_exec_train ? env.exec_bulk_exec_max_node_train_fwd : 1);
    } else {
      MakePhase(&p_.forward, 0, num_forward_, r_.forward_bulk, env.exec_bulk_exec_inference, 1);
    }
    MakePhase(&p_.backward, num_forward_, total, r_.backward_bulk, false,
              env.exec_bulk_exec_train ? env.exec_bulk_exec_max_node_train_bwd : 1);
  }

  void Summarize() {
    p_.stats.arena_bytes = p_.memory.arena_bytes;
    p_.stats.unshared_bytes = 0;
    for (uint32_t e = 0; e < g_->num_entries(); ++e)
      if (block_[e] >= 0) p_.stats.unshared_bytes += BytesOf(e);
    p_.stats.lower_bound_bytes = p_.memory.lower_bound_bytes;
    p_.stats.num_nodes = static_cast<int>(p_.nodes.size());
    p_.stats.num_bulks = static_cast<int>(p_.forward.bulks.size() + p_.backward.bulks.size());
  }

  const PlanRequest& r_;
  Plan& p_;
  const bool trial_;
  const std::vector<NodeEntry>* forward_ = nullptr;  // of a trial: what the early passes gave
  std::vector<NodePtr> inputs_, extra_variables_;
  std::unordered_map<const mxnet::Node*, int> variable_slot_;
  std::vector<int> grad_inputs_;  // by gradient: which input
  PassGraph graph_;
  std::map<EntryKey, int> result_slot_;
  std::set<EntryKey> add_directly_;
  VariableTypes types_;
  std::unique_ptr<GraphInfo> info_;
  const IndexedGraph* g_ = nullptr;
  ShapeVector shapes_;
  std::vector<int> dtypes_;
  std::vector<uint32_t> order_;
  int num_forward_ = 0;
  std::vector<int> slot_, block_, uses_;  // by entry
  std::vector<int> loop_of_;              // by place in the order
  std::vector<int> parts_;                // by entry: the arena has room for one of so many
  std::vector<bool> inplace_, constant_;
  std::vector<size_t> constant_offset_;
  std::unordered_map<uint32_t, int> position_;  // node id -> place in the order
};

}  // namespace

std::shared_ptr<const Plan> Plan::Compile(const PlanRequest& request) {
  auto plan = std::make_shared<Plan>();
  Compiler(request, plan.get()).Run();
  return plan;
}

std::string Plan::DebugStr() const {
  std::ostringstream os;
  os << "Plan for " << ctx << (is_train ? ", training" : ", inference") << ": " << stats.num_nodes << " nodes in " << stats.num_bulks
     << " bulks\n";
  auto place = [&](int i) {
    const Blob& b = blobs[i];
    os << b.shape.shape << ':' << DTypeName(b.shape.dtype) << (b.shape.layout == Layout::kChannelsLast ? " channels-last" : "");
    if (b.shape_only)
      os << " nowhere";
    else if (b.constant)
      os << " constant@" << b.offset;
    else if (b.slot < 0)
      os << " @" << b.offset;
    else if (b.slot < num_inputs)
      os << " input" << b.slot;
    else if (b.slot < head_slot(0))
      os << " output" << b.slot - num_inputs;
    else if (b.slot < grad_slot(0))
      os << " head_grad" << b.slot - head_slot(0);
    else
      os << " grad" << b.slot - grad_slot(0);
  };
  for (size_t t = 0; t < nodes.size(); ++t) {
    const Node& n = nodes[t];
    if (static_cast<int>(t) == backward.begin && has_backward) os << "---- backward\n";
    os << t << ' ' << n.attrs->op->name << " \"" << n.name << "\" (";
    for (int i = 0; i < n.num_in; ++i) {
      os << (i ? ", " : "");
      place(n.in + i);
    }
    os << ") -> (";
    for (int o = 0; o < n.num_out; ++o) {
      os << (o ? ", " : "");
      place(n.out + o);
      const OpReq req = reqs[n.req + o];
      if (req == OpReq::kNull) os << " unused";
      if (req == OpReq::kWriteInplace) os << " in place";
      if (req == OpReq::kAdd) os << " added";
    }
    os << ")";
    if (n.loop >= 0 && !n.constant) os << " in " << loops[n.loop].micro_batches << " micro_batches";
    os << '\n';
  }
  os << "Arena " << stats.arena_bytes << " bytes; separate buffers " << stats.unshared_bytes << "; largest live set "
     << stats.lower_bound_bytes << "\n"
     << "Total " << (stats.arena_bytes >> 20) << " MB allocated\n";
  return os.str();
}

}  // namespace mxnet
