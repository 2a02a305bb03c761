// A context: its streams, its error, and the calling thread's stack of current contexts.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loader/libcuda/api.h"
#include "loader/libcuda/stream.h"

namespace ptxrun::driver {

/// Contexts are never freed (a few hundred bytes each), so a plain pointer to one stays valid; see
/// isDestroyed().
class Context : public Object {
 public:
  static constexpr Kind kKind = Kind::context;

  /// Made and registered; the handle is the object's address.
  static Context *create(unsigned flags, bool isPrimary, CUdevice device);

  uint64_t id() const { return id_; }
  CUdevice device() const { return device_; }
  bool isPrimary() const { return isPrimary_; }
  /// Green contexts are what they are from their creation on: the multiprocessors they were given;
  /// 0 for other contexts.
  unsigned greenMultiprocessors() const { return greenMultiprocessors_; }
  bool isGreen() const { return greenMultiprocessors_ != 0; }
  static Context *createGreen(unsigned multiprocessors, CUdevice device);
  /// Whether events of the one can be recorded in the other: a green context is a part of the
  /// primary one.
  bool sharesEventsWith(const Context &) const;
  /// Who owns what is made while this context is current: a green context is a part of the primary
  /// one, all others are their own.
  Context &owner();
  /// False for a primary context that nobody retains.
  bool isActive() const { return isActive_.load(std::memory_order_acquire); }
  void setActive(bool isActive) { isActive_.store(isActive, std::memory_order_release); }
  std::atomic<unsigned> flags;
  std::atomic<int> cacheConfig{CU_FUNC_CACHE_PREFER_NONE};
  std::atomic<int> sharedConfig{CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE};
  std::array<std::atomic<size_t>, CU_LIMIT_MAX> limits;

  /// Contexts whose memory this one may use (cuCtxEnablePeerAccess); on a CPU it always could.
  /// False where that is so already, or not so.
  bool enablePeer(const Context &);
  bool disablePeer(const Context &);

  /// The first error of a kernel stays; every later call answers it until the context is gone.
  CUresult error() const { return error_.load(std::memory_order_acquire); }
  void fail(CUresult, const std::string &message);
  bool isDestroyed() const { return isDestroyed_.load(std::memory_order_acquire); }

  /// Streams. The handles 0, 1 and 2 are understood; null for a handle of no stream of this
  /// context.
  std::shared_ptr<Stream> stream(CUstream);
  std::shared_ptr<Stream> createStream(unsigned flags, int priority);
  void forgetStream(const std::shared_ptr<Stream> &);
  std::shared_ptr<Stream> legacyStream();
  std::shared_ptr<Stream> perThreadStream();
  /// The tickets that an operation about to enter `stream` waits for under the legacy default
  /// stream's rules.
  void addLegacyTickets(const Stream &stream, std::vector<Ticket> &);

  /// Waits for every stream.
  void synchronise();
  bool isIdle() const { return pending_.load(std::memory_order_acquire) == 0; }

  /// Waits for everything, leaves the registry, then answers CONTEXT_IS_DESTROYED to whoever still
  /// holds it. Everything it owns goes: memory, modules, streams, events, arrays.
  void destroy();
  /// Runs down and starts afresh: all that it owns and its error go, the handle stays valid
  /// (primary context).
  void reset();

  std::mutex &queueMutex() { return queueMutex_; }

 private:
  friend class Stream;
  Context(unsigned flags, bool isPrimary, CUdevice device);
  std::vector<std::shared_ptr<Stream>> allStreams();
  void releaseOwned();

  const uint64_t id_;
  const bool isPrimary_;
  const CUdevice device_;
  unsigned greenMultiprocessors_ = 0;
  std::atomic<CUresult> error_{CUDA_SUCCESS};
  std::atomic<bool> isDestroyed_{false};
  std::atomic<bool> isActive_;
  std::atomic<uint64_t> pending_{0}; // operations submitted and not done, all streams

  std::mutex queueMutex_;
  std::shared_ptr<Stream> legacy_;
  std::vector<std::shared_ptr<Stream>> streams_; // created and per-thread ones
  std::vector<const Context *> peers_;
};

/// The calling thread's current context, null if none.
Context *currentContext();
/// The stack's top is replaced (null: emptied by one); as cuCtxSetCurrent.
void setCurrentContext(Context *);
void pushContext(Context *);
/// The former top; null if the stack was empty.
Context *popContext();

/// Head of nearly every call: the driver is initialised, a context is current and has not failed.
CUresult enter(Context *&context);
/// The same, and the stream's handle is understood.
CUresult enter(CUstream handle, Context *&context, std::shared_ptr<Stream> &stream);

/// A device's primary context; made when first asked for.
Context &primaryContext(CUdevice);

} // namespace ptxrun::driver
