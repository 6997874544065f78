"""Names of months and weekdays in 27 languages, as the CLDR has them.

Languages: Bulgarian, Catalan, Czech, Danish, Dutch, English, Estonian, Finnish, French, German, Greek, Hungarian,
Indonesian, Italian, Latvian, Lithuanian, Norwegian, Polish, Portuguese, Romanian, Russian, Slovak, Slovenian, Spanish,
Swedish, Turkish, Ukrainian; wide and abbreviated, alone and within a date. The table stands here, and is not asked of
`babel` at run time, since loading these locales takes longer than a whole comparison; a test holds it against `babel`.
No name in it means two months (Croatian is left out: its `listopad` is October, elsewhere November).
"""

from __future__ import annotations

import unicodedata

_MONTH_NAMES = {
    1: (
        "ene enero gen gener gennaio ian ianuarie jaan jaanuar jaenner jan janeiro januar januari january január "
        "januára janv janvier janvāris jänner led leden ledna oca ocak saus sausio sausis sty styczeń stycznia "
        "tammi tammikuu tammikuuta ιαν ιανουάριοσ ιανουαρίου січ січень січня янв январь января яну януари"
    ),
    2: (
        "feb febbraio feber febr febrer febrero februar februari februarie february február februára februāris fev "
        "fevereiro févr février helmi helmikuu helmikuuta lut lutego luty vas vasario vasaris veebr veebruar úno "
        "únor února şub şubat φεβ φεβρουάριοσ φεβρουαρίου лют лютий лютого фев февр февраль февраля февруари"
    ),
    3: (
        "bře březen března kov kovas kovo maalis maaliskuu maaliskuuta maart maerz mar marca march marec maret "
        "mars mart martie marts marzec marzo març março mrt márc március mär märts märz μάρ μάρτιοσ μαρ μαρτίου "
        "бер березень березня мар март марта"
    ),
    4: (
        "abr abril apr april aprile aprilie aprill apríl apríla aprīlis avr avril bal balandis balandžio dub duben "
        "dubna huhti huhtikuu huhtikuuta kwi kwiecień kwietnia nis nisan ápr április απρ απρίλιοσ απριλίου апр "
        "апрель апреля април квіт квітень квітня"
    ),
    5: (
        "geg gegužė gegužės kvě květen května mag maggio mai maig maijs maio maj maja may mayis mayo mei máj mája "
        "május touko toukokuu toukokuuta μάι μάιοσ μαΐ μαΐου май мая трав травень травня"
    ),
    6: (
        "birž birželio birželis cze czerwca czerwiec giu giugno haz haziran iun iunie juin jun june junho juni "
        "junij junio juny juuni jún júna június jūn jūnijs kesä kesäkuu kesäkuuta červen června čvn ιουν ιουνίου "
        "ιούν ιούνιοσ июн июнь июня черв червень червня юни"
    ),
    7: (
        "heinä heinäkuu heinäkuuta iul iulie juil juillet jul julho juli julij julio juliol july juuli júl júla "
        "július jūl jūlijs liep liepa liepos lip lipca lipiec lug luglio tem temmuz července červenec čvc ιουλ "
        "ιουλίου ιούλ ιούλιοσ июл июль июля лип липень липня юли"
    ),
    8: (
        "ag ago agost agosto agu agustus août aug august augusta augusti augusts augustus augusztus avg avgust ağu "
        "ağustos elo elokuu elokuuta rugp rugpjūtis rugpjūčio sie sierpień sierpnia srp srpen srpna αυγ αυγούστου "
        "αύγ αύγουστοσ авг август августа серп серпень серпня"
    ),
    9: (
        "eyl eylül rugs rugsėjis rugsėjo sep sept september septembra septembre septembrie septembris septiembre "
        "set setembre setembro settembre syys syyskuu syyskuuta szept szeptember wrz wrzesień września zář září "
        "σεπ σεπτέμβριοσ σεπτεμβρίου вер вересень вересня сент сентябрь сентября сеп септември"
    ),
    10: (
        "eki ekim loka lokakuu lokakuuta oct october octobre octombrie octubre okt oktober oktobris oktoober "
        "október októbra ott ottobre out outubro paź październik października spal spalio spalis říj říjen října "
        "οκτ οκτωβρίου οκτώβριοσ жовт жовтень жовтня окт октомври октябрь октября"
    ),
    11: (
        "kas kasim lapkr lapkritis lapkričio lis listopad listopada listopadu marras marraskuu marraskuuta "
        "noiembrie nov november novembra novembre novembris novembro noviembre νοέ νοέμβριοσ νοε νοεμβρίου лист "
        "листопад листопада ное ноември нояб ноябрь ноября"
    ),
    12: (
        "ara aralik dec december decembra decembrie decembris des desember desembre dets detsember dez dezember "
        "dezembro dic dicembre diciembre déc décembre gru grudnia grudzień gruod gruodis gruodžio joulu joulukuu "
        "joulukuuta pro prosince prosinec δεκ δεκέμβριοσ δεκεμβρίου груд грудень грудня дек декабрь декабря "
        "декември"
    ),
}
_WEEKDAY_NAMES = (
    "an antradienis ceturtd ceturtdiena cmt cs csütörtök cum cuma cumartesi czw czwartek dc dg di dienstag dijous "
    "dilluns dim dimanche dimarts dimecres dinsdag dissabte diumenge divendres dj dl do dom domenica domingo "
    "donderdag donnerstag ds dt dum duminică dv e esmaspäev feira fr fre fredag freitag fri friday gio giovedì h "
    "hétfő jeu jeudi joi jue jueves jum jumat k kam kamis ke kedd keskiviikko keskiviikkona ketvirtadienis "
    "kolmapäev kt l la lauantai lauantaina laupäev lun lundi lunedì lunes luni lör lördag lør lørdag ma maanantai "
    "maanantaina maandag man mandag mar mardi martedì martes marți mer mercoledì mercredi mi mie miercuri min "
    "minggu mittwoch mié miércoles mo mon monday montag mån måndag n ne ned nedelja nedeľa neděle neljapäev niedz "
    "niedziela ons onsdag otrd otrdiena p paz pazar pazartesi pe penktadienis per perjantai perjantaina perşembe "
    "pet petek pi piatok piektd piektdiena pirmadienis pirmd pirmdiena piątek pn po pon pondelok pondělí "
    "ponedeljek poniedziałek pr pt pzt pá pátek péntek pühapäev qua quarta qui quinta r rab rabu reede sa sab "
    "sabato sabtu sal sali sam samedi samstag sat saturday seg segunda sekmadienis sel selasa sen senin sestd "
    "sestdiena sex sexta sk so sob sobota sonntag sre sreda st streda středa su sun sunday sunnuntai sunnuntaina "
    "svētd svētdiena sze szerda szo szombat sáb sábado sâm sâmbătă sön söndag søn søndag t teisipäev ter terça "
    "thu thursday ti tiistai tiistaina tir tirs tirsdag tis tisdag to tor torek tors torsdag torstai torstaina tr "
    "trečiadienis trešd trešdiena tue tuesday ut utorok v vasárnap ven vendredi venerdì vie viernes vin vineri vr "
    "vrijdag wed wednesday wo woensdag wt wtorek za zaterdag zo zondag çar çarşamba út úterý čet četrtek čt "
    "čtvrtek śr środa šeštadienis št štvrtok δευ δευτέρα κυρ κυριακή πέμ πέμπτη παρ παρασκευή σάβ σάββατο τετ "
    "τετάρτη τρί τρίτη воскресенье вс вт вторник вівторок нд неделя неділя п петък пн понеделник понедельник "
    "понеділок пт пятница сб середа ср среда сряда суббота субота събота четвер четверг четвъртък чт ятниця"
)


def without_accents(word: str) -> str:
    """The word without combining marks: `février` is `fevrier`."""
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))


_MONTHS = {
    form: month
    for month, names in _MONTH_NAMES.items()
    for name in names.split()
    for form in (name, without_accents(name))
}
_WEEKDAYS = frozenset(form for name in _WEEKDAY_NAMES.split() for form in (name, without_accents(name)))


def month_named(word: str) -> int | None:
    """The month 1..12 of a casefolded name or abbreviation without its full stop, None for other words."""
    return _MONTHS.get(word)


def is_weekday(word: str) -> bool:
    """Whether a casefolded word names a day of the week."""
    return word in _WEEKDAYS
