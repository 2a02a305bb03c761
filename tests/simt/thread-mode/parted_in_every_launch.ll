; lanes=32 block=256,1,1 cpu=avx512
; Odd and even threads wait at barriers of their own: some lanes of each gang part every time, and W is 1.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %odd = and i32 %x, 1
  %isOdd = icmp eq i32 %odd, 1
  br i1 %isOdd, label %a, label %b
a:
  call void @ptx.bar.sync(i32 0, i32 0)
  br label %end
b:
  call void @ptx.bar.sync(i32 0, i32 0)
  br label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare void @ptx.bar.sync(i32, i32) convergent
