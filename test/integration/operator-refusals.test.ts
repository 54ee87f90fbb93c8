import { expect, test } from 'vitest'
import { silentLog } from '../../src/log.ts'
import { buildServiceAdminApp } from '../../src/service/admin/app.ts'
import type { Perform } from '../../src/service/admin/perform.ts'
import { parseYaml } from '../../src/service/fixture/read.ts'
import { describeService } from '../contract/with-service.ts'
import { FIXTURE_YAML } from '../support/fixture.ts'
import { adminDepsOf, operatorOf } from '../support/operator.ts'
import { testContext } from '../support/service.ts'

/** What an operator is told who gets something wrong, or who is not alone. */

describeService('an operator is told', {}, (service) => {
  const perform: Perform = (operation, input) => operatorOf(service())(operation, input)
  const createOrganization = (more: object = {}) =>
    perform('createResource', {
      resource: 'organization',
      values: { name: 'Labs', allowedDomains: ['labs.example'], ...more },
    })
  const changeOrganization = (id: number, values: object, lists: object = {}) =>
    perform('changeResource', { resource: 'organization', id, values: { ...values }, ...lists })
  const createKey = (organizationId: number) => perform('createSamlKey', { organizationId })

  test('that a SAML key is no longer there, which another command removed at the same time', async () => {
    const { id: organizationId } = await createOrganization()
    await createKey(organizationId)
    const { id } = await createKey(organizationId)
    const removing = operatorOf(service(), {
      writeContext: async () => {
        await perform('removeSamlKey', { id })
        return testContext()
      },
    })
    await expect(removing('useSamlKey', { id })).rejects.toThrow(`There is no SAML key ${id};`)
  })

  test('by one of two commands that use and remove a SAML key at once that the other was first', async () => {
    const { id: organizationId } = await createOrganization()
    await createKey(organizationId)
    for (let round = 0; round < 5; round += 1) {
      const { id } = await createKey(organizationId)
      const done = await Promise.allSettled([perform('useSamlKey', { id }), perform('removeSamlKey', { id })])
      const refused = done.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []))
      expect(refused).toEqual([
        expect.stringMatching(/There is no SAML key \d+;|The key \d+ signs for organization/),
      ])
      const keys = await perform('listSamlKeys', { organizationId })
      expect(keys.filter(({ current }) => current)).toHaveLength(1)
    }
  })

  test('that the last domain of an organization cannot be removed', async () => {
    const { id } = await createOrganization()
    const remove = { allowedDomains: ['labs.example'] }
    await expect(changeOrganization(id, {}, { remove })).rejects.toThrow(
      '--remove-domain must leave at least one; add another one with --add-domain.',
    )
    const add = { allowedDomains: ['new.example'] }
    expect(await changeOrganization(id, {}, { remove, add })).toMatchObject(add)
  })

  test('which organization has a SAML entity id already', async () => {
    const entityId = 'https://labs.example/saml'
    const owner = await createOrganization({ entityId })
    const another = await createOrganization()
    const sentence = new RegExp(
      `^Organization ${owner.id} has the entity id ${entityId} already; give organization \\d+ another one\\.$`,
    )
    await expect(createOrganization({ entityId })).rejects.toMatchObject({ code: 'usage', message: sentence })
    await expect(changeOrganization(another.id, { entityId })).rejects.toThrow(sentence)
    expect(await changeOrganization(owner.id, { name: 'Renamed', entityId })).toMatchObject({ changed: true })

    const yaml = (id: number) =>
      `organizations: [{ id: ${id}, name: Third, allowedDomains: [a.org], entityId: "${entityId}" }]`
    const importInto = (id: number) =>
      perform('importFixture', { path: 'f.yaml', content: parseYaml(yaml(id), 'f.yaml') })
    expect((await importInto(another.id)).different).toContain(`entityId of organization ${another.id}`)
    await expect(importInto(900)).rejects.toMatchObject({
      code: 'config-invalid',
      message:
        `The file f.yaml cannot be used: Organization ${owner.id} has the entity id ${entityId} already; give ` +
        'organization 900 another one.',
    })
  })

  test('by one of two commands that give the same SAML entity id at once', async () => {
    const values = { entityId: 'urn:both' }
    const done = await Promise.allSettled([createOrganization(values), createOrganization(values)])
    expect(done.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('which groups lose a contact or an installation that is removed', async () => {
    const { id: organizationId } = await createOrganization()
    const contact = async () => {
      const values = { name: 'Eve', email: 'eve@labs.example' }
      return (await perform('createResource', { resource: 'contact', ownerId: organizationId, values })).id
    }
    const [eve, eva] = [await contact(), await contact()]
    const configuration = { url: 'https://labs.example' }
    const { id: installation } = await perform('createResource', {
      resource: 'installation',
      ownerId: organizationId,
      values: { provider: 1, name: 'Labs', slug: 'labs', configuration },
    })
    for (const members of [{ contacts: [eve, eva] }, { contacts: [eve], installations: [installation] }]) {
      const values = { name: 'Group', ...members }
      await perform('createResource', { resource: 'group', ownerId: organizationId, values })
    }
    const remove = (resource: 'contact' | 'installation' | 'organization', id: number) =>
      perform('removeResource', { resource, id, withContents: true })
    expect(
      await perform('removeResource', { resource: 'contact', id: eve, withContents: false }),
    ).toMatchObject({
      with: 'a place in 2 groups',
    })
    const credentials = { login: 'a', password: 'b' }
    const values = { installation, name: 'Labs', credentials }
    await perform('createResource', { resource: 'subscription', ownerId: eva, values })
    await expect(
      perform('removeResource', { resource: 'contact', id: eva, withContents: false }),
    ).rejects.toThrow('has 1 subscription, a place in 1 group; nothing is removed')
    expect(await remove('installation', installation)).toMatchObject({
      with: '1 subscription, a place in 1 group',
    })
    expect(await remove('organization', organizationId)).toMatchObject({ with: '1 contact, 2 groups' })
  })

  test('through the socket which key of a file is unknown, also where JSON gives it a meaning', async () => {
    const app = buildServiceAdminApp(adminDepsOf(service()), silentLog())
    const entries = Object.entries(parseYaml(FIXTURE_YAML, 'f.yaml') as object)
    for (const key of ['unknown', '__proto__', 'constructor']) {
      const content: unknown = Object.fromEntries([[key, { prototype: 1 }], ...entries])
      const answer = await app.inject({
        method: 'POST',
        url: '/importFixture',
        payload: { path: 'f.yaml', content },
      })
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        {
          code: 'config-invalid',
          message: `The file f.yaml cannot be used: the file has the unknown key "${key}".`,
        },
      ])
    }
  })
})
