import { Company, type Draft } from './company.ts'
import { Rng } from './rng.ts'
import type { Story } from './story.ts'
import { THEMES } from './themes/themes.ts'

/** The story of a seed: always the same one. */
export function makeStory(seed: number): Story {
  const rng = new Rng(seed)
  const theme = THEMES[seed % THEMES.length]!
  const company = new Company(rng)
  theme.begin?.(company)
  const service = company.service(rng.pick([0, 0.5, 0.9, 1]))
  const steps = Array.from({ length: theme.steps ?? 3 + rng.int(4) }, (_, number) => {
    if (number > 0 && theme.isQuiet !== true) company.live(rng.int(3))
    const draft = company.draft()
    if (theme.isQuiet !== true) disturb(company, draft)
    theme.step(company, draft, number)
    return company.step(draft)
  })
  return { seed, theme: theme.name, service, steps }
}

/** Sometimes something happens that the theme does not know of. */
function disturb({ rng, users, groups }: Company, draft: Draft): void {
  const ids = [...users.keys()]
  const disturbances: readonly (() => void)[] = [
    () =>
      void (draft.ends = rng.pick([
        'crash-before-keep',
        'crash-after-keep',
        'crash-in-apply',
        'error-in-apply',
      ])),
    () =>
      rng
        .some(ids, 1)
        .forEach((id) => draft.fates.set(id, rng.pick(['refused', 'forgotten', 'busy', 'garbled']))),
    () => rng.some(ids, 2).forEach((id) => draft.hidden.user.add(id)),
    () => void (draft.only = { users: rng.some(ids, 2), groups: rng.some([...groups.keys()], 1) }),
    () => draft.decides.push({ does: rng.pick(['approve', 'reject']) }),
    () => draft.decides.push({ does: 'approve' }),
    () => void (draft.undo = { back: 1, part: {} }),
    () => rng.some(ids, 2).forEach((id) => draft.listing.hiddenUsers.add(id)),
    () => void (draft.mode = 'plan'),
  ]
  if (rng.chance(0.25)) rng.pick(disturbances)()
}
