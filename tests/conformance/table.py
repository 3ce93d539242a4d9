"""The table that `scripts/conformance` prints."""

from __future__ import annotations

import sys
from collections import Counter

from conformance.compare import (
    BY_MODEL,
    DEPARTS,
    EQUAL,
    UNEXPLAINED,
    Verdict,
    difference,
    judge,
    pairs,
)
from conformance.subjects import SUBJECTS


def rows(verdicts: list[Verdict]) -> list[str]:
    """One line a group of vectors, its departures below."""
    lines = [
        f"{'vectors':46} {'cases':>6} {'equal':>6} {'places':>7} {'own parts':>10} "
        f"{'departs':>8} {'by model':>9} {'unexplained':>12}"
    ]
    for file, group in dict.fromkeys((verdict.file, verdict.group) for verdict in verdicts):
        here = [v for v in verdicts if (v.file, v.group) == (file, group)]
        lines.append(line(f"{file} {group}", here))
        names = Counter(name for verdict in here for name in verdict.departures)
        if names:
            counted = ", ".join(f"{name} {count}" for name, count in names.most_common())
            lines.append(f"    {counted}")
    lines.append(line("all", verdicts))
    return lines


def line(title: str, verdicts: list[Verdict]) -> str:
    count = Counter(verdict.outcome for verdict in verdicts)
    places = sum(verdict.places_equal for verdict in verdicts)
    own = sum(verdict.own_equal for verdict in verdicts)
    return (
        f"{title:46} {len(verdicts):6} {count[EQUAL]:6} {places:7} {own:10} "
        f"{count[DEPARTS]:8} {count[BY_MODEL]:9} {count[UNEXPLAINED]:12}"
    )


def main(options: list[str]) -> int:
    judged = [(subject, case, judge(subject, case)) for subject, case in pairs(SUBJECTS)]
    verdicts = [verdict for _, _, verdict in judged]
    print("\n".join(rows(verdicts)))
    print("places: equal in all but labels and pages. own parts: also without the overlap.")
    print("by model: our code shows no such function; the model of the reference gives the vector.")
    if "--cases" in options:
        for verdict in verdicts:
            if verdict.outcome == DEPARTS:
                print(f"{verdict.name}: {', '.join(verdict.departures)}")
    unexplained = [row for row in judged if row[2].outcome == UNEXPLAINED]
    for subject, case, verdict in unexplained:
        print(f"unexplained: {verdict.name} {difference(subject, case)[:300]}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
