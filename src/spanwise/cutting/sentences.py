"""Where sentences and clauses end, by a look at the text near the cut.

A cut lies directly after the mark and its closing quotes or brackets, before the white space.
Whether a position is a cut depends on about 40 characters to each side, never on the window
asked about, so the whole text need not be read to make one cut. Positions are code points.
The marks are those of Unicode 15.0; the rules on what follows them are our own, in the spirit
of UAX #29, SB6 to SB8a. No cut falls inside a grapheme cluster.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from spanwise.cutting.clusters import is_border

_REACH = 40  # characters read on each side of a mark; longer runs of closers end nothing
_NOTES = 3  # note references such as [12] or [^3] taken with the sentence they follow
_NEAR = 512  # characters searched at a time from the right: most sentences end within them

# Marks that need white space after them: Sentence_Terminal of Unicode 15.0 for the scripts in wide
# use (Latin, Armenian, Arabic, Devanagari and its kin, Ethiopic, Khmer), the ellipsis, the Greek
# question mark and the Armenian full stop.
_SPACED = ".!?…‼⁇⁈⁉‽\u037e։؟۔।॥።፧។៕"
_BARE = "。！？｡．။"  # marks that need none: Chinese, Japanese, Burmese
_MARKS = _SPACED + _BARE
_CLOSERS = "\"'”’»›)]}*_`」』】〉》〕）］｝｣"
_OPENERS = "\"'“‘„‚«‹([{*_`¿¡"

_CLAUSE_SPACED = ",;:،؛፣፤"
_CLAUSE_BARE = "，、；：､၊"
_DASHES = "—–"
_NUMERIC = "．，、："  # no ends between two digits
_BRACKETS = ("(", "[", "{", "（", "［", "【")
_QUOTATIVE = "とっ"  # Japanese: the sentence that quotes goes on after the quotation

_NOTE = r"\[\^?[0-9]{1,3}\]"
_TAIL = _CLOSERS + "[^0123456789"  # what may stand between a mark and its cut
_TAIL_REACH = _REACH + 6 * _NOTES


def _pattern(spaced: str, bare: str) -> re.Pattern[str]:
    """A mark with its closers and notes; white space must follow a `spaced` one.

    One class stands first, so that the search skips what is no mark at full speed.
    """
    tail = rf"[{re.escape(_CLOSERS)}]{{0,{_REACH}}}(?:{_NOTE}){{0,{_NOTES}}}"
    return re.compile(rf"[{re.escape(spaced + bare)}](?:(?<=[{bare}]){tail}|{tail}(?=\s))")


_SENTENCE = _pattern(_SPACED, _BARE)
_CLAUSE = _pattern(_CLAUSE_SPACED + _DASHES, _CLAUSE_BARE)
_CONTINUED = re.compile(rf"[{re.escape(_CLOSERS + _MARKS)}]|{_NOTE}")
_SPACED_DOT = re.compile(r"\s\.(?!\w)")
_NEXT = re.compile(rf"\s{{1,{_REACH}}}[{re.escape(_OPENERS)}]{{0,3}}")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")

_Verdict: TypeAlias = Callable[[str, int, int], bool]  # of a text, a mark and its cut

# What a word before a full stop says about it. Case counts: "No." is a number, "no." may end.
_NEVER, _BEFORE_NUMBER, _UNLESS_CAPITAL = range(3)
_ABBREVIATIONS = {
    word: verdict
    for verdict, words in (
        (
            _NEVER,  # a name, a reference or the rest of the phrase must follow
            """Dr Drs dr Mr Mrs Ms Mx Messrs Prof prof Rev Hon Pres Gov Gen Col Maj Capt Cmdr Lt Sgt
            Sen Rep Msgr St Ste Mt Ft vs cf Cf al ca approx Fig Figs fig figs Eq Eqs eq eqs Ref
            Refs Vol Vols vol vols pp eds resp viz esp incl excl eg ie
            Nr Nrn Abb Hr Hrn Fr Frl Dipl Ing Dipl.-Ing bzw bspw ggf evtl vgl Vgl inkl zzgl sog
            Mme Mmes Mlle Mlles MM Sr Sra Sras Sres Srta Ud Uds Vd Vds pág págs núm p.ex p.ej
            Dott Sig bijv np tzn t.ex bl.a dvs Ph проф акад ул डॉ""",
        ),
        (
            _BEFORE_NUMBER,  # words of their own, or the end of a line of credits, otherwise
            """No Nos no nos Art art Sec sec Sect Ch ch Pt App Ex Op op Tab Kap Bd Abs est max min
            Ver ver Ziff Zl Rn Rz pag стр рис табл""",
        ),
        (
            _UNLESS_CAPITAL,  # they stand at the end of a sentence as well as inside one
            """etc usw Inc Ltd Co Corp Bros Jr Esq Dept Univ Ave Blvd Rd Str ibid cit
            a.m p.m A.M P.M U.S U.S.A U.K U.N E.U D.C B.C A.D B.C.E C.E Ph.D M.D B.A M.A B.Sc M.Sc
            Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Okt Dez Mon Tue Tues Wed Thu Thur
            Thurs Fri Sat Sun ecc enz itd osv тыс млн млрд руб""",
        ),
    )
    for word in words.split()
}

# The last letters of the longer abbreviations: no other word of four letters is one.
_MARKED = frozenset(_MARKS)
_ENDINGS = frozenset(word[-4:] for word in _ABBREVIATIONS if len(word) > 3)


def sentence_cuts(text: str, lo: int, hi: int) -> list[int]:
    """The sentence ends `c` with `lo < c <= hi`, in order.

    White space that a mark needs must itself lie before `hi`. The end of the text is no cut. No
    end: abbreviations, initials, numbers of one or two digits, an ellipsis or a closing quote
    before a small letter. Cost: linear in `hi - lo`.

    >>> sentence_cuts("Dr. Lee left. He ran.", 0, 21)
    [13]
    """
    return [
        match.end()
        for match in _SENTENCE.finditer(text, _start(text, lo), hi)
        if match.end() > lo and _ends_sentence(text, match.start(), match.end())
    ]


def clause_cuts(text: str, lo: int, hi: int) -> list[int]:
    """The clause ends `c` with `lo < c <= hi`, in order: commas, semicolons, colons, dashes.

    White space that a mark needs must itself lie before `hi`; sentence ends are not among them.

    >>> clause_cuts("Now, 1,000 – or more", 0, 20)
    [4, 12]
    """
    return [
        match.end()
        for match in _CLAUSE.finditer(text, _start(text, lo), hi)
        if match.end() > lo and _ends_clause(text, match.start(), match.end())
    ]


def last_sentence_cut(text: str, lo: int, hi: int) -> int:
    """The last of `sentence_cuts`, or -1; reads from the right and stops at the first found.

    >>> last_sentence_cut("Dr. Lee left. He ran.", 0, 21)
    13
    """
    dot = text.rfind(". ", lo, hi)
    if dot >= 4 and hi - dot < _NEAR:
        # The common case: what ends no abbreviation, then the few later marks.
        ending = text[dot - 4 : dot]
        if ending.isalpha():
            plain = ending not in _ENDINGS
        elif ending[3] == ")":
            plain = True
        else:
            word = ending.rpartition(" ")[2]
            plain = len(word) == 3 and word.isalpha() and word not in _ABBREVIATIONS
            plain = plain or (not word and not _MARKED.intersection(ending))
        plain = plain and text[dot + 2 : dot + 3] != "."
        found = dot + 1 if plain or _ends_sentence(text, dot, dot + 1) else -1
        rest = text[dot + 1 : hi]
        # Three looks for the marks of ASCII are quicker than the pattern, and most often enough.
        bare = rest.isascii() and "." not in rest and "!" not in rest and "?" not in rest
        later = None if bare else _SENTENCE.search(text, dot + 1, hi)
        while later:
            if _ends_sentence(text, later.start(), later.end()):
                found = later.end()
            later = _SENTENCE.search(text, later.end(), hi)
        if found >= 0:
            return found
        hi = dot + 1
    return _last(_SENTENCE, _ends_sentence, ". ", text, lo, hi)


def last_clause_cut(text: str, lo: int, hi: int) -> int:
    """The last of `clause_cuts`, or -1; reads from the right and stops at the first found."""
    return _last(_CLAUSE, _ends_clause, ", ", text, lo, hi)


def _last(marks: re.Pattern[str], ends: _Verdict, common: str, text: str, lo: int, hi: int) -> int:
    """The last cut in the window, sought in pieces that begin at the `common` mark."""
    while hi > lo:
        left = max(lo, hi - _NEAR)
        left = max(left, text.rfind(common, left, hi))
        for match in reversed(list(marks.finditer(text, _start(text, left), hi))):
            if match.end() > left and ends(text, match.start(), match.end()):
                return match.end()
        hi = left + 1 if left > lo else lo  # the white space after a cut at `left` must be seen
    return -1


def _start(text: str, lo: int) -> int:
    """Where to search for the mark of a cut after `lo`: before `lo` only amid its closers."""
    start = lo
    while start > 0 and lo - start < _TAIL_REACH and text[start : start + 1] in _TAIL:
        start -= 1
    return start


def _ends_sentence(text: str, mark: int, cut: int) -> bool:
    """Whether the mark at `mark`, whose closers end at `cut`, ends a sentence."""
    closed = cut > mark + 1
    if closed and text[max(0, mark - _REACH) : mark].rstrip(_MARKS)[-1:] in _BRACKETS:
        return False  # a mark alone in brackets: "(!)", "[...]"
    if text[mark] in _BARE:
        return _ends_bare(text, mark, cut) and not (closed and text[cut] in _QUOTATIVE)
    following = text[cut + 1 : cut + 2]
    if not following.isalnum():
        match = _NEXT.match(text, cut)
        following = text[match.end() : match.end() + 1] if match else ""
    before = text[mark - 1] if mark else " "
    if following.islower() and (closed or _is_ellipsis(text, mark)):
        return False
    if closed or text[mark] != "." or before in _MARKS:
        return True
    if following == "." and _SPACED_DOT.match(text, cut):
        return False  # spaced dots: the last of them decides
    return before.isspace() or not _is_abbreviation(text, mark, following)


def _is_ellipsis(text: str, mark: int) -> bool:
    """Whether the mark is `…` or follows a dot, as in `...` and `. . .`."""
    if text[mark] != ".":
        return text[mark] == "…"
    return text[max(0, mark - 2) : mark].rstrip().endswith(".")


def _ends_clause(text: str, mark: int, cut: int) -> bool:
    """Whether the mark at `mark`, whose closers end at `cut`, ends a clause."""
    if text[mark] in _CLAUSE_BARE:
        return _ends_bare(text, mark, cut)
    return text[mark] not in _DASHES or text[mark - 1 : mark].isspace()


def _ends_bare(text: str, mark: int, cut: int) -> bool:
    """Whether a mark that needs no white space ends something.

    Not inside a run, a number or a cluster.
    """
    if cut >= len(text) or _CONTINUED.match(text, cut) or not is_border(text, cut):
        return False
    digits = text[mark - 1 : mark].isdigit() and text[cut].isdigit()
    return not (digits and text[mark] in _NUMERIC)


def _is_abbreviation(text: str, dot: int, following: str) -> bool:
    """Whether the full stop at `dot` belongs to the word before it."""
    start = dot - _REACH if dot > _REACH else 0
    word = text[start:dot].rsplit(None, 1)[-1].lstrip(_OPENERS)
    verdict = _ABBREVIATIONS.get(word)
    if verdict is not None:
        if verdict == _BEFORE_NUMBER:
            return following.isdigit()
        return verdict == _NEVER or not following.isupper()
    if len(word) > 2 and word.isalpha():
        return False
    if word.isdecimal() and len(word) <= 2:
        return True  # an ordinal or a list number: "Am 3. Mai", "3. Then"
    if word[:1].isdecimal() and word.replace(".", "").isdecimal():
        start = dot - len(word)
        return start == 0 or text[start - 1] in "\r\n"  # the number of a section: "2.1. Aims"
    # Letters of scripts whose syllables are words (Hangul, kana, ideographs) are no initials.
    return word < "\u1100" and word[1:2] in (".", "") and _INITIALS.fullmatch(word) is not None
