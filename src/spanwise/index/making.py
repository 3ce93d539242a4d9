"""How an index is made: its splitter, embedder and words, recorded and enforced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from spanwise.cutting.caps import Cap
from spanwise.embedders.base import Embedder, ceiling_of
from spanwise.embedders.registry import find_embedder, lasting_name
from spanwise.errors import EmbedderError, OptionError, StoreError, shown
from spanwise.index.embedding import fingerprint_of
from spanwise.index.recipes import read_ceiling, read_splitter, write_ceiling, write_splitter
from spanwise.index.rows import Scope, recipe_of
from spanwise.index.store import Store
from spanwise.splitters.base import Splitter
from spanwise.splitters.capped import within
from spanwise.splitters.presets import for_search

__all__ = ["NO_EMBEDDER", "Making", "Recipe"]

# The name of no embedder: words alone.
NO_EMBEDDER = "none"

# The setting that says that another recipe was taken over and not all documents have it yet.
_BEHIND = "behind"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides the passages and vectors of a document.

    ``space`` is the embedder's fingerprint, empty for words alone; ``made`` the number of the
    making, see `recipe_of`.
    """

    splitter: Splitter
    space: str
    ceiling: Cap | None
    made: str

    @property
    def settings(self) -> dict[str, str]:
        """What is recorded of it."""
        splitter = self.splitter.fingerprint
        return {"splitter": splitter, "embedder": self.space, "made": self.made}

    @property
    def fingerprint(self) -> str:
        """The splitter and the embedder by their fingerprints, and which making it is."""
        return recipe_of(self.settings)


class Making:
    """What was asked for when an index was opened, beside what is recorded in it.

    What differs is refused when it is made, but with ``rebuild``, which takes it over at the next
    run.
    """

    def __init__(
        self,
        store: Store,
        *,
        splitter: Splitter | None,
        embedder: Embedder | str | None,
        ceiling: Cap | int | None,
        stems: bool | None,
        rebuild: bool,
    ) -> None:
        made = not isinstance(splitter, type) and hasattr(splitter, "split")
        if splitter is not None and not (made and hasattr(splitter, "fingerprint")):
            raise OptionError(
                f"splitter={shown(splitter)} is no splitter; pass one that is made, such as "
                "by_heading(), or leave it out"
            )
        self._store = store
        self._splitter = splitter
        self._stems = stems
        if stems is not None and not isinstance(stems, bool):
            raise OptionError(f"stems={shown(stems)} is neither True nor False; give one of them")
        self._ceiling = ceiling
        self._no_embedder = embedder == NO_EMBEDDER
        self._name = embedder if isinstance(embedder, str) and not self._no_embedder else ""
        self._embedder: Embedder | None = None
        if self._name:
            self._embedder = find_embedder(self._name)
        elif not isinstance(embedder, str):
            self._embedder = embedder
        self._given = (self._splitter, self._embedder, self._name, self._ceiling)
        self._rebuild = rebuild
        self._settings: dict[str, str] = {}
        self._is_checked = False
        self._changes = False
        self.refresh()

    def refresh(self) -> None:
        """Have what is recorded now, which another process may have changed; refuse what differs.

        Called where a run, a search or a check begins.
        """
        settings = self._store.settings()
        if settings != self._settings or not self._is_checked:
            self._settings, self._is_checked = settings, False
            self._splitter, self._embedder, self._name, self._ceiling = self._given
            self._changes = self._rebuild or not settings.get("splitter")
            if not self._changes:
                self._refuse_others()
            self._is_checked = True

    @property
    def space(self) -> str:
        """The fingerprint of the embedder that the vectors of the index are of; or empty."""
        return self._settings.get("embedder", "")

    @property
    def recorded(self) -> dict[str, str]:
        """What is recorded of the splitter and the embedder."""
        return {name: self._settings.get(name, "") for name in ("splitter", "embedder")}

    @property
    def recorded_recipe(self) -> str:
        """The fingerprint of the recipe that the documents of the index should have."""
        return recipe_of(self._settings)

    @property
    def is_behind(self) -> bool:
        """Whether documents of some namespace may have a recipe of before."""
        changes = self._changes and bool(self._settings.get("splitter"))
        return changes or self._settings.get(_BEHIND) == "1"

    def catch_up(self) -> None:
        """Note that no document has a recipe of before, where that is so."""
        with self._store.writing():
            self.refresh()
            names = self._store.namespaces() if self.is_behind and not self._changes else ()
            recipe = self.recorded_recipe
            if names and all(
                each.recipe == recipe
                for name in names
                for each in self._store.documents(Scope(name))
            ):
                self._store.change_settings({_BEHIND: "0"})

    @property
    def remade(self) -> dict[str, str]:
        """What makes the same splitter and embedder again, as far as they have names."""
        names = ("splitter_made", "ceiling", "embedder_name")
        return {**{name: self._settings.get(name, "") for name in names}, "stems": self.stems}

    @property
    def stems(self) -> str:
        """Whether words of one stem are one word: ``1`` or ``0``."""
        return str(int(self._store.stems if self._stems is None else self._stems))

    @contextmanager
    def adopted(self, remade: Mapping[str, str]) -> Iterator[None]:
        """Make a new index as another was made, but for what was asked for.

        Where the block fails, what was asked for is as it was before.
        """
        given, stems = self._given, self._stems
        try:
            if not self._settings.get("splitter"):
                self._adopt(remade)
            yield
        except BaseException:
            self._given, self._stems, self._is_checked = given, stems, False
            raise

    def _adopt(self, remade: Mapping[str, str]) -> None:
        splitter, embedder, name, ceiling = self._given
        if splitter is None:
            splitter = read_splitter(remade.get("splitter_made", ""))
        if ceiling is None:
            ceiling = read_ceiling(remade.get("ceiling", ""))
        if self._stems is None and remade.get("stems"):
            self._stems = bool(int(remade["stems"]))
        if embedder is None and not self._no_embedder and remade.get("embedder_name"):
            name = remade["embedder_name"]
            if name.startswith(("http:", "https:")):
                # Texts and queries would go where whoever wrote it wants them.
                raise StoreError(
                    f"{self._store.name}: what it is to be made as names the embedder {name}, a "
                    "server; pass it as embedder=... where you trust it"
                )
            embedder = find_embedder(name)
        self._given = (splitter, embedder, name, ceiling)
        self._is_checked = False
        self.refresh()

    def embedder(self) -> Embedder:
        """The embedder: the one given, else the one that the index names."""
        found = self._embedder  # another thread may forget it in between
        if found is None:
            name = self._settings.get("embedder_name", "")
            if not name:
                raise StoreError(
                    f"{self._store.name}: it was made with the embedder {self.space}, which has no "
                    "name to find it by; pass it as embedder=..., or search by words"
                )
            try:
                found = self._embedder = find_embedder(name)
            except (OptionError, EmbedderError) as fault:
                raise StoreError(
                    f"{self._store.name}: its embedder {name} cannot be had ({fault}); pass it as "
                    "embedder=..., or search by words"
                ) from fault
            self._name = name
            self._refuse_embedder()
        return found

    def refuse_other_vectors(self, embedder: Embedder) -> None:
        """Refuse, by name, an embedder whose vectors are not those of the index."""
        given = fingerprint_of(embedder)
        if given != self.space:
            raise self._other("embedder", self.space, given)

    def recipe(self, dry_run: bool) -> Recipe:
        """How documents are cut and embedded from now on; recorded, but for a dry run."""
        self.refresh()
        embedder = self._wanted_embedder()
        splitter = self._base_splitter()
        limit = None
        if embedder is not None or self._ceiling is not None:
            limit = ceiling_of(embedder, self._ceiling)[0]
            capped = within(splitter, embedder, ceiling=self._ceiling)
        else:
            capped = splitter
        space = "" if embedder is None else fingerprint_of(embedder)
        made = int(self._settings.get("made") or 0)
        if self._settings.get("splitter") and self.recorded != {
            "splitter": capped.fingerprint,
            "embedder": space,
        }:
            made += 1
        recipe = Recipe(splitter=capped, space=space, ceiling=limit, made=str(made))
        if self._changes:
            if not dry_run:
                self._record(splitter, recipe)
        elif capped.fingerprint != self._settings["splitter"]:
            raise self._other("splitter", self._settings["splitter"], capped.fingerprint)
        elif space != self.space:
            raise self._other("embedder", self.space, space)
        return recipe

    def _wanted_embedder(self) -> Embedder | None:
        if self._embedder is not None:
            return self._embedder
        return self.embedder() if self.space and not self._no_embedder else None

    def _base_splitter(self) -> Splitter:
        """The splitter given, else that of the index, before it is brought under a ceiling."""
        if self._ceiling is None:
            self._ceiling = read_ceiling(self._settings.get("ceiling", ""))
        if self._splitter is None:
            made = self._settings.get("splitter_made")
            self._splitter = for_search() if made is None else read_splitter(made)
        if self._splitter is None:
            raise StoreError(
                f"{self._store.name}: it was made with the splitter {self._settings['splitter']}, "
                "which cannot be made again from its name; pass it as splitter=..., or another "
                "with rebuild=True"
            )
        return self._splitter

    def _record(self, splitter: Splitter, recipe: Recipe) -> None:
        settings = {
            **recipe.settings,
            "splitter_made": write_splitter(splitter),
            "ceiling": write_ceiling(self._ceiling),
            # A name may hold a password; then the embedder has to be passed each time.
            "embedder_name": "" if "@" in self._name else lasting_name(self._name),
        }
        if recipe.made != self._settings.get("made", recipe.made):
            settings[_BEHIND] = "1"
        self._store.change_settings(settings)
        if self._stems is not None:
            self._store.prepare_words(self._stems)
        self._settings = self._store.settings()
        self._changes = self._rebuild = False

    def _refuse_others(self) -> None:
        """Refuse, by name, what differs from how the index was made."""
        if self._no_embedder and self.space:
            raise self._other("embedder", self.space, NO_EMBEDDER)
        self._refuse_embedder()
        if self._stems is not None and self._stems != self._store.stems:
            raise self._other("stems", str(self._store.stems), str(self._stems))
        if self._splitter is not None and (self._embedder is not None or not self.space):
            splitter = self._splitter
            if self._embedder is not None or self._ceiling is not None:
                splitter = within(splitter, self._embedder, ceiling=self._ceiling)
            if splitter.fingerprint != self._settings["splitter"]:
                raise self._other("splitter", self._settings["splitter"], splitter.fingerprint)

    def _refuse_embedder(self) -> None:
        if self._embedder is None:
            return
        known = self.space.rpartition("@")[0]
        if self._embedder.id != known:
            raise self._other("embedder", known or NO_EMBEDDER, self._embedder.id)

    def _other(self, what: str, was: str, given: str) -> StoreError:
        return StoreError(
            f"{self._store.name}: it was made with {what} {was}, not {given}; leave {what} out to "
            f"go on with it, pass rebuild=True to make it anew, or index into another file"
        )
