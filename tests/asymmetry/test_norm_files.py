"""Readers of norms and relations: the forms that are downloaded, and files that are none of them."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import InputFileError, MeasureError, NotEnoughMemoryError

APPENDIX = """<HTML>
<BODY>
<PRE>
CUE, TARGET, NORMED?, #G, #P, FSG, BSG, MSG
AARDVARK, ANT, YES, 152, 30, .197, 0.000, .0170
CAF\u00c9, JANE'S, NO, 140, 2, .014
</pre>
</BODY>
"""
EAT = """<?xml version="1.0"?>
<eat><stimulus word="A &amp; B" all="3">
<response word="C" n="2" r="0.67"/>
<response word="AN ENDLESSLY LONG W%" n="1" r="0.33"/>
</stimulus>
<stimulus word="NA"><response word="NO" n="4" r="1"/></stimulus></eat>
"""


def written(folder: Path, content: str | bytes, name: str = "norms.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_usf_as_it_is_downloaded(tmp_path: Path) -> None:
    table = bb.asymmetry.read_evocation(written(tmp_path, APPENDIX.encode("latin-1")))
    assert table.values.tolist() == [["aardvark", "ant", 30, 152], ["café", "jane's", 2, 140]]
    assert table.attrs["bayesbias"] == {"name": "USF", "least_count": 2, "left_out": 0}
    assert bb.asymmetry.evocation(table).least_count == 2
    two = APPENDIX + APPENDIX.replace("AARDVARK", "ABBEY").replace("CAF", "KAF")
    assert len(bb.asymmetry.read_evocation(written(tmp_path, two.encode("latin-1")))) == 4


def test_usf_as_a_table(tmp_path: Path) -> None:
    text = 'cue,target,participants,responses,forward_strength\na,"b, c",152,10,0.066\nnull,NA,150,2,0.01\n'
    table = bb.asymmetry.read_evocation(written(tmp_path, gzip.compress(text.encode(), mtime=0), "usf.csv.gz"))
    assert table.values.tolist() == [["a", "b, c", 10, 152], ["null", "NA", 2, 150]]
    assert table.attrs["bayesbias"]["name"] == "USF"


@pytest.mark.parametrize("kind", ["R1", "R123"])
def test_swow(tmp_path: Path, kind: str) -> None:
    text = f"cue\tresponse\t{kind}\tN\t{kind}.Strength\na\tone\t22\t97\t0.2268\na\t19th century\t1\t97\t0.01\n"
    table = bb.asymmetry.read_evocation(written(tmp_path, text))
    assert table.values.tolist() == [["a", "one", 22, 97], ["a", "19th century", 1, 97]]
    assert table.attrs["bayesbias"] == {"name": f"SWOW {kind}", "least_count": 1, "left_out": 0}


def test_eat(tmp_path: Path) -> None:
    table = bb.asymmetry.read_evocation(written(tmp_path, EAT, "eat.xml"))
    assert table.values.tolist() == [["a & b", "c", 2, 3], ["na", "no", 4, 4]]
    assert table.attrs["bayesbias"] == {"name": "EAT", "least_count": 1, "left_out": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cue,response,count,participants\na,b,3\n", "line 2: .*participants of a -> b .*''"),
        ("cue,response,count,participants\na,b,3,10\n\na,,3,10\n", "line 4: 'a' -> ''"),
        ("cue,response,count,participants\na,b,0,10\n", "count of a -> b .*'0'"),
        ("cue,response,count,participants\na,b,1_0,10\n", "count of a -> b .*'1_0'"),
        ("cue,response,count,participants\na,b,NA,10\n", "count of a -> b .*'NA'"),
        ("cue,response,count,participants\na,b,11,10\n", "line 2: a -> b: 11 answers.* 10 participants"),
        ("cue,response,count,participants\na,b,1,10\na,b,1,10\n", "line 3: a -> b .*line 2"),
        ("cue,response,count,participants\n", "rows"),
        (
            "CUE, TARGET, NORMED?, #G, #P\nA, B, YES, many, 2\n",
            "line 2: .*participants of a -> b .*'many'",
        ),
        (f"cue,{'a' * 200_000},count,participants\n", "line 1: field larger"),
        (f"cue,response,count,participants\na,{'b' * 200_000},1,10\n", "line 2: field larger"),
    ],
)
def test_lines_that_are_none_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.asymmetry.read_evocation(written(tmp_path, text))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b c\n", "columns cue, response, count and participants"),
        (b"", "columns cue, response, count and participants"),
        (b"cue,word,n\na,b,1\n", "columns cue, word, n.*: cue, target"),
        (b"cue,response,count,participants\n\xff,b,1,2\n", "byte 32 .*UTF-8"),
        (b"<?xml version='1.0'?><eat><stimulus word='a'>", "XML"),
        (b"<?xml version='1.0' encoding='utf-7'?><eat/>", "XML"),
        (b"<?xml version='1.0' encoding='a language'?><eat/>", "XML"),
        (b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><stimulus word='&e;'/>", "declares entities"),
        (gzip.compress(b"cue,response,count,participants\na,b,1,2\n" * 50, mtime=0)[:-12], "file"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputFileError, match=message):
        bb.asymmetry.read_evocation(written(tmp_path, content))


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    text = "cue,response,count,participants\n" + "a,b,x,10\n" * 3
    with pytest.raises(MeasureError, match="3 faults"):
        bb.asymmetry.read_evocation(written(tmp_path, text))


CONCEPTS = (
    "/a/[/r/IsA/,/c/en/cat/n/,/c/en/pet/]\t/r/IsA\t/c/en/cat/n\t/c/en/house_pet\t{}\n"
    "/a/[x]\t/r/Synonym\t/c/fr/chat\t/c/en/cat\t{}\n"
    "/a/[y]\t/r/IsA\t/c/en/cat/n/wn\t/c/en/house_pet\t{}\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("head,relation,tail\ncat,IsA,pet\n", ["cat", "IsA", "pet"]),
        ("relation\ttail\thead\tscore\nIsA\tpet\tcat\t1\n", ["cat", "IsA", "pet"]),
        ('cat\tIsA\tpet "dog\n', ["cat", "IsA", 'pet "dog']),
        (CONCEPTS, ["cat", "IsA", "house pet"]),
    ],
)
def test_relations(tmp_path: Path, text: str, expected: list[str]) -> None:
    table = bb.asymmetry.read_relations(written(tmp_path, text))
    pd.testing.assert_frame_equal(table, pd.DataFrame([expected], columns=["head", "relation", "tail"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat,IsA,pet\ncat,IsA\n", "line 2: 'cat,IsA' .*head, relation and tail"),
        ("", "head, relation and tail"),
        ("cue,response,count,participants\nmath,algebra,3,100\n", "line 1: 'cue,response,count,participants' is not"),
        ("head,relation,tail\n", "relations"),
        ("/a/[x]\t/r/Synonym\t/c/fr/chat\t/c/fr/chien\t{}\n", "English"),
        ("/a/[x]\t/r/Synonym\tchat\tchien\t{}\n", "line 1"),
        (f"{'a' * 200_000},IsA,pet\n", "line 1: field larger"),
        (f"cat,IsA,pet\ncat,{'a' * 200_000},pet\n", "line 2: field larger"),
    ],
)
def test_relations_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        bb.asymmetry.read_relations(written(tmp_path, text))


def test_conceptnet_as_it_is_published(tmp_path: Path) -> None:
    """Lines of ConceptNet's own reference file (github.com/commonsense/conceptnet5, testdata; CC BY-SA 4.0), verbatim.

    The truth is a plain reading of the columns: both ends start with /c/en/, and the relation is no link to a page.
    """
    excerpt = Path(__file__).with_name("conceptnet_excerpt.tsv")
    lines = [line.split("\t") for line in excerpt.read_text(encoding="utf-8").splitlines()]
    assert any(cells[1] == "/r/ExternalURL" and cells[3].startswith("http") for cells in lines)
    english = [cells for cells in lines if cells[2].startswith("/c/en/") and cells[3].startswith("/c/en/")]
    expected = {
        (cells[2].split("/")[3].replace("_", " "), cells[1][3:], cells[3].split("/")[3].replace("_", " "))
        for cells in english
    }
    expected = {concept for concept in expected if concept[0] != concept[2]}
    assert ("hard questions", "AtLocation", "test") in expected
    for path in (excerpt, written(tmp_path, gzip.compress(excerpt.read_bytes(), mtime=0), "assertions.csv.gz")):
        table = bb.asymmetry.read_relations(path)
        assert set(table.itertuples(index=False, name=None)) == expected
        assert len(table) == len(expected)


def test_damaged_assertions(tmp_path: Path) -> None:
    excerpt = Path(__file__).with_name("conceptnet_excerpt.tsv").read_bytes()
    with pytest.raises(MeasureError, match=r"line 2: .*IsA"):
        bb.asymmetry.read_relations(written(tmp_path, excerpt.split(b"\n")[0] + b"\n/a/[x]\t/r/IsA\tcat\n"))
    with pytest.raises(InputFileError, match="UTF-8"):
        bb.asymmetry.read_relations(written(tmp_path, excerpt + b"\xff"))
    with pytest.raises(InputFileError, match="file"):
        bb.asymmetry.read_relations(written(tmp_path, gzip.compress(excerpt, mtime=0)[:-20]))


ASSERTIONS = "".join(f"/a/[]\t/r/IsA\t/c/en/w{number}\t/c/en/thing\t{{}}\n" for number in range(20_000))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ASSERTIONS, "its relations"),
        ("/a/x\n" + "x\n" * 20_000, "its relations"),  # each an error to list
        ("/a/x" + "x" * 5_000_000, "one line"),
        ("a\tIsA\tb\n" * 100_000, "its contents"),
        ("a\tIsA\tb\r" * 10_000, "its contents"),
    ],
)
def test_relations_are_counted_while_they_are_read(
    content: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, gzip.compress(content.encode()))
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 5_000_000)
    with pytest.raises(NotEnoughMemoryError, match=rf"^{path}: .*{message} would need"):
        bb.asymmetry.read_relations(path)


def test_other_signs_that_unicode_takes_for_ends_of_lines_are_parts_of_words(tmp_path: Path) -> None:
    relations = bb.asymmetry.read_relations(written(tmp_path, "a\u2028b\tIsA\tc\x1cd\r".encode()))
    assert relations.to_numpy().tolist() == [["a\u2028b", "IsA", "c\x1cd"]]


def test_norms_are_counted_while_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, gzip.compress(b"cue,response,count,participants\n" + b"a,b,1,2\n" * 100_000))
    monkeypatch.setattr("bayesbias.base.machine.free_memory", lambda: 5_000_000)
    with pytest.raises(NotEnoughMemoryError, match=rf"^{path}: its contents would need"):
        bb.asymmetry.read_evocation(path)


@pytest.mark.parametrize("declared", ['ATTLIST response word CDATA "{}"', 'ENTITY long "{}"'])
def test_what_xml_declares_does_not_stand_for_more(declared: str, tmp_path: Path) -> None:
    """A default value of an attribute would be in each of a million elements of eleven letters."""
    content = EAT.replace("<eat>", f"<!DOCTYPE eat [<!{declared.format(1000 * 'a')}>]><eat>")
    with pytest.raises(InputFileError, match="declares entities or attributes"):
        bb.asymmetry.read_evocation(written(tmp_path, content, "eat.xml"))


def test_relations_of_very_many_kinds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "relations.csv"
    path.write_text("".join(f"he,R{number},she\n" for number in range(101)))  # such as two columns in the wrong order
    with pytest.raises(MeasureError, match="101 kinds of relations, at most 100"):
        bb.asymmetry.read_relations(path)
    path.write_text("".join(f"he,R{number},she\n" for number in range(100)))
    assert len(bb.asymmetry.read_relations(path)) == 100
