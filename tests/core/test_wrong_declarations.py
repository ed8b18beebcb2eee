"""Wrong declarations of models: the reason for which a plugin is left out names the model, the column, what is expected,
or the line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from netinv_core.main import registry_for
from netinv_core.models.base import Base
from netinv_core.packages import FILE_PREFIX

pytestmark = pytest.mark.any_database
CODE = """
import datetime
import decimal
import enum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column
from netinv_core import (
    App, CASCADE, Choices, Name, Primary, Ref, Resource, SET_NULL, Slug, choice, decimal_number, foreign_key, hookimpl,
    integer, many_to_many, natural_sort_key, slug, text, to_many,
)
from netinv_dcim.sites import Site

HERE = __name__.removeprefix("netinv_plugin_")
Color = enum.Enum("Color", "RED")

class Thing(Primary):
    __tablename__ = f"{{HERE}}_thing"
    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    {column}

things = Resource(Thing, {resource})
{more}

@hookimpl
def netinv_app():
    return App(HERE, "Thing", [things], plugin=True)
"""
COLUMNS = {
    "site_id: Mapped[Ref] = foreign_key(Site, on_delete='casade')": (
        "Thing.site_id: on_delete is 'casade'; expected PROTECT, CASCADE, SET_NULL"
    ),
    "site_id: Mapped[Ref] = foreign_key(Site, on_delete=SET_NULL)": (
        "Thing.site_id: on_delete is SET_NULL, and the column takes no null; expected Mapped[Ref | None]"
    ),
    "site_id: Mapped[Ref] = foreign_key('dcim.sitte', on_delete=CASCADE)": (
        ".thing.site_id refers to dcim.sitte, which is not a model"
    ),
    "site_id: Mapped[Ref] = foreign_key(7, on_delete=CASCADE)": (
        "a foreign key refers to 7; expected a model, SELF, or the label of one, 'app.model' (wrong3.py, line 21)"
    ),
    "site_id: Mapped[Ref] = foreign_key(Site)": "'on_delete' (wrong4.py, line 21)",
    "state: Mapped[str] = choice(['a'])": "Thing.state: choices is ['a']; expected Choices.of(…)",
    "state: Mapped[str] = choice(Choices.of(a='A'), default='z')": "Thing.state: default is 'z'; expected one of 'a'",
    "note: Mapped[str] = text('50')": "Thing.note: length is '50'; expected a whole number above 0",
    "note: Mapped[str] = text(50, hepl='x')": "a column has no option 'hepl'; did you mean help? (wrong8.py, line 21)",
    "size: Mapped[int] = integer(9, 1)": "Thing.size: minimum is 9; expected at most the maximum, 1",
    "size: Mapped[int] = integer(0, '9')": "Thing.size: maximum is '9'; expected a number",
    "size: Mapped[int] = integer(default='x')": "Thing.size: default is 'x'; expected a value of the type int",
    "share: Mapped[float] = decimal_number(2, 5)": "Thing.share: places is 5; expected at most the 2 digits",
    "other: Mapped[str] = slug(of='nmae')": "Thing.other: slug is made of 'nmae', which is no column; expected one of",
    "key: Mapped[str] = natural_sort_key('nmae')": "Thing.key: natural_sort_key is made of 'nmae'",
    "blob: Mapped[bytes]": "Thing.blob: its type is LargeBinary(), which has no form in JSON; expected one of Decimal",
    "span: Mapped[datetime.timedelta | None]": "Thing.span: its type is Interval(), which has no form in JSON",
    "at: Mapped[datetime.time]": "Thing.at: its type is Time(), which has no form in JSON",
    "color: Mapped[Color]": "Thing.color: its type is Enum('RED', name='color'), which has no form in JSON",
    "what: Mapped[object] = mapped_column(sa.PickleType)": "Thing.what: its type is PickleType(), which has no form",
    "sum: Mapped[decimal.Decimal]": "Thing.sum: its type is Numeric(); expected decimal_number(digits, places)",
    "site_id: Mapped[Ref | None] = mapped_column(sa.ForeignKey('dcim_site.id'))": (
        "Thing.site_id: it refers to dcim_site.id by ForeignKey(…), which deletions do not follow; expected foreign_key"
    ),
    "other: Mapped[int] = mapped_column(primary_key=True)": "Thing: its primary key is id, other; expected the column",
    "id: Mapped[Ref] = mapped_column(primary_key=True)": "Thing: its column id has no default; expected that of Prima",
}
RESOURCES = {
    "'Bad Path'": "Thing: the path of its resource is 'Bad Path'; expected small letters, digits and hyphens",
    "'things', fields=[to_many('sites', None, 'dcim.site')]": "the table of the field 'sites' is None; expected that of",
}
MORE = {
    "owners = many_to_many('x_y', f'{HERE}_thing', 'dcim_sitte')": "many_to_many('x_y'): there is no table 'dcim_sitte'",
    "things = Resource('dcim.site', 'things')": "'things' is 'dcim.site'; expected a class derived from Primary or Base",
    "@things.rule\ndef check(drafts): pass": "Thing: the rule check takes (drafts); expected (uow, drafts)",
}
WRONG = [
    *((CODE.format(column=code, resource="'things'", more=""), reason) for code, reason in COLUMNS.items()),
    *((CODE.format(column="pass", resource=code, more=""), reason) for code, reason in RESOURCES.items()),
    *((CODE.format(column="pass", resource="'things'", more=code), reason) for code, reason in MORE.items()),
    (
        CODE.format(column="__tablename__ = 'things'", resource="'things'", more="").replace(
            "plugin=True", "plugin=True, migrations='netinv_core:migrations'"
        ),
        "Thing: __tablename__ is 'things'; expected a name that begins with 'wrong",
    ),
]


@pytest.fixture(scope="module")
def reasons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The reasons for which plugins are left out, by name; their modules and tables are forgotten afterwards."""
    folder = tmp_path_factory.mktemp("plugins")
    for number, (code, _) in enumerate(WRONG):
        (folder / f"wrong{number}.py").write_text(code)
    tables = set(Base.metadata.tables)
    yield {failed.name: failed.reason for failed in registry_for("sqlite", {"plugins_dir": str(folder)}).broken}
    for name in [name for name in sys.modules if name.startswith(f"{FILE_PREFIX}wrong")]:
        del sys.modules[name]
    for name in set(Base.metadata.tables) - tables:
        Base.metadata.remove(Base.metadata.tables[name])


@pytest.mark.parametrize("number", range(len(WRONG)), ids=[reason for _, reason in WRONG])
def test_the_reason_says_where_a_declaration_is_wrong_and_what_is_expected(
    reasons: dict[str, str], number: int
) -> None:
    assert WRONG[number][1] in reasons.get(f"wrong{number}", "it is served")
