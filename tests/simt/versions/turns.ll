; lanes=32 block=256,1,1 cpu=avx512 with=same-values
; A warp for each row: lanes of the last round count one more. Those that count the same take turns.
define void @k(ptr %params) {
entry:
  %x = call i32 @ptx.sreg.tid.x()
  %lane = and i32 %x, 31
  %base = load i64, ptr %params
  %c = getelementptr i8, ptr %params, i64 8
  %columns = load i32, ptr %c
  %no = xor i32 %lane, -1
  %left = add i32 %columns, %no
  %rounds = lshr i32 %left, 5
  %odd = and i32 %rounds, 1
  %none = icmp eq i32 %odd, 0
  br i1 %none, label %pairs, label %one
one:
  %e = zext i32 %lane to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p, align 4
  %next = add i32 %lane, 32
  br label %pairs
pairs:
  %first = phi i32 [ %lane, %entry ], [ %next, %one ]
  %sum = phi float [ 0.0, %entry ], [ %v, %one ]
  br label %loop
loop:
  %k = phi i32 [ %first, %pairs ], [ %k.next, %loop ]
  %s = phi float [ %sum, %pairs ], [ %s.next, %loop ]
  %ke = zext i32 %k to i64
  %ko = shl i64 %ke, 2
  %ka = add i64 %base, %ko
  %kp = inttoptr i64 %ka to ptr
  %kv = load float, ptr %kp, align 4
  %s.next = fadd float %s, %kv
  %k.next = add i32 %k, 64
  %more = icmp slt i32 %k.next, %columns
  br i1 %more, label %loop, label %end
end:
  %xe = zext i32 %x to i64
  %xo = shl i64 %xe, 2
  %out = add i64 %base, 65536
  %xa = add i64 %out, %xo
  %xp = inttoptr i64 %xa to ptr
  store float %s.next, ptr %xp, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
