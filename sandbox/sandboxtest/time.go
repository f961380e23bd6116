package sandboxtest

import (
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// short is a timeout that a call can only run into, never finish within, in the
// cases below.
var short = sandbox.Limits{Timeout: 300 * time.Millisecond}

// shortRoomy leaves memory out of the question.
var shortRoomy = sandbox.Limits{Timeout: 300 * time.Millisecond, MaxMemory: 512 << 20}

var timeCases = []Case{
	{Name: "defaults apply when no limits are given", Code: py("while True: pass").js("for (;;);"), Status: timeout},
	{Name: "loop without calls", Code: py("while True: pass").js("for (;;);"), Limits: short, Status: timeout},
	{Name: "power of big integers", Code: py("10**10**8").js("let a = 3n;", "for (;;) a = a ** 3n % (2n ** 4000n)"), Limits: shortRoomy, Status: timeout},
	{Name: "sort by a constant key", Code: py("while True: sorted(range(10**6), key=lambda x: 1)").js("const a = Array.from({ length: 1e6 }, (_, i) => i);", "for (;;) a.toSorted(() => 0)"), Limits: shortRoomy, Status: timeout},
	{Name: "regular expression that blows up", Code: py("import re", "re.match('(a+)+$', 'a'*64 + 'b')").js("/(a+)+$/.exec('a'.repeat(64) + 'b')"), Limits: short, Status: timeout},
	{Name: "integer of many digits", Code: py("import sys", "sys.set_int_max_str_digits(0)", "int('9'*10**7)").js("for (;;) BigInt('9'.repeat(300_000))"), Limits: shortRoomy, Status: timeout},
	{Name: "sum of a long range", Code: py("sum(range(10**12))").js("let s = 0;", "for (let i = 0; i < 1e12; i++) s += i;", "s"), Limits: short, Status: timeout},
	{Name: "product in C", Code: py("import itertools, collections", "collections.deque(itertools.product(range(100), repeat=9), maxlen=0)").js("for (;;) new Array(1e5).fill(0).flatMap((x) => [x, x]).reverse().indexOf(1)"), Limits: short, Status: timeout},
	{Name: "copies of large memory", Code: py("b = bytearray(100_000_000)", "while True: bytes(b)").js("const b = new Uint8Array(100_000_000);", "for (;;) b.slice()"), Limits: shortRoomy, Status: timeout},
	{Name: "sleep", Code: py("import time", "time.sleep(3600)").js("await new Promise((r) => setTimeout(r, 3600_000))"), Limits: short, Status: timeout},
	{Name: "sleep again and again", Code: py("import time", "while True: time.sleep(0.001)").js("for (;;) await new Promise((r) => setTimeout(r, 1))"), Limits: short, Status: timeout},
	{Name: "select without descriptors", Code: py("import select", "select.select([], [], [], 3600)"), Limits: short, Status: timeout},
	{Name: "asynchronous sleep", Code: py("import asyncio", "await asyncio.sleep(3600)").js("const late = () => new Promise((r) => setTimeout(r, 3600_000));", "await Promise.race([late(), late()])"), Limits: short, Status: timeout},
	{Name: "compile a large literal", Code: py("eval('[' + '1,'*4_000_000 + ']')").js("for (;;) eval('[' + '1,'.repeat(1_000_000) + ']')"), Limits: shortRoomy, Status: timeout},
	{Name: "compile again and again", Code: py("while True: compile('f(' * 50 + ')' * 50 + '\\nx = 1' * 10000, 'x', 'exec')").js(`for (;;) new Function('f('.repeat(50) + ')'.repeat(50) + '\nx = 1'.repeat(10000))`), Limits: shortRoomy, Status: timeout},
	{Name: "every exception is caught", Code: py("while True:", "  try:", "    while True: pass", "  except BaseException: pass").js("for (;;) { try { for (;;); } catch {} }"), Limits: short, Status: timeout},
	{Name: "finally spins", Code: py("try:", "  1/0", "finally:", "  while True: pass").js("try { null.x } finally { for (;;); }"), Limits: short, Status: timeout},
	{Name: "destructor spins after the end", Code: py("class D:", "  def __del__(self):", "    while True: pass", "d = D()", "del d"), Limits: short, Status: timeout},
	{Name: "atexit is not waited for", Code: py("import atexit", "@atexit.register", "def f():", "  while True: pass", "1"), Limits: short, Status: []sandbox.Status{sandbox.StatusOK, sandbox.StatusTimeout}},
	{Name: "sleep within the limit", Code: py("import time, asyncio", "time.sleep(0.01)", "await asyncio.sleep(0.01)", "'awake'").js("await new Promise((r) => setTimeout(r, 10));", "'awake'"), Status: ok, Value: `"awake"`},
	{Name: "fuel limit", Code: py("while True: pass").js("for (;;);"), Limits: sandbox.Limits{MaxFuel: 1_000_000}, Status: []sandbox.Status{sandbox.StatusFuelLimit}},
	{Name: "fuel limit cannot be caught", Code: py("while True:", "  try:", "    while True: pass", "  except BaseException: pass").js("for (;;) { try { for (;;); } catch {} }"), Limits: sandbox.Limits{MaxFuel: 1_000_000}, Status: []sandbox.Status{sandbox.StatusFuelLimit}},
}
