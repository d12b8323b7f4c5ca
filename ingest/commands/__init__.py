"""The commands of `python -m ingest`, each with the module that declares it."""

from lake.console import stage_app

app = stage_app(
    "read",
    {
        "read": "ingest.commands.read",
        "own": "ingest.commands.read",
        "mine": "ingest.commands.read",
        "tasks": "ingest.commands.runs",
        "run": "ingest.commands.runs",
        "check": "ingest.commands.runs",
        "submissions": "ingest.commands.runs",
        "show": "ingest.commands.runs",
        "list": "ingest.commands.listing",
        "verify": "ingest.commands.listing",
        "clean": "ingest.commands.listing",
    },
)
