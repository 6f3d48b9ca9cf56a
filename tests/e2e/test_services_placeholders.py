"""Placeholders that name the cluster's file system reach the process, its environment and the quicklinks."""
import pytest

from harness import Stack, wait_for

pytestmark = pytest.mark.sanitize


def test_the_file_system_is_named():
    document = {"name": "web", "version": "1", "quicklinks": {"namenode": "http://${CLUSTER_FS_HOST}:9870/"}, "components": [{
        "name": "hello", "number_of_containers": 1, "resource": {"memory": "32"},
        "configuration": {"env": {"DIR": "${SERVICE_HDFS_DIR}"}},
        "launch_command": "echo ${CLUSTER_FS_URI} ${CLUSTER_FS_HOST} $DIR; sleep 1000"}]}
    with Stack(services=True, options={"svcmgr": {"fs.defaultFS": "hdfs://nn.example:8020"}}) as stack:
        assert stack.launch(document)["quicklinks"] == {"namenode": "http://nn.example:9870/"}
        wait_for(lambda: stack.services("GET", "/web/component-instances/hello-0/logs/stdout.txt").body ==
                 b"hdfs://nn.example:8020 nn.example hdfs://nn.example:8020/user/alice/.yarn/services/web\n", "what it was given")
