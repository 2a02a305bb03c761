#include "translate/observe/dependence.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>
#include <set>
#include <tuple>

#include "intrinsics/texture.h"
#include "translate/lower/runtime_words.h"

namespace ptxrun::observe {

namespace {

/// Stands for the module's variables among the offsets of parameters.
constexpr uint32_t kVariables = ~0u;

/// What an address is reckoned from.
struct Origin {
  std::set<uint32_t> bases; ///< parameters that may be its pointer, kVariables
  bool isShared = false, isOwn = false;
  bool isUnknown = false; ///< it may be a pointer from memory
  bool hasThread = false; ///< it depends on %tid, %ctaid, %laneid
  bool hasLane = false;   ///< of these on the place in the block, as a whole,
  bool hasRemainder = false, hasQuotient = false; ///< or on what is left when that is divided
  bool hasLoaded = false;                         ///< it depends on what was read from memory
};

class OriginFinder {
 public:
  explicit OriginFinder(const llvm::Function &kernel) : kernel_(kernel) {}

  Origin find(const llvm::Value *pointer) {
    Origin origin;
    seen_.clear();
    if (pointer->getType()->isPointerTy() &&
        pointer->getType()->getPointerAddressSpace() == lower::kShared)
      origin.isShared = true;
    follow(pointer, /*mayBePointer=*/true, Part::all, origin);
    if (origin.bases.empty() && !origin.isShared && !origin.isOwn)
      origin.isUnknown = true;
    return origin;
  }

  /// Whether the value can differ between threads of a block: by their numbers, or by what they
  /// read at addresses that depend on them.
  bool differsInBlock(const llvm::Value *value) {
    std::set<const llvm::Value *> seen;
    std::vector<const llvm::Value *> left{value};
    while (!left.empty()) {
      const llvm::Value *v = left.back();
      left.pop_back();
      if (!seen.insert(v).second)
        continue;
      if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(v))
        return true;
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(v)) {
        const llvm::Function *callee = call->getCalledFunction();
        if (!callee || isPlaceInBlock(callee->getName()) ||
            !(callee->isIntrinsic() || callee->getName().starts_with("ptx.sreg.")))
          return true;
      }
      if (auto *i = llvm::dyn_cast<llvm::Instruction>(v))
        left.insert(left.end(), i->value_op_begin(), i->value_op_end());
    }
    return false;
  }

  static bool isPlaceInBlock(llvm::StringRef name) {
    return name.starts_with("ptx.sreg.tid") || name == "ptx.sreg.laneid" ||
           name == "ptx.sreg.warpid";
  }

 private:
  /// What is left of a number on its way into an address.
  enum class Part : uint8_t { all, remainder, quotient };

  void follow(const llvm::Value *v, bool mayBePointer, Part part, Origin &origin) {
    if (llvm::isa<llvm::Constant>(v) && !llvm::isa<llvm::GlobalVariable>(v)) {
      if (auto *expression = llvm::dyn_cast<llvm::ConstantExpr>(v))
        for (const llvm::Value *operand : expression->operands())
          follow(operand, mayBePointer, part, origin);
      return;
    }
    if (!seen_.insert({v, mayBePointer, part}).second)
      return;
    if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(v);
        variable && variable->hasInitializer()) {
      origin.isOwn = true; // a table of constants
    } else if (variable) {
      origin.bases.insert(kVariables);
    } else if (llvm::isa<llvm::AllocaInst>(v)) {
      origin.isOwn = true;
    } else if (llvm::isa<llvm::Argument>(v)) {
      const bool isParameters = v == kernel_.getArg(0);
      (isParameters ? origin.isOwn : origin.isUnknown) = true;
    } else if (auto *load = llvm::dyn_cast<llvm::LoadInst>(v)) {
      followLoad(*load, mayBePointer, origin);
    } else if (auto *call = llvm::dyn_cast<llvm::CallBase>(v)) {
      followCall(*call, part, origin);
    } else if (auto *i = llvm::dyn_cast<llvm::Instruction>(v)) {
      if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(i)) {
        origin.hasLoaded = true;
        return;
      }
      const unsigned code = i->getOpcode();
      const bool keepsPointers =
          code == llvm::Instruction::Add || code == llvm::Instruction::Sub ||
          code == llvm::Instruction::Or || code == llvm::Instruction::And ||
          llvm::isa<llvm::PHINode, llvm::SelectInst, llvm::FreezeInst, llvm::IntToPtrInst,
                    llvm::PtrToIntInst, llvm::GetElementPtrInst, llvm::BitCastInst,
                    llvm::AddrSpaceCastInst>(i);
      const Part rest = partOf(*i, part);
      for (const llvm::Value *operand : i->operands())
        if (!llvm::isa<llvm::BasicBlock>(operand))
          follow(operand, mayBePointer && keepsPointers, rest, origin);
    }
  }

  /// Of an operand of the instruction, where its result comes to so much.
  static Part partOf(const llvm::Instruction &i, Part part) {
    const bool isByConstant =
        i.getNumOperands() == 2 && llvm::isa<llvm::ConstantInt>(i.getOperand(1));
    if (!isByConstant || part != Part::all)
      return part;
    switch (i.getOpcode()) {
    case llvm::Instruction::And: {
      // A mask of low bits; others may only align.
      const llvm::APInt &mask = llvm::cast<llvm::ConstantInt>(i.getOperand(1))->getValue();
      return mask.isMask() && mask.countr_one() <= 10 ? Part::remainder : part;
    }
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
      return Part::remainder;
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      return Part::quotient;
    default:
      return part;
    }
  }

  void followLoad(const llvm::LoadInst &load, bool mayBePointer, Origin &origin) {
    const llvm::DataLayout &layout = load.getModule()->getDataLayout();
    llvm::APInt offset(64, 0);
    const llvm::Value *base = load.getPointerOperand()->stripAndAccumulateConstantOffsets(
        layout, offset, /*AllowNonInbounds=*/true);
    const bool isWord = layout.getTypeStoreSize(load.getType()) == 8;
    if (base == kernel_.getArg(0) ||
        llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(base, 0))) {
      if (base != kernel_.getArg(0))
        origin.isUnknown |= mayBePointer && isWord, origin.hasLoaded = true;
      else if (mayBePointer && isWord)
        origin.bases.insert(static_cast<uint32_t>(offset.getZExtValue()));
      return;
    }
    origin.hasLoaded = true;
    origin.isUnknown |= mayBePointer && isWord;
  }

  void followCall(const llvm::CallBase &call, Part part, Origin &origin) {
    const llvm::Function *callee = call.getCalledFunction();
    const llvm::StringRef name = callee ? callee->getName() : "";
    if (name == "ptx.shared.base") {
      origin.isShared = true;
    } else if (name.starts_with("ptx.sreg.tid") || name.starts_with("ptx.sreg.ctaid") ||
               name.starts_with("ptx.sreg.clusterid") || name.starts_with("ptx.sreg.cluster_cta") ||
               name == "ptx.sreg.laneid" || name == "ptx.sreg.warpid") {
      origin.hasThread = true;
      if (isPlaceInBlock(name))
        (part == Part::all         ? origin.hasLane
         : part == Part::remainder ? origin.hasRemainder
                                   : origin.hasQuotient) = true;
    } else if (name.starts_with("ptx.sreg.")) {
    } else if (llvm::isa<llvm::IntrinsicInst>(call) || !name.starts_with("ptx.")) {
      for (const llvm::Value *argument : call.args())
        follow(argument, false, part, origin);
      if (!name.starts_with("llvm."))
        origin.hasLoaded = true;
    } else {
      origin.hasLoaded = true;
    }
  }

  const llvm::Function &kernel_;
  std::set<std::tuple<const llvm::Value *, bool, Part>> seen_;
};

/// Reads all functions of a module.
class Examiner {
 public:
  explicit Examiner(const lower::LaneModule &lane) : lane_(lane), origins_(*lane.kernel) {}

  Dependence run() {
    for (llvm::Function &function : *lane_.module) {
      if (!function.isDeclaration())
        dominators_.recalculate(function);
      for (const llvm::Instruction &i : llvm::instructions(function))
        read(i);
    }
    if (storesShared_ && !hasBarriers_)
      amongThreads("shared memory is written and nothing synchronises", nullptr);
    compareAccesses();
    if (storesSurfaces_ && loadsSurfaces_)
      amongBlocks("it reads a surface and writes to one", loadsSurfaces_);
    found_.writesAnywhere |= storesSurfaces_;
    for (const uint32_t base : written_)
      if (base == kVariables)
        found_.usesVariables = true;
      else
        found_.writes.push_back(base);
    for (const uint32_t base : read_)
      if (base != kVariables)
        found_.reads.push_back(base);
    return std::move(found_);
  }

 private:
  struct Access {
    const llvm::Instruction *at;
    const llvm::Value *pointer;
  };

  static std::string at(const llvm::Instruction *i) {
    return i && i->getDebugLoc() ? " at PTX line " + std::to_string(i->getDebugLoc().getLine())
                                 : "";
  }
  void amongThreads(const std::string &why, const llvm::Instruction *i) {
    if (found_.amongThreads.empty())
      found_.amongThreads = why + at(i);
  }
  void amongBlocks(const std::string &why, const llvm::Instruction *i) {
    if (found_.amongBlocks.empty())
      found_.amongBlocks = why + at(i);
  }

  void read(const llvm::Instruction &i) {
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
      readLoad(*load);
    else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
      readStore(i, store->getPointerOperand(), store->getValueOperand(),
                store->isVolatile() || store->isAtomic());
    else if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i))
      readUpdate(*update);
    else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i)) {
      amongThreads("threads compare and exchange", &i);
      noteWrite(origins_.find(exchange->getPointerOperand()));
    } else if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i))
      readCall(*call);
  }

  void readLoad(const llvm::LoadInst &load) {
    const Origin origin = origins_.find(load.getPointerOperand());
    if (origin.isOwn && origin.bases.empty())
      return;
    if (load.isVolatile() || load.isAtomic())
      amongThreads("a load looks at what others may be writing", &load);
    if (origin.isShared)
      return;
    found_.readsAnywhere |= origin.isUnknown;
    for (const uint32_t base : origin.bases) {
      read_.insert(base);
      loads_[base].push_back({&load, load.getPointerOperand()});
    }
  }

  void readStore(const llvm::Instruction &i, const llvm::Value *pointer, const llvm::Value *value,
                 bool isOrdered) {
    const Origin origin = origins_.find(pointer);
    if (origin.isOwn && origin.bases.empty())
      return;
    if (isOrdered)
      amongThreads("a store is for others that look at it", &i);
    if (origin.isShared) {
      storesShared_ = true;
      return;
    }
    noteWrite(origin);
    const bool isConstant = value && llvm::isa<llvm::Constant>(value);
    if (origin.isUnknown)
      amongBlocks("a store goes to an address from memory", &i);
    else if (origin.hasLoaded)
      amongBlocks("where a store goes depends on data", &i);
    else if (!origin.hasThread && !isConstant)
      amongBlocks("a store goes to one place whatever the thread", &i);
    if (value && !origin.isUnknown && !origin.hasLoaded)
      compareInBlock(i, origin, *value);
    for (const uint32_t base : origin.bases)
      stores_[base].push_back({&i, pointer});
  }

  /// Threads of one block that store different values to one place: where only a part of their
  /// number, or nothing of it, is in the address, and not one of them was chosen.
  void compareInBlock(const llvm::Instruction &i, const Origin &origin, const llvm::Value &value) {
    const bool isInjective = origin.hasLane || (origin.hasRemainder && origin.hasQuotient);
    if (isInjective || !origins_.differsInBlock(&value) || isOfChosenThread(i))
      return;
    amongThreads(origin.hasRemainder || origin.hasQuotient
                     ? "threads of a block may store to the same place"
                     : "threads of a block store to one place",
                 &i);
  }

  /// Whether it is executed where a comparison for equality (or with 1) singled out threads.
  bool isOfChosenThread(const llvm::Instruction &i) {
    for (auto *node = dominators_.getNode(i.getParent()); node; node = node->getIDom()) {
      auto *branch = llvm::dyn_cast<llvm::BranchInst>(node->getBlock()->getTerminator());
      if (branch && branch->isConditional() && node->getBlock() != i.getParent() &&
          choosesThread(branch->getCondition()))
        return true;
    }
    return false;
  }

  bool choosesThread(const llvm::Value *condition) {
    if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(condition)) {
      const auto *bound = llvm::dyn_cast<llvm::ConstantInt>(comparison->getOperand(1));
      const bool isNarrow = bound && bound->getValue().abs().ule(1);
      return (comparison->isEquality() || isNarrow) && origins_.differsInBlock(comparison);
    }
    if (auto *both = llvm::dyn_cast<llvm::Instruction>(condition); both && both->isBitwiseLogicOp())
      return choosesThread(both->getOperand(0)) || choosesThread(both->getOperand(1));
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(condition))
      return choosesThread(select->getCondition()) || choosesThread(select->getTrueValue()) ||
             choosesThread(select->getFalseValue());
    return llvm::isa<llvm::CallBase>(condition) ||
           (llvm::isa<llvm::ExtractValueInst>(condition)); // elect.sync and the like
  }

  void readUpdate(const llvm::AtomicRMWInst &update) {
    using Operation = llvm::AtomicRMWInst;
    switch (update.getOperation()) {
    case Operation::Add:
    case Operation::Sub:
    case Operation::And:
    case Operation::Or:
    case Operation::Xor:
    case Operation::Max:
    case Operation::Min:
    case Operation::UMax:
    case Operation::UMin:
      if (!update.use_empty())
        amongThreads("the result of an atomic operation says who came first", &update);
      break;
    default:
      amongThreads(update.isFloatingPointOperation()
                       ? "atomic operations in floating point round in the order they come"
                       : "an atomic operation keeps what came last",
                   &update);
    }
    const Origin origin = origins_.find(update.getPointerOperand());
    if (origin.isShared)
      return;
    noteWrite(origin);
    for (const uint32_t base : origin.bases)
      updates_[base].push_back({&update, update.getPointerOperand()});
  }

  void noteWrite(const Origin &origin) {
    if (origin.isShared)
      return;
    found_.writesAnywhere |= origin.isUnknown;
    written_.insert(origin.bases.begin(), origin.bases.end());
  }

  void readCall(const llvm::CallBase &call) {
    const llvm::Function *callee = call.getCalledFunction();
    if (!callee || !callee->isDeclaration())
      return;
    const llvm::StringRef name = callee->getName();
    if (name.starts_with("ptx.sreg.clock") || name == "ptx.sreg.globaltimer")
      amongThreads("it reads a clock", &call);
    else if (name == "ptx.sreg.smid" || name == "ptx.sreg.nsmid" || name == "ptx.sreg.gridid")
      amongThreads("it asks where it runs", &call);
    else if (name == "ptx.call.vprintf")
      amongThreads("threads print in the order they come", &call);
    else if (name == "ptx.call.malloc" || name == "ptx.call.free") {
      amongThreads("addresses of malloc depend on the order of calls", &call);
      found_.writesAnywhere = true;
    } else if (name == "ptx.activemask")
      amongThreads("activemask tells who runs together", &call);
    else if (name.starts_with("ptx.bar.") || name.starts_with("ptx.mbarrier.") ||
             name.starts_with("ptx.cluster.wait") || name.contains(".sync"))
      hasBarriers_ = true;
    if (name == "ptx.texture")
      readTexture(call);
    if (name == "ptx.cluster.try_cancel")
      amongThreads("blocks take over others that have not started", &call);
    if (const lower::RuntimeWord *word = lower::findRuntimeWord(std::string_view(name));
        word && (name.starts_with("ptx.cp.") || name == "ptx.red.async"))
      readCopy(call, name);
  }

  /// Surfaces: which memory is behind one, nobody can tell here. Textures of what the launch writes
  /// have no defined contents.
  void readTexture(const llvm::CallBase &call) {
    const auto *packed = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (!packed)
      return;
    constexpr unsigned kFirstRow = 3; // behind operation, surface and sampler
    const auto operation =
        abi::TextureOperation::unpack(static_cast<uint32_t>(packed->getZExtValue()));
    switch (operation.action) {
    case abi::TextureAction::load:
      loadsSurfaces_ = &call;
      return;
    case abi::TextureAction::reduce:
    case abi::TextureAction::reduceTexel: // in any order the same
      storesSurfaces_ = true;
      return;
    case abi::TextureAction::store:
    case abi::TextureAction::storeTexel:
      break;
    default:
      return;
    }
    storesSurfaces_ = true;
    bool hasThread = false;
    for (uint32_t row = abi::kRowLayer; row < abi::kRowX + 3; ++row) { // layer, x, y, z
      const llvm::Value *coordinate = call.getArgOperand(kFirstRow + row);
      if (llvm::isa<llvm::UndefValue>(coordinate))
        continue;
      const Origin origin = origins_.find(coordinate);
      hasThread |= origin.hasThread;
      if (origin.hasLoaded)
        amongBlocks("where a surface is written depends on data", &call);
    }
    if (!hasThread)
      amongBlocks("a surface is written at one place whatever the thread", &call);
  }

  /// Asynchronous copies: most go to shared memory.
  void readCopy(const llvm::CallBase &call, llvm::StringRef name) {
    found_.readsAnywhere = true;
    if (name == "ptx.cp.async" || name == "ptx.cp.tensor.load" || name.contains("wait") ||
        name.contains("commit") || name.contains("arrive") || name.contains("multicast"))
      return;
    const bool isReduction = name.contains("red");
    if (isReduction)
      amongThreads("asynchronous reductions come in any order", &call);
    Origin to;
    to.isUnknown = true;
    if (name == "ptx.cp.async.bulk" || name == "ptx.cp.reduce.async.bulk")
      to = origins_.find(call.getArgOperand(0));
    if (!to.isShared) {
      noteWrite(to);
      found_.writesAnywhere = true;
    }
  }

  /// Plain loads of what is also stored to: each must read a place that its own thread writes.
  void compareAccesses() {
    for (const auto &[base, stores] : stores_) {
      std::set<const llvm::Value *> places;
      for (const Access &store : stores)
        places.insert(store.pointer->stripPointerCasts());
      for (const Access &load : loads_[base])
        if (!places.contains(load.pointer->stripPointerCasts()))
          amongThreads("it reads what other threads may write", load.at);
      if (const auto found = updates_.find(base); found != updates_.end())
        amongBlocks("it stores to what others update", stores.front().at);
    }
    for (const auto &[base, updates] : updates_)
      if (!loads_[base].empty())
        amongBlocks("it reads what other blocks may update", loads_[base].front().at);
    if (found_.writesAnywhere)
      amongBlocks("it writes through pointers from memory", nullptr);
    else if (found_.readsAnywhere && !stores_.empty())
      amongBlocks("it reads through pointers from memory what it may write", nullptr);
  }

  const lower::LaneModule &lane_;
  OriginFinder origins_;
  llvm::DominatorTree dominators_; ///< of the function that is read
  Dependence found_;
  std::map<uint32_t, std::vector<Access>> loads_, stores_, updates_;
  std::set<uint32_t> written_, read_;
  bool storesShared_ = false, hasBarriers_ = false, storesSurfaces_ = false;
  const llvm::Instruction *loadsSurfaces_ = nullptr;
};

} // namespace

Dependence examineDependence(const lower::LaneModule &lane) { return Examiner(lane).run(); }

} // namespace ptxrun::observe
