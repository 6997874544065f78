"""Workspaces load whole, or one error tells everything that is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from resources.scoring_configs import scoring_config_of
from resources.settings import Endpoint
from resources.starter import FILES, init_workspace
from resources.workspace import Workspace, find_workspace, load_workspace
from scoring.errors import InputError
from scoring.keys import safe_key
from scoring.records import DEFAULT_EMPTY_VALUES, Mode, Origin

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a workspace of one scenario; every file can be given in place of the usual one."""

    def write(files: dict[str, str | bytes] | None = None) -> Path:
        usual: dict[str, str | bytes] = {
            "assay.yaml": "",
            "scenarios/film/scenario.yaml": "title: A film\n",
            "scenarios/film/schema.json": '{"type": "object"}',
        }
        for name, content in {**usual, **(files or {})}.items():
            path = tmp_path / "ws" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / "ws"

    return write


def message_for(root: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_workspace(root)
    return str(caught.value)


def test_a_scenario_with_nothing_but_a_schema_takes_every_default(make: Make) -> None:
    scenario = load_workspace(make()).scenarios[0]
    assert (scenario.scenario_id, scenario.type, scenario.repetitions) == ("film", "enrichment", 1)
    assert scenario.reference is None
    assert not scenario.reference_is_verified
    assert scenario.scoring.strictness.value == "normal"
    assert {scenario.scoring.strictness.origin, scenario.scoring.embedding.origin} == {Origin.DEFAULT}
    assert scenario.scoring.empty_values.value == DEFAULT_EMPTY_VALUES
    assert scenario.weights.quality == pytest.approx(100 / 3)


def test_every_setting_says_where_it_comes_from(make: Make) -> None:
    root = make(
        {
            "assay.yaml": "strictness: lenient\nempty_values: [none]\nweights:\n"
            "  enrichment: {quality: 50, speed: 30, cost: 20}\n",
            "scenarios/film/scenario.yaml": "scoring:\n  strictness: strict\n  accepted: {/title: [Film, The Film]}\n",
        }
    )
    scenario = load_workspace(root).scenarios[0]
    assert (scenario.scoring.strictness.value, scenario.scoring.strictness.origin) == ("strict", Origin.SCENARIO)
    assert (scenario.scoring.empty_values.value, scenario.scoring.empty_values.origin) == (
        ("none",),
        Origin.ORGANISATION,
    )
    assert scenario.scoring.accepted == {"/title": ("Film", "The Film")}
    assert (scenario.weights.quality, scenario.weights.speed, scenario.weights.cost) == (50, 30, 20)


def test_a_scenario_may_switch_off_what_the_organisation_switched_on(make: Make) -> None:
    judge = "judge: {base_url: https://host/v1, model: judge-1, api_key_env: JUDGE_KEY, swap: true}\n"
    root = make({"assay.yaml": judge, "scenarios/film/scenario.yaml": "scoring: {judge: null, embedding: null}\n"})
    settings = load_workspace(root).scenarios[0].scoring
    assert (settings.judge.value, settings.judge.origin) == (None, Origin.SCENARIO)
    assert scoring_config_of(settings).mode is Mode.EXACT_ONLY


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("{}", (0.91, 0.8)),
        ("{strictness: strict}", (None, None)),
        ("{threshold: 0.95}", (0.95, None)),
        ("{undecided_from: 0.85}", (0.91, 0.85)),
        ("{embedding: {base_url: 'https://host/v1', model: m}}", (None, None)),
    ],
)
def test_cosines_of_the_organisation_hold_until_the_scenario_sets_its_own(
    make: Make, scenario: str, expected: tuple[float | None, float | None]
) -> None:
    root = make(
        {
            "assay.yaml": "threshold: 0.91\nundecided_from: 0.8\n",
            "scenarios/film/scenario.yaml": f"scoring: {scenario}\n",
        }
    )
    settings = load_workspace(root).scenarios[0].scoring
    assert (settings.threshold.value, settings.undecided_from.value) == expected


def test_the_scoring_config_cites_the_setting_that_decided(make: Make) -> None:
    root = make({"assay.yaml": "strictness: strict\n", "scenarios/film/scenario.yaml": "scoring: {threshold: 0.9}\n"})
    cutoffs = scoring_config_of(load_workspace(root).scenarios[0].scoring).cutoffs
    assert cutoffs is not None
    assert cutoffs.same == 0.9
    assert (cutoffs.setting.origin, "0.9" in cutoffs.setting.text) == (Origin.SCENARIO, True)


def test_a_panel_takes_from_the_judge_what_its_members_leave_out(make: Make) -> None:
    judge = (
        "judge:\n  base_url: https://host/v1\n  api_key_env: HOST_KEY\n  panel:\n"
        "    - judge-1\n    - {model: judge-2, base_url: https://other/v1, api_key_env: OTHER_KEY}\n"
        "    - {model: judge-3, base_url: http://127.0.0.1:8080/v1}\n"
    )
    settings = load_workspace(make({"assay.yaml": judge})).scenarios[0].scoring.judge.value
    assert settings is not None
    assert settings.models == (
        Endpoint(model="judge-1", base_url="https://host/v1", api_key_env="HOST_KEY"),
        Endpoint(model="judge-2", base_url="https://other/v1", api_key_env="OTHER_KEY"),
        Endpoint(model="judge-3", base_url="http://127.0.0.1:8080/v1"),
    )


def test_models_keep_their_order_and_only_those_with_a_url_can_be_called(make: Make) -> None:
    models = (
        "- id: openai/gpt-4o:free\n  base_url: https://host/v1\n  name: gpt-4o\n  api_key_env: HOST_KEY\n"
        "- {id: a b|c, input_usd_per_million: 0, output_usd_per_million: 1.5}\n"
    )
    workspace = load_workspace(make({"models.yaml": models}))
    assert [model.model_id for model in workspace.models] == ["openai/gpt-4o:free", "a b|c"]
    assert workspace.models[1].input_usd_per_million == 0
    assert workspace.models[0].input_usd_per_million is None
    assert workspace.endpoints == {
        "openai/gpt-4o:free": Endpoint(model="gpt-4o", base_url="https://host/v1", api_key_env="HOST_KEY")
    }


@pytest.mark.parametrize("scenario_id", ["film", "a/b:c|d e", ".hidden", "日本", "x" * 200])
def test_a_scenario_may_have_any_id_by_its_folder_or_by_its_file(make: Make, scenario_id: str) -> None:
    key = safe_key(scenario_id)
    root = make(
        {
            f"scenarios/{key}/scenario.yaml": "title: by folder",
            f"scenarios/{key}/schema.json": "{}",
            "scenarios/folder/scenario.yaml": json.dumps({"id": f"2{scenario_id[1:]}"}),
            "scenarios/folder/schema.json": "{}",
        }
    )
    ids = {scenario.scenario_id for scenario in load_workspace(root).scenarios}
    assert ids == {scenario_id, f"2{scenario_id[1:]}"} | {"film"}


def test_documents_and_examples_come_in_the_order_of_their_names(make: Make) -> None:
    root = make(
        {
            "scenarios/film/documents/b.md": "# B",
            "scenarios/film/documents/a.html": "<p>A</p>",
            "scenarios/film/documents/.DS_Store": b"\xff",
            "scenarios/film/documents/c.pdf": b"%PDF-1.7 \xff",
            "scenarios/film/documents/c.txt": "C",
            "scenarios/film/examples/1.json": '{"title": "A film"}',
            "scenarios/film/reference.json": '{"title": "A film"}',
            "scenarios/film/scenario.yaml": "prompt: Tell.\nentity: A film\nreference: {verified: true, author: me}\n",
        }
    )
    scenario = load_workspace(root).scenarios[0]
    assert [(document.name, document.text) for document in scenario.documents] == [
        ("a.html", "A"),
        ("b.md", "# B"),
        ("c.txt", "C"),
    ]
    assert scenario.examples == ({"title": "A film"},)
    assert (scenario.reference_is_verified, scenario.reference_author) == (True, "me")
    assert (scenario.context.task, scenario.context.entity) == ("Tell.", "A film")


@pytest.mark.parametrize("kind", ["example_generation", "schema_generation", "artifact"])
def test_the_other_types_load_and_say_that_they_are_not_scored(make: Make, kind: str) -> None:
    root = make({"scenarios/page/scenario.yaml": f"type: {kind}\n"})
    workspace = load_workspace(root)
    assert [(scenario.scenario_id, scenario.is_scorable) for scenario in workspace.scenarios] == [
        ("film", True),
        ("page", False),
    ]


A_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcde", "bcdef", strict=True)
)

WRONG_ORGANISATIONS = [
    ("strictnes: normal", ":1: unknown key strictnes. Did you mean 'strictness'?"),
    ("\n\nstrictness: harsh", ":3: strictness must be 'lenient', 'normal' or 'strict' or a number, found 'harsh'"),
    ("strictness: 2", "at most 1, found 2"),
    ("threshold: .nan", "threshold must be a number, found '.nan'"),
    ("embedding: lokal", "embedding must be 'local' or a mapping (`key: value` lines), found 'lokal'"),
    ("embedding: {base_url: 'https://a/v1'}", ":1: the key embedding.model is missing"),
    ("embedding: {base_url: 'https://a/v1', modle: m, model: n}", "unknown key embedding.modle. Did you mean 'model'?"),
    ("judge: {base_url: 'https://a/v1'}", "judge: a judge has either `model` or `panel`"),
    ("judge: {base_url: 'https://a/v1', panel: [a]}", "judge.panel must be a list of at least 2 entries"),
    ("judge:\n  base_url: https://a/v1\n  panel: [a, {modl: b, model: c}]", ":3: unknown key judge.panel[1].modl"),
    (
        "weights:\n  enrichment: {quality: 50, speed: 10, cost: 10}",
        ":2: weights.enrichment: quality, speed and cost sum",
    ),
    ("weights:\n  enrichmnt: {}", ":2: unknown key weights.enrichmnt. Did you mean 'enrichment'?"),
    ("weights:\n  enrichment: {quality: 80, speed: 20}", "the key weights.enrichment.cost is missing"),
    ("budgets: {judge_usd: -1}", "budgets.judge_usd must be at least 0, found -1"),
    ("strictness: normal\n\tx: 1", ":2: not valid YAML"),
    ("a: 1\nb: 2\na: 3", ":3: the key 'a' stands twice, first on line 1"),
    ("- a", "the file must be a mapping"),
    ("hello", "the file must be a mapping"),
    ("a: 1\n---\nb: 1", "not valid YAML"),
    ("a: [1", "not valid YAML"),
    ("strictness: a: b", "Quote a value that holds a colon"),
    ("a: !!python/object/apply:os.system [x]", "is not read. Write plain values without `!` tags"),
    ("x: &x {a: 1}\ny: {<<: *x}", ":2: the merge key `<<` is not read"),
    ("? [a]\n: b", "a key that is a list or a mapping"),
    ("a: &a [*a]", "an alias inside itself"),
    (A_BOMB, "once aliases are written out"),
    ("a: " + "[" * 5000, "not valid YAML"),
    (b"strictness: normal\n# \xff", ":2: byte 0xff is not UTF-8. Save the file as UTF-8"),
    (b"a: \x00", "not valid YAML"),
    (b"#" + b"x" * 4_000_001, "at most 4,000,000 are read"),
]


@pytest.mark.parametrize(("content", "expected"), WRONG_ORGANISATIONS)
def test_what_is_wrong_with_the_organisations_file_is_named(make: Make, content: str | bytes, expected: str) -> None:
    message = message_for(make({"assay.yaml": content}))
    assert expected in message
    assert "assay.yaml" in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("type: enrichmnt", "Did you mean 'enrichment'?"),
        ("repetitions: 0", "repetitions must be at least 1, found 0"),
        ("repetitions: true", "repetitions must be a whole number, found true"),
        ("title: 1984", "title must be a text, found 1984. Put it in quotes"),
        ("scoring: {accepted: {title: [1]}}", "'title' is no JSON Pointer"),
        ("scoring: {accepted: {/title: x}}", "scoring.accepted./title must be a list, found 'x'"),
        ("scoring: {threshold: 0.8, undecided_from: 0.9}", "scoring: undecided_from lies above threshold"),
        ("reference: {verifed: true}", "unknown key reference.verifed. Did you mean 'verified'?"),
        ('id: "a\\nb"', "an id holds no control characters"),
        ("id: ' a'", "no white space around it"),
        (f"id: {'x' * 201}", "at most 200 characters, this one has 201"),
        (f"id: {'字' * 100}", "takes 900 characters as a file name"),
        ("weights: {quality: 100, speed: 0, cost: 0, looks: 0}", "unknown key weights.looks"),
    ],
)
def test_what_is_wrong_with_a_scenario_is_named(make: Make, content: str, expected: str) -> None:
    message = message_for(make({"scenarios/film/scenario.yaml": content}))
    assert expected in message
    assert "scenarios/film/scenario.yaml" in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a: 1", "models.yaml:1: must be a list of models"),
        ("- {id: a}\n- {id: a}", "models.yaml:2: the model 'a' stands twice, first at models.yaml:1"),
        ("- name: b", "models.yaml:1: the key entry 1: id is missing"),
        ("- id: a\n  prise: 3", "models.yaml:2: unknown key entry 1: prise"),
        ("- {id: a, input_usd_per_million: -1}", "entry 1: input_usd_per_million must be at least 0, found -1"),
        ("- {id: a, base_url: host}", "entry 1: base_url must be a base URL like https://host/v1"),
        ("- 5", "entry 1 must be a mapping"),
    ],
)
def test_what_is_wrong_with_the_models_is_named(make: Make, content: str, expected: str) -> None:
    assert expected in message_for(make({"models.yaml": content}))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("schema.json", '{"type": "objet"}', "scenarios/film/schema.json, /type"),
        ("schema.json", '{"type":', "scenarios/film/schema.json:1: not valid JSON"),
        ("schema.json", "[1]", "scenarios/film/schema.json"),
        ("schema.json", '{"properties": {"a": {"x-assay": {"kid": 1}}}}', "Did you mean 'kind'?"),
        ("reference.json", '{"a": 1,\n}', "scenarios/film/reference.json:2: not valid JSON"),
        ("reference.json", '{"a": 1, "a": 2}', "the key 'a' stands twice in one object"),
        ("reference.json", '{"a": NaN}', "NaN is not JSON"),
        ("reference.json", '{"a": 1e999}', "the number 1e999 is out of range"),
        ("reference.json", '{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ("reference.json", "[" * 100_000, "the JSON is nested too deep"),
        ("reference.json", "", "not valid JSON"),
        ("reference.json", b"\xff", "byte 0xff is not UTF-8"),
        ("examples/a.txt", "x", "scenarios/film/examples/a.txt: not a .json file"),
        ("examples/a.json", "{", "scenarios/film/examples/a.json:1: not valid JSON"),
        ("documents/a.pdf", b"%PDF", "scenarios/film/documents/a.pdf: not a readable PDF"),
        ("documents/a.docx", b"PK", "a document of kind .docx cannot be read"),
        ("documents/a.txt", b"caf\xe9", "scenarios/film/documents/a.txt:1: byte 0xe9 is not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_scenarios_other_files_is_named(
    make: Make, name: str, content: str | bytes, expected: str
) -> None:
    assert expected in message_for(make({f"scenarios/film/{name}": content}))


def test_everything_that_is_wrong_is_told_at_once_and_within_bounds(make: Make) -> None:
    models = "".join(f"- {{id: m{number}, wrong: 1}}\n" for number in range(30))
    message = message_for(make({"assay.yaml": "x: 1", "models.yaml": models, "scenarios/film/schema.json": "{"}))
    assert "32 problems" in message
    assert "assay.yaml:1" in message
    assert "... and 12 more" in message


def test_a_key_written_into_a_file_is_never_shown(make: Make) -> None:
    secret = "sk-0123456789abcdef"
    for line in (
        f"judge: {{base_url: 'https://a/v1', model: m, api_key: {secret}}}",
        f"judge: {{base_url: 'https://a/v1', model: m, api_key_env: {secret}}}",
        f"judge: {{base_url: 'https://user:{secret}@a/v1', model: m}}",
    ):
        assert secret not in message_for(make({"assay.yaml": line}))


def test_a_file_that_leads_out_of_the_workspace_is_refused(make: Make, tmp_path: Path) -> None:
    root = make()
    (tmp_path / "secret.json").write_text("{}")
    (root / "scenarios/film/reference.json").symlink_to(tmp_path / "secret.json")
    assert "reference.json: leads out of the workspace" in message_for(root)


@pytest.mark.parametrize("name", ["schema.json", "scenario.yaml", "documents", "examples"])
def test_a_link_out_of_the_workspace_is_refused_wherever_it_stands(make: Make, tmp_path: Path, name: str) -> None:
    root = make()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.json").write_text("{}")
    target = outside if "." not in name else outside / "a.json"
    (root / "scenarios/film" / name).unlink(missing_ok=True)
    (root / "scenarios/film" / name).symlink_to(target)
    assert "leads out of the workspace" in message_for(root)


def test_a_folder_without_its_scenario_file_is_named(make: Make) -> None:
    root = make()
    (root / "scenarios/empty").mkdir()
    assert "scenarios/empty: the folder has no scenario.yaml" in message_for(root)


def test_an_enrichment_without_a_schema_is_refused(make: Make) -> None:
    root = make()
    (root / "scenarios/film/schema.json").unlink()
    assert "scenarios/film: the scenario has no schema.json" in message_for(root)


def test_two_folders_cannot_have_one_id(make: Make) -> None:
    root = make({"scenarios/other/scenario.yaml": "id: film", "scenarios/other/schema.json": "{}"})
    assert "the id 'film' is taken by scenarios/film" in message_for(root)


def test_yaml_reads_as_it_looks(make: Make) -> None:
    text = "scoring:\n  accepted:\n    /a: [007, 1972-03-14, no, 1:30, 12e3, '5', 5, 1.5, ~, true, '']\n"
    scenario = load_workspace(make({"scenarios/film/scenario.yaml": text})).scenarios[0]
    assert scenario.scoring.accepted["/a"] == (
        *("007", "1972-03-14", "no", "1:30", 12000.0, "5", 5, 1.5, None, True, ""),
    )


def test_a_byte_order_mark_is_no_part_of_a_file(make: Make) -> None:
    root = make({"assay.yaml": b"\xef\xbb\xbfstrictness: strict", "scenarios/film/schema.json": b"\xef\xbb\xbf{}"})
    assert load_workspace(root).scenarios[0].scoring.strictness.value == "strict"


def test_the_workspace_is_the_nearest_folder_above(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make()
    monkeypatch.delenv("ASSAY_WORKSPACE", raising=False)
    monkeypatch.chdir(root / "scenarios/film")
    assert find_workspace() == root
    monkeypatch.chdir(root.parent)
    with pytest.raises(InputError, match="assay init"):
        find_workspace()
    monkeypatch.setenv("ASSAY_WORKSPACE", str(root))
    assert find_workspace() == root
    with pytest.raises(InputError, match="assay init"):
        find_workspace(root.parent)


def test_a_new_workspace_loads_and_is_never_written_over(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "new"
    written = init_workspace(target)
    assert [path.relative_to(target).as_posix() for path in written] == list(FILES)
    assert [path.name for path in target.parent.iterdir()] == ["new"]
    workspace: Workspace = load_workspace(target)
    assert workspace.scenarios[0].reference_is_verified
    with pytest.raises(InputError, match="not empty"):
        init_workspace(target)
    with pytest.raises(InputError, match="is a file"):
        init_workspace(target / "assay.yaml")


def test_an_unknown_id_is_answered_with_the_nearest_ones(make: Make) -> None:
    workspace = load_workspace(make({"models.yaml": "- id: vendor/large\n- id: vendor/small\n"}))
    with pytest.raises(InputError, match="Nearest known: film"):
        workspace.scenario("flim")
    with pytest.raises(InputError, match=r"vendor/large.*models\.yaml"):
        workspace.model("vendor/larg")
    assert workspace.scenario("film").scenario_id == "film"
    assert workspace.model("vendor/small").model_id == "vendor/small"


def test_a_reference_that_breaks_its_schema_loads_and_says_so(make: Make) -> None:
    schema = '{"type": "object", "properties": {"year": {"type": "integer"}}}'
    files = {"scenarios/film/schema.json": schema, "scenarios/film/reference.json": '{"year": "1942"}'}
    problems = load_workspace(make(dict(files))).scenarios[0].reference_problems()
    assert len(problems) == 1
    assert "/year" in problems[0]
