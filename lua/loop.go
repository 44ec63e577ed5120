package lua

import (
	lua "github.com/yuin/gopher-lua"
)

// run executes the function on top of L's call stack, as gopher-lua's loop does.
// That one asks a context through a channel before each instruction, and calls a
// function for each; here the frequent instructions are part of the loop, those
// that work on tables or call metamethods do it as PUC Lua, and gopher-lua's own
// functions do the rest. base is the frame at whose end the loop returns; it is
// nil in the loop in which a coroutine was started or resumed.
func run(L *lua.LState, base *callFrame) {
	m := machineOf(L)
	stack := m.segments()
	if m.stack.IsEmpty() {
		return
	}
	s := m.ctx.(*State)
	if m.currentFrame = m.stack.Last(); m.currentFrame.Fn.IsG {
		s.mayYield = false
		plainLoop(L, base)
		return
	}
	reg := m.reg
calls:
	for {
		cf := m.currentFrame
		proto := cf.Fn.Proto
		code, constants := proto.Code, proto.Constants
		local, pc := cf.LocalBase, cf.Pc
		for {
			inst := instruction(code[pc])
			pc++
			left := s.left - 1
			s.left = left
			if left < 0 || s.alarm.Load() {
				if cf.Pc = pc; !s.look() {
					L.RaiseError("%s", s.Err())
				}
			}
			ra := local + inst.a()
			switch inst.op() {
			case lua.OP_MOVE:
				reg.set(ra, reg.array[local+inst.b()])
				continue
			case lua.OP_MOVEN:
				reg.set(ra, reg.array[local+inst.b()])
				for range inst.c() {
					more := instruction(code[pc])
					reg.set(local+more.a(), reg.array[local+more.b()])
					pc++
				}
				continue
			case lua.OP_LOADNIL:
				for i := ra; i <= local+inst.b(); i++ {
					reg.set(i, lua.LNil)
				}
				continue
			case lua.OP_LOADK:
				reg.set(ra, constants[inst.bx()])
				continue
			case lua.OP_LOADBOOL:
				reg.set(ra, lua.LBool(inst.b() != 0))
				if inst.c() != 0 {
					pc++
				}
				continue
			case lua.OP_GETUPVAL:
				reg.set(ra, cf.Fn.Upvalues[inst.b()].Value())
				continue
			case lua.OP_SETUPVAL:
				cf.Fn.Upvalues[inst.b()].SetValue(reg.array[ra])
				continue
			case lua.OP_GETGLOBAL:
				env := cf.Fn.Env
				name := constants[inst.bx()]
				v, ok := itemsOf(env).strdict[string(name.(lua.LString))]
				if !ok {
					cf.Pc = pc
					v = s.getIndex(L, env, name)
				}
				reg.set(ra, v)
				continue
			case lua.OP_SETGLOBAL:
				cf.Pc = pc
				s.setIndex(L, cf.Fn.Env, constants[inst.bx()], reg.array[ra])
				continue
			case lua.OP_GETTABLE, lua.OP_GETTABLEKS:
				object, key := reg.array[local+inst.b()], reg.operand(constants, local, inst.c())
				if t, ok := object.(*lua.LTable); ok {
					if v := itemsOf(t).get(key); v != lua.LNil || t.Metatable == lua.LNil {
						reg.set(ra, v)
						continue
					}
				}
				cf.Pc = pc
				reg.set(ra, s.getIndex(L, object, key))
				continue
			case lua.OP_SELF:
				object, key := reg.array[local+inst.b()], reg.operand(constants, local, inst.c())
				cf.Pc = pc
				v := s.getIndex(L, object, key)
				reg.set(ra, v)
				reg.set(ra+1, object)
				continue
			case lua.OP_SETTABLE, lua.OP_SETTABLEKS:
				key, value := reg.operand(constants, local, inst.b()), reg.operand(constants, local, inst.c())
				cf.Pc = pc
				s.setIndex(L, reg.array[ra], key, value)
				continue
			case lua.OP_ADD, lua.OP_SUB, lua.OP_MUL, lua.OP_DIV, lua.OP_MOD, lua.OP_POW:
				a, b := reg.operand(constants, local, inst.b()), reg.operand(constants, local, inst.c())
				if x, ok := a.(lua.LNumber); ok {
					if y, ok := b.(lua.LNumber); ok {
						switch inst.op() {
						case lua.OP_ADD:
							x += y
						case lua.OP_SUB:
							x -= y
						case lua.OP_MUL:
							x *= y
						case lua.OP_DIV:
							x /= y
						default:
							x = compute(inst.op(), x, y)
						}
						reg.set(ra, s.numbers.value(x))
						continue
					}
				}
				cf.Pc = pc
				reg.set(ra, s.arith(L, inst.op(), a, b))
				continue
			case lua.OP_UNM:
				a := reg.operand(constants, local, inst.b())
				if x, ok := a.(lua.LNumber); ok {
					reg.set(ra, s.numbers.value(-x))
					continue
				}
				cf.Pc = pc
				reg.set(ra, s.arith(L, lua.OP_UNM, a, a))
				continue
			case lua.OP_NOT:
				reg.set(ra, lua.LBool(lua.LVIsFalse(reg.array[local+inst.b()])))
				continue
			case lua.OP_LEN:
				switch v := reg.array[local+inst.b()].(type) {
				case lua.LString:
					reg.set(ra, s.numbers.value(lua.LNumber(len(v))))
					continue
				case *lua.LTable:
					if v.Metatable == lua.LNil {
						reg.set(ra, s.numbers.value(lua.LNumber(v.Len())))
						continue
					}
				}
				cf.Pc = pc
				reg.set(ra, s.length(L, reg.array[local+inst.b()]))
				continue
			case lua.OP_JMP:
				pc += inst.jump()
				continue
			case lua.OP_EQ:
				a, b := reg.operand(constants, local, inst.b()), reg.operand(constants, local, inst.c())
				cf.Pc = pc
				if (a == b || s.equal(L, a, b)) != (inst.a() != 0) {
					pc++
				}
				continue
			case lua.OP_LT:
				a, b := reg.operand(constants, local, inst.b()), reg.operand(constants, local, inst.c())
				var less bool
				if x, y, ok := bothNumbers(a, b); ok {
					less = x < y
				} else {
					cf.Pc = pc
					less = s.less(L, a, b)
				}
				if less != (inst.a() != 0) {
					pc++
				}
				continue
			case lua.OP_LE:
				a, b := reg.operand(constants, local, inst.b()), reg.operand(constants, local, inst.c())
				var less bool
				if x, y, ok := bothNumbers(a, b); ok {
					less = x <= y
				} else {
					cf.Pc = pc
					less = s.lessEqual(L, a, b)
				}
				if less != (inst.a() != 0) {
					pc++
				}
				continue
			case lua.OP_TEST:
				if lua.LVAsBool(reg.array[ra]) == (inst.c() == 0) {
					pc++
				}
				continue
			case lua.OP_TESTSET:
				if v := reg.array[local+inst.b()]; lua.LVAsBool(v) != (inst.c() == 0) {
					reg.set(ra, v)
				} else {
					pc++
				}
				continue
			case lua.OP_CONCAT:
				cf.Pc = pc
				reg.set(ra, s.concat(L, reg.array[local+inst.b():local+inst.c()+1]))
				continue
			case lua.OP_FORPREP:
				cf.Pc = pc
				first := loopNumber(L, reg.array[ra], "initial value")
				limit := loopNumber(L, reg.array[ra+1], "limit")
				step := loopNumber(L, reg.array[ra+2], "step")
				reg.set(ra, s.numbers.value(first-step))
				reg.set(ra+1, s.numbers.value(limit))
				reg.set(ra+2, s.numbers.value(step))
				pc += inst.jump()
				continue
			case lua.OP_FORLOOP:
				first, ok1 := reg.array[ra].(lua.LNumber)
				limit, ok2 := reg.array[ra+1].(lua.LNumber)
				step, ok3 := reg.array[ra+2].(lua.LNumber)
				if next := first + step; ok1 && ok2 && ok3 && (step > 0 && next <= limit || step <= 0 && next >= limit) {
					v := s.numbers.value(next)
					reg.set(ra, v)
					reg.set(ra+3, v)
					pc += inst.jump()
					continue
				}
			case lua.OP_CALL:
				cf.Pc = pc
				f, ok := reg.array[ra].(*lua.LFunction)
				if !ok {
					checkCallable(L, reg.array[ra])
				}
				if !ok || stack.segSp == lua.FramesPerSegment {
					break
				}
				n := inst.b() - 1
				if n < 0 {
					n = reg.top - (ra + 1)
				}
				callee := callFrame{Fn: f, Base: ra, LocalBase: ra + 1, ReturnBase: ra, NArgs: n, NRet: inst.c() - 1, Parent: cf}
				if f.IsG {
					if ra+1+n > len(reg.array) {
						break
					}
					s.mayYield = base == nil
					if callGo(L, m, stack, callee) {
						return
					}
					continue
				}
				if enterCall(m, stack, callee) {
					continue calls
				}
			case lua.OP_TAILCALL:
				cf.Pc = pc
				checkCallable(L, reg.array[ra])
			case lua.OP_RETURN:
				if m.Parent != nil && m.stack.Sp() == 1 {
					break
				}
				from, n := ra, inst.b()-1
				if n < 0 {
					n = reg.top - from
				}
				want := cf.NRet
				if want < 0 {
					want = n
				}
				if cf.ReturnBase+want > len(reg.array) {
					break
				}
				if len(proto.FunctionPrototypes) > 0 {
					m.closeUpvalues(local)
				}
				m.leave(stack)
				reg.move(cf.ReturnBase, from, n, want)
				if base == cf || m.currentFrame == nil || m.currentFrame.Fn.IsG {
					return
				}
				continue calls
			case lua.OP_TFORLOOP:
				if t, ok := reg.array[ra+1].(*lua.LTable); ok && t != m.G.Global {
					var k, v lua.LValue
					switch f := reg.array[ra]; f {
					case nextFunction:
						k, v = itemsOf(t).next(reg.array[ra+2])
					case ipairsFunction:
						i, ok := reg.array[ra+2].(lua.LNumber)
						if !ok {
							break
						}
						if v = itemsOf(t).getInt(int(i) + 1); v == lua.LNil {
							k = lua.LNil
						} else {
							k = s.numbers.value(i + 1)
						}
					}
					if k != nil {
						reg.set(ra+3, k)
						if inst.c() > 1 {
							reg.set(ra+4, v)
						}
						for i := 2; i < inst.c(); i++ {
							reg.set(ra+3+i, lua.LNil)
						}
						if k != lua.LNil {
							reg.array[ra+2] = k
							pc += instruction(code[pc]).jump()
						}
						pc++
						continue
					}
				}
				cf.Pc = pc
				checkCallable(L, reg.array[ra])
			case lua.OP_SETLIST:
				cf.Pc = pc
				c := inst.c()
				if c == 0 {
					c = int(code[pc])
					cf.Pc++
					pc++
				}
				n := inst.b()
				if n == 0 {
					n = reg.top - ra - 1
				}
				t := reg.array[ra].(*lua.LTable)
				for i := 1; i <= n; i++ {
					t.RawSetInt((c-1)*lua.FieldsPerFlush+i, reg.array[ra+i])
				}
				continue
			}
			cf.Pc = pc
			s.mayYield = base == nil
			if instructions[inst.op()](L, uint32(inst), base) == 1 {
				return
			}
			continue calls
		}
	}
}

// set stores a value in a register.
func (r *registers) set(i int, v lua.LValue) {
	r.array[i] = v
	if i >= r.top {
		r.top = i + 1
	}
}

// operand returns a constant or the value of a register.
func (r *registers) operand(constants []lua.LValue, local, rk int) lua.LValue {
	if rk&constant != 0 {
		return constants[rk&^constant]
	}
	return r.array[local+rk]
}

// move moves n values from one register on to another one. It cuts or fills up their
// number to want, and makes the last of them the top.
func (r *registers) move(to, from, n, want int) {
	top := r.top
	got := max(0, min(n, want, top-from))
	copy(r.array[to:to+got], r.array[from:from+got])
	for i := got; i < want; i++ {
		r.array[to+i] = lua.LNil
	}
	r.setTop(to+want, top)
}

// setTop makes top the first free register. It was old.
func (r *registers) setTop(top, old int) {
	if r.top = top; top < old {
		clear(r.array[top:old])
	}
}

// loopNumber returns a bound of a numeric for, which may be a string.
func loopNumber(L *lua.LState, v lua.LValue, what string) lua.LNumber {
	f, ok := ToNumber(v)
	if !ok {
		complain(L, "'for' %s must be a number", what)
	}
	return lua.LNumber(f)
}

// enterCall begins the call of a function in Lua. It returns false, and does
// nothing, if gopher-lua must do it: a function with variable arguments, or not
// enough registers.
func enterCall(m *machine, stack *segments, callee callFrame) bool {
	proto := callee.Fn.Proto
	used := int(proto.NumUsedRegisters)
	local := callee.LocalBase
	reg := m.reg
	if proto.IsVarArg&lua.VarArgIsVarArg != 0 || local+max(used, callee.NArgs) > len(reg.array) {
		return false
	}
	parameters := int(proto.NumParameters)
	for i := min(callee.NArgs, parameters); i < max(used, callee.NArgs); i++ {
		reg.array[local+i] = lua.LNil
	}
	reg.top = local + used
	m.currentFrame = stack.push(callee)
	return true
}

// push puts a call on the stack. The segment must have room for it.
func (st *segments) push(callee callFrame) *callFrame {
	f := &st.segments[st.segIdx].array[st.segSp]
	*f = callee
	f.Idx = int(st.segSp) + lua.FramesPerSegment*int(st.segIdx)
	st.segSp++
	return f
}

// callGo calls a function in Go. It reports whether that has yielded.
func callGo(L *lua.LState, m *machine, stack *segments, callee callFrame) bool {
	reg := m.reg
	top := callee.LocalBase + callee.NArgs
	reg.setTop(top, reg.top)
	f := stack.push(callee)
	m.currentFrame = f
	n := callee.Fn.GFunction(L)
	if n < 0 {
		m.yield(L)
		return true
	}
	want := callee.NRet
	if want < 0 {
		want = n
	}
	reg.move(callee.ReturnBase, reg.top-n, n, want)
	m.leave(stack)
	return false
}

// leave takes the last call from the stack.
func (m *machine) leave(stack *segments) {
	if n := stack.segSp; n > 1 {
		stack.segSp = n - 1
		m.currentFrame = &stack.segments[stack.segIdx].array[n-2]
		return
	}
	m.stack.Pop()
	m.currentFrame = m.stack.Last()
}

// bothNumbers returns a and b as numbers. ok is false if one of them is no number.
func bothNumbers(a, b lua.LValue) (x, y lua.LNumber, ok bool) {
	if x, ok = a.(lua.LNumber); ok {
		y, ok = b.(lua.LNumber)
	}
	return x, y, ok
}

// yield leaves a coroutine (switchToParentThread in gopher-lua): what the
// function in Go was given becomes the results of the resumption.
func (m *machine) yield(L *lua.LState) {
	parent := m.Parent
	m.G.CurrentThread = parent
	m.Parent = nil
	parent.Push(lua.LTrue)
	L.XMoveTo(parent, L.GetTop())
	m.stack.Pop()
	offset := m.currentFrame.LocalBase - m.currentFrame.ReturnBase
	m.currentFrame = m.stack.Last()
	m.reg.setTop(m.reg.top-offset, m.reg.top)
}

// closeUpvalues gives the upvalues from register i on values of their own.
func (m *machine) closeUpvalues(i int) {
	var before *upvalue
	for u := m.uvcache; u != nil; u = u.next {
		if u.index >= i {
			if before != nil {
				before.next = nil
			} else {
				m.uvcache = nil
			}
			u.value, u.closed = u.reg.array[u.index], true
		}
		before = u
	}
}
