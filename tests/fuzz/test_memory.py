"""Evidence that would take more memory than there is: refused or read in a flat part of it."""

import tracemalloc

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.fio import reader as fio
from diskmodel.formats.trace.reader import read_trace


def test_a_decompression_bomb_takes_no_memory(tmp_path):
    """256 MiB of zeros in a file of a few kB: read as a trace they are malformed, in flat memory."""
    import zstandard

    path = tmp_path / "bomb"
    compressor = zstandard.ZstdCompressor().compressobj()
    with open(path, "wb") as file:
        for _ in range(256):
            file.write(compressor.compress(bytes(2**20)))
        file.write(compressor.flush())
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        reader = read_trace(path, format="msr", errors="count")
        assert list(reader) == []
        assert reader.n_malformed == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 128 * 2**20


@pytest.mark.slow
def test_a_document_beyond_the_limit_is_refused(tmp_path):
    import gzip

    path = tmp_path / "long.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"jobs": [')
        for _ in range(257):
            file.write(b" " * 2**20)
    with pytest.raises(FormatError, match="is longer than"):
        fio.read_fio(path)
