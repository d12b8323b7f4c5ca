"""docs/tables.md, made from the declarations: `python -m tests.data_dictionary > docs/tables.md`."""

from collections.abc import Iterator

from lake.tables import TABLES

HEAD = """# Tables

Every table of the lake, made from the declarations in [lake/tables/](../lake/tables/). A table is a folder of Parquet
files, `lake/data/<table>/<folder>=<value>/…/part-*.parquet`; a column that a folder is named after is read from its
name. Bold: the key, which tells one row from another. What a site publishes, and under which names, its Data page says.
"""


def lines() -> Iterator[str]:
    yield HEAD.strip()
    for table in TABLES.values():
        meaning = " ".join(table.meaning.split("\n\n")[0].split()).replace("``", "`")
        where = f" In folders by {', '.join(table.folders)}." if table.folders else ""
        yield f"\n## {table.name}\n\n{meaning}{where}\n\n| column | type | meaning |\n|---|---|---|"
        for column, kind in table.columns.items():
            name = f"**{column}**" if column in table.key else column
            optional = ", or null" if table.schema.columns()[column].nullable else ""
            yield f"| {name} | {str(kind).split('(')[0]}{optional} | {table.column_meaning(column)} |"


if __name__ == "__main__":
    print("\n".join(lines()))
