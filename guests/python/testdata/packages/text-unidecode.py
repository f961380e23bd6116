from text_unidecode import unidecode

[unidecode(text) for text in ("Ærøskøbing", "北京", "Ωmega", "naïve café", "plain")]
