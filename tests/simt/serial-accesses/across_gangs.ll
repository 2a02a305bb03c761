; lanes=32 block=32,8,1 cpu=avx2
; A column that is added to: lanes lie apart, gangs side by side. It stays as it is, for gangs in lockstep (across-gangs).
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %y = call i32 @ptx.sreg.tid.y()
  %stride = load i32, ptr %params, !invariant.load !0
  %inp = getelementptr i8, ptr %params, i64 8
  %in = load i64, ptr %inp, !invariant.load !0
  %outp = getelementptr i8, ptr %params, i64 16
  %out = load i64, ptr %outp, !invariant.load !0
  %row = mul i32 %x, %stride
  %index = add i32 %row, %y
  %wide = sext i32 %index to i64
  %bytes = shl i64 %wide, 2
  %from = add i64 %in, %bytes
  %to = add i64 %out, %bytes
  %a = inttoptr i64 %from to ptr addrspace(1)
  %b = inttoptr i64 %to to ptr addrspace(1)
  %va = load float, ptr addrspace(1) %a
  %vb = load float, ptr addrspace(1) %b
  %sum = fadd float %va, %vb
  store float %sum, ptr addrspace(1) %b
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.tid.y() memory(none)
!0 = !{}
