import time
import parsedatetime

calendar = parsedatetime.Calendar()
start = time.struct_time((2024, 3, 5, 12, 0, 0, 1, 65, 0))
[list(calendar.parse(text, start)[0])[:6] for text in ("tomorrow at 5pm", "in 3 weeks", "next friday", "2 hours ago", "aug 25th 2025")]
