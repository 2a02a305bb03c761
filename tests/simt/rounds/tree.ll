; lanes=32 block=64,1,1 cpu=avx512
; A tree whose rounds say which lanes take part: a round for each distance, with masks and places that are constants.
define void @k(ptr %params) {
entry:
  %t = call i32 @ptx.sreg.tid.x()
  %n = call i32 @ptx.sreg.ntid.x()
  br label %round
round:
  %s = phi i32 [ 1, %entry ], [ %twice, %next ]
  %twice = shl i32 %s, 1
  %index = mul i32 %twice, %t
  %takes.part = icmp ult i32 %index, %n
  br i1 %takes.part, label %add, label %next
add:
  %other = add i32 %index, %s
  %to = shl i32 %index, 2
  %from = shl i32 %other, 2
  %p = inttoptr i32 %to to ptr addrspace(3)
  %q = inttoptr i32 %from to ptr addrspace(3)
  %a = load i32, ptr addrspace(3) %p, align 4
  %b = load i32, ptr addrspace(3) %q, align 4
  %c = add i32 %a, %b
  store i32 %c, ptr addrspace(3) %p, align 4
  br label %next
next:
  call void @ptx.bar.sync(i32 0, i32 0)
  %again = icmp ult i32 %twice, 8
  br i1 %again, label %round, label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ntid.x() memory(none)
declare void @ptx.bar.sync(i32, i32) convergent
