from datetime import date, datetime
from decimal import Decimal
from babel import Locale
from babel.dates import format_date, format_datetime
from babel.numbers import format_currency, format_decimal, format_percent, parse_decimal

amount = Decimal("1234567.891")
{
    "money": [format_currency(amount, "EUR", locale=name) for name in ("en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "de_CH")],
    "numbers": [format_decimal(amount, locale=name) for name in ("en", "en_IN", "de", "fr", "es")],
    "percent": format_percent(0.256, format="#,##0.0%", locale="de"),
    "dates": [format_date(date(2024, 3, 5), "full", locale=name) for name in ("en", "de", "fr", "es")],
    "time": format_datetime(datetime(2024, 3, 5, 17, 4), "short", locale="en_US"),
    "parsed": [str(parse_decimal("1.234,5", locale="de")), str(parse_decimal("1,234.5", locale="en"))],
    "name": Locale.parse("de_AT").get_display_name("en"),
}
