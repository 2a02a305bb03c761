#include "rt/observe/trace.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "rt/launch/clock.h"

namespace ptxrun::rt::trace {

bool isTracing = false;

namespace {

/// Text that is written when so much of it has come together.
constexpr size_t kBufferBytes = 1 << 16;

struct Writer {
  std::mutex lock;
  std::FILE *file = nullptr;
  bool isEmpty = true;

  void write(const std::string &events) {
    std::lock_guard guard(lock);
    if (file && !events.empty())
      std::fwrite(events.data(), 1, events.size(), file);
  }
};

/// Never destroyed: threads may trace until the process has ended.
Writer &writer() {
  static Writer &one = *new Writer;
  return one;
}

std::atomic<uint64_t> lastId{0};
/// Buffers of all threads, so that finish() finds what they hold.
std::mutex buffersLock;

struct Buffer;
std::unordered_map<Buffer *, bool> &buffers() {
  static auto &all = *new std::unordered_map<Buffer *, bool>;
  return all;
}

/// One thread's events that are not yet written.
struct Buffer {
  Buffer() {
    std::lock_guard guard(buffersLock);
    buffers().emplace(this, true);
  }
  ~Buffer() {
    flush();
    std::lock_guard guard(buffersLock);
    buffers().erase(this);
  }
  void add(const std::string &event) {
    std::lock_guard guard(lock);
    events += event;
    if (events.size() > kBufferBytes)
      flushLocked();
  }
  void flush() {
    std::lock_guard guard(lock);
    flushLocked();
  }
  void flushLocked() {
    writer().write(events);
    events.clear();
  }
  std::mutex lock;
  std::string events;
  bool isNamed = false;
  std::unordered_map<const void *, uint64_t> waits; ///< when they began, by place
};

Buffer &ownBuffer() {
  thread_local Buffer buffer;
  return buffer;
}

std::string microseconds(uint64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned>(nanoseconds % 1000));
  return text;
}

/// `,{"ph":"X", ...` up to the time, without the end.
std::string head(const char *phase, const char *category, std::string_view name, uint64_t at) {
  return std::string(",\n{\"ph\":\"") + phase + "\",\"cat\":\"" + category +
         "\",\"name\":" + trace::quoted(name) + ",\"pid\":" + std::to_string(getpid()) +
         ",\"tid\":" + std::to_string(gettid()) + ",\"ts\":" + microseconds(at);
}

std::string tail(std::string_view arguments) {
  return ",\"args\":{" + std::string(arguments) + "}}";
}

} // namespace

std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\')
      made += '\\';
    if (static_cast<unsigned char>(letter) < 32) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(letter));
      made += code;
    } else {
      made += letter;
    }
  }
  return made + "\"";
}

bool start(const std::string &file) {
  Writer &to = writer();
  to.file = std::fopen(file.c_str(), "wb");
  if (!to.file)
    return false;
  std::fprintf(to.file,
               "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":"
               "\"ptxrun\"}}",
               getpid(), gettid());
  isTracing = true;
  return true;
}

void finish() {
  if (!isTracing)
    return;
  isTracing = false;
  {
    std::lock_guard guard(buffersLock);
    for (auto &[buffer, ignored] : buffers())
      buffer->flush();
  }
  std::lock_guard guard(writer().lock);
  std::fprintf(writer().file, "\n]\n");
  std::fclose(writer().file);
  writer().file = nullptr;
}

void span(const char *category, std::string_view name, uint64_t begin, uint64_t end,
          std::string_view arguments) {
  ownBuffer().add(head("X", category, name, begin) + ",\"dur\":" + microseconds(end - begin) +
                  tail(arguments));
}

void overlapping(const char *category, std::string_view name, uint64_t begin, uint64_t end,
                 std::string_view arguments) {
  const std::string id =
      ",\"id\":" + std::to_string(lastId.fetch_add(1, std::memory_order_relaxed) + 1);
  ownBuffer().add(head("b", category, name, begin) + id + tail(arguments) +
                  head("e", category, name, end) + id + tail({}));
}

void nameThread(std::string_view name) {
  Buffer &own = ownBuffer();
  if (std::exchange(own.isNamed, true))
    return;
  own.add(",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" + std::to_string(getpid()) +
          ",\"tid\":" + std::to_string(gettid()) + ",\"args\":{\"name\":" + trace::quoted(name) +
          "}}");
}

Scope::Scope(const char *category, std::string_view name) : category_(category) {
  if (!isOn())
    return;
  name_ = name;
  begin_ = nowNs();
}

Scope::~Scope() {
  if (begin_ && isOn())
    span(category_, name_, begin_, nowNs(), arguments_);
}

void Scope::add(std::string_view name, std::string_view value) {
  if (begin_)
    arguments_ += (arguments_.empty() ? "" : ",") + trace::quoted(name) + ":" + std::string(value);
}

void Scope::add(std::string_view name, uint64_t value) { add(name, std::to_string(value)); }

void waitBegins(const void *place) { ownBuffer().waits.try_emplace(place, nowNs()); }

void waitEnds(const void *place, std::string_view name, std::string_view arguments) {
  auto &waits = ownBuffer().waits;
  const auto begun = waits.find(place);
  if (begun == waits.end())
    return;
  overlapping("wait", name, begun->second, nowNs(), arguments);
  waits.erase(begun);
}

} // namespace ptxrun::rt::trace
