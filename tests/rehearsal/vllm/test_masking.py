import json

from rehearsal.vllm.masking import masked_body, masked_chunk, masked_headers, masked_json


def body(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def test_ids_times_and_text_are_hidden_and_the_rest_is_kept_in_order() -> None:
    answer = {
        "id": "cmpl-123",
        "created": 17,
        "system_fingerprint": "vllm-0.31.0-pp2-7e7a9e12",
        "choices": [{"index": 0, "text": "word", "token_ids": [1, 2], "stop_reason": " x", "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3},
    }
    assert masked_body(body(answer)) == (
        '{"id":"cmpl-<id>","created":"<time>","system_fingerprint":"vllm-0.31.0-pp2-<hash>",'
        '"choices":[{"index":0,"text":"<text>","token_ids":"<2 tokens>","stop_reason":"<str>","finish_reason":"stop"}],'
        '"usage":{"prompt_tokens":3}}'
    )


def test_order_of_keys_and_spaces_count() -> None:
    assert masked_body(b'{"a":1,"b":2}') != masked_body(b'{"b":2,"a":1}')
    assert masked_body(b'{"a": 1}') == '(not compact) {"a":1}'


def test_empty_text_is_told_from_text() -> None:
    assert masked_json({"text": ""}) == {"text": ""}
    assert masked_json({"content": None}) == {"content": None}


def test_an_error_is_not_masked() -> None:
    error = {"error": {"message": "The model `nope` does not exist.", "code": 404}}
    assert masked_body(body(error)) == body(error).decode()


def test_events_of_one_chunk_stay_apart() -> None:
    assert masked_chunk(b'data: {"text":"x"}\n\ndata: [DONE]\n\n') == ['data: {"text":"<text>"}', "data: [DONE]"]


def test_the_length_of_a_body_of_text_is_hidden() -> None:
    headers = [("date", "Mon"), ("content-length", "5"), ("vary", "Origin")]
    assert masked_headers(headers, sized=False) == ["date: <date>", "content-length: <content-length>", "vary: Origin"]
    assert masked_headers(headers, sized=True)[1] == "content-length: 5"
