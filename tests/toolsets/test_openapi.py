"""OpenAPI operations: against a real API with the document it makes of itself, and documents that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers.faulty import Talk, faulty
from tests.servers.katan import Katan
from tests.servers.process import Served, free_port
from tests.toolsets.bench import bench

from flowcore import ContractError
from flowcore.errors import ToolError
from flowcore.messages import ToolCall
from flowcore.toolsets import HTTPReply, OpenAPIToolset
from flowcore.toolsets.openapi_reply import read_reply

KEY = "key-0123456789abcdef"


def document(served: Served) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"http://127.0.0.1:{served.port}/openapi.json", trust_env=False).json()
    return found


def items(served: Served, **options: Any) -> OpenAPIToolset:
    options = {"headers": {"X-API-Key": KEY}, **options}
    return OpenAPIToolset("items", document(served), base_url=f"http://127.0.0.1:{served.port}", **options)


def spec(**operation: Any) -> dict[str, Any]:
    """Returns a document with one operation, `GET /x`."""
    paths = {"/x": {"get": {"operationId": "x", **operation}}}
    return {"openapi": "3.1.0", "servers": [{"url": "http://127.0.0.1:1"}], "paths": paths}


@pytest.mark.behaviour("TOOL-10")
async def test_operations_are_tools_and_their_arguments_reach_the_api(items_api: Served) -> None:
    async with bench(items(items_api)) as at:
        tree = {"name": "x", "children": [{"name": "y", "children": []}]}
        put = await at.call("put_item", item_id="a ü,%2e", body={"name": "n", "price": 2, "tree": tree})
        assert (put.status, put.text) == ("ok", '201 Created\n{"saw":"***"}')
        assert put.value.value == HTTPReply(201, "application/json", {"saw": "***"})
        got = await at.call("get_item", item_id="a ü,%2e", tag=["1", "ü&="], **{"x-trace": "t"})
        body = {"item": {"name": "n", "price": 2.0, "tree": tree}, "tags": ["1", "ü&="], "trace": "t"}
        assert (got.status, got.value.value.body) == ("ok", body)
        assert await at.said("fill_form", body={"name": "ü"}) == ("ok", '200 OK\n{"name":"ü","number":3}')
        assert await at.said("delete_item", item_id="a ü,%2e") == ("ok", "204 No Content")


@pytest.mark.behaviour("TOOL-10")
async def test_keys_are_no_arguments_and_effects_follow_the_method(items_api: Served) -> None:
    toolset = items(items_api, read_only=["post_gateway"], timeouts={"get_item": 5.0}, prefix="shop_")
    async with bench(toolset) as at:
        assert list(at.tools["shop_put_item"].parameters["properties"]) == ["item_id", "body"]
        effects = {name.removeprefix("shop_") for name, each in at.tools.items() if each.effects}
        assert effects == {"put_item", "delete_item", "fill_form", "post_slow"}
        assert (at.tools["shop_get_item"].timeout, at.tools["shop_put_item"].timeout) == (5.0, None)
    assert KEY not in f"{toolset!r}"


@pytest.mark.behaviour("TOOL-10", "S2-34")
async def test_arguments_that_do_not_fit_send_nothing(items_api: Served) -> None:
    async with bench(items(items_api)) as at:
        for arguments, said in (
            (
                {"item_id": "z", "body": {"name": 3}},
                "body: 'price' is a required property; body.name: 3 is not of type",
            ),
            ({"item_id": "..", "body": {"name": "n", "price": 1}}, "item_id: '..' leads to another path"),
            ({"item_id": "", "body": {"name": "n", "price": 1}}, "item_id: '' leads to another path"),
            ({"item_id": "z"}, "'body' is a required property"),
            ({"item_id": "z", "body": {"name": "n", "price": 1}, "X-API-Key": "x"}, "'X-API-Key' was unexpected"),
        ):
            status, text = await at.said("put_item", **arguments)
            assert (status, said in text) == ("invalid_arguments", True), text
        status, text = await at.said("get_item", item_id="z", **{"x-trace": "a\r\nb: c"})
        assert (status, "no header can carry" in text) == ("invalid_arguments", True)


@pytest.mark.behaviour("TOOL-10")
async def test_what_an_api_refuses_is_told_with_its_status(items_api: Served) -> None:
    base = f"http://127.0.0.1:{items_api.port}"
    async with bench(items(items_api, headers={"X-API-Key": "key-of-another"}), timeout=1.0) as at:
        missing = f'It failed: GET {base}/items/{{item_id}} answered 404 Not Found: {{"detail":"no item q"}}'
        assert await at.said("get_item", item_id="q") == ("failed", missing)
        wants = f"It failed: PUT {base}/items/{{item_id}} wants a sign-in: it answered 401"
        assert await at.said("put_item", item_id="q", body={"name": "n", "price": 1}) == ("failed", wants)
        moved = "it leads to http://127.0.0.1:1/elsewhere, which was not followed"
        assert (await at.said("get_moved"))[1].endswith(f"answered 307: {moved}")
        assert (await at.said("get_gateway"))[0] == "failed"
        assert (await at.said("post_gateway"))[0] == "unknown"
        assert (await at.said("post_slow"))[0] == "unknown"
        picture = await at.call("get_picture")
        assert [(one.media_type, one.data) for one in picture.attachments] == [
            ("image/png", b"\x89PNG not really")
        ]
        large = await at.call("get_large")
        assert (large.status, len(large.text) < 20_100) == ("ok", True)
        assert large.value.text.endswith("[it has more than 10,000,000 bytes, and was not read to its end]")


@pytest.mark.behaviour("TOOL-10")
async def test_a_server_of_somebody_else_by_the_document_it_serves(katan: Katan) -> None:
    served = katan()
    toolset = OpenAPIToolset("katan", document(served), base_url=f"http://127.0.0.1:{served.port}")
    async with bench(toolset) as at:
        health = next(name for name in at.tools if "health" in name)
        result = await at.call(health)
        assert (result.status, result.value.value.status) == ("ok", 200)


async def test_a_connection_that_breaks_is_a_failure_or_unknown() -> None:
    def leave(talk: Talk) -> None:
        talk.connection.close()

    closed = free_port()
    paths = {"/x": {"get": {"operationId": "look"}, "post": {"operationId": "write"}}}
    for port, statuses in ((closed, ("failed", "failed")), (None, ("failed", "unknown"))):
        with faulty(leave) as server:
            where = f"http://127.0.0.1:{port or server.port}"
            async with bench(OpenAPIToolset("x", {"openapi": "3.0.3", "paths": paths}, base_url=where)) as at:
                looked, wrote = await at.said("look"), await at.said("write")
            assert (looked[0], wrote[0]) == statuses
            assert f"GET {where}/x " in looked[1]
            server.failures.clear()


def test_a_document_is_data_text_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(json.dumps(spec()))
    for given in (spec(), json.dumps(spec()), tmp_path / "api.json", str(tmp_path / "api.json")):
        assert repr(OpenAPIToolset("x", given)) == "OpenAPIToolset('x', 'http://127.0.0.1:1', operations=1)"


def parameter(**more: Any) -> list[dict[str, Any]]:
    return [{"name": "p", "in": "query", "schema": {"type": "string"}, **more}]


LOOP = {"components": {"parameters": {"a": {"$ref": "#/components/parameters/a"}}}}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("swagger: 2.0", "cannot be read"),
        ("{", "it is no JSON"),
        ({"swagger": "2.0"}, "it says openapi=None, and 3.0 or 3.1 is read"),
        ({"openapi": "3.1.0"}, "it has no paths"),
        ({"openapi": "3.1.0", "paths": {}}, "base_url: the document does not say where the API is"),
        (spec(parameters=[{"$ref": "https://elsewhere/x"}]), "leads outside of it"),
        (spec(parameters=[{"$ref": "#/nowhere"}]), "'#/nowhere' leads nowhere"),
        ({**spec(parameters=[{"$ref": "#/components/parameters/a"}]), **LOOP}, "leads back to itself"),
        (spec(parameters=7), "it is no OpenAPI document: TypeError"),
        (spec(parameters=parameter(schema={"type": "nonsense"})), "is no JSON Schema"),
        (
            {**spec(), "paths": {"/a": {"get": {"operationId": "x"}}, "/b": {"get": {"operationId": "x"}}}},
            "have one id: x",
        ),
    ],
)
def test_a_document_that_cannot_be_used_is_one_error(document: Any, said: str) -> None:
    with pytest.raises((ContractError, ToolError)) as refused:
        OpenAPIToolset("x", document)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_settings_that_make_no_sense_are_refused_at_once() -> None:
    with pytest.raises(ToolError, match="has no 'y': there are x"):
        OpenAPIToolset("x", spec(), operations=["y"])
    with pytest.raises(ContractError, match="put what is secret into headers"):
        OpenAPIToolset("x", spec(), base_url="http://me:pass@host")
    with pytest.raises(ContractError, match="timeout=0: give seconds above zero"):
        OpenAPIToolset("x", spec(), timeout=0)


STYLES = [
    ({"style": "form", "explode": True}, ["a", "b"], "p=a&p=b"),
    ({"style": "form", "explode": False}, ["a", "b"], "p=a%2Cb"),
    ({"style": "pipeDelimited", "explode": False}, ["a", "b"], "p=a%7Cb"),
    ({"style": "spaceDelimited", "explode": False}, ["a", "b"], "p=a+b"),
    ({"style": "deepObject", "explode": True}, {"x": 1, "y": True}, "p%5Bx%5D=1&p%5By%5D=true"),
    ({"style": "form", "explode": True}, {"x": 1}, "x=1"),
    ({}, "a&b=c", "p=a%26b%3Dc"),
    ({}, None, ""),
]


@pytest.mark.parametrize(("style", "value", "query"), STYLES)
async def test_parameters_are_written_in_the_style_that_the_document_says(
    style: dict[str, Any], value: Any, query: str
) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, text="yes")

    document = spec(parameters=parameter(schema={}, **style))
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        async with bench(OpenAPIToolset("x", document, client=client)) as at:
            assert await at.said("x", p=value) == ("ok", "200 OK\nyes")
        assert not client.is_closed
    assert asked[0].url.query.decode() == query


@pytest.mark.behaviour("S0-15")
async def test_a_call_of_an_operation_that_is_not_there_or_not_allowed_reaches_nothing() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200)

    document = spec()
    document["paths"]["/y"] = {"post": {"operationId": "y"}}
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        async with bench(OpenAPIToolset("api", document, client=client, operations=["x"])) as at:
            for name in ("y", "z", "x/../y", "post /y"):
                assert (await at.said(name))[0] == "unknown_tool"
            calls = [ToolCall("1", "x", "{}")]
            (denied,) = await at.executor.run(calls, allowed=[])
            assert denied.status == "denied"
            assert asked == []
            assert (await at.said("x"))[0] == "ok"
    assert [request.url.path for request in asked] == ["/x"]


async def test_schemas_of_openapi_3_0_become_json_schema() -> None:
    schema = {"type": "integer", "nullable": True, "minimum": 1, "exclusiveMinimum": True}
    async with bench(OpenAPIToolset("x", spec(parameters=parameter(schema=schema)))) as at:
        told = at.tools["x"].parameters["properties"]["p"]
    assert told == {"type": ["integer", "null"], "exclusiveMinimum": 1}


class Endless(httpx.AsyncByteStream):
    """A body without an end, which is always there at once."""

    def __aiter__(self) -> Endless:
        return self

    async def __anext__(self) -> bytes:
        return b"x" * 100_000


# httpx's own generators around a body of a test's cannot be brought to an end from outside: trio warns of them.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_body_without_an_end_is_cut_and_let_go() -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=Endless()))
    async with (
        httpx.AsyncClient(transport=transport) as client,
        client.stream("GET", "http://api.example/") as answer,
    ):
        body, cut = await read_reply(answer)
    assert (len(body), cut) == (10_000_000, True)
