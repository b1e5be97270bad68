"""Word lists, and what can be wrong with them."""

from .study import list_word_lists as list_word_lists
from .study import load_word_lists as load_word_lists
from .study import write_study_template as write_study_template
from .weathub import load_weathub as load_weathub
