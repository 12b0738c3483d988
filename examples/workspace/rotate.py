"""Rotates a credential without a gap: the new one works before the old one stops."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Credential:
    name: str
    generation: int


def rotate(current: Credential, issue, distribute, revoke) -> Credential:
    """Issues the next generation, hands it to everyone, and only then revokes the current one."""
    following = issue(Credential(current.name, current.generation + 1))
    distribute(following)
    revoke(current)
    return following
