from datetime import date, timedelta
import humanize

[
    humanize.intcomma(12345678.9), humanize.intword(1_230_000_000), humanize.naturalsize(1_500_000), humanize.naturalsize(4096, binary=True),
    humanize.precisedelta(timedelta(days=2, hours=3, seconds=7)), humanize.naturaldelta(timedelta(minutes=90)),
    humanize.ordinal(23), humanize.apnumber(7), humanize.fractional(0.375), humanize.metric(0.00012, "V"),
    humanize.natural_list(["a", "b", "c"]), humanize.naturaldate(date(2001, 2, 3)),
]
