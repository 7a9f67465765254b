"""Serve the endpoint until it is killed: `python -m rehearsal.cloudwatch HOST PORT GROUP STREAM REGION FILE FAULTS`.

`FAULTS` is JSON of `Faults`; the credentials are those of the environment, as boto3 finds them.
"""

import json
import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from botocore.credentials import Credentials

from rehearsal.cloudwatch import Endpoint, Faults, Served


def main() -> None:
    """Serve."""
    host, port, group, stream, region, file, faults = sys.argv[1:]
    credentials = Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    endpoint = Endpoint(group, [stream], region, credentials, lambda: datetime.now(UTC), Faults(**json.loads(faults)))
    with Served(endpoint, (host, int(port)), Path(file)):
        threading.Event().wait()


if __name__ == "__main__":
    main()
