"""What servers say when they refuse: recognised, put into words, and learnt from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import ContextOverflow, ModelError
from agent_magics.providers.advice import duration, refused
from agent_magics.providers.answers import refusal
from agent_magics.providers.complaints import Complaint, is_error, read_complaint
from agent_magics.providers.endpoint import Endpoint, Learnt
from agent_magics.providers.lessons import learnt
from agent_magics.providers.place import Place, shown_url
from agent_magics.providers.profiles import Profile
from agent_magics.providers.reaching import bad_url, lasting, unreachable

PLACE = Place("http://host/v1", "m", ("sk-secret-123",))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, "m"),
        ({"error": "m"}, "m"),
        ({"message": "m", "code": 5}, "m"),
        ({"object": "error", "message": "m"}, "m"),
        ({"detail": "m"}, "m"),
        ({"detail": [{"loc": ["body", "x"], "msg": "m"}]}, "m"),
        ([{"error": {"message": "m", "status": "INVALID_ARGUMENT"}}], "m"),
        ({"errors": [{"message": "m"}]}, "m"),
        ({"error": {"message": "m", "metadata": {"raw": "why"}}}, "m: why"),
        ({"error": {"code": 502}}, ""),
        ({"error": {"odd": 1}}, '{"odd": 1}'),
        (b"plain\n words", "plain words"),
        (b"<html><title>Sign &amp; in</title></html>", "Sign & in"),
        (b'{"error": {', '{"error": {'),
        (b"", ""),
        (None, ""),
    ],
)
def test_every_shape_of_error_body_is_read(body: Any, message: str) -> None:
    if not isinstance(body, bytes):
        assert read_complaint(body, 400).message == message
        body = json.dumps(body).encode()
        message = "" if body == b"null" else message
    read = read_complaint(body, 400).message
    assert read == message or body == b"null"


KEYS = st.sampled_from(["error", "message", "code", "detail", "param", "type", "x"])
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
)


@given(BODIES, st.sampled_from([None, 200, 400, 500]))
def test_no_error_body_breaks_the_reading(body: Any, status: int | None) -> None:
    complaint = read_complaint(body, status)
    assert "\n" not in complaint.message
    assert len(complaint.message) <= 400
    assert len(str(refused(complaint, PLACE)).splitlines()) == 2


def test_answers_are_told_from_errors() -> None:
    assert not is_error({"choices": [{"delta": {}}], "error": None})
    assert not is_error({"id": "x", "object": "chat.completion.chunk", "choices": []})
    assert is_error({"choices": [{"delta": {}}], "error": {"code": 502}})
    assert is_error({"message": "m", "code": 1})


OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
    "Input is too long for requested model.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000",
    "request (20030 tokens) exceeds the available context size (8192 tokens), try increasing it",
    "tokens to keep from the initial prompt is greater than the context length",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "prompt token count of 200000 exceeds the limit of 128000",
    "Invalid request: Your request exceeded model token limit: 262144",
    "invalid params, context window exceeds limit (2013)",
    "Prompt exceeds max length",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "the request exceeds the available context size",
]


@pytest.mark.parametrize("text", OVERFLOWS)
def test_an_overflow_of_the_context_is_recognised_in_the_words_of_every_server(text: str) -> None:
    fault = refusal(read_complaint({"error": {"message": text, "code": 400}}, 400), PLACE)
    assert isinstance(fault.error, ContextOverflow)
    assert not fault.again
    assert "compact" in str(fault.error)


def test_413_and_a_request_above_the_rate_are_overflows_and_a_rate_is_none() -> None:
    assert read_complaint(b"<html>", 413).overflows
    too_large = "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000"
    assert Complaint(too_large, 429).overflows
    assert not Complaint(
        "Rate limit reached on tokens per minute: maximum context length", 429
    ).overflows
    assert not Complaint("image size exceeds the limit of 20 MB", 400).overflows
    assert not Complaint("maximum context length", 401).overflows


@pytest.mark.parametrize(
    ("complaint", "expected"),
    [
        (Complaint("x", 429, code="insufficient_quota"), True),
        (Complaint("Insufficient Balance", 402), True),
        (Complaint("Your credit balance is too low to access the API.", 400), True),
        (Complaint("You exceeded your current quota, check your plan.", 429), True),
        (Complaint("You exceeded your current quota. Please retry in 34.5s.", 429), False),
        (Complaint("Rate limit reached, please try again in 20s", 429), False),
    ],
)
def test_a_quota_that_is_used_up_is_told_from_one_that_resets_soon(
    complaint: Complaint, expected: bool
) -> None:
    assert complaint.exhausted == expected
    assert refusal(complaint, PLACE).again == (not expected)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 529])
def test_what_may_pass_is_asked_again(status: int) -> None:
    assert refusal(Complaint("x", status), PLACE).again


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 405, 413, 422, 501])
def test_what_will_stay_is_not(status: int) -> None:
    assert not refusal(Complaint("x", status), PLACE).again


@pytest.mark.parametrize(
    ("complaint", "words"),
    [
        (Complaint("bad key", 401), "API key"),
        (Complaint("no", 403), "lack the right"),
        (Complaint("The model `m` does not exist", 404), "`%agent model NAME`"),
        (Complaint("Not Found", 404), "ends in /v1"),
        (Complaint("", 405), "ends in /v1"),
        (Complaint("", 407), "HTTPS_PROXY"),
        (Complaint("Sign in", 200, page=True), "ends in /v1"),
        (Complaint("boom", 500), "later"),
        (Complaint("odd", 400), "`%agent test`"),
        (Complaint("invalid model: m", 400), "does not have the model"),
    ],
)
def test_the_person_reads_what_happened_and_what_to_do_in_two_lines(
    complaint: Complaint, words: str
) -> None:
    text = str(refused(complaint, PLACE))
    assert words in text
    assert len(text.splitlines()) == 2


def test_a_key_is_never_repeated_neither_ours_nor_one_that_the_server_names() -> None:
    said = "Incorrect API key provided: sk-secret-123 (or sk-proj-abcdefghijklmnopqrst)."
    text = str(refused(Complaint(said, 401), PLACE))
    assert "secret" not in text
    assert "abcdefgh" not in text
    endpoint = Endpoint(
        "https://u:hunter22@h/v1?token=tok12345", "sk-secret-123", {"X-Key": "abcdefgh9"}
    )
    assert not {"hunter22", "tok12345", "sk-secret-123", "abcdefgh9"} & set(
        repr(endpoint).split("'")
    )
    place = endpoint.place("m")
    assert (
        place.clean("hunter22 token=tok12345 sk-secret-123 abcdefgh9") == "[key] [key] [key] [key]"
    )
    for text in (repr(endpoint), repr(place), str(endpoint)):
        assert "hunter22" not in text
        assert "secret" not in text


def test_urls_are_shown_without_what_is_private() -> None:
    assert shown_url("https://u:p@host:8/v1/?k=1#f") == "https://host:8/v1"
    assert shown_url("http://[::1]:80/v1") == "http://[::1]:80/v1"
    assert shown_url("localhost:1234/v1") == "localhost:1234/v1"
    assert Place("http://[::1/v1", "m").port == 0
    assert Place("https://h/v1", "m").port == 443
    assert shown_url("http://[::1/v1?k=1") == "(unreadable URL)"


def test_durations_read_like_a_person_says_them() -> None:
    assert [duration(s) for s in (0.25, 2, 45.4, 300, 7200)] == [
        "0.25 s",
        "2 s",
        "45 s",
        "5 min",
        "2 h",
    ]


class ConnectError(Exception):
    pass


@pytest.mark.parametrize(
    ("cause", "words", "stays"),
    [
        (ConnectError("[Errno 111] Connection refused"), "Start the server", False),
        (ConnectError("Connect call failed ('127.0.0.1', 3128)"), "proxy", False),
        (ConnectError("Connect call failed ('127.0.0.1', 80) refused"), "Start the server", False),
        (FileNotFoundError(2, "No such file or directory"), "SSL_CERT_FILE", False),
        (ConnectError("Server disconnected without sending a response."), "https://", False),
        (ConnectError("[Errno -2] Name or service not known"), "cannot be found", False),
        (ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self signed"), "SSL_CERT_FILE", True),
        (ConnectError("[SSL: WRONG_VERSION_NUMBER]"), "http:// in place of https://", True),
        (ConnectError("407 Proxy Authentication Required"), "proxy", True),
        (ConnectError("All attempts failed"), "network", False),
        (ConnectError(""), "No connection", False),
    ],
)
def test_a_connection_that_fails_is_explained(cause: Exception, words: str, stays: bool) -> None:
    text = str(unreachable(cause, PLACE))
    assert words in text
    assert len(text.splitlines()) == 2
    assert lasting(cause) == stays


@pytest.mark.parametrize(
    "url",
    ["host/v1", "ftp://h/v1", "http://", "http://[::1/v1", "http://h:99999/v1", "http://a b/v1"],
)
def test_a_base_url_that_is_none_is_explained_before_anything_is_sent(url: str) -> None:
    endpoint = Endpoint(url)
    assert endpoint.url_problem
    assert "https://host/v1" in str(bad_url(endpoint.url_problem, endpoint.place("m")))


def test_only_servers_on_this_machine_are_local() -> None:
    assert Endpoint("http://localhost:1/v1").is_local
    assert Endpoint("http://127.0.0.5/v1").is_local
    assert not Endpoint("http://localhost.example/v1").is_local
    assert not Endpoint().is_local
    assert not Endpoint("http://[::1/v1").is_local


# --- lessons -----------------------------------------------------------------------------------

LESSONS: list[tuple[str, str, dict[str, object]]] = [
    ("Unrecognized request argument supplied: stream_options", "", {"stream_options": False}),
    (
        "[{'loc': ('body', 'stream_options'), 'msg': 'extra fields not permitted'}]",
        "",
        {"stream_options": False},
    ),
    (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        "max_tokens",
        {"max_tokens": "max_completion_tokens"},
    ),
    ("Your organization must be verified to stream this model.", "stream", {"stream": False}),
    (
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "",
        {"system_role": "user"},
    ),
    ("System role not supported", "", {"system_role": "user"}),
    ("Conversation roles must alternate user/assistant/user/…", "", {"alternate": True}),
    ("Unexpected role 'user' after role 'tool'", "", {"answer_after_results": True}),
    (
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        "",
        {"call_ids": "nine"},
    ),
    (
        "messages.1.tool_calls.0.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        "",
        {"call_ids": "plain"},
    ),
    ("tool_choice 'none' is not supported", "", {"tool_choice_none": False}),
    (
        "Invalid content type. image_url is only supported by certain models.",
        "",
        {"images": False},
    ),
    ("messages[1].content must be a string", "", {"images": False}),
    (
        "messages.2.content: Input should be a valid string, got None",
        "",
        {"empty_content": True},
    ),
    (
        "Invalid schema for function: unknown field '$schema' in parameters",
        "",
        {"without_schema": frozenset(("$schema",))},
    ),
    (
        "Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': "
        "Cannot find field.",
        "",
        {"without_schema": frozenset(("additionalproperties",))},
    ),
    ("registry.ollama.ai/library/gemma:2b does not support tools", "", {"tools": False}),
    (
        "property 'reasoning_content' is unsupported",
        "",
        {"without": frozenset(("reasoning_content",))},
    ),
    (
        "Unsupported value: 'temperature' does not support 0.2 with this model.",
        "temperature",
        {"without": frozenset(("temperature",))},
    ),
    (
        "tools.0.function.name: String too long. Expected a string with maximum length 32",
        "",
        {"name_length": 32},
    ),
]


@pytest.mark.parametrize(("message", "param", "change"), LESSONS)
def test_a_refusal_teaches_the_one_change_that_lets_the_request_pass(
    message: str, param: str, change: dict[str, object]
) -> None:
    sent = {
        "stream", "stream_options", "max_tokens", "tools", "tool_choice", "temperature", "$schema",
        "additionalproperties", "reasoning_content", "null content",
    }  # fmt: skip
    if "images" in change:
        sent.add("image_url")
    lesson = learnt(Profile(), Complaint(message, 400, param=param), sent)
    assert lesson is not None
    for name, value in change.items():
        got = getattr(lesson.profile, name)
        assert got >= value if isinstance(value, frozenset) else got == value


@pytest.mark.parametrize(
    "complaint",
    [
        Complaint("Rate limit reached for tools", 429),
        Complaint("Incorrect API key; tools not supported", 401),
        Complaint("The server had an error", 500),
        Complaint("value error", 422, param="messages"),
        Complaint("Sign in; tools are not supported", 400, page=True),
        Complaint("unknown parameter: foo", 400),
    ],
)
def test_other_refusals_teach_nothing(complaint: Complaint) -> None:
    assert learnt(Profile(), complaint, {"tools", "stream", "messages", "model"}) is None


def test_a_field_that_was_not_sent_is_not_the_reason() -> None:
    assert learnt(Profile(), Complaint("stream_options is not supported", 400), {"stream"}) is None


@given(st.lists(st.sampled_from([m for m, _, _ in LESSONS]), max_size=30))
def test_lessons_end(messages: list[str]) -> None:
    profile, changes = Profile(), 0
    for message in messages * 3:
        lesson = learnt(profile, Complaint(message, 400), {"stream_options", "max_tokens", "tools"})
        if lesson is not None:
            assert lesson.profile != profile
            profile, changes = lesson.profile, changes + 1
    assert changes < 20


@pytest.mark.parametrize(
    ("profile", "message", "sent", "change"),
    [
        (
            Profile(),
            "Anthropic expects the `tools=` param to be passed in",
            {"messages"},
            {"tools_needed": True},
        ),
        (
            Profile(tools_needed=True),
            "[] is too short - 'tools'",
            {"tools"},
            {"tools_needed": False},
        ),
        (Profile(strict=True), "unknown field strict", {"tools"}, {"strict": False}),
        (
            Profile(empty_content=True),
            "message content must be non-empty",
            {"messages"},
            {"empty_content": False},
        ),
        (
            Profile(system_role="developer"),
            "'developer' is not one of ['system', 'user']",
            {"messages"},
            {"system_role": "system"},
        ),
        (
            Profile(alternate=True),
            "Conversation roles must alternate",
            {"messages"},
            {"answer_after_results": True},
        ),
    ],
)
def test_lessons_correct_one_another(
    profile: Profile, message: str, sent: set[str], change: dict[str, object]
) -> None:
    lesson = learnt(profile, Complaint(message, 400), sent)
    assert lesson is not None
    assert {name: getattr(lesson.profile, name) for name in change} == change


def test_a_router_that_finds_no_endpoint_with_a_feature_teaches_too() -> None:
    complaint = Complaint("No endpoints found that support tool use", 404)
    lesson = learnt(Profile(), complaint, {"tools"})
    assert lesson is not None
    assert not lesson.profile.tools
    assert learnt(Profile(), Complaint("tools are not supported", 404), {"tools"}) is None


def test_a_limit_that_no_name_fits_is_left_out() -> None:
    first = learnt(Profile(), Complaint("max_tokens not supported", 400), {"max_tokens"})
    assert first is not None
    other = Complaint("unknown field max_completion_tokens", 400)
    second = learnt(first.profile, other, {"max_completion_tokens"})
    assert second is not None
    assert {"max_tokens", "max_completion_tokens"} <= second.profile.without
    assert second.notice


def test_lessons_are_kept_for_one_endpoint_and_model() -> None:
    lessons, endpoint = Learnt(), Endpoint("http://a/v1")
    lessons.remember(endpoint, "m", Profile(stream=False))
    assert not lessons.profile(endpoint, "m").stream
    assert lessons.profile(endpoint, "other").stream
    assert lessons.profile(Endpoint("http://b/v1"), "m").stream


def test_a_profile_of_the_person_comes_before_the_guess() -> None:
    own = Profile(strict=True)
    assert Endpoint("https://api.openai.com/v1", profile=own).known_profile == own


def test_endpoints_can_be_compared_and_kept_in_tables() -> None:
    assert len({Endpoint("http://a/v1", "k"), Endpoint("http://a/v1", "k"), Endpoint()}) == 2


def test_errors_of_refusals_carry_status_and_wait() -> None:
    error = refused(Complaint("slow down", 429), PLACE, 300)
    assert isinstance(error, ModelError)
    assert (error.status, error.retry_after) == (429, 300)
    assert "5 min" in str(error)
