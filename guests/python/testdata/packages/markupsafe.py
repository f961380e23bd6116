from markupsafe import Markup, escape

[str(escape("<a href='x'>&\"")), Markup("<b>%s</b>") % "<i>", str(Markup("<p>a &amp; <b>b</b></p>").striptags()), escape(Markup("<br>"))]
