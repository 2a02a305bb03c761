; lanes=32 block=24,3,1 cpu=avx2
; What one thread alone stores is a row of one, and stays where it is.
define void @k(ptr %params) {
entry:
  %in = load i64, ptr %params, align 8, !invariant.load !0
  %x = call i32 @ptx.sreg.tid.x()
  %y = call i32 @ptx.sreg.tid.y()
  %before = mul i32 %y, 24
  %t = add i32 %before, %x
  %is = icmp ult i32 %t, 1
  %place = shl i32 %t, 2
  br i1 %is, label %store, label %wait
store:
  %q = inttoptr i32 %place to ptr addrspace(3)
  store i32 %t, ptr addrspace(3) %q, align 4
  br label %wait
wait:
  call void @ptx.bar.sync(i32 0, i32 0)
  %r = inttoptr i32 %place to ptr addrspace(3)
  %other = load i32, ptr addrspace(3) %r, align 4
  %o = inttoptr i64 %in to ptr
  %out = getelementptr i32, ptr %o, i32 %t
  store i32 %other, ptr %out, align 4
  ret void
}
declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.tid.y() memory(none)
declare void @ptx.bar.sync(i32, i32)
!0 = !{}
