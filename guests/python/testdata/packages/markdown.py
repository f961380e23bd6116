import markdown

text = """Title
=====

Some *text* with `code`, a [link](https://example.org/ "T") and a footnote[^1].

| region | units |
|--------|------:|
| north  |    12 |

- one
    1. two
    2. three

```python
print("<x>")
```

[^1]: Here.
"""
[markdown.markdown(text), markdown.markdown(text, extensions=["tables", "fenced_code", "footnotes", "toc", "md_in_html"])]
