"""`SECURITY.md`: tests attack each of its promises, and a sentence that promises nothing is listed as one."""

import re
import socket
from pathlib import Path

import pytest

from tests.base.files.test_files_that_change import READERS

TESTS = Path(__file__).parent
BEFORE, AFTER = "## What is not trusted", "## What is tested"
# How a sentence begins -> the tests that attack it, without `test_`.
ATTACKS = {
    "A fault in any of these": "hostile_inputs_are_read_or_refused hostile_files",
    "No reader opens a pickle": "a_pickle_is_not_loaded_unless_allowed anything_else_is_refused_and_not_run",
    "Files that the package wrote": "any_bit_that_is_flipped_is_found hostile_inputs_are_read_or_refused "
    "a_foreign_audit_file_with_a_right_checksum_is_no_answer",
    "What a packed file takes": "what_becomes_hundreds_of_times_as_large_is_not_read_to_its_end "
    "a_content_stops_where_the_memory_ends a_header_that_is_wrong_takes_no_memory "
    "rows_and_columns_are_counted_before_a_frame_is_made what_a_parquet_file_becomes_is_counted_before_it_is_made "
    "rows_that_take_no_room_in_a_parquet_file_are_counted_before_they_are_read",
    "A file that would take more memory": "every_reader_checks_the_memory_of_an_array_before_it_reads_it "
    "an_embedding_that_does_not_fit_is_refused_before_it_is_read",
    "So are folders of models": "the_memory_for_files_is_checked_before_any_library_reads_them "
    "ngrams_of_a_word_are_counted_before_they_are_made ngrams_of_all_words_are_counted_before_they_are_made",
    "Sizes in a model's settings": "sizes_beyond_those_of_the_weights_are_refused_before_the_library_is_called "
    "a_configuration_without_sizes_does_not_make_a_large_model a_configuration_does_not_make_parts_without_end",
    "A model may go": "what_needs_no_weights_is_not_done_again_and_again",
    "A text with more than 30": "marks_without_end_are_refused_before_a_normal_form_is_made",
    "So are XML": "what_xml_declares_does_not_stand_for_more a_number_of_many_digits_takes_no_memory "
    "a_rule_of_a_plan_does_not_make_millions_of_forms",
    "The names in a zip or tar archive": "what_stands_beside_the_contents_of_a_tar_archive_is_limited "
    "the_directory_of_a_zip_file_is_limited",
    "Lists of words, studies": "a_text_that_is_read_as_a_whole_has_a_limit cells_are_counted_before_a_text_is_made "
    "cells_have_a_limit columns_have_a_limit",
    "An audit asks for at most": "mistakes what_is_no_baseline settings_are_a_hundred_texts_at_most "
    "templates_have_a_limit relations_of_very_many_kinds_are_refused "
    "files_of_very_many_pairs_are_refused faults_name_what_is_at_fault "
    "files_of_very_many_sections_are_refused an_axis_of_very_many_pairs_is_refused questions_have_a_limit",
    "Hints at what": "few_names_of_many_alike_are_compared_in_full hints_are_looked_for_in_short_names_and_not_in_all",
    "Files above 64 MiB": "a_file_of_holes_is_refused a_journal_cannot_make_a_file_endless",
    "Names of columns of a distance": "names_of_columns_are_judged_before_the_rows_of_a_csv "
    "names_of_columns_are_judged_before_the_rows_of_a_parquet",
    "Of a word that vectors repeat": "a_word_that_is_repeated_takes_no_more_memory",
    "A corpus is streamed": "a_corpus_that_does_not_fit_is_refused a_line_or_a_document_that_does_not_fit_is_refused",
    "Fits (`.nc`) hold": "what_no_fit_has_is_refused a_list_of_names_that_takes_exponential_time_is_refused",
    "So are lists of texts": "facts_of_any_length_are_not_parsed "
    "a_text_that_ends_before_it_begins_is_not_read_for_ever "
    "heaps_in_one_another_are_not_walked_again_and_again what_no_fit_has_is_refused "
    "numbers_that_make_hdf5_crash_are_refused a_list_that_is_longer_than_the_file_takes_no_memory",
    "SQLite (indices": "any_other_schema_is_a_fault a_long_schema_is_not_parsed names_count_as_well_as_values "
    "pages_that_are_used_again_and_again_are_an_error values_that_share_their_pages_are_an_error "
    "views_and_triggers_are_not_run "
    "programs_in_place_of_tables_are_not_run programs_in_what_was_begun_are_not_run "
    "an_endless_query_is_stopped_and_long_writing_is_not",
    "A journal beside it": "a_journal_that_names_another_file_is_not_carried_out "
    "caches_and_unfinished_indices_of_others_remove_no_file",
    "So are logs in another mode": "nothing_is_written_to_logs_that_may_be_other_files",
    "Every form of a report": "markdown_has_no_image_no_link_no_tag_and_all_rows latex_has_no_other_command "
    "a_page_has_no_element_of_a_name a_figure_shows_names_as_they_are word_has_no_control_character "
    "json_has_the_names_themselves a_terminal_and_a_notebook_show_no_control a_command_to_type_is_quoted "
    "the_script_is_small_and_the_only_one_that_may_run",
    "Control characters": "no_form_has_a_control_character control_characters_of_a_file_do_not_reach_the_terminal",
    "No word is mathematics": "in_a_notebook_no_word_is_markup_or_mathematics_or_hides no_word_is_mathematics",
    "In the CSVs of reports": "no_cell_of_a_spreadsheet_is_a_formula",
    "Distance tables": "words_of_a_distance_table_are_read_back_as_they_were",
    "Devices, pipes, sockets": "what_is_no_ordinary_file_is_refused an_address_is_no_path pipes_are_refused "
    "a_pipe_that_took_the_place_of_a_file_is_not_waited_for a_pipe_in_a_folder_is_not_waited_for "
    "a_pipe_that_takes_the_place_of_a_changed_file_is_not_waited_for",
    "A folder of a corpus": "a_corpus_has_no_file_from_elsewhere a_file_that_goes_while_it_is_read "
    "a_file_that_is_cut_while_it_is_read a_file_of_a_corpus_that_a_link_replaces_is_not_read "
    "no_file_of_a_corpus_is_a_link_between_two_looks",
    "Nothing is downloaded": "no_reader_uses_the_network no_connection_is_opened",
    "Of a folder and its modules": "only_weights_and_texts_of_a_real_folder_are_opened "
    "a_file_outside_of_the_folder_is_not_opened "
    "only_weights_and_texts_are_opened_before_the_library",
    "Pickles and files": "pickles_are_refused pickles_beside_other_weights_are_refused "
    "weights_that_may_be_pickles_are_not_parts_of_an_index",
    "Modules are those": "every_class_of_the_library_is_allowed_or_refused "
    "other_classes_are_refused_and_their_weights_stay_unopened",
    "Settings that name files": "settings_that_lead_outside_are_refused_for_encoders_and_for_language_models "
    "settings_that_name_functions_or_other_models_are_refused modules_outside_of_the_folder_are_refused",
    "No code of the folder": "folders_that_would_run_code_are_refused a_chat_template_is_not_run",
    "So are prompts": "sizes_are_compared_whatever_the_header_of_the_weights_repeats "
    "the_regular_expression_of_a_tokenizer_is_not_tried settings_without_end_are_refused "
    "a_long_prompt_is_refused other_templates_are_refused "
    "sizes_beyond_those_of_the_weights_are_refused_before_the_library_is_called",
    "The libraries open the files again": "a_folder_that_changes_while_a_library_reads_it_is_refused "
    "files_that_changed_before_a_library_reads_them_are_refused_and_others_do_not_matter "
    "a_file_to_which_a_snapshot_has_a_link_is_compared an_encoder_that_changes_after_its_checks_is_refused "
    "a_model_that_changes_while_it_is_checked_or_read_is_refused",
    "While a library reads": "nothing_is_downloaded_while_a_model_is_read",
    "Requests that would take": "what_would_take_too_long_or_too_much_is_said a_year_of_work_is_refused_with_the_count",
    "Other users cannot": "a_planted_workshop_moves_and_overwrites_nothing a_strangers_journal_reaches_nothing_outside "
    "a_link_that_others_plant_meanwhile_removes_no_earlier_gate "
    "a_folder_of_the_user_that_is_renamed_to_a_workshop_is_not_cleared hostile_inputs_are_read_or_refused",
    "What a stopped run": "a_workshop_that_an_archive_brings_moves_and_removes_nothing",
    "A folder `cells` that": "cells_are_not_kept_where_a_link_of_the_output_leads",
    "Outputs are refused": "nothing_is_written_below_a_folder_whose_content_all_may_rename",
    "In one with the sticky bit": "what_is_of_another_user_where_all_may_make_it_is_not_written_to "
    "no_link_is_followed_in_a_folder_with_the_sticky_bit "
    "what_replaces_a_file_in_a_folder_with_the_sticky_bit_only_loses_permissions",
    "Indices of contexts": "a_cache_is_refused_where_another_user_can_put_a_journal_beside_it "
    "an_index_is_not_built_where_another_user_can_put_a_journal_beside_it",
    "checkpoints of a training": "what_goes_on_from_files_is_refused_where_all_may_put_them "
    "a_folder_that_a_stranger_makes_before_a_training_reads_it_is_refused",
    "`bayesbias report` reads": "a_table_that_a_stranger_put_beside_a_fit_is_not_read "
    "a_table_that_is_replaced_while_it_is_read_is_judged_when_it_is_open",
    "It follows no link": "a_link_beside_a_fit_is_not_followed",
    "The command line leaves": "settings_are_those_of_this_user_where_others_can_write "
    "the_command_line_reads_none_of_them numba_does_not_read_them_when_it_compiles "
    "pytorch_takes_no_library_from_there",
    "The command line and workers": "without_a_home_folder_the_command_line_has_an_empty_one "
    "workers_without_a_home_folder_have_a_private_one",
    "It leaves it for NUTS too": "pymc_compiles_elsewhere",
    "NUTS compiles in": "pymc_compiles_in_a_private_folder",
    "In Python, compiled loops": "without_a_home_folder_nothing_in_the_current_one_is_read_or_written "
    "a_home_folder_that_others_may_write_to_is_none",
    "Unless you set": "compiled_code_is_neither_read_nor_kept_where_all_may_write",
    "The command line also": "without_a_home_folder_the_command_line_has_an_empty_one "
    "settings_that_lead_outside_are_refused_for_encoders_and_for_language_models",
    "`MODULE:FUNCTION`": "modules_of_a_folder_to_which_others_may_write_are_not_imported",
    "Workers (`workers=`)": "workers_import_no_module_of_a_folder_in_which_they_start",
    "inputs may lie on one": "folders_that_cannot_be_written a_folder_that_cannot_be_written_is_said_by_name",
    "The folder `cells`": "a_cell_that_is_damaged_is_computed_again",
    "A Dask scheduler that you name": "all_faults_are_named_at_once",
    "Nothing listens": "nobody_else_reaches_a_worker",
    "The workers that `workers=`": "nobody_else_reaches_a_worker a_script_needs_no_guard_and_a_kill_leaves_no_process",
    "A connection leaves": "no_reader_uses_the_network no_connection_is_opened",
    "An address": "an_open_scheduler_is_warned_of",
    "To close it": "a_scheduler_with_certificates_is_closed_to_strangers",
}
# Limits, advice, and what libraries do: how a sentence begins.
NO_PROMISES = (
    *(
        "The weights of models alone",
        "Sizes that a file declares",
        "Words, names and descriptions",
        "A page of a Parquet",
        "What takes time in proportion",
        "A regular expression",
        "What a library did",
    ),
    *("Members of a group", "On Windows", "numba, Matplotlib", "In Python, import", "A home folder that is missing"),
    "The administrator may work",
    *("Libraries take", "PyTorch keeps", "`python -m`", "Keep it where", "Your own Python", "Your own environment"),
    *("The libraries that", "Dask runs", "Names that Windows", "Without an index", "The package starts no dashboard"),
)


def sentences() -> list[str]:
    """Return the sentences about what is so, without headings and the titles of their points."""
    page = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
    lines = re.sub(r"^## .*\n", "\n", page[page.index(BEFORE) : page.index(AFTER)], flags=re.MULTILINE)
    points = re.split(r"\n(?=- |\n)", lines)
    texts = [re.sub(r"^(- )?(\*\*[^*]*[.:]\*\* )?", "", " ".join(point.split())).replace("**", "") for point in points]
    return [sentence for text in texts if text for sentence in re.split(r"(?<=\.) (?=[A-Z`]|numba)", text)]


def test_each_sentence_is_attacked_or_promises_nothing() -> None:
    starts = (*ATTACKS, *NO_PROMISES)
    for sentence in sentences():
        assert sum(map(sentence.startswith, starts)) == 1, sentence
    for start in starts:
        assert sum(sentence.startswith(start) for sentence in sentences()) == 1, start


def test_each_attack_is_a_test_that_is_collected() -> None:
    names = {
        name for path in TESTS.rglob("test_*.py") for name in re.findall(r"^def test_(\w+)", path.read_text(), re.M)
    }
    assert {attack for attacks in ATTACKS.values() for attack in attacks.split()} <= names


@pytest.mark.parametrize("name", READERS)
def test_no_reader_uses_the_network(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the network was used")

    for function in ("connect", "connect_ex", "bind", "sendto"):
        monkeypatch.setattr(socket.socket, function, refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    content, read = READERS[name]
    (tmp_path / name).write_bytes(content())
    assert read(tmp_path / name) is not None
