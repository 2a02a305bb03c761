; lanes=32 block=256,1,1 cpu=avx2
; A round of a tree whose stride only the launch knows: its loads and the store are a function of one thread.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %stride = load i32, ptr %params, !invariant.load !0
  %np = getelementptr i8, ptr %params, i64 4
  %n = load i32, ptr %np, !invariant.load !0
  %in = icmp ult i32 %x, %n
  br i1 %in, label %round, label %end
round:
  %twice = shl i32 %x, 1
  %odd = or i32 %twice, 1
  %index = mul i32 %odd, %stride
  %bytes = shl i32 %index, 2
  %step = shl i32 %stride, 2
  %other = add i32 %bytes, %step
  %a = inttoptr i32 %bytes to ptr addrspace(3)
  %b = inttoptr i32 %other to ptr addrspace(3)
  %va = load i32, ptr addrspace(3) %a
  %vb = load i32, ptr addrspace(3) %b
  %sum = add i32 %va, %vb
  store i32 %sum, ptr addrspace(3) %b
  br label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
!0 = !{}
