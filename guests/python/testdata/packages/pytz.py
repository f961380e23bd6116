from datetime import datetime
import pytz

berlin = pytz.timezone("Europe/Berlin")
summer = berlin.localize(datetime(2024, 7, 1, 12))


def refused(call):
    try:
        return str(call())
    except pytz.InvalidTimeError as e:
        return type(e).__name__
    except pytz.UnknownTimeZoneError as e:
        return "unknown " + str(e)


{
    "summer": summer.isoformat(), "york": summer.astimezone(pytz.timezone("US/Eastern")).isoformat(),
    "normal": berlin.normalize(berlin.localize(datetime(2024, 3, 31, 1, 30)).replace() + __import__("datetime").timedelta(hours=1)).isoformat(),
    "gap": refused(lambda: berlin.localize(datetime(2024, 3, 31, 2, 30), is_dst=None)),
    "twice": refused(lambda: berlin.localize(datetime(2024, 10, 27, 2, 30), is_dst=None)),
    "none": refused(lambda: pytz.timezone("Mars/Base")), "old": berlin.localize(datetime(1890, 1, 1)).isoformat(), "utc": str(pytz.utc),
    "kolkata": pytz.timezone("Asia/Kolkata").localize(datetime(2024, 1, 1)).strftime("%Z %z"), "many": len(pytz.all_timezones) > 400,
}
