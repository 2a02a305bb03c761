; lanes=32 block=64,1,1 cpu=avx2
; Whether there is another round is read behind a barrier: all gangs go by what the first one has read.
define void @k(ptr %params) {
entry:
  br label %loop

loop:
  call void @ptx.bar.sync(i32 0, i32 0)
  %left = load i32, ptr addrspace(3) inttoptr (i32 64 to ptr addrspace(3)), align 4
  call void @ptx.bar.sync(i32 0, i32 0)
  %x = call i32 @ptx.sreg.tid.x()
  %isFirst = icmp eq i32 %x, 0
  br i1 %isFirst, label %count, label %next

count:
  %less = add i32 %left, -1
  store i32 %less, ptr addrspace(3) inttoptr (i32 64 to ptr addrspace(3)), align 4
  br label %next

next:
  %isDone = icmp eq i32 %left, 0
  br i1 %isDone, label %end, label %loop

end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare void @ptx.bar.sync(i32, i32) convergent
