import { z } from 'zod'
import { text } from '../base/yaml/values.ts'

const HELP =
  'must be a pattern of ids such as "svc-*", { id: … }, or { from: … } with a pattern of DNs or of files and lines'

const id = z.strictObject({ id: text.describe('One id, byte for byte.') })

const pattern = z.union(
  [
    text,
    id,
    z.strictObject({
      from: text.describe(
        'Pattern of where the entry was read: its DN, or its file and line; * stands for any characters.',
      ),
    }),
  ],
  { error: HELP },
)

const list = z.array(pattern).min(1, { error: 'must name an entry, or be left out' })

const lists = z.strictObject({
  include: list
    .exactOptional()
    .describe(
      'Only these are written and deleted. Left out: all of them. In a text, * stands for any characters.',
    ),
  exclude: list.exactOptional().describe('These are neither written nor deleted.'),
  protected: z
    .array(z.union([text, id], { error: 'must be a pattern of ids such as "svc-*", or { id: … }' }))
    .min(1, { error: 'must name an id, or be left out' })
    .exactOptional()
    .describe('These are never deleted.'),
})

export const entries = z
  .strictObject({
    users: lists.exactOptional().describe('Lists of users.'),
    groups: lists.exactOptional().describe('Lists of groups.'),
  })
  .exactOptional()
  .describe(
    'Entries that are left out or never deleted: by id, by pattern of ids, or by where they were read.',
  )
