; lanes=8 block=4,1,1 joined=8,1,1 cpu=avx2
; The CTA's number and the thread's, each by itself: a quotient and a remainder.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %bx = call i32 @ptx.sreg.ctaid.x()
  %x8 = zext i32 %x to i64
  %b8 = zext i32 %bx to i64
  %bo = mul i64 %b8, 48
  %base = load i64, ptr %params
  %a = add i64 %base, %bo
  %ac = add i64 %a, %x8
  %p = inttoptr i64 %ac to ptr
  store i8 1, ptr %p
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
