import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** `npm start`: access-service with the demo's organizations, and dirsyncd beside it, until one of them ends. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

const processes: ChildProcess[] = []

/** A terminal sends Ctrl-C to all three; a service manager signals only this one. */
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const each of processes) each.kill(signal)
  })

start('src/service/main.ts', 'config/demo/access-service.yaml')
start('src/main.ts', 'config/demo.yaml')

const codes = await Promise.all(
  processes.map(async (each) => {
    const [code] = await once(each, 'exit')
    for (const other of processes) other.kill('SIGTERM')
    return code as number | null
  }),
)
process.exitCode = codes.find((code) => code !== 0) ?? 0

function start(program: string, config: string): void {
  const args = [program, 'start', '--config', config]
  processes.push(spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }))
}
