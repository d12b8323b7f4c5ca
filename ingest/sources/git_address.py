"""Which repositories and commits may be asked for: rows give owner/name and a commit, the user where these lie."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from lake.errors import Exit, GoldspanError

GITHUB = "https://github.com"
SCHEMES = ("https", "http", "file")
MAX_NAME = 150
"""Characters of `owner/name`: what they are stored under is to be a file's name. GitHub's have 139 at most."""

_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*/[A-Za-z0-9_.][A-Za-z0-9_.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_MISLEADING = re.compile(rf"{_CONTROL.pattern}|[ \\?#]")
_MISLEADS = "it holds white space, a control character or a sign that no name has"
_CLIMBS = "it climbs with . or .."


class RepositoryError(GoldspanError):
    """One repository or commit cannot be had; others may."""


def url_of(repo: str, base: str = GITHUB) -> str:
    """Where a repository is fetched from.

    Args:
        repo: `owner/name` as a data row has it, and nothing else: a row does not choose the server.
        base: The URL below which the names live.

    Raises:
        RepositoryError: It is no such name: a URL, one that climbs with `..`, looks like an option, is too long, or
            holds what no name does.
    """
    if reason := why_no_name(repo):
        raise _refused(repo, reason, "Rows name repositories as owner/name.")
    return f"{base.rstrip('/')}/{repo}"


def why_no_name(repo: str) -> str:
    """Why a text is not `owner/name`; empty where it is."""
    if "://" in repo:
        return "rows name owner/name alone; where that lies, --repositories says"
    if _MISLEADING.search(repo):
        return _MISLEADS
    if len(repo) > MAX_NAME:
        return f"it has {len(repo):,} characters; at most {MAX_NAME} are read"
    if {".", ".."}.intersection(repo.split("/")):
        return _CLIMBS
    return "" if _NAME.fullmatch(repo) else "it is not owner/name, or a part of it begins with -"


def checked_base(base: str) -> str:
    """A URL below which repositories lie.

    Raises:
        RepositoryError: It is none, speaks another protocol, carries credentials, looks like an option or climbs.
    """
    if reason := _why_no_base(base):
        raise _refused(base, reason, "They lie below github, https://host/…, or file:///folder.")
    return base


def checked_commit(commit: str, repo: str) -> str:
    """A full commit id, in lower case.

    Raises:
        RepositoryError: It is anything else: a branch, a shortened id, an option.
    """
    lowered = commit.lower()
    if not _COMMIT.fullmatch(lowered):
        what = f"{_shown(commit)} is no full commit id, which has 40 hex digits"
        raise RepositoryError(what, where=f"repository {_shown(repo)}", code=Exit.INVALID)
    return lowered


def _why_no_base(url: str) -> str:
    if "://" not in url:
        return f"it is no URL; for {GITHUB} say github"
    if _MISLEADING.search(url) or _CONTROL.search(unquote(url)):
        return _MISLEADS
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # it is checked when asked for
    except ValueError as error:
        return f"it is no URL: {error}"
    is_file, folders = parts.scheme == "file", unquote(parts.path).strip("/").split("/")
    problems = {
        f"only {', '.join(SCHEMES)} are spoken, not {parts.scheme or 'that'}": parts.scheme not in SCHEMES,
        "it carries credentials, which would be written down": "@" in parts.netloc,
        "it names no host": not is_file and not parts.hostname,
        "a file is on this machine: file:///folder": is_file and parts.netloc != "",
        "it looks like an option": any(part.startswith("-") for part in (parts.netloc, *folders)),
        _CLIMBS: bool({".", ".."}.intersection(folders)),
        "it names no folder": is_file and folders == [""],
    }
    return next((reason for reason, found in problems.items() if found), "")


def _refused(name: str, reason: str, hint: str) -> RepositoryError:
    return RepositoryError(f"the repository {_shown(name)} is refused: {reason}", hint=hint, code=Exit.INVALID)


def _shown(text: str) -> str:
    """A name as it may be printed: escaped, short, and without a password."""
    return repr(re.sub(r"//[^/]*@", "//…@", text))[:120]
