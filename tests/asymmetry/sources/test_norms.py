"""Readers of norms and relations: the forms that are downloaded, and files that are none of them."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import InputFileError, MeasureError

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
    found = bb.asymmetry.read_evocation(written(tmp_path, APPENDIX.encode("latin-1")))
    assert found.values.tolist() == [["aardvark", "ant", 30, 152], ["café", "jane's", 2, 140]]
    assert found.attrs["bayesbias"] == {"name": "USF", "least_count": 2, "left_out": 0}
    assert bb.asymmetry.evocation(found).least_count == 2
    two = APPENDIX + APPENDIX.replace("AARDVARK", "ABBEY").replace("CAF", "KAF")
    assert len(bb.asymmetry.read_evocation(written(tmp_path, two.encode("latin-1")))) == 4


def test_usf_as_a_table(tmp_path: Path) -> None:
    text = 'cue,target,participants,responses,forward_strength\na,"b, c",152,10,0.066\nnull,NA,150,2,0.01\n'
    found = bb.asymmetry.read_evocation(written(tmp_path, gzip.compress(text.encode(), mtime=0), "usf.csv.gz"))
    assert found.values.tolist() == [["a", "b, c", 10, 152], ["null", "NA", 2, 150]]
    assert found.attrs["bayesbias"]["name"] == "USF"


@pytest.mark.parametrize("kind", ["R1", "R123"])
def test_swow(tmp_path: Path, kind: str) -> None:
    text = f"cue\tresponse\t{kind}\tN\t{kind}.Strength\na\tone\t22\t97\t0.2268\na\t19th century\t1\t97\t0.01\n"
    found = bb.asymmetry.read_evocation(written(tmp_path, text))
    assert found.values.tolist() == [["a", "one", 22, 97], ["a", "19th century", 1, 97]]
    assert found.attrs["bayesbias"] == {"name": f"SWOW {kind}", "least_count": 1, "left_out": 0}


def test_eat(tmp_path: Path) -> None:
    found = bb.asymmetry.read_evocation(written(tmp_path, EAT, "eat.xml"))
    assert found.values.tolist() == [["a & b", "c", 2, 3], ["na", "no", 4, 4]]
    assert found.attrs["bayesbias"] == {"name": "EAT", "least_count": 1, "left_out": 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cue,response,count,participants\na,b,3\n", "line 2: the number of participants of a -> b is ''"),
        ("cue,response,count,participants\na,b,3,10\n\na,,3,10\n", "line 4: 'a' -> '': a word is missing"),
        ("cue,response,count,participants\na,b,0,10\n", "the count of a -> b is '0'"),
        ("cue,response,count,participants\na,b,1_0,10\n", "the count of a -> b is '1_0'"),
        ("cue,response,count,participants\na,b,NA,10\n", "the count of a -> b is 'NA'"),
        ("cue,response,count,participants\na,b,11,10\n", "line 2: a -> b: 11 answers of 10 participants"),
        ("cue,response,count,participants\na,b,1,10\na,b,1,10\n", "line 3: a -> b stands in line 2 too"),
        ("cue,response,count,participants\n", "has no rows"),
        (
            "CUE, TARGET, NORMED?, #G, #P\nA, B, YES, many, 2\n",
            "line 2: the number of participants of a -> b is 'many'",
        ),
    ],
)
def test_lines_that_are_none_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        bb.asymmetry.read_evocation(written(tmp_path, text))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a b c\n", "no line names its columns"),
        (b"", "no line names its columns"),
        (b"cue,word,n\na,b,1\n", "has the columns cue, word, n. Known are: cue, target"),
        (b"cue,response,count,participants\n\xff,b,1,2\n", "byte 32 is not UTF-8"),
        (b"<?xml version='1.0'?><eat><stimulus word='a'>", "is not whole XML"),
        (gzip.compress(b"cue,response,count,participants\na,b,1,2\n" * 50, mtime=0)[:-12], "is not whole"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InputFileError, match=said):
        bb.asymmetry.read_evocation(written(tmp_path, content))


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    text = "cue,response,count,participants\n" + "a,b,x,10\n" * 3
    with pytest.raises(MeasureError, match="has 3 faults"):
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
    found = bb.asymmetry.read_relations(written(tmp_path, text))
    pd.testing.assert_frame_equal(found, pd.DataFrame([expected], columns=["head", "relation", "tail"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cat,IsA,pet\ncat,IsA\n", "line 2: 'cat,IsA' is not head, relation and tail"),
        ("", "has no lines"),
        ("head,relation,tail\n", "has no relations"),
        ("/a/[x]\t/r/Synonym\t/c/fr/chat\t/c/fr/chien\t{}\n", "no relations of English words"),
        ("/a/[x]\t/r/Synonym\tchat\tchien\t{}\n", "line 1"),
    ],
)
def test_relations_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        bb.asymmetry.read_relations(written(tmp_path, text))
