"""Random bad requests to every page, form and other route outside of the API's resources end in no error of the
service.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from netinv_testing import Service
from netinv_web.testing.fuzzing import PageFuzzer
from tests.support.databases import migrated_database
from tests.support.inputs import Inputs
from tests.support.jobs import JOBS

REQUESTS = {"few": 400, "many": 5_000, "all": 20_000}


@pytest.fixture
def attacked_service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service on a database of its own, since the requests of its administrator delete what they find."""
    with migrated_database(tmp_path_factory.mktemp("attacked"), database_template) as engine:
        media_root = str(tmp_path_factory.mktemp("attacked_media"))
        yield Service(engine, {**JOBS, "netinv.media_root": media_root, "netinv.sign_in_failures_account": "0"})


@pytest.mark.night
def test_no_input_of_pages_and_forms_is_answered_by_an_error(attacked_service: Service, inputs: Inputs) -> None:
    fuzzer = PageFuzzer(attacked_service, inputs.seed)
    fuzzer.populate()
    fuzzer.run(REQUESTS[inputs.amount])
    assert not fuzzer.failures, "\n".join(fuzzer.failures[:20])
    assert {200, 303, 400, 404, 405, 422} <= fuzzer.statuses.keys()


@pytest.mark.slow
@pytest.mark.night
def test_a_file_in_place_of_a_text_is_no_error_of_any_form(attacked_service: Service, inputs: Inputs) -> None:
    fuzzer = PageFuzzer(attacked_service, inputs.seed)
    fuzzer.populate()
    fuzzer.send_files()
    assert not fuzzer.failures, "\n".join(fuzzer.failures[:20])
    assert sum(fuzzer.statuses.values()) > 1000
