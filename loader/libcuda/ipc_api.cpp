// Between processes of one host: memory and events. A handle names a file of the process that made
// it, which must still run when another one opens the handle.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "loader/device/memory.h"
#include "loader/libcuda/api.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/event.h"
#include "loader/libcuda/ipc.h"
#include "loader/libcuda/memory.h"
#include "loader/libcuda/stream_capture.h"

namespace ptxrun::driver {

namespace {

constexpr uint64_t kPage = 4096;

/// What the 64 bytes of a handle hold.
struct HandleContent {
  char mark[8];
  int32_t process, file;
  uint64_t offset, bytes; ///< of the allocation in the file
  uint64_t base;          ///< where the maker sees it
};
static_assert(sizeof(HandleContent) <= CU_IPC_HANDLE_SIZE);
constexpr char kMemoryMark[8] = "ptxrunM", kEventMark[8] = "ptxrunE";

template <class Handle> void writeHandle(Handle &handle, const HandleContent &content) {
  memset(&handle, 0, sizeof handle);
  memcpy(&handle, &content, sizeof content);
}
template <class Handle>
bool readHandle(const Handle &handle, const char (&mark)[8], HandleContent &content) {
  memcpy(&content, &handle, sizeof content);
  return memcmp(content.mark, mark, sizeof mark) == 0;
}

/// Pages of this process that became a file, by their first address; allocations on them. And
/// what other processes' handles were mapped to. Never destroyed.
struct Shared {
  struct Pages {
    uint64_t bytes;
    OwnedFile file;
  };
  struct Opened {
    HandleContent content;
    void *mapping;
    uint64_t mappingBytes;
    unsigned count;
  };
  std::mutex mutex;
  std::map<uint64_t, Pages> pages;
  std::map<CUdeviceptr, Opened> opened; ///< by the address that the program got

  static Shared &instance() {
    static auto *shared = new Shared;
    return *shared;
  }
  void unmap(std::map<CUdeviceptr, Opened>::iterator one) {
    forgetMapped(reinterpret_cast<void *>(one->first));
    munmap(one->second.mapping, one->second.mappingBytes);
    opened.erase(one);
  }
  /// The pages that hold the whole range; null where none do.
  std::pair<const uint64_t, Pages> *holding(uint64_t first, uint64_t end) {
    auto next = pages.upper_bound(first);
    if (next == pages.begin())
      return nullptr;
    --next;
    return end <= next->first + next->second.bytes ? &*next : nullptr;
  }
  bool areApart(uint64_t first, uint64_t end) {
    const auto next = pages.lower_bound(first);
    if (next != pages.end() && next->first < end)
      return false;
    return next == pages.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= first;
  }
};

/// Puts a file with the same contents in the place of the pages. Called while nothing uses them.
CUresult makeShared(Shared &shared, uint64_t first, uint64_t end) {
  OwnedFile file = OwnedFile::make(end - first);
  if (!file.isOpen())
    return CUDA_ERROR_OUT_OF_MEMORY;
  auto *pages = reinterpret_cast<const char *>(first);
  for (uint64_t done = 0; done < end - first;) {
    const ssize_t written =
        pwrite(file.number(), pages + done, end - first - done, static_cast<off_t>(done));
    if (written <= 0)
      return CUDA_ERROR_OUT_OF_MEMORY;
    done += static_cast<uint64_t>(written);
  }
  if (!mapShared(file, reinterpret_cast<void *>(first), end - first, 0))
    return CUDA_ERROR_OUT_OF_MEMORY;
  shared.pages.emplace(first, Shared::Pages{end - first, std::move(file)});
  return CUDA_SUCCESS;
}

class SharedWaitOperation final : public Operation {
 public:
  SharedWaitOperation(std::shared_ptr<SharedEventState> state, uint64_t record)
      : state_(std::move(state)), record_(record) {}
  CUresult run(Context &) override {
    state_->wait(record_);
    return CUDA_SUCCESS;
  }
  bool isLarge() const override { return true; }

 private:
  std::shared_ptr<SharedEventState> state_;
  uint64_t record_;
};

} // namespace

void forgetExported(CUdeviceptr address) {
  Shared &shared = Shared::instance();
  std::lock_guard lock(shared.mutex);
  // Pages that small allocations have in common stay shared for those that are left.
  shared.pages.erase(address / kPage * kPage);
}

std::shared_ptr<SharedEventState> SharedEventState::make() {
  std::shared_ptr<SharedEventState> state(new SharedEventState(OwnedFile::make(kPage)));
  return state->map() ? state : nullptr;
}

std::shared_ptr<SharedEventState> SharedEventState::open(pid_t process, int number) {
  std::shared_ptr<SharedEventState> state(
      new SharedEventState(OwnedFile::ofProcess(process, number)));
  return state->map() ? state : nullptr;
}

bool SharedEventState::map() {
  if (file_.isOpen() && file_.bytes() >= sizeof(Words))
    words_ = static_cast<Words *>(mapShared(file_, nullptr, kPage, 0));
  return words_ != nullptr;
}

SharedEventState::~SharedEventState() {
  if (words_)
    munmap(words_, kPage);
}

void SharedEventState::end(uint64_t record) {
  uint64_t now = words_->ended;
  while (now < record && !words_->ended.compare_exchange_weak(now, record)) {
  }
}

void SharedEventState::wait(uint64_t record) const {
  for (unsigned round = 0; !isDone(record) && !shutdownFlag(); ++round)
    if (round < 100)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
}

std::shared_ptr<Operation> makeSharedWait(std::shared_ptr<SharedEventState> state,
                                          uint64_t record) {
  return std::make_shared<SharedWaitOperation>(std::move(state), record);
}

} // namespace ptxrun::driver

using namespace ptxrun::driver;

PTXRUN_API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(checkUnsafeCall());
  const auto record = findMemory(reinterpret_cast<const void *>(address));
  if (!handle || !record || record->use != MemoryUse::device)
    return CUDA_ERROR_INVALID_VALUE;
  const auto base = reinterpret_cast<uint64_t>(record->base);
  const uint64_t first = base / kPage * kPage;
  const uint64_t end = (base + record->bytes + kPage - 1) / kPage * kPage;
  context->synchronise();
  Shared &shared = Shared::instance();
  std::lock_guard lock(shared.mutex);
  if (!shared.holding(first, end)) {
    if (!shared.areApart(first, end))
      return notSupported("sharing an allocation that lies partly on pages shared already");
    PTXRUN_TRY(makeShared(shared, first, end));
  }
  const auto &[start, pages] = *shared.holding(first, end);
  HandleContent content = {};
  memcpy(content.mark, kMemoryMark, sizeof kMemoryMark);
  content.process = getpid();
  content.file = pages.file.number();
  content.offset = base - start;
  content.bytes = record->bytes;
  content.base = base;
  writeHandle(*handle, content);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle,
                                          unsigned flags) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(checkUnsafeCall());
  HandleContent content;
  if (!address || flags > CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
    return CUDA_ERROR_INVALID_VALUE;
  if (!readHandle(handle, kMemoryMark, content))
    return CUDA_ERROR_INVALID_HANDLE;
  if (content.process == getpid())
    return CUDA_ERROR_INVALID_CONTEXT; // CUDA does not open a process's own handles
  Shared &shared = Shared::instance();
  std::lock_guard lock(shared.mutex);
  for (auto &[known, opened] : shared.opened)
    if (memcmp(&opened.content, &content, sizeof content) == 0) {
      ++opened.count;
      *address = known;
      return CUDA_SUCCESS;
    }
  const OwnedFile file = OwnedFile::ofProcess(content.process, content.file);
  const uint64_t first = content.offset / kPage * kPage;
  const uint64_t bytes = content.offset + content.bytes - first;
  if (!file.isOpen() || file.bytes() < content.offset + content.bytes)
    return CUDA_ERROR_INVALID_HANDLE;
  void *mapping = mapShared(file, nullptr, bytes, first);
  if (!mapping)
    return CUDA_ERROR_MAP_FAILED;
  auto *base = static_cast<char *>(mapping) + (content.offset - first);
  noteMapped(base, content.bytes, {MemoryUse::mapped, 0, context});
  *address = reinterpret_cast<CUdeviceptr>(base);
  shared.opened[*address] = {content, mapping, bytes, 1};
  return CUDA_SUCCESS;
}
PTXRUN_API CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle,
                                       unsigned flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}

PTXRUN_API CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  PTXRUN_TRY(checkUnsafeCall());
  context->synchronise();
  Shared &shared = Shared::instance();
  std::lock_guard lock(shared.mutex);
  const auto found = shared.opened.find(address);
  if (found == shared.opened.end())
    return CUDA_ERROR_INVALID_VALUE;
  if (--found->second.count == 0)
    shared.unmap(found);
  return CUDA_SUCCESS;
}

void ptxrun::driver::closeImported(CUdeviceptr address) {
  Shared &shared = Shared::instance();
  std::lock_guard lock(shared.mutex);
  if (const auto found = shared.opened.find(address); found != shared.opened.end())
    shared.unmap(found);
}

PTXRUN_API CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent eventHandle) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  const auto event = resolve<Event>(eventHandle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!handle || !(event->flags & CU_EVENT_INTERPROCESS) || !event->shared)
    return CUDA_ERROR_INVALID_VALUE;
  HandleContent content = {};
  memcpy(content.mark, kEventMark, sizeof kEventMark);
  content.process = getpid();
  content.file = event->shared->fileNumber();
  writeHandle(*handle, content);
  return CUDA_SUCCESS;
}

PTXRUN_API CUresult cuIpcOpenEventHandle(CUevent *eventHandle, CUipcEventHandle handle) {
  Context *context = nullptr;
  PTXRUN_TRY(enter(context));
  HandleContent content;
  if (!eventHandle)
    return CUDA_ERROR_INVALID_VALUE;
  if (!readHandle(handle, kEventMark, content))
    return CUDA_ERROR_INVALID_HANDLE;
  auto state = SharedEventState::open(content.process, content.file);
  if (!state)
    return CUDA_ERROR_INVALID_HANDLE;
  auto event = std::make_shared<Event>(*context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  event->shared = std::move(state);
  *eventHandle = publish<CUevent>(event);
  return CUDA_SUCCESS;
}
