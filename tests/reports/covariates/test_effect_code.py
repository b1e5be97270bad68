"""Code that repeats slopes: of numbers from a file and of others, also where names are hostile."""

import json

from bayesbias.reports.covariates.effect_code import effect_code
from tests.reports.covariates.made import made_fit


def test_numbers_of_no_file_are_named_in_a_comment() -> None:
    fit = made_fit()
    code = effect_code(fit, ("near", "far"), within_groups=False, hdi_prob=0.5)
    compile(code, "code", "exec")
    assert "# COVARIATES: a frame with the column 'word'" in code
    assert "bb.covariate_effect(fit, ('near', 'far'), hdi_prob=0.5)" in code
    assert "command line" not in code


def test_a_command_has_the_names_of_files_and_no_line_of_another() -> None:
    fit = made_fit()
    fit.attrs |= {"table_file": json.dumps("my table.csv"), "tune": json.dumps(2000), "chains": json.dumps(4)}
    for file, has_command in (("shares.csv", True), ("shares.csv\nimport os", False)):
        fit.attrs["covariates_source"] = json.dumps([file, "Beruf"])
        first, *others = effect_code(fit, None, within_groups=False, hdi_prob=0.89).splitlines()
        assert first.startswith("# On the command line: bayesbias covariate 'my table.csv'") == has_command
        assert "import os" not in (first, *others)


def test_changed_priors_are_repeated_and_no_command_omits_them() -> None:
    fit = made_fit()
    fit.attrs |= {name: json.dumps(value) for name, value in {"table_file": "t.csv", "tune": 2000, "chains": 4}.items()}
    fit.attrs["covariates_source"] = json.dumps(["shares.csv"])
    model = json.loads(fit.attrs["model"])
    assert "command line" in effect_code(fit, None, within_groups=False, hdi_prob=0.89)
    model["priors"]["sigma"] = "HalfNormal(sigma=0.2)"
    fit.attrs["model"] = json.dumps(model)
    code = effect_code(fit, None, within_groups=False, hdi_prob=0.89)
    assert 'bb.fit(table, "multivariate", priors={"sigma": "HalfNormal(sigma=0.2)"}, sampler=' in code
    assert "command line" not in code
    fit.attrs["model"] = json.dumps(model | {"name": "mine"})
    code = effect_code(fit, None, within_groups=False, hdi_prob=0.89)
    assert 'bb.fit(table, "PATH of the model mine", sampler=' in code


def test_chosen_columns_are_repeated() -> None:
    fit = made_fit()
    fit.attrs |= {name: json.dumps(value) for name, value in {"table_file": "t.csv", "tune": 2000, "chains": 4}.items()}
    fit.attrs["covariates_source"] = json.dumps(["shares.csv", "", "Women, %"])
    code = effect_code(fit, None, within_groups=False, hdi_prob=0.89)
    assert "--covariates shares.csv --column 'Women, %' --draws" in code
    assert "read_covariates('shares.csv', columns=['Women, %'])" in code
