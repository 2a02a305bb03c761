; lanes=8 block=8,4,1 cpu=avx512 with=across-gangs
; Lanes lie a row apart, gangs side by side: a register for each lane, transposed. Before anything is written all gangs part if a
; number wraps; behind that, the stores are there as they were.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %y = call i32 @ptx.sreg.tid.y()
  %base = load i64, ptr %params, !invariant.load !0
  %np = getelementptr i8, ptr %params, i64 8
  %n = load i32, ptr %np, !invariant.load !0
  %row = mul i32 %x, %n
  %place = add i32 %row, %y
  %wide = sext i32 %place to i64
  %offset = shl i64 %wide, 3
  %at = add i64 %base, %offset
  %p = inttoptr i64 %at to ptr
  %v = load double, ptr %p, align 8
  %d = fadd double %v, 1.0
  store double %d, ptr %p, align 8
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare i32 @ptx.sreg.tid.y()
!0 = !{}
