"""Data as Parquet, by pyarrow, which is loaded only when it is asked for."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from mpicampaign.errors import Problem, UserError
from mpicampaign.show.writer import DataWriter

if TYPE_CHECKING:
    from mpicampaign.show.data import Data


def data_to_parquet(data: Data, campaign: str) -> bytes:
    """One column for each column, ``null`` where there is no value; the campaign's name in the metadata.

    Raises
    ------
    UserError
        when pyarrow is not installed: it has no wheel for every machine.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        message = f"Parquet needs the Python package pyarrow, which can't be loaded: {error}"
        raise UserError(Problem(message, hint="pip install pyarrow, or choose csv or json")) from error
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    fields = [arrow.field(name, kinds[kind]) for name, kind in data.columns]
    schema = arrow.schema(fields, metadata={"campaign": campaign})
    columns = [arrow.array([line[i] for line in data.lines], field.type) for i, field in enumerate(schema)]
    file = io.BytesIO()
    parquet.write_table(arrow.Table.from_arrays(columns, schema=schema), file)
    return file.getvalue()


WRITER = DataWriter(".parquet", data_to_parquet)
