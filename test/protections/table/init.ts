import type { Protection } from '../protection.ts'

const STAGE = 'unit/compose/init/stage.test.ts'
const COMMAND = 'e2e/init.test.ts'
const DISCOVER = 'integration/source-ldap-discover.test.ts'

/** What `dirsyncd init` leaves behind, and whom it trusts: `src/compose/init/` and `src/cli/init/`. */
export const INIT: readonly Protection[] = [
  {
    name: 'init-a-secret-is-for-its-owner',
    file: 'compose/init/stage.ts',
    find: 'const SECRET_FILE = 0o600',
    replace: 'const SECRET_FILE = 0o644',
    test: STAGE,
  },
  {
    name: 'init-a-folder-of-secrets-is-for-its-owner',
    file: 'compose/init/stage.ts',
    find: 'const SECRET_FOLDER = 0o700',
    replace: 'const SECRET_FOLDER = 0o755',
    test: STAGE,
  },
  {
    name: 'init-what-is-not-placed-is-removed',
    file: 'compose/init/stage.ts',
    find: 'await rm(folder, { recursive: true, force: true })\n    process.off',
    replace: 'await lstat(folder)\n    process.off',
    test: STAGE,
  },
  {
    name: 'init-all-is-placed-or-nothing',
    file: 'compose/init/stage.ts',
    find: 'for (const path of placed) await unlink(path)',
    replace: '',
    test: STAGE,
  },
  {
    name: 'init-nothing-is-overwritten',
    file: 'compose/init/stage.ts',
    find: 'await link(from, to)',
    replace: 'await rename(from, to)',
    test: STAGE,
    only: 'by somebody else',
  },
  {
    name: 'init-a-configuration-that-exists-ends-it',
    file: 'compose/init/stage.ts',
    find: 'if (await exists(file)) throw alreadyThere(file)',
    replace: '',
    test: STAGE,
  },
  {
    name: 'init-another-certificate-is-not-trusted',
    file: 'cli/init/server.ts',
    find: 'fingerprintDigits(known) === fingerprintDigits(expected)',
    replace: 'fingerprintDigits(known) !== fingerprintDigits(expected)',
    test: COMMAND,
    only: 'another certificate',
  },
  {
    name: 'init-a-certificate-that-a-person-does-not-know-is-not-trusted',
    file: 'cli/init/server.ts',
    find: 'if (!isRight)',
    replace: 'if (isRight === undefined)',
    test: COMMAND,
    only: 'a person at a terminal',
  },
  {
    name: 'init-blanks-at-the-ends-belong-to-a-secret',
    file: 'compose/init/draft.ts',
    find: "file.text.replace(/\\n$/, '')",
    replace: 'file.text.trim()',
    test: 'unit/compose/init/draft.test.ts',
  },
  {
    name: 'init-people-of-an-old-kind-are-counted',
    file: 'source/ldap/discover/kinds.ts',
    find: 'const above = lowest < 0 ? [] : LINEAGE.slice(lowest)',
    replace: 'const above = lowest < 0 ? [] : LINEAGE.slice(lowest, lowest)',
    test: DISCOVER,
  },
  {
    name: 'init-groups-within-are-noticed-where-the-filter-leaves-them-out',
    file: 'source/ldap/discover/discover.ts',
    find: 'nesting.addName(entry)',
    replace: '',
    test: DISCOVER,
  },
  {
    name: 'init-one-enter-too-many-empties-no-directory',
    file: 'cli/init/directory.ts',
    find: "{ value: NONE, name: 'None of these: end here, and write nothing' },",
    replace: '',
    test: COMMAND,
    only: 'a person at a terminal',
  },
  {
    name: 'init-a-killed-one-leaves-no-secret-for-long',
    file: 'compose/init/stage.ts',
    find: '    await removeLeft(folder)\n',
    replace: '',
    test: STAGE,
    only: 'was killed',
  },
  {
    name: 'init-the-data-of-another-configuration-are-left-alone',
    file: 'compose/init/stage.ts',
    find: 'if (existsSync(join(folder, LOCK)))',
    replace: "if (folder === '')",
    test: STAGE,
    only: 'another configuration',
  },
  {
    name: 'init-the-filter-of-an-option-is-kept',
    file: 'cli/init/which.ts',
    find: '...(given === undefined ? [] : [{ value: GIVEN, name: `${printable(given)}  (as ${option} says)` }]),',
    replace: '',
    test: 'e2e/init.test.ts',
    only: 'keeps the filters',
  },
]
