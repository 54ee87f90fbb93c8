import { expect, test } from 'vitest'
import { renderEnd } from '../../../../src/ui/cli/init/end.ts'
import type { RawConfiguration } from '../../../../src/operations/init/yaml.ts'

const configuration: RawConfiguration = {
  dataDir: '/data',
  admin: { listen: '127.0.0.1:8080' },
  syncs: [
    {
      name: 'corp',
      source: { type: 'csv', users: { path: 'users.csv', map: { external_id: 'id' } } },
      directory: {
        baseUrl: 'https://x.example',
        organizationId: 1,
        directoryId: 7,
        token: { env: 'TOKEN' },
      },
      policy: 'mirror',
    },
  ],
}

const situation = { file: '/etc/dirsyncd.yaml', isUsual: false, mayWrite: true, left: [] as string[] }

function next(more: Partial<typeof situation>, columns?: number): string[] {
  const lines = renderEnd(configuration, { ...situation, ...more }, ['/etc/dirsyncd.yaml'], columns)
  return lines.slice(lines.indexOf('What comes next:') + 1)
}

test('what was left in the directory comes first', () => {
  const left = ['The user x could not be deleted: no. Delete it in the service.']
  expect(next({ left }).slice(0, 3)).toEqual([
    `  ${left[0]}`,
    '      as long as it is there, the first sync waits for dirsyncd approve RUN',
    '  dirsyncd plan corp --config /etc/dirsyncd.yaml',
  ])
  expect(next({})[0]).toBe('  dirsyncd plan corp --config /etc/dirsyncd.yaml')
})

test('a path that a shell would take apart is quoted', () => {
  expect(
    next({ file: "/my conf/$x#'.yaml", mayWrite: false }).filter((line) => /^ {2}\S/.test(line)),
  ).toEqual([
    "  dirsyncd plan corp --config '/my conf/$x#'\\''.yaml'",
    "  dirsyncd check corp --writes --config '/my conf/$x#'\\''.yaml'",
    "  dirsyncd sync corp --config '/my conf/$x#'\\''.yaml'",
    "  dirsyncd start --config '/my conf/$x#'\\''.yaml'",
  ])
})

test('what is copied is not broken into lines, and all else is', () => {
  const lines = next({ file: '/my conf/dirsyncd.yaml' }, 40)
  expect(lines[0]).toBe("  dirsyncd plan corp --config '/my conf/dirsyncd.yaml'")
  expect(lines.filter((line) => line.length > 40).every((line) => line.startsWith('  dirsyncd '))).toBe(true)
})
