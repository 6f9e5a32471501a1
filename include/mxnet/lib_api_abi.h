/*
 * What a library of users' operators, partitioners and passes (lib_api.h) and the runtime say to
 * each other: C types and functions alone, so that both may come from different compilers. Users
 * include lib_api.h.
 *
 * The library exports one function, mxnet_ext_library, which gives its table. All functions of the
 * table return 1 on success and 0 on failure; why, the library says through `error`. Nothing that
 * one side hands to the other outlives the call, but for what has a function that frees it.
 */
#ifndef MXNET_LIB_API_ABI_H_
#define MXNET_LIB_API_ABI_H_

#include <stddef.h>
#include <stdint.h>

/* Changes whenever this file does in a way that an older library cannot know. */
#define MX_LIBRARY_VERSION 12

#ifdef __cplusplus
extern "C" {
#endif

/* Named texts: attributes of a node, or options of a pass. */
typedef struct MXExtTexts {
  size_t count;
  const char* const* keys;
  const char* const* values;
} MXExtTexts;

/* An array. Dense ones have the storage type 0. */
typedef struct MXExtTensor {
  void* data;
  const int64_t* shape;
  int ndim;
  int dtype;
  uint64_t version;   /* changes whenever the contents may have */
  const char* device; /* "cpu", "gpu" */
  int device_id;
  int storage_type;
} MXExtTensor;

typedef struct MXExtNamedTensors {
  size_t count;
  const char* const* names;
  const MXExtTensor* tensors;
} MXExtNamedTensors;

/* What the runtime offers to a function that computes. */
typedef struct MXExtResource {
  void* self;
  void* (*alloc_cpu)(void* self, size_t bytes); /* until the function returns; null: there is none */
  void* (*alloc_gpu)(void* self, size_t bytes);
  void* stream;                 /* a cudaStream_t, on a GPU */
  uint64_t (*draw)(void* self); /* a fresh number that follows mx.random.seed */
} MXExtResource;

/* Where a function puts results: called as often as there are some. */
typedef void (*MXExtPutShape)(void* to, int of_output, size_t index, const uint32_t* dims, size_t ndim);
typedef void (*MXExtPutInt)(void* to, int value);
typedef void (*MXExtPutText)(void* to, const char* key, const char* value);
/* A new array of the model: an argument, or an auxiliary state. Gives its memory. */
typedef int (*MXExtPutTensor)(void* to, int is_aux, const char* name, const int64_t* dims, int ndim, const char* device, int device_id,
                              int dtype, MXExtTensor* made);

/* What an operator has. `device` of a function is "cpu" or "gpu". */
typedef struct MXExtOp {
  const char* name;
  int is_subgraph, infers_shape, infers_type, infers_storage, has_mutate_inputs;
  int (*has)(size_t op, const char* what, const char* device); /* "forward", "backward", "state" */
} MXExtOp;

typedef struct MXExtLibrary {
  int version;        /* MX_LIBRARY_VERSION of the library */
  size_t table_bytes; /* of this struct, as the library knows it */
  int (*initialize)(int mxnet_version);
  const char* (*error)(void); /* takes the messages of this thread; valid until its next call */

  size_t (*num_ops)(void);
  size_t (*num_partitioners)(void);
  size_t (*num_passes)(void);

  /* ---- operators, by number */
  void (*op)(size_t op, MXExtOp* out);
  int (*parse)(size_t op, const MXExtTexts* attrs, int* num_in, int* num_out);
  /* Shapes by input, then by output: `ndims` -1 where unknown. */
  int (*infer_shape)(size_t op, const MXExtTexts* attrs, size_t num_in, size_t num_out, const int* ndims, const int64_t* const* dims,
                     void* to, MXExtPutShape put);
  int (*infer_type)(size_t op, const MXExtTexts* attrs, int* in, size_t num_in, int* out, size_t num_out);
  int (*infer_storage)(size_t op, const MXExtTexts* attrs, int* in, size_t num_in, int* out, size_t num_out);
  int (*mutate_inputs)(size_t op, const MXExtTexts* attrs, void* to, MXExtPutInt put);
  int (*create_state)(size_t op, const MXExtTexts* attrs, const char* device, int device_id, size_t num_in, const int* ndims,
                      const int64_t* const* dims, const int* dtypes, void** state);
  void (*delete_state)(void* state);
  /* `state` null: the operator's function for the device. */
  int (*compute)(size_t op, void* state, int backward, const char* device, const MXExtTexts* attrs, const MXExtTensor* in, size_t num_in,
                 const MXExtTensor* out, size_t num_out, const MXExtResource* resource);

  /* ---- partitioners and their strategies, by number */
  const char* (*partitioner_name)(size_t partitioner);
  size_t (*num_strategies)(size_t partitioner);
  void (*strategy)(size_t partitioner, size_t strategy, const char** name, const char** op, int* has_selector);
  /* Puts one number for each node of the graph: -2 the node stays, -1 it may go into any subgraph,
   * else the subgraph that it belongs to. */
  int (*supported_ops)(size_t partitioner, size_t strategy, const char* graph, const MXExtTexts* options, const MXExtNamedTensors* args,
                       const MXExtNamedTensors* aux, void* to, MXExtPutInt put);
  int (*create_selector)(size_t partitioner, size_t strategy, const char* graph, const MXExtTexts* options, const MXExtNamedTensors* args,
                         const MXExtNamedTensors* aux, void** selector);
  /* `direction` 0: start with this node; 1: from it to its input `other`; 2: to its user `other`.
   * */
  int (*select)(void* selector, int direction, int node, int other, int* selected);
  int (*filter)(void* selector, const int* candidates, size_t count, void* to, MXExtPutInt put);
  int (*reset_selector)(void* selector);
  void (*delete_selector)(void* selector);
  int (*review)(size_t partitioner, size_t strategy, const char* subgraph, int number, const MXExtTexts* options,
                const MXExtNamedTensors* args, const MXExtNamedTensors* aux, int* accept, void* to, MXExtPutText put);

  /* ---- passes, by number */
  const char* (*pass_name)(size_t pass);
  /* Puts the new graph under the key "graph". */
  int (*run_pass)(size_t pass, const char* graph, const MXExtTexts* options, const MXExtNamedTensors* args, const MXExtNamedTensors* aux,
                  void* to, MXExtPutText put, MXExtPutTensor make);
} MXExtLibrary;

/* The function that a library exports, "mxnet_ext_library". */
typedef const MXExtLibrary* (*MXExtLibraryFunction)(void);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_LIB_API_ABI_H_ */
