// Commands of the console that show calls, values, memory and source.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "loader/ptxrun/debug_console.h"
#include "loader/ptxrun/suggest.h"

namespace ptxrun::command {

using debug::DebugError;
using debug::DebugValue;
using debug::Evaluator;
using debug::FrameSight;
using debug::SourceLine;

namespace {

std::string baseName(const std::string &path) { return path.substr(path.rfind('/') + 1); }

} // namespace

// --- Calls -------------------------------------------------------------------------------------

std::vector<FrameSight> Console::needFrames() {
  std::vector<FrameSight> frames = session_.frames(session_.focusThread());
  if (!frames.empty())
    return frames;
  if (!session_.isRunning())
    throw DebugError("nothing is stopped: `run` first");
  throw DebugError(
      session_.threadText(session_.focus()) +
      (session_.machine().hasEnded(session_.focus()) ? " has ended" : " has not begun"));
}

/// "saxpy (n=100, a=2) at a.cu:12"
std::string Console::frameText(const FrameSight &frame) {
  std::string arguments;
  const debug::Thread *thread = session_.focusThread();
  if (thread && !frame.isInlined)
    for (const debug::SourceVariable *variable :
         session_.module().info.visibleAt(frame.instruction)) {
      if (!variable->isParameter)
        continue;
      std::string value;
      try {
        value = session_.module().evaluator.format(session_.module().evaluator.variableValue(
            *variable, session_.viewOf(*thread, frame.call)));
        if (value.starts_with("(") && value.find(") 0x") != std::string::npos)
          value = value.substr(value.find(") 0x") + 2);
      } catch (const DebugError &) {
        value = "...";
      }
      arguments += (arguments.empty() ? "" : ", ") + variable->name + "=" + value;
    }
  const std::string place =
      frame.source ? baseName(frame.source->file) + ":" + std::to_string(frame.source->line)
                   : baseName(session_.module().map.name()) + ":" + std::to_string(frame.ptxLine);
  return frame.function + " (" + arguments + ") at " + place;
}

/// The line it stands at: of the source where there is one, and of the PTX where that is what was
/// stepped by.
void Console::showLine(const FrameSight &frame, bool isOfInstruction) {
  debug::SourceMap &map = session_.module().map;
  if (frame.source) {
    const auto text = map.lineText(frame.source->file, frame.source->line);
    if (text)
      std::printf("%u\t%s\n", frame.source->line, text->c_str());
    else
      std::printf("%u\tin %s\n", frame.source->line, frame.source->file.c_str());
  }
  if (!frame.source || isOfInstruction)
    std::printf("ptx:%u\t%s\n", frame.ptxLine, map.text(frame.instruction).c_str());
}

void Console::showFrame(size_t number, bool isShort) {
  const std::vector<FrameSight> frames = needFrames();
  std::printf("#%-3zu%s\n", number, frameText(frames[number]).c_str());
  if (!isShort)
    showLine(frames[number], !frames[number].source);
}

void Console::backtrace(const std::string &) {
  const size_t count = needFrames().size();
  for (size_t i = 0; i < count; ++i)
    showFrame(i, true);
}

void Console::frame(const std::string &number) {
  const size_t count = needFrames().size();
  if (!number.empty()) {
    const size_t wanted = std::strtoul(number.c_str(), nullptr, 0);
    if (wanted >= count)
      throw DebugError("there is no frame " + number);
    session_.setFrame(wanted);
  }
  showFrame(session_.frame(), false);
  listedFile_.clear();
}

void Console::up(const std::string &) {
  if (session_.frame() + 1 >= needFrames().size())
    throw DebugError("Initial frame selected; you can't go up.");
  frame(std::to_string(session_.frame() + 1));
}

void Console::down(const std::string &) {
  needFrames();
  if (session_.frame() == 0)
    throw DebugError("Bottom (innermost) frame selected; you can't go down.");
  frame(std::to_string(session_.frame() - 1));
}

// --- Values ------------------------------------------------------------------------------------

Console::Format Console::takeFormat(std::string &arguments) {
  Format format;
  if (!arguments.starts_with("/"))
    return format;
  size_t at = 1;
  if (std::isdigit(static_cast<unsigned char>(arguments[at])))
    format.count = 0;
  for (; at < arguments.size() && !std::isspace(static_cast<unsigned char>(arguments[at])); ++at) {
    const char letter = arguments[at];
    if (std::isdigit(static_cast<unsigned char>(letter)))
      format.count = format.count * 10 + static_cast<uint64_t>(letter - '0');
    else if (std::strchr("bhwg", letter))
      format.size = letter;
    else if (std::strchr("xduotacfi", letter))
      format.letter = letter;
    else
      throw DebugError(std::string("there is no format '") + letter +
                       "'; formats: x d u o t a c f i; sizes: b h w g");
  }
  while (at < arguments.size() && std::isspace(static_cast<unsigned char>(arguments[at])))
    ++at;
  arguments.erase(0, at);
  return format;
}

void Console::print(const std::string &text) {
  std::string expression = text;
  const Format format = takeFormat(expression);
  Evaluator &evaluator = session_.module().evaluator;
  const DebugValue value = expression.empty() && !evaluator.history.empty()
                               ? evaluator.history.back()
                               : evaluator.evaluate(expression, session_.view());
  evaluator.history.push_back(value);
  std::printf("$%zu = %s\n", evaluator.history.size(),
              evaluator.format(value, format.letter).c_str());
}

void Console::ptype(const std::string &expression) {
  const DebugValue value = session_.module().evaluator.evaluate(expression, session_.view());
  std::printf("type = %s", value.type->describe().c_str());
  if (value.type->kind == debug::Type::Kind::record) {
    std::printf(" {\n");
    for (const auto &member : value.type->members)
      std::printf("    %s %s;\n", member.type->describe().c_str(), member.name.c_str());
    std::printf("}");
  }
  std::printf("\n");
}

void Console::display(const std::string &expression) {
  if (expression.empty())
    return showDisplays();
  session_.module().evaluator.evaluate(expression.starts_with("/") ? "0" : expression,
                                       session_.view());
  displays_.push_back({++lastDisplay_, expression});
  showDisplays();
}

void Console::undisplay(const std::string &number) {
  const auto found = std::ranges::find_if(
      displays_, [&](const auto &d) { return std::to_string(d.first) == number; });
  if (number.empty())
    displays_.clear();
  else if (found == displays_.end())
    throw DebugError("there is no display " + number);
  else
    displays_.erase(found);
}

void Console::showDisplays() {
  for (const auto &[number, text] : displays_) {
    std::string expression = text, value;
    try {
      const Format format = takeFormat(expression);
      Evaluator &evaluator = session_.module().evaluator;
      value = evaluator.format(evaluator.evaluate(expression, session_.view()), format.letter);
    } catch (const DebugError &) {
      continue; // it has no value here
    }
    std::printf("%d: %s = %s\n", number, text.c_str(), value.c_str());
  }
}

void Console::examine(const std::string &text) {
  std::string expression = text;
  const Format given = takeFormat(expression);
  if (given.letter)
    examineFormat_.letter = given.letter;
  if (given.size)
    examineFormat_.size = given.size;
  Evaluator &evaluator = session_.module().evaluator;
  if (given.letter == 'i') {
    const std::vector<FrameSight> frames = needFrames();
    const debug::SourceMap &map = session_.module().map;
    const uint32_t first = frames[std::min(session_.frame(), frames.size() - 1)].instruction;
    const uint32_t end = map.firstOf(map.functionOf(first) + 1);
    for (uint32_t i = first; i < std::min<uint64_t>(end, first + given.count); ++i)
      std::printf("%s ptx:%u\t%s\n", i == first ? "=>" : "  ", map.ptxLine(i), map.text(i).c_str());
    return;
  }
  if (!expression.empty()) {
    const DebugValue value = evaluator.evaluate(expression, session_.view());
    const bool isMemory = value.type->kind == debug::Type::Kind::array ||
                          value.type->kind == debug::Type::Kind::record;
    examined_ = isMemory && value.address ? *value.address
                                          : static_cast<uint64_t>(Evaluator::asInteger(value));
    examinedType_ = value.type->target;
    if (!given.size) { // what it points to says how large elements are
      const uint64_t bytes = examinedType_ ? examinedType_->bytes : 0;
      examineFormat_.size = bytes == 1 ? 'b' : bytes == 2 ? 'h' : bytes == 8 ? 'g' : 'w';
    }
  }
  const char letter = examineFormat_.letter ? examineFormat_.letter : 'x';
  const char size = examineFormat_.size ? examineFormat_.size : 'w';
  const uint64_t bytes = size == 'b' ? 1 : size == 'h' ? 2 : size == 'g' ? 8 : 4;
  const uint64_t each = bytes == 8 ? 2 : bytes == 4 ? 4 : 8;
  const bool isFloat = letter == 'f';
  const debug::Type *type = session_.module().types.named(isFloat ? (bytes == 8   ? "double"
                                                                     : bytes == 2 ? "half"
                                                                                  : "float")
                                                                  : (bytes == 1   ? "uint8_t"
                                                                     : bytes == 2 ? "uint16_t"
                                                                     : bytes == 8 ? "uint64_t"
                                                                                  : "uint32_t"));
  for (uint64_t i = 0; i < given.count; ++i) {
    DebugValue value{type, std::string(bytes, '\0'), std::nullopt};
    const bool isReadable = Evaluator::readMemory(examined_, value.bytes.data(), bytes);
    if (i % each == 0)
      std::printf("%s0x%llx:", i ? "\n" : "", static_cast<unsigned long long>(examined_));
    if (!isReadable) {
      std::printf("\n");
      char message[64];
      std::snprintf(message, sizeof message, "cannot access memory at address 0x%llx",
                    static_cast<unsigned long long>(examined_));
      throw DebugError(message);
    }
    std::string shown = evaluator.format(value, isFloat ? 0 : letter);
    if (letter == 'x') { // as wide as the element
      const std::string digits = shown.substr(2);
      shown =
          "0x" + std::string(2 * bytes - std::min<size_t>(2 * bytes, digits.size()), '0') + digits;
    }
    std::printf("\t%s", shown.c_str());
    examined_ += bytes;
  }
  std::printf("\n");
}

// --- Source ------------------------------------------------------------------------------------

void Console::list(const std::string &where) {
  constexpr uint32_t kLines = 10;
  debug::SourceMap &map = session_.module().map;
  const auto around = [&](const std::string &file, uint32_t line) {
    listedFile_ = file;
    listedLine_ = line > kLines / 2 ? line - kLines / 2 : 1;
  };
  const auto aroundInstruction = [&](uint32_t instruction) {
    const auto source = map.source(instruction);
    if (source && map.lineText(source->file, source->line))
      around(source->file, source->line);
    else
      around(map.name(), map.ptxLine(instruction));
  };
  const bool isNumber =
      !where.empty() && where.find_first_not_of("0123456789") == std::string::npos;
  if (where.empty() || where == "-" || isNumber) {
    if (listedFile_.empty()) {
      const std::vector<FrameSight> frames = session_.frames(session_.focusThread());
      if (frames.empty()) {
        aroundInstruction(*map.ofFunction(session_.launch().kernel->name));
      } else {
        const FrameSight &frame = frames[std::min(session_.frame(), frames.size() - 1)];
        if (frame.source && map.lineText(frame.source->file, frame.source->line))
          around(frame.source->file, frame.source->line);
        else
          around(map.name(), frame.ptxLine);
      }
    } else if (where == "-") {
      listedLine_ = listedLine_ > 2 * kLines ? listedLine_ - 2 * kLines : 1;
    }
    if (isNumber)
      around(listedFile_, static_cast<uint32_t>(std::stoul(where)));
  } else if (const size_t colon = where.rfind(':'); colon != std::string::npos) {
    const std::string wanted = where.substr(0, colon);
    std::string found;
    for (const std::string_view file : map.files())
      if (!file.empty() && (file == wanted || file.ends_with("/" + wanted)))
        found = std::string(file);
    if (wanted == "ptx" || baseName(map.name()) == wanted)
      found = map.name();
    if (found.empty())
      throw DebugError("no source file named " + wanted);
    around(found, static_cast<uint32_t>(std::strtoul(where.c_str() + colon + 1, nullptr, 10)));
  } else if (const auto instruction = map.ofFunction(where)) {
    aroundInstruction(*instruction);
  } else {
    throw DebugError("function \"" + where + "\" not defined");
  }
  if (listedLine_ > map.lineCount(listedFile_))
    throw DebugError("line number " + std::to_string(listedLine_) + " out of range; \"" +
                     baseName(listedFile_) + "\" has " +
                     std::to_string(map.lineCount(listedFile_)) + " lines");
  for (uint32_t shown = 0; shown < kLines; ++shown, ++listedLine_) {
    const auto text = map.lineText(listedFile_, listedLine_);
    if (!text)
      break;
    std::printf("%u\t%s\n", listedLine_, text->c_str());
  }
}

} // namespace ptxrun::command
