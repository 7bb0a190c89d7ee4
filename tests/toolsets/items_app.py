"""The API of items: FastAPI writes its document, uvicorn serves it."""

import time
from typing import Annotated

from fastapi import FastAPI, Form, Header, HTTPException, Query, Response, Security
from fastapi.security import APIKeyHeader
from pydantic import BaseModel

app = FastAPI()
key = APIKeyHeader(name="X-API-Key")
KEY = "key-0123456789abcdef"


class Node(BaseModel):
    name: str
    children: list["Node"] = []


class Item(BaseModel):
    name: str
    price: float
    tree: Node | None = None


items: dict[str, Item] = {}


@app.get("/items/{item_id}", operation_id="get_item")
def get_item(
    item_id: str,
    tag: Annotated[list[str], Query(default_factory=list)],
    x_trace: Annotated[str | None, Header()] = None,
) -> dict[str, object]:
    """Get an item."""
    if item_id not in items:
        raise HTTPException(404, f"no item {item_id}")
    return {"item": items[item_id], "tags": tag, "trace": x_trace}


@app.put("/items/{item_id}", operation_id="put_item", status_code=201)
def put_item(item_id: str, item: Item, given: str = Security(key)) -> dict[str, str]:
    if given != KEY:
        raise HTTPException(401, "who are you?")
    items[item_id] = item
    return {"saw": given}


@app.delete("/items/{item_id}", operation_id="delete_item", status_code=204)
def delete_item(item_id: str) -> None:
    items.pop(item_id, None)


@app.post("/form", operation_id="fill_form")
def fill_form(name: Annotated[str, Form()], number: Annotated[int, Form()] = 3) -> dict[str, object]:
    return {"name": name, "number": number}


@app.get("/moved", operation_id="get_moved")
def get_moved() -> Response:
    return Response(status_code=307, headers={"Location": "http://127.0.0.1:1/elsewhere?secret=1"})


@app.get("/picture", operation_id="get_picture")
def get_picture() -> Response:
    return Response(b"\x89PNG not really", media_type="image/png")


@app.get("/large", operation_id="get_large")
def get_large() -> Response:
    return Response(b"x" * 12_000_000, media_type="text/plain")


@app.get("/gateway", operation_id="get_gateway")
@app.post("/gateway", operation_id="post_gateway")
def gateway() -> Response:
    return Response(status_code=504)


@app.post("/slow", operation_id="post_slow")
def slow() -> None:
    time.sleep(2)
