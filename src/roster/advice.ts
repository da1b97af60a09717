import { yieldToEventLoop } from '../async.ts'
import type { Device } from '../config/devices.ts'
import { type Files, problemsOf } from '../config/files.ts'
import { type Mistake, nearest, type Problem, placesIn, problemsIn } from '../config/problem.ts'
import type { RouteRow } from '../config/routes.ts'
import { type Interval, localDay } from '../domain/times.ts'
import { say, type Text } from '../texts/text.ts'
import { type Assignment, bySource, topmost } from './assignment.ts'
import { type DeviceEntry, hasRoute, type Stay } from './device-entry.ts'
import type { Roster } from './roster.ts'

/**
 * Yields remarks about files and the roster that they are in, in the order of files and lines: mistakes, lines that are
 * skipped because they name no device, and warnings about lines that take effect but may not be intended: overlapping lines,
 * shared routes, lines of the past, ambiguous local times, and devices without a route today. `now`, ms UTC, and `zone`
 * determine the day that counts as today.
 */
export async function remarksOn(
  files: Files,
  roster: Roster,
  { now, zone }: { readonly now: number; readonly zone: string },
): Promise<Problem[]> {
  const place = placesIn([...files.devices, ...files.routes].map(({ source }) => source))
  const problems = problemsOf(files)
  const warn = (source: string, key: string, message: Text) =>
    problems.push({ severity: 'warning', ...place(source), key, message })
  const day = localDay(now, zone)
  const today = { from: day.from / 1000, until: day.until / 1000 }
  for (const { source, content } of files.routes) {
    problems.push(...problemsIn(source, await unresolved(content.rows, roster)))
    const ended = endedLines(content.rows, today.from)
    if (ended) warn(`${source.name}:${ended.row.line}`, 'until', ended.message)
  }
  for (const entry of roster.devices()) {
    await yieldToEventLoop()
    const ofFiles = roster.assignmentsOf(entry).filter(({ company_id }) => company_id === undefined)
    for (const { line, message } of overlaps(ofFiles.toSorted(bySource), ({ source }) => source))
      warn(line.source, 'from', message)
    if (!hasRoute(entry, today)) warn(entry.source, entry.id, 'this device has no route today')
  }
  for await (const { other, message } of sharedRoutes(roster.devices())) warn(other.source, 'route_id', message)
  return problems.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : (a.line ?? 0) - (b.line ?? 0)))
}

/** A device on a route. */
type StayOf = Stay & Pick<DeviceEntry, 'id'>

/** Yields the first two devices of each route that are on it at the same time. @param routes only these; default: all */
export async function* sharedRoutes(
  devices: Iterable<DeviceEntry>,
  routes?: ReadonlySet<string>,
): AsyncGenerator<{ readonly one: StayOf; readonly other: StayOf; readonly message: Text }> {
  const isMeant = ({ lane }: Stay) => !routes || routes.has(lane.route)
  const onRoutes: StayOf[] = []
  for (const { id, stays, usual } of devices) {
    const pause = yieldToEventLoop()
    if (pause) await pause
    if (!(usual && isMeant(usual)) && !stays.some(isMeant)) continue
    for (const stay of topmost(usual ? [usual, ...stays] : stays)) if (isMeant(stay)) onRoutes.push({ ...stay, id })
  }
  for (const onRoute of Map.groupBy(onRoutes, ({ lane: { company, route } }) => `${company}/${route}`).values()) {
    await yieldToEventLoop()
    // The stays of one device do not overlap, so these belong to two devices.
    const [together] = overlapping(onRoute)
    if (!together) continue
    const [one, other] = together
    const message = say(
      'devices {} and {} are on route {} at the same time: both are pushed',
      one.id,
      other.id,
      one.lane.route,
    )
    yield { one, other, message }
  }
}

/** Returns the first of the rows that ended before `today` (its begin, unix seconds), and how many have, in words. */
export function endedLines(rows: readonly RouteRow[], today: number) {
  const ended = rows.filter(({ until }) => until <= today)
  if (ended.length === 0) return undefined
  const [row] = ended
  const message =
    ended.length === 1
      ? say('this line ended before today: only fixes of that time follow it')
      : say('this line and {} more ended before today: only fixes of that time follow it', ended.length - 1)
  return { row, message }
}

/** Returns why rows are not in effect: they name no visible device, or their device has no courier. */
export async function unresolved(
  rows: readonly RouteRow[],
  roster: Roster,
  isSeen: (device: Device) => boolean = () => true,
): Promise<Mistake[]> {
  const mistakes: Mistake[] = []
  const missing = missingDeviceIn(roster.devices().filter(isSeen))
  for (const { at, device, courier_id } of rows) {
    await yieldToEventLoop()
    const meant = roster.meant(device).filter(isSeen)
    const leftOut = (lacks: 'device' | 'courier', message: Text) => {
      const key = lacks === 'device' ? 'device' : 'courier_id'
      mistakes.push({ at, key, device, lacks, message, severity: 'left_out' })
    }
    const withoutCourier = meant.find((entry) => courier_id === '' && entry.courier_id === undefined)
    if (meant.length === 0) leftOut('device', missing(device))
    else if (withoutCourier)
      leftOut('courier', say('empty, but device {} has no courier_id of its own', withoutCourier.id))
  }
  return mistakes
}

/**
 * Yields remarks for a text that means no device, with the devices that may be meant, if there are few such texts and
 * devices.
 */
export function missingDeviceIn(devices: IteratorObject<Pick<Device, 'id' | 'name'>>): (text: string) => Text {
  let asked = 0
  let names: readonly string[] | undefined
  return (text) => {
    names ??= Array.from(devices.take(MOST_NAMES + 1), ({ id, name = id }) => name)
    const isAffordable = ++asked <= MOST_ASKED && names.length <= MOST_NAMES
    const suggestion = isAffordable ? similarTo(text, names) : undefined
    return suggestion === undefined
      ? say('no device has the id or the name "{}"', text)
      : say('no device has the id or the name "{}": did you mean {}?', text, suggestion)
  }
}

function similarTo(text: string, names: readonly string[]): string | undefined {
  const bare = bareText(text)
  const same = names.find((name) => bareText(name) === bare)
  if (same !== undefined) return same
  // Van 13 is no mistyped Van 12: what differs in its digits differs in a letter at most.
  const digits = text.replaceAll(/\D/g, '')
  const alike = names.filter((name) => digits !== '' && name.replaceAll(/\D/g, '') === digits)
  return nearest(text, alike) ?? nearest(text, names, 1)
}

/** Returns only letters and digits: `van-12` and `Van 12` are equal. */
function bareText(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** Yields the overlapping lines of one device, and which one wins: of two with the same `from` the later one in `lines`. */
export function overlaps<Line extends Interval & Pick<Assignment, 'device'>>(
  lines: readonly Line[],
  placeOf: (line: Line) => Text,
) {
  return overlapping(lines).map(([earlier, line]) => {
    const template =
      line.from === earlier.from
        ? 'overlaps {} for device {}: of the same from the later line wins'
        : 'overlaps {} for device {}: the later from wins'
    return { line, message: say(template, placeOf(earlier), line.device) }
  })
}

/**
 * Yields each span that begins during an earlier one, with that earlier one: the previous one with the same `from`, else the
 * longest.
 */
function* overlapping<Span extends Interval>(spans: readonly Span[]): Generator<[earlier: Span, later: Span]> {
  let before: Span | undefined
  let longest: Span | undefined
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const earlier = before?.from === span.from ? before : longest
    if (earlier && span.from < earlier.until) yield [earlier, span]
    if (!longest || span.until > longest.until) longest = span
    before = span
  }
}

/** How many unknown texts are compared with all names: each costs a millisecond per hundred names. */
const MOST_ASKED = 20
const MOST_NAMES = 5000
