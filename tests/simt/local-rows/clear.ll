; lanes=32 block=256,1,1 cpu=avx512
; Sixteen bytes that are cleared at once, and one of them that is read: byte by byte for all lanes.
define void @k(ptr %params) {
  %bytes = alloca [16 x i8], align 16
  store <4 x i32> zeroinitializer, ptr %bytes, align 16
  %x = call i32 @ptx.sreg.tid.x()
  %e = zext i32 %x to i64
  %p = getelementptr i8, ptr %bytes, i64 %e
  %v = load i8, ptr %p, align 1
  %base = load i64, ptr %params, align 8
  %a = add i64 %base, %e
  %q = inttoptr i64 %a to ptr
  store i8 %v, ptr %q, align 1
  ret void
}
declare i32 @ptx.sreg.tid.x() memory(none)
