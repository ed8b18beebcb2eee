"""Settings of this application in the ini file, with parsers and defaults."""

from __future__ import annotations

from netinv_core import settings
from netinv_core.settings import SettingDefinitions, count, flag, seconds, size, words
from netinv_extras import allowed_files


def protocols(text: str) -> tuple[str, ...]:
    """Parses names of protocols for Git remotes."""
    names = words(text.lower())
    if not set(names) <= {"https", "http", "ssh", "file"}:
        raise ValueError(text)
    return names


def _memory(text: str) -> int:
    """Parses a number of bytes; less than 64 MiB is not enough for an interpreter."""
    if size(text) < 64 * 2**20:
        raise ValueError(text)
    return size(text)


DEFINITIONS: SettingDefinitions = {
    "feed_waiters": (int, 2),
    "export_timeout": (seconds, 10.0),
    "git_root": (str, "var/git"),
    "git_protocols": (protocols, ("https", "http", "ssh")),
    "git_allow": (settings.targets, ()),
    "git_jobs": (flag, False),
    "git_max_size": (size, 512 * 2**20),
    "git_timeout": (seconds, 120.0),
    "graphql_max_depth": (int, 12),
    "graphql_max_relations": (int, 100),
    "graphql_max_objects": (int, 100_000),
    "jobs_root": (str, ""),
    "job_processes": (int, 2),
    "job_soft_time_limit": (seconds, 300.0),
    "job_time_limit": (seconds, 600.0),
    "job_result_retention": (count, 90),
    "plan_retention": (count, 90),
    "job_lease": (seconds, 60.0),
    "secrets_env_prefixes": (words, ()),
    "secrets_file_folders": (allowed_files.folders, ()),
    "template_timeout": (seconds, 2.0),
    "template_total_timeout": (seconds, 10.0),
    "template_memory": (_memory, 256 * 2**20),
    "template_processes": (int, 2),
    "template_max_size": (int, 100_000),
    "template_max_output": (int, 1_000_000),
    "template_pause": (seconds, 60.0),
}
