import soupsieve
from bs4 import BeautifulSoup

soup = BeautifulSoup("<ul><li class=a>1<li>2<li class=a data-x=y>3</ul><p>x", "html.parser")
[[tag.get_text()[:1] for tag in soupsieve.select(css, soup)] for css in ("li.a", "li:nth-child(2)", "ul > li:not(.a)", "[data-x=y]", "p:-soup-contains('x')")]
