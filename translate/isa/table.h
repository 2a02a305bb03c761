// The instruction table as its readers see it. The data come from translate/isa/spec/*.ptxspec
// through a generator at build time; nothing here knows a particular instruction.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "translate/isa/types.h"

namespace ptxrun::isa {

/// Every modifier, type and state-space suffix that any form uses: Token::rn, Token::f32,
/// Token::shared_cta ("::" and other punctuation become "_", a leading digit or a C++ keyword gets
/// a trailing or leading "_").
enum class Token : uint16_t {
  none,
#define PTXRUN_TOKEN(identifier, spelling) identifier,
#include "isa_tokens.inc"
#undef PTXRUN_TOKEN
};
std::string_view spelling(Token);

/// %tid, %clock64, %envreg3 ... (PTX ISA 10). Vector ones (tid, ctaid, ...) take a component.
enum class SpecialRegister : uint16_t {
  none,
#define PTXRUN_SPECIAL(identifier, spelling, type, components) identifier,
#include "isa_special.inc"
#undef PTXRUN_SPECIAL
};
std::string_view spelling(SpecialRegister);

/// What executing an instruction can touch.
enum class Effect : uint8_t { lane, memory, warp, sync, control, hint, todo };

/// Names of the lowering handlers used in the table; lower links one function to each (a missing
/// one is a link error).
enum class Handler : uint16_t {
  none,
#define PTXRUN_HANDLER(name) name,
#include "isa_handlers.inc"
#undef PTXRUN_HANDLER
};

struct Form {
  uint32_t id = 0;
  std::string_view opcode;   ///< "cvt"
  std::string_view notation; ///< the manual's line
  std::string_view section;  ///< "9.7.9.22"
  Effect effect = Effect::todo;
  Handler handler = Handler::none;
  std::string_view intrinsic;   ///< name of the lane library's function, empty where there is none
  uint32_t since = 10;          ///< PTX version, 7.8 is 78
  uint32_t pattern = 0;         ///< index into the generated pattern tables (pattern.h)
  std::string_view instruction; ///< "mbarrier.arrive": the manual's heading
};

std::span<const Form> forms();
/// What a form needs, as the manual says it: "sm_90 or higher", "sm_100a, sm_100f family", empty
/// for every target.
std::string targetText(const Form &);

} // namespace ptxrun::isa
