"""The commands of `python -m ingest`, each with the module that declares it."""

from __future__ import annotations

from lake.console import stage_app

app = stage_app(
    "read",
    {
        "read": "ingest.commands.read",
        "own": "ingest.commands.own",
        "mine": "ingest.commands.mine",
        "tasks": "ingest.commands.tasks",
        "run": "ingest.commands.runs",
        "check": "ingest.commands.runs",
        "submissions": "ingest.commands.runs",
        "show": "ingest.commands.show",
        "list": "ingest.commands.listing",
        "verify": "ingest.commands.upkeep",
        "clean": "ingest.commands.upkeep",
    },
)
