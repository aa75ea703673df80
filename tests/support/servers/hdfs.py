"""HDFS: a NameNode and one DataNode, whose jars tests/proof/libraries/build fetches.

Files are planted and looked at through WebHDFS, so that the code under test is not its own judge.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import urllib3

from tests.proof.libraries.spark.built import TARGET, jars
from tests.support import servers

SUPERUSER = "hdfs"
SECONDS = 30.0
_HTTP = urllib3.PoolManager()
_NAME_NODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
_DATA_NODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
_ADMINISTRATION = "org.apache.hadoop.hdfs.tools.DFSAdmin"
_QUICK = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, slots=True)
class Status:
    """What the NameNode says of a file or a folder. mode: octal digits."""

    owner: str
    group: str
    mode: str


@dataclass(frozen=True, slots=True)
class Hdfs:
    """A file system that answers.

    url: `hdfs://HOST:PORT`. conf: the folder of core-site.xml, as HADOOP_CONF_DIR names it.
    """

    url: str
    web: str
    conf: Path
    java: tuple[str, ...]
    """A command, up to the class."""

    def make(self, folder: str, owner: str, mode: str = "755") -> None:
        """Makes a folder, and those above it."""
        self._ask("PUT", folder, "MKDIRS", owner, permission=mode)

    def put(self, path: str, content: bytes, owner: str, mode: str = "644") -> None:
        """Makes a file of this user, or writes it again."""
        answer = self._ask(
            "PUT", path, "CREATE", owner, permission=mode, overwrite="true", noredirect="true"
        )
        _answer("PUT", answer["Location"], content)

    def plant(self, folder: Path, path: str, owner: str, mode: str = "644") -> None:
        """Copies a folder, without the checksums that Hadoop keeps on local disks."""
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix != ".crc":
                self.put(f"{path}/{file.relative_to(folder)}", file.read_bytes(), owner, mode)

    def get(self, path: str) -> bytes:
        answer = self._ask("GET", path, "OPEN", noredirect="true")
        return _answer("GET", answer["Location"])

    def delete(self, path: str) -> None:
        """Deletes a file, or a folder with all that is in it."""
        self._ask("DELETE", path, "DELETE", recursive="true")

    def own(self, path: str, owner: str, mode: str) -> None:
        """Gives a file or a folder to a user."""
        self._ask("PUT", path, "SETOWNER", owner=owner)
        self._ask("PUT", path, "SETPERMISSION", permission=mode)

    def allow(self, path: str, entry: str) -> None:
        """Adds an entry, such as `user:alice:r--`, to the access control list."""
        self._ask("PUT", path, "MODIFYACLENTRIES", aclspec=entry)

    def access(self, path: str) -> list[str]:
        """The entries of the access control list beside the mode."""
        found: list[str] = self._ask("GET", path, "GETACLSTATUS")["AclStatus"]["entries"]
        return found

    def status(self, path: str) -> Status:
        found = self._ask("GET", path, "GETFILESTATUS")["FileStatus"]
        return Status(found["owner"], found["group"], found["permission"])

    def files(self, path: str) -> dict[str, bytes]:
        """The content of each file below a folder, by its path there."""
        return {name: self.get(f"{path}/{name}") for name in self.names(path)}

    def names(self, path: str) -> list[str]:
        """The files below a folder, hidden ones too."""
        names = []
        for each in self._ask("GET", path, "LISTSTATUS")["FileStatuses"]["FileStatus"]:
            name = each["pathSuffix"]
            below = each["type"] == "DIRECTORY"
            names += [f"{name}/{n}" for n in self.names(f"{path}/{name}")] if below else [name]
        return sorted(names)

    @contextmanager
    def safe_mode(self) -> Iterator[None]:
        """Nothing can be written meanwhile."""
        self._administer("-safemode", "enter")
        try:
            yield
        finally:
            self._administer("-safemode", "leave")

    def limit(self, path: str, names: int) -> None:
        """Lets a folder have so many names, itself among them."""
        self._administer("-setQuota", str(names), path)

    def answers(self) -> bool:
        """Whether the NameNode does."""
        try:
            self.names("/")
        except OSError:
            return False
        return True

    def ready(self) -> bool:
        """Whether a file can be written."""
        try:
            self.put("/ready", b"", SUPERUSER)
        except OSError:
            return False
        return True

    def _administer(self, *words: str) -> None:
        servers.once([*self.java, _ADMINISTRATION, "-fs", self.url, *words], None, Path.cwd())

    def _ask(
        self, method: str, path: str, what: str, user: str = SUPERUSER, **words: str
    ) -> dict[str, Any]:
        query = urlencode({"op": what, "user.name": user, **words})
        url = f"{self.web}/webhdfs/v1{quote(path)}?{query}"
        content = _answer(method, url)
        return json.loads(content) if content else {}


@contextmanager
def hdfs() -> Iterator[Hdfs]:
    """An empty file system whose root everybody may write to."""
    with servers.folder_of(None) as folder:
        name, web = servers.free_port(), servers.free_port()
        java = _java(folder, _configured(name, web, folder))
        made = Hdfs(f"hdfs://127.0.0.1:{name}", f"http://127.0.0.1:{web}", folder, tuple(java))
        names, blocks = (folder / kind for kind in ("names", "blocks"))
        names.mkdir()
        blocks.mkdir()
        name_node, data_node = [*java, _NAME_NODE], [*java, _DATA_NODE]
        servers.once([*name_node, "-format"], None, names)
        with (
            servers.served(name_node, None, names, made.answers),
            servers.served(data_node, None, blocks, made.ready),
        ):
            made.own("/", SUPERUSER, "777")
            made.delete("/ready")
            yield made


def _configured(name: int, web: int, folder: Path) -> Mapping[str, str]:
    return {
        "fs.defaultFS": f"hdfs://127.0.0.1:{name}",
        "hadoop.tmp.dir": str(folder / "data"),
        "dfs.replication": "1",
        "dfs.namenode.http-address": f"127.0.0.1:{web}",
        "dfs.datanode.address": "127.0.0.1:0",
        "dfs.datanode.http.address": "127.0.0.1:0",
        "dfs.datanode.ipc.address": "127.0.0.1:0",
    }


def _java(folder: Path, settings: Mapping[str, str]) -> list[str]:
    """The command up to the class. `env` names the user, who is the file system's superuser."""
    for name in ("core-site.xml", "hdfs-site.xml"):
        properties = "".join(
            f"<property><name>{key}</name><value>{value}</value></property>"
            for key, value in settings.items()
        )
        (folder / name).write_text(f"<configuration>{properties}</configuration>")
    packages = next((TARGET / "spark-4").glob("lib/python3*/site-packages"))
    path = [folder, *jars("hdfs"), packages / "pyspark" / "jars" / "*"]
    java = shutil.which("java")
    assert java is not None, "java is not installed"
    user = f"HADOOP_USER_NAME={SUPERUSER}"
    return ["env", user, java, *_QUICK, "-cp", os.pathsep.join(map(str, path))]


def _answer(method: str, url: str, content: bytes = b"") -> bytes:
    """The body. OSError where the server does not answer, or refuses."""
    try:
        answer = _HTTP.request(method, url, body=content or None, retries=False, timeout=SECONDS)
    except urllib3.exceptions.HTTPError as error:
        raise OSError(str(error)) from None
    if answer.status >= 400:
        raise OSError(f"{url}: {answer.data.decode(errors='replace')}")
    return answer.data
