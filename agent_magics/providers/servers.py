"""Well-known servers: how they are recognised, and what each takes or refuses.

One entry per kind of server. Only differences that are documented or were reported with the
server's own words stand here, each with its source; everything else is learnt from refusals when
it matters (`lessons`), and what is learnt wins over what stands here. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agent_magics.providers.profiles import OPENAI_URL, Profile

NO_FIELDS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of server.

    Args:
        name: As `profile:` of a configuration names it.
        title: As a person reads it.
        profile: What it takes.
        url: Its base URL, where all of its users have the same.
        hosts: Its host names; names below them count, too.
        port: The port it uses by default on a machine of one's own; 0: it is hosted.
        calls: What to do when its models call no tools.
    """

    name: str
    title: str
    profile: Profile = field(default_factory=Profile)
    url: str = ""
    hosts: Sequence[str] = ()
    port: int = 0
    calls: str = ""


SERVERS: tuple[Server, ...] = (
    Server(
        "openai",
        "OpenAI",
        # max_tokens is refused by reasoning models ("Use 'max_completion_tokens' instead",
        # pydantic-ai issue 1205); unknown fields of messages are refused by name.
        Profile(max_tokens="max_completion_tokens", echoes=NO_FIELDS),
        OPENAI_URL,
        ("api.openai.com",),
    ),
    Server(
        "azure",
        "Azure OpenAI",
        # Both routes take the key as `api-key`; the dated one takes no bearer key
        # (learn.microsoft.com, Azure OpenAI REST reference, "Authentication").
        Profile(max_tokens="max_completion_tokens", key_header="api-key", echoes=NO_FIELDS),
        hosts=("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"),
    ),
    Server(
        "anthropic",
        "Anthropic",
        # docs.anthropic.com, "OpenAI SDK compatibility": max_tokens, max_completion_tokens and
        # stream_options are taken, system messages are joined, most other fields are ignored. Ids
        # are those of its own protocol: ^[a-zA-Z0-9_-]+$.
        Profile(call_ids="plain", echoes=NO_FIELDS),
        "https://api.anthropic.com/v1",
        ("api.anthropic.com",),
    ),
    Server(
        "gemini",
        "Gemini",
        # ai.google.dev, "Thought signatures": a call without its signature is refused (400), calls
        # that another model made carry `skip_thought_signature_validator`; and "OpenAI
        # compatibility": the signature stands in extra_content.google of a call.
        Profile(
            without_schema=frozenset(("$schema",)),
            echoes=frozenset(("extra_content",)),
            signed_calls=True,
        ),
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("generativelanguage.googleapis.com",),
    ),
    Server(
        "openrouter",
        "OpenRouter",
        # openrouter.ai/docs, "Reasoning tokens": `reasoning` and `reasoning_details` are sent back
        # unchanged so that a model goes on with its thought.
        Profile(echoes=frozenset(("reasoning", "reasoning_details"))),
        "https://openrouter.ai/api/v1",
        ("openrouter.ai",),
    ),
    Server(
        "deepseek",
        "DeepSeek",
        # api-docs.deepseek.com, "Thinking mode": reasoning_content must come back with calls, else
        # 400; also for messages of other models (Zoo-Code issue 201, pi issue 3636). Text only:
        # "unknown variant `image_url`, expected `text`".
        Profile(
            images=False,
            echoes=frozenset(("reasoning_content",)),
            reasoning_needed="reasoning_content",
        ),
        "https://api.deepseek.com/v1",
        ("api.deepseek.com",),
    ),
    Server(
        "mistral",
        "Mistral",
        # Its API refuses unknown fields (422 extra_forbidden), stream_options among them; ids have
        # exactly nine letters or digits; no prompt may follow a result (its error texts).
        Profile(
            stream_options=False,
            call_ids="nine",
            answer_after_results=True,
            alternate=True,
            without=frozenset(("max_completion_tokens",)),
            echoes=NO_FIELDS,
        ),
        "https://api.mistral.ai/v1",
        ("api.mistral.ai",),
    ),
    Server(
        "groq",
        "Groq",
        # console.groq.com/docs/openai: logprobs, logit_bias and top_logprobs are refused (400).
        # "property 'reasoning_content' is unsupported", likewise `reasoning` (jan issue 8136, gptel
        # issue 774).
        Profile(
            max_tokens="max_completion_tokens",
            without=frozenset(("logprobs", "logit_bias", "top_logprobs")),
            echoes=NO_FIELDS,
        ),
        "https://api.groq.com/openai/v1",
        ("api.groq.com",),
    ),
    Server(
        "xai",
        "xAI",
        # docs.x.ai, "Reasoning": presence_penalty, frequency_penalty and stop are refused by
        # reasoning models, which all current ones are.
        Profile(
            without=frozenset(("presence_penalty", "frequency_penalty", "stop")),
            echoes=NO_FIELDS,
        ),
        "https://api.x.ai/v1",
        ("api.x.ai",),
    ),
    Server(
        "together",
        "Together",
        # docs.together.ai, chat completions reference: no field of a message takes reasoning.
        Profile(echoes=NO_FIELDS),
        "https://api.together.xyz/v1",
        ("api.together.xyz", "api.together.ai"),
    ),
    Server(
        "cerebras",
        "Cerebras",
        Profile(max_tokens="max_completion_tokens"),
        "https://api.cerebras.ai/v1",
        ("api.cerebras.ai",),
    ),
    Server("zai", "z.ai", Profile(tool_choice_none=False), hosts=("api.z.ai", "open.bigmodel.cn")),
    Server(
        "ollama",
        "Ollama",
        # Ignored by versions whose documentation does not list `tool_choice`.
        Profile(tool_choice_none=False),
        hosts=("ollama.com",),
        port=11434,
        calls="choose a model that `ollama show NAME` lists with the capability `tools`",
    ),
    Server(
        "lmstudio",
        "LM Studio",
        port=1234,
        calls="choose a model that LM Studio marks as trained for tool use",
    ),
    Server(
        "llamacpp",
        "llama.cpp",
        port=8080,
        calls="start llama-server with --jinja, and with --chat-template-file if the model's own "
        "template has no tools",
    ),
    Server(
        "vllm",
        "vLLM",
        port=8000,
        calls="start vllm with --enable-auto-tool-choice and the --tool-call-parser of the model",
    ),
    Server(
        "sglang",
        "SGLang",
        port=30000,
        calls="start SGLang with the --tool-call-parser of the model",
    ),
)
UNKNOWN = Server("other", "an OpenAI-compatible server")


def server_at(base_url: str) -> Server:
    """The kind of server that a URL leads to, by host, else by port; `UNKNOWN` if neither tells.

    Args:
        base_url: As the person gave it.
    """
    try:
        parts = urlsplit(base_url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return UNKNOWN
    for server in SERVERS:
        if any(host == known or host.endswith(f".{known}") for known in server.hosts):
            return server
    return next((server for server in SERVERS if server.port and server.port == port), UNKNOWN)


def server_named(name: str) -> Server | None:
    """The kind of server with this name."""
    return next((server for server in SERVERS if server.name == name), None)


def detected(base_url: str) -> Profile:
    """What is believed of an endpoint before it was asked.

    Args:
        base_url: As the person gave it.
    """
    return server_at(base_url).profile
