"""Requests that no client should send: broken HTTP, broken JSON, fields of every wrong type."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rehearsal.vllm.server import SERVED_NAME
from rehearsal.vllm.wire import Question

COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"

_GET = b"GET /health HTTP/1.1\r\nHost: x\r\n"
_POST = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
_PREFLIGHT = (
    b"OPTIONS /v1/completions HTTP/1.1\r\nHost: x\r\nOrigin: http://example.invalid\r\n"
    b"Access-Control-Request-Method: POST\r\n"
)
_STREAM = b'{"prompt":[1000],"max_tokens":2,"ignore_eos":true,"stream":true}'
_NINES = "9" * 30

RAW: Mapping[str, bytes] = {
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no request": b"GARBAGE\r\n\r\n",
    "HTTP of another century": b"GET /health HTTP/9.9\r\nHost: x\r\n\r\n",
    "HTTP 1.0": b"GET /health HTTP/1.0\r\n\r\n",
    "header without a colon": _GET + b"X y\r\n\r\n",
    "long header": _GET + b"X: " + b"a" * 30_000 + b"\r\n\r\n",
    "long path": b"GET /" + b"a" * 30_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "many headers": _GET + b"".join(b"X-%d: a\r\n" % number for number in range(300)) + b"\r\n",
    "length no number": _POST + b"Content-Length: abc\r\n\r\n",
    "length below 0": _POST + b"Content-Length: -1\r\n\r\n",
    "two lengths": _POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "chunk size no number": _POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "chunked": _POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "zero byte in a header": _GET + b"X: a\x00b\r\n\r\n",
    "bytes in a header": _GET + b"X: \xff\xfe\r\n\r\n",
    "method in lower case": b"get /health HTTP/1.1\r\nHost: x\r\n\r\n",
    "unknown expectation": _POST + b"Expect: moon\r\nContent-Length: 2\r\n\r\n{}",
    "expectation": _POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    "address in full": b"GET http://x/health HTTP/1.1\r\nHost: x\r\n\r\n",
    "zero byte in a path": b"GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "bytes in a path": b"GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n",
    "two slashes": b"GET //health HTTP/1.1\r\nHost: x\r\n\r\n",
    "slash at the end": b"GET /health/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "options": b"OPTIONS /v1/completions HTTP/1.1\r\nHost: x\r\n\r\n",
    "preflight": b"OPTIONS /v1/completions HTTP/1.1\r\nHost: x\r\nOrigin: http://example.invalid\r\n"
    b"Access-Control-Request-Method: POST\r\n\r\n",
    "no media type": b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
    "slash after a path of the API": b"POST /v1/completions/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
    "slashes after a path that is asked the wrong way": b"GET /v1/completions//?a=1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "preflight with headers": _PREFLIGHT + b"Access-Control-Request-Headers: x-a, x-b\r\n\r\n",
    "preflight of a private network": _PREFLIGHT + b"Access-Control-Request-Private-Network: true\r\n\r\n",
    "preflight of a strange method": b"OPTIONS /nowhere HTTP/1.1\r\nHost: x\r\nOrigin: http://example.invalid\r\n"
    b"Access-Control-Request-Method: MOON\r\n\r\n",
    "stream in HTTP 1.0": b"POST /v1/completions HTTP/1.0\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_STREAM), _STREAM),
    "broken JSON of another media type": b"POST /v1/completions HTTP/1.1\r\nHost: x\r\n"
    b"Content-Type: application/x+json\r\nContent-Length: 1\r\n\r\n{",
    "compressed": _POST + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
}  # fmt: skip
"""By name, byte for byte; each on a connection of its own, which is read until it is answered or closed."""

BODIES: Mapping[str, bytes] = {
    "body not UTF-8": b'{"prompt":"\xff\xfe"}',
    "body with a byte order mark": b'\xef\xbb\xbf{"prompt":""}',
    "body of UTF-16": '{"prompt":""}'.encode("utf-16"),
    "body as deep as a well": b'{"prompt":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "body of deep objects": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "number of 5000 digits": b'{"prompt":"a","max_tokens":' + b"9" * 5000 + b"}",
    "body null": b"null",
    "body a number": b"5",
    "body a text": b'"x"',
    "body true": b"true",
    "body of blanks": b"   ",
    "body and more": b"{} x",
    "no number: NaN": b'{"prompt":"a","max_tokens":NaN}',
    "temperature NaN": b'{"prompt":"a","temperature":NaN,"max_tokens":2}',
    "temperature infinite": b'{"prompt":"a","temperature":Infinity,"max_tokens":2}',
    "top_p NaN": b'{"prompt":"a","top_p":NaN,"max_tokens":2}',
    "max_tokens beyond floats": b'{"prompt":"a","max_tokens":1e400}',
    "half a character": b'{"prompt":"\\ud800 a","max_tokens":2,"ignore_eos":true}',
    "half a character as model": b'{"prompt":"a","model":"\\ud800"}',
    "half a character as number": b'{"prompt":"a","n":"\\ud800"}',
    "half a character as request id": b'{"prompt":"a","max_tokens":2,"ignore_eos":true,"request_id":"\\ud800"}',
    "half a character as stop": b'{"prompt":"a","max_tokens":2,"ignore_eos":true,"stop":"\\ud800"}',
}
"""By name, of completions."""

_COMPLETIONS: Mapping[str, Mapping[str, Any]] = {
    "prompt a mapping": {"prompt": {"a": 1}},
    "prompt of an empty list": {"prompt": [[]]},
    "prompts, one of them empty": {"prompt": [[1000], []]},
    "texts, one of them empty": {"prompt": ["", "one"]},
    "prompt of truth": {"prompt": [True]},
    "prompt of halves": {"prompt": [1.5]},
    "prompt of nothing": {"prompt": [None]},
    "prompt of lists of lists": {"prompt": [[[1000]]]},
    "token beyond 64 bits": {"prompt": [int(_NINES)]},
    "max_tokens true": {"max_tokens": True},
    "max_tokens a half": {"max_tokens": 1.5},
    "max_tokens in quotes": {"max_tokens": "2"},
    "max_tokens beyond 64 bits": {"max_tokens": int(_NINES)},
    "n of a billion": {"n": 10**9, "temperature": 1.0},
    "n while greedy": {"n": 2, "temperature": 0},
    "stream in words": {"stream": "yes", "max_tokens": 1},
    "stream a mapping": {"stream": {}},
    "stream options a number": {"stream": True, "stream_options": 5},
    "stream options of a text": {"stream": True, "stream_options": {"include_usage": "x"}},
    "model a number": {"model": 5},
    "model empty": {"model": "", "max_tokens": 1},
    "stop a number": {"stop": 5},
    "stop a mapping": {"stop": {}},
    "stop of nothing": {"stop": [None]},
    "minimum null": {"min_tokens": None},
    "seed a half": {"seed": 1.5},
    "ignore_eos in words": {"ignore_eos": "moon"},
    "request id a number": {"request_id": 5},
    "request id null": {"request_id": None},
    "top_k beyond 64 bits": {"top_k": int(_NINES)},
    "stop token below 0": {"stop_token_ids": [-5]},
    "stop token beyond 64 bits": {"stop_token_ids": [int(_NINES)]},
    "stop token no number": {"stop_token_ids": ["x"]},
    "suffix a number": {"suffix": 5},
    "five stops": {"stop": ["a", "b", "c", "d", "e"]},
    "user a number": {"user": 5},
    "n null": {"n": None},
    "bad word empty": {"bad_words": [""]},
    "repetition penalty below 0": {"repetition_penalty": -1},
    "side unknown": {"truncation_side": "top"},
    "bias no number": {"logit_bias": {"5": "x"}},
    "model of a path": {"model": "/home/me/model"},
    "token beyond the vocabulary, streamed": {"prompt": [1_000_000], "stream": True},
    "prompt of an empty list, streamed": {"prompt": [[]], "stream": True},
    "stop token below 0, streamed": {"stop_token_ids": [-5], "stream": True},
    "top_k beyond 64 bits, streamed": {"top_k": int(_NINES), "stream": True},
    "top_k beyond 64 bits while greedy": {"top_k": int(_NINES), "temperature": 0},
    "echo a number": {"echo": 5},
}

_CHAT: Mapping[str, Mapping[str, Any]] = {
    "messages a text": {"messages": "abc"},
    "messages a mapping": {"messages": {"a": 1}},
    "message a number": {"messages": [5]},
    "message null": {"messages": [None]},
    "role a number": {"messages": [{"role": 5, "content": "x"}]},
    "role null": {"messages": [{"role": None, "content": "x"}]},
    "content a number": {"messages": [{"role": "user", "content": 5}]},
    "content null": {"messages": [{"role": "user", "content": None}]},
    "no content": {"messages": [{"role": "user"}]},
    "part of an unknown type": {"messages": [{"role": "user", "content": [{"type": "moon"}]}]},
    "part a number": {"messages": [{"role": "user", "content": [5]}]},
    "text of a part a number": {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
    "parts without a type": {"messages": [{"role": "user", "content": ["one", "two"]}]},
    "an image": {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
}

_CALL = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
_PARTS: Mapping[str, Mapping[str, Any]] = {
    "a file": {"role": "user", "content": [{"type": "file", "file": {}}]},
    "audio": {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}]},
    "a video without a type": {"role": "nobody", "content": [{"video_url": "x"}]},
    "embeddings of an image": {"role": "nobody", "content": [{"type": "image_embeds", "image_embeds": "x"}]},
    "embeddings of a prompt": {"role": "nobody", "content": [{"type": "prompt_embeds", "data": "x"}]},
    "part of an unknown role and type": {"role": "nobody", "content": [{"type": "moon"}]},
    "part with a uuid alone": {"role": "nobody", "content": [{"uuid": "x"}]},
    "message of harmony": {"author": {"role": "user"}, "content": []},
    "tool calls a number": {"role": "assistant", "tool_calls": 5},
    "tool calls of a number": {"role": "assistant", "tool_calls": [5]},
    "tool call of another kind": {
        "role": "assistant", "tool_calls": [{"id": "x", "type": "custom", "custom": {"name": "f", "input": "x"}}]
    },
    "tool call": {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    "answer of a tool without an id": {"role": "tool", "content": "x"},
    "thoughts and a bare text": {"role": "nobody", "content": ["one", {"type": "thinking", "thinking": "two"}]},
    "half a character in a message": {"role": "user", "content": "\ud800"},
}  # fmt: skip
"""The only message of a chat."""

_TOKENIZER: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tokenize a number": ("/tokenize", {"prompt": 5}),
    "tokenize a list": ("/tokenize", {"prompt": ["one"]}),
    "tokenize a conversation of numbers": ("/tokenize", {"messages": [5]}),
    "tokenize an empty text": ("/tokenize", {"prompt": ""}),
    "detokenize beyond 64 bits": ("/detokenize", {"tokens": [int(_NINES)]}),
    "detokenize below 0": ("/detokenize", {"tokens": [-1]}),
    "detokenize beyond the vocabulary": ("/detokenize", {"tokens": [1_000_000]}),
    "detokenize beyond 32 bits": ("/detokenize", {"tokens": [2**40]}),
    "detokenize nothing": ("/detokenize", {"tokens": []}),
    "detokenize without tokens": ("/detokenize", {}),
}

_MEDIA_TYPES = {
    "media type with a charset": "application/json; charset=latin-1",
    "media type of another JSON": "application/vnd.x+json",
    "media type of slashes": "/;;;",
    "media type with a blank": "application/json ; charset=utf-8",
}


def malformed() -> Iterator[Question]:
    """Yield all of them, in a fixed order."""
    for name, raw in RAW.items():
        yield Question(name, "RAW", "", raw)
    for name, body in BODIES.items():
        yield Question(name, "POST", COMPLETIONS, body)
    common: Mapping[str, Any] = {"model": SERVED_NAME, "max_tokens": 6, "ignore_eos": True}
    for name, fields in _COMPLETIONS.items():
        yield Question(name, "POST", COMPLETIONS, _json({**common, "prompt": [1000, 1001], **fields}))
    for name, fields in _CHAT.items():
        yield Question(name, "POST", CHAT, _json({**common, **fields}))
    for name, message in _PARTS.items():
        yield Question(name, "POST", CHAT, _json({**common, "messages": [message]}))
    for name, (path, fields) in _TOKENIZER.items():
        yield Question(name, "POST", path, _json({"model": SERVED_NAME, **fields}))
    for name, kind in _MEDIA_TYPES.items():
        body = _json({**common, "prompt": [1000], "max_tokens": 1})
        yield Question(name, "POST", COMPLETIONS, body, (("Content-Type", kind),))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
