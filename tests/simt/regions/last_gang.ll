; lanes=32 block=40,1,1 cpu=avx2
; The second gang has eight lanes, and a copy of the region of its own.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %e = zext i32 %x to i64
  %o = shl i64 %e, 2
  %base = load i64, ptr %params
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %v = load i32, ptr %p, align 4
  call void @ptx.bar.sync(i32 0, i32 0)
  %w = mul i32 %v, %v
  store i32 %w, ptr %p, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare void @ptx.bar.sync(i32, i32) convergent
