"""Follows every link of a Slider application from its root: names of lists and keys of maps are elements of paths."""
from urllib.parse import quote, urlsplit


class Walk:
    """api: slider.Slider. registry_port: where its registry may lead. root: path of the application's tree, as /proxy/ID/ws/v1/slider. seen: paths that were asked, broken: what was no success."""

    def __init__(self, api, root, registry_port):
        self.api, self.root = api, root
        self.registry_api = type(api)(registry_port, api.user)
        self.seen, self.broken = set(), []

    def get(self, path):
        """The document at a path; None: none, or it was asked before."""
        if path in self.seen:
            return None
        self.seen.add(path)
        return self.read(path, self.api)

    def read(self, path, api):
        """The document at a path of a server. A redirect must lead to one of the two."""
        answer = api.ask("GET", path)
        if answer.status in (302, 303, 307):
            where = urlsplit(answer.headers["Location"])
            leads = [a for a in (self.api, self.registry_api) if where.netloc in ("", f"127.0.0.1:{a.port}")]
            return self.read(where.path, leads[0]) if leads else self.broken.append(f"{path}: leads to {where.geturl()}")
        if answer.status // 100 != 2:
            self.broken.append(f"{path}: {answer.status} {answer.body[:200]!r}")
            return None
        return answer.json if answer.headers["Content-Type"].startswith("application/json") else None

    def children(self, path):
        """Names below a path, by its own listing."""
        return [quote(name, safe="") for name in self.get(path) or []]

    def all(self):
        application = f"{self.root}/application"
        for name in self.children(application):
            getattr(self, name)(f"{application}/{name}")
        self.publisher(f"{self.root}/publisher")
        self.management(f"{self.root}/mgmt")
        self.registry(f"{self.root}/registry", 4)

    def model(self, path):
        for view in [*self.children(path), "internal"]:
            documents = self.get(f"{path}/{view}") or {}
            for name in ("resources", "appConf"):
                if name in documents:
                    self.get(f"{path}/{view}/{name.lower()}")

    def live(self, path):
        for name in self.children(path):
            listed = self.get(f"{path}/{name}")
            getattr(self, name, lambda *_: None)(f"{path}/{name}", listed)

    def containers(self, path, listed):
        for i, container in listed.items():
            self.get(f"{path}/{i}")
            if "logLink" in container:
                self.get(f"{path}/{i}/logs")

    def components(self, path, listed):
        for name in listed:
            here = f"{path}/{quote(name, safe='')}"
            self.get(here)
            for i in self.children(f"{here}/containers"):
                self.get(f"{here}/containers/{i}")
            for index in self.get(f"{here}/instances") or {}:
                self.get(f"{here}/instances/{index}")
            for view in ("liveness", "statistics"):
                self.get(f"{path.rpartition('/')[0]}/{view}/{quote(name, safe='')}")

    def nodes(self, path, listed):
        for node in listed:
            self.get(f"{path}/{quote(node['hostname'], safe='')}")

    def actions(self, path):
        self.get(f"{path}/ping")
        self.get(f"{path.removesuffix('s')}/ping")

    def publisher(self, path):
        for uri in (self.get(path) or {}).get("uris", {}).values():
            here = urlsplit(uri).path
            listed = self.get(here) or {}
            for name in listed.get("configurations", {}):
                document = self.get(f"{here}/{name}") or {}
                for form in (".json", ".xml", ".properties"):
                    self.get(f"{here}/{name}{form}")
                for key in list(document.get("entries", {}))[:5]:
                    self.get(f"{here}/{name}/{quote(key, safe='')}")
            for name in listed.get("exports", {}):
                self.get(f"{here}/{name}")
        self.get(f"{path}/classpath")

    def management(self, path):
        self.get(path)
        for name, part in (self.get(f"{path}/app") or {}).items():
            if isinstance(part, dict):
                self.get(f"{path}/app/configurations/{name}")

    def registry(self, path, depth):
        node = self.get(path) or {}
        for name in node.get("nodes", []) if depth else []:
            self.registry(f"{path}/{quote(name, safe='')}", depth - 1)
