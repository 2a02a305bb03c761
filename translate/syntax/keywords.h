// Words of the language whose numbers are the same in every module's NameTable.
#pragma once
#include "translate/support/names.h"

namespace ptxrun::syntax {

// clang-format off
#define PTXRUN_KEYWORDS(word)                                                                      \
  word(version) word(target) word(address_size) word(entry) word(func) word(file) word(loc)        \
  word(section) word(pragma) word(alias) word(extern) word(visible) word(weak) word(common)        \
  word(reg) word(sreg) word(const) word(global) word(local) word(param) word(shared) word(tex)     \
  word(align) word(attribute) word(ptr) word(branchtargets) word(calltargets) word(callprototype)  \
  word(maxntid) word(reqntid) word(minnctapersm) word(maxnctapersm) word(maxnreg) word(noreturn)   \
  word(reqnctapercluster) word(explicitcluster) word(maxclusterrank) word(blocksareclusters)       \
  word(abi_preserve) word(abi_preserve_control) word(managed) word(unified) word(generic)          \
  word(function_name) word(inlined_at) word(WARP_SZ) word(_) word(v2) word(v4) word(v8)            \
  word(b8) word(b16) word(b32) word(b64) word(s64) word(u64) word(x) word(y) word(z) word(w)       \
  word(r) word(g) word(b) word(a) word(texref) word(samplerref) word(surfref)
// clang-format on

/// keyword_version, keyword_target ...: the NameIds.
enum Keyword : support::NameId {
  keywordNone,
#define PTXRUN_KEYWORD(name) keyword_##name,
  PTXRUN_KEYWORDS(PTXRUN_KEYWORD)
#undef PTXRUN_KEYWORD
      keywordEnd,
};

/// Interns the keywords into a fresh table, in the enumeration's order.
void internKeywords(support::NameTable &);

} // namespace ptxrun::syntax
