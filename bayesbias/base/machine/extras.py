"""Optional dependencies: imported where they are needed, with an error that names the extra to install."""

from importlib import import_module
from typing import Any

from bayesbias.base.machine.environment import same_environment
from bayesbias.errors import BayesBiasError, MeasureError, library_reason

# Packages that are installed under another name than their modules have.
_PACKAGES = {"dask": "Dask", "docx": "python-docx", "distributed": "Dask", "sklearn": "scikit-learn"}
# Extras that bring PyTorch.
_LARGE = ("contextual", "encoders", "nli")


def require(
    module: str, extra: str, purpose: str, *, error: type[BayesBiasError] = MeasureError, advice: str = ""
) -> Any:
    """Return a module of an optional dependency.

    Parameters
    ----------
    module
        Name of the module, such as ``"sklearn.svm"``.
    extra
        Name of the extra of this package that installs it.
    purpose
        What needs the module: the subject of the error's first sentence, in the singular.
    error
        Class of the error.
    advice
        Sentences about what to do instead, at the end of the error.

    Raises
    ------
    BayesBiasError
        Of class `error`, if the module is not installed or cannot be imported.

    Examples
    --------
    >>> require("not_installed.core", "cluster", "RNSB")
    Traceback (most recent call last):
        ...
    bayesbias.errors.MeasureError: RNSB needs not_installed, which is not installed. Install it with: pip install
    'bayesbias[cluster]'.
    """
    try:
        with same_environment():
            return import_module(module)
    except ImportError as fault:
        name = module.partition(".")[0]
        missing = isinstance(fault, ModuleNotFoundError)
        state = "is not installed" if missing else f"cannot be imported ({library_reason(fault)[:-1]})"
        size = " (5 GB with PyTorch for GPUs; its smaller build for CPUs will do)" if extra in _LARGE else ""
        raise error(
            f"{purpose} needs {_PACKAGES.get(name, name)}, which {state}. Install it with: pip install "
            f"'bayesbias[{extra}]'{size}.{advice and f' {advice}'}"
        ) from fault
