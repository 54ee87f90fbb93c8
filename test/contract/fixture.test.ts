import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadFixture } from '../../src/service/fixture/load.ts'
import { createEstimator } from '../../src/service/password.ts'
import { testVault } from '../support/service.ts'
import { tempDir } from '../support/temp.ts'
import { ask, problem } from './api.ts'
import { describeService } from './with-service.ts'

function organization(id: number, tokens: string, directories = ''): string {
  return `
  - id: ${id}
    name: Organization ${id}
    allowedDomains: [example.org]
    contacts:
      - { id: ${id}, name: Ada, email: ada@example.org, tokens: [${tokens}] }
    directories: [${directories}]
`
}

describeService('the fixture', {}, (service) => {
  const load = (text: string, path = 'fixture.yaml', now?: Date) => {
    return loadFixture(service().pool, `organizations:${text}`, {
      path,
      vault: testVault(),
      estimate: createEstimator(),
      ...(now === undefined ? {} : { now }),
    })
  }
  const askWith = (token: string, organizationId: number) => {
    return ask(service(), 'listDirectories', { token, organizationId })
  }

  test('takes a token as it is, as its hash, and from a file beside the fixture', async () => {
    await using dir = await tempDir()
    await writeFile(join(dir.path, 'token'), 'token-in-a-file\n')
    const scopes = 'scopes: [ORG_READ], expires: 1h'
    const tokens = [
      `{ token: plain-token, ${scopes} }`,
      `{ sha256: ${hash('sha256', 'hashed-token')}, ${scopes} }`,
      `{ token: { file: token }, ${scopes} }`,
    ]
    const result = await load(organization(100, tokens.join(', ')), join(dir.path, 'fixture.yaml'))
    expect(result).toEqual({ created: [100], leftAlone: [] })
    for (const token of ['plain-token', 'hashed-token', 'token-in-a-file']) {
      expect((await askWith(token, 100)).status).toBe(200)
    }
  })

  test('counts a duration from the start and takes a time as it is', async () => {
    const tokens = `{ token: by-duration, scopes: [ORG_READ], expires: 2h }, { token: by-time, scopes: [ORG_READ], expires: "2020-01-01T00:00:00Z" }`
    await load(organization(101, tokens), 'fixture.yaml', new Date(Date.now() - 3_600_000))
    const seconds = Number((await askWith('by-duration', 101)).headers.get('x-token-expires-in'))
    expect(seconds).toBeGreaterThan(3500)
    expect(seconds).toBeLessThanOrEqual(3600)
    expect(await askWith('by-time', 101)).toMatchObject(problem(401))
  })

  test('brings users and groups, thousands of them', async () => {
    const users = Array.from(
      { length: 2500 },
      (_, index) => `{ external_id: u${index}, name: User ${index} }`,
    )
    const groups = [`{ external_id: g, name: G, external_member_ids: [u1, u0, u1] }`]
    const directory = `{ id: 102, name: D, target_type: csv, doppler: true, users: [${users.join()}], groups: [${groups.join()}] }`
    await load(organization(102, '{ token: many, scopes: [ORG_READ], expires: 1h }', directory))
    const request = { token: 'many', organizationId: 102, directoryId: 102 }
    expect((await ask(service(), 'listUsers', request)).headers.get('total')).toBe('2500')
    expect((await ask(service(), 'listGroups', request)).body).toEqual([
      { external_id: 'g', name: 'G', external_member_ids: ['u0', 'u1'] },
    ])
    expect((await ask(service(), 'getDirectory', request)).body).toEqual({
      id: 102,
      name: 'D',
      doppler: true,
      target_type: 'csv',
    })
  })

  test('leaves an organization alone that is there, and creates the others', async () => {
    await load(organization(103, ''))
    const result = await load(
      organization(103, '{ token: late, scopes: [ORG_READ], expires: 1h }') + organization(104, ''),
    )
    expect(result).toEqual({ created: [104], leftAlone: [103] })
    expect(await askWith('late', 103)).toMatchObject(problem(401))
  })

  test('that uses what another organization has is refused, and nothing of it is created', async () => {
    const taken = organization(105, '') + organization(106, '', '{ id: 7, name: Taken }')
    await expect(load(taken)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('an id of its directories'),
    })
    await expect(load(organization(105, ''))).resolves.toMatchObject({ created: [105] })
    const token = `{ token: ${service().token}, scopes: [ORG], expires: 1h }`
    await expect(load(organization(107, token))).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.not.stringContaining(service().token),
    })
  })

  test('with a token file that is not there is refused with its path', async () => {
    const text = organization(108, '{ token: { file: missing }, scopes: [ORG], expires: 1h }')
    await expect(load(text, '/nowhere/fixture.yaml')).rejects.toMatchObject({
      code: 'secret-unavailable',
      message: expect.stringContaining('/nowhere/missing'),
    })
  })
})
