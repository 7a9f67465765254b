"""The gRPC service that Pulumi's engine asks to run a Python program.

It builds on the language server that Pulumi's own SDK carries for inline programs, and adds what the
command line needs: running the program's directory, and beside it those of policy packs.
"""

import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pulumi.automation._server import LanguageServer
from pulumi.runtime.proto import language_pb2

from rehearsal.languagehost.plugin import Plugin


class ProgramServer(LanguageServer):
    """Serves one program; the engine names its directory with each request."""

    def __init__(self) -> None:
        super().__init__(lambda: None)

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Accept the engine's greeting; this host needs nothing of it."""
        return language_pb2.LanguageHandshakeResponse()

    def Run(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Run the program's directory as `python DIR` would, in this process."""
        directory = request.info.program_directory or request.pwd
        entry = request.info.entry_point or "."

        def program() -> None:
            os.chdir(directory)
            target = (Path(directory) / entry).resolve()
            if str(target) not in sys.path:
                sys.path.insert(0, str(target))
            runpy.run_path(str(target), run_name="__main__")

        self.program = program
        response = super().Run(request, context)  # type: ignore[no-untyped-call]
        # The message went to the engine's log already; bailing keeps it from being printed twice.
        if response.error:
            response.error, response.bail = "", True
        return response

    def RunPlugin(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Run a plugin's directory, such as a policy pack's, and hand on what it prints until it ends.

        The engine reads the plugin's port from its standard output, and ends it by cancelling the call.
        """
        argv = [sys.executable, "-u", request.info.program_directory or request.program, *request.args]
        with Plugin(argv, request.pwd, request.env) as plugin:
            if not context.add_callback(plugin.end):
                return
            for stream, text in plugin.output():
                yield (
                    language_pb2.RunPluginResponse(stdout=text)
                    if stream == "stdout"
                    else language_pb2.RunPluginResponse(stderr=text)
                )
            yield language_pb2.RunPluginResponse(exitcode=plugin.status())
