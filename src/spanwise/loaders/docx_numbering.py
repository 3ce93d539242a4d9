"""The numbers of Word's lists, counted as Word counts them."""

from __future__ import annotations

from collections import defaultdict
from xml.etree.ElementTree import Element

from spanwise.loaders.office import attribute, numeral, under, whole_number

__all__ = ["Numbering"]


class Numbering:
    """The labels of lists, counted as Word counts them."""

    def __init__(self, root: Element | None = None) -> None:
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._lists: dict[str, str] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        if root is None:
            return
        linked: dict[str, str] = {}  # to list styles
        styles: dict[str, str] = {}
        for abstract in root.iter("w:abstractNum"):
            key = attribute(abstract, "abstractNumId")
            self._levels[key] = _levels_of(abstract)
            linked[key] = attribute(under(abstract, "w:numStyleLink"), "val")
            styles[attribute(under(abstract, "w:styleLink"), "val")] = key
        styles.pop("", None)
        for concrete in root.iter("w:num"):
            key = attribute(concrete, "numId")
            abstract_id = attribute(under(concrete, "w:abstractNumId"), "val")
            self._lists[key] = styles.get(linked.get(abstract_id, ""), abstract_id)
            for changed in concrete.iter("w:lvlOverride"):
                start = under(changed, "w:startOverride")
                level = whole_number(attribute(changed, "ilvl"))
                own = f"list {key}"
                base = self._levels.get(self._lists[key], {})
                # A list that starts anew counts for itself.
                self._levels[own] = {**base, **_levels_of(changed)}
                if start is not None and level in self._levels[own]:
                    form, text, _ = self._levels[own][level]
                    begun = whole_number(attribute(start, "val"), 1)
                    self._levels[own][level] = (form, text, begun)
                self._lists[key] = own

    def label(self, list_id: str, level: int) -> str | None:
        """What stands before the next item: ``3.2.``; empty for a bullet; None without a list."""
        key = self._lists.get(list_id)
        if key is None:
            return None
        levels, counts = self._levels.get(key, {}), self._counts[key]
        form, text, start = levels.get(level, ("bullet", "", 1))
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if form == "none" and not text.strip():
            return None
        if form == "bullet":
            return ""
        for other in range(level + 1):
            if f"%{other + 1}" in text:
                other_form, _, begun = levels.get(other, ("decimal", "", 1))
                text = text.replace(f"%{other + 1}", numeral(counts.get(other, begun), other_form))
        return text.strip()


def _levels_of(abstract: Element) -> dict[int, tuple[str, str, int]]:
    """For each level of a list its number format, its text such as ``%1.`` and its start."""
    return {
        whole_number(attribute(level, "ilvl")): (
            attribute(under(level, "w:numFmt"), "val", "decimal"),
            attribute(under(level, "w:lvlText"), "val"),
            whole_number(attribute(under(level, "w:start"), "val"), 0),
        )
        for level in abstract.iter("w:lvl")
    }
