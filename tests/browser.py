"""Headless Chromium: what a reader's browser makes of a page."""

import shutil
import subprocess
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--v=0",
)


def find_chromium() -> str | None:
    """Return the path of a Chromium, or None where there is none."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


def browse(page: Path, profile: Path, *flags: str) -> tuple[str, list[str]]:
    """Open a page; return standard output and the lines of the console.

    Parameters
    ----------
    page
        An HTML file.
    profile
        A new folder for what the browser keeps.
    flags
        What to do, such as ``--dump-dom``.
    """
    browser = find_chromium()
    assert browser is not None
    command = [browser, *_FLAGS, f"--user-data-dir={profile}", *flags, page.resolve().as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def screenshot(page: Path, profile: Path, image: Path, *, width: int, height: int, dark: bool = False) -> list[str]:
    """Take a picture of the top of a page; return the lines of the console."""
    flags = [f"--screenshot={image}", f"--window-size={width},{height}"]
    # 0 is dark and 1 light.
    flags.append(f"--blink-settings=preferredColorScheme={0 if dark else 1}")
    return browse(page, profile, *flags)[1]


def phone(page: Path, folder: Path, *, width: int = 390, height: int = 844) -> Path:
    """Write a page that shows another in a frame of a phone's width: windows are never narrower than 500 pixels.

    Its title becomes what the framed page posts as a message.
    """
    frame = folder / f"{page.stem} at {width}.html"
    frame.write_text(
        f"<!doctype html><meta name='color-scheme' content='light dark'><body style='margin:0'>"
        f"<script>onmessage = event => document.title = event.data</script>"
        f"<iframe src='{page.resolve().as_uri()}' style='border:0;width:{width}px;height:{height}px'></iframe>",
        encoding="utf-8",
    )
    return frame
