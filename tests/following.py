"""What tests ask a registryd that follows a resource manager."""
import re

from harness import wait_for


def record(id, persistence):
    return {"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:id": id, "yarn:persistence": persistence}


class Following:
    """Beside Stack or Registry: `class Cluster(Following, Registry)`."""

    def metric(self, name):
        text = self.registry("GET", "", base="/metrics").body.decode()
        return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))

    def polls(self, n=4, name="registry_rm_polls_total"):
        """Wait until so many polls more were made."""
        begin = self.metric(name)
        wait_for(lambda: self.metric(name) >= begin + n, f"{n} polls more")

    def there(self, path):
        return self.registry("GET", path).status == 200

    def gone(self, path):
        wait_for(lambda: not self.there(path), f"{path} is purged")

    def restart(self):
        """Start registryd again, which was ended."""
        self.registryd.start("registry_synced")
        wait_for(lambda: self.registry("GET", "", base="/readyz").status == 200, "ready")
