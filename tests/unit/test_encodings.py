"""Encodings: a guess for the person who asks, that says how sure it is."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from spanwise.loaders.encodings import guess

ENGLISH = "Refunds are accepted within thirty days. Keep the receipt.\n" * 6
FRENCH = (
    "L'été dernier, Hélène a reçu une lettre à propos de l'œuvre complète de Molière. "
    "Où est-elle allée ? Ça ne fait rien, garçon, le café coûte 3 €.\n"
) * 6
RUSSIAN = (
    "Съешь ещё этих мягких французских булок, да выпей чаю. "
    "Условия возврата товара описаны в договоре.\n"
) * 6
JAPANESE = (
    "返品は三十日以内に受け付けます。領収書をお持ちください。お問い合わせはこちらまで。\n" * 6
)
CHINESE = "退货政策：自收到商品之日起三十天内可以申请退款，请保留发票。\n" * 6


@pytest.fixture(autouse=True)
def _package() -> None:
    pytest.importorskip("charset_normalizer")


@pytest.mark.parametrize(
    ("text", "written", "guessed"),
    [
        (ENGLISH, "utf-16-le", "utf_16_le"),
        (ENGLISH, "utf-16-be", "utf_16_be"),
        (FRENCH, "utf-16-le", "utf_16_le"),
        (RUSSIAN, "utf-16-le", "utf_16_le"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8_r"),
        (JAPANESE, "utf-16-be", "utf_16_be"),
        (JAPANESE, "cp932", "cp932"),
        (JAPANESE, "euc-jp", "euc_jp"),
        (CHINESE, "gb18030", "gb18030"),
    ],
)
def test_what_is_guessed_right(text: str, written: str, guessed: str) -> None:
    data = text.encode(written)
    found = guess(data)
    assert found is not None
    assert found[0] == guessed
    assert data.decode(found[0]) == text
    assert guess(data) == found


def test_french_is_guessed_with_a_warning() -> None:
    """One-byte encodings differ in few letters: the words name the others that fit."""
    data = FRENCH.encode("cp1252")
    found = guess(data)
    assert found is not None
    encoding, sure = found
    assert sure.startswith("not sure: ")
    assert encoding == "cp1252" or "cp1252" in sure
    assert encoding.startswith(("cp125", "iso8859"))
    read = data.decode(encoding)
    # At worst a few letters are others.
    wrong = sum(a != b for a, b in zip(read, FRENCH, strict=True))
    assert wrong < len(FRENCH) // 10


def test_what_is_sure_says_so() -> None:
    found = guess(RUSSIAN.encode("cp1251"))
    assert found is not None
    assert found[1] == "likely: no other fits"


def test_what_is_no_text_has_no_encoding() -> None:
    assert guess(random.Random(1).randbytes(4_000)) is None


def test_any_bytes_give_an_encoding_they_can_be_read_in_or_none() -> None:
    dice = random.Random(2)
    for text, written in ((FRENCH, "cp1252"), (JAPANESE, "cp932"), (ENGLISH, "utf-16-le")):
        whole = text.encode(written)
        for _ in range(15):
            data = bytearray(whole[: dice.randrange(len(whole))])
            for _ in range(dice.randrange(4)):
                if data:
                    data[dice.randrange(len(data))] = dice.randrange(256)
            found = guess(bytes(data))
            if found is not None:
                bytes(data).decode(found[0])


def test_without_the_package_there_is_no_guess(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    assert guess(RUSSIAN.encode("cp1251")) is None
