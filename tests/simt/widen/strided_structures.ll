; lanes=8 block=256,1,1 cpu=avx2
; Pairs: both elements are loaded at once and taken apart.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %e = zext i32 %x to i64
  %o = shl i64 %e, 3
  %base = load i64, ptr %params
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p, align 4
  %a4 = add i64 %a, 4
  %p4 = inttoptr i64 %a4 to ptr
  %w = load float, ptr %p4, align 4
  %s = fsub float %v, %w
  store float %s, ptr %p, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
