from babel import Locale

[Locale.parse(name).languages["de"] for name in ("en", "de", "fr", "es")]
