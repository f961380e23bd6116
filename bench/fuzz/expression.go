package fuzz

import (
	"fmt"
	"strconv"
	"strings"
)

// templates are expressions with holes: E for any expression, V for a variable,
// S for a text, I for an integer, F for a format.
var templates = []string{
	"(E + E)", "(E - E)", "times(E, E)", "(E / E)", "(E // E)", "(E % E)", "power(E, E)", "shift(E, E)", "(E >> I)",
	"(E & E)", "(E | E)", "(E ^ E)", "(-E)", "(~E)", "(not E)", "(E and E)", "(E or E)", "(E if E else E)",
	"(E == E)", "(E < E)", "(E <= E)", "(E in E)", "(E is None)", "(E < E <= E)", "divmod(E, E)",
	"[E, E]", "(E, E)", "{E: E}", "{E, E}", "[*order(E)]", "{**dict(order(E))}", "E[at(E)]", "E[I:I]", "E[I::I]", "E[::-1]",
	"len(E)", "abs(E)", "int(E)", "int(S, 16)", "int(S)", "float(E)", "float(S)", "str(show(E))[:200]", "str(float(E))", "str(int(E))", "bool(E)", "complex(E, E)", "round(E, I)", "round(E)",
	"sum(order(E))", "min(order(E))", "max(E, E)", "sorted(order(E))", "sorted(order(E), key=show, reverse=True)", "list(reversed(order(E)))",
	"list(zip(order(E), order(E)))", "dict(zip(order(E), order(E)))", "list(enumerate(order(E)))", "list(map(show, order(E)))", "any(order(E))", "all(order(E))",
	"chr(at(E))", "ord(E)", "hex(E)", "bin(E)", "pow(E, I, 97)", "bytes(order(E))", "bytearray(S, 'utf-8')", "frozenset(order(E))", "slice(I, E)", "range(I, I)",
	"[x for x in order(E) if E]", "{k: V for k in order(E)}", "[(x, y) for x in order(E)[:3] for y in order(E)[:3]]", "list(itertools.islice((x for x in order(E)), 3))",
	"(lambda x, y=E: (x, y))(E)", "[*numbers(E)]", "tree(I % 4, lambda n: (n, V))", "Point(E)", "Point(E, E).size", "(Point(E) + Point(E)).x", "Point(E)[I]", "Point(E).other", "Point(E)(E)",
	"S.split(S)", "S.partition(S)", "S.replace(S, S)", "S.strip(S)", "S.join(map(show, order(E)))", "S.upper()", "S.casefold()", "S.title()", "S.swapcase()", "S.center(I % 40, '*')", "S.zfill(I % 40)", "S.find(S)", "S.count(S)", "S.startswith(S)",
	"S.encode('utf-8', 'replace')", "S.encode('utf-16-le', 'surrogatepass')", "S.encode('ascii', 'backslashreplace')", "S.encode('latin-1')", "S.expandtabs(I % 9)", "S.splitlines(True)", "S.isidentifier()", "S.isnumeric()", "S.rsplit(None, 1)", "(S + S)", "S % (I,)", "S % (S, I)", "(S * (I % 5))", "S.translate({97: S, 98: None})", "S.removeprefix(S)",
	"fmt(E, F)", "f'{show(E)!r:.20}'", "f'{int(E):{F}}'", "'{0} {1!r:>{2}}'.format(show(E), show(E), I % 30)",
	"E.index(E)", "E.count(E)", "E.get(E)", "E.keys()", "order(E)[I]", "E.copy()", "E.pop(I)", "E.pop(at(E), E)", "E.append(E)", "E.update(E)", "E.real", "E.bit_length()", "E.as_integer_ratio()", "E.is_integer()", "E.hex()", "E.to_bytes(I % 20, 'little', signed=True)", "int.from_bytes(S.encode('utf-8', 'replace'), 'big')",
	"json.dumps(E, sort_keys=False)", "json.dumps(E, indent=I % 3, ensure_ascii=False)", "json.loads(S)", "json.loads(json.dumps(E))",
	"re.findall(r'\\w+', S)", "re.sub(r'(.)(.)', r'\\2\\1', S)", "re.split(r'[\\s,]+', S)", "re.search(r'(?P<n>\\d+)|(\\W)', S).groups()", "re.fullmatch(S, S)", "re.escape(S)", "re.sub(r'(?i)a|\\bx', lambda m: m[0] * 2, S)",
	"struct.pack('<q', E)", "struct.pack('>hIf', I % 9, I, E)", "struct.unpack('<d', struct.pack('<d', E))", "struct.unpack('>hh', S.encode('utf-8', 'replace')[:4])", "struct.calcsize('<bhiq')",
	"math.sqrt(E)", "math.gcd(E, E)", "math.isqrt(E)", "math.floor(E)", "math.frexp(E)", "math.fsum(order(E))", "math.comb(I % 40, I % 9)", "math.copysign(E, E)", "math.isclose(E, E)", "math.prod(order(E))", "math.fmod(E, E)", "math.hypot(3, I)", "math.nextafter(E, 9)", "math.ulp(E)", "math.factorial(I % 30)",
	"decimal.Decimal(S)", "decimal.Decimal(E)", "(decimal.Decimal(I) / E)", "decimal.Decimal(E).quantize(decimal.Decimal('0.01'))", "(decimal.Decimal(E) ** 2).normalize()", "decimal.Decimal(E).sqrt()",
	"fractions.Fraction(E)", "fractions.Fraction(S)", "(fractions.Fraction(I, 7) + E)", "fractions.Fraction(E).limit_denominator(10)",
	"datetime.date.fromordinal(at(E))", "datetime.timedelta(seconds=E)", "datetime.datetime(2024, 2, 29) + datetime.timedelta(days=E)", "datetime.date.fromisoformat(S)", "datetime.datetime(2000, 1, 1, 12).strftime('%Y-%m-%d %H:%M %j %U')", "datetime.date(I, 1 + I % 13, I).isoformat()", "(datetime.date(2024, 1, 31) - datetime.date(E, 1, 1)).days", "calendar.monthrange(I, I % 14)", "datetime.datetime.strptime(S, '%d.%m.%Y')",
	"statistics.mean(order(E))", "statistics.median(order(E))", "statistics.pstdev(order(E))", "statistics.mode(order(E))", "statistics.quantiles(order(E), n=4)",
	"list(itertools.accumulate(order(E)))", "list(itertools.groupby(order(E)))", "list(itertools.combinations(order(E)[:5], 2))", "list(itertools.permutations(order(E)[:4]))", "list(itertools.pairwise(order(E)))", "list(itertools.chain(order(E), order(E)))", "list(itertools.batched(order(E), 2))", "list(itertools.zip_longest(order(E), order(E)))",
	"functools.reduce(operator.add, order(E))", "functools.partial(max, V)(E)", "operator.itemgetter(I)(E)", "collections.Counter(order(E))", "collections.Counter(S).most_common(3)", "collections.deque(order(E), I % 5)", "collections.OrderedDict(order(E))", "collections.ChainMap(E, E)[at(E)]", "bisect.bisect(sorted(order(E)), E)", "heapq.nsmallest(3, order(E))", "list(heapq.merge(sorted(order(E)), sorted(order(E))))",
	"base64.b64encode(S.encode('utf-8', 'replace'))", "base64.b64decode(S)", "base64.b85encode(S.encode('utf-8', 'replace'))", "binascii.crc32(S.encode('utf-8', 'replace'))", "binascii.unhexlify(S)", "zlib.adler32(S.encode('utf-8', 'replace'))", "zlib.decompress(zlib.compress(S.encode('utf-8', 'replace')))", "hashlib.sha256(S.encode('utf-8', 'replace')).hexdigest()", "hashlib.md5(show(E).encode('utf-8', 'replace')).hexdigest()", "hashlib.blake2b(S.encode('utf-8', 'replace'), digest_size=9).hexdigest()",
	"unicodedata.normalize('NFKD', S)", "unicodedata.name(S)", "unicodedata.category(S)", "unicodedata.numeric(S)", "unicodedata.bidirectional(S)", "textwrap.fill(S, 1 + I % 20)", "textwrap.dedent(S)", "textwrap.shorten(S, 9)", "html.escape(S)", "html.unescape(S)", "urllib.parse.quote(S)", "urllib.parse.unquote(S)", "tuple(urllib.parse.urlsplit(S))", "urllib.parse.parse_qs(S)", "string.Template(S).substitute(a=1)", "string.capwords(S)", "list(difflib.ndiff(S.splitlines(), S.splitlines()))", "difflib.get_close_matches(S, [S, S])", "str(ipaddress.ip_address(S))", "str(ipaddress.ip_network(E, strict=False))", "colorsys.rgb_to_hsv(I % 2, 0.5, 0.25)", "list(csv.reader([S, S]))", "random.Random(I).random()", "random.Random(I).sample(range(50), 5)", "random.Random(S).randrange(1, 10**20)", "random.Random(I).shuffle(order(E))", "random.Random(I).choices('abc', [1, 2, I % 5], k=3)",
	"type(E).__name__", "isinstance(E, (int, str))", "getattr(E, S)", "hasattr(E, 'x')", "callable(E)", "vars(Point(E))", "eval('1 +' + str(I))", "eval(S)", "compile(S, 'x', 'eval') and 1", "memoryview(S.encode('utf-8', 'replace'))[I]", "ascii(show(E))[:80]", "repr(show(E))[:80]",
}

var literals = []string{
	"0", "1", "-1", "7", "255", "2**31", "-2**31 - 1", "2**32 - 1", "2**53 + 1", "-2**63", "2**64", "10**30", "True", "None",
	"0.0", "-0.0", "1.5", "0.1", "1e308", "5e-324", "-2.5", "1e16", "123456789.125", "float('inf')", "float('nan')", "3.0000000000000004", "1j",
	"[]", "[3, 1, 2]", "[1, [2, 'x'], None]", "()", "(1, 'a')", "{}", "{'k': 1, 'v': [2]}", "{1: 'a', 2.5: 'b'}", "set()", "{1, 2}", "{'a', ''}", "[('a', 1), ('b', 2)]", "b''", "b'\\xff\\x00a'", "range(3)", "[0.1] * 3", "[True, 0, 2.5]", "Point(1, 2)", "[Point(2), Point(1)]",
}

var texts = []string{
	"", "a", "abc", "Hello, World", " x\\ty \\n", "12", "-0x1F", "1_000", "1e5", "nan", "é", "ß", "İ", "ǆ", "e\\u0301", "日本", "\\U0001f600", "\\ud800", "\\x00", "٣", "½", "%s and %d", "{\\\"a\\\": [1, 2.0, null]}", "[1e400, -0.0]", "(a|b)*c", "(", "\\\\d", "$a ${b}", "<a href='x'>&amp;&#x41;", "http://u@h:8/p;q?a=1&b=%20#f", "2024-02-29", "31.12.1999", "192.168.0.1/24", "::1", "SGVsbG8=", "deadbeef", "a,b\\r\\nc", "x\\u2028y", "1+2*3", "'x'", "[", "3/7",
}

var formats = []string{"", "d", "5", "<9", "^9", "+.3f", ".0f", "e", "10.2e", "g", ".17g", "%", ",", "_x", "#b", "#010x", "s", ".2s", "c", "n", "é^7", "=+9", "-", " d", "z.1f", "%Y-%m-%d"}

func (g *generator) literal() string {
	if g.of(3) == 1 {
		return g.text()
	}
	return "(" + pick(&g.choices, literals) + ")"
}

func (g *generator) text() string {
	return `"` + pick(&g.choices, texts) + `"`
}

func (g *generator) formatted() string {
	return "fmt(" + g.variable() + `, "` + pick(&g.choices, formats) + `")`
}

// expression writes one that is at most depth templates deep.
func (g *generator) expression(depth int) string {
	if depth == 0 || len(g.data) == 0 {
		return g.leaf()
	}
	which := g.of(256)
	if which < 110 {
		return g.leaf()
	}
	// More templates than a byte tells apart.
	template := templates[(which*256+g.of(256))%len(templates)]
	return g.fill(template, depth-1)
}

func (g *generator) leaf() string {
	if g.of(2) == 0 {
		return g.variable()
	}
	return g.literal()
}

// fill puts something into every hole of a template: a capital that stands alone.
func (g *generator) fill(template string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(template); i++ {
		c := template[i]
		if !strings.ContainsRune("EVSIF", rune(c)) || i > 0 && isWord(template[i-1]) || i+1 < len(template) && isWord(template[i+1]) {
			b.WriteByte(c)
			continue
		}
		switch c {
		case 'E':
			b.WriteString(g.expression(depth))
		case 'V':
			b.WriteString(g.variable())
		case 'S':
			b.WriteString(g.text())
		case 'I':
			b.WriteString("(" + strconv.Itoa(g.of(256)-100) + ")")
		case 'F':
			fmt.Fprintf(&b, "%q", pick(&g.choices, formats))
		}
	}
	return b.String()
}

func isWord(c byte) bool {
	return c == '_' || c == '\'' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
