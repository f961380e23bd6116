from bs4 import BeautifulSoup

page = """<html><head><title>Prices</title></head><body><h1>Fruit</h1>
<table id=t><tr><th>name<th>price<tr class="odd"><td>apple<td>1.20<tr><td>pear &amp; plum<td>3</table>
<p>See <a href="/a?x=1&y=2">one</a> and <a class="out ext" href="https://example.org/">two</a>.<p>End"""
found = {}
for parser in ("html.parser", "html5lib"):
    soup = BeautifulSoup(page, parser)
    found[parser] = {
        "title": soup.title.string,
        "links": [(a["href"], a.get_text(), a.get("class")) for a in soup.find_all("a")],
        "outside": [a["href"] for a in soup.select("p > a.out[href^=https]")],
        "cells": [cell.get_text(strip=True).split("\n")[0] for cell in soup.select("#t td, #t th")],
        "odd": len(soup.select("tr.odd td")),
    }
soup = BeautifulSoup("<b>one</b><i>two</i>", "html.parser")
soup.b.replace_with("1")
soup.i["lang"] = "en"
found["changed"] = str(soup)
found
