"""Files of studies: what they hold, what is refused and how it is said, and that no file gets past the checks."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesbias.errors import BayesBiasError, InputFileError, OutputError, StudyError
from bayesbias.studies import study as studies
from bayesbias.studies.study import load_study, write_study_template
from tests.studies.made import GOOD_TOML, make


def test_a_file_takes_its_name_from_the_file_and_may_have_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "weather.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD_TOML.replace("\n", "\r\n").encode())
    assert load_study(path) == make()
    assert load_study(str(path)) == make()


def test_a_file_can_choose_its_controls(tmp_path: Path) -> None:
    path = tmp_path / "weather.toml"
    path.write_text(GOOD_TOML + '[controls]\nhuman = "none"\nneutral = ["table"]\n')
    assert load_study(path) == make(human="none", neutral=["table"])


def test_all_faults_of_a_file_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "weather.toml"
    path.write_text(
        'sorce = "me"\nhuman = "none"\nassociated = [["sumer", "warm"]]\n'
        '[protected]\nsummer = ["july", "july"]\nnotes = "x"\n'
        '[attributes]\nwarm = []\n[controls]\nnutral = "none"\n'
    )
    with pytest.raises(StudyError) as caught:
        load_study(path)
    message = str(caught.value)
    assert message.startswith(f"Study file {path} has 8 faults:")
    for fault in (
        "Unknown key 'sorce' (did you mean 'source'?)",
        "'human' is outside its section",
        "'notes' is inside [protected]",
        "Unknown key 'nutral' in [controls] (did you mean 'neutral'?)",
        "protected group 'summer' holds 'july' 2 times",
        "protected group 'notes' must be a list of words",
        "attribute group 'warm' is an empty list",
        "no protected group 'sumer' (did you mean 'summer'?)",
    ):
        assert f"\n- {fault}" in message or fault in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\n', "protected .* no groups"),
        (GOOD_TOML + 'associated = [["summer", "warm"]]\n', r"'associated' .* \[attributes\]"),
        ("controls = 3\n" + GOOD_TOML, r"\[controls\] .* human, neutral, not a number"),
        ("protected = 3\nattributes = 4\nassociated = 5\n", "has 3 faults"),
        ("[protected.summer]\njuly = 1\n", "'summer' .* not a section"),
        ("name = 1979-05-27\n" + GOOD_TOML, "name .* not a date"),
        ("name = true\n" + GOOD_TOML, "name .* not true or false"),
    ],
)
def test_wrong_shapes_in_a_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "weather.toml"
    path.write_text(text)
    with pytest.raises(StudyError, match=message) as caught:
        load_study(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", InputFileError, "is empty"),
        (b"\xef\xbb\xbf \r\n", InputFileError, "is empty"),
        (b'name = "x"\nnotes = "\xff"', InputFileError, r"byte 20 is not UTF-8 \(line 2\)"),
        (b'name = "x"\nnotes = x', StudyError, "TOML: .*line 2"),
        (b"name = 1\nname = 2", StudyError, "TOML"),
        (b"a = " + b"9" * 5000, StudyError, "TOML"),
        (b"a = " + b"[" * 5000, StudyError, "TOML"),
        (b"associated = [{" + b"a." * 5000 + b"a = 1}]", StudyError, "more than 30 dots"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, error: type[Exception], message: str) -> None:
    path = tmp_path / "weather.toml"
    path.write_bytes(content)
    with pytest.raises(error, match=message) as caught:
        load_study(path)
    assert str(path) in str(caught.value)


def test_missing_files_and_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"'religon' \(did you mean 'religion'\?\).*weat10"):
        load_study("religon")
    (tmp_path / "seasons.toml").write_text(GOOD_TOML)
    with pytest.raises(InputFileError, match=r"did you mean 'seasons.toml'"):
        load_study(tmp_path / "season.toml")
    with pytest.raises(InputFileError, match="is a folder"):
        load_study(tmp_path)
    with pytest.raises(InputFileError, match=r"x\.toml"):
        load_study(tmp_path / "seasons.toml" / "x.toml")
    with pytest.raises(InputFileError, match="xxx"):
        load_study("x" * 5000)
    with pytest.raises(InputFileError, match=r"a\\x00b"):
        load_study("a\0b")


def test_a_bundled_name_wins_over_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("weat7").write_text(GOOD_TOML)
    assert list(load_study("weat7").protected) == ["math", "arts"]
    assert list(load_study("./weat7").protected) == ["summer", "winter"]
    assert list(load_study(Path("weat7")).protected) == ["summer", "winter"]


def test_the_template_is_a_sound_study_that_shows_every_key(tmp_path: Path) -> None:
    path = write_study_template(tmp_path / "mine.toml")
    study = load_study(path)
    assert study.name == "mine"
    assert study.connections == studies.CONNECTIONS
    text = path.read_text()
    for key in ("name =", "description =", "source =", "notes =", "associated =", "human =", "neutral ="):
        assert re.search(f"^(# )?{key}", text, re.MULTILINE)
    for section in ("[protected]", "[attributes]", "[controls]"):
        assert section in text


def test_the_template_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("precious")
    with pytest.raises(OutputError, match="exists"):
        write_study_template(path)
    with pytest.raises(OutputError, match="does not exist"):
        write_study_template(tmp_path / "nowhere" / "mine.toml")

    def full_disk(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full_disk)
        with pytest.raises(OutputError, match="No space left"):
            write_study_template(path, overwrite=True)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]
    write_study_template(path, overwrite=True)
    assert load_study(path).name == "mine"


# Pieces of study files, so that random files come close to sound ones.
PIECES = st.sampled_from(
    [
        *(f"{key} = " for key in ("name", "notes", "associated", "human", "neutral", "summer", "warm", "x")),
        *("[protected]\n", "[attributes]\n", "[controls]\n", "[[protected]]\n", "[protected.summer]\n"),
        *(
            '"july"',
            '"hot"',
            '"paper"',
            '"none"',
            '["summer", "warm"]',
            "[]",
            "{}",
            "3",
            "true",
            "1979-05-27",
        ),
        *("[", "]", ", ", "\n", "\n", "{", "}", ".", '"', '"""', "#", "\r", "\0", "inf", "\\"),
    ]
)
FILES = st.one_of(
    st.binary(),
    st.text().map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(PIECES).map(lambda pieces: "".join(pieces).encode()),
    st.integers(0, len(GOOD_TOML)).map(lambda end: GOOD_TOML[:end].encode()),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def random_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random") / "random.toml"


@settings(max_examples=300, deadline=None)
@given(content=FILES)
def test_random_files_give_a_study_or_an_error_of_ours(random_file: Path, content: bytes) -> None:
    random_file.write_bytes(content)
    message = ""
    try:
        load_study(random_file)
    except BayesBiasError as error:
        message = str(error)
    assert not message or str(random_file) in message


@settings(max_examples=200, deadline=None)
@given(field=st.sampled_from(["name", "protected", "attributes", "associated", "human", "notes"]), value=VALUES)
def test_random_values_give_a_study_or_an_error_of_ours(field: str, value: object) -> None:
    message = ""
    try:
        make(**{field: value})
    except StudyError as error:
        message = str(error)
    assert not message or "\n- " in message


def test_a_file_of_one_group_and_two_lists_is_close_to_the_first_list(tmp_path: Path) -> None:
    """As in a mapping of three lists; with more lists, or two groups, the file must say what is close."""
    text = '[protected]\njobs = ["nurse", "clerk"]\n[attributes]\nfemale = ["she", "her"]\nmale = ["he", "him"]\n'
    path = tmp_path / "jobs.toml"
    path.write_text(text)
    assert load_study(path).associated == (("jobs", "female"),)
    for more in (text + 'old = ["aged"]\n', text.replace("[attributes]", 'others = ["cook"]\n[attributes]')):
        path.write_text(more)
        with pytest.raises(StudyError, match="associated is missing"):
            load_study(path)
