# What customers write: words, pairs of words, by stars; as Markdown and HTML.
import re
from collections import Counter, defaultdict
import markdown
from bs4 import BeautifulSoup
from toolz import sliding_window

words, pairs, stars = Counter(), Counter(), defaultdict(Counter)
for review in reviews:
    found = re.findall(r"[a-z]+", review["text"].lower())
    words.update(found)
    pairs.update(" ".join(pair) for pair in sliding_window(2, found))
    stars[review["stars"]].update(found)
common = sorted(words.items(), key=lambda item: (-item[1], item[0]))[:8]
text = "| word | times |\n|---|---:|\n" + "".join(f"| {word} | {times} |\n" for word, times in common)
html = markdown.markdown(text, extensions=["tables"])
soup = BeautifulSoup(html, "html.parser")
{
    "common": common, "pairs": sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:5],
    "typical": {str(n): max(sorted(counts), key=lambda w: counts[w] / words[w]) for n, counts in sorted(stars.items())},
    "cells": [cell.get_text() for cell in soup.select("tbody td:first-child")], "endings": dict(Counter(review["text"][-1] for review in reviews).most_common()),
}
