// Element types of buffers: their names on the command line, their width, their code in .npy files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ptxrun::command {

enum class Element : uint8_t {
  bool8,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  bf16,
  f32,
  f64,
  c64,
  c128
};

/// "f32"; throws UsageError with the list of names when `name` is none of them ("s32" and "b32" are
/// taken as well).
Element elementNamed(std::string_view name);
bool isElementName(std::string_view name);
std::string_view nameOf(Element);
size_t bytesOf(Element);
bool isFloating(Element);
bool isSignedInteger(Element);

/// One element at `address` as a double, as an integer (floating ones are truncated). Complex ones
/// give their real part.
double loadDouble(Element, const void *address);
int64_t loadInteger(Element, const void *address);
/// Stores with the conversion C has: wrapping for integers, rounding to nearest for floating point.
void storeDouble(Element, void *address, double);
void storeInteger(Element, void *address, int64_t);

/// Truncates; NaN gives 0, what does not fit gives the nearest that does.
int64_t truncatedToInteger(double);

/// The element as people read it: enough digits to tell any two values apart.
std::string toText(Element, const void *address);

/// How many representable values lie between two floating point elements; UINT64_MAX when exactly
/// one is NaN.
uint64_t ulpDistance(Element, const void *a, const void *b);

} // namespace ptxrun::command
