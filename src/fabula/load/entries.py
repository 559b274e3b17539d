"""Recognise the dated entries of diaries, and the address lines of letters, in twenty languages."""

from __future__ import annotations

import functools
import re

from fabula.load.chapters import MAX_HEADING_CHARACTERS, fold

_MONTHS = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sept sep oct nov dec
    januar februar märz maerz mai juni juli oktober dezember jänner
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre
    diciembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada
    grudnia styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad
    grudzień
    ledna února března dubna května června července srpna září října listopadu prosince
    januára februára apríla mája júna júla augusta októbra novembra decembra
    januari februari maart augustus mei augusti oktober maj desember
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
    ianuarie februarie martie aprilie iunie iulie septembrie octombrie noiembrie decembrie
    január február március április május június július augusztus szeptember október november
    ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
    tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta
    syyskuuta lokakuuta marraskuuta joulukuuta
    ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου
    οκτωβρίου νοεμβρίου δεκεμβρίου
    يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
    בינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר
    जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
    มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน
    ธันวาคม
    januari februari maret juni juli agustus desember
"""
_DAYS = """
    monday tuesday wednesday thursday friday saturday sunday
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    lundi mardi mercredi jeudi vendredi samedi dimanche
    lunes martes miércoles jueves viernes sábado domingo
    segunda-feira terça-feira quarta-feira quinta-feira sexta-feira
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    poniedziałek wtorek środa czwartek piątek sobota niedziela
    pondělí úterý středa čtvrtek pátek neděle pondelok utorok streda štvrtok piatok nedeľa
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    måndag tisdag onsdag torsdag fredag lördag söndag mandag tirsdag lørdag søndag
    понедельник вторник среда четверг пятница суббота воскресенье
    понеділок вівторок середа четвер п’ятниця субота неділя
    hétfő kedd szerda csütörtök péntek szombat vasárnap
    pazartesi salı çarşamba perşembe cuma cumartesi pazar
"""
_PARTS_OF_DAYS = "morning|evening|night|afternoon|noon|morgen|abend|nacht|matin|soir|rano|wieczorem"
_HAN_NUMBER = r"(?:\d{1,4}|[〇零一二三四五六七八九十元廿卅百]{1,5})"
_ADDRESS = re.compile(
    r"(?:from\s+(?P<from>\S.{1,40}?)\s+)?"
    r"(?:to(?:\s+(?:the|my))?|an\s+(?:herrn?|frau|den|die|meinen?)|à|au|do\s+pan[aiy]|к)\s+"
    r"(?P<name>\w.{1,60})"
    r"|(?:letter|telegram|memorandum|brief|lettre|note)[,.:]\s+(?P<what>\w.{2,70})",
    re.IGNORECASE,
)
_DIRECTION = re.compile(
    r",\s(?:(?:after|before|in|with|to|as|still|not|half|very)\s[a-z]|[a-z]+(?:ly|ing)\b)"
    r"|[a-z](?:—|–|--)\s?[a-z]"
    r"|\b(?!(?i:capt|prof|messrs|revd|lieut|hon|esq)\b)[^\W\d_]{4,}\.\s+"
    # A place and a month are part of an address.
    r"(?!(?:[A-Z]\w+ ?){1,3},\s[A-Z]\w+\.?$)\S"
)
"""What a stage direction has, as 'To Roper, languidly. I'll tell them', and no address."""
_CAPITAL_ADDRESS = re.compile(r"[^\d\W][^\d?!;]{1,40}\s(?:TO|AN|À|DO|К)\s[^\d?!;]{2,50}")


def entry_title(text: str) -> str:
    """Return the title of an entry that a paragraph begins; '' if it begins none.

    That is the date, with what stands between it and a dash, as '3 May. Bistritz' of
    '3 May. Bistritz.--Left Munich'. Only a series of such paragraphs proves that they are entries.
    """
    match = _match_date(text[: 2 * MAX_HEADING_CHARACTERS])
    return text[: match.end("title")].rstrip(" .,:;-—–") if match else ""


def is_date_line(line: str) -> bool:
    """Return whether a whole line is a date, as 'Monday, June 12th, 1890.'."""
    match = _match_date(line) if len(line) <= MAX_HEADING_CHARACTERS else None
    return match is not None and match["line"] is not None and match["remark"] is None


def _match_date(text: str) -> re.Match[str] | None:
    """The date at the beginning of a text, unless a sentence goes on after it."""
    match = _date_pattern().match(fold(text))
    place = max(match.start("remark"), match.start("place")) if match else -1
    # A place is capitalised: '5 May. The Castle', but not '5 May, was a fine day'.
    return match if match and (place < 0 or not text[place].islower()) else None


def address_title(text: str) -> str:
    """Return the title of a letter by its address, as 'To Mrs. Saville, England'; '' if none."""
    if len(text) > MAX_HEADING_CHARACTERS or "\n" in text:
        return ""
    match = None if _DIRECTION.search(text) else _ADDRESS.fullmatch(text)
    names = [match[name] for name in ("from", "name", "what") if match[name]] if match else []
    is_address = bool(names) and text[0].isupper() and all(name[0].isupper() for name in names)
    if (is_address and text[-1] not in '!?;:"”') or (
        text.isupper() and _CAPITAL_ADDRESS.fullmatch(text)
    ):
        return text.rstrip(" .,:;-—–")
    return ""


@functools.cache
def _date_pattern() -> re.Pattern[str]:
    """A date at the beginning of a folded paragraph; the group 'title' is an entry's title."""
    months = "|".join(sorted({fold(name) for name in _MONTHS.split()}, key=len, reverse=True))
    days = "|".join(sorted({fold(name) for name in _DAYS.split()}, key=len, reverse=True))
    weekday = rf"(?:{days})\b"
    day = r"\d{1,2}(?:st|nd|rd|d|th|er|º|ª|°|\.)?"
    year = r"(?:(?:de |del |of )?(?:\d{4}|1[5-9]\d\d?[—–-]+|'\d\d)\b\.?(?: ?г\.?| r\.?)?)"
    month = rf"(?:{months})\b\.?"
    first_day = rf"(?:the )?{day} (?:of |de |di |d')?{month}(?:,? ?{year})?"
    first_month = rf"{month},? (?:the )?{day}(?:\b|(?<=\W))(?:,? ?{year})?"
    date = rf"(?:{first_day}|{first_month})"
    introduced = (
        rf"(?:{weekday}[,.]?(?: (?:den|le|dia|dne|el|am|the|dnia))? )?"
        rf"(?:den |le |am |dnia |το )?{date}(?:,? ?\(?{weekday}\)?)?"
    )
    numeric = r"\d{4}-\d\d-\d\d|\d{1,2}\.\s?\d{1,2}\.\s?\d{2,4}|\d{1,2}/\d{1,2}/\d{2,4}"
    weekday_only = rf"{weekday}(?:,? (?:{_PARTS_OF_DAYS}))?"
    han = (
        rf"(?:\w{{0,2}}{_HAN_NUMBER}年\s?)?{_HAN_NUMBER}月\s?{_HAN_NUMBER}[日號号]"
        r"\s?(?:[（(]?(?:[日月火水木金土]曜?日?|星期[一二三四五六日天])[）)]?)?(?: \S{1,6}$)?"
    )
    korean = r"(?:\d{4}년\s?)?\d{1,2}월\s?\d{1,2}일(?:\s?\(?\w요일\)?)?(?: \S{1,6}$)?"
    dates = rf"(?:{introduced}|{year}[.,]? {date}|{numeric}|{han}|{korean})"
    # The group 'line' is what there is if the paragraph has nothing else.
    return re.compile(
        # A line of its own: the date, and a place, an hour or a remark in brackets.
        rf"(?P<title>(?P<line>(?:{dates}(?:[,.]? ?\([^()]{{1,40}}\)"
        rf"|[,.] ?(?P<remark>[^.!?—–-][^.!?\n—–]{{1,40}}))?"
        rf"|{weekday_only})[.:]?$)"
        # A date, perhaps a place, and a dash.
        rf"|(?:{dates}|{weekday_only})[.,:]?"
        rf"(?: ?(?P<place>[^\s.!?—–-][^.!?\n—–]{{1,40}}?)[.,]?)?(?= ?(?:--|—|–| - ))"
        # A date with a full stop, a colon or a remark in brackets, and the text.
        rf"|{dates}(?=[.:] \S| ?\([^()]{{1,40}}\)[.,:]?|(?<=\.) [^\W\d_]))"
    )
