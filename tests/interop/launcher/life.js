'use strict';
// Lives of jobs by launcher.js. Ends with an exception at the first thing that is not as the API says. Words: URL DIRECTORY PATIENCE-MS.

const assert = require('assert');
const fs = require('fs');
const http = require('http');
const os = require('os');
const path = require('path');
const {Jobs} = require('./launcher');

const [url, directory, patience] = process.argv.slice(2);
const alice = new Jobs(url, 'alice');
const bob = new Jobs(url, 'bob');
const TRAIN = 'alice~train';

/** The scripts of a job's roles are a directory, by their numbers; what a job works on comes from the web. */
function writeScripts(scripts) {
  const folder = path.join(directory, 'YarnContainerScripts');
  fs.mkdirSync(folder, {recursive: true});
  scripts.forEach((text, i) => fs.writeFileSync(path.join(folder, `${i}.sh`), text));
  return folder;
}

function serveData() {
  const server = http.createServer((request, response) => response.end('42\n'));
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

function role(number, sources, tasks, gpus, policy) {
  return {
    taskNumber: tasks,
    taskRetryPolicy: {fancyRetryPolicy: false, maxRetryCount: 0},
    taskService: {
      version: 0,
      entryPoint: `source YarnContainerScripts/${number}.sh`,
      sourceLocations: sources,
      resource: {
        cpuNumber: 1,
        memoryMB: 64,
        portDefinitions: {http: {start: 0, count: 1}, ssh: {start: 0, count: 1}},
        diskType: 0,
        diskMB: 0,
        gpuNumber: gpus,
        gpuAttribute: 0,
      },
    },
    applicationCompletionPolicy: policy,
    platformSpecificParameters: {taskNodeGpuType: null},
  };
}

function job(user, cluster, taskRoles, version) {
  return {
    version: version || 10,
    user: {name: user},
    retryPolicy: {fancyRetryPolicy: true, maxRetryCount: 0},
    taskRoles,
    platformSpecificParameters: {queue: cluster, taskNodeGpuType: null, gangAllocation: true,
      amResource: {cpuNumber: 1, memoryMB: 1024, diskType: 0, diskMB: 0}},
  };
}

async function until(what, look) {
  const end = Date.now() + Number(patience);
  for (;;) {
    const [isThere, seen] = await look();
    if (isThere) {
      return seen;
    }
    assert(Date.now() < end, `${what}; last: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function untilState(name, state) {
  return until(`${name} is ${state}`, async () => {
    const now = await alice.get(name);
    return [now.state === state, now];
  });
}

/** All of its tasks run. */
function untilRuns(name, tasks) {
  return until(`${name} runs`, async () => {
    const now = await alice.get(name);
    const all = [].concat(...Object.values(now.roles));
    return [now.state === 'RUNNING' && all.length === tasks && all.every((task) => task.state === 'CONTAINER_RUNNING'), now];
  });
}

function refused(status, promise) {
  return assert.rejects(promise, (error) => error.status === status);
}

async function aJobRuns(roles) {
  await refused(404, alice.get(TRAIN));
  const answer = await alice.submit(TRAIN, job('alice', 'vision', roles));
  assert.strictEqual(answer.headers.location, `${url}/v1/Frameworks/alice~train`);
  const stored = (await alice.own(TRAIN)).frameworkDescriptor;
  assert.strictEqual(stored.version, 10);
  assert.strictEqual(stored.platformSpecificParameters.gangAllocation, true);
  assert.strictEqual(stored.taskRoles.worker.taskService.resource.diskType, 'HDD');
  const now = await untilRuns(TRAIN, 3);
  const tasks = [].concat(...Object.values(now.roles));
  assert.strictEqual(new Set(tasks.map((task) => task.ip)).size, 3);
  for (const task of tasks) {
    assert.deepStrictEqual(Object.keys(task.ports).sort(), ['http', 'ssh']);
    assert(task.ports.http[0] >= 2000 && task.ports.ssh[0] >= 2000 && task.ports.http[0] !== task.ports.ssh[0]);
  }
  assert.deepStrictEqual(now.roles.worker.map((task) => task.gpus), [1, 2]);
  assert.deepStrictEqual(now.roles.server.map((task) => task.gpus), [0]);
  assert.strictEqual(new Set((await alice.ssh(TRAIN)).map((one) => one.id)).size, 3);
  await refused(409, alice.submit(TRAIN, job('alice', 'vision', roles)));
}

async function jobsAreListed(roles) {
  await bob.submit('bob~own', job('bob', 'speech', {server: roles.server}));
  assert.deepStrictEqual((await alice.list('alice')).map((one) => [one.name, one.cluster, one.gpus, one.tasks, one.state]),
      [[TRAIN, 'vision', 2, 3, 'RUNNING']]);
  assert.deepStrictEqual((await alice.list()).map((one) => one.user), ['alice', 'bob']);
  assert.deepStrictEqual(await alice.list('nobody'), []);
  assert.deepStrictEqual(await bob.clusters(), {vision: {jobs: 1, gpus: 2}, speech: {jobs: 1, gpus: 0}});
}

/** Neither this server nor the launcher lets one user change another's job. */
async function foreignUsersAreRefused(roles) {
  await refused(403, bob.execute(TRAIN, 'STOP'));
  await refused(403, bob.remove(TRAIN));
  await refused(403, bob.change('PUT', bob.path(TRAIN, '/ExecutionType'), {executionType: 'STOP'}));
  await refused(403, bob.change('DELETE', bob.path(TRAIN)));
  await refused(400, bob.change('PUT', bob.path(TRAIN), job('alice', 'vision', roles)));
  await refused(404, bob.execute('bob~none', 'STOP'));
  assert.strictEqual((await alice.get(TRAIN)).state, 'RUNNING');
}

/** A job that was stopped starts again as another version only. */
async function aJobStopsAndStartsAgain(roles) {
  const before = await alice.get(TRAIN);
  await alice.execute(TRAIN, 'STOP');
  const stopped = await untilState(TRAIN, 'STOPPED');
  assert.deepStrictEqual([stopped.exitCode, stopped.exitType], [-7351, 'NON_TRANSIENT']);
  assert.deepStrictEqual([].concat(...Object.values(stopped.roles)).map((task) => task.exitCode), [-7400, -7400, -7400]);
  await alice.execute(TRAIN, 'START');
  assert.strictEqual((await alice.own(TRAIN)).frameworkDescriptor.executionType, 'START');
  assert.strictEqual((await alice.get(TRAIN)).state, 'STOPPED');
  await alice.submit(TRAIN, job('alice', 'vision', roles, 11));
  assert.notStrictEqual((await untilRuns(TRAIN, 3)).application, before.application);
}

async function jobsEnd(sources) {
  await alice.submit('alice~good', job('alice', 'vision', {server: role(1, sources, 1, 0, {minFailedTaskCount: 1, minSucceededTaskCount: null}),
    one: role(2, sources, 2, 0, {minFailedTaskCount: null, minSucceededTaskCount: 1})}));
  await untilState('alice~good', 'SUCCEEDED');
  await alice.submit('alice~bad', job('alice', 'vision', {one: role(3, sources, 1, 0, {minFailedTaskCount: 1, minSucceededTaskCount: 1})}));
  const failed = await untilState('alice~bad', 'FAILED');
  assert.deepStrictEqual([failed.exitCode, failed.exitType], [9, 'UNKNOWN']);
  assert(failed.diagnostics.includes('it broke'), failed.diagnostics);
}

async function theClusterIsConfigured() {
  const root = new Jobs(url, os.userInfo().username);
  assert.deepStrictEqual(await alice.gpuTypes(), []);
  await refused(403, alice.setNodes({}));
  await root.setNodes({'node1': {gpuType: 'k80'}, 'node2': {gpuType: 'p100'}, 'node3': {gpuType: 'k80'}});
  assert.deepStrictEqual(await alice.gpuTypes(), ['k80', 'p100']);
  await refused(400, root.setNodes({'node1': {gpuType: 'k80,p100'}}));
}

async function jobsAreRemoved() {
  for (const [jobs, name] of [[alice, TRAIN], [alice, 'alice~good'], [alice, 'alice~bad'], [bob, 'bob~own']]) {
    await jobs.remove(name);
    await refused(404, jobs.get(name));
    await refused(404, jobs.remove(name));
  }
  assert.deepStrictEqual(await alice.list(), []);
}

async function lives() {
  const work = 'test $(cat data) = 42 || exit 5\ntest -n "$CONTAINER_PORTS" || exit 6\nsleep 100000\n';
  const folder = writeScripts([work, work, 'exit 0\n', 'echo it broke >&2\nexit 9\n']);
  const server = await serveData();
  try {
    const sources = [folder, `http://127.0.0.1:${server.address().port}/of/a/job/data`];
    const policy = {minFailedTaskCount: 1, minSucceededTaskCount: null};
    const roles = {worker: role(0, sources, 2, 1, policy), server: role(1, sources, 1, 0, policy)};
    await aJobRuns(roles);
    await jobsAreListed(roles);
    await foreignUsersAreRefused(roles);
    await aJobStopsAndStartsAgain(roles);
    await jobsEnd(sources);
    await theClusterIsConfigured();
    await jobsAreRemoved();
  } finally {
    server.close();
  }
}

lives().then(() => console.log('lived'), (error) => {
  console.error(error);
  process.exitCode = 1;
});
