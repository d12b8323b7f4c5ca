"""The commands of `python -m evaluate`, each with the module that declares it."""

from lake.console import stage_app

app = stage_app(
    "run",
    {
        "run": "evaluate.commands.run",
        "list": "evaluate.commands.listing",
        "table": "evaluate.commands.boards",
        "effects": "evaluate.commands.boards",
        "compare": "evaluate.commands.boards",
        "repro": "evaluate.commands.listing",
        "score": "evaluate.results.trec",
        "item": "evaluate.commands.items",
        "items": "evaluate.commands.items",
        "texts": "evaluate.commands.listing",
        "status": "evaluate.commands.items",
    },
)
