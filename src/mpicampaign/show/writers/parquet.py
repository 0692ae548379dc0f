"""Data as Parquet, by pyarrow."""

from __future__ import annotations

import io

from mpicampaign.base.extras import imports_of
from mpicampaign.show.document import Grid, plain
from mpicampaign.show.writer import DataWriter


def data_to_parquet(data: Grid, campaign: str) -> bytes:
    """One column for each column, ``null`` where there is no value; the campaign's name in the metadata.

    Raises
    ------
    UserError
        where pyarrow is not installed.
    """
    with imports_of("parquet", "Parquet"):
        import pyarrow as arrow
        from pyarrow import parquet
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    named = zip(map(plain, data.header), data.kinds, strict=True)
    fields = [arrow.field(name, kinds[kind]) for name, kind in named]
    schema = arrow.schema(fields, metadata={"campaign": campaign})
    lines = data.values
    columns = [arrow.array([line[i] for line in lines], field.type) for i, field in enumerate(schema)]
    file = io.BytesIO()
    parquet.write_table(arrow.Table.from_arrays(columns, schema=schema), file)
    return file.getvalue()


WRITER = DataWriter(".parquet", data_to_parquet)
