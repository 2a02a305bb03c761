; lanes=32 block=32,1,1 cpu=avx2
; Four lanes for each row of a tile, whose place is computed in the loop out of what stays the same: each row is fetched for the next round.
define void @k(ptr %params) {
entry:
  %x = call i32 @ptx.sreg.tid.x()
  %in = load i64, ptr %params, !invariant.load !0
  %ppitch = getelementptr i8, ptr %params, i64 8
  %pitch = load i64, ptr %ppitch, !invariant.load !0
  %prounds = getelementptr i8, ptr %params, i64 16
  %rounds = load i32, ptr %prounds, !invariant.load !0
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %row = lshr i32 %x, 2
  %row64 = zext nneg i32 %row to i64
  %begin = mul i64 %row64, %pitch
  %part = and i32 %x, 3
  %part16 = shl nuw nsw i32 %part, 4
  %part64 = zext nneg i32 %part16 to i64
  %inRow = add i64 %begin, %part64
  %moved = shl i32 %i, 6
  %moved64 = sext i32 %moved to i64
  %o = add i64 %inRow, %moved64
  %a = add i64 %in, %o
  %p = inttoptr i64 %a to ptr
  %v = load <4 x i32>, ptr %p, align 16
  %place = shl i32 %x, 4
  %s = inttoptr i32 %place to ptr addrspace(3)
  store <4 x i32> %v, ptr addrspace(3) %s, align 16
  call void @ptx.bar.sync(i32 0, i32 0)
  %next = add nuw nsw i32 %i, 1
  %goesOn = icmp slt i32 %next, %rounds
  br i1 %goesOn, label %loop, label %end

end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare void @ptx.bar.sync(i32, i32) convergent
!0 = !{}
