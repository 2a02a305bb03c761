; lanes=32 block=64,1,1 cpu=avx2
; Four lanes ask one lane for a row of 16 bytes, whose address nothing is known of, and load a word of it each: one load for each row.
define void @k(ptr %params) {
  %base = load i64, ptr %params
  %t = call i32 @ptx.sreg.tid.x()
  %lane = and i32 %t, 31
  %e = zext i32 %t to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %row = load i32, ptr %p
  %giver = lshr i32 %lane, 2
  %s = call { i32, i1 } @ptx.shfl.sync.idx(i32 %row, i32 %giver, i32 31, i32 -1)
  %theirs = extractvalue { i32, i1 } %s, 0
  %word = and i32 %lane, 3
  %w = shl i32 %word, 2
  %at = add i32 %theirs, %w
  %q = inttoptr i32 %at to ptr addrspace(3)
  %v = load i32, ptr addrspace(3) %q, align 4
  store i32 %v, ptr %p
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare { i32, i1 } @ptx.shfl.sync.idx(i32, i32, i32, i32)
