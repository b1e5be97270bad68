"""The options and arguments of all commands, in one table: help texts, further names, types.

An option stands under the name of its parameter, or under ``command.parameter`` where one command means something else
by it. Its type is that of the parameter in the command's signature, and needs to stand here only for the options that a
command collects for a function. Those without a text have the text of the function's docstring.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Option:
    """An option, or with `argument` an argument.

    - `text`: help. Empty: that of the function which the command calls.
    - `names`: names on the command line; by default that of the parameter.
    - `type`: type, if the parameter is not in the command's signature.
    - `metavar`: name of the value in the help.
    - `argument`: whether it is an argument, without a name on the command line.
    """

    text: str = ""
    names: tuple[str, ...] = ()
    type: Any = None
    metavar: str | None = None
    argument: bool = False


def _argument(metavar: str, text: str) -> Option:
    return Option(text, metavar=metavar, argument=True)


def _output(text: str) -> Option:
    return Option(text, ("--output", "-o"))


_VECTORS = "Embedding, as for `bayesbias table`"
_WEIGHED_WORDS = "beside which words of a list depend on each other"
_PLAN_MAX_LOST = Option(
    "Largest share of a list's words that an embedding may lack, from 0 to 1, in place of the plan's."
)
_TABLE_FOR_A_PAPER = _output("Table for a paper: a .tex, .docx, .md, .csv or .html file, or a folder.")

OPTIONS = {
    # Inputs.
    "corpus": _argument(
        "CORPUS", "Text file with one document per line, or folder of .txt files, one per document; may be gzipped."
    ),
    "index_contexts.corpus": _argument(
        "CORPUS", "Text file with one paragraph per line, or folder of .txt files; both may be gzipped."
    ),
    "embedding": _argument("VECTORS", f"{_VECTORS}."),
    "table.embedding": _argument(
        "VECTORS",
        "File of word2vec, GloVe, fastText (.vec or .bin), CSV or TSV, .npz or gensim, which may be packed (.gz, .bz2, "
        ".xz, .tar, or .zip: glove.6B.zip:glove.6B.50d.txt); or folder of a language model. With --surprisal also "
        "MODULE:FUNCTION, a function of your own; with --scores nothing.",
    ),
    "random_lists.embedding": _argument("VECTORS", f"{_VECTORS}; all its words are read."),
    "debias.embedding": _argument("VECTORS", f"{_VECTORS}; it is read whole."),
    "embeddings": _argument("VECTORS", "Files of embeddings that differ only in the seed of their training."),
    "nli.embeddings": _argument(
        "VECTORS", "Files of embeddings, or with --models folders; each is compared with the first."
    ),
    "asymmetry.embeddings": _argument("VECTORS", "Files of embeddings, or folders of masked language models."),
    "encoder": _argument(
        "ENCODER",
        "Folder of a sentence-transformers or model2vec encoder; or MODULE:FUNCTION, a function of your own.",
    ),
    "contextual.model": _argument("MODEL", "Folder of a language model, as written by save_pretrained."),
    "table": _argument("TABLE", "Distance table, such as `bayesbias table` writes."),
    "tables": _argument("TABLES", "Distance tables of the same word pairs; each is compared with the first."),
    "fit": _argument("FIT", "File fit.nc that `bayesbias fit` or `covariate` wrote."),
    "sides": _argument(
        "SIDES", "Two pairs of a protected group and an attribute list; four pairs for a difference of differences."
    ),
    "plan_freeze.source": _argument("STUDY_OR_AUDIT", "Bundled study, file of a study, or TOML file of an audit."),
    "frozen_plan": Option(
        "Plan that `bayesbias plan freeze` wrote: say which numbers were planned, and what was changed since.",
        type=Path,
        metavar="FILE",
    ),
    "plan_template.frozen_plan": _argument("FILE", "Plan that `bayesbias plan freeze` wrote."),
    "plan": _argument("PLAN", "A TOML file: [embeddings] with names and files, and studies."),
    "periods": _argument(
        "PERIODS",
        "Folder with a file or a folder a period (also HistWords), or files of embeddings or distance tables in the "
        "order of time.",
    ),
    "norms": _argument("NORMS", "File of free association norms: USF, EAT, SWOW or a table."),
    "studies_show.study": _argument("STUDY", "Bundled study, TOML or CSV file."),
    "studies_new.path": _argument("FILE", "File to write, such as my_study.toml."),
    "studies_weathub.path": _argument("FILE", "WEATHub: its folder data, or one JSON file."),
    "studies_weathub.lists": _argument("LISTS", "Language and kind of lists, such as de_human."),
    "studies_weathub.test": _argument("TEST", "Name of the test, such as weat7."),
    # Outputs.
    "output": _output("Folder for the page, figures and tables, or a .html, .md, .tex, .docx or .json file."),
    "demo.output": _output("A folder for the results."),
    "table.output": _output("A .csv or .parquet file, which may end in .gz."),
    "fit.output": _output("Folder for the fit, figures and tables, or a .html, .md, .tex, .docx or .json file."),
    "report.output": _output("File of the page: .html."),
    "methods.output": _output("A file for the text, such as methods.md."),
    "plan_freeze.output": _output("File of the plan: .toml."),
    "plan_template.output": _output("A .md file for the answers to the registry's fields."),
    "summary.output": _TABLE_FOR_A_PAPER,
    "contrast.output": _TABLE_FOR_A_PAPER,
    "debias.output": _output("A file .npz, .bin, .txt or .vec; for several methods a folder."),
    "train.output": _output("Folder for the embeddings, one file per seed."),
    "index_contexts.output": _output("File of the index."),
    "contextual.output": _output("A .npz file, which keeps the spread over contexts too."),
    "encode.output": _output("A .npz file, which keeps the spread over templates."),
    "common_part.output": _output("A .npz file for the vectors without their common part."),
    "studies_weathub.output": _output("Study file to write, such as german.toml."),
    "as_json": Option("Print the result as one JSON object.", ("--json",)),
    "quiet": Option("Print only warnings and errors.", ("--quiet", "-q")),
    "overwrite": Option("Replace existing files.", type=bool),
    "train.overwrite": Option("Replace the files of another training.", type=bool),
    "title": Option("Title of the page; by default the question of the study.", type=str),
    "quick": Option("Leave out other models, fits without each word and list, and draws from the priors.", type=bool),
    "full": Option("Print also the tables that are folded on the screen."),
    "pages": Option("With --output: a page for each contrast too, of the first model and seed."),
    # Words.
    "study": Option(
        "Bundled study, TOML file, or CSV file with a column for each list (X, Y, A, B; X, A, B for one group)."
    ),
    "models.name": Option(
        "Name of a bundled model, or a TOML file. Without it, all are listed.", argument=True, metavar="NAME"
    ),
    "trend.study": Option("Bundled study, TOML or CSV file; not needed for tables."),
    "debias.study": Option("Study to test; also writes a page on what each method changed. May be repeated."),
    "asymmetry.study": Option(
        "Study whose protected and attribute words are compared too: a bundled study or a TOML file."
    ),
    "contextual.study": Option("Bundled study, TOML or CSV file whose words get vectors."),
    "encode.study": Option("Bundled study, TOML or CSV file whose words get vectors; may be given several times."),
    "controls": Option(
        "Keep or leave out the human and neutral control words, which are most of a study.",
        ("--controls/--no-controls",),
    ),
    "table.controls": Option(
        "Keep or leave out the human and neutral control words, which are most of a study. By default, tables of "
        "distances have them, and those of surprisals and scores do not.",
        ("--controls/--no-controls",),
    ),
    "case": Option(
        "Forms of a word to look up, in order, separated by commas: exact, lower, title, upper, unaccented, "
        "underscored.",
        type=str,
    ),
    "prefix": Option("Text before each word of the embedding, such as /c/en/ of ConceptNet.", type=str),
    "suffix": Option("Text after each word of the embedding, such as _NOUN.", type=str),
    "phrases": Option(
        "Entries of several words that are not stored: whole (they are lost) or mean (of their words).", type=str
    ),
    "max_lost": Option("Largest share of a list's words that the embedding may lack, from 0 to 1.", type=float),
    "audit.max_lost": _PLAN_MAX_LOST,
    "gate.max_lost": _PLAN_MAX_LOST,
    "duplicates": Option("Treatment of pairs whose words match the same vectors.", type=Literal["drop", "keep"]),
    "fit.duplicates": Option("Treatment of repeated rows of the table.", type=Literal["drop", "keep"]),
    "lists": Option("Two attribute lists, such as female,male; by default associated minus different."),
    "words": Option("Target words: occ16, occ18, adj or a TOML file."),
    "base_pairs": Option("Base pairs: gender or a TOML file.", type=str),
    "queries": Option("Queries: gender or a TOML file.", type=str),
    # Vectors.
    "format": Option("Format of the embeddings, if it is not recognised.", type=str),
    "allow_pickle": Option("Read native files of gensim. A pickle can run code, so trust its source.", type=bool),
    "name": Option("Name of the embedding in reports.", type=str),
    "table.name": Option("Name of the embedding, the model or the source of the scores in reports.", type=str),
    "table.reference": Option(
        "Vectors of random words of the same source, for files that hold only words of studies: what chance "
        f"resemblance is, {_WEIGHED_WORDS}.",
        type=Path,
    ),
    "encode.reference": Option(
        "Text file of at least 1,000 random words, one a line: what chance resemblance is, "
        f"{_WEIGHED_WORDS}. For a folder, bundled English words by default; for a function, none."
    ),
    "common_part.reference": Option(
        "File of vectors that give the mean and the components; by default VECTORS.", type=Path
    ),
    "common_part.components": Option(type=int),
    "changed": Option(
        "Folder with the same embeddings under a second condition, such as debiased, in files of the same names: how "
        "each contrast changes is compared over seeds. May be repeated."
    ),
    "resampled": Option("Embedding trained on resampled documents of the same corpus. May be repeated."),
    # Language models and encoders.
    "contexts": Option(
        "Index of contexts for a language model (see `bayesbias index-contexts`); by default, templates such as "
        "'This is X.' are used."
    ),
    "index_contexts.longest": Option(type=int),
    "templates": Option(
        "Sentences around each word: a text file, each line with WORD in it; a bundled set such as 'any' or 'name'; or "
        "a TOML file with a set or sentences for each list of the study. By default words are encoded alone."
    ),
    "table.templates": Option(
        "Sentences around each word, for an encoder or a language model: see `bayesbias encode`. With --surprisal: a "
        "text file, each line with PROTECTED and ATTRIBUTE in it, or a bundled set (pronouns, nouns, traits, names)."
    ),
    "surprisal": Option(
        "Build a table of surprisals instead: how likely the attribute words are beside the protected words in "
        "--templates, by a masked or causal language model."
    ),
    "table.context": Option(
        "With --surprisal: what an attribute word is given, both sides of the sentence (masked models), its left "
        "(causal models) or all of the sentence.",
        type=Literal["both", "left", "sentence"],
    ),
    "table.baseline": Option(
        "With --surprisal: surprisal to subtract, that with the protected word masked (mask) or that beside neutral "
        "words, such as person,someone."
    ),
    "scores": Option(
        "CSV file of numbers of your own, instead of vectors: a row a pair, columns protected_word, attribute_word and "
        "that of --value."
    ),
    "value": Option("With --scores: column of the numbers.", metavar="COLUMN"),
    "unit": Option("With --scores: unit of the numbers, such as ms.", type=str),
    "lower": Option(
        "With --scores: what a lower number means, nearer words (distances, reaction times) or farther ones (ratings, "
        "log probabilities).",
    ),
    "trials": Option(
        "With --scores: column with the number of trials of each pair, if --value counts choices in them.",
        type=str,
        metavar="COLUMN",
    ),
    "contextual.templates": Option("Text file of templates for a language model, one per line, each with WORD in it."),
    "layer": Option("Layer of a language model: -1 for the last, 0 for the input of the first.", type=int),
    "most": Option("Largest number of contexts per word, for a language model.", type=int),
    "device": Option("Device for a language model: cpu, cuda and so on; by default a GPU if there is one.", type=str),
    "precision": Option(
        "Numbers that the device multiplies: float32, tf32 or bfloat16; by default tf32 on a GPU, float32 elsewhere.",
        type=Literal["float32", "tf32", "bfloat16"],
    ),
    "cache": Option("File that keeps what an encoder or language model answered for the next run.", type=Path),
    "encode.version": Option(
        "Version of the model behind a function: vectors of another version in the cache are not used.",
        ("--version-of",),
        str,
    ),
    "timeout": Option("Seconds that a call of a function may take; without it, any time.", type=float),
    "batch": Option(type=int),
    "attempts": Option(type=int),
    # Models and their numbers.
    "model": Option("Bundled model or TOML file.", type=str),
    "sampler": Option("Sampler: auto, exact, collapsed, conjugate or nuts.", type=str),
    "draws": Option("Posterior draws per chain.", type=int),
    "tune": Option("Tuning steps per chain.", type=int),
    "chains": Option("Number of chains.", type=int),
    "prior": Option("Prior that replaces the model's, such as 'sigma=Exponential(20)'. May be repeated."),
    "covariates": Option(
        "CSV file, as spreadsheets save it (commas, semicolons or tabs; decimal points or commas), with a column "
        "'word' and a column of numbers for each covariate of the words.",
        type=Path,
    ),
    "drop_unrated": Option("Leave out words without a number, which are named, in place of an error.", type=bool),
    "word_column": Option("Column of words in the CSV file, if it is not called 'word'.", type=str),
    "column": Option(
        "Column of numbers to take from the CSV file; may be repeated. By default, all but those that number the rows.",
        type=list[str],
        metavar="COLUMN",
    ),
    "period_column": Option("Column of periods in the CSV files, if it is not called 'period'.", type=str),
    "trend.covariates": Option("CSV file with a column 'period' and a column for each covariate.", type=Path),
    "word_covariates": Option(
        "CSV file with a column 'word' and columns of numbers: the slope of the leans on each is estimated in every "
        "period. With a column 'period', each period has numbers of its own.",
        type=Path,
    ),
    "random_seed": Option("Random seed; the same seed gives the same numbers on the same machine.", ("--seed",), int),
    "debias.random_seed": Option("With --study: the same seed gives the same numbers.", ("--seed",), int),
    "samples": Option(type=int),
    "hdi_prob": Option("Probability inside the highest posterior density intervals.", type=float),
    **dict.fromkeys(
        ("report.hdi_prob", "summary.hdi_prob", "contrast.hdi_prob", "methods.hdi_prob"),
        Option("Probability inside the highest posterior density intervals; by default that of the fit.", type=float),
    ),
    "rope": Option(
        "Half-width of the region of practical equivalence, in units of cosine distance, such as 0.02.", type=float
    ),
    "rope_standardised": Option(
        "Half-width of that region in units of coherence, such as 0.3: the mean cosine of two words of one list minus "
        "that of a protected and an attribute word.",
        type=float,
    ),
    "strict": Option(
        "Whether another plan than the baseline's (dropped questions, another region, interval, model or word list) "
        "ends with code 7.",
        ("--strict/--no-strict",),
        bool,
    ),
    "baseline": Option("Connection from which the others are subtracted.", type=str),
    "gate.baseline": Option("A gate.json of an earlier gate: only what got worse fails."),
    "first": Option("Name of the first condition, that of the embeddings, if there is a second one.", type=str),
    "trainings.level": Option(
        "Contrasts that have rows: of all words (overall), of each group (protected_group), of each word (word), or "
        "all three (all).",
        type=str,
    ),
    "level": Option("Smallest unit that has rows: overall, protected_group or word.", type=str),
    "parameters": Option(
        "Mean distances and other parameters that follow: all, overall, protected_group, word or attribute.", type=str
    ),
    "within_groups": Option("Compare words of the same protected group only.", type=bool),
    "walk": Option("Take the contrast as a random walk instead of a line.", type=bool),
    "scope": Option(
        "Words that contrasts over all words are about: population (words like these) or these_words. Mean distances "
        "and contrasts of groups and words do not depend on it.",
        type=str,
    ),
    "compare_with": Option(
        "Distance table of another embedding, such as a debiased one. May be repeated.", ("--compare",)
    ),
    "match": Option(
        "Property in which drawn words match the study's: rank, norm, coherence (of lists) or none.", type=str
    ),
    "window": Option(type=int),
    "contrast": Option(
        "Contrast of interest, such as 'associated - different'; by default the first of each study. May be repeated."
    ),
    "plan_freeze.level": Option(
        "Level of interest: overall, protected_group or word; by default the first two. May be repeated."
    ),
    "pilot": Option(
        "Fit of a pilot study (fit.nc), or a TOML file of assumed parameters, from which the power of the planned "
        "sizes is simulated."
    ),
    "width": Option(type=float),
    "true_contrast": Option(type=float),
    # Machines.
    "workers": Option("Processes of this machine that share the work; without it, this process alone.", type=int),
    "scheduler": Option("Address of a Dask scheduler, such as tls://10.0.0.1:8786; one that you trust.", type=str),
    "threads": Option("Threads of one training. With more than one, only GloVe is reproducible.", type=int),
    # Training.
    "algorithm": Option(
        "Algorithm of training; all but glove and gn_glove are gensim's.",
        type=Literal["skipgram", "cbow", "fasttext", "glove", "gn_glove"],
    ),
    "train.seeds": Option("Seeds, such as 1-8 or 1,4,9."),
    "dimensions": Option(type=int),
    "min_count": Option(type=int),
    "epochs": Option(type=int),
    "negative": Option(type=int),
    "x_max": Option("Number of co-occurrences from which a pair has full weight (GloVe); by default 100.", type=float),
    "alpha": Option("Exponent of the weights of rarer pairs (GloVe); by default 0.75.", type=float),
    "resample": Option(
        "Train each seed on documents drawn with replacement, as other samples of such documents.",
        type=Literal["documents"],
    ),
    "train.sets": Option("Definitional pairs and sides (gn_glove): a bundled name, or a TOML file, as in debias."),
    # Debiasing and inference.
    "sets": Option("Definitional sets: a bundled name, or a TOML file."),
    "nli.sets": Option("With --method: definitional sets and names, as for debias."),
    "method": Option("Method (default: hard), such as inlp or gn_glove+misp; see --list. May be repeated."),
    "trainings.method": Option(
        "Debias each embedding by this method, such as hard, with the words of --sets: how each contrast changes is "
        "compared over seeds. May be repeated."
    ),
    "nli.method": Option("Also debias the embedding by this method, such as misp. May be repeated."),
    "strength": Option("Of soft debiasing (lambda); by default 0.2."),
    "components": Option("Directions to remove; by default the method's."),
    "debias.measure": Option(
        "With --study: a score of the whole embedding, by default vocabulary_direct_bias and recoverability, which are "
        "what is left of a bias; what a method cost needs a test, such as word_similarity=ws353.txt. Also midb (with "
        "the names of --sets; of others: midb=own.toml).",
        metavar="NAME[=FILE]",
    ),
    "debias.words_in_all": Option("Of recoverability and clustering: how many words; by default 5,000 and 1,500."),
    "pairs": Option("File of labelled pairs of sentences, as SNLI's or as CSV; see bb.nli.read_pairs."),
    "models": Option(
        "VECTORS are folders of trained transformers, or of such folders, one for each training; none is trained."
    ),
    "test_set": Option("Test set: explicit, names, occupations, dev_occupations or a TOML file.", type=str),
    "score": Option("Score of an answer: error (with mean E), neutral, entailment or contradiction.", type=str),
    "nli.trainings": Option(type=int),
    "nli.epochs": Option("Largest number of passes over the pairs."),
    "hidden_units": Option("Units in each layer of the model; by default 200."),
    "checkpoints": Option("Folder that keeps trainings; with --seed, the same command continues from them.", type=Path),
    # Asymmetry and reliability.
    "relations": Option("File of relations between words (head, relation, tail), such as ConceptNet's or EVALution's."),
    "relation": Option("Relation to report; by default all. May be repeated.", type=list[str]),
    "context": Option(
        "File of context vectors, used for responses; for one that `bayesbias train` wrote, the same file again. "
        "Requires exactly one embedding."
    ),
    "further_norms": Option("Further file of norms, compared too. May be repeated.", ("--norms",)),
    "separately": Option("Compare each source on its own pairs, not on those that all sources have.", ("--own",)),
    "gamma": Option("LARs from -gamma to gamma have no direction; by default 0. May be repeated."),
    "either": Option("Include pairs that the norms list in one direction only."),
    "temperature": Option("Temperature of the softmax over the words of the norms.", type=float),
    "rule": Option("Scoring rule: db_wa, ripa, ripa_unit or nbm; by default all but ripa_unit. May be repeated."),
    "counts": Option("CSV file of words' frequencies, columns word and count; with --output."),
    "properties": Option(
        "Properties of words: wordnet (English) or a CSV file with a column word; with --output.", type=str
    ),
    "table_2": Option("Whether to estimate what explains reliability (table 2).", ("--drivers/--no-drivers",), bool),
}
# Options that most commands have; the help lists them last.
COMMON = ("as_json", "quiet", "overwrite")
