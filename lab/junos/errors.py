"""What the device refuses, in its own words. The texts that public reports show are marked with where they are from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Complaint:
    """One rpc-error. `path` is the level of the configuration it is about, `element` the statement or word there."""

    message: str
    path: str = ""
    element: str = ""
    severity: str = "error"
    tag: str = "operation-failed"
    kind: str = "protocol"
    daemon: str = ""


class Refused(Exception):
    """A request that was refused."""

    def __init__(self, *complaints: Complaint) -> None:
        super().__init__("; ".join(complaint.message for complaint in complaints))
        self.complaints = complaints


def refused(message: str, **facts: str) -> Refused:
    """Return the refusal that has one complaint."""
    return Refused(Complaint(message, **facts))


def syntax_error(word: str, path: str = "") -> Refused:
    """Return what Junos says of a word that it does not know (napalm and PyEZ look for the words "syntax error")."""
    return Refused(Complaint("syntax error", path=path, element=word))


def commit_refused(complaints: list[Complaint]) -> Refused:
    """Return a failed commit: each finding, and the sentence that Junos puts after them."""
    return Refused(*complaints, Complaint("configuration check-out failed"))
