# A time series by week, with the weeks in which nothing was sold, a moving mean
# and the same week of the year before.
from collections import defaultdict
from datetime import date
from decimal import Decimal
from dateutil.parser import isoparse
from dateutil.relativedelta import MO, relativedelta
from dateutil.rrule import WEEKLY, rrule

weeks = defaultdict(Decimal)
for sale in sales:
    if sale["region"] == "overseas" and sale["kind"] == "garden":
        weeks[(isoparse(sale["day"]) + relativedelta(weekday=MO(-1))).date()] += Decimal(sale["amount"])
first, last = min(weeks), max(weeks)
series = [(day.date(), weeks.get(day.date(), Decimal(0))) for day in rrule(WEEKLY, dtstart=first, until=last)]
values = dict(series)
table = []
for n, (day, amount) in enumerate(series):
    window = [amount for _, amount in series[max(0, n - 3):n + 1]]
    before = values.get((day + relativedelta(weeks=-52)))
    table.append([day.isoformat(), "%d-W%02d" % day.isocalendar()[:2], str(amount), f"{sum(window) / len(window):.4f}", None if not before else f"{amount / before:.4f}"])
{"weeks": len(table), "empty": sum(amount == 0 for _, amount in series), "table": table}
