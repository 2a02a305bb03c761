; lanes=32 block=256,1,1 cpu=avx512
; Behind a guard: code for gangs of which all lanes pass, and the rest under masks.
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
  %c = icmp slt i32 %i, 1000
  br i1 %c, label %body, label %end
body:
  %v = load float, ptr %p, align 4
  %w = fadd float %v, 1.0
  store float %w, ptr %p, align 4
  br label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
