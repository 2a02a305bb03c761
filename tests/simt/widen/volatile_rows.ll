; lanes=8 block=64,1,1 cpu=avx2 with=guesses
; An index that wraps round at a mask that the launch says mostly lies in a row: one volatile access of it, else one for each lane.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %mask = load i32, ptr %params
  %q = getelementptr i8, ptr %params, i64 8
  %base = load i64, ptr %q
  %i = and i32 %x, %mask
  %e = zext i32 %i to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %v = load volatile i32, ptr %p, align 4
  %s = add i32 %v, 1
  store volatile i32 %s, ptr %p, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
