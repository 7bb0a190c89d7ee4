"""Holds that no secret is ever written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import BaseModel, RootModel, SecretBytes, SecretStr
from pydantic import Secret as PydanticSecret
from tests.state.codec_values import Account, Anything, Login

from flowcore.state import Codec, Secret, redacted_fields

HIDDEN = "[secret not kept]"
CODEC = Codec()


class Key(NamedTuple):
    name: str
    secret: Annotated[str, Secret]


class Word(RootModel[Annotated[str, Secret]]):
    pass


class OpenAccount(Account, extra="allow"):
    pass


class State(BaseModel):
    user: str = ""
    token: Annotated[str, Secret] = ""


class Other(BaseModel):
    token: str = ""


def written(value: Any) -> tuple[str, Any]:
    text = CODEC.encode(value, "state")
    assert "hunter2" not in text
    return text, CODEC.decode(text, "state")


def test_marked_fields_of_a_model_are_not_kept() -> None:
    account = Account(user="ann", token="hunter2", spare=b"hunter2", key=SecretStr("hunter2"))
    account._hidden = "hunter2"
    text, found = written([account])
    assert '"token":{"$secret":"str"}' in text
    assert found[0].user == "ann"
    assert (found[0].token, found[0].spare, found[0]._hidden) == (HIDDEN, HIDDEN.encode(), HIDDEN)
    assert type(found[0].key) is SecretStr
    assert found[0].key.get_secret_value() == HIDDEN
    assert CODEC.encode(found, "state") == text


def test_marked_fields_of_a_dataclass_a_named_tuple_and_a_root_model_are_not_kept() -> None:
    _, login = written(Login("ann", "hunter2", 1234, ["hunter2"]))
    assert login == Login("ann", HIDDEN, None, None)  # type: ignore[arg-type]
    assert "1234" not in CODEC.encode(Login("ann", "", 1234), "state")
    assert written(Key("a", "hunter2"))[1] == Key("a", HIDDEN)
    assert written(Word("hunter2"))[1].root == HIDDEN


def test_a_secret_that_is_not_there_stays_so() -> None:
    assert written(Login("ann", "x"))[1].pin is None


@pytest.mark.parametrize(
    ("value", "back"),
    [
        (SecretStr("hunter2"), SecretStr(HIDDEN)),
        (SecretBytes(b"hunter2"), SecretBytes(HIDDEN.encode())),
        (PydanticSecret[str]("hunter2"), None),
        (type("Mine", (SecretStr,), {})("hunter2"), None),
    ],
    ids=repr,
)
def test_secrets_of_pydantic_are_not_kept_wherever_they_stand(value: Any, back: Any) -> None:
    for whole in ([value], {"a": (value,)}, Anything(value={1: value})):
        written(whole)
    assert written([value])[1] == [back]
    text = CODEC.encode_fields({"x": value, "y": 1}, "state")
    assert "hunter2" not in text
    assert CODEC.fold(text, [text]) == {"x": back, "y": 1}


def test_a_patch_keeps_no_secret_of_its_type() -> None:
    values = {"user": "ann", "token": "hunter2"}
    for _ in range(2):  # the second time on the short way
        text = CODEC.encode_fields(values, "state", of=State)
        assert text == '{"user":"ann","token":{"$secret":"str"}}'
    assert CODEC.decode_fields(text, "state") == {"user": "ann", "token": HIDDEN}
    assert CODEC.encode_fields({"token": "open"}, "state", of=Other) == '{"token":"open"}'


def test_without_a_type_a_name_that_is_secret_in_any_hint_is_not_kept() -> None:
    codec = Codec(State, Other)
    assert codec.encode_fields({"token": "hunter2"}, "state") == '{"token":{"$secret":"str"}}'
    assert codec.encode_fields({"token": "open"}, "state", of=Other) == '{"token":"open"}'


def test_the_mark_is_found_wherever_it_stands_in_an_annotation() -> None:
    Plain = Annotated[str, "words"]

    @dataclass
    class Many:
        bare: Annotated[str, Secret]
        made: Annotated[str, Secret()]
        maybe: Annotated[str, Secret] | None
        outside: Annotated[str | None, Secret]
        several: dict[str, tuple[Annotated[bytes, Secret], ...]]
        plain: Plain
        number: int = field(default=0)

    Many.__annotations__["plain"] = Plain
    assert redacted_fields(Many) == {"bare", "made", "maybe", "outside", "several"}
    assert redacted_fields(Account) == {"token", "spare", "_hidden"}
    assert redacted_fields(Login) == {"password", "pin", "keys"}
    assert redacted_fields(Other) == frozenset()


def test_a_mark_in_an_annotation_that_cannot_be_read_counts() -> None:
    @dataclass
    class Unread:
        token: Annotated[Missing, Secret]  # type: ignore[name-defined]  # noqa: F821
        santa: SecretSanta  # type: ignore[name-defined]  # noqa: F821
        name: str

    assert redacted_fields(Unread) == {"token"}


def test_what_stands_beside_the_fields_under_a_secret_name_is_not_kept() -> None:
    made = OpenAccount(user="a", token="hunter2", more=1)
    assert written(made)[1].__pydantic_extra__ == {"more": 1}
