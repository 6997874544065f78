"""Tables of words: numbers, abbreviations, legal forms, titles, units, negations and opposites.

All entries are words as `scoring.words` gives them: folded, without apostrophes. The tables are short on purpose: an
entry that is right in one context and wrong in another does not belong here.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    """The words of a table that is written as one text."""
    return frozenset(text.split())


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
FULL_NUMBERS: dict[str, int] = {
    **{word: value for value, word in enumerate(_SMALL.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 2)},
}
SCALES: dict[str, int] = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "millions": 1_000_000,
    "billion": 1_000_000_000,
    "billions": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
# Letters that scale an amount of money: `£50m`.
MONEY_SCALES: dict[str, int] = {"k": 1_000, "m": 1_000_000, "mn": 1_000_000, "bn": 1_000_000_000}
CURRENCIES: frozenset[str] = _words("$ £ € ¥ dollars pounds euros usd gbp eur")
ORDINAL_WORDS: dict[str, int] = {word: value for value, word in enumerate(_ORDINALS.split(), 1)}
# Single letters are no numerals here, and `xi`, `mi`, `di`, `li`, `xl` are names or words of their own.
_ROMAN = "ii iii iv 0 vi vii viii ix 0 0 xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii xxiv xxv"
ROMAN_NUMERALS: dict[str, int] = {word: value for value, word in enumerate(_ROMAN.split(), 2) if word != "0"}
LAST_ROMAN: dict[str, int] = {"i": 1, "v": 5, "x": 10}

SYMBOL_WORDS: dict[str, str] = {"&": "and", "%": "percent", "$": "dollars", "£": "pounds", "€": "euros"}
ABBREVIATIONS: dict[str, str] = {
    "intl": "international",
    "int": "international",
    "natl": "national",
    "dept": "department",
    "univ": "university",
    "govt": "government",
    "assn": "association",
    "assoc": "association",
    "bros": "brothers",
    "ave": "avenue",
    "blvd": "boulevard",
    "rd": "road",
    "mt": "mount",
    "ft": "fort",
    "jr": "junior",
    "sr": "senior",
    "vs": "versus",
    "utd": "united",
    "approx": "approximately",
    "usa": "us",
    "jan": "january",
    "feb": "february",
    "mar": "march",
    "apr": "april",
    "jun": "june",
    "jul": "july",
    "aug": "august",
    "sep": "september",
    "sept": "september",
    "oct": "october",
    "nov": "november",
    "dec": "december",
}
STREET_OR_SAINT: frozenset[str] = frozenset({"saint", "street"})
# British endings and their American form, longest first.
REGIONAL_ENDINGS: tuple[tuple[str, str], ...] = (
    ("isations", "izations"),
    ("isation", "ization"),
    ("ising", "izing"),
    ("ised", "ized"),
    ("ises", "izes"),
    ("ise", "ize"),
    ("yse", "yze"),
    ("ours", "ors"),
    ("oured", "ored"),
    ("our", "or"),
    ("tres", "ters"),
    ("tre", "ter"),
    ("ogue", "og"),
    ("elling", "eling"),
    ("elled", "eled"),
)

# Legal forms, the canonical one first. Longer spellings are tried first.
_LEGAL_FORMS = """
inc|incorporated
corp|corporation
ltd|limited
co|company
llc|limited liability company
llp|limited liability partnership
lp|limited partnership
plc|public limited company
co ltd|company limited|co limited|company ltd
pty ltd|proprietary limited|pty limited
pte ltd|private limited|pte limited|pvt ltd
gmbh|gesellschaft mit beschrankter haftung
ag|aktiengesellschaft
kg|kommanditgesellschaft
gmbh and co kg
bv|besloten vennootschap
nv|naamloze vennootschap
sa|societe anonyme|sociedad anonima|sociedade anonima
sarl|societe a responsabilite limitee
sas|societe par actions simplifiee
srl|societa a responsabilita limitata
spa|societa per azioni
sl|sociedad limitada
ab|aktiebolag
as|aksjeselskap|aktieselskab
oy|osakeyhtio
oyj
sp z o o|spolka z ograniczona odpowiedzialnoscia|sp zoo
jsc|joint stock company
ojsc|open joint stock company
na|national association
ооо|общество с ограниченной ответственностью
оао|открытое акционерное общество
зао|закрытое акционерное общество
пао|публичное акционерное общество
ао|акционерное общество
"""
_DOTTED = "llc llp lp plc gmbh ag kg bv nv sa sarl sas srl spa sl ab na ооо оао зао пао ао"


def _legal_forms() -> tuple[tuple[tuple[str, ...], str], ...]:
    spelt = [
        (tuple(form.split()), line.split("|")[0])
        for line in _LEGAL_FORMS.strip().splitlines()
        for form in line.split("|")
    ]
    dotted = [(tuple(form), form) for form in _DOTTED.split()]
    return tuple(sorted(spelt + dotted, key=lambda entry: -len(entry[0])))


LEGAL_FORMS = _legal_forms()
# Two letters are too often a person's initials to be any name's acronym; these are known.
SHORT_ACRONYMS: frozenset[str] = frozenset({"us", "uk", "eu", "un", "nz", "hk"})
# Forms that mean nothing else, so that a name without any form is the same as the name with one of these.
OMITTED_FORMS: frozenset[str] = frozenset({"co ltd", "pty ltd", "pte ltd", "gmbh and co kg", "sp z o o"}) | _words(
    "inc corp ltd llc llp plc gmbh ag sarl srl spa bv jsc ojsc oyj ооо оао зао пао"
)

TITLES: frozenset[str] = _words(
    "mr mrs ms miss mister dr doctor prof professor sir dame rev reverend king queen prince princess emperor empress "
    "pope president senator justice judge chancellor herr frau monsieur madame senor senora signor signora"
)
POST_NOMINALS: frozenset[str] = _words("phd md esq obe mbe cbe kbe qc kc")
ARTICLES: frozenset[str] = frozenset({"the", "a", "an"})
# Words that say who stands in which place: with one of these another order is another thing.
DIRECTED: frozenset[str] = _words(
    "of to from by over under above below before after than versus v for with without against into in on at as is was "
    "are were not no beat beats defeated von nach bis de a van door voor naar par pour vers sans por para per da od do"
)
SMALL_WORDS: frozenset[str] = _words("of the and for in on at to a an de la le les des du et der die das und y e van")

_UNITS = """
mg|milligram|milligrams|milligramme|milligrammes
g|gram|grams|gramme|grammes|gr
kg|kilogram|kilograms|kilo|kilos
ug|mcg|μg|microgram|micrograms
ng|nanogram|nanograms
lb|lbs|pound|pounds|£
oz|ounce|ounces
ton|tons|tonne|tonnes
stone|stones
mm|millimetre|millimetres|millimeter|millimeters
cm|centimetre|centimetres|centimeter|centimeters
m|metre|metres|meter|meters
km|kilometre|kilometres|kilometer|kilometers|kms
inch|inches
foot|feet
yard|yards|yd
mile|miles
ml|millilitre|millilitres|milliliter|milliliters
cl|centilitre|centilitres
l|litre|litres|liter|liters
gallon|gallons|gal
iu
mmol
mol
s|sec|secs|second|seconds
ms|millisecond|milliseconds
minute|minutes|min|mins
hour|hours|hr|hrs|h
day|days
week|weeks
month|months
year|years|yr|yrs
decade|decades
century|centuries
percent|%
°
c|celsius
f|fahrenheit
k|kelvin
w|watt|watts
kw|kilowatt|kilowatts
mw|megawatt|megawatts
v|volt|volts
hz|hertz
khz
mhz
ghz
kb|kilobyte|kilobytes
mb|megabyte|megabytes
gb|gigabyte|gigabytes
tb|terabyte|terabytes
mph
kmh|kph
kcal
kj
bar
psi
pa
usd|dollar|dollars|$
eur|euro|euros|€
gbp
jpy|yen|¥
am
pm
bc|bce
ad|ce
"""
UNITS: dict[str, str] = {
    spelling: line.split("|")[0] for line in _UNITS.strip().splitlines() for spelling in line.split("|")
}

NEGATIONS: frozenset[str] = _words(
    "not no never none nobody nothing nor neither without cannot non lack lacks "
    "isnt arent wasnt werent dont doesnt didnt cant couldnt wont wouldnt shouldnt hasnt havent hadnt "
    "nicht kein keine keiner keinen keinem keines nie niemals ohne weder "
    "niet geen nooit zonder noch "
    "ne pas jamais sans aucun aucune "
    "nunca jamas sin ningun ninguna ninguno "
    "senza mai nessun nessuna nessuno "
    "nao sem nenhum nenhuma "
    "nigdy bez zaden zadna "
    "inte ej aldrig utan ikke aldri uden "
    "не нет без никогда לא בלתי ללא אין لا غير بدون ليس"
)
NEGATING_PREFIXES: tuple[str, ...] = ("un", "in", "im", "il", "ir", "dis", "non", "anti", "a", "de", "on", "nie")

_OPPOSITES = """
from/to von/nach van/naar od/do
left/right links/rechts gauche/droite izquierda/derecha sinistra/destra esquerda/direita lewa/prawa lewy/prawy
vanster/hoger up/down upper/lower upward/downward upwards/downwards top/bottom front/back front/rear inner/outer
inside/outside internal/external interior/exterior indoor/outdoor inbound/outbound incoming/outgoing inward/outward
oben/unten haut/bas north/south northern/southern east/west eastern/western northeast/southwest northwest/southeast
northeast/northwest southeast/southwest northeast/southeast northwest/southwest noord/zuid oost/west nord/sud
est/ouest norte/sur norte/sul este/oeste ost/west polnoc/poludnie wschod/zachod on/off open/closed open/shut
opened/closed start/end start/stop begin/end beginning/end first/last early/late earlier/later earliest/latest
before/after previous/next past/future old/new older/newer older/younger oldest/youngest young/old ancient/modern
day/night morning/evening summer/winter birth/death born/died alive/dead living/dead high/low higher/lower
highest/lowest more/less more/fewer most/least most/fewest maximum/minimum max/min big/small large/small
larger/smaller largest/smallest bigger/smaller biggest/smallest long/short longer/shorter longest/shortest tall/short
wide/narrow thick/thin deep/shallow heavy/light strong/weak hard/soft fast/slow hot/cold warm/cool warmest/coldest
hottest/coldest wet/dry rich/poor cheap/expensive full/empty full/partial many/few good/bad better/worse best/worst
hoog/laag hoch/niedrig groot/klein increase/decrease increased/decreased increases/decreases increasing/decreasing
rise/fall rises/falls rising/falling rose/fell gain/loss gains/losses profit/loss grow/shrink growth/decline
ascending/descending positive/negative plus/minus add/subtract true/false yes/no ja/nein ja/nee oui/non tak/nie
wahr/falsch vrai/faux right/wrong correct/incorrect win/lose won/lost wins/loses winner/loser victory/defeat pass/fail
passed/failed success/failure succeeded/failed accept/reject accepted/rejected approved/rejected approved/denied
allow/deny allowed/forbidden allowed/prohibited permitted/prohibited include/exclude included/excluded
including/excluding inclusive/exclusive enabled/disabled enable/disable guilty/innocent always/never buy/sell
buyer/seller bought/sold import/export imports/exports debit/credit asset/liability assets/liabilities income/expense
revenue/cost lender/borrower landlord/tenant lessor/lessee licensor/licensee employer/employee plaintiff/defendant
sender/recipient sender/receiver supply/demand input/output upload/download deposit/withdrawal arrival/departure
entry/exit male/female man/woman men/women boy/girl boys/girls father/mother son/daughter brother/sister husband/wife
king/queen prince/princess uncle/aunt nephew/niece grandfather/grandmother grandson/granddaughter actor/actress he/she
his/her mr/mrs mr/ms mann/frau homme/femme hombre/mujer homem/mulher mezczyzna/kobieta parent/child parents/children
teacher/student junior/senior jr/sr public/private single/married married/divorced home/away black/white dark/light
anterior/posterior dorsal/ventral proximal/distal medial/lateral superior/inferior systolic/diastolic arterial/venous
artery/vein acute/chronic benign/malignant oral/intravenous agonist/antagonist dominant/recessive major/minor
sharp/flat odd/even anode/cathode cation/anion acid/alkaline acidic/alkaline vertical/horizontal
clockwise/counterclockwise clockwise/anticlockwise concave/convex fixed/variable temporary/permanent
voluntary/mandatory optional/mandatory optional/required gross/net simple/complex local/global domestic/foreign
urban/rural liberal/conservative war/peace love/hate friend/enemy north/west north/east south/east south/west
northern/western northern/eastern southern/eastern southern/western with/without mit/ohne avec/sans met/zonder con/sin
com/sem con/senza
"""


def _opposites() -> dict[str, frozenset[str]]:
    """Every word of the table with all its opposites."""
    opposites: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split():
        one, other = pair.split("/")
        opposites.setdefault(one, set()).add(other)
        opposites.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in opposites.items()}


OPPOSITES = _opposites()

# Words that an answer in a whole sentence adds to the bare answer, and that change nothing in it.
FILLERS: frozenset[str] = SMALL_WORDS | _words(
    "is was are were be been its it they he she his her their this that these those which who whom whose what when "
    "where has have had do does did with by as from called named known answer there i you we would will "
    "ist war sind waren est sont etait es era son fueron is zijn was waren to jest byl sa e sao era"
)

OPPOSITE_PREFIXES: tuple[tuple[str, str], ...] = (
    ("hyper", "hypo"),
    ("pre", "post"),
    ("over", "under"),
    ("in", "out"),
    ("in", "ex"),
    ("im", "ex"),
    ("inter", "intra"),
    ("macro", "micro"),
    ("endo", "exo"),
    ("homo", "hetero"),
    ("super", "sub"),
    ("pro", "anti"),
    ("up", "down"),
    ("mono", "poly"),
    ("uni", "bi"),
    ("bi", "tri"),
    ("tachy", "brady"),
    ("maxi", "mini"),
)
COMPOUND_ENDINGS: frozenset[str] = _words("ate ite ide ine ane ene yne")
# Words that make a text a sentence.
COPULAS: frozenset[str] = _words(
    "is was are were called named known by ist war sind est etait fue is zijn jest byl e foi"
)
