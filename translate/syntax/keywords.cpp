#include "translate/syntax/keywords.h"

namespace ptxrun::syntax {

void internKeywords(support::NameTable &names) {
#define PTXRUN_KEYWORD(name) names.intern(#name);
  PTXRUN_KEYWORDS(PTXRUN_KEYWORD)
#undef PTXRUN_KEYWORD
}

} // namespace ptxrun::syntax
