/*
 * Memory that ends where a page begins that nobody may touch, for a library without a sanitizer. It
 * is preloaded: ./dev fuzz --guard, ./dev test --guard. With MXNET_CPU_MEM_POOL_TYPE=Unpooled each
 * array and each workspace below 2 MiB is such a block. So are those that oneDNN or kernels for
 * AVX-512 work on, which AddressSanitizer does not see. One element too far is a SIGSEGV, and so is
 * any use of a block that was freed. Each new block is filled with a byte of its own: two calls
 * that read what was not written differ.
 *
 *   GUARD_FRONT=1  the page without access lies in front, for what runs below the first element
 *   GUARD_NEW=1    what C++ makes with new (the vectors of kernels) as well, behind the first array
 *   GUARD_LOG=1    at exit tell how many blocks there were
 *
 * Blocks get an address once: after 2^20 MiB of them there is ordinary memory again, as there is
 * beyond kMostLive blocks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t kPage = 4096, kRegion = (size_t)1 << 40;
static char* g_begin;       /* of the region; NULL: not set up */
static uint32_t* g_pages;   /* of the block that begins in this page of the region, else 0 */
static uint32_t* g_offsets; /* where in its first page a block begins; kOfNew: operator new made it */
static const uint32_t kOfNew = 1u << 31;
static atomic_size_t g_next, g_count;
/* Live blocks: a process has room for 65530 mappings, a block takes two, and what is ordinary needs
 * some. Those of operator new (g_made) leave room for arrays. */
static atomic_size_t g_live, g_made;
static const size_t kMostLive = 30000, kMostMade = 16000;
static int g_front, g_new, g_log;

static void Backtrace(int signal_number, siginfo_t* info, void* context) {
  void* frames[40];
  char line[100];
  (void)context;
  const int inside = (char*)info->si_addr >= g_begin && (char*)info->si_addr < g_begin + kRegion;
  const int length =
      snprintf(line, sizeof line, "guard: signal %d at %p%s\n", signal_number, info->si_addr, inside ? ", outside of a block" : "");
  if (write(2, line, (size_t)length) < 0) _exit(1);
  backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

__attribute__((constructor)) static void SetUp(void) {
  void* frames[2];
  const int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  char* begin = mmap(NULL, kRegion, PROT_NONE, reserved, -1, 0);
  void* pages = mmap(NULL, kRegion / kPage * sizeof(uint32_t), PROT_READ | PROT_WRITE, reserved, -1, 0);
  void* offsets = mmap(NULL, kRegion / kPage * sizeof(uint32_t), PROT_READ | PROT_WRITE, reserved, -1, 0);
  if (begin == MAP_FAILED || pages == MAP_FAILED || offsets == MAP_FAILED) {
    fputs("guard: no address space\n", stderr);
    _exit(3);
  }
  g_pages = pages, g_offsets = offsets;
  g_front = getenv("GUARD_FRONT") != NULL, g_new = getenv("GUARD_NEW") != NULL, g_log = getenv("GUARD_LOG") != NULL;
  backtrace(frames, 2); /* loads what it needs */
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = Backtrace;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  g_begin = begin;
}

__attribute__((destructor)) static void Tell(void) {
  if (g_log) fprintf(stderr, "guard: %zu blocks\n", (size_t)atomic_load(&g_count));
}

static int Ours(const void* p) { return g_begin != NULL && (const char*)p >= g_begin && (const char*)p < g_begin + kRegion; }

/* A block of exactly `bytes`; it is aligned as far as its size allows, at most to `alignment`. */
static void* Guarded(size_t alignment, size_t bytes) {
  if (g_begin == NULL || bytes > kRegion / 4 || atomic_load(&g_live) >= kMostLive) return NULL;
  const size_t pages = bytes == 0 ? 1 : (bytes + kPage - 1) / kPage;
  const size_t first = atomic_fetch_add(&g_next, pages + 1) + 1; /* with the page behind; the one in front is another's */
  if ((first + pages + 1) * kPage > kRegion) return NULL;
  char* at = g_begin + first * kPage;
  if (mprotect(at, pages * kPage, PROT_READ | PROT_WRITE) != 0) return NULL;
  const uint32_t number = (uint32_t)atomic_fetch_add(&g_count, 1);
  memset(at, (int)(number * 2654435761u >> 24), pages * kPage);
  const size_t natural = bytes == 0 ? alignment : bytes & -bytes;
  const size_t step = natural < alignment ? natural : alignment;
  const size_t offset = g_front ? 0 : (pages * kPage - bytes) / step * step;
  g_pages[first] = (uint32_t)pages;
  g_offsets[first] = (uint32_t)offset;
  atomic_fetch_add(&g_live, 1);
  return at + offset;
}

static size_t FirstPage(const void* p) {
  size_t page = (size_t)((const char*)p - g_begin) / kPage;
  while (page > 0 && g_pages[page] == 0) --page; /* an empty block lies at the end of its page or behind */
  return page;
}

/* operator new and new[]; what the standard library has throws where memory is short. */
static void* Made(size_t bytes, const char* name) {
  if (g_new && atomic_load(&g_count) > 0 && atomic_load(&g_made) < kMostMade) {
    void* p = Guarded(16, bytes);
    if (p != NULL) {
      g_offsets[FirstPage(p)] |= kOfNew;
      atomic_fetch_add(&g_made, 1);
      return p;
    }
  }
  void* (*next)(size_t) = (void* (*)(size_t))dlsym(RTLD_NEXT, name);
  return next(bytes);
}

void* _Znwm(size_t bytes) { return Made(bytes, "_Znwm"); }
void* _Znam(size_t bytes) { return Made(bytes, "_Znam"); }

int posix_memalign(void** out, size_t alignment, size_t bytes) {
  void* p = Guarded(alignment, bytes);
  if (p == NULL) p = memalign(alignment, bytes);
  if (p == NULL) return ENOMEM;
  *out = p;
  return 0;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  void* p = Guarded(alignment, bytes);
  return p != NULL ? p : memalign(alignment, bytes);
}

void free(void* p) {
  extern void __libc_free(void*);
  if (!Ours(p)) {
    __libc_free(p);
    return;
  }
  const size_t first = FirstPage(p);
  char* at = g_begin + first * kPage;
  if (g_pages[first] == 0 || at + (g_offsets[first] & ~kOfNew) != (char*)p) {
    static const char kText[] = "guard: freed twice, or not where the block begins\n";
    if (write(2, kText, sizeof kText - 1) < 0) _exit(1);
    abort();
  }
  const size_t pages = g_pages[first];
  if (g_offsets[first] & kOfNew) atomic_fetch_sub(&g_made, 1);
  g_pages[first] = 0;
  atomic_fetch_sub(&g_live, 1);
  mmap(at, pages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

size_t malloc_usable_size(void* p) {
  static size_t (*next)(void*);
  if (Ours(p)) {
    const size_t first = FirstPage(p);
    return g_pages[first] * kPage - (g_offsets[first] & ~kOfNew);
  }
  if (next == NULL) next = (size_t(*)(void*))dlsym(RTLD_NEXT, "malloc_usable_size");
  return next(p);
}

void* realloc(void* p, size_t bytes) {
  extern void* __libc_realloc(void*, size_t);
  if (!Ours(p)) return __libc_realloc(p, bytes);
  const size_t had = malloc_usable_size(p);
  void* fresh = malloc(bytes);
  if (fresh == NULL) return NULL;
  memcpy(fresh, p, had < bytes ? had : bytes);
  free(p);
  return fresh;
}
