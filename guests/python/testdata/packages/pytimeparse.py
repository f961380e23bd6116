import pytimeparse

[pytimeparse.parse(text) for text in ("1h 30m", "2:04:13", "3 days 2 hours", "1.5 weeks", "nonsense")] + [pytimeparse.__version__]
