"""A prefix of a bucket: its objects are the files of a model."""

import re
import urllib.parse
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field

from components.pod.weights import aws, web
from components.pod.weights.files import File
from components.pod.weights.refusal import RefusedError

_MD5 = re.compile(r"[0-9a-f]{32}")
_SPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"


@dataclass
class Prefix:
    """Objects below `s3://bucket/prefix/`.

    Attributes:
        uri: as above.
        region: where the bucket is thought to be; S3 tells if it is elsewhere.
    """

    uri: str
    region: str
    rights: aws.Rights = field(default_factory=aws.Rights)

    def files(self) -> list[File]:
        """Return the files.

        Raises:
            RefusedError: they are not given to us, or there are none.
            UnreachableError: S3 does not answer.
        """
        found = list(self._listed())
        if not found:
            raise RefusedError(
                f"{self.uri} cannot be fetched, because there is nothing below it: put the model's files there, or "
                "mend model.weights.uri"
            )
        return found

    @property
    def _bucket(self) -> str:
        return self.uri.removeprefix("s3://").partition("/")[0]

    @property
    def _prefix(self) -> str:
        return self.uri.removeprefix("s3://").partition("/")[2].rstrip("/") + "/"

    def _listed(self) -> Iterator[File]:
        more: dict[str, str] = {}
        while True:
            query = {"list-type": "2", "prefix": self._prefix, **more}
            page = self._page("&".join(f"{name}={_quoted(value, '')}" for name, value in sorted(query.items())))
            for one in page.iter(f"{_SPACE}Contents"):
                path = (one.findtext(f"{_SPACE}Key") or "").removeprefix(self._prefix)
                if path and not path.endswith("/"):
                    tag = (one.findtext(f"{_SPACE}ETag") or "").strip('"')
                    yield File(
                        path=path,
                        size=int(one.findtext(f"{_SPACE}Size") or 0),
                        digest=tag if _MD5.fullmatch(tag) else "",  # of an object that came in parts it is none
                        kind="md5",
                        request=lambda path=path: self._signed(f"/{_quoted(self._prefix + path, '/')}"),  # type: ignore[misc]
                    )
            following = page.findtext(f"{_SPACE}NextContinuationToken")
            if not following:
                return
            more = {"continuation-token": following}

    def _page(self, query: str) -> ET.Element:
        while True:
            address, headers, private = self._signed("", query)
            try:
                with web.opened(address, headers, private=private) as answer:
                    return ET.fromstring(answer.read())  # noqa: S314  of AWS
            except web.AnswerError as error:
                region = error.headers.get("x-amz-bucket-region")
                if not region or region == self.region:
                    raise self._refused(error) from None
                self.region = region
            except (OSError, ET.ParseError) as error:
                raise web.UnreachableError(f"S3 stops in the middle of its answer ({web.said(error)})") from None

    def _signed(self, path: str, query: str = "") -> tuple[str, dict[str, str], dict[str, str]]:
        url = f"{aws.endpoint('s3', self.region)}/{self._bucket}{path}{f'?{query}' if query else ''}"
        signature = aws.signed(self.rights.credentials(), "GET", url, region=self.region, service="s3", headers={})
        return url, {}, signature

    def _refused(self, error: web.AnswerError) -> RefusedError:
        return refused(self.uri, error)


def refused(uri: str, error: web.AnswerError) -> RefusedError:
    """Say why S3 does not give something."""
    code = re.search(rb"<Code>(\w{1,60})</Code>", error.body)
    why = code[1].decode() if code else f"status {error.status}"
    return RefusedError(
        f"{uri} cannot be fetched, because S3 answers {why}: check model.weights.uri, and that the bucket's own policy "
        "(and key, if it has one in KMS) lets this pod's role read it"
    )


def _quoted(text: str, safe: str) -> str:
    return urllib.parse.quote(text, safe=f"{safe}-_.~")
