/*
 * Type-stable memory for variables and operations: a block, once made, stays a constructed T for
 * the life of the process and is handed out again. Each thread keeps up to two magazines of
 * kMagazine free blocks, so that a block freed by a worker returns to the pushing thread at the
 * price of one lock per kMagazine blocks.
 *
 * T has a member `T* pool_next`, which belongs to the pool while the block is free.
 */
#ifndef MXNET_ENGINE_BLOCK_POOL_H_
#define MXNET_ENGINE_BLOCK_POOL_H_

#include <memory>
#include <mutex>
#include <vector>

namespace mxnet {
namespace engine {

template <typename T>
class BlockPool {
 public:
  static T* Alloc() {
    Cache* c = Local();
    if (__builtin_expect(c == nullptr, 0)) return AllocShared();
    if (c->head == nullptr) Refill(c);
    T* block = c->head;
    c->head = block->pool_next;
    --c->count;
    return block;
  }

  static void Free(T* block) {
    Cache* c = Local();
    if (__builtin_expect(c == nullptr, 0)) return FreeShared(block);
    if (c->count >= kMagazine) Spill(c);
    block->pool_next = c->head;
    c->head = block;
    ++c->count;
  }

  /* For fork handlers. ForEach also visits free blocks. */
  static void Lock() { shared().mu.lock(); }
  static void Unlock() { shared().mu.unlock(); }
  template <typename F>
  static void ForEachLocked(F f) {
    for (auto& slab : shared().slabs) {
      for (int i = 0; i < kMagazine; ++i) f(&slab[i]);
    }
  }

 private:
  static constexpr int kMagazine = 64;
  struct Cache {
    T* head = nullptr;   // INVARIANT: `count` blocks
    T* spare = nullptr;  // null or exactly kMagazine blocks
    int count = 0;
    ~Cache() {
      State() = kGone;
      std::lock_guard<std::mutex> hold(shared().mu);
      while (head != nullptr) {
        T* next = head->pool_next;
        PutLocked(head);
        head = next;
      }
      if (spare != nullptr) shared().full.push_back(spare);
    }
  };
  struct Shared {
    std::mutex mu;
    std::vector<T*> full;  // chains of kMagazine blocks
    T* loose = nullptr;    // chain of loose_count < kMagazine blocks
    int loose_count = 0;
    std::vector<std::unique_ptr<T[]>> slabs;
  };
  enum Phase : char { kFresh, kAlive, kGone };

  // Leaked: variables may be released by destructors that run at process exit.
  static Shared& shared() {
    static Shared* s = new Shared;
    return *s;
  }
  static Phase& State() {
    static thread_local Phase phase = kFresh;
    return phase;
  }
  /* Null once this thread's cache has been destroyed (thread exit). */
  static Cache* Local() {
    Phase& phase = State();
    if (__builtin_expect(phase == kGone, 0)) return nullptr;
    static thread_local Cache cache;
    phase = kAlive;
    return &cache;
  }

  static void Refill(Cache* c) {
    if (c->spare != nullptr) {
      c->head = c->spare;
      c->spare = nullptr;
    } else {
      std::lock_guard<std::mutex> hold(shared().mu);
      if (shared().full.empty()) GrowLocked();
      c->head = shared().full.back();
      shared().full.pop_back();
    }
    c->count = kMagazine;
  }
  static void Spill(Cache* c) {
    if (c->spare != nullptr) {
      std::lock_guard<std::mutex> hold(shared().mu);
      shared().full.push_back(c->spare);
    }
    c->spare = c->head;
    c->head = nullptr;
    c->count = 0;
  }
  static void GrowLocked() {
    std::unique_ptr<T[]> slab(new T[kMagazine]);
    for (int i = 0; i + 1 < kMagazine; ++i) slab[i].pool_next = &slab[i + 1];
    slab[kMagazine - 1].pool_next = nullptr;
    T* first = slab.get();
    shared().slabs.push_back(std::move(slab));
    shared().full.push_back(first);
  }
  static void PutLocked(T* block) {
    block->pool_next = shared().loose;
    shared().loose = block;
    if (++shared().loose_count == kMagazine) {
      shared().full.push_back(block);
      shared().loose = nullptr;
      shared().loose_count = 0;
    }
  }
  static T* AllocShared() {
    std::lock_guard<std::mutex> hold(shared().mu);
    if (shared().loose == nullptr) {
      if (shared().full.empty()) GrowLocked();
      shared().loose = shared().full.back();
      shared().loose_count = kMagazine;
      shared().full.pop_back();
    }
    T* block = shared().loose;
    shared().loose = block->pool_next;
    --shared().loose_count;
    return block;
  }
  static void FreeShared(T* block) {
    std::lock_guard<std::mutex> hold(shared().mu);
    PutLocked(block);
  }
};

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_BLOCK_POOL_H_
