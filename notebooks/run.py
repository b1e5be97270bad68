"""Execute the notebooks anew and write them back, without traces of time and place.

    python notebooks/run.py                     all of them
    python notebooks/run.py quickstart          one
    python notebooks/run.py --out FOLDER        elsewhere; the notebooks themselves stay as they are
    python notebooks/run.py --other-draws       with another seed for each posterior, to see what depends on its draws

It needs the development tools: `uv sync` or `pip install nbclient ipykernel`.
"""

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
_POSTERIOR_SEED = re.compile(r"(\bbb\.(?:fit|compare_embeddings|check_posterior|trend)\([^)]*random_seed=)(\d+)")
# Where Python says that a cell warned: a temporary file, and on the next line the cell's own code.
_WARNING = re.compile(r"^\S*ipykernel_\d+\S*: (\w+Warning: .*\n)(?:  .*\n)?", flags=re.MULTILINE)
# What depends on the machine's fonts: a new folder of settings on a slow machine, and Graphviz.
_FONTS = re.compile(r"^(?:Matplotlib is building the font cache|Fontconfig ).*\n", flags=re.MULTILINE)
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class ThisPython(KernelSpecManager):
    """Starts the very Python that runs this script, whatever kernels the machine has."""

    folder = ""

    def get_kernel_spec(self, _kernel_name: str) -> KernelSpec:
        """Return how to start the kernel: the code beside it, one thread (one order of sums), nothing kept at home."""
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="Python 3",
            language="python",
            env={
                "IPYTHONDIR": self.folder,
                "MPLCONFIGDIR": self.folder,
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
                "PYTHONPATH": str(ROOT),
            },
        )


def execute(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook with the outputs of a fresh run, without traces of time and place."""
    fresh = nbformat.from_dict(notebook)
    with tempfile.TemporaryDirectory() as folder:
        kernels = ThisPython()
        kernels.folder = folder
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=kernels,
            # Sockets that are files: no port is opened.
            transport="tcp" if sys.platform == "win32" else "ipc",
            connection_file=str(Path(folder) / "kernel.json"),
        )
        client = NotebookClient(
            fresh,
            km=manager,
            timeout=300,
            record_timing=False,
            # Else what a cell prints comes in as many pieces as the kernel happens to send.
            coalesce_streams=True,
            resources={"metadata": {"path": str(FOLDER)}},
        )
        client.execute(cleanup_kc=True)
    return tidy(fresh)


def with_other_draws(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook whose posteriors have another seed: as on a machine where linear algebra rounds differently."""
    other = nbformat.from_dict(notebook)
    for cell in other.cells:
        if cell.cell_type == "code":
            cell.source = _POSTERIOR_SEED.sub(lambda match: f"{match[1]}{int(match[2]) + 1}", cell.source)
    return other


def tidy(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out what differs from run to run: versions, timings, ids, names of temporary files."""
    notebook.metadata = nbformat.from_dict(_METADATA)
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id, cell.metadata = f"cell-{number:02}", {}
        if "outputs" in cell:
            # Of a progress bar an empty output is left.
            cell.outputs = [output for output in cell.outputs if output.get("data", {}).get("text/html") != ""]
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                output.text = _FONTS.sub("", _WARNING.sub(r"\1", output.text))
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if output.get("text") != ""]
    return notebook


def main() -> None:
    """Run the notebooks."""
    all_names = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones (default: all): {', '.join(all_names)}")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the results (default: that of this file)")
    parser.add_argument("--other-draws", action="store_true", help="another seed for each posterior; needs --out")
    arguments = parser.parse_args()
    if arguments.other_draws and arguments.out == FOLDER:
        parser.error("--other-draws is for a comparison: give --out FOLDER")
    if unknown := sorted(set(arguments.names) - set(all_names)):
        parser.error(f"there is no notebook {unknown[0]!r}; there are {', '.join(all_names)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or all_names:
        start = time.perf_counter()
        notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        fresh = execute(with_other_draws(notebook) if arguments.other_draws else notebook)
        nbformat.write(fresh, arguments.out / f"{name}.ipynb")
        print(f"{name}: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
