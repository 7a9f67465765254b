"""The messages of a chat as vLLM's validation sees them.

They are the typed dictionaries of OpenAI's client 3.57.0 (`openai.types.chat`), with what vLLM 0.31.0 adds in
`vllm/entrypoints/chat_utils.py`, and a message of openai-harmony, as the last of the union. Names, fields and their
order are theirs, as a refusal tells every one of them that a message does not match. Whatever is `Iterable` is looked
at only when it is read.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, Required, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict


class PromptCacheBreakpoint(TypedDict, total=False):
    """Where a prompt may be cached up to."""

    mode: Required[Literal["explicit"]]
    ttl: Literal["30m", "12h"]


class ChatCompletionContentPartTextParam(TypedDict, total=False):
    """A part of text."""

    text: Required[str]
    type: Required[Literal["text"]]
    prompt_cache_breakpoint: PromptCacheBreakpoint


class ImageURL(TypedDict, total=False):
    """Where an image is."""

    url: Required[str]
    detail: Literal["auto", "low", "high", "original"]


class ChatCompletionContentPartImageParam(TypedDict, total=False):
    """An image."""

    image_url: Required[ImageURL]
    type: Required[Literal["image_url"]]
    prompt_cache_breakpoint: PromptCacheBreakpoint


class InputAudio(TypedDict, total=False):
    """Audio in base64."""

    data: Required[str]
    format: Required[Literal["wav", "mp3"]]


class ChatCompletionContentPartInputAudioParam(TypedDict, total=False):
    """Audio."""

    input_audio: Required[InputAudio]
    type: Required[Literal["input_audio"]]
    prompt_cache_breakpoint: PromptCacheBreakpoint


class FileFile(TypedDict, total=False):
    """What a file holds, or its id."""

    file_data: str
    file_id: str
    filename: str


class File(TypedDict, total=False):
    """A file."""

    file: Required[FileFile]
    type: Required[Literal["file"]]
    prompt_cache_breakpoint: PromptCacheBreakpoint


class ChatCompletionContentPartRefusalParam(TypedDict, total=False):
    """What a model said when it refused."""

    refusal: Required[str]
    type: Required[Literal["refusal"]]


class URL(TypedDict, total=False):
    """Where something is."""

    url: Required[str]


class ChatCompletionContentPartAudioParam(TypedDict, total=False):
    """Audio by its address."""

    audio_url: Required[URL]
    type: Required[Literal["audio_url"]]


class ChatCompletionContentPartVideoParam(TypedDict, total=False):
    """A video by its address."""

    video_url: Required[URL]
    type: Required[Literal["video_url"]]


Embeddings: TypeAlias = str | dict[str, str | list[int | float]]


class ChatCompletionContentPartImageEmbedsParam(TypedDict, total=False):
    """An image's embeddings."""

    image_embeds: Embeddings | None
    type: Required[Literal["image_embeds"]]
    uuid: str | None


class ChatCompletionContentPartAudioEmbedsParam(TypedDict, total=False):
    """Embeddings of audio."""

    audio_embeds: Embeddings | None
    type: Required[Literal["audio_embeds"]]
    uuid: str | None


class ChatCompletionContentPartVideoEmbedsParam(TypedDict, total=False):
    """A video's embeddings."""

    video_embeds: Embeddings | None
    type: Required[Literal["video_embeds"]]
    uuid: str | None


class ChatCompletionContentPartPromptEmbedsParam(TypedDict, total=False):
    """Embeddings of a part of the prompt, in base64."""

    data: Required[str]
    type: Required[Literal["prompt_embeds"]]


class Image:
    """Pillow's image: no value of JSON is one."""


class PILImage(BaseModel):
    """An image as an object of Python."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    image_pil: Image


class CustomChatCompletionContentPILImageParam(TypedDict, total=False):
    """An image as an object."""

    image_pil: PILImage | None
    uuid: str | None


class CustomChatCompletionContentSimpleImageParam(TypedDict, total=False):
    """An image by its bare address."""

    image_url: str | None
    uuid: str | None


class CustomChatCompletionContentSimpleAudioParam(TypedDict, total=False):
    """Audio by its bare address."""

    audio_url: str | None


class CustomChatCompletionContentSimpleVideoParam(TypedDict, total=False):
    """A video by its bare address."""

    video_url: str | None
    uuid: str | None


class CustomChatCompletionContentToolReferenceParam(TypedDict, total=False):
    """The name of a tool."""

    name: str
    type: Literal["tool_reference"]


class CustomThinkCompletionContentParam(TypedDict, total=False):
    """What a model thought."""

    thinking: Required[str]
    closed: bool
    type: Required[Literal["thinking"]]


OpenAIContentPart: TypeAlias = (
    ChatCompletionContentPartTextParam
    | ChatCompletionContentPartImageParam
    | ChatCompletionContentPartInputAudioParam
    | File
)

ContentPart: TypeAlias = (
    OpenAIContentPart
    | ChatCompletionContentPartAudioParam
    | ChatCompletionContentPartVideoParam
    | ChatCompletionContentPartRefusalParam
    | CustomChatCompletionContentPILImageParam
    | CustomChatCompletionContentSimpleImageParam
    | ChatCompletionContentPartImageEmbedsParam
    | ChatCompletionContentPartAudioEmbedsParam
    | ChatCompletionContentPartVideoEmbedsParam
    | ChatCompletionContentPartPromptEmbedsParam
    | CustomChatCompletionContentSimpleAudioParam
    | CustomChatCompletionContentSimpleVideoParam
    | CustomChatCompletionContentToolReferenceParam
    | str
    | CustomThinkCompletionContentParam
)


class Function(TypedDict, total=False):
    """A function that is to be called."""

    arguments: Required[str]
    name: Required[str]


class ChatCompletionMessageFunctionToolCallParam(TypedDict, total=False):
    """A call of a function."""

    id: Required[str]
    function: Required[Function]
    type: Required[Literal["function"]]


class Custom(TypedDict, total=False):
    """A tool of another kind that is to be called."""

    input: Required[str]
    name: Required[str]


class ChatCompletionMessageCustomToolCallParam(TypedDict, total=False):
    """A call of a tool of another kind."""

    id: Required[str]
    custom: Required[Custom]
    type: Required[Literal["custom"]]


class FunctionDefinition(TypedDict, total=False):
    """A function that may be called."""

    name: Required[str]
    description: str
    parameters: dict[str, object]
    strict: bool | None


class ChatCompletionFunctionToolParam(TypedDict, total=False):
    """A tool that is a function."""

    function: Required[FunctionDefinition]
    type: Required[Literal["function"]]


class ChatCompletionDeveloperMessageParam(TypedDict, total=False):
    """A developer's message."""

    content: Required[str | Iterable[ChatCompletionContentPartTextParam]]
    role: Required[Literal["developer"]]
    name: str


class ChatCompletionSystemMessageParam(TypedDict, total=False):
    """The system's message."""

    content: Required[str | Iterable[ChatCompletionContentPartTextParam]]
    role: Required[Literal["system"]]
    name: str


class ChatCompletionUserMessageParam(TypedDict, total=False):
    """A user's message."""

    content: Required[str | Iterable[OpenAIContentPart]]
    role: Required[Literal["user"]]
    name: str


class Audio(TypedDict, total=False):
    """A reference to audio that the model made."""

    id: Required[str]


class ChatCompletionAssistantMessageParam(TypedDict, total=False):
    """What the model has said before."""

    role: Required[Literal["assistant"]]
    audio: Audio | None
    content: str | Iterable[ChatCompletionContentPartTextParam | ChatCompletionContentPartRefusalParam] | None
    function_call: Function | None
    name: str
    refusal: str | None
    tool_calls: Iterable[ChatCompletionMessageFunctionToolCallParam | ChatCompletionMessageCustomToolCallParam]


class ChatCompletionToolMessageParam(TypedDict, total=False):
    """What a tool has answered."""

    content: Required[str | Iterable[ChatCompletionContentPartTextParam]]
    role: Required[Literal["tool"]]
    tool_call_id: Required[str]


class ChatCompletionFunctionMessageParam(TypedDict, total=False):
    """What a function has answered."""

    content: Required[str | None]
    name: Required[str]
    role: Required[Literal["function"]]


class CustomChatCompletionMessageParam(TypedDict, total=False):
    """A message of any other role."""

    role: Required[str]
    content: str | list[ContentPart]
    name: str
    tool_call_id: str | None
    tool_calls: list[ChatCompletionMessageFunctionToolCallParam] | None
    reasoning: str | None
    tools: list[ChatCompletionFunctionToolParam] | None
    task: str | None


class Role(StrEnum):
    """The roles of openai-harmony."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    DEVELOPER = "developer"
    TOOL = "tool"


class Author(BaseModel):
    """The author of a message of openai-harmony."""

    role: Role
    name: str | None = None


class Content(BaseModel):
    """A part of a message of openai-harmony, of any kind."""


class Message(BaseModel):
    """A message of openai-harmony, which only its own models can read."""

    author: Author
    content: list[Content] = Field(default_factory=list)
    channel: str | None = None
    recipient: str | None = None
    content_type: str | None = None


ChatMessage: TypeAlias = (
    ChatCompletionDeveloperMessageParam
    | ChatCompletionSystemMessageParam
    | ChatCompletionUserMessageParam
    | ChatCompletionAssistantMessageParam
    | ChatCompletionToolMessageParam
    | ChatCompletionFunctionMessageParam
    | CustomChatCompletionMessageParam
    | Message
)
