; lanes=8 block=64,1,1 cpu=avx2
; Two returns become one, the switch branches, %ntid a number.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %n = call i32 @ptx.sreg.ntid.x()
  %base = load i64, ptr %params
  %p = inttoptr i64 %base to ptr
  switch i32 %x, label %rest [
    i32 0, label %zero
    i32 1, label %one
  ]
zero:
  ret void
one:
  store i32 %n, ptr %p
  ret void
rest:
  store i32 %x, ptr %p
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ntid.x() memory(none)
