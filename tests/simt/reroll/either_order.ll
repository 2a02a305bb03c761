; lanes=32 block=32,4,1
; What is left first, and behind the unrolled loop: both are one loop of single rounds, for gangs in which no index wraps. The third one adds
; something else in its second copy, and stays.
define void @k(ptr %params) {
entry:
  %n = load i32, ptr %params, !invariant.load !0
  %xp = getelementptr i8, ptr %params, i64 8
  %x = load i64, ptr %xp, !invariant.load !0
  %lane = call i32 @ptx.sreg.tid.x()
  %row = call i32 @ptx.sreg.tid.y()
  %any = icmp slt i32 %lane, %n
  br i1 %any, label %first, label %done

first:
  %not = xor i32 %lane, -1
  %distance = add i32 %n, %not
  %turns = lshr i32 %distance, 5
  %rounds = add i32 %turns, 1
  %left = and i32 %rounds, 1
  %none = icmp eq i32 %left, 0
  br i1 %none, label %joined, label %ahead
ahead:
  %begin = mul i32 %row, %n
  %at = add i32 %begin, %lane
  %at.wide = sext i32 %at to i64
  %at.bytes = shl i64 %at.wide, 2
  %start = add i64 %x, %at.bytes
  br label %one
one:
  %p = phi i64 [ %start, %ahead ], [ %p.next, %one ]
  %k = phi i32 [ %lane, %ahead ], [ %k.next, %one ]
  %l = phi i32 [ %left, %ahead ], [ %l.next, %one ]
  %s = phi i32 [ 0, %ahead ], [ %s.next, %one ]
  %place = inttoptr i64 %p to ptr
  %v = load i32, ptr %place, !invariant.load !0
  %s.next = add i32 %v, %s
  %k.next = add i32 %k, 32
  %p.next = add i64 %p, 128
  %l.next = add i32 %l, -1
  %on = icmp ne i32 %l.next, 0
  br i1 %on, label %one, label %joined
joined:
  %k.joined = phi i32 [ %lane, %first ], [ %k.next, %one ]
  %s.joined = phi i32 [ 0, %first ], [ %s.next, %one ]
  %few = icmp ult i32 %distance, 32
  br i1 %few, label %behind, label %ahead.many
ahead.many:
  %begin.many = mul i32 %row, %n
  %at.many = add i32 %begin.many, %k.joined
  %many.wide = sext i32 %at.many to i64
  %many.bytes = shl i64 %many.wide, 2
  %start.many = add i64 %x, %many.bytes
  br label %many
many:
  %q = phi i64 [ %start.many, %ahead.many ], [ %q.next, %many ]
  %j = phi i32 [ %k.joined, %ahead.many ], [ %j.next, %many ]
  %t = phi i32 [ %s.joined, %ahead.many ], [ %t1, %many ]
  %place0 = inttoptr i64 %q to ptr
  %v0 = load i32, ptr %place0, !invariant.load !0
  %t0 = add i32 %t, %v0
  %q1 = add i64 %q, 128
  %place1 = inttoptr i64 %q1 to ptr
  %v1 = load i32, ptr %place1, !invariant.load !0
  %t1 = add i32 %t0, %v1
  %q.next = add i64 %q, 256
  %j.next = add i32 %j, 64
  %again = icmp slt i32 %j.next, %n
  br i1 %again, label %many, label %behind
behind:
  %sum = phi i32 [ %s.joined, %joined ], [ %t1, %many ]

  %few2 = icmp ult i32 %distance, 32
  br i1 %few2, label %joined2, label %ahead2
ahead2:
  %lane2 = zext i32 %lane to i64
  %bytes2 = shl i64 %lane2, 2
  %start2 = add i64 %x, %bytes2
  %whole2 = sub i32 %turns, %left
  br label %many2
many2:
  %q2 = phi i64 [ %start2, %ahead2 ], [ %q2.next, %many2 ]
  %j2 = phi i32 [ %lane, %ahead2 ], [ %j2.next, %many2 ]
  %c2 = phi i32 [ %whole2, %ahead2 ], [ %c2.next, %many2 ]
  %place20 = inttoptr i64 %q2 to ptr
  store i32 %sum, ptr %place20
  %q21 = add i64 %q2, 128
  %place21 = inttoptr i64 %q21 to ptr
  store i32 %sum, ptr %place21
  %q2.next = add i64 %q2, 256
  %j2.next = add i32 %j2, 64
  %c2.next = add i32 %c2, -2
  %again2 = icmp ne i32 %c2.next, -1
  br i1 %again2, label %many2, label %joined2
joined2:
  %j2.joined = phi i32 [ %lane, %behind ], [ %j2.next, %many2 ]
  %none2 = icmp eq i32 %left, 0
  br i1 %none2, label %third, label %ahead.one2
ahead.one2:
  %one2.wide = sext i32 %j2.joined to i64
  %one2.bytes = shl i64 %one2.wide, 2
  %start.one2 = add i64 %x, %one2.bytes
  br label %one2
one2:
  %p2 = phi i64 [ %start.one2, %ahead.one2 ], [ %p2.next, %one2 ]
  %l2 = phi i32 [ %left, %ahead.one2 ], [ %l2.next, %one2 ]
  %place2 = inttoptr i64 %p2 to ptr
  store i32 %sum, ptr %place2
  %p2.next = add i64 %p2, 128
  %l2.next = add i32 %l2, -1
  %on2 = icmp ne i32 %l2.next, 0
  br i1 %on2, label %one2, label %third

third:
  br i1 %none, label %joined3, label %ahead3
ahead3:
  %lane3 = zext i32 %lane to i64
  %bytes3 = shl i64 %lane3, 2
  %start3 = add i64 %x, %bytes3
  br label %one3
one3:
  %p3 = phi i64 [ %start3, %ahead3 ], [ %p3.next, %one3 ]
  %k3 = phi i32 [ %lane, %ahead3 ], [ %k3.next, %one3 ]
  %l3 = phi i32 [ %left, %ahead3 ], [ %l3.next, %one3 ]
  %place3 = inttoptr i64 %p3 to ptr
  store i32 %sum, ptr %place3
  %p3.next = add i64 %p3, 128
  %k3.next = add i32 %k3, 32
  %l3.next = add i32 %l3, -1
  %on3 = icmp ne i32 %l3.next, 0
  br i1 %on3, label %one3, label %joined3
joined3:
  %k3.joined = phi i32 [ %lane, %third ], [ %k3.next, %one3 ]
  br i1 %few2, label %done, label %ahead.many3
ahead.many3:
  %many3.wide = sext i32 %k3.joined to i64
  %many3.bytes = shl i64 %many3.wide, 2
  %start.many3 = add i64 %x, %many3.bytes
  br label %many3
many3:
  %q3 = phi i64 [ %start.many3, %ahead.many3 ], [ %q3.next, %many3 ]
  %j3 = phi i32 [ %k3.joined, %ahead.many3 ], [ %j3.next, %many3 ]
  %place30 = inttoptr i64 %q3 to ptr
  store i32 %sum, ptr %place30
  %q31 = add i64 %q3, 128
  %place31 = inttoptr i64 %q31 to ptr
  store i32 %n, ptr %place31
  %q3.next = add i64 %q3, 256
  %j3.next = add i32 %j3, 64
  %again3 = icmp slt i32 %j3.next, %n
  br i1 %again3, label %many3, label %done
done:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.tid.y() memory(none)
!0 = !{}
