"""Regular expressions that users write, with bounds on their length, their nesting and the processor time of matching.

``re`` backtracks without limit and holds the interpreter meanwhile. The ``regex`` package takes the same syntax and
stops after a time. It is imported with the first pattern. The time that it takes to compile a pattern, in which it
holds the interpreter and does not stop, is multiplied by 5 with each repetition inside of another one. A part that
occurs at least ``n`` times is compiled as ``n`` copies of it, of some 270 bytes a character.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

from netinv_core.caches import lru_cache

_parser: Any = importlib.import_module("re._parser")  # the parser of ``re``, whose tree compiled patterns do not keep

MAX_LENGTH = 1000  # characters of a pattern
MAX_NESTED = 5  # repetitions inside of one another: 5 are compiled in 0.01 s, 8 in 0.5 s, 20 not within 20 s
MAX_COPIES = 2000  # characters of a pattern with its parts as often as they occur at least: ``a{1000}`` has 1,000
TERM_LENGTH = 100  # characters of a pattern, of which each such part counts as a value that is compared
TOO_LONG = f"A regular expression has no more than {MAX_LENGTH} characters."
TOO_NESTED = f"A regular expression has no more than {MAX_NESTED} repetitions inside of one another."
TOO_MANY_COPIES = f"A regular expression matches no more than {MAX_COPIES} characters by its counts of repetitions."
_REPETITIONS = (_parser.MAX_REPEAT, _parser.MIN_REPEAT, _parser.POSSESSIVE_REPEAT)
TOO_SLOW = "Matching the regular expression takes too long."


class PatternTimeout(ValueError):
    """User-written patterns or schemas have used up the processor time of their unit of work."""


class Budget:
    """Processor time, in seconds, that one unit of work or SQL statement may spend on patterns and schemas that users
    wrote.

    Only the time of the current thread counts, so a loaded machine does not exhaust it.
    """

    def __init__(self, seconds: float) -> None:
        self.remaining = seconds
        self._started: float | None = None

    @contextlib.contextmanager
    def spending(self) -> Iterator[None]:
        """Deducts the processor time of the block.

        :raises PatternTimeout: when nothing is left at its beginning
        """
        self.check()
        started = self._started = time.thread_time()
        try:
            yield
        finally:
            self._started = None
            self.remaining -= time.thread_time() - started

    def check(self) -> float:
        """The seconds that are left.

        :raises PatternTimeout: when that is none
        """
        left = self.remaining - (0.0 if self._started is None else time.thread_time() - self._started)
        if left <= 0:
            raise PatternTimeout(TOO_SLOW)
        return left

    def search(self, pattern: str, text: str, *, ignore_case: bool = False, at_start: bool = False) -> bool:
        """Tests if the pattern matches anywhere in the text, or at its start.

        :raises PatternTimeout: when matching takes longer than what is left
        """
        with self.spending():
            return self.search_within(pattern, text, ignore_case=ignore_case, at_start=at_start)

    def search_within(self, pattern: str, text: str, *, ignore_case: bool = False, at_start: bool = False) -> bool:
        """The same as :meth:`search`, inside of a :meth:`spending` block."""
        return self.finds(compile_pattern(pattern, ignore_case), text, at_start=at_start)

    def finds(self, pattern: Any, text: str, *, at_start: bool = False) -> bool:
        """The same as :meth:`search_within`, for a compiled pattern."""
        try:
            return (pattern.match if at_start else pattern.search)(text, timeout=self.check()) is not None
        except (TimeoutError, MemoryError):
            self.remaining = 0.0
            raise PatternTimeout(TOO_SLOW) from None

    def substitute(self, pattern: str, replacement: str, texts: Sequence[str]) -> list[str]:
        """Replaces each match in the texts; ``replacement`` refers to groups as in :func:`re.sub`.

        :raises ValueError: for a replacement that refers to a group that the pattern does not have
        :raises PatternTimeout: when matching takes longer than what is left
        """
        import regex

        found = compile_pattern(pattern, False)
        with self.spending():
            try:
                return [found.sub(replacement, text, timeout=self.check()) for text in texts]
            except (regex.error, IndexError) as error:
                raise ValueError(f"Invalid replacement: {error}") from None
            except (TimeoutError, MemoryError):
                self.remaining = 0.0
                raise PatternTimeout(TOO_SLOW) from None


def check(pattern: str) -> None:
    """Validates a pattern in the syntax of :mod:`re`.

    :raises ValueError: when it is too long, too nested or repeats too much, or is no regular expression
    """
    if len(pattern) > MAX_LENGTH:
        raise ValueError(TOO_LONG)
    import regex

    try:
        parsed = _parser.parse(pattern)
        if _count_nested_repetitions(parsed) > MAX_NESTED:
            raise ValueError(TOO_NESTED)
        if _copies(parsed) > MAX_COPIES:
            raise ValueError(TOO_MANY_COPIES)
        re.compile(pattern)
        compile_pattern(pattern, False)
    except (re.error, regex.error, RecursionError, OverflowError) as error:
        raise ValueError(f"Invalid regular expression: {error}") from None


def terms(pattern: str) -> int:
    """The number of values for which a pattern counts, by its length."""
    return 1 + min(len(pattern), MAX_LENGTH) // TERM_LENGTH


def _count_nested_repetitions(parsed: Any) -> int:
    """The number of repetitions inside of one another in a parsed pattern, or a part of one."""
    if not isinstance(parsed, list | tuple | _parser.SubPattern):
        return 0
    deepest = max(map(_count_nested_repetitions, parsed), default=0)
    return deepest + (isinstance(parsed, tuple) and bool(parsed) and parsed[0] in _REPETITIONS)


def _copies(parsed: Any) -> int:
    """The number of parts of a parsed pattern, each as often as it occurs at least."""
    if not isinstance(parsed, list | tuple | _parser.SubPattern):
        return 0
    if isinstance(parsed, tuple) and parsed and parsed[0] in _REPETITIONS:
        least, _, repeated = parsed[1]
        return max(1, int(least)) * max(1, _copies(repeated))
    return max(1, sum(map(_copies, parsed)))


@lru_cache("regular expressions", 256)
def compile_pattern(pattern: str, ignore_case: bool) -> Any:
    """The compiled form of a pattern, kept for the next time."""
    import regex

    found = regex.compile(pattern, flags=regex.IGNORECASE if ignore_case else 0, cache_pattern=False)
    regex.purge()  # what it keeps of each pattern all the same
    return found
