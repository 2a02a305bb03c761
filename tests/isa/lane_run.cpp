#include "tests/isa/lane_run.h"

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/TargetSelect.h>

#include "translate/check/check.h"
#include "translate/lower/lower.h"

namespace ptxrun::isa_test {

namespace {

uint32_t currentThread, currentBlock, blockSize;
uint32_t threadX() { return currentThread; }
uint32_t blockX() { return currentBlock; }
uint32_t blockSizeX() { return blockSize; }

using Lane = void (*)(const void *params);

/// The kernel as machine code; `jit` owns it.
llvm::Expected<Lane> compile(lower::LaneModule lane, std::unique_ptr<llvm::orc::LLJIT> &jit) {
  auto made = llvm::orc::LLJITBuilder().create();
  if (!made)
    return made.takeError();
  jit = std::move(*made);
  llvm::orc::SymbolMap words;
  const std::pair<const char *, uint32_t (*)()> known[] = {
      {"ptx.sreg.tid.x", threadX}, {"ptx.sreg.ctaid.x", blockX}, {"ptx.sreg.ntid.x", blockSizeX}};
  for (const auto &[name, function] : known)
    words[jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                         llvm::JITSymbolFlags::Exported};
  if (llvm::Error error =
          jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(words))))
    return std::move(error);
  lane.module->setDataLayout(jit->getDataLayout());
  lane.kernel->setName("lane");
  lane.kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
  if (llvm::Error error = jit->addIRModule({std::move(lane.module), std::move(lane.context)}))
    return std::move(error);
  auto address = jit->lookup("lane");
  if (!address)
    return address.takeError();
  return address->toPtr<Lane>();
}

} // namespace

struct LaneRun::State {
  std::unique_ptr<support::SourceFile> source;
  std::unique_ptr<support::Diagnostics> diagnostics;
  std::unique_ptr<check::CheckedModule> checked;
};

LaneRun::LaneRun(const std::string &name, const std::string &text, std::string &message)
    : state_(new State) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  state_->source = std::make_unique<support::SourceFile>(name, text);
  state_->diagnostics = std::make_unique<support::Diagnostics>(*state_->source);
  state_->checked = check::parseAndCheck(*state_->source, *state_->diagnostics);
  if (!state_->checked)
    message = state_->diagnostics->text();
}

LaneRun::~LaneRun() = default;

std::string LaneRun::run(const std::string &name, unsigned threads, unsigned block,
                         const void *params) {
  const check::Module &module = state_->checked->module();
  auto lane = lower::lowerKernel(module, *module.findFunction(name), {}, *state_->diagnostics);
  if (!lane)
    return llvm::toString(lane.takeError()) + "\n" + state_->diagnostics->text();
  std::unique_ptr<llvm::orc::LLJIT> jit;
  auto code = compile(std::move(*lane), jit);
  if (!code)
    return llvm::toString(code.takeError());
  blockSize = block;
  for (unsigned i = 0; i < threads; ++i) {
    currentThread = i % block;
    currentBlock = i / block;
    (*code)(params);
  }
  return "";
}

} // namespace ptxrun::isa_test
