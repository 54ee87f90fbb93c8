import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { program } from './packages.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Builds images without a Docker engine, in a storage of its own. */
export class Images {
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  /**
   * Makes what the Dockerfiles begin with: Debian by debootstrap, and the same with the Node of this process and the npm
   * of this machine.
   */
  makeBases(): void {
    const debian = join(this.#dir, 'debian')
    run(program('debootstrap'), ['--variant=minbase', '--include=ca-certificates', 'bookworm', debian])
    const authorities = process.env['NODE_EXTRA_CA_CERTS']
    const trusted = '/etc/ssl/certs/ca-certificates.crt'
    if (authorities !== undefined) cpSync(authorities, join(debian, trusted))
    this.#commit(debian, baseOf('deploy/openldap'), trusted)
    cpSync(realpathSync(process.execPath), join(debian, 'usr/local/bin/node'))
    const modules = join(debian, 'usr/local/lib/node_modules')
    mkdirSync(modules, { recursive: true })
    cpSync(npmFolder(), join(modules, 'npm'), { recursive: true, dereference: true })
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(debian, 'usr/local/bin/npm'))
    run('chroot', [debian, 'useradd', '--uid', '1000', '--user-group', '--create-home', 'node'])
    this.#commit(debian, baseOf('.'), trusted)
  }

  /** Builds the Dockerfile of a folder of the repository; the format keeps HEALTHCHECK, which OCI's drops. */
  build(folder: string, name: string): void {
    const how = ['--isolation=chroot', '--pull-never', '--format=docker']
    this.#buildah('bud', ...how, '--tag', name, join(ROOT, folder))
  }

  /** What the image says of itself, as Docker does. */
  inspect(name: string): any {
    return JSON.parse(this.#buildah('inspect', '--type=image', name)).Docker.config
  }

  /** The folder in which the files of the image are. */
  mount(name: string): string {
    const container = this.#buildah('from', '--pull-never', name).trim()
    return this.#buildah('mount', container).trim()
  }

  #commit(folder: string, name: string, trusted: string): void {
    const container = this.#buildah('from', 'scratch').trim()
    this.#buildah('copy', '--quiet', container, folder, '/')
    this.#buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${trusted}`, container)
    this.#buildah('commit', '--quiet', container, name)
    this.#buildah('rm', container)
  }

  #buildah(...args: readonly string[]): string {
    const storage = [
      '--storage-driver=vfs',
      '--root',
      join(this.#dir, 'storage'),
      '--runroot',
      join(this.#dir, 'run'),
    ]
    return run(program('buildah'), [...storage, ...args])
  }
}

/** What the Dockerfile of a folder begins with, by its whole name. */
function baseOf(folder: string): string {
  const dockerfile = readFileSync(join(ROOT, folder, 'Dockerfile'), 'utf8')
  const names = new Set([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name))
  if (names.size !== 1) throw new Error(`${folder}/Dockerfile begins with ${[...names].join(', ')}`)
  return `docker.io/library/${[...names].join('')}`
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  return execFileSync(command, args, {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  })
}

/** Beside the Node of this machine, which may be older than that of this process. */
function npmFolder(): string {
  const script = run('sh', ['-c', 'readlink -f "$(command -v npm)"']).trim()
  return dirname(dirname(script))
}

export interface RunOptions {
  /** The files of the image. */
  readonly root: string
  /** What is mounted where; a path that ends with `:ro` cannot be written. */
  readonly volumes: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
}

/** Namespaces of its own for mounts, processes and network; nothing but the volumes and /tmp can be written. */
const CONTAINER = `
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
for volume in $VOLUMES; do
  mount --bind "\${volume%%=*}" "$ROOT\${volume#*=}"
done
mount -t tmpfs tmpfs "$ROOT/tmp"
mount -t proc proc "$ROOT/proc"
mount --bind /dev "$ROOT/dev"
ip link set lo up
exec chroot "$ROOT" $AS_USER "$@"
`

/** As user 1000, without any capability and without a way to get one. */
const AS_USER =
  'setpriv --reuid=1000 --regid=1000 --clear-groups --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs'

/** A process of an image, as a container engine runs it with a read-only root and no capabilities. */
export class Container implements AsyncDisposable {
  readonly #options: RunOptions
  readonly #process: ChildProcess
  #output = ''

  constructor(options: RunOptions, command: readonly string[]) {
    this.#options = options
    const { root, volumes, env } = options
    for (const path of Object.values(volumes))
      if (!existsSync(join(root, path))) throw new Error(`no ${path}`)
    const mounts = Object.entries(volumes).map(([from, to]) => `${from}=${to}`)
    const unshare = [
      '--mount',
      '--net',
      '--pid',
      '--fork',
      '--kill-child',
      'sh',
      '-c',
      CONTAINER,
      'container',
    ]
    this.#process = spawn('unshare', [...unshare, ...command], {
      env: { ...env, PATH: PATH_OF_IMAGE, ROOT: root, VOLUMES: mounts.join(' '), AS_USER },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk))
  }

  /** Resolves when its output matches; rejects when it has ended or takes longer than two minutes. */
  async says(pattern: RegExp): Promise<void> {
    const deadline = performance.now() + 120_000
    while (!pattern.test(this.#output)) {
      if (this.#process.exitCode !== null || performance.now() > deadline)
        throw new Error(`the container does not say ${String(pattern)}: ${this.#output}`)
      await sleep(50)
    }
  }

  /** The first process within, by its number outside. */
  get pid(): number {
    const children = run('ps', ['-o', 'pid=', '--ppid', String(this.#process.pid)]).trim()
    return Number(children)
  }

  /** Runs another command within, as the same user. */
  exec(...command: readonly string[]): { readonly code: number | null; readonly output: string } {
    const { root, env } = this.#options
    const within = [
      '--target',
      String(this.pid),
      '--mount',
      '--net',
      '--pid',
      'chroot',
      root,
      ...AS_USER.split(' '),
    ]
    try {
      return { code: 0, output: run('nsenter', [...within, ...command], { ...env, PATH: PATH_OF_IMAGE }) }
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number | null; stdout: string; stderr: string }
      return { code: status, output: `${stdout}${stderr}` }
    }
  }

  /** Sends SIGTERM to the first process, and resolves with the exit code and how long it took in milliseconds. */
  async stop(): Promise<{ readonly code: number | null; readonly ms: number }> {
    const from = performance.now()
    process.kill(this.pid, 'SIGTERM')
    const [code] = await once(this.#process, 'close')
    return { code: code as number | null, ms: performance.now() - from }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return
    // With its first process all others of the namespace end.
    process.kill(this.pid, 'SIGKILL')
    await once(this.#process, 'close')
  }
}

const PATH_OF_IMAGE = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
