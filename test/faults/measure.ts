import { untilSo } from '../support/processes.ts'
import type { Fault } from './faults.ts'
import type { Site } from './site.ts'
import { SHOWS, SURFACES, type Surface, statusOf, surfacesOf } from './surfaces.ts'

/** What became of a fault: seconds until each surface showed its finding, and until none did; undefined: not in time. */
export interface Measured {
  readonly fault: Fault
  readonly foundS: Partial<Record<Surface, number>>
  readonly endedS?: number
  readonly status?: Awaited<ReturnType<typeof statusOf>>
  /** What was wrong about what was told of it. */
  readonly wrong?: string
  /** Where it was looked for. */
  readonly surfaces: readonly Surface[]
}

/** Breaks, waits for the finding on every surface, mends, and waits for its end on all. */
export async function measure(site: Site, fault: Fault): Promise<Measured> {
  const surfaces = surfacesOf(site, fault)
  const { dueS = 0, endsS = 0 } = fault
  const until = (isShown: boolean, patienceS: number) => async (surface: Surface) => {
    const began = performance.now()
    const isSo = async () => (await SHOWS[surface](site, fault)) === isShown
    const isSoInTime = await untilSo(isSo, { withinMs: patienceS * 1000, everyMs: LOOK_MS })
    return isSoInTime ? Math.round((performance.now() - began) / 100) / 10 : undefined
  }
  // What a fault before has left.
  await Promise.all(surfaces.map(until(false, PATIENCE_S)))
  const mend = await fault.begin(site)
  const found = await Promise.all(surfaces.map(until(true, dueS + PATIENCE_S)))
  const status = await statusOf(site).catch(() => undefined)
  const mendedAt = performance.now()
  await mend()
  const mendingS = (performance.now() - mendedAt) / 1000
  const ended = await Promise.all(surfaces.map(until(false, endsS + PATIENCE_S)))
  return {
    fault,
    surfaces,
    foundS: Object.fromEntries(surfaces.map((surface, index) => [surface, found[index]])),
    endedS: ended.every((seconds) => seconds !== undefined) ? mendingS + Math.max(...ended) : undefined,
    status,
    wrong: fault.told?.(site),
  }
}

/** What does not hold of what we promise; undefined: all does. */
export function problemOf({ fault, foundS, endedS, status, surfaces, wrong }: Measured): string | undefined {
  const { code, dueS = 0, endsS = 0, never, says, what } = fault
  const said = status?.findings ?? []
  const falsely = never && said.find((finding) => never.test(JSON.stringify(finding)))
  if (falsely) return `${what}: says falsely ${JSON.stringify(falsely)}`
  if (says && !said.some((finding) => says.test(JSON.stringify(finding))))
    return `${what}: does not say ${says}: ${JSON.stringify(said)}`
  const late = surfaces.find((surface) => (foundS[surface] ?? Infinity) > dueS + WITHIN_S)
  if (late) return `${what}: in ${late} after ${foundS[late] ?? 'too many'} s`
  if (endedS === undefined || endedS > endsS + WITHIN_S) return `${what}: ended after ${endedS ?? 'too many'} s`
  if (wrong !== undefined) return `${what}: ${wrong}`
  const isError = status?.findings.some((finding) => finding.code === code && finding.severity === 'error')
  if (isError && status?.exitCode !== 1) return `${what}: waybridge status ended with ${status?.exitCode}`
  return undefined
}

const COLUMNS = ['Fault', 'Finding', 'Due after, s', ...SURFACES, 'Due to end after, s', 'Ended everywhere after, s']
/** The head of the table. */
export const TABLE_HEAD = [`| ${COLUMNS.join(' | ')} |`, `|${COLUMNS.map(() => '---').join('|')}|`]

/** Its row. */
export function rowOf({ fault: { what, code, dueS = 0, endsS = 0 }, foundS, endedS }: Measured): string {
  const found = SURFACES.map((surface) => shown(foundS[surface]))
  return `| ${[what, `\`${code}\``, dueS, ...found, endsS, shown(endedS)].join(' | ')} |`
}

function shown(seconds: number | undefined): string {
  return seconds?.toFixed(1) ?? '—'
}

const LOOK_MS = 250
const WITHIN_S = 10
/** Longer than what holds, so that the table says by how much it does not. */
const PATIENCE_S = 75
