"""Strings: split, join, replace, format, search, build character by character."""

WORDS = (
    "the quick brown fox jumps over a lazy dog while seven wizards brew "
    "potions, and Zoë's naïve café crowd watches; nobody (really) minds."
).split()


def make_text(lines):
    out = []
    for i in range(lines):
        words = [WORDS[(i * 7 + j * 3) % len(WORDS)] for j in range(9)]
        out.append(f"{i:05d}: {' '.join(words).capitalize()} [{i % 97:>3}|{i / 7:.2f}]")
    return "\n".join(out)


def word_counts(text):
    counts = {}
    for line in text.splitlines():
        _, _, rest = line.partition(": ")
        for word in rest.split():
            word = word.strip(".,;()[]|").lower()
            if word.isalpha():
                counts[word] = counts.get(word, 0) + 1
    return counts


def caesar(text, shift):
    out = []
    for ch in text:
        if "a" <= ch <= "z":
            out.append(chr((ord(ch) - 97 + shift) % 26 + 97))
        elif "A" <= ch <= "Z":
            out.append(chr((ord(ch) - 65 + shift) % 26 + 65))
        else:
            out.append(ch)
    return "".join(out)


def palindromes(limit):
    return sum(1 for n in range(limit) if str(n) == str(n)[::-1])


def run_length(text):
    if not text:
        return ""
    result = ""
    previous, count = text[0], 1
    for ch in text[1:]:
        if ch == previous:
            count += 1
        else:
            result += previous + (str(count) if count > 1 else "")
            previous, count = ch, 1
    return result + previous + (str(count) if count > 1 else "")


def slug(title):
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


def main():
    text = make_text(7_000)
    counts = word_counts(text)
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]
    table = "\n".join("{:<12}|{:>8}|{:6.1%}".format(w, n, n / 7000) for w, n in top)
    secret = caesar(text[:200_000], 3)
    replaced = text.replace("fox", "cat").replace("dog", "bird").upper()
    slugs = {slug(line) for line in text.splitlines()[:2500]}
    encoded = text.encode("utf-8")
    return [
        table,
        secret.count("t") + secret.find("zzz"),
        replaced.count("CAT"),
        palindromes(250_000),
        len(run_length("aaabccdddd" * 9_000)),
        len(slugs),
        len(encoded.decode("utf-8")) == len(text),
        sum(1 for line in text.split("\n") if line.endswith("]") and "lazy" in line),
    ]


main()
