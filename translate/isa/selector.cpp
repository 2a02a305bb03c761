// Selectors of video operands, packed into token numbers above those of the table:
//   bit 15, bit 14: half-words, bits 13-12: count - 1, three bits per element, the first written
//   lowest.
#include "translate/isa/match.h"

namespace ptxrun::isa {

Token findSelector(std::string_view name) {
  if (name.size() < 2 || name.size() > 5 || (name[0] != 'b' && name[0] != 'h'))
    return Token::none;
  const bool isHalf = name[0] == 'h';
  const unsigned count = unsigned(name.size() - 1), most = isHalf ? 3 : 7;
  if (isHalf && count > 2)
    return Token::none;
  unsigned packed = 0x8000u | unsigned(isHalf) << 14 | (count - 1) << 12;
  for (unsigned i = 0; i != count; ++i) {
    const unsigned element = unsigned(name[i + 1] - '0');
    if (name[i + 1] < '0' || element > most)
      return Token::none;
    packed |= element << (3 * i);
  }
  return Token(packed);
}

Selector selectorOf(Token token) {
  const unsigned packed = unsigned(token);
  Selector s;
  if (!(packed & 0x8000u))
    return s;
  s.isHalf = (packed >> 14 & 1) != 0;
  s.count = uint8_t((packed >> 12 & 3) + 1);
  for (unsigned i = 0; i != s.count; ++i)
    s.elements[i] = uint8_t(packed >> (3 * i) & 7);
  return s;
}

} // namespace ptxrun::isa
