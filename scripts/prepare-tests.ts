import { install, installCommand, missing } from '../test/support/packages.ts'

/** The tests run against real servers: installs those that are missing, and says nothing when all are there. */
function prepare(): void {
  const wanted = missing()
  if (wanted.length === 0) return
  if (process.getuid?.() !== 0) {
    fail(`The tests need Debian packages that are not installed. Run: ${installCommand(wanted)}`)
    return
  }
  try {
    install(wanted)
  } catch {
    fail(`Installing ${wanted.join(', ')} failed; see above. The tests need them.`)
    return
  }
  const still = missing()
  if (still.length > 0) fail(`Still missing after the installation: ${still.join(', ')}.`)
}

function fail(why: string): void {
  console.error(why)
  process.exitCode = 1
}

prepare()
