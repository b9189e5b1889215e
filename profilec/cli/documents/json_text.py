"""One record's JSON text -> its document, or what is wrong with it and where (`values.json_text` reads it)."""

from __future__ import annotations

from profilec.cli.documents.chunks import Malformed, Record
from profilec.values.json_text import JsonError, ObjectDecoder


class RecordDecoder:
    """Decodes records; `strict` refuses what is otherwise read as best it can be.

    >>> RecordDecoder().decode(b'{"a": 0.1}', 1).document
    {'a': 0.1}
    >>> RecordDecoder().decode(b'[1]', 7)
    Malformed(line=7, message='a record is an object, and this is an array', column=None)
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._decoder = ObjectDecoder(strict=strict)

    def decode(self, text: bytes, line: int) -> Record | Malformed:
        """The record that stands in `text`, which starts on `line`."""
        try:
            return Record(line, self._decoder.decode(text.decode()), len(text))
        except UnicodeDecodeError as error:
            return Malformed(line + text.count(b"\n", 0, error.start), f"byte {text[error.start]:#04x} is not UTF-8")
        except JsonError as error:
            return Malformed(line + error.line - 1, str(error), error.column)
