; lanes=32 block=256,1,1 cpu=avx2
; A range of blocks, gang after gang.
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
  store i32 %i, ptr %p, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
