"""Words around a number: those that change, doubt or deny it, and the short ones that measure it.

All in lower case. A unit may be any other word of two letters or more; these lists hold what is none.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JOINING = _words("""
    or and but to by plus minus than then versus vs xor nor et ou und oder aber mais pero eller och og lub
    oraz veya или и но а не
""")
_DOUBTING = _words("""
    not no none never nothing neither cannot ain isn aren wasn doesn don isnt arent cant dont without
    except unless if maybe perhaps possibly probably presumably likely unlikely apparently supposedly
    might may could should would approximately approx about around roughly nearly almost circa ish either
    between somewhere something least most guess guessing unsure uncertain unclear unknown alternatively
    otherwise instead rather actually however although though wait hmm oops sorry correction wrong
    incorrect false untrue invalid depending depends maximum minimum nicht nie kein keine keinen
    vielleicht etwa ungefähr pas jamais environ presque peut nunca quizás aproximadamente forse circa
    talvez нет может около примерно
""")
_NUMBERS = _words("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fourty fifty sixty seventy eighty ninety eins zwei
    drei vier fünf sechs sieben acht neun zehn deux trois quatre cinq sept huit neuf dix uno dos tres
    cuatro cinco seis siete ocho nueve diez quattro cinque sette otto dieci один два три четыре пять шесть
    семь восемь девять десять ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx xxx
""")
_SCALES = _words("""
    hundred hundreds thousand thousands lakh lakhs lac lacs crore crores myriad myriads grand mn mln mlns
    mil mill mils bn bln bil tn trn tln mio mrd mrds mia mld bio hundert tausend mille miljoen miljoenen
    miljard miljoner tusen duizend mila milione milioni miliardo miliardi milion milionów miliard milyon
    milyar millón millones milhão milhões bilhão bilhões milhar milhares tysiąc tysiące tysięcy juta ribu
    тыс тысяча тысячи тысяч млн миллион миллиона миллионов млрд миллиард миллиарда миллиардов
""")
_PARTS = _words("""
    half halves third thirds fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths
    ninth ninths tenth tenths eleventh elevenths twelfth twelfths sixteenth sixteenths twentieth
    twentieths thirtieth thirtieths hundredth hundredths thousandth thousandths halb halbe hälfte hälften
    drittel viertel fünftel zehntel hundertstel demi demie demis tiers dixième dixièmes centième centièmes
    medio medios mitad tercio tercios mezzo mezza terzo terzi половина половины треть четверть
""")
_OPERATIONS = _words("""
    divided multiplied mod modulo remainder negative below under base binary hex hexadecimal octal
    recurring repeating repeated equals equal pi tau phi infinity infinite inf nan factorial choose twice
    thrice
""")
_FUNCTIONS = _words("""
    sqrt cbrt log ln lg exp sin cos tan cot csc arcsin arccos arctan arccot arcsec arccsc arsinh arcosh
    artanh asin acos atan sinh cosh tanh coth sech csch arg sgn det ker gcd lcm lim limsup liminf sup max
    argmax argmin erf
""")

NO_UNIT = _JOINING | _DOUBTING | _NUMBERS | _SCALES | _PARTS | _OPERATIONS | _FUNCTIONS
"""Words that join, doubt, deny, scale, split or operate on a number, anywhere in what follows it."""
NO_FIRST_UNIT = _words("squared cubed point over choose")
"""Words that work on a number directly before them, but not on a unit."""
NO_OPERATOR_NAME = _words("min sec deg")
"""Units in words, functions in `\\operatorname`."""
NO_LABEL = _words("""
    not no never nothing neither nor none or but than cannot ain isn aren wasn doesn don isnt arent cant
    dont except unless if maybe perhaps possibly probably presumably unlikely might may could
    approximately approx about around roughly nearly almost circa wrong incorrect false untrue invalid
    impossible negative minus twice thrice half double triple nicht kein keine pas jamais ne nunca menos
    moins weniger не нет
""")
"""Words by which a label denies, doubts, compares or changes the number that it names."""

_SCALE_STEM = re.compile(r"[a-zà-ÿ]*illion(?!aire)[a-zà-ÿ]*|(?:m|tr|quadr)illiard[a-z]*")

_NO_UNIT_STEM = re.compile(rf"{_SCALE_STEM.pattern}|[α-ω]{{2,3}}")
"""Scales, and products of Greek letters."""

_CONTINUING = (_SCALES | _PARTS | _FUNCTIONS) - _words("""
    third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth sixteenth twentieth thirtieth log
    tan cot max
""") | _words("squared cubed pi factorial choose recurring repeating")


def continues(word: str) -> bool:
    """Whether a word, in lower case, makes another number of one before it in running text."""
    return word in _CONTINUING or _SCALE_STEM.fullmatch(word) is not None


def is_no_unit(word: str) -> bool:
    """Whether a word, in lower case, says something else about the number before it than its unit."""
    return word in NO_UNIT or _NO_UNIT_STEM.fullmatch(word) is not None


SHORT_UNITS = _words("""
    nm um µm μm mm cm dm dam hm km in ft yd mi nmi au ly pc mg kg ug µg μg lb lbs oz st gr cwt ton ml dl
    cl hl kl µl μl ul gal qt pt cc tsp tbs bbl ns ms us µs μs sec min mins hr hrs day wk wks mo mos yr yrs
    am pm sq cu ha hz khz mhz ghz thz rpm bpm fps mph kph kmh kt kts pa kpa mpa gpa hpa bar atm psi mb ev
    kev mev gev kj mj gj cal kwh mwh gwh wh btu erg nj mw kw gw tw hp kv mv ma ka ah mah kn mol ppm ppb
    ppt db dba ph kω mω kb gb tb pb kib mib gib tib bit rad deg pcs pts px em ppl bps pp pct usd eur gbp
    jpy cny rmb inr chf cad aud nzd hkd sgd sek nok dkk krw brl mxn zar rub try pln rs dh th nd rd men man
    cat dog cow pig hen egg pie pen cup can bag box jar toy car bus kid км см мм дм кг мг мл га шт руб мин
    сек час год дня лет
""")
"""Words of two or three letters that measure a number they are glued to; other such runs are products."""
LETTER_UNITS = frozenset("aACdFgGhHJKlLmNsTVWΩ")
"""Single letters that may stand beside other words in a unit, such as `m/s` and `dollars a day`."""

IDEOGRAPH_NUMBERS = (
    "零〇一二三四五六七八九十百千万亿億兆萬两兩半壹贰叁肆伍陆柒捌玖拾負负或和与與到至约約点點倍"
)
HANGUL_NUMBERS = "백천만억조반또약"
