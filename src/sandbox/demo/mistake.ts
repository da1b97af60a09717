import { type FleetVan, ROUTES_FROM } from '../fleet.ts'
import type { PaintText } from './view.ts'

/** The time for which the roster of a demo has the first two vans on each other's routes, ms UTC, whole minutes. */
export interface RosterMistake {
  readonly from: number
  readonly until: number
}

/**
 * Returns a roster mistake from half an hour before `now` until all vans, which drive for `drivingMs`, have certainly
 * stopped.
 */
export function createMistake(now: number, drivingMs: number): RosterMistake {
  return { from: minuteOf(now - SINCE_MS), until: minuteOf(now + drivingMs + SPARE_MS) }
}

function minuteOf(at: number): number {
  return Math.floor(at / MINUTE_MS) * MINUTE_MS
}

/** routes.csv for a fleet, with the mistake. */
export function mistakenRoutes(mistake: RosterMistake, fleet: readonly FleetVan[]): string {
  const [from, until] = [mistake.from, mistake.until].map(rfc3339)
  const lines = fleet.map(({ id }, index) => {
    const number = index < MISTAKEN ? MISTAKEN - index : index + 1
    return `${id},${number},${ROUTES_FROM + number},${from},${until}\n`
  })
  return `device,courier_id,route_id,from,until\n${lines.join('')}`
}

/** Returns the description of the mistake, and what corrects it. */
export function mistakeLines(
  mistake: RosterMistake,
  {
    fleet,
    configDir,
    paint,
  }: { readonly fleet: readonly FleetVan[]; readonly configDir: string; readonly paint: PaintText },
): string[] {
  const [from, until] = [mistake.from, mistake.until].map(rfc3339)
  const names = fleet.slice(0, MISTAKEN).map(({ name }) => name)
  const commands = names.map((name, index) => {
    const own = `--route ${ROUTES_FROM + index + 1} --courier ${index + 1}`
    return `npm run -s waybridge -- assign "${name}" ${own} --from ${from} --until ${until} --redeliver --config ${configDir}`
  })
  return [
    `  ${paint('yellow', `Mistake: since ${from} the roster has ${names.join(' and ')} on each other's routes.`)}`,
    `  Put it right on the page (Roster: swap them from that time on), or with both commands:`,
    '',
    ...commands.map((command) => `    ${paint('cyan', command)}`),
    '',
  ]
}

function rfc3339(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z')
}

/** How many vans, the first ones, are on the wrong route. */
export const MISTAKEN = 2
/** Between two earlier fixes of a van. */
export const BACKLOG_MS = 10_000
const MINUTE_MS = 60_000
const SINCE_MS = 30 * MINUTE_MS
/** Time for the start of the processes, and for their work at the end. */
const SPARE_MS = 10 * MINUTE_MS
