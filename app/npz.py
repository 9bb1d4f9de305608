"""Bytes of an npz archive -> NumPy arrays. Everything in it is distrusted: nothing is unpickled or evaluated,
nothing is decompressed further than it may be, and no size is believed before it was counted.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Collection
from dataclasses import dataclass, field
from math import prod
from typing import IO, TYPE_CHECKING, Any, Final

from app.errors import Problem

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

MEDIA_TYPE: Final = "application/x-npz"

_PIECE_BYTES: Final = 1 << 20
_DIRECTORY_BYTES: Final = 64 << 10
_HEADER_BYTES: Final = 10_000
_END: Final = struct.Struct("<4s4H2LH")
_END_SIGNATURE: Final = b"PK\x05\x06"
_ZIP64_LOCATOR: Final = slice(-42, -38)
_ZIP64_SIGNATURE: Final = b"PK\x06\x07"
_ENCRYPTED: Final = 0x1
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)

# NumPy's own reader evaluates the header as a Python literal; these find the same without.
_DESCR: Final = re.compile(r"'descr'\s*:\s*'([^']{1,16})'")
_ORDER: Final = re.compile(r"'fortran_order'\s*:\s*(True|False)")
_SHAPE: Final = re.compile(r"'shape'\s*:\s*\(((?:\s*\d{1,18}\s*,)*\s*(?:\d{1,18})?)\s*\)")
_READABLE: Final = re.compile(r"[<>|=][biufU]\d{1,9}")
_LAST_CODE_POINT: Final = 0x10FFFF


@dataclass(slots=True)
class Archive:
    """What was read: arrays by name, and what cannot be read of the others, in words."""

    arrays: dict[str, Array] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)


def read_npz(body: bytearray, names: Collection[str], max_bytes: int) -> Archive:
    """Read the arrays that are called for; others are not looked at. Scalars come as arrays without axes.

    Raises Problem: 400 no npz archive, 413 arrays of more than `max_bytes` in all.
    """
    archive = Archive()
    try:
        _check_directory(body)
        with _View(body) as view, zipfile.ZipFile(view) as container:
            wanted = _wanted(container, names)
            if sum(info.file_size for info in wanted.values()) > max_bytes:
                raise Problem("body_too_large", f"the arrays may have {max_bytes} bytes decompressed")
            for name, info in wanted.items():
                with container.open(info) as member:
                    _read_array(name, member, info.file_size, archive)
    except _ZIP_ERRORS as error:
        raise Problem("malformed_npz", str(error)) from None
    return archive


def _check_directory(body: bytearray) -> None:
    """Refuse a long list of members before it is read."""
    if len(body) < _END.size:
        raise ValueError("too short for an archive")
    signature, *_, size, _, _ = _END.unpack_from(body, len(body) - _END.size)
    if signature != _END_SIGNATURE or body[_ZIP64_LOCATOR] == _ZIP64_SIGNATURE:
        raise ValueError("not an archive as numpy.savez writes it")
    if size > _DIRECTORY_BYTES:
        raise ValueError("the archive holds too many members")


def _wanted(container: zipfile.ZipFile, names: Collection[str]) -> dict[str, zipfile.ZipInfo]:
    wanted: dict[str, zipfile.ZipInfo] = {}
    for info in container.infolist():
        name = info.filename.removesuffix(".npy")
        if name not in names or name == info.filename:
            continue
        if name in wanted:
            raise ValueError(f"{name} is there twice")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise ValueError(f"{name} is encrypted, or compressed otherwise than by deflate")
        wanted[name] = info
    return wanted


def _read_array(name: str, member: IO[bytes], size: int, archive: Archive) -> None:
    import numpy as np

    header, header_size = _read_header(name, member)
    descr, order, shape_text = _DESCR.search(header), _ORDER.search(header), _SHAPE.search(header)
    if descr is not None and descr[1].lstrip("<>|=").startswith("O"):
        archive.unreadable[name] = "is pickled; only arrays of numbers, booleans or texts are read"
        return
    if descr is None or not _READABLE.fullmatch(descr[1]):
        archive.unreadable[name] = "must be an array of numbers, booleans or texts"
        return
    if order is None or shape_text is None:
        raise ValueError(f"{name}: its header cannot be read")
    try:
        dtype = np.dtype(descr[1])
    except TypeError:
        raise ValueError(f"{name}: there is no type {descr[1]}") from None
    shape = tuple(int(part) for part in shape_text[1].split(",") if part.strip())
    if not dtype.itemsize or prod(shape) * dtype.itemsize != size - header_size:
        raise ValueError(f"{name}: its size is not that of its shape and type")
    raw = _read_exactly(name, member, size - header_size)
    values = raw.view(_safe_type(raw, dtype))
    if dtype.kind == "U" and values.dtype.kind != "U":
        archive.unreadable[name] = "must hold texts of Unicode characters"
        return
    archive.arrays[name] = values.reshape(shape, order="F" if order[1] == "True" else "C")


def _read_header(name: str, member: IO[bytes]) -> tuple[str, int]:
    """The header of an npy file (its versions 1 to 3), and how many bytes come before the values."""
    start = member.read(8)
    if start[:6] != b"\x93NUMPY" or start[6:7] not in (b"\x01", b"\x02", b"\x03"):
        raise ValueError(f"{name} is no npy file")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(member.read(width), "little")
    if length > _HEADER_BYTES:
        raise ValueError(f"{name}: its header is too long")
    return member.read(length).decode("latin-1"), 8 + width + length


def _read_exactly(name: str, member: IO[bytes], size: int) -> Array:
    """The values as bytes, piece by piece; what follows them is an error, and so is a wrong checksum."""
    import numpy as np

    raw = np.empty(size, dtype=np.uint8)
    view = raw.data
    position = 0
    while piece := member.read(_PIECE_BYTES):
        if position + len(piece) > size:
            break
        view[position : position + len(piece)] = piece
        position += len(piece)
    if position != size or piece:
        raise ValueError(f"{name}: its size is not what the archive says")
    return raw


def _safe_type(raw: Array, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type to read bytes as: a byte that is no boolean, a number that is no character, stay numbers."""
    import numpy as np

    if dtype.kind == "b" and raw.size and int(raw.max()) > 1:
        return np.dtype(np.uint8)
    if dtype.kind == "U":
        characters = np.dtype(np.uint32).newbyteorder(dtype.byteorder)
        if raw.size and int(raw.view(characters).max()) > _LAST_CODE_POINT:
            return characters
    return dtype


class _View(io.RawIOBase):
    """Bytes as a file, without a copy of them."""

    def __init__(self, body: bytearray) -> None:
        self._bytes = memoryview(body)
        self._position = 0

    def readinto(self, buffer: Any) -> int:
        """Read as much as there is room for."""
        piece = self._bytes[self._position : self._position + len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position, which must not be negative."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._bytes)}[whence]
        if base + offset < 0:
            raise ValueError("a position before the beginning")
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        """The position."""
        return self._position

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """Let go of the bytes."""
        self._bytes.release()
        super().close()
