; lanes=32 block=64,1,1 cpu=avx512
; Clocks are read where they stand, between barriers, by those that go on.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %n = load i32, ptr %params, !invariant.load !{}
  %outAt = getelementptr i8, ptr %params, i64 8
  %out = load ptr, ptr %outAt, !invariant.load !{}
  %goesOn = icmp slt i32 %x, %n
  br i1 %goesOn, label %timed, label %end
timed:
  %before = call i64 @ptx.sreg.clock64()
  call void @ptx.bar.sync(i32 0, i32 0)
  %behind = call i64 @ptx.sreg.clock64()
  %taken = sub i64 %behind, %before
  %place = getelementptr i64, ptr %out, i32 %x
  store i64 %taken, ptr %place
  br label %end
end:
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare i64 @ptx.sreg.clock64() memory(inaccessiblemem: readwrite)
declare void @ptx.bar.sync(i32, i32)
