/* Graphs whose parts run on several devices: AttrScope(ctx_group=...) names the parts, group2ctx
 * says where they are. */
#ifndef MXNET_EXECUTOR_PLAN_PLACEMENT_H_
#define MXNET_EXECUTOR_PLAN_PLACEMENT_H_

#include <map>
#include <string>
#include <unordered_map>

#include "mxnet/graph.h"

namespace mxnet {

using Groups = std::map<std::string, Context>;
using Places = std::unordered_map<const Node*, Context>;

/* Does a node belong to a group that is not on `ctx`? */
bool HasPlaces(const Symbol& symbol, Context ctx, const Groups& groups);
/*
 * Where each node is: its group's context; without a group a variable is on `ctx`, and an operator
 * where its first input comes from that an operator makes or a group holds, else on `ctx`. What
 * `variables` says of a variable goes before.
 */
Places PlaceNodes(const Symbol& symbol, Context ctx, const Groups& groups, const Places& variables = {});
/* The graph with a copy (`_to_context`) wherever a value goes to another device; one for all that
 * read it there. Variables are shared. Throws Error(kValue) for auxiliary states elsewhere. */
Symbol WithCopies(const Symbol& symbol, const Places& places);

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLACEMENT_H_
