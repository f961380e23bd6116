"""Text: a Markdown-like renderer, word lists, tables, ciphers, formatting."""
import string
import textwrap
import unicodedata
import difflib

PARAGRAPHS = [
    "It was a *bright* cold day in April, and the clocks were striking thirteen.",
    "Größe, façade, naïveté — “quotes” and 数字 123, emoji 🙂 too.",
    "# Heading with `code` and a [link](https://example.org/a?b=c)",
    "- item one; item two; item three: 3.14, 2.71, 1,000,000",
    "    indented code block = value  # comment",
    "",
    "Plain ASCII text without anything special in it, but rather long, to be wrapped at some width or other.",
]


def render(lines):
    html = []
    in_list = False
    for line in lines:
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            html.append("<h%d>%s</h%d>" % (level, line[level:].strip(), level))
            continue
        if line.startswith("- "):
            if not in_list:
                html.append("<ul>")
                in_list = True
            html.append("<li>" + line[2:] + "</li>")
            continue
        if in_list:
            html.append("</ul>")
            in_list = False
        parts = line.split("*")
        for i, part in enumerate(parts):
            if i % 2:
                parts[i] = "<b>" + part + "</b>"
        html.append("".join(parts).replace("&", "&amp;"))
    return "\n".join(html)


def vowels(text):
    n = 0
    for c in text:
        if c in "aeiouAEIOU":
            n += 1
    return n


def is_anagram(a, b):
    return sorted(a.replace(" ", "").lower()) == sorted(b.replace(" ", "").lower())


def camel(name):
    head, *tail = name.split("_")
    return head + "".join(t.title() for t in tail)


def snake(name):
    out = ""
    for c in name:
        if c.isupper():
            out += "_" + c.lower()
        else:
            out += c
    return out


def vigenere(text, key):
    result = []
    k = 0
    for c in text:
        if c.isalpha() and c.isascii():
            base = ord("A") if c.isupper() else ord("a")
            result.append(chr((ord(c) - base + ord(key[k % len(key)]) - 97) % 26 + base))
            k += 1
        else:
            result.append(c)
    return "".join(result)


def levenshtein(a, b):
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i]
        for j, cb in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (ca != cb)))
        previous = current
    return previous[-1]


def roman(n):
    out = ""
    for value, sign in ((1000, "M"), (900, "CM"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while n >= value:
            out += sign
            n -= value
    return out


lines = PARAGRAPHS * 300
out = [len(render(lines)), sum(vowels(p) for p in lines)]
frequency = {}
for line in lines:
    for word in line.lower().translate(str.maketrans("", "", string.punctuation)).split():
        frequency[word] = frequency.get(word, 0) + 1
out.append(sorted(frequency.items(), key=lambda kv: kv[1], reverse=True)[:3])
letters = {}
for ch in "".join(lines):
    if ch.isalpha():
        letters[ch.lower()] = letters.get(ch.lower(), 0) + 1
out.append(max(letters, key=letters.get))
names = ["user_name", "http_status_code", "a_b_c", "total"] * 1500
out.append(sum(len(snake(camel(n))) for n in names))
out.append(len(vigenere("".join(lines)[:50000], "lemon")))
out.append(sum(is_anagram("Dormitory", "dirty room") for _ in range(1000)))
out.append(sum(levenshtein(a, b) for a, b in [("kitten", "sitting"), ("saturday", "sunday"), ("intention", "execution")] * 40))
out.append(sum(len(roman(n)) for n in range(1, 4000)))
table = []
for i, (name, price) in enumerate([("apple", 1.5), ("pear", 22.125), ("fig", 333.3333)] * 700):
    table.append(f"{i:>4} | {name:<10} | {price:>10.2f} | {price / 400:6.1%} | {i:#06x} | {name!r:^9} | {1234567 * i:,}")
    table.append("%-8s|%5d|%8.3f|%x" % (name, i, price, i))
    table.append("{0}-{1:03d}-{name}".format(name, i, name=name.upper()))
out.append(len("\n".join(table)))
for p in lines[:200]:
    textwrap.fill(p, 30)
    unicodedata.normalize("NFKD", p).encode("ascii", "ignore").decode()
csv_like = "\n".join(",".join(str(i * j) for j in range(12)) for i in range(1500))
cells = [[int(c) for c in row.split(",")] for row in csv_like.split("\n")]
out.append(sum(map(sum, cells)))
rev = " ".join(w[::-1] for w in " ".join(lines[:400]).split(" "))
out += [len(rev), rev.count("a"), rev.find("xyz"), rev.rfind("e"), rev.upper().lower().swapcase().title() != rev]
blob = " ".join(lines).encode()
out += [len(blob), blob.count(b"e"), blob.decode().isprintable(), blob.hex()[:10], bytes(reversed(blob))[:4]]
for i in range(6000):
    s = str(i)
    s.zfill(6), s.rjust(8, "."), s.isdigit(), s.startswith("1"), s.endswith(("7", "9")), s * 3, s + "x", "5" in s, s.strip("0"), s.partition("0"), s[1:], s[-1], s == "77", s < "5"
b = bytearray()
for i in range(20000):
    b.append(i & 255)
out.append(sum(b) + b[77])
key = ""
for i in range(20000):
    key += chr(97 + i % 26)
out.append(key.index("xyz"))
out.append(len(list(difflib.unified_diff(lines[:60], lines[3:63]))))
print(out)
