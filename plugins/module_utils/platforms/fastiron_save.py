"""Saving on a FastIron box: what is looked at is what is saved, or it is said which lines were not.

`write memory` saves everything that runs, whoever typed it. So both configurations are read in the session that saves,
again before each try, and what is saved afterwards is compared with what was looked at: what somebody typed between the
look and the save cannot be kept out, but it does not go unnoticed.
"""

from __future__ import annotations

import time
from typing import Callable

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, NoAnswer
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_session import (
    BETWEEN_TRIES,
    Session,
    asked,
)
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_words import Config

FLASH_PATIENCE = 60.0
"""Seconds that a flash in use is waited for."""
NOTHING = Config({})


class ForeignEdit(JumboError):
    """Somebody else's lines are not saved, and a save would save them too; nothing was saved."""


class Saving:
    """One save. `others` returns what differs between saved and running besides our own lines, "" where nothing does.

    `name` is what errors call it.
    """

    def __init__(self, access: Access, others: Callable[[Config, Config], str], name: str) -> None:
        self.access = access
        self._others = others
        self._name = name
        self._before = self._looked_at = NOTHING

    def run(self) -> None:
        """Save, unless it is saved already; raises ForeignEdit, or JumboError where the flash has something else."""
        try:
            with Session(self.access) as session:
                self._save(session)
        except NoAnswer:
            if self._looked_at is NOTHING:
                raise
            saved, _running = asked(self.access, Session.configs)
            if not words.difference(self._before, saved):
                raise
            self._check(saved, "")

    def _save(self, session: Session) -> None:
        give_up = time.monotonic() + FLASH_PATIENCE
        while self._look(session):
            said = session.write_memory()
            if not words.BUSY.search(said) or time.monotonic() > give_up:
                return self._check(session.configs()[0], said)
            time.sleep(BETWEEN_TRIES)
        return None

    def _look(self, session: Session) -> bool:
        """Tell whether there is anything to save."""
        saved, running = session.configs()
        foreign = self._others(saved, running)
        if foreign:
            raise ForeignEdit(
                f"somebody else changed the configuration within this step, and we never save for others:\n{foreign}",
                host=self.access.host,
                object=self._name,
                advice="Check what they changed, save or undo it, then run it again.",
            )
        self._before, self._looked_at = saved, running
        return bool(words.difference(saved, running))

    def _check(self, saved: Config, said: str) -> None:
        """Raise unless the flash has what was looked at."""
        strange = words.difference(self._looked_at, saved)
        if not strange:
            return
        if not words.difference(self._before, saved):
            raise JumboError(
                f"`write memory` did not save: {' '.join(said.split())[-200:]}",
                host=self.access.host,
                advice="Look at the flash of the box (`show flash`). Nothing of this step is kept by a reload.",
            )
        raise JumboError(
            f"what is saved now is not what was looked at a moment before; these lines differ:\n{strange}",
            host=self.access.host,
            object=self._name,
            advice="Ask who typed them whether they may stay in the saved configuration, then run it again.",
        )
