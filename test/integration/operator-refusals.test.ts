import { expect, test } from 'vitest'
import type { Perform } from '../../src/service/admin/perform.ts'
import { parseYaml } from '../../src/service/fixture/read.ts'
import { describeService } from '../contract/with-service.ts'
import { operatorOf } from '../support/operator.ts'
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
    for (let round = 0; round < 2; round += 1) {
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
})
