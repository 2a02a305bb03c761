#include "loader/libcuda/context.h"

#include <unistd.h>

#include <algorithm>

#include "loader/device/device.h"
#include "loader/libcuda/device_info.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/module.h"
#include "loader/libcuda/stream_capture.h"
#include "loader/libcuda/texture.h"

namespace ptxrun::driver {

namespace {

std::atomic<uint64_t> nextContextId{1};

/// What a thread keeps: its stack of contexts and its own streams. Reached through a pointer that
/// is null again when the thread's destructors have run, since programs call the driver even from
/// those.
struct ThreadState {
  std::vector<Context *> stack;
  std::vector<std::shared_ptr<Stream>> streams; // one per context that was asked for
};

thread_local ThreadState *threadState = nullptr;

struct ThreadStateOwner {
  bool isUsed = false;
  ~ThreadStateOwner() {
    // The main thread's end is the process's: static destructors still to come want their context.
    if (!threadState || gettid() == getpid())
      return;
    for (auto &stream : threadState->streams) {
      abandonCapture(*stream);
      stream->context().forgetStream(stream);
      stream->close();
    }
    delete threadState;
    threadState = nullptr;
  }
};
thread_local ThreadStateOwner threadStateOwner;

ThreadState &thisThread() {
  if (!threadState) {
    threadState = new ThreadState;
    threadStateOwner.isUsed = true; // makes the owner, whose destructor cleans up
  }
  return *threadState;
}

constexpr size_t kDefaultStackBytes = 1024;
constexpr size_t kDefaultPrintfBytes = 1u << 20;
constexpr size_t kDefaultHeapBytes = 8u << 20;

} // namespace

Context::Context(unsigned contextFlags, bool isPrimary, CUdevice device)
    : Object(kKind), flags(contextFlags), id_(nextContextId++), isPrimary_(isPrimary),
      device_(device), isActive_(!isPrimary) {
  for (auto &limit : limits)
    limit = 0;
  limits[CU_LIMIT_STACK_SIZE] = kDefaultStackBytes;
  limits[CU_LIMIT_PRINTF_FIFO_SIZE] = kDefaultPrintfBytes;
  limits[CU_LIMIT_MALLOC_HEAP_SIZE] = kDefaultHeapBytes;
  limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

Context *Context::create(unsigned flags, bool isPrimary, CUdevice device) {
  device::readyCompiler();
  std::unique_ptr<Context> context(
      new Context(flags, isPrimary, device)); // until nothing fails any more
  context->legacy_ = std::make_shared<Stream>(*context, Stream::Role::legacy, 0, 0);
  static std::mutex mutex;
  static auto *all = new std::vector<Context *>; // keeps them in sight of leak checkers
  std::lock_guard lock(mutex);
  all->push_back(context.get());
  try { // the registry's pointer does not own: a context outlives every handle
    Registry::instance().add(std::shared_ptr<Object>(context.get(), [](Object *) {}));
  } catch (...) {
    all->pop_back();
    throw;
  }
  return context.release();
}

Context *Context::createGreen(unsigned multiprocessors, CUdevice device) {
  Context *context = create(0, false, device);
  context->greenMultiprocessors_ = multiprocessors;
  return context;
}

Context &Context::owner() { return isGreen() ? primaryContext(device_) : *this; }

bool Context::sharesEventsWith(const Context &other) const {
  const auto isOfPrimary = [](const Context &c) { return c.isPrimary() || c.isGreen(); };
  return this == &other || (device_ == other.device_ && isOfPrimary(*this) && isOfPrimary(other));
}

bool Context::enablePeer(const Context &peer) {
  std::lock_guard lock(queueMutex_);
  if (std::ranges::find(peers_, &peer) != peers_.end())
    return false;
  peers_.push_back(&peer);
  return true;
}

bool Context::disablePeer(const Context &peer) {
  std::lock_guard lock(queueMutex_);
  return std::erase(peers_, &peer) != 0;
}

void Context::fail(CUresult result, const std::string &message) {
  CUresult expected = CUDA_SUCCESS;
  if (!error_.compare_exchange_strong(expected, result))
    return;
  if (!message.empty())
    report("%s", message.c_str());
}

std::shared_ptr<Stream> Context::legacyStream() {
  std::lock_guard lock(queueMutex_);
  return legacy_;
}

std::shared_ptr<Stream> Context::perThreadStream() {
  auto &streams = thisThread().streams;
  for (auto &stream : streams)
    if (&stream->context() == this)
      return stream;
  auto stream = std::make_shared<Stream>(*this, Stream::Role::perThread, 0, 0);
  {
    std::lock_guard lock(queueMutex_);
    streams_.push_back(stream);
  }
  streams.push_back(stream);
  return stream;
}

std::shared_ptr<Stream> Context::stream(CUstream handle) {
  if (handle == CU_STREAM_PER_THREAD || (!handle && PerThreadDefaultStream::isActive()))
    return perThreadStream();
  if (!handle || handle == CU_STREAM_LEGACY)
    return legacyStream();
  return resolve<Stream>(handle);
}

std::shared_ptr<Stream> Context::createStream(unsigned streamFlags, int priority) {
  auto stream = std::make_shared<Stream>(*this, Stream::Role::created, streamFlags, priority);
  std::lock_guard lock(queueMutex_);
  streams_.push_back(stream);
  return stream;
}

void Context::forgetStream(const std::shared_ptr<Stream> &stream) {
  std::lock_guard lock(queueMutex_);
  // A stream that is not idle stays listed, so that synchronising the context still waits for it.
  if (stream->isIdle())
    std::erase(streams_, stream);
}

void Context::addLegacyTickets(const Stream &stream, std::vector<Ticket> &after) {
  if (pending_.load(std::memory_order_relaxed) == 0)
    return;
  if (stream.role() == Stream::Role::legacy) {
    for (const auto &other : streams_)
      if (other->isBlocking() && !other->isIdle())
        after.push_back(other->lastTicket());
  } else if (stream.isBlocking() && !legacy_->isIdle()) {
    after.push_back(legacy_->lastTicket());
  }
}

std::vector<std::shared_ptr<Stream>> Context::allStreams() {
  std::lock_guard lock(queueMutex_);
  std::erase_if(streams_, [](const auto &stream) { return stream->isClosed_ && stream->isIdle(); });
  std::vector<std::shared_ptr<Stream>> all = streams_;
  all.push_back(legacy_);
  return all;
}

void Context::synchronise() {
  if (isIdle())
    return;
  // What others launch meanwhile is not waited for.
  std::vector<Ticket> submitted;
  for (const auto &stream : allStreams())
    submitted.push_back(stream->lastTicket());
  for (const Ticket &ticket : submitted)
    ticket.stream->drive(ticket.sequence);
}

void Context::releaseOwned() {
  for (const auto &object : Registry::instance().removeAllOf(*this))
    if (object->kind() == Kind::module)
      std::static_pointer_cast<LoadedModule>(object)->unload();
  releaseImagesOf(*this);
  releaseMemoryOf(*this);
}

void Context::destroy() {
  for (const auto &stream : allStreams())
    abandonCapture(*stream);
  synchronise();
  isDestroyed_ = true;
  releaseOwned();
  for (const auto &stream : allStreams()) {
    withdraw<Stream>(handleOf<CUstream>(stream.get()));
    stream->close();
  }
  {
    std::lock_guard lock(queueMutex_);
    streams_.clear();
  }
  Registry::instance().remove(static_cast<Object *>(this), kKind);
}

void Context::reset() {
  for (const auto &stream : allStreams())
    abandonCapture(*stream);
  synchronise();
  for (const auto &stream : allStreams())
    if (stream->role() == Stream::Role::created) {
      withdraw<Stream>(handleOf<CUstream>(stream.get()));
      stream->close();
    }
  releaseOwned();
  {
    std::lock_guard lock(queueMutex_);
    peers_.clear();
  }
  error_ = CUDA_SUCCESS;
}

Context *currentContext() {
  return threadState && !threadState->stack.empty() ? threadState->stack.back() : nullptr;
}

void setCurrentContext(Context *context) {
  auto &stack = thisThread().stack;
  if (!stack.empty())
    stack.pop_back();
  if (context)
    stack.push_back(context);
}

void pushContext(Context *context) { thisThread().stack.push_back(context); }

Context *popContext() {
  auto &stack = thisThread().stack;
  if (stack.empty())
    return nullptr;
  Context *top = stack.back();
  stack.pop_back();
  return top;
}

CUresult enter(Context *&context) {
  PTXRUN_TRY(checkInitialised());
  if (InsideCallback::isActive())
    return CUDA_ERROR_NOT_PERMITTED;
  context = currentContext();
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context->isDestroyed() || !context->isActive())
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context->error();
}

CUresult enter(CUstream handle, Context *&context, std::shared_ptr<Stream> &stream) {
  PTXRUN_TRY(enter(context));
  stream = context->stream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  context = &stream->context();
  return context->error();
}

Context &primaryContext(CUdevice device) {
  static std::mutex mutex;
  static std::array<std::atomic<Context *>, machine::kMostDevices> contexts;
  auto &context = contexts[static_cast<size_t>(device)];
  if (Context *made = context.load(std::memory_order_acquire))
    return *made;
  std::lock_guard lock(mutex);
  if (!context)
    context.store(Context::create(0, true, device), std::memory_order_release);
  return *context;
}

} // namespace ptxrun::driver
