#include "rt/observe/printf.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ptxrun::rt {

namespace {

/// A launch that prints more delivers it in pieces of this size.
constexpr size_t kMostKept = 4 << 20;

/// The device's printf takes so many arguments; conversions beyond are printed as they stand.
constexpr int kMostArguments = 32;

/// Widths and precisions beyond are taken for this: a number that nobody meant is not worth 2 GiB.
constexpr int kMostWidth = 1 << 16;

/// The packed arguments of one call.
class ArgumentReader {
 public:
  explicit ArgumentReader(const void *arguments) : start_(static_cast<const char *>(arguments)) {}

  template <typename T> T take() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, start_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  int count() const { return count_; }
  bool hasMore() const { return start_ && count_ < kMostArguments; }

 private:
  const char *start_;
  size_t offset_ = 0;
  int count_ = 0;
};

/// One conversion specification.
struct Specification {
  std::string_view written; ///< as it stands in the format
  char flags[6] = "";       ///< each of "#0 +-" at most once
  int width = 0, precision = -1;
  int longs = 0;
  char type = 0;

  void addFlag(char c) {
    if (!std::strchr(flags, c))
      flags[std::strlen(flags)] = c;
  }
};

/// A number, or the argument that '*' stands for.
int parseNumber(const char *&at, ArgumentReader &arguments) {
  if (*at == '*') {
    ++at;
    return arguments.hasMore() ? std::clamp(arguments.take<int>(), -kMostWidth, kMostWidth) : 0;
  }
  int number = 0;
  for (; *at >= '0' && *at <= '9'; ++at)
    number = std::min(number * 10 + (*at - '0'), kMostWidth);
  return number;
}

/// From behind the '%'.
const char *parse(const char *at, Specification &s, ArgumentReader &arguments) {
  const char *const start = at - 1;
  for (; *at && std::strchr("#0 +-", *at); ++at)
    s.addFlag(*at);
  s.width = parseNumber(at, arguments);
  if (s.width < 0) {
    s.addFlag('-');
    s.width = -s.width;
  }
  if (*at == '.')
    s.precision = parseNumber(++at, arguments); // a negative one is none
  for (; *at && std::strchr("hlzjt", *at); ++at)
    s.longs += *at == 'l' || *at == 'z' || *at == 'j' || *at == 't';
  s.type = *at;
  at += *at != 0;
  s.written = {start, size_t(at - start)};
  return at;
}

template <typename T> void print(std::string &out, const char *format, T value) {
  char buffer[512];
  int n = snprintf(buffer, sizeof buffer, format, value);
  if (n < static_cast<int>(sizeof buffer)) {
    out.append(buffer, static_cast<size_t>(n < 0 ? 0 : n));
    return;
  }
  size_t before = out.size();
  out.resize(before + static_cast<size_t>(n) + 1);
  snprintf(out.data() + before, static_cast<size_t>(n) + 1, format, value);
  out.resize(before + static_cast<size_t>(n));
}

void convert(std::string &out, const Specification &s, ArgumentReader &arguments) {
  if (!s.type || !std::strchr("diouxXcaAeEfFgGsp", s.type) || !arguments.hasMore()) {
    out.append(s.written); // not a conversion, or one without an argument
    return;
  }
  char text[40];
  const auto complete = [&](const char *end) {
    char precision[16] = "";
    if (s.precision >= 0)
      snprintf(precision, sizeof precision, ".%d", s.precision);
    char width[16] = "";
    if (s.width > 0)
      snprintf(width, sizeof width, "%d", s.width);
    snprintf(text, sizeof text, "%%%s%s%s%s", s.flags, width, precision, end);
    return text;
  };
  char type[2] = {s.type, 0};
  char longType[4] = {'l', 'l', s.type, 0};
  switch (s.type) {
  case 'd':
  case 'i':
  case 'o':
  case 'u':
  case 'x':
  case 'X':
    if (s.longs)
      print(out, complete(longType), arguments.take<long long>());
    else
      print(out, complete(type), arguments.take<int>());
    break;
  case 'c':
    print(out, complete(type), arguments.take<int>());
    break;
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    print(out, complete(type), arguments.take<double>());
    break;
  case 's':
    if (const char *text = arguments.take<const char *>())
      print(out, complete(type), text);
    else
      print(out, complete(type), "(null)");
    break;
  case 'p':
    print(out, complete(type), arguments.take<void *>());
    break;
  default:
    break;
  }
}

} // namespace

int formatText(std::string &out, const char *format, const void *arguments) {
  ArgumentReader reader(arguments);
  while (*format) {
    const char *percent = std::strchr(format, '%');
    if (!percent) {
      out.append(format);
      break;
    }
    out.append(format, percent);
    format = percent + 1;
    if (*format == '%') {
      out.push_back('%');
      ++format;
      continue;
    }
    Specification s;
    format = parse(format, s, reader);
    convert(out, s, reader);
  }
  return reader.count();
}

void appendText(LaunchState &launch, std::string_view text) {
  std::lock_guard guard(launch.lock);
  launch.printed.append(text);
  if (launch.printed.size() > kMostKept)
    deliverText(launch);
}

void deliverText(LaunchState &launch) {
  if (launch.printed.empty())
    return;
  if (launch.request->printf) {
    launch.request->printf(launch.printed);
  } else {
    fwrite(launch.printed.data(), 1, launch.printed.size(), stdout);
    fflush(stdout);
  }
  launch.printed.clear();
}

void copyGuestText(Worker &worker, char *to, size_t capacity, const char *from) {
  GuestAccess access(worker);
  size_t i = 0;
  for (; from && from[i] && i + 1 < capacity; ++i)
    to[i] = from[i];
  to[i] = 0;
}

} // namespace ptxrun::rt

using namespace ptxrun::rt;

extern "C" int32_t ptxrun_vprintf(ptxrun::abi::Gang *gang, const char *format,
                                  const void *arguments) {
  Worker &worker = *groupOf(stateOf(gang)).worker;
  if (!format)
    return -1;
  worker.scratch.clear();
  int count;
  {
    GuestAccess access(worker);
    count = formatText(worker.scratch, format, arguments);
  }
  appendText(*worker.launch, worker.scratch);
  return count;
}
