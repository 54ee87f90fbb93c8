import { install, installCommand, missing } from '../test/support/packages.ts'

/**
 * The tests run against real servers: installs those that are missing, and says nothing when all are there. Those of
 * other vendors only with `vendors`.
 */
function prepare(vendors: boolean): void {
  const wanted = missing(vendors)
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
  const still = missing(vendors)
  if (still.length > 0) fail(`Still missing after the installation: ${still.join(', ')}.`)
}

function fail(why: string): void {
  console.error(why)
  process.exitCode = 1
}

prepare(process.argv[2] === 'vendors')
