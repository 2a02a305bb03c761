; lanes=16 block=16,4,1 cpu=avx512
; Rows of a product read the same row of b: gangs in lockstep load it once.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %y = call i32 @ptx.sreg.tid.y()
  %base = load i64, ptr %params
  %x8 = zext i32 %x to i64
  %xo = shl i64 %x8, 2
  %b0 = add i64 %base, %xo
  %y8 = zext i32 %y to i64
  %yo = shl i64 %y8, 8
  %a0 = add i64 %base, %yo
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %s = phi float [ 0.0, %0 ], [ %s1, %loop ]
  %ko = shl i64 %k, 6
  %bk = add i64 %b0, %ko
  %bp = inttoptr i64 %bk to ptr
  %bv = load float, ptr %bp, align 4
  %ao = shl i64 %k, 2
  %ak = add i64 %a0, %ao
  %ap = inttoptr i64 %ak to ptr
  %av = load float, ptr %ap, align 4
  %product = fmul float %av, %bv
  %s1 = fadd float %s, %product
  %k1 = add i64 %k, 1
  %z = icmp eq i64 %k1, 64
  br i1 %z, label %end, label %loop
end:
  %c = add i64 %a0, %xo
  %cp = inttoptr i64 %c to ptr
  store float %s1, ptr %cp, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.tid.y() memory(none)
