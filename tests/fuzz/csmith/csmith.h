/* What programs of Csmith include, in the place of its own csmith.h: without a C library, and with
   the sum over all variables in a word that a kernel can hand out. Arithmetic is its safe_math.h.
 */
#pragma once
#include <float.h>
#include <limits.h>
#include <stdint.h>

#define STATIC static
#define UNDEFINED(value) (value)
#define LOG_INDEX
#define LOG_EXEC
#define FUNC_NAME(x) (safe_##x)
#define assert(condition) ((void)0)
#define printf(...) ((void)0)
#define fabs __builtin_fabs
#define fabsf __builtin_fabsf
#include "safe_math.h"

static uint32_t programSum;
#define crc32_context 0

/* FNV-1a over the eight bytes of each variable. */
static void transparent_crc(uint64_t value, const char *name, int flag) {
  (void)name, (void)flag;
  for (int byte = 0; byte < 8; ++byte)
    programSum = (programSum ^ (uint32_t)(value >> 8 * byte & 0xff)) * 16777619u;
}
static void crc32_gentab(void) {}
static void platform_main_begin(void) { programSum = 2166136261u; }
static void platform_main_end(uint32_t crc, int flag) { (void)crc, (void)flag; }
