; lanes=32 block=256,1,1 cpu=avx512
; What every round stores to one place is stored once, behind the loop.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %b = call i32 @ptx.sreg.ctaid.x()
  %m = mul i32 %b, 256
  %i = add i32 %m, %x
  %e = zext i32 %i to i64
  %o = shl i64 %e, 2
  %base = load i64, ptr %params
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  br label %loop
loop:
  %k = phi i32 [ 0, %0 ], [ %k1, %loop ]
  %v = load float, ptr %p
  %w = fadd float %v, 1.0
  store float %w, ptr %p
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
