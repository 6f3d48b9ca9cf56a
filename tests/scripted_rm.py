"""A resource manager's REST interface that does what a test says: state by state, shape by shape.

    with ScriptedRm() as rm:
        rm.app("application_1_0001", states=["RUNNING", "FINISHING", "FINISHED"])   # one per question, the last stays
        rm.finish("application_1_0001")                                             # it is in the list of finished ones
        rm.evict("application_1_0001")                                              # it is in no list any more
"""
import email.utils
import http.server
import json
import threading
import time
import urllib.parse

NOT_FOUND = {"RemoteException": {"exception": "NotFoundException", "message": "app not found", "javaClassName": "x"}}


class App:
    def __init__(self, id, user, states, attempts, containers):
        self.id, self.user, self.states = id, user, list(states)
        self.attempts, self.containers = dict(attempts), containers
        self.started, self.finished = int(time.time() * 1000), 0

    def state(self):
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


class ScriptedRm:
    """Set the members at any time; they are used for the next question."""

    def __init__(self, started=None, nodes=2):
        self.ha = "ACTIVE"
        self.started = [started or int(time.time() * 1000) - 3_600_000]  # one per /info, the last stays
        self.cluster_id = None
        self.nodes = nodes      # how many are registered, or their ids
        self.where = {}         # container -> id of its node, where the RM shows it
        self.apps = {}
        self.listed = []        # ids in the list of finished ones, for the next question about it
        self.n_ended = 0        # applications that have ended
        self.status = {}        # path -> (status, body) that stands above all else
        self.requests = []
        self.lock = threading.Lock()
        rm = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one write: two would wait 40 ms for each other

            def do_GET(self):
                with rm.lock:
                    rm.requests.append(self.path)
                    status, body = rm.answer(self.path)
                text = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response_only(status)
                self.send_header("Date", email.utils.formatdate(usegmt=True))
                self.send_header("Content-Type", "application/json;charset=utf-8")
                if status == 307:
                    self.send_header("Location", "http://127.0.0.1:1/")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False
        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def app(self, id, user="alice", states=("RUNNING",), attempts=(), containers=()):
        with self.lock:
            self.apps[id] = App(id, user, states, attempts, containers)

    def finish(self, id, ago=0):
        """It has finished so many seconds ago."""
        with self.lock:
            self.listed.append(id)
            self.n_ended += 1
            self.apps[id].finished = int((time.time() - ago) * 1000)

    def evict(self, id):
        """It has ended, and the RM has forgotten it since."""
        with self.lock:
            self.n_ended += id not in self.listed and not self.apps[id].finished
            del self.apps[id]

    def asked(self, part):
        with self.lock:
            return sum(part in path for path in self.requests)

    # ---- answers ----

    def node_ids(self):
        return [f"node{i}:8041" for i in range(self.nodes)] if isinstance(self.nodes, int) else self.nodes

    def answer(self, path):
        split = urllib.parse.urlsplit(path)
        elements = split.path.split("/")[4:]
        query = dict(urllib.parse.parse_qsl(split.query))
        if split.path in self.status:
            return self.status[split.path]
        if elements == ["info"]:
            started = self.started.pop(0) if len(self.started) > 1 else self.started[0]
            return 200, {"clusterInfo": {"id": self.cluster_id or started, "startedOn": started, "state": "STARTED",
                                         "haState": self.ha}}
        if self.ha == "STANDBY":
            return 307, ""
        if elements == ["metrics"]:
            return 200, {"clusterMetrics": {"appsRunning": 1, "activeNodes": len(self.node_ids()), "appsCompleted": self.n_ended,
                                            "appsFailed": 0, "appsKilled": 0}}
        if elements == ["nodes"]:
            nodes = [{"id": id, "rack": "/default-rack", "state": "RUNNING"} for id in self.node_ids()]
            return 200, {"nodes": {"node": nodes + [{"id": "gone:1", "state": "LOST"}]}}
        if elements == ["apps"]:
            return 200, self.list(query)
        app = self.apps.get(elements[1])
        if not app or self.ha == "INITIALIZING":
            return 404, NOT_FOUND
        if elements[2:] == ["state"]:
            return 200, {"state": app.state()}
        if elements[2:] == ["appattempts"]:
            return 200, {"appAttempts": {"appAttempt": [
                {"id": int(id.split("_")[3]), "appAttemptId": id, "appAttemptState": state}
                for id, state in app.attempts.items()]}}
        if elements[2] == "appattempts" and elements[4:] == ["containers"]:
            containers = app.containers
            return 200, containers if isinstance(containers, (dict, str)) else {"container": [
                {"containerId": c, **({"assignedNodeId": self.where[c]} if c in self.where else {})} for c in containers]}
        return 404, NOT_FOUND

    def list(self, query):
        if self.ha == "INITIALIZING":
            return {"apps": None}
        if "finishedTimeBegin" in query:
            found = [self.apps[i] for i in self.listed if i in self.apps]
            self.listed = []
        elif "finishedTimeEnd" in query:
            found = [a for a in self.apps.values() if 0 < a.finished <= int(query["finishedTimeEnd"])][:int(query.get("limit", 1000))]
        else:
            found = [a for a in self.apps.values() if a.started >= int(query.get("startedTimeBegin", 0))]
        # As the real one: a member name twice in one object.
        text = ",".join('{"id":"%s","user":"%s","state":"%s","finishedTime":%d,"resourceSecondsMap":{"entry":{"key":"memory-mb","value":"1"},"entry":'
                        '{"key":"vcores","value":"2"}}}' % (a.id, a.user, a.states[0], a.finished) for a in found)
        return '{"apps":{"app":[' + text + ']}}' if found else {"apps": {}}
