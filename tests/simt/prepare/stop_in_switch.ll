; lanes=32 block=64,1,1 cpu=avx2
; A call through an address that is no function's ends the launch: that way hides neither that lanes meet behind the switch, nor that they leave the loop together.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %n = load i32, ptr %params
  br label %round
round:
  %i = phi i32 [ %x, %0 ], [ %next, %behind ]
  %f = load volatile i32, ptr %params
  switch i32 %f, label %wild [
    i32 7, label %one
    i32 8, label %two
  ]
wild:
  call void @ptx.trap()
  unreachable
one:
  br label %behind
two:
  br label %behind
behind:
  %v = phi i32 [ 1, %one ], [ 2, %two ]
  %next = add i32 %i, %v
  %more = icmp ult i32 %next, %n
  br i1 %more, label %round, label %end
end:
  call void @ptx.bar.sync(i32 0, i32 0)
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare void @ptx.trap()
declare void @ptx.bar.sync(i32, i32) convergent
