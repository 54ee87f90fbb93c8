import { install, installCommand, missing } from '../test/support/packages.ts'

/**
 * Installs the missing servers and tools that the tests need; prints nothing when all are installed. With `vendors`, it
 * also installs Samba and 389-ds, with `faults` a library that steps clocks, with `image` what builds images.
 */
function prepare(more: 'vendors' | 'faults' | 'image' | undefined): void {
  const needed = missing(more)
  if (needed.length === 0) return
  if (process.getuid?.() !== 0) {
    fail(`The tests need Debian packages that are not installed. Run: ${installCommand(needed)}`)
    return
  }
  try {
    install(needed)
  } catch {
    fail(`Installing ${needed.join(', ')} failed; see above. The tests need these packages.`)
    return
  }
  const remaining = missing(more)
  if (remaining.length > 0) fail(`Still missing after the installation: ${remaining.join(', ')}.`)
}

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}

const [, , what] = process.argv
prepare(what === 'vendors' || what === 'faults' || what === 'image' ? what : undefined)
