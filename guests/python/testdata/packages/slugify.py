from slugify import slugify

[slugify("Über den Wolken: 50 % mehr!"), slugify("日本語 text"), slugify("a_b C", separator="_"), slugify("one two three", max_length=8, word_boundary=True)]
