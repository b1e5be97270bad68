"""What a file is that no reader of this package reads, and what to do with it, from its first bytes."""

import re
from collections.abc import Callable

# Unpacked first bytes -> what the file is, and the next step.
_FOREIGN: dict[re.Pattern[bytes], str] = {
    re.compile(rb"version https://git-lfs\.github\.com/spec/"): (
        "a pointer of Git LFS, and not the file itself. Fetch the file with `git lfs pull`, or download it from the "
        "repository's web page"
    ),
    re.compile(rb"\s*<(!doctype html|html|head|!--|\?xml)", re.IGNORECASE): (
        "a web page, such as a notice of a server in place of the download. Open it in a browser, and download "
        "the file again"
    ),
    re.compile(rb"\xff\xfe|\xfe\xff"): (
        "text in UTF-16, as Windows writes it. Save it as UTF-8 (in Excel: as CSV UTF-8), or convert it: "
        "iconv -f UTF-16 -t UTF-8 FILE > NEW_FILE"
    ),
    re.compile(rb"\x89HDF\r\n\x1a\n"): (
        "HDF5, as of Keras, ConceptNet's mini.h5 or pandas' to_hdf. Read it with the program that wrote it, and save "
        "words and vectors with np.savez(FILE, words=words, vectors=vectors)"
    ),
    re.compile(rb"PAR1"): (
        "Parquet. Read it with pandas.read_parquet, and save it with np.savez(FILE, words=words, vectors=vectors), or "
        "give the frame in Python, with the words as its index"
    ),
    re.compile(rb"ARROW1|FEA1"): (
        "Feather. Read it with pandas.read_feather, and save it with np.savez(FILE, words=words, vectors=vectors)"
    ),
    re.compile(rb"(RD[AX][23]\n)?[AXB]\n(\0\0\0[\2\3]|[23]\n)"): (
        "an object of R (.rds or .RData). Write the matrix in R with write.csv(vectors, FILE), with words as row names"
    ),
    re.compile(rb"\x80[\2-\5]|\(?[dl]p\d|\]q\0|\}q\0|c[a-z_.]+\n"): (
        "a pickle of Python objects, such as a mapping of words to arrays. Loading one runs any code that its author "
        "put in it. If you trust its author, load it with pickle.load in Python, and give the mapping itself"
    ),
    re.compile(rb"SQLite format 3\0"): "an SQLite database. Save its words and vectors as text or .npz",
    re.compile(rb"%PDF-"): "a PDF document. Download the data themselves",
    re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"): "an old Excel or Word file. Save it as CSV, in UTF-8",
    re.compile(rb"7z\xbc\xaf\x27\x1c"): "a 7-Zip archive. Unpack it, and give the file inside",
    re.compile(rb"Rar!\x1a\x07"): "a RAR archive. Unpack it, and give the file inside",
    re.compile(rb"\x28\xb5\x2f\xfd"): "packed by zstd. Unpack it with `unzstd FILE`, and give the file inside",
    re.compile(rb"[\s\S]{8}\{\"[\s\S]{0,500}\"data_offsets\""): (
        "weights in safetensors, which hold no words. Give the folder of the model"
    ),
    re.compile(rb"\s*(\{\s*\"|\[\s*[\[{\"])"): (
        'JSON. Read it with json.load, and save it as text, a line a word: "word 0.1 0.2 ...". In Python, a mapping of '
        "words to vectors can be given itself"
    ),
}
# A file in an archive of the kind zip -> what the archive is.
_ARCHIVES: dict[Callable[[str], bool], str] = {
    lambda name: name.startswith("xl/"): "an Excel workbook. Save its sheet as CSV, in UTF-8",
    lambda name: name == "[Content_Types].xml": "a document of Word or PowerPoint. Save its text",
    lambda name: name.endswith("/data.pkl"): (
        "a file of PyTorch, which is a pickle: loading it runs code of its author. Save words and vectors in the "
        "program that wrote it, with np.savez(FILE, words=words, vectors=vectors)"
    ),
}


def foreign_kind(start: bytes) -> str:
    r"""Return what a file is that is no data for this package, and the next step; empty if it is none that is known.

    - `start`: first bytes of the content, unpacked; at least 300 if there are as many.

    >>> foreign_kind(b"%PDF-1.7\n")
    'a PDF document. Download the data themselves.'
    >>> foreign_kind(b"king 0.1 0.2\n")
    ''
    """
    return next((f"{text}." for signature, text in _FOREIGN.items() if signature.match(start)), "")


def archive_kind(names: list[str]) -> str:
    """Return what an archive with these files is, as `foreign_kind` does.

    >>> archive_kind(["[Content_Types].xml", "xl/workbook.xml"])
    'an Excel workbook. Save its sheet as CSV, in UTF-8.'
    """
    return next((f"{text}." for is_one, text in _ARCHIVES.items() if any(map(is_one, names))), "")
