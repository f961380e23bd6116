import datetime
import isodate

[
    isodate.parse_duration("P1Y2M3DT4H5M6S").tdelta.total_seconds(), str(isodate.parse_duration("PT36H")),
    isodate.duration_isoformat(datetime.timedelta(days=1, minutes=90)), isodate.parse_datetime("2024-W09-5T10:00:00Z").isoformat(),
    isodate.parse_date("2024-060").isoformat(), (datetime.date(2024, 1, 31) + isodate.parse_duration("P1M")).isoformat(),
]
