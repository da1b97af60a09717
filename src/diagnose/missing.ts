import { laneIds } from '../domain/ids.ts'
import { counted, joined, say } from '../texts/text.ts'
import type { Facts, Found, MissingPositions } from './facts.ts'
import { byCompany, laneText } from './lane-texts.ts'

/** Returns the troubles of positions that a tracking API took, and does not have. */
export function missingTroubles({ missing = [] }: Facts): Found[] {
  return byCompany(missing).map(missingPositions)
}

function missingPositions({
  company_id,
  lanes: windows,
}: ReturnType<typeof byCompany<MissingPositions>>[number]): Found {
  const lanes = [...Map.groupBy(windows, ({ lane }) => lane)]
    .map(([lane, own]) => ({
      lane,
      missing: sumOf(own, 'missing'),
      checked: sumOf(own, 'checked'),
      repaired: sumOf(own, 'repaired'),
      firstAt: Math.min(...own.map(({ firstAt }) => firstAt)),
      lastAt: Math.max(...own.map(({ lastAt }) => lastAt)),
    }))
    .toSorted((one, other) => other.missing - one.missing)
  const count = sumOf(lanes, 'missing')
  return {
    code: 'missing_at_api',
    subject: { company_id },
    count,
    sinceAt: Math.min(...windows.map(({ at }) => at)),
    message: say(
      'the tracking API does not have {} of company {} that it took, on {}',
      counted(count, '{} position', '{} positions'),
      company_id,
      counted(new Set(lanes.map(({ lane }) => laneIds(lane).route_id)).size, '{} route', '{} routes'),
    ),
    evidence: lanes.map(({ checked, firstAt, lane, lastAt, missing, repaired }) => {
      const [first, last] = [firstAt, lastAt].map((at) => new Date(at).toISOString())
      const what = say('{} of {} compared, from {} to {}', missing, checked, first, last)
      const again = repaired > 0 ? [say('{} of these pushed once more, or queued for that', repaired)] : []
      return joined([laneText(lane), joined([what, ...again], '; ')], ': ')
    }),
  }
}

function sumOf<Name extends string>(some: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return some.reduce((sum, each) => sum + each[name], 0)
}
