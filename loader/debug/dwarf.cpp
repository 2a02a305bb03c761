// Reads DWARF 2 to 4 as compilers write it into PTX. What is different there: code addresses are
// labels, a register's number is the letters of its name, and an address of memory is the name of a
// PTX variable, with the state space in an attribute.
#include <algorithm>
#include <set>

#include "loader/debug/variables.h"
#include "translate/check/debug_frame.h"
#include "translate/support/diagnostics.h"
#include "translate/syntax/parser.h"

namespace ptxrun::debug {

namespace {

/// A section's bytes, and the names at places that are addresses.
struct Section {
  std::string bytes;
  std::map<uint64_t, std::string> symbols;
};

// DWARF's numbers, as far as they occur.
enum Tag : uint64_t {
  kArrayType = 0x01,
  kClassType = 0x02,
  kEnumerationType = 0x04,
  kFormalParameter = 0x05,
  kLexicalBlock = 0x0b,
  kMember = 0x0d,
  kPointerType = 0x0f,
  kReferenceType = 0x10,
  kCompileUnit = 0x11,
  kStructureType = 0x13,
  kTypedef = 0x16,
  kUnionType = 0x17,
  kInheritance = 0x1c,
  kInlinedSubroutine = 0x1d,
  kSubrangeType = 0x21,
  kBaseType = 0x24,
  kConstType = 0x26,
  kEnumerator = 0x28,
  kSubprogram = 0x2e,
  kVariable = 0x34,
  kVolatileType = 0x35,
  kRestrictType = 0x37,
};
enum Attribute : uint64_t {
  kLocation = 0x02,
  kName = 0x03,
  kByteSize = 0x0b,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kConstValue = 0x1c,
  kUpperBound = 0x2f,
  kAbstractOrigin = 0x31,
  kCount = 0x37,
  kDataMemberLocation = 0x38,
  kEncoding = 0x3e,
  kSpecification = 0x47,
  kTypeOf = 0x49,
};
enum Operation : uint8_t { kAddr = 0x03, kPlusUconst = 0x23, kRegx = 0x90, kReg0 = 0x50 };

/// One value of an attribute.
struct Value {
  uint64_t number = 0;
  std::string text;  ///< strings and blocks
  std::string block; ///< bytes
  uint64_t blockAt = 0;
  bool isBlock = false, isSet = false;
};

struct Entry {
  uint64_t offset = 0, tag = 0;
  std::map<uint64_t, Value> values;
  std::vector<size_t> children;
  size_t parent = 0;
};

struct Abbreviation {
  uint64_t tag = 0;
  bool hasChildren = false;
  std::vector<std::pair<uint64_t, uint64_t>> attributes;
};

/// Thrown where the sections do not hold what DWARF says; nothing is known then.
struct BadDwarf {};

class Cursor {
 public:
  Cursor(const Section &section, uint64_t at, uint64_t end)
      : section_(section), at_(at), end_(std::min<uint64_t>(end, section.bytes.size())) {}
  uint64_t at() const { return at_; }
  bool isAtEnd() const { return at_ >= end_; }
  uint64_t number(unsigned bytes) {
    need(bytes);
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
      value |= uint64_t{static_cast<uint8_t>(section_.bytes[at_ + i])} << (8 * i);
    at_ += bytes;
    return value;
  }
  uint64_t leb(bool isSigned = false) {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = static_cast<uint8_t>(number(1));
      if (shift < 64)
        value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte & 0x80)
        continue;
      if (isSigned && shift < 64 && (byte & 0x40))
        value |= ~uint64_t{0} << shift;
      return value;
    }
  }
  std::string text() {
    const size_t end = section_.bytes.find('\0', at_);
    if (end == std::string::npos || end > end_)
      throw BadDwarf();
    std::string found = section_.bytes.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }
  std::string bytes(uint64_t count) {
    need(count);
    std::string found = section_.bytes.substr(at_, count);
    at_ += count;
    return found;
  }
  const std::string *symbolHere() const {
    const auto found = section_.symbols.find(at_);
    return found == section_.symbols.end() ? nullptr : &found->second;
  }

 private:
  void need(uint64_t count) const {
    if (count > end_ - at_ || at_ > end_)
      throw BadDwarf();
  }
  const Section &section_;
  uint64_t at_, end_;
};

} // namespace

class DwarfReader {
 public:
  DwarfReader(const check::Module &module, Types &types, DebugInfo &info)
      : module_(module), types_(types), info_(info) {}

  void read() {
    collectLabels();
    collectSections();
    const Section &unit = sections_["debug_info"];
    for (uint64_t at = 0; at + 11 <= unit.bytes.size();) {
      Cursor header(unit, at, unit.bytes.size());
      const uint64_t length = header.number(4);
      at += 4 + length;
      version_ = header.number(2);
      const uint64_t abbreviations = header.number(4);
      addressBytes_ = static_cast<unsigned>(header.number(1));
      if (version_ < 2 || version_ > 4)
        throw BadDwarf();
      unitStart_ = at - 4 - length;
      readAbbreviations(abbreviations);
      entries_.clear();
      byOffset_.clear();
      readEntries(header.at(), at);
      for (size_t i = 0; i < entries_.size(); ++i)
        noteEntry(entries_[i]);
    }
  }

 private:
  // Labels of code have the number of the instruction they stand before.
  void collectLabels() {
    const std::vector<uint32_t> first = check::instructionNumbers(module_);
    for (size_t f = 0; f < module_.functions.size(); ++f)
      for (const check::Label *label : module_.functions[f]->labels)
        labels_[std::string(label->name)] = first[f] + label->statement;
  }

  void collectSections() {
    support::Diagnostics ignored(*module_.source);
    const auto tree = syntax::parse(*module_.source, ignored);
    std::map<std::string, uint64_t> places; // labels within sections
    const auto each = [&](auto visit) {
      for (const syntax::ast::Item &item : tree->items)
        if (item.kind == syntax::ast::Item::Kind::section)
          visit(*item.section);
    };
    std::map<std::string, uint64_t> sizes;
    each([&](const syntax::ast::SectionDirective &section) {
      uint64_t &size = sizes[std::string(tree->names.text(section.name))];
      for (const syntax::ast::SectionLine &line : section.lines) {
        if (line.label)
          places[std::string(tree->names.text(line.label))] = size;
        size += line.values.size() * widthOf(tree->names.text(line.type));
      }
    });
    each([&](const syntax::ast::SectionDirective &section) {
      Section &made = sections_[std::string(tree->names.text(section.name))];
      for (const syntax::ast::SectionLine &line : section.lines)
        for (const syntax::ast::SectionValue &value : line.values) {
          uint64_t number = value.isNegative ? 0 - value.number : value.number;
          if (value.symbol) {
            const std::string name(tree->names.text(value.symbol));
            number += numberOf(name, places);
            if (value.minus)
              number = numberOf(name, places) -
                       numberOf(std::string(tree->names.text(value.minus)), places);
            made.symbols[made.bytes.size()] = name;
          }
          const unsigned width = widthOf(tree->names.text(line.type));
          for (unsigned i = 0; i < width; ++i)
            made.bytes.push_back(static_cast<char>(number >> (8 * i)));
        }
    });
  }

  static unsigned widthOf(std::string_view type) {
    return type.ends_with("b64")   ? 8
           : type.ends_with("b32") ? 4
           : type.ends_with("b16") ? 2
           : type.ends_with("b8")  ? 1
                                   : 0;
  }
  uint64_t numberOf(const std::string &name, const std::map<std::string, uint64_t> &places) const {
    if (const auto label = labels_.find(name); label != labels_.end())
      return label->second;
    const auto place = places.find(name);
    return place == places.end() ? 0 : place->second; // a section's own name is its beginning
  }

  void readAbbreviations(uint64_t offset) {
    abbreviations_.clear();
    const Section &section = sections_["debug_abbrev"];
    Cursor cursor(section, offset, section.bytes.size());
    while (!cursor.isAtEnd()) {
      const uint64_t code = cursor.leb();
      if (code == 0)
        return;
      Abbreviation &made = abbreviations_[code];
      made.tag = cursor.leb();
      made.hasChildren = cursor.number(1) != 0;
      for (;;) {
        const uint64_t name = cursor.leb(), form = cursor.leb();
        if (name == 0 && form == 0)
          break;
        made.attributes.push_back({name, form});
      }
    }
  }

  void readEntries(uint64_t at, uint64_t end) {
    Cursor cursor(sections_["debug_info"], at, end);
    std::vector<size_t> open;
    while (!cursor.isAtEnd()) {
      const uint64_t offset = cursor.at();
      const uint64_t code = cursor.leb();
      if (code == 0) {
        if (!open.empty())
          open.pop_back();
        continue;
      }
      const auto shape = abbreviations_.find(code);
      if (shape == abbreviations_.end())
        throw BadDwarf();
      Entry entry;
      entry.offset = offset - unitStart_;
      entry.tag = shape->second.tag;
      entry.parent = open.empty() ? entries_.size() : open.back();
      for (const auto &[name, form] : shape->second.attributes)
        entry.values[name] = readValue(cursor, form);
      const size_t number = entries_.size();
      byOffset_[entry.offset] = number;
      entries_.push_back(std::move(entry));
      if (!open.empty())
        entries_[open.back()].children.push_back(number);
      if (shape->second.hasChildren)
        open.push_back(number);
    }
  }

  Value readValue(Cursor &cursor, uint64_t form) {
    Value value;
    value.isSet = true;
    const auto block = [&](uint64_t bytes) {
      value.isBlock = true;
      value.blockAt = cursor.at();
      value.block = cursor.bytes(bytes);
    };
    switch (form) {
    case 0x01: // addr
      value.number = cursor.number(addressBytes_);
      break;
    case 0x03: // block2
      block(cursor.number(2));
      break;
    case 0x04: // block4
      block(cursor.number(4));
      break;
    case 0x09: // block
    case 0x18: // exprloc
      block(cursor.leb());
      break;
    case 0x0a: // block1
      block(cursor.number(1));
      break;
    case 0x0b: // data1
    case 0x0c: // flag
    case 0x11: // ref1
      value.number = cursor.number(1);
      break;
    case 0x05: // data2
    case 0x12: // ref2
      value.number = cursor.number(2);
      break;
    case 0x06: // data4
    case 0x13: // ref4
    case 0x17: // sec_offset
      value.number = cursor.number(4);
      break;
    case 0x07: // data8
    case 0x14: // ref8
      value.number = cursor.number(8);
      break;
    case 0x08: // string
      value.text = cursor.text();
      break;
    case 0x0e: { // strp
      const Section &strings = sections_["debug_str"];
      Cursor at(strings, cursor.number(4), strings.bytes.size());
      value.text = at.text();
      break;
    }
    case 0x0d: // sdata
      value.number = cursor.leb(true);
      break;
    case 0x0f: // udata
    case 0x15: // ref_udata
      value.number = cursor.leb();
      break;
    case 0x10: // ref_addr
      value.number = cursor.number(4);
      break;
    case 0x19: // flag_present
      value.number = 1;
      break;
    default:
      throw BadDwarf();
    }
    return value;
  }

  const Value &get(const Entry &entry, uint64_t attribute, int depth = 0) const {
    static const Value kNone;
    if (const auto found = entry.values.find(attribute); found != entry.values.end())
      return found->second;
    for (const uint64_t link : {uint64_t{kAbstractOrigin}, uint64_t{kSpecification}})
      if (const auto origin = entry.values.find(link); origin != entry.values.end() && depth < 4)
        if (const auto at = byOffset_.find(origin->second.number); at != byOffset_.end())
          return get(entries_[at->second], attribute, depth + 1);
    return kNone;
  }

  // --- Types -----------------------------------------------------------------------------------

  const Type *typeOf(const Entry &entry) {
    const Value &type = get(entry, kTypeOf);
    if (!type.isSet)
      return types_.named("void");
    return typeAt(type.number);
  }

  const Type *typeAt(uint64_t offset) {
    const auto known = made_.find({unitStart_, offset});
    if (known != made_.end())
      return known->second ? known->second : types_.named("void");
    const auto at = byOffset_.find(offset);
    if (at == byOffset_.end())
      return types_.named("void");
    const Type *&made = made_[{unitStart_, offset}];
    made = nullptr;
    const Type *type = makeType(entries_[at->second], offset);
    made_[{unitStart_, offset}] = type;
    return type;
  }

  const Type *makeType(const Entry &entry, uint64_t offset) {
    switch (entry.tag) {
    case kBaseType:
      return baseType(entry);
    case kPointerType:
    case kReferenceType: {
      // Before what it points to: records point to themselves.
      Type &type = types_.make();
      type.kind = Type::Kind::pointer;
      type.bytes = 8;
      made_[{unitStart_, offset}] = &type;
      type.target = typeOf(entry);
      return &type;
    }
    case kConstType:
    case kVolatileType:
    case kRestrictType:
      return typeOf(entry);
    case kTypedef: {
      const Type *target = typeOf(entry);
      info_.types_.try_emplace(get(entry, kName).text, target);
      return target;
    }
    case kArrayType: {
      const Type *type = typeOf(entry);
      for (size_t i = entry.children.size(); i-- > 0;) {
        const Entry &child = entries_[entry.children[i]];
        if (child.tag != kSubrangeType)
          continue;
        const Value &count = get(child, kCount), &upper = get(child, kUpperBound);
        type = types_.arrayOf(type, count.isSet   ? count.number
                                    : upper.isSet ? upper.number + 1
                                                  : 0);
      }
      return type;
    }
    case kStructureType:
    case kClassType:
    case kUnionType:
      return recordType(entry, offset);
    case kEnumerationType: {
      Type &type = types_.make();
      type.kind = Type::Kind::enumeration;
      type.name = get(entry, kName).text;
      type.bytes = get(entry, kByteSize).number;
      type.isSigned = true;
      for (const size_t child : entry.children)
        type.values.push_back({get(entries_[child], kName).text,
                               static_cast<int64_t>(get(entries_[child], kConstValue).number)});
      info_.types_.try_emplace(type.name, &type);
      return &type;
    }
    default:
      return types_.named("void");
    }
  }

  const Type *baseType(const Entry &entry) {
    constexpr uint64_t kBoolean = 2, kFloat = 4, kSigned = 5, kSignedChar = 6, kUnsignedChar = 8;
    Type &type = types_.make();
    type.name = get(entry, kName).text;
    type.bytes = get(entry, kByteSize).number;
    const uint64_t encoding = get(entry, kEncoding).number;
    type.kind = encoding == kBoolean                                   ? Type::Kind::boolean
                : encoding == kFloat                                   ? Type::Kind::floating
                : encoding == kSignedChar || encoding == kUnsignedChar ? Type::Kind::character
                                                                       : Type::Kind::integer;
    type.isSigned = encoding == kFloat || encoding == kSigned || encoding == kSignedChar;
    return &type;
  }

  const Type *recordType(const Entry &entry, uint64_t offset) {
    Type &type = types_.make();
    type.kind = Type::Kind::record;
    type.name = get(entry, kName).text;
    type.bytes = get(entry, kByteSize).number;
    made_[{unitStart_, offset}] = &type;
    if (!type.name.empty())
      info_.types_.try_emplace(type.name, &type);
    for (const size_t number : entry.children) {
      const Entry &child = entries_[number];
      if ((child.tag != kMember && child.tag != kInheritance) ||
          (!get(child, kDataMemberLocation).isSet && entry.tag != kUnionType))
        continue;
      const Value &place = get(child, kDataMemberLocation);
      uint64_t at = place.number;
      if (place.isBlock && place.block.size() > 1 &&
          static_cast<uint8_t>(place.block[0]) == kPlusUconst) {
        Section whole{place.block, {}};
        at = Cursor(whole, 1, whole.bytes.size()).leb();
      }
      const Type *member = typeOf(child);
      type.members.push_back(
          {child.tag == kInheritance ? "<" + member->name + ">" : get(child, kName).text, member,
           at});
    }
    return &type;
  }

  // --- Variables -------------------------------------------------------------------------------

  void noteEntry(const Entry &entry) {
    if (entry.tag == kTypedef || entry.tag == kStructureType || entry.tag == kClassType ||
        entry.tag == kEnumerationType)
      typeAt(entry.offset);
    if (entry.tag != kVariable && entry.tag != kFormalParameter)
      return;
    const auto location = entry.values.find(kLocation);
    const std::string name = get(entry, kName).text;
    if (name.empty() || location == entry.values.end())
      return;
    SourceVariable variable;
    variable.name = name;
    variable.type = typeOf(entry);
    variable.isParameter = entry.tag == kFormalParameter;
    findScope(entry, variable);
    if (location->second.isBlock)
      addLocation(location->second.block, "debug_info", location->second.blockAt, 0, ~uint32_t{0},
                  variable);
    else
      addLocations(location->second.number, variable);
    info_.variables_.push_back(std::move(variable));
  }

  void findScope(const Entry &entry, SourceVariable &variable) const {
    for (const Entry *at = &entry; at->parent < entries_.size();) {
      const Entry *up = &entries_[at->parent];
      if (up == at)
        return;
      at = up;
      const auto low = at->values.find(kLowPc), high = at->values.find(kHighPc);
      const bool isScope =
          at->tag == kLexicalBlock || at->tag == kSubprogram || at->tag == kInlinedSubroutine;
      if (!isScope || low == at->values.end() || high == at->values.end())
        continue;
      variable.begin = static_cast<uint32_t>(low->second.number);
      variable.end = static_cast<uint32_t>(high->second.number);
      return;
    }
  }

  void addLocations(uint64_t offset, SourceVariable &variable) {
    const Section &section = sections_["debug_loc"];
    Cursor cursor(section, offset, section.bytes.size());
    while (!cursor.isAtEnd()) {
      const bool isLast = !cursor.symbolHere();
      const uint64_t begin = cursor.number(addressBytes_), end = cursor.number(addressBytes_);
      if (isLast && begin == 0 && end == 0)
        return;
      const uint64_t bytes = cursor.number(2);
      const uint64_t at = cursor.at();
      addLocation(cursor.bytes(bytes), "debug_loc", at, static_cast<uint32_t>(begin),
                  static_cast<uint32_t>(end), variable);
    }
  }

  /// DW_OP_regx of letters; DW_OP_addr of a variable, perhaps with an offset.
  void addLocation(const std::string &block, const char *from, uint64_t at, uint32_t begin,
                   uint32_t end, SourceVariable &variable) {
    const Section whole{block, {}};
    Cursor cursor(whole, 0, block.size());
    Location location;
    location.begin = begin;
    location.end = end;
    while (!cursor.isAtEnd()) {
      const auto operation = static_cast<uint8_t>(cursor.number(1));
      if (operation == kRegx) {
        location.kind = Location::Kind::reg;
        for (uint64_t letters = cursor.leb(); letters; letters >>= 8)
          location.name.insert(location.name.begin(), static_cast<char>(letters & 0xff));
      } else if (operation == kAddr) {
        const auto &symbols = sections_[from].symbols;
        const auto symbol = symbols.find(at + cursor.at());
        if (symbol == symbols.end())
          return;
        cursor.number(addressBytes_);
        location.kind = Location::Kind::memory;
        location.name = symbol->second;
      } else if (operation == kPlusUconst) {
        location.offset += static_cast<int64_t>(cursor.leb());
      } else {
        return; // nothing that PTX's compilers are known to write
      }
    }
    if (location.kind != Location::Kind::none)
      variable.locations.push_back(std::move(location));
  }

  const check::Module &module_;
  Types &types_;
  DebugInfo &info_;
  std::map<std::string, uint32_t> labels_;
  std::map<std::string, Section> sections_;
  std::map<uint64_t, Abbreviation> abbreviations_;
  std::vector<Entry> entries_;
  std::map<uint64_t, size_t> byOffset_;
  std::map<std::pair<uint64_t, uint64_t>, const Type *> made_;
  uint64_t version_ = 2, unitStart_ = 0;
  unsigned addressBytes_ = 8;
};

DebugInfo::DebugInfo(const check::Module &module, Types &types) {
  try {
    DwarfReader(module, types, *this).read();
  } catch (const BadDwarf &) { // damaged, or of another version: what was read is still true
  }
}

const Location *SourceVariable::at(uint32_t instruction) const {
  for (const Location &location : locations)
    if (instruction >= location.begin && instruction < location.end)
      return &location;
  return nullptr;
}

std::vector<const SourceVariable *> DebugInfo::visibleAt(uint32_t instruction) const {
  std::vector<const SourceVariable *> visible;
  for (const SourceVariable &variable : variables_)
    if (instruction >= variable.begin && instruction < variable.end)
      visible.push_back(&variable);
  std::ranges::sort(visible, [](const SourceVariable *a, const SourceVariable *b) {
    const uint32_t x = a->end - a->begin, y = b->end - b->begin;
    return x != y ? x < y : a < b; // as they are written
  });
  return visible;
}

const Type *DebugInfo::findType(const std::string &name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second;
}

} // namespace ptxrun::debug
