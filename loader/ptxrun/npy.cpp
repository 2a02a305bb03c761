#include "loader/ptxrun/npy.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/hints.h"

namespace ptxrun::command {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

constexpr size_t kMostDimensions = 64; // NumPy's own limit

struct Close {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

struct TypeCode {
  std::string_view code; ///< kind and size, without the byte order
  Element element;
};
constexpr TypeCode kCodes[] = {
    {"b1", Element::bool8}, {"u1", Element::u8},  {"i1", Element::i8},    {"u2", Element::u16},
    {"i2", Element::i16},   {"u4", Element::u32}, {"i4", Element::i32},   {"u8", Element::u64},
    {"i8", Element::i64},   {"f2", Element::f16}, {"V2", Element::bf16},  {"f4", Element::f32},
    {"f8", Element::f64},   {"c8", Element::c64}, {"c16", Element::c128},
};

struct Header {
  Element element;
  bool isSwapped, isFortranOrder;
  std::vector<uint64_t> shape;
};

/// The text after `'key':` in the header's dictionary, blanks skipped.
std::string_view valueOf(std::string_view dictionary, std::string_view key) {
  size_t at = dictionary.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos)
    return {};
  at = dictionary.find(':', at);
  if (at == std::string_view::npos)
    return {};
  at = dictionary.find_first_not_of(" ", at + 1);
  return at == std::string_view::npos ? std::string_view{} : dictionary.substr(at);
}

std::vector<uint64_t> parseShape(std::string_view text, const std::string &path) {
  std::vector<uint64_t> shape;
  if (text.empty() || text[0] != '(')
    throw UsageError(path + ": the .npy header has no shape");
  const char *at = text.data() + 1, *end = text.data() + text.size();
  for (; at == end || *at != ')';) {
    if (at == end || shape.size() > kMostDimensions)
      throw UsageError(path + ": the .npy header's shape cannot be read");
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    uint64_t extent = 0;
    auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc())
      throw UsageError(path + ": the .npy header's shape cannot be read");
    shape.push_back(extent);
    at = next != end && *next == 'L' ? next + 1 : next;
  }
  return shape;
}

Header parseHeader(std::string_view dictionary, const std::string &path) {
  std::string_view descr = valueOf(dictionary, "descr");
  if (descr.empty() || descr[0] != '\'')
    throw UsageError(
        path +
        ": structured element types are not supported; save the fields as arrays of their own");
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  char order = descr.empty() ? '?' : descr[0];
  std::string_view code = descr.substr(std::min<size_t>(1, descr.size()));
  for (const TypeCode &known : kCodes)
    if (known.code == code)
      return {known.element, order == '>' && bytesOf(known.element) > 1,
              valueOf(dictionary, "fortran_order").starts_with("True"),
              parseShape(valueOf(dictionary, "shape"), path)};
  throw UsageError(path + ": element type '" + std::string(descr) +
                   "' is not supported (bool, integers, f2 f4 f8, c8 c16 are)");
}

/// Before memory is taken: what the shape needs is in the file.
void checkLength(const Header &header, std::FILE *file, const std::string &path) {
  struct stat status;
  const long at = std::ftell(file);
  if (at < 0 || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
    return; // a pipe: its end is not known
  uint64_t bytes = bytesOf(header.element);
  bool isTooLarge = false;
  for (uint64_t extent : header.shape)
    isTooLarge |= __builtin_mul_overflow(bytes, extent, &bytes);
  const auto left = static_cast<uint64_t>(std::max<off_t>(status.st_size - at, 0));
  if (isTooLarge || bytes > left)
    throw UsageError(path + ": truncated; its shape needs " +
                     (isTooLarge ? "more than 2^64" : std::to_string(bytes)) +
                     " bytes of data, there are " + std::to_string(left));
}

/// Reverses the bytes of every element (of every half of a complex one).
void swapBytes(Array &array) {
  size_t width = bytesOf(array.element());
  if (array.element() == Element::c64 || array.element() == Element::c128)
    width /= 2;
  for (char *at = array.data(), *end = at + array.bytes(); at != end; at += width)
    std::reverse(at, at + width);
}

std::string_view codeOf(Element element) {
  for (const TypeCode &known : kCodes)
    if (known.element == element)
      return known.code;
  return {};
}

} // namespace

Array readNpy(const std::string &path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    throw UsageError(whyNotOpened(path, errno));
  unsigned char start[12];
  if (std::fread(start, 1, 10, file.get()) != 10 ||
      std::memcmp(start, kMagic.data(), kMagic.size()) != 0)
    throw UsageError(path + ": not a .npy file");
  uint32_t headerBytes = start[8] | start[9] << 8;
  if (start[6] >= 2) {
    if (std::fread(start + 10, 1, 2, file.get()) != 2)
      throw UsageError(path + ": truncated");
    headerBytes |= static_cast<uint32_t>(start[10]) << 16 | static_cast<uint32_t>(start[11]) << 24;
  }
  if (headerBytes > (1u << 20))
    throw UsageError(path + ": not a .npy file (its header claims " + std::to_string(headerBytes) +
                     " bytes)");
  std::string dictionary(headerBytes, '\0');
  if (std::fread(dictionary.data(), 1, headerBytes, file.get()) != headerBytes)
    throw UsageError(path + ": truncated");
  Header header = parseHeader(dictionary, path);
  checkLength(header, file.get(), path);
  Array array(header.element, header.shape);
  array.isFortranOrder = header.isFortranOrder;
  if (std::fread(array.data(), 1, array.bytes(), file.get()) != array.bytes())
    throw UsageError(path + ": truncated; " + array.describe() + " needs " +
                     std::to_string(array.bytes()) + " bytes of data");
  if (header.isSwapped)
    swapBytes(array);
  return array;
}

void writeNpy(const std::string &path, const Array &array) {
  std::string_view code = codeOf(array.element());
  char order = bytesOf(array.element()) == 1 || array.element() == Element::bf16 ? '|' : '<';
  std::string dictionary = "{'descr': '" + std::string(1, order) + std::string(code) +
                           "', 'fortran_order': " + (array.isFortranOrder ? "True" : "False") +
                           ", 'shape': (";
  for (uint64_t extent : array.shape())
    dictionary += std::to_string(extent) + ", ";
  if (array.shape().size() > 1)
    dictionary.resize(dictionary.size() - 2);
  if (array.shape().size() == 1)
    dictionary.pop_back();
  dictionary += "), }";
  size_t total = (10 + dictionary.size() + 1 + 63) / 64 * 64; // the data start at a multiple of 64
  dictionary.append(total - 10 - dictionary.size() - 1, ' ') += '\n';
  File file(std::fopen(path.c_str(), "wb"));
  if (!file)
    throw Failed(path + ": " + std::strerror(errno));
  const unsigned char version[4] = {1, 0, static_cast<unsigned char>(dictionary.size() & 255),
                                    static_cast<unsigned char>(dictionary.size() >> 8)};
  bool isWritten =
      std::fwrite(kMagic.data(), 1, kMagic.size(), file.get()) == kMagic.size() &&
      std::fwrite(version, 1, 4, file.get()) == 4 &&
      std::fwrite(dictionary.data(), 1, dictionary.size(), file.get()) == dictionary.size() &&
      std::fwrite(array.data(), 1, array.bytes(), file.get()) == array.bytes();
  if (!isWritten || std::fflush(file.get()) != 0)
    throw Failed(path + ": " + std::strerror(errno));
}

} // namespace ptxrun::command
