# Dates as people write them, and what a calendar does with them.
from datetime import datetime
from dateutil import parser, tz
from dateutil.relativedelta import relativedelta
from dateutil.rrule import FR, MONTHLY, rrule

berlin, york = tz.gettz("Europe/Berlin"), tz.gettz("America/New_York")
texts = ["3 March 2024 14:05", "Sat, 30 Mar 2024 23:30:00 +0100", "12/25/99", "20240131T235959"]
meeting = datetime(2024, 3, 30, 12, tzinfo=berlin)
{
    "parsed": [parser.parse(text).isoformat() for text in texts],
    "months": [(datetime(2024, 1, 31) + relativedelta(months=n)).date().isoformat() for n in range(4)],
    "last fridays": [d.date().isoformat() for d in rrule(MONTHLY, byweekday=FR(-1), count=4, dtstart=datetime(2024, 1, 1))],
    "over the change of clocks": [
        (meeting + relativedelta(days=n)).astimezone(york).isoformat() for n in range(3)
    ],
    "old": [datetime(y, 7, 1, tzinfo=york).utcoffset().total_seconds() for y in (1890, 1918, 1943, 1974, 2030)],
    "age": str(relativedelta(datetime(2024, 2, 29), datetime(1980, 11, 3))),
    "zones": [str(berlin), str(tz.gettz("Mars/Base")), tz.gettz("UTC").tzname(meeting), str(tz.gettz("EST5EDT"))],
}
