'use strict';
// The FrameworkLauncher API as the server of a job system asks it, over unirest: who may do what to a job is compared here first, 202 is the
// only success of a change, and what users see of a job is made of the launcher's documents.

const unirest = require('unirest');

const ACCEPTED = 202;
const HEADERS = {'Accept': 'application/json', 'Content-Type': 'application/json'};
const STOPPED_BY_REQUEST = -7351;

/** A request that did not succeed, the launcher's or this server's own refusal. */
class Refused extends Error {
  constructor(status, said) {
    super(`${status}: ${said && said.message ? said.message : JSON.stringify(said)}`);
    this.status = status;
    this.said = said;
  }
}

/** One request; its response whatever its status. */
function ask(request, user, body) {
  return new Promise((resolve, reject) => {
    request.headers(Object.assign({UserName: user}, HEADERS));
    if (body !== undefined) {
      request.send(JSON.stringify(body));
    }
    request.end((response) => response.status ? resolve(response) : reject(response.error || new Error('no answer')));
  });
}

/** What users see of the states of a framework. */
function jobState(frameworkState, exitCode) {
  if (frameworkState === 'APPLICATION_RUNNING') {
    return 'RUNNING';
  }
  if (frameworkState !== 'FRAMEWORK_COMPLETED') {
    return 'WAITING';
  }
  return exitCode === 0 ? 'SUCCEEDED' : exitCode === STOPPED_BY_REQUEST ? 'STOPPED' : 'FAILED';
}

/** "http:8080,8081;ssh:2200;" by labels. */
function portsOf(text) {
  const ports = {};
  for (const part of (text || '').split(';').filter(Boolean)) {
    const colon = part.lastIndexOf(':');
    ports[part.slice(0, colon)] = part.slice(colon + 1).split(',').map(Number);
  }
  return ports;
}

/** One user's view of all jobs. */
class Jobs {
  constructor(url, user) {
    this.root = `${url}/v1`;
    this.user = user;
  }

  async read(path, query) {
    const response = await ask(unirest.get(this.root + path).query(query || {}), this.user);
    if (response.status !== 200) {
      throw new Refused(response.status, response.body);
    }
    return response.body;
  }

  async change(method, path, body) {
    const response = await ask(unirest(method, this.root + path), this.user, body);
    if (response.status !== ACCEPTED) {
      throw new Refused(response.status, response.body);
    }
    if (response.raw_body) {
      throw new Error(`an answer of ${ACCEPTED} has a body: ${response.raw_body}`);
    }
    return response;
  }

  path(name, rest) {
    return `/Frameworks/${encodeURIComponent(name)}${rest || ''}`;
  }

  /** Jobs, of one user when it is named. */
  async list(user) {
    const all = await this.read('/Frameworks', user ? {UserName: user} : {});
    return all.summarizedFrameworkInfos.map((job) => ({
      name: job.frameworkName,
      user: job.userName,
      cluster: job.queue,
      state: jobState(job.frameworkState, job.applicationExitCode),
      retries: job.frameworkRetryPolicyState.retriedCount,
      gpus: job.totalGpuNumber,
      tasks: job.totalTaskNumber,
      createdAt: job.firstRequestTimestamp,
      completedAt: job.frameworkCompletedTimestamp,
    }));
  }

  /** A job with its tasks. */
  async get(name) {
    const info = await this.read(this.path(name));
    const status = info.aggregatedFrameworkStatus.frameworkStatus;
    const roles = {};
    for (const [role, one] of Object.entries(info.aggregatedFrameworkStatus.aggregatedTaskRoleStatuses)) {
      roles[role] = one.taskStatuses.taskStatusArray.map((task) => ({
        index: task.taskIndex,
        state: task.taskState,
        container: task.containerId,
        ip: task.containerIp,
        ports: portsOf(task.containerPorts),
        gpus: task.containerGpus,
        exitCode: task.containerExitCode,
      }));
    }
    return {
      name: info.summarizedFrameworkInfo.frameworkName,
      user: info.summarizedFrameworkInfo.userName,
      cluster: info.summarizedFrameworkInfo.queue,
      state: jobState(status.frameworkState, status.applicationExitCode),
      application: status.applicationId,
      exitCode: status.applicationExitCode,
      exitType: status.applicationExitType,
      diagnostics: status.applicationExitDiagnostics,
      roles,
    };
  }

  /** Where to log in: each container that has a port for it. */
  async ssh(name) {
    const job = await this.get(name);
    return [].concat(...Object.values(job.roles)).filter((task) => task.ip && task.ports.ssh)
        .map((task) => ({id: task.container, ip: task.ip, port: task.ports.ssh[0]}));
  }

  /** A name that is in use by a job that is not over is refused. */
  async submit(name, descriptor) {
    try {
      const job = await this.get(name);
      if (job.state === 'WAITING' || job.state === 'RUNNING') {
        throw new Refused(409, {message: `${name} is ${job.state}`});
      }
    } catch (error) {
      if (error.status !== 404) {
        throw error;
      }
    }
    return this.change('PUT', this.path(name), descriptor);
  }

  /** What is wanted of a job, when it is this user's. */
  async own(name) {
    const request = await this.read(this.path(name, '/FrameworkRequest'));
    const owner = request.frameworkDescriptor.user.name;
    if (owner !== this.user) {
      throw new Refused(403, {message: `${name} is a job of ${owner}`});
    }
    return request;
  }

  async execute(name, executionType) {
    await this.own(name);
    return this.change('PUT', this.path(name, '/ExecutionType'), {executionType});
  }

  async remove(name) {
    await this.own(name);
    return this.change('DELETE', this.path(name));
  }

  /** Virtual clusters are queues: what the jobs that are not over ask of each. */
  async clusters() {
    const clusters = {};
    for (const job of await this.list()) {
      const one = clusters[job.cluster] = clusters[job.cluster] || {jobs: 0, gpus: 0};
      if (job.state === 'WAITING' || job.state === 'RUNNING') {
        one.jobs++;
        one.gpus += job.gpus;
      }
    }
    return clusters;
  }

  /** Types of GPU that the nodes have. */
  async gpuTypes() {
    const configuration = await this.read('/LauncherRequest/ClusterConfiguration');
    return [...new Set(Object.values(configuration.nodes || {}).map((node) => node.gpuType))];
  }

  setNodes(nodes) {
    return this.change('PUT', '/LauncherRequest/ClusterConfiguration', {nodes});
  }
}

module.exports = {Jobs, Refused};
